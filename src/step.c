/* Stage 0: one step, a call a stage. The report is filled along the way; the state changes in the last stage only. */
#include <math.h>
#include <string.h>

#include "assemble/assemble.h"
#include "assemble/hold.h"
#include "base/array.h"
#include "base/check.h"
#include "base/thread.h"
#include "detect/detect.h"
#include "integrate/integrate.h"
#include "joint/articulate.h"
#include "joint/limit.h"
#include "predict/predict.h"
#include "step/step.h"

/* The state at the start of the step, which stays while the other changes. NULL where memory ran out. */
static ds_state *start_of(ds_arena *arena, const ds_state *state) {
  ds_state *start = DS_NEW(arena, ds_state, 1);
  ds_body_state *bodies = DS_NEW(arena, ds_body_state, state->body_count + 1);
  double *reduced = DS_NEW(arena, double, 2 * (size_t)state->scene->reduced_count + 1);
  if (ds_arena_failed(arena)) return NULL;
  size_t r = (size_t)state->scene->reduced_count;
  *start = *state;
  start->bodies = bodies, start->reduced = reduced, start->reduced_rate = reduced + r;
  memcpy(bodies, state->bodies, (size_t)state->body_count * sizeof *bodies);
  if (r > 0) memcpy(reduced, state->reduced, r * sizeof(double));
  if (r > 0) memcpy(reduced + r, state->reduced_rate, r * sizeof(double));
  return start;
}

/* Where a step fails, or is cancelled, nothing has changed. */
static void restore(ds_state *state, const ds_state *start) {
  size_t r = (size_t)state->scene->reduced_count;
  memcpy(state->bodies, start->bodies, (size_t)state->body_count * sizeof *state->bodies);
  if (r > 0) memcpy(state->reduced, start->reduced, r * sizeof(double));
  if (r > 0) memcpy(state->reduced_rate, start->reduced_rate, r * sizeof(double));
}

/* After the last stage: what the state has besides bodies. */
static ds_status finish(const ds_step_run *run, ds_state *state) {
  double h = run->options->step, wanted = h + state->time_rest, before = state->time; /* Kahan's summation */
  if (!ds_array_reserve(&state->contacts, &state->contact_capacity, run->solved_count, sizeof *state->contacts))
    return DS_ERROR_MEMORY;
  memcpy(state->contacts, run->solved, (size_t)run->solved_count * sizeof *state->contacts);
  state->contact_count = run->solved_count;
  state->reduced_step = h;
  state->time = before + wanted;
  state->time_rest = wanted - (state->time - before);
  state->step++;
  ds_hold_feel(state, &run->assembly, h);
  for (int32_t i = 0; i < run->scene->body_count; i++) state->force[i] = state->torque[i] = v3(0, 0, 0);
  for (int32_t i = 0; i < run->scene->joint_count; i++)
    run->report->joint_drift =
        fmax(run->report->joint_drift, ds_state_joint(run->scene, state, ds_scene_joint(run->scene, i)).gap);
  return DS_OK;
}

static ds_status step(ds_step_run *run, ds_state *state) {
  bool any;
  if (state->step == 0 && run->scene->joint_count > 0) {
    ds_state *fitted = start_of(&run->stepper->arena, state);
    if (!fitted || !ds_step_fit(run, fitted)) return DS_ERROR_MEMORY;
    run->state = fitted;
  }
  ds_status status = ds_step_find(run); /* 1 to 4 */
  if (status != DS_OK) return status;
  if (atomic_exchange_explicit(&run->stepper->stop, false, memory_order_relaxed)) return DS_STOPPED;
  const bool *divided = ds_step_to_divide(run, &any);
  if (!divided || !ds_step_reserve(run) || !ds_step_show(run)) return DS_ERROR_MEMORY;
  ds_step_certify(run, divided);
  if (!ds_step_move(run, state, divided)) return DS_ERROR_MEMORY; /* 5 */
  if (any) status = ds_step_divide(run, state, divided);
  if (any && atomic_exchange_explicit(&run->stepper->stop, false, memory_order_relaxed)) return DS_STOPPED;
  return status == DS_OK ? finish(run, state) : status;
}

ds_status ds_step(ds_stepper *stepper, ds_state *state, ds_step_report *report, const ds_scene *scene,
                  const ds_options *options) {
  DS_CHECK(stepper && state && report && scene && options && scene == state->scene);
  ds_error error;
  if (ds_options_check(options, &error) != DS_OK) return DS_ERROR_INPUT;
  stepper->started = ds_clock();
  memset(report, 0, sizeof *report);
  atomic_store_explicit(&stepper->work, 0, memory_order_relaxed);
  ds_arena_reset(&stepper->arena);
  for (int32_t i = 0; i < ds_pool_size(stepper->pool); i++) ds_arena_reset(&stepper->workers[i]);
  ds_step_run run = {.stepper = stepper, .scene = scene, .options = options, .report = report};
  const ds_state *start = start_of(&stepper->arena, state);
  run.state = start;
  run.slow = options->step * v3_norm(scene->def.gravity);
  run.detect = (ds_detect_options){.step = options->step,
                                   .margin = options->margin,
                                   .contacts_per_face = options->contacts_per_face,
                                   .pool = stepper->pool,
                                   .workers = stepper->workers,
                                   .recall = &state->recall};
  report->energy_before = ds_step_energy(scene, state, options->step);
  report->worst.converged = true;
  ds_status status = run.state ? step(&run, state) : DS_ERROR_MEMORY;
  if (status != DS_OK && start) restore(state, start);
  report->energy_after = ds_step_energy(scene, state, options->step);
  report->step = state->step;
  report->time = state->time;
  return status;
}
