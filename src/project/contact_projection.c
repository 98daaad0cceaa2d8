/* Contact projection [SP08 eq. 20, 25]: min 1/2 |v - v_hat|² subject to s = Nᵀ v - b >= 0, multipliers alpha.
 *
 * Mehrotra's primal-dual interior point with v = v_hat + N alpha exact throughout:
 *
 *   (I + N diag(alpha/s) Nᵀ) dv = N (d - (alpha/s) r_s),   ds = Nᵀ dv + r_s,   d_alpha = d - (alpha/s) ds,
 *   d = (sigma m - s alpha - ds_aff dalpha_aff)/s,   r_s = Nᵀ v - b - s.
 *
 * With thousands of contacts on a few bodies the loops over contacts cost as much as the linear algebra: the step to
 * the boundary, 1/max(-ds/s, -dalpha/alpha), and the gap after a step, a quadratic in its length, come out
 * of the loop that makes the step, and divisions are one 1/s and one 1/alpha a contact and iteration. */
#include <math.h>

#include "project/polish.h"
#include "project/projections.h"

typedef struct contact_qp {
  const ds_subproblem *p;
  ds_system *system;
  int32_t n;
  double *alpha, *s, *da, *ds, *rs, *d;
  double *inverse_s, *inverse_alpha;
  double *weight; /* alpha/s */
  double *c;      /* the same for the system, 9 a contact */
  double *rhs, *gv, *dv;
} contact_qp;

/* What a step does: s or alpha reaches zero at the length 1/limit, and the gap after a step of length t is
 * sum s alpha + t first + t² second. */
typedef struct step_effect {
  double limit, first, second;
} step_effect;

/* gv = Nᵀ v; r_s from it; returns the natural-map error |alpha - (alpha - rho (Nᵀv - b))+|, relative */
static double residual(contact_qp *q, const double *v) {
  double sum = 0, norm = 0, rho = q->p->rho;
  ds_subproblem_times_part(q->gv, q->p, v, DS_ROWS_NORMAL);
  for (int32_t k = 0; k < q->n; k++) {
    double u = q->gv[k] - q->p->b[3 * k], shifted = rho * u, a = q->alpha[k], e = a < shifted ? a : shifted;
    q->rs[k] = u - q->s[k];
    sum += e * e; /* a - max(0, a - rho u) = min(a, rho u), or not a number where u is none */
    norm += a * a;
  }
  double scale = fmax(sqrt(norm), rho * q->p->target);
  double error = sum > 0 ? sqrt(sum) / scale : 0;
  return isfinite(error) ? error : INFINITY;
}

/* alpha/s and the factor of its system; gap = sum s alpha */
static bool factor(contact_qp *q, double *gap) {
  double sum = 0;
  for (int32_t k = 0; k < q->n; k++) {
    q->inverse_s[k] = 1 / q->s[k];
    q->inverse_alpha[k] = 1 / q->alpha[k];
    q->weight[k] = q->alpha[k] * q->inverse_s[k];
  }
  for (int32_t k = 0; k < q->n; k++) {
    q->c[9 * k] = q->weight[k];
    sum += q->s[k] * q->alpha[k];
  }
  *gap = sum;
  return ds_system_factor(q->system, q->c, true);
}

/* The step from d. */
static step_effect take_step(contact_qp *q) {
  for (int32_t k = 0; k < q->n; k++) q->rhs[k] = q->d[k] - q->weight[k] * q->rs[k];
  memset(q->dv, 0, (size_t)q->p->dof * sizeof(double));
  ds_subproblem_add_part(q->dv, q->p, q->rhs, DS_ROWS_NORMAL);
  ds_system_solve(q->dv, q->system);
  ds_subproblem_times_part(q->gv, q->p, q->dv, DS_ROWS_NORMAL);
  double limit_s = 0, limit_alpha = 0, first = 0, second = 0;
  for (int32_t k = 0; k < q->n; k++) {
    double ds = q->gv[k] + q->rs[k], da = q->d[k] - q->weight[k] * ds;
    double ratio_s = -ds * q->inverse_s[k], ratio_alpha = -da * q->inverse_alpha[k];
    q->ds[k] = ds, q->da[k] = da;
    limit_s = ratio_s > limit_s ? ratio_s : limit_s;
    limit_alpha = ratio_alpha > limit_alpha ? ratio_alpha : limit_alpha;
    first += q->s[k] * da + q->alpha[k] * ds;
    second += ds * da;
  }
  return (step_effect){limit_s > limit_alpha ? limit_s : limit_alpha, first, second};
}

/* The affine step: d = -alpha. */
static step_effect predict(contact_qp *q) {
  for (int32_t k = 0; k < q->n; k++) q->d[k] = -q->alpha[k];
  return take_step(q);
}

static step_effect correct(contact_qp *q, double centre) {
  for (int32_t k = 0; k < q->n; k++) q->d[k] = (centre - q->s[k] * q->alpha[k] - q->ds[k] * q->da[k]) * q->inverse_s[k];
  return take_step(q);
}

static bool allocate(ds_arena *arena, contact_qp *q) {
  size_t n = (size_t)q->n + 1;
  double **vectors[] = {&q->alpha,         &q->s,      &q->da,  &q->ds, &q->rs, &q->d, &q->inverse_s,
                        &q->inverse_alpha, &q->weight, &q->rhs, &q->gv};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) *vectors[i] = DS_NEW0(arena, double, n);
  q->c = DS_NEW0(arena, double, 9 * n);
  q->dv = DS_NEW0(arena, double, q->p->dof + 1);
  return !ds_arena_failed(arena);
}

/* Impulses and slacks of the size of the predicted velocities. */
static void start(contact_qp *q, const double *v_hat) {
  const ds_subproblem *p = q->p;
  ds_subproblem_times_part(q->gv, p, v_hat, DS_ROWS_NORMAL);
  double sum = 0;
  for (int32_t k = 0; k < q->n; k++) {
    q->rs[k] = q->gv[k] - p->b[3 * k];
    sum += q->rs[k] * q->rs[k];
  }
  double speed = fmax(sqrt(sum / fmax(1, q->n)), 1e-12 * p->target);
  if (!(speed > 0)) speed = 1;
  for (int32_t k = 0; k < q->n; k++) {
    q->s[k] = fmax(speed, q->rs[k]);
    q->alpha[k] = speed / p->scale[k];
  }
}

double ds_project_contact(ds_solve *solve, double *r, double *v, const ds_subproblem *p, const double *v_hat,
                          double tolerance) {
  ds_arena *arena = solve->arena;
  ds_arena_mark mark = ds_arena_get_mark(arena);
  contact_qp q = {.p = p, .system = solve->system, .n = p->contact_count};
  double *trial = DS_NEW(arena, double, p->dof + 1), best = INFINITY, gap;
  if (!allocate(arena, &q)) return INFINITY;
  start(&q, v_hat);
  for (int32_t i = 0; i <= DS_STEPS; i++) {
    memcpy(trial, v_hat, (size_t)p->dof * sizeof(double));
    ds_subproblem_add_part(trial, p, q.alpha, DS_ROWS_NORMAL);
    double error = residual(&q, trial);
    if (error < best) {
      best = error;
      memcpy(v, trial, (size_t)p->dof * sizeof(double));
      for (int32_t k = 0; k < q.n; k++) r[3 * k] = q.alpha[k];
    }
    if (best <= tolerance || i == DS_STEPS || !isfinite(error) || error > 10 * best) break;
    if (!factor(&q, &gap)) break;
    solve->work.projections++;
    step_effect affine = predict(&q);
    double t = affine.limit > 1 ? 1 / affine.limit : 1, ratio = (gap + t * (affine.first + t * affine.second)) / gap;
    step_effect step = correct(&q, fmin(1, ratio * ratio * ratio) * gap / q.n);
    if (!isfinite(step.first) || !(gap > 1e-300 * q.n)) break;
    t = ds_step_inside(1 / step.limit); /* limit 0: no boundary ahead */
    for (int32_t k = 0; k < q.n; k++) q.s[k] += t * q.ds[k], q.alpha[k] += t * q.da[k];
  }
  if (best > tolerance) best = fmin(best, ds_projection_polish(solve, r, v, p, v_hat, NULL, tolerance, 0));
  ds_arena_release(arena, mark);
  return best;
}
