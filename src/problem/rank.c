/* Rank of W = GᵀG, part by part, by Cholesky with complete pivoting: the number of pivots above 1e-10 of the largest
 * diagonal entry. Of W and G Gᵀ, which has the same rank, the smaller one is taken. */
#include <math.h>

#include "base/error.h"
#include "problem/condense.h"

enum { DENSE_MAX = 6000 };

/* a (n x n) in columns: only what is left of the diagonal and the columns of pivots are computed. */
static int32_t pivoted_rank(double *a, double *diagonal, bool *used, int32_t n) {
  double largest = 0;
  int32_t rank = 0;
  for (int32_t i = 0; i < n; i++) diagonal[i] = a[(size_t)i * (size_t)n + (size_t)i], used[i] = false;
  for (int32_t i = 0; i < n; i++) largest = fmax(largest, diagonal[i]);
  for (; rank < n; rank++) {
    int32_t pivot = -1;
    for (int32_t i = 0; i < n; i++)
      if (!used[i] && (pivot < 0 || diagonal[i] > diagonal[pivot])) pivot = i;
    if (!(diagonal[pivot] > 1e-10 * largest)) break;
    double *row = a + (size_t)pivot * (size_t)n, root = sqrt(diagonal[pivot]);
    used[pivot] = true;
    for (int32_t i = 0; i < n; i++) row[i] = used[i] ? 0 : row[i] / root;
    for (int32_t i = 0; i < n; i++) {
      if (used[i] || row[i] == 0) continue;
      double *to = a + (size_t)i * (size_t)n, f = row[i];
      for (int32_t j = 0; j < n; j++) to[j] -= f * row[j];
      diagonal[i] = to[i];
    }
  }
  return rank;
}

/* Column i of W, or of G Gᵀ */
static void fill(double *a, double *r, double *v, const ds_subproblem *p, int32_t n, bool velocities) {
  int32_t rows = 3 * p->contact_count;
  for (int32_t i = 0; i < n; i++) {
    double *column = a + (size_t)i * (size_t)n;
    for (int32_t j = 0; j < p->dof; j++) v[j] = 0;
    for (int32_t j = 0; j < rows; j++) r[j] = 0;
    if (velocities) {
      v[i] = 1;
      ds_subproblem_apply_transposed(r, p, v);
      for (int32_t j = 0; j < n; j++) column[j] = 0;
      ds_subproblem_add_impulse(column, p, r);
    } else {
      r[i] = 1;
      ds_subproblem_add_impulse(v, p, r);
      ds_subproblem_apply_transposed(column, p, v);
    }
  }
}

int32_t ds_problem_rank(const ds_problem *problem, ds_error *error) {
  ds_arena arena = {0};
  ds_whole whole;
  ds_parts parts;
  int32_t rank = -1;
  if (ds_problem_validate(problem, error) == DS_OK && ds_problem_condense(&arena, &whole, problem, error) == DS_OK &&
      ds_parts_find(&arena, &parts, &whole.p)) {
    rank = 0;
    for (int32_t i = 0; i < parts.count && rank >= 0; i++) {
      const ds_subproblem *p = &parts.part[i];
      int32_t rows = 3 * p->contact_count, n = p->dof < rows ? p->dof : rows;
      ds_arena_mark mark = ds_arena_get_mark(&arena);
      double *a = n <= DENSE_MAX ? DS_NEW(&arena, double, (size_t)n *(size_t)n + 1) : NULL;
      double *diagonal = DS_NEW(&arena, double, n + 1), *r = DS_NEW(&arena, double, rows + 1);
      double *v = DS_NEW(&arena, double, p->dof + 1);
      bool *used = DS_NEW(&arena, bool, n + 1);
      if (!a || ds_arena_failed(&arena)) {
        rank = -1;
        break;
      }
      fill(a, r, v, p, n, !p->delassus && p->dof < rows);
      rank += pivoted_rank(a, diagonal, used, n);
      ds_arena_release(&arena, mark);
    }
  }
  ds_arena_free(&arena);
  return rank;
}
