/* Fill-reducing elimination order of a symmetric graph. */
#ifndef DS_LA_ORDER_H
#define DS_LA_ORDER_H

#include "base/arena.h"
#include "drystone/types.h"

/* Minimum degree order of a graph of n nodes and the given edges (pairs of nodes; repeats and loops are ignored).
 * order[k] = node eliminated k-th. The column structure of the factor falls out of the elimination: the nodes still
 * there that are joined to order[k] are column[start[k] .. start[k+1]), unsorted. False where memory ran out. */
typedef struct ds_elimination {
  int32_t *order;
  int32_t *start;
  int32_t *column;
} ds_elimination;

bool ds_minimum_degree(ds_arena *arena, ds_elimination *out, const int32_t *pairs, int32_t pair_count, int32_t n);

#endif
