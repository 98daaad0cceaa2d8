/* Disjoint sets by union-find: the root of a set is its lowest member, so that numbering follows the members. */
#ifndef DS_BASE_SETS_H
#define DS_BASE_SETS_H

#include <stdint.h>

static inline void ds_sets_single(int32_t *parent, int32_t n) {
  for (int32_t i = 0; i < n; i++) parent[i] = i;
}

static inline int32_t ds_sets_root(int32_t *parent, int32_t i) {
  while (parent[i] != i) i = parent[i] = parent[parent[i]];
  return i;
}

static inline void ds_sets_join(int32_t *parent, int32_t a, int32_t b) {
  int32_t ra = ds_sets_root(parent, a), rb = ds_sets_root(parent, b);
  if (ra < rb)
    parent[rb] = ra;
  else
    parent[ra] = rb;
}

#endif
