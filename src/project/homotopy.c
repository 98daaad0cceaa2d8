/* The frictional contact problem is the end of a path. In the variables of centre.c, x = (mu r_N, r_T) and z in the
 * Lorentz cone, y = (u_N/mu, u_T), and with t from 1 down to 0, the path is
 *
 *   z = y + ((1 - t) n + t kappa) e_0,   n = sqrt(|y_T|² + t² sigma²),   x o z = t m e.
 *
 * At t = 1 it is the central path of a convex program, at t = 0 the contact problem: De Saxcé's term n comes in as the
 * barrier goes out. The start is the one solution for t = 1 (centre.c), where every impulse has the size that its loads
 * give it: with light bodies under heavy ones these sizes differ by decades, and a start that guesses them loses the
 * path. m is ten times the mean over contacts of |q_k|²/W_k, twice the energy of what each has to do alone, kappa and
 * sigma typical velocities: kappa leaves room inside the cones where the contacts themselves leave none, between two
 * parallel faces.
 *
 * An interior point method follows this path by lowering t in every step. De Saxcé's term makes that fail: the problem
 * is not monotone, the path has folds, and behind a fold t must rise for a while before it can fall again. Measured on
 * disturbed steps of card houses, stacks and pyramids, nearly all those on which Newton and the interior point are
 * stuck have folds, between one and ten of them.
 *
 * So the path is followed by its length (Allgower and Georg 1990), with s = log t as one variable more. Its tangent
 * solves the linearized equations with ds = 1; all steps are measured relative to x and z themselves, contact by
 * contact. Which way is on? Along a path of regular points the tangent, completed with the Jacobian J of the equations
 * for fixed t, keeps its orientation: the sign of ds is minus the sign of det J, and no memory is needed that a jump
 * could mislead. With L_x, L_z the matrices of the Jordan product, one factorization serves tangent and correction,
 *
 *   (I + sum G D⁻¹ B T D⁻¹ Gᵀ) dv = G D⁻¹ (d - B e1),   dz = T D⁻¹ Gᵀ dv + e1,   dx = d - B dz,
 *   B = L_z⁻¹ L_x,   T = [1 (1 - t) tauᵀ; 0 I],   tau = y_T / n,   d = L_z⁻¹ e2,
 *
 * and det J has the sign of its determinant, because L_x and L_z are positive definite inside the cones. B is as large
 * as x/z, and multiplies the rounding of dv in dx: one step of iterative refinement removes it. Corrections are
 * orthogonal to the tangent, and a point is on the path where they are short in the same relative measure: where J is
 * nearly singular residuals are small far away from it. Where corrections do not come back to the path the last point
 * on it is taken up again with a shorter step. Whenever the error has fallen by ten, Newton tries whether it is in its
 * basin yet.
 *
 * A path may also start near a point that others have found (smooth_start.h): with x o z = t_0 m e there, and
 *
 *   z = y + ((1 - t) n + t kappa) e_0 + (t/t_0) d,
 *
 * d what the first equation lacks at the start. That one has no folds above t_0; it may begin between two, where det J
 * is negative, and its orientation is then the opposite.
 *
 * H holds the 1 of a free motion beside W x²/(t m) of a contact that slides. In wedges near the limit at which they jam
 * impulses are 10,000 times the load and more, and double has no digits left: where the refined directions still miss
 * their equations, the path goes on in twice the digits (base/twofold.h): the system, and the points with what they
 * lack of their equations. There is more of it in docs/solver.md. */
#include "project/homotopy.h"

#include <float.h>
#include <math.h>

#include "la/lorentz.h"
#include "la/lorentz_twofold.h"
#include "project/centre.h"
#include "project/newton.h"
#include "project/smooth_start.h"
#include "project/twofold_system.h"

enum { CORRECTIONS_MAX = 4 };
static const double UNBOUNDED = 1e6; /* growth of impulses, at standing t, that no solution has */
static const double ON_PATH = 0.2;   /* length of the correction of a point on the path */
static const double NEAR_PATH = 3;   /* residual from which corrections start, see evaluate */
static const double GAP = 10;        /* m, over |q_k|²/W_k: 3 % to 25 % less work than with 1; 30 loses a Jenga step */
static const double SHORTER = 0.6;   /* factor for a step that went too far */

typedef struct point {
  double *x, *z;           /* 3 a contact */
  double s;                /* log t */
  double *x_rest, *z_rest; /* in twice the digits: what x and z lack; NULL before */
} point;

typedef struct path {
  const ds_subproblem *p;
  ds_solve *solve;
  ds_system *system;
  int32_t n;
  double *mu; /* 1 where a contact has no friction: there x and z are numbers, their tangents zero */
  double m, kappa, sigma;
  double size;        /* |x| at the start */
  double *offset;     /* 3 a contact: d/t_0, what the first equation lacks at the start; NULL: nothing */
  double orientation; /* 1, or -1 where det J is negative at the start; 0: not known yet */
  double highest;     /* s above which the path is lost */
  point now, next;
  point last, before;      /* the last two points on the path */
  double *e1, *e2;         /* residuals of the two equations */
  double *f1, *f2;         /* right-hand sides of the curvature */
  double *tau, *slip;      /* 2 and 1 a contact; slip: n */
  double *b, *inverse, *C; /* 9 a contact: B, L_z⁻¹, D⁻¹ B T D⁻¹ */
  point tangent, correction, curvature;
  double *d, *right, *left; /* of the linear system: d, its first right-hand side, what is left of that */
  double *impulse, *dv, *gdv;
  ds_iterate trial;           /* at the point evaluated last */
  bool rounded;               /* a direction was lost to rounding */
  ds_twofold_system *twofold; /* from then on; NULL before */
  ds_twofold *wide, *wide_dv; /* its vectors: 9 a contact, dof */
  ds_twofold *wide_b, *wide_inverse;
} path;

static bool smooth(const path *q, int32_t k) { return ds_is_frictionless(q->p->mu[k]); }

static size_t bytes(const path *q) { return 3 * (size_t)q->n * sizeof(double); }

static void copy_point(point *to, const point *from, const path *q) {
  memcpy(to->x, from->x, bytes(q));
  memcpy(to->z, from->z, bytes(q));
  to->s = from->s;
  if (!to->x_rest || !from->x_rest) return;
  memcpy(to->x_rest, from->x_rest, bytes(q));
  memcpy(to->z_rest, from->z_rest, bytes(q));
}

/* x and z of contact k in twice the digits */
static void read_twofold(ds_twofold x[3], ds_twofold z[3], const point *at, int32_t k) {
  for (int32_t i = 0, j = 3 * k; i < 3; i++, j++) {
    x[i] = (ds_twofold){at->x[j], at->x_rest[j]};
    z[i] = (ds_twofold){at->z[j], at->z_rest[j]};
  }
}

/* e1 and e2 as `evaluate` has them, in twice the digits: they are what is left of much larger terms. */
static void find_residuals_twofold(path *q, const point *at) {
  ds_twofold *u = q->wide, *v = q->wide_dv, x[3], z[3], e2[3];
  double t = exp(at->s), ts = t * q->sigma;
  for (int32_t k = 0; k < q->n; k++) {
    read_twofold(x, z, at, k);
    for (int i = 0; i < 3; i++) u[3 * k + i] = ds_twofold_scale(i == 0 ? 1 / q->mu[k] : 1, x[i]);
  }
  ds_twofold_push(v, q->p, u);
  for (int32_t i = 0; i < q->p->dof; i++) v[i] = ds_twofold_add(v[i], ds_twofold_of(q->p->predicted[i]));
  ds_twofold_slip(u, q->p, v);
  for (int32_t k = 0; k < q->n; k++) {
    ds_twofold y[3], square = ds_twofold_product(ts, ts);
    for (int i = 0; i < 3; i++) {
      y[i] = ds_twofold_add(u[3 * k + i], ds_twofold_of(-q->p->b[3 * k + i]));
      if (i > 0 && smooth(q, k)) y[i] = ds_twofold_of(0);
      if (i > 0) square = ds_twofold_add(square, ds_twofold_times(y[i], y[i]));
    }
    y[0] = ds_twofold_add_scaled(ds_twofold_of(t * q->kappa), 1 / q->mu[k], y[0]);
    y[0] = ds_twofold_add_scaled(y[0], 1 - t, ds_twofold_root(square));
    read_twofold(x, z, at, k);
    ds_twofold_jordan_left(e2, t * q->m, x, z);
    for (int i = 0; i < 3; i++) {
      if (q->offset) y[i] = ds_twofold_add(y[i], ds_twofold_product(t, q->offset[3 * k + i]));
      q->e1[3 * k + i] = ds_twofold_add(y[i], ds_twofold_minus(z[i])).hi;
      q->e2[3 * k + i] = e2[i].hi;
    }
  }
}

/* e1 = y + ((1 - t) n + t kappa) e_0 - z and e2 = t m e - x o z. Returns the worst |e2|/(t m): how far
 * the point is from the path. e1, nearly linear, is gone after a correction. */
static double evaluate(path *q, const point *at) {
  double t = exp(at->s), worst = 0;
  for (int32_t k = 0; k < q->n; k++) {
    q->trial.r[3 * k] = at->x[3 * k] / q->mu[k];
    q->trial.r[3 * k + 1] = at->x[3 * k + 1];
    q->trial.r[3 * k + 2] = at->x[3 * k + 2];
  }
  ds_subproblem_velocity(q->trial.v, q->p, q->trial.r);
  ds_subproblem_slip(q->trial.u, q->p, q->trial.v);
  for (int32_t k = 0; k < q->n; k++) {
    const double *x = at->x + 3 * k, *z = at->z + 3 * k;
    double *e1 = q->e1 + 3 * k, *e2 = q->e2 + 3 * k, ts = t * q->sigma, tangential = smooth(q, k) ? 0 : 1;
    double u[3] = {q->trial.u[3 * k], tangential * q->trial.u[3 * k + 1], tangential * q->trial.u[3 * k + 2]};
    double slip = sqrt(u[1] * u[1] + u[2] * u[2] + ts * ts);
    e1[0] = u[0] / q->mu[k] + (1 - t) * slip + t * q->kappa - z[0];
    e1[1] = u[1] - z[1];
    e1[2] = u[2] - z[2];
    ds_jordan(e2, x, z);
    e2[0] = t * q->m - e2[0], e2[1] = -e2[1], e2[2] = -e2[2];
    for (int i = 0; q->offset && i < 3; i++) e1[i] += t * q->offset[3 * k + i];
    q->tau[2 * k] = u[1] / slip, q->tau[2 * k + 1] = u[2] / slip;
    q->slip[k] = slip;
  }
  if (q->twofold) find_residuals_twofold(q, at);
  for (int32_t k = 0; k < q->n; k++) {
    const double *e2 = q->e2 + 3 * k;
    worst = fmax(worst, sqrt(e2[0] * e2[0] + e2[1] * e2[1] + e2[2] * e2[2]));
  }
  double away = worst / (t * q->m);
  return isfinite(away) ? away : INFINITY;
}

/* L_z⁻¹, L_z = [z_0 z_Tᵀ; z_T z_0 I] */
static void invert_arrow(double out[9], const double z[3]) {
  double d = ds_minkowski(z), f = 1 / d, g = 1 / (z[0] * d);
  out[0] = z[0] * f, out[1] = out[3] = -z[1] * f, out[2] = out[6] = -z[2] * f;
  out[4] = (d + z[1] * z[1]) * g, out[5] = out[7] = z[1] * z[2] * g, out[8] = (d + z[2] * z[2]) * g;
}

/* B, L_z⁻¹ and H at `now`, after evaluate. */
static bool factor(path *q) {
  double theta = 1 - exp(q->now.s);
  for (int32_t k = 0; k < q->n; k++) {
    double *inverse = q->inverse + 9 * k, *b = q->b + 9 * k, *c = q->C + 9 * k, mu = q->mu[k];
    const double *x = q->now.x + 3 * k;
    const double lx[9] = {x[0], x[1], x[2], x[1], x[0], 0, x[2], 0, x[0]};
    invert_arrow(inverse, q->now.z + 3 * k);
    for (int i = 0; i < 3; i++) {
      double di = i == 0 ? 1 / mu : 1;
      for (int j = 0; j < 3; j++)
        b[3 * i + j] = inverse[3 * i] * lx[j] + inverse[3 * i + 1] * lx[3 + j] + inverse[3 * i + 2] * lx[6 + j];
      c[3 * i] = di * b[3 * i] / mu;
      c[3 * i + 1] = di * (b[3 * i + 1] + theta * b[3 * i] * q->tau[2 * k]);
      c[3 * i + 2] = di * (b[3 * i + 2] + theta * b[3 * i] * q->tau[2 * k + 1]);
    }
    if (smooth(q, k)) b[4] = b[8] = c[4] = c[8] = 0;
  }
  return ds_system_factor(q->system, q->C, false);
}

/* L_z⁻¹ and B = L_z⁻¹ L_x of contact k in twice the digits: where it slides B has x/z and its reciprocal as
 * eigenvalues, and what rounding makes of the small one leaves the cone. */
static void find_b_twofold(path *q, int32_t k) {
  ds_twofold *b = q->wide_b + 9 * k, *inverse = q->wide_inverse + 9 * k, x[3], z[3], lx[9];
  read_twofold(x, z, &q->now, k);
  ds_twofold_arrow(lx, x);
  ds_twofold_arrow_inverse(inverse, z);
  for (int i = 0; i < 9; i++) {
    b[i] = ds_twofold_of(0);
    for (int j = 0; j < 3; j++)
      b[i] = ds_twofold_less(b[i], ds_twofold_minus(lx[3 * j + i % 3]), inverse[i / 3 * 3 + j]);
  }
}

/* The same in twice the digits. */
static bool factor_twofold(path *q) {
  double theta = 1 - exp(q->now.s);
  for (int32_t k = 0; k < q->n; k++) {
    ds_twofold *b = q->wide_b + 9 * k, *c = q->wide + 9 * k;
    double inverse = 1 / q->mu[k];
    find_b_twofold(q, k);
    if (smooth(q, k)) b[4] = b[8] = ds_twofold_of(0);
    for (int i = 0; i < 3; i++) {
      for (int j = 0; j < 3; j++) c[3 * i + j] = b[3 * i + j];
      for (int j = 1; j < 3 && !smooth(q, k); j++)
        c[3 * i + j] = ds_twofold_add_scaled(c[3 * i + j], theta * q->tau[2 * k + j - 1], c[3 * i]);
      c[3 * i] = ds_twofold_scale(inverse, c[3 * i]);
    }
    for (int j = 0; j < 3; j++) c[j] = ds_twofold_scale(inverse, c[j]);
  }
  return ds_twofold_system_factor(q->twofold, q->wide);
}

/* gdv := T D⁻¹ Gᵀ dv */
static void slip_of(path *q) {
  double theta = 1 - exp(q->now.s);
  ds_subproblem_apply_transposed(q->gdv, q->p, q->dv);
  for (int32_t k = 0; k < q->n; k++) {
    double *g = q->gdv + 3 * k;
    if (smooth(q, k)) g[1] = g[2] = 0;
    g[0] = g[0] / q->mu[k] + theta * (q->tau[2 * k] * g[1] + q->tau[2 * k + 1] * g[2]);
  }
}

/* dv := G D⁻¹ x */
static void push(path *q, const double *x) {
  for (int32_t i = 0; i < 3 * q->n; i++) q->impulse[i] = i % 3 == 0 ? x[i] / q->mu[i / 3] : x[i];
  memset(q->dv, 0, (size_t)q->p->dof * sizeof(double));
  ds_subproblem_add_impulse(q->dv, q->p, q->impulse);
}

static void times_b(double out[3], const double b[9], const double z[3]) {
  for (int i = 0; i < 3; i++) out[i] = b[3 * i] * z[0] + b[3 * i + 1] * z[1] + b[3 * i + 2] * z[2];
}

/* to += (dx, dz) with dz = T D⁻¹ Gᵀ dv + e1, dx = d - B dz (d NULL: zero), dv = G D⁻¹ dx */
static void add_solution(path *q, point *to, const double *e1, const double *d) {
  double *rhs = q->gdv, dz[3], bz[3];
  for (int32_t k = 0; k < q->n; k++) {
    times_b(bz, q->b + 9 * k, e1 + 3 * k);
    for (int i = 0; i < 3; i++) rhs[3 * k + i] = (d ? d[3 * k + i] : 0) - bz[i];
  }
  push(q, rhs);
  ds_system_solve(q->dv, q->system);
  slip_of(q);
  for (int32_t k = 0; k < q->n; k++) {
    for (int i = 0; i < 3; i++) dz[i] = q->gdv[3 * k + i] + e1[3 * k + i];
    times_b(bz, q->b + 9 * k, dz);
    for (int i = 0; i < 3; i++) to->z[3 * k + i] += dz[i], to->x[3 * k + i] += (d ? d[3 * k + i] : 0) - bz[i];
  }
}

/* s -= A z */
static void subtract_times(ds_twofold s[3], const ds_twofold a[9], const ds_twofold z[3]) {
  for (int i = 0; i < 9; i++) s[i / 3] = ds_twofold_less(s[i / 3], a[i], z[i % 3]);
}

/* d - B z with d = L_z⁻¹ e2, of contact k */
static void find_dx(ds_twofold dx[3], const path *q, int32_t k, const double *e2, const ds_twofold z[3]) {
  ds_twofold second[3];
  for (int i = 0; i < 3; i++) dx[i] = ds_twofold_of(0), second[i] = ds_twofold_of(-e2[3 * k + i]);
  subtract_times(dx, q->wide_inverse + 9 * k, second);
  subtract_times(dx, q->wide_b + 9 * k, z);
}

/* d := (dx, dz) as add_solution finds them, in twice the digits */
static void solve_twofold(path *q, point *d, const double *e1, const double *e2) {
  double theta = 1 - exp(q->now.s);
  ds_twofold *wide = q->wide, x[3], z[3];
  for (int32_t k = 0; k < q->n; k++) {
    for (int i = 0; i < 3; i++) z[i] = ds_twofold_of(e1[3 * k + i]);
    find_dx(wide + 3 * k, q, k, e2, z);
    wide[3 * k] = ds_twofold_scale(1 / q->mu[k], wide[3 * k]);
  }
  ds_twofold_push(q->wide_dv, q->p, wide);
  ds_twofold_system_solve(q->wide_dv, q->twofold);
  ds_twofold_slip(wide, q->p, q->wide_dv);
  for (int32_t k = 0; k < q->n; k++) {
    const ds_twofold *g = wide + 3 * k;
    z[0] = ds_twofold_scale(1 / q->mu[k], g[0]);
    for (int i = 1; i < 3; i++) {
      z[i] = smooth(q, k) ? ds_twofold_of(0) : g[i];
      z[0] = ds_twofold_add_scaled(z[0], theta * q->tau[2 * k + i - 1], z[i]);
    }
    for (int i = 0; i < 3; i++) z[i] = ds_twofold_add(z[i], ds_twofold_of(e1[3 * k + i]));
    find_dx(x, q, k, e2, z);
    for (int i = 0; i < 3; i++) d->z[3 * k + i] = z[i].hi, d->x[3 * k + i] = x[i].hi;
  }
}

/* left := what dz lacks of T D⁻¹ Gᵀ G D⁻¹ dx + e1. Returns the largest, relative to the largest dz, both to z. */
static double find_left(path *q, const point *d) {
  double most = 0, size = 0;
  push(q, d->x);
  slip_of(q);
  for (int32_t i = 0; i < 3 * q->n; i++) {
    double z = q->now.z[i / 3 * 3];
    q->left[i] = q->right[i] + q->gdv[i] - d->z[i];
    most = fmax(most, fabs(q->left[i]) / z), size = fmax(size, fabs(d->z[i]) / z);
  }
  return most > 0 ? most / size : 0;
}

/* Solution of the linearized equations: e1 and e2 on their right (NULL: zero), and the change ds of log t. */
static void direction(path *q, point *d, const double *e1, const double *e2, double ds) {
  double t = exp(q->now.s), ts2 = t * t * q->sigma * q->sigma;
  for (int32_t k = 0; k < q->n; k++) {
    const double *inverse = q->inverse + 9 * k;
    double *right = q->right + 3 * k, second[3];
    for (int i = 0; i < 3; i++) right[i] = e1 ? e1[3 * k + i] : 0, second[i] = e2 ? e2[3 * k + i] : 0;
    right[0] += ds * ((1 - t) * ts2 / q->slip[k] - t * q->slip[k] + t * q->kappa);
    for (int i = 0; q->offset && i < 3; i++) right[i] += ds * t * q->offset[3 * k + i];
    second[0] += ds * t * q->m;
    if (q->twofold)
      memcpy(q->d + 3 * k, second, sizeof second);
    else
      times_b(q->d + 3 * k, inverse, second);
  }
  d->s = ds;
  if (q->twofold) {
    solve_twofold(q, d, q->right, q->d);
    return;
  }
  memset(d->x, 0, bytes(q));
  memset(d->z, 0, bytes(q));
  add_solution(q, d, q->right, q->d);
  find_left(q, d);
  add_solution(q, d, q->left, NULL);
  if (!(find_left(q, d) <= DS_NEAR)) q->rounded = true;
}

/* Inner product of two directions, relative to the point. */
static double dot(const path *q, const point *a, const point *b) {
  double sum = a->s * b->s;
  for (int32_t k = 0; k < q->n; k++) {
    double fx = 1 / (q->now.x[3 * k] * q->now.x[3 * k]), fz = 1 / (q->now.z[3 * k] * q->now.z[3 * k]);
    for (int32_t i = 3 * k; i < 3 * k + 3; i++) sum += a->x[i] * b->x[i] * fx + a->z[i] * b->z[i] * fz;
  }
  return sum;
}

static void add(point *to, const point *from, double factor, const path *q) {
  for (int32_t i = 0; i < 3 * q->n; i++) to->x[i] += factor * from->x[i], to->z[i] += factor * from->z[i];
  to->s += factor * from->s;
}

static void make_orthogonal(point *d, const point *unit, const path *q) { add(d, unit, -dot(q, unit, d), q); }

/* Second derivative by length: with primes for the tangent, t' = t s', the linearized equations have
 *
 *   e1 = ((1 - t)(|y_T'|² + 2 t² sigma² s'² - n'²)/n - 2 t s' n' + t s'² (kappa - n)) e_0,   e2 = t m s'² e - 2 x' o z'
 *
 * on their right. */
static void find_curvature(path *q) {
  double t = exp(q->now.s), ds = q->tangent.s, ts2 = t * t * q->sigma * q->sigma;
  for (int32_t k = 0; k < q->n; k++) {
    const double *dx = q->tangent.x + 3 * k, *dz = q->tangent.z + 3 * k;
    double *e1 = q->f1 + 3 * k, *e2 = q->f2 + 3 * k, n = q->slip[k];
    double dy[2] = {dz[1], dz[2]};
    for (int i = 0; q->offset && i < 2; i++) dy[i] -= t * ds * q->offset[3 * k + 1 + i];
    double dn = q->tau[2 * k] * dy[0] + q->tau[2 * k + 1] * dy[1] + ts2 / n * ds;
    ds_jordan(e2, dx, dz);
    for (int i = 0; i < 3; i++) e1[i] = 0, e2[i] *= -2;
    e1[0] = (1 - t) * (dy[0] * dy[0] + dy[1] * dy[1] + 2 * ts2 * ds * ds - dn * dn) / n;
    e1[0] += t * ds * (ds * (q->kappa - n) - 2 * dn);
    for (int i = 0; q->offset && i < 3; i++) e1[i] += t * ds * ds * q->offset[3 * k + i];
    e2[0] += t * q->m * ds * ds;
  }
  direction(q, &q->curvature, q->f1, q->f2, 0);
  make_orthogonal(&q->curvature, &q->tangent, q);
}

/* Unit tangent, forward, the correction orthogonal to it, and the curvature of the path. */
static void directions(path *q) {
  direction(q, &q->tangent, NULL, NULL, 1);
  int32_t sign = q->twofold ? ds_twofold_system_sign(q->twofold) : ds_system_sign(q->system);
  if (q->orientation == 0) q->orientation = sign; /* the start of a path is left towards smaller t */
  double forward = -sign * q->orientation / sqrt(dot(q, &q->tangent, &q->tangent));
  for (int32_t i = 0; i < 3 * q->n; i++) q->tangent.x[i] *= forward, q->tangent.z[i] *= forward;
  q->tangent.s *= forward;
  direction(q, &q->correction, q->e1, q->e2, 0);
  make_orthogonal(&q->correction, &q->tangent, q);
}

static bool is_inside(const double a[3]) { return a[0] > 0 && ds_minkowski(a) > 0; }

static bool is_inside_twofold(const point *at, int32_t k) {
  ds_twofold x[3], z[3];
  read_twofold(x, z, at, k);
  return ds_twofold_is_inside(x) && ds_twofold_is_inside(z);
}

/* to = from + step, in twice the digits where they are there */
static void step_to(double *to, double *to_rest, const double *from, const double *from_rest, int32_t i, double step) {
  if (!to_rest) {
    to[i] = from[i] + step;
    return;
  }
  ds_twofold sum = ds_twofold_add((ds_twofold){from[i], from_rest[i]}, ds_twofold_of(step));
  to[i] = sum.hi, to_rest[i] = sum.lo;
}

/* next = now + a (correction + h tangent + h²/2 curvature). False where that leaves the cones. */
static bool move(path *q, double h, double a) {
  double c = 0.5 * h * h;
  const point *from = &q->now;
  point *to = &q->next;
  for (int32_t i = 0; i < 3 * q->n; i++) {
    double dx = a * (q->correction.x[i] + h * q->tangent.x[i] + c * q->curvature.x[i]);
    double dz = a * (q->correction.z[i] + h * q->tangent.z[i] + c * q->curvature.z[i]);
    step_to(to->x, to->x_rest, from->x, from->x_rest, i, dx);
    step_to(to->z, to->z_rest, from->z, from->z_rest, i, dz);
  }
  q->next.s = q->now.s + a * (q->correction.s + h * q->tangent.s + c * q->curvature.s);
  for (int32_t k = 0; k < q->n; k++) {
    if (!q->twofold && (!is_inside(q->next.x + 3 * k) || !is_inside(q->next.z + 3 * k))) return false;
    if (q->twofold && !is_inside_twofold(&q->next, k)) return false;
  }
  return true;
}

/* Moves by h, which is lowered until the next point is near the path, to zero where the correction alone leaves the
 * cones: that is then shortened. False where nothing finite is found. */
static bool advance(path *q, double *h) {
  double least = 1e-3 * *h, a = 1;
  while (a > DBL_EPSILON) {
    bool inside = move(q, *h, a);
    double away = inside ? evaluate(q, &q->next) : INFINITY;
    if (inside && (*h == 0 || away <= NEAR_PATH)) return isfinite(away);
    if (*h == 0)
      a *= SHORTER;
    else
      *h *= SHORTER;
    if (*h < least) *h = 0;
  }
  return false;
}

static bool allocate(ds_arena *arena, path *q) {
  size_t n = 3 * (size_t)q->n + 1;
  point *points[] = {&q->now, &q->next, &q->last, &q->before, &q->tangent, &q->correction, &q->curvature};
  double **vectors[] = {&q->mu,   &q->e1, &q->e2,    &q->f1,   &q->f2,      &q->tau,
                        &q->slip, &q->d,  &q->right, &q->left, &q->impulse, &q->gdv};
  double **matrices[] = {&q->b, &q->inverse, &q->C};
  for (size_t i = 0; i < sizeof points / sizeof *points; i++)
    points[i]->x = DS_NEW0(arena, double, n), points[i]->z = DS_NEW0(arena, double, n);
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) *vectors[i] = DS_NEW0(arena, double, n);
  for (size_t i = 0; i < sizeof matrices / sizeof *matrices; i++) *matrices[i] = DS_NEW0(arena, double, 3 * n);
  q->dv = DS_NEW0(arena, double, q->p->dof + 1);
  q->trial = ds_iterate_new(arena, q->p);
  return !ds_arena_failed(arena);
}

static double size_of(const path *q) { /* |x_N| */
  double sum = 0;
  for (int32_t k = 0; k < q->n; k++) sum += q->now.x[3 * k] * q->now.x[3 * k];
  return sqrt(sum);
}

/* At a point that is not far from a solution. False where it is one. */
static bool start_near(path *q, const ds_iterate *from) {
  double gap = ds_smooth_start_gap(from, q->p), t = gap / q->m;
  if (!(t > 0)) return false;
  q->orientation = 0;
  ds_smooth_start_find(q->now.x, q->now.z, from, q->p, gap);
  q->now.s = log(t);
  memset(q->offset, 0, bytes(q));
  evaluate(q, &q->now);
  for (int32_t i = 0; i < 3 * q->n; i++) q->offset[i] = -q->e1[i] / t;
  return true;
}

/* False where the convex program has no room inside its cones. */
static bool start(path *q, double relaxation, const ds_iterate *from) {
  const ds_subproblem *p = q->p;
  q->sigma = p->slip / sqrt(q->n); /* a typical predicted velocity */
  q->kappa = relaxation * q->sigma;
  for (int32_t k = 0; k < q->n; k++) {
    const double *slip = p->free_slip + 3 * k;
    q->mu[k] = ds_cone_mu(p->mu[k]);
    q->m += GAP * (slip[0] * slip[0] + slip[1] * slip[1] + slip[2] * slip[2]) / (p->scale[k] * q->n);
  }
  q->orientation = 1;
  bool found = from ? start_near(q, from) : ds_centre_find(q->solve, q->now.x, q->now.z, p, q->kappa, q->m, DS_CENTRED);
  q->highest = q->now.s + 5;
  q->size = size_of(q);
  return found;
}

/* From a point of the path, without moving it. */
static bool try_newton(path *q, ds_iterate *polished, ds_iterate *best) {
  ds_iterate_copy(polished, &q->trial, q->p);
  bool solved = ds_newton_solve(q->solve, polished, q->p, &q->solve->goal, DS_PROXIMAL, DS_STEPS);
  if (solved || polished->error < best->error) ds_iterate_copy(best, polished, q->p);
  return solved;
}

/* Step control: h is the length to try, and two points are kept to go back to. */
typedef struct pace {
  double h, h_before;
  int32_t corrections, losses;
  bool restored; /* `now` is a point of the path that was left before */
} pace;

/* Corrections do not come back to the path. */
static void go_back(path *q, pace *c) {
  if (++c->losses > 2) { /* the last point may be one of another branch */
    copy_point(&q->last, &q->before, q);
    c->h_before = c->h = 0.1 * c->h_before;
    c->losses = 0;
  } else {
    c->h *= 0.25;
  }
  copy_point(&q->now, &q->last, q);
  c->restored = true;
}

/* A step from a point of the path, after `directions`. */
static bool go_on(path *q, pace *c) {
  if (!c->restored) {
    copy_point(&q->before, &q->last, q);
    copy_point(&q->last, &q->now, q);
    c->h_before = c->h;
    c->losses = 0;
    if (c->corrections <= 1) c->h *= 2;
  }
  c->corrections = 0;
  c->restored = false;
  c->h = fmin(c->h, 3 / fabs(q->tangent.s));
  find_curvature(q);
  double step = c->h;
  if (!advance(q, &step)) return false;
  c->h = step > 0 ? step : 0.1 * c->h;
  return true;
}

/* A correction alone. */
static bool come_back(path *q, pace *c) {
  double none = 0;
  c->corrections++;
  return advance(q, &none);
}

static void swap_points(path *q) {
  point swap = q->now;
  q->now = q->next;
  q->next = swap;
}

/* From now on in twice the digits. */
static bool widen(path *q) {
  ds_arena *arena = q->solve->arena;
  point *points[] = {&q->now, &q->next, &q->last, &q->before};
  for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
    points[i]->x_rest = DS_NEW0(arena, double, 3 * (size_t)q->n + 1);
    points[i]->z_rest = DS_NEW0(arena, double, 3 * (size_t)q->n + 1);
  }
  q->wide = DS_NEW(arena, ds_twofold, 9 * (size_t)q->n + 1);
  q->wide_b = DS_NEW(arena, ds_twofold, 9 * (size_t)q->n + 1);
  q->wide_inverse = DS_NEW(arena, ds_twofold, 9 * (size_t)q->n + 1);
  q->wide_dv = DS_NEW(arena, ds_twofold, q->p->dof + 1);
  q->twofold = ds_twofold_system_create(arena, q->system);
  return q->twofold && !ds_arena_failed(arena);
}

/* Factors the system and finds the directions. Where rounding takes them, once more and from then on in twice the
 * digits. */
static bool find_directions(path *q) {
  q->rounded = false;
  if (!(q->twofold ? factor_twofold(q) : factor(q))) return false;
  q->solve->work.projections++, q->solve->work.tool[DS_TOOL_HOMOTOPY]++;
  directions(q);
  if (!q->rounded || q->twofold || q->system->local) return true; /* without bodies there is no second way */
  if (!widen(q) || !factor_twofold(q)) return false;
  q->solve->work.projections++, q->solve->work.tool[DS_TOOL_HOMOTOPY]++;
  directions(q);
  return true;
}

/* Along the path until best meets the goal, or it ends. */
static ds_homotopy_end follow(path *q, ds_iterate *best, const ds_homotopy_options *o) {
  const ds_goal *goal = &q->solve->goal;
  ds_iterate polished = ds_iterate_new(q->solve->arena, q->p);
  pace c = {.h = 0.3, .h_before = 0.3};
  double next_newton = fmax(DS_LOOSEST, 10 * goal->moving);
  if (ds_arena_failed(q->solve->arena)) return DS_HOMOTOPY_LOST;
  for (int32_t i = 0; i < o->iterations; i++) {
    evaluate(q, &q->now);
    bool solved = ds_goal_is_met(&q->trial, q->p, goal);
    if (solved || q->trial.error < best->error) ds_iterate_copy(best, &q->trial, q->p);
    if (solved) return DS_HOMOTOPY_SOLVED;
    if (q->trial.error <= next_newton) {
      next_newton = 0.1 * q->trial.error;
      if (try_newton(q, &polished, best)) return DS_HOMOTOPY_SOLVED;
    }
    if (c.h < 1e-8 || q->now.s < -45 || q->now.s > q->highest || !find_directions(q)) return DS_HOMOTOPY_LOST;
    bool on = c.restored || sqrt(dot(q, &q->correction, &q->correction)) <= ON_PATH;
    if (on && fabs(q->tangent.s) < 1e-4 && size_of(q) > UNBOUNDED * q->size) return DS_HOMOTOPY_UNBOUNDED;
    if (!on && c.corrections >= CORRECTIONS_MAX) {
      go_back(q, &c);
      continue;
    }
    if (!(on ? go_on(q, &c) : come_back(q, &c))) return DS_HOMOTOPY_LOST;
    swap_points(q);
  }
  return DS_HOMOTOPY_LOST;
}

ds_homotopy_end ds_homotopy_solve(ds_solve *s, ds_iterate *best, const ds_subproblem *p, const ds_homotopy_options *o) {
  ds_arena *arena = s->arena;
  ds_arena_mark mark = ds_arena_get_mark(arena);
  path q = {.p = p, .solve = s, .system = s->system, .n = p->contact_count};
  if (p->contact_count == 0 || !(p->target > 0) || !allocate(arena, &q)) return DS_HOMOTOPY_LOST;
  ds_homotopy_end end = DS_HOMOTOPY_LOST;
  if (o->from) q.offset = DS_NEW0(arena, double, 3 * (size_t)q.n + 1);
  if (!ds_arena_failed(arena) && start(&q, o->relaxation, o->from)) {
    copy_point(&q.last, &q.now, &q);
    copy_point(&q.before, &q.now, &q);
    end = follow(&q, best, o);
  }
  ds_arena_release(arena, mark);
  return end;
}
