/* A problem that has W alone gets a body back: W = L Lᵀ by Cholesky with complete pivoting, L as many columns as W has
 * rank, is the Delassus matrix of one body with that many degrees of freedom: none where W = 0 and nothing can move.
 * Its systems are smaller by the redundancy of the contacts, regular, and pivoted throughout, where those on the graph
 * of contacts lose digits; what makes W slightly indefinite, rounding in the file, is gone. Where W is sparse they are
 * dearer. */
#include <math.h>

#include "la/pivoted.h"
#include "problem/condense.h"

enum { ROWS_MAX = 900 };

bool ds_subproblem_can_have_body(const ds_subproblem *part) {
  return part->delassus && 3 * part->contact_count <= ROWS_MAX;
}

bool ds_subproblem_give_body(ds_arena *arena, ds_subproblem *part) {
  const ds_delassus *w = part->delassus;
  int32_t n = part->contact_count, rows = 3 * n;
  int32_t *size = DS_NEW(arena, int32_t, 1), *first = DS_NEW0(arena, int32_t, 1);
  int32_t *body = DS_NEW(arena, int32_t, 2 * n), *jacobian = DS_NEW(arena, int32_t, 2 * n);
  double *l = DS_NEW0(arena, double, rows *rows + 1), *dense = DS_NEW0(arena, double, rows *rows + 1);
  int32_t *pivot = DS_NEW(arena, int32_t, rows + 1);
  double *diagonal = DS_NEW(arena, double, rows + 1), *root = DS_NEW(arena, double, rows + 1);
  if (ds_arena_failed(arena)) return false;
  for (int32_t k = 0; k < n; k++)
    for (int32_t t = w->start[k]; t < w->start[k + 1]; t++)
      for (int32_t i = 0; i < 9; i++)
        dense[(3 * k + i / 3) * rows + 3 * w->column[t] + i % 3] = w->value[9 * (size_t)t + (size_t)i];
  /* Rows scaled to a diagonal of ones, so that light and heavy bodies lose the same digits. */
  for (int32_t i = 0; i < rows; i++) root[i] = dense[i * rows + i] > 0 ? sqrt(dense[i * rows + i]) : 1;
  for (int32_t i = 0; i < rows * rows; i++) dense[i] /= root[i / rows] * root[i % rows];
  int32_t rank = ds_pivoted_cholesky(l, pivot, diagonal, dense, rows, 1e-15 * rows);
  for (int32_t i = 0; i < rows; i++) /* close up, row i never beyond where it was */
    for (int32_t j = 0; j < rank; j++)
      l[(size_t)i * (size_t)rank + (size_t)j] = root[i] * l[(size_t)i * (size_t)rows + (size_t)j];
  for (int32_t k = 0; k < n; k++) {
    body[2 * k] = 0, body[2 * k + 1] = -1;
    jacobian[2 * k] = jacobian[2 * k + 1] = 3 * k * rank;
  }
  size[0] = rank;
  part->body_count = 1, part->dof = rank, part->size = size, part->first = first, part->body = body;
  part->jacobian = jacobian, part->g = l, part->delassus = NULL;
  return true;
}
