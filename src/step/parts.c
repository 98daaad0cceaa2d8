/* Steps that deformable bodies cannot take at once are taken in equal parts.
 *
 * An impact takes half a period of the modes that it excites. A step as long as that makes the body rigid: all of its
 * energy is lost in an inelastic impact, where h -> 0 most of it would be given back. So the step is solved once as a
 * whole. For every deformable body the energy that this solution is wrong about is estimated, as the sum of
 *
 *   |r . (u_before - u_after)| / 2   over its contacts: what a plastic impact loses,
 *   delta ((h omega u)² + du²)       over its coordinates, du the change of their rates: what numerical damping takes
 *                                    of a vibration, at any phase of it (predict/deformable.c),
 *   delta m dv²                      dv the change of its velocity: the same of a vibration against what it touches,
 *                                    at least, with delta of its slowest mode,
 *   |V(q1) - V_model(q1)|            what the linearization of its forces gets wrong (predict/judge.c).
 *
 * Where it is more than a small share of the energy of the body's motion and of its weight times its size, the step is
 * solved again in parts that are short against the period of the change of rates d, omega² = dᵀ K d / dᵀ d, and in
 * which contact points move by a small share of the body's size; or in fewer, where the error, which is of first order
 * in h, is small enough with them. Bodies at rest, in free flight and sliding ones take whole steps, and those too
 * stiff to be resolved by the most parts that are taken do too: they are as good as rigid. */
#include <math.h>

#include "body/reduced.h"
#include "body/scene.h"
#include "integrate/integrate.h"
#include "predict/predict.h"
#include "step/step.h"

static const double LOSS = 0.001;   /* of a body's energy: errors up to this are left */
static const double PHASE = 0.075;  /* omega h of a part */
static const double ADVANCE = 0.01; /* of the bounding radius: how far contact points move in a part */
static const double STIFFEST = 9.6; /* omega h of the slowest mode that 64 parts resolve, by 0.15 each */
enum { PARTS_MAX = 64 };

/* What one body would do in the whole step. */
typedef struct excitement {
  double error;   /* J */
  double closing; /* m/s: largest change of the velocity of a contact */
} excitement;

/* Relative velocity of contact k along its frame, of moving bodies, with the scaled velocities v of the island. */
static void contact_velocity(double u[3], const ds_subproblem *p, const double *v, int32_t k) {
  u[0] = u[1] = u[2] = 0;
  for (int side = 0; side < 2; side++) {
    int32_t body = p->body[2 * k + side];
    if (body < 0) continue;
    const double *g = p->g + p->jacobian[2 * k + side], *x = v + p->first[body];
    for (int32_t j = 0; j < p->size[body]; j++)
      for (int c = 0; c < 3; c++) u[c] += g[c * p->size[body] + j] * x[j];
  }
}

static bool has_deformable(const ds_island *island, const ds_assembly *assembly) {
  for (int32_t i = 0; i < island->problem.body_count; i++)
    if (ds_step_reduced(&assembly->bodies[island->bodies[i]])) return true;
  return false;
}

static void add_contacts(excitement *all, double *before, const ds_island *island, const ds_step_run *run) {
  const ds_subproblem *p = &island->problem;
  for (int32_t i = 0; i < p->body_count; i++) {
    int32_t body = island->bodies[i];
    const ds_step_body *s = &run->assembly.bodies[body];
    const ds_body_state *state = &run->state->bodies[body];
    ds_scale_velocity(before + p->first[i], s, state->v, state->w, s->rate_before);
  }
  for (int32_t k = 0; k < p->contact_count; k++) {
    double u0[3], u1[3], work = 0;
    if (!(island->r[3 * k] > 0)) continue;
    contact_velocity(u0, p, before, k);
    contact_velocity(u1, p, island->v, k);
    for (int c = 0; c < 3; c++) work += 0.5 * island->r[3 * k + c] * (u0[c] - u1[c]);
    for (int side = 0; side < 2; side++) {
      if (p->body[2 * k + side] < 0) continue;
      excitement *e = &all[island->bodies[p->body[2 * k + side]]];
      e->error += fabs(work);
      e->closing = fmax(e->closing, fabs(u0[0] - u1[0]));
    }
  }
}

static double energy_scale(const ds_step_run *run, int32_t body) {
  const ds_step_deformable *d = ds_step_reduced(&run->assembly.bodies[body]);
  const ds_body *b = &run->scene->bodies[body];
  double m = b->mass.mass, square = 0;
  for (int32_t a = 0; a < d->reduced->r; a++) square += d->rate_before[a] * d->rate_before[a];
  return 0.5 * m * v3_norm2(run->state->bodies[body].v) + 0.5 * square +
         m * v3_norm(run->scene->def.gravity) * b->bounding_radius;
}

/* omega² of a change of rates; zero for none */
static double frequency2(const ds_step_deformable *d, const double *rate) {
  int32_t r = d->reduced->r;
  double square = 0, stiff = 0;
  for (int32_t a = 0; a < r; a++) {
    double da = rate[a] - d->rate_before[a], sum = 0;
    for (int32_t b = 0; b < r; b++) sum += d->tangent[a * r + b] * (rate[b] - d->rate_before[b]);
    square += da * da, stiff += da * sum;
  }
  return square > 0 ? stiff / square : 0;
}

static double parts_of(const ds_step_run *run, int32_t body, excitement e) {
  const ds_step_deformable *d = ds_step_reduced(&run->assembly.bodies[body]);
  double rate[DS_REDUCED_MAX] = {0}, energy, h = run->options->step;
  const ds_step_body *s = &run->assembly.bodies[body];
  ds_vec3 v, w;
  if (s->island < 0) return 1;
  ds_body_velocity(&v, &w, rate, &run->assembly, body);
  for (int32_t a = 0; a < d->reduced->r; a++) {
    double delta = d->newmark.root_delta[a] * d->newmark.root_delta[a], change = rate[a] - d->rate_before[a];
    double x2 = h * h * d->reduced->stiffness[a * (d->reduced->r + 1)];
    e.error += delta * (x2 * rate[a] * rate[a] + change * change);
  }
  double slowest = d->newmark.root_delta[0] * d->newmark.root_delta[0];
  double change = fmin(v3_dist(v, run->state->bodies[body].v), v3_dist(v, s->v)); /* zero at rest */
  e.error += slowest * run->scene->bodies[body].mass.mass * change * change;
  if (d->reduced->quadratic) e.error += fabs(ds_deformable_surprise(&energy, d, rate, h));
  double excess = e.error / (LOSS * energy_scale(run, body)); /* of first order in h: so many parts are enough */
  if (!(excess > 1)) return 1;
  double phase = h * sqrt(fmax(0, frequency2(d, rate))) / PHASE;
  double travel = h * e.closing / (ADVANCE * run->scene->bodies[body].bounding_radius);
  if (h * sqrt(d->reduced->stiffness[0]) > STIFFEST) return 1;
  return fmin(PARTS_MAX, ceil(fmin(excess, fmax(phase, travel))));
}

bool ds_step_parts(int32_t *parts, const ds_step_run *run) {
  const ds_assembly *assembly = &run->assembly;
  *parts = 1;
  if (run->scene->reduced_count == 0 || run->options->deadline > 0 || run->state->hand_count > 0 ||
      run->options->metric != DS_METRIC_EFFECTIVE)
    return true;
  ds_arena *arena = &run->stepper->arena;
  excitement *all = DS_NEW0(arena, excitement, run->scene->body_count + 1);
  for (int32_t i = 0; all && i < assembly->island_count; i++) {
    const ds_island *island = &assembly->islands[i];
    if (!has_deformable(island, assembly)) continue;
    double *before = DS_NEW(arena, double, island->problem.dof + 1);
    if (!before) return false;
    add_contacts(all, before, island, run);
  }
  for (int32_t i = 0; all && i < run->scene->body_count; i++)
    if (ds_step_reduced(&assembly->bodies[i])) *parts = (int32_t)fmax(*parts, parts_of(run, i, all[i]));
  return all != NULL;
}

/* ---- the parts ---- */

static void scale_impulses(ds_state *state, double scale) {
  for (int32_t k = 0; k < state->contact_count; k++)
    state->contacts[k].impulse = v3_scale(scale, state->contacts[k].impulse);
}

ds_status ds_step_in_parts(ds_step_run *run, ds_state *state, int32_t parts, ds_step_part *take) {
  ds_arena *arena = &run->stepper->arena;
  ds_options own = *run->options;
  ds_state kept;
  const ds_options *options = run->options;
  double whole = own.step;
  ds_status status = ds_step_keep(arena, &kept, state) ? DS_OK : DS_ERROR_MEMORY;
  if (status != DS_OK) return status;
  ds_arena_mark mark = ds_arena_get_mark(arena);
  own.step = run->detect.step = whole / parts;
  run->options = &own;
  scale_impulses(state, 1.0 / parts);
  for (int32_t k = 0; k < parts && status == DS_OK; k++) {
    ds_arena_release(arena, mark);
    ds_step_restore_forces(state, &kept);
    status = take(run, state);
    state->step = kept.step;
  }
  run->options = options, run->detect.step = whole;
  if (status != DS_OK) {
    ds_step_restore(state, &kept); /* as it was */
    return status;
  }
  scale_impulses(state, parts); /* as those of the whole step would be */
  ds_state_advance(state, kept.time, kept.time_rest, whole);
  return DS_OK;
}
