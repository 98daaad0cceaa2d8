/* A point on the central path of the convex program that the contact problem becomes with De Saxcé's term held fixed.
 *
 * Per contact x = (mu r_N, r_T) and y = (u_N/mu, u_T), with D = diag(mu, 1, 1): r = D⁻¹ x, y = D⁻¹ u. For a relaxation
 * kappa and a gap m, find x and z inside Lorentz cones with
 *
 *   z = y + kappa e_0,   x o z = m e.
 *
 * These are the conditions of min ½|v - v_p|² - m sum log det(z), strictly convex in v: one solution for every m > 0
 * wherever some velocity has u_N + mu kappa > mu |u_T| at all contacts, which a large kappa allows. The gap is an
 * energy, the same for all contacts whatever their masses; each x finds its own size from the loads.
 *
 * Primal-dual interior point with Nesterov-Todd scaling W z = W⁻¹ x = lambda, B = W², residual r_z = y + kappa e_0 - z:
 *
 *   (I + sum G D⁻¹ B D⁻¹ Gᵀ) dv = G D⁻¹ (d - B r_z),   dz = D⁻¹ Gᵀ dv + r_z,   dx = d - B dz,
 *   d = W (lambda \ (sigma m e - lambda o lambda - dx_aff o dz_aff)),
 *
 * with v = v_p + G D⁻¹ x exact throughout and Mehrotra's predictor and corrector, which never aims below the gap. */
#include "project/centre.h"

#include <math.h>

#include "la/lorentz.h"

typedef struct centre {
  const ds_subproblem *p;
  ds_system *system;
  double kappa;
  double *x, *z, *dx, *dz, *rz, *d; /* 3 x contacts */
  double *b, *c;                    /* 9 x contacts: B and D⁻¹ B D⁻¹ */
  double *dv, *gdv, *impulse;
  ds_lorentz *nt;
  ds_iterate at; /* impulses of x */
} centre;

/* r, v and u of x; r_z. Returns |r_z|. */
static double evaluate(centre *q) {
  const ds_subproblem *p = q->p;
  double sum = 0;
  for (int32_t k = 0; k < p->contact_count; k++) {
    q->at.r[3 * k] = q->x[3 * k] / ds_cone_mu(p->mu[k]);
    q->at.r[3 * k + 1] = q->x[3 * k + 1], q->at.r[3 * k + 2] = q->x[3 * k + 2];
  }
  ds_subproblem_velocity(q->at.v, p, q->at.r);
  ds_subproblem_slip(q->at.u, p, q->at.v);
  for (int32_t k = 0; k < p->contact_count; k++) {
    double *rz = q->rz + 3 * k, tangential = ds_is_frictionless(p->mu[k]) ? 0 : 1;
    rz[0] = q->at.u[3 * k] / ds_cone_mu(p->mu[k]) + q->kappa - q->z[3 * k];
    rz[1] = tangential * q->at.u[3 * k + 1] - q->z[3 * k + 1];
    rz[2] = tangential * q->at.u[3 * k + 2] - q->z[3 * k + 2];
    sum += rz[0] * rz[0] + rz[1] * rz[1] + rz[2] * rz[2];
  }
  return sqrt(sum);
}

static bool factor(centre *q) {
  for (int32_t k = 0; k < q->p->contact_count; k++) {
    double *b = q->b + 9 * k, *c = q->c + 9 * k, mu = ds_cone_mu(q->p->mu[k]);
    if (!ds_lorentz_scale(&q->nt[k], q->x + 3 * k, q->z + 3 * k)) return false;
    ds_lorentz_square(b, &q->nt[k]);
    if (ds_is_frictionless(q->p->mu[k])) memset(b + 1, 0, 8 * sizeof *b);
    for (int i = 0; i < 9; i++) c[i] = b[i] / ((i < 3 ? mu : 1) * (i % 3 == 0 ? mu : 1));
  }
  return ds_system_factor(q->system, q->c, true);
}

/* Direction to x o z = aim e, with the second-order term of the direction before where `corrector`. */
static void direction(centre *q, double aim, bool corrector) {
  const ds_subproblem *p = q->p;
  for (int32_t k = 0; k < p->contact_count; k++) {
    const ds_lorentz *nt = &q->nt[k];
    const double *b = q->b + 9 * k, *rz = q->rz + 3 * k;
    double right[3], t[3];
    ds_jordan(right, nt->lambda, nt->lambda);
    for (int i = 0; i < 3; i++) right[i] = -right[i];
    right[0] += aim;
    if (corrector) {
      double dx[3], dz[3];
      ds_lorentz_apply(dx, nt, q->dx + 3 * k, true);
      ds_lorentz_apply(dz, nt, q->dz + 3 * k, false);
      ds_jordan(t, dx, dz);
      for (int i = 0; i < 3; i++) right[i] -= t[i];
    }
    ds_jordan_divide(t, nt->lambda, right);
    ds_lorentz_apply(q->d + 3 * k, nt, t, false);
    for (int i = 0; i < 3; i++)
      q->impulse[3 * k + i] = q->d[3 * k + i] - (b[3 * i] * rz[0] + b[3 * i + 1] * rz[1] + b[3 * i + 2] * rz[2]);
    q->impulse[3 * k] /= ds_cone_mu(p->mu[k]);
  }
  memset(q->dv, 0, (size_t)p->dof * sizeof(double));
  ds_subproblem_add_impulse(q->dv, p, q->impulse);
  ds_system_solve(q->dv, q->system);
  ds_subproblem_apply_transposed(q->gdv, p, q->dv);
  for (int32_t k = 0; k < p->contact_count; k++) {
    const double *g = q->gdv + 3 * k, *b = q->b + 9 * k, *rz = q->rz + 3 * k;
    double *dx = q->dx + 3 * k, *dz = q->dz + 3 * k, tangential = ds_is_frictionless(p->mu[k]) ? 0 : 1;
    dz[0] = g[0] / ds_cone_mu(p->mu[k]) + rz[0];
    dz[1] = tangential * g[1] + rz[1], dz[2] = tangential * g[2] + rz[2];
    for (int i = 0; i < 3; i++)
      dx[i] = q->d[3 * k + i] - (b[3 * i] * dz[0] + b[3 * i + 1] * dz[1] + b[3 * i + 2] * dz[2]);
  }
}

static double step_length(const centre *q) {
  double t = 1;
  for (int32_t k = 0; k < q->p->contact_count; k++)
    t = fmin(t, fmin(ds_lorentz_step(q->x + 3 * k, q->dx + 3 * k), ds_lorentz_step(q->z + 3 * k, q->dz + 3 * k)));
  return t;
}

static double gap_after(const centre *q, double t) { /* mean of x'z after a step of t */
  double sum = 0;
  for (int32_t i = 0; i < 3 * q->p->contact_count; i++) sum += (q->x[i] + t * q->dx[i]) * (q->z[i] + t * q->dz[i]);
  return sum / q->p->contact_count;
}

static double off_centre(const centre *q, double gap) { /* largest |x o z - gap e| / gap */
  double worst = 0;
  for (int32_t k = 0; k < q->p->contact_count; k++) {
    double e[3];
    ds_jordan(e, q->x + 3 * k, q->z + 3 * k);
    e[0] -= gap;
    worst = fmax(worst, sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2]));
  }
  return worst / gap;
}

static bool allocate(ds_arena *arena, centre *q) {
  size_t n = 3 * (size_t)q->p->contact_count + 1;
  double **vectors[] = {&q->dx, &q->dz, &q->rz, &q->d, &q->gdv, &q->impulse};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) *vectors[i] = DS_NEW0(arena, double, n);
  q->b = DS_NEW(arena, double, 3 * n);
  q->c = DS_NEW(arena, double, 3 * n);
  q->dv = DS_NEW(arena, double, q->p->dof + 1);
  q->nt = DS_NEW(arena, ds_lorentz, q->p->contact_count + 1);
  q->at = ds_iterate_new(arena, q->p);
  return !ds_arena_failed(arena);
}

/* Each contact alone: x stops the typical predicted velocity, z is that velocity. */
static void start(centre *q) {
  const ds_subproblem *p = q->p;
  double speed = 1.5 * p->slip / sqrt(p->contact_count);
  memset(q->x, 0, 3 * (size_t)p->contact_count * sizeof(double));
  memset(q->z, 0, 3 * (size_t)p->contact_count * sizeof(double));
  for (int32_t k = 0; k < p->contact_count; k++) q->x[3 * k] = speed / p->scale[k], q->z[3 * k] = speed;
}

static bool step(centre *q, double gap) {
  double now = gap_after(q, 0);
  direction(q, 0, false);
  double ratio = gap_after(q, step_length(q)) / now, aim = fmax(gap, fmin(1, ratio * ratio * ratio) * now);
  direction(q, aim, now > 3 * gap);
  double t = step_length(q);
  if (t < 0.1) { /* again without the corrector, better centred */
    direction(q, fmax(gap, 0.5 * now), false);
    t = step_length(q);
  }
  if (!isfinite(t) || !(now > 0)) return false;
  t = t < 1 ? (now > 3 * gap ? 0.99 : 0.9) * t : 1;
  for (int32_t i = 0; i < 3 * q->p->contact_count; i++) q->x[i] += t * q->dx[i], q->z[i] += t * q->dz[i];
  return true;
}

bool ds_centre_find(ds_solve *s, double *x, double *z, const ds_subproblem *p, double kappa, double gap,
                    double residual) {
  ds_arena *arena = s->arena;
  ds_arena_mark mark = ds_arena_get_mark(arena);
  centre q = {.p = p, .system = s->system, .kappa = kappa, .x = x, .z = z};
  bool found = false;
  if (!allocate(arena, &q)) return false;
  start(&q);
  for (int32_t i = 0; i < DS_STEPS; i++) {
    found = evaluate(&q) <= residual * q.p->slip && off_centre(&q, gap) <= DS_CENTRED;
    if (found || !factor(&q)) break;
    s->work.projections++, s->work.tool[DS_TOOL_HOMOTOPY]++;
    if (!step(&q, gap)) break;
  }
  ds_arena_release(arena, mark);
  return found;
}
