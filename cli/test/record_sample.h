/* A made-up recording for the tests of recordings: a scene of two bodies, frames that are filled by hand, and what is
 * in them. Nothing is simulated. */
#ifndef DS_CLI_TEST_RECORD_SAMPLE_H
#define DS_CLI_TEST_RECORD_SAMPLE_H

#include <hdf5.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "body/scene.h"
#include "check.h"
#include "record/record.h"

static char folder[64]; /* for the files of a test */

static const char scene_text[] =
    "{\"drystone\": 1, \"name\": \"two\", // a comment stays\n"
    " \"bodies\": [{\"name\": \"floor\", \"kind\": \"static\", \"shapes\": [{\"kind\": \"half-space\"}]},\n"
    "  {\"name\": \"ball\", \"position\": [0, 0, 1], \"shapes\": [{\"kind\": \"sphere\", \"radius\": 0.5}]}]}\n";

static inline const char *place(const char *name) {
  static char path[128];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

/* Removes the folder and those files in it; false if anything else is in it. */
static inline bool remove_folder(const char *const *names, size_t count) {
  for (size_t i = 0; i < count; i++) {
    char name[32];
    snprintf(name, sizeof name, "%s.h5", names[i]);
    unlink(place(name));
  }
  return rmdir(folder) == 0;
}

typedef struct world {
  ds_scene *scene;
  ds_state *state;
  ds_run_settings run;
  ds_contact contacts[16], *own; /* the state's contacts are ours meanwhile */
} world;

static inline bool world_open(world *w) {
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

static inline void world_close(world *w) {
  if (w->state != NULL) {
    w->state->contacts = w->own;
    w->state->contact_count = 0;
  }
  ds_state_destroy(w->state);
  ds_scene_destroy(w->scene);
}

/* Something different in every frame; frames 4k to 4k + 3 have the same contacts. */
static inline ds_step_report fill(world *w, int k) {
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

static inline ds_recorder *write_frames(world *w, const char *path, int frames) {
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

static inline void write_plain(const char *path) {
  world w;
  if (!world_open(&w)) return;
  ds_error error;
  CHECK(ds_recorder_close(write_frames(&w, path, 12), &error) == DS_OK);
  world_close(&w);
}

/* Longer than a recorder waits between two flushes. */
static inline void wait_for_flush(void) {
  const struct timespec pause = {0, 300000000};
  nanosleep(&pause, NULL);
}

/* Field by field: the padding of a struct is nobody's. */
static inline bool same_certificate(const ds_certificate *a, const ds_certificate *b) {
  return a->bodies == b->bodies && a->contacts == b->contacts && a->staggered_iterations == b->staggered_iterations &&
         a->projection_iterations == b->projection_iterations && a->factorizations == b->factorizations &&
         a->rel_err == b->rel_err && a->residual == b->residual && a->natural_error == b->natural_error &&
         a->approach_velocity == b->approach_velocity && a->cone_violation == b->cone_violation &&
         a->dissipation_error == b->dissipation_error && a->converged == b->converged;
}

static inline bool same_report(const ds_step_report *a, const ds_step_report *b) {
  return a->step == b->step && a->time == b->time && a->contacts == b->contacts &&
         a->active_contacts == b->active_contacts && a->islands == b->islands &&
         a->unconverged_islands == b->unconverged_islands && same_certificate(&a->worst, &b->worst) &&
         a->energy_before == b->energy_before && a->energy_after == b->energy_after &&
         a->penetration == b->penetration && memcmp(a->seconds, b->seconds, sizeof a->seconds) == 0;
}

/* Of the numbers of a contact, docs/recording.md: relative, and in m or m/s of all but impulses. */
#define CONTACT_ERROR 0x1p-24
#define CONTACT_NOISE 0x1p-41
static inline bool is_near(double a, double b, double noise) { return fabs(a - b) <= CONTACT_ERROR * fabs(b) + noise; }
static inline bool is_stored(ds_vec3 a, ds_vec3 b, double noise) {
  return is_near(a.x, b.x, noise) && is_near(a.y, b.y, noise) && is_near(a.z, b.z, noise);
}

static inline void check_frame(world *w, ds_recording *recording, int k) {
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

/* Writes one number into a dataset or an attribute of a good recording. */
static inline void doctor(const char *path, const char *set, const char *attribute, hsize_t row, double value) {
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

#endif
