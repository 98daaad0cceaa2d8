/* Everything against a half-space: all points of the shape that are low enough, heights over one plane. */
#include "detect/pairs.h"

/* Height of a world point over the plane. */
static double height(const ds_placed *b, ds_vec3 x) { return v3_dot(ds_placed_axis(b), v3_sub(x, b->p)); }

/* A ball about x. */
static void emit_ball(ds_manifold *m, const ds_query *query, const ds_placed *b, ds_vec3 x, double radius,
                      uint32_t feature) {
  ds_vec3 n = ds_placed_axis(b);
  double gap = height(b, x) - radius;
  if (gap < query->reach) ds_emit(m, v3_mad(x, -(radius + 0.5 * gap), n), n, gap, feature);
}

void ds_pair_sphere_half_space(ds_manifold *m, const ds_query *query, const ds_placed *a, const ds_placed *b) {
  emit_ball(m, query, b, a->p, a->shape->radius, 0);
}

void ds_pair_capsule_half_space(ds_manifold *m, const ds_query *query, const ds_placed *a, const ds_placed *b) {
  ds_segment s = ds_shape_axis(a);
  emit_ball(m, query, b, s.a, a->shape->radius, 0);
  emit_ball(m, query, b, s.b, a->shape->radius, 1);
}

void ds_pair_cylinder_half_space(ds_manifold *m, const ds_query *query, const ds_placed *a, const ds_placed *b) {
  ds_spots spots;
  spots.count = 0;
  ds_can can = ds_can_in_frame(a, b);
  ds_floor floor = {v3(0, 0, 1), 0, NULL, 0, NULL, 0};
  ds_can_over_floor(&spots, query, &can, &floor);
  ds_emit_spots(m, &spots, b, v3(0, 0, 1));
}

void ds_pair_hull_half_space(ds_manifold *m, const ds_query *query, const ds_placed *a, const ds_placed *b) {
  const ds_hull *h = &a->shape->hull;
  ds_patch patch = {.placed = b, .incident = h, .r = ds_mat3_tmul(&b->r, &a->r), .eps = 0.01 * h->skin};
  patch.p = mat3_tmul_v3(&b->r, v3_sub(a->p, b->p));
  ds_patch_build(m, query, &patch);
}
