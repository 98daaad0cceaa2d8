/* Weld: the bodies move as one. Three points around the joint's point are held, each as a ball is (ball.c): nine rows
 * of rank six. */
#include <math.h>

#include "joint/kind.h"

static void place(ds_vec3 *points, ds_vec3 point, ds_vec3 axis, double lever) {
  const double third = sqrt(0.75);
  (void)axis;
  points[0] = v3_add(point, v3(lever, 0, 0));
  points[1] = v3_add(point, v3(-0.5 * lever, third * lever, 0));
  points[2] = v3_add(point, v3(-0.5 * lever, -third * lever, 0));
}

static void rows(ds_joint_row *out, const ds_joint_pose *pose) {
  for (int32_t i = 0; i < 3; i++) ds_joint_hold_point(out + 3 * i, pose, i);
}

const ds_joint_ops ds_joint_weld = {
    .name = "weld", .points = 3, .middle = 3, .place = place, .row_count = 9, .rows = rows, .holds_points = true};
