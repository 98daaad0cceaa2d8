/* Energies of a recorded frame, as the simulator has them: see frame_energy.h. */
#include "frame_energy.h"

#include "body/scene.h"

ds_energy frame_energy(ds_state *state, const ds_scene *scene, const ds_frame *frame, double step) {
  for (int32_t i = 0; i < scene->body_count; i++) {
    ds_body_id id = ds_scene_body(scene, i);
    int32_t first = scene->bodies[i].first_reduced;
    ds_state_set_pose(scene, state, id, frame->poses[i]);
    if (scene->bodies[i].kind == DS_BODY_DYNAMIC)
      ds_state_set_velocity(state, id, frame->velocities[i], frame->angular_velocities[i]);
    if (scene->bodies[i].reduced != NULL)
      ds_state_set_reduced(state, id, frame->reduced + first, frame->reduced_rate + first);
  }
  state->reduced_step = step;
  return ds_state_energy(scene, state);
}
