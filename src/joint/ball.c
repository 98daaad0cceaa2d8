/* Ball: the bodies share one point.
 *
 *   gap = p_a - p_b,   gap' = v_a + w_a x s_a - v_b - w_b x s_b    (s: from the centre of mass to the point) */
#include "joint/kind.h"

static void place(ds_vec3 *points, ds_vec3 point, ds_vec3 axis, double lever) {
  (void)axis, (void)lever;
  points[0] = point;
}

static void rows(ds_joint_row *out, const ds_joint_pose *pose) { ds_joint_hold_point(out, pose, 0); }

const ds_joint_ops ds_joint_ball = {
    .name = "ball", .points = 1, .middle = 1, .place = place, .row_count = 3, .rows = rows, .holds_points = true};
