/* What a step changes of a state, copied before it changes, and put back where the step fails. */
#include <string.h>

#include "step/step.h"

static void *copy_of(ds_arena *arena, const void *data, size_t bytes) {
  void *copy = DS_NEW(arena, char, bytes + 1);
  if (copy && bytes > 0) memcpy(copy, data, bytes);
  return copy;
}

bool ds_step_keep(ds_arena *arena, ds_state *kept, const ds_state *state) {
  size_t bodies = (size_t)state->body_count, reduced = (size_t)state->scene->reduced_count * sizeof(double);
  *kept = *state;
  kept->bodies = copy_of(arena, state->bodies, bodies * sizeof *state->bodies);
  kept->force = copy_of(arena, state->force, bodies * sizeof *state->force);
  kept->torque = copy_of(arena, state->torque, bodies * sizeof *state->torque);
  kept->reduced = copy_of(arena, state->reduced, reduced);
  kept->reduced_rate = copy_of(arena, state->reduced_rate, reduced);
  kept->contacts = copy_of(arena, state->contacts, (size_t)state->contact_count * sizeof *state->contacts);
  return !ds_arena_failed(arena);
}

void ds_step_restore_forces(ds_state *state, const ds_state *kept) {
  memcpy(state->force, kept->force, (size_t)state->body_count * sizeof *state->force);
  memcpy(state->torque, kept->torque, (size_t)state->body_count * sizeof *state->torque);
}

void ds_step_restore(ds_state *state, const ds_state *kept) {
  size_t bodies = (size_t)state->body_count, reduced = (size_t)state->scene->reduced_count * sizeof(double);
  memcpy(state->bodies, kept->bodies, bodies * sizeof *state->bodies);
  if (reduced > 0) memcpy(state->reduced, kept->reduced, reduced);
  if (reduced > 0) memcpy(state->reduced_rate, kept->reduced_rate, reduced);
  ds_step_restore_forces(state, kept);
  if (kept->contact_count > 0)
    memcpy(state->contacts, kept->contacts, (size_t)kept->contact_count * sizeof *state->contacts);
  state->contact_count = kept->contact_count;
  state->reduced_step = kept->reduced_step;
  state->time = kept->time;
  state->time_rest = kept->time_rest;
  state->step = kept->step;
}

bool ds_step_begin(ds_step_run *run, const ds_state *state) {
  bool fits = !ds_moves_by_midpoint(run->options) || run->scene->joint_count == 0 || state->step > 0;
  run->state = &run->kept;
  return ds_step_keep(&run->stepper->arena, &run->kept, state) && (fits || ds_step_fit(run));
}
