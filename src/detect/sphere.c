/* Sphere against sphere, capsule, cylinder, polyhedron: nearest point of the other to the centre. */
#include "detect/pairs.h"
#include "detect/solid.h"

static const ds_vec3 up = {0, 0, 1};

void ds_pair_sphere_sphere(ds_manifold *m, const ds_query *query, const ds_placed *a, const ds_placed *b) {
  ds_emit_round(m, query, a->p, a->shape->radius, b->p, b->shape->radius, up, 0);
}

void ds_pair_sphere_capsule(ds_manifold *m, const ds_query *query, const ds_placed *a, const ds_placed *b) {
  ds_segment s = ds_shape_axis(b);
  ds_vec3 t1, t2;
  v3_tangents(&t1, &t2, ds_placed_axis(b));
  double t = ds_segment_nearest(&s, a->p);
  ds_emit_round(m, query, a->p, a->shape->radius, ds_segment_at(&s, t), b->shape->radius, t1, 0);
}

/* By the distance function of the other. */
void ds_pair_sphere_convex(ds_manifold *m, const ds_query *query, const ds_placed *a, const ds_placed *b) {
  ds_vec3 n, x = mat3_tmul_v3(&b->r, v3_sub(a->p, b->p));
  double gap = ds_shape_distance(&n, b->shape, x) - a->shape->radius;
  if (!(gap < query->reach)) return;
  n = mat3_mul_v3(&b->r, n);
  ds_emit(m, v3_mad(a->p, -(a->shape->radius + 0.5 * gap), n), n, gap, 0);
}
