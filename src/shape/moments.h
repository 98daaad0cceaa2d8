/* Second moments of mass and the inertia that they give. */
#ifndef DS_SHAPE_MOMENTS_H
#define DS_SHAPE_MOMENTS_H

#include "la/vec3.h"

/* m += s a aᵀ */
static inline void ds_add_outer(double m[9], double s, ds_vec3 a) {
  const double o[9] = {s * a.x * a.x, s * a.x * a.y, s * a.x * a.z, s * a.y * a.x, s * a.y * a.y,
                       s * a.y * a.z, s * a.z * a.x, s * a.z * a.y, s * a.z * a.z};
  for (int i = 0; i < 9; i++) m[i] += o[i];
}

/* Inertia from the second moment C = integral of x xᵀ: tr(C) 1 - C. */
static inline void ds_inertia_of_moments(double inertia[9], const double c[9]) {
  double trace = c[0] + c[4] + c[8];
  for (int i = 0; i < 9; i++) inertia[i] = (i % 4 == 0 ? trace : 0) - c[i];
}

#endif
