/* What is inside bodies: see probe.h. Spheres come level by level, SPHERES_MAX at most. The distance to a body of many
 * shapes is the least of theirs, which is exact outside. */
#include "probe.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "body/reduced.h"
#include "body/scene.h"
#include "detect/detect.h"
#include "mesh/solid.h"

enum { SPHERES_MAX = 4096, SLICE = 96 /* values along the longer side of a slice */ };

static view_message *refuse(ds_error *error, const char *what) {
  snprintf(error->message, sizeof error->message, "%s", what);
  return NULL;
}

/* ---- spheres ---- */

typedef struct sphere_list {
  view_bytes *out;
  uint32_t count;
} sphere_list;

static void add_sphere(sphere_list *list, ds_pose pose, ds_vec3 center, double radius, int32_t level) {
  view_vec3(list->out, pose_point(pose, center));
  view_f32(list->out, radius);
  view_f32(list->out, level);
  for (int i = 0; i < 3; i++) view_f32(list->out, 0);
  list->count++;
}

/* Children lie behind their parents in the array, so that one pass gives all levels. */
static bool add_balls(sphere_list *list, const ds_samples *samples, ds_pose pose) {
  int32_t *level = calloc((size_t)samples->ball_count + 1, sizeof *level);
  if (level == NULL) return false;
  for (int32_t i = 0; i < samples->ball_count && list->count < SPHERES_MAX; i++) {
    const ds_ball *ball = &samples->balls[i];
    add_sphere(list, pose, ball->center, ball->radius, level[i]);
    for (int32_t k = 0; ball->child > i && k < ball->child_count; k++) level[ball->child + k] = level[i] + 1;
  }
  free(level);
  return true;
}

static bool add_tree(sphere_list *list, const ds_reduced *body, const double *q, ds_pose pose) {
  const ds_bd_tree *tree = &body->tree;
  int32_t *level = calloc((size_t)tree->sphere_count + 1, sizeof *level);
  if (level == NULL) return false;
  for (int32_t i = 0; i < tree->sphere_count && list->count < SPHERES_MAX; i++) {
    ds_vec3 center;
    double radius = ds_bd_sphere_at(&center, body, q, i);
    add_sphere(list, pose, center, radius, level[i]);
    int32_t child = tree->spheres[i].child;
    if (child > i) level[child] = level[child + 1] = level[i] + 1;
  }
  free(level);
  return true;
}

view_message *view_spheres_message(const ds_scene *scene, const ds_state *state, uint32_t index, ds_error *error) {
  if (index >= (uint32_t)scene->body_count) return refuse(error, "there is no such body");
  const ds_body *body = &scene->bodies[index];
  ds_pose principal = ds_principal_pose(&state->bodies[index]);
  view_bytes out;
  sphere_list list = {&out, 0};
  bool good = true;
  view_begin(&out, VIEW_SPHERES);
  view_u32(&out, index);
  view_u32(&out, 0);
  if (body->reduced != NULL) good = add_tree(&list, body->reduced, state->reduced + body->first_reduced, principal);
  for (int32_t s = 0; good && s < body->shape_count; s++)
    if (body->shapes[s].kind == DS_SHAPE_SOLID)
      good = add_balls(&list, &body->shapes[s].solid->samples, pose_mul(principal, body->shapes[s].pose));
  if (!good) out.failed = true;
  view_message *message = view_end(&out);
  if (message == NULL) return refuse(error, "out of memory");
  if (list.count == 0) {
    view_message_release(message);
    return refuse(error, "this body has no tree of spheres: solids and deformable bodies have one");
  }
  *(uint32_t *)(void *)(message->bytes + VIEW_HEADER + 4) = list.count;
  return message;
}

/* ---- slices ---- */

static double box_distance(ds_vec3 x, ds_vec3 half) {
  ds_vec3 d = v3(fabs(x.x) - half.x, fabs(x.y) - half.y, fabs(x.z) - half.z);
  return v3_norm(v3_max(d, v3(0, 0, 0))) + fmin(0, fmax(d.x, fmax(d.y, d.z)));
}

/* Of a point in the shape's frame; NAN where it cannot be told. */
static double shape_distance(const ds_shape *shape, ds_vec3 x) {
  double r = hypot(x.x, x.y);
  switch (shape->kind) {
    case DS_SHAPE_SPHERE:
      return v3_norm(x) - shape->radius;
    case DS_SHAPE_BOX:
      return box_distance(x, shape->half);
    case DS_SHAPE_CAPSULE:
      return v3_norm(v3(x.x, x.y, fmax(0, fabs(x.z) - shape->half_length))) - shape->radius;
    case DS_SHAPE_CYLINDER:
      r -= shape->radius;
      return hypot(fmax(r, 0), fmax(fabs(x.z) - shape->half_length, 0)) +
             fmin(0, fmax(r, fabs(x.z) - shape->half_length));
    case DS_SHAPE_SOLID:
      return ds_solid_distance(NULL, shape->solid, x);
    case DS_SHAPE_HULL:
    case DS_SHAPE_HALF_SPACE:
    case DS_SHAPE_REDUCED:
      return NAN;
  }
  return NAN;
}

static double body_distance(const ds_body *body, ds_vec3 x) {
  double least = INFINITY;
  for (int32_t s = 0; s < body->shape_count; s++) {
    double d = shape_distance(&body->shapes[s], pose_unpoint(body->shapes[s].pose_in_body, x));
    if (isnan(d)) return NAN;
    least = fmin(least, d);
  }
  return least;
}

/* The rectangle of a slice: a tenth larger than the body on all sides. */
typedef struct slice {
  ds_vec3 origin, along, up;
  uint32_t columns, rows;
} slice;

static double *coordinate(ds_vec3 *a, int axis) { return axis == 0 ? &a->x : axis == 1 ? &a->y : &a->z; }

static slice cut(ds_vec3 low, ds_vec3 high, int axis, double place) {
  int u = (axis + 1) % 3, v = (axis + 2) % 3;
  double margin = 0.1 * fmax(high.x - low.x, fmax(high.y - low.y, high.z - low.z));
  double width = *coordinate(&high, u) - *coordinate(&low, u) + 2 * margin;
  double height = *coordinate(&high, v) - *coordinate(&low, v) + 2 * margin;
  double cell = fmax(width, height) / (SLICE - 1);
  slice s = {.columns = (uint32_t)ceil(width / cell - 1e-9) + 1, .rows = (uint32_t)ceil(height / cell - 1e-9) + 1};
  s.origin = low;
  *coordinate(&s.origin, axis) += place * (*coordinate(&high, axis) - *coordinate(&low, axis));
  *coordinate(&s.origin, u) -= margin;
  *coordinate(&s.origin, v) -= margin;
  *coordinate(&s.along, u) = cell;
  *coordinate(&s.up, v) = cell;
  return s;
}

view_message *view_field_message(const ds_scene *scene, uint32_t index, int axis, double place, ds_error *error) {
  if (index >= (uint32_t)scene->body_count) return refuse(error, "there is no such body");
  const ds_body *body = &scene->bodies[index];
  ds_vec3 low = v3(INFINITY, INFINITY, INFINITY), high = v3(-INFINITY, -INFINITY, -INFINITY);
  for (int32_t i = 0; i < body->shape_count; i++) {
    ds_vec3 a, b;
    ds_shape_bounds(&a, &b, &body->shapes[i], body->shapes[i].pose_in_body);
    low = v3_min(low, a), high = v3_max(high, b);
  }
  if (!v3_finite(low) || !v3_finite(high) || isnan(body_distance(body, low)))
    return refuse(error, "this body has no distance field; solids, spheres, boxes, capsules and cylinders have one");
  slice s = cut(low, high, axis, place);
  view_bytes out;
  view_begin(&out, VIEW_FIELD);
  view_u32(&out, index);
  view_u32(&out, s.columns);
  view_u32(&out, s.rows);
  view_u32(&out, 0);
  view_vec3(&out, s.origin);
  view_vec3(&out, s.along);
  view_vec3(&out, s.up);
  for (uint32_t row = 0; row < s.rows; row++)
    for (uint32_t column = 0; column < s.columns; column++)
      view_f32(&out, body_distance(body, v3_mad(v3_mad(s.origin, column, s.along), row, s.up)));
  view_message *message = view_end(&out);
  return message != NULL ? message : refuse(error, "out of memory");
}
