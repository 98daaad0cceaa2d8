/* Ellipsoids against mechanics: where they rest, how they rock, roll, spin, fall and bounce, on every kind of ground.
 * That mass, distance, rays, supports and contacts agree with each other is in test_shapes. */
#include "drystone/solid.h"
#include "scene_helper.h"

static const double gravity = 9.81;
static const double rest_overlap =
    0.0011; /* of the bounding radius: what bodies at rest may overlap, integrate/separate.c */

static ds_shape_def ellipsoid(double a, double b, double c) {
  ds_shape_def def = ds_default_shape();
  def.kind = DS_SHAPE_ELLIPSOID;
  def.half = v3(a, b, c);
  return def;
}

static ds_vec3 axis(const sim *s, ds_body_id body, ds_vec3 local) {
  return quat_rotate(ds_state_pose(s->scene, s->state, body).q, local);
}

static void test_mass(void) {
  ds_scene *scene = scene_new(v3(0, 0, -gravity), 0.5, 0);
  ds_body_def body = body_at(0, 0, 1);
  ds_body_id id = scene_add(scene, &body, ellipsoid(0.3, 0.2, 0.1));
  CHECK(ds_scene_finish(scene, NULL) == DS_OK);
  ds_mass m = ds_body_mass(scene, id);
  double mass = 1000 * 4.0 / 3.0 * DS_PI * 0.3 * 0.2 * 0.1;
  CHECK_NEAR(m.mass, mass, 1e-12 * mass);
  CHECK_NEAR(m.inertia[0], mass * (0.04 + 0.01) / 5, 1e-14);
  CHECK_NEAR(m.inertia[4], mass * (0.09 + 0.01) / 5, 1e-14);
  CHECK_NEAR(m.inertia[8], mass * (0.09 + 0.04) / 5, 1e-14);
  ds_scene_destroy(scene);
}

/* Dropped tilted, it comes to rest on its shortest axis. */
static void test_rest(void) {
  ds_scene *scene = scene_new(v3(0, 0, -gravity), 0.5, 0);
  scene_add_floor(scene);
  ds_body_def body = body_at(0, 0, 0.4);
  body.pose.q = quat_axis_angle(v3(1, 2, 0.5), 0.9);
  body.angular_damping = 2;
  ds_body_id id = scene_add(scene, &body, ellipsoid(0.3, 0.2, 0.1));
  sim s;
  if (sim_finish(&s, "ellipsoid at rest", scene)) {
    s.options.step = 0.005;
    sim_run(&s, 12);
    CHECK_NEAR(ds_state_center(s.state, id).z, 0.1, rest_overlap * 0.3);
    CHECK_NEAR(fabs(axis(&s, id, v3(0, 0, 1)).z), 1, 1e-4);
    CHECK_LE(s.penetration, 0.005);
  }
  sim_close(&s);
}

/* On its shortest axis it rocks about the y axis without slipping: with the radius of curvature rho = a²/c below,
 * omega² = m g (rho - c) / (I + m c²). */
static void test_rocking(void) {
  double a = 0.2, b = 0.15, c = 0.1, tilt = 0.02, rho = a * a / c, inertia = (a * a + c * c) / 5;
  double period = 2 * DS_PI / sqrt(gravity * (rho - c) / (inertia + c * c));
  ds_scene *scene = scene_new(v3(0, 0, -gravity), 1, 0);
  scene_add_floor(scene);
  /* the lowest point of the tilted ellipsoid is sqrt(a² sin² + c² cos²) below its centre */
  ds_body_def body = body_at(0, 0, hypot(a * sin(tilt), c * cos(tilt)));
  body.pose.q = quat_axis_angle(v3(0, 1, 0), tilt);
  ds_body_id id = scene_add(scene, &body, ellipsoid(a, b, c));
  sim s;
  if (sim_finish(&s, "rocking ellipsoid", scene)) {
    s.options.step = 0.001;
    double last = tilt, first = 0, second = 0;
    for (int i = 0; i < 4000 && second == 0; i++) {
      sim_step(&s);
      double now = -axis(&s, id, v3(1, 0, 0)).z, t = ds_state_time(s.state);
      if (last > 0 && now <= 0) { /* falls through zero once per period */
        double zero = t - 0.001 * now / (now - last);
        if (first == 0)
          first = zero;
        else
          second = zero;
      }
      last = now;
    }
    printf("     period %.5f s, theory %.5f s\n", second - first, period);
    CHECK_NEAR(second - first, period, 0.005 * period);
  }
  sim_close(&s);
}

/* One ellipsoid on a floor, on its last axis, set off with a velocity and a spin, after `seconds`. */
static ds_body_id run_on_floor(sim *s, const char *name, double mu, ds_vec3 axes, ds_vec3 velocity, ds_vec3 spin,
                               double seconds) {
  ds_scene *scene = scene_new(v3(0, 0, -gravity), mu, 0);
  scene_add_floor(scene);
  ds_body_def body = body_at(0, 0, axes.z);
  body.velocity = velocity, body.angular_velocity = spin;
  ds_body_id id = scene_add(scene, &body, ellipsoid(axes.x, axes.y, axes.z));
  if (sim_finish(s, name, scene)) sim_run(s, seconds);
  return id;
}

/* With equal axes it is a ball: launched sliding it ends rolling at 5/7 of its speed. */
static void test_rolling(void) {
  sim s;
  ds_body_id id = run_on_floor(&s, "rolling ellipsoid", 0.3, v3(0.1, 0.1, 0.1), v3(2, 0, 0), v3(0, 0, 0), 2);
  CHECK_NEAR(ds_state_velocity(s.state, id).x, 2 * 5.0 / 7, 1e-6);
  CHECK_NEAR(0.1 * ds_state_angular_velocity(s.state, id).y, 2 * 5.0 / 7, 1e-6);
  sim_close(&s);
}

/* One of revolution about x, lying on the floor, rolls straight like a cylinder of radius b: v = (1 - I/(I + m b²)) v0
 * after sliding, I = 2/5 m b². */
static void test_rolling_on_side(void) {
  sim s;
  ds_body_id id = run_on_floor(&s, "ellipsoid on its side", 0.3, v3(0.3, 0.1, 0.1), v3(0, 1, 0), v3(0, 0, 0), 2);
  CHECK_NEAR(ds_state_velocity(s.state, id).y, 5.0 / 7, 1e-5);
  CHECK_NEAR(ds_state_velocity(s.state, id).x, 0, 1e-6);
  CHECK_NEAR(ds_state_center(s.state, id).z, 0.1, 1e-6);
  sim_close(&s);
}

/* Upright on a smooth floor it keeps its spin. */
static void test_spin(void) {
  sim s;
  ds_body_id id = run_on_floor(&s, "spinning ellipsoid", 0, v3(0.1, 0.1, 0.05), v3(0, 0, 0), v3(0, 0, 20), 3);
  CHECK_NEAR(ds_state_angular_velocity(s.state, id).z, 20, 1e-9);
  CHECK_NEAR(ds_state_center(s.state, id).z, 0.05, 1e-6);
  sim_close(&s);
}

/* Dropped on its long axis from a height: it meets the floor when its centre is a above it, and goes up with e v. */
static void test_drop(void) {
  double a = 0.2, height = 1, e = 0.6;
  ds_scene *scene = scene_new(v3(0, 0, -gravity), 0.5, e);
  scene_add_floor(scene);
  ds_body_def body = body_at(0, 0, a + height);
  body.pose.q = quat_axis_angle(v3(0, 1, 0), 0.5 * DS_PI);
  ds_body_id id = scene_add(scene, &body, ellipsoid(a, 0.1, 0.15));
  sim s;
  if (sim_finish(&s, "falling ellipsoid", scene)) {
    double top = 0;
    bool bounced = false;
    s.options.step = 0.001;
    for (int i = 0; i < 1000; i++) {
      sim_step(&s);
      double z = ds_state_center(s.state, id).z;
      bounced = bounced || ds_state_velocity(s.state, id).z > 0;
      if (!bounced) CHECK_LE(a - 1e-3, z);
      if (bounced) top = fmax(top, z);
    }
    CHECK(bounced);
    CHECK_NEAR(top - a, e * e * height, 0.01 * height);
  }
  sim_close(&s);
}

/* It rests on its shortest axis on a box, a hull, a cylinder's cap and a solid. */
static void test_grounds(void) {
  static const ds_vec3 corners[8] = {{-1, -1, -1}, {1, -1, -1}, {-1, 1, -1}, {1, 1, -1},
                                     {-1, -1, 0},  {1, -1, 0},  {-1, 1, 0},  {1, 1, 0}};
  static const int32_t triangles[36] = {0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6, 0, 1, 5, 0, 5, 4,
                                        2, 6, 7, 2, 7, 3, 0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5};
  for (int ground = 0; ground < 4; ground++) {
    ds_scene *scene = scene_new(v3(0, 0, -gravity), 0.5, 0);
    ds_body_def below = body_at(0, 0, 0), body = body_at(0.05, 0.1, 0.12);
    ds_shape_def shape = ground == 2 ? shape_round(DS_SHAPE_CYLINDER, 1, 0.5) : shape_box(2, 2, 1);
    ds_solid *solid = NULL;
    ds_error error = {""};
    shape.pose.p.z = -0.5;
    below.kind = DS_BODY_STATIC;
    if (ground == 1) {
      shape = ds_default_shape();
      shape.kind = DS_SHAPE_HULL, shape.points = corners, shape.point_count = 8;
    } else if (ground == 3) {
      ds_mesh mesh = {.vertices = (ds_vec3 *)(uintptr_t)corners,
                      .vertex_count = 8,
                      .triangles = (int32_t *)(uintptr_t)triangles,
                      .triangle_count = 12};
      ds_solid_def def = ds_default_solid();
      solid = ds_solid_create(&mesh, &def, &error);
      if (!solid) printf("%s\n", error.message);
      CHECK(solid != NULL);
      shape = ds_default_shape();
      shape.kind = DS_SHAPE_SOLID, shape.solid = solid;
    }
    scene_add(scene, &below, shape);
    body.pose.q = quat_axis_angle(v3(1, 0.3, 0), 0.1);
    body.angular_damping = 3;
    ds_body_id id = scene_add(scene, &body, ellipsoid(0.3, 0.2, 0.1));
    ds_solid_release(solid);
    sim s;
    if (sim_finish(&s, "ellipsoid on a ground", scene)) {
      sim_run(&s, 8);
      CHECK_NEAR(ds_state_center(s.state, id).z, 0.1, rest_overlap * 0.3);
      CHECK_NEAR(fabs(axis(&s, id, v3(0, 0, 1)).z), 1, 1e-3);
    }
    sim_close(&s);
  }
}

/* Scene files. */
static void test_file(void) {
  static const char good[] =
      "{\"drystone\": 1, \"bodies\": [{\"shapes\": [{\"kind\": \"ellipsoid\", \"semi_axes\": [0.3, 0.2, 0.1]}]}]}";
  static const char missing[] = "{\"drystone\": 1, \"bodies\": [{\"shapes\": [{\"kind\": \"ellipsoid\"}]}]}";
  static const char flat[] =
      "{\"drystone\": 1, \"bodies\": [{\"shapes\": [{\"kind\": \"ellipsoid\", \"semi_axes\": [0.3, 0, 0.1]}]}]}";
  ds_error error = {""};
  ds_scene *scene = ds_scene_read_text(good, strlen(good), "good", NULL, &error);
  CHECK(scene != NULL);
  if (scene) CHECK_NEAR(ds_body_shape(scene, ds_scene_body(scene, 0), 0).half.y, 0.2, 0);
  ds_scene_destroy(scene);
  CHECK(ds_scene_read_text(missing, strlen(missing), "bad", NULL, &error) == NULL);
  CHECK(strstr(error.message, "semi_axes") != NULL);
  CHECK(ds_scene_read_text(flat, strlen(flat), "bad", NULL, &error) == NULL);
  CHECK(strstr(error.message, "semi_axes") != NULL);
}

int main(void) {
  RUN(test_mass);
  RUN(test_rest);
  RUN(test_rocking);
  RUN(test_rolling);
  RUN(test_rolling_on_side);
  RUN(test_spin);
  RUN(test_drop);
  RUN(test_grounds);
  RUN(test_file);
  return test_summary();
}
