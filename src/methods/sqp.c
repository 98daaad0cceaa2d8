/* Sequential quadratic programming on the non-convex program of [SP08 5.3].
 *
 * The solutions of Stewart and Trinkle's complementarity problem are the minima with f = 0 of
 *
 *   f(z) = zᵀ (M z + q)   subject to  z >= 0,  M z + q >= 0.
 *
 * Its quadratic part is that of W, which is convex, and mu alpha lambda, which is not. Each iteration solves a convex
 * quadratic program with the gradient of f and the convex part B of its Hessian,
 *
 *   min (grad f(z) - B z)ᵀ y + ½ yᵀ B y   subject to  y >= 0,  M y + q >= 0,
 *
 * by an interior point, dense, and goes from z towards y as far as f decreases. It ends where f does not decrease any
 * more: in a local minimum, which need not have f = 0 and then obeys neither Signorini nor maximal dissipation. SP08
 * found that so, and the certificate shows it. 60 contacts at most; where there are more, the answer is the start. The
 * start has no other use. `max_iterations` quadratic programs at most. */
#include <math.h>

#include "methods/pgs.h"
#include "methods/stewart_trinkle.h"
#include "project/solvers.h"

enum { CONTACTS_MAX = 60, INNER_MAX = 50 }; /* an inner program takes 10 to 25 steps */
static const double FLAT = 1e-9;            /* of the diagonal of B that lambda, and what W leaves free, get */
static const double INNER_GAP = 1e-13, DECREASE = 1e-13;

typedef struct sqp {
  const ds_lcp *l;
  size_t n;
  double *b, *k;            /* n x n: B, and the matrix of a step */
  double *z, *c, *y;        /* n */
  double *s[2], *lambda[2]; /* slacks of y >= 0 and of M y + q >= 0, and their multipliers */
  double *ds[2], *dl[2], *aim[2];
  double *right, *dy, *product;
} sqp;

static void times(double *y, const double *m, const double *x, size_t n) {
  for (size_t i = 0; i < n; i++) {
    double sum = 0;
    for (size_t j = 0; j < n; j++) sum += m[i * n + j] * x[j];
    y[i] = sum;
  }
}

static void add_transposed(double *y, const double *m, const double *x, size_t n, double factor) {
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++) y[j] += factor * m[i * n + j] * x[i];
}

/* K = B + diag(l_1/s_1) + Mᵀ diag(l_2/s_2) M and its Cholesky factor, in its lower half. */
static bool factor(sqp *q) {
  size_t n = q->n;
  memcpy(q->k, q->b, n * n * sizeof *q->k);
  for (size_t i = 0; i < n; i++) q->k[i * n + i] += q->lambda[0][i] / q->s[0][i];
  for (size_t r = 0; r < n; r++) {
    const double *row = q->l->m + r * n;
    double d = q->lambda[1][r] / q->s[1][r];
    for (size_t i = 0; i < n; i++)
      for (size_t j = 0; row[i] != 0 && j <= i; j++) q->k[i * n + j] += d * row[i] * row[j];
  }
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j <= i; j++) {
      double sum = q->k[i * n + j];
      for (size_t m = 0; m < j; m++) sum -= q->k[i * n + m] * q->k[j * n + m];
      if (i == j && !(sum > 0)) return false;
      q->k[i * n + j] = i == j ? sqrt(sum) : sum / q->k[j * n + j];
    }
  return true;
}

static void solve_factored(double *x, const double *k, size_t n) {
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < i; j++) x[i] -= k[i * n + j] * x[j];
    x[i] /= k[i * n + i];
  }
  for (size_t i = n; i-- > 0;) {
    x[i] /= k[i * n + i];
    for (size_t j = 0; j < i; j++) x[j] -= k[i * n + j] * x[i];
  }
}

/* The step to s l = centre - correction; aim = (centre - s l - correction)/s on return. Returns its length. */
static double direction(sqp *q, double centre, bool corrector) {
  size_t n = q->n;
  for (int g = 0; g < 2; g++)
    for (size_t i = 0; i < n; i++)
      q->aim[g][i] = (centre - q->s[g][i] * q->lambda[g][i] - (corrector ? q->ds[g][i] * q->dl[g][i] : 0)) / q->s[g][i];
  times(q->product, q->l->m, q->y, n);
  times(q->dy, q->b, q->y, n);
  for (size_t i = 0; i < n; i++) { /* ds holds what the constraints miss, until the step is known */
    q->ds[0][i] = q->y[i] - q->s[0][i];
    q->ds[1][i] = q->product[i] + q->l->q[i] - q->s[1][i];
    q->dy[i] = -q->dy[i] - q->c[i] + q->lambda[0][i] + q->aim[0][i] - q->lambda[0][i] / q->s[0][i] * q->ds[0][i];
    q->right[i] = q->lambda[1][i] + q->aim[1][i] - q->lambda[1][i] / q->s[1][i] * q->ds[1][i];
  }
  add_transposed(q->dy, q->l->m, q->right, n, 1);
  solve_factored(q->dy, q->k, n);
  times(q->product, q->l->m, q->dy, n);
  double length = 1;
  for (int g = 0; g < 2; g++)
    for (size_t i = 0; i < n; i++) {
      q->ds[g][i] += g == 0 ? q->dy[i] : q->product[i];
      q->dl[g][i] = q->aim[g][i] - q->lambda[g][i] / q->s[g][i] * q->ds[g][i];
      if (q->ds[g][i] < 0) length = fmin(length, -q->s[g][i] / q->ds[g][i]);
      if (q->dl[g][i] < 0) length = fmin(length, -q->lambda[g][i] / q->dl[g][i]);
    }
  return length;
}

static double gap(const sqp *q, double t) {
  double sum = 0;
  for (int g = 0; g < 2; g++)
    for (size_t i = 0; i < q->n; i++) sum += (q->s[g][i] + t * q->ds[g][i]) * (q->lambda[g][i] + t * q->dl[g][i]);
  return sum / (double)(2 * q->n);
}

/* y of the convex program. False where it was not found. */
static bool inner(ds_solve *s, sqp *q, double size) {
  size_t n = q->n;
  for (size_t i = 0; i < n; i++) q->y[i] = size;
  for (int g = 0; g < 2; g++)
    for (size_t i = 0; i < n; i++) q->s[g][i] = q->lambda[g][i] = size, q->ds[g][i] = q->dl[g][i] = 0;
  for (int32_t i = 0; i < INNER_MAX && !ds_effort_is_over(s->effort); i++) {
    double now = gap(q, 0);
    if (now <= INNER_GAP * size * size) return true;
    if (!factor(q)) return i > 0;
    s->work.projections++;
    double t = direction(q, 0, false), ratio = gap(q, t) / now;
    t = fmin(1, 0.99 * direction(q, ratio * ratio * ratio * now, true));
    if (!isfinite(t)) return false;
    for (size_t j = 0; j < n; j++) q->y[j] += t * q->dy[j];
    for (int g = 0; g < 2; g++)
      for (size_t j = 0; j < n; j++) q->s[g][j] += t * q->ds[g][j], q->lambda[g][j] += t * q->dl[g][j];
  }
  return gap(q, 0) <= sqrt(INNER_GAP) * size * size;
}

/* f and, in c, grad f - B z. */
static double objective(sqp *q) {
  size_t n = q->n;
  double f = 0;
  times(q->product, q->l->m, q->z, n);
  times(q->right, q->b, q->z, n);
  for (size_t i = 0; i < n; i++) {
    f += q->z[i] * (q->product[i] + q->l->q[i]);
    q->c[i] = q->product[i] + q->l->q[i] - q->right[i];
  }
  add_transposed(q->c, q->l->m, q->z, n, 1);
  return f;
}

/* From z towards y as far as f decreases: f(z + t d) = f + t f' + t² dᵀMd. All of the way where z is not feasible. */
static void go(sqp *q, bool whole) {
  size_t n = q->n;
  double slope = 0, bend = 0, t = 1;
  for (size_t i = 0; i < n; i++) q->dy[i] = q->y[i] - q->z[i];
  times(q->product, q->l->m, q->dy, n);
  times(q->right, q->b, q->z, n);
  for (size_t i = 0; i < n; i++) slope += (q->c[i] + q->right[i]) * q->dy[i], bend += q->dy[i] * q->product[i];
  if (!whole && bend > 0) t = fmin(1, fmax(0, -slope / (2 * bend)));
  for (size_t i = 0; i < n; i++) q->z[i] = fmax(0, q->z[i] + t * q->dy[i]);
}

static bool allocate(ds_arena *arena, sqp *q) {
  size_t n = q->n;
  double **vectors[] = {&q->z,         &q->c,     &q->y,     &q->s[0],   &q->s[1],  &q->lambda[0],
                        &q->lambda[1], &q->ds[0], &q->ds[1], &q->dl[0],  &q->dl[1], &q->aim[0],
                        &q->aim[1],    &q->right, &q->dy,    &q->product};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) *vectors[i] = DS_NEW0(arena, double, n);
  q->b = DS_NEW0(arena, double, n *n), q->k = DS_NEW(arena, double, n *n);
  return !ds_arena_failed(arena);
}

/* B: twice the part of W, and a little everywhere. */
static void set_convex_part(sqp *q) {
  size_t n = q->n, impulses = n - (size_t)q->l->contacts;
  for (size_t i = 0; i < impulses; i++)
    for (size_t j = 0; j < impulses; j++) q->b[i * n + j] = 2 * q->l->m[i * n + j];
  for (size_t i = 0; i < n; i++) q->b[i * n + i] += FLAT;
}

ds_solver_solve ds_sqp_solve; /* for the table of solvers.c */

void ds_sqp_solve(ds_solve *s, ds_iterate *x, const ds_subproblem *p) {
  ds_arena_mark mark = ds_arena_get_mark(s->arena);
  int32_t corners = s->options->friction_samples > 0 ? s->options->friction_samples : DS_LCP_CORNERS;
  ds_lcp l;
  if (p->contact_count > CONTACTS_MAX || !(p->target > 0) || !ds_lcp_build(s->arena, &l, p, corners)) return;
  sqp q = {.l = &l, .n = (size_t)l.n};
  if (!allocate(s->arena, &q)) return;
  set_convex_part(&q);
  double f = INFINITY;
  for (int32_t i = 0; i < s->options->max_iterations; i++) {
    double now = objective(&q);
    if (i > 1 && !(now < f - DECREASE * p->target * p->target)) break;
    f = now;
    if (!inner(s, &q, p->target)) break;
    go(&q, i == 0);
    s->work.staggered++;
  }
  ds_lcp_impulses(x->r, &l, q.z);
  ds_method_finish(x, p);
  ds_arena_release(s->arena, mark);
}
