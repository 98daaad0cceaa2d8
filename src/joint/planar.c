/* Planar: body b moves in a plane of body a, across its axis, and turns about the axis.
 *
 * The middle of two points of b on the axis stays in the plane, and the line through them stays along the axis: three
 * rows. With the axis n and t1, t2 across it, fixed to body a, and gap(i, d), the row that holds point i along d
 * (ds_joint_hold_along),
 *
 *   (gap(0, n) + gap(1, n)) / 2,   (gap(0, d) - gap(1, d)) / 2  for d = t1, t2:
 *
 * a force along n, and two torques across it. They are sums of rows of the same kind as a slider's, so the midpoint
 * rule changes these gaps by h gap' exactly as well. What is left free is the displacement (t1, t2) . (p_b - p_a) of
 * the middle, and the turn about n. A drive acts on the displacement, with a force in a disk. */
#include "joint/kind.h"

/* (one + sign other) / 2 */
static ds_joint_row half_sum(ds_joint_row one, double sign, ds_joint_row other, int32_t point) {
  ds_joint_row sum = {.gap = 0.5 * (one.gap + sign * other.gap), .point = point};
  sum.force = v3_scale(0.5, v3_mad(one.force, sign, other.force));
  for (int side = 0; side < 2; side++)
    sum.torque[side] = v3_scale(0.5, v3_mad(one.torque[side], sign, other.torque[side]));
  return sum;
}

static void rows(ds_joint_row *out, const ds_joint_pose *pose) {
  ds_vec3 axis, t1, t2;
  ds_joint_frame(&axis, &t1, &t2, pose);
  out[0] = half_sum(ds_joint_hold_along(pose, 0, axis), 1, ds_joint_hold_along(pose, 1, axis), 0);
  out[1] = half_sum(ds_joint_hold_along(pose, 0, t1), -1, ds_joint_hold_along(pose, 1, t1), 1);
  out[2] = half_sum(ds_joint_hold_along(pose, 0, t2), -1, ds_joint_hold_along(pose, 1, t2), 1);
}

static ds_joint_plane plane(const ds_joint_pose *pose) {
  const ds_vec3 *arm = pose->arm[0];
  return (ds_joint_plane){.point = v3_scale(0.5, v3_add(ds_joint_point(pose, 1, 0), ds_joint_point(pose, 1, 1))),
                          .normal = v3_unit(v3_sub(arm[0], arm[1]))};
}

const ds_joint_ops ds_joint_planar = {.name = "planar",
                                      .has_axis = true,
                                      .points = 3,
                                      .middle = 2,
                                      .place = ds_joint_place_axis,
                                      .row_count = 3,
                                      .rows = rows,
                                      .plane = plane};
