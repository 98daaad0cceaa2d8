/* Growing arrays owned by long-lived objects (scene, state): capacity doubles and never shrinks. Also binary search in
 * sorted arrays. */
#ifndef DS_BASE_ARRAY_H
#define DS_BASE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Makes room for `need` elements in *items; false if memory ran out, nothing changed then. */
bool ds_array_reserve(void *items, int32_t *capacity, int32_t need, size_t size);

/* First of the ascending items low .. high - 1 that is not less than x; high - 1 where all are. */
static inline int32_t ds_array_find(const int32_t *items, int32_t low, int32_t high, int32_t x) {
  high--;
  while (low < high) {
    int32_t middle = low + (high - low) / 2;
    if (items[middle] < x)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

#endif
