/* A simulated hand, for tests and benchmarks: m x" = k (p(t) - x) - c x' + push(t) + f, with the path p and the push
 * given by keys and the force f by the device. Backward Euler in a few substeps from one reading to the next. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "drystone/touch.h"
#include "la/vec3.h"

enum { SUBSTEPS = 8 };

typedef struct actor {
  ds_operator_def def;
  ds_operator_key *keys;
  double time;
  ds_vec3 x, v, force;
} actor;

ds_operator_def ds_default_operator(void) { return (ds_operator_def){.mass = 0.3, .stiffness = 200, .damping = 8}; }

static ds_operator_key key_at(const actor *o, double time) {
  const ds_operator_key *k = o->keys;
  int32_t i = 0;
  while (i + 1 < o->def.key_count && k[i + 1].time <= time) i++;
  if (i + 1 == o->def.key_count || time <= k[0].time) return k[i];
  double s = (time - k[i].time) / (k[i + 1].time - k[i].time);
  return (ds_operator_key){time, v3_mad(k[i].place, s, v3_sub(k[i + 1].place, k[i].place)),
                           v3_mad(k[i].push, s, v3_sub(k[i + 1].push, k[i].push))};
}

static void advance(actor *o, double time) {
  const ds_operator_def *d = &o->def;
  double h = (time - o->time) / SUBSTEPS;
  for (int i = 0; i < SUBSTEPS && h > 0; i++) {
    ds_operator_key key = key_at(o, o->time + (i + 1) * h);
    ds_vec3 pull = v3_add(v3_scale(d->stiffness, v3_sub(key.place, o->x)), v3_add(key.push, o->force));
    double inertia = d->mass + h * d->damping + h * h * d->stiffness;
    o->v = v3_scale(1 / inertia, v3_mad(v3_scale(d->mass, o->v), h, pull));
    o->x = v3_mad(o->x, h, o->v);
  }
  o->time = time;
}

static bool read_operator(void *user, double time, ds_device_motion *motion) {
  actor *o = user;
  advance(o, time);
  *motion = (ds_device_motion){.pose = {o->x, quat_identity()}, .velocity = o->v, .has_velocity = true};
  return true;
}

static void write_operator(void *user, double time, ds_vec3 force, ds_vec3 torque) {
  actor *o = user;
  (void)time, (void)torque;
  o->force = force;
}

static void close_operator(void *user) {
  actor *o = user;
  free(o->keys);
  free(o);
}

static ds_status check(const ds_operator_def *def, ds_error *error) {
  if (!(def->mass > 0) || !(def->stiffness >= 0) || !(def->damping >= 0) ||
      !isfinite(def->mass + def->stiffness + def->damping))
    return ds_fail(error, DS_ERROR_INPUT, "an operator has a positive mass, and stiffness and damping of 0 or more");
  if (def->key_count < 1) return ds_fail(error, DS_ERROR_INPUT, "an operator needs at least one key of its path");
  for (int32_t i = 0; i < def->key_count; i++) {
    const ds_operator_key *k = &def->keys[i];
    if (!isfinite(k->time) || !v3_finite(k->place) || !v3_finite(k->push))
      return ds_fail(error, DS_ERROR_INPUT, "key %d of the operator's path is not finite", i + 1);
    if (i > 0 && !(k->time > k[-1].time))
      return ds_fail(error, DS_ERROR_INPUT, "key %d of the operator's path is not later than the one before", i + 1);
  }
  return DS_OK;
}

ds_status ds_device_operator(ds_device *device, const ds_operator_def *def, ds_error *error) {
  ds_status status = check(def, error);
  if (status != DS_OK) return status;
  size_t bytes = (size_t)def->key_count * sizeof *def->keys;
  actor *o = calloc(1, sizeof *o);
  if (o) o->keys = malloc(bytes);
  if (!o || !o->keys) {
    free(o);
    return ds_fail(error, DS_ERROR_MEMORY, "out of memory");
  }
  memcpy(o->keys, def->keys, bytes);
  o->def = *def;
  o->x = def->keys[0].place;
  *device = (ds_device){o, read_operator, write_operator, close_operator};
  return DS_OK;
}
