/* What is inside bodies: see probe.h. Spheres come level by level, SPHERES_MAX at most. The distance to a body of many
 * shapes is the least of theirs, which is exact outside; that to a deformable body is to its surface as it is now. */
#include "probe.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "body/reduced.h"
#include "body/scene.h"
#include "detect/deformed.h"
#include "detect/detect.h"
#include "detect/solid.h"
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
    return refuse(error, "this body has no sphere tree; only solids and deformable bodies have one");
  }
  *(uint32_t *)(void *)(message->bytes + VIEW_HEADER + 4) = list.count;
  return message;
}

/* ---- slices ---- */

/* A body as it is asked for distances: shapes in the body's frame, or a deformed surface in its principal one. */
typedef struct distances {
  const ds_body *body;
  const ds_deformed *surface; /* NULL: rigid */
  ds_vec3 low, high;          /* of the body, in its frame */
} distances;

/* Everything of a deformable's surface, as the state has it. */
static const ds_deformed *surface_of(ds_arena *arena, const ds_body *body, const ds_state *state) {
  ds_deformed *d = DS_NEW(arena, ds_deformed, 1);
  const double *q = state->reduced + body->first_reduced;
  if (d == NULL || !ds_deformed_begin(arena, d, body->reduced, q, NULL, 0)) return NULL;
  ds_want_all(d);
  ds_deformed_fill(d);
  return d;
}

static void bound(distances *of) {
  const ds_body *body = of->body;
  of->low = v3(INFINITY, INFINITY, INFINITY), of->high = v3_neg(of->low);
  for (int32_t i = 0; of->surface == NULL && i < body->shape_count; i++) {
    ds_vec3 a, b;
    ds_shape_bounds(&a, &b, &body->shapes[i], body->shapes[i].pose_in_body);
    of->low = v3_min(of->low, a), of->high = v3_max(of->high, b);
  }
  for (int32_t i = 0; of->surface != NULL && i < of->surface->reduced->surface.vertex_count; i++) {
    ds_vec3 x = pose_unpoint(body->user_frame, of->surface->vertices[i]);
    of->low = v3_min(of->low, x), of->high = v3_max(of->high, x);
  }
}

/* Of a point in the body's frame, which is not far from it. */
static double distance_at(const distances *of, ds_vec3 x) {
  const ds_body *body = of->body;
  double least = INFINITY;
  ds_foot foot;
  if (of->surface != NULL) {
    double reach = 2 * v3_dist(of->low, of->high);
    bool found = ds_deformed_nearest(&foot, of->surface, pose_point(body->user_frame, x), reach, v3(0, 0, 0));
    return found ? foot.distance : reach;
  }
  for (int32_t s = 0; s < body->shape_count; s++)
    least = fmin(least, ds_shape_distance_alone(&body->shapes[s], pose_unpoint(body->shapes[s].pose_in_body, x)));
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

static view_message *slice_message(const distances *of, uint32_t index, int axis, double place) {
  slice s = cut(of->low, of->high, axis, place);
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
      view_f32(&out, distance_at(of, v3_mad(v3_mad(s.origin, column, s.along), row, s.up)));
  return view_end(&out);
}

view_message *view_field_message(const ds_scene *scene, const ds_state *state, uint32_t index, int axis, double place,
                                 ds_error *error) {
  if (index >= (uint32_t)scene->body_count) return refuse(error, "there is no such body");
  ds_arena arena = {0};
  distances of = {.body = &scene->bodies[index]};
  if (of.body->reduced != NULL) of.surface = surface_of(&arena, of.body, state);
  bool good = of.body->reduced == NULL || of.surface != NULL;
  if (good) bound(&of);
  bool bounded = v3_finite(of.low) && v3_finite(of.high);
  view_message *message = good && bounded ? slice_message(&of, index, axis, place) : NULL;
  ds_arena_free(&arena);
  if (message != NULL) return message;
  return refuse(error, good && !bounded
                           ? "a half-space is unbounded and has no slice; its distance is the height above it"
                           : "out of memory");
}
