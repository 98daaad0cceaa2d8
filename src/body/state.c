/* The state: where everything is, and the last step's contacts, which are the warm start of the next. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/check.h"
#include "body/kind.h"

ds_pose ds_start_pose(const ds_body *body) {
  ds_pose user = body->ops->script ? body->ops->script(body, 0) : body->def.pose;
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
  state->reduced = calloc((size_t)scene->reduced_count + 1, sizeof(double));
  state->reduced_rate = calloc((size_t)scene->reduced_count + 1, sizeof(double));
  if (!state->bodies || !state->force || !state->torque || !state->reduced || !state->reduced_rate) {
    ds_state_destroy(state);
    return NULL;
  }
  for (int32_t i = 0; i < scene->body_count; i++) {
    const ds_body *body = &scene->bodies[i];
    ds_body_state *s = &state->bodies[i];
    ds_pose pose = ds_start_pose(body);
    s->x = pose.p;
    s->q = quat_unit(pose.q);
    if (body->ops->dynamic) {
      s->w = body->def.angular_velocity;
      s->v = v3_add(body->def.velocity, v3_cross(s->w, v3_sub(s->x, body->def.pose.p)));
    }
    if (body->ops->start)
      body->ops->start(state->reduced + body->first_reduced, state->reduced_rate + body->first_reduced, body);
  }
  return state;
}

ds_status ds_state_assign(ds_state *state, const ds_state *from) {
  DS_CHECK(state && from && state->scene == from->scene);
  size_t n = (size_t)from->body_count;
  if (!ds_array_reserve(&state->contacts, &state->contact_capacity, from->contact_count + 1, sizeof *state->contacts))
    return DS_ERROR_MEMORY;
  state->time = from->time;
  state->time_rest = from->time_rest;
  state->step = from->step;
  memcpy(state->bodies, from->bodies, n * sizeof *state->bodies);
  memcpy(state->force, from->force, n * sizeof *state->force);
  memcpy(state->torque, from->torque, n * sizeof *state->torque);
  memcpy(state->reduced, from->reduced, (size_t)from->scene->reduced_count * sizeof(double));
  memcpy(state->reduced_rate, from->reduced_rate, (size_t)from->scene->reduced_count * sizeof(double));
  state->reduced_step = from->reduced_step;
  if (from->contact_count > 0)
    memcpy(state->contacts, from->contacts, (size_t)from->contact_count * sizeof *state->contacts);
  state->contact_count = from->contact_count;
  state->hand_count = from->hand_count;
  memcpy(state->hands, from->hands, sizeof state->hands);
  return DS_OK;
}

ds_state *ds_state_copy(const ds_state *from) {
  ds_state *state = ds_state_create(from->scene);
  if (!state || ds_state_assign(state, from) == DS_OK) return state;
  ds_state_destroy(state);
  return NULL;
}

void ds_state_destroy(ds_state *state) {
  if (!state) return;
  free(state->bodies);
  free(state->force);
  free(state->torque);
  free(state->reduced);
  free(state->reduced_rate);
  free(state->contacts);
  free(state->recall);
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
  DS_CHECK(state->scene->bodies[ds_index(id)].ops->dynamic); /* of others it is scripted, or zero */
  s->v = velocity;
  s->w = angular_velocity;
}

static double *reduced_of(double *all, const ds_state *state, ds_body_id id, int32_t *r) {
  get(state, id);
  const ds_body *body = &state->scene->bodies[ds_index(id)];
  *r = body->r;
  return body->r > 0 ? all + body->first_reduced : NULL;
}

const double *ds_state_reduced(const ds_state *state, ds_body_id id, int32_t *r) {
  return reduced_of(state->reduced, state, id, r);
}

const double *ds_state_reduced_rate(const ds_state *state, ds_body_id id, int32_t *r) {
  return reduced_of(state->reduced_rate, state, id, r);
}

const double *ds_state_all_reduced(const ds_state *state) { return state->reduced; }

void ds_state_set_reduced_step(ds_state *state, double h) {
  DS_CHECK(state && h >= 0 && isfinite(h));
  state->reduced_step = h;
}

void ds_state_set_reduced(ds_state *state, ds_body_id id, const double *q, const double *rate) {
  int32_t r;
  double *to = reduced_of(state->reduced, state, id, &r), *to_rate = reduced_of(state->reduced_rate, state, id, &r);
  DS_CHECK(to && to_rate);
  for (int32_t i = 0; i < r; i++) {
    DS_CHECK((!q || isfinite(q[i])) && (!rate || isfinite(rate[i])));
    if (q) to[i] = q[i];
    if (rate) to_rate[i] = rate[i];
  }
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

/* Angular momentum about the centre of mass. */
static ds_vec3 spin(const ds_body *body, const ds_body_state *s, const ds_state *state) {
  ds_vec3 w = quat_unrotate(s->q, s->w);
  const double *q = state->reduced + body->first_reduced, *rate = state->reduced_rate + body->first_reduced;
  return quat_rotate(s->q, body->ops->momentum(body, q, w, rate));
}

ds_energy ds_body_energy(const ds_state *state, int32_t i) {
  const ds_body *body = &state->scene->bodies[i];
  const ds_body_state *s = &state->bodies[i];
  ds_energy energy = {0};
  if (!body->ops->dynamic) return energy;
  body->ops->energy(&energy, body, s, state);
  /* velocities of deformable bodies are means of the step just done: so is the height */
  ds_vec3 x = body->reduced ? v3_mad(s->x, -0.5 * state->reduced_step, s->v) : s->x;
  energy.potential = -body->mass.mass * v3_dot(state->scene->def.gravity, x);
  return energy;
}

ds_energy ds_state_energy(const ds_scene *scene, const ds_state *state) {
  ds_energy energy = {0};
  for (int32_t i = 0; i < scene->body_count; i++) {
    ds_energy e = ds_body_energy(state, i);
    energy.kinetic += e.kinetic, energy.potential += e.potential, energy.elastic += e.elastic;
  }
  return energy;
}

ds_momentum ds_state_momentum(const ds_scene *scene, const ds_state *state) {
  ds_momentum momentum = {{0, 0, 0}, {0, 0, 0}};
  for (int32_t i = 0; i < scene->body_count; i++) {
    const ds_body *body = &scene->bodies[i];
    const ds_body_state *s = &state->bodies[i];
    if (!body->ops->dynamic) continue;
    ds_vec3 p = v3_scale(body->mass.mass, s->v);
    momentum.linear = v3_add(momentum.linear, p);
    momentum.angular = v3_add(momentum.angular, v3_add(v3_cross(s->x, p), spin(body, s, state)));
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
  hash = hash_words(hash, state->reduced, (size_t)state->scene->reduced_count);
  hash = hash_words(hash, state->reduced_rate, (size_t)state->scene->reduced_count);
  for (int32_t i = 0; i < state->contact_count; i++) {
    hash = hash_words(hash, &state->contacts[i].impulse, 3);
    if (state->contacts[i].held > 0) hash = hash_words(hash, &state->contacts[i].held, 1);
  }
  for (int32_t i = 0; i < state->hand_count; i++) {
    const ds_hand_state *hand = &state->hands[i];
    hash = hash_words(hash, &hand->def.grip, 3);
    hash = hash_words(hash, &hand->def.target, 7);
    hash = hash_words(hash, &hand->force, 6);
  }
  return hash;
}
