/* Factorizations per step of a run, the measure of work that does not depend on the machine: the most, the mean of the
 * worst percent of the steps, and the mean at rest. Memory does not grow with the run. */
#ifndef DS_CLI_WORK_H
#define DS_CLI_WORK_H

#include "drystone/drystone.h"

enum { WORK_EXACT = 1024, WORK_BINS = WORK_EXACT + 1600 }; /* counts below WORK_EXACT have a bin of their own */

typedef struct work_tally {
  int64_t steps[WORK_BINS], sums[WORK_BINS];
  int64_t total, max;
  double max_time;              /* s: end of the step that took the most; NAN = none took any */
  double rest_time;             /* s: since then all has been at rest */
  int64_t rest_steps, rest_sum; /* from 1 s after that on */
} work_tally;

void work_begin(work_tally *work, double time);
void work_add(work_tally *work, const ds_scene *scene, const ds_state *state, const ds_step_report *step);

double work_worst_mean(
    const work_tally *work); /* over the worst percent of the steps, at least one; NAN without steps */
double work_rest_time(const work_tally *work, double end); /* NAN if something moved in the last step */
double work_rest_mean(const work_tally *work);             /* NAN if nothing was at rest for more than 1 s */

#endif
