/* Capsule against capsule, cylinder, polyhedron.
 *
 * A capsule is its axis with a radius: nearest points of the axis to the other give the normal. Where the axis runs
 * along a face, an edge or another axis, both ends of the shared stretch become points, each with its own gap. */
#include "detect/pairs.h"

static const double lateral_share =
    1e-3; /* of the radii: how far apart sideways parallel axes still count as one line */

/* Two axes (or an axis and an edge, rb = 0) that do not meet: one point, or two where they run side by side. */
static void emit_axes(ds_manifold *m, const ds_query *query, const ds_segment *a, double ra, const ds_segment *b,
                      double rb, ds_vec3 fallback) {
  double s[2], t[2], d = ds_segment_closest(&s[0], &t[0], a, b);
  ds_vec3 r = v3_sub(ds_segment_at(a, s[0]), ds_segment_at(b, t[0]));
  ds_vec3 n = d > 1e-12 * (ra + rb) ? v3_scale(1 / d, r) : fallback;
  double so[2], to[2];
  int count = ds_segment_overlap(so, to, a, b, n, lateral_share * (ra + rb));
  if (count < 2) {
    ds_emit_round(m, query, ds_segment_at(a, s[0]), ra, ds_segment_at(b, t[0]), rb, n, 0);
    return;
  }
  for (int i = 0; i < 2; i++) {
    /* opposite the end of one segment lies the nearest point of the other: the better of both ways */
    double sn = ds_segment_nearest(a, ds_segment_at(b, to[i])), tn = ds_segment_nearest(b, ds_segment_at(a, so[i]));
    if (v3_dist(ds_segment_at(a, sn), ds_segment_at(b, to[i])) < v3_dist(ds_segment_at(a, so[i]), ds_segment_at(b, tn)))
      so[i] = sn;
    else
      to[i] = tn;
    ds_emit_round(m, query, ds_segment_at(a, so[i]), ra, ds_segment_at(b, to[i]), rb, n, (uint32_t)i);
  }
}

void ds_pair_capsule_capsule(ds_manifold *m, const ds_query *query, const ds_placed *a, const ds_placed *b) {
  ds_segment sa = ds_shape_axis(a), sb = ds_shape_axis(b);
  ds_vec3 t1, t2, cross = v3_cross(ds_placed_axis(a), ds_placed_axis(b));
  v3_tangents(&t1, &t2, ds_placed_axis(b));
  emit_axes(m, query, &sa, a->shape->radius, &sb, b->shape->radius, v3_norm(cross) > 1e-3 ? v3_unit(cross) : t1);
}

/* Both ends of a stretch of the axis over a plane surface of b: n and the plane n.x = d in b's frame. */
static void emit_over_plane(ds_manifold *m, const ds_query *query, const ds_placed *a, const ds_placed *b,
                            const ds_segment *axis, double t0, double t1, ds_vec3 n, double d) {
  ds_vec3 world = mat3_mul_v3(&b->r, n);
  double radius = a->shape->radius, length = v3_dist(axis->a, axis->b);
  for (int i = 0; i < 2; i++) {
    ds_vec3 x = ds_segment_at(axis, i ? t1 : t0);
    double gap = v3_dot(n, x) - d - radius;
    if (gap < query->reach)
      ds_emit(m, ds_placed_point(b, v3_mad(x, -(radius + 0.5 * gap), n)), world, gap, (uint32_t)i);
    if ((t1 - t0) * length < 1e-9 * radius) break;
  }
}

static ds_segment axis_in_frame(const ds_placed *a, const ds_placed *b) {
  ds_vec3 c = mat3_tmul_v3(&b->r, v3_sub(a->p, b->p));
  ds_vec3 u = v3_scale(a->shape->half_length, mat3_tmul_v3(&b->r, ds_placed_axis(a)));
  return (ds_segment){v3_sub(c, u), v3_add(c, u)};
}

/* The face most in front of which all of a segment lies, and by how much. */
static double face_of_segment(int32_t *face, const ds_hull *h, const ds_segment *s) {
  double best = -INFINITY, tau = 1e-6 * h->skin;
  *face = 0;
  for (int32_t f = 0; f < h->face_count; f++) {
    ds_vec3 n = h->normals[f];
    double g = fmin(v3_dot(n, s->a), v3_dot(n, s->b)) - h->offsets[f];
    if (g > best + tau) {
      best = g;
      *face = f;
    }
  }
  return best;
}

/* Whether the lower end of the axis (or any of it where it lies flat) is over the face. */
static bool axis_over_face(const ds_hull *h, int32_t face, const ds_segment *s) {
  double tau = 1e-6 * h->skin, t0, t1;
  double ga = v3_dot(h->normals[face], s->a), gb = v3_dot(h->normals[face], s->b);
  if (!ds_segment_clip(&t0, &t1, s, h, face, tau)) return false;
  return fabs(ga - gb) <= tau || (ga < gb ? t0 == 0 : t1 == 1);
}

/* The edge nearest to the axis; of those equally near the one most along it, then the lower index. */
static int32_t nearest_edge(double *distance, const ds_hull *h, const ds_segment *axis) {
  int32_t edge = 0;
  double along = 0, tau = 1e-6 * h->skin;
  ds_vec3 u = v3_unit(v3_sub(axis->b, axis->a));
  *distance = INFINITY;
  for (int32_t e = 0; e < h->edge_count; e++) {
    ds_segment s = {h->vertices[h->edges[4 * e]], h->vertices[h->edges[4 * e + 1]]};
    double p, q, d = ds_segment_closest(&p, &q, axis, &s), c = fabs(v3_dot(u, v3_unit(v3_sub(s.b, s.a))));
    if (d < *distance - tau || (d < *distance + tau && c > along + 1e-6)) {
      *distance = fmin(d, *distance);
      along = c;
      edge = e;
    }
  }
  return edge;
}

/* The axis passes through the polyhedron: least way out along faces or products of the axis and edges. */
static void deep_capsule(ds_manifold *m, const ds_query *query, const ds_placed *a, const ds_placed *b,
                         const ds_segment *axis, int32_t face, double face_depth) {
  const ds_hull *h = &b->shape->hull;
  ds_vec3 u = v3_unit(v3_sub(axis->b, axis->a)), normal = v3(0, 0, 0);
  double best = -INFINITY;
  int32_t edge = -1;
  for (int32_t e = 0; e < h->edge_count; e++) {
    ds_vec3 x = h->vertices[h->edges[4 * e]], n = v3_cross(u, v3_sub(h->vertices[h->edges[4 * e + 1]], x));
    double l = v3_norm(n), top = -INFINITY;
    if (!(l > 1e-6 * v3_dist(x, h->vertices[h->edges[4 * e + 1]]))) continue;
    n = v3_scale((v3_dot(n, v3_sub(x, h->center)) < 0 ? -1 : 1) / l, n);
    for (int32_t i = 0; i < h->vertex_count; i++) top = fmax(top, v3_dot(n, h->vertices[i]));
    double s = v3_dot(n, axis->a) - top;
    if (s > best + 1e-6 * h->skin && v3_dot(n, x) >= top - 1e-6 * h->skin) {
      best = s;
      normal = n;
      edge = e;
    }
  }
  if (edge >= 0 && best > face_depth + 0.05 * fabs(face_depth) + 0.1 * h->skin) {
    ds_segment s = {h->vertices[h->edges[4 * edge]], h->vertices[h->edges[4 * edge + 1]]};
    double p, q;
    ds_segment_closest(&p, &q, axis, &s);
    ds_vec3 xa = v3_mad(ds_segment_at(axis, p), -a->shape->radius, normal), xb = ds_segment_at(&s, q);
    double gap = v3_dot(normal, v3_sub(xa, xb));
    if (gap < query->reach)
      ds_emit(m, ds_placed_point(b, v3_scale(0.5, v3_add(xa, xb))), mat3_mul_v3(&b->r, normal), gap, 0);
    return;
  }
  double t0, t1;
  if (!ds_segment_clip(&t0, &t1, axis, h, face, 0)) {
    t0 = 0;
    t1 = 1;
  }
  emit_over_plane(m, query, a, b, axis, t0, t1, h->normals[face], h->offsets[face]);
}

void ds_pair_capsule_hull(ds_manifold *m, const ds_query *query, const ds_placed *a, const ds_placed *b) {
  const ds_hull *h = &b->shape->hull;
  ds_segment axis = axis_in_frame(a, b);
  int32_t face;
  double s = face_of_segment(&face, h, &axis), radius = a->shape->radius, t0, t1;
  if (s > radius + query->reach) return;
  if (s > 1e-6 * radius && axis_over_face(h, face, &axis)) {
    ds_segment_clip(&t0, &t1, &axis, h, face, 1e-6 * h->skin);
    emit_over_plane(m, query, a, b, &axis, t0, t1, h->normals[face], h->offsets[face]);
    return;
  }
  double distance;
  int32_t e = nearest_edge(&distance, h, &axis);
  if (s <= 0) {
    /* the axis may pass through a face between its edges, or miss the body beside an edge */
    double low = 0, high = 1;
    ds_vec3 d = v3_sub(axis.b, axis.a);
    for (int32_t f = 0; f < h->face_count; f++) {
      double g = v3_dot(h->normals[f], axis.a) - h->offsets[f], rate = v3_dot(h->normals[f], d);
      if (rate > 0) high = fmin(high, -g / rate);
      if (rate < 0) low = fmax(low, -g / rate);
      if (rate == 0 && g > 0) low = 2;
    }
    if (low <= high || distance < 1e-6 * radius) {
      deep_capsule(m, query, a, b, &axis, face, s);
      return;
    }
  }
  int32_t first = m->count;
  ds_segment edge = {h->vertices[h->edges[4 * e]], h->vertices[h->edges[4 * e + 1]]};
  emit_axes(m, query, &axis, radius, &edge, 0, h->normals[face]);
  for (int32_t i = first; i < m->count; i++) {
    m->point[i] = ds_placed_point(b, m->point[i]);
    m->normal[i] = mat3_mul_v3(&b->r, m->normal[i]);
  }
}

/* Parameter of the point of the axis nearest to a cylinder about z: the distance is convex along the axis, so its slope
 * is bisected. */
static double nearest_to_cylinder(const ds_segment *axis, double radius, double half_length) {
  ds_vec3 d = v3_sub(axis->b, axis->a), n;
  double low = 0, high = 1;
  for (int i = 0; i < 60; i++) {
    double t = 0.5 * (low + high);
    ds_cylinder_distance(&n, radius, half_length, ds_segment_at(axis, t));
    if (v3_dot(n, d) > 0)
      high = t;
    else
      low = t;
  }
  return 0.5 * (low + high);
}

/* The part of the axis within the radius of z; false if there is none. */
static bool clip_to_disc(double *t0, double *t1, const ds_segment *s, double radius) {
  ds_vec3 d = v3_sub(s->b, s->a);
  double a = d.x * d.x + d.y * d.y, b = s->a.x * d.x + s->a.y * d.y;
  double c = s->a.x * s->a.x + s->a.y * s->a.y - radius * radius;
  *t0 = 0;
  *t1 = 1;
  if (a <= 1e-24 * radius * radius) return c <= 0;
  double det = b * b - a * c;
  if (det < 0) return false;
  *t0 = fmax(0, (-b - sqrt(det)) / a);
  *t1 = fmin(1, (-b + sqrt(det)) / a);
  return *t1 >= *t0;
}

void ds_pair_capsule_cylinder(ds_manifold *m, const ds_query *query, const ds_placed *a, const ds_placed *b) {
  double radius = b->shape->radius, half = b->shape->half_length, ra = a->shape->radius, tau = 1e-9 * (radius + half);
  ds_segment axis = axis_in_frame(a, b);
  double above = fmin(axis.a.z, axis.b.z) - half, below = -half - fmax(axis.a.z, axis.b.z), t0, t1;
  double cap = fmax(above, below), side = above >= below ? 1 : -1;
  if (cap > ra + query->reach) return;
  /* over a cap: the lower end is within the disc, or the axis lies flat and part of it is */
  if (cap > tau && clip_to_disc(&t0, &t1, &axis, radius)) {
    bool flat = fabs(axis.a.z - axis.b.z) <= tau, first = side * axis.a.z < side * axis.b.z;
    if (flat || (first ? t0 == 0 : t1 == 1)) {
      emit_over_plane(m, query, a, b, &axis, t0, t1, v3(0, 0, side), half);
      return;
    }
  }
  double t = nearest_to_cylinder(&axis, radius, half);
  ds_vec3 n, x = ds_segment_at(&axis, t);
  double d = ds_cylinder_distance(&n, radius, half, x);
  if (d > ra + query->reach) return;
  /* beside the mantle: like two axes, with the whole radius of the cylinder */
  if (d > tau && n.z == 0) {
    ds_segment own = {v3(0, 0, -half), v3(0, 0, half)};
    double s[2], r[2];
    int count = ds_segment_overlap(s, r, &axis, &own, n, lateral_share * (ra + radius));
    for (int i = 0; i < count && count == 2; i++) {
      ds_vec3 y = ds_segment_at(&axis, s[i]), e;
      double gap = ds_cylinder_distance(&e, radius, half + 1e-6 * half, y) - ra;
      if (gap < query->reach)
        ds_emit(m, ds_placed_point(b, v3_mad(y, -(ra + 0.5 * gap), e)), mat3_mul_v3(&b->r, e), gap, (uint32_t)i);
    }
    if (count == 2) return;
  }
  double gap = d - ra;
  if (gap < query->reach)
    ds_emit(m, ds_placed_point(b, v3_mad(x, -(ra + 0.5 * gap), n)), mat3_mul_v3(&b->r, n), gap, 0);
}
