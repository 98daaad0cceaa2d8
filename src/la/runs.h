/* Runs of numbers, inside kernels (simd.h): sums in a fixed order, the same bits in every build. */
#ifndef DS_LA_RUNS_H
#define DS_LA_RUNS_H

#include <stdint.h>

#include "la/simd.h"

/* t (n) += s w */
DS_INLINE void ds_run_add(double *t, const double *w, double s, int32_t n) {
  int32_t i = 0;
  for (; i + 4 <= n; i += 4)
    ds_v4_store(t + i, ds_v4_add(ds_v4_load(t + i), ds_v4_mul(ds_v4_all(s), ds_v4_load(w + i))));
  for (; i < n; i++) t[i] += s * w[i];
}

/* w . q over a run of n, in sixteen sums */
DS_INLINE double ds_run_dot(const double *w, const double *q, int32_t n) {
  double lane[4], rest = 0;
  int32_t i = 0;
  ds_v4 sum[4] = {ds_v4_all(0), ds_v4_all(0), ds_v4_all(0), ds_v4_all(0)};
  for (; i + 16 <= n; i += 16)
    for (int k = 0; k < 4; k++)
      sum[k] = ds_v4_add(sum[k], ds_v4_mul(ds_v4_load(w + i + 4 * k), ds_v4_load(q + i + 4 * k)));
  for (; i + 4 <= n; i += 4) sum[0] = ds_v4_add(sum[0], ds_v4_mul(ds_v4_load(w + i), ds_v4_load(q + i)));
  ds_v4_store(lane, ds_v4_add(ds_v4_add(sum[0], sum[1]), ds_v4_add(sum[2], sum[3])));
  for (; i < n; i++) rest += w[i] * q[i];
  return (lane[0] + lane[1]) + (lane[2] + lane[3]) + rest;
}

#endif
