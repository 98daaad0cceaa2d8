/* Slider: body b moves along an axis of body a and does not turn against it.
 *
 * Two points of b on the axis stay on the axis, and a third beside it stays in the plane of the axis and its like on a:
 * five rows. With t1, t2 across the axis, fixed to body a, and d one of them,
 *
 *   gap = d . (p_a - p_b)    (ds_joint_hold_along)
 *
 * What is left free is the distance s = axis . (p_b - p_a). */
#include "joint/kind.h"

static void rows(ds_joint_row *out, const ds_joint_pose *pose) {
  ds_vec3 axis, t1, t2;
  ds_joint_frame(&axis, &t1, &t2, pose);
  for (int32_t i = 0; i < 2; i++) {
    out[2 * i] = ds_joint_hold_along(pose, i, t1);
    out[2 * i + 1] = ds_joint_hold_along(pose, i, t2);
  }
  out[4] = ds_joint_hold_along(pose, 2, t2);
}

static ds_joint_freedom freedom(const ds_joint_pose *pose) {
  ds_vec3 axis, t1, t2, middle[2];
  ds_joint_frame(&axis, &t1, &t2, pose);
  for (int side = 0; side < 2; side++)
    middle[side] = v3_scale(0.5, v3_add(ds_joint_point(pose, side, 0), ds_joint_point(pose, side, 1)));
  return (ds_joint_freedom){
      .position = v3_dot(axis, v3_sub(middle[1], middle[0])), .lever = 1, .point = middle[1], .direction = axis};
}

const ds_joint_ops ds_joint_slider = {.name = "slider",
                                      .has_axis = true,
                                      .points = 3,
                                      .middle = 2,
                                      .place = ds_joint_place_axis,
                                      .row_count = 5,
                                      .rows = rows,
                                      .freedom = freedom};
