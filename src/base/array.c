#include "base/array.h"

#include <stdlib.h>
#include <string.h>

bool ds_array_reserve(void *items, int32_t *capacity, int32_t need, size_t size) {
  if (need <= *capacity) return true;
  int64_t wanted = *capacity > 0 ? 2 * (int64_t)*capacity : 8;
  if (wanted < need) wanted = need;
  if (wanted > INT32_MAX) wanted = INT32_MAX;
  void *old;
  memcpy(&old, items, sizeof old); /* items points to a typed pointer */
  void *grown = realloc(old, (size_t)wanted * size);
  if (!grown) return false;
  memcpy(items, &grown, sizeof grown);
  *capacity = (int32_t)wanted;
  return true;
}
