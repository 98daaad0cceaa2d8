/* Staggered projections [SP08 Algorithm 1]:
 *
 *   N alpha <- P_C(-M v_p - f),   f <- P_F(alpha)(-M v_p - N alpha),   until f stands still,
 *
 * keeping the friction impulse f of least residual (eq. 29), and ending on a contact projection with it, so that the
 * normal constraints hold whatever happened. As a tool of the default path the loop is the same, but the iterate kept
 * is the one of least natural-map error, judged with the very impulses that are returned: a last contact projection may
 * pick another alpha than the one friction was solved with and spoil a converged answer. */
#include "project/staggered.h"

#include <math.h>

#include "project/projections.h"
#include "project/solvers.h"

typedef struct loop {
  const ds_subproblem *p;
  ds_solve *solve;
  double *v_hat, *f, *f_last, *part;
} loop;

/* out = G r with only the normal (0) or only the tangential (1) components of r */
static void impulse_part(loop *l, double *out, const double *r, bool tangential) {
  for (int32_t k = 0; k < l->p->contact_count; k++) {
    l->part[3 * k] = tangential ? 0 : r[3 * k];
    l->part[3 * k + 1] = tangential ? r[3 * k + 1] : 0;
    l->part[3 * k + 2] = tangential ? r[3 * k + 2] : 0;
  }
  memset(out, 0, (size_t)l->p->dof * sizeof(double));
  ds_subproblem_add_impulse(out, l->p, l->part);
}

static void add_predicted(loop *l, const double *impulse) {
  for (int32_t i = 0; i < l->p->dof; i++) l->v_hat[i] = l->p->predicted[i] + impulse[i];
}

static double relative_change(const loop *l) { /* [SP08 eq. 28]; M = I here */
  double change = 0, size = 0;
  for (int32_t i = 0; i < l->p->dof; i++) {
    change += (l->f[i] - l->f_last[i]) * (l->f[i] - l->f_last[i]);
    size += l->f_last[i] * l->f_last[i];
  }
  if (change == 0) return 0; /* also 0/0: no friction before and none now */
  return size > 0 ? change / size : INFINITY;
}

static double residual(const ds_subproblem *p, const ds_iterate *x) { /* [SP08 eq. 29] */
  double sum = 0;
  for (int32_t k = 0; k < p->contact_count; k++) sum += fabs(x->r[3 * k] * x->u[3 * k]);
  return isfinite(sum) ? sum : INFINITY;
}

static void judge(ds_iterate *x, const loop *l) {
  ds_subproblem_velocity(x->v, l->p, x->r);
  ds_subproblem_slip(x->u, l->p, x->v);
  x->error = ds_subproblem_error(l->p, x->r, x->u);
}

/* One subsequence: contact projection with friction f, then friction projection with its alpha. */
static void subsequence(loop *l, ds_iterate *x, double inner) {
  ds_work *work = &l->solve->work;
  add_predicted(l, l->f);
  ds_project_contact(l->solve, x->r, x->v, l->p, l->v_hat, inner);
  impulse_part(l, l->f_last, x->r, false); /* N alpha, borrowed space */
  add_predicted(l, l->f_last);
  memcpy(l->f_last, l->f, (size_t)l->p->dof * sizeof(double));
  ds_project_friction(l->solve, x->r, x->v, l->p, l->v_hat, inner, l->p->samples);
  impulse_part(l, l->f, x->r, true);
  work->staggered++;
  work->rel_err = relative_change(l);
}

static void contact_last(loop *l, ds_iterate *x, double inner) {
  impulse_part(l, l->f, x->r, true);
  add_predicted(l, l->f);
  ds_project_contact(l->solve, x->r, x->v, l->p, l->v_hat, inner);
}

bool ds_staggered_solve(ds_solve *s, ds_iterate *x, const ds_subproblem *p, const ds_staggered_options *o) {
  ds_arena *arena = s->arena;
  ds_arena_mark mark = ds_arena_get_mark(arena);
  loop l = {.p = p, .solve = s};
  l.v_hat = DS_NEW0(arena, double, p->dof + 1);
  l.f = DS_NEW0(arena, double, p->dof + 1);
  l.f_last = DS_NEW0(arena, double, p->dof + 1);
  l.part = DS_NEW0(arena, double, 3 * (size_t)p->contact_count + 1);
  ds_iterate trial = ds_iterate_new(arena, p);
  if (ds_arena_failed(arena)) return false;
  ds_iterate_copy(&trial, x, p);
  impulse_part(&l, l.f, trial.r, true); /* f0: the warm start */
  double least = INFINITY, inner = 1e-10;
  for (int32_t i = 0; i < o->iterations && !ds_effort_is_over(s->effort); i++) {
    /* a hundredth of the outer error is enough inside [SOLVER_NOTES] */
    if (!o->published) inner = fmin(1e-6, fmax(1e-13, 1e-2 * fmin(x->error, trial.error)));
    subsequence(&l, &trial, inner);
    judge(&trial, &l);
    double badness = o->published ? residual(p, &trial) : trial.error;
    if (badness < least && (o->published || trial.error < x->error)) ds_iterate_copy(x, &trial, p);
    least = fmin(least, badness);
    if (o->published ? s->work.rel_err <= o->rel_err : x->error <= o->tolerance) break;
  }
  if (o->published || x->error > o->tolerance) {
    ds_iterate_copy(&trial, x, p);
    contact_last(&l, &trial, inner);
    judge(&trial, &l);
    if (o->published || trial.error < x->error) ds_iterate_copy(x, &trial, p);
  }
  ds_arena_release(arena, mark);
  return x->error <= o->tolerance;
}

ds_solver_solve ds_staggered_method; /* for the table of solvers.c */

void ds_staggered_method(ds_solve *s, ds_iterate *x, const ds_subproblem *p) {
  const ds_options *options = s->options;
  ds_staggered_options o = {.published = true,
                            .rel_err = options->rel_err,
                            .tolerance = s->goal.tolerance,
                            .iterations = options->max_iterations};
  if (!ds_solve_needs_system(s, p)) return;
  ds_staggered_solve(s, x, p, &o);
  s->work.tool[DS_TOOL_STAGGERED] = s->work.staggered;
}
