/* Fill-reducing elimination order of a symmetric graph. */
#ifndef DS_LA_ORDER_H
#define DS_LA_ORDER_H

#include "base/arena.h"
#include "drystone/types.h"

/* order[k] = node eliminated k-th. The column structure of the factor falls out of the elimination: the nodes still
 * there that are joined to order[k] are column[start[k] .. start[k+1]), unsorted. */
typedef struct ds_elimination {
  int32_t *order;
  int32_t *start;
  int32_t *column;
} ds_elimination;

/* The better of minimum degree and, for large graphs, nested dissection, of a graph of n nodes and the given edges
 * (pairs of nodes; repeats and loops are ignored). False if memory ran out. */
bool ds_eliminate(ds_arena *arena, ds_elimination *out, const int32_t *pairs, int32_t pair_count, int32_t n);
/* Minimum degree, one class of nodes (0 .. classes - 1) after the other; class_of = NULL: there is one class. */
bool ds_minimum_degree(ds_arena *arena, ds_elimination *out, const int32_t *pairs, int32_t pair_count, int32_t n,
                       const int32_t *class_of, int32_t classes);

#endif
