#include "la/anderson.h"

#include <math.h>
#include <string.h>

static const double DEPENDENT = 1e-10; /* rest of a difference over itself, below which it adds no information */

bool ds_anderson_new(ds_arena *arena, ds_anderson *m, int32_t n) {
  size_t all = (size_t)DS_ANDERSON_DEPTH * (size_t)n + 1;
  *m = (ds_anderson){.n = n, .count = -1};
  double **matrices[] = {&m->dx, &m->df, &m->q};
  for (size_t i = 0; i < sizeof matrices / sizeof *matrices; i++) *matrices[i] = DS_NEW(arena, double, all);
  m->x = DS_NEW(arena, double, n + 1);
  m->f = DS_NEW(arena, double, n + 1);
  m->rest = DS_NEW(arena, double, n + 1);
  return !ds_arena_failed(arena);
}

void ds_anderson_forget(ds_anderson *m) { m->count = -1; }

static double dot(const double *a, const double *b, int32_t n) {
  double sum = 0;
  for (int32_t i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

/* x -= f y */
static void subtract(double *x, double f, const double *y, int32_t n) {
  for (int32_t i = 0; i < n; i++) x[i] -= f * y[i];
}

/* The difference from the last point to (x, f), and those as the last point. */
static void remember(ds_anderson *m, const double *x, const double *image) {
  size_t slot = (size_t)(m->count < 0 ? 0 : m->count % DS_ANDERSON_DEPTH) * (size_t)m->n;
  for (int32_t i = 0; i < m->n; i++) {
    double f = image[i] - x[i];
    if (m->count >= 0) m->dx[slot + (size_t)i] = x[i] - m->x[i], m->df[slot + (size_t)i] = f - m->f[i];
    m->x[i] = x[i];
    m->f[i] = f;
  }
  m->count++;
}

void ds_anderson_next(ds_anderson *m, double *x, const double *image) {
  double r[DS_ANDERSON_DEPTH][DS_ANDERSON_DEPTH], c[DS_ANDERSON_DEPTH];
  int32_t n = m->n, used = 0, at[DS_ANDERSON_DEPTH];
  remember(m, x, image);
  memcpy(m->rest, m->f, (size_t)n * sizeof(double));
  /* df = q r by Gram and Schmidt, the newest first */
  for (int32_t j = m->count - 1; j >= 0 && j >= m->count - DS_ANDERSON_DEPTH; j--) {
    double *q = m->q + (size_t)used * (size_t)n;
    const double *df = m->df + (size_t)(j % DS_ANDERSON_DEPTH) * (size_t)n;
    double whole = sqrt(dot(df, df, n));
    memcpy(q, df, (size_t)n * sizeof(double));
    for (int32_t k = 0; k < used; k++) {
      r[k][used] = dot(m->q + (size_t)k * (size_t)n, q, n);
      subtract(q, r[k][used], m->q + (size_t)k * (size_t)n, n);
    }
    double rest = sqrt(dot(q, q, n));
    if (!(rest > DEPENDENT * whole)) continue;
    for (int32_t i = 0; i < n; i++) q[i] /= rest;
    r[used][used] = rest;
    c[used] = dot(q, m->rest, n);
    subtract(m->rest, c[used], q, n);
    at[used++] = j % DS_ANDERSON_DEPTH;
  }
  for (int32_t k = used - 1; k >= 0; k--) {
    for (int32_t j = k + 1; j < used; j++) c[k] -= r[k][j] * c[j];
    c[k] /= r[k][k];
  }
  memcpy(x, image, (size_t)n * sizeof(double));
  for (int32_t k = 0; k < used; k++) {
    subtract(x, c[k], m->dx + (size_t)at[k] * (size_t)n, n);
    subtract(x, c[k], m->df + (size_t)at[k] * (size_t)n, n);
  }
}
