/* The Jordan algebra of lorentz.h in twice the digits: of a contact that slides with impulses a million times the load,
 * a_0² - |a_T|² is 1e-16 a_0² and less. */
#ifndef DS_LA_LORENTZ_TWOFOLD_H
#define DS_LA_LORENTZ_TWOFOLD_H

#include <stdbool.h>

#include "base/twofold.h"

static inline ds_twofold ds_twofold_minkowski(const ds_twofold a[3]) { /* a_0² - |a_T|² */
  ds_twofold d = ds_twofold_times(a[0], a[0]);
  for (int i = 1; i < 3; i++) d = ds_twofold_less(d, a[i], a[i]);
  return d;
}

static inline bool ds_twofold_is_inside(const ds_twofold a[3]) { return a[0].hi > 0 && ds_twofold_minkowski(a).hi > 0; }

/* p := gap e - a o b */
static inline void ds_twofold_jordan_left(ds_twofold p[3], double gap, const ds_twofold a[3], const ds_twofold b[3]) {
  p[0] = ds_twofold_of(gap), p[1] = p[2] = ds_twofold_of(0);
  for (int i = 0; i < 3; i++) p[0] = ds_twofold_less(p[0], a[i], b[i]);
  for (int i = 1; i < 3; i++) p[i] = ds_twofold_less(ds_twofold_less(p[i], a[0], b[i]), b[0], a[i]);
}

/* L_z⁻¹, L_z = [z_0 z_Tᵀ; z_T z_0 I] */
static inline void ds_twofold_arrow_inverse(ds_twofold inverse[9], const ds_twofold z[3]) {
  ds_twofold det = ds_twofold_minkowski(z), f = ds_twofold_inverse(det);
  ds_twofold g = ds_twofold_inverse(ds_twofold_times(z[0], det));
  for (int i = 0; i < 3; i++) inverse[i] = inverse[3 * i] = ds_twofold_times(i == 0 ? z[0] : ds_twofold_minus(z[i]), f);
  for (int i = 1; i < 3; i++) inverse[4 * i] = ds_twofold_times(ds_twofold_add(det, ds_twofold_times(z[i], z[i])), g);
  inverse[5] = inverse[7] = ds_twofold_times(ds_twofold_times(z[1], z[2]), g);
}

/* L_x */
static inline void ds_twofold_arrow(ds_twofold l[9], const ds_twofold x[3]) {
  for (int i = 0; i < 9; i++)
    l[i] = i / 3 == i % 3 ? x[0] : i / 3 == 0 ? x[i] : i % 3 == 0 ? x[i / 3] : (ds_twofold){0, 0};
}

#endif
