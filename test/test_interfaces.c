/* Interfaces of scenes: bodies that touch where the scene says so, whatever their shapes are. */
#include "drystone/stand.h"

#include "random.h"
#include "scene_helper.h"

enum { STONES = 24 };
static const double radius = 1, thick = 0.15, width = 0.3;

/* How wrong the shapes of stones are: size (share), angle (rad). */
typedef struct fault {
  double size, angle;
} fault;
static const fault none = {0, 0}, measured = {0.02, 0.01};

static ds_vec3 on_arch(double r, double y, double angle) { return v3(-r * cos(angle), y, r * sin(angle)); }

/* The corners of joint k, counter-clockwise seen along the arch. */
static void joint_of(ds_vec3 corners[4], int32_t k) {
  double angle = DS_PI * k / STONES, in = radius - thick / 2, out = radius + thick / 2;
  corners[0] = on_arch(in, -width / 2, angle), corners[1] = on_arch(out, -width / 2, angle);
  corners[2] = on_arch(out, width / 2, angle), corners[3] = on_arch(in, width / 2, angle);
}

static ds_body_id add_stone(ds_scene *scene, int32_t k, fault wrong, uint64_t *seed) {
  ds_vec3 p[8], middle = v3(0, 0, 0);
  joint_of(p, k);
  joint_of(p + 4, k + 1);
  for (int32_t i = 0; i < 8; i++) middle = v3_mad(middle, 1.0 / 8, p[i]);
  double size = 1 + wrong.size * random_in(seed, -1, 1), angle = wrong.angle * random_in(seed, -1, 1);
  ds_quat turned = quat_axis_angle(random_vec3(seed, v3(-1, -1, -1), v3(1, 1, 1)), angle);
  for (int32_t i = 0; i < 8; i++) p[i] = quat_rotate(turned, v3_scale(size, v3_sub(p[i], middle)));
  ds_body_def body = ds_default_body();
  body.pose.p = middle;
  body.mass = 10;
  ds_shape_def hull = ds_default_shape();
  hull.kind = DS_SHAPE_HULL, hull.points = p, hull.point_count = 8;
  return scene_add(scene, &body, hull);
}

static void add_interface(ds_scene *scene, ds_body_id a, ds_body_id b, ds_vec3 normal, const ds_vec3 *points,
                          int32_t count) {
  ds_interface_def def = ds_default_interface();
  ds_error error = {""};
  def.a = a, def.b = b, def.normal = normal, def.points = points, def.point_count = count;
  if (ds_scene_add_interface(scene, &def, &error) != DS_OK) printf("%s\n", error.message);
  CHECK(error.message[0] == 0);
}

/* A semicircular arch on a floor, pushed along x by `push` g. */
static ds_scene *arch(double push, fault wrong, uint64_t seed, bool interfaces) {
  ds_scene *scene = scene_new(v3(9.81 * push, 0, -9.81), 0.7, 0);
  ds_body_id floor = scene_add_floor(scene), last = floor;
  for (int32_t k = 0; k <= STONES; k++) {
    ds_vec3 corners[4];
    double angle = DS_PI * k / STONES;
    ds_body_id next = k < STONES ? add_stone(scene, k, wrong, &seed) : floor;
    joint_of(corners, k);
    if (interfaces) add_interface(scene, last, next, v3(sin(angle), 0, cos(angle)), corners, 4);
    last = next;
  }
  return scene;
}

/* Largest push with an equilibrium, from the verdict on the arch as it was designed. */
static double limit_of_arch(void) {
  ds_error error = {""};
  ds_scene *scene = arch(0, none, 1, true);
  CHECK(ds_scene_finish(scene, &error) == DS_OK);
  ds_state *state = ds_state_create(scene);
  ds_assembly *a = ds_assembly_of_scene(scene, state, NULL, &error);
  ds_multiplier m = {0};
  CHECK(a && a->interface_count == STONES + 1 && a->point_count == 4 * (STONES + 1));
  CHECK(a && ds_stand_push(&m, a, v3(1, 0, 0), &error) == DS_OK);
  CHECK_NEAR(m.equilibrium, m.falls, 1e-6 * m.falls);
  double limit = m.falls;
  ds_multiplier_free(&m);
  ds_assembly_free(a);
  ds_state_destroy(state);
  ds_scene_destroy(scene);
  return limit;
}

/* Stones whose shapes are wrong by 2 % and 0.01 rad, so that they overlap and gape, rest as designed: up to the limit
 * of the verdict, and not beyond. Without interfaces they settle. */
static void test_arch_stands_as_designed(void) {
  double limit = limit_of_arch();
  for (uint64_t seed = 1; seed <= (test_quick() ? 2 : 6); seed++) {
    static const double shares[] = {0, 0.99, 1.01};
    for (int32_t i = 0; i < 3; i++) {
      sim s = {.options = ds_default_options()};
      sim_finish(&s, "arch with interfaces", arch(shares[i] * limit, measured, seed, true));
      sim_run(&s, 1);
      double moved = sim_displacement(&s, s.start);
      if (i < 2) CHECK_LE(moved, 1e-9);
      if (i == 2) CHECK_LE(1e-3, moved);
      sim_close(&s);
    }
  }
  sim s = {.options = ds_default_options()};
  sim_finish(&s, "arch without", arch(0, measured, 1, false));
  sim_run(&s, 1);
  CHECK_LE(1e-4, sim_displacement(&s, s.start));
  sim_close(&s);
}

/* With the right shapes an arch falls by its interfaces as it does by its shapes. */
static void test_arch_falls_as_by_shapes(void) {
  double moved[2];
  for (int32_t i = 0; i < 2; i++) {
    sim s = {.options = ds_default_options()};
    sim_finish(&s, "falling arch", arch(0.4, none, 1, i == 0));
    sim_run(&s, 0.3);
    moved[i] = sim_displacement(&s, s.start);
    sim_close(&s);
  }
  CHECK_LE(0.01, moved[1]);
  CHECK_NEAR(moved[0], moved[1], 0.05 * moved[1]);
}

/* What has collapsed lies on the floor, and its stones overlap no deeper than they did at the start. */
static void test_ruin(void) {
  sim s = {.options = ds_default_options()};
  sim_finish(&s, "ruin", arch(0.4, measured, 3, true));
  double before, after;
  ds_state_deepest_overlap(&before, NULL, NULL, s.scene, s.state);
  CHECK_NEAR(before, 0, 1e-12);
  sim_run(&s, test_time(3, 1));
  ds_state_deepest_overlap(&after, NULL, NULL, s.scene, s.state);
  CHECK_LE(0.3, sim_displacement(&s, s.start));
  CHECK_LE(s.penetration, 0.05 * thick);
  CHECK_LE(after, 0.01 * thick);
  sim_close(&s);
}

/* ---- a box on a shelf ---- */

static const double edge = 0.2, deep = 4e-3;

/* The box lies on the shelf, whose model is too thick by `deep`. */
static ds_scene *shelf(double speed, double mu, bool interface, bool swapped) {
  ds_scene *scene = scene_new(v3(0, 0, -9.81), mu, 0);
  ds_body_def below = body_at(0, 0, -0.05), box = body_at(0, 0, edge / 2);
  below.kind = DS_BODY_STATIC;
  box.velocity = v3(speed, 0, 0);
  ds_vec3 corners[4];
  for (int32_t k = 0; k < 4; k++)
    corners[k] = v3((k == 1 || k == 2 ? 0.5 : -0.5) * edge, (k < 2 ? -0.5 : 0.5) * edge, 0);
  ds_body_id a, b;
  if (swapped) b = scene_add(scene, &box, shape_box(edge, edge, edge));
  a = scene_add(scene, &below, shape_box(1, 1, 0.1 + (interface ? 2 * deep : 0)));
  if (!swapped) b = scene_add(scene, &box, shape_box(edge, edge, edge));
  if (interface && !swapped) add_interface(scene, a, b, v3(0, 0, 2), corners, 4);
  if (interface && swapped) add_interface(scene, b, a, v3(0, 0, -1), corners, 4);
  return scene;
}

/* It slides v²/(2 mu g) far, on to where shapes count, and no step is felt there. */
static void test_slide(void) {
  for (int32_t i = 0; i < 2; i++) {
    sim s = {.options = ds_default_options()};
    sim_finish(&s, "sliding box", shelf(1, 0.3, true, i == 1));
    sim_run(&s, 1);
    ds_vec3 x = ds_state_center(s.state, ds_scene_body(s.scene, i == 0 ? 1 : 0));
    CHECK_NEAR(x.x, 1 / (2 * 0.3 * 9.81), 1e-6);
    CHECK_NEAR(x.z, edge / 2, 1e-9);
    sim_close(&s);
  }
}

/* It goes over the edge at 1.8 m/s, and falls as it does from a shelf that is drawn right. */
static void test_slide_off(void) {
  ds_vec3 x[2];
  for (int32_t i = 0; i < 2; i++) {
    sim s = {.options = ds_default_options()};
    sim_finish(&s, "box over the edge", shelf(2.5, 0.3, i == 0, false));
    sim_run(&s, 0.8);
    x[i] = ds_state_center(s.state, ds_scene_body(s.scene, 1));
    sim_close(&s);
  }
  CHECK_LE(x[1].z, -0.3);
  CHECK_NEAR(v3_dist(x[0], x[1]), 0, 0.02);
}

/* Thrown up it comes back to its place, into the model of the shelf. */
static void test_return(void) {
  sim s = {.options = ds_default_options()};
  ds_scene *scene = shelf(0, 0.3, true, false);
  sim_finish(&s, "thrown box", scene);
  ds_body_id box = ds_scene_body(s.scene, 1);
  ds_state_set_velocity(s.state, box, v3(0, 0, 1), v3(0, 0, 0));
  sim_run(&s, 0.1);
  CHECK_LE(edge / 2 + 0.04, ds_state_center(s.state, box).z);
  sim_run(&s, 0.4);
  CHECK_NEAR(ds_state_center(s.state, box).z, edge / 2, 1e-6);
  CHECK_NEAR(v3_norm(ds_state_velocity(s.state, box)), 0, 1e-9);
  sim_close(&s);
}

/* One step of a box that spins on its face: friction of corners or of even pressure has the same torque by an interface
 * as by the face itself. */
static void test_friction(void) {
  for (int32_t pressure = 0; pressure < 2; pressure++) {
    double w[2];
    for (int32_t i = 0; i < 2; i++) {
      sim s = {.options = ds_default_options()};
      s.options.face_pressure = pressure == 0 ? DS_PRESSURE_CORNERS : DS_PRESSURE_EVEN;
      sim_finish(&s, "spinning box", shelf(0, 0.3, i == 0, false));
      ds_body_id box = ds_scene_body(s.scene, 1);
      ds_state_set_velocity(s.state, box, v3(0, 0, 0), v3(0, 0, 3));
      sim_step(&s);
      w[i] = ds_state_angular_velocity(s.state, box).z;
      sim_close(&s);
    }
    CHECK_LE(w[1], 2.9);
    CHECK_NEAR(w[0], w[1], 1e-9);
  }
}

/* An interface may have a friction of its own, for as long as it holds. */
static void test_own_friction(void) {
  sim s = {.options = ds_default_options()};
  ds_scene *scene = scene_new(v3(0, 0, -9.81), 0.6, 0);
  ds_body_def box = body_at(0, 0, edge / 2);
  box.velocity = v3(0.2, 0, 0);
  ds_body_id floor = scene_add_floor(scene), b = scene_add(scene, &box, shape_box(edge, edge, edge));
  ds_vec3 corners[3] = {v3(-0.1, -0.1, 0), v3(0.1, -0.1, 0), v3(0, 0.1, 0)};
  ds_interface_def def = ds_default_interface();
  def.a = floor, def.b = b, def.normal = v3(0, 0, 1), def.points = corners, def.point_count = 3, def.mu = 0.1;
  CHECK(ds_scene_add_interface(scene, &def, NULL) == DS_OK);
  sim_finish(&s, "slippery interface", scene);
  sim_step(&s);
  CHECK_NEAR(ds_state_velocity(s.state, b).x, 0.2 - 0.1 * 9.81 * s.options.step, 1e-9);
  int32_t count;
  ds_state_contacts(s.state, &count);
  CHECK_NEAR(count, 3, 0);
  sim_close(&s);
}

/* ---- what must not matter ---- */

/* Threads, an interruption, and the order in which interfaces are given. */
static void test_same_bits(void) {
  uint64_t hash[4];
  for (int32_t i = 0; i < 3; i++) {
    sim s = {.options = ds_default_options()};
    ds_error error = {""};
    ds_scene *scene = arch(0.4, measured, 5, true);
    CHECK(ds_scene_finish(scene, &error) == DS_OK);
    sim_start(&s, "arch", scene, i == 1 ? 4 : 1);
    for (int32_t k = 0; k < 60; k++) {
      sim_step(&s);
      if (i != 2 || k != 30) continue;
      size_t size;
      unsigned char *saved = ds_state_save(s.state, &size);
      ds_state_destroy(s.state);
      s.state = ds_state_create(s.scene);
      CHECK(saved && ds_state_load(s.state, saved, size, &error) == DS_OK);
      free(saved);
    }
    hash[i] = ds_state_hash(s.state);
    sim_close(&s);
  }
  CHECK(hash[0] == hash[1]);
  CHECK(hash[0] == hash[2]);
}

static const char *const text =
    "{\"drystone\": 1, \"bodies\": [{\"name\": \"floor\", \"kind\": \"static\", \"shapes\": [{\"kind\": "
    "\"half-space\"}]},"
    "{\"name\": \"box\", \"position\": [0, 0, 0.5], \"shapes\": [{\"kind\": \"box\", \"size\": [1, 1, 1]}]}],"
    "\"interfaces\": [{\"bodies\": [\"box\", \"floor\"], \"normal\": [0, 0, -2], \"mu\": 0.25,"
    "\"points\": [[-0.4, -0.4, 0], [0.4, -0.4, 0], [0, 0.4, 0]]}]}";

static void test_file(void) {
  ds_error error = {""};
  ds_scene *scene = ds_scene_read_text(text, strlen(text), "text", NULL, &error);
  CHECK(scene && ds_scene_interface_count(scene) == 1);
  if (!scene) return;
  ds_interface_def f = ds_scene_get_interface(scene, 0);
  CHECK(f.a.index1 == 1 && f.b.index1 == 2 && f.point_count == 3);
  CHECK_NEAR(f.normal.z, 2, 0);
  CHECK_NEAR(f.mu, 0.25, 0);
  CHECK_NEAR(f.points[2].y, 0.4, 0);
  ds_scene_destroy(scene);
}

/* A solid that is read to be drawn has no thickness: points a little off the other body are not refused for that. */
static void test_drawn(void) {
  static const char drawn[] =
      "{\"drystone\": 1, \"solids\": {\"t\": {\"mesh\": {\"vertices\": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]],"
      "\"triangles\": [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]]}}}, \"bodies\": ["
      "{\"name\": \"below\", \"kind\": \"static\", \"position\": [0.5, 0.5, -0.5], \"shapes\": [{\"kind\": \"box\", "
      "\"size\": [2, 2, 1]}]}, {\"name\": \"top\", \"shapes\": [{\"kind\": \"solid\", \"solid\": \"t\"}]}],"
      "\"interfaces\": [{\"bodies\": [\"below\", \"top\"], \"normal\": [0, 0, 1], \"points\": [[0, 0, 1e-4], [0.5, 0, "
      "1e-4], [0, 0.5, 1e-4]]}]}";
  for (int32_t i = 0; i < 2; i++) {
    ds_scene_read_options options = ds_default_scene_read();
    ds_error error = {""};
    options.surface_only = i == 1;
    ds_scene *scene = ds_scene_read_text_with(drawn, strlen(drawn), "text", &options, NULL, &error);
    if (!scene) printf("%s\n", error.message);
    CHECK(scene != NULL);
    ds_scene_destroy(scene);
  }
}

static void refuses(ds_interface_def def) {
  ds_scene *scene = shelf(0, 0.3, false, false);
  ds_error error = {""};
  bool refused = ds_scene_add_interface(scene, &def, &error) != DS_OK || ds_scene_finish(scene, &error) != DS_OK;
  CHECK(refused && error.message[0]);
  ds_scene_destroy(scene);
}

static void test_refused(void) {
  ds_vec3 point = v3(0, 0, 0), far = v3(0, 0, 0.5), bad = v3(NAN, 0, 0);
  ds_interface_def good = ds_default_interface(), def;
  good.a = (ds_body_id){1}, good.b = (ds_body_id){2}, good.normal = v3(0, 0, 1), good.points = &point;
  good.point_count = 1;
  def = good, def.b = def.a, refuses(def);
  def = good, def.b = (ds_body_id){3}, refuses(def);
  def = good, def.normal = v3(0, 0, 0), refuses(def);
  def = good, def.normal = bad, refuses(def);
  def = good, def.points = &bad, refuses(def);
  def = good, def.points = &far, refuses(def);
  def = good, def.point_count = 0, refuses(def);
  def = good, def.mu = -0.5, refuses(def);
}

int main(void) {
  RUN(test_arch_stands_as_designed);
  RUN(test_arch_falls_as_by_shapes);
  RUN(test_ruin);
  RUN(test_slide);
  RUN(test_slide_off);
  RUN(test_return);
  RUN(test_friction);
  RUN(test_own_friction);
  RUN_THREADS(test_same_bits);
  RUN(test_file);
  RUN(test_drawn);
  RUN(test_refused);
  return test_summary();
}
