/* Exact distances to meshes, and the distance fields made of them: box, L, sphere, shell, bowl against distances found
 * by other means; signs, continuity, gradients, bounds far away. */
#include "check.h"
#include "mesh/build.h"
#include "random_pose.h"
#include "sample_meshes.h"

typedef struct built {
  ds_mesh mesh;
  ds_surface surface;
  ds_distance tree;
  ds_distance_field field;
} built;

/* Takes the mesh over. The longest side has `along` fine cells. */
static void build(built *b, ds_mesh mesh, double along, double band) {
  *b = (built){.mesh = mesh};
  ds_error error = {""};
  CHECK(ds_surface_build(&b->surface, &b->mesh, &error) == DS_OK);
  CHECK(ds_distance_build(&b->tree, &b->surface, &error) == DS_OK);
  if (along > 0) {
    ds_vec3 d = v3_sub(b->surface.high, b->surface.low);
    ds_pool *pool = ds_pool_create(2);
    ds_build context = {.surface = &b->surface, .tree = &b->tree, .pool = pool};
    CHECK(ds_field_plan(&b->field, &context, fmax(d.x, fmax(d.y, d.z)) / along, band, &error) == DS_OK);
    CHECK(ds_field_fill(&b->field, &context, &error) == DS_OK);
    ds_pool_destroy(pool);
  }
}

static void drop(built *b) {
  ds_field_free(&b->field);
  ds_distance_free(&b->tree);
  ds_surface_free(&b->surface);
  mesh_drop(&b->mesh);
}

static ds_vec3 random_in_bounds(const built *b, double margin) {
  ds_vec3 low = b->surface.low, m = v3_scale(margin, v3_sub(b->surface.high, low));
  return random_between(v3_sub(low, m), v3_add(b->surface.high, m));
}

/* ---- exact distances ---- */

/* Points everywhere, and next to vertices and edges, where signs are hard. */
static void check_exact(ds_mesh mesh, int32_t trials) {
  built b;
  build(&b, mesh, 0, 0);
  double size = v3_dist(b.surface.low, b.surface.high), worst = 0;
  int32_t wrong = 0;
  ds_nearby nearby;
  ds_nearby_all(&nearby);
  for (int32_t i = 0; i < trials; i++) {
    ds_vec3 x = random_in_bounds(&b, 0.3);
    if (i % 2) {
      int32_t h = (int32_t)uniform(0, 3 * b.mesh.triangle_count);
      double s = i % 4 == 1 ? 0 : uniform(0, 1);
      x = v3_mad(ds_half_point(&b.surface, h), s,
                 v3_sub(ds_half_point(&b.surface, ds_half_next(h)), ds_half_point(&b.surface, h)));
      x = v3_add(x, random_vec(size * pow(10, uniform(-7, -1))));
    }
    double want = distance_slow(&b.mesh, x), got = ds_distance_signed(&nearby, &b.tree, x);
    worst = fmax(worst, fabs(fabs(got) - fabs(want)));
    if (got * want < 0 && fabs(want) > 1e-12 * size) wrong++;
    CHECK(ds_distance_within(&b.tree, x, fabs(want) + 1e-9 * size));
    CHECK(!ds_distance_within(&b.tree, x, fabs(want) - 1e-9 * size) || fabs(want) < 1e-9 * size);
  }
  CHECK_LE(worst, 1e-13 * size);
  CHECK(wrong == 0);
  drop(&b);
}

static void exact_distances(void) {
  check_exact(mesh_box(v3(1, 2, 3)), 4000);
  check_exact(mesh_l(0.5), 4000);
  check_exact(mesh_box(v3(1, 1, 1e-4)), 2000);
  check_exact(mesh_sphere(1, 8, 12), 2000);
  check_exact(mesh_shell(1, 0.99, 12, 16), 1000);
  check_exact(mesh_bowl(1, 0.98, 8, 16), 1000);
  check_exact(mesh_pawn(16), 1000);
  /* needles: an edge of 0.01 rad and a tip */
  static const ds_vec3 wedge[3] = {{0, 0, 0}, {1, 0, 0}, {1, 0.01, 0}};
  static const int32_t cap[3] = {0, 1, 2};
  check_exact(mesh_prism(wedge, 3, cap, 1, 0.5), 4000);
  const ds_vec3 spike[3] = {{0, 0, 0}, {0.02, 0, 0.01}, {0, 0, 2}};
  check_exact(mesh_lathe(spike, 3, 7), 4000);
  /* far away from the origin, turned */
  ds_mesh m = mesh_l(0.5);
  mesh_move(&m, (ds_pose){{5, -7, 3}, random_quat()}, 1);
  check_exact(m, 2000);
}

/* Two tetrahedra that share a vertex: its two fans have a normal each. */
static void shared_vertex(void) {
  ds_mesh m = mesh_new(7, 8);
  const ds_vec3 p[7] = {{0, 0, 0}, {1, -1, 1}, {1, 1, 1}, {1, 0, -1}, {-1, -1, 1}, {-1, 1, 1}, {-1, 0, -1}};
  memcpy(m.vertices, p, sizeof p);
  int32_t t = 0;
  for (int32_t k = 0; k < 2; k++) {
    int32_t a = 1 + 3 * k, b = a + 1, c = a + 2;
    if (k == 1) b = a + 2, c = a + 1;
    mesh_triangle(&m, &t, a, c, b);
    mesh_triangle(&m, &t, 0, a, b);
    mesh_triangle(&m, &t, 0, b, c);
    mesh_triangle(&m, &t, 0, c, a);
  }
  CHECK_NEAR(fabs(winding(&m, v3(0.5, 0, 0.1))), 1, 1e-9);
  if (winding(&m, v3(0.5, 0, 0.1)) < 0)
    for (int32_t i = 0; i < 8; i++) {
      int32_t swap = m.triangles[3 * i];
      m.triangles[3 * i] = m.triangles[3 * i + 1];
      m.triangles[3 * i + 1] = swap;
    }
  check_exact(m, 4000);
}

static void open_surface(void) {
  built b = {.mesh = mesh_box(v3(1, 1, 1))};
  ds_error error = {""};
  b.mesh.triangle_count = 11;
  CHECK(ds_surface_build(&b.surface, &b.mesh, &error) == DS_ERROR_INPUT && strstr(error.message, "closed"));
  CHECK(b.surface.twin == NULL);
  drop(&b);
}

/* ---- fields ---- */

typedef double distance_function(ds_vec3 x, const void *user);

/* Everywhere near: error at most `cells` fine cells inside the band, sign right where the distance is larger. */
static void check_field(const built *b, distance_function *distance, const void *user, double cells, int32_t trials) {
  double worst = 0, limit = cells * b->field.fine;
  int32_t wrong = 0;
  for (int32_t i = 0; i < trials; i++) {
    ds_vec3 x = random_in_bounds(b, 0.1);
    double want = distance(x, user), got = ds_field_distance(&b->field, x);
    if (fabs(want) < 0.5 * b->field.coarse) worst = fmax(worst, fabs(got - want));
    if (got * want <= 0 && fabs(want) > limit) wrong++;
  }
  CHECK_LE(worst, limit);
  CHECK(wrong == 0);
}

static double to_box(ds_vec3 x, const void *user) { return distance_box(x, *(const ds_vec3 *)user); }
static double to_l(ds_vec3 x, const void *user) { return distance_l(x, *(const double *)user); }
static double to_sphere(ds_vec3 x, const void *user) { return v3_norm(x) - *(const double *)user; }
static double to_shell(ds_vec3 x, const void *user) {
  const double *r = user;
  return fmax(v3_norm(x) - r[0], r[1] - v3_norm(x));
}
static double to_mesh(ds_vec3 x, const void *user) { return distance_slow(user, x); }

static void box_field(void) {
  const ds_vec3 half = {0.5, 0.25, 0.125};
  built b;
  build(&b, mesh_box(half), 96, 1);
  check_field(&b, to_box, &half, 0.5, 40000);
  /* away from its edges a face is exact to the precision of floats */
  double worst = 0, tilt = 0;
  for (int32_t i = 0; i < 20000; i++) {
    ds_vec3 x = random_between(v3(-0.45, -0.2, -0.08), v3(0.45, 0.2, 0.08)), n = v3(0, 0, 0), g;
    double depth = uniform(-0.02, 0.03);
    int face = i % 6;
    double s = face % 2 ? 1 : -1;
    if (face / 2 == 0) x.x = s * (half.x + depth), n.x = s;
    if (face / 2 == 1) x.y = s * (half.y + depth), n.y = s;
    if (face / 2 == 2) x.z = s * (half.z + depth), n.z = s;
    worst = fmax(worst, fabs(ds_field_sample(&g, &b.field, x) - depth));
    tilt = fmax(tilt, v3_dist(g, n));
  }
  CHECK_LE(worst, 1e-7 * b.field.coarse);
  CHECK_LE(tilt, 1e-6);
  /* edges along the grid: exact, corners too */
  for (int32_t i = 0; i < 8; i++) {
    ds_vec3 c = v3(i & 1 ? 0.5 : -0.5, i & 2 ? 0.25 : -0.25, i & 4 ? 0.125 : -0.125);
    CHECK_NEAR(ds_field_distance(&b.field, c), 0, 1e-9);
    CHECK_NEAR(ds_field_distance(&b.field, v3(c.x, c.y, 0.0123)), 0, 1e-9);
  }
  drop(&b);
}

static void other_fields(void) {
  double half = 0.5, radius = 1, shell[2] = {1, 0.95};
  built b;
  build(&b, mesh_l(half), 96, 1);
  check_field(&b, to_l, &half, 0.5, 40000);
  drop(&b);
  /* facets lie up to 1 - cos(pi / 96) inside the sphere along a meridian, and as much around */
  build(&b, mesh_sphere(radius, 48, 96), 64, 1);
  check_field(&b, to_sphere, &radius, 0.1, 20000);
  drop(&b);
  /* four cells across the wall; halfway the field has a ridge, which cells round off */
  build(&b, mesh_shell(shell[0], shell[1], 24, 48), 160, 0.5);
  check_field(&b, to_shell, shell, 0.6, 20000);
  CHECK(ds_field_distance(&b.field, v3(0, 0, 0)) > 0.8);
  drop(&b);
  build(&b, mesh_pawn(12), 64, 0.5);
  check_field(&b, to_mesh, &b.mesh, 0.6, 2000);
  drop(&b);
}

/* A box turned against the grid. */
static void turned_box(void) {
  const ds_vec3 half = {0.5, 0.4, 0.3};
  ds_mesh mesh = mesh_box(half);
  ds_pose pose = {{0, 0, 0}, random_quat()};
  mesh_move(&mesh, pose, 1);
  built b;
  build(&b, mesh, 96, 1);
  double worst = 0, face = 0;
  for (int32_t i = 0; i < 20000; i++) {
    ds_vec3 x = random_in_bounds(&b, 0.02), y = pose_unpoint(pose, x);
    double want = distance_box(y, half), got = ds_field_distance(&b.field, x);
    if (fabs(want) < 0.5 * b.field.coarse) worst = fmax(worst, fabs(got - want));
    if (fabs(want) < 0.02 && fabs(y.x) < 0.45 && fabs(y.y) < 0.35 && fabs(fabs(y.z) - half.z) < 0.02)
      face = fmax(face, fabs(got - want));
  }
  CHECK_LE(worst, 0.6 * b.field.fine);
  CHECK_LE(face, 1e-7 * b.field.coarse);
  drop(&b);
}

/* Steps across the sides of cells and bricks are no larger than the step itself. */
static void continuous(void) {
  built b;
  build(&b, mesh_pawn(24), 64, 0.5);
  const ds_distance_field *f = &b.field;
  double worst = 0, step = 1e-7 * f->fine;
  int32_t plain = 0;
  for (int32_t i = 0; i < 60000; i++) {
    ds_vec3 x = random_between(v3(0, 0, 0), v3(f->size[0], f->size[1], f->size[2])), d = v3(0, 0, 0);
    if (i % 3 == 0) x.x = floor(x.x), d.x = step;
    if (i % 3 == 1) x.y = floor(x.y), d.y = step;
    if (i % 3 == 2) x.z = floor(x.z), d.z = step;
    if (i % 5 == 0) x.x = floor(x.x), d.x = step; /* edges, too */
    x = v3_mad(f->origin, f->coarse, x);
    double low = ds_field_distance(f, v3_sub(x, d)), high = ds_field_distance(f, v3_add(x, d));
    worst = fmax(worst, fabs(high - low));
    plain += fabs(low) > f->coarse;
  }
  CHECK_LE(worst, 1e-6 * f->coarse);
  CHECK(plain > 1000);
  /* outside the grid it goes on without a jump */
  for (int32_t i = 0; i < 1000; i++) {
    ds_vec3 x = random_between(v3(0, 0, i % 2 ? f->size[2] : 0), v3(f->size[0], f->size[1], i % 2 ? f->size[2] : 0));
    x = v3_mad(f->origin, f->coarse, x);
    double in = ds_field_distance(f, x), out = ds_field_distance(f, v3(x.x, x.y, x.z + (i % 2 ? step : -step)));
    CHECK_NEAR(out, in, 1e-6 * f->coarse);
  }
  drop(&b);
}

static void gradients(void) {
  built b;
  build(&b, mesh_pawn(24), 64, 0.5);
  const ds_distance_field *f = &b.field;
  double worst = 0;
  for (int32_t i = 0; i < 20000; i++) {
    /* inside a fine cell, away from its sides */
    ds_vec3 c = random_between(v3(0, 0, 0), v3(8 * f->size[0], 8 * f->size[1], 8 * f->size[2]));
    ds_vec3 x = v3(floor(c.x), floor(c.y), floor(c.z));
    x = v3_mad(f->origin, f->fine, v3_add(x, random_between(v3(0.1, 0.1, 0.1), v3(0.9, 0.9, 0.9))));
    double h = 1e-3 * f->fine;
    ds_vec3 g, d = v3(ds_field_distance(f, v3(x.x + h, x.y, x.z)) - ds_field_distance(f, v3(x.x - h, x.y, x.z)),
                      ds_field_distance(f, v3(x.x, x.y + h, x.z)) - ds_field_distance(f, v3(x.x, x.y - h, x.z)),
                      ds_field_distance(f, v3(x.x, x.y, x.z + h)) - ds_field_distance(f, v3(x.x, x.y, x.z - h)));
    CHECK(ds_field_sample(&g, f, x) == ds_field_distance(f, x));
    if (v3_norm(d) < 0.1 * 2 * h) continue; /* ridges */
    worst = fmax(worst, v3_dist(g, v3_unit(d)));
    CHECK_NEAR(v3_norm(g), 1, 1e-12);
  }
  CHECK_LE(worst, 1e-6);
  drop(&b);
}

/* Far away: hardly more than the true distance, never less than half of it, and pointing away. */
static void far_away(void) {
  const ds_vec3 half = {0.5, 0.25, 0.125};
  built b;
  build(&b, mesh_box(half), 64, 1);
  double above = 0, below = INFINITY, along = INFINITY;
  for (int32_t i = 0; i < 20000; i++) {
    ds_vec3 to = v3_unit(random_vec(1)), x = v3_scale(pow(10, uniform(-0.2, 3)), to), g;
    double want = distance_box(x, half), got = ds_field_sample(&g, &b.field, x);
    CHECK(got <= want + DS_FIELD_EXCESS * b.field.coarse);
    if (want < 3 * b.field.coarse) continue;
    above = fmax(above, got / want);
    below = fmin(below, got / want);
    ds_vec3 nearest =
        v3(fmax(-half.x, fmin(half.x, x.x)), fmax(-half.y, fmin(half.y, x.y)), fmax(-half.z, fmin(half.z, x.z)));
    along = fmin(along, v3_dot(g, v3_unit(v3_sub(x, nearest))));
  }
  CHECK_LE(above, 1.05);
  CHECK(below > 0.5);
  CHECK(along > 0.9);
  CHECK(isnan(ds_field_distance(&b.field, v3(NAN, 0, 0))));
  CHECK(ds_field_distance(&b.field, v3(INFINITY, 0, 0)) == INFINITY);
  drop(&b);
}

static void too_large(void) {
  built b;
  build(&b, mesh_box(v3(1, 1, 1)), 0, 0);
  ds_error error = {""};
  ds_pool *pool = ds_pool_create(1);
  ds_build context = {.surface = &b.surface, .tree = &b.tree, .pool = pool};
  CHECK(ds_field_plan(&b.field, &context, 1e-6, 1, &error) == DS_ERROR_INPUT && strstr(error.message, "larger cells"));
  CHECK(b.field.brick == NULL);
  ds_pool_destroy(pool);
  drop(&b);
}

int main(void) {
  RUN(exact_distances);
  RUN(shared_vertex);
  RUN(open_surface);
  RUN(box_field);
  RUN(other_fields);
  RUN(turned_box);
  RUN(continuous);
  RUN(gradients);
  RUN(far_away);
  RUN(too_large);
  return test_summary();
}
