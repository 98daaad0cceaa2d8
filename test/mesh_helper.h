/* Meshes of known forms for tests. Memory is from malloc, ds_mesh_free gives it back. */
#ifndef DS_TEST_MESH_HELPER_H
#define DS_TEST_MESH_HELPER_H

#include <stdlib.h>
#include <string.h>

#include "drystone/solid.h"
#include "la/vec3.h"

static inline ds_mesh mesh_new(int32_t vertices, int32_t triangles) {
  return (ds_mesh){calloc((size_t)vertices, sizeof(ds_vec3)), vertices, calloc(3 * (size_t)triangles, sizeof(int32_t)),
                   triangles};
}

static inline void mesh_set(ds_mesh *m, int32_t triangle, int32_t a, int32_t b, int32_t c) {
  int32_t *v = m->triangles + 3 * triangle;
  v[0] = a, v[1] = b, v[2] = c;
}

/* Corner i has bit 0 for x, bit 1 for y, bit 2 for z. */
static inline ds_mesh mesh_box(ds_vec3 low, ds_vec3 high) {
  static const int32_t quads[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                      {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
  ds_mesh m = mesh_new(8, 12);
  for (int32_t i = 0; i < 8; i++)
    m.vertices[i] = v3(i & 1 ? high.x : low.x, i & 2 ? high.y : low.y, i & 4 ? high.z : low.z);
  for (int32_t q = 0; q < 6; q++) {
    mesh_set(&m, 2 * q, quads[q][0], quads[q][1], quads[q][2]);
    mesh_set(&m, 2 * q + 1, quads[q][0], quads[q][2], quads[q][3]);
  }
  return m;
}

static inline ds_mesh mesh_tetrahedron(ds_vec3 a, ds_vec3 b, ds_vec3 c, ds_vec3 d) {
  ds_mesh m = mesh_new(4, 4);
  m.vertices[0] = a, m.vertices[1] = b, m.vertices[2] = c, m.vertices[3] = d;
  mesh_set(&m, 0, 0, 2, 1);
  mesh_set(&m, 1, 0, 1, 3);
  mesh_set(&m, 2, 0, 3, 2);
  mesh_set(&m, 3, 1, 2, 3);
  return m;
}

/* Octahedron whose faces are split in n x n triangles, put on a sphere. Every face has its own vertices:
 * ds_mesh_merge closes it. */
static inline ds_mesh mesh_sphere(double radius, int32_t n) {
  ds_mesh m = mesh_new(8 * (n + 1) * (n + 2) / 2, 8 * n * n);
  int32_t vertex = 0, triangle = 0;
  for (int32_t octant = 0; octant < 8; octant++) {
    double sx = octant & 1 ? -1 : 1, sy = octant & 2 ? -1 : 1, sz = octant & 4 ? -1 : 1;
    bool turned = sx * sy * sz < 0;
    int32_t first = vertex;
    for (int32_t i = 0; i <= n; i++) /* row i has n - i + 1 points */
      for (int32_t j = 0; j <= n - i; j++)
        m.vertices[vertex++] = v3_scale(radius, v3_unit(v3(sx * (n - i - j), sy * j, sz * i)));
    for (int32_t i = 0, row = first; i < n; row += n - i + 1, i++)
      for (int32_t j = 0; j < n - i; j++) {
        int32_t a = row + j, up = row + n - i + 1 + j;
        mesh_set(&m, triangle++, a, turned ? up : a + 1, turned ? a + 1 : up);
        if (j + 1 < n - i) mesh_set(&m, triangle++, a + 1, turned ? up : up + 1, turned ? up + 1 : up);
      }
  }
  return m;
}

/* Around z. */
static inline ds_mesh mesh_torus(double large, double small, int32_t around, int32_t across) {
  ds_mesh m = mesh_new(around * across, 2 * around * across);
  for (int32_t i = 0; i < around; i++)
    for (int32_t j = 0; j < across; j++) {
      double u = 2 * DS_PI * i / around, w = 2 * DS_PI * j / across, r = large + small * cos(w);
      m.vertices[across * i + j] = v3(r * cos(u), r * sin(u), small * sin(w));
      int32_t a = across * i + j, b = across * ((i + 1) % around) + j;
      int32_t c = across * ((i + 1) % around) + (j + 1) % across, d = across * i + (j + 1) % across;
      mesh_set(&m, 2 * a, a, b, c);
      mesh_set(&m, 2 * a + 1, a, c, d);
    }
  return m;
}

static inline void mesh_flip(ds_mesh *m) {
  for (int32_t t = 0; t < m->triangle_count; t++) {
    int32_t swap = m->triangles[3 * t];
    m->triangles[3 * t] = m->triangles[3 * t + 1];
    m->triangles[3 * t + 1] = swap;
  }
}

static inline void mesh_move(ds_mesh *m, ds_pose pose) {
  for (int32_t i = 0; i < m->vertex_count; i++) m->vertices[i] = pose_point(pose, m->vertices[i]);
}

/* Both in one mesh; both are given back. */
static inline ds_mesh mesh_join(ds_mesh a, ds_mesh b) {
  ds_mesh m = mesh_new(a.vertex_count + b.vertex_count, a.triangle_count + b.triangle_count);
  memcpy(m.vertices, a.vertices, (size_t)a.vertex_count * sizeof *a.vertices);
  memcpy(m.vertices + a.vertex_count, b.vertices, (size_t)b.vertex_count * sizeof *b.vertices);
  memcpy(m.triangles, a.triangles, 3 * (size_t)a.triangle_count * sizeof *a.triangles);
  for (int32_t k = 0; k < 3 * b.triangle_count; k++)
    m.triangles[3 * a.triangle_count + k] = b.triangles[k] + a.vertex_count;
  ds_mesh_free(&a);
  ds_mesh_free(&b);
  return m;
}

#endif
