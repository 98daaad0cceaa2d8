/* Solids in contact: what is true of boxes and balls must be true of meshes of them, and what only meshes can do. A
 * mesh rests without drift or rattle and keeps its contacts; more contacts or fewer change nothing that stands; an
 * incline holds and lets go where it should; a ring stays on its peg; a ball lies in a groove; threads do not matter;
 * and thin walls are not passed. */
#include "drystone/solid.h"
#include "scene_helper.h"

static ds_solid *solid_of(const ds_mesh *mesh) {
  ds_error error = {""};
  ds_solid_def def = ds_default_solid();
  ds_solid *solid = ds_solid_create(mesh, &def, &error);
  if (!solid) printf("%s\n", error.message);
  CHECK(solid != NULL);
  return solid;
}

static ds_solid *solid_recipe(const char *text, double cell) {
  ds_error error = {""};
  ds_mesh mesh = {0};
  ds_status status = ds_mesh_recipe(&mesh, text, strlen(text), "recipe", cell, &error);
  if (status != DS_OK) printf("%s\n", error.message);
  CHECK(status == DS_OK);
  ds_solid *solid = status == DS_OK ? solid_of(&mesh) : NULL;
  ds_mesh_free(&mesh);
  return solid;
}

static ds_solid *solid_figure(const char *name) {
  ds_error error = {""};
  ds_mesh mesh = {0};
  CHECK(ds_mesh_figure(&mesh, name, 1, &error) == DS_OK);
  ds_solid *solid = solid_of(&mesh);
  ds_mesh_free(&mesh);
  return solid;
}

/* A cube of edge 0.2 m as a mesh of twelve triangles. */
static ds_solid *solid_cube(double edge) {
  ds_vec3 v[8];
  int32_t t[36] = {0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6, 0, 1, 5, 0, 5, 4,
                   2, 6, 7, 2, 7, 3, 0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5};
  for (int i = 0; i < 8; i++) v[i] = v3_scale(edge, v3((i & 1) - 0.5, (i >> 1 & 1) - 0.5, (i >> 2 & 1) - 0.5));
  ds_mesh mesh = {v, 8, t, 12};
  return solid_of(&mesh);
}

static ds_shape_def shape_solid(ds_solid *solid) {
  ds_shape_def def = ds_default_shape();
  def.kind = DS_SHAPE_SOLID;
  def.solid = solid;
  return def;
}

/* A tower of mesh cubes on a floor stands as one of boxes does. */
static void test_stack(void) {
  ds_solid *cube = solid_cube(0.2);
  for (int per_face = 8; cube && per_face <= 64; per_face *= 8) {
    ds_scene *scene = scene_new(v3(0, 0, -9.81), 0.5, 0);
    scene_add_floor(scene);
    for (int i = 0; i < 5; i++) {
      ds_body_def body = body_at(0.003 * i, 0, 0.1 + 0.2 * i);
      scene_add(scene, &body, shape_solid(cube));
    }
    sim s;
    if (!sim_finish(&s, "stack of mesh cubes", scene)) continue;
    s.options.contacts_per_face = per_face;
    sim_run(&s, 1);
    ds_state *settled = ds_state_copy(s.state);
    int32_t least = s.report.contacts, most = s.report.contacts;
    for (int i = 0; i < (test_quick() ? 50 : 200) && sim_step(&s); i++) {
      least = s.report.contacts < least ? s.report.contacts : least;
      most = s.report.contacts > most ? s.report.contacts : most;
    }
    double moved = sim_displacement(&s, settled), since = sim_displacement(&s, s.start);
    printf("     tower, %d contacts a face: %d contacts, moved %.2g m since the start, %.2g m since the first second\n",
           per_face, (int)most, since, moved);
    CHECK_LE(since, 1e-5);
    CHECK_LE(moved, 1e-9);
    CHECK_NEAR(most - least, 0, 0); /* counts do not flicker at rest */
    CHECK_LE(s.energy_gain, 1e-9);
    ds_state_destroy(settled);
    sim_close(&s);
  }
  ds_solid_release(cube);
}

/* A mesh cube on a slope of tan 0.5: sticks at mu = 0.501, slides with g (sin - mu cos) at 0.45. */
static void test_incline(void) {
  ds_solid *cube = solid_cube(0.2);
  double slope = atan(0.5);
  for (int slides = 0; cube && slides < 2; slides++) {
    double mu = slides ? 0.45 : 0.501, g = 9.81;
    ds_scene *scene = scene_new(v3(g * sin(slope), 0, -g * cos(slope)), mu, 0);
    scene_add_floor(scene);
    ds_body_def body = body_at(0, 0, 0.1);
    ds_body_id id = scene_add(scene, &body, shape_solid(cube));
    sim s;
    if (!sim_finish(&s, "mesh cube on a slope", scene)) continue;
    sim_run(&s, 1);
    double v = ds_state_velocity(s.state, id).x, want = slides ? g * (sin(slope) - mu * cos(slope)) : 0;
    CHECK_NEAR(v, want, slides ? 1e-6 : 1e-9);
    sim_close(&s);
  }
  ds_solid_release(cube);
}

/* A non-convex thing dropped on the floor comes to rest, and then stays: no drift, no energy. */
static void test_rest(void) {
  static const char *const names[3] = {"bunny", "knight", "chair"};
  for (int i = 0; i < (test_quick() ? 1 : 3); i++) {
    ds_solid *solid = solid_figure(names[i]);
    if (!solid) continue;
    double size = v3_norm(v3_sub(ds_solid_get_info(solid).high, ds_solid_get_info(solid).low));
    ds_scene *scene = scene_new(v3(0, 0, -9.81), 0.5, 0);
    scene_add_floor(scene);
    ds_body_def body = body_at(0, 0, 0.7 * size);
    body.pose.q = quat_axis_angle(v3(1, 2, 0.5), 1.1);
    scene_add(scene, &body, shape_solid(solid));
    sim s;
    if (sim_finish(&s, names[i], scene)) {
      sim_run(&s, 4);
      ds_state *settled = ds_state_copy(s.state);
      double gain_before = s.energy_gain;
      s.energy_gain = 0;
      sim_run(&s, 2);
      printf("     %s: moved %.2g m in the last 2 s, overlap %.2g of its size, energy gain %.2g J (falling: %.2g)\n",
             names[i], sim_displacement(&s, settled), s.report.penetration / size, s.energy_gain, gain_before);
      CHECK_LE(sim_displacement(&s, settled), 1e-7);
      CHECK_LE(s.report.penetration, 0.01 * size);
      CHECK_LE(s.energy_gain, 1e-12);
      ds_state_destroy(settled);
    }
    sim_close(&s);
    ds_solid_release(solid);
  }
}

/* A ring dropped over a peg stays around it: its hole is a hole. */
static void test_ring_on_peg(void) {
  ds_solid *ring = solid_recipe("{\"kind\": \"torus\", \"radius\": 0.05, \"tube\": 0.01}", 0);
  if (!ring) return;
  ds_scene *scene = scene_new(v3(0, 0, -9.81), 0.3, 0);
  scene_add_floor(scene);
  ds_body_def peg = body_at(0, 0, 0.1), body = body_at(0.01, 0, 0.15);
  peg.kind = DS_BODY_STATIC;
  body.velocity = v3(1, 0.5, 0);
  scene_add(scene, &peg, shape_round(DS_SHAPE_CYLINDER, 0.02, 0.1));
  ds_body_id id = scene_add(scene, &body, shape_solid(ring));
  sim s;
  if (sim_finish(&s, "ring on a peg", scene)) {
    s.options.step = 0.005;
    sim_run(&s, 3);
    ds_vec3 x = ds_state_center(s.state, id);
    printf("     ring at (%.4f, %.4f, %.4f)\n", x.x, x.y, x.z);
    CHECK_LE(hypot(x.x, x.y), 0.021); /* hole 0.04, peg 0.02 */
    CHECK_LE(x.z, 0.02);
  }
  sim_close(&s);
  ds_solid_release(ring);
}

/* A ball in a groove of a mesh touches both sides, and rests in the middle. */
static void test_ball_in_groove(void) {
  ds_solid *groove = solid_recipe(
      "{\"kind\": \"extrusion\", \"length\": 0.6, \"profile\": [[-0.15, -0.05], [0.15, -0.05], [0.15, 0.1], [0, "
      "0.001], "
      "[-0.15, 0.1]]}",
      0.01);
  if (!groove) return;
  ds_scene *scene = scene_new(v3(0, -9.81, 0), 0.5, 0);
  ds_body_def fixed = body_at(0, 0, 0), ball = body_at(0.02, 0.2, 0);
  fixed.kind = DS_BODY_STATIC;
  scene_add(scene, &fixed, shape_solid(groove));
  ds_body_id id = scene_add(scene, &ball, shape_sphere(0.05));
  sim s;
  if (sim_finish(&s, "ball in a groove", scene)) {
    sim_run(&s, 4);
    printf("     ball in a groove at x = %.5f m, %d contacts\n", ds_state_center(s.state, id).x,
           (int)s.report.contacts);
    CHECK_NEAR(ds_state_center(s.state, id).x, 0, 2e-3); /* a fifth of the mesh's triangles */
    CHECK(s.report.active_contacts >= 2);
    CHECK_LE(v3_norm(ds_state_velocity(s.state, id)), 1e-3);
  }
  sim_close(&s);
  ds_solid_release(groove);
}

/* Thin shells at high speed: a ball does not get through a bowl's wall. */
static void test_thin_shell(void) {
  static const double speeds[3] = {10, 100, 1000};
  ds_solid *bowl = solid_recipe(
      "{\"kind\": \"subtraction\", \"of\": [{\"kind\": \"sphere\", \"radius\": 0.1}, {\"kind\": \"sphere\", "
      "\"radius\": "
      "0.094}, {\"kind\": \"box\", \"size\": [0.3, 0.3, 0.2], \"position\": [0, 0, 0.12]}]}",
      0.004);
  for (int i = test_quick() ? 2 : 0; bowl && i < 3; i++) {
    ds_scene *scene = scene_new(v3(0, 0, 0), 0.5, 0);
    ds_body_def fixed = body_at(0, 0, 0), ball = body_at(0.01, 0.015, 3.3);
    fixed.kind = DS_BODY_STATIC;
    ball.velocity = v3(0, 0, -speeds[i]);
    scene_add(scene, &fixed, shape_solid(bowl));
    ds_body_id id = scene_add(scene, &ball, shape_sphere(0.01));
    sim s;
    if (sim_finish(&s, "ball into a bowl", scene)) {
      double low = INFINITY;
      for (int k = 0; k < (int)(400 / speeds[i]) + 20 && sim_step(&s); k++)
        low = fmin(low, ds_state_center(s.state, id).z);
      printf("     ball at %g m/s into a bowl: lowest %.4f m of %.4f\n", speeds[i], low, -0.1);
      CHECK_LE(-0.087, low);
    }
    sim_close(&s);
  }
  ds_solid_release(bowl);
}

static uint64_t heap_hash(ds_solid *const solids[2], int32_t threads, bool parts) {
  ds_scene *scene = scene_new(v3(0, 0, -9.81), 0.5, 0);
  scene_add_floor(scene);
  for (int i = 0; i < 40; i++) {
    ds_body_def body = body_at(0.12 * (i % 4), 0.12 * (i / 4 % 4), 0.08 + 0.13 * (i / 16));
    body.pose.q = quat_axis_angle(v3(1 + i % 3, i % 5 - 2, i % 7), 0.7 * i);
    scene_add(scene, &body, shape_solid(solids[i % 2]));
  }
  ds_error error;
  sim s;
  s.options = ds_default_options();
  s.options.tolerance = 1e-6;
  s.options.sub_islands = parts;
  uint64_t hash = 0;
  if (ds_scene_finish(scene, &error) == DS_OK && sim_start(&s, "heap", scene, threads)) {
    sim_run(&s, test_time(0.6, 0.25));
    hash = ds_state_hash(s.state);
    CHECK_LE(ds_state_center(s.state, ds_scene_body(scene, 1)).z, 1);
  }
  sim_close(&s);
  return hash;
}

/* The same bits for any number of threads, with and without sub-islands; both are certified. */
static void test_threads(void) {
  ds_solid *solids[2] = {solid_figure("pawn"), solid_figure("rook")};
  if (solids[0] && solids[1])
    for (int parts = 1; parts >= (test_quick() ? 1 : 0); parts--) {
      uint64_t one = heap_hash(solids, 1, parts);
      for (int32_t threads = 2; threads <= 8; threads *= 2) CHECK(heap_hash(solids, threads, parts) == one);
    }
  ds_solid_release(solids[0]);
  ds_solid_release(solids[1]);
}

/* Two bunnies that were thrown at each other, an ear of one between the ears of the other, 2 mm too deep on both sides:
 * as met in a heap of thousands. They are taken apart, and nothing is thrown. (They are put there after a step: what
 * overlaps at the start is held.) */
static void test_caught(void) {
  ds_solid *bunny = solid_figure("bunny");
  for (int weight = 0; bunny && weight < 2; weight++) {
    ds_scene *scene = scene_new(v3(0, 0, weight ? -9.81 : 0), 0.4, 0);
    ds_body_def a = body_at(-0.1539, -0.41798, 0.17436), b = body_at(-0.28467, -0.39869, 0.22378);
    a.pose.q = quat_unit(quat(0.72336, 0.52159, -0.36783, -0.26341));
    b.pose.q = quat_unit(quat(-0.54704, -0.33383, -0.68577, 0.345));
    b.kind = DS_BODY_STATIC;
    ds_pose caught = a.pose;
    a.pose.p.z += 1;
    ds_body_id id = scene_add(scene, &a, shape_solid(bunny));
    scene_add(scene, &b, shape_solid(bunny));
    sim s;
    if (!sim_finish(&s, "caught", scene) || !sim_step(&s)) continue;
    ds_state_set_pose(s.scene, s.state, id, caught);
    ds_state_set_velocity(s.state, id, v3(0, 0, 0), v3(0, 0, 0));
    double before = 0, after = 1, speed = 0;
    CHECK(ds_state_deepest_overlap(&before, NULL, NULL, s.scene, s.state) == DS_OK);
    for (int i = 0; i < 100 && sim_step(&s); i++) {
      ds_vec3 v = ds_state_velocity(s.state, ds_scene_body(s.scene, 0));
      if (!weight) speed = fmax(speed, v3_norm(v));
    }
    CHECK(ds_state_deepest_overlap(&after, NULL, NULL, s.scene, s.state) == DS_OK);
    printf("     caught by %.2f mm: after 1 s %.2f mm\n", 1e3 * before, 1e3 * after);
    CHECK_LE(2e-3, before);
    CHECK_LE(after, 0.5e-3);
    CHECK_LE(speed, 1e-6);
    sim_close(&s);
  }
  ds_solid_release(bunny);
}

int main(void) {
  RUN(test_stack);
  RUN(test_incline);
  RUN(test_rest);
  RUN(test_ring_on_peg);
  RUN(test_ball_in_groove);
  RUN(test_thin_shell);
  RUN_THREADS(test_threads);
  RUN(test_caught);
  return test_summary();
}
