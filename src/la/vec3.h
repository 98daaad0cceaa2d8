/* 3x3 matrices by value, row-major, with the vectors and quaternions that they act on. */
#ifndef DS_LA_VEC3_H
#define DS_LA_VEC3_H

#include "base/vec3.h"

typedef struct ds_mat3 {
  double m[9];
} ds_mat3;

static inline ds_mat3 mat3_from_quat(ds_quat q) {
  double w = q.w, x = q.x, y = q.y, z = q.z;
  return (ds_mat3){{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y), 2 * (x * y + w * z),
                    1 - 2 * (x * x + z * z), 2 * (y * z - w * x), 2 * (x * z - w * y), 2 * (y * z + w * x),
                    1 - 2 * (x * x + y * y)}};
}
/* The rotation whose matrix is given: orthonormal, right-handed. */
static inline ds_quat quat_from_mat3(const double m[9]) {
  double trace = m[0] + m[4] + m[8];
  if (trace > 0) return quat_unit(quat(1 + trace, m[7] - m[5], m[2] - m[6], m[3] - m[1]));
  int i = m[4] > m[0] ? 1 : 0;
  if (m[8] > m[4 * i]) i = 2;
  int j = (i + 1) % 3, k = (i + 2) % 3;
  double q[3];
  q[i] = 1 + m[4 * i] - m[4 * j] - m[4 * k];
  q[j] = m[3 * j + i] + m[3 * i + j];
  q[k] = m[3 * k + i] + m[3 * i + k];
  return quat_unit(quat(m[3 * k + j] - m[3 * j + k], q[0], q[1], q[2]));
}

static inline ds_vec3 mat3_mul_v3(const ds_mat3 *a, ds_vec3 x) {
  const double *m = a->m;
  return v3(m[0] * x.x + m[1] * x.y + m[2] * x.z, m[3] * x.x + m[4] * x.y + m[5] * x.z,
            m[6] * x.x + m[7] * x.y + m[8] * x.z);
}
/* aᵀx */
static inline ds_vec3 mat3_tmul_v3(const ds_mat3 *a, ds_vec3 x) {
  const double *m = a->m;
  return v3(m[0] * x.x + m[3] * x.y + m[6] * x.z, m[1] * x.x + m[4] * x.y + m[7] * x.z,
            m[2] * x.x + m[5] * x.y + m[8] * x.z);
}

#endif
