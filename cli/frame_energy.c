/* Energies of a recorded frame, as the simulator has them: see frame_energy.h. */
#include "frame_energy.h"

#include "bodies.h"

ds_energy frame_energy(ds_state *state, const ds_scene *scene, const ds_frame *frame, double step) {
  for (int32_t i = 0; i < ds_scene_body_count(scene); i++) {
    ds_body_id id = ds_scene_body(scene, i);
    int32_t first = ds_body_first_reduced(scene, id);
    ds_state_set_pose(scene, state, id, frame->poses[i]);
    if (body_is_dynamic(scene, i)) ds_state_set_velocity(state, id, frame->velocities[i], frame->angular_velocities[i]);
    if (body_reduced(scene, i) != NULL)
      ds_state_set_reduced(state, id, frame->reduced + first, frame->reduced_rate + first);
  }
  ds_state_set_reduced_step(state, step);
  return ds_state_energy(scene, state);
}
