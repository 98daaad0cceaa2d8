/* Stage 0: one step, a call per stage. The report is filled along the way; the state changes in the last stage only. */
#include <string.h>

#include "assemble/assemble.h"
#include "base/check.h"
#include "base/thread.h"
#include "detect/detect.h"
#include "joint/articulate.h"
#include "joint/limit.h"
#include "predict/predict.h"
#include "project/project.h"
#include "project/restitution.h"
#include "step/step.h"

/* Stage 4 of one island: in coordinates that its joints leave free, with impacts by their laws, or as it is; again for
 * the turns that the solution has, until these do not change. */
static bool project(const ds_step_run *run, const ds_solve *solve, int32_t item, const ds_state *warm) {
  ds_island *island = &run->assembly.islands[item];
  double *start = run->watch ? run->watch[item].start : NULL;
  if (ds_step_glance(run, solve, island)) return !ds_arena_failed(solve->arena);
  ds_certificate work = island->certificate, *of = &island->certificate;
  for (int32_t round = 0; round == 0 || ds_step_turns(run, solve, island, warm, round); round++) {
    if (start) ds_step_watch_start(run, item);
    bool done = island->articulation ? ds_articulation_project(solve, island, start, &run->assembly, warm)
                : island->impact ? ds_project_impact(solve, island->r, island->v, of, &island->problem, island->impact)
                                 : ds_project_island(solve, island->r, island->v, of, &island->problem);
    if (!done) return false;
    ds_certificate_add_work(of, &work);
    work = *of;
  }
  return !ds_arena_failed(solve->arena);
}

bool ds_step_project(ds_step_run *run, const ds_state *warm) { return ds_step_share(run, warm, project); }

static ds_status solve_once(ds_step_run *run, const ds_state *warm, double *const *stiffer) {
  ds_stepper *stepper = run->stepper;
  ds_assembly *assembly = &run->assembly;
  const ds_scene *scene = run->scene;
  const ds_options *options = run->options;
  run->clock = ds_clock();
  ds_step_count_unused(run);
  *assembly = (ds_assembly){.stiffer = stiffer, .active = run->active, .adrift = run->adrift, .slow = run->slow};
  if (!ds_assemble(&stepper->arena, assembly, scene, warm, &run->contacts, options, stepper->pool)) /* 2 */
    return DS_ERROR_MEMORY;
  run->counted = false;
  ds_step_lap(run, DS_STAGE_ASSEMBLE);
  ds_predict(assembly, scene, warm, options, stepper->pool); /* 3 */
  for (int32_t i = 0; run->found && i < assembly->island_count; i++)
    ds_refine_about(&assembly->islands[i], assembly, &run->contacts, scene, warm, options, run->found);
  ds_step_lap(run, DS_STAGE_PREDICT);
  if (!ds_articulate_islands(&stepper->arena, assembly, &run->contacts, scene, warm, options)) return DS_ERROR_MEMORY;
  ds_step_lap(run, DS_STAGE_ASSEMBLE);
  if (!ds_step_watch(run) || !ds_step_share(run, warm, project)) return DS_ERROR_MEMORY; /* 4 */
  ds_step_lap(run, DS_STAGE_PROJECT);
  return DS_OK;
}

ds_status ds_step_solve(ds_step_run *run, const ds_state *warm, double *const *stiffer) {
  ds_status status = solve_once(run, warm, stiffer);
  if (status != DS_OK || run->options->integrator != DS_INTEGRATOR_AUTO || !ds_step_is_adrift(run)) return status;
  return solve_once(run, warm, stiffer); /* by the other rule */
}

ds_status ds_step_find(ds_step_run *run) {
  ds_arena *arena = &run->stepper->arena;
  run->clock = ds_clock();
  run->struck_count = 0;
  run->found = NULL;
  run->adrift = DS_NEW0(arena, bool, run->scene->body_count + 1);
  if (!run->adrift) return DS_ERROR_MEMORY;
  ds_status status = ds_detect(arena, &run->contacts, run->scene, run->state, &run->detect); /* 1 */
  if (status == DS_OK && !ds_limits_add(arena, &run->contacts, run->scene, run->state, NULL, run->options->step))
    status = DS_ERROR_MEMORY;
  if (status == DS_OK && ds_moves_by_midpoint(run->options))
    status = ds_detect_middle(arena, &run->contacts, run->scene, run->state, run->state->bodies, &run->detect);
  ds_step_lap(run, DS_STAGE_DETECT);
  if (status == DS_OK && !(ds_step_leave_far(run) && ds_step_strike(run))) status = DS_ERROR_MEMORY;
  if (status == DS_OK) status = ds_step_solve(run, run->state, NULL); /* 2 to 4 */
  if (status == DS_OK) status = ds_step_pass_by(run);
  if (status == DS_OK) status = ds_step_roll_on(run);
  return status == DS_OK ? ds_step_look_again(run) : status;
}

static ds_status finish(ds_step_run *run, ds_state *state) {
  ds_status status = ds_step_settle(run);
  if (status == DS_OK) status = ds_step_finish(run, state); /* 5 */
  if (status != DS_OK || !ds_step_is_accepted(run) || ds_step_show(run)) return status;
  ds_step_restore(state, &run->kept);
  return DS_ERROR_MEMORY;
}

/* All stages of a part of a step. */
static ds_status take(ds_step_run *run, ds_state *state) {
  ds_status status = ds_step_begin(run, state) ? ds_step_find(run) : DS_ERROR_MEMORY;
  return status == DS_OK ? finish(run, state) : status;
}

ds_status ds_step(ds_stepper *stepper, ds_state *state, ds_step_report *report, const ds_scene *scene,
                  const ds_options *options) {
  DS_CHECK(stepper && state && report && scene && options && scene == state->scene);
  ds_error error;
  if (ds_options_check(options, &error) != DS_OK) return DS_ERROR_INPUT;
  ds_stepper_begin(stepper);
  memset(report, 0, sizeof *report);
  report->worst.converged = true;
  ds_step_run run = {.stepper = stepper, .scene = scene, .state = state, .options = options, .report = report};
  run.slow = options->step * v3_norm(scene->def.gravity);
  run.detect = (ds_detect_options){
      .step = options->step,
      .margin = options->stabilization == DS_STABILIZE_ENVELOPE && options->envelope > options->margin
                    ? options->envelope
                    : options->margin,
      .contacts_per_face = options->contacts_per_face,
      .pool = stepper->pool,
      .workers = stepper->workers,
      .recall = &state->recall};
  report->energy_before = ds_step_energy(scene, state);
  run.spent = DS_NEW0(&stepper->arena, double, scene->body_count + 1);
  int32_t parts = 1;
  ds_status status = run.spent && ds_step_begin(&run, state) ? ds_step_find(&run) : DS_ERROR_MEMORY; /* 1 to 4 */
  if (status == DS_OK && !ds_step_parts(&parts, &run)) status = DS_ERROR_MEMORY;
  if (status == DS_OK) status = ds_step_try(&run, state, parts, finish, take); /* 5 */
  if (status != DS_OK) report->worst.converged = false;
  report->energy_after = ds_step_energy(scene, state);
  ds_step_range(report, state);
  report->step = state->step;
  report->time = state->time;
  return status;
}
