/* Orthonormal coordinates of the solutions x of A x = c.
 *
 *   A = [L 0] Qᵀ,   Q = H_1 H_2 ... H_rank (Householder),   x = Q (L⁻¹ c, w) for any w:
 *
 * the last n - rank columns of Q span the null space, the first give the solution of least norm. Rows are taken in
 * their order as long as each has a good part that those before it have not, the others after them, the largest rest
 * first; what then has no rest is redundant, and left out. A reflection is as long as the coordinates that rows have
 * touched so far and not used up: a chain numbered along its links costs little. */
#ifndef DS_LA_NULL_SPACE_H
#define DS_LA_NULL_SPACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

typedef struct ds_null_space {
  int32_t n, rank, most; /* most: rows that can be kept */
  double *reflection;    /* most x n: u of H_i = I - 2 u uᵀ, zero outside [i, end[i]) */
  int32_t *end;
  double *l;        /* most x most, row-major, lower */
  int32_t *row;     /* which of the given rows the i-th is */
  double dependent; /* rests of rows over their norms that count as none */
} ds_null_space;

/* For `rows` rows at most. False if memory ran out. */
bool ds_null_space_new(ds_arena *arena, ds_null_space *space, int32_t n, int32_t rows);
/* The rows of A (rows x n), which are overwritten; work: 2 numbers per row, the first `rows` of which are norms by
 * which rests of the rows are measured. */
void ds_null_space_build(ds_null_space *space, double *a, double *work, int32_t rows);
/* x := Qᵀ x and x := Q x */
void ds_null_space_enter(double *x, const ds_null_space *space);
void ds_null_space_leave(double *x, const ds_null_space *space);
/* y = L⁻¹ c: rank numbers, of the rows that were kept */
void ds_null_space_solve(double *y, const ds_null_space *space, const double *c);

#endif
