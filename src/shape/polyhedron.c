/* Boxes and convex hulls: both have the polyhedron of detect/hull.c.
 *
 * A polyhedron is cut into tetrahedra from an inner point; with vertices a, b, c and the origin, volume V = a.(b x
 * c)/6, integral of x = V/4 (a + b + c), integral of x xᵀ = V/20 (a aᵀ + b bᵀ + c cᵀ + s sᵀ), s = a + b + c: exact. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "shape/moments.h"
#include "shape/shape.h"

static const double facing = 0.906; /* cosine from which a face is treated as a whole: 25 degrees */
static const double level = 0.05;   /* sine up to which an edge is treated as a whole */

/* ---- both ---- */

/* Twice the distance from a point well inside to the nearest face. */
static double thickness(const ds_shape *shape) {
  double least = INFINITY;
  for (int32_t f = 0; f < shape->hull.face_count; f++)
    least = fmin(least, shape->hull.offsets[f] - v3_dot(shape->hull.normals[f], shape->hull.center));
  return 2 * least;
}

static double reach(const ds_shape *shape, ds_pose pose) {
  double r = 0;
  for (int32_t i = 0; i < shape->hull.vertex_count; i++)
    r = fmax(r, v3_norm(pose_point(pose, shape->hull.vertices[i])));
  return r;
}

static double ray(ds_vec3 *normal, const ds_shape *shape, ds_vec3 o, ds_vec3 dir, double max_distance) {
  ds_span s = ds_span_all();
  for (int32_t f = 0; f < shape->hull.face_count; f++)
    ds_span_cut_plane(&s, shape->hull.normals[f], shape->hull.offsets[f], o, dir);
  return ds_span_first(normal, &s, max_distance);
}

static int32_t highest(const ds_hull *h, ds_vec3 direction) {
  double best = -INFINITY;
  int32_t index = 0;
  for (int32_t i = 0; i < h->vertex_count; i++) {
    double g = v3_dot(direction, h->vertices[i]);
    if (g > best) {
      best = g;
      index = i;
    }
  }
  return index;
}

static ds_vec3 support(const ds_shape *shape, ds_vec3 direction) {
  return shape->hull.vertices[highest(&shape->hull, direction)];
}

static void put(ds_shape_face *f, const ds_hull *h, int32_t vertex) {
  f->points[f->count] = h->vertices[vertex];
  f->ids[f->count++] = (uint32_t)(vertex & 0xfff);
}

/* The face whose normal is nearest to d, or else the most level edge from the highest vertex. */
static void face(ds_shape_face *f, const ds_shape *shape, ds_vec3 d, int32_t wanted) {
  (void)wanted;
  const ds_hull *h = &shape->hull;
  int32_t best = 0, top = highest(h, d), other = -1;
  f->count = 0;
  for (int32_t i = 1; i < h->face_count; i++)
    if (v3_dot(h->normals[i], d) > v3_dot(h->normals[best], d)) best = i;
  int32_t first = h->face_start[best], count = h->face_start[best + 1] - first;
  if (v3_dot(h->normals[best], d) > facing) {
    int32_t stride = 1 + (count - 1) / DS_SHAPE_FACE_MAX;
    for (int32_t i = 0; i < count; i += stride) put(f, h, h->face_vertex[first + i]);
    return;
  }
  double least = level;
  for (int32_t e = 0; e < h->edge_count; e++) {
    int32_t v = h->edges[4 * e], w = h->edges[4 * e + 1];
    if (v != top && w != top) continue;
    ds_vec3 along = v3_unit(v3_sub(h->vertices[w], h->vertices[v]));
    if (fabs(v3_dot(along, d)) < least) least = fabs(v3_dot(along, d)), other = v == top ? w : v;
  }
  put(f, h, top);
  if (other >= 0) put(f, h, other);
}

static void samples(ds_shape_points *points, const ds_shape *shape, double spacing) {
  const ds_hull *h = &shape->hull;
  for (int32_t i = 0; i < h->vertex_count; i++)
    ds_shape_point_add(points, h->vertices[i], v3_sub(h->vertices[i], h->center));
  for (int32_t e = 0; e < h->edge_count; e++) {
    ds_vec3 a = h->vertices[h->edges[4 * e]], b = h->vertices[h->edges[4 * e + 1]];
    ds_vec3 n = v3_add(h->normals[h->edges[4 * e + 2]], h->normals[h->edges[4 * e + 3]]);
    int32_t count = ds_shape_pieces(v3_dist(a, b), spacing);
    for (int32_t k = 1; k < count; k++) ds_shape_point_add(points, v3_mad(a, (double)k / count, v3_sub(b, a)), n);
  }
}

/* ---- boxes ---- */

static ds_status box_prepare(ds_shape *shape, const ds_shape_def *def, ds_error *error) {
  ds_status status = ds_hull_box(&shape->hull, def->half);
  return status == DS_OK ? DS_OK : ds_fail(error, status, "out of memory");
}

static void box_mass(ds_mass *m, const ds_shape *shape) {
  ds_vec3 s = v3_mul(shape->half, shape->half);
  double volume = 8 * shape->half.x * shape->half.y * shape->half.z;
  ds_mass_diagonal(m, volume, (s.y + s.z) / 3, (s.x + s.z) / 3, (s.x + s.y) / 3);
}

static void box_bounds(ds_vec3 *low, ds_vec3 *high, const ds_shape *shape, ds_pose pose) {
  ds_mat3 r = mat3_from_quat(pose.q), a;
  for (int i = 0; i < 9; i++) a.m[i] = fabs(r.m[i]);
  ds_vec3 e = mat3_mul_v3(&a, shape->half);
  *low = v3_sub(pose.p, e);
  *high = v3_add(pose.p, e);
}

double ds_box_distance(ds_vec3 *normal, ds_vec3 half, ds_vec3 x) {
  const double out[3] = {fabs(x.x) - half.x, fabs(x.y) - half.y, fabs(x.z) - half.z};
  double tau = 1e-9 * fmin(half.x, fmin(half.y, half.z)); /* faces as near as this are one: the first is taken */
  int on = out[1] > out[0] + tau ? 1 : 0;
  if (out[2] > out[on] + tau) on = 2;
  if (out[on] <= tau || (out[0] > 0) + (out[1] > 0) + (out[2] > 0) == 1) {
    double sign = (on == 0 ? x.x : on == 1 ? x.y : x.z) < 0 ? -1 : 1;
    *normal = v3(on == 0 ? sign : 0, on == 1 ? sign : 0, on == 2 ? sign : 0);
    return out[on];
  }
  /* beyond an edge or a corner */
  ds_vec3 r = v3(copysign(fmax(out[0], 0), x.x), copysign(fmax(out[1], 0), x.y), copysign(fmax(out[2], 0), x.z));
  *normal = v3_unit(r);
  return v3_norm(r);
}

static double box_distance(ds_vec3 *normal, const ds_shape *shape, ds_vec3 x) {
  return ds_box_distance(normal, shape->half, x);
}

static void box_tessellate(ds_facets *facets, const ds_shape *shape, int32_t segments) {
  /* corner bits: 1 = +x, 2 = +y, 4 = +z */
  static const int8_t faces[6][4] = {{1, 3, 7, 5}, {0, 4, 6, 2}, {2, 6, 7, 3},
                                     {0, 1, 5, 4}, {4, 5, 7, 6}, {0, 2, 3, 1}};
  ds_vec3 half = shape->half;
  (void)segments;
  for (int f = 0; f < 6; f++) {
    ds_vec3 points[4];
    for (int i = 0; i < 4; i++) {
      int bits = faces[f][i];
      points[i] = v3(bits & 1 ? half.x : -half.x, bits & 2 ? half.y : -half.y, bits & 4 ? half.z : -half.z);
    }
    ds_facets_polygon(facets, points, 4);
  }
}

const ds_shape_ops ds_shape_box = {
    .name = "box",
    .measures = {{"size", DS_MEASURE_LENGTHS, offsetof(ds_shape_def, half), 0.5}},
    .prepare = box_prepare,
    .mass = box_mass,
    .thickness = thickness,
    .reach = reach,
    .bounds = box_bounds,
    .ray = ray,
    .distance = box_distance,
    .support = support,
    .face = face,
    .samples = samples,
    .tessellate = box_tessellate,
};

/* ---- hulls ---- */

static ds_status hull_prepare(ds_shape *shape, const ds_shape_def *def, ds_error *error) {
  ds_status status = ds_hull_build(&shape->hull, def->points, def->point_count, error);
  if (status != DS_OK) return status;
  size_t bytes = (size_t)def->point_count * sizeof(ds_vec3);
  shape->points = malloc(bytes);
  if (!shape->points) {
    ds_hull_free(&shape->hull);
    return ds_fail(error, DS_ERROR_MEMORY, "out of memory");
  }
  memcpy(shape->points, def->points, bytes);
  shape->point_count = def->point_count;
  return DS_OK;
}

static void hull_mass(ds_mass *mass, const ds_shape *shape) {
  const ds_hull *h = &shape->hull;
  double volume = 0, c[9] = {0};
  ds_vec3 first = v3(0, 0, 0);
  for (int32_t f = 0; f < h->face_count; f++) {
    ds_vec3 a = v3_sub(h->vertices[h->face_vertex[h->face_start[f]]], h->center);
    for (int32_t i = h->face_start[f] + 1; i + 1 < h->face_start[f + 1]; i++) {
      ds_vec3 b = v3_sub(h->vertices[h->face_vertex[i]], h->center);
      ds_vec3 d = v3_sub(h->vertices[h->face_vertex[i + 1]], h->center), s = v3_add(a, v3_add(b, d));
      double v = v3_dot(a, v3_cross(b, d)) / 6;
      const ds_vec3 terms[4] = {a, b, d, s};
      volume += v;
      first = v3_mad(first, v / 4, s);
      for (int k = 0; k < 4; k++) ds_add_outer(c, v / 20, terms[k]);
    }
  }
  ds_vec3 r = v3_scale(1 / volume, first);
  ds_add_outer(c, -volume, r);
  mass->mass = volume;
  mass->center = v3_add(h->center, r);
  ds_inertia_of_moments(mass->inertia, c);
}

static void hull_bounds(ds_vec3 *low, ds_vec3 *high, const ds_shape *shape, ds_pose pose) {
  ds_mat3 r = mat3_from_quat(pose.q);
  *low = v3(INFINITY, INFINITY, INFINITY);
  *high = v3_neg(*low);
  for (int32_t i = 0; i < shape->hull.vertex_count; i++) {
    ds_vec3 x = v3_add(pose.p, mat3_mul_v3(&r, shape->hull.vertices[i]));
    *low = v3_min(*low, x);
    *high = v3_max(*high, x);
  }
}

/* From x to the nearest point of an edge. */
static ds_vec3 from_edge(const ds_hull *h, int32_t edge, ds_vec3 x) {
  ds_vec3 a = h->vertices[h->edges[4 * edge]], b = h->vertices[h->edges[4 * edge + 1]], d = v3_sub(b, a);
  double l2 = v3_norm2(d), t = l2 > 0 ? v3_dot(d, v3_sub(x, a)) / l2 : 0;
  return v3_sub(x, v3_mad(a, t < 0 ? 0 : t > 1 ? 1 : t, d));
}

double ds_hull_distance(ds_vec3 *normal, const ds_hull *h, ds_vec3 x) {
  double best = -INFINITY, tau = 1e-6 * h->skin;
  int32_t on = 0;
  for (int32_t f = 0; f < h->face_count; f++) {
    double s = v3_dot(h->normals[f], x) - h->offsets[f];
    if (s > best + tau) {
      best = s;
      on = f;
    }
  }
  *normal = h->normals[on];
  if (best <= tau) return best;
  bool over = true;
  for (int32_t i = h->face_start[on]; i < h->face_start[on + 1] && over; i++) {
    int32_t next = i + 1 < h->face_start[on + 1] ? i + 1 : h->face_start[on];
    ds_vec3 v = h->vertices[h->face_vertex[i]], w = h->vertices[h->face_vertex[next]];
    over = v3_dot(v3_cross(h->normals[on], v3_sub(w, v)), v3_sub(x, v)) >= 0;
  }
  if (over) return best;
  /* beyond the face's sides: the nearest edge */
  double nearest = INFINITY;
  ds_vec3 r = v3(0, 0, 0);
  for (int32_t e = 0; e < h->edge_count; e++) {
    ds_vec3 d = from_edge(h, e, x);
    if (v3_norm2(d) < nearest) {
      nearest = v3_norm2(d);
      r = d;
    }
  }
  *normal = v3_unit(r);
  return sqrt(nearest);
}

static double hull_distance(ds_vec3 *normal, const ds_shape *shape, ds_vec3 x) {
  return ds_hull_distance(normal, &shape->hull, x);
}

static void hull_tessellate(ds_facets *facets, const ds_shape *shape, int32_t segments) {
  const ds_hull *h = &shape->hull;
  ds_vec3 loop[64];
  (void)segments;
  for (int32_t f = 0; f < h->face_count; f++) {
    int32_t start = h->face_start[f], count = h->face_start[f + 1] - start;
    ds_vec3 *points = count <= 64 ? loop : malloc((size_t)count * sizeof *points);
    if (!points) {
      facets->failed = true;
      return;
    }
    for (int32_t i = 0; i < count; i++) points[i] = h->vertices[h->face_vertex[start + i]];
    ds_facets_polygon(facets, points, count);
    if (points != loop) free(points);
  }
}

const ds_shape_ops ds_shape_hull = {
    .name = "hull",
    .measures = {{"points", DS_MEASURE_POINTS, 0, 1}},
    .prepare = hull_prepare,
    .mass = hull_mass,
    .thickness = thickness,
    .reach = reach,
    .bounds = hull_bounds,
    .ray = ray,
    .distance = hull_distance,
    .support = support,
    .face = face,
    .samples = samples,
    .tessellate = hull_tessellate,
};
