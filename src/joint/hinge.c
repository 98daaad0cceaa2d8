/* Hinge: the bodies share the points of an axis. Two of them are held, each as a ball is (ball.c), on either side of
 * the joint's point: six rows of rank five. A third point, beside the axis, is not held: it gives the free angle, that
 * of b about the axis relative to a. */
#include <math.h>

#include "joint/kind.h"

static void rows(ds_joint_row *out, const ds_joint_pose *pose) {
  for (int32_t i = 0; i < 2; i++) ds_joint_hold_point(out + 3 * i, pose, i);
}

/* From the axis to the third point, across the axis, on one of the bodies. */
static ds_vec3 hand(const ds_joint_pose *pose, int side, ds_vec3 axis) {
  const ds_vec3 *arm = pose->arm[side];
  ds_vec3 from = v3_sub(arm[2], v3_scale(0.5, v3_add(arm[0], arm[1])));
  return v3_mad(from, -v3_dot(from, axis), axis);
}

static ds_joint_freedom freedom(const ds_joint_pose *pose) {
  ds_vec3 axis = v3_unit(v3_sub(pose->arm[0][0], pose->arm[0][1]));
  ds_vec3 on_a = hand(pose, 0, axis), on_b = hand(pose, 1, axis);
  return (ds_joint_freedom){.position = atan2(v3_dot(axis, v3_cross(on_a, on_b)), v3_dot(on_a, on_b)),
                            .lever = v3_norm(on_b),
                            .point = ds_joint_point(pose, 1, 2),
                            .direction = v3_unit(v3_cross(axis, on_b))};
}

const ds_joint_ops ds_joint_hinge = {.name = "hinge",
                                     .has_axis = true,
                                     .turns = true,
                                     .points = 3,
                                     .middle = 2,
                                     .place = ds_joint_place_axis,
                                     .row_count = 6,
                                     .holds_points = true,
                                     .rows = rows,
                                     .freedom = freedom};
