/* Drift: how fast the mean position of a body moves. A swinging body moves at any time, and its position differs at the
 * two ends of any window, but it does not drift. */
#ifndef CLI_DRIFT_H
#define CLI_DRIFT_H

#include "drystone/drystone.h"

typedef struct drift {
  int64_t begin, half; /* steps before the window, and in each half of it */
  int32_t bodies;
  ds_vec3 *sum[2]; /* weighted centres, one per body */
} drift;

/* The window is the last tenth of the planned steps. False if memory ran out. */
bool drift_create(drift *d, int32_t bodies, int64_t planned_steps);
void drift_destroy(drift *d);
/* After step number `step`, the first of a run being 1. */
void drift_add(drift *d, const ds_state *state, int64_t step);
/* m/s; NaN where the window has less than 2 steps or the last of them is not `last`. */
double drift_of(const drift *d, int32_t body, int64_t last, double seconds_a_step);

#endif
