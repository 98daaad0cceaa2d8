/* Block-sparse matrices on the graph of bodies, and their factorizations.
 *
 * Every second-order method here needs H = I + sum_k G_k B_k G_kᵀ, where contact k touches at most two bodies: one
 * dense block a body on the diagonal and one a touching pair beside it, plus fill. H is positive definite for symmetric
 * positive semidefinite B_k, whatever the redundancy of the contacts. The pattern is fixed within a step: analyse once,
 * factor often.
 *
 *   symmetric:   P H Pᵀ = L Lᵀ          (ds_block_cholesky)
 *   otherwise:   P H Pᵀ = L U           (ds_block_lu; symmetric pattern, pivoting inside diagonal blocks only)
 *
 * Blocks are row-major. In storage, block (i, j) with i after j in elimination order lies in `lower`; block (j, i) lies
 * transposed at the same place in `upper`, so that both have the same shape. */
#ifndef DS_LA_BLOCK_H
#define DS_LA_BLOCK_H

#include "base/arena.h"
#include "drystone/types.h"

typedef struct ds_block_pattern {
  int32_t n;          /* blocks on the diagonal */
  int32_t dimension;  /* rows in all */
  int32_t largest;    /* rows of the largest block */
  int32_t *order;     /* order[k] = block eliminated k-th */
  int32_t *position;  /* inverse of order */
  int32_t *size;      /* of the k-th eliminated block */
  int32_t *first_row; /* of block i, as numbered by the caller, in vectors */
  int32_t *start;     /* of the k-th eliminated block in permuted vectors */
  int32_t *diagonal;  /* n: offset of the k-th diagonal block's values */
  int32_t diagonal_values;
  int32_t *column_start; /* n + 1 */
  int32_t *row;          /* ascending positions below the diagonal in column k */
  int32_t *offset;       /* of that block's values */
  int32_t values;        /* length of lower (and upper) */
  int32_t *row_start;    /* n + 1: the blocks left of the diagonal in row k ... */
  int32_t *row_column;   /* ... their columns, ascending */
  int32_t *row_slot;     /* ... and their slots in row/offset */
} ds_block_pattern;

/* Sizes of n blocks and the coupled pairs of blocks. NULL where memory ran out. */
ds_block_pattern *ds_block_analyse(ds_arena *arena, const int32_t *size, const int32_t *pairs, int32_t pair_count,
                                   int32_t n);
/* Slot of the off-diagonal block of blocks i and j; *swapped tells that i is eliminated before j, that is, that `lower`
 * holds block (j, i) there. */
int32_t ds_block_slot(bool *swapped, const ds_block_pattern *pattern, int32_t i, int32_t j);

typedef struct ds_block_matrix {
  const ds_block_pattern *pattern;
  double *diagonal, *lower, *upper;
  int32_t *pivots;    /* LU: of the diagonal blocks */
  int32_t *where;     /* workspace: position -> slot in the current column */
  double *transposed; /* workspace: one block */
} ds_block_matrix;

ds_block_matrix *ds_block_create(ds_arena *arena, const ds_block_pattern *pattern);
void ds_block_identity(ds_block_matrix *matrix, bool symmetric); /* H = I; `upper` is left alone if symmetric */
/* In place. False where a pivot vanishes or is not finite. */
bool ds_block_cholesky(ds_block_matrix *matrix);
bool ds_block_lu(ds_block_matrix *matrix);
/* x := H⁻¹ x, in the caller's order of blocks */
void ds_block_cholesky_solve(double *x, const ds_block_matrix *matrix, double *work);
void ds_block_lu_solve(double *x, const ds_block_matrix *matrix, double *work);

#endif
