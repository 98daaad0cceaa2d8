/* Stage 0: one step, a call a stage. The report is filled along the way; the state changes in the last stage only. */
#include <string.h>

#include "assemble/assemble.h"
#include "base/check.h"
#include "base/thread.h"
#include "detect/detect.h"
#include "joint/articulate.h"
#include "joint/limit.h"
#include "predict/predict.h"
#include "step/step.h"

/* Stages 1 to 4, from a copy of the state that stays while the other changes. */
static ds_status solve(ds_step_run *run, const ds_state *state) {
  bool fits = !ds_moves_by_midpoint(run->options) || run->scene->joint_count == 0 || state->step > 0;
  run->state = &run->kept;
  if (!ds_step_keep(&run->stepper->arena, &run->kept, state) || (!fits && !ds_step_fit(run))) return DS_ERROR_MEMORY;
  return ds_step_find(run);
}

static ds_status finish(ds_step_run *run, ds_state *state) {
  ds_status status = ds_step_settle(run);
  if (status == DS_OK) status = ds_step_finish(run, state); /* 5 */
  if (status != DS_OK || !ds_step_is_accepted(run) || ds_step_show(run)) return status;
  ds_step_restore(state, &run->kept);
  return DS_ERROR_MEMORY;
}

/* All stages of a step, or of a part of it. */
static ds_status take(ds_step_run *run, ds_state *state) {
  ds_status status = solve(run, state);
  return status == DS_OK ? finish(run, state) : status;
}

static ds_status step(ds_step_run *run, ds_state *state) {
  int32_t parts = 1;
  ds_status status = solve(run, state);
  if (status == DS_OK && !ds_step_parts(&parts, run)) status = DS_ERROR_MEMORY;
  return status == DS_OK ? ds_step_try(run, state, parts, finish, take) : status;
}

ds_status ds_step(ds_stepper *stepper, ds_state *state, ds_step_report *report, const ds_scene *scene,
                  const ds_options *options) {
  DS_CHECK(stepper && state && report && scene && options && scene == state->scene);
  ds_error error;
  if (ds_options_check(options, &error) != DS_OK) return DS_ERROR_INPUT;
  stepper->started = ds_clock();
  memset(report, 0, sizeof *report);
  report->worst.converged = true;
  atomic_store_explicit(&stepper->work, 0, memory_order_relaxed);
  ds_arena_reset(&stepper->arena);
  for (int32_t i = 0; i < ds_pool_size(stepper->pool); i++) ds_arena_reset(&stepper->workers[i]);
  ds_step_run run = {.stepper = stepper, .scene = scene, .state = state, .options = options, .report = report};
  run.slow = options->step * v3_norm(scene->def.gravity);
  run.detect = (ds_detect_options){.step = options->step,
                                   .margin = options->margin,
                                   .contacts_per_face = options->contacts_per_face,
                                   .pool = stepper->pool,
                                   .workers = stepper->workers,
                                   .recall = &state->recall};
  report->energy_before = ds_step_energy(scene, state, options->step);
  ds_status status = step(&run, state);
  if (status != DS_OK) report->worst.converged = false;
  report->energy_after = ds_step_energy(scene, state, options->step);
  ds_step_range(report, state);
  report->step = state->step;
  report->time = state->time;
  return status;
}
