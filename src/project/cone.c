/* Interior point on the product of Coulomb cones.
 *
 * Per contact x = (mu r_N, r_T) and y = (u_N/mu, u_T), with D = diag(mu, 1, 1): r = D⁻¹ x, y = D⁻¹ u. The problem is
 * x, z in the Lorentz cone, x o z = 0, z = y + |y_T| e_0. The last term, De Saxcé's, makes it non-convex; it stands in
 * the Newton matrix through T = [1 tauᵀ; 0 I], tau = y_T/|y_T|, or is left out (`convex`).
 *
 * Nesterov-Todd scaling: W z = W⁻¹ x = lambda, B = W². One step with residual r_z = y + |y_T| e_0 - z:
 *
 *   (I + sum G D⁻¹ B T D⁻¹ Gᵀ) dv = G D⁻¹ (d - B r_z),   dz = T D⁻¹ Gᵀ dv + r_z,   dx = d - B dz,
 *   d = W (lambda \ (sigma m e - lambda o lambda - dx_aff o dz_aff)),
 *
 * with v = v_p + G D⁻¹ x exact throughout. Mehrotra's predictor and corrector, forced centring with the De Saxcé term
 * (the path is not the one of a convex program and may turn back), one step length for both. When steps stay short a
 * small compliance B <- (B⁻¹ + g W_k)⁻¹ is added and fades as steps grow. */
#include "project/cone.h"

#include <math.h>

#include "la/lorentz.h"

enum { STUCK_MAX = 12 };

typedef struct scaling {
  ds_lorentz nt; /* W and lambda */
  double b[9];   /* W² with compliance */
  double t[2];   /* tau */
} scaling;

typedef struct cone {
  const ds_subproblem *p;
  ds_system *system;
  bool convex;
  double *mu;    /* floored, so that frictionless contacts stay inside the method */
  double *x, *z; /* 3 a contact */
  double *dx, *dz, *rz, *d;
  double *c; /* 9 a contact */
  double *dv, *gdv, *impulse;
  scaling *s;
} cone;

static bool invert3(double out[9], const double m[9]) {
  double a = m[4] * m[8] - m[5] * m[7], b = m[5] * m[6] - m[3] * m[8], c = m[3] * m[7] - m[4] * m[6];
  double det = m[0] * a + m[1] * b + m[2] * c;
  if (!(fabs(det) > 0)) return false;
  double f = 1 / det;
  double r[9] = {a * f, (m[2] * m[7] - m[1] * m[8]) * f, (m[1] * m[5] - m[2] * m[4]) * f,
                 b * f, (m[0] * m[8] - m[2] * m[6]) * f, (m[2] * m[3] - m[0] * m[5]) * f,
                 c * f, (m[1] * m[6] - m[0] * m[7]) * f, (m[0] * m[4] - m[1] * m[3]) * f};
  memcpy(out, r, sizeof r);
  return true;
}

static bool scale_contact(scaling *s, const double x[3], const double z[3], double compliance) {
  if (!ds_lorentz_scale(&s->nt, x, z)) return false;
  ds_lorentz_square(s->b, &s->nt);
  if (compliance > 0) {
    double inverse[9];
    if (!invert3(inverse, s->b)) return false;
    for (int i = 0; i < 3; i++) inverse[4 * i] += compliance;
    if (!invert3(s->b, inverse)) return false;
  }
  return true;
}

/* Scalings, r_z and the matrices C = D⁻¹ B T D⁻¹ of all contacts. */
static bool prepare(cone *q, const double *u, double compliance) {
  for (int32_t k = 0; k < q->p->contact_count; k++) {
    scaling *s = &q->s[k];
    double mu = q->mu[k];
    const double *uk = u + 3 * k;
    if (!scale_contact(s, q->x + 3 * k, q->z + 3 * k, compliance * q->p->scale[k])) return false;
    double ut = sqrt(uk[1] * uk[1] + uk[2] * uk[2]), saxce = q->convex ? 0 : 1;
    s->t[0] = ut > 0 ? saxce * uk[1] / ut : 0;
    s->t[1] = ut > 0 ? saxce * uk[2] / ut : 0;
    q->rz[3 * k] = uk[0] / mu + saxce * ut - q->z[3 * k];
    q->rz[3 * k + 1] = uk[1] - q->z[3 * k + 1];
    q->rz[3 * k + 2] = uk[2] - q->z[3 * k + 2];
    for (int i = 0; i < 3; i++) {
      double di = i == 0 ? 1 / mu : 1, b0 = s->b[3 * i];
      q->c[9 * k + 3 * i] = di * b0 / mu;
      q->c[9 * k + 3 * i + 1] = di * (s->b[3 * i + 1] + b0 * s->t[0]);
      q->c[9 * k + 3 * i + 2] = di * (s->b[3 * i + 2] + b0 * s->t[1]);
    }
  }
  return ds_system_factor(q->system, q->c, q->convex);
}

/* Direction for the right-hand side of the complementarity equations: sigma m e - lambda o lambda [- dx o dz]. */
static void direction(cone *q, double centre, bool corrector) {
  const ds_subproblem *p = q->p;
  for (int32_t k = 0; k < p->contact_count; k++) {
    const scaling *s = &q->s[k];
    double rhs[3], t[3];
    ds_jordan(rhs, s->nt.lambda, s->nt.lambda);
    for (int i = 0; i < 3; i++) rhs[i] = -rhs[i];
    rhs[0] += centre;
    if (corrector) {
      double a[3], b[3];
      ds_lorentz_apply(a, &s->nt, q->dx + 3 * k, true);
      ds_lorentz_apply(b, &s->nt, q->dz + 3 * k, false);
      ds_jordan(t, a, b);
      for (int i = 0; i < 3; i++) rhs[i] -= t[i];
    }
    ds_jordan_divide(t, s->nt.lambda, rhs);
    ds_lorentz_apply(q->d + 3 * k, &s->nt, t, false);
    for (int i = 0; i < 3; i++) {
      const double *b = s->b + 3 * i, *rz = q->rz + 3 * k;
      q->impulse[3 * k + i] = q->d[3 * k + i] - (b[0] * rz[0] + b[1] * rz[1] + b[2] * rz[2]);
    }
    q->impulse[3 * k] /= q->mu[k];
  }
  memset(q->dv, 0, (size_t)p->dof * sizeof(double));
  ds_subproblem_add_impulse(q->dv, p, q->impulse);
  ds_system_solve(q->dv, q->system);
  ds_subproblem_apply_transposed(q->gdv, p, q->dv);
  for (int32_t k = 0; k < p->contact_count; k++) {
    const scaling *s = &q->s[k];
    double *dz = q->dz + 3 * k, *dx = q->dx + 3 * k;
    const double *g = q->gdv + 3 * k;
    dz[0] = g[0] / q->mu[k] + s->t[0] * g[1] + s->t[1] * g[2] + q->rz[3 * k];
    dz[1] = g[1] + q->rz[3 * k + 1];
    dz[2] = g[2] + q->rz[3 * k + 2];
    for (int i = 0; i < 3; i++)
      dx[i] = q->d[3 * k + i] - (s->b[3 * i] * dz[0] + s->b[3 * i + 1] * dz[1] + s->b[3 * i + 2] * dz[2]);
  }
}

static double step_length(const cone *q) {
  double t = 1;
  for (int32_t k = 0; k < q->p->contact_count; k++)
    t = fmin(t, fmin(ds_lorentz_step(q->x + 3 * k, q->dx + 3 * k), ds_lorentz_step(q->z + 3 * k, q->dz + 3 * k)));
  return t;
}

static double gap_after(const cone *q, double t) { /* mean of x'z after a step of t */
  double sum = 0;
  for (int32_t i = 0; i < 3 * q->p->contact_count; i++) sum += (q->x[i] + t * q->dx[i]) * (q->z[i] + t * q->dz[i]);
  return sum / q->p->contact_count;
}

static bool allocate(ds_arena *arena, cone *q) {
  size_t n = 3 * (size_t)q->p->contact_count + 1;
  double **vectors[] = {&q->x, &q->z, &q->dx, &q->dz, &q->rz, &q->d, &q->gdv, &q->impulse};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) *vectors[i] = DS_NEW0(arena, double, n);
  q->mu = DS_NEW(arena, double, n);
  q->c = DS_NEW(arena, double, 3 * n);
  q->dv = DS_NEW(arena, double, q->p->dof + 1);
  q->s = DS_NEW(arena, scaling, n);
  return !ds_arena_failed(arena);
}

static void start(cone *q, double size) {
  const ds_subproblem *p = q->p;
  double speed = size * p->target / sqrt(fmax(1, p->contact_count)); /* typical predicted velocity at a contact */
  for (int32_t k = 0; k < p->contact_count; k++) {
    q->mu[k] = fmax(p->mu[k], 1e-3);
    q->x[3 * k] = speed / p->scale[k];
    q->z[3 * k] = speed;
  }
}

static void take_impulses(ds_iterate *x, const cone *q) {
  for (int32_t k = 0; k < q->p->contact_count; k++) {
    x->r[3 * k] = q->x[3 * k] / q->mu[k];
    x->r[3 * k + 1] = q->x[3 * k + 1];
    x->r[3 * k + 2] = q->x[3 * k + 2];
  }
  ds_iterate_update(x, q->p);
}

bool ds_cone_solve(ds_solve *s, ds_iterate *best, const ds_subproblem *p, const ds_cone_options *options) {
  ds_arena *arena = s->arena;
  ds_arena_mark mark = ds_arena_get_mark(arena);
  cone q = {.p = p, .system = s->system, .convex = options->convex};
  ds_iterate trial = ds_iterate_new(arena, p);
  if (!allocate(arena, &q) || p->contact_count == 0 || !(p->target > 0)) return false;
  start(&q, options->start);
  double compliance = 0;
  int32_t short_steps = 0, stuck = 0;
  for (int32_t i = 0; i < options->iterations; i++) {
    take_impulses(&trial, &q);
    if (trial.error < best->error) ds_iterate_copy(best, &trial, p);
    if (best->error <= options->tolerance) break;
    if (!prepare(&q, trial.u, compliance)) break;
    s->work.projections++;
    double gap = gap_after(&q, 0);
    if (!(gap > 0)) break;
    direction(&q, 0, false);
    double affine = step_length(&q), ratio = gap_after(&q, affine) / gap;
    double sigma = fmin(1, fmax(options->centring, ratio * ratio * ratio));
    direction(&q, sigma * gap, true);
    double t = step_length(&q);
    if (t < 0.1) { /* redo without the corrector, better centred */
      direction(&q, fmax(sigma, 0.5) * gap, false);
      t = step_length(&q);
    }
    if (!isfinite(t)) break;
    t = t < 1 ? 0.99 * t : 1;
    for (int32_t j = 0; j < 3 * p->contact_count; j++) q.x[j] += t * q.dx[j], q.z[j] += t * q.dz[j];
    short_steps = t < 0.08 ? short_steps + 1 : 0;
    stuck = t < 0.15 ? stuck + 1 : 0;
    if (stuck >= STUCK_MAX) break; /* the path turns back here; another start may go around */
    if (short_steps >= 4) {
      compliance = fmin(fmax(1e-3, 2 * compliance), 1e-2);
      short_steps = 0;
    } else if (t > 0.5) {
      compliance = compliance > 1e-8 ? 0.3 * compliance : 0;
    }
  }
  ds_arena_release(arena, mark);
  return best->error <= options->tolerance;
}
