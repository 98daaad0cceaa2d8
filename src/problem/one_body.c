/* A problem that has W alone gets a body back: W = L Lᵀ by Cholesky with complete pivoting, L as many columns as W has
 * rank, is the Delassus matrix of one body with that many degrees of freedom. Its systems are smaller by the redundancy
 * of the contacts, regular, and pivoted throughout, where those on the graph of contacts lose digits; what makes W
 * slightly indefinite, rounding in the file, is gone. Where W is sparse they are dearer. */
#include <math.h>

#include "problem/condense.h"

/* w (n x n, lower triangle and diagonal used) -> its factor in l (n x n), row i that of row i of w. Returns the rank.
 */
static int32_t pivoted_cholesky(double *l, double *w, double *diagonal, int32_t n) {
  double largest = 0;
  int32_t rank = 0;
  for (int32_t i = 0; i < n; i++) diagonal[i] = w[i * n + i], largest = fmax(largest, diagonal[i]);
  for (; rank < n; rank++) {
    int32_t pivot = 0;
    for (int32_t i = 1; i < n; i++)
      if (diagonal[i] > diagonal[pivot]) pivot = i;
    if (!(diagonal[pivot] > 1e-15 * n * largest)) break;
    double root = sqrt(diagonal[pivot]);
    const double *row = l + (size_t)pivot * (size_t)n;
    for (int32_t i = 0; i < n; i++) {
      double *li = l + (size_t)i * (size_t)n, sum = w[pivot * n + i];
      if (diagonal[i] < 0) { /* a pivot already */
        li[rank] = 0;
        continue;
      }
      for (int32_t j = 0; j < rank; j++) sum -= row[j] * li[j];
      li[rank] = sum / root;
    }
    l[(size_t)pivot * (size_t)n + (size_t)rank] = root;
    for (int32_t i = 0; i < n; i++) {
      double x = l[(size_t)i * (size_t)n + (size_t)rank];
      if (diagonal[i] >= 0) diagonal[i] = fmax(0, diagonal[i] - x * x);
    }
    diagonal[pivot] = -1;
  }
  return rank;
}

bool ds_subproblem_give_body(ds_arena *arena, ds_subproblem *part) {
  const ds_delassus *w = part->delassus;
  int32_t n = part->contact_count, rows = 3 * n;
  int32_t *size = DS_NEW(arena, int32_t, 1), *first = DS_NEW0(arena, int32_t, 1);
  int32_t *body = DS_NEW(arena, int32_t, 2 * n), *jacobian = DS_NEW(arena, int32_t, 2 * n);
  double *l = DS_NEW0(arena, double, rows *rows + 1), *dense = DS_NEW0(arena, double, rows *rows + 1);
  double *diagonal = DS_NEW(arena, double, rows + 1), *root = DS_NEW(arena, double, rows + 1);
  if (ds_arena_failed(arena)) return false;
  for (int32_t k = 0; k < n; k++)
    for (int32_t t = w->start[k]; t < w->start[k + 1]; t++)
      for (int32_t i = 0; i < 9; i++)
        dense[(3 * k + i / 3) * rows + 3 * w->column[t] + i % 3] = w->value[9 * (size_t)t + (size_t)i];
  /* Rows scaled to a diagonal of ones, so that light and heavy bodies lose the same digits. */
  for (int32_t i = 0; i < rows; i++) root[i] = dense[i * rows + i] > 0 ? sqrt(dense[i * rows + i]) : 1;
  for (int32_t i = 0; i < rows * rows; i++) dense[i] /= root[i / rows] * root[i % rows];
  int32_t rank = pivoted_cholesky(l, dense, diagonal, rows);
  if (rank == 0) return true;        /* nothing moves: W = 0 stays as it is */
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
