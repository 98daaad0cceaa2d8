/* What is left of the error of known motions in steps of 10, 5, 2 and 1 ms: the table of docs/motion.md. The suite
 * takes the first two. */
#include "joint_helper.h"

static const double gravity = 9.81;

static bool begin(sim *s, ds_scene *scene, double h) {
  bool started = sim_finish(s, "motion", scene);
  s->options.integrator = DS_INTEGRATOR_AUTO;
  s->options.step = h;
  return started;
}

/* Steps for `seconds`; the largest change of the energy, of `unit` or of the kinetic energy of the start. */
static double energy_error(ds_scene *scene, double h, double seconds, double unit) {
  sim s;
  double worst = 0;
  if (begin(&s, scene, h)) {
    double before = sim_energy(&s), scale = unit > 0 ? unit : ds_state_energy(s.scene, s.state).kinetic;
    while (ds_state_time(s.state) < seconds - 0.5 * h && sim_step(&s))
      worst = fmax(worst, fabs(sim_energy(&s) - before) / scale);
  }
  sim_close(&s);
  return worst;
}

/* ---- turning ---- */

static double spinning_rod(double h) {
  ds_scene *scene = scene_new(v3(0, 0, -gravity), 0, 0);
  ds_body_def body = body_at(0, 0, 0.01);
  body.angular_velocity = v3(0, 0, 10);
  scene_add_floor(scene);
  scene_add(scene, &body, shape_box(1, 0.02, 0.02));
  return energy_error(scene, h, test_time(10, 1), 0);
}

/* Rods or links from an anchor, let go level, each in a plane of its own. */
static double hanging(int32_t count, double length, double thick, double seconds, double h) {
  ds_scene *scene = scene_new(v3(0, 0, -gravity), 0.5, 0);
  ds_body_id before = scene_add_anchor(scene, -0.02, -0.5, 0);
  double mass = 1000 * length * thick * thick;
  for (int32_t i = 0; i < count; i++) {
    ds_body_def def = body_at((i + 0.5) * length, 2 * thick * i, 0);
    ds_body_id link = scene_add(scene, &def, shape_box(length, thick, thick));
    scene_join(scene, DS_JOINT_HINGE, before, link, v3(i * length, (2 * i - 1) * thick, 0), v3(0, 1, 0));
    before = link;
  }
  return energy_error(scene, h, seconds, count * mass * gravity * 0.5 * count * length);
}
static double double_pendulum(double h) { return hanging(2, 1, 0.02, test_time(10, 1), h); }
static double chain(double h) { return hanging(20, 0.05, 0.01, test_time(3, 0.5), h); }

static double turntable(double h) {
  const double r = 0.5, w = 2;
  ds_scene *scene = scene_new(v3(0, 0, -gravity), 0.5, 0);
  ds_body_id cube = scene_add_turntable(scene, r, w);
  sim s;
  double worst = 0;
  if (begin(&s, scene, h))
    while (ds_state_time(s.state) < test_time(20, 1) && sim_step(&s)) {
      ds_quat back = quat_axis_angle(v3(0, 0, 1), -w * ds_state_time(s.state));
      worst = fmax(worst, v3_dist(quat_rotate(back, ds_state_center(s.state, cube)), v3(r, 0, 0.05)));
    }
  sim_close(&s);
  return worst;
}

/* A coin of 0.1 m on its rim, leaning by 20 degrees: it wobbles about a centre at rest with W² = 4 g/(R sin 20°). */
static double euler_disk(double h) {
  const double r = 0.1, half = 0.002, lean = 20 * DS_PI / 180, rate = sqrt(4 * gravity / (r * sin(lean)));
  ds_scene *scene = scene_new(v3(0, 0, -gravity), 1, 0);
  ds_quat tilt = quat_axis_angle(v3(0, 1, 0), lean);
  ds_vec3 rim = quat_rotate(tilt, v3(r, 0, -half)), spoke = quat_rotate(tilt, v3(1, 0, 0));
  ds_body_def body = body_at(0, 0, -rim.z);
  body.pose.q = tilt;
  body.angular_velocity = v3_scale(-rate * sin(lean), spoke);
  body.velocity = v3_neg(v3_cross(body.angular_velocity, rim)); /* the rim's point rests */
  scene_add_floor(scene);
  scene_add(scene, &body, shape_round(DS_SHAPE_CYLINDER, r, half));
  return energy_error(scene, h, test_time(1, 0.1), 0);
}

/* ---- impacts ---- */

/* The fifth amplitude of a rocking block, of that of Housner's theory: see test_motion. */
static double rocking_block(double h) {
  const double width = 0.2, height = 0.8, alpha = atan(width / height), start = 0.5 * alpha;
  double kept = 1 - 1.5 * sin(alpha) * sin(alpha), want = cos(alpha - start) - cos(alpha), most = 0, last = start;
  ds_scene *scene = scene_new(v3(0, 0, -gravity), 1, 0);
  ds_quat tilt = quat_axis_angle(v3(0, 1, 0), start);
  ds_vec3 c = quat_rotate(tilt, v3(-0.5 * width, 0, 0.5 * height));
  ds_body_def body = body_at(c.x, c.y, c.z);
  body.pose.q = tilt;
  scene_add_floor(scene);
  ds_body_id block = scene_add(scene, &body, shape_box(width, 0.3, height));
  sim s;
  double error = 1;
  if (begin(&s, scene, h))
    for (int32_t seen = 0; seen <= 5 && sim_step(&s) && ds_state_time(s.state) < 10;) {
      ds_vec3 axis = quat_rotate(ds_state_pose(s.scene, s.state, block).q, v3(0, 0, 1));
      double theta = atan2(axis.x, axis.z);
      if (theta * last < 0) { /* upright: an impact */
        if (seen > 0) want *= kept * kept;
        error = fabs(most / (alpha - acos(cos(alpha) + want)) - 1);
        seen++, most = 0;
      }
      most = fmax(most, fabs(theta)), last = theta;
    }
  sim_close(&s);
  return error;
}

/* Degrees off the line of centres, balls of 3 m/s, e = 1. */
static double cut_shots(double h) {
  double worst = 0;
  for (int32_t n = 0; n < 9; n++) {
    const double radius = 0.028575, angle = 10 * n * DS_PI / 180, way = 0.29 + 0.0234 * (n % 3);
    ds_scene *scene = scene_new(v3(0, 0, -gravity), 0, 1);
    ds_body_def cue = body_at(-2 * radius * cos(angle) - way, -2 * radius * sin(angle), radius);
    ds_body_def lies = body_at(0, 0, radius);
    cue.velocity = v3(3, 0, 0);
    scene_add_floor(scene);
    scene_add(scene, &cue, shape_sphere(radius));
    ds_body_id ball = scene_add(scene, &lies, shape_sphere(radius));
    sim s;
    if (begin(&s, scene, h)) {
      sim_run(&s, way / 3 + 0.1);
      ds_vec3 v = ds_state_velocity(s.state, ball);
      worst = fmax(worst, fabs(atan2(v.y, v.x) - angle) * 180 / DS_PI);
    }
    sim_close(&s);
  }
  return worst;
}

/* From 1 m with e = 0.5: the apex, of 0.25 m. */
static double bounce(double h) {
  ds_scene *scene = scene_new(v3(0, 0, -gravity), 0.3, 0.5);
  scene_add_floor(scene);
  ds_body_def def = body_at(0, 0, 1.1);
  ds_body_id ball = scene_add(scene, &def, shape_sphere(0.1));
  sim s;
  double error = 1;
  if (begin(&s, scene, h)) {
    sim_run(&s, 0.7);
    double v = ds_state_velocity(s.state, ball).z, z = ds_state_center(s.state, ball).z - 0.1;
    error = fabs((z + v * v / (2 * gravity)) / 0.25 - 1);
  }
  sim_close(&s);
  return error;
}

/* ---- all ---- */

static void test_table(void) {
  static const struct {
    const char *name;
    double (*error)(double h);
    double most; /* at 10 ms */
  } rows[] = {{"rod 50:1, energy", spinning_rod, 1e-6},
              {"double pendulum, energy", double_pendulum, 1e-6},
              {"chain of 20, energy, 3 s", chain, 1e-6},
              {"turntable, creep, m", turntable, 1e-6},
              {"rocking block, fifth amplitude", rocking_block, 0.02},
              {"cut shots, degrees", cut_shots, 0.1},
              {"bounce, apex", bounce, 1e-3},
              {"Euler disk, energy", euler_disk, 0.05}};
  static const double steps[] = {0.01, 0.005, 0.002, 0.001};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    printf("     | %s |", rows[i].name);
    for (int k = 0; k < (test_long() ? 4 : 2); k++) {
      double error = rows[i].error(steps[k]);
      printf(" %.1e |", error);
      CHECK_LE(error, rows[i].most);
    }
    printf("\n");
  }
}

int main(void) {
  RUN(test_table);
  return test_summary();
}
