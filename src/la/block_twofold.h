/* The unsymmetric matrix of block.h and its factorization in numbers of twice the digits, for systems whose condition
 * leaves none in double. One thread. */
#ifndef DS_LA_BLOCK_TWOFOLD_H
#define DS_LA_BLOCK_TWOFOLD_H

#include "base/twofold.h"
#include "la/block.h"

typedef struct ds_block_twofold {
  const ds_block_pattern *pattern;
  ds_twofold *lower, *upper; /* panels of L and of Uᵀ; first those of the matrix, a panel's own rows in `lower` */
  ds_twofold *inverse;       /* reciprocals of the pivots */
  ds_twofold *work;          /* of the solve */
  int32_t *pivots;           /* interchanges inside a panel's own rows */
} ds_block_twofold;

/* A block of the matrix: its entry (i, j) is at[i * row + j * column]. */
typedef struct ds_block_view {
  ds_twofold *at;
  ptrdiff_t row, column;
} ds_block_view;

/* NULL where memory ran out. */
ds_block_twofold *ds_block_twofold_create(ds_arena *arena, const ds_block_pattern *pattern);
void ds_block_twofold_identity(ds_block_twofold *matrix);
/* Block (i, j), as numbered by the caller: on the diagonal, or one of the pairs. */
ds_block_view ds_block_twofold_at(const ds_block_twofold *matrix, int32_t i, int32_t j);
/* In the place of the matrix. False if a pivot vanishes or is not finite. */
bool ds_block_twofold_lu(ds_block_twofold *matrix);
int32_t ds_block_twofold_sign(const ds_block_twofold *matrix);
/* x := H⁻¹ x, in the caller's order of blocks */
void ds_block_twofold_solve(ds_twofold *x, const ds_block_twofold *matrix);

#endif
