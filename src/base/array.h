/* Growing arrays owned by long-lived objects (scene, state): capacity doubles, elements never shrink away. */
#ifndef DS_BASE_ARRAY_H
#define DS_BASE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Makes room for `need` elements in *items; false where memory ran out, nothing changed then. */
bool ds_array_reserve(void *items, int32_t *capacity, int32_t need, size_t size);

#endif
