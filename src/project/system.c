#include "project/system.h"

#include <string.h>

ds_system *ds_system_create(ds_arena *arena, const ds_subproblem *p) {
  ds_system *s = DS_NEW0(arena, ds_system, 1);
  int32_t *pairs = DS_NEW(arena, int32_t, 2 * (size_t)p->contact_count + 1);
  if (ds_arena_failed(arena)) return NULL;
  int32_t pair_count = 0;
  for (int32_t k = 0; k < p->contact_count; k++) {
    int32_t a = p->body[2 * k], b = p->body[2 * k + 1];
    if (a < 0 || b < 0) continue;
    if (pair_count > 0 && pairs[2 * pair_count - 2] == a && pairs[2 * pair_count - 1] == b) continue;
    pairs[2 * pair_count] = a;
    pairs[2 * pair_count + 1] = b;
    pair_count++;
  }
  s->problem = p;
  s->pattern = ds_block_analyse(arena, p->size, pairs, pair_count, p->body_count);
  s->slot = DS_NEW(arena, int32_t, p->contact_count + 1);
  s->swapped = DS_NEW(arena, bool, p->contact_count + 1);
  s->work = DS_NEW(arena, double, p->dof + 1);
  s->last = DS_NEW(arena, double, 9 * (size_t)p->contact_count + 1);
  s->matrix = s->pattern ? ds_block_create(arena, s->pattern) : NULL;
  if (ds_arena_failed(arena) || !s->matrix) return NULL;
  for (int32_t k = 0; k < p->contact_count; k++) {
    int32_t a = p->body[2 * k], b = p->body[2 * k + 1];
    s->swapped[k] = false;
    s->slot[k] = a < 0 || b < 0 ? -1 : ds_block_slot(&s->swapped[k], s->pattern, a, b);
  }
  return s;
}

/* h (m x n) += aᵀ y, with a and y of `rows` rows */
static inline void add_outer(double *restrict h, const double *restrict a, const double *restrict y, int32_t m,
                             int32_t n, int32_t rows) {
  for (int32_t i = 0; i < m; i++)
    for (int32_t r = 0; r < rows; r++) {
      double f = a[r * m + i];
      for (int32_t j = 0; j < n; j++) h[i * n + j] += f * y[r * n + j];
    }
}

/* y (rows x n) = c g, or cᵀ g; c is a block of a 3 x 3 matrix */
static inline void apply_c(double *restrict y, const double *restrict c, const double *restrict g, int32_t n,
                           int32_t rows, bool transposed) {
  for (int32_t i = 0; i < rows; i++) {
    for (int32_t j = 0; j < n; j++) y[i * n + j] = 0;
    for (int32_t r = 0; r < rows; r++) {
      double f = transposed ? c[3 * r + i] : c[3 * i + r];
      for (int32_t j = 0; j < n; j++) y[i * n + j] += f * g[r * n + j];
    }
  }
}

enum { LARGEST_BLOCK = 128 };

/* Adds G_k C_k G_kᵀ, where C_k is zero but for `rows` rows and columns from `first` on: all of it, the normal alone
 * (contact projection) or the tangents (friction projection). */
static inline void add_contact(ds_system *s, const double *c, int32_t k, bool symmetric, int32_t na, int32_t nb,
                               int32_t first, int32_t rows) {
  const ds_subproblem *p = s->problem;
  const ds_block_pattern *pattern = s->pattern;
  int32_t a = p->body[2 * k], b = p->body[2 * k + 1];
  const double *ga = p->g + p->jacobian[2 * k] + first * na, *gb = p->g + p->jacobian[2 * k + 1] + first * nb;
  double ya[3 * LARGEST_BLOCK], yb[3 * LARGEST_BLOCK];
  c += 4 * first;
  if (a >= 0) {
    apply_c(ya, c, ga, na, rows, false);
    add_outer(s->matrix->diagonal + pattern->diagonal[pattern->position[a]], ga, ya, na, na, rows);
  }
  if (b >= 0) {
    apply_c(yb, c, gb, nb, rows, false);
    add_outer(s->matrix->diagonal + pattern->diagonal[pattern->position[b]], gb, yb, nb, nb, rows);
  }
  if (s->slot[k] < 0) return;
  /* block (a, b) = g_aᵀ C g_b lies in lower if a comes after b; the other triangle is kept transposed:
   * (b, a)ᵀ = g_aᵀ Cᵀ g_b */
  double *lower = s->matrix->lower + pattern->offset[s->slot[k]];
  double *upper = s->matrix->upper + pattern->offset[s->slot[k]];
  if (!s->swapped[k]) {
    add_outer(lower, ga, yb, na, nb, rows);
    if (!symmetric) {
      apply_c(yb, c, gb, nb, rows, true);
      add_outer(upper, ga, yb, na, nb, rows);
    }
  } else {
    add_outer(lower, gb, ya, nb, na, rows);
    if (!symmetric) {
      apply_c(ya, c, ga, na, rows, true);
      add_outer(upper, gb, ya, nb, na, rows);
    }
  }
}

/* The same with the sizes as constants where they are the usual ones. */
static void add_sized(ds_system *s, const double *c, int32_t k, bool symmetric, int32_t na, int32_t nb) {
  bool normal = c[0] != 0, coupled = c[1] != 0 || c[2] != 0 || c[3] != 0 || c[6] != 0;
  bool tangents = c[4] != 0 || c[5] != 0 || c[7] != 0 || c[8] != 0;
  if (!normal && !coupled && !tangents) return;
  if (na != 6 || nb != 6)
    add_contact(s, c, k, symmetric, na, nb, 0, 3);
  else if (!tangents && !coupled)
    add_contact(s, c, k, symmetric, 6, 6, 0, 1);
  else if (!normal && !coupled)
    add_contact(s, c, k, symmetric, 6, 6, 1, 2);
  else
    add_contact(s, c, k, symmetric, 6, 6, 0, 3);
}

bool ds_system_factor(ds_system *s, const double *c, bool symmetric) {
  const ds_subproblem *p = s->problem;
  size_t bytes = 9 * (size_t)p->contact_count * sizeof(double);
  if (s->valid && s->symmetric == symmetric && memcmp(c, s->last, bytes) == 0) return true;
  memcpy(s->last, c, bytes);
  ds_block_identity(s->matrix, symmetric);
  for (int32_t k = 0; k < p->contact_count; k++) {
    int32_t a = p->body[2 * k], b = p->body[2 * k + 1];
    add_sized(s, c + 9 * k, k, symmetric, a >= 0 ? p->size[a] : 6, b >= 0 ? p->size[b] : 6);
  }
  s->symmetric = symmetric;
  s->factorizations++;
  s->valid = symmetric ? ds_block_cholesky(s->matrix) : ds_block_lu(s->matrix);
  return s->valid;
}

void ds_system_solve(double *x, const ds_system *s) {
  if (s->symmetric)
    ds_block_cholesky_solve(x, s->matrix, s->work);
  else
    ds_block_lu_solve(x, s->matrix, s->work);
}
