/* The stages of a step, for all bodies or some of them, over the whole of its time or a part (divide.c). */
#include <math.h>

#include "assemble/hold.h"
#include "base/array.h"
#include "base/thread.h"
#include "integrate/integrate.h"
#include "joint/articulate.h"
#include "joint/limit.h"
#include "predict/predict.h"
#include "step/step.h"

enum { LOOKS_AGAIN = 1 }; /* at what the solution runs into, at most */
enum { JUDGEMENTS = 8 };  /* of how stiff deformable bodies are, after the first, at most */

ds_status ds_step_solve(ds_step_run *run, const ds_state *warm, double *const *stiffer) {
  ds_stepper *stepper = run->stepper;
  ds_assembly *assembly = &run->assembly;
  const ds_scene *scene = run->scene;
  const ds_options *options = run->options;
  run->clock = ds_clock();
  *assembly = (ds_assembly){.stiffer = stiffer, .active = run->active, .slow = run->slow};
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

/* Solves again where the solution runs into something that was out of reach. */
static ds_status look_again(ds_step_run *run) {
  ds_status status = DS_OK;
  int32_t added = 1;
  for (int look = 0; look < LOOKS_AGAIN && added > 0 && status == DS_OK; look++) {
    ds_state solved;
    status = ds_step_look_again(run, &solved, &added);
    if (status == DS_OK && added > 0) status = ds_step_solve(run, &solved, NULL);
  }
  return status;
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
    if (status == DS_OK && count > 0) status = ds_step_solve(run, &solved, stiffer);
  }
  return status;
}

ds_status ds_step_find(ds_step_run *run) {
  ds_arena *arena = &run->stepper->arena;
  run->clock = ds_clock();
  ds_status status = ds_detect(arena, &run->contacts, run->scene, run->state, &run->detect); /* 1 */
  if (status == DS_OK && !ds_limits_add(arena, &run->contacts, run->scene, run->state, NULL, run->options->step))
    status = DS_ERROR_MEMORY;
  if (status == DS_OK) status = ds_detect_middle(arena, &run->contacts, run->scene, run->state, &run->detect);
  ds_step_lap(run, DS_STAGE_DETECT);
  if (status == DS_OK) status = ds_step_solve(run, run->state, NULL); /* 2 to 4 */
  if (status == DS_OK) status = look_again(run);
  if (status == DS_OK) status = judge(run);
  return status;
}

bool ds_step_move(ds_step_run *run, ds_state *state, const bool *wait) {
  ds_integration integration;
  ds_step_report *report = run->report;
  run->clock = ds_clock();
  if (!ds_integrate(&run->stepper->arena, state, &integration, run->scene, &run->assembly, &run->contacts, wait,
                    run->options->step))
    return false;
  run->solved = integration.contacts, run->solved_count = run->contacts.count;
  report->separation = fmax(report->separation, integration.separation);
  report->stopped_bodies += integration.stopped;
  ds_step_lap(run, DS_STAGE_INTEGRATE);
  return ds_step_node(run, state, wait);
}
