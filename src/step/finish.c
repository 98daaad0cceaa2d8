/* The end of a step: what was solved is certified, and takes place. By the midpoint rule (predict/midpoint.c) some
 * islands move in parts up to an impact (divide.c), and bodies get the velocities of the end (node.c). */
#include <math.h>
#include <string.h>

#include "assemble/hold.h"
#include "base/array.h"
#include "integrate/integrate.h"
#include "step/step.h"

/* What the state has besides bodies. */
static ds_status take_over(const ds_step_run *run, ds_state *state) {
  const ds_scene *scene = run->scene;
  double h = run->options->step, *drift = &run->report->joint_drift;
  if (!ds_array_reserve(&state->contacts, &state->contact_capacity, run->solved_count, sizeof *state->contacts))
    return DS_ERROR_MEMORY;
  if (run->solved_count > 0) memcpy(state->contacts, run->solved, (size_t)run->solved_count * sizeof *state->contacts);
  state->contact_count = run->solved_count;
  state->reduced_step = h;
  for (int32_t i = 0; i < scene->body_count; i++) state->force[i] = state->torque[i] = v3(0, 0, 0);
  ds_state_advance(state, state->time, state->time_rest, h);
  ds_hold_feel(state, &run->assembly, h);
  for (int32_t i = 0; i < scene->joint_count; i++)
    *drift = fmax(*drift, ds_state_joint(scene, state, ds_scene_joint(scene, i)).gap);
  return DS_OK;
}

bool ds_step_move(ds_step_run *run, ds_state *state, const bool *wait) {
  ds_integration integration;
  ds_step_report *report = run->report;
  run->clock = ds_clock();
  if (!ds_integrate(&run->stepper->arena, state, &integration, run->scene, &run->assembly, &run->contacts, wait,
                    run->options->step))
    return false;
  run->swing = integration.swing, run->energies = integration.energies;
  run->solved = integration.contacts, run->solved_count = run->contacts.count;
  ds_step_add_struck(run);
  if (!run->moved && run->state == &run->kept) report->energy_before = integration.energy;
  run->moved = true;
  report->separation = fmax(report->separation, integration.separation);
  report->stopped_bodies += integration.stopped;
  ds_step_lap(run, DS_STAGE_INTEGRATE);
  return ds_step_node(run, state, wait);
}

static ds_status move(ds_step_run *run, ds_state *state) {
  bool any;
  const bool *divided = ds_step_to_divide(run, &any);
  if (!divided || !ds_step_reserve(run)) return DS_ERROR_MEMORY;
  ds_step_open_certificates(run, divided);
  if (!ds_step_move(run, state, divided)) return DS_ERROR_MEMORY;
  ds_status status = any ? ds_step_divide(run, state, divided) : DS_OK;
  if (any && ds_step_is_stopped(run)) return DS_STOPPED;
  ds_step_certify(run);
  if (status == DS_OK) status = take_over(run, state);
  return status == DS_OK ? ds_step_motion(run, state) : status;
}

ds_status ds_step_finish(ds_step_run *run, ds_state *state) {
  if (ds_step_is_stopped(run)) return DS_STOPPED;
  memcpy(state->bodies, run->state->bodies, (size_t)state->body_count * sizeof *state->bodies); /* as fitted */
  ds_status status = move(run, state);
  if (status != DS_OK) ds_step_restore(state, &run->kept);
  return status;
}
