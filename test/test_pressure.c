/* Friction of faces that lie on each other as under even pressure: torques of what spins on the spot are mu N times the
 * mean distance of the face's points from its middle, what stands, slides and tips is as with friction in the corners.
 */
#include "assemble/assemble.h"
#include "scene_helper.h"

static const double gravity = 9.81, mu = 0.3;
static const char *const RULE[2] = {"euler", "midpoint"};

typedef enum floor_kind { PLANE, SLAB, DISC, FLOORS } floor_kind;
static const char *const FLOOR[FLOORS] = {"a plane", "a slab", "a disc"};

static void add_floor(ds_scene *scene, floor_kind kind) {
  ds_body_def body = body_at(0, 0, kind == PLANE ? 0 : -0.05);
  body.kind = DS_BODY_STATIC;
  if (kind == PLANE) scene_add(scene, &body, shape_half_space());
  if (kind == SLAB) scene_add(scene, &body, shape_box(2, 2, 0.1));
  if (kind == DISC) scene_add(scene, &body, shape_round(DS_SHAPE_CYLINDER, 1, 0.05));
}

/* Mean distance of the points of a rectangle from its middle, by sums over a grid. */
static double mean_of_rectangle(double a, double b) {
  enum { N = 400 };
  double sum = 0;
  for (int i = 0; i < N; i++)
    for (int k = 0; k < N; k++) sum += hypot(a * ((i + 0.5) / N - 0.5), b * ((k + 0.5) / N - 0.5));
  return sum / (N * N);
}

/* The same of an equilateral triangle of side 1: (4 + 3 asinh(sqrt 3))/(24 sqrt 3) = 0.1913. A line of its altitude
 * from the middle to a side at d = 1/(2 sqrt 3) has t = sqrt 3 at its end. */
static double mean_of_triangle(void) {
  double d = 1 / (2 * sqrt(3)), t = sqrt(3);
  return 6 * d * d * d / 6 * (2 * t + asinh(t)) / (sqrt(3) / 4);
}

typedef struct body {
  const char *name;
  ds_shape_def shape;
  double height, mean;
} body;

static const ds_vec3 WEDGE[6] = {{-0.5, -0.28867513459481287, -0.1}, {0.5, -0.28867513459481287, -0.1},
                                 {0, 0.57735026918962573, -0.1},     {-0.5, -0.28867513459481287, 0.1},
                                 {0.5, -0.28867513459481287, 0.1},   {0, 0.57735026918962573, 0.1}};

enum { BODIES = 5 };
static void list_bodies(body list[BODIES]) {
  ds_shape_def wedge = ds_default_shape();
  wedge.kind = DS_SHAPE_HULL, wedge.points = WEDGE, wedge.point_count = 6;
  list[0] = (body){"square", shape_box(0.2, 0.2, 0.05), 0.05, 0.2 * 0.38259785823210635};
  list[1] = (body){"rectangle", shape_box(0.4, 0.1, 0.05), 0.05, mean_of_rectangle(0.4, 0.1)};
  list[2] = (body){"lath", shape_box(0.5, 0.02, 0.05), 0.05, mean_of_rectangle(0.5, 0.02)};
  list[3] = (body){"disc", shape_round(DS_SHAPE_CYLINDER, 0.1, 0.025), 0.05, 2.0 / 3 * 0.1};
  list[4] = (body){"triangle", wedge, 0.2, mean_of_triangle()};
}

static bool begin(sim *s, ds_body_id *id, const body *b, floor_kind floor, double spin, int rule, ds_face_pressure p) {
  ds_scene *scene = scene_new(v3(0, 0, -gravity), mu, 0);
  ds_body_def def = body_at(0, 0, 0.5 * b->height);
  def.angular_velocity = v3(0, 0, spin);
  add_floor(scene, floor);
  *id = scene_add(scene, &def, b->shape);
  bool started = sim_finish(s, b->name, scene);
  s->options.integrator = rule == 0 ? DS_INTEGRATOR_EULER : DS_INTEGRATOR_MIDPOINT;
  s->options.face_pressure = p;
  return started;
}

static double inertia(const sim *s, ds_body_id id) { return ds_body_mass(s->scene, id).inertia[8]; }

/* What spins on the spot: its torque over that of even pressure. */
static double torque(const body *b, floor_kind floor, int rule, ds_face_pressure p) {
  double ratio = NAN;
  ds_body_id id;
  sim s;
  if (begin(&s, &id, b, floor, 10, rule, p)) {
    sim_run(&s, 0.05);
    double w = ds_state_angular_velocity(s.state, id).z, weight = ds_body_mass(s.scene, id).mass * gravity;
    ratio = (10 - w) / 0.05 * inertia(&s, id) / (mu * weight * b->mean);
    CHECK_LE(v3_dist(ds_state_center(s.state, id), v3(0, 0, 0.5 * b->height)), 1e-6);
  }
  sim_close(&s);
  return ratio;
}
static void test_spin(void) {
  body list[BODIES];
  list_bodies(list);
  CHECK_NEAR(mean_of_rectangle(0.2, 0.2), list[0].mean, 1e-5 * 0.2);
  for (int i = 0; i < BODIES; i++)
    for (int floor = 0; floor < FLOORS; floor++)
      for (int rule = 0; rule < 2; rule++) {
        double even = torque(&list[i], (floor_kind)floor, rule, DS_PRESSURE_EVEN);
        double corners = torque(&list[i], (floor_kind)floor, rule, DS_PRESSURE_CORNERS);
        if (rule == 0)
          printf("     %s on %s: torque %.4f of even pressure's, in corners %.3f\n", list[i].name, FLOOR[floor], even,
                 corners);
        CHECK_NEAR(even, 1, 2e-3);
        CHECK(corners > 1.45);
      }
}

/* A torque a little below the limit moves nothing, one above it does. */
static double turned_by(const body *b, floor_kind floor, int rule, double share) {
  double turned = NAN;
  ds_body_id id;
  sim s;
  if (begin(&s, &id, b, floor, 0, rule, DS_PRESSURE_EVEN)) {
    double limit = mu * ds_body_mass(s.scene, id).mass * gravity * b->mean;
    for (int i = 0; i < 50; i++) {
      ds_state_apply_torque(s.state, id, v3(0, 0, share * limit));
      sim_step(&s);
    }
    turned = fabs(2 * ds_state_pose(s.scene, s.state, id).q.z) * b->mean;
  }
  sim_close(&s);
  return turned;
}
static void test_limit(void) {
  body list[BODIES];
  list_bodies(list);
  for (int i = 0; i < 4; i++)
    for (int floor = 0; floor < FLOORS; floor++)
      for (int rule = 0; rule < 2; rule++) {
        CHECK_LE(turned_by(&list[i], (floor_kind)floor, rule, 0.98), 1e-9);
        CHECK(turned_by(&list[i], (floor_kind)floor, rule, 1.02) > 1e-3);
      }
}

/* On a slope: slides from tan = mu on, tips from tan = width/height on, whatever the pressure. */
static double moved(double width, double height, double friction, double slope, double around, int rule) {
  double moved = NAN;
  ds_scene *scene = scene_new(v3(gravity * sin(slope), 0, -gravity * cos(slope)), friction, 0);
  ds_body_def def = body_at(0, 0, 0.5 * height);
  def.pose.q = quat_axis_angle(v3(0, 0, 1), around);
  scene_add_floor(scene);
  ds_body_id id = scene_add(scene, &def, shape_box(width, width, height));
  sim s;
  if (sim_finish(&s, "slope", scene)) {
    s.options.integrator = rule == 0 ? DS_INTEGRATOR_EULER : DS_INTEGRATOR_MIDPOINT;
    s.options.face_pressure = DS_PRESSURE_EVEN;
    sim_run(&s, 0.5);
    moved = v3_dist(ds_state_center(s.state, id), v3(0, 0, 0.5 * height));
  }
  sim_close(&s);
  return moved;
}
static void test_slope(void) {
  for (int rule = 0; rule < 2; rule++) {
    CHECK_LE(moved(0.2, 0.1, 0.5, atan(0.5) - 1e-3, 0, rule), 1e-9);
    CHECK(moved(0.2, 0.1, 0.5, atan(0.5) + 1e-3, 0, rule) > 5e-4);
    CHECK_LE(moved(0.1, 0.4, 1, atan(0.25) - 1e-3, 0, rule), 1e-9);
    CHECK(moved(0.1, 0.4, 1, atan(0.25) + 1e-3, 0, rule) > 5e-4);
    CHECK_LE(moved(0.1, 0.4, 1, atan(0.25 * sqrt(2)) - 1e-3, DS_PI / 4, rule), 1e-9); /* over its corner */
    CHECK(moved(0.1, 0.4, 1, atan(0.25 * sqrt(2)) + 1e-3, DS_PI / 4, rule) > 2e-4);
  }
}

/* On a turntable that starts to turn, friction takes a body along: no slip at all where it may be slow. */
static void test_turntable(void) {
  for (int rule = 0; rule < 2; rule++) {
    ds_scene *scene = scene_new(v3(0, 0, -gravity), 0.5, 0);
    ds_body_def table = body_at(0, 0, -0.05), def = body_at(0.3, 0.1, 0.05);
    table.kind = DS_BODY_KINEMATIC;
    table.motion.kind = DS_MOTION_VELOCITY;
    table.motion.angular_velocity = v3(0, 0, 1);
    def.velocity = v3(-0.1, 0.3, 0), def.angular_velocity = v3(0, 0, 1);
    scene_add(scene, &table, shape_round(DS_SHAPE_CYLINDER, 1, 0.05));
    ds_body_id id = scene_add(scene, &def, shape_box(0.2, 0.1, 0.1));
    sim s;
    if (sim_finish(&s, "turntable", scene)) {
      s.options.integrator = rule == 0 ? DS_INTEGRATOR_EULER : DS_INTEGRATOR_MIDPOINT;
      s.options.face_pressure = DS_PRESSURE_EVEN;
      sim_run(&s, 2);
      ds_vec3 x = quat_rotate(quat_axis_angle(v3(0, 0, 1), -ds_state_time(s.state)), ds_state_center(s.state, id));
      printf("     %s: off by %.2g m after 2 s\n", RULE[rule], v3_dist(x, v3(0.3, 0.1, 0.05)));
      CHECK_LE(v3_dist(x, v3(0.3, 0.1, 0.05)), rule == 0 ? 4e-3 : 1e-9);
      CHECK_NEAR(ds_state_angular_velocity(s.state, id).z, 1, 1e-6);
    }
    sim_close(&s);
  }
}

/* Where the friction of hand-made contacts acts: of an edge, about its middle and half as far out as its ends are,
 * whichever comes first; not of a point that is open, and not of what is no contact. */
static void grips_of(bool other_way) {
  ds_scene *scene = scene_new(v3(0, 0, -gravity), mu, 0);
  ds_body_def def = body_at(0, 0, 0.05);
  add_floor(scene, PLANE);
  scene_add(scene, &def, shape_box(0.2, 0.1, 0.1));
  sim s;
  if (!sim_finish(&s, "grips", scene)) return;
  double sign = other_way ? -1 : 1;
  ds_vec3 ends[2] = {v3(0.1 * sign, 0.05 * sign, 0), v3(-0.06 * sign, -0.07 * sign, 0)},
          middle = v3_scale(0.5, v3_add(ends[0], ends[1]));
  ds_contact_point points[3] = {
      {.a = 0, .b = 1, .point = ends[0], .normal = v3(0, 0, 1), .feature = 1},
      {.a = 0, .b = 1, .point = ends[1], .normal = v3(0, 0, 1), .feature = 2},
      {.a = 0, .b = 1, .point = v3(0, 0.3, 0), .normal = v3(0, 0, 1), .gap = 1e-3, .feature = 3}};
  const ds_contact_list list = {points, 3};
  ds_contact_frame frames[3] = {{.cone = DS_CONE_COULOMB}, {.cone = DS_CONE_COULOMB}, {.cone = DS_CONE_COULOMB}};
  ds_spread_friction(frames, &list, s.state);
  for (int k = 0; k < 2; k++) CHECK_LE(v3_dist(frames[k].grip, v3_scale(0.5, v3_sub(middle, ends[k]))), 1e-15);
  CHECK(v3_norm(frames[2].grip) == 0);
  ds_contact_frame drive[3] = {{.cone = DS_CONE_DISK}, {.cone = DS_CONE_DISK}, {.cone = DS_CONE_DISK}};
  ds_spread_friction(drive, &list, s.state);
  for (int k = 0; k < 3; k++) CHECK(v3_norm(drive[k].grip) == 0);
  sim_free(&s);
}

static void test_grips(void) {
  grips_of(false);
  grips_of(true);
}

int main(void) {
  RUN(test_spin);
  RUN(test_limit);
  RUN(test_slope);
  RUN(test_turntable);
  RUN(test_grips);
  return test_summary();
}
