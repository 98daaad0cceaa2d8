/* Rank of W = GᵀG, part by part, by Cholesky with complete pivoting: the number of pivots above 1e-10 of the largest
 * diagonal entry. Of W and G Gᵀ, which has the same rank, the smaller one is taken. */
#include "base/error.h"
#include "la/pivoted.h"
#include "problem/condense.h"

enum { DENSE_MAX = 6000 };

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

static ds_status add_rank(int32_t *rank, ds_arena *arena, const ds_subproblem *p, ds_error *error) {
  int32_t rows = 3 * p->contact_count, n = p->dof < rows ? p->dof : rows;
  if (n > DENSE_MAX)
    return ds_fail(error, DS_ERROR_MEMORY, "the rank of %d rows takes too much memory; at most %d are possible", (int)n,
                   DENSE_MAX);
  ds_arena_mark mark = ds_arena_get_mark(arena);
  double *a = DS_NEW(arena, double, (size_t)n *(size_t)n + 1), *l = DS_NEW0(arena, double, (size_t)n *(size_t)n + 1);
  double *diagonal = DS_NEW(arena, double, n + 1), *r = DS_NEW(arena, double, rows + 1);
  double *v = DS_NEW(arena, double, p->dof + 1);
  int32_t *pivot = DS_NEW(arena, int32_t, n + 1);
  if (ds_arena_failed(arena)) return ds_fail(error, DS_ERROR_MEMORY, "out of memory");
  fill(a, r, v, p, n, !p->delassus && p->dof < rows);
  *rank += ds_pivoted_cholesky(l, pivot, diagonal, a, n, 1e-10);
  ds_arena_release(arena, mark);
  return DS_OK;
}

ds_status ds_problem_rank(int32_t *rank, const ds_problem *problem, ds_error *error) {
  ds_arena arena = {0};
  ds_whole whole;
  ds_parts parts;
  *rank = 0;
  ds_status status = ds_problem_validate(problem, error);
  if (status == DS_OK) status = ds_problem_condense(&arena, &whole, problem, error);
  if (status == DS_OK && !ds_parts_find(&arena, &parts, &whole.p))
    status = ds_fail(error, DS_ERROR_MEMORY, "out of memory");
  for (int32_t i = 0; status == DS_OK && i < parts.count; i++) status = add_rank(rank, &arena, &parts.part[i], error);
  ds_arena_free(&arena);
  return status;
}
