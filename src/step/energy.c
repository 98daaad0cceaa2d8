/* The energy of a state, as reports tell it before and after a step. */
#include "step/step.h"

double ds_step_energy(const ds_scene *scene, const ds_state *state) {
  ds_energy e = ds_state_energy(scene, state);
  return e.kinetic + e.potential + e.elastic;
}
