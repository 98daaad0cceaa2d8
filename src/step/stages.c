/* The stages of a step, for all bodies or some of them, over the whole of its time or a part (divide.c). */
#include <math.h>
#include <string.h>

#include "assemble/hold.h"
#include "base/array.h"
#include "base/thread.h"
#include "integrate/integrate.h"
#include "joint/articulate.h"
#include "joint/limit.h"
#include "predict/predict.h"
#include "step/step.h"

enum { LOOKS_AGAIN = 4 };         /* at what the solution runs into, at most */
enum { ROLLINGS = 4 };            /* of where rolling bodies touch, after the first, at most */
static const double ROLLS = 1e-2; /* of a body's speed: by so much it may turn otherwise */
enum { JUDGEMENTS = 8 };          /* of how stiff deformable bodies are, after the first, at most */

ds_status ds_step_solve(ds_step_run *run, const ds_state *warm, double *const *stiffer) {
  ds_stepper *stepper = run->stepper;
  ds_assembly *assembly = &run->assembly;
  const ds_scene *scene = run->scene;
  const ds_options *options = run->options;
  run->clock = ds_clock();
  *assembly = (ds_assembly){.stiffer = stiffer, .active = run->active, .slow = run->slow};
  if (!ds_assemble(&stepper->arena, assembly, scene, warm, &run->contacts, options, stepper->pool)) /* 2 */
    return DS_ERROR_MEMORY;
  ds_step_lap(run, DS_STAGE_ASSEMBLE);
  ds_predict(assembly, scene, warm, options, stepper->pool); /* 3 */
  ds_step_lap(run, DS_STAGE_PREDICT);
  if (!ds_articulate_islands(&stepper->arena, assembly, &run->contacts, scene, warm, options)) return DS_ERROR_MEMORY;
  ds_step_lap(run, DS_STAGE_ASSEMBLE);
  if (!ds_step_watch(run) || !ds_step_project(run, warm)) return DS_ERROR_MEMORY; /* 4 */
  ds_step_lap(run, DS_STAGE_PROJECT);
  return DS_OK;
}

/* Impacts at the contacts that were added; `solved` has the velocities after them. */
static ds_status strike(ds_step_run *run, ds_state *solved) {
  if (!ds_step_strike(run)) return DS_ERROR_MEMORY;
  solved->bodies = run->state->bodies;
  return DS_OK;
}

/* Solves again where the solution runs into something that its contacts do not see. */
static ds_status look_again(ds_step_run *run) {
  for (int32_t look = 0, added; look < LOOKS_AGAIN; look++) {
    ds_state solved;
    ds_status status = ds_step_look_again(run, &solved, &added);
    if (status == DS_OK && added > 0) status = strike(run, &solved);
    if (status == DS_OK && added > 0) status = ds_step_solve(run, &solved, NULL);
    if (status != DS_OK || added == 0 || ds_step_is_late(run)) return status;
    if (ds_step_is_sound(run)) continue;
    ds_relax_ahead(&run->contacts);
    return ds_step_solve(run, run->state, NULL);
  }
  return DS_OK;
}

/* Whether something rolls that turns otherwise than it was thought to; `moving` becomes the velocities found. */
static bool rolls_otherwise(const ds_step_run *run, ds_body_state *moving) {
  const ds_scene *scene = run->scene;
  bool otherwise = false;
  for (int32_t k = 0; k < run->contacts.count; k++) {
    const ds_contact_point *c = &run->contacts.points[k];
    for (int side = 0; side < 2 && c->in_middle[0] && c->in_middle[1] && !otherwise; side++) {
      int32_t i = side == 0 ? c->a : c->b;
      double r = scene->bodies[i].bounding_radius;
      ds_vec3 v, w;
      if (!run->assembly.bodies[i].midpoint) continue;
      ds_body_velocity(&v, &w, NULL, &run->assembly, i);
      otherwise = v3_dist(w, moving[i].w) * r > ROLLS * (v3_norm(v) + v3_norm(w) * r);
    }
  }
  for (int32_t i = 0; otherwise && i < scene->body_count; i++)
    if (run->assembly.bodies[i].midpoint) ds_body_velocity(&moving[i].v, &moving[i].w, NULL, &run->assembly, i);
  return otherwise;
}

/* Solves again where what rolls touches elsewhere in the middle of the step than it was thought to. */
static ds_status roll_on(ds_step_run *run) {
  ds_arena *arena = &run->stepper->arena;
  ds_body_state *moving = DS_NEW(arena, ds_body_state, run->scene->body_count + 1);
  ds_status status = moving ? DS_OK : DS_ERROR_MEMORY;
  if (moving) memcpy(moving, run->state->bodies, (size_t)run->scene->body_count * sizeof *moving);
  for (int k = 0; k < ROLLINGS && status == DS_OK && rolls_otherwise(run, moving); k++) {
    status = ds_detect_middle(arena, &run->contacts, run->scene, run->state, moving, &run->detect);
    if (status == DS_OK) status = ds_step_solve(run, run->state, NULL);
  }
  return status;
}

ds_status ds_step_settle(ds_step_run *run) {
  if (run->scene->reduced_count == 0 || run->options->metric != DS_METRIC_EFFECTIVE) return DS_OK;
  double **stiffer = DS_NEW0(&run->stepper->arena, double *, run->scene->body_count + 1);
  if (!stiffer) return DS_ERROR_MEMORY;
  ds_status status = DS_OK;
  int32_t count = 1;
  for (int k = 0; k < JUDGEMENTS && count > 0 && status == DS_OK && !ds_step_is_late(run); k++) {
    ds_state solved;
    status = ds_step_judge(run, &solved, stiffer, &count);
    if (status == DS_OK && count > 0) status = ds_step_solve(run, &solved, stiffer);
  }
  return status;
}

ds_status ds_step_find(ds_step_run *run) {
  ds_arena *arena = &run->stepper->arena;
  run->clock = ds_clock();
  run->struck_count = 0;
  ds_status status = ds_detect(arena, &run->contacts, run->scene, run->state, &run->detect); /* 1 */
  if (status == DS_OK && !ds_limits_add(arena, &run->contacts, run->scene, run->state, NULL, run->options->step))
    status = DS_ERROR_MEMORY;
  if (status == DS_OK && run->options->integrator == DS_INTEGRATOR_MIDPOINT)
    status = ds_detect_middle(arena, &run->contacts, run->scene, run->state, run->state->bodies, &run->detect);
  ds_step_lap(run, DS_STAGE_DETECT);
  if (status == DS_OK && !ds_step_strike(run)) status = DS_ERROR_MEMORY;
  if (status == DS_OK) status = ds_step_solve(run, run->state, NULL); /* 2 to 4 */
  if (status == DS_OK) status = roll_on(run);
  return status == DS_OK ? look_again(run) : status;
}

bool ds_step_move(ds_step_run *run, ds_state *state, const bool *wait) {
  ds_integration integration;
  ds_step_report *report = run->report;
  run->clock = ds_clock();
  if (!ds_integrate(&run->stepper->arena, state, &integration, run->scene, &run->assembly, &run->contacts, wait,
                    run->options->step))
    return false;
  run->solved = integration.contacts, run->solved_count = run->contacts.count;
  ds_step_add_struck(run);
  if (!run->moved && run->state == &run->kept) report->energy_before = integration.energy;
  run->moved = true;
  report->separation = fmax(report->separation, integration.separation);
  report->stopped_bodies += integration.stopped;
  ds_step_lap(run, DS_STAGE_INTEGRATE);
  return ds_step_node(run, state, wait);
}
