/* Joints in tests: scenes with an anchor and bodies that hang from it, and what the steps said of joints. */
#ifndef DS_TEST_JOINT_HELPER_H
#define DS_TEST_JOINT_HELPER_H

#include "scene_helper.h"

static inline ds_joint_id scene_join(ds_scene *scene, ds_joint_kind kind, ds_body_id a, ds_body_id b, ds_vec3 point,
                                     ds_vec3 axis) {
  ds_joint_def def = ds_default_joint();
  ds_error error = {""};
  def.kind = kind, def.a = a, def.b = b, def.point = point, def.axis = axis;
  ds_joint_id id = ds_scene_add_joint(scene, &def, &error);
  if (id.index1 == 0) printf("%s\n", error.message);
  CHECK(id.index1 > 0);
  return id;
}

/* A small static box, from which things hang. */
static inline ds_body_id scene_add_anchor(ds_scene *scene, double x, double y, double z) {
  ds_body_def def = body_at(x, y, z);
  def.kind = DS_BODY_STATIC;
  return scene_add(scene, &def, shape_box(0.02, 0.02, 0.02));
}

/* A rod of box form between two points in the plane y = 0; its own x axis goes from the first to the second. */
static inline ds_body_id scene_add_rod(ds_scene *scene, double x0, double z0, double x1, double z1, double thick) {
  double length = hypot(x1 - x0, z1 - z0);
  ds_body_def def = body_at(0.5 * (x0 + x1), 0, 0.5 * (z0 + z1));
  def.pose.q = quat_axis_angle(v3(0, 1, 0), -atan2(z1 - z0, x1 - x0));
  return scene_add(scene, &def, shape_box(length, thick, thick));
}

/* Steps for `seconds`; the largest drift of any joint that a step reported. */
static inline double sim_drift(sim *s, double seconds) {
  int32_t steps = (int32_t)(seconds / s->options.step + 0.5);
  double drift = 0;
  for (int32_t i = 0; i < steps && sim_step(s); i++) drift = fmax(drift, s->report.joint_drift);
  return drift;
}

static inline double sim_energy(const sim *s) {
  ds_energy e = ds_state_energy(s->scene, s->state);
  return e.kinetic + e.potential;
}

#endif
