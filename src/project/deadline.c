/* Graceful degradation [SP08 7]: where time runs out before friction has converged, the last contact projection is done
 * all the same,
 *
 *   v(t) = argmin 1/2 |v - v_p - t D beta|²  subject to Nᵀ v >= b,      t = 1,
 *
 * so that nothing passes through anything, and what is wrong is friction alone. The friction beta is that of the best
 * point so far, from the warm start on, cut to its own cone. A few sweeps first cost little beside the projection;
 * where there is never time for more they build friction up from step to step.
 *
 * It must not add energy. A step from v_t changes it by -|v - v_t|²/2 + rᵀ (u + b), and of the last term only the work
 * of friction, betaᵀ u_T, can be positive. It grows with t, because projections are monotone. So where it is positive
 * for t = 1, t is chosen where the line between t = 0 and t = 1 has its zero; and where that is no good either, t = 0.
 */
#include "project/deadline.h"

#include <math.h>

#include "base/vec3.h"
#include "project/gauss_seidel.h"
#include "project/polish.h"
#include "project/projections.h"

enum { SWEEPS = 4 }; /* with one, 21 steps of a pile cut short take 565 factorizations in place of 289 */

/* beta: friction of x, cut to its cone; within a polygon to the disk in it */
static void take_friction(double *beta, const ds_iterate *x, const ds_subproblem *p) {
  for (int32_t k = 0; k < p->contact_count; k++) {
    const double *r = x->r + 3 * k;
    double size = sqrt(r[1] * r[1] + r[2] * r[2]), limit = p->mu[k] * fmax(0, r[0]);
    if (p->samples) limit *= cos(DS_PI / p->samples);
    double share = size > limit ? limit / size : 1;
    beta[3 * k] = 0, beta[3 * k + 1] = share * r[1], beta[3 * k + 2] = share * r[2];
  }
}

/* v_hat = v_p + t D beta, and t beta in x. */
static void set_friction(ds_iterate *x, double *v_hat, const ds_subproblem *p, const double *beta, double t) {
  memset(v_hat, 0, (size_t)p->dof * sizeof(double));
  ds_subproblem_add_impulse(v_hat, p, beta); /* whose normal components are zero */
  for (int32_t i = 0; i < p->dof; i++) v_hat[i] = p->predicted[i] + t * v_hat[i];
  for (int32_t k = 0; k < p->contact_count; k++)
    x->r[3 * k + 1] = t * beta[3 * k + 1], x->r[3 * k + 2] = t * beta[3 * k + 2];
}

static void judge(ds_iterate *x, const ds_subproblem *p) {
  ds_iterate_update(x, p);
  x->error = ds_subproblem_error(p, x->r, x->u);
}

/* x: the projection with friction t beta, from the normal impulses of x; *hard where Newton's steps are not enough, or
 * end in impulses that cancel each other. Returns betaᵀ u_T. */
static double project(ds_solve *s, ds_iterate *x, double *v_hat, bool *hard, const ds_subproblem *p, const double *beta,
                      double t) {
  double sum = 0;
  set_friction(x, v_hat, p, beta, t);
  if (!*hard) {
    *hard = !(ds_projection_polish(s, x->r, x->v, p, v_hat, NULL, DS_EXACT, 0) <= 10 * DS_EXACT);
    judge(x, p);
    *hard |= !(x->error <= 1);
  }
  if (*hard) {
    ds_project_contact(s, x->r, x->v, p, v_hat, DS_EXACT);
    judge(x, p);
  }
  for (int32_t k = 0; k < p->contact_count; k++)
    sum += beta[3 * k + 1] * x->u[3 * k + 1] + beta[3 * k + 2] * x->u[3 * k + 2];
  return sum;
}

/* Whether all contacts part, or the solution is no worse than the other. */
static bool holds(const ds_iterate *x, const ds_iterate *other, const ds_subproblem *p) {
  double least = 0, least_other = 0;
  for (int32_t k = 0; k < p->contact_count; k++) {
    least = fmin(least, x->u[3 * k]);
    least_other = fmin(least_other, other->u[3 * k]);
  }
  return isfinite(x->error) && (least >= -1e-6 * p->target || least >= least_other);
}

static void end_on_contact(ds_solve *s, ds_iterate *x, const ds_subproblem *p, double tolerance) {
  ds_arena *arena = s->arena;
  ds_arena_mark mark = ds_arena_get_mark(arena);
  double *v_hat = DS_NEW(arena, double, p->dof + 1), *beta = DS_NEW(arena, double, 3 * (size_t)p->contact_count + 1);
  double nothing = 1e-9 * p->rho * p->target * p->target;
  ds_iterate y = ds_iterate_new(arena, p), z = ds_iterate_new(arena, p), *best = &y;
  if (ds_arena_failed(arena)) return;
  const ds_single_contact *blocks = ds_gauss_seidel_blocks(arena, p);
  if (!blocks) return;
  judge(x, p);
  if (!(x->error <= 1)) { /* worse than no impulses */
    memset(x->r, 0, 3 * (size_t)p->contact_count * sizeof(double));
    judge(x, p);
  }
  ds_iterate_copy(&y, x, p);
  ds_gauss_seidel_solve(s, &y, p, blocks, 0, SWEEPS);
  judge(&y, p);
  if (y.error < x->error) ds_iterate_copy(x, &y, p);
  if (x->error <= tolerance) return;
  take_friction(beta, x, p);
  ds_iterate_copy(&y, x, p);
  bool hard = false;
  double gain = project(s, &y, v_hat, &hard, p, beta, 1);
  if (!(gain <= nothing && y.error <= 1)) {
    ds_iterate_copy(&z, &y, p);
    double loss = project(s, &z, v_hat, &hard, p, beta, 0), t = loss / (loss - gain);
    bool worth = loss < 0 && t > 0 && t < 1 && !hard;
    if (!worth || !(project(s, &y, v_hat, &hard, p, beta, t) <= nothing)) best = &z;
  }
  if (holds(best, x, p)) ds_iterate_copy(x, best, p); /* else no velocity keeps them apart: it stays as it was */
  ds_arena_release(arena, mark);
}

void ds_end_on_contact(ds_solve *s, ds_iterate *x, const ds_subproblem *p, double tolerance) {
  ds_effort *effort = s->effort;
  double clock = ds_clock();
  if (!ds_solve_needs_system(s, p)) return;
  s->effort = s->system->effort = NULL; /* it has all the time it needs */
  end_on_contact(s, x, p, tolerance);
  s->effort = s->system->effort = effort;
  if (effort && s->ends_on_contact) effort->last_seconds = ds_clock() - clock;
}

/* The work of the impulses, rᵀ(u + q)/2: with v = v_p + G r that is the change of |v|²/2 less rᵀb, what moving
 * supports, rebounds and open gaps do. A solution has rᵀu = -sum mu r_N |u_T| <= 0 and rᵀq = rᵀu - rᵀW r <= 0. */
static double work_of(const ds_iterate *x, const ds_subproblem *p) {
  double work = 0;
  for (int32_t i = 0; i < 3 * p->contact_count; i++) work += 0.5 * x->r[i] * (x->u[i] + p->free_slip[i]);
  return work;
}

bool ds_impulses_add_energy(const ds_iterate *x, const ds_subproblem *p) {
  return !(work_of(x, p) <= 1e-9 * p->rho * p->target * p->target);
}

/* t r does t rᵀq + t² rᵀW r/2, which is least for t = -rᵀq / rᵀW r. */
bool ds_limit_energy(ds_iterate *x, const ds_subproblem *p) {
  if (!ds_impulses_add_energy(x, p)) return false;
  double along = 0, curvature = 0;
  for (int32_t i = 0; i < 3 * p->contact_count; i++) {
    along += x->r[i] * p->free_slip[i];
    curvature += x->r[i] * (x->u[i] - p->free_slip[i]);
  }
  double t = along < 0 && curvature > 0 && isfinite(along / curvature) ? fmin(1, -along / curvature) : 0;
  for (int32_t i = 0; i < 3 * p->contact_count; i++) x->r[i] = t > 0 ? t * x->r[i] : 0;
  judge(x, p);
  return true;
}
