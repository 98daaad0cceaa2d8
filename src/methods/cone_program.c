/* By points of its central path (project/centre.c), x o z = m e with a gap m that is next to nothing. Where contacts
 * are redundant or carry nothing without being open, errors are of the size of sqrt(m): so m is made as small as
 * rounding allows, and the best of three kept. */
#include "methods/cone_program.h"

#include <math.h>

#include "project/centre.h"

/* Gaps over the energy rho |q|² of the whole, from one that is always reached to the least that double resolves. */
static const double GAPS[] = {1e-12, 1e-18, 1e-24};

/* |r - P_K(r - rho (u + shift n))| */
static double residual(const ds_subproblem *p, const ds_iterate *x, const double *shift) {
  double sum = 0, norm = 0;
  for (int32_t k = 0; k < p->contact_count; k++) {
    const double *r = x->r + 3 * k, *u = x->u + 3 * k;
    double z[3] = {r[0] - p->rho * (u[0] + (shift ? shift[k] : 0)), r[1] - p->rho * u[1], r[2] - p->rho * u[2]};
    ds_cone_project(z, z, p->mu[k]);
    for (int c = 0; c < 3; c++) sum += (r[c] - z[c]) * (r[c] - z[c]), norm += r[c] * r[c];
  }
  double scale = fmax(sqrt(norm), p->rho * p->target), error = scale > 0 ? sqrt(sum) / scale : 0;
  return isfinite(error) ? error : INFINITY;
}

/* Impulses of x = (mu r_N, r_T). */
static void impulses(double *r, const ds_subproblem *p, const double *x) {
  for (int32_t k = 0; k < p->contact_count; k++) {
    r[3 * k] = x[3 * k] / ds_cone_mu(p->mu[k]);
    for (int c = 1; c < 3; c++) r[3 * k + c] = ds_is_frictionless(p->mu[k]) ? 0 : x[3 * k + c];
  }
}

double ds_cone_program(ds_solve *s, ds_iterate *x, const ds_subproblem *p, const double *shift) {
  if (!ds_solve_needs_system(s, p)) return INFINITY; /* it outlives the mark */
  ds_arena_mark mark = ds_arena_get_mark(s->arena);
  size_t rows = 3 * (size_t)p->contact_count + 1;
  double *inside = DS_NEW(s->arena, double, rows), *slack = DS_NEW(s->arena, double, rows);
  double *b = DS_NEW(s->arena, double, rows), best = residual(p, x, shift);
  ds_iterate trial = ds_iterate_new(s->arena, p);
  if (ds_arena_failed(s->arena)) return INFINITY;
  ds_subproblem shifted = *p;
  memcpy(b, p->b, 3 * (size_t)p->contact_count * sizeof *b);
  for (int32_t k = 0; k < p->contact_count && shift; k++) b[3 * k] -= shift[k];
  shifted.b = b;
  for (size_t i = 0; i < sizeof GAPS / sizeof *GAPS && p->target > 0 && !ds_effort_is_over(s->effort); i++) {
    double gap = GAPS[i] * p->rho * p->target * p->target / p->contact_count;
    bool found = ds_centre_find(s, inside, slack, &shifted, 0, gap, sqrt(GAPS[i]));
    impulses(trial.r, p, inside);
    ds_subproblem_velocity(trial.v, p, trial.r);
    ds_subproblem_slip(trial.u, p, trial.v);
    double error = residual(p, &trial, shift);
    if (error < best) ds_iterate_copy(x, &trial, p), best = error;
    if (!found) break;
  }
  ds_arena_release(s->arena, mark);
  return best;
}
