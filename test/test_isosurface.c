/* Meshing of distance functions, and simplification: corners, volumes, closed 2-manifolds, thin and touching things. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "drystone/scene_file.h"
#include "mesh/crossing.h"
#include "mesh/recipe.h"
#include "random_pose.h"

static ds_mesh mesh_of(ds_recipe *r, int32_t root, double cell, int32_t triangles) {
  ds_mesh mesh = {0};
  ds_error error = {""};
  ds_status status = ds_recipe_finish(r, root, &error);
  if (status == DS_OK) status = ds_recipe_mesh(&mesh, r, cell, triangles, &error);
  CHECK(status == DS_OK);
  if (status != DS_OK) printf("  %s\n", error.message);
  ds_recipe_free(r);
  return mesh;
}

/* Nothing wrong with it; V - E + F is what it should be. The volume. */
static double check_mesh(const ds_mesh *m, int32_t euler) {
  ds_mesh_report report;
  CHECK(ds_mesh_check(&report, m, NULL) == DS_OK);
  CHECK(report.usable);
  for (int k = 0; k < DS_MESH_FAULT_COUNT; k++)
    if (report.count[k] > 0) printf("  %s: %d\n", ds_mesh_fault_name((ds_mesh_fault)k), report.count[k]);
  CHECK(m->vertex_count - m->triangle_count / 2 == euler);
  return report.volume;
}

/* Distance from a point to the nearest vertex. */
static double nearest_vertex(const ds_mesh *m, ds_vec3 x) {
  double best = INFINITY;
  for (int32_t i = 0; i < m->vertex_count; i++) best = fmin(best, v3_dist(x, m->vertices[i]));
  return best;
}

/* Along the axes, all corners; turned, nearly all: one whose three faces the grid cannot tell apart is cut off. */
static void cube_has_its_corners(void) {
  int found = 0;
  for (int trial = 0; trial < 6; trial++) {
    ds_recipe r = {0};
    ds_quat q = trial == 0 ? quat_identity() : random_quat();
    ds_vec3 half = v3(0.5, 0.4, 0.3), at = random_vec(0.3);
    ds_mesh m = mesh_of(&r, ds_recipe_place(&r, ds_recipe_box(&r, half, 0), at, q, v3(1, 1, 1)), 0.061, 0);
    for (int k = 0; k < 8; k++) {
      ds_vec3 corner = v3(k & 1 ? half.x : -half.x, k & 2 ? half.y : -half.y, k & 4 ? half.z : -half.z);
      double off = nearest_vertex(&m, v3_add(at, quat_rotate(q, corner)));
      if (trial == 0) CHECK_LE(off, 1e-6);
      CHECK_LE(off, 0.7 * 0.061);
      found += trial > 0 && off <= 1e-6;
    }
    CHECK_NEAR(check_mesh(&m, 2), 8 * half.x * half.y * half.z, trial == 0 ? 1e-9 : 2e-4);
    /* twelve triangles suffice, and keep the volume */
    if (trial == 0) {
      CHECK(ds_mesh_simplify(&m, 12, INFINITY, NULL) == DS_OK);
      CHECK(m.triangle_count == 12);
      CHECK_NEAR(check_mesh(&m, 2), 8 * half.x * half.y * half.z, 1e-5);
    }
    ds_mesh_free(&m);
  }
  printf("  %d of 40 corners of turned boxes\n", found);
  CHECK(found >= 36);
}

/* Volumes come nearer as the square of the cell. */
static void volumes(void) {
  double ball = 4.0 / 3 * DS_PI, torus = 2 * DS_PI * DS_PI * 0.09, error[2];
  for (int k = 0; k < 2; k++) {
    double cell = 0.1 / (k + 1);
    ds_recipe r = {0};
    ds_mesh m = mesh_of(&r, ds_recipe_sphere(&r, v3(0.1, 0.2, 0.3), 1), cell, 0);
    error[k] = fabs(check_mesh(&m, 2) / ball - 1);
    ds_mesh_free(&m);
    m = mesh_of(&r, ds_recipe_torus(&r, 1, 0.3), cell, 0);
    CHECK_NEAR(check_mesh(&m, 0) / torus, 1, 1.5 * cell * cell);
    ds_mesh_free(&m);
  }
  CHECK_LE(error[0], 0.005);
  CHECK_LE(error[1], 0.3 * error[0]);
  /* a box with a square hole: all flat */
  ds_recipe r = {0};
  int32_t hole = ds_recipe_box(&r, v3(0.2, 0.15, 2), 0);
  ds_mesh m = mesh_of(&r, ds_recipe_pair(&r, DS_RECIPE_SUBTRACTION, 0, ds_recipe_box(&r, v3(0.5, 0.5, 0.3), 0), hole),
                      0.047, 0);
  CHECK_NEAR(check_mesh(&m, 0), 0.6 * (1 - 0.12), 1e-5);
  ds_mesh_free(&m);
  /* a hollow ball: a part and its cavity */
  m = mesh_of(&r, ds_recipe_shell(&r, ds_recipe_sphere(&r, v3(0, 0, 0), 1), 0.2), 0.08, 0);
  CHECK_NEAR(check_mesh(&m, 4) / (ball * (1 - 0.512)), 1, 0.01);
  ds_mesh_free(&m);
}

/* Everything on the surface: |f| at vertices is small against the cell, edges are kept. */
static void vertices_on_surface(void) {
  ds_recipe r = {0};
  static const double star[] = {0, 0, 0.5, 0, 0.2, 0.25, 0.4, 0.6, 0, 0.5};
  int32_t root = ds_recipe_lathe(&r, star, 5, false);
  ds_error error;
  ds_mesh m;
  CHECK(ds_recipe_finish(&r, root, &error) == DS_OK);
  CHECK(ds_recipe_mesh(&m, &r, 0.02, 0, &error) == DS_OK);
  double worst = 0, sum = 0;
  for (int32_t i = 0; i < m.vertex_count; i++) {
    double d = fabs(ds_recipe_distance(&r, m.vertices[i]));
    worst = fmax(worst, d);
    sum += d;
  }
  CHECK_LE(worst, 0.2 * 0.02);
  CHECK_LE(sum / m.vertex_count, 0.005 * 0.02);
  check_mesh(&m, 2);
  ds_recipe_free(&r);
  ds_mesh_free(&m);
}

/* Many balls and bars at random, cells much too large for the gaps between them: ambiguous faces abound. */
static void random_heaps(void) {
  int trials = getenv("DRYSTONE_TEST_QUICK") ? 8 : 60;
  for (int trial = 0; trial < trials; trial++) {
    ds_recipe r = {0};
    int32_t all = ds_recipe_operation(&r, trial % 3 ? DS_RECIPE_UNION : DS_RECIPE_SUBTRACTION, trial % 2 ? 0.05 : 0);
    if (trial % 3 == 0) ds_recipe_add(&r, all, ds_recipe_box(&r, v3(1, 1, 1), 0));
    for (int i = 0; i < 25; i++) {
      ds_vec3 x = random_vec(1), y = v3_add(x, random_vec(0.6));
      double rx = uniform(0.05, i % 2 ? 0.3 : 0.2), ry = uniform(0.02, 0.2);
      int32_t part = i % 2 ? ds_recipe_sphere(&r, x, rx) : ds_recipe_capsule(&r, x, rx, y, ry);
      if (i % 5 == 0)
        part = ds_recipe_place(&r, ds_recipe_box(&r, v3(0.3, 0.1, 0.05), 0), x, random_quat(), v3(1, 1, 1));
      ds_recipe_add(&r, all, part);
    }
    ds_mesh m = {0};
    ds_error error = {""};
    CHECK(ds_recipe_finish(&r, all, &error) == DS_OK);
    ds_status status = ds_recipe_mesh(&m, &r, 0.11, trial % 4 == 0 ? 800 : 0, &error);
    CHECK(status == DS_OK);
    if (status != DS_OK) printf("  trial %d: %s\n", trial, error.message);
    ds_mesh_report report;
    if (status == DS_OK) {
      CHECK(ds_mesh_check(&report, &m, NULL) == DS_OK);
      CHECK(report.usable);
      for (int k = 0; k < DS_MESH_FAULT_COUNT; k++)
        if (report.count[k])
          printf("  trial %d %s: %d\n", trial, ds_mesh_fault_name((ds_mesh_fault)k), report.count[k]);
    }
    ds_recipe_free(&r);
    ds_mesh_free(&m);
  }
}

static void simplified(void) {
  ds_recipe r = {0};
  ds_mesh m = mesh_of(&r, ds_recipe_torus(&r, 1, 0.3), 0.05, 1000);
  CHECK(m.triangle_count == 1000);
  CHECK_NEAR(check_mesh(&m, 0) / (2 * DS_PI * DS_PI * 0.09), 1, 0.02);
  /* a tolerance stops it: the surface stays that near */
  ds_mesh_free(&m);
  m = mesh_of(&r, ds_recipe_sphere(&r, v3(0, 0, 0), 1), 0.05, 0);
  int32_t before = m.triangle_count;
  CHECK(ds_mesh_simplify(&m, 4, 1e-3, NULL) == DS_OK);
  CHECK(m.triangle_count < before / 2 && m.triangle_count > 500);
  for (int32_t i = 0; i < m.vertex_count; i++) CHECK_NEAR(v3_norm(m.vertices[i]), 1, 0.01);
  check_mesh(&m, 2);
  ds_mesh_free(&m);
}

/* For drawing: the vertices stay, the surface is closed as before, and no farther off than is said. */
static void decimated(void) {
  ds_recipe r = {0};
  ds_mesh m = mesh_of(&r, ds_recipe_sphere(&r, v3(0, 0, 0), 1), 0.05, 0);
  int32_t vertices = m.vertex_count;
  double departure = -1, deepest = 0;
  CHECK(ds_mesh_decimate(&m, &departure, 500, INFINITY, NULL) == DS_OK);
  CHECK(m.vertex_count == vertices && m.triangle_count <= 500 && m.triangle_count > 400);
  for (int32_t i = 0; i < m.triangle_count; i++) {
    const int32_t *c = m.triangles + 3 * (size_t)i;
    ds_vec3 middle = v3_add(v3_add(m.vertices[c[0]], m.vertices[c[1]]), m.vertices[c[2]]);
    deepest = fmax(deepest, 1 - v3_norm(v3_scale(1.0 / 3, middle)));
  }
  printf("  %d triangles: %.4f said, %.4f at the deepest middle of a triangle\n", m.triangle_count, departure, deepest);
  CHECK_LE(departure, deepest);
  CHECK_LE(deepest, 4 * departure);
  ds_mesh_report report;
  CHECK(ds_mesh_check(&report, &m, NULL) == DS_OK);
  CHECK(report.count[DS_MESH_OPEN] == 0 && report.count[DS_MESH_NOT_MANIFOLD] == 0);
  CHECK_NEAR(report.volume / (4.0 / 3 * DS_PI), 1, 0.03);
  /* a tolerance stops it */
  int32_t before = m.triangle_count;
  CHECK(ds_mesh_decimate(&m, &departure, 4, 1e-9, NULL) == DS_OK);
  CHECK_NEAR(departure, 0, 1e-9);
  CHECK(m.triangle_count == before);
  ds_mesh_free(&m);
}

/* A square sheet with a bend and a hole of one cell: nothing closed, and flat parts cost nothing; borders and the bend
 * stay. */
static void open_sheet_keeps_its_border(void) {
  enum { N = 20 };
  ds_mesh m = {.vertices = malloc((N + 1) * (N + 1) * sizeof(ds_vec3)),
               .triangles = malloc(6 * N * N * sizeof(int32_t))};
  for (int i = 0; i <= N; i++)
    for (int k = 0; k <= N; k++) m.vertices[m.vertex_count++] = v3(i, k, i > N / 2 ? i - N / 2 : 0);
  for (int i = 0; i < N; i++)
    for (int k = 0; k < N; k++) {
      int32_t a = i * (N + 1) + k, b = a + N + 1, *t = m.triangles + 3 * (size_t)m.triangle_count;
      if (i == 5 && k == 5) continue;
      memcpy(t, (int32_t[]){a, b, b + 1, a, b + 1, a + 1}, 6 * sizeof *t);
      m.triangle_count += 2;
    }
  double departure = -1;
  CHECK(ds_mesh_decimate(&m, &departure, 40, INFINITY, NULL) == DS_OK);
  CHECK(m.triangle_count <= 40);
  CHECK_LE(departure, 0.05);
  double area = 0;
  bool corner[4] = {false};
  for (int32_t i = 0; i < m.triangle_count; i++) {
    const int32_t *c = m.triangles + 3 * (size_t)i;
    ds_vec3 a = m.vertices[c[0]], across = v3_cross(v3_sub(m.vertices[c[1]], a), v3_sub(m.vertices[c[2]], a));
    area += 0.5 * v3_norm(across);
    CHECK(across.z > 0);
    for (int k = 0; k < 3; k++)
      for (int j = 0; j < 4; j++) corner[j] |= c[k] == (j & 1 ? N : 0) * (N + 1) + (j & 2 ? N : 0);
  }
  CHECK(corner[0] && corner[1] && corner[2] && corner[3]);
  CHECK_NEAR(area, 0.5 * N * N * (1 + sqrt(2)) - 1, 0.02 * N * N);
  ds_mesh_free(&m);
}

/* The same mesh again, bit for bit. */
static void repeatable(void) {
  ds_mesh m[2];
  for (int k = 0; k < 2; k++) CHECK(ds_mesh_figure(&m[k], "pawn", 1, NULL) == DS_OK);
  CHECK(m[0].vertex_count == m[1].vertex_count && m[0].triangle_count == m[1].triangle_count);
  CHECK(memcmp(m[0].vertices, m[1].vertices, (size_t)m[0].vertex_count * sizeof(ds_vec3)) == 0);
  CHECK(memcmp(m[0].triangles, m[1].triangles, 3 * (size_t)m[0].triangle_count * sizeof(int32_t)) == 0);
  for (int k = 0; k < 2; k++) ds_mesh_free(&m[k]);
}

static double too_steep(const void *context, ds_vec3 x) {
  (void)context;
  return 40 * (v3_norm(x) - 1);
}
static double nothing(const void *context, ds_vec3 x) {
  (void)context;
  return 1 + v3_norm(x);
}

static void refused(void) {
  ds_mesh m;
  ds_error error;
  ds_vec3 low = v3(-1.2, -1.2, -1.2), high = v3(1.2, 1.2, 1.2);
  CHECK(ds_isosurface(&m, nothing, NULL, low, high, 0.1, &error) == DS_ERROR_INPUT && strstr(error.message, "empty"));
  CHECK(ds_isosurface(&m, nothing, NULL, low, high, 1e-6, &error) == DS_ERROR_INPUT &&
        strstr(error.message, "per side"));
  CHECK(ds_isosurface(&m, nothing, NULL, low, high, 0, &error) == DS_ERROR_INPUT);
  CHECK(ds_isosurface(&m, too_steep, NULL, low, high, 0.1, &error) == DS_ERROR_INPUT);
  CHECK(m.vertices == NULL && m.triangle_count == 0);
}

int main(void) {
  RUN(cube_has_its_corners);
  RUN(volumes);
  RUN(vertices_on_surface);
  RUN(random_heaps);
  RUN(simplified);
  RUN(decimated);
  RUN(open_sheet_keeps_its_border);
  RUN(repeatable);
  RUN(refused);
  return test_summary();
}
