/* Shapes and poses by hand, for tests of collision detection. */
#ifndef DS_TEST_DETECT_HELPER_H
#define DS_TEST_DETECT_HELPER_H

#include "check.h"
#include "detect/detect.h"
#include "random_pose.h"

static inline ds_pose at(double x, double y, double z) { return (ds_pose){{x, y, z}, {1, 0, 0, 0}}; }
static inline ds_pose turned(double x, double y, double z, ds_vec3 axis, double degrees) {
  return (ds_pose){{x, y, z}, quat_axis_angle(axis, degrees * DS_PI / 180)};
}
static const ds_vec3 X = {1, 0, 0}, Y = {0, 1, 0}, Z = {0, 0, 1};

static inline ds_shape plain(ds_shape_kind kind) {
  ds_shape s = {.kind = kind, .density = 1000};
  s.pose = s.pose_in_body = pose_identity();
  return s;
}
static inline ds_shape box(double x, double y, double z) {
  ds_shape s = plain(DS_SHAPE_BOX);
  s.half = v3(x, y, z);
  s.bounding_radius = v3_norm(s.half);
  CHECK(ds_hull_box(&s.hull, s.half) == DS_OK);
  return s;
}
static inline ds_shape round_shape(ds_shape_kind kind, double radius, double half_length) {
  ds_shape s = plain(kind);
  s.radius = radius;
  s.half_length = half_length;
  s.bounding_radius = kind == DS_SHAPE_HALF_SPACE ? INFINITY : radius + half_length;
  return s;
}
static inline ds_shape hull(const ds_vec3 *points, int32_t n) {
  ds_shape s = plain(DS_SHAPE_HULL);
  CHECK(ds_hull_build(&s.hull, points, n, NULL) == DS_OK);
  for (int32_t i = 0; i < n; i++) s.bounding_radius = fmax(s.bounding_radius, v3_norm(points[i]));
  return s;
}
static inline void release(ds_shape *s) { ds_hull_free(&s->hull); }

static inline double least_gap(const ds_manifold *f) {
  double least = INFINITY;
  for (int32_t i = 0; i < f->count; i++) least = fmin(least, f->gap[i]);
  return least;
}

/* Lowest n.x of a placed shape. */
static inline double low_of(const ds_shape *s, ds_pose p, ds_vec3 n) {
  ds_vec3 d = quat_unrotate(p.q, n);
  double at_p = v3_dot(n, p.p), least = INFINITY;
  switch (s->kind) {
    case DS_SHAPE_SPHERE:
      return at_p - s->radius;
    case DS_SHAPE_CAPSULE:
      return at_p - s->radius - s->half_length * fabs(d.z);
    case DS_SHAPE_CYLINDER:
      return at_p - s->radius * hypot(d.x, d.y) - s->half_length * fabs(d.z);
    case DS_SHAPE_HALF_SPACE:
      return d.z < -1 + 1e-9 ? at_p : -INFINITY;
    case DS_SHAPE_BOX:
    case DS_SHAPE_HULL:
      for (int32_t i = 0; i < s->hull.vertex_count; i++) least = fmin(least, v3_dot(d, s->hull.vertices[i]));
      return at_p + least;
    default: /* other convex kinds */
      return at_p + v3_dot(d, ds_shape_support(s, v3_neg(d)));
  }
}

/* One of the six kinds, of random size. */
static inline ds_shape random_shape(int kind) {
  ds_vec3 p[24], size = random_between(v3(0.05, 0.05, 0.05), v3(1, 1, 1));
  switch (kind) {
    case 0:
      return round_shape(DS_SHAPE_SPHERE, size.x, 0);
    case 1:
      return box(size.x, size.y, size.z);
    case 2:
      return round_shape(DS_SHAPE_CAPSULE, size.x, size.y);
    case 3:
      return round_shape(DS_SHAPE_CYLINDER, size.x, size.y);
    case 4:
      for (int i = 0; i < 24; i++) p[i] = v3_mul(random_vec(1), v3(1, 0.7, 0.4));
      return hull(p, 24);
    default:
      return round_shape(DS_SHAPE_HALF_SPACE, 0, 0);
  }
}

#endif
