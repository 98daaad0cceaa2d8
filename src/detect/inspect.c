/* Data of detection for a body: see drystone/inspect.h. */
#include "drystone/inspect.h"

#include <math.h>
#include <stdlib.h>

#include "base/check.h"
#include "detect/deformed.h"
#include "detect/detect.h"
#include "detect/solid.h"

static const ds_body *get_body(const ds_scene *scene, const ds_state *state, ds_body_id id) {
  DS_CHECK(scene && state && state->scene == scene && id.index1 >= 1 && id.index1 <= scene->body_count);
  return &scene->bodies[ds_index(id)];
}

/* ---- spheres ---- */

typedef struct sphere_list {
  ds_tree_sphere *spheres;
  int32_t count, room;
} sphere_list;

static void add_sphere(sphere_list *list, ds_pose pose, ds_vec3 center, double radius, int32_t level) {
  list->spheres[list->count++] = (ds_tree_sphere){pose_point(pose, center), radius, level};
}

/* Children lie behind their parents in the array, so that one pass gives all levels. */
static bool add_balls(sphere_list *list, const ds_samples *samples, ds_pose pose) {
  int32_t *level = calloc((size_t)samples->ball_count + 1, sizeof *level);
  if (!level) return false;
  for (int32_t i = 0; i < samples->ball_count && list->count < list->room; i++) {
    const ds_ball *ball = &samples->balls[i];
    add_sphere(list, pose, ball->center, ball->radius, level[i]);
    for (int32_t k = 0; ball->child > i && k < ball->child_count; k++) level[ball->child + k] = level[i] + 1;
  }
  free(level);
  return true;
}

static bool add_tree(sphere_list *list, const ds_skin *skin, const double *q, ds_pose pose) {
  const ds_bd_tree *tree = skin->tree;
  int32_t *level = calloc((size_t)tree->sphere_count + 1, sizeof *level);
  if (!level) return false;
  for (int32_t i = 0; i < tree->sphere_count && list->count < list->room; i++) {
    ds_vec3 center;
    double radius = ds_skin_sphere(&center, skin, q, i);
    add_sphere(list, pose, center, radius, level[i]);
    int32_t child = tree->spheres[i].child;
    if (child > i) level[child] = level[child + 1] = level[i] + 1;
  }
  free(level);
  return true;
}

ds_status ds_state_spheres(ds_tree_sphere *spheres, int32_t *count, int32_t room, const ds_scene *scene,
                           const ds_state *state, ds_body_id id) {
  const ds_body *body = get_body(scene, state, id);
  ds_pose principal = ds_principal_pose(&state->bodies[ds_index(id)]);
  sphere_list list = {spheres, 0, room};
  bool good = true;
  if (body->skin) good = add_tree(&list, body->skin, state->reduced + body->first_reduced, principal);
  for (int32_t s = 0; good && s < body->shape_count; s++)
    if (body->shapes[s].kind == DS_SHAPE_SOLID)
      good = add_balls(&list, &body->shapes[s].solid->samples, pose_mul(principal, body->shapes[s].pose));
  *count = list.count;
  return good ? DS_OK : DS_ERROR_MEMORY;
}

/* ---- distances ---- */

/* Shapes in the body's frame, or a deformed surface in its principal one. */
struct ds_probe {
  const ds_body *body;
  ds_arena arena;
  ds_deformed *surface; /* NULL: rigid */
  ds_vec3 low, high;    /* of the body, in its frame */
};

static void bound(ds_probe *p) {
  const ds_body *body = p->body;
  p->low = v3(INFINITY, INFINITY, INFINITY), p->high = v3_neg(p->low);
  for (int32_t i = 0; !p->surface && i < body->shape_count; i++) {
    ds_vec3 a, b;
    ds_shape_bounds(&a, &b, &body->shapes[i], body->shapes[i].pose_in_body);
    p->low = v3_min(p->low, a), p->high = v3_max(p->high, b);
  }
  for (int32_t i = 0; p->surface && i < body->skin->mesh->vertex_count; i++) {
    ds_vec3 x = pose_unpoint(body->user_frame, p->surface->vertices[i]);
    p->low = v3_min(p->low, x), p->high = v3_max(p->high, x);
  }
}

/* Everything of a deformable's surface, as the state has it. */
static bool place_surface(ds_probe *p, const ds_state *state) {
  const double *q = state->reduced + p->body->first_reduced;
  p->surface = DS_NEW(&p->arena, ds_deformed, 1);
  if (!p->surface || !ds_deformed_begin(&p->arena, p->surface, p->body->skin, q, NULL, 0)) return false;
  ds_want_all(p->surface);
  ds_deformed_fill(p->surface);
  return true;
}

ds_probe *ds_probe_create(const ds_scene *scene, const ds_state *state, ds_body_id id) {
  const ds_body *body = get_body(scene, state, id);
  ds_probe *p = calloc(1, sizeof *p);
  if (!p) return NULL;
  p->body = body;
  if (body->skin && !place_surface(p, state)) {
    ds_probe_destroy(p);
    return NULL;
  }
  bound(p);
  return p;
}

void ds_probe_destroy(ds_probe *probe) {
  if (!probe) return;
  ds_arena_free(&probe->arena);
  free(probe);
}

void ds_probe_bounds(ds_vec3 *low, ds_vec3 *high, const ds_probe *probe) { *low = probe->low, *high = probe->high; }

double ds_probe_distance(const ds_probe *probe, ds_vec3 x) {
  const ds_body *body = probe->body;
  double least = INFINITY;
  ds_foot foot;
  if (probe->surface) {
    double reach = 2 * v3_dist(probe->low, probe->high);
    bool found = ds_deformed_nearest(&foot, probe->surface, pose_point(body->user_frame, x), reach, v3(0, 0, 0));
    return found ? foot.distance : reach;
  }
  for (int32_t s = 0; s < body->shape_count; s++)
    least = fmin(least, ds_shape_distance_alone(&body->shapes[s], pose_unpoint(body->shapes[s].pose_in_body, x)));
  return least;
}
