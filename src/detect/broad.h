/* The broad phase: pairs of boxes that overlap. */
#ifndef DS_DETECT_BROAD_H
#define DS_DETECT_BROAD_H

#include "base/arena.h"
#include "drystone/types.h"

typedef struct ds_box {
  ds_vec3 low, high; /* low > high = empty: touches nothing; extents may be infinite */
} ds_box;

typedef struct ds_box_pair {
  int32_t a, b; /* a < b; a = b in detect.c alone, of a body with itself */
} ds_box_pair;

/* Pairs of overlapping boxes of which at least one is `moving`, sorted by (a, b), each once. Memory from the arena
 * only; false if it ran out. */
bool ds_broad_pairs(ds_arena *arena, ds_box_pair **pairs, int32_t *pair_count, const ds_box *boxes, const bool *moving,
                    int32_t count);

#endif
