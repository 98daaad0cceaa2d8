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
static inline ds_vec3 random_vec(double s) { return v3(uniform(-s, s), uniform(-s, s), uniform(-s, s)); }
static inline ds_quat random_quat(void) {
  return quat_unit(quat(uniform(-1, 1), uniform(-1, 1), uniform(-1, 1), uniform(-1, 1)));
}

#endif
