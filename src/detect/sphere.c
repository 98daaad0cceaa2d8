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

/* By the distance function of the other: a cylinder, a box, a hull. */
void ds_pair_sphere_convex(ds_manifold *m, const ds_query *query, const ds_placed *a, const ds_placed *b) {
  ds_vec3 n, x = mat3_tmul_v3(&b->r, v3_sub(a->p, b->p));
  double gap = ds_shape_distance(&n, b->shape, x) - a->shape->radius;
  if (!(gap < query->reach)) return;
  n = mat3_mul_v3(&b->r, n);
  ds_emit(m, v3_mad(a->p, -(a->shape->radius + 0.5 * gap), n), n, gap, 0);
}

double ds_cylinder_distance(ds_vec3 *normal, double radius, double half_length, ds_vec3 x) {
  double across = sqrt(x.x * x.x + x.y * x.y), dr = across - radius, dz = fabs(x.z) - half_length;
  ds_vec3 cap = v3(0, 0, x.z < 0 ? -1 : 1), side = across > 0 ? v3(x.x / across, x.y / across, 0) : v3(1, 0, 0);
  if (dr > 0 && dz > 0) {
    double d = sqrt(dr * dr + dz * dz);
    *normal = v3_add(v3_scale(dr / d, side), v3_scale(dz / d, cap));
    return d;
  }
  /* over a cap, beside, or inside: then the nearer surface, the cap first */
  bool on_cap = dz > 0 || (dr <= 0 && dz >= dr - 1e-9 * radius);
  *normal = on_cap ? cap : side;
  return on_cap ? dz : dr;
}

double ds_box_distance(ds_vec3 *normal, ds_vec3 half, ds_vec3 x) {
  const double out[3] = {fabs(x.x) - half.x, fabs(x.y) - half.y, fabs(x.z) - half.z};
  double tau = 1e-9 * fmin(half.x, fmin(half.y, half.z)); /* faces as near as this are one: the first is taken */
  int face = out[1] > out[0] + tau ? 1 : 0;
  if (out[2] > out[face] + tau) face = 2;
  if (out[face] <= tau || (out[0] > 0) + (out[1] > 0) + (out[2] > 0) == 1) {
    double sign = (face == 0 ? x.x : face == 1 ? x.y : x.z) < 0 ? -1 : 1;
    *normal = v3(face == 0 ? sign : 0, face == 1 ? sign : 0, face == 2 ? sign : 0);
    return out[face];
  }
  /* beyond an edge or a corner */
  ds_vec3 r = v3(copysign(fmax(out[0], 0), x.x), copysign(fmax(out[1], 0), x.y), copysign(fmax(out[2], 0), x.z));
  *normal = v3_unit(r);
  return v3_norm(r);
}

double ds_hull_distance(ds_vec3 *normal, const ds_hull *h, ds_vec3 x) {
  double best = -INFINITY, tau = 1e-6 * h->skin;
  int32_t face = 0;
  for (int32_t f = 0; f < h->face_count; f++) {
    double s = v3_dot(h->normals[f], x) - h->offsets[f];
    if (s > best + tau) {
      best = s;
      face = f;
    }
  }
  *normal = h->normals[face];
  if (best <= tau) return best;
  bool over = true;
  for (int32_t i = h->face_start[face]; i < h->face_start[face + 1] && over; i++) {
    ds_vec3 v = h->vertices[h->face_vertex[i]], w = h->vertices[h->face_vertex[ds_next_in_face(h, face, i)]];
    over = v3_dot(v3_cross(h->normals[face], v3_sub(w, v)), v3_sub(x, v)) >= 0;
  }
  if (over) return best;
  /* beyond the face's sides: the nearest edge */
  double nearest = INFINITY;
  ds_vec3 r = v3(0, 0, 0);
  for (int32_t e = 0; e < h->edge_count; e++) {
    ds_segment s = {h->vertices[h->edges[4 * e]], h->vertices[h->edges[4 * e + 1]]};
    ds_vec3 d = v3_sub(x, ds_segment_at(&s, ds_segment_nearest(&s, x)));
    if (v3_norm2(d) < nearest) {
      nearest = v3_norm2(d);
      r = d;
    }
  }
  *normal = v3_unit(r);
  return sqrt(nearest);
}
