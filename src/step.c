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

enum { LOOKS_AGAIN = 4 }; /* at what the solution runs into, at most */
enum { JUDGEMENTS = 8 };  /* of how stiff deformable bodies are, after the first, at most */

/* Stages 2 to 4 for given contacts; `warm` is the state with the contacts that the impulses start from, `stiffer` what
 * the stiffness of deformable bodies lacks, or NULL. */
static ds_status solve(ds_step_run *run, const ds_state *warm, double *const *stiffer) {
  ds_stepper *stepper = run->stepper;
  ds_assembly *assembly = &run->assembly;
  const ds_scene *scene = run->scene;
  const ds_options *options = run->options;
  run->clock = ds_clock();
  *assembly = (ds_assembly){.stiffer = stiffer};
  if (!ds_assemble(&stepper->arena, assembly, scene, warm, &run->contacts, options, stepper->pool) || /* 2 */
      !ds_articulate_islands(&stepper->arena, assembly, &run->contacts, scene, warm, options))
    return DS_ERROR_MEMORY;
  ds_step_lap(run, DS_STAGE_ASSEMBLE);
  ds_predict(assembly, scene, warm, options, stepper->pool); /* 3 */
  ds_step_lap(run, DS_STAGE_PREDICT);
  if (!ds_step_watch(run) || !ds_step_project(run, warm)) return DS_ERROR_MEMORY; /* 4 */
  ds_step_lap(run, DS_STAGE_PROJECT);
  return DS_OK;
}

/* Solves again where the solution runs into something that its contacts do not see. */
static ds_status look_again(ds_step_run *run) {
  for (int32_t look = 0, added; look < LOOKS_AGAIN; look++) {
    ds_state solved;
    ds_status status = ds_step_look_again(run, &solved, &added);
    if (status == DS_OK && added > 0) status = solve(run, &solved, NULL);
    if (status != DS_OK || added == 0 || ds_step_is_late(run)) return status;
    if (ds_step_is_sound(run)) continue;
    ds_relax_ahead(&run->contacts);
    return solve(run, run->state, NULL);
  }
  return DS_OK;
}

/* Solves again until no deformable body was misjudged. */
static ds_status judge(ds_step_run *run) {
  if (run->scene->reduced_count == 0 || run->options->metric != DS_METRIC_EFFECTIVE) return DS_OK;
  double **stiffer = DS_NEW0(&run->stepper->arena, double *, run->scene->body_count + 1);
  if (!stiffer) return DS_ERROR_MEMORY;
  ds_status status = DS_OK;
  int32_t count = 1;
  for (int k = 0; k < JUDGEMENTS && count > 0 && status == DS_OK && !ds_step_is_late(run); k++) {
    ds_state solved;
    status = ds_step_judge(run, &solved, stiffer, &count);
    if (status == DS_OK && count > 0) status = solve(run, &solved, stiffer);
  }
  return status;
}

/* Stages 1 to 4 */
static ds_status solve_all(ds_step_run *run, ds_state *state) {
  ds_arena *arena = &run->stepper->arena;
  run->clock = ds_clock();
  ds_status status = ds_detect(arena, &run->contacts, run->scene, state, &run->detect); /* 1 */
  if (status == DS_OK && !ds_limits_add(arena, &run->contacts, run->scene, state, NULL, run->options->step))
    status = DS_ERROR_MEMORY;
  ds_step_lap(run, DS_STAGE_DETECT);
  if (status == DS_OK) status = solve(run, state, NULL); /* 2 to 4 */
  return status == DS_OK ? look_again(run) : status;
}

static ds_status finish(ds_step_run *run, ds_state *state) {
  ds_status status = judge(run);
  return status == DS_OK ? ds_step_finish(run, state) : status; /* 5 */
}

/* All stages of a step, or of a part of it. */
static ds_status take(ds_step_run *run, ds_state *state) {
  ds_status status = solve_all(run, state);
  return status == DS_OK ? finish(run, state) : status;
}

static ds_status step(ds_step_run *run, ds_state *state) {
  int32_t parts = 1;
  ds_status status = solve_all(run, state);
  if (status == DS_OK && !ds_step_parts(&parts, run)) status = DS_ERROR_MEMORY;
  if (status != DS_OK) return status;
  run->report->parts = parts;
  return parts > 1 ? ds_step_in_parts(run, state, parts, take) : finish(run, state);
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
