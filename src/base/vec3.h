/* Vectors, quaternions and poses by value. */
#ifndef DS_BASE_VEC3_H
#define DS_BASE_VEC3_H

#include <math.h>

#include "drystone/types.h"

#define DS_PI 3.14159265358979323846

static inline ds_vec3 v3(double x, double y, double z) { return (ds_vec3){x, y, z}; }
static inline ds_vec3 v3_add(ds_vec3 a, ds_vec3 b) { return v3(a.x + b.x, a.y + b.y, a.z + b.z); }
static inline ds_vec3 v3_sub(ds_vec3 a, ds_vec3 b) { return v3(a.x - b.x, a.y - b.y, a.z - b.z); }
static inline ds_vec3 v3_scale(double s, ds_vec3 a) { return v3(s * a.x, s * a.y, s * a.z); }
static inline ds_vec3 v3_neg(ds_vec3 a) { return v3(-a.x, -a.y, -a.z); }
/* a + s b */
static inline ds_vec3 v3_mad(ds_vec3 a, double s, ds_vec3 b) { return v3(a.x + s * b.x, a.y + s * b.y, a.z + s * b.z); }
static inline double v3_dot(ds_vec3 a, ds_vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline ds_vec3 v3_cross(ds_vec3 a, ds_vec3 b) {
  return v3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
static inline double v3_norm2(ds_vec3 a) { return v3_dot(a, a); }
static inline double v3_norm(ds_vec3 a) { return sqrt(v3_dot(a, a)); }
static inline double v3_dist(ds_vec3 a, ds_vec3 b) { return v3_norm(v3_sub(a, b)); }
/* a/|a|, or zero where a is zero */
static inline ds_vec3 v3_unit(ds_vec3 a) {
  double n = v3_norm(a);
  return n > 0 ? v3_scale(1 / n, a) : v3(0, 0, 0);
}
static inline ds_vec3 v3_min(ds_vec3 a, ds_vec3 b) { return v3(fmin(a.x, b.x), fmin(a.y, b.y), fmin(a.z, b.z)); }
static inline ds_vec3 v3_max(ds_vec3 a, ds_vec3 b) { return v3(fmax(a.x, b.x), fmax(a.y, b.y), fmax(a.z, b.z)); }
static inline ds_vec3 v3_mul(ds_vec3 a, ds_vec3 b) { return v3(a.x * b.x, a.y * b.y, a.z * b.z); }
static inline bool v3_finite(ds_vec3 a) { return isfinite(a.x) && isfinite(a.y) && isfinite(a.z); }

/* An orthonormal pair (t1, t2) with t1 x t2 = n, for a unit n; continuous but near the axes' diagonals. */
static inline void v3_tangents(ds_vec3 *t1, ds_vec3 *t2, ds_vec3 n) {
  ds_vec3 e = fabs(n.x) <= fabs(n.y) && fabs(n.x) <= fabs(n.z) ? v3(1, 0, 0)
              : fabs(n.y) <= fabs(n.z)                         ? v3(0, 1, 0)
                                                               : v3(0, 0, 1);
  *t1 = v3_unit(v3_cross(n, e));
  *t2 = v3_cross(n, *t1);
}

static inline ds_quat quat(double w, double x, double y, double z) { return (ds_quat){w, x, y, z}; }
static inline ds_quat quat_identity(void) { return quat(1, 0, 0, 0); }
static inline ds_quat quat_mul(ds_quat a, ds_quat b) {
  return quat(a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
              a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w);
}
static inline ds_quat quat_conj(ds_quat q) { return quat(q.w, -q.x, -q.y, -q.z); }
static inline double quat_norm(ds_quat q) { return sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z); }
static inline ds_quat quat_unit(ds_quat q) {
  double n = quat_norm(q);
  return n > 0 ? quat(q.w / n, q.x / n, q.y / n, q.z / n) : quat_identity();
}
/* exp(phi): the rotation by |phi| about phi */
static inline ds_quat quat_exp(ds_vec3 phi) {
  double angle = v3_norm(phi), half = 0.5 * angle;
  double s = angle > 1e-8 ? sin(half) / angle : 0.5 - angle * angle / 48;
  return quat(cos(half), s * phi.x, s * phi.y, s * phi.z);
}
static inline ds_quat quat_axis_angle(ds_vec3 axis, double angle) { return quat_exp(v3_scale(angle, v3_unit(axis))); }
static inline ds_vec3 quat_rotate(ds_quat q, ds_vec3 x) {
  ds_vec3 u = v3(q.x, q.y, q.z), t = v3_scale(2, v3_cross(u, x));
  return v3_add(v3_mad(x, q.w, t), v3_cross(u, t));
}
static inline ds_vec3 quat_unrotate(ds_quat q, ds_vec3 x) { return quat_rotate(quat_conj(q), x); }

static inline ds_pose pose_identity(void) { return (ds_pose){{0, 0, 0}, {1, 0, 0, 0}}; }
/* local -> world */
static inline ds_vec3 pose_point(ds_pose a, ds_vec3 x) { return v3_add(a.p, quat_rotate(a.q, x)); }
/* world -> local */
static inline ds_vec3 pose_unpoint(ds_pose a, ds_vec3 x) { return quat_unrotate(a.q, v3_sub(x, a.p)); }
/* the frame b, given in frame a, seen from outside a */
static inline ds_pose pose_mul(ds_pose a, ds_pose b) { return (ds_pose){pose_point(a, b.p), quat_mul(a.q, b.q)}; }
static inline ds_pose pose_inverse(ds_pose a) {
  ds_quat c = quat_conj(a.q);
  return (ds_pose){v3_neg(quat_rotate(c, a.p)), c};
}

#endif
