#include "project/system.h"

#include <string.h>

ds_system *ds_system_create(ds_arena *arena, const ds_problem *p) {
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

/* h (m x n) += aᵀ y, with a (3 x m) and y (3 x n) */
static inline void add_outer(double *restrict h, const double *restrict a, const double *restrict y, int32_t m,
                             int32_t n) {
  for (int32_t i = 0; i < m; i++) {
    double a0 = a[i], a1 = a[m + i], a2 = a[2 * m + i];
    for (int32_t j = 0; j < n; j++) h[i * n + j] += a0 * y[j] + a1 * y[n + j] + a2 * y[2 * n + j];
  }
}

/* y (3 x n) = c g, or cᵀ g */
static inline void apply_c(double *restrict y, const double *restrict c, const double *restrict g, int32_t n,
                           bool transposed) {
  for (int32_t i = 0; i < 3; i++) {
    double c0 = transposed ? c[i] : c[3 * i], c1 = transposed ? c[3 + i] : c[3 * i + 1],
           c2 = transposed ? c[6 + i] : c[3 * i + 2];
    for (int32_t j = 0; j < n; j++) y[i * n + j] = c0 * g[j] + c1 * g[n + j] + c2 * g[2 * n + j];
  }
}

enum { LARGEST_BLOCK = 128 };

static inline void add_contact(ds_system *s, const double *c, int32_t k, bool symmetric, int32_t na, int32_t nb) {
  const ds_problem *p = s->problem;
  const ds_block_pattern *pattern = s->pattern;
  int32_t a = p->body[2 * k], b = p->body[2 * k + 1];
  const double *ga = p->g + p->jacobian[2 * k], *gb = p->g + p->jacobian[2 * k + 1];
  double ya[3 * LARGEST_BLOCK], yb[3 * LARGEST_BLOCK];
  if (a >= 0) {
    apply_c(ya, c, ga, na, false);
    add_outer(s->matrix->diagonal + pattern->diagonal[pattern->position[a]], ga, ya, na, na);
  }
  if (b >= 0) {
    apply_c(yb, c, gb, nb, false);
    add_outer(s->matrix->diagonal + pattern->diagonal[pattern->position[b]], gb, yb, nb, nb);
  }
  if (s->slot[k] < 0) return;
  /* block (a, b) = g_aᵀ C g_b lies in lower if a comes after b; the other triangle is kept transposed:
   * (b, a)ᵀ = g_aᵀ Cᵀ g_b */
  double *lower = s->matrix->lower + pattern->offset[s->slot[k]];
  double *upper = s->matrix->upper + pattern->offset[s->slot[k]];
  if (!s->swapped[k]) {
    add_outer(lower, ga, yb, na, nb);
    if (!symmetric) {
      apply_c(yb, c, gb, nb, true);
      add_outer(upper, ga, yb, na, nb);
    }
  } else {
    add_outer(lower, gb, ya, nb, na);
    if (!symmetric) {
      apply_c(ya, c, ga, na, true);
      add_outer(upper, gb, ya, nb, na);
    }
  }
}

bool ds_system_factor(ds_system *s, const double *c, bool symmetric) {
  const ds_problem *p = s->problem;
  size_t bytes = 9 * (size_t)p->contact_count * sizeof(double);
  if (s->valid && s->symmetric == symmetric && memcmp(c, s->last, bytes) == 0) return true;
  memcpy(s->last, c, bytes);
  ds_block_identity(s->matrix, symmetric);
  for (int32_t k = 0; k < p->contact_count; k++) {
    const double *ck = c + 9 * k;
    bool acts = false;
    for (int32_t i = 0; i < 9; i++) acts |= ck[i] != 0;
    if (!acts) continue;
    int32_t a = p->body[2 * k], b = p->body[2 * k + 1];
    int32_t na = a >= 0 ? p->size[a] : 6, nb = b >= 0 ? p->size[b] : 6;
    if (na == 6 && nb == 6)
      add_contact(s, ck, k, symmetric, 6, 6);
    else
      add_contact(s, ck, k, symmetric, na, nb);
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
