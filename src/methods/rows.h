/* One row of the contact problem at a time: u_i = (Gᵀ v - b)_i, what an impulse along it does, and W_ii. What methods
 * that go row by row share. Bodies may be held: they then have a velocity but feel no impulse. */
#ifndef DS_METHODS_ROWS_H
#define DS_METHODS_ROWS_H

#include "problem/subproblem.h"

typedef struct ds_row_view {
  const ds_subproblem *p;
  const bool *held; /* body_count; NULL: none */
} ds_row_view;

/* Row c of contact k (0 normal, 1 and 2 tangents). */
double ds_row_velocity(const ds_row_view *view, const double *v, int32_t k, int c);
void ds_row_push(double *v, const ds_row_view *view, double impulse, int32_t k, int c);

/* W_ii of all rows (3 x contacts), without bodies that are held; 0 where a row moves nothing. */
void ds_row_diagonal(double *diagonal, const ds_row_view *view);

/* W_kk (3 x 3) of contact k, with every body's part multiplied by its entry in `times` (NULL: by 1). Without bodies,
 * where there is W alone, the block is multiplied by the number of blocks in its row. */
void ds_row_block(double w[9], const ds_subproblem *p, const int32_t *times, int32_t k);

#endif
