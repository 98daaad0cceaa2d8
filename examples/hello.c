/* Drops a box on the floor and prints where it comes to rest. */
#include <drystone/drystone.h>
#include <stdio.h>

int main(void) {
  ds_scene_def scene_def = ds_default_scene();
  ds_scene *scene = ds_scene_create(&scene_def, NULL);

  ds_body_def floor_def = ds_default_body();
  floor_def.kind = DS_BODY_STATIC;
  ds_shape_def floor_shape = ds_default_shape();
  floor_shape.kind = DS_SHAPE_HALF_SPACE;
  ds_scene_add_shape(scene, ds_scene_add_body(scene, &floor_def, NULL), &floor_shape, NULL);

  ds_body_def box_def = ds_default_body();
  box_def.pose.p = (ds_vec3){0, 0, 1};
  ds_body_id box = ds_scene_add_body(scene, &box_def, NULL);
  ds_shape_def box_shape = ds_default_shape(); /* a box */
  box_shape.half = (ds_vec3){0.1, 0.1, 0.1};
  ds_scene_add_shape(scene, box, &box_shape, NULL);

  ds_error error;
  if (ds_scene_finish(scene, &error) != DS_OK) return fprintf(stderr, "%s\n", error.message), 2;

  ds_state *state = ds_state_create(scene);
  ds_stepper *stepper = ds_stepper_create(0);
  ds_options options = ds_default_options();
  ds_step_report report = {0};
  while (ds_state_time(state) < 1 && ds_step(stepper, state, &report, scene, &options) == DS_OK) continue;

  ds_vec3 p = ds_state_center(state, box);
  printf("t = %.2f s: box at (%.6f, %.6f, %.6f) m, %d contacts, natural-map error %.1e\n", report.time, p.x, p.y, p.z,
         report.contacts, report.worst.natural_error);

  ds_stepper_destroy(stepper);
  ds_state_destroy(state);
  ds_scene_destroy(scene);
  return p.z > 0.0999 && p.z < 0.1001 ? 0 : 1;
}
