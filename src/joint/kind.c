#include "joint/kind.h"

#include <math.h>

#include "base/check.h"

static const ds_joint_ops *const kinds[] = {
    [DS_JOINT_BALL] = &ds_joint_ball,     [DS_JOINT_HINGE] = &ds_joint_hinge,   [DS_JOINT_WELD] = &ds_joint_weld,
    [DS_JOINT_SLIDER] = &ds_joint_slider, [DS_JOINT_PLANAR] = &ds_joint_planar,
};

const ds_joint_ops *ds_joint_ops_of(ds_joint_kind kind) {
  return (int)kind >= 0 && (size_t)kind < sizeof kinds / sizeof *kinds ? kinds[kind] : NULL;
}

const char *ds_joint_kind_name(ds_joint_kind kind) {
  const ds_joint_ops *ops = ds_joint_ops_of(kind);
  return ops ? ops->name : NULL;
}

bool ds_joint_kind_has_axis(ds_joint_kind kind) {
  const ds_joint_ops *ops = ds_joint_ops_of(kind);
  return ops && ops->has_axis;
}

void ds_joint_place_axis(ds_vec3 *points, ds_vec3 point, ds_vec3 axis, double lever) {
  ds_vec3 t1, t2;
  v3_tangents(&t1, &t2, axis);
  points[0] = v3_mad(point, lever, axis);
  points[1] = v3_mad(point, -lever, axis);
  points[2] = v3_mad(point, lever, t1);
}

void ds_joint_hold_point(ds_joint_row rows[3], const ds_joint_pose *pose, int32_t point) {
  static const ds_vec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  ds_vec3 gap = v3_sub(ds_joint_point(pose, 0, point), ds_joint_point(pose, 1, point));
  const double along[3] = {gap.x, gap.y, gap.z};
  for (int i = 0; i < 3; i++)
    rows[i] = (ds_joint_row){
        .gap = along[i],
        .force = axes[i],
        .torque = {v3_cross(pose->arm[0][point], axes[i]), v3_cross(pose->arm[1][point], v3_neg(axes[i]))},
        .point = point};
}

void ds_joint_frame(ds_vec3 *axis, ds_vec3 *t1, ds_vec3 *t2, const ds_joint_pose *pose) {
  const ds_vec3 *arm = pose->arm[0];
  *axis = v3_unit(v3_sub(arm[0], arm[1]));
  *t1 = v3_unit(v3_sub(arm[2], v3_scale(0.5, v3_add(arm[0], arm[1]))));
  *t2 = v3_unit(pose->across);
}

/*   gap = d . (p_a - p_b),   gap' = d . (v_a - v_b) + ((p_b - x_a) x d) . w_a - (s_b x d) . w_b:
 *
 * a's torque is that of a force at p_b, because d turns with a. Over a step by the midpoint rule the gap changes by h
 * gap' exactly, with means of d, p_b and x_a at start and end for themselves, s_b stretched as all arms are
 * (assemble.h), and a's torque, because it is d that turns, as well. */
ds_joint_row ds_joint_hold_along(const ds_joint_pose *pose, int32_t point, ds_vec3 d) {
  ds_vec3 p = v3_mad(pose->center[1], 1 / pose->stretch[1], pose->arm[1][point]);
  ds_vec3 arm = v3_scale(pose->stretch[0], v3_sub(p, pose->center[0]));
  return (ds_joint_row){.gap = v3_dot(d, v3_sub(ds_joint_point(pose, 0, point), p)),
                        .force = d,
                        .torque = {v3_cross(arm, d), v3_cross(pose->arm[1][point], v3_neg(d))},
                        .point = point};
}

ds_joint_pose ds_joint_posed(const ds_joint *joint, ds_pose a, ds_pose b) {
  ds_joint_pose pose = {.center = {a.p, b.p}, .stretch = {1, 1}};
  for (int32_t i = 0; i < joint->point_count; i++) {
    pose.arm[0][i] = quat_rotate(a.q, joint->on_a[i]);
    pose.arm[1][i] = quat_rotate(b.q, joint->on_b[i]);
  }
  if (ds_joint_ops_of(joint->def.kind)->has_axis) pose.across = ds_joint_across(pose.arm[0]);
  return pose;
}

double ds_joint_gap(const ds_joint_row *rows, int32_t count) {
  double largest = 0;
  for (int32_t i = 0; i < count;) {
    double squares = 0;
    int32_t point = rows[i].point;
    for (; i < count && rows[i].point == point; i++) squares += rows[i].gap * rows[i].gap;
    largest = fmax(largest, sqrt(squares));
  }
  return largest;
}
