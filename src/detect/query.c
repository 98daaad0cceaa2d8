/* Queries that need only detection: the deepest overlap, what a ray meets, bounds. */
#include <math.h>

#include "base/check.h"
#include "detect/detection.h"

ds_status ds_state_deepest_overlap(double *depth, ds_body_id *a, ds_body_id *b, const ds_scene *scene,
                                   const ds_state *state) {
  ds_arena arena = {0};
  ds_detection d = {.scene = scene, .state = state};
  ds_box_pair *pairs;
  int32_t pair_count = 0;
  *depth = 0;
  ds_body_id deepest_a = {0}, deepest_b = {0};
  bool ok = ds_place_shapes(&arena, &d, NULL) && ds_body_pairs(&arena, &pairs, &pair_count, d.boxes, d.moving, scene) &&
            ds_deform(&arena, &d, pairs, pair_count, NULL);
  ds_point_list list = {.capacity = 256};
  if (ok) list.points = DS_NEW(&arena, ds_contact_point, list.capacity);
  ds_manifold *m = ok ? DS_NEW(&arena, ds_manifold, 1) : NULL;
  ok = ok && list.points && m;
  for (int32_t i = 0; i < pair_count && ok; i++) {
    list.count = 0;
    ok = ds_collide(&arena, &list, &d, m, pairs[i], 0, 8);
    for (int32_t k = 0; k < list.count; k++)
      if (-list.points[k].gap > *depth) {
        *depth = -list.points[k].gap;
        deepest_a = ds_id(pairs[i].a);
        deepest_b = ds_id(pairs[i].b);
      }
  }
  ds_arena_free(&arena);
  if (a) *a = deepest_a;
  if (b) *b = deepest_b;
  return ok ? DS_OK : DS_ERROR_MEMORY;
}

ds_ray_hit ds_state_ray_cast(const ds_scene *scene, const ds_state *state, ds_vec3 origin, ds_vec3 direction,
                             double max_distance) {
  ds_ray_hit hit = {0};
  double length = v3_norm(direction);
  if (!(length > 0) || !isfinite(length) || !v3_finite(origin)) return hit;
  ds_vec3 dir = v3_scale(1 / length, direction);
  double nearest = max_distance;
  for (int32_t i = 0; i < scene->body_count; i++) {
    const ds_body *body = &scene->bodies[i];
    ds_pose pose = ds_principal_pose(&state->bodies[i]);
    for (int32_t j = 0; j < body->shape_count; j++) {
      const ds_shape *shape = &body->shapes[j];
      ds_pose placed = pose_mul(pose, shape->pose);
      ds_vec3 r = v3_sub(placed.p, origin), normal;
      double t = -1;
      if (body->skin) {
        ds_vec3 from = pose_unpoint(placed, origin), along = quat_unrotate(placed.q, dir);
        t = ds_skin_ray(&normal, body->skin, ds_body_coordinates(state, body), from, along, nearest);
        normal = quat_rotate(placed.q, normal);
      } else {
        if (v3_norm(v3_mad(r, -v3_dot(r, dir), dir)) > shape->bounding_radius * (1 + 1e-9)) continue;
        t = ds_shape_ray(&normal, shape, placed, origin, dir, nearest);
      }
      if (t < 0 || (hit.body.index1 && t >= nearest)) continue;
      nearest = t;
      hit = (ds_ray_hit){ds_id(i), t, v3_mad(origin, t, dir), normal};
    }
  }
  return hit;
}

void ds_body_bounds(ds_vec3 *low, ds_vec3 *high, const ds_scene *scene, ds_body_id id, int32_t index, ds_pose pose) {
  DS_CHECK(scene && id.index1 >= 1 && id.index1 <= scene->body_count);
  const ds_body *body = &scene->bodies[ds_index(id)];
  DS_CHECK(index >= 0 && index < body->shape_count);
  ds_shape_bounds(low, high, &body->shapes[index], pose_mul(pose, body->shapes[index].pose_in_body));
}
