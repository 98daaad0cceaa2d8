/* ds_stepper_stop: a long step ends when another thread says so, the state stays as it was, and the next step is the
 * one that would have been taken; raised between steps it ends the next step, and only that one. */
#include "base/thread.h"
#include "random.h"
#include "scene_helper.h"

enum { FACTORIZATIONS_BEFORE = 5, STOPS = 3 };

/* Bricks that all slide and turn at random: with a tolerance that no rounding allows, one step takes minutes. */
static bool start_wild(sim *s, int32_t threads) {
  ds_run_settings run = {.options = ds_default_options()};
  const char *spec = "wall:rows=12,bricks=10";
  ds_scene *scene = scene_generate(&run, spec, NULL, 0);
  s->options = run.options;
  if (!sim_start(s, spec, scene, threads)) return false;
  uint64_t random = 5;
  for (int32_t i = 0; i < ds_scene_body_count(s->scene); i++) {
    ds_body_id id = ds_scene_body(s->scene, i);
    if (ds_body_get_kind(s->scene, id) != DS_BODY_DYNAMIC) continue;
    double number[6];
    for (int k = 0; k < 6; k++) number[k] = random_in(&random, -1, 1);
    ds_state_set_velocity(s->state, id, v3(number[0], number[1], number[2]), v3(number[3], number[4], number[5]));
  }
  return true;
}

static ds_options endless(const sim *s) {
  ds_options options = s->options;
  options.tolerance = 1e-30;
  options.step_budget = 0;
  return options;
}

/* The step from here with a stepper of its own. */
static uint64_t hash_of_next(const sim *s) {
  uint64_t hash = 0;
  ds_state *copy = ds_state_copy(s->state);
  ds_stepper *stepper = ds_stepper_create(1);
  ds_step_report report;
  CHECK(copy && stepper);
  if (copy && stepper) {
    CHECK(ds_step(stepper, copy, &report, s->scene, &s->options) == DS_OK);
    hash = ds_state_hash(copy);
  }
  ds_stepper_destroy(stepper);
  ds_state_destroy(copy);
  return hash;
}

/* Waits until the step has begun to work, then ends it. */
static void stop_soon(void *context) {
  ds_stepper *stepper = context;
  while (ds_stepper_work(stepper) < FACTORIZATIONS_BEFORE) ds_sleep_until(ds_clock() + 1e-4);
  ds_stepper_stop(stepper);
}

static void stop_a_long_step(int32_t threads) {
  sim s;
  if (start_wild(&s, threads)) {
    ds_options long_one = endless(&s);
    uint64_t before = ds_state_hash(s.state);
    for (int i = 0; i < STOPS; i++) {
      /* a step that ended has a count, too: this one has none, and sets it to zero */
      ds_stepper_stop(s.stepper);
      CHECK(ds_step(s.stepper, s.state, &s.report, s.scene, &s.options) == DS_STOPPED);
      CHECK(ds_stepper_work(s.stepper) < FACTORIZATIONS_BEFORE);
      ds_thread *other = ds_thread_start(stop_soon, s.stepper);
      CHECK(other != NULL);
      if (!other) break;
      ds_status status = ds_step(s.stepper, s.state, &s.report, s.scene, &long_one);
      CHECK(status == DS_STOPPED);
      CHECK(ds_stepper_work(s.stepper) >= FACTORIZATIONS_BEFORE);
      ds_thread_join(other);
      CHECK(ds_state_hash(s.state) == before);
      CHECK_NEAR(ds_state_time(s.state), 0, 0);
      CHECK_NEAR((double)s.report.step, 0, 0);
    }
    uint64_t next = hash_of_next(&s);
    CHECK(ds_step(s.stepper, s.state, &s.report, s.scene, &s.options) == DS_OK);
    CHECK(ds_state_hash(s.state) == next && next != before);
    CHECK_NEAR((double)s.report.step, 1, 0);
  }
  sim_free(&s);
}

static void test_other_thread(void) { stop_a_long_step(1); }
static void test_pool(void) { stop_a_long_step(2); }

static void test_between_steps(void) {
  const char *const specs[] = {"stack:count=3", "pile:count=10", "soft-incline:slope=0.5,mu=0.6"};
  for (int i = 0; i < 3; i++) {
    sim s;
    if (sim_generate(&s, specs[i])) {
      sim_run(&s, 0.05);
      uint64_t before = ds_state_hash(s.state), next = hash_of_next(&s);
      ds_stepper_stop(s.stepper);
      ds_stepper_stop(s.stepper); /* twice is once */
      CHECK(ds_step(s.stepper, s.state, &s.report, s.scene, &s.options) == DS_STOPPED);
      CHECK_NEAR((double)ds_stepper_work(s.stepper), 0, 0);
      CHECK(ds_state_hash(s.state) == before);
      CHECK(sim_step(&s));
      CHECK(ds_state_hash(s.state) == next);
      CHECK(sim_step(&s));
    }
    sim_close(&s);
  }
}

int main(void) {
  RUN_THREADS(test_other_thread);
  RUN_THREADS(test_pool);
  RUN(test_between_steps);
  return test_summary();
}
