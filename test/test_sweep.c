/* Continuous detection: what crosses more than its thickness in one step is caught. Steps of 10 ms; at 1,000 m/s a body
 * goes 10 m in each. Nothing passes: a bullet against a card (fixed and free), a plate against a plate, a rod that
 * spins through a post; and what flies past does not notice: no impulse, no loss of speed. */
#include "scene_helper.h"

static const ds_vec3 weightless = {0, 0, 0};
static const double speeds[3] = {10, 100, 1000};

static ds_body_def moving(double x, double y, double z, ds_vec3 v) {
  ds_body_def def = body_at(x, y, z);
  def.name = "mover";
  def.velocity = v;
  return def;
}

static ds_body_def fixed_at(double x, double y, double z) {
  ds_body_def def = body_at(x, y, z);
  def.kind = DS_BODY_STATIC;
  return def;
}

/* Runs and checks that the mover stays below x = limit. */
static void check_never_passes(sim *s, double limit, int steps) {
  ds_body_id mover = sim_body(s, "mover");
  double most = -INFINITY;
  int32_t stopped = 0;
  for (int i = 0; i < steps && sim_step(s); i++) {
    most = fmax(most, ds_state_center(s->state, mover).x);
    stopped += s->report.stopped_bodies;
  }
  printf("     %s: got to x = %.6f m of %.6f, stopped %d times, overlap %.3g m\n", s->name, most, limit, (int)stopped,
         s->penetration);
  CHECK_LE(most, limit);
  sim_close(s);
}

static void test_bullet_fixed_card(void) {
  for (int i = 0; i < 3; i++)
    for (int place = 0; place < 2; place++) { /* straight, and near the card's rim */
      ds_scene *scene = scene_new(weightless, 0.5, 0);
      ds_body_def card = fixed_at(0, 0, 0), bullet = moving(-13.7, 0, place ? 0.045 : 0.001, v3(speeds[i], 0, 0));
      scene_add(scene, &card, shape_box(0.003, 0.06, 0.1));
      scene_add(scene, &bullet, shape_sphere(0.005));
      sim s;
      char name[64];
      snprintf(name, sizeof name, "bullet at %g m/s, card%s", speeds[i], place ? " near its rim" : "");
      if (sim_finish(&s, name, scene)) check_never_passes(&s, -0.0064, (int)(1500 / speeds[i]) + 10);
    }
}

/* A free card is carried along: momentum is conserved and the bullet stays behind it. */
static void test_bullet_free_card(void) {
  for (int i = 0; i < 3; i++) {
    ds_scene *scene = scene_new(weightless, 0.5, 0);
    ds_body_def card = body_at(0, 0, 0), bullet = moving(-3.3, 0, 0, v3(speeds[i], 0, 0));
    card.name = "card";
    scene_add(scene, &card, shape_box(0.003, 0.06, 0.1));
    scene_add(scene, &bullet, shape_sphere(0.005));
    sim s;
    if (!sim_finish(&s, "bullet and free card", scene)) continue;
    ds_body_id a = sim_body(&s, "card"), b = sim_body(&s, "mover");
    double before = ds_state_momentum(scene, s.state).linear.x;
    sim_run(&s, 5 / speeds[i] + 0.1);
    double ahead = ds_state_center(s.state, a).x - ds_state_center(s.state, b).x;
    CHECK_LE(0.0064, ahead);
    CHECK_NEAR(ds_state_momentum(scene, s.state).linear.x, before, 1e-12 * fabs(before));
    /* they go on together */
    CHECK_NEAR(ds_state_velocity(s.state, a).x, ds_state_velocity(s.state, b).x, 1e-6 * speeds[i]);
    sim_close(&s);
  }
}

static void test_plate_on_plate(void) {
  for (int i = 0; i < 3; i++) {
    ds_scene *scene = scene_new(weightless, 0.5, 0);
    ds_body_def wall = fixed_at(0, 0, 0), plate = moving(-7.77, 0.02, 0.01, v3(speeds[i], 0, 0));
    plate.angular_velocity = v3(0, 0.1 * speeds[i], 0);
    scene_add(scene, &wall, shape_box(0.002, 1, 1));
    scene_add(scene, &plate, shape_box(0.002, 0.2, 0.2));
    sim s;
    char name[64];
    snprintf(name, sizeof name, "plate at %g m/s, plate", speeds[i]);
    if (sim_finish(&s, name, scene)) check_never_passes(&s, 0, (int)(1000 / speeds[i]) + 20);
  }
}

/* A rod of 1 m turns about its middle; its tips go at the given speed. A post stands in their way. */
static void test_spinning_rod(void) {
  for (int i = 0; i < 3; i++) {
    ds_scene *scene = scene_new(weightless, 0, 0);
    ds_body_def post = fixed_at(0.45, 0, 0), rod = body_at(0, 0, 0);
    rod.name = "rod";
    rod.pose.q = quat_mul(quat_axis_angle(v3(0, 0, 1), 1), quat_axis_angle(v3(0, 1, 0), 0.5 * DS_PI));
    rod.angular_velocity = v3(0, 0, -2 * speeds[i]);
    scene_add(scene, &post, shape_round(DS_SHAPE_CAPSULE, 0.004, 0.2));
    scene_add(scene, &rod, shape_round(DS_SHAPE_CAPSULE, 0.004, 0.5));
    sim s;
    if (!sim_finish(&s, "spinning rod", scene)) continue;
    ds_body_id id = sim_body(&s, "rod");
    double nearest = INFINITY;
    for (int k = 0; k < 200 && sim_step(&s); k++) { /* until the post is beyond its end, it stays on one side of it */
      ds_vec3 axis = quat_rotate(ds_state_pose(scene, s.state, id).q, v3(0, 0, 1));
      ds_vec3 to_post = v3_sub(v3(0.45, 0, 0), ds_state_center(s.state, id));
      if (fabs(v3_dot(axis, to_post)) > 0.5) break;
      nearest = fmin(nearest, axis.y * to_post.x - axis.x * to_post.y);
    }
    printf("     rod with tips at %g m/s: %.4f m from the post's middle, overlap %.3g m\n", speeds[i], nearest,
           s.penetration);
    CHECK_LE(0.005, nearest); /* radii are 4 mm each */
    CHECK_LE(s.penetration, 0.004);
    sim_close(&s);
  }
}

/* Flying past at a distance changes nothing. */
static void test_passes_by(void) {
  for (int i = 0; i < 3; i++) {
    ds_scene *scene = scene_new(weightless, 0.5, 0);
    ds_body_def card = fixed_at(0, 0, 0), bullet = moving(-9.1, 0.2, 0.05, v3(speeds[i], 0, 0));
    scene_add(scene, &card, shape_box(0.003, 0.06, 0.1));
    scene_add(scene, &bullet, shape_sphere(0.005));
    sim s;
    if (!sim_finish(&s, "passes by", scene)) continue;
    sim_run(&s, 20 / speeds[i]);
    ds_vec3 v = ds_state_velocity(s.state, sim_body(&s, "mover"));
    CHECK_NEAR(v.x, speeds[i], 1e-9 * speeds[i]);
    CHECK_NEAR(v3_norm(v), speeds[i], 1e-9 * speeds[i]);
    sim_close(&s);
  }
}

int main(void) {
  RUN(test_bullet_fixed_card);
  RUN(test_bullet_free_card);
  RUN(test_plate_on_plate);
  RUN(test_spinning_rod);
  RUN(test_passes_by);
  return test_summary();
}
