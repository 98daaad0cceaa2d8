/* Convex hulls: known polyhedra, random points, degenerate input at many scales. */
#include "check.h"
#include "detect/detect.h"
#include "random_pose.h"

#include <string.h>

/* Everything a hull promises, relative to the extent of its points. */
static void check_hull(const ds_hull *h, const ds_vec3 *points, int32_t count, double extent, double noise) {
  double tolerance = 2e-8 * extent + noise;
  double outside = -INFINITY, off_face = 0, inside_core = INFINITY;
  for (int32_t f = 0; f < h->face_count; f++) {
    ds_vec3 n = h->normals[f];
    CHECK_NEAR(v3_norm(n), 1, 1e-14);
    CHECK(v3_dot(n, h->center) < h->offsets[f]);
    for (int32_t i = 0; i < count; i++) outside = fmax(outside, v3_dot(n, points[i]) - h->offsets[f]);
    for (int32_t i = 0; i < h->vertex_count; i++)
      inside_core = fmin(inside_core, h->offsets[f] - v3_dot(n, h->core[i]));
    int32_t first = h->face_start[f], size = h->face_start[f + 1] - first;
    CHECK(size >= 3);
    for (int32_t i = 0; i < size; i++) {
      ds_vec3 a = h->vertices[h->face_vertex[first + i]], b = h->vertices[h->face_vertex[first + (i + 1) % size]];
      ds_vec3 c = h->vertices[h->face_vertex[first + (i + 2) % size]];
      off_face = fmax(off_face, fabs(v3_dot(n, a) - h->offsets[f]));
      CHECK(v3_dot(n, v3_cross(v3_sub(b, a), v3_sub(c, b))) > -noise * (v3_dist(a, b) + v3_dist(b, c)));
    }
  }
  CHECK_LE(outside, tolerance);
  CHECK_LE(off_face, tolerance);
  CHECK(inside_core > 0.5 * h->skin);
  CHECK(h->vertex_count - h->edge_count + h->face_count == 2);
  for (int32_t e = 0; e < h->edge_count; e++) {
    const int32_t *w = h->edges + 4 * e;
    CHECK(w[2] != w[3] && w[2] >= 0 && w[3] >= 0);
    for (int k = 2; k < 4; k++) {
      int found = 0;
      for (int32_t i = h->face_start[w[k]]; i < h->face_start[w[k] + 1]; i++)
        found += h->face_vertex[i] == w[0] || h->face_vertex[i] == w[1];
      CHECK(found == 2);
    }
  }
}

static void box(void) {
  ds_hull h;
  CHECK(ds_hull_box(&h, v3(1, 2, 3)) == DS_OK);
  CHECK(h.vertex_count == 8 && h.face_count == 6 && h.edge_count == 12);
  check_hull(&h, h.vertices, 8, 6, 0);
  CHECK_NEAR(h.skin, DS_CORE_SHARE, 1e-17);
  ds_hull_free(&h);
  CHECK(h.vertices == NULL);
}

static void cube_of_many_points(void) {
  static const double scales[] = {1e-30, 1e-6, 1, 1e7, 1e30};
  for (int k = 0; k < 5; k++) {
    ds_vec3 points[7 * 7 * 7 + 20];
    int32_t n = 0;
    ds_quat q = k == 2 ? quat_identity() : random_quat();
    for (int x = 0; x < 7; x++)
      for (int y = 0; y < 7; y++)
        for (int z = 0; z < 7; z++) points[n++] = v3_scale(scales[k], quat_rotate(q, v3(x / 6.0, y / 6.0, z / 6.0)));
    for (int i = 0; i < 20; i++, n++) points[n] = points[17 * i];
    ds_hull h;
    ds_error error = {{0}};
    CHECK(ds_hull_build(&h, points, n, &error) == DS_OK);
    CHECK(h.vertex_count == 8 && h.face_count == 6 && h.edge_count == 12);
    check_hull(&h, points, n, scales[k], 0);
    /* three planes meet in every vertex: the core is the cube less its skin on every side */
    CHECK_NEAR(h.skin / scales[k], 0.5 * DS_CORE_SHARE, 1e-12);
    CHECK_NEAR(h.retreat / h.skin, sqrt(3), 1e-8);
    ds_hull_free(&h);
  }
}

static void random_points(void) {
  for (int trial = 0; trial < 300; trial++) {
    ds_vec3 points[300];
    int32_t n = 4 + (int32_t)uniform(0, 290);
    double scale = pow(10, uniform(-5, 5)), flat = pow(10, uniform(-3, 0));
    ds_quat q = random_quat();
    ds_vec3 shift = random_vec(10 * scale);
    for (int32_t i = 0; i < n; i++) {
      ds_vec3 x = random_vec(1);
      if (trial % 3 == 1) x = v3_unit(x);
      if (trial % 3 == 2) x = v3(round(3 * x.x) / 3, round(3 * x.y) / 3, round(3 * x.z) / 3);
      x.z *= flat;
      points[i] = v3_mad(shift, scale, quat_rotate(q, x));
    }
    ds_hull h;
    ds_error error = {{0}};
    ds_status status = ds_hull_build(&h, points, n, &error);
    if (status != DS_OK) {
      /* only sets that lie in one plane may be refused */
      CHECK(n < 12 && strstr(error.message, "plane"));
      continue;
    }
    check_hull(&h, points, n, 2 * scale, 0);
    ds_hull_free(&h);
  }
}

static void noisy_faces(void) {
  /* coplanar points with the noise of few printed digits: still a sound hull */
  for (int trial = 0; trial < 2000; trial++) {
    ds_vec3 points[125];
    double noise = pow(10, uniform(-16, -4));
    int32_t n = 0;
    for (int x = 0; x < 5; x++)
      for (int y = 0; y < 5; y++)
        for (int z = 0; z < 5; z++) points[n++] = v3_add(v3(x, y, z), random_vec(noise));
    ds_hull h;
    ds_error error = {{0}};
    CHECK(ds_hull_build(&h, points, n, &error) == DS_OK);
    if (!h.vertices) continue;
    check_hull(&h, points, n, 4, 3e-5);
    ds_hull_free(&h);
  }
}

static void prism_and_pyramid(void) {
  ds_vec3 points[33];
  for (int i = 0; i < 16; i++) {
    double a = 2 * DS_PI * i / 16;
    points[2 * i] = v3(cos(a), sin(a), -0.5);
    points[2 * i + 1] = v3(cos(a), sin(a), 0.5);
  }
  ds_hull h;
  CHECK(ds_hull_build(&h, points, 32, NULL) == DS_OK);
  CHECK(h.vertex_count == 32 && h.face_count == 18);
  check_hull(&h, points, 32, 2, 0);
  ds_hull_free(&h);
  for (int i = 0; i < 16; i++) points[i] = points[2 * i];
  points[16] = v3(0.1, 0.2, 1);
  CHECK(ds_hull_build(&h, points, 17, NULL) == DS_OK);
  CHECK(h.vertex_count == 17 && h.face_count == 17);
  check_hull(&h, points, 17, 2, 0);
  ds_hull_free(&h);
}

static void refused(void) {
  ds_hull h;
  ds_error error;
  ds_vec3 p[40] = {{0, 0, 0}};
  CHECK(ds_hull_build(&h, p, 3, &error) == DS_ERROR_INPUT && strstr(error.message, "at least 4"));
  for (int i = 0; i < 40; i++) p[i] = v3(1, 2, 3);
  CHECK(ds_hull_build(&h, p, 40, &error) == DS_ERROR_INPUT && strstr(error.message, "coincide"));
  for (int i = 0; i < 40; i++) p[i] = v3(i, 2 * i, -i);
  CHECK(ds_hull_build(&h, p, 40, &error) == DS_ERROR_INPUT && strstr(error.message, "one line"));
  for (int i = 0; i < 40; i++) p[i] = v3(i % 7, i % 5, i % 7 + i % 5);
  CHECK(ds_hull_build(&h, p, 40, &error) == DS_ERROR_INPUT && strstr(error.message, "one plane"));
  p[3].x = NAN;
  CHECK(ds_hull_build(&h, p, 40, &error) == DS_ERROR_INPUT && strstr(error.message, "finite"));
  CHECK(h.vertices == NULL);
  ds_hull_free(&h);
}

int main(void) {
  RUN(box);
  RUN(cube_of_many_points);
  RUN(random_points);
  RUN(noisy_faces);
  RUN(prism_and_pyramid);
  RUN(refused);
  return test_summary();
}
