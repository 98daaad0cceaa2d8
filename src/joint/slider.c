/* Slider: body b moves along an axis of body a and does not turn against it.
 *
 * Two points of b on the axis stay on the axis, and a third beside it stays in the plane of the axis and its like on a:
 * five rows. With t1, t2 across the axis, fixed to body a, and d one of them,
 *
 *   gap = d . (p_a - p_b),   gap' = d . (v_a - v_b) + ((p_b - x_a) x d) . w_a - (s_b x d) . w_b:
 *
 * a's torque is that of a force at p_b, because d turns with a. What is left free is the way s = axis . (p_b - p_a).
 *
 * Over a step by the midpoint rule the gap changes by h gap' exactly, with means of d, p_b and x_a at start and end for
 * themselves, s_b stretched as all arms are (assemble.h), and a's torque, because it is d that turns, as well. */
#include "joint/kind.h"

/* The frame of the axis, which goes with body a. */
static void frame_of(ds_vec3 *axis, ds_vec3 *t1, ds_vec3 *t2, const ds_joint_pose *pose) {
  const ds_vec3 *arm = pose->arm[0];
  *axis = v3_unit(v3_sub(arm[0], arm[1]));
  *t1 = v3_unit(v3_sub(arm[2], v3_scale(0.5, v3_add(arm[0], arm[1]))));
  *t2 = v3_unit(pose->across);
}

static ds_joint_row hold(const ds_joint_pose *pose, int32_t point, ds_vec3 d) {
  ds_vec3 p = v3_mad(pose->center[1], 1 / pose->stretch[1], pose->arm[1][point]);
  ds_vec3 arm = v3_scale(pose->stretch[0], v3_sub(p, pose->center[0]));
  return (ds_joint_row){.gap = v3_dot(d, v3_sub(ds_joint_point(pose, 0, point), p)),
                        .force = d,
                        .torque = {v3_cross(arm, d), v3_cross(pose->arm[1][point], v3_neg(d))},
                        .point = point};
}

static void rows(ds_joint_row *out, const ds_joint_pose *pose) {
  ds_vec3 axis, t1, t2;
  frame_of(&axis, &t1, &t2, pose);
  for (int32_t i = 0; i < 2; i++) {
    out[2 * i] = hold(pose, i, t1);
    out[2 * i + 1] = hold(pose, i, t2);
  }
  out[4] = hold(pose, 2, t2);
}

static ds_joint_way way(const ds_joint_pose *pose) {
  ds_vec3 axis, t1, t2, middle[2];
  frame_of(&axis, &t1, &t2, pose);
  for (int side = 0; side < 2; side++)
    middle[side] = v3_scale(0.5, v3_add(ds_joint_point(pose, side, 0), ds_joint_point(pose, side, 1)));
  return (ds_joint_way){
      .position = v3_dot(axis, v3_sub(middle[1], middle[0])), .lever = 1, .point = middle[1], .direction = axis};
}

const ds_joint_ops ds_joint_slider = {.name = "slider",
                                      .has_axis = true,
                                      .points = 3,
                                      .middle = 2,
                                      .place = ds_joint_place_axis,
                                      .row_count = 5,
                                      .rows = rows,
                                      .way = way};
