/* A step by the midpoint rule (predict/midpoint.c): bodies move, some of them in parts up to an impact (divide.c), and
 * get the velocities of the end (node.c). */
#include <math.h>
#include <string.h>

#include "assemble/hold.h"
#include "base/array.h"
#include "integrate/integrate.h"
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

bool ds_step_begin_midpoint(ds_step_run *run, const ds_state *state) {
  ds_state *start = start_of(&run->stepper->arena, state);
  run->state = start;
  return start && (state->step > 0 || run->scene->joint_count == 0 || ds_step_fit(run, start));
}

/* After the last stage: what the state has besides bodies. */
static ds_status take_over(const ds_step_run *run, ds_state *state) {
  double h = run->options->step;
  if (!ds_array_reserve(&state->contacts, &state->contact_capacity, run->solved_count, sizeof *state->contacts))
    return DS_ERROR_MEMORY;
  if (run->solved_count > 0) memcpy(state->contacts, run->solved, (size_t)run->solved_count * sizeof *state->contacts);
  state->contact_count = run->solved_count;
  state->reduced_step = h;
  ds_state_advance(state, state->time, state->time_rest, h);
  ds_hold_feel(state, &run->assembly, h);
  for (int32_t i = 0; i < run->scene->body_count; i++) state->force[i] = state->torque[i] = v3(0, 0, 0);
  for (int32_t i = 0; i < run->scene->joint_count; i++)
    run->report->joint_drift =
        fmax(run->report->joint_drift, ds_state_joint(run->scene, state, ds_scene_joint(run->scene, i)).gap);
  return DS_OK;
}

static ds_status move(ds_step_run *run, ds_state *state) {
  bool any;
  const bool *divided = ds_step_to_divide(run, &any);
  if (!divided || !ds_step_reserve(run) || !ds_step_show(run)) return DS_ERROR_MEMORY;
  ds_step_certify(run, divided);
  if (!ds_step_move(run, state, divided)) return DS_ERROR_MEMORY;
  ds_status status = any ? ds_step_divide(run, state, divided) : DS_OK;
  if (any && atomic_exchange_explicit(&run->stepper->stop, false, memory_order_relaxed)) return DS_STOPPED;
  return status == DS_OK ? take_over(run, state) : status;
}

ds_status ds_step_finish_midpoint(ds_step_run *run, ds_state *state) {
  size_t r = (size_t)state->scene->reduced_count;
  if (atomic_exchange_explicit(&run->stepper->stop, false, memory_order_relaxed)) return DS_STOPPED;
  ds_body_state *bodies = DS_NEW(&run->stepper->arena, ds_body_state, state->body_count + 1);
  if (!bodies) return DS_ERROR_MEMORY;
  memcpy(bodies, state->bodies, (size_t)state->body_count * sizeof *bodies);
  ds_status status = move(run, state);
  if (status == DS_OK) return DS_OK;
  memcpy(state->bodies, bodies, (size_t)state->body_count * sizeof *bodies);
  if (r > 0) memcpy(state->reduced, run->state->reduced, r * sizeof(double));
  if (r > 0) memcpy(state->reduced_rate, run->state->reduced_rate, r * sizeof(double));
  state->reduced_step = run->state->reduced_step;
  return status;
}
