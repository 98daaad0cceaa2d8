/* The energy of a state, as reports tell it before and after a step. */
#include "step/step.h"

/* Rates at the start count as means over a step like this one. */
double ds_step_energy(const ds_scene *scene, const ds_state *state, double h) {
  ds_state seen = *state;
  if (seen.reduced_step == 0) seen.reduced_step = h;
  ds_energy e = ds_state_energy(scene, &seen);
  return e.kinetic + e.potential + e.elastic;
}
