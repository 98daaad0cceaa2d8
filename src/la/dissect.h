/* Nested dissection of a symmetric graph: small sets of nodes that split it, and the parts split again. */
#ifndef DS_LA_DISSECT_H
#define DS_LA_DISSECT_H

#include "base/arena.h"
#include "drystone/types.h"

/* Classes 0, 1, ... of n nodes, to be eliminated one class after the other: a separator has a higher class than what it
 * separates. *classes is their number, 1 where the graph is too small or too dense to be worth it. False where memory
 * ran out. */
bool ds_dissect(ds_arena *arena, int32_t *class_of, int32_t *classes, const int32_t *pairs, int32_t pair_count,
                int32_t n);

#endif
