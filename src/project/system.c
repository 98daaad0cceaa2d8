#include "project/system.h"

#include <string.h>

#include "base/check.h"
#include "la/rows.h"

enum { PACKED_ROWS = 72 }; /* rows of contacts taken at once, for cache */

/* Contacts of the same two bodies follow one another. */
static void find_runs(ds_system *s) {
  const ds_subproblem *p = s->problem;
  for (int32_t k = 0; k < p->contact_count; k++) {
    int32_t a = p->body[2 * k], b = p->body[2 * k + 1];
    ds_run *last = s->run_count > 0 ? &s->runs[s->run_count - 1] : NULL;
    if (last && last->a == a && last->b == b)
      last->count++;
    else
      s->runs[s->run_count++] = (ds_run){.first = k, .count = 1, .a = a, .b = b, .slot = -1};
  }
}

ds_system *ds_system_create(ds_arena *arena, const ds_subproblem *p, ds_pool *pool, ds_effort *effort) {
  ds_system *s = DS_NEW0(arena, ds_system, 1);
  if (!s) return NULL;
  s->problem = p;
  s->effort = effort;
  s->last = DS_NEW(arena, double, 9 * (size_t)p->contact_count + 1);
  if (p->delassus) {
    s->local = ds_local_system_create(arena, p);
    return s->local && !ds_arena_failed(arena) ? s : NULL;
  }
  int32_t *pairs = DS_NEW(arena, int32_t, 2 * (size_t)p->contact_count + 1), pair_count = 0;
  s->runs = DS_NEW(arena, ds_run, p->contact_count + 1);
  if (ds_arena_failed(arena)) return NULL;
  find_runs(s);
  for (int32_t i = 0; i < s->run_count; i++) {
    if (s->runs[i].a < 0 || s->runs[i].b < 0) continue;
    DS_CHECK(s->runs[i].a != s->runs[i].b); /* nothing touches itself */
    pairs[2 * pair_count] = s->runs[i].a;
    pairs[2 * pair_count + 1] = s->runs[i].b;
    pair_count++;
  }
  s->pattern = ds_block_analyse(arena, p->size, pairs, pair_count, p->body_count);
  s->work = DS_NEW(arena, double, p->dof + 1);
  s->matrix = s->pattern ? ds_block_create(arena, s->pattern) : NULL;
  s->rows = s->pattern ? DS_NEW(arena, double, 4 * PACKED_ROWS * (size_t)s->pattern->largest + 1) : NULL;
  if (ds_arena_failed(arena) || !s->matrix || !ds_block_share(arena, s->matrix, pool)) return NULL;
  for (int32_t i = 0; i < s->run_count; i++) {
    ds_run *run = &s->runs[i];
    run->slot = run->a < 0 || run->b < 0 ? -1 : ds_block_slot(&run->swapped, s->pattern, run->a, run->b);
  }
  return s;
}

/* The rows z of a run's contacts that act, and y = C z, packed: H gets zᵀ y. */
typedef struct packed {
  int32_t rows;
  double *za, *zb, *ya, *yb; /* of the first and the second body */
  int32_t stride_a, stride_b;
} packed;

/* `count` rows of one body from row `first` of its block g on, and their product with the same rows and columns of c */
static inline void pack_side(double *restrict z, double *restrict y, const double *restrict g, const double *restrict c,
                             int32_t n, int32_t stride, int32_t first, int32_t count) {
  for (int32_t i = 0; i < count; i++)
    for (int32_t j = 0; j < n; j++) z[i * stride + j] = g[(first + i) * n + j];
  for (int32_t i = 0; i < count; i++) {
    const double *row = c + 3 * (first + i) + first;
    for (int32_t j = 0; j < n; j++) {
      double sum = row[0] * z[j];
      for (int32_t r = 1; r < count; r++) sum += row[r] * z[r * stride + j];
      y[i * stride + j] = sum;
    }
  }
}

static inline void pack_rows(packed *k, const double *ga, const double *gb, const double *c, int32_t na, int32_t nb,
                             int32_t first, int32_t count) {
  size_t a = (size_t)k->rows * (size_t)k->stride_a, b = (size_t)k->rows * (size_t)k->stride_b;
  if (na > 0) pack_side(k->za + a, k->ya + a, ga, c, na, k->stride_a, first, count);
  if (nb > 0) pack_side(k->zb + b, k->yb + b, gb, c, nb, k->stride_b, first, count);
  k->rows += count;
}

/* Normal and tangents by themselves where C does not couple them: each projection has only one of the two. */
static inline void pack_contact(packed *k, const double *ga, const double *gb, const double *c, int32_t na,
                                int32_t nb) {
  if (c[1] != 0 || c[2] != 0 || c[3] != 0 || c[6] != 0) {
    pack_rows(k, ga, gb, c, na, nb, 0, 3);
    return;
  }
  if (c[0] != 0) pack_rows(k, ga, gb, c, na, nb, 0, 1);
  if (c[4] != 0 || c[5] != 0 || c[7] != 0 || c[8] != 0) pack_rows(k, ga, gb, c, na, nb, 1, 2);
}

/* h (6 x 6) += block (row, column) of p, or its transpose */
static inline void add_block(double *restrict h, const double *restrict p, int32_t n, int32_t row, int32_t column,
                             bool transposed) {
  p += row * n + column;
  for (int32_t i = 0; i < 6; i++)
    for (int32_t j = 0; j < 6; j++) h[6 * i + j] += transposed ? p[j * n + i] : p[i * n + j];
}

/* The lower triangle of a symmetric block; the factorization does not look at the other. */
static inline void add_lower(double *restrict h, const double *restrict p, int32_t n, int32_t at) {
  p += at * n + at;
  for (int32_t i = 0; i < 6; i++)
    for (int32_t j = 0; j <= i; j++) h[6 * i + j] += p[i * n + j];
}

/* A run between a rigid body and the world. */
static void add_to_world(ds_system *s, const ds_run *run, const double *c, bool symmetric) {
  const ds_subproblem *p = s->problem;
  double sum[DS_ALONE * DS_ALONE];
  int32_t body = run->a >= 0 ? run->a : run->b;
  double *diagonal = s->matrix->diagonal + s->pattern->diagonal[s->pattern->position[body]];
  ds_rows_body(sum, p->g, p->jacobian + 2 * run->first + (run->a < 0), c + 9 * run->first, run->count, symmetric);
  if (symmetric)
    add_lower(diagonal, sum, DS_ALONE, 0);
  else
    add_block(diagonal, sum, DS_ALONE, 0, 0, false);
}

/* A run between two rigid bodies. */
static void add_rigid(ds_system *s, const ds_run *run, const double *c, bool symmetric) {
  const ds_subproblem *p = s->problem;
  const ds_block_pattern *pattern = s->pattern;
  double sum[DS_PAIR * DS_PAIR];
  ds_rows_pair(sum, p->g, p->jacobian + 2 * run->first, c + 9 * run->first, run->count, symmetric);
  double *diagonal_a = s->matrix->diagonal + pattern->diagonal[pattern->position[run->a]];
  double *diagonal_b = s->matrix->diagonal + pattern->diagonal[pattern->position[run->b]];
  /* block (a, b) lies in lower if a is eliminated after b, else (b, a); the other triangle is kept transposed */
  double *lower = s->matrix->lower + pattern->offset[run->slot];
  double *upper = s->matrix->upper + pattern->offset[run->slot];
  if (symmetric) {
    add_lower(diagonal_a, sum, DS_PAIR, 0);
    add_lower(diagonal_b, sum, DS_PAIR, 6);
    if (run->swapped)
      add_block(lower, sum, DS_PAIR, 6, 0, false);
    else
      add_block(lower, sum, DS_PAIR, 6, 0, true);
  } else {
    add_block(diagonal_a, sum, DS_PAIR, 0, 0, false);
    add_block(diagonal_b, sum, DS_PAIR, 6, 6, false);
    add_block(lower, sum, DS_PAIR, run->swapped ? 6 : 0, run->swapped ? 0 : 6, false);
    add_block(upper, sum, DS_PAIR, run->swapped ? 0 : 6, run->swapped ? 6 : 0, true);
  }
}

/* A run between bodies of any size. */
static void add_any(ds_system *s, const ds_run *run, const double *c, bool symmetric) {
  const ds_subproblem *p = s->problem;
  int32_t na = run->a >= 0 ? p->size[run->a] : 0, nb = run->b >= 0 ? p->size[run->b] : 0;
  size_t block = (size_t)PACKED_ROWS * (size_t)s->pattern->largest;
  packed rows = {0, s->rows, s->rows + block, s->rows + 2 * block, s->rows + 3 * block, na, nb};
  for (int32_t k = run->first, end = run->first + run->count; k < end;) {
    for (rows.rows = 0; k < end && rows.rows + 3 <= PACKED_ROWS; k++)
      pack_contact(&rows, p->g + p->jacobian[2 * k], p->g + p->jacobian[2 * k + 1], c + 9 * k, na, nb);
    if (na > 0)
      ds_rows_gram_any(s->matrix->diagonal + s->pattern->diagonal[s->pattern->position[run->a]], rows.za, rows.ya, na,
                       na, rows.rows);
    if (nb > 0)
      ds_rows_gram_any(s->matrix->diagonal + s->pattern->diagonal[s->pattern->position[run->b]], rows.zb, rows.yb, nb,
                       nb, rows.rows);
    if (run->slot < 0) continue;
    double *lower = s->matrix->lower + s->pattern->offset[run->slot];
    double *upper = s->matrix->upper + s->pattern->offset[run->slot];
    if (run->swapped) {
      ds_rows_gram_any(lower, rows.zb, rows.ya, nb, na, rows.rows);
      if (!symmetric) ds_rows_gram_any(upper, rows.yb, rows.za, nb, na, rows.rows);
    } else {
      ds_rows_gram_any(lower, rows.za, rows.yb, na, nb, rows.rows);
      if (!symmetric) ds_rows_gram_any(upper, rows.ya, rows.zb, na, nb, rows.rows);
    }
  }
}

static void assemble(ds_system *s, const double *c, bool symmetric) {
  const int32_t *size = s->problem->size;
  ds_block_identity(s->matrix, symmetric);
  for (int32_t i = 0; i < s->run_count; i++) {
    const ds_run *run = &s->runs[i];
    bool rigid = (run->a < 0 || size[run->a] == 6) && (run->b < 0 || size[run->b] == 6);
    if (!rigid)
      add_any(s, run, c, symmetric);
    else if (run->slot < 0)
      add_to_world(s, run, c, symmetric);
    else
      add_rigid(s, run, c, symmetric);
  }
}

bool ds_system_factor(ds_system *s, const double *c, bool symmetric) {
  const ds_subproblem *p = s->problem;
  size_t bytes = 9 * (size_t)p->contact_count * sizeof(double);
  if (s->valid && s->symmetric == symmetric && memcmp(c, s->last, bytes) == 0) return true;
  if (ds_effort_is_over(s->effort)) return false;
  memcpy(s->last, c, bytes);
  s->symmetric = symmetric;
  s->factorizations++;
  ds_effort_spend(s->effort, 1, p->contact_count);
  if (s->local) return s->valid = ds_local_system_factor(s->local, c, symmetric);
  assemble(s, c, symmetric);
  s->valid = symmetric ? ds_block_cholesky(s->matrix) : ds_block_lu(s->matrix);
  return s->valid;
}

void ds_system_solve(double *x, const ds_system *s) {
  if (s->local)
    ds_local_system_solve(x, s->local);
  else if (s->symmetric)
    ds_block_cholesky_solve(x, s->matrix, s->work);
  else
    ds_block_lu_solve(x, s->matrix, s->work);
}

int32_t ds_system_sign(const ds_system *s) {
  if (s->local) return ds_local_system_sign(s->local);
  return s->symmetric ? 1 : ds_block_lu_sign(s->matrix);
}

/* A contact takes 100 multiplications in a sweep, and 600 in the assembly of a system. */
double ds_system_in_sweeps(const ds_system *s) {
  double nc = s->problem->contact_count;
  return ((s->pattern ? s->pattern->work : 0) + 600 * nc) / (100 * nc);
}
