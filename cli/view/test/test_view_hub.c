/* The hub between page and simulation: pause, reset and another scene end a long step, what comes sixty times per
 * second does not. */
#include "../hub.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/thread.h"
#include "check.h"
#include "drystone/scene_file.h"
#include "la/vec3.h"

/* In place of describe.c: nobody asks for a status here. */
view_message *view_status_message(const view_state_text *text, int64_t skipped, int32_t clients) {
  (void)text, (void)skipped, (void)clients;
  return NULL;
}

static void nothing(void *user) { (void)user; }
static void count_call(void *user) { ++*(int *)user; }

static bool send(view_hub *hub, view_type type) {
  view_command command = {.type = type, .client = 1, .value = 1};
  return view_hub_send(hub, &command);
}

static void test_urgent(void) {
  static const view_type urgent[] = {VIEW_PAUSE, VIEW_RESET, VIEW_OPEN};
  static const view_type patient[] = {VIEW_PLAY, VIEW_STEP, VIEW_SET,   VIEW_GRAB,   VIEW_MOVE,
                                      VIEW_MOVE, VIEW_WANT, VIEW_PROBE, VIEW_RELEASE};
  int calls = 0;
  view_hub *hub = view_hub_create(nothing, NULL);
  CHECK(hub != NULL);
  if (hub == NULL) return;
  CHECK(send(hub, VIEW_PAUSE)); /* nobody is there to be called */
  view_hub_on_urgent(hub, count_call, &calls);
  for (size_t i = 0; i < sizeof patient / sizeof *patient; i++) CHECK(send(hub, patient[i]));
  CHECK_NEAR(calls, 0, 0);
  for (size_t i = 0; i < sizeof urgent / sizeof *urgent; i++) {
    CHECK(send(hub, urgent[i]));
    CHECK_NEAR(calls, (double)i + 1, 0);
  }
  view_command command;
  int waiting = 0;
  for (; view_hub_receive(hub, &command, 0, 0); waiting++) view_command_free(&command);
  CHECK_NEAR(waiting, 1 + 8 + 3, 0); /* the second MOVE took the place of the first */
  view_hub_stop(hub);
  CHECK_NEAR(calls, 4, 0);
  view_hub_on_urgent(hub, NULL, NULL);
  CHECK(send(hub, VIEW_PAUSE));
  CHECK_NEAR(calls, 4, 0);
  view_hub_destroy(hub);
}

static void stop_step(void *stepper) { ds_stepper_stop(stepper); }

typedef struct visitor {
  view_hub *hub;
  const ds_stepper *stepper;
} visitor;

/* Waits until the step works, moves something, and pauses. */
static void pause_soon(void *user) {
  const visitor *v = user;
  while (ds_stepper_work(v->stepper) < 5) ds_sleep_until(ds_clock() + 1e-4);
  for (int i = 0; i < 10; i++) send(v->hub, VIEW_MOVE);
  int64_t work = ds_stepper_work(v->stepper);
  while (ds_stepper_work(v->stepper) < work + 5) ds_sleep_until(ds_clock() + 1e-4); /* it goes on */
  send(v->hub, VIEW_PAUSE);
}

/* As the session does it: a pause ends a step that would take minutes, a move does not. */
static void test_pause_in_step(void) {
  ds_run_settings run;
  ds_error error = {{0}};
  char *text = ds_generate("wall:rows=12,bricks=10", &error);
  ds_scene *scene = text != NULL ? ds_scene_read_text(text, strlen(text), "wall", &run, &error) : NULL;
  ds_state *state = scene != NULL ? ds_state_create(scene) : NULL;
  ds_stepper *stepper = ds_stepper_create(1);
  view_hub *hub = view_hub_create(nothing, NULL);
  CHECK(state && stepper && hub);
  if (state && stepper && hub) {
    /* bricks that slide in all directions, to a tolerance that rounding does not allow */
    for (int32_t i = 0; i < ds_scene_body_count(scene); i++) {
      ds_body_id id = ds_scene_body(scene, i);
      if (ds_body_get_kind(scene, id) == DS_BODY_DYNAMIC)
        ds_state_set_velocity(state, id, v3(sin(7 * i), cos(5 * i), sin(3 * i)), v3(cos(i), sin(2 * i), cos(4 * i)));
    }
    run.options.tolerance = 1e-30;
    run.options.step_budget = 0;
    uint64_t before = ds_state_hash(state);
    visitor v = {hub, stepper};
    view_hub_on_urgent(hub, stop_step, stepper);
    ds_thread *thread = ds_thread_start(pause_soon, &v);
    ds_step_report report;
    CHECK(thread != NULL);
    if (thread) CHECK(ds_step(stepper, state, &report, scene, &run.options) == DS_STOPPED);
    if (thread) ds_thread_join(thread);
    CHECK(ds_stepper_work(stepper) >= 10);
    CHECK(ds_state_hash(state) == before);
    view_hub_on_urgent(hub, NULL, NULL);
  }
  view_hub_destroy(hub);
  ds_stepper_destroy(stepper);
  ds_state_destroy(state);
  ds_scene_destroy(scene);
  free(text);
}

int main(void) {
  RUN(test_urgent);
  RUN(test_pause_in_step);
  return test_summary();
}
