/* Recordings: what is written is read back bit for bit, also while it is written, after the writer was killed and when
 * the disk is full; what is damaged or foreign is refused with a reason. States are filled by hand, nothing is
 * simulated. */
#define _XOPEN_SOURCE 700 /* mkdtemp, setrlimit */
#include <hdf5.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "body/scene.h"
#include "check.h"
#include "record/record.h"

static char folder[64];

static const char scene_text[] =
    "{\"drystone\": 1, \"name\": \"two\", // a comment stays\n"
    " \"bodies\": [{\"name\": \"floor\", \"kind\": \"static\", \"shapes\": [{\"kind\": \"half-space\"}]},\n"
    "  {\"name\": \"ball\", \"position\": [0, 0, 1], \"shapes\": [{\"kind\": \"sphere\", \"radius\": 0.5}]}]}\n";

static const char *place(const char *name) {
  static char path[128];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

typedef struct world {
  ds_scene *scene;
  ds_state *state;
  ds_run_settings run;
  ds_contact contacts[16], *own; /* the state's contacts are ours meanwhile */
} world;

static bool world_open(world *w) {
  ds_error error = {{0}};
  memset(w, 0, sizeof *w);
  w->scene = ds_scene_read_text(scene_text, strlen(scene_text), "test", &w->run, &error);
  if (w->scene == NULL) printf("%s\n", error.message);
  w->state = w->scene != NULL ? ds_state_create(w->scene) : NULL;
  CHECK(w->state != NULL);
  if (w->state == NULL) return false;
  w->own = w->state->contacts;
  w->state->contacts = w->contacts;
  return true;
}

static void world_close(world *w) {
  if (w->state != NULL) {
    w->state->contacts = w->own;
    w->state->contact_count = 0;
  }
  ds_state_destroy(w->state);
  ds_scene_destroy(w->scene);
}

/* Something different in every frame; frames 4k to 4k + 3 have the same contacts. */
static ds_step_report fill(world *w, int k) {
  double x = 0.1 * k;
  w->state->time = 0.01 * k;
  ds_state_set_pose(w->scene, w->state, (ds_body_id){2}, (ds_pose){{x, 1 / (1 + x), -x}, quat_exp(v3(x, 0.5, 0))});
  ds_state_set_velocity(w->state, (ds_body_id){2}, v3(x, 2 * x, 3 * x), v3(-x, 0, 1e-300 * x));
  int group = k / 4;
  w->state->contact_count = group % 4;
  for (int i = 0; i < w->state->contact_count; i++)
    w->contacts[i] = (ds_contact){.a = {1},
                                  .b = {2},
                                  .point = {group, i, 0.5},
                                  .normal = {0, 0, -1},
                                  .gap = -1e-9 * i,
                                  .mu = 0.25,
                                  .restitution = 0.125,
                                  .impulse = {1e-20 / 3, 2.1, 3 + group},
                                  .velocity = {4, 0.1 * (group + 1), -1e-9 / 3 * i},
                                  .mode = (ds_contact_mode)(i % 3),
                                  .feature = UINT64_MAX - (uint64_t)i};
  ds_step_report report = {.step = k,
                           .time = w->state->time,
                           .contacts = w->state->contact_count,
                           .active_contacts = 1,
                           .islands = 2,
                           .unconverged_islands = k % 2,
                           .energy_before = 10 + x,
                           .energy_after = 9 + x,
                           .penetration = 1e-7 * k};
  report.worst = (ds_certificate){.bodies = 1,
                                  .contacts = report.contacts,
                                  .staggered_iterations = 3,
                                  .projection_iterations = 4,
                                  .factorizations = 5,
                                  .rel_err = 0.5,
                                  .residual = 0.25,
                                  .natural_error = 1e-9 * k,
                                  .approach_velocity = 1e-12,
                                  .cone_violation = 1e-13,
                                  .dissipation_error = 1e-14,
                                  .converged = k % 2 == 0};
  for (int i = 0; i < DS_STAGE_COUNT; i++) report.seconds[i] = 1e-3 * i;
  return report;
}

static ds_recorder *write_frames(world *w, const char *path, int frames) {
  ds_error error = {{0}};
  ds_recorder *recorder = ds_recorder_create(path, scene_text, &w->run, w->scene, &error);
  if (recorder == NULL) printf("%s\n", error.message);
  CHECK(recorder != NULL);
  for (int k = 0; recorder != NULL && k < frames; k++) {
    ds_step_report report = fill(w, k);
    CHECK(ds_recorder_append(recorder, w->scene, w->state, &report, &error) == DS_OK);
  }
  return recorder;
}

/* Longer than a recorder waits between two flushes. */
static void wait_for_flush(void) {
  const struct timespec pause = {0, 300000000};
  nanosleep(&pause, NULL);
}

/* Field by field: the padding of a struct is nobody's. */
static bool same_certificate(const ds_certificate *a, const ds_certificate *b) {
  return a->bodies == b->bodies && a->contacts == b->contacts && a->staggered_iterations == b->staggered_iterations &&
         a->projection_iterations == b->projection_iterations && a->factorizations == b->factorizations &&
         a->rel_err == b->rel_err && a->residual == b->residual && a->natural_error == b->natural_error &&
         a->approach_velocity == b->approach_velocity && a->cone_violation == b->cone_violation &&
         a->dissipation_error == b->dissipation_error && a->converged == b->converged;
}

static bool same_report(const ds_step_report *a, const ds_step_report *b) {
  return a->step == b->step && a->time == b->time && a->contacts == b->contacts &&
         a->active_contacts == b->active_contacts && a->islands == b->islands &&
         a->unconverged_islands == b->unconverged_islands && same_certificate(&a->worst, &b->worst) &&
         a->energy_before == b->energy_before && a->energy_after == b->energy_after &&
         a->penetration == b->penetration && memcmp(a->seconds, b->seconds, sizeof a->seconds) == 0;
}

/* Of the numbers of a contact, docs/recording.md: relative, and in m or m/s of all but impulses. */
#define CONTACT_ERROR 0x1p-24
#define CONTACT_NOISE 0x1p-41
static bool is_near(double a, double b, double noise) { return fabs(a - b) <= CONTACT_ERROR * fabs(b) + noise; }
static bool is_stored(ds_vec3 a, ds_vec3 b, double noise) {
  return is_near(a.x, b.x, noise) && is_near(a.y, b.y, noise) && is_near(a.z, b.z, noise);
}

static void check_frame(world *w, ds_recording *recording, int k) {
  ds_error error = {{0}};
  ds_frame frame;
  ds_status status = ds_recording_read(recording, &frame, k, &error);
  CHECK(status == DS_OK);
  if (status != DS_OK) {
    printf("%s\n", error.message);
    return;
  }
  ds_step_report report = fill(w, k);
  ds_frame bodies; /* into the same arrays, which are compared below */
  CHECK(ds_recording_read_bodies(recording, &bodies, k, &error) == DS_OK);
  CHECK(bodies.contacts == NULL && bodies.contact_count == 0 && bodies.poses == frame.poses);
  CHECK(bodies.time == frame.time && same_report(&bodies.report, &report));
  CHECK(frame.time == w->state->time);
  CHECK(same_report(&frame.report, &report));
  for (int i = 0; i < 2; i++) {
    ds_body_id body = {i + 1};
    ds_pose pose = ds_state_pose(w->scene, w->state, body);
    ds_vec3 v = ds_state_velocity(w->state, body), spin = ds_state_angular_velocity(w->state, body);
    CHECK(memcmp(&frame.poses[i], &pose, sizeof pose) == 0);
    CHECK(memcmp(&frame.velocities[i], &v, sizeof v) == 0);
    CHECK(memcmp(&frame.angular_velocities[i], &spin, sizeof spin) == 0);
  }
  CHECK(frame.contact_count == w->state->contact_count);
  for (int i = 0; i < frame.contact_count && i < w->state->contact_count; i++) {
    const ds_contact *a = &frame.contacts[i], *b = &w->contacts[i];
    CHECK(a->a.index1 == b->a.index1 && a->b.index1 == b->b.index1 && a->feature == b->feature && a->mode == b->mode);
    CHECK(is_stored(a->point, b->point, CONTACT_NOISE) && is_stored(a->normal, b->normal, CONTACT_NOISE));
    CHECK(is_stored(a->velocity, b->velocity, CONTACT_NOISE) && is_stored(a->impulse, b->impulse, 0));
    CHECK(is_near(a->gap, b->gap, CONTACT_NOISE));
    CHECK(a->mu == b->mu && a->restitution == b->restitution);
  }
}

static void test_round_trip(void) {
  enum { FRAMES = 40 };
  world w;
  if (!world_open(&w)) return;
  w.run.options.tolerance = 1e-5;
  w.run.options.method = ds_method_named("staggered");
  w.run.options.warm_start = false;
  w.run.options.step_budget = 77;
  w.run.options.restitution_law = ds_restitution_named("energetic");
  w.run.options.impacts = DS_IMPACTS_SEQUENTIAL;
  w.run.options.face_pressure = DS_PRESSURE_EVEN;
  w.run.options.error_control = 0.125;
  w.run.time = 3.25;
  ds_error error = {{0}};
  ds_recorder *recorder = write_frames(&w, place("a.h5"), FRAMES);
  CHECK(ds_recorder_close(recorder, &error) == DS_OK);
  ds_recording *r = ds_recording_open(place("a.h5"), &error);
  CHECK(r != NULL);
  if (r == NULL) printf("%s\n", error.message);
  if (r != NULL) {
    const ds_run_settings *run = ds_recording_settings(r);
    CHECK(strcmp(ds_recording_scene_text(r), scene_text) == 0);
    CHECK(strcmp(run->name, "two") == 0 && run->time == 3.25);
    CHECK(run->options.tolerance == 1e-5 && run->options.method == ds_method_named("staggered") &&
          !run->options.warm_start);
    CHECK_NEAR(run->options.step_budget, 77, 0);
    CHECK(run->options.restitution_law == ds_restitution_named("energetic"));
    CHECK(run->options.impacts == DS_IMPACTS_SEQUENTIAL && run->options.face_pressure == DS_PRESSURE_EVEN);
    CHECK_NEAR(run->options.error_control, 0.125, 0);
    CHECK(run->options.step == w.run.options.step && run->options.rel_err == w.run.options.rel_err);
    CHECK(ds_scene_body_count(ds_recording_scene(r)) == 2);
    CHECK(strcmp(ds_recording_version(r), ds_version()) == 0);
    CHECK(ds_recording_closed(r));
    CHECK(ds_recording_frame_count(r) == FRAMES);
    for (int k = FRAMES - 1; k >= 0; k--) check_frame(&w, r, k);
    ds_frame frame;
    CHECK(ds_recording_read(r, &frame, FRAMES, &error) == DS_ERROR_INPUT);
    CHECK(ds_recording_read(r, &frame, -1, &error) == DS_ERROR_INPUT);
    CHECK(ds_recording_find(r, -1) == 0);
    CHECK(ds_recording_find(r, 0.014) == 1);
    CHECK(ds_recording_find(r, 0.016) == 2);
    CHECK(ds_recording_find(r, 99) == FRAMES - 1);
    CHECK_NEAR(ds_recording_time(r, 7), 0.07, 1e-15);
  }
  ds_recording_close(r);
  world_close(&w);
}

/* A second reader sees frames while the writer goes on, and an old recording stays until the new one is there. */
static void test_read_while_written(void) {
  world w;
  if (!world_open(&w)) return;
  ds_error error = {{0}};
  ds_recorder *recorder = write_frames(&w, place("live.h5"), 8);
  wait_for_flush();
  ds_step_report report = fill(&w, 8);
  CHECK(ds_recorder_append(recorder, w.scene, w.state, &report, &error) == DS_OK);
  pid_t child = fork(); /* another process: HDF5 shares an open file within one */
  if (child == 0) {
    ds_recording *r = ds_recording_open(place("live.h5"), &error);
    bool ok = r != NULL && !ds_recording_closed(r) && ds_recording_frame_count(r) == 9;
    if (!ok) printf("%s %d frames\n", error.message, r != NULL ? (int)ds_recording_frame_count(r) : -1);
    ds_frame frame;
    for (int k = 0; ok && k < 9; k++) ok = ds_recording_read(r, &frame, k, &error) == DS_OK;
    fflush(stdout);
    _exit(ok ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(status == 0);
  CHECK(ds_recorder_close(recorder, &error) == DS_OK);
  world_close(&w);
}

/* Killed after some frames; 2,600 fill chunks of most datasets, so that rows are in them and in their tails. */
static void check_killed(int frames) {
  world w;
  if (!world_open(&w)) return;
  ds_error error = {{0}};
  pid_t child = fork();
  if (child == 0) {
    ds_recorder *recorder = write_frames(&w, place("killed.h5"), frames);
    wait_for_flush();
    for (int k = frames; k < frames + 3; k++) { /* the first of these is flushed with all before it */
      ds_step_report report = fill(&w, k);
      ds_recorder_append(recorder, w.scene, w.state, &report, &error);
    }
    raise(SIGKILL);
  }
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(WIFSIGNALED(status));
  ds_recording *r = ds_recording_open(place("killed.h5"), &error);
  CHECK(r != NULL);
  if (r == NULL) printf("%s\n", error.message);
  if (r != NULL) {
    CHECK(!ds_recording_closed(r));
    CHECK(ds_recording_frame_count(r) == frames + 1);
    int last = ds_recording_frame_count(r) - 1, every = test_quick() ? 26 : 1;
    for (int k = 0; k < last; k += every) check_frame(&w, r, k);
    check_frame(&w, r, last);
  }
  ds_recording_close(r);
  world_close(&w);
}

static void test_killed(void) {
  check_killed(200);
  check_killed(2600);
}

/* A reader that knows 100 frames reads them after the writer has moved their rows out of the tails. */
static void test_read_behind(void) {
  world w;
  if (!world_open(&w)) return;
  ds_error error = {{0}};
  int go[2] = {-1, -1}, opened[2] = {-1, -1};
  ds_recorder *recorder = write_frames(&w, place("behind.h5"), 99);
  wait_for_flush();
  ds_step_report report = fill(&w, 99);
  CHECK(ds_recorder_append(recorder, w.scene, w.state, &report, &error) == DS_OK);
  CHECK(pipe(go) == 0 && pipe(opened) == 0);
  pid_t child = fork();
  if (child == 0) {
    char byte;
    ds_recording *r = ds_recording_open(place("behind.h5"), &error);
    bool ok = r != NULL && ds_recording_frame_count(r) == 100;
    ok = write(opened[1], "x", 1) == 1 && read(go[0], &byte, 1) == 1 && ok;
    ds_frame frame;
    for (int k = 0; ok && k < 100; k++) {
      fill(&w, k);
      ok = ds_recording_read(r, &frame, k, &error) == DS_OK && frame.contact_count == w.state->contact_count &&
           v3_dist(frame.poses[1].p, ds_state_pose(w.scene, w.state, (ds_body_id){2}).p) == 0;
    }
    if (!ok) printf("%s\n", error.message);
    fflush(stdout);
    _exit(ok ? 0 : 1);
  }
  char byte;
  CHECK(read(opened[0], &byte, 1) == 1);
  for (int k = 100; k < 2600; k++) {
    report = fill(&w, k);
    if (k == 2599) wait_for_flush();
    CHECK(ds_recorder_append(recorder, w.scene, w.state, &report, &error) == DS_OK);
  }
  CHECK(write(go[1], "x", 1) == 1);
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(status == 0);
  CHECK(ds_recorder_close(recorder, &error) == DS_OK);
  for (int i = 0; i < 2; i++) close(go[i]), close(opened[i]);
  world_close(&w);
}

/* ---- What is refused ---- */

static void check_refused(const char *path, const char *reason) {
  ds_error error = {{0}};
  ds_recording *r = ds_recording_open(path, &error);
  CHECK(r == NULL);
  CHECK(strstr(error.message, reason) != NULL);
  if (strstr(error.message, reason) == NULL) printf("  said \"%s\", wanted \"%s\"\n", error.message, reason);
  ds_recording_close(r);
}

static void test_foreign(void) {
  check_refused(place("none.h5"), "No such file");
  check_refused(folder, "regular file");
  FILE *file = fopen(place("text.h5"), "w");
  fputs("not HDF5", file);
  fclose(file);
  check_refused(place("text.h5"), "not an HDF5 file");
  file = fopen(place("empty.h5"), "w");
  fclose(file);
  check_refused(place("empty.h5"), "not an HDF5 file");
  H5Fclose(H5Fcreate(place("other.h5"), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
  check_refused(place("other.h5"), "another kind");
}

static void write_plain(const char *path) {
  world w;
  if (!world_open(&w)) return;
  ds_error error;
  CHECK(ds_recorder_close(write_frames(&w, path, 12), &error) == DS_OK);
  world_close(&w);
}

/* Writes one number into a dataset or an attribute of a good recording. */
static void doctor(const char *path, const char *set, const char *attribute, hsize_t row, double value) {
  hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
  CHECK(file >= 0);
  if (attribute != NULL) {
    hid_t object = H5Oopen(file, set, H5P_DEFAULT), at = H5Aopen(object, attribute, H5P_DEFAULT);
    CHECK(H5Awrite(at, H5T_NATIVE_DOUBLE, &value) >= 0);
    H5Aclose(at);
    H5Oclose(object);
  } else {
    hid_t at = H5Dopen2(file, set, H5P_DEFAULT), space = H5Dget_space(at);
    hsize_t start[3] = {row, 0, 0}, count[3] = {1, 1, 1}, one = 1;
    hid_t memory = H5Screate_simple(1, &one, NULL);
    if (H5Sget_simple_extent_ndims(space) > 0) H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
    CHECK(H5Dwrite(at, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, &value) >= 0);
    H5Sclose(memory);
    H5Sclose(space);
    H5Dclose(at);
  }
  H5Fclose(file);
}

static void check_doctored(const char *set, const char *attribute, hsize_t row, double value, const char *reason) {
  const char *path = place("bad.h5");
  write_plain(path);
  doctor(path, set, attribute, row, value);
  check_refused(path, reason);
}

static void test_damaged_index(void) {
  check_doctored("/", "format_version", 0, 8, "format version 8");
  check_doctored("/", "format_version", 0, 0, "format version 0");
  check_doctored("/settings", "step", 0, -1, "step");
  check_doctored("/settings", "method", 0, 77, "method");
  static const char *const choices[] = {"method",  "metric",        "integrator",   "restitution_law",
                                        "impacts", "face_pressure", "stabilization"};
  for (size_t i = 0; i < sizeof choices / sizeof *choices; i++)
    check_doctored("/settings", choices[i], 0, -1, "method is unknown");
  check_doctored("/settings", "step_budget", 0, -1, "step_budget");
  check_doctored("/settings", "error_control", 0, -1, "error_control");
  check_doctored("/frames/count", NULL, 0, 13, "shorter");
  check_doctored("/frames/count", NULL, 0, -1, "count");
  check_doctored("/frames/contact_start", NULL, 3, -1, "negative");
  check_doctored("/frames/contact_start", NULL, 3, 1e15, "missing");
  check_doctored("/frames/contact_count", NULL, 3, 1e9, "missing");
  check_doctored("/frames/motion", NULL, 3, -1, "negative");
  check_doctored("/frames/motion", NULL, 3, 1e15, "missing");
  check_doctored("/frames/time", NULL, 5, (double)NAN, "ascend");
  check_doctored("/frames/time", NULL, 5, 1e9, "ascend");
}

/* What older recordings do not say is as usual. */
static void test_older_settings(void) {
  static const char *const later[] = {"sub_islands",     "metric",      "newton",
                                      "newmark_damping", "step_budget", "error_control"};
  const char *path = place("bad.h5");
  const ds_options usual = ds_default_options();
  write_plain(path);
  hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), group = H5Gopen2(file, "/settings", H5P_DEFAULT);
  for (int i = 0; i < 6; i++) CHECK(H5Adelete(group, later[i]) >= 0);
  H5Gclose(group);
  H5Fclose(file);
  ds_error error = {{0}};
  ds_recording *r = ds_recording_open(path, &error);
  CHECK(r != NULL);
  if (r == NULL) return;
  const ds_options *o = &ds_recording_settings(r)->options;
  CHECK_NEAR(o->step_budget, usual.step_budget, 0);
  CHECK_NEAR(o->newmark_damping, usual.newmark_damping, 0);
  CHECK(o->sub_islands == usual.sub_islands && o->metric == usual.metric && o->newton == usual.newton);
  ds_recording_close(r);
}

static void test_damaged_structure(void) {
  static const char *const sets[] = {"/frames/time",
                                     "/frames/motion",
                                     "/frames/pose",
                                     "/frames/velocity",
                                     "/frames/report",
                                     "/frames/contact_start",
                                     "/frames/contact_count",
                                     "/contacts",
                                     "/frames/count",
                                     "/closed",
                                     "/scene",
                                     "/settings",
                                     "/frames"};
  for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
    const char *path = place("bad.h5");
    write_plain(path);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    CHECK(H5Ldelete(file, sets[i], H5P_DEFAULT) >= 0);
    H5Fclose(file);
    check_refused(path, "not a readable Drystone recording");
    /* and again with something else of that name */
    file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    hsize_t dims[2] = {2, 2};
    hid_t space = H5Screate_simple(2, dims, NULL);
    hid_t set = H5Dcreate2(file, sets[i], H5T_IEEE_F32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dclose(set);
    H5Sclose(space);
    H5Fclose(file);
    check_refused(path, "not a readable Drystone recording");
  }
}

static void replace_set(hid_t file, const char *path, const hsize_t dims[3]) {
  hid_t space = H5Screate_simple(3, dims, NULL), as = H5Pcreate(H5P_DATASET_CREATE);
  CHECK(H5Pset_alloc_time(as, H5D_ALLOC_TIME_EARLY) >= 0); /* numbers that are not there are a fault of their own */
  CHECK(H5Ldelete(file, path, H5P_DEFAULT) >= 0);
  hid_t set = H5Dcreate2(file, path, H5T_IEEE_F64LE, space, H5P_DEFAULT, as, H5P_DEFAULT);
  H5Dclose(set);
  H5Pclose(as);
  H5Sclose(space);
}

/* Datasets and their tails of the right rank, with a body or a number of each body too many or too few. */
static void test_damaged_sizes(void) {
  static const struct {
    const char *set, *tail;
    hsize_t dims[3]; /* frames, bodies, numbers of each */
    bool fine;
  } shapes[] = {{"/frames/pose", "/tail/pose", {12, 2, 7}, true},
                {"/frames/pose", "/tail/pose", {12, 3, 7}, false},
                {"/frames/pose", "/tail/pose", {12, 1, 7}, false},
                {"/frames/pose", "/tail/pose", {12, 2, 6}, false},
                {"/frames/velocity", "/tail/velocity", {12, 2, 6}, true},
                {"/frames/velocity", "/tail/velocity", {12, 3, 6}, false},
                {"/frames/velocity", "/tail/velocity", {12, 1, 6}, false},
                {"/frames/velocity", "/tail/velocity", {12, 2, 7}, false}};
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    const char *path = place("bad.h5");
    write_plain(path);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    replace_set(file, shapes[i].set, shapes[i].dims);
    replace_set(file, shapes[i].tail, shapes[i].dims);
    H5Fclose(file);
    if (!shapes[i].fine) {
      check_refused(path, shapes[i].set);
      continue;
    }
    ds_error error = {{0}};
    ds_recording *r = ds_recording_open(path, &error);
    CHECK(r != NULL);
    ds_recording_close(r);
  }
}

static void check_bad_frame(const char *set, hsize_t row, double value) {
  ds_error error = {{0}};
  ds_frame frame;
  const char *path = place("bad.h5");
  write_plain(path);
  doctor(path, set, NULL, row, value);
  ds_recording *r = ds_recording_open(path, &error);
  CHECK(r != NULL);
  if (r == NULL) return;
  CHECK(ds_recording_read(r, &frame, (int32_t)row, &error) == DS_ERROR_INPUT);
  CHECK(ds_recording_read(r, &frame, 0, &error) == DS_OK);
  ds_recording_close(r);
}

/* One number of every row of a dataset: the column-th real, or a member of rows that are structs. */
static void doctor_at(const char *path, const char *set, const char *member, hsize_t row, hsize_t body, hsize_t column,
                      double value) {
  hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), at = H5Dopen2(file, set, H5P_DEFAULT);
  hid_t space = H5Dget_space(at), type = H5T_NATIVE_DOUBLE;
  hsize_t start[3] = {row, body, column}, count[3] = {1, 1, 1}, one = 1;
  hid_t memory = H5Screate_simple(1, &one, NULL);
  int32_t whole = (int32_t)value;
  if (member != NULL) {
    type = H5Tcreate(H5T_COMPOUND, sizeof whole);
    H5Tinsert(type, member, 0, H5T_NATIVE_INT32);
  }
  H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
  CHECK(H5Dwrite(at, type, memory, space, H5P_DEFAULT, member != NULL ? (void *)&whole : (void *)&value) >= 0);
  if (member != NULL) H5Tclose(type);
  H5Sclose(memory);
  H5Sclose(space);
  H5Dclose(at);
  H5Fclose(file);
}

/* The frame is refused, or read: as `fine` says. */
static void check_frame_with(const char *set, const char *member, hsize_t row, hsize_t body, hsize_t column,
                             double value, int32_t frame_index, bool fine) {
  ds_error error = {{0}};
  ds_frame frame;
  const char *path = place("bad.h5");
  write_plain(path);
  doctor_at(path, set, member, row, body, column, value);
  ds_recording *r = ds_recording_open(path, &error);
  CHECK(r != NULL);
  bool read = r != NULL && ds_recording_read(r, &frame, frame_index, &error) == DS_OK;
  if (read != fine)
    printf("  %s %s, body %d, column %d, %g: %s\n", set, member ? member : "", (int)body, (int)column, value,
           read ? "read" : error.message);
  CHECK(read == fine);
  if (r != NULL) CHECK(ds_recording_read(r, &frame, 0, &error) == DS_OK);
  ds_recording_close(r);
}

/* Every number of a pose and a velocity, of either body; the length of quaternions; bodies and modes of contacts. */
static void test_damaged_numbers(void) {
  for (hsize_t body = 0; body < 2; body++)
    for (hsize_t column = 0; column < 7; column++) {
      check_frame_with("/frames/pose", NULL, 6, body, column, (double)NAN, 6, false);
      check_frame_with("/frames/pose", NULL, 6, body, column, -HUGE_VAL, 6, false);
      if (column < 6) check_frame_with("/frames/velocity", NULL, 6, body, column, (double)NAN, 6, false);
      if (column < 6) check_frame_with("/frames/velocity", NULL, 6, body, column, HUGE_VAL, 6, false);
      if (column >= 3) check_frame_with("/frames/pose", NULL, 6, body, column, 3, 6, false);
      if (column < 3) check_frame_with("/frames/pose", NULL, 6, body, column, 3, 6, true);
    }
  static const char *const members[2] = {"a", "b"};
  for (int i = 0; i < 2; i++) { /* frames 4 to 7 have row 0 */
    check_frame_with("/contacts", members[i], 0, 0, 0, -1, 4, false);
    check_frame_with("/contacts", members[i], 0, 0, 0, 2, 4, false);
    check_frame_with("/contacts", members[i], 0, 0, 0, 1 - i, 4, true);
  }
}

/* What the manual says of the numbers in the file, read by HDF5 alone: bodies from 0, the frame's own rows. */
static void test_as_documented(void) {
  enum { FRAMES = 12 };
  world w;
  if (!world_open(&w)) return;
  ds_error error;
  CHECK(ds_recorder_close(write_frames(&w, place("plain.h5"), FRAMES), &error) == DS_OK);
  hid_t file = H5Fopen(place("plain.h5"), H5F_ACC_RDONLY, H5P_DEFAULT), set;
  int32_t ends[16][2], count[FRAMES];
  int64_t start[FRAMES], frames = -1;
  double poses[FRAMES][2][7], velocities[FRAMES][2][6], times[FRAMES];
  const struct {
    const char *name;
    hid_t type;
    void *to;
  } sets[] = {{"/frames/pose", H5T_NATIVE_DOUBLE, poses},         {"/frames/velocity", H5T_NATIVE_DOUBLE, velocities},
              {"/frames/time", H5T_NATIVE_DOUBLE, times},         {"/frames/contact_start", H5T_NATIVE_INT64, start},
              {"/frames/contact_count", H5T_NATIVE_INT32, count}, {"/frames/count", H5T_NATIVE_INT64, &frames}};
  for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
    set = H5Dopen2(file, sets[i].name, H5P_DEFAULT);
    CHECK(H5Dread(set, sets[i].type, H5S_ALL, H5S_ALL, H5P_DEFAULT, sets[i].to) >= 0);
    H5Dclose(set);
  }
  hid_t pair = H5Tcreate(H5T_COMPOUND, sizeof ends[0]);
  H5Tinsert(pair, "a", 0, H5T_NATIVE_INT32);
  H5Tinsert(pair, "b", sizeof(int32_t), H5T_NATIVE_INT32);
  set = H5Dopen2(file, "/contacts", H5P_DEFAULT);
  hid_t space = H5Dget_space(set);
  hsize_t rows = 0;
  H5Sget_simple_extent_dims(space, &rows, NULL);
  CHECK(rows == 3 && H5Dread(set, pair, H5S_ALL, H5S_ALL, H5P_DEFAULT, ends) >= 0); /* one and two, each stored once */
  for (int i = 0; i < 3; i++) CHECK(ends[i][0] == 0 && ends[i][1] == 1);
  H5Sclose(space);
  H5Dclose(set);
  H5Tclose(pair);
  H5Fclose(file);
  CHECK(frames == FRAMES);
  for (int k = 0; k < FRAMES; k++) {
    fill(&w, k);
    ds_pose pose = ds_state_pose(w.scene, w.state, (ds_body_id){2});
    const double want[7] = {pose.p.x, pose.p.y, pose.p.z, pose.q.w, pose.q.x, pose.q.y, pose.q.z}, x = 0.1 * k;
    const double moving[6] = {x, 2 * x, 3 * x, -x, 0, 1e-300 * x};
    for (int i = 0; i < 7; i++) CHECK(poses[k][1][i] == want[i] && poses[k][0][i] == (i == 3));
    for (int i = 0; i < 6; i++) CHECK(velocities[k][1][i] == moving[i] && velocities[k][0][i] == 0);
    CHECK(times[k] == 0.01 * k && count[k] == k / 4 && (k < 4 || start[k] == (k < 8 ? 0 : 1)));
  }
  world_close(&w);
}

static hsize_t rows_of(const char *path, const char *set) {
  hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT), at = H5Dopen2(file, set, H5P_DEFAULT);
  hid_t space = H5Dget_space(at);
  hsize_t dims[3] = {0, 0, 0};
  H5Sget_simple_extent_dims(space, dims, NULL);
  H5Sclose(space);
  H5Dclose(at);
  H5Fclose(file);
  return dims[0];
}

/* What stands is stored once, although its impulses change by rounding; what moves or changes by more is not. */
static void test_rest(void) {
  enum { FRAMES = 40, MOVED = 20, PUSHED = 30 };
  world w;
  if (!world_open(&w)) return;
  ds_error error = {{0}};
  const char *path = place("rest.h5");
  ds_recorder *recorder = ds_recorder_create(path, scene_text, &w.run, w.scene, &error);
  CHECK(recorder != NULL);
  double drift = 0;
  for (int k = 0; recorder != NULL && k < FRAMES; k++) {
    ds_step_report report = fill(&w, k < MOVED ? 13 : 14); /* three contacts, impulses of 6 N s at most */
    w.state->time = report.time = 0.01 * k;
    drift = k < PUSHED ? 1e-14 * (k % 3) : 1e-6 + 4e-7 * k; /* the last ten differ by more than rounding */
    w.contacts[1].impulse.z += 6 * drift;
    w.contacts[2].velocity.x -= drift;
    CHECK(ds_recorder_append(recorder, w.scene, w.state, &report, &error) == DS_OK);
  }
  CHECK(ds_recorder_close(recorder, &error) == DS_OK);
  CHECK_NEAR((double)rows_of(path, "/frames/pose"), 2, 0);
  CHECK_NEAR((double)rows_of(path, "/frames/velocity"), 2, 0);
  CHECK_NEAR((double)rows_of(path, "/contacts"), 3 * (1 + FRAMES - PUSHED), 0);
  CHECK_NEAR((double)rows_of(path, "/frames/time"), FRAMES, 0);
  ds_recording *r = ds_recording_open(path, &error);
  CHECK(r != NULL);
  for (int k = 0; r != NULL && k < FRAMES; k++) {
    ds_frame frame;
    CHECK(ds_recording_read(r, &frame, k, &error) == DS_OK);
    fill(&w, k < MOVED ? 13 : 14);
    ds_pose pose = ds_state_pose(w.scene, w.state, (ds_body_id){2});
    CHECK(memcmp(&frame.poses[1], &pose, sizeof pose) == 0 && frame.contact_count == 3);
    double push = k < PUSHED ? 0 : 6 * (1e-6 + 4e-7 * k);
    CHECK(fabs(frame.contacts[1].impulse.z - w.contacts[1].impulse.z - push) <= 8 * CONTACT_ERROR);
  }
  ds_recording_close(r);
  world_close(&w);
}

/* Version 5 had a row of poses per frame. */
static void test_version_5(void) {
  world w;
  if (!world_open(&w)) return;
  ds_error error = {{0}};
  const char *path = place("five.h5");
  CHECK(ds_recorder_close(write_frames(&w, path, 12), &error) == DS_OK);
  doctor(path, "/", "format_version", 0, 5);
  hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
  CHECK(H5Ldelete(file, "/frames/motion", H5P_DEFAULT) >= 0);
  H5Fclose(file);
  ds_recording *r = ds_recording_open(path, &error);
  CHECK(r != NULL && ds_recording_frame_count(r) == 12);
  for (int k = 0; r != NULL && k < 12; k++) {
    ds_frame frame;
    CHECK(ds_recording_read(r, &frame, k, &error) == DS_OK);
    fill(&w, k);
    CHECK(frame.velocities[1].y == ds_state_velocity(w.state, (ds_body_id){2}).y);
  }
  ds_recording_close(r);
  world_close(&w);
}

static void test_damaged_frame(void) {
  check_bad_frame("/frames/pose", 6, (double)NAN);
  check_bad_frame("/frames/pose", 6, HUGE_VAL);
  check_bad_frame("/frames/velocity", 6, (double)NAN);
}

/* A recording cut short anywhere is refused or read, never a crash. */
static void test_truncated(void) {
  const char *path = place("cut.h5");
  write_plain(path);
  struct stat status;
  CHECK(stat(path, &status) == 0);
  int opened = 0;
  for (off_t size = status.st_size - 1; size > 0; size -= 1 + status.st_size / 97) {
    ds_error error = {{0}};
    CHECK(truncate(path, size) == 0);
    ds_recording *r = ds_recording_open(path, &error);
    CHECK(r != NULL || error.message[0] != '\0');
    ds_frame frame;
    if (r != NULL) opened++;
    for (int k = 0; r != NULL && k < ds_recording_frame_count(r); k++) ds_recording_read(r, &frame, k, &error);
    ds_recording_close(r);
  }
  printf("  %d cut files could still be opened\n", opened);
}

static void test_places(void) {
  world w;
  if (!world_open(&w)) return;
  ds_error error = {{0}};
  CHECK(ds_recorder_create(folder, scene_text, &w.run, w.scene, &error) == NULL);
  CHECK(strstr(error.message, "directory") != NULL);
  CHECK(ds_recorder_create("/dev/null", scene_text, &w.run, w.scene, &error) == NULL);
  CHECK(strstr(error.message, "regular") != NULL);
  CHECK(ds_recorder_create(place("no/such/a.h5"), scene_text, &w.run, w.scene, &error) == NULL);
  CHECK(strstr(error.message, "No such file") != NULL);
  world_close(&w);
}

/* A limit on the size of files stands for a full disk: an error with the system's reason, no crash when the file and
 * HDF5 are closed, and frames that were flushed before can be read. */
static void test_full_disk(void) {
  world w;
  if (!world_open(&w)) return;
  pid_t child = fork();
  if (child == 0) {
    ds_error error = {{0}};
    signal(SIGXFSZ, SIG_IGN);
    ds_recorder *recorder = write_frames(&w, place("full.h5"), 1);
    struct rlimit limit = {1 << 20, 1 << 20};
    setrlimit(RLIMIT_FSIZE, &limit);
    bool failed = false;
    for (int k = 1; !failed && k < 100000; k++) {
      ds_step_report report = fill(&w, k);
      failed = ds_recorder_append(recorder, w.scene, w.state, &report, &error) != DS_OK;
    }
    bool said = strstr(error.message, "File too large") != NULL;
    if (!said) printf("said \"%s\"\n", error.message);
    ds_step_report report = fill(&w, 1);
    said = said && ds_recorder_append(recorder, w.scene, w.state, &report, &error) != DS_OK; /* it stays so */
    said = said && ds_recorder_close(recorder, &error) != DS_OK && H5close() >= 0;
    fflush(stdout);
    _exit(failed && said ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(status == 0);
  ds_error error = {{0}};
  ds_recording *r = ds_recording_open(place("full.h5"), &error);
  if (r == NULL) printf("%s\n", error.message);
  CHECK(r != NULL && ds_recording_frame_count(r) > 0 && !ds_recording_closed(r));
  for (int k = 0; r != NULL && k < ds_recording_frame_count(r); k++) check_frame(&w, r, k);
  ds_recording_close(r);
  world_close(&w);
}

/* The state of the last frame, kept twice: one may be damaged, not both; older recordings have none. */
static void test_state(void) {
  static const char text[] = "{\"drystone\": 1, \"bodies\": [{\"shapes\": [{\"kind\": \"sphere\", \"radius\": 1}]}]}";
  ds_error error = {{0}};
  ds_run_settings run;
  ds_scene *scene = ds_scene_read_text(text, strlen(text), "ball", &run, &error);
  ds_state *state = scene ? ds_state_create(scene) : NULL, *read = scene ? ds_state_create(scene) : NULL;
  CHECK(state && read);
  for (int damage = 0; state && read && damage < 4; damage++) {
    const char *path = place("state.h5");
    ds_recorder *recorder = ds_recorder_create(path, text, &run, scene, &error);
    ds_step_report report = {0};
    for (int k = 0; k < 3; k++) { /* the first is flushed at once, the last when the file is closed */
      ds_state_set_time(state, 0.25 * k);
      ds_state_set_pose(scene, state, (ds_body_id){1}, (ds_pose){{k, 0, 0}, quat_identity()});
      CHECK(ds_recorder_append(recorder, scene, state, &report, &error) == DS_OK);
    }
    CHECK(ds_recorder_close(recorder, &error) == DS_OK);
    if (damage & 1) doctor(path, "/state", NULL, 0, 7);
    if (damage & 2) doctor(path, "/state", NULL, 1, 7);
    ds_recording *r = ds_recording_open(path, &error);
    CHECK(r && ds_recording_has_state(r));
    ds_status status = r ? ds_recording_read_state(r, read, &error) : DS_ERROR_INPUT;
    CHECK(status == (damage == 3 ? DS_ERROR_INPUT : DS_OK));
    if (damage == 3) CHECK(strstr(error.message, "no state to continue from: the saved state") != NULL);
    if (damage == 0 || damage == 1) CHECK(ds_state_hash(read) == ds_state_hash(state));
    if (damage == 2) CHECK_NEAR(ds_state_time(read), 0, 0);
    ds_recording_close(r);
    doctor(path, "/", "format_version", 0, 4);
    r = ds_recording_open(path, &error);
    CHECK(r && !ds_recording_has_state(r) && ds_recording_read_state(r, read, &error) == DS_ERROR_INPUT);
    ds_recording_close(r);
  }
  ds_state_destroy(state);
  ds_state_destroy(read);
  ds_scene_destroy(scene);
}

/* Joints are in the scene's text, and in /joints for who does not read that. */
static void test_joints(void) {
  static const char text[] =
      "{\"drystone\": 1, \"bodies\": [{\"name\": \"post\", \"kind\": \"static\", \"position\": [0, 0, 1],"
      " \"shapes\": [{\"kind\": \"box\", \"size\": [0.1, 0.1, 2]}]},"
      " {\"name\": \"gate\", \"position\": [0.5, 0, 1], \"shapes\": [{\"kind\": \"box\", \"size\": [0.8, 0.1, 1], "
      "\"position\": [0.1, 0, 0]}]}],"
      " \"joints\": [{\"kind\": \"hinge\", \"bodies\": [\"gate\", \"post\"], \"point\": [0, 0, 1.5], \"axis\": [0, 0, "
      "2]}]}";
  ds_error error = {{0}};
  ds_run_settings run;
  ds_scene *scene = ds_scene_read_text(text, strlen(text), "gate", &run, &error);
  ds_state *state = scene ? ds_state_create(scene) : NULL;
  ds_step_report report = {0};
  CHECK(state != NULL);
  if (!state) printf("%s\n", error.message);
  ds_recorder *recorder = state ? ds_recorder_create(place("joints.h5"), text, &run, scene, &error) : NULL;
  CHECK(recorder && ds_recorder_append(recorder, scene, state, &report, &error) == DS_OK);
  CHECK(recorder && ds_recorder_close(recorder, &error) == DS_OK);
  ds_state_destroy(state);
  ds_scene_destroy(scene);

  ds_recording *recording = ds_recording_open(place("joints.h5"), &error);
  ds_frame frame;
  CHECK(recording && ds_recording_read(recording, &frame, 0, &error) == DS_OK);
  if (recording) {
    const ds_scene *again = ds_recording_scene(recording);
    ds_joint_id joint = ds_scene_joint(again, 0);
    CHECK(ds_scene_joint_count(again) == 1 && ds_joint_get_def(again, joint).kind == DS_JOINT_HINGE);
    ds_joint_place where = ds_joint_at(again, joint, frame.poses[1], frame.poses[0]);
    CHECK_LE(v3_dist(where.on_a, v3(0, 0, 1.5)), 1e-15);
    CHECK_LE(v3_dist(where.on_b, v3(0, 0, 1.5)), 1e-15);
    CHECK_LE(v3_dist(where.axis, v3(0, 0, 1)), 1e-15);
    CHECK_LE(where.gap, 1e-15);
  }
  ds_recording_close(recording);

  hid_t file = H5Fopen(place("joints.h5"), H5F_ACC_RDONLY, H5P_DEFAULT),
        set = H5Dopen2(file, "/joints/on_a", H5P_DEFAULT);
  double on_a[3] = {0, 0, 0};
  CHECK(set >= 0 && H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, on_a) >= 0);
  CHECK_NEAR(on_a[0], -0.5, 1e-15);
  CHECK_NEAR(on_a[2], 0.5, 1e-15);
  H5Dclose(set);
  H5Fclose(file);
}

int main(void) {
  snprintf(folder, sizeof folder, "/tmp/drystone-record-XXXXXX");
  if (mkdtemp(folder) == NULL) return 1;
  RUN(test_round_trip);
  RUN(test_read_while_written);
  RUN(test_killed);
  RUN(test_read_behind);
  RUN(test_foreign);
  RUN(test_damaged_index);
  RUN(test_older_settings);
  RUN(test_damaged_structure);
  RUN(test_damaged_sizes);
  RUN(test_damaged_frame);
  RUN(test_damaged_numbers);
  RUN(test_as_documented);
  RUN(test_rest);
  RUN(test_version_5);
  RUN(test_truncated);
  RUN(test_places);
  RUN(test_full_disk);
  RUN(test_state);
  RUN(test_joints);
  static const char *const names[] = {"a",   "live", "killed", "behind", "text",  "empty", "other", "bad",
                                      "cut", "full", "state",  "joints", "plain", "rest",  "five"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char name[32];
    snprintf(name, sizeof name, "%s.h5", names[i]);
    unlink(place(name));
  }
  CHECK(rmdir(folder) == 0); /* nothing is left behind beside the recordings */
  return test_summary();
}
