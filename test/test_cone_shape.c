/* Cones against mechanics: on their base, on their side, on their tip. That mass, distance, rays, supports and contacts
 * agree with each other is in test_shapes. (test_cone is about Coulomb's.) */
#include "detect_helper.h"
#include "scene_helper.h"

static const double gravity = 9.81;

static ds_shape_def cone(double radius, double height) { return shape_round(DS_SHAPE_CONE, radius, 0.5 * height); }

static void test_mass(void) {
  double r = 0.2, h = 0.5, mass = 1000 * DS_PI * r * r * h / 3;
  ds_scene *scene = scene_new(v3(0, 0, -gravity), 0.5, 0);
  ds_body_def body = body_at(0, 0, 1);
  ds_body_id id = scene_add(scene, &body, cone(r, h));
  CHECK(ds_scene_finish(scene, NULL) == DS_OK);
  ds_mass m = ds_body_mass(scene, id);
  CHECK_NEAR(m.mass, mass, 1e-12 * mass);
  CHECK_NEAR(m.center.z, -0.25 * h, 1e-15); /* a quarter of the height above the base */
  CHECK_NEAR(m.inertia[8], 0.3 * mass * r * r, 1e-13);
  CHECK_NEAR(m.inertia[0], mass * (3 * r * r / 20 + 3 * h * h / 80), 1e-13);
  ds_scene_destroy(scene);
}

/* A cone on its base on a plane of a tilt, turned about its axis by any angle. */
static double moved_on_incline(double radius, double height, double mu, double degrees, double turn,
                               double *acceleration) {
  ds_scene *scene = scene_new(v3(0, 0, -gravity), mu, 0);
  ds_body_def plane = ds_default_body(), body = ds_default_body();
  ds_quat tilt = quat_axis_angle(v3(0, 1, 0), degrees * DS_PI / 180);
  plane.kind = DS_BODY_STATIC;
  plane.pose.q = tilt;
  scene_add(scene, &plane, shape_half_space());
  body.pose.q = quat_mul(tilt, quat_axis_angle(v3(0, 0, 1), turn));
  body.pose.p = quat_rotate(tilt, v3(0, 0, 0.5 * height));
  ds_body_id id = scene_add(scene, &body, cone(radius, height));
  sim s;
  double moved = NAN;
  if (sim_finish(&s, "cone on an incline", scene)) {
    sim_run(&s, 1);
    moved = sim_displacement(&s, s.start);
    *acceleration = v3_norm(ds_state_velocity(s.state, id)) / ds_state_time(s.state);
  }
  sim_close(&s);
  return moved;
}

static void test_incline(void) {
  double a, limit = atan(0.5) * 180 / DS_PI; /* 26.57 degrees */
  for (int i = 0; i < 3; i++) {
    double turn = 0.13 * i, angle = (limit + 1) * DS_PI / 180;
    /* friction: a flat cone stands below the limit, slides above with g (sin - mu cos) */
    CHECK_LE(moved_on_incline(0.3, 0.2, 0.5, limit - 0.5, turn, &a), 1e-6);
    CHECK_LE(0.01, moved_on_incline(0.3, 0.2, 0.5, limit + 1, turn, &a));
    CHECK_NEAR(a, gravity * (sin(angle) - 0.5 * cos(angle)), 1e-3);
    /* tipping: tan = 4 r / h = 0.5 */
    CHECK_LE(moved_on_incline(0.1, 0.8, 2, limit - 0.5, turn, &a), 1e-4);
    CHECK_LE(0.01, moved_on_incline(0.1, 0.8, 2, limit + 1, turn, &a));
  }
}

/* The pose of a cone that lies on the floor with its tip at the origin and its line of contact along x. */
static ds_pose lying(double radius, double height) {
  double half_angle = atan2(radius, height);
  /* local z, from base to tip, points to -x and down by the half angle */
  ds_quat q = quat_axis_angle(v3(0, 1, 0), -0.5 * DS_PI - half_angle);
  return (ds_pose){quat_rotate(q, v3(0, 0, -0.5 * height)), q};
}

static void test_lies_still(void) {
  ds_scene *scene = scene_new(v3(0, 0, -gravity), 0.5, 0);
  scene_add_floor(scene);
  ds_body_def body = ds_default_body();
  body.pose = lying(0.1, 0.4);
  ds_body_id id = scene_add(scene, &body, cone(0.1, 0.4));
  sim s;
  if (sim_finish(&s, "lying cone", scene)) {
    sim_run(&s, 3);
    int32_t count, ends = 0;
    const ds_contact *c = ds_state_contacts(s.state, &count);
    for (int32_t i = 0; i < count; i++) ends += v3_dot(c[i].impulse, c[i].normal) > 0;
    CHECK(ends >= 2);
    CHECK_LE(sim_displacement(&s, s.start), 1e-6);
    CHECK_LE(v3_norm(ds_state_angular_velocity(s.state, id)), 1e-6);
  }
  sim_close(&s);
}

/* Rolling without slipping about its tip: it turns about the line of contact by omega, so that its axis goes round the
 * vertical by Omega = omega tan(half angle) = omega r / h. */
static void test_rolls_in_circle(void) {
  double r = 0.1, h = 0.4, omega = 4, around = omega * r / h;
  ds_scene *scene = scene_new(v3(0, 0, -gravity), 1, 0);
  scene_add_floor(scene);
  ds_body_def body = ds_default_body();
  body.pose = lying(r, h);
  ds_body_id id = scene_add(scene, &body, cone(r, h));
  sim s;
  if (sim_finish(&s, "rolling cone", scene)) {
    ds_vec3 w = v3(omega, 0, 0), center = ds_state_center(s.state, id);
    s.options.step = 0.002;
    s.options.integrator = DS_INTEGRATOR_MIDPOINT;
    ds_state_set_velocity(s.state, id, v3_cross(w, center), w); /* the tip and the line are at rest */
    double before = ds_state_energy(s.scene, s.state).kinetic, quarter = 0.5 * DS_PI / around;
    sim_run(&s, quarter);
    ds_pose pose = ds_state_pose(s.scene, s.state, id);
    ds_vec3 tip = pose_point(pose, v3(0, 0, 0.5 * h)), axis = quat_rotate(pose.q, v3(0, 0, -1));
    double angle = fabs(atan2(axis.y, axis.x)), after = ds_state_energy(s.scene, s.state).kinetic;
    printf("     a quarter turn in theory: %.4f of it, tip moved by %.2g m, kinetic energy %.4f of the start\n",
           angle / (0.5 * DS_PI), v3_norm(tip), after / before);
    CHECK_NEAR(angle, 0.5 * DS_PI, 0.002);
    CHECK_LE(v3_norm(tip), 5e-5);
    CHECK_NEAR(after, before, 0.002 * before);
    CHECK_NEAR(axis.z, r / hypot(r, h), 0.005);
  }
  sim_close(&s);
}

/* Which points touch: the rim, the ends of a line, the tip. On a half-space and on a box. */
static void test_contacts(void) {
  static ds_manifold m;
  double r = 0.2, h = 0.5;
  ds_shape shape = round_shape(DS_SHAPE_CONE, r, 0.5 * h), floor = round_shape(DS_SHAPE_HALF_SPACE, 0, 0);
  ds_shape block = box(1, 1, 0.5);
  shape.bounding_radius = hypot(r, 0.5 * h);
  for (int ground = 0; ground < 2; ground++) {
    const ds_shape *below = ground ? &block : &floor;
    ds_pose pose = at(0, 0, ground ? -0.5 : 0);
    ds_narrow(&m, &shape, at(0.1, 0.2, 0.5 * h + 1e-3), below, pose, 0.01, 8); /* on its base */
    CHECK(m.count == 8);
    for (int32_t i = 0; i < m.count; i++) {
      CHECK_NEAR(m.gap[i], 1e-3, 1e-12);
      CHECK_NEAR(hypot(m.point[i].x - 0.1, m.point[i].y - 0.2), r, 1e-12);
      CHECK_LE(v3_dist(m.normal[i], Z), 1e-9);
    }
    ds_pose side = lying(r, h);
    side.p.z -= 1e-4;
    ds_narrow(&m, &shape, side, below, pose, 0.01, 8); /* on its side: tip and rim */
    CHECK(m.count == 2);
    for (int32_t i = 0; i < m.count; i++) CHECK_NEAR(m.gap[i], -1e-4, 1e-9);
    if (m.count == 2) CHECK_NEAR(v3_dist(m.point[0], m.point[1]), hypot(r, h), 1e-6);
    ds_pose up = turned(0, 0, 0, X, 150); /* on its tip */
    up.p = v3_add(v3(0, 0, 1e-3), quat_rotate(up.q, v3(0, 0, -0.5 * h)));
    ds_narrow(&m, &shape, up, below, pose, 0.01, 8);
    CHECK(m.count == 1);
    CHECK_NEAR(m.gap[0], 1e-3, 1e-9);
    CHECK_LE(v3_dist(m.point[0], v3(0, 0, 5e-4)), 1e-6);
  }
  release(&block);
}

/* It stands on a box and on another cone's base, and a box stands on its upturned base, held by a static cone. */
static void test_stands(void) {
  for (int ground = 0; ground < 3; ground++) {
    ds_scene *scene = scene_new(v3(0, 0, -gravity), 0.5, 0);
    ds_body_def below = body_at(0, 0, -0.25), body = body_at(0.02, 0.03, 0.25);
    below.kind = DS_BODY_STATIC;
    if (ground > 0) below.pose.q = quat_axis_angle(v3(1, 0, 0), DS_PI); /* tip down */
    scene_add(scene, &below, ground == 0 ? shape_box(1, 1, 0.5) : cone(0.3, 0.5));
    ds_body_id id = scene_add(scene, &body, ground == 2 ? shape_box(0.2, 0.3, 0.5) : cone(0.2, 0.5));
    (void)id;
    sim s;
    if (sim_finish(&s, "cone on a ground", scene)) {
      sim_run(&s, 3);
      CHECK_LE(sim_displacement(&s, s.start), 1e-5);
    }
    sim_close(&s);
  }
}

static void test_file(void) {
  static const char good[] =
      "{\"drystone\": 1, \"bodies\": [{\"shapes\": [{\"kind\": \"cone\", \"radius\": 0.2, \"height\": 0.5}]}]}";
  static const char missing[] = "{\"drystone\": 1, \"bodies\": [{\"shapes\": [{\"kind\": \"cone\", \"radius\": 1}]}]}";
  ds_error error = {""};
  ds_scene *scene = ds_scene_read_text(good, strlen(good), "good", NULL, &error);
  CHECK(scene != NULL);
  if (scene) CHECK_NEAR(ds_body_shape(scene, ds_scene_body(scene, 0), 0).half_length, 0.25, 0);
  ds_scene_destroy(scene);
  CHECK(ds_scene_read_text(missing, strlen(missing), "bad", NULL, &error) == NULL);
  CHECK(strstr(error.message, "height") != NULL);
}

int main(void) {
  RUN(test_mass);
  RUN(test_contacts);
  RUN(test_incline);
  RUN(test_lies_still);
  RUN(test_rolls_in_circle);
  RUN(test_stands);
  RUN(test_file);
  return test_summary();
}
