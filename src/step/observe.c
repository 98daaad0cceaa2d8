/* Islands for an observer: what each was started from, and the problem as it was solved. */
#include <string.h>

#include "joint/articulate.h"
#include "problem/export.h"
#include "step/step.h"

bool ds_step_watch(ds_step_run *run) {
  ds_arena *arena = &run->stepper->arena;
  const ds_assembly *assembly = &run->assembly;
  run->watch = NULL;
  if (!run->stepper->observer) return true;
  ds_island_watch *watch = DS_NEW0(arena, ds_island_watch, assembly->island_count + 1);
  for (int32_t i = 0; watch && i < assembly->island_count; i++) {
    size_t components = 3 * (size_t)assembly->islands[i].problem.contact_count;
    watch[i].start = DS_NEW0(arena, double, components + 1);
    if (!watch[i].start) return false;
  }
  run->watch = watch;
  return watch != NULL;
}

void ds_step_watch_start(const ds_step_run *run, int32_t island) {
  const ds_island *i = &run->assembly.islands[island];
  memcpy(run->watch[island].start, i->r, 3 * (size_t)i->problem.contact_count * sizeof(double));
}

bool ds_step_show(const ds_step_run *run) {
  ds_stepper *stepper = run->stepper;
  const ds_assembly *assembly = &run->assembly;
  for (int32_t i = 0; run->watch && i < assembly->island_count; i++) {
    ds_island *island = &assembly->islands[i];
    const ds_articulation *joined = island->articulation;
    ds_problem problem;
    ds_arena_mark mark = ds_arena_get_mark(&stepper->arena);
    if (ds_island_problem(island)->contact_count == 0) continue; /* joints alone: nothing was to be solved */
    if (island->glanced) continue;                               /* its parts were solved in its place */
    if (!ds_subproblem_export(&stepper->arena, &problem, ds_island_problem(island))) return false;
    ds_observation observation = {.step = run->state->step + 1,
                                  .island = i,
                                  .problem = &problem,
                                  .start = run->watch[i].start,
                                  .r = joined ? joined->r : island->r,
                                  .v = joined ? joined->w : island->v,
                                  .certificate = &island->certificate,
                                  .seconds = run->watch[i].seconds};
    stepper->observer(stepper->observer_user, &observation);
    ds_arena_release(&stepper->arena, mark);
  }
  return true;
}
