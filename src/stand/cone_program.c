#include "stand/cone_program.h"

#include <math.h>
#include <string.h>

#include "la/lorentz.h"

enum {
  MOST_ITERATIONS = 60,
  MOST_REFINEMENTS = 12, /* of solves with S */
  MOST_CENTRINGS = 2,    /* correctors per factorization */
  MOST_CORRECTIONS = 6,  /* of forces, until they balance */
  STALLED = 4,           /* iterations in which the interval of values must be halved */
};
/* Added to the diagonal of a block of S, relative to its largest entry. S is singular where blocks have fewer contacts
 * than freedoms, such as one that rests on a point or an edge. Equations then have a rest of shift dy; forces are
 * corrected until they balance. */
static const double diagonal_shift = 1e-14;
static const double solve_accuracy = 1e-12; /* |S y - rhs| / |rhs| */
/* Largest rest of the equations that counts as equilibrium, in weights of a block: some thousand roundings. */
static const double balanced = 1e-11;
/* Rounding of a relative velocity, over the sum of its terms: 12 products and sums. */
static const double slip_rounding = 16 * 2.3e-16;
/* Correctors: by how much the step is to be longer, the least share of that which is worth a solve, and how far
 * products may be from their target. */
static const double longer = 0.3, least_gain = 0.1, spread = 0.1;
static const double first_load = 1e-2; /* of t, where the search for a centre starts */
static const double nearly_all = 0.99; /* of the way to the boundary */
/* Gap of an iterate, relative to its value, from which on candidates are tried, if there are forces already. */
static const double promising = 1e-2;
/* Gap over the width that is asked for, at which candidates fail for other reasons than the gap. */
static const double exhausted = 1e-7;
/* tau / kappa, which tends to nothing where there are no forces, and to infinity where there are. Of assemblies that
 * stand without friction it never fell below 0.26; of vaults and arches, which do not, it is 0.01 after the first step.
 */
static const double hopeless = 0.02;
/* A first step shorter than this starts anew from least squares; their forces are this far inside the cones, in weights
 * of a block. Of 24 arches, vaults, domes and samples no other is slower for it; large vaults save up to two of four
 * factorizations, and start so for anything from 0.2 to 0.7. */
static const double short_start = 0.5, inside = 0.3;

/* Cone coordinates of point k: x = (mu r_N, r_T), in the Lorentz cone, or (r_N, 0, 0) without friction; so that
 * r = scale x. The unknown t is one more cone (t, 0, 0), and so are the slacks of points that crush. */
typedef struct solver {
  const ds_cone_program *p;
  const ds_graph *g;
  int32_t n, points, cones; /* n: length of y */
  int32_t rows, slack;      /* first row and first cone of the points that crush */
  double *b, *d;            /* n; d: NULL = no t */
  double *scale;            /* 3 x points */
  double *cost;             /* 3 x cones */
  double *x, *z, *y, tau, kappa;
  double *dx, *dz, *dy, dtau, dkappa;
  double *ax, *az;     /* the affine direction, scaled: W⁻¹ dx, W dz */
  double *x2, *y2;     /* what dtau = 1 adds: y2 = S⁻¹ (b + A W² c), x2 = -W² (c - Aᵀ y2) */
  double *yx;          /* S⁻¹ A x */
  double *yc;          /* S⁻¹ A W² c, of candidates */
  double *rp, *rd, rg; /* residuals */
  double *xi, *q;      /* work, 3 x cones */
  double *v1, *v2, *v3, *v4;
  ds_lorentz *w;
  ds_block_matrix *matrix;
  double *shift;  /* n: added to the diagonal of S */
  double *column; /* S₀⁻¹ d */
  double column_weight;
  ds_cone_answer *answer;
} solver;

/* ---- products ---- */

/* out = A x */
static void times(double *out, const solver *s, const double *x, double *r) {
  for (int32_t i = 0; i < 3 * s->points; i++) r[i] = s->scale[i] * x[i];
  memset(out, 0, (size_t)s->n * sizeof *out);
  ds_graph_add_forces(out, s->g, r);
  for (int32_t j = 0; j < s->g->limits; j++) out[s->rows + j] = r[3 * s->g->limit_point[j]] + x[3 * (s->slack + j)];
  if (s->d)
    for (int32_t i = 0; i < s->n; i++) out[i] += x[3 * s->points] * s->d[i];
}

/* out = Aᵀ y */
static void transposed(double *out, const solver *s, const double *y) {
  ds_graph_slip(out, s->g, y);
  for (int32_t j = 0; j < s->g->limits; j++) {
    double *z = out + 3 * (s->slack + j);
    out[3 * s->g->limit_point[j]] += z[0] = y[s->rows + j];
    z[1] = z[2] = 0;
  }
  for (int32_t i = 0; i < 3 * s->points; i++) out[i] *= s->scale[i];
  if (!s->d) return;
  double *t = out + 3 * s->points;
  t[0] = t[1] = t[2] = 0;
  for (int32_t i = 0; i < s->n; i++) t[0] += s->d[i] * y[i];
}

/* z = x⁻¹: x o z = 1. False if x is not inside of the cone. */
static bool invert_point(double *z, const double *x) {
  double det = ds_minkowski(x);
  z[0] = x[0] / det, z[1] = -x[1] / det, z[2] = -x[2] / det;
  return x[0] > 0 && det > 0;
}

static double dot(const double *a, const double *b, int32_t n) {
  double sum = 0;
  for (int32_t i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

/* out = W x, W⁻¹ x */
static void scaled(double *out, const solver *s, const double *x, bool inverse) {
  for (int32_t k = 0; k < s->cones; k++) ds_lorentz_apply(out + 3 * k, &s->w[k], x + 3 * k, inverse);
}

/* out = W² x; out may be x */
static void scaled_twice(double *out, const solver *s, const double *x) {
  for (int32_t k = 0; k < s->cones; k++) {
    double half[3];
    ds_lorentz_apply(half, &s->w[k], x + 3 * k, false);
    ds_lorentz_apply(out + 3 * k, &s->w[k], half, false);
  }
}

/* ---- the linear system S = A W² Aᵀ ---- */

/* y = C g, where the rows of g are 3 x 6 */
static void multiply(double *y, const double *c, const double *g) {
  for (int32_t i = 0; i < 3; i++)
    for (int32_t j = 0; j < 6; j++) y[6 * i + j] = c[3 * i] * g[j] + c[3 * i + 1] * g[6 + j] + c[3 * i + 2] * g[12 + j];
}

/* h (6 x 6) += gᵀ y; the lower triangle */
static void add_own(double *h, const double *g, const double *y) {
  for (int32_t i = 0; i < 6; i++)
    for (int32_t j = 0; j <= i; j++) h[6 * i + j] += g[i] * y[j] + g[6 + i] * y[6 + j] + g[12 + i] * y[12 + j];
}

static void add_pair(double *h, const double *g, const double *y) {
  for (int32_t i = 0; i < 6; i++)
    for (int32_t j = 0; j < 6; j++) h[6 * i + j] += g[i] * y[j] + g[6 + i] * y[6 + j] + g[12 + i] * y[12 + j];
}

static void add_point(solver *s, int32_t k) {
  const ds_block_pattern *p = s->matrix->pattern;
  int32_t a = s->g->body[2 * k], b = s->g->body[2 * k + 1];
  const double *ga = s->g->g + 36 * (size_t)k, *gb = ga + 18, *f = s->scale + 3 * k;
  double c[9], ya[18], yb[18];
  ds_lorentz_square(c, &s->w[k]);
  for (int32_t i = 0; i < 9; i++) c[i] *= f[i / 3] * f[i % 3];
  multiply(ya, c, ga);
  multiply(yb, c, gb);
  if (a >= 0) add_own(s->matrix->diagonal + p->diagonal[p->position[a]], ga, ya);
  if (b >= 0) add_own(s->matrix->diagonal + p->diagonal[p->position[b]], gb, yb);
  if (a < 0 || b < 0) return;
  bool swapped; /* a is eliminated before b: block (b, a) is kept */
  double *lower = s->matrix->lower + p->offset[ds_block_slot(&swapped, p, a, b)];
  add_pair(lower, swapped ? gb : ga, swapped ? ya : yb);
}

/* The row of a point that crushes, against itself and against its blocks. */
static void add_limit(solver *s, int32_t j) {
  const ds_block_pattern *p = s->matrix->pattern;
  int32_t k = s->g->limit_point[j], node = s->g->n + j;
  const double *f = s->scale + 3 * k;
  double c[9], own[9];
  ds_lorentz_square(c, &s->w[k]);
  ds_lorentz_square(own, &s->w[s->slack + j]);
  for (int32_t i = 0; i < 9; i++) c[i] *= f[i / 3] * f[i % 3];
  s->matrix->diagonal[p->diagonal[p->position[node]]] += c[0] + own[0];
  for (int32_t side = 0; side < 2; side++) {
    int32_t body = s->g->body[2 * k + side];
    if (body < 0) continue;
    const double *g = s->g->g + 36 * (size_t)k + 18 * side;
    bool swapped; /* a row or a column: the same six numbers */
    double *block = s->matrix->lower + p->offset[ds_block_slot(&swapped, p, body, node)];
    for (int32_t i = 0; i < 6; i++) block[i] += g[i] * c[0] + g[6 + i] * c[3] + g[12 + i] * c[6];
  }
}

/* S₀, without t, with its diagonal shifted; and the column of t. */
static bool factor(solver *s) {
  const ds_block_pattern *p = s->matrix->pattern;
  memset(s->matrix->diagonal, 0, (size_t)p->diagonal_values * sizeof(double));
  memset(s->matrix->lower, 0, (size_t)p->values * sizeof(double));
  for (int32_t k = 0; k < s->points; k++) add_point(s, k);
  for (int32_t j = 0; j < s->g->limits; j++) add_limit(s, j);
  for (int32_t k = 0; k < p->n; k++) {
    double *h = s->matrix->diagonal + p->diagonal[k], largest = 0, *shift = s->shift + p->first_row[p->order[k]];
    int32_t n = p->size[k], next = n + 1;
    for (int32_t i = 0; i < n; i++) largest = fmax(largest, h[next * i]);
    for (int32_t i = 0; i < n; i++) h[next * i] += shift[i] = largest > 0 ? diagonal_shift * largest : diagonal_shift;
  }
  s->answer->factorizations++;
  if (!ds_block_cholesky(s->matrix)) return false;
  if (!s->d) return true;
  memcpy(s->column, s->d, (size_t)s->n * sizeof *s->column);
  ds_block_cholesky_solve(s->column, s->matrix, s->v4);
  double eta = s->w[s->points].eta;
  s->column_weight = eta * eta / (1 + eta * eta * dot(s->d, s->column, s->n));
  return isfinite(s->column_weight);
}

/* y := (S₀ + eta² d dᵀ)⁻¹ y */
static void precondition(double *y, const solver *s) {
  double f = s->d ? s->column_weight * dot(s->column, y, s->n) : 0;
  ds_block_cholesky_solve(y, s->matrix, s->v4);
  if (f != 0)
    for (int32_t i = 0; i < s->n; i++) y[i] -= f * s->column[i];
}

/* out = S y, with its shift */
static void apply_system(double *out, solver *s, const double *y) {
  transposed(s->q, s, y);
  scaled_twice(s->q, s, s->q);
  times(out, s, s->q, s->q);
  for (int32_t i = 0; i < s->n; i++) out[i] += s->shift[i] * y[i];
}

/* y += S⁻¹ rhs with the shift, by conjugate gradients that are preconditioned by the factor: two or three iterations,
 * until the rest is at most `goal`. rhs becomes the rest. */
static void add_solution(double *y, solver *s, double *rhs, double goal) {
  int32_t n = s->n;
  double *p = s->v1, *z = s->v2, *sp = s->v3, rho = 0;
  for (int32_t i = 0; i < MOST_REFINEMENTS; i++) {
    if (sqrt(dot(rhs, rhs, n)) <= goal) return;
    memcpy(z, rhs, (size_t)n * sizeof *z);
    precondition(z, s);
    double next = dot(rhs, z, n), beta = i > 0 ? next / rho : 0;
    for (int32_t j = 0; j < n; j++) p[j] = z[j] + (i > 0 ? beta * p[j] : 0);
    apply_system(sp, s, p);
    double curvature = dot(p, sp, n), alpha = next / curvature;
    if (!(curvature > 0) || !isfinite(alpha)) return;
    for (int32_t j = 0; j < n; j++) y[j] += alpha * p[j], rhs[j] -= alpha * sp[j];
    rho = next;
  }
}

static void solve_system(double *y, solver *s, double *rhs) {
  memset(y, 0, (size_t)s->n * sizeof *y);
  add_solution(y, s, rhs, solve_accuracy * sqrt(dot(rhs, rhs, s->n)));
}

/* y is a first guess. */
static void improve_solution(double *y, solver *s, double *rhs) {
  int32_t n = s->n;
  double *rest = s->v2, *sy = s->v3, goal = solve_accuracy * sqrt(dot(rhs, rhs, n));
  apply_system(sy, s, y);
  for (int32_t i = 0; i < n; i++) rest[i] = rhs[i] - sy[i];
  if (dot(rest, rest, n) <= dot(rhs, rhs, n))
    memcpy(rhs, rest, (size_t)n * sizeof *rhs);
  else
    memset(y, 0, (size_t)n * sizeof *y); /* the guess was worse than nothing: it is a difference of large numbers */
  add_solution(y, s, rhs, goal);
}

/* ---- candidates ---- */

/* Points that can carry no force in any equilibrium have rounding errors in place of nothing: the nearest of the cone
 * by their tangents, or nothing. */
static void clip(double *x, int32_t cones) {
  for (int32_t k = 0; k < cones; k++) {
    double *a = x + 3 * k, t = sqrt(a[1] * a[1] + a[2] * a[2]) * (1 + 1e-15);
    if (a[0] >= t) continue;
    double f = a[0] > 0 ? a[0] / t : 0;
    a[0] = fmax(a[0], 0), a[1] *= f, a[2] *= f;
  }
}

/* rest = b - A x; returns its largest part, in weights of a block. */
static double find_rest(double *rest, solver *s, const double *x) {
  double worst = 0;
  times(rest, s, x, s->q);
  for (int32_t i = 0; i < s->n; i++) {
    double m = i < s->rows ? s->g->root_mass[i / 6] : fmax(1, fabs(s->b[i]));
    rest[i] = s->b[i] - rest[i];
    worst = fmax(worst, i < s->rows ? fabs(rest[i]) * m / fmax(1, m * m) : fabs(rest[i]) / m);
  }
  return worst;
}

/* x += W² Aᵀ y */
static void add_correction(double *x, solver *s, const double *y) {
  transposed(s->q, s, y);
  scaled_twice(s->q, s, s->q);
  for (int32_t i = 0; i < 3 * s->cones; i++) x[i] += s->q[i];
}

/* Forces x/tau + W² Aᵀ S⁻¹ (b - A x/tau): the nearest to the iterate in its metric that satisfy the equations. The
 * first correction, S⁻¹ b - y_x / tau, is there already. */
static void try_forces(solver *s) {
  ds_cone_answer *a = s->answer;
  double *x = s->dx, *rest = s->rp, *y = s->dy;
  for (int32_t i = 0; i < 3 * s->cones; i++) x[i] = s->x[i] / s->tau;
  double worst = find_rest(rest, s, x);
  for (int32_t i = 0; i < s->n; i++) y[i] = s->y2[i] - s->yc[i] - s->yx[i] / s->tau;
  for (int32_t round = 0; round == 0 || worst > balanced; round++) {
    double before = worst;
    if (round == MOST_CORRECTIONS) return;
    improve_solution(y, s, rest);
    add_correction(x, s, y);
    clip(x, s->cones);
    worst = find_rest(rest, s, x);
    if (worst > balanced && !(worst < 0.1 * before)) return;
    memset(y, 0, (size_t)s->n * sizeof *y);
  }
  double value = dot(s->cost, x, 3 * s->cones);
  if (a->forces && value >= a->upper) return;
  a->forces = true;
  a->upper = value;
  a->residual = worst;
  for (int32_t i = 0; i < 3 * s->points; i++) a->r[i] = s->scale[i] * x[i];
  a->t = s->d ? x[3 * s->points] : 0;
}

/* How far c - Gᵀy is inside K* at a point, beyond rounding. */
static double slack_at(const solver *s, const double *y, int32_t k, bool homogeneous) {
  const ds_graph *g = s->g;
  double u[3] = {0}, terms = 0;
  for (int32_t side = 0; side < 2; side++) {
    int32_t body = g->body[2 * k + side];
    if (body < 0) continue;
    const double *rows = g->g + 36 * (size_t)k + 18 * side, *v = y + 6 * body;
    for (int32_t i = 0; i < 3; i++)
      for (int32_t j = 0; j < 6; j++) u[i] -= rows[6 * i + j] * v[j], terms += fabs(rows[6 * i + j] * v[j]);
  }
  for (int32_t i = 0; i < 3 && !homogeneous && s->p->c; i++) u[i] += s->p->c[3 * k + i];
  double m = s->p->frictionless ? 0 : s->p->mu ? s->p->mu[k] : g->mu[k];
  return u[0] - m * sqrt(u[1] * u[1] + u[2] * u[2]) - slip_rounding * terms * (1 + m);
}

/* What a motion crushes: the rows of y as near to nothing as their points allow. */
static void fit_rows(const solver *s, double *y, bool homogeneous) {
  for (int32_t j = 0; j < s->g->limits; j++)
    y[s->rows + j] = fmin(0, 1.000001 * slack_at(s, y, s->g->limit_point[j], homogeneous));
}

/* Whether c - Gᵀy is in K* at every point by more than rounding, or exactly nothing. */
static bool obeys(const solver *s, const double *y, bool homogeneous) {
  int32_t j = 0; /* points that crush are in order */
  for (int32_t k = 0; k < s->points; k++) {
    bool limited = j < s->g->limits && s->g->limit_point[j] == k;
    double more = limited ? -y[s->rows + j] : 0;
    j += limited;
    if (!(slack_at(s, y, k, homogeneous) + more >= 0)) return false;
  }
  return true;
}

/* The motion whose velocities are nearest to those of the iterate in its metric: S⁻¹ A W² (share c - factor z). */
static void nearest_motion(double *y, const solver *s, double share, double factor) {
  for (int32_t i = 0; i < s->n; i++) y[i] = share * s->yc[i] - factor * s->yx[i];
}

/* A motion y in dy, feasible for the dual; where nothing but t costs, any multiple of y is a candidate. */
static void try_one_motion(solver *s) {
  ds_cone_answer *a = s->answer;
  const ds_cone_program *p = s->p;
  double *y = s->dy, factor = 1;
  fit_rows(s, y, false);
  double by = dot(s->b, y, s->n), dy = s->d ? dot(s->d, y, s->n) : 0;
  if (!p->c && s->d && p->e != 0) { /* e - factor dᵀy = 0 */
    if (!(dy / p->e > 0)) return;
    factor = p->e / dy;
  } else if (s->d && !(p->e - dy >= 0)) {
    return;
  }
  if (a->motion && factor * by <= a->lower) return;
  for (int32_t i = 0; i < s->n; i++) y[i] *= factor;
  if (!obeys(s, y, false)) return;
  a->motion = true;
  a->lower = factor * by;
  memcpy(a->y, y, (size_t)s->n * sizeof *a->y);
}

/* The motion nearest to the iterate's velocities; and its own, which from a centre on has no residuals. */
static void try_motion(solver *s) {
  nearest_motion(s->dy, s, 1, 1 / s->tau);
  try_one_motion(s);
  if (!s->p->centre) return;
  for (int32_t i = 0; i < s->n; i++) s->dy[i] = s->y[i] / s->tau;
  try_one_motion(s);
}

/* A motion that proves that there are no forces at all: -Gᵀy in K*, dᵀy <= 0, bᵀy > 0. */
static bool is_mechanism(const solver *s, double *y) {
  fit_rows(s, y, true);
  double by = dot(s->b, y, s->n), terms = 0;
  for (int32_t i = 0; i < s->n; i++) terms += fabs(s->b[i] * y[i]);
  return by > 1e-12 * terms && !(s->d && dot(s->d, y, s->n) > 0) && obeys(s, y, true);
}

static void try_mechanism(solver *s) {
  double *y = s->dy;
  memcpy(y, s->y, (size_t)s->n * sizeof *y);
  bool found = is_mechanism(s, y);
  if (!found) {
    nearest_motion(y, s, 0, 1);
    found = is_mechanism(s, y);
  }
  if (!found) return;
  s->answer->mechanism = true;
  memcpy(s->answer->y, y, (size_t)s->n * sizeof *y);
}

/* A ray: A x = 0 within the cones, at negative cost. Then costs have no bound below, if there are forces at all. */
static void try_ray(solver *s) {
  double *x = s->dx, *rest = s->rp, size = 0, worst = 0;
  for (int32_t i = 0; i < 3 * s->cones; i++) size = fmax(size, fabs(s->x[i]));
  for (int32_t i = 0; i < 3 * s->cones; i++) x[i] = s->x[i] / size;
  for (int32_t round = 0; round < 2; round++) {
    times(rest, s, x, s->q);
    for (int32_t i = 0; i < s->n; i++) rest[i] = -rest[i];
    solve_system(s->dy, s, rest);
    add_correction(x, s, s->dy);
  }
  clip(x, s->cones);
  times(rest, s, x, s->q);
  for (int32_t i = 0; i < s->n; i++) worst = fmax(worst, fabs(rest[i]));
  double cost = dot(s->cost, x, 3 * s->cones);
  if (cost < -1e-6 && worst <= balanced) s->answer->unbounded = true;
}

/* ---- one iteration ---- */

static void find_residuals(solver *s) {
  times(s->rp, s, s->x, s->q);
  for (int32_t i = 0; i < s->n; i++) s->rp[i] = s->b[i] * s->tau - s->rp[i];
  transposed(s->rd, s, s->y);
  for (int32_t i = 0; i < 3 * s->cones; i++) s->rd[i] = s->cost[i] * s->tau - s->rd[i] - s->z[i];
  for (int32_t k = 0; k < s->points; k++) /* a cone of one dimension has no others */
    if (s->scale[3 * k + 1] == 0) s->rd[3 * k + 1] = s->rd[3 * k + 2] = 0;
  s->rg = s->kappa + dot(s->cost, s->x, 3 * s->cones) - dot(s->b, s->y, s->n);
}

/* The solves of an iteration but for the corrector's. W² z = x, so that the affine direction and the candidates are
 * sums of these. */
static void prepare(solver *s) {
  scaled_twice(s->q, s, s->cost);
  times(s->dy, s, s->q, s->q);
  for (int32_t i = 0; i < s->n; i++) s->dy[i] += s->b[i];
  solve_system(s->y2, s, s->dy);
  transposed(s->x2, s, s->y2);
  for (int32_t i = 0; i < 3 * s->cones; i++) s->x2[i] -= s->cost[i];
  scaled_twice(s->x2, s, s->x2);
  times(s->dy, s, s->x, s->q);
  solve_system(s->yx, s, s->dy);
}

/* The direction in which residuals shrink by `share`, for the right-hand sides xi and zeta of complementarity:
 * dz = share rd + c dtau - Aᵀdy, dx = W xi - W² dz. dy is a first guess of its part without dtau. */
static void find_direction(solver *s, double share, double zeta) {
  int32_t m = 3 * s->cones;
  double *rest = s->dz; /* W xi - W² share rd */
  for (int32_t i = 0; i < m; i++) s->dx[i] = share * s->rd[i];
  scaled(rest, s, s->dx, false);
  for (int32_t i = 0; i < m; i++) rest[i] = s->xi[i] - rest[i];
  scaled(rest, s, rest, false);
  double *rhs = s->column + s->n; /* v4 is used by solves */
  times(rhs, s, rest, s->q);
  for (int32_t i = 0; i < s->n; i++) rhs[i] = share * s->rp[i] - rhs[i];
  improve_solution(s->dy, s, rhs);
  memcpy(s->dx, rest, (size_t)m * sizeof *s->dx);
  add_correction(s->dx, s, s->dy); /* x1 */
  double slope = dot(s->b, s->y2, s->n) - dot(s->cost, s->x2, m) + s->kappa / s->tau;
  double height = share * s->rg - dot(s->b, s->dy, s->n) + dot(s->cost, s->dx, m) + zeta / s->tau;
  s->dtau = height / slope;
  s->dkappa = (zeta - s->kappa * s->dtau) / s->tau;
  for (int32_t i = 0; i < s->n; i++) s->dy[i] += s->dtau * s->y2[i];
  for (int32_t i = 0; i < m; i++) s->dx[i] += s->dtau * s->x2[i];
  /* dz from W⁻¹ dx + W dz = xi: to the accuracy of the scaling, and so that steps agree with complementarity */
  transposed(s->dz, s, s->dy);
  for (int32_t i = 0; i < m; i++) s->dz[i] = share * s->rd[i] + s->cost[i] * s->dtau - s->dz[i];
}

/* xi = -lambda: S dy = rp + A x + A W² rd = tau (b + A W² c) - S y - A x */
static void find_affine(solver *s) {
  for (int32_t k = 0; k < s->cones; k++)
    for (int32_t j = 0; j < 3; j++) s->xi[3 * k + j] = -s->w[k].lambda[j];
  for (int32_t i = 0; i < s->n; i++) s->dy[i] = s->tau * s->y2[i] - s->y[i] - s->yx[i];
  find_direction(s, 1, -s->kappa * s->tau);
}

/* Whether a + t d is in the cone for certain. */
static bool is_inside(const double a[3], const double d[3], double t) {
  double b[3] = {a[0] + t * d[0], a[1] + t * d[1], a[2] + t * d[2]};
  return b[0] > 0 && b[0] * b[0] * (1 - 1e-15) > b[1] * b[1] + b[2] * b[2];
}

static double longest_step(const solver *s) {
  double t = 1;
  for (int32_t k = 0; k < s->cones; k++) { /* most cones allow the step so far */
    const double *x = s->x + 3 * k, *dx = s->dx + 3 * k, *z = s->z + 3 * k, *dz = s->dz + 3 * k;
    if (!is_inside(x, dx, t)) t = fmin(t, ds_lorentz_step(x, dx));
    if (!is_inside(z, dz, t)) t = fmin(t, ds_lorentz_step(z, dz));
  }
  if (s->dtau < 0) t = fmin(t, -s->tau / s->dtau);
  if (s->dkappa < 0) t = fmin(t, -s->kappa / s->dkappa);
  return t;
}

/* Where the product of two points lies outside of [low, high] in its eigenvalues: what brings it there, no further down
 * than by `high`. */
static void toward_centre(double out[3], const double v[3], double low, double high) {
  double length = sqrt(v[1] * v[1] + v[2] * v[2]), e[2] = {v[0] + length, v[0] - length};
  for (int32_t i = 0; i < 2; i++) e[i] = e[i] < low ? low - e[i] : e[i] > high ? fmax(high - e[i], -high) : 0;
  double half = length > 0 ? (e[0] - e[1]) / (2 * length) : 0;
  out[0] = 0.5 * (e[0] + e[1]), out[1] = half * v[1], out[2] = half * v[2];
}

/* Gondzio's corrector [1996]: of a longer step the products that stray far from `target` are brought back, with the
 * same factor. Kept where the step becomes longer; false where it does not. */
static bool centre(solver *s, double share, double target, double zeta) {
  int32_t m = 3 * s->cones;
  double before = longest_step(s), step = fmin(1, before + longer), dtau = s->dtau, dkappa = s->dkappa;
  double *old[3] = {s->ax, s->az, s->yc}, *now[3] = {s->dx, s->dz, s->dy};
  if (before > 1 - least_gain) return false;
  for (int32_t k = 0; k < s->cones; k++) {
    double x[3], z[3], product[3], more[3];
    ds_lorentz_apply(x, &s->w[k], s->dx + 3 * k, true);
    ds_lorentz_apply(z, &s->w[k], s->dz + 3 * k, false);
    for (int32_t i = 0; i < 3; i++) x[i] = s->w[k].lambda[i] + step * x[i], z[i] = s->w[k].lambda[i] + step * z[i];
    ds_jordan(product, x, z);
    toward_centre(product, product, spread * target, target / spread);
    ds_jordan_divide(more, s->w[k].lambda, product);
    for (int32_t i = 0; i < 3; i++) s->xi[3 * k + i] += more[i];
  }
  for (int32_t i = 0; i < 3; i++) memcpy(old[i], now[i], (size_t)(i < 2 ? m : s->n) * sizeof(double));
  for (int32_t i = 0; i < s->n; i++) s->dy[i] -= dtau * s->y2[i];
  find_direction(s, share, zeta);
  if (longest_step(s) >= before + least_gain * longer) return true;
  for (int32_t i = 0; i < 3; i++) memcpy(now[i], old[i], (size_t)(i < 2 ? m : s->n) * sizeof(double));
  s->dtau = dtau, s->dkappa = dkappa;
  return false;
}

/* Mehrotra's corrector: the centring sigma from the affine step, and its second-order term. */
static void correct(solver *s, double mean) {
  double affine = longest_step(s), sigma = pow(1 - affine, 3), dtau = s->dtau, dkappa = s->dkappa;
  scaled(s->ax, s, s->dx, true);
  scaled(s->az, s, s->dz, false);
  for (int32_t k = 0; k < s->cones; k++) {
    double second[3], square[3];
    ds_jordan(second, s->ax + 3 * k, s->az + 3 * k);
    ds_jordan(square, s->w[k].lambda, s->w[k].lambda);
    for (int32_t i = 0; i < 3; i++) second[i] = (i == 0 ? sigma * mean : 0) - square[i] - second[i];
    ds_jordan_divide(s->xi + 3 * k, s->w[k].lambda, second);
  }
  for (int32_t i = 0; i < s->n; i++) s->dy[i] = (1 - sigma) * (s->dy[i] - dtau * s->y2[i]);
  double zeta = sigma * mean - s->kappa * s->tau - dtau * dkappa;
  find_direction(s, 1 - sigma, zeta);
  for (int32_t i = 0; i < MOST_CENTRINGS && centre(s, 1 - sigma, sigma * mean, zeta); i++) {
  }
}

static void take_step(solver *s) {
  double t = fmin(1, nearly_all * longest_step(s));
  for (int32_t i = 0; i < 3 * s->cones; i++) s->x[i] += t * s->dx[i], s->z[i] += t * s->dz[i];
  for (int32_t i = 0; i < s->n; i++) s->y[i] += t * s->dy[i];
  s->tau += t * s->dtau;
  s->kappa += t * s->dkappa;
  /* the embedding is homogeneous: keep its size */
  double size = fmax(s->tau, s->kappa);
  for (int32_t i = 0; i < 3 * s->cones; i++) s->x[i] /= size, s->z[i] /= size;
  for (int32_t i = 0; i < s->n; i++) s->y[i] /= size;
  s->tau /= size, s->kappa /= size;
}

/* The forces of least squares, each drawn into its cone, and their inverses: large structures have forces of many
 * weights, far from the first guess of one everywhere. The factor and x2 are those of the first iteration, W = 1. */
static void start_from_least_squares(solver *s) {
  for (int32_t k = 0; k < s->cones; k++) {
    double *x = s->x + 3 * k, t = sqrt(s->x2[3 * k + 1] * s->x2[3 * k + 1] + s->x2[3 * k + 2] * s->x2[3 * k + 2]);
    x[0] = fmax(s->x2[3 * k], 1.1 * t + inside), x[1] = s->x2[3 * k + 1], x[2] = s->x2[3 * k + 2];
    invert_point(s->z + 3 * k, x);
  }
}

static bool is_enough(const solver *s) {
  const ds_cone_answer *a = s->answer;
  if (a->mechanism || (a->unbounded && a->forces)) return true;
  if (s->p->first) return a->forces;
  return a->forces && a->motion &&
         a->upper - a->lower <= s->p->width * fmax(fabs(a->upper), s->p->least > 0 ? s->p->least : 1e-3);
}

/* Candidates of an iterate. */
static void try_all(solver *s) {
  if (!s->p->first) {
    scaled_twice(s->q, s, s->cost);
    times(s->dy, s, s->q, s->q);
    solve_system(s->yc, s, s->dy);
  }
  try_forces(s);
  if (!s->p->first) try_motion(s);
  if (!s->answer->forces && !s->p->forces_only) try_mechanism(s);
  double cost = dot(s->cost, s->x, 3 * s->cones);
  if (cost < 0 && s->tau < -1e-2 * cost) try_ray(s);
}

/* The gap of the iterate over the width that is asked for. */
static double gap_of(const solver *s, double mean) {
  const ds_cone_program *p = s->p;
  double value = dot(s->cost, s->x, 3 * s->cones) / s->tau, gap = (s->cones + 1) * mean / (s->tau * s->tau);
  return gap / (p->width * fmax(fabs(value), p->least > 0 ? p->least : 1e-3));
}

static void iterate(solver *s) {
  double width = INFINITY; /* of the interval of values, some iterations ago */
  for (int32_t i = 0; i < MOST_ITERATIONS; i++) {
    const ds_cone_answer *a = s->answer;
    double mean = (dot(s->x, s->z, 3 * s->cones) + s->tau * s->kappa) / (s->cones + 1);
    if (!(mean > 1e-30) || !isfinite(mean)) return;
    for (int32_t k = 0; k < s->cones; k++)
      if (!ds_lorentz_scale(&s->w[k], s->x + 3 * k, s->z + 3 * k)) return;
    if (!factor(s)) return;
    prepare(s);
    double gap = s->p->first ? 1 : gap_of(s, mean);
    if (gap < exhausted) return;
    if (i % STALLED == 0 || !a->forces || gap * s->p->width < promising) try_all(s);
    if (is_enough(s)) return;
    if (i % STALLED == 0 && a->forces && a->motion && gap < 1) {
      if (!(a->upper - a->lower < 0.5 * width)) return;
      width = a->upper - a->lower;
    }
    find_residuals(s);
    find_affine(s);
    correct(s, mean);
    bool anew = i == 0 && s->p->first && !s->p->forces_only && longest_step(s) < short_start;
    if (anew)
      start_from_least_squares(s);
    else
      take_step(s);
    if (s->tau < (s->p->forces_only ? hopeless : 1e-13) * s->kappa) return;
  }
}

static bool create(ds_arena *arena, solver *s) {
  size_t m = 3 * (size_t)s->cones + 1, n = (size_t)s->n + 1;
  double **vectors[] = {&s->x,  &s->z,  &s->dx, &s->dz,   &s->ax,    &s->az,       &s->x2,
                        &s->rd, &s->xi, &s->q,  &s->cost, &s->scale, &s->answer->r};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) *vectors[i] = DS_NEW0(arena, double, m);
  double **rows[] = {&s->y,  &s->dy, &s->y2, &s->yx,    &s->yc,        &s->rp, &s->v1,
                     &s->v2, &s->v3, &s->v4, &s->shift, &s->answer->y, &s->b};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) *rows[i] = DS_NEW0(arena, double, n);
  s->column = DS_NEW0(arena, double, 2 * n);
  s->d = s->p->d ? DS_NEW0(arena, double, n) : NULL;
  s->w = DS_NEW(arena, ds_lorentz, s->cones + 1);
  s->matrix = ds_block_create(arena, s->g->pattern);
  return s->matrix && !ds_arena_failed(arena);
}

/* The program with the rows of points that crush. */
static void set_rows(solver *s) {
  const ds_cone_program *p = s->p;
  memcpy(s->b, p->b, (size_t)s->rows * sizeof *s->b);
  if (p->d) memcpy(s->d, p->d, (size_t)s->rows * sizeof *s->d);
  for (int32_t j = 0; j < s->g->limits; j++) {
    double more = p->d && p->d_limit ? p->d_limit[3 * s->g->limit_point[j]] : 0;
    s->b[s->rows + j] = s->g->limit[j] + more;
    if (p->d) s->d[s->rows + j] = more;
  }
}

/* Whether y = 0 is feasible for the dual: costs are in K*, and t costs something if it is there. */
static bool rest_is_feasible(const solver *s) {
  const double *c = s->p->c;
  if (s->p->first || (s->p->d && s->p->e < 0) || (!c && !s->p->d)) return false;
  for (int32_t k = 0; k < s->points && c; k++)
    if (!(c[3 * k] >= 0) || c[3 * k + 1] != 0 || c[3 * k + 2] != 0) return false;
  return true;
}

/* Everything but the start. */
static bool prepare_solver(ds_arena *arena, solver *s, ds_cone_answer *answer, const ds_cone_program *p) {
  const ds_graph *g = p->graph;
  *answer = (ds_cone_answer){.upper = INFINITY, .lower = -INFINITY};
  *s = (solver){.p = p, .g = g, .n = 6 * g->n + g->limits, .points = g->points, .rows = 6 * g->n, .answer = answer};
  s->slack = g->points + (p->d ? 1 : 0);
  s->cones = s->slack + g->limits;
  if (!create(arena, s)) return false;
  set_rows(s);
  for (int32_t k = 0; k < s->points; k++) {
    double mu = p->frictionless ? 0 : p->mu ? p->mu[k] : g->mu[k], *f = s->scale + 3 * k;
    f[0] = mu > 0 ? 1 / mu : 1, f[1] = f[2] = mu > 0;
    for (int32_t i = 0; i < 3 && p->c; i++) s->cost[3 * k + i] = f[i] * p->c[3 * k + i];
  }
  if (p->d) s->cost[3 * s->points] = p->e;
  s->tau = s->kappa = 1;
  return true;
}

/* ---- the analytic centre ---- */

/* z = x⁻¹, and the scaling of both: W² is the inverse of the Hessian of -log det. False if x is not inside. */
static bool invert(solver *s) {
  for (int32_t k = 0; k < s->cones; k++)
    if (!invert_point(s->z + 3 * k, s->x + 3 * k) || !ds_lorentz_scale(&s->w[k], s->x + 3 * k, s->z + 3 * k))
      return false;
  return true;
}

/* -sum log det (x + t dx) */
static double barrier(const solver *s, double t) {
  double sum = 0;
  for (int32_t k = 0; k < s->cones; k++) {
    double x[3];
    for (int32_t i = 0; i < 3; i++) x[i] = s->x[3 * k + i] + t * s->dx[3 * k + i];
    double det = ds_minkowski(x);
    if (!(x[0] > 0) || !(det > 0)) return INFINITY;
    sum -= log(det);
  }
  return sum;
}

/* Newton's direction dx = x + W² Aᵀ y with A (x + dx) = b; returns its length in the metric of x. */
static double centring_direction(solver *s) {
  double square = 0;
  find_rest(s->rp, s, s->x);
  for (int32_t i = 0; i < s->n; i++) s->rp[i] = 2 * s->rp[i] - s->b[i];
  solve_system(s->y, s, s->rp);
  memcpy(s->dx, s->x, 3 * (size_t)s->cones * sizeof *s->dx);
  add_correction(s->dx, s, s->y);
  scaled(s->ax, s, s->dx, true);
  square = dot(s->ax, s->ax, 3 * s->cones);
  return sqrt(2 * square);
}

static bool find_centre(solver *s) {
  for (int32_t i = 0; i < MOST_ITERATIONS; i++) {
    if (!invert(s) || !factor(s)) return false;
    double length = centring_direction(s), t = length < 0.25 ? 1 : nearly_all * longest_step(s), now = barrier(s, 0);
    if (!isfinite(length)) return false;
    while (length >= 0.25 && t > 1e-6 && !(barrier(s, t) < now)) t *= 0.5;
    for (int32_t k = 0; k < 3 * s->cones; k++) s->x[k] += t * s->dx[k];
    if (length < 0.1) return true;
  }
  return false;
}

bool ds_cone_find_centre(ds_arena *arena, ds_cone_centre *centre, const ds_cone_program *p, const double *r) {
  solver s;
  ds_cone_answer answer;
  *centre = (ds_cone_centre){.x = NULL};
  if (!prepare_solver(arena, &s, &answer, p)) return false;
  for (int32_t i = 0; i < 3 * s.points; i++) s.x[i] = s.scale[i] > 0 ? r[i] / s.scale[i] : 0;
  if (s.d) s.x[3 * s.points] = first_load; /* Newton's first step balances it */
  for (int32_t j = 0; j < s.g->limits; j++) s.x[3 * (s.slack + j)] = s.g->limit[j] - r[3 * s.g->limit_point[j]];
  if (find_centre(&s)) *centre = (ds_cone_centre){.x = s.x, .y = s.y};
  centre->factorizations = answer.factorizations;
  return true;
}

/* x of the centre and f times its y, with f so large that z = c - Aᵀy is inside the cones. */
static bool start_at(solver *s, const ds_cone_centre *centre) {
  double f = 0;
  for (int32_t k = 0; k < s->cones; k++) {
    const double *x = centre->x + 3 * k, *c = s->cost + 3 * k;
    double cost = fabs(c[0]) + sqrt(c[1] * c[1] + c[2] * c[2]);
    f = fmax(f, 2 * cost * (x[0] + sqrt(x[1] * x[1] + x[2] * x[2])));
  }
  memcpy(s->x, centre->x, 3 * (size_t)s->cones * sizeof *s->x);
  for (int32_t i = 0; i < s->n; i++) s->y[i] = f * centre->y[i];
  transposed(s->z, s, s->y);
  for (int32_t i = 0; i < 3 * s->cones; i++) s->z[i] = s->cost[i] - s->z[i];
  for (int32_t k = 0; k < s->points; k++)
    if (s->scale[3 * k + 1] == 0) s->z[3 * k + 1] = s->z[3 * k + 2] = 0;
  s->kappa = f;
  return f > 0;
}

bool ds_cone_solve(ds_arena *arena, ds_cone_answer *answer, const ds_cone_program *p) {
  solver s;
  if (!prepare_solver(arena, &s, answer, p)) return false;
  if (!p->centre || !start_at(&s, p->centre))
    for (int32_t k = 0; k < s.cones; k++) s.x[3 * k] = s.z[3 * k] = 1;
  if (rest_is_feasible(&s)) answer->motion = true, answer->lower = 0; /* y = 0 */
  iterate(&s);
  answer->last = answer->mechanism ? answer->y : s.y;
  return true;
}
