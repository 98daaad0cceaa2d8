/* Stage 4 for one island: the better of the warm start and none, the solver that the options name, an answer that adds
 * no energy where it has missed, and the certificate, which is the same whatever the solver. */
#include "project/project.h"

#include <math.h>

#include "project/deadline.h"
#include "project/solvers.h"

/* The better start of two: the impulses given, or none. True for the former. They are compared by the natural map, for
 * how near a start is the full error does not say; and those that add energy are far from any solution. */
static bool choose_start(ds_iterate *x, const ds_subproblem *p, const double *r) {
  bool any = false;
  for (int32_t i = 0; i < 3 * p->contact_count && !any; i++) any = r[i] != 0;
  ds_iterate_update(x, p); /* of zero */
  double none = x->error;
  if (any) {
    memcpy(x->r, r, 3 * (size_t)p->contact_count * sizeof(double));
    ds_iterate_update(x, p);
    any = x->error <= none && !ds_impulses_add_energy(x, p);
    if (!any) ds_iterate_clear(x, p);
  }
  x->error = ds_subproblem_error(p, x->r, x->u);
  return any;
}

/* Impulses outside the cone by rounding are put on it, so that it holds exactly: a frictionless contact carries no
 * friction at all. Those that are nothing but an interior point's distance from its boundary become zero. Taken where
 * the error does not suffer. */
static void clip_to_cone(ds_solve *s, ds_iterate *x, const ds_subproblem *p, double tolerance) {
  ds_iterate y = ds_iterate_new(s->arena, p);
  if (ds_arena_failed(s->arena)) return;
  bool changed = false;
  double largest = 0;
  for (int32_t k = 0; k < p->contact_count; k++) largest = fmax(largest, x->r[3 * k]);
  double nothing = fmin(x->error, 1e-9) * largest;
  for (int32_t k = 0; k < p->contact_count; k++) {
    const double *from = x->r + 3 * k;
    double *to = y.r + 3 * k, friction = sqrt(from[1] * from[1] + from[2] * from[2]);
    double normal = from[0] > nothing ? from[0] : 0, limit = p->mu[k] * normal,
           f = friction > limit ? limit / friction : 1;
    to[0] = normal, to[1] = f * from[1], to[2] = f * from[2];
    changed |= to[0] != from[0] || to[1] != from[1] || to[2] != from[2];
  }
  if (!changed) return;
  ds_iterate_update(&y, p);
  y.error = ds_subproblem_error(p, y.r, y.u);
  if (y.error > tolerance && ds_impulses_add_energy(&y, p)) return;
  if (y.error <= fmax(x->error, 0.1 * tolerance)) ds_iterate_copy(x, &y, p);
}

bool ds_solve_give_back(const ds_solve *s, double *r, double *v, ds_certificate *certificate, const ds_iterate *x,
                        const ds_subproblem *p) {
  if (ds_arena_failed(s->arena)) return false;
  memcpy(r, x->r, 3 * (size_t)p->contact_count * sizeof(double));
  memcpy(v, x->v, (size_t)p->dof * sizeof(double));
  *certificate = (ds_certificate){.staggered_iterations = s->work.staggered,
                                  .projection_iterations = s->work.projections,
                                  .factorizations = s->system ? s->system->factorizations : 0,
                                  .rel_err = s->work.rel_err,
                                  .conflict = s->work.conflict};
  memcpy(certificate->tool, s->work.tool, sizeof s->work.tool);
  return true;
}

/* Whether a step must not be taken with x: it has missed its tolerance, and is far from any solution or adds energy. */
static bool is_unsafe(const ds_solve *s, const ds_iterate *x, const ds_subproblem *p, double tolerance) {
  if (s->purpose != DS_FOR_STEP || !(x->error > tolerance) || ds_effort_is_stopped(s->effort)) return false;
  bool adds_energy = ds_impulses_add_energy(x, p);
  if (s->work.gave_way && !adds_energy) return false; /* there is no better answer */
  return s->ends_on_contact || x->error > DS_NEAR || adds_energy;
}

/* |v - v_p - G r| in the measure of the error: Newton's law, for methods that change velocities by more than impulses.
 */
static double newton_error(ds_arena *arena, const ds_subproblem *p, const double *r, const double *v) {
  double *lawful = DS_NEW(arena, double, p->dof + 1), sum = 0, size = 0;
  if (!lawful) return INFINITY;
  ds_subproblem_velocity(lawful, p, r);
  for (int32_t i = 0; i < p->dof; i++) {
    sum += (v[i] - lawful[i]) * (v[i] - lawful[i]);
    size += p->predicted[i] * p->predicted[i];
  }
  return sum > 0 ? sqrt(sum / size) : 0;
}

bool ds_project_island(const ds_solve *given, double *r, double *v, ds_certificate *certificate,
                       const ds_subproblem *problem) {
  ds_subproblem prepared = *problem;
  const ds_subproblem *p = &prepared;
  ds_solve solve = *given, *s = &solve;
  const ds_solver *solver = ds_solver_of(s->options);
  prepared.samples = s->options->friction_samples;
  s->rough = s->purpose == DS_FOR_STEP && p->body_count > DS_FEW_BODIES;
  bool limited = false;
  ds_certificate of_parts = {0};
  if (s->purpose == DS_FOR_STEP && !s->part && ds_project_parts(s, r, v, &of_parts, p)) {
    *certificate = of_parts;
    certificate->unbounded = false;
    return true;
  }
  if (!ds_subproblem_prepare(s->arena, &prepared)) return false;
  ds_iterate x = ds_iterate_new(s->arena, p);
  if (ds_arena_failed(s->arena)) return false;
  s->goal = ds_goal_of(s->options, s->purpose);
  s->warm = choose_start(&x, p, r);
  solver->solve(s, &x, p);
  double tolerance = ds_goal_tolerance(&s->goal, p, x.r, x.u);
  if (solver->safeguarded && is_unsafe(s, &x, p, tolerance)) { /* what keeps bodies apart and adds no energy */
    ds_end_on_contact(s, &x, p, tolerance);
    limited = (ds_limit_energy(&x, p) || !s->ends_on_contact) && x.error > tolerance;
  } else if (solver->thorough && !p->samples) {
    clip_to_cone(s, &x, p, tolerance);
  }
  if (!ds_solve_give_back(s, r, v, certificate, &x, p)) return false;
  certificate->unbounded = s->work.unbounded && x.error > tolerance;
  certificate->limited = limited;
  ds_subproblem_certify(certificate, p, r, v, x.u, tolerance);
  if (solver->own_velocity) {
    certificate->natural_error = fmax(certificate->natural_error, newton_error(s->arena, p, r, v));
    certificate->converged &= certificate->natural_error <= tolerance;
  }
  ds_certificate_add_work(certificate, &of_parts);
  return true;
}
