/* Hinge: the bodies share the points of an axis. Two of them are held, each as a ball is (ball.c), on either side of
 * the joint's point: six rows of rank five. */
#include "joint/kind.h"

static void place(ds_vec3 *points, ds_vec3 point, ds_vec3 axis, double lever) {
  points[0] = v3_mad(point, lever, axis);
  points[1] = v3_mad(point, -lever, axis);
}

static void rows(ds_joint_row *out, const ds_joint_pose *pose) {
  for (int32_t i = 0; i < 2; i++) ds_joint_hold_point(out + 3 * i, pose, i);
}

const ds_joint_ops ds_joint_hinge = {
    .name = "hinge", .has_axis = true, .points = 2, .middle = 2, .place = place, .row_count = 6, .rows = rows};
