/* The motion of a step against mechanics: not the problem that was solved, but what has happened.
 *
 * Of every island, and of every body that touches nothing, from the states before and after and the impulses between:
 *
 *   gain = K + V after - before - W, where more than zero: energy that nothing accounts for. W is the work of applied
 *   forces, of drives and of scripted bodies: impulse . displacement of the point / h.
 *
 *   momentum = |P after - before - h (m g + f) - impulses from outside|.
 *
 * Both are relative to what a step of free fall does, m (|v| + h g)² / 2 and m (|v| + h g), so that they say the same
 * at rest and in motion. Besides, of contacts that stuck before and stick now, how far their points have slipped: in
 * the frame of the other body, which may turn.
 *
 * Velocities of deformable bodies are means of steps of h and, before it, k: their energies are those in the middles of
 * both, between which gravity acts for (h + k)/2 and forces and scripted bodies do the mean of what they do in either.
 *
 * Not checked are: the energy where a hand holds or a joint leads to a scripted body, whose work is not known, and
 * where restitution acts with friction, unless by a law that cannot raise it (project/restitution.c); the momentum
 * where a hand or a joint to what does not move, or damping, takes a share that is not known. */
#include <math.h>

#include "body/scene.h"
#include "step/step.h"

static const double GAIN = 0.01; /* share up to which a gain passes */

typedef struct balance {
  double gain, energy; /* J: so far unexplained, and the scale */
  ds_vec3 momentum;    /* N s, likewise */
  double mass, speed;  /* kg m/s: sum of m |v| */
  bool open_energy, open_momentum, any, deforms;
  bool driven; /* by joints, drives, limits or what is scripted */
} balance;

/* Where in the list of balances a body is. */
static int32_t place_of(const ds_step_run *run, int32_t body) {
  int32_t island = run->assembly.bodies[body].island;
  return island >= 0 ? island : run->assembly.island_count + body;
}

/* How far the point of a body that was at `point` at the start has come. */
static ds_vec3 displacement_of(const ds_body_state *before, const ds_body_state *after, ds_vec3 point) {
  ds_vec3 local = quat_unrotate(before->q, v3_sub(point, before->x));
  return v3_sub(v3_add(after->x, quat_rotate(after->q, local)), point);
}

/* The mean velocity of a point of a body that nothing pushes in the step before, as those of deformable bodies are. */
static ds_vec3 velocity_before(const ds_step_run *run, int32_t i, ds_vec3 point) {
  const ds_body *body = &run->scene->bodies[i];
  const ds_body_state *s = &run->state->bodies[i];
  double k = run->state->reduced_step, now = run->state->time;
  ds_vec3 v = s->v, w = s->w;
  if (body->ops->script && k > 0)
    ds_velocity_between(&v, &w, body->ops->script(body, now - k), body->ops->script(body, now), k);
  return v3_add(v, v3_cross(w, v3_sub(point, s->x)));
}

static void add_body(balance *b, const ds_step_run *run, const ds_state *after, int32_t i) {
  const ds_body *body = &run->scene->bodies[i];
  const ds_state *before = run->struck_count > 0 ? &run->kept : run->state; /* impulses are those of impacts too */
  const ds_body_state *s0 = &before->bodies[i], *s1 = &after->bodies[i];
  double h = run->options->step, m = body->mass.mass;
  ds_vec3 g = run->scene->def.gravity, force = v3_add(body->def.force, run->state->force[i]);
  ds_vec3 torque = v3_add(body->def.torque, run->state->torque[i]), v, turn;
  ds_energy e0 = before == run->state ? run->energies[i] : ds_body_energy(before, i), e1 = ds_body_energy(after, i);
  ds_velocity_between(&v, &turn, ds_principal_pose(s0), ds_principal_pose(s1), 1);
  double falls = h; /* how long gravity acts between the velocities: those of deformable bodies are means of steps */
  if (body->reduced) {
    falls = 0.5 * (h + before->reduced_step);
    v = v3_scale(0.5 * h, v3_add(s0->v, s1->v)), turn = v3_scale(0.5 * h, v3_add(s0->w, s1->w));
  }
  b->any = true;
  b->gain += e1.kinetic + e1.potential + e1.elastic - (e0.kinetic + e0.potential + e0.elastic);
  b->gain -= v3_dot(force, v) + v3_dot(torque, turn);
  b->energy += fmax(e0.kinetic + e0.elastic, e1.kinetic + e1.elastic) + 0.5 * m * h * h * v3_norm2(g);
  b->momentum = v3_add(b->momentum, v3_sub(v3_scale(m, v3_mad(v3_sub(s1->v, s0->v), -falls, g)), v3_scale(h, force)));
  b->mass += m;
  b->speed += m * (fmax(v3_norm(s0->v), v3_norm(s1->v)) + h * v3_norm(g));
  bool held = run->assembly.bodies[i].hold != NULL;
  b->deforms |= body->reduced != NULL;
  b->open_energy |= held;
  b->open_momentum |= held || body->def.linear_damping > 0;
}

/* What an impulse from outside does to the island of body `i`, and what one within does that brings work with it. */
static void add_contact(balance *all, const ds_step_run *run, const ds_state *after, const ds_contact *c) {
  int32_t index[2] = {ds_index(c->a), ds_index(c->b)};
  const ds_step_body *bodies = run->assembly.bodies;
  double h = run->options->step;
  bool rebounds = c->restitution > 0 && !ds_restitution_is_bounded(run->options->restitution_law);
  bool drive = ds_feature_is_drive(c->feature), within = bodies[index[0]].moves && bodies[index[1]].moves;
  for (int side = 0; side < 2; side++) {
    int32_t i = index[side], other = index[1 - side];
    if (!bodies[i].moves) continue;
    balance *b = &all[place_of(run, i)];
    ds_vec3 impulse = v3_scale(side == 0 ? 1 : -1, c->impulse);
    int32_t worker = drive ? i : other;
    b->open_energy |= rebounds && c->mu > 0 && v3_norm2(c->impulse) > 0;
    if (!within) b->momentum = v3_sub(b->momentum, impulse);
    b->driven |= drive || ds_feature_is_limit(c->feature) || run->scene->bodies[other].ops->script != NULL;
    if (!drive && within) continue;
    ds_vec3 displacement = displacement_of(&run->state->bodies[worker], &after->bodies[worker], c->point);
    if (run->scene->bodies[i].reduced)
      displacement = v3_scale(0.5, v3_mad(displacement, h, velocity_before(run, worker, c->point)));
    b->gain -= v3_dot(impulse, displacement) / h;
  }
}

static void mark_joints(balance *all, const ds_step_run *run) {
  const ds_scene *scene = run->scene;
  for (int32_t k = 0; k < scene->joint_count; k++) {
    int32_t index[2] = {scene->joints[k].a, scene->joints[k].b};
    for (int side = 0; side < 2; side++) {
      if (run->assembly.bodies[index[side]].moves) all[place_of(run, index[side])].driven = true;
      if (!run->assembly.bodies[index[side]].moves || run->assembly.bodies[index[1 - side]].moves) continue;
      balance *b = &all[place_of(run, index[side])];
      b->open_momentum = true;
      b->open_energy |= scene->bodies[index[1 - side]].ops->script != NULL;
    }
  }
}

/* The largest slip of contacts that stuck before. Both lists are in order. */
static double slip_of(const ds_step_run *run, const ds_state *after) {
  const ds_contact *before = run->kept.contacts, *end = before + run->kept.contact_count;
  double worst = 0;
  for (const ds_contact *c = after->contacts; c < after->contacts + after->contact_count; c++) {
    int32_t a = ds_index(c->a), b = ds_index(c->b);
    int order = -1;
    while (before < end &&
           (order = ds_compare_names(ds_index(before->a), ds_index(before->b), before->feature, a, b, c->feature)) < 0)
      before++;
    if (order != 0 || before == end || before->mode != DS_CONTACT_STICK || c->mode != DS_CONTACT_STICK) continue;
    if (ds_feature_is_drive(c->feature) || run->scene->bodies[a].reduced || run->scene->bodies[b].reduced) continue;
    ds_vec3 apart = v3_sub(displacement_of(&run->state->bodies[a], &after->bodies[a], c->point),
                           displacement_of(&run->state->bodies[b], &after->bodies[b], c->point));
    worst = fmax(worst, v3_norm(v3_mad(apart, -v3_dot(apart, c->normal), c->normal)));
  }
  return worst;
}

static bool is_finite(const ds_state *state) {
  bool finite = true;
  for (int32_t i = 0; i < state->body_count; i++) {
    const ds_body_state *s = &state->bodies[i];
    finite &= v3_finite(s->x) && v3_finite(s->v) && v3_finite(s->w) && isfinite(s->q.w + s->q.x + s->q.y + s->q.z);
  }
  for (int32_t i = 0; i < state->scene->reduced_count; i++)
    finite &= isfinite(state->reduced[i]) && isfinite(state->reduced_rate[i]);
  return finite;
}

/* Takes from an island what it has gained; velocities keep their directions, so that contacts stay closed or open.
 * Deformable bodies that have gained more than can be taken from velocities get their shape at the start back; rigid
 * ones that were missed, and that nothing drives, their places. */
static void slow_down(const ds_step_run *run, ds_state *after, const balance *b, int32_t place) {
  double kinetic = 0;
  for (int32_t i = 0; i < run->scene->body_count; i++)
    if (run->assembly.bodies[i].moves && place_of(run, i) == place) kinetic += ds_body_energy(after, i).kinetic;
  double keep = kinetic > b->gain ? sqrt(1 - b->gain / kinetic) : 0;
  bool back = keep == 0 && !b->deforms && !b->driven && place < run->assembly.island_count &&
              !run->stepper->islands[place].converged;
  for (int32_t i = 0; i < run->scene->body_count; i++) {
    const ds_body_state *before = &run->state->bodies[i];
    if (!run->assembly.bodies[i].moves || place_of(run, i) != place) continue;
    after->bodies[i].v = v3_scale(keep, after->bodies[i].v);
    after->bodies[i].w = v3_scale(keep, after->bodies[i].w);
    if (back) after->bodies[i].x = before->x, after->bodies[i].q = before->q;
    for (int32_t a = 0, k = run->scene->bodies[i].first_reduced; a < run->scene->bodies[i].r; a++, k++) {
      after->reduced_rate[k] *= keep;
      if (keep == 0) after->reduced[k] = run->state->reduced[k];
    }
  }
}

/* Whether what an island gains is the error of its solution, which was missed or is a loose one. Other gains of rigid
 * bodies are the rule's own, which takes them back, or those of drives and rebounds to the order of the step, which a
 * loose solution may have too where something is driven; those of deformable bodies are known only roughly. */
static bool is_of_solution(const ds_step_run *run, const balance *b, int32_t place) {
  if (place >= run->assembly.island_count || b->deforms) return false;
  const ds_certificate *c = &run->stepper->islands[place];
  return !c->converged || (!b->driven && c->natural_error > ds_options_tolerance(run->options));
}

/* A gain that is kept out of the state, or goes to the report. */
static void judge_gain(const ds_step_run *run, ds_state *after, const balance *b, int32_t place) {
  ds_motion *motion = &run->report->motion;
  bool guarded = ds_step_is_guarded(run->options), passes = b->gain <= GAIN * b->energy;
  if (b->open_energy || !(b->gain > 0)) return;
  if (guarded && passes && is_of_solution(run, b, place)) {
    slow_down(run, after, b, place);
    return;
  }
  motion->gain = fmax(motion->gain, b->gain);
  motion->gain_share = fmax(motion->gain_share, b->gain / b->energy);
  if (!run->last_try || !guarded || passes) return;
  slow_down(run, after, b, place);
  motion->limited++;
}

ds_status ds_step_motion(const ds_step_run *run, ds_state *after) {
  int32_t count = run->assembly.island_count + run->scene->body_count;
  balance *all = DS_NEW0(&run->stepper->arena, balance, count + 1);
  ds_motion *motion = &run->report->motion;
  if (!all) return DS_ERROR_MEMORY;
  if (!is_finite(after)) return DS_ERROR_NOT_FINITE;
  for (int32_t i = 0; i < run->scene->body_count; i++)
    if (run->assembly.bodies[i].moves) add_body(&all[place_of(run, i)], run, after, i);
  for (int32_t k = 0; k < after->contact_count; k++) add_contact(all, run, after, &after->contacts[k]);
  mark_joints(all, run);
  for (balance *b = all; b < all + count; b++) {
    if (!b->any) continue;
    b->gain -= run->swing[b - all];
    if (!isfinite(b->gain) || !isfinite(b->speed)) return DS_ERROR_NOT_FINITE;
    motion->unjudged += b->open_energy;
    judge_gain(run, after, b, (int32_t)(b - all));
    if (!b->open_momentum && b->speed > 0)
      motion->momentum_share = fmax(motion->momentum_share, v3_norm(b->momentum) / b->speed);
  }
  motion->slip = fmax(motion->slip, slip_of(run, after));
  motion->passed = motion->gain_share <= GAIN;
  return DS_OK;
}
