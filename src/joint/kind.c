#include "joint/kind.h"

#include <math.h>

#include "base/check.h"

static const ds_joint_ops *const kinds[] = {
    [DS_JOINT_BALL] = &ds_joint_ball,
    [DS_JOINT_HINGE] = &ds_joint_hinge,
    [DS_JOINT_WELD] = &ds_joint_weld,
    [DS_JOINT_SLIDER] = &ds_joint_slider,
};

const ds_joint_ops *ds_joint_ops_of(ds_joint_kind kind) {
  return (int)kind >= 0 && (size_t)kind < sizeof kinds / sizeof *kinds ? kinds[kind] : NULL;
}

const char *ds_joint_kind_name(ds_joint_kind kind) {
  const ds_joint_ops *ops = ds_joint_ops_of(kind);
  return ops ? ops->name : NULL;
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
