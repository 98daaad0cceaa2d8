/* Solids: samples cover the surface and lie on it, balls hold their samples, sizes chosen are sensible, the number of
 * threads changes nothing, and what cannot be built is refused. */
#include "check.h"
#include "mesh/solid.h"
#include "random_pose.h"
#include "sample_meshes.h"

/* Takes the mesh over. */
static ds_solid *create(ds_mesh mesh, ds_solid_def def) {
  ds_error error = {""};
  ds_solid *solid = ds_solid_create(&mesh, &def, &error);
  if (!solid) printf("%s\n", error.message);
  CHECK(solid != NULL);
  if (!solid) abort();
  mesh_drop(&mesh);
  return solid;
}

static ds_vec3 random_on_surface(ds_vec3 *normal, const ds_mesh *m) {
  const int32_t *t = m->triangles + 3 * (int32_t)uniform(0, m->triangle_count);
  double p = uniform(0, 1), q = uniform(0, 1);
  if (p + q > 1) p = 1 - p, q = 1 - q;
  ds_vec3 a = m->vertices[t[0]], u = v3_sub(m->vertices[t[1]], a), v = v3_sub(m->vertices[t[2]], a);
  *normal = v3_unit(v3_cross(u, v));
  return v3_mad(v3_mad(a, p, u), q, v);
}

static void check_samples(const ds_solid *solid, int32_t trials) {
  const ds_samples *s = &solid->samples;
  double size = v3_dist(solid->info.low, solid->info.high), off = 0, worst = 0, least_alike = 1;
  CHECK(s->count == solid->info.samples);
  for (int32_t i = 0; i < s->count; i += 1 + s->count / 200) {
    off = fmax(off, fabs(distance_slow(&solid->mesh, s->points[i])));
    CHECK_NEAR(v3_norm(s->normals[i]), 1, 1e-12);
    /* a little way out along the normal is outside, the other way inside */
    double eps = 1e-6 * size;
    CHECK(winding(&solid->mesh, v3_mad(s->points[i], eps, s->normals[i])) < 0.5);
    CHECK(winding(&solid->mesh, v3_mad(s->points[i], -eps, s->normals[i])) > 0.5);
  }
  CHECK_LE(off, 1e-14 * size);
  for (int32_t k = 0; k < trials; k++) {
    double nearest = INFINITY, alike = -1;
    ds_vec3 normal, x = random_on_surface(&normal, &solid->mesh);
    for (int32_t i = 0; i < s->count; i++) {
      double d = v3_dist(s->points[i], x);
      nearest = fmin(nearest, d);
      if (d <= solid->info.spacing) alike = fmax(alike, v3_dot(normal, s->normals[i]));
    }
    worst = fmax(worst, nearest);
    least_alike = fmin(least_alike, alike);
  }
  CHECK_LE(worst, solid->info.spacing);
  CHECK(least_alike > 0); /* both sides of a wall have samples of their own */
}

static void check_balls(const ds_solid *solid) {
  const ds_samples *s = &solid->samples;
  bool *seen = calloc((size_t)s->count, sizeof *seen);
  if (!seen) abort();
  int32_t in_leaves = 0, reached = 1;
  for (int32_t i = 0; i < s->count; i++) {
    CHECK(s->ids[i] >= 0 && s->ids[i] < s->count && !seen[s->ids[i]]);
    seen[s->ids[i]] = true;
  }
  CHECK(s->balls[0].first == 0 && s->balls[0].count == s->count);
  for (int32_t k = 0; k < s->ball_count; k++) {
    const ds_ball *b = &s->balls[k];
    double worst = 0;
    for (int32_t i = b->first; i < b->first + b->count; i++) worst = fmax(worst, v3_dist(b->center, s->points[i]));
    CHECK_LE(worst, b->radius);
    CHECK_LE(b->radius, (1 + 1e-9) * worst);
    if (b->child_count == 0) {
      CHECK(b->count <= 8 && b->child == 0);
      in_leaves += b->count;
      continue;
    }
    CHECK(b->child == reached || b->child > k);
    reached += b->child_count;
    int32_t next = b->first;
    for (int32_t c = b->child; c < b->child + b->child_count; c++) {
      CHECK(s->balls[c].first == next);
      next += s->balls[c].count;
      CHECK(s->balls[c].radius <= 1.05 * b->radius);
    }
    CHECK(next == b->first + b->count);
  }
  CHECK(in_leaves == s->count && reached == s->ball_count);
  free(seen);
}

static void samples_and_balls(void) {
  ds_mesh meshes[] = {mesh_box(v3(0.5, 0.5, 0.5)),
                      mesh_box(v3(0.5, 0.3, 0.01)),
                      mesh_box(v3(0.5, 0.01, 0.01)),
                      mesh_l(0.4),
                      mesh_sphere(0.5, 24, 48),
                      mesh_sphere(0.5, 6, 8),
                      mesh_shell(0.5, 0.47, 16, 32),
                      mesh_bowl(0.15, 0.145, 16, 32),
                      mesh_pawn(32),
                      mesh_prism(l_polygon, 3, (const int32_t[]){0, 1, 2}, 1, 0.01)};
  for (size_t i = 0; i < sizeof meshes / sizeof *meshes; i++) {
    ds_solid_def def = ds_default_solid();
    ds_vec3 low = meshes[i].vertices[0], high = low;
    for (int32_t v = 0; v < meshes[i].vertex_count; v++)
      low = v3_min(low, meshes[i].vertices[v]), high = v3_max(high, meshes[i].vertices[v]);
    def.cell = v3_dist(low, high) / 32; /* the field is not looked at */
    def.threads = 1;
    ds_solid *solid = create(meshes[i], def);
    check_samples(solid, 300);
    check_balls(solid);
    CHECK(solid->samples.count >= 100 && solid->samples.count <= 3000);
    ds_solid_release(solid);
  }
}

/* The corners of a box come first, then its edges; faces have about as many as the spacing says, no more. */
static void samples_of_a_box(void) {
  ds_solid_def def = ds_default_solid();
  def.spacing = 0.1;
  def.cell = 0.05;
  ds_solid *solid = create(mesh_box(v3(0.5, 0.5, 0.5)), def);
  const ds_samples *s = &solid->samples;
  int32_t faces = 0;
  for (int32_t i = 0; i < s->count; i++) {
    ds_vec3 p = s->points[i];
    int32_t sides = (fabs(p.x) == 0.5) + (fabs(p.y) == 0.5) + (fabs(p.z) == 0.5);
    CHECK(sides == (s->ids[i] < 8 ? 3 : s->ids[i] < 8 + 12 * 19 ? 2 : 1));
    faces += sides == 1;
    if (sides == 1) CHECK(fabs(v3_dot(s->normals[i], p)) == 0.5);
  }
  CHECK(faces > 6 * 60 && faces < 6 * 160);
  ds_solid_release(solid);
}

/* A cylinder of many sides: its rim is sampled by spacing, not by vertex; a fine sphere likewise. */
static void fine_meshes(void) {
  const ds_vec3 profile[4] = {{0, 0, 0}, {0.2, 0, 0}, {0.2, 0, 1}, {0, 0, 1}};
  ds_solid_def def = ds_default_solid();
  def.cell = 0.05;
  ds_solid *solid = create(mesh_lathe(profile, 4, 400), def);
  CHECK(solid->samples.count < 1500);
  int32_t rim = 0;
  for (int32_t i = 0; i < solid->samples.count; i++) {
    ds_vec3 p = solid->samples.points[i];
    rim += p.z == 0 && hypot(p.x, p.y) > 0.19999;
  }
  CHECK(rim >= 40 && rim <= 120);
  check_samples(solid, 100);
  ds_solid_release(solid);
  solid = create(mesh_sphere(0.5, 48, 96), def);
  CHECK(solid->samples.count > 600 && solid->samples.count < 1500);
  ds_solid_release(solid);
}

static uint64_t hash_bytes(uint64_t h, const void *data, size_t size) {
  const unsigned char *p = data;
  for (size_t i = 0; i < size; i++) h = (h ^ p[i]) * 0x100000001b3u;
  return h;
}

static uint64_t hash_solid(const ds_solid *s) {
  const ds_distance_field *f = &s->field;
  size_t points = (size_t)(f->size[0] + 1) * (size_t)(f->size[1] + 1) * (size_t)(f->size[2] + 1);
  uint64_t h = hash_bytes(0xcbf29ce484222325u, f->values, points * sizeof *f->values);
  h = hash_bytes(h, f->brick, (size_t)f->size[0] * (size_t)f->size[1] * (size_t)f->size[2] * sizeof *f->brick);
  h = hash_bytes(h, f->bricks, (size_t)f->brick_count * 729 * sizeof *f->bricks);
  h = hash_bytes(h, s->samples.points, (size_t)s->samples.count * sizeof *s->samples.points);
  h = hash_bytes(h, s->samples.normals, (size_t)s->samples.count * sizeof *s->samples.normals);
  h = hash_bytes(h, s->samples.balls, (size_t)s->samples.ball_count * sizeof *s->samples.balls);
  return hash_bytes(h, &s->info.thickness, sizeof s->info.thickness) ^ hash_bytes(1, &s->error, sizeof s->error);
}

static void threads(void) {
  static const int32_t counts[] = {1, 2, 4, 7};
  uint64_t hash[4];
  for (int i = 0; i < 4; i++) {
    ds_solid_def def = ds_default_solid();
    def.cell = 0.02;
    def.threads = counts[i];
    ds_solid *solid = create(mesh_pawn(24), def);
    hash[i] = hash_solid(solid);
    CHECK(hash[i] == hash[0]);
    ds_solid_release(solid);
  }
}

static void count_progress(void *user, double share) {
  double *last = user;
  CHECK(share >= *last && share <= 1);
  *last = share;
}

static void info(void) {
  double last = 0;
  ds_solid_def def = ds_default_solid();
  def.name = "brick";
  def.progress = count_progress;
  def.user = &last;
  ds_mesh mesh = mesh_box(v3(0.1, 0.05, 0.03));
  mesh_move(&mesh, (ds_pose){{1, 2, 3}, {1, 0, 0, 0}}, 1);
  ds_solid *solid = create(mesh, def);
  ds_solid_info i = ds_solid_get_info(solid);
  CHECK(last == 1);
  CHECK(strcmp(ds_solid_name(solid), "brick") == 0);
  CHECK_NEAR(i.volume, 0.0012, 1e-15);
  CHECK_NEAR(i.area, 2 * (0.02 + 0.012 + 0.006), 1e-15);
  CHECK_NEAR(v3_dist(i.center, v3(1, 2, 3)), 0, 1e-14);
  CHECK_NEAR(v3_dist(i.low, v3(0.9, 1.95, 2.97)), 0, 1e-15);
  CHECK_NEAR(i.thickness, 0.06, 1e-7);
  CHECK_NEAR(i.cell, 0.2 / 96, 1e-15);
  CHECK(i.triangles == 12 && i.vertices == 8 && i.spheres == solid->samples.ball_count && !i.from_cache);
  CHECK(i.cells > 100000 && i.bytes > 4 * i.cells && i.bytes < (16 << 20));
  CHECK(ds_solid_mesh(solid)->triangle_count == 12);
  ds_vec3 g;
  CHECK_NEAR(ds_solid_distance(&g, solid, v3(1, 2, 3.04)), 0.01, 1e-9);
  CHECK_NEAR(v3_dist(g, v3(0, 0, 1)), 0, 1e-6);
  CHECK_NEAR(ds_solid_distance(NULL, solid, v3(1.09, 2, 3)), -0.01, 1e-9);
  CHECK(ds_solid_retain(solid) == solid);
  ds_solid_release(solid);
  CHECK(ds_solid_get_info(solid).triangles == 12);
  ds_solid_release(solid);
  ds_solid_release(NULL);
}

/* A helmet of 25,000 triangles, 7 mm thin: small, and with an inside. */
static void helmet(void) {
  ds_solid_def def = ds_default_solid();
  const char *quick = getenv("DRYSTONE_TEST_QUICK");
  bool fine = !(quick && quick[0] == '1');
  ds_solid *solid = create(mesh_bowl(0.15, 0.143, fine ? 62 : 16, fine ? 100 : 40), def);
  ds_solid_info i = ds_solid_get_info(solid);
  CHECK(i.bytes < (32 << 20));
  CHECK_NEAR(i.thickness, 0.007, 0.0001);
  CHECK_LE(i.cell, 0.007 / 4);
  CHECK(i.samples >= 300 && i.samples <= 3000);
  CHECK_LE(solid->error, 0.5 * i.cell);
  CHECK(ds_solid_distance(NULL, solid, v3(0, 0, -0.1465)) < -0.003);
  CHECK(ds_solid_distance(NULL, solid, v3(0, 0, -0.139)) > 0.0038);
  ds_solid_release(solid);
}

static void surface_only(void) {
  ds_solid_def def = ds_default_solid();
  def.surface_only = true;
  ds_solid *solid = create(mesh_l(0.5), def);
  ds_vec3 g;
  CHECK(isnan(ds_solid_distance(&g, solid, v3(0, 0, 0))) && isnan(g.x));
  CHECK_NEAR(ds_solid_get_info(solid).volume, 3, 1e-14);
  CHECK(ds_solid_get_info(solid).samples == 0 && strcmp(ds_solid_name(solid), "") == 0);
  ds_solid_release(solid);
}

static void expect_refused(ds_mesh *mesh, ds_solid_def def, const char *word) {
  ds_error error = {""};
  ds_solid *solid = ds_solid_create(mesh, &def, &error);
  CHECK(solid == NULL);
  CHECK(strstr(error.message, word) != NULL && strstr(error.message, "expected") != NULL);
  if (!strstr(error.message, word)) printf("message: %s\n", error.message);
  ds_solid_release(solid);
}

static void refused(void) {
  ds_solid_def def = ds_default_solid();
  ds_mesh mesh = mesh_box(v3(1, 1, 1));
  mesh.triangle_count = 11;
  expect_refused(&mesh, def, "open");
  mesh.triangle_count = 0;
  expect_refused(&mesh, def, "empty");
  mesh.triangle_count = 12;
  mesh.triangles[5] = 99;
  expect_refused(&mesh, def, "index");
  mesh_drop(&mesh);
  mesh = mesh_box(v3(1, 1, 1));
  def.cell = -1;
  expect_refused(&mesh, def, "cell");
  def.cell = NAN;
  expect_refused(&mesh, def, "cell");
  def.cell = 1e-6;
  expect_refused(&mesh, def, "cell");
  def.cell = 0;
  def.spacing = INFINITY;
  expect_refused(&mesh, def, "spacing");
  def.spacing = 1e-4;
  expect_refused(&mesh, def, "spacing");
  def.spacing = 1e-9;
  expect_refused(&mesh, def, "spacing");
  def.spacing = 0;
  def.threads = -1;
  expect_refused(&mesh, def, "threads");
  def.threads = 0;
  mesh_move(&mesh, pose_identity(), 1e-12);
  expect_refused(&mesh, def, "longest side");
  mesh_drop(&mesh);
}

int main(void) {
  RUN(samples_and_balls);
  RUN(samples_of_a_box);
  RUN(fine_meshes);
  RUN_THREADS(threads);
  RUN(info);
  RUN(helmet);
  RUN(surface_only);
  RUN(refused);
  return test_summary();
}
