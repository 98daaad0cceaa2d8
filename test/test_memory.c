/* Memory: a warm step asks for none, and where the k-th request fails, whatever k, the call says so, nothing changes,
 * nothing leaks and the same call done again goes on as if nothing had been.
 *
 * The linker sends the library's malloc, calloc and realloc to the functions below (--wrap in CMakeLists.txt). */
#include <stdatomic.h>

#include "scene_helper.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);

static atomic_long requests, fail_at; /* fail_at: the request that fails, 0 = none */

static bool refused(void) {
  long number = atomic_fetch_add(&requests, 1) + 1;
  return number == atomic_load(&fail_at);
}

void *__wrap_malloc(size_t size) { return refused() ? NULL : __real_malloc(size); }
void *__wrap_calloc(size_t count, size_t size) { return refused() ? NULL : __real_calloc(count, size); }
void *__wrap_realloc(void *old, size_t size) { return refused() ? NULL : __real_realloc(old, size); }

static void look_away(void *user, const ds_observation *observation) {
  (void)user;
  (void)observation;
}

/* ---- warm steps ---- */

/* Requests of `steps` steps after `before` steps. */
static long warm_requests(const char *spec, ds_observer *observer, int32_t threads, int32_t before, int32_t steps) {
  ds_run_settings run = {.options = ds_default_options()};
  ds_scene *scene = scene_generate(&run, spec, NULL, 0);
  sim s;
  long count = -1;
  s.options = run.options;
  if (sim_start(&s, spec, scene, threads)) {
    ds_stepper_observe(s.stepper, observer, NULL);
    for (int32_t i = 0; i < before; i++) sim_step(&s);
    long there = atomic_load(&requests);
    for (int32_t i = 0; i < steps; i++) sim_step(&s);
    count = atomic_load(&requests) - there;
  }
  sim_close(&s);
  return count;
}

static void test_warm_step(void) {
  ds_scene_destroy(scene_new(v3(0, 0, 0), 0, 0));
  CHECK(atomic_load(&requests) > 0); /* the linker does send them here */
  static const char *const specs[] = {"stack", "card-house:levels=2", "arch", "slide", "wall:rows=3", "spin"};
  for (int32_t i = 0; i < 6; i++) {
    CHECK_NEAR((double)warm_requests(specs[i], NULL, 1, 10, 50), 0, 0);
    CHECK_NEAR((double)warm_requests(specs[i], NULL, 2, 10, 50), 0, 0);
    CHECK_NEAR((double)warm_requests(specs[i], look_away, 1, 10, 50), 0, 0);
  }
}

/* In a heap that is still forming the arena grows now and then, never at rest. */
static void test_moving_step(void) {
  int32_t before = test_quick() ? 50 : 150;
  long count = warm_requests("pile:count=15", NULL, 1, before, 20);
  printf("     20 steps of a pile ask for memory %ld times\n", count);
  CHECK_LE((double)count, 20);
}

/* ---- failing requests ---- */

typedef enum outcome { DONE, REFUSED, BROKEN } outcome;

/* Text, scene, state, stepper, three observed steps, a copy and a ray, each of which may be refused. *hash: of the last
 * state. */
static outcome whole_run(uint64_t *hash, const char *spec, const char *setting, int32_t threads) {
  ds_error error = {""};
  ds_run_settings run = {.options = ds_default_options()};
  char *text = ds_generate(spec, &error), *changed = NULL;
  outcome result = REFUSED;
  if (text) changed = ds_scene_set(text, strlen(text), "scene", &setting, 1, &error);
  ds_scene *scene = changed ? ds_scene_read_text(changed, strlen(changed), "scene", &run, &error) : NULL;
  if (!scene && !strstr(error.message, "memory")) {
    printf("a refusal that does not speak of memory: \"%s\"\n", error.message);
    result = BROKEN;
  }
  ds_state *state = scene ? ds_state_create(scene) : NULL;
  ds_stepper *stepper = state ? ds_stepper_create(threads) : NULL;
  if (stepper) ds_stepper_observe(stepper, look_away, NULL);
  for (int32_t i = 0; stepper && i < 3; i++) {
    ds_step_report report;
    uint64_t before = ds_state_hash(state);
    double time = ds_state_time(state);
    ds_status status = ds_step(stepper, state, &report, scene, &run.options);
    if (status == DS_ERROR_MEMORY) {
      result = REFUSED;
      /* as it was; and the same step again succeeds */
      if (ds_state_hash(state) != before || ds_state_time(state) != time) result = BROKEN;
      status = ds_step(stepper, state, &report, scene, &run.options);
      if (result == REFUSED && status == DS_OK) continue;
    }
    if (status != DS_OK) result = BROKEN;
  }
  if (stepper && result != BROKEN) {
    ds_state *copy = ds_state_copy(state);
    if (copy) {
      *hash = ds_state_hash(copy);
      result = DONE;
    }
    ds_state_destroy(copy);
  }
  ds_stepper_destroy(stepper);
  ds_state_destroy(state);
  ds_scene_destroy(scene);
  free(changed);
  free(text);
  return result;
}

/* Every request of the run fails once. Steps that were refused and repeated must end in the state of an undisturbed
 * run. */
static void every_request_fails(const char *spec, const char *setting, int32_t threads) {
  uint64_t want = 0;
  atomic_store(&requests, 0);
  CHECK(whole_run(&want, spec, setting, threads) == DONE);
  long total = atomic_load(&requests), refusals = 0, broken = 0, different = 0, stride = test_quick() ? 7 : 1;
  for (long k = 1; k <= total; k += stride) {
    uint64_t hash = want;
    atomic_store(&requests, 0);
    atomic_store(&fail_at, k);
    outcome result = whole_run(&hash, spec, setting, threads);
    atomic_store(&fail_at, 0);
    refusals += result == REFUSED;
    broken += result == BROKEN;
    different += result == DONE && hash != want;
    if (result == BROKEN || (result == DONE && hash != want)) printf("request %ld of %ld: broken\n", k, total);
  }
  printf("     %s: %ld requests, %ld runs refused\n", spec, total, refusals);
  CHECK(total > 20);
  CHECK(refusals > 0);
  CHECK_NEAR((double)broken, 0, 0);
  CHECK_NEAR((double)different, 0, 0);
}

static void test_failing_requests(void) {
  every_request_fails("stack:count=3", "gravity=[0,0,-5]", 1);
  every_request_fails("pile:count=6", "materials.stone.mu=0.3", 2);
  every_request_fails("arch:stones=5,shape=semicircle,thickness=0.3", "options.contacts_per_face=20", 2);
  every_request_fails("billiard:rows=3,velocity=80",
                      "options={\"restitution_law\": \"energetic\", \"impacts\": \"sequential\"}", 1);
  every_request_fails("stack:count=3,shake=0.02", "options.face_pressure=\"even\"", 1);
  every_request_fails("stack:count=2",
                      "interfaces=[{\"bodies\": [\"cube2\", \"cube1\"], \"normal\": [0, 0, -1], \"points\": "
                      "[[0.1, 0, 0.2], [0, 0.1, 0.2], [-0.1, -0.1, 0.2]]}, {\"bodies\": [\"floor\", \"cube1\"], "
                      "\"normal\": [0, 0, 1], \"points\": [[0.1, 0, 0], [0, 0.1, 0], [-0.1, -0.1, 0]]}]",
                      1);
  every_request_fails("card-pair", "options.method=\"staggered\"", 1);
}

/* The building calls leave the scene as it was: what was refused can be added again. */
static void test_building_goes_on(void) {
  ds_vec3 points[8];
  for (int32_t i = 0; i < 8; i++) points[i] = v3(i & 1, (i >> 1) & 1, (i >> 2) & 1);
  ds_keyframe keys[2] = {{0, pose_identity()}, {1, pose_identity()}};
  bool all_done = false;
  for (long k = 1; k < 60 && !all_done; k++) {
    ds_error error = {""};
    ds_scene_def scene_def = ds_default_scene();
    ds_scene *scene = ds_scene_create(&scene_def, &error);
    CHECK(scene != NULL);
    if (!scene) return;
    atomic_store(&requests, 0);
    atomic_store(&fail_at, k);
    ds_material_def material = ds_default_material();
    ds_material_id m = {0};
    for (int32_t i = 0; i < 2 && m.index1 == 0; i++) m = ds_scene_add_material(scene, &material, &error);
    CHECK(m.index1 == 1);
    ds_body_def body = ds_default_body();
    body.name = "hull";
    body.material = m;
    body.kind = DS_BODY_KINEMATIC;
    body.motion.kind = DS_MOTION_KEYFRAMES;
    body.motion.keyframes = keys;
    body.motion.keyframe_count = 2;
    ds_body_id id = {0};
    for (int32_t i = 0; i < 2 && id.index1 == 0; i++) id = ds_scene_add_body(scene, &body, &error);
    CHECK(id.index1 == 1);
    ds_shape_def shape = ds_default_shape();
    shape.kind = DS_SHAPE_HULL;
    shape.points = points;
    shape.point_count = 8;
    ds_status status = ds_scene_add_shape(scene, id, &shape, &error);
    if (status == DS_ERROR_MEMORY) status = ds_scene_add_shape(scene, id, &shape, &error);
    CHECK(status == DS_OK);
    CHECK(ds_body_shape_count(scene, id) == 1);
    status = ds_scene_set_pair(scene, m, m, 0.1, 0, &error);
    if (status == DS_ERROR_MEMORY) status = ds_scene_set_pair(scene, m, m, 0.1, 0, &error);
    CHECK(status == DS_OK);
    status = ds_scene_finish(scene, &error);
    if (status == DS_ERROR_MEMORY) status = ds_scene_finish(scene, &error);
    CHECK(status == DS_OK);
    all_done = atomic_load(&requests) < k;
    atomic_store(&fail_at, 0);
    ds_scene_destroy(scene);
  }
  CHECK(all_done); /* every request has failed once */
}

/* A question that needs memory says so where it has none, and not that nothing overlaps. */
static void test_overlap_without_memory(void) {
  ds_run_settings run = {.options = ds_default_options()};
  ds_scene *scene = scene_generate(&run, "stack:count=3", NULL, 0);
  ds_state *state = ds_state_create(scene);
  ds_body_id top = ds_scene_body(scene, ds_scene_body_count(scene) - 1);
  ds_pose pose = ds_state_pose(scene, state, top);
  pose.p.z -= 0.01;
  ds_state_set_pose(scene, state, top, pose);
  long total = 0;
  for (long k = 0; k <= total; k++) { /* k = 0: none fails */
    double depth = -1;
    atomic_store(&requests, 0);
    atomic_store(&fail_at, k);
    ds_status status = ds_state_deepest_overlap(&depth, NULL, NULL, scene, state);
    atomic_store(&fail_at, 0);
    if (k == 0) total = atomic_load(&requests);
    CHECK(status == (k ? DS_ERROR_MEMORY : DS_OK));
    if (status == DS_OK) CHECK_NEAR(depth, 0.01, 1e-12);
  }
  CHECK(total > 0);
  ds_state_destroy(state);
  ds_scene_destroy(scene);
}

int main(void) {
  RUN(test_warm_step);
  RUN(test_moving_step);
  RUN_THREADS(test_failing_requests);
  RUN(test_building_goes_on);
  RUN(test_overlap_without_memory);
  return test_summary();
}
