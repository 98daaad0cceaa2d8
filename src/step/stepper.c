/* The stepper: threads, memory and what it keeps from step to step. */
#include <stdlib.h>

#include "base/check.h"
#include "base/thread.h"
#include "step/step.h"

static const double LAST_RATE = 1e-6; /* s a contact: what a contact projection takes, until it is known */

ds_stepper *ds_stepper_create(int32_t threads) {
  ds_stepper *stepper = calloc(1, sizeof *stepper);
  if (!stepper) return NULL;
  stepper->pool = ds_pool_create(threads);
  stepper->last_rate = LAST_RATE;
  if (stepper->pool) stepper->workers = calloc((size_t)ds_pool_size(stepper->pool), sizeof *stepper->workers);
  if (!stepper->workers) {
    ds_stepper_destroy(stepper);
    return NULL;
  }
  return stepper;
}

void ds_stepper_destroy(ds_stepper *stepper) {
  if (!stepper) return;
  for (int32_t i = 0; stepper->workers && i < ds_pool_size(stepper->pool); i++) ds_arena_free(&stepper->workers[i]);
  ds_arena_free(&stepper->arena);
  free(stepper->workers);
  free(stepper->islands);
  ds_pool_destroy(stepper->pool);
  free(stepper);
}

const ds_certificate *ds_stepper_islands(const ds_stepper *stepper, int32_t *count) {
  *count = stepper->island_count;
  return stepper->islands;
}

void ds_stepper_observe(ds_stepper *stepper, ds_observer *observer, void *user) {
  DS_CHECK(stepper != NULL);
  stepper->observer = observer;
  stepper->observer_user = user;
}

void ds_stepper_stop(ds_stepper *stepper) { atomic_store_explicit(&stepper->stop, true, memory_order_relaxed); }

bool ds_step_is_stopped(const ds_step_run *run) {
  return atomic_exchange_explicit(&run->stepper->stop, false, memory_order_relaxed);
}

int64_t ds_stepper_work(const ds_stepper *stepper) {
  return atomic_load_explicit(&stepper->work, memory_order_relaxed);
}

void ds_step_lap(ds_step_run *run, ds_stage stage) {
  double now = ds_clock();
  run->report->seconds[stage] += now - run->clock;
  run->clock = now;
}

void ds_stepper_begin(ds_stepper *stepper) {
  stepper->started = ds_clock();
  atomic_store_explicit(&stepper->work, 0, memory_order_relaxed);
  ds_arena_reset(&stepper->arena);
  for (int32_t i = 0; i < ds_pool_size(stepper->pool); i++) ds_arena_reset(&stepper->workers[i]);
}
