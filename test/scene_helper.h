/* A simulation in a test: scene, state, stepper and what the steps reported, in one struct.
 *
 * Scenes come from the generators ("stack:count=10") or are built by the public calls. Options stay at their defaults
 * unless a test says otherwise. Every step counts into `unconverged`, and sim_close checks that it is zero. */
#ifndef DS_TEST_SCENE_HELPER_H
#define DS_TEST_SCENE_HELPER_H

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "drystone/scene_file.h"
#include "la/vec3.h"

typedef struct sim {
  char name[128];
  ds_scene *scene;
  ds_state *state, *start; /* start: a copy of the first state */
  ds_stepper *stepper;
  ds_options options;
  ds_step_report report; /* of the last step */
  int32_t steps, unconverged, failed;
  double natural_error, penetration, energy_gain; /* largest over all steps */
  double scratch_penetration;                     /* largest since the test last set it to zero */
} sim;

/* DRYSTONE_TEST_LONG=1: also what takes minutes (make soak). */
static inline bool test_long(void) {
  const char *text = getenv("DRYSTONE_TEST_LONG");
  return text && *text;
}
static inline double test_time(double full, double quick) { return test_quick() ? quick : full; }

/* Takes the scene, which may be NULL; false where something could not be made. */
static inline bool sim_start(sim *s, const char *name, ds_scene *scene, int32_t threads) {
  ds_options options = s->options;
  *s = (sim){.scene = scene, .options = options};
  snprintf(s->name, sizeof s->name, "%s", name);
  if (scene) {
    s->state = ds_state_create(scene);
    s->start = ds_state_create(scene);
    s->stepper = ds_stepper_create(threads);
  }
  CHECK(s->state && s->start && s->stepper);
  return s->state && s->start && s->stepper;
}

static inline ds_scene *scene_generate(ds_run_settings *run, const char *spec, const char *const *settings,
                                       int32_t setting_count) {
  ds_error error = {""};
  char *text = ds_generate(spec, &error), *changed = NULL;
  if (text && setting_count > 0) {
    changed = ds_scene_set(text, strlen(text), spec, settings, setting_count, &error);
    free(text);
    text = changed;
  }
  ds_scene_read_options options = ds_default_scene_read();
#ifdef SCENE_CACHE /* scene_cache.h */
  options.solid_cache = SCENE_CACHE;
#endif
  ds_scene *scene = text ? ds_scene_read_text_with(text, strlen(text), spec, &options, run, &error) : NULL;
  free(text);
  if (!scene) printf("%s: %s\n", spec, error.message);
  CHECK(scene != NULL);
  return scene;
}

/* A generator's scene with the options it asks for; settings as of ds_scene_set. */
static inline bool sim_generate_with(sim *s, const char *spec, const char *const *settings, int32_t setting_count) {
  ds_run_settings run = {.options = ds_default_options()};
  ds_scene *scene = scene_generate(&run, spec, settings, setting_count);
  s->options = run.options;
  return sim_start(s, spec, scene, 1);
}

static inline bool sim_generate(sim *s, const char *spec) { return sim_generate_with(s, spec, NULL, 0); }

static inline bool sim_step(sim *s) {
  ds_status status = ds_step(s->stepper, s->state, &s->report, s->scene, &s->options);
  s->steps++;
  s->failed += status != DS_OK;
  s->unconverged += !s->report.worst.converged;
  s->natural_error = fmax(s->natural_error, s->report.worst.natural_error);
  s->penetration = fmax(s->penetration, s->report.penetration);
  s->scratch_penetration = fmax(s->scratch_penetration, s->report.penetration);
  s->energy_gain = fmax(s->energy_gain, s->report.energy_after - s->report.energy_before);
  return status == DS_OK;
}

static inline void sim_run(sim *s, double seconds) {
  int32_t steps = (int32_t)(seconds / s->options.step + 0.5);
  for (int32_t i = 0; i < steps && sim_step(s); i++) continue;
}

static inline void sim_free(sim *s) {
  ds_stepper_destroy(s->stepper);
  ds_state_destroy(s->start);
  ds_state_destroy(s->state);
  ds_scene_destroy(s->scene);
  *s = (sim){.options = s->options};
}

/* Checks that every step was done and converged, and frees everything. */
static inline void sim_close(sim *s) {
  if (s->failed || s->unconverged)
    printf("%s: %d of %d steps unconverged (worst error %g), %d failed\n", s->name, (int)s->unconverged, (int)s->steps,
           s->natural_error, (int)s->failed);
  CHECK_NEAR(s->failed, 0, 0);
  CHECK_NEAR(s->unconverged, 0, 0);
  sim_free(s);
}

static inline ds_body_id sim_body(const sim *s, const char *name) {
  ds_body_id id = ds_scene_find_body(s->scene, name);
  CHECK(id.index1 > 0);
  return id.index1 > 0 ? id : ds_scene_body(s->scene, 0);
}

/* Largest distance of a dynamic body's centre from where it is in `from`. */
static inline double sim_displacement(const sim *s, const ds_state *from) {
  double most = 0;
  for (int32_t i = 0; i < ds_scene_body_count(s->scene); i++) {
    ds_body_id id = ds_scene_body(s->scene, i);
    if (ds_body_get_kind(s->scene, id) != DS_BODY_DYNAMIC) continue;
    double d = v3_dist(ds_state_center(s->state, id), ds_state_center(from, id));
    most = d <= most ? most : d; /* a NaN stays */
  }
  return most;
}

/* Runs until some centre has moved by `far` from its start, for `seconds` at most; the time it took. */
static inline double sim_run_until(sim *s, double far, double seconds) {
  int32_t steps = (int32_t)(seconds / s->options.step + 0.5);
  for (int32_t i = 0; i < steps && sim_displacement(s, s->start) < far && sim_step(s); i++) continue;
  return ds_state_time(s->state);
}

/* ---- scenes built by hand ---- */

static inline ds_shape_def shape_box(double x, double y, double z) { /* full sizes */
  ds_shape_def def = ds_default_shape();
  def.half = v3(0.5 * x, 0.5 * y, 0.5 * z);
  return def;
}

static inline ds_shape_def shape_sphere(double radius) {
  ds_shape_def def = ds_default_shape();
  def.kind = DS_SHAPE_SPHERE;
  def.radius = radius;
  return def;
}

static inline ds_shape_def shape_round(ds_shape_kind kind, double radius, double half_length) {
  ds_shape_def def = ds_default_shape();
  def.kind = kind;
  def.radius = radius;
  def.half_length = half_length;
  return def;
}

static inline ds_shape_def shape_half_space(void) {
  ds_shape_def def = ds_default_shape();
  def.kind = DS_SHAPE_HALF_SPACE;
  return def;
}

static inline ds_scene *scene_new(ds_vec3 gravity, double mu, double e) {
  ds_scene_def def = ds_default_scene();
  ds_error error = {""};
  def.gravity = gravity;
  def.default_mu = mu;
  def.default_restitution = e;
  ds_scene *scene = ds_scene_create(&def, &error);
  if (!scene) printf("%s\n", error.message);
  CHECK(scene != NULL);
  return scene;
}

static inline ds_body_id scene_add(ds_scene *scene, const ds_body_def *body, ds_shape_def shape) {
  ds_error error = {""};
  ds_body_id id = ds_scene_add_body(scene, body, &error);
  bool done = id.index1 > 0 && ds_scene_add_shape(scene, id, &shape, &error) == DS_OK;
  if (!done) printf("%s\n", error.message);
  CHECK(done);
  return id;
}

static inline ds_body_id scene_add_floor(ds_scene *scene) {
  ds_body_def floor = ds_default_body();
  floor.kind = DS_BODY_STATIC;
  return scene_add(scene, &floor, shape_half_space());
}

static inline ds_body_def body_at(double x, double y, double z) {
  ds_body_def def = ds_default_body();
  def.pose.p = v3(x, y, z);
  return def;
}

/* What turns about the z axis at w rad/s, and a cube of 0.1 m that goes with it, at (r, 0). */
static inline ds_body_def turntable_def(double w) {
  ds_body_def table = body_at(0, 0, -0.05);
  table.kind = DS_BODY_KINEMATIC;
  table.motion.kind = DS_MOTION_VELOCITY;
  table.motion.angular_velocity = v3(0, 0, w);
  return table;
}
static inline ds_shape_def turntable_shape(void) { return shape_round(DS_SHAPE_CYLINDER, 2, 0.05); }
static inline ds_body_def rider_def(double r, double w) {
  ds_body_def cube = body_at(r, 0, 0.05);
  cube.velocity = v3(0, w * r, 0);
  cube.angular_velocity = v3(0, 0, w);
  return cube;
}
static inline ds_shape_def rider_shape(void) { return shape_box(0.1, 0.1, 0.1); }

/* Adds both; returns the cube. */
static inline ds_body_id scene_add_turntable(ds_scene *scene, double r, double w) {
  ds_body_def table = turntable_def(w), cube = rider_def(r, w);
  scene_add(scene, &table, turntable_shape());
  return scene_add(scene, &cube, rider_shape());
}

/* Finishes the scene and starts it with default options. */
static inline bool sim_finish(sim *s, const char *name, ds_scene *scene) {
  ds_error error = {""};
  bool done = ds_scene_finish(scene, &error) == DS_OK;
  if (!done) printf("%s: %s\n", name, error.message);
  CHECK(done);
  s->options = ds_default_options();
  return sim_start(s, name, done ? scene : NULL, 1);
}

/* Runs a generated scene for `time` and checks that no body moved further than `still`, or, where it should fall, runs
 * until one has moved by `far` and checks that one did. */
static inline void check_stands_or_falls(const char *spec, bool stands, double time, double still, double far) {
  sim s;
  if (sim_generate(&s, spec)) {
    if (stands)
      sim_run(&s, time);
    else
      time = sim_run_until(&s, far, time);
    double moved = sim_displacement(&s, s.start);
    printf("     %s: moved %.3g m in %g s\n", spec, moved, time);
    if (stands)
      CHECK_LE(moved, still);
    else
      CHECK_LE(far, moved);
  }
  sim_close(&s);
}

#endif
