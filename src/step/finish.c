/* The end of a step: what was solved is certified, and takes place. */
#include <math.h>
#include <string.h>

#include "assemble/hold.h"
#include "base/array.h"
#include "integrate/integrate.h"
#include "step/step.h"

/* Stage 5: from here on the state changes, or memory ran out and it is as it was. */
static ds_status integrate(ds_step_run *run, ds_state *state) {
  ds_integration integration;
  ds_step_report *report = run->report;
  run->clock = ds_clock();
  if (!ds_integrate(&run->stepper->arena, state, &integration, run->scene, &run->assembly, &run->contacts, NULL,
                    run->options->step))
    return DS_ERROR_MEMORY;
  if (run->contacts.count > 0)
    memcpy(state->contacts, integration.contacts, (size_t)run->contacts.count * sizeof *state->contacts);
  state->contact_count = run->contacts.count;
  for (int32_t i = 0; i < run->scene->body_count; i++) state->force[i] = state->torque[i] = v3(0, 0, 0);
  ds_state_advance(state, state->time, state->time_rest, run->options->step);
  ds_hold_feel(state, &run->assembly, run->options->step);
  for (int32_t i = 0; i < run->scene->joint_count; i++)
    report->joint_drift =
        fmax(report->joint_drift, ds_state_joint(run->scene, state, ds_scene_joint(run->scene, i)).gap);
  if (!run->moved) report->energy_before = integration.energy;
  run->moved = true;
  report->separation = fmax(report->separation, integration.separation);
  report->stopped_bodies += integration.stopped;
  ds_step_lap(run, DS_STAGE_INTEGRATE);
  return DS_OK;
}

ds_status ds_step_finish(ds_step_run *run, ds_state *state) {
  if (atomic_exchange_explicit(&run->stepper->stop, false, memory_order_relaxed)) return DS_STOPPED;
  if (!ds_array_reserve(&state->contacts, &state->contact_capacity, run->contacts.count, sizeof *state->contacts) ||
      !ds_step_reserve(run) || !ds_step_show(run))
    return DS_ERROR_MEMORY;
  ds_step_certify(run, NULL);
  return integrate(run, state);
}
