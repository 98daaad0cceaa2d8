/* Contact projection [SP08 eq. 20, 25]: min 1/2 |v - v_hat|² subject to s = Nᵀ v - b >= 0, multipliers alpha.
 *
 * Mehrotra's primal-dual interior point with v = v_hat + N alpha exact throughout:
 *
 *   (I + N diag(alpha/s) Nᵀ) dv = N (d - (alpha/s) r_s),   ds = Nᵀ dv + r_s,   d_alpha = d - (alpha/s) ds,
 *   d = (sigma m - s alpha - ds_aff dalpha_aff)/s,   r_s = Nᵀ v - b - s. */
#include <math.h>

#include "project/polish.h"
#include "project/projections.h"

enum { ITERATIONS_MAX = 60 };

typedef struct contact_qp {
  const ds_subproblem *p;
  ds_system *system;
  int32_t n;
  double *alpha, *s, *da, *ds, *rs, *d;
  double *c, *full, *gv, *dv;
} contact_qp;

/* gv = Gᵀ v; r_s from it; returns the natural-map error |alpha - (alpha - rho (Nᵀv - b))+|, relative */
static double residual(contact_qp *q, const double *v) {
  double sum = 0, norm = 0;
  ds_subproblem_apply_transposed(q->gv, q->p, v);
  for (int32_t k = 0; k < q->n; k++) {
    double u = q->gv[3 * k] - q->p->b[3 * k], e = q->alpha[k] - fmax(0, q->alpha[k] - q->p->rho * u);
    q->rs[k] = u - q->s[k];
    sum += e * e;
    norm += q->alpha[k] * q->alpha[k];
  }
  double scale = fmax(sqrt(norm), q->p->rho * q->p->target);
  double error = sum > 0 ? sqrt(sum) / scale : 0;
  return isfinite(error) ? error : INFINITY;
}

static void direction(contact_qp *q, double centre, bool corrector) {
  memset(q->full, 0, 3 * (size_t)q->n * sizeof(double));
  for (int32_t k = 0; k < q->n; k++) {
    double rhs = centre - q->s[k] * q->alpha[k] - (corrector ? q->ds[k] * q->da[k] : 0);
    q->d[k] = rhs / q->s[k];
    q->full[3 * k] = q->d[k] - q->c[9 * k] * q->rs[k];
  }
  memset(q->dv, 0, (size_t)q->p->dof * sizeof(double));
  ds_subproblem_add_impulse(q->dv, q->p, q->full);
  ds_system_solve(q->dv, q->system);
  ds_subproblem_apply_transposed(q->gv, q->p, q->dv);
  for (int32_t k = 0; k < q->n; k++) {
    q->ds[k] = q->gv[3 * k] + q->rs[k];
    q->da[k] = q->d[k] - q->c[9 * k] * q->ds[k];
  }
}

static double step_length(const contact_qp *q) {
  double t = 1;
  for (int32_t k = 0; k < q->n; k++) {
    if (q->ds[k] < 0) t = fmin(t, -q->s[k] / q->ds[k]);
    if (q->da[k] < 0) t = fmin(t, -q->alpha[k] / q->da[k]);
  }
  return t;
}

static double gap_after(const contact_qp *q, double t) {
  double sum = 0;
  for (int32_t k = 0; k < q->n; k++) sum += (q->s[k] + t * q->ds[k]) * (q->alpha[k] + t * q->da[k]);
  return sum / q->n;
}

static bool allocate(ds_arena *arena, contact_qp *q) {
  size_t n = (size_t)q->n + 1;
  double **vectors[] = {&q->alpha, &q->s, &q->da, &q->ds, &q->rs, &q->d};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) *vectors[i] = DS_NEW0(arena, double, n);
  q->full = DS_NEW0(arena, double, 3 * n);
  q->gv = DS_NEW0(arena, double, 3 * n);
  q->c = DS_NEW0(arena, double, 9 * n);
  q->dv = DS_NEW0(arena, double, q->p->dof + 1);
  return !ds_arena_failed(arena);
}

static void velocity(contact_qp *q, double *v, const double *v_hat) {
  memset(q->full, 0, 3 * (size_t)q->n * sizeof(double));
  for (int32_t k = 0; k < q->n; k++) q->full[3 * k] = q->alpha[k];
  memcpy(v, v_hat, (size_t)q->p->dof * sizeof(double));
  ds_subproblem_add_impulse(v, q->p, q->full);
}

double ds_project_contact(ds_arena *arena, ds_system *system, double *r, double *v, ds_work *work, const double *v_hat,
                          double tolerance) {
  const ds_subproblem *p = system->problem;
  ds_arena_mark mark = ds_arena_get_mark(arena);
  contact_qp q = {.p = p, .system = system, .n = p->contact_count};
  double *trial = DS_NEW(arena, double, p->dof + 1), best = INFINITY;
  if (!allocate(arena, &q)) return INFINITY;
  /* start: impulses and slacks of the size of the predicted velocities */
  ds_subproblem_apply_transposed(q.gv, p, v_hat);
  double sum = 0;
  for (int32_t k = 0; k < q.n; k++) sum += (q.gv[3 * k] - p->b[3 * k]) * (q.gv[3 * k] - p->b[3 * k]);
  double speed = fmax(sqrt(sum / fmax(1, q.n)), 1e-12 * p->target);
  if (!(speed > 0)) speed = 1;
  for (int32_t k = 0; k < q.n; k++) {
    q.s[k] = fmax(speed, q.gv[3 * k] - p->b[3 * k]);
    q.alpha[k] = speed / p->scale[k];
  }
  for (int32_t i = 0; i <= ITERATIONS_MAX; i++) {
    velocity(&q, trial, v_hat);
    double error = residual(&q, trial);
    if (error < best) {
      best = error;
      memcpy(v, trial, (size_t)p->dof * sizeof(double));
      for (int32_t k = 0; k < q.n; k++) r[3 * k] = q.alpha[k];
    }
    if (best <= tolerance || i == ITERATIONS_MAX || !isfinite(error) || error > 10 * best) break;
    for (int32_t k = 0; k < q.n; k++) q.c[9 * k] = q.alpha[k] / q.s[k];
    if (!ds_system_factor(system, q.c, true)) break;
    work->projections++;
    double gap = gap_after(&q, 0);
    direction(&q, 0, false);
    double ratio = gap_after(&q, step_length(&q)) / gap;
    direction(&q, fmin(1, ratio * ratio * ratio) * gap, true);
    double t = step_length(&q);
    if (!isfinite(t) || !(gap > 1e-300)) break;
    t = t < 1 ? 0.995 * t : 1;
    for (int32_t k = 0; k < q.n; k++) q.s[k] += t * q.ds[k], q.alpha[k] += t * q.da[k];
  }
  if (best > tolerance) best = fmin(best, ds_projection_polish(arena, system, r, v, work, v_hat, NULL, tolerance, 0));
  ds_arena_release(arena, mark);
  return best;
}
