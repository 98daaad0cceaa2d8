/* The state: where everything is, and the last step's contacts, which are the warm start of the next. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/check.h"
#include "body/scene.h"

static ds_pose start_pose(const ds_body *body) {
  ds_pose user = body->kind == DS_BODY_KINEMATIC ? ds_motion_pose(body, 0) : body->def.pose;
  return pose_mul(user, pose_inverse(body->user_frame));
}

ds_state *ds_state_create(const ds_scene *scene) {
  DS_CHECK(scene && scene->finished);
  size_t n = (size_t)scene->body_count;
  ds_state *state = calloc(1, sizeof *state);
  if (!state) return NULL;
  state->scene = scene;
  state->body_count = scene->body_count;
  state->bodies = calloc(n + 1, sizeof *state->bodies); /* + 1: an empty scene is a scene too */
  state->force = calloc(n + 1, sizeof *state->force);
  state->torque = calloc(n + 1, sizeof *state->torque);
  if (!state->bodies || !state->force || !state->torque) {
    ds_state_destroy(state);
    return NULL;
  }
  for (int32_t i = 0; i < scene->body_count; i++) {
    const ds_body *body = &scene->bodies[i];
    ds_body_state *s = &state->bodies[i];
    ds_pose pose = start_pose(body);
    s->x = pose.p;
    s->q = quat_unit(pose.q);
    if (body->kind == DS_BODY_DYNAMIC) {
      s->w = body->def.angular_velocity;
      s->v = v3_add(body->def.velocity, v3_cross(s->w, v3_sub(s->x, body->def.pose.p)));
    }
  }
  return state;
}

ds_state *ds_state_copy(const ds_state *from) {
  ds_state *state = ds_state_create(from->scene);
  if (!state) return NULL;
  size_t n = (size_t)from->body_count;
  if (!ds_array_reserve(&state->contacts, &state->contact_capacity, from->contact_count + 1, sizeof *state->contacts)) {
    ds_state_destroy(state);
    return NULL;
  }
  state->time = from->time;
  state->time_rest = from->time_rest;
  state->step = from->step;
  memcpy(state->bodies, from->bodies, n * sizeof *state->bodies);
  memcpy(state->force, from->force, n * sizeof *state->force);
  memcpy(state->torque, from->torque, n * sizeof *state->torque);
  if (from->contact_count > 0)
    memcpy(state->contacts, from->contacts, (size_t)from->contact_count * sizeof *state->contacts);
  state->contact_count = from->contact_count;
  return state;
}

void ds_state_destroy(ds_state *state) {
  if (!state) return;
  free(state->bodies);
  free(state->force);
  free(state->torque);
  free(state->contacts);
  free(state);
}

static ds_body_state *get(const ds_state *state, ds_body_id id) {
  DS_CHECK(state && id.index1 >= 1 && id.index1 <= state->body_count);
  return &state->bodies[ds_index(id)];
}

double ds_state_time(const ds_state *state) { return state->time; }
ds_vec3 ds_state_center(const ds_state *state, ds_body_id id) { return get(state, id)->x; }
ds_vec3 ds_state_velocity(const ds_state *state, ds_body_id id) { return get(state, id)->v; }
ds_vec3 ds_state_angular_velocity(const ds_state *state, ds_body_id id) { return get(state, id)->w; }

ds_pose ds_state_pose(const ds_scene *scene, const ds_state *state, ds_body_id id) {
  return pose_mul(ds_principal_pose(get(state, id)), scene->bodies[ds_index(id)].user_frame);
}

void ds_state_set_pose(const ds_scene *scene, ds_state *state, ds_body_id id, ds_pose pose) {
  DS_CHECK(v3_finite(pose.p) && quat_norm(pose.q) > 0);
  ds_body_state *s = get(state, id);
  pose.q = quat_unit(pose.q);
  ds_pose principal = pose_mul(pose, pose_inverse(scene->bodies[ds_index(id)].user_frame));
  s->x = principal.p;
  s->q = quat_unit(principal.q);
}

void ds_state_set_velocity(ds_state *state, ds_body_id id, ds_vec3 velocity, ds_vec3 angular_velocity) {
  DS_CHECK(v3_finite(velocity) && v3_finite(angular_velocity));
  ds_body_state *s = get(state, id);
  s->v = velocity;
  s->w = angular_velocity;
}

void ds_state_apply_force(ds_state *state, ds_body_id id, ds_vec3 force, ds_vec3 point) {
  DS_CHECK(v3_finite(force) && v3_finite(point));
  ds_vec3 arm = v3_sub(point, get(state, id)->x);
  int32_t i = ds_index(id);
  state->force[i] = v3_add(state->force[i], force);
  state->torque[i] = v3_add(state->torque[i], v3_cross(arm, force));
}

void ds_state_apply_torque(ds_state *state, ds_body_id id, ds_vec3 torque) {
  DS_CHECK(v3_finite(torque));
  get(state, id);
  state->torque[ds_index(id)] = v3_add(state->torque[ds_index(id)], torque);
}

/* Angular momentum about the centre of mass: R I Rᵀ w */
static ds_vec3 spin(const ds_body *body, const ds_body_state *s) {
  return quat_rotate(s->q, v3_mul(body->inertia, quat_unrotate(s->q, s->w)));
}

ds_energy ds_state_energy(const ds_scene *scene, const ds_state *state) {
  ds_energy energy = {0, 0};
  for (int32_t i = 0; i < scene->body_count; i++) {
    const ds_body *body = &scene->bodies[i];
    const ds_body_state *s = &state->bodies[i];
    if (body->kind != DS_BODY_DYNAMIC) continue;
    energy.kinetic += 0.5 * body->mass.mass * v3_norm2(s->v) + 0.5 * v3_dot(s->w, spin(body, s));
    energy.potential -= body->mass.mass * v3_dot(scene->def.gravity, s->x);
  }
  return energy;
}

ds_momentum ds_state_momentum(const ds_scene *scene, const ds_state *state) {
  ds_momentum momentum = {{0, 0, 0}, {0, 0, 0}};
  for (int32_t i = 0; i < scene->body_count; i++) {
    const ds_body *body = &scene->bodies[i];
    const ds_body_state *s = &state->bodies[i];
    if (body->kind != DS_BODY_DYNAMIC) continue;
    ds_vec3 p = v3_scale(body->mass.mass, s->v);
    momentum.linear = v3_add(momentum.linear, p);
    momentum.angular = v3_add(momentum.angular, v3_add(v3_cross(s->x, p), spin(body, s)));
  }
  return momentum;
}

const ds_contact *ds_state_contacts(const ds_state *state, int32_t *count) {
  *count = state->contact_count;
  return state->contacts;
}

/* FNV-1a over 64-bit words */
static uint64_t hash_words(uint64_t hash, const void *data, size_t words) {
  const unsigned char *bytes = data;
  for (size_t i = 0; i < words; i++) {
    uint64_t word;
    memcpy(&word, bytes + 8 * i, 8);
    for (int k = 0; k < 64; k += 8) hash = (hash ^ ((word >> k) & 255)) * 0x100000001b3u;
  }
  return hash;
}

uint64_t ds_state_hash(const ds_state *state) {
  uint64_t hash = 0xcbf29ce484222325u;
  hash = hash_words(hash, &state->time, 1);
  hash = hash_words(hash, state->bodies, (size_t)state->body_count * (sizeof(ds_body_state) / 8));
  for (int32_t i = 0; i < state->contact_count; i++) hash = hash_words(hash, &state->contacts[i].impulse, 3);
  return hash;
}
