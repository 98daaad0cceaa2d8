/* What the Python package needs beside the public API: memory of a state for arrays without copies, many steps in one
 * call, many states in parallel. Python calls it, and the public API, through ctypes, which releases the interpreter's
 * lock during every call. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/thread.h"
#include "body/scene.h"
#include "drystone/problem.h"
#include "drystone/scene_file.h"
#include "drystone/stand.h"
#include "drystone/touch.h"
#include "io/problem_file.h"
#include "io/reduced_file.h"
#include "record/record.h"

/* ---- Layout of structs, as the compiler sees it ---- */

typedef struct dsb_layout {
  const char *type, *member; /* member "": the size of all */
  size_t value;
} dsb_layout;

static const dsb_layout layouts[] = {
#include "structs.inc"
};

const dsb_layout *dsb_layouts(int32_t *count) {
  *count = (int32_t)(sizeof layouts / sizeof *layouts);
  return layouts;
}

/* ---- Scenes ---- */

static ds_reduced *load_body(void *user, const char *path, ds_error *error) {
  (void)user;
  return ds_reduced_file_read(path, error);
}

/* As `drystone run` reads it. folder and cache may be NULL. */
ds_scene *dsb_scene_read(const char *text, size_t length, const char *file, const char *folder, const char *cache,
                         int32_t threads, ds_run_settings *run, ds_error *error) {
  ds_scene_read_options options = ds_default_scene_read();
  options.folder = folder;
  options.solid_cache = cache;
  options.threads = threads;
  options.load = load_body;
  return ds_scene_read_text_with(text, length, file, &options, run, error);
}

/* ---- States ---- */

typedef struct dsb_memory {
  ds_body_state *bodies; /* 13 doubles per body: x, q, v, w of the principal frame */
  ds_vec3 *force, *torque;
  double *reduced, *reduced_rate;
} dsb_memory;

/* All of it stays where it is as long as the state lives. */
void dsb_state_memory(dsb_memory *memory, ds_state *state) {
  *memory = (dsb_memory){state->bodies, state->force, state->torque, state->reduced, state->reduced_rate};
}

int64_t dsb_state_step(const ds_state *state) { return state->step; }

/* The array of contacts becomes the caller's, who frees it; the state goes on with a copy. NULL: memory ran out. */
ds_contact *dsb_state_take_contacts(ds_state *state) {
  ds_contact *contacts = NULL, *before = state->contacts;
  int32_t capacity = 0;
  if (!ds_array_reserve(&contacts, &capacity, state->contact_count + 1, sizeof *contacts)) return NULL;
  if (state->contact_count > 0) memcpy(contacts, before, (size_t)state->contact_count * sizeof *contacts);
  state->contacts = contacts;
  state->contact_capacity = capacity;
  return before;
}

void dsb_free(void *memory) { free(memory); }

/* 7 numbers per body: position and quaternion w x y z of its frame. */
void dsb_state_poses(double *poses, const ds_scene *scene, const ds_state *state) {
  for (int32_t i = 0; i < scene->body_count; i++, poses += 7) {
    ds_pose pose = ds_state_pose(scene, state, ds_scene_body(scene, i));
    memcpy(poses, &pose, sizeof pose);
  }
}

/* ---- Steps ---- */

/* Takes `count` steps, or fewer where one fails; forces on the state act in the first. */
ds_status dsb_steps(ds_stepper *stepper, ds_state *state, ds_step_report *report, const ds_scene *scene,
                    const ds_options *options, int64_t count, int64_t *unconverged) {
  for (int64_t i = 0; i < count; i++) {
    ds_status status = ds_step(stepper, state, report, scene, options);
    if (status != DS_OK) return status;
    if (!report->worst.converged) ++*unconverged;
  }
  return DS_OK;
}

/* Threads that step states of their own at the same time, each with a stepper. */
typedef struct dsb_many {
  ds_pool *pool;
  ds_stepper **steppers;
} dsb_many;

void dsb_many_destroy(dsb_many *many) {
  if (many == NULL) return;
  for (int32_t i = 0; many->steppers != NULL && i < ds_pool_size(many->pool); i++)
    ds_stepper_destroy(many->steppers[i]);
  free(many->steppers);
  if (many->pool != NULL) ds_pool_destroy(many->pool);
  free(many);
}

dsb_many *dsb_many_create(int32_t threads) {
  dsb_many *many = calloc(1, sizeof *many);
  if (many == NULL) return NULL;
  many->pool = ds_pool_create(threads);
  if (many->pool != NULL) many->steppers = calloc((size_t)ds_pool_size(many->pool), sizeof(ds_stepper *));
  bool ok = many->steppers != NULL;
  for (int32_t i = 0; ok && i < ds_pool_size(many->pool); i++) ok = (many->steppers[i] = ds_stepper_create(1)) != NULL;
  if (ok) return many;
  dsb_many_destroy(many);
  return NULL;
}

/* N states of scenes with B bodies each. */
typedef struct dsb_batch {
  ds_state **states;            /* N */
  const ds_scene **scenes;      /* N */
  const ds_options *options;    /* N */
  const bool *skip;             /* N: not stepped; may be NULL */
  const double *forces;         /* N x B x 3 in every step, at the centres of mass; may be NULL */
  const double *torques;        /* likewise */
  ds_step_report *reports;      /* N: of the last step */
  int32_t *statuses;            /* N: ds_status */
  int32_t *unconverged;         /* N: steps that did not converge */
  double *poses;                /* N x B x 7, as dsb_state_poses */
  double *velocities;           /* N x B x 6: of the centre of mass, then angular */
  int32_t count, bodies, steps; /* N, B, steps per call */
  dsb_many *many;
} dsb_batch;

static void look(const dsb_batch *batch, int32_t i) {
  size_t bodies = (size_t)batch->bodies;
  const ds_state *state = batch->states[i];
  dsb_state_poses(batch->poses + 7 * bodies * (size_t)i, batch->scenes[i], state);
  double *velocities = batch->velocities + 6 * bodies * (size_t)i;
  for (size_t b = 0; b < bodies; b++) {
    memcpy(velocities + 6 * b, &state->bodies[b].v, sizeof(ds_vec3));
    memcpy(velocities + 6 * b + 3, &state->bodies[b].w, sizeof(ds_vec3));
  }
}

static void step_one(void *context, int32_t i, int32_t worker) {
  const dsb_batch *batch = context;
  ds_state *state = batch->states[i];
  size_t bodies = (size_t)batch->bodies, row = 3 * bodies * (size_t)i;
  batch->statuses[i] = DS_OK;
  batch->unconverged[i] = 0;
  bool skip = batch->skip != NULL && batch->skip[i];
  for (int32_t k = 0; !skip && k < batch->steps && batch->statuses[i] == DS_OK; k++) {
    if (batch->forces != NULL) memcpy(state->force, batch->forces + row, bodies * sizeof(ds_vec3));
    if (batch->torques != NULL) memcpy(state->torque, batch->torques + row, bodies * sizeof(ds_vec3));
    batch->statuses[i] = (int32_t)ds_step(batch->many->steppers[worker], state, &batch->reports[i], batch->scenes[i],
                                          &batch->options[i]);
    if (batch->statuses[i] == DS_OK && !batch->reports[i].worst.converged) batch->unconverged[i]++;
  }
  look(batch, i);
}

void dsb_batch_step(dsb_batch *batch) { ds_pool_run(batch->many->pool, batch->count, step_one, batch); }

/* Poses and velocities as they are. */
void dsb_batch_look(const dsb_batch *batch) {
  for (int32_t i = 0; i < batch->count; i++) look(batch, i);
}
