/* Random vectors and rotations for geometry tests, from one running seed a program. A test sets `seed` to draw others.
 */
#ifndef DS_TEST_RANDOM_POSE_H
#define DS_TEST_RANDOM_POSE_H

#include "la/vec3.h"

static uint64_t seed = 1;
static inline double uniform(double low, double high) {
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return low + (high - low) * (double)(seed >> 11) / 9007199254740992.0;
}
/* One number after the other: compilers order the arguments of a call as they like. */
static inline ds_vec3 random_between(ds_vec3 low, ds_vec3 high) {
  double x = uniform(low.x, high.x), y = uniform(low.y, high.y), z = uniform(low.z, high.z);
  return v3(x, y, z);
}
static inline ds_vec3 random_vec(double s) { return random_between(v3(-s, -s, -s), v3(s, s, s)); }
static inline ds_quat random_quat(void) {
  double w = uniform(-1, 1);
  ds_vec3 v = random_vec(1);
  return quat_unit(quat(w, v.x, v.y, v.z));
}
static inline ds_pose random_pose(double s) {
  ds_vec3 p = random_vec(s);
  return (ds_pose){p, random_quat()};
}

#endif
