/* Closed meshes whose distance is known, for tests: boxes, prisms, spheres, shells, things turned on a lathe. And the
 * distance to any mesh by other means than the library's: all triangles, sign by the winding number. */
#ifndef DS_TEST_SAMPLE_MESHES_H
#define DS_TEST_SAMPLE_MESHES_H

#include <stdlib.h>
#include <string.h>

#include "drystone/solid.h"
#include "la/vec3.h"

static inline ds_mesh mesh_new(int32_t vertices, int32_t triangles) {
  ds_mesh m = {.vertex_count = vertices, .triangle_count = triangles};
  m.vertices = calloc((size_t)vertices, sizeof *m.vertices);
  m.triangles = calloc(3 * (size_t)triangles, sizeof *m.triangles);
  if (!m.vertices || !m.triangles) abort();
  return m;
}

static inline void mesh_drop(ds_mesh *m) {
  free(m->vertices);
  free(m->triangles);
  *m = (ds_mesh){0};
}

static inline void mesh_triangle(ds_mesh *m, int32_t *t, int32_t a, int32_t b, int32_t c) {
  m->triangles[3 * *t] = a;
  m->triangles[3 * *t + 1] = b;
  m->triangles[3 * (*t)++ + 2] = c;
}

static inline void mesh_move(ds_mesh *m, ds_pose pose, double scale) {
  for (int32_t i = 0; i < m->vertex_count; i++) m->vertices[i] = pose_point(pose, v3_scale(scale, m->vertices[i]));
}

/* A polygon in the xy plane, counter-clockwise, between -half and half along z. Caps are given as triangles. */
static inline ds_mesh mesh_prism(const ds_vec3 *polygon, int32_t n, const int32_t *caps, int32_t cap_count,
                                 double half) {
  ds_mesh m = mesh_new(2 * n, 2 * n + 2 * cap_count);
  int32_t t = 0;
  for (int32_t i = 0; i < n; i++) {
    int32_t j = (i + 1) % n;
    m.vertices[i] = v3(polygon[i].x, polygon[i].y, -half);
    m.vertices[n + i] = v3(polygon[i].x, polygon[i].y, half);
    mesh_triangle(&m, &t, i, j, n + j);
    mesh_triangle(&m, &t, i, n + j, n + i);
  }
  for (int32_t i = 0; i < cap_count; i++) {
    mesh_triangle(&m, &t, n + caps[3 * i], n + caps[3 * i + 1], n + caps[3 * i + 2]);
    mesh_triangle(&m, &t, caps[3 * i], caps[3 * i + 2], caps[3 * i + 1]);
  }
  return m;
}

static inline ds_mesh mesh_box(ds_vec3 h) {
  const ds_vec3 p[4] = {{-h.x, -h.y, 0}, {h.x, -h.y, 0}, {h.x, h.y, 0}, {-h.x, h.y, 0}};
  static const int32_t caps[] = {0, 1, 2, 0, 2, 3};
  return mesh_prism(p, 4, caps, 2, h.z);
}

/* The L (0,0) (2,0) (2,1) (1,1) (1,2) (0,2). */
static const ds_vec3 l_polygon[6] = {{0, 0, 0}, {2, 0, 0}, {2, 1, 0}, {1, 1, 0}, {1, 2, 0}, {0, 2, 0}};
static inline ds_mesh mesh_l(double half) {
  static const int32_t caps[] = {0, 1, 2, 0, 2, 3, 0, 3, 4, 0, 4, 5};
  return mesh_prism(l_polygon, 6, caps, 4, half);
}

/* Turned about z: a profile of points (x = radius, z), n of them, from the axis to the axis; the inside is to its left
 * where it goes up. */
static inline ds_mesh mesh_lathe(const ds_vec3 *profile, int32_t n, int32_t sides) {
  int32_t rings = n - 2, t = 0;
  ds_mesh m = mesh_new(2 + rings * sides, 2 * rings * sides);
  int32_t last = 1 + rings * sides;
  m.vertices[0] = v3(0, 0, profile[0].z);
  m.vertices[last] = v3(0, 0, profile[n - 1].z);
  for (int32_t r = 0; r < rings; r++)
    for (int32_t i = 0; i < sides; i++) {
      double a = 2 * DS_PI * i / sides;
      m.vertices[1 + r * sides + i] = v3(profile[r + 1].x * cos(a), profile[r + 1].x * sin(a), profile[r + 1].z);
    }
  for (int32_t i = 0; i < sides; i++) {
    int32_t j = (i + 1) % sides;
    mesh_triangle(&m, &t, 0, 1 + j, 1 + i);
    for (int32_t r = 0; r + 1 < rings; r++) {
      int32_t a = 1 + r * sides, b = a + sides;
      mesh_triangle(&m, &t, a + i, a + j, b + j);
      mesh_triangle(&m, &t, a + i, b + j, b + i);
    }
    mesh_triangle(&m, &t, last - sides + i, last - sides + j, last);
  }
  return m;
}

/* A sphere of the given radius, sides x rings; vertices on it. */
static inline ds_mesh mesh_sphere(double radius, int32_t rings, int32_t sides) {
  ds_vec3 *profile = calloc((size_t)rings + 1, sizeof *profile);
  if (!profile) abort();
  for (int32_t i = 0; i <= rings; i++) {
    double a = DS_PI * i / rings;
    profile[i] = v3(radius * sin(a), 0, -radius * cos(a));
  }
  ds_mesh m = mesh_lathe(profile, rings + 1, sides);
  free(profile);
  return m;
}

/* Half a hollow sphere, open upwards: a helmet. */
static inline ds_mesh mesh_bowl(double outer, double inner, int32_t rings, int32_t sides) {
  ds_vec3 *profile = calloc(2 * (size_t)rings + 2, sizeof *profile);
  if (!profile) abort();
  for (int32_t i = 0; i <= rings; i++) {
    double a = 0.5 * DS_PI * i / rings;
    profile[i] = v3(outer * sin(a), 0, -outer * cos(a));
    profile[2 * rings + 1 - i] = v3(inner * sin(a), 0, -inner * cos(a));
  }
  ds_mesh m = mesh_lathe(profile, 2 * rings + 2, sides);
  free(profile);
  return m;
}

/* Something like a pawn: base, neck, collar, head; about 1 high. */
static inline ds_mesh mesh_pawn(int32_t sides) {
  static const double p[][2] = {{0, 0},       {0.28, 0},   {0.3, 0.05},  {0.28, 0.12}, {0.2, 0.17},  {0.14, 0.25},
                                {0.11, 0.35}, {0.1, 0.45}, {0.1, 0.55},  {0.18, 0.58}, {0.18, 0.62}, {0.1, 0.65},
                                {0.15, 0.72}, {0.17, 0.8}, {0.16, 0.88}, {0.1, 0.96},  {0, 1}};
  ds_vec3 profile[17];
  for (int i = 0; i < 17; i++) profile[i] = v3(p[i][0], 0, p[i][1]);
  return mesh_lathe(profile, 17, sides);
}

/* Both meshes as one, the second turned inside out where asked. */
static inline ds_mesh mesh_join(ds_mesh a, ds_mesh b, bool flip) {
  ds_mesh m = mesh_new(a.vertex_count + b.vertex_count, a.triangle_count + b.triangle_count);
  int32_t t = 0;
  memcpy(m.vertices, a.vertices, (size_t)a.vertex_count * sizeof *m.vertices);
  memcpy(m.vertices + a.vertex_count, b.vertices, (size_t)b.vertex_count * sizeof *m.vertices);
  for (int32_t i = 0; i < a.triangle_count; i++)
    mesh_triangle(&m, &t, a.triangles[3 * i], a.triangles[3 * i + 1], a.triangles[3 * i + 2]);
  for (int32_t i = 0; i < b.triangle_count; i++) {
    int32_t p = a.vertex_count + b.triangles[3 * i], q = a.vertex_count + b.triangles[3 * i + 1];
    int32_t r = a.vertex_count + b.triangles[3 * i + 2];
    mesh_triangle(&m, &t, p, flip ? r : q, flip ? q : r);
  }
  mesh_drop(&a);
  mesh_drop(&b);
  return m;
}

/* A hollow ball. */
static inline ds_mesh mesh_shell(double outer, double inner, int32_t rings, int32_t sides) {
  return mesh_join(mesh_sphere(outer, rings, sides), mesh_sphere(inner, rings, sides), true);
}

/* ---- distances by other means ---- */

static inline double distance_box(ds_vec3 x, ds_vec3 h) {
  ds_vec3 d = v3(fabs(x.x) - h.x, fabs(x.y) - h.y, fabs(x.z) - h.z);
  double inside = fmin(0, fmax(d.x, fmax(d.y, d.z)));
  return inside + v3_norm(v3_max(d, v3(0, 0, 0)));
}

static inline double distance_segment(ds_vec3 x, ds_vec3 a, ds_vec3 b) {
  ds_vec3 d = v3_sub(b, a);
  double t = fmax(0, fmin(1, v3_dot(v3_sub(x, a), d) / v3_norm2(d)));
  return v3_dist(x, v3_mad(a, t, d));
}

/* Of the L above. */
static inline double distance_l(ds_vec3 x, double half) {
  ds_vec3 p = v3(x.x, x.y, 0);
  double flat = INFINITY;
  for (int i = 0; i < 6; i++) flat = fmin(flat, distance_segment(p, l_polygon[i], l_polygon[(i + 1) % 6]));
  bool in = p.x > 0 && p.y > 0 && ((p.x < 2 && p.y < 1) || (p.x < 1 && p.y < 2));
  double u = in ? -flat : flat, v = fabs(x.z) - half;
  return fmin(0, fmax(u, v)) + sqrt(pow(fmax(u, 0), 2) + pow(fmax(v, 0), 2));
}

/* Distance to a triangle: to its plane where the foot is inside, else to its sides. */
static inline double distance_triangle(ds_vec3 x, ds_vec3 a, ds_vec3 b, ds_vec3 c) {
  ds_vec3 u = v3_sub(b, a), v = v3_sub(c, a), w = v3_sub(x, a), n = v3_cross(u, v);
  double area = v3_norm2(n), q = v3_dot(v3_cross(w, v), n) / area, r = v3_dot(v3_cross(u, w), n) / area;
  if (q >= 0 && r >= 0 && q + r <= 1) return fabs(v3_dot(w, n)) / sqrt(area);
  return fmin(distance_segment(x, a, b), fmin(distance_segment(x, b, c), distance_segment(x, c, a)));
}

/* How often the surface winds around x, from solid angles (Van Oosterom and Strackee 1983): 1 inside, 0 outside. */
static inline double winding(const ds_mesh *m, ds_vec3 x) {
  double sum = 0;
  for (int32_t t = 0; t < m->triangle_count; t++) {
    const int32_t *i = m->triangles + 3 * t;
    ds_vec3 a = v3_sub(m->vertices[i[0]], x), b = v3_sub(m->vertices[i[1]], x), c = v3_sub(m->vertices[i[2]], x);
    double la = v3_norm(a), lb = v3_norm(b), lc = v3_norm(c);
    sum +=
        2 * atan2(v3_dot(a, v3_cross(b, c)), la * lb * lc + v3_dot(a, b) * lc + v3_dot(b, c) * la + v3_dot(c, a) * lb);
  }
  return sum / (4 * DS_PI);
}

static inline double distance_slow(const ds_mesh *m, ds_vec3 x) {
  double d = INFINITY;
  for (int32_t t = 0; t < m->triangle_count; t++) {
    const int32_t *i = m->triangles + 3 * t;
    d = fmin(d, distance_triangle(x, m->vertices[i[0]], m->vertices[i[1]], m->vertices[i[2]]));
  }
  return winding(m, x) > 0.5 ? -d : d;
}

#endif
