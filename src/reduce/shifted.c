/* K + sigma M, factored. K alone is singular: rigid motions cost no energy. With a sigma well below the first
 * lambda the shift hardly changes anything else, and M makes the matrix positive definite. */
#include <string.h>

#include "base/error.h"
#include "reduce/fem.h"

/* The blocks of row i left of its diagonal and on it, to their places in the matrix. */
static void fill_row(ds_block_matrix *m, const ds_fem *fem, double sigma, int32_t i) {
  const ds_block_pattern *p = m->pattern;
  for (int32_t e = fem->start[i]; e < fem->start[i + 1] && fem->column[e] <= i; e++) {
    int32_t j = fem->column[e];
    bool swapped = false;
    double *to =
        i == j ? m->diagonal + p->diagonal[p->position[i]] : m->lower + p->offset[ds_block_slot(&swapped, p, i, j)];
    const double *k = fem->stiffness + 9 * (int64_t)e;
    for (int r = 0; r < 3; r++)
      for (int c = 0; c < 3; c++)
        to[swapped ? 3 * c + r : 3 * r + c] = k[3 * r + c] + (r == c ? sigma * fem->mass[e] : 0);
  }
}

static ds_block_pattern *analyse(ds_arena *arena, const ds_fem *fem) {
  int32_t n = fem->tets->node_count, count = 0;
  int32_t *size = DS_NEW(arena, int32_t, n), *pairs = DS_NEW(arena, int32_t, (size_t)fem->start[n] + 1);
  if (!size || !pairs) return NULL;
  for (int32_t i = 0; i < n; i++) {
    size[i] = 3;
    for (int32_t e = fem->start[i]; e < fem->start[i + 1] && fem->column[e] < i; e++) {
      pairs[2 * count] = i;
      pairs[2 * count + 1] = fem->column[e];
      count++;
    }
  }
  return ds_block_analyse(arena, size, pairs, count, n);
}

/* A solve writes to the workspace of its matrix: every thread gets a view with its own. */
static bool make_views(ds_shifted *s, int32_t threads) {
  s->views = DS_NEW(&s->arena, ds_block_matrix, threads);
  s->work = DS_NEW(&s->arena, double *, threads);
  for (int32_t i = 0; s->views && s->work && i < threads; i++) {
    s->views[i] = *s->matrix;
    s->views[i].below = DS_NEW(&s->arena, double, s->matrix->pattern->longest + 1);
    s->work[i] = DS_NEW(&s->arena, double, s->matrix->pattern->dimension + 1);
  }
  return !ds_arena_failed(&s->arena);
}

ds_status ds_shifted_create(ds_shifted *s, const ds_fem *fem, double sigma, ds_pool *pool, ds_error *error) {
  *s = (ds_shifted){.sigma = sigma, .pool = pool};
  ds_block_pattern *pattern = analyse(&s->arena, fem);
  s->matrix = pattern ? ds_block_create(&s->arena, pattern) : NULL;
  if (!s->matrix || !ds_block_share(&s->arena, s->matrix, pool) || !make_views(s, pool ? ds_pool_size(pool) : 1)) {
    ds_shifted_free(s);
    return ds_fail(error, DS_ERROR_MEMORY, "memory ran out for the factor of %d nodes", fem->tets->node_count);
  }
  for (int32_t i = 0; i < fem->tets->node_count; i++) fill_row(s->matrix, fem, sigma, i);
  if (ds_block_cholesky(s->matrix)) return DS_OK;
  ds_shifted_free(s);
  return ds_fail(
      error, DS_ERROR_INPUT,
      "the stiffness matrix cannot be factored: some tetrahedra are too flat or too small beside the others");
}

void ds_shifted_free(ds_shifted *s) {
  ds_arena_free(&s->arena);
  *s = (ds_shifted){0};
}

typedef struct solve_job {
  double *x;
  const ds_shifted *shifted;
} solve_job;

static void solve_one(void *context, int32_t item, int32_t worker) {
  solve_job *job = context;
  const ds_shifted *s = job->shifted;
  double *x = job->x + (int64_t)item * s->matrix->pattern->dimension;
  ds_block_cholesky_solve(x, &s->views[worker], s->work[worker]);
}

void ds_shifted_solve(double *x, const ds_shifted *s, int32_t count) {
  solve_job job = {x, s};
  ds_reduce_share(s->pool, count, solve_one, &job);
}
