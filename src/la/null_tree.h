/* Orthonormal coordinates of the solutions x of A x = c (null_space.h), for rows that touch at most two blocks of x.
 *
 * Long chains, and whatever else is joined by few rows, are halved: rows within either half are eliminated first, each
 * half on its own, then those between the halves in the coordinates that are left of both. A chain of n links costs
 * about n log n instead of n³, and so do products with Q. A front is one such elimination, dense.
 *
 *   x -> Qᵀ x = (y, w):   every front replaces the coordinates at its places by those of its null space, children first
 */
#ifndef DS_LA_NULL_TREE_H
#define DS_LA_NULL_TREE_H

#include "la/null_space.h"

enum { DS_NULL_BLOCK = 6 }; /* coordinates of a block */

/* A row of A: block 0 first, where both are there. */
typedef struct ds_null_row {
  int32_t at[2]; /* first coordinate of the block; -1: none */
  double value[2][DS_NULL_BLOCK];
} ds_null_row;

typedef struct ds_null_front {
  ds_null_space space;
  int32_t parent;        /* -1: none */
  int32_t width, *place; /* its coordinates, in x */
  int32_t rows, *row;    /* which of the given rows are eliminated here */
  int32_t first;         /* its first y */
  int32_t path, *below;  /* fronts below that these rows go through, ... */
  int32_t spread;        /* ... which have this many y in total, ... */
  double *left;          /* ... and what they leave there: rows x spread */
} ds_null_front;

typedef struct ds_null_tree {
  int32_t n, rank;
  ds_null_front *fronts; /* children come before their parents */
  int32_t front_count;
  int32_t *row;   /* rank: which of the given rows the i-th is */
  int32_t *order; /* n: where in x the coordinates of (y, w) lie */
  int32_t *leaf;  /* of a block: the front that it comes in at */
  double *work;   /* n */
  double *local;  /* n and rows */
} ds_null_tree;

/* n: a multiple of DS_NULL_BLOCK where there are rows. False where memory ran out. */
bool ds_null_tree_build(ds_arena *arena, ds_null_tree *tree, const ds_null_row *rows, int32_t row_count, int32_t n);
/* x := Qᵀ x = (y, w) and x := Q x */
void ds_null_tree_enter(double *x, const ds_null_tree *tree);
void ds_null_tree_leave(double *x, const ds_null_tree *tree);
/* w of the i-th unit vector of a block: n - rank numbers. The fronts of other blocks are left out. */
void ds_null_tree_free_part(double *w, const ds_null_tree *tree, int32_t block, int32_t i);
/* y = L⁻¹ c: rank numbers, of the rows that were kept */
void ds_null_tree_solve(double *y, const ds_null_tree *tree, const double *c);

#endif
