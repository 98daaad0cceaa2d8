/* Block-sparse matrices on the graph of bodies, and their factorizations.
 *
 * Every second-order method here needs H = I + sum_k G_k B_k G_kᵀ, where contact k touches at most two bodies: one
 * dense block per body on the diagonal and one per touching pair off the diagonal. H is positive definite for symmetric
 * positive semidefinite B_k, for any redundancy of the contacts. The pattern is fixed within a step: analyse once,
 * factor often.
 *
 *   symmetric:   P H Pᵀ = L Lᵀ          (ds_block_cholesky)
 *   otherwise:   P H Pᵀ = L U           (ds_block_lu; symmetric pattern, pivoting inside tiles on the diagonal only)
 *
 * The matrix: blocks are row-major. Block (i, j) with i after j in elimination order lies in `lower`; block (j, i) lies
 * transposed at the same place in `upper`, so that both have the same shape. Of a symmetric matrix `lower` and the
 * lower triangles of the diagonal blocks are looked at.
 *
 * The factor: blocks eliminated one after another whose columns look alike are joined to a panel, which is dense and
 * column-major: first its own rows (the diagonal block), then those below. Fill-in exists only there. */
#ifndef DS_LA_BLOCK_H
#define DS_LA_BLOCK_H

#include "base/arena.h"
#include "base/thread.h"
#include "drystone/types.h"

/* A panel of the factor. */
typedef struct ds_panel {
  int32_t first, end; /* its blocks, by position */
  int32_t width;      /* columns = own rows */
  int32_t rows;       /* own rows and those below */
  int32_t ld;         /* leading dimension */
  int32_t below;      /* first entry of below[] ... */
  int32_t below_end;  /* ... and the one past its last */
  int32_t source;     /* first entry of source[], likewise */
  int32_t source_end;
  int64_t at; /* its values */
} ds_panel;

/* Panel `panel` has the rows below[begin .. end) among the columns of the panel whose source it is. */
typedef struct ds_panel_source {
  int32_t panel, begin, end;
} ds_panel_source;

typedef struct ds_block_pattern {
  int32_t n;          /* blocks on the diagonal */
  int32_t dimension;  /* rows in all */
  int32_t largest;    /* rows of the largest block */
  int32_t *order;     /* order[k] = block eliminated k-th */
  int32_t *position;  /* inverse of order */
  int32_t *size;      /* of the k-th eliminated block */
  int32_t *first_row; /* of block i, as numbered by the caller, in vectors */
  int32_t *start;     /* n + 1: of the k-th eliminated block in permuted vectors */
  int32_t *diagonal;  /* n: offset of the k-th diagonal block's values */
  int32_t diagonal_values;
  int32_t *column_start; /* n + 1 */
  int32_t *row;          /* ascending positions below the diagonal in column k of the matrix */
  int32_t *offset;       /* of that block's values */
  int32_t values;        /* length of lower (and upper) */
  ds_panel *panels;
  int32_t panel_count;
  int32_t *panel_of; /* n */
  int32_t *below;    /* blocks below the panels, by position, ascending */
  int32_t *below_at; /* their first rows in the panel */
  ds_panel_source *source;
  int64_t factor_values;
  int32_t longest; /* the most rows of a panel */
  double work;     /* multiplications of a symmetric factorization, about */
  int32_t *task;   /* the panels in an order for several threads, sources first: by their height in the tree */
} ds_block_pattern;

/* Sizes of n blocks and the coupled pairs of blocks. NULL if memory ran out. */
ds_block_pattern *ds_block_analyse(ds_arena *arena, const int32_t *size, const int32_t *pairs, int32_t pair_count,
                                   int32_t n);
/* Slot of the off-diagonal block of blocks i and j, which were given as a pair; *swapped is true if i is eliminated
 * before j: `lower` then holds block (j, i) there. */
int32_t ds_block_slot(bool *swapped, const ds_block_pattern *pattern, int32_t i, int32_t j);

typedef struct ds_block_matrix {
  const ds_block_pattern *pattern;
  double *diagonal, *lower, *upper;      /* the matrix */
  double *factor_lower, *factor_upper;   /* the factor: panels of L, and of Uᵀ */
  double *inverse;                       /* reciprocals of the factor's diagonal */
  int32_t *pivots;                       /* LU: interchanges inside tiles */
  double *below;                         /* workspace of the solves */
  struct ds_block_workspace *workspaces; /* one per thread */
  ds_pool *pool;                         /* NULL: the calling thread alone */
  ds_flag *finished;                     /* panel_count: for threads that wait */
} ds_block_matrix;

ds_block_matrix *ds_block_create(ds_arena *arena, const ds_block_pattern *pattern);
/* Lets the pool help with factorizations that are long enough to be worth it; the result is the same to the last bit.
 * No other use of the pool may be under way. False if memory ran out. */
bool ds_block_share(ds_arena *arena, ds_block_matrix *matrix, ds_pool *pool);
void ds_block_identity(ds_block_matrix *matrix, bool symmetric); /* H = I; `upper` is left alone if symmetric */
/* The matrix is left as it is. False if a pivot vanishes or is not finite. */
bool ds_block_cholesky(ds_block_matrix *matrix);
bool ds_block_lu(ds_block_matrix *matrix);
/* Sign of det H after ds_block_lu: 1 or -1. */
int32_t ds_block_lu_sign(const ds_block_matrix *matrix);
/* x := H⁻¹ x, in the caller's order of blocks; work as long as x */
void ds_block_cholesky_solve(double *x, const ds_block_matrix *matrix, double *work);
void ds_block_lu_solve(double *x, const ds_block_matrix *matrix, double *work);

#endif
