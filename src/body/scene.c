/* The scene: definitions in, constants out. Everything a user may get wrong is refused here, by name and with the
 * value, so that nothing downstream has to check. */
#include "body/scene.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/check.h"
#include "base/error.h"
#include "body/kind.h"
#include "body/reduced.h"
#include "mesh/solid.h"

const char *ds_version(void) { return DS_VERSION_STRING; }

ds_scene_def ds_default_scene(void) {
  return (ds_scene_def){.gravity = {0, 0, -9.81},
                        .friction_rule = DS_MIX_GEOMETRIC,
                        .restitution_rule = DS_MIX_MAX,
                        .default_mu = 0.5,
                        .default_restitution = 0};
}

ds_material_def ds_default_material(void) { return (ds_material_def){.mu = 0.5, .restitution = 0}; }

ds_body_def ds_default_body(void) {
  ds_body_def def = {.kind = DS_BODY_DYNAMIC, .pose = {{0, 0, 0}, {1, 0, 0, 0}}, .color = {-1, -1, -1}};
  def.motion.end_time = INFINITY;
  return def;
}

ds_shape_def ds_default_shape(void) {
  return (ds_shape_def){.kind = DS_SHAPE_BOX,
                        .pose = {{0, 0, 0}, {1, 0, 0, 0}},
                        .density = 1000,
                        .radius = 0.5,
                        .half_length = 0.5,
                        .half = {0.5, 0.5, 0.5}};
}

static bool coefficient_ok(double mu, double e) { return isfinite(mu) && mu >= 0 && e >= 0 && e <= 1; }

static ds_status bad_coefficients(ds_error *error, double mu, double e) {
  return ds_fail(error, DS_ERROR_INPUT, "mu = %g, e = %g: mu must be at least 0 and finite, e between 0 and 1", mu, e);
}

/* A material as it is kept: its axis is a unit vector, or zero where friction is the same in all directions. */
static ds_status take_material(ds_material_def *out, const ds_material_def *def, ds_error *error) {
  if (!coefficient_ok(def->mu, def->restitution)) return bad_coefficients(error, def->mu, def->restitution);
  if (!v3_finite(def->axis) || !(def->mu_along >= 0) || !isfinite(def->mu_along))
    return ds_fail(error, DS_ERROR_INPUT,
                   "mu_along = %g: must be at least 0 and finite, and the axis three finite numbers", def->mu_along);
  bool has_axis = v3_norm2(def->axis) > 0;
  if (!has_axis && def->mu_along > 0)
    return ds_fail(error, DS_ERROR_INPUT, "mu_along = %g without an axis; give the direction in which it holds",
                   def->mu_along);
  *out = *def;
  if (has_axis) out->axis = v3_unit(def->axis);
  return DS_OK;
}

ds_scene *ds_scene_create(const ds_scene_def *def, ds_error *error) {
  DS_CHECK(def);
  if (!v3_finite(def->gravity)) {
    ds_fail(error, DS_ERROR_INPUT, "gravity must be three finite numbers (m/s²)");
    return NULL;
  }
  if (!coefficient_ok(def->default_mu, def->default_restitution)) {
    bad_coefficients(error, def->default_mu, def->default_restitution);
    return NULL;
  }
  ds_scene *scene = calloc(1, sizeof *scene);
  if (!scene || !ds_array_reserve(&scene->materials, &scene->material_capacity, 1, sizeof *scene->materials)) {
    free(scene);
    ds_fail(error, DS_ERROR_MEMORY, "out of memory");
    return NULL;
  }
  scene->def = *def;
  scene->materials[0] = (ds_material_def){.mu = def->default_mu, .restitution = def->default_restitution};
  scene->material_count = 1;
  return scene;
}

void ds_scene_destroy(ds_scene *scene) {
  if (!scene) return;
  for (int32_t i = 0; i < scene->body_count; i++) {
    ds_body *body = &scene->bodies[i];
    for (int32_t k = 0; k < body->shape_count; k++) {
      ds_hull_free(&body->shapes[k].hull);
      free(body->shapes[k].points);
      ds_shape_samples_free(&body->shapes[k]);
      ds_solid_release(body->shapes[k].solid);
      ds_reduced_release(body->shapes[k].reduced);
      free(body->shapes[k].start);
    }
    free(body->shapes);
    free(body->name);
    free(body->keyframes);
  }
  free(scene->bodies);
  for (int32_t i = 0; i < scene->joint_count; i++) free(scene->joints[i].name);
  free(scene->joints);
  free(scene->apart);
  for (int32_t i = 0; i < scene->interface_count; i++) free(scene->interfaces[i].points);
  free(scene->interfaces);
  for (int32_t i = 0; i < scene->material_name_count; i++) free(scene->material_names[i]);
  free(scene->material_names);
  free(scene->materials);
  free(scene->pairs);
  free(scene);
}

ds_material_id ds_scene_add_material(ds_scene *scene, const ds_material_def *def, ds_error *error) {
  DS_CHECK(scene && def && !scene->finished);
  ds_material_def material;
  if (take_material(&material, def, error) != DS_OK) return (ds_material_id){0};
  if (!ds_array_reserve(&scene->materials, &scene->material_capacity, scene->material_count + 1,
                        sizeof *scene->materials)) {
    ds_fail(error, DS_ERROR_MEMORY, "out of memory");
    return (ds_material_id){0};
  }
  scene->materials[scene->material_count] = material;
  return (ds_material_id){scene->material_count++};
}

static bool has_material(const ds_scene *scene, ds_material_id id) {
  return scene && id.index1 >= 0 && id.index1 < scene->material_count;
}

ds_status ds_scene_name_material(ds_scene *scene, ds_material_id id, const char *name, ds_error *error) {
  DS_CHECK(has_material(scene, id) && name);
  char *copy = malloc(strlen(name) + 1);
  if (!copy || !ds_array_reserve(&scene->material_names, &scene->material_name_capacity, scene->material_count,
                                 sizeof *scene->material_names)) {
    free(copy);
    return ds_fail(error, DS_ERROR_MEMORY, "out of memory");
  }
  strcpy(copy, name);
  while (scene->material_name_count < scene->material_count) scene->material_names[scene->material_name_count++] = NULL;
  free(scene->material_names[id.index1]);
  scene->material_names[id.index1] = copy;
  return DS_OK;
}

int32_t ds_scene_material_count(const ds_scene *scene) { return scene->material_count; }

const char *ds_material_name(const ds_scene *scene, ds_material_id id) {
  DS_CHECK(has_material(scene, id));
  const char *name = id.index1 < scene->material_name_count ? scene->material_names[id.index1] : NULL;
  return name ? name : id.index1 == 0 ? "default" : "";
}

ds_material_def ds_scene_material(const ds_scene *scene, ds_material_id id) {
  DS_CHECK(has_material(scene, id));
  return scene->materials[id.index1];
}

ds_status ds_scene_change_material(ds_scene *scene, ds_material_id id, const ds_material_def *def, ds_error *error) {
  DS_CHECK(has_material(scene, id) && def);
  return take_material(&scene->materials[id.index1], def, error);
}

int32_t ds_scene_pair_count(const ds_scene *scene) { return scene->pair_count; }

ds_pair_def ds_scene_get_pair(const ds_scene *scene, int32_t index) {
  DS_CHECK(scene && index >= 0 && index < scene->pair_count);
  const ds_material_pair *p = &scene->pairs[index];
  return (ds_pair_def){{p->a}, {p->b}, p->mu, p->restitution};
}

ds_status ds_scene_change_pair(ds_scene *scene, int32_t index, double mu, double restitution, ds_error *error) {
  DS_CHECK(scene && index >= 0 && index < scene->pair_count);
  if (!coefficient_ok(mu, restitution)) return bad_coefficients(error, mu, restitution);
  scene->pairs[index].mu = mu;
  scene->pairs[index].restitution = restitution;
  return DS_OK;
}

ds_status ds_scene_change_gravity(ds_scene *scene, ds_vec3 gravity, ds_error *error) {
  DS_CHECK(scene);
  if (!v3_finite(gravity)) return ds_fail(error, DS_ERROR_INPUT, "gravity must be three finite numbers (m/s²)");
  scene->def.gravity = gravity;
  return DS_OK;
}

ds_status ds_scene_set_pair(ds_scene *scene, ds_material_id a, ds_material_id b, double mu, double restitution,
                            ds_error *error) {
  DS_CHECK(scene && !scene->finished);
  DS_CHECK(a.index1 >= 0 && a.index1 < scene->material_count && b.index1 >= 0 && b.index1 < scene->material_count);
  if (!coefficient_ok(mu, restitution)) return bad_coefficients(error, mu, restitution);
  if (!ds_array_reserve(&scene->pairs, &scene->pair_capacity, scene->pair_count + 1, sizeof *scene->pairs))
    return ds_fail(error, DS_ERROR_MEMORY, "out of memory");
  scene->pairs[scene->pair_count++] = (ds_material_pair){a.index1, b.index1, mu, restitution};
  return DS_OK;
}

double ds_mix(ds_mix_rule rule, double a, double b) {
  switch (rule) {
    case DS_MIX_MIN:
      return fmin(a, b);
    case DS_MIX_MAX:
      return fmax(a, b);
    case DS_MIX_AVERAGE:
      return 0.5 * (a + b);
    case DS_MIX_PRODUCT:
      return a * b;
    case DS_MIX_GEOMETRIC:
      break;
  }
  return a == b ? a : sqrt(a * b); /* equal materials keep their coefficient to the last bit */
}

void ds_scene_pair(double *mu, double *restitution, const ds_scene *scene, int32_t a, int32_t b) {
  for (int32_t i = scene->pair_count - 1; i >= 0; i--) { /* a later entry overrides an earlier one */
    const ds_material_pair *p = &scene->pairs[i];
    if ((p->a == a && p->b == b) || (p->a == b && p->b == a)) {
      *mu = p->mu;
      *restitution = p->restitution;
      return;
    }
  }
  const ds_material_def *ma = &scene->materials[a], *mb = &scene->materials[b];
  *mu = ds_mix(scene->def.friction_rule, ma->mu, mb->mu);
  *restitution = ds_mix(scene->def.restitution_rule, ma->restitution, mb->restitution);
}

static bool quat_is_unit(ds_quat q) { return fabs(quat_norm(q) - 1) <= 1e-6; } /* false for NaN */

static ds_status check_motion(const ds_body_def *def, ds_error *error) {
  const ds_motion_def *m = &def->motion;
  if (m->kind == DS_MOTION_NONE) return DS_OK;
  if (def->kind != DS_BODY_KINEMATIC)
    return ds_fail(error, DS_ERROR_INPUT, "only a kinematic body can have a motion; make the body kinematic");
  if (!v3_finite(m->velocity) || !v3_finite(m->angular_velocity) || !v3_finite(m->amplitude) ||
      !v3_finite(m->angular_amplitude) || !isfinite(m->frequency) || !isfinite(m->phase) || isnan(m->start_time) ||
      isnan(m->end_time) || m->end_time < m->start_time)
    return ds_fail(error, DS_ERROR_INPUT, "a motion needs finite numbers and an end time not before its start time");
  if (m->kind == DS_MOTION_KEYFRAMES && m->keyframe_count < 1)
    return ds_fail(error, DS_ERROR_INPUT, "a keyframe motion needs at least one keyframe");
  for (int32_t i = 0; m->kind == DS_MOTION_KEYFRAMES && i < m->keyframe_count; i++) {
    const ds_keyframe *k = &m->keyframes[i];
    if (!isfinite(k->time) || !v3_finite(k->pose.p) || !quat_is_unit(k->pose.q))
      return ds_fail(error, DS_ERROR_INPUT, "keyframe %d: time, position and unit rotation must be finite", i);
    if (i > 0 && !(k->time > m->keyframes[i - 1].time))
      return ds_fail(error, DS_ERROR_INPUT, "keyframe %d: times must ascend (%g s after %g s)", i, k->time,
                     m->keyframes[i - 1].time);
  }
  return DS_OK;
}

static ds_status check_body(const ds_scene *scene, const ds_body_def *def, ds_error *error) {
  if (!ds_body_choose_kind(&(ds_body){.kind = def->kind}))
    return ds_fail(error, DS_ERROR_INPUT, "unknown body kind %d", (int)def->kind);
  if (!v3_finite(def->pose.p) || !quat_is_unit(def->pose.q))
    return ds_fail(error, DS_ERROR_INPUT, "a body needs a finite position and a unit quaternion as rotation");
  if (!v3_finite(def->velocity) || !v3_finite(def->angular_velocity) || !v3_finite(def->force) ||
      !v3_finite(def->torque))
    return ds_fail(error, DS_ERROR_INPUT, "velocities, force and torque of a body must be finite");
  if (!(def->mass >= 0) || !isfinite(def->mass))
    return ds_fail(error, DS_ERROR_INPUT, "mass = %g kg: give a positive mass, or 0 to take it from the density",
                   def->mass);
  if (!(def->linear_damping >= 0) || !(def->angular_damping >= 0) || !isfinite(def->linear_damping) ||
      !isfinite(def->angular_damping))
    return ds_fail(error, DS_ERROR_INPUT, "damping must be at least 0 and finite (1/s)");
  if (isnan(def->release_time)) return ds_fail(error, DS_ERROR_INPUT, "release_time must be a number (s)");
  if (def->material.index1 < 0 || def->material.index1 >= scene->material_count)
    return ds_fail(error, DS_ERROR_INPUT, "the body's material is not one of this scene");
  return check_motion(def, error);
}

static bool copy_body(ds_body *body, const ds_body_def *def) {
  memset(body, 0, sizeof *body);
  body->def = *def;
  body->def.name = NULL;
  body->def.motion.keyframes = NULL;
  body->def.pose.q = quat_unit(def->pose.q);
  body->kind = def->kind;
  body->ops = ds_body_choose_kind(body);
  body->material = def->material.index1;
  if (def->name) {
    size_t length = strlen(def->name) + 1;
    body->name = malloc(length);
    if (!body->name) return false;
    memcpy(body->name, def->name, length);
    body->def.name = body->name;
  }
  if (def->motion.kind == DS_MOTION_KEYFRAMES) {
    size_t bytes = (size_t)def->motion.keyframe_count * sizeof(ds_keyframe);
    body->keyframes = malloc(bytes);
    if (!body->keyframes) {
      free(body->name);
      return false;
    }
    memcpy(body->keyframes, def->motion.keyframes, bytes);
    body->def.motion.keyframes = body->keyframes;
  }
  return true;
}

ds_body_id ds_scene_add_body(ds_scene *scene, const ds_body_def *def, ds_error *error) {
  DS_CHECK(scene && def && !scene->finished);
  if (check_body(scene, def, error) != DS_OK) return (ds_body_id){0};
  ds_body body;
  if (!ds_array_reserve(&scene->bodies, &scene->body_capacity, scene->body_count + 1, sizeof *scene->bodies) ||
      !copy_body(&body, def)) {
    ds_fail(error, DS_ERROR_MEMORY, "out of memory");
    return (ds_body_id){0};
  }
  scene->bodies[scene->body_count++] = body;
  return ds_id(scene->body_count - 1);
}

static bool positive(double x) { return x > 0 && isfinite(x); }

static ds_status check_shape(const ds_body *body, const ds_shape_def *def, ds_error *error) {
  if (!v3_finite(def->pose.p) || !quat_is_unit(def->pose.q))
    return ds_fail(error, DS_ERROR_INPUT, "a shape needs a finite position and a unit quaternion as rotation");
  if (!positive(def->density))
    return ds_fail(error, DS_ERROR_INPUT, "density = %g kg/m³: must be positive", def->density);
  if (body->shape_count > 0 && ds_shape_ops_of(&body->shapes[0])->check)
    return ds_fail(error, DS_ERROR_INPUT, "a deformable body has one shape: no other can be added to it");
  ds_status status = ds_shape_check(def, error);
  if (status != DS_OK) return status;
  const ds_shape_ops *ops = ds_shape_kinds[def->kind];
  if (ops->unbounded && body->ops->dynamic)
    return ds_fail(error, DS_ERROR_INPUT, "a half-space is infinite: its body must be static or kinematic");
  return ops->check ? ops->check(def, &body->def, body->shape_count, error) : DS_OK;
}

ds_status ds_scene_add_shape(ds_scene *scene, ds_body_id id, const ds_shape_def *def, ds_error *error) {
  DS_CHECK(scene && def && !scene->finished);
  if (id.index1 < 1 || id.index1 > scene->body_count)
    return ds_fail(error, DS_ERROR_INPUT, "the body is not one of this scene; was it refused when it was added?");
  ds_body *body = &scene->bodies[ds_index(id)];
  DS_CHECK(has_material(scene, def->material));
  ds_status status = check_shape(body, def, error);
  if (status != DS_OK) return status;
  if (body->shape_count >= 65535) return ds_fail(error, DS_ERROR_INPUT, "a body can have 65,535 shapes at most");
  if (!ds_array_reserve(&body->shapes, &body->shape_capacity, body->shape_count + 1, sizeof *body->shapes))
    return ds_fail(error, DS_ERROR_MEMORY, "out of memory");
  ds_shape shape = {.kind = def->kind,
                    .pose = {def->pose.p, quat_unit(def->pose.q)},
                    .density = def->density,
                    .material = def->material.index1,
                    .radius = def->radius,
                    .half_length = def->half_length,
                    .half = def->half};
  shape.pose_in_body = shape.pose;
  const ds_shape_ops *ops = ds_shape_kinds[def->kind];
  if (ops->prepare) status = ops->prepare(&shape, def, error);
  if (status != DS_OK) return status;
  body->shapes[body->shape_count++] = shape;
  body->ops = ds_body_choose_kind(body);
  return DS_OK;
}

/* Convex shapes are sampled where there are solids or deformable bodies that may touch them: as finely as the finest of
 * those, but no finer than a hundredth of themselves. */
static ds_status sample_shapes(ds_scene *scene, ds_error *error) {
  double finest = INFINITY;
  for (int32_t i = 0; i < scene->body_count; i++)
    for (int32_t k = 0; k < scene->bodies[i].shape_count; k++) {
      const ds_shape *shape = &scene->bodies[i].shapes[k];
      const ds_shape_ops *ops = ds_shape_ops_of(shape);
      if (ops->spacing) finest = fmin(finest, ops->spacing(shape));
    }
  if (!isfinite(finest)) return DS_OK;
  for (int32_t i = 0; i < scene->body_count; i++)
    for (int32_t k = 0; k < scene->bodies[i].shape_count; k++) {
      ds_shape *shape = &scene->bodies[i].shapes[k];
      if (ds_shape_sample(shape, fmax(finest, 0.01 * shape->bounding_radius)) != DS_OK)
        return ds_fail(error, DS_ERROR_MEMORY, "out of memory");
    }
  return DS_OK;
}

ds_status ds_bodies_finish(ds_scene *scene, ds_error *error) {
  for (int32_t i = 0; i < scene->body_count; i++) {
    ds_status status = scene->bodies[i].ops->finish(&scene->bodies[i], error);
    if (status != DS_OK) return status;
  }
  scene->reduced_count = 0;
  for (int32_t i = 0; i < scene->body_count; i++) {
    scene->bodies[i].first_reduced = scene->reduced_count;
    scene->reduced_count += scene->bodies[i].r;
  }
  ds_status status = ds_scene_find_apart(scene, error);
  return status == DS_OK ? sample_shapes(scene, error) : status;
}

int32_t ds_scene_body_count(const ds_scene *scene) { return scene->body_count; }

ds_body_id ds_scene_body(const ds_scene *scene, int32_t index) {
  return index >= 0 && index < scene->body_count ? ds_id(index) : (ds_body_id){0};
}

ds_body_id ds_scene_find_body(const ds_scene *scene, const char *name) {
  for (int32_t i = 0; i < scene->body_count; i++)
    if (scene->bodies[i].name && strcmp(scene->bodies[i].name, name) == 0) return ds_id(i);
  return (ds_body_id){0};
}

static const ds_body *get_body(const ds_scene *scene, ds_body_id id) {
  DS_CHECK(scene && id.index1 >= 1 && id.index1 <= scene->body_count);
  return &scene->bodies[ds_index(id)];
}

const char *ds_body_name(const ds_scene *scene, ds_body_id id) {
  const ds_body *body = get_body(scene, id);
  return body->name ? body->name : "";
}

ds_body_kind ds_body_get_kind(const ds_scene *scene, ds_body_id id) { return get_body(scene, id)->kind; }
ds_vec3 ds_body_color(const ds_scene *scene, ds_body_id id) { return get_body(scene, id)->def.color; }
ds_material_id ds_body_material(const ds_scene *scene, ds_body_id id) {
  return (ds_material_id){get_body(scene, id)->material};
}
ds_body_def ds_body_get_def(const ds_scene *scene, ds_body_id id) { return get_body(scene, id)->def; }
ds_vec3 ds_body_inertia(const ds_scene *scene, ds_body_id id) { return get_body(scene, id)->inertia; }
double ds_body_radius(const ds_scene *scene, ds_body_id id) { return get_body(scene, id)->bounding_radius; }
int32_t ds_scene_reduced_count(const ds_scene *scene) { return scene->reduced_count; }
int32_t ds_body_first_reduced(const ds_scene *scene, ds_body_id id) { return get_body(scene, id)->first_reduced; }
ds_mass ds_body_mass(const ds_scene *scene, ds_body_id id) { return get_body(scene, id)->mass; }
int32_t ds_body_shape_count(const ds_scene *scene, ds_body_id id) { return get_body(scene, id)->shape_count; }
ds_vec3 ds_scene_gravity(const ds_scene *scene) { return scene->def.gravity; }

static const ds_shape *get_shape(const ds_scene *scene, ds_body_id id, int32_t index) {
  const ds_body *body = get_body(scene, id);
  DS_CHECK(index >= 0 && index < body->shape_count);
  return &body->shapes[index];
}

ds_shape_def ds_body_shape(const ds_scene *scene, ds_body_id id, int32_t index) {
  const ds_shape *shape = get_shape(scene, id, index);
  return (ds_shape_def){.kind = shape->kind,
                        .pose = shape->pose_in_body,
                        .density = shape->density,
                        .material = {shape->material},
                        .radius = shape->radius,
                        .half_length = shape->half_length,
                        .half = shape->half,
                        .points = shape->points,
                        .point_count = shape->point_count,
                        .solid = shape->solid,
                        .reduced = shape->reduced,
                        .start = shape->start,
                        .start_rate = shape->start ? shape->start + shape->reduced->r : NULL};
}

ds_status ds_body_facets(ds_facets *facets, const ds_scene *scene, ds_body_id id, int32_t index, int32_t segments) {
  const ds_shape *shape = get_shape(scene, id, index);
  *facets = (ds_facets){0};
  if (ds_shape_ops_of(shape)->tessellate) ds_shape_ops_of(shape)->tessellate(facets, shape, segments);
  return facets->failed ? DS_ERROR_MEMORY : DS_OK;
}

bool ds_body_same_form(const ds_scene *scene, ds_body_id a, int32_t shape_a, ds_body_id b, int32_t shape_b) {
  return ds_shape_same_form(get_shape(scene, a, shape_a), get_shape(scene, b, shape_b));
}

ds_polyhedron ds_body_polyhedron(const ds_scene *scene, ds_body_id id, int32_t index) {
  const ds_body *body = get_body(scene, id);
  DS_CHECK(index >= 0 && index < body->shape_count);
  const ds_hull *hull = &body->shapes[index].hull;
  return (ds_polyhedron){hull->vertices, hull->vertex_count, hull->face_start, hull->face_vertex, hull->face_count};
}
