/* What the npm package calls: one scene with its state, as flat functions over numbers and memory of the module.
 *
 * Texts go in and out as addresses with lengths. A simulation that cannot be made leaves a message, read by
 * drystone_message. Arrays stay valid until the next call for the same simulation. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec3.h"
#include "drystone/scene_file.h"
#include "module.h"

typedef struct simulation {
  ds_scene *scene;
  ds_state *state;
  ds_stepper *stepper;
  ds_run_settings run;
  ds_step_report report;
  double *poses;    /* 7 per body: position, quaternion w x y z */
  double *contacts; /* CONTACT_SIZE per contact */
  int32_t contact_capacity;
} simulation;

enum { CONTACT_SIZE = 16 };
static ds_error message;

EXPORT(drystone_alloc) void *drystone_alloc(size_t size) { return malloc(size > 0 ? size : 1); }
EXPORT(drystone_free) void drystone_free(void *memory) { free(memory); }
EXPORT(drystone_message) const char *drystone_message(void) { return message.message; }
EXPORT(drystone_version) const char *drystone_version(void) { return ds_version(); }

/* The text of a generator with parameters; freed by drystone_free. 0 with a message. */
EXPORT(drystone_generate) char *drystone_generate(const char *specification) {
  return ds_generate(specification, &message);
}

EXPORT(drystone_destroy) void drystone_destroy(simulation *s) {
  if (s == NULL) return;
  ds_stepper_destroy(s->stepper);
  ds_state_destroy(s->state);
  ds_scene_destroy(s->scene);
  free(s->poses);
  free(s->contacts);
  free(s);
}

/* A scene's text, as JSON, and its name in messages. 0 with a message. */
EXPORT(drystone_create) simulation *drystone_create(const char *text, size_t length, const char *name) {
  simulation *s = calloc(1, sizeof *s);
  snprintf(message.message, sizeof message.message, "out of memory");
  if (s == NULL) return NULL;
  s->scene = ds_scene_read_text(text, length, name, &s->run, &message);
  if (s->scene != NULL) {
    snprintf(message.message, sizeof message.message, "out of memory");
    s->state = ds_state_create(s->scene);
    s->stepper = ds_stepper_create(1);
    s->poses = calloc((size_t)ds_scene_body_count(s->scene) + 1, 7 * sizeof *s->poses);
  }
  if (s->scene != NULL && s->state != NULL && s->stepper != NULL && s->poses != NULL) return s;
  drystone_destroy(s);
  return NULL;
}

/* Steps until `count` are taken; the number of those that were. Fewer: a message says why. */
EXPORT(drystone_step) int32_t drystone_step(simulation *s, int32_t count) {
  for (int32_t i = 0; i < count; i++) {
    ds_status status = ds_step(s->stepper, s->state, &s->report, s->scene, &s->run.options);
    if (status == DS_OK) continue;
    snprintf(message.message, sizeof message.message, "the step after t = %g s failed: %s", ds_state_time(s->state),
             status == DS_ERROR_MEMORY       ? "out of memory"
             : status == DS_ERROR_NOT_FINITE ? "positions or velocities became infinite; try a smaller step"
                                             : "the scene cannot be simulated");
    return i;
  }
  return count;
}

EXPORT(drystone_hash) uint64_t drystone_hash(const simulation *s) { return ds_state_hash(s->state); }
EXPORT(drystone_time) double drystone_time(const simulation *s) { return ds_state_time(s->state); }
EXPORT(drystone_duration) double drystone_duration(const simulation *s) { return s->run.time; }
EXPORT(drystone_step_size) double drystone_step_size(const simulation *s) { return s->run.options.step; }
EXPORT(drystone_name) const char *drystone_name(const simulation *s) { return s->run.name; }
EXPORT(drystone_body_count) int32_t drystone_body_count(const simulation *s) { return ds_scene_body_count(s->scene); }

EXPORT(drystone_body_name) const char *drystone_body_name(const simulation *s, int32_t body) {
  bool there = body >= 0 && body < ds_scene_body_count(s->scene);
  return there ? ds_body_name(s->scene, (ds_body_id){body + 1}) : "";
}

EXPORT(drystone_poses) const double *drystone_poses(simulation *s) {
  for (int32_t i = 0; i < ds_scene_body_count(s->scene); i++) {
    ds_pose pose = ds_state_pose(s->scene, s->state, (ds_body_id){i + 1});
    double numbers[7] = {pose.p.x, pose.p.y, pose.p.z, pose.q.w, pose.q.x, pose.q.y, pose.q.z};
    memcpy(s->poses + 7 * i, numbers, sizeof numbers);
  }
  return s->poses;
}

/* Of the last step: a, b, mode, point, normal, impulse on a, gap, mu, velocity's size in the tangent plane. */
EXPORT(drystone_contacts) const double *drystone_contacts(simulation *s, int32_t *count) {
  const ds_contact *all = ds_state_contacts(s->state, count);
  if (*count > s->contact_capacity) {
    double *more = realloc(s->contacts, (size_t)*count * CONTACT_SIZE * sizeof *more);
    if (more == NULL) return *count = 0, NULL;
    s->contacts = more;
    s->contact_capacity = *count;
  }
  for (int32_t i = 0; i < *count; i++) {
    const ds_contact *c = &all[i];
    ds_vec3 slip = v3_mad(c->velocity, -v3_dot(c->velocity, c->normal), c->normal);
    double numbers[CONTACT_SIZE] = {c->a.index1 - 1, c->b.index1 - 1, c->mode,     c->point.x,  c->point.y,
                                    c->point.z,      c->normal.x,     c->normal.y, c->normal.z, c->impulse.x,
                                    c->impulse.y,    c->impulse.z,    c->gap,      c->mu,       v3_norm(slip)};
    memcpy(s->contacts + (size_t)i * CONTACT_SIZE, numbers, sizeof numbers);
  }
  return s->contacts;
}

/* Of the last step, into 8 numbers: step, contacts, islands, converged, natural error, factorizations, deepest
 * overlap (m), energy (J). */
EXPORT(drystone_report) void drystone_report(const simulation *s, double *numbers) {
  const ds_step_report *r = &s->report;
  double values[8] = {(double)r->step,
                      r->contacts,
                      r->islands,
                      r->worst.converged,
                      r->worst.natural_error,
                      (double)r->worst.factorizations,
                      r->penetration,
                      r->energy_after};
  memcpy(numbers, values, sizeof values);
}
