#include "stand/barrier.h"

#include <math.h>
#include <string.h>

enum { MOST_STEPS = 40 };               /* Newton steps per weight */
static const double weight_growth = 12; /* from one weight to the next */
static const double centred = 1e-4;     /* Newton decrement that is enough */

static double slack_of(const ds_barrier_row *row, const double *x) {
  double sum = row->constant;
  for (int32_t i = 0; i < row->count; i++) sum += row->value[i] * x[row->column[i]];
  return sum;
}

double ds_barrier_value(const ds_barrier *p, const double *x) {
  double sum = 0, square = 0;
  for (int32_t i = 0; i < p->n; i++) {
    double px = 0;
    for (int32_t j = 0; j < p->n && p->P; j++) px += p->P[(size_t)i * (size_t)p->n + (size_t)j] * x[j];
    sum += p->l[i] * x[i], square += x[i] * px;
  }
  return p->P ? sum - square / (4 * x[p->n - 1]) : sum;
}

static double merit(const ds_barrier *p, const double *x, double weight) {
  double sum = -weight * ds_barrier_value(p, x);
  for (int32_t i = 0; i < p->rows; i++) {
    double s = slack_of(&p->row[i], x);
    if (!(s > 0)) return INFINITY;
    sum -= log(s);
  }
  return sum;
}

/* Gradient and Hessian of the merit function. */
static void derivatives(double *g, double *h, const ds_barrier *p, const double *x, double weight) {
  size_t n = (size_t)p->n;
  double last = x[n - 1], square = 0;
  for (size_t i = 0; i < n * n; i++) h[i] = p->P ? weight * p->P[i] / (2 * last) : 0;
  for (size_t i = 0; i < n; i++) g[i] = -weight * p->l[i];
  for (size_t i = 0; i < n && p->P; i++) {
    double px = 0;
    for (size_t j = 0; j < n; j++) px += p->P[i * n + j] * x[j];
    square += x[i] * px;
    g[i] += weight * px / (2 * last);
    h[i * n + n - 1] -= weight * px / (2 * last * last);
    h[(n - 1) * n + i] -= weight * px / (2 * last * last);
  }
  if (p->P) {
    g[n - 1] -= weight * square / (4 * last * last);
    h[n * n - 1] += weight * square / (2 * last * last * last);
  }
  for (int32_t i = 0; i < p->rows; i++) {
    const ds_barrier_row *row = &p->row[i];
    double s = 1 / slack_of(row, x);
    for (int32_t j = 0; j < row->count; j++) {
      g[row->column[j]] -= s * row->value[j];
      for (int32_t k = 0; k < row->count; k++)
        h[(size_t)row->column[j] * n + (size_t)row->column[k]] += s * s * row->value[j] * row->value[k];
    }
  }
}

/* h = L Lᵀ in place, in the lower triangle. */
static bool cholesky(double *h, int32_t n) {
  for (int32_t j = 0; j < n; j++) {
    double *row = h + (size_t)j * (size_t)n, d = row[j];
    for (int32_t k = 0; k < j; k++) d -= row[k] * row[k];
    if (!(d > 0)) return false;
    row[j] = sqrt(d);
    for (int32_t i = j + 1; i < n; i++) {
      double *other = h + (size_t)i * (size_t)n, sum = other[j];
      for (int32_t k = 0; k < j; k++) sum -= other[k] * row[k];
      other[j] = sum / row[j];
    }
  }
  return true;
}

static void cholesky_solve(double *x, const double *h, int32_t n) {
  for (int32_t i = 0; i < n; i++) {
    for (int32_t k = 0; k < i; k++) x[i] -= h[(size_t)i * (size_t)n + (size_t)k] * x[k];
    x[i] /= h[(size_t)i * (size_t)n + (size_t)i];
  }
  for (int32_t i = n - 1; i >= 0; i--) {
    for (int32_t k = i + 1; k < n; k++) x[i] -= h[(size_t)k * (size_t)n + (size_t)i] * x[k];
    x[i] /= h[(size_t)i * (size_t)n + (size_t)i];
  }
}

typedef struct workspace {
  double *g, *h, *d, *trial;
  double *y, *s, *v; /* equalities x n: H⁻¹ Eᵀ; its Schur complement; multipliers */
} workspace;

/* d := -H⁻¹ (g + Eᵀ v) with E d = 0 */
static bool direction(workspace *w, const ds_barrier *p) {
  int32_t n = p->n, m = p->equalities;
  for (int32_t i = 0; i < n; i++) w->d[i] = -w->g[i];
  if (!cholesky(w->h, n)) return false;
  cholesky_solve(w->d, w->h, n);
  if (m == 0) return true;
  for (int32_t i = 0; i < m; i++) {
    double *y = w->y + (size_t)i * (size_t)n;
    memcpy(y, p->E + (size_t)i * (size_t)n, (size_t)n * sizeof *y);
    cholesky_solve(y, w->h, n);
  }
  for (int32_t i = 0; i < m; i++) {
    w->v[i] = 0;
    for (int32_t j = 0; j < m; j++) {
      double sum = 0;
      for (int32_t k = 0; k < n; k++)
        sum += p->E[(size_t)i * (size_t)n + (size_t)k] * w->y[(size_t)j * (size_t)n + (size_t)k];
      w->s[i * m + j] = sum;
    }
    for (int32_t k = 0; k < n; k++) w->v[i] += p->E[(size_t)i * (size_t)n + (size_t)k] * w->d[k];
    w->s[i * m + i] *= 1 + 1e-13; /* rows may depend on each other */
  }
  if (!cholesky(w->s, m)) return false;
  cholesky_solve(w->v, w->s, m);
  for (int32_t i = 0; i < m; i++)
    for (int32_t k = 0; k < n; k++) w->d[k] -= w->v[i] * w->y[(size_t)i * (size_t)n + (size_t)k];
  return true;
}

/* Newton's method for one weight. False where no more progress is possible. */
static bool centre(workspace *w, double *x, const ds_barrier *p, double weight) {
  for (int32_t step = 0; step < MOST_STEPS; step++) {
    derivatives(w->g, w->h, p, x, weight);
    double before = merit(p, x, weight), slope = 0, t = 1;
    if (!direction(w, p)) return false;
    for (int32_t i = 0; i < p->n; i++) slope += w->g[i] * w->d[i];
    if (!(slope < -centred)) return true;
    for (; t > 1e-10; t *= 0.5) {
      for (int32_t i = 0; i < p->n; i++) w->trial[i] = x[i] + t * w->d[i];
      if (merit(p, w->trial, weight) <= before + 0.1 * t * slope) break;
    }
    if (!(t > 1e-10)) return false;
    memcpy(x, w->trial, (size_t)p->n * sizeof *x);
  }
  return true;
}

bool ds_barrier_solve(ds_arena *arena, double *x, const ds_barrier *p) {
  ds_arena_mark mark = ds_arena_get_mark(arena);
  size_t n = (size_t)p->n, m = (size_t)p->equalities;
  workspace w = {DS_NEW(arena, double, n),    DS_NEW(arena, double, n *n),     DS_NEW(arena, double, n),
                 DS_NEW(arena, double, n),    DS_NEW(arena, double, m *n + 1), DS_NEW(arena, double, m *m + 1),
                 DS_NEW(arena, double, m + 1)};
  if (ds_arena_failed(arena)) return false;
  for (double weight = 1; p->rows / weight > p->gap / weight_growth; weight *= weight_growth)
    if (!centre(&w, x, p, weight) || ds_barrier_value(p, x) >= p->enough) break;
  ds_arena_release(arena, mark);
  return true;
}
