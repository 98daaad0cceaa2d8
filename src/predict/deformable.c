/* A free deformable body over one step: implicit Newmark in the reduced coordinates, the rotation with them.
 *
 * Newmark's method has velocities p at the ends of a step and the accelerations a = -f - D p of elasticity and damping
 * there. Its q1 = q0 + h u1 has the mean rate, u1 = p0 + h ((1/2 - beta) a0 + beta a1), which contact constrains and
 * which is kept: at rest it is zero. The velocity at its end follows from it, p1 = u1 + h ((1/2 - gamma + beta) a0 +
 * (gamma - beta) a1). With the step before, of length k and with its own beta' and gamma', the rates of two steps are
 * related by
 *
 *   u1 - u0 + h beta f(q1) + (h (1/2 - beta) + k (gamma' - beta')) f(q0) + k (1/2 - gamma' + beta') f(q0 - k u0)
 *           + D (h (1 + delta)/2 u1 + k (1 - delta')/2 u0) = inertial terms,
 *
 * where the velocities that damping acts on have been replaced by mean rates, exactly for delta = 0 and to the first
 * order in h for others. At the start k = 0: the rates given are those of that moment.
 *
 * Damping delta: gamma = 1/2 + delta, beta = (1 + delta)²/4. Average accelerations (delta = 0) never forget a vibration
 * that the step cannot follow, and contact feeds it: a point that parts in one step and is stopped in the next gets the
 * work lambda (u0 + u1)/2 > 0. Backward Euler's rule (delta = 1) gives lambda u1 = 0 at most. So each coordinate has
 * its own: delta goes from 0 for slow ones to newmark_damping (default 1) for those with more than half a period per
 * step (assemble/deformable.c). Products beta K are then sqrt(beta) K sqrt(beta), with beta the diagonal matrix.
 *
 * Default is one Newton step from q1 = q0, semi-implicit (Barbič and James 2005, section 3; Baraff and Witkin 1998 for
 * the idea): f(q1) = f(q0) + h K u1 with K = df/dq at q0.
 *
 * beta = 1/4, gamma = 1/2 is the rule of average accelerations: a linear body that does not turn keeps the energy
 * |u|²/2 + V(q0 + h u1/2) forever. It equals the variational integrator of the midpoint rule (Marsden and West 2001,
 * section 2.3), and the inertial terms are taken from that one, so that the energy of a body that turns stays bounded
 * too: with the middles a of the step before and b of this one, s as in body/deformable.c,
 *
 *   inertial terms = C(q_a)ᵀ w_a + h/2 s(q_a, w_a, u0) - C(q_b)ᵀ w_b + h/2 s(q_b, w_b, u1),
 *
 * where w_b turns the momentum at the start of this step and w_a that of the one before back from its end
 * (ds_deformable_spin). They are found by iteration: each pass solves with the implicit matrix, whose q block holds
 * what is stiff. Angular momentum is conserved whatever the passes leave. */
#include <math.h>
#include <string.h>

#include "body/deformable.h"
#include "la/small.h"
#include "predict/predict.h"

enum { PASSES = 60 };
static const double settled = 1e-14; /* update over the momentum, in the metric: rounding */
static const double newton_settled = 1e-12;

/* What does not change while the rates of one step are looked for. */
typedef struct prediction {
  const ds_reduced *reduced;
  const double *q, *before; /* q0, u0 */
  ds_vec3 momentum;
  double h;
  const ds_newmark *newmark;
  double *known;   /* r: all that does not depend on u1 */
  double *linear;  /* r: forces at the point of linearization */
  double *at;      /* r: u there */
  double *tangent; /* r x r: stiffness there */
  double *factor;  /* n x n: of the implicit matrix with it */
} prediction;

/* y += scale S m S x, S = diag(root) */
static void add_product(double *y, double scale, const double *m, const double *root, const double *x, int32_t n) {
  for (int32_t i = 0; i < n; i++) {
    double sum = 0;
    for (int32_t k = 0; k < n; k++) sum += m[i * n + k] * root[k] * x[k];
    y[i] += scale * root[i] * sum;
  }
}

/* y += scale S D S x, S = diag(root) */
static void add_damping(double *y, double scale, const ds_reduced *reduced, const double *root, const double *x) {
  for (int32_t i = 0; i < reduced->r; i++) y[i] += scale * reduced->info.damping_mass * root[i] * root[i] * x[i];
  add_product(y, scale * reduced->info.damping_stiffness, reduced->stiffness, root, x, reduced->r);
}

/* Adds scale (C(q)ᵀ w - h/2 s(q, w, u)) in the middle q = q0 + h u/2 of a step that starts here, or ends here where h
 * is negative; returns its w. */
static ds_vec3 add_inertial(double *y, double scale, const prediction *p, const double *u, ds_vec3 momentum, double h) {
  int32_t r = p->reduced->r;
  double middle[DS_REDUCED_MAX] = {0}, s[DS_REDUCED_MAX], coupled[DS_REDUCED_MAX];
  for (int32_t i = 0; i < r; i++) middle[i] = p->q[i] + 0.5 * h * u[i];
  ds_vec3 w = ds_deformable_spin(p->reduced, middle, u, momentum, h);
  ds_deformable_drive(s, coupled, p->reduced, middle, w, u);
  for (int32_t i = 0; i < r; i++) y[i] += scale * (coupled[i] - 0.5 * h * s[i]);
  return w;
}

/* Everything that does not depend on u1. */
static void fill_known(prediction *p, const double *f0, ds_vec3 before, const ds_newmark *old) {
  int32_t r = p->reduced->r;
  double h = p->h, last = old->h, q[DS_REDUCED_MAX], f[DS_REDUCED_MAX], one[DS_REDUCED_MAX];
  for (int32_t i = 0; i < r; i++) q[i] = p->q[i] - last * p->before[i], one[i] = 1;
  ds_reduced_force(f, p->reduced, q);
  for (int32_t i = 0; i < r; i++) {
    double beta = p->newmark->root_beta[i] * p->newmark->root_beta[i];
    double was = old->root_beta[i] * old->root_beta[i], delta = old->root_delta[i] * old->root_delta[i];
    p->known[i] = p->before[i] - last * ((0.5 + delta - was) * f0[i] + (was - delta) * f[i]) - h * (0.5 - beta) * f0[i];
  }
  add_damping(p->known, last, p->reduced, old->root_gamma, p->before);
  add_damping(p->known, -last, p->reduced, one, p->before);
  add_inertial(p->known, 1, p, p->before, before, -last);
}

/* What is left of the equations at u: zero for the rates wanted. */
static ds_vec3 residual(double *f, const prediction *p, const double *u) {
  int32_t r = p->reduced->r;
  double change[DS_REDUCED_MAX], h = p->h;
  const double *root = p->newmark->root_beta;
  for (int32_t i = 0; i < r; i++) {
    change[i] = u[i] - p->at[i];
    f[i] = u[i] - p->known[i] + h * root[i] * root[i] * p->linear[i];
  }
  add_product(f, h * h, p->tangent, root, change, r);
  add_damping(f, h, p->reduced, p->newmark->root_gamma, u);
  return add_inertial(f, 1, p, u, p->momentum, h);
}

/* The size, in the metric, of what a pass would change: x := the change, (w, u). */
static double change_of(double *x, const prediction *p, const double *f) {
  int32_t n = 3 + p->reduced->r;
  double size = 0;
  x[0] = x[1] = x[2] = 0; /* the rotation is always the one of the momentum */
  memcpy(x + 3, f, (size_t)(n - 3) * sizeof(double));
  ds_small_solve_l(x, p->factor, n);
  for (int32_t i = 0; i < n; i++) size += x[i] * x[i];
  ds_small_solve_lt(x, p->factor, n);
  return sqrt(size);
}

/* Rates that satisfy the equations with linearized forces. u holds a first guess, which stays where nothing is better.
 * Returns the angular velocity. */
static ds_vec3 settle(double *u, const prediction *p) {
  int32_t r = p->reduced->r;
  double f[DS_REDUCED_MAX], x[3 + DS_REDUCED_MAX], best[DS_REDUCED_MAX], least = INFINITY;
  double scale = change_of(x, p, p->known);
  for (int pass = 0; pass < PASSES; pass++) {
    residual(f, p, u);
    double size = change_of(x, p, f);
    if (!(size < least)) break;
    least = size;
    memcpy(best, u, (size_t)r * sizeof(double));
    if (size <= settled * scale) break;
    for (int32_t i = 0; i < r; i++) u[i] -= x[3 + i];
  }
  if (isfinite(least)) memcpy(u, best, (size_t)r * sizeof(double));
  return residual(f, p, u);
}

/* Further Newton steps: forces and stiffness at the q1 found so far. */
static void linearize_at(prediction *p, const ds_step_deformable *d, const double *u) {
  int32_t r = p->reduced->r;
  double q[DS_REDUCED_MAX] = {0};
  for (int32_t i = 0; i < r; i++) q[i] = p->q[i] + p->h * u[i];
  memcpy(p->at, u, (size_t)r * sizeof(double));
  ds_reduced_force(p->linear, p->reduced, q);
  ds_reduced_stiffness(d->again_tangent, p->reduced, q);
  ds_implicit_factor(d->again_implicit, d->again_tangent, d->stiffer, p->reduced, p->q, p->newmark);
  p->tangent = d->again_tangent, p->factor = d->again_implicit;
}

static double distance(const double *a, const double *b, int32_t n, double *size) {
  double sum = 0;
  *size = 0;
  for (int32_t i = 0; i < n; i++) sum += (a[i] - b[i]) * (a[i] - b[i]), *size += a[i] * a[i];
  *size = sqrt(*size);
  return sqrt(sum);
}

static void newton(ds_vec3 *w, ds_step_deformable *d, prediction *p, int32_t steps) {
  double before[DS_REDUCED_MAX], size;
  int32_t r = p->reduced->r;
  for (int32_t k = 1; k < steps; k++) {
    memcpy(before, d->rate, (size_t)r * sizeof(double));
    linearize_at(p, d, d->rate);
    *w = settle(d->rate, p);
    if (distance(d->rate, before, r, &size) <= newton_settled * size) break;
  }
}

ds_vec3 ds_deformable_predict(ds_step_deformable *d, ds_vec3 before, ds_vec3 momentum, const ds_options *options) {
  int32_t r = d->reduced->r;
  double known[DS_REDUCED_MAX], linear[DS_REDUCED_MAX], at[DS_REDUCED_MAX] = {0};
  prediction p = {.reduced = d->reduced,
                  .q = d->q,
                  .before = d->rate_before,
                  .momentum = momentum,
                  .h = options->step,
                  .newmark = &d->newmark,
                  .known = known,
                  .linear = linear,
                  .at = at,
                  .tangent = d->tangent,
                  .factor = d->implicit};
  ds_reduced_force(linear, d->reduced, d->q);
  fill_known(&p, linear, before, &d->newmark_before);
  memcpy(d->rate, d->rate_before, (size_t)r * sizeof(double));
  ds_vec3 w = settle(d->rate, &p);
  if (options->newton > 1) newton(&w, d, &p, options->newton);
  bool finite = v3_finite(w);
  for (int32_t i = 0; i < r; i++) finite &= isfinite(d->rate[i]);
  if (!finite) { /* forces beyond all numbers: finite ones for the solver; the step ends with an error (motion.c) */
    memset(d->rate, 0, (size_t)r * sizeof(double));
    w = ds_deformable_spin(d->reduced, d->q, d->rate, momentum, 0);
  }
  return w;
}
