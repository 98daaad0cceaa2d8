/* Means of both halves of the window, each weighted by a triangle: what swings with a period of T is left in them by a
 * part of (T / pi H)² or less of its amplitude, H the length of a half; in plain means it would be T / pi H. */
#include "drift.h"

#include <math.h>
#include <stdlib.h>

#include "base/vec3.h"

bool drift_create(drift *d, int32_t bodies, int64_t planned_steps) {
  *d = (drift){.half = planned_steps / 20, .bodies = bodies};
  d->begin = planned_steps - 2 * d->half;
  for (int i = 0; i < 2; i++) d->sum[i] = calloc((size_t)bodies + 1, sizeof(ds_vec3));
  return d->sum[0] && d->sum[1];
}

void drift_destroy(drift *d) {
  free(d->sum[0]);
  free(d->sum[1]);
}

void drift_add(drift *d, const ds_state *state, int64_t step) {
  int64_t k = step - d->begin;
  if (k < 1 || k > 2 * d->half) return;
  int which = k > d->half;
  if (which) k -= d->half;
  double weight = (double)(k < d->half + 1 - k ? k : d->half + 1 - k);
  for (int32_t i = 0; i < d->bodies; i++)
    d->sum[which][i] = v3_mad(d->sum[which][i], weight, ds_state_center(state, (ds_body_id){i + 1}));
}

double drift_of(const drift *d, int32_t body, int64_t last, double seconds_a_step) {
  if (d->half < 1 || last != d->begin + 2 * d->half) return NAN;
  double n = (double)d->half, weights = 0;
  for (int64_t k = 1; k <= d->half; k++) weights += (double)(k < d->half + 1 - k ? k : d->half + 1 - k);
  return v3_dist(d->sum[0][body], d->sum[1][body]) / weights / (n * seconds_a_step);
}
