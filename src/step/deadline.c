/* A step that has to end in time: every island ends with a contact projection, so that nothing passes through anything,
 * and stops all else early enough for it. */
#include "problem/effort.h"
#include "step/step.h"

static const double LAST_SPARE = 1.2; /* of what the slowest last contact projection of late took */

void ds_step_set_deadlines(const ds_step_run *run) {
  const ds_stepper *stepper = run->stepper;
  const ds_assembly *assembly = &run->assembly;
  double start = ds_clock(), end = stepper->started + run->options->deadline;
  /* a share of the time by its contacts where one thread does all, and before that what its last projection will take
   */
  double all = 0, so_far = 0;
  for (int32_t i = 0; i < assembly->island_count; i++) all += ds_island_problem(&assembly->islands[i])->contact_count;
  for (int32_t i = 0; i < assembly->island_count; i++) {
    const ds_subproblem *p = ds_island_problem(&assembly->islands[i]);
    so_far += p->contact_count;
    double share = ds_pool_size(stepper->pool) > 1 || all == 0 ? 1 : so_far / all;
    run->efforts[i].until = start + share * (end - start) - stepper->last_rate * p->contact_count;
  }
}

/* A slower projection counts at once, quicker ones only gradually. */
void ds_step_learn_rate(const ds_step_run *run) {
  ds_stepper *stepper = run->stepper;
  for (int32_t i = 0; i < run->assembly.island_count; i++) {
    const ds_effort *effort = &run->efforts[i];
    if (!(effort->last_seconds > 0)) continue;
    double rate = LAST_SPARE * effort->last_seconds / effort->contacts, change = rate - stepper->last_rate;
    stepper->last_rate += change > 0 ? change : 0.2 * change;
  }
}

bool ds_step_is_late(const ds_step_run *run) {
  return run->options->deadline > 0 && ds_clock() >= run->stepper->started + run->options->deadline;
}
