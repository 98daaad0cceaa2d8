/* The midpoint rule against mechanics worked out here: free flight, sliding, rolling, bouncing, drives, pendulums,
 * momenta; and its order in h. */
#include <stdlib.h>

#include "joint_helper.h"

static const double gravity = 9.81;
static const ds_vec3 up = {0, 0, 1}, across = {0, 1, 0};

static bool by_midpoint(sim *s, const char *name, ds_scene *scene) {
  bool started = sim_finish(s, name, scene);
  s->options.integrator = DS_INTEGRATOR_MIDPOINT;
  return started;
}

/* ---- one body ---- */

/* Constant force, torque and damping: x = f t²/2m; v = v0 ((1 - h c/2)/(1 + h c/2))^n, exp(-c t) to second order. */
static void free_flight(void) {
  ds_scene *scene = scene_new(v3(0, 0, 0), 0.5, 0);
  ds_body_def body = body_at(0, 0, 0), slowed = body_at(0, 5, 0);
  body.mass = 2;
  body.force = v3(1, -2, 3);
  body.torque = v3(0, 0, 0.1);
  slowed.velocity = v3(3, 0, 0);
  slowed.angular_velocity = v3(0, 0, 7);
  slowed.linear_damping = 2;
  slowed.angular_damping = 0.5;
  ds_body_id id = scene_add(scene, &body, shape_box(0.3, 0.2, 0.1));
  ds_body_id slow = scene_add(scene, &slowed, shape_sphere(0.1));
  sim s;
  if (by_midpoint(&s, "free flight", scene)) {
    double h = s.options.step, iz = ds_body_mass(s.scene, id).inertia[8], angle = 0.5 * 0.1 / iz;
    sim_run(&s, 1);
    CHECK_LE(v3_dist(ds_state_velocity(s.state, id), v3(0.5, -1, 1.5)), 1e-12);
    CHECK_LE(v3_dist(ds_state_center(s.state, id), v3(0.25, -0.5, 0.75)), 1e-12);
    CHECK_NEAR(ds_state_angular_velocity(s.state, id).z, 0.1 / iz, 1e-11);
    ds_vec3 x = quat_rotate(ds_state_pose(s.scene, s.state, id).q, v3(1, 0, 0));
    CHECK_NEAR(remainder(atan2(x.y, x.x) - angle, 2 * DS_PI), 0, 1e-10);
    CHECK_NEAR(ds_state_velocity(s.state, slow).x, 3 * pow((1 - h) / (1 + h), 100), 1e-12);
    CHECK_NEAR(ds_state_angular_velocity(s.state, slow).z, 7 * pow((1 - h / 4) / (1 + h / 4), 100), 1e-12);
  }
  sim_close(&s);
}

/* v²/(2 mu g), but for the last step, which ends at rest wherever in it the cube stops. */
static void stopping_distance(void) {
  static const double speed[3] = {0.5, 2, 5}, mu[3] = {0.1, 0.3, 0.6};
  char spec[96];
  for (int32_t i = 0; i < 9; i++) {
    sim s;
    double v = speed[i / 3], m = mu[i % 3];
    snprintf(spec, sizeof spec, "slide:velocity=%.17g,mu=%.17g", v, m);
    if (sim_generate(&s, spec)) {
      s.options.integrator = DS_INTEGRATOR_MIDPOINT;
      double h = s.options.step;
      sim_run(&s, v / (m * gravity) + 0.1);
      ds_vec3 p = ds_state_center(s.state, sim_body(&s, "cube"));
      CHECK_NEAR(p.x, v * v / (2 * m * gravity), 0.25 * m * gravity * h * h);
      CHECK_LE(fabs(p.y) + fabs(p.z - 0.1), 1e-7);
      CHECK_LE(v3_norm(ds_state_velocity(s.state, sim_body(&s, "cube"))), 1e-9);
    }
    sim_close(&s);
  }
}

/* A ball ends rolling at (v + 2/5 R w)/(7/5), whatever its spin: also where it turns by 0.6 rad in a step, and where it
 * stands while it spins. */
static void rolling(void) {
  static const double speed[5] = {0.5, 2, 6, 1, -1}, spin[5] = {0, 0, 0, -60, 60};
  for (int i = 0; i < 5; i++) {
    ds_scene *scene = scene_new(v3(0, 0, -gravity), 0.2, 0);
    ds_body_def body = body_at(0, 0, 0.1);
    body.velocity = v3(speed[i], 0, 0);
    body.angular_velocity = v3(0, spin[i], 0);
    scene_add_floor(scene);
    ds_body_id ball = scene_add(scene, &body, shape_sphere(0.1));
    sim s;
    if (by_midpoint(&s, "rolling", scene)) {
      double want = (speed[i] + 0.4 * 0.1 * spin[i]) / 1.4;
      sim_run(&s, 3);
      CHECK_NEAR(ds_state_velocity(s.state, ball).x, want, 1e-6);
      CHECK_NEAR(0.1 * ds_state_angular_velocity(s.state, ball).y, want, 1e-6);
    }
    sim_close(&s);
  }
}

/* A ball over a floor against free fall and impacts worked out here: it rebounds with e times the velocity it comes
 * with, where that is more than one step of gravity; else it rests. In the air, however near, nothing acts. */
static void law_of_bouncing(void) {
  static const double es[4] = {0, 0.3, 0.8, 1}, steps[2] = {0.01, 0.004};
  for (int32_t i = 0; i < 8; i++) {
    double e = es[i % 4], h = steps[i / 4], gap = 0.05, v = -0.3, off = 0;
    int32_t bounces = 0, resting = 0;
    ds_scene *scene = scene_new(v3(0, 0, -gravity), 0.4, e);
    ds_body_def ball = body_at(0, 0, 0.1 + gap);
    ball.velocity = v3(0, 0, v);
    scene_add_floor(scene);
    ds_body_id id = scene_add(scene, &ball, shape_sphere(0.1));
    sim s;
    if (by_midpoint(&s, "ball", scene)) {
      s.options.step = h;
      for (int32_t k = 0; k < 400 && sim_step(&s); k++) {
        double left = h;
        bool rests = gap == 0 && v == 0;
        for (int n = 0; n < 9 && !rests; n++) {
          double fall = (v + sqrt(v * v + 2 * gravity * gap)) / gravity, t = fmin(fall, left); /* to the floor */
          gap += v * t - 0.5 * gravity * t * t, v -= gravity * t, left -= t;
          if (t < fall) break;
          rests = !(-e * v > h * gravity);
          v = rests ? 0 : -e * v, gap = 0;
          bounces += !rests;
        }
        off = fmax(off, fabs(ds_state_center(s.state, id).z - 0.1 - gap));
        resting += rests;
      }
      printf("     e %.1f, h %g: %d bounces, %d steps at rest, off by %.1e m\n", e, h, (int)bounces, (int)resting, off);
      CHECK_LE(off, 1e-5);
      CHECK(e > 0 ? bounces > 0 : bounces == 0);
      CHECK(e < 0.5 ? resting > 10 : e < 1 || resting == 0);
    }
    sim_close(&s);
  }
}

/* ---- several bodies ---- */

/* 8 kg, 4 N, 0.3 m/s, in a tilted frame, either body first: 0.5 m/s² for 0.6 s, t²/4 after 0.5 s. */
static void driven_slider(void) {
  for (int swapped = 0; swapped < 2; swapped++) {
    ds_scene *scene = scene_new(v3(0, 0, 0), 0.5, 0);
    ds_body_def body = body_at(0.1, 0.3, 0);
    ds_body_id rail = scene_add_anchor(scene, 0, 0, 0), cart = scene_add(scene, &body, shape_box(0.2, 0.2, 0.2));
    ds_joint_def def = ds_default_joint();
    ds_error error = {""};
    def.kind = DS_JOINT_SLIDER, def.a = swapped ? cart : rail, def.b = swapped ? rail : cart;
    def.axis = v3_unit(v3(1, 2, -0.5)), def.speed = 0.3, def.max_force = 4;
    ds_joint_id slider = ds_scene_add_joint(scene, &def, &error);
    sim s;
    if (by_midpoint(&s, "drive", scene)) {
      sim_run(&s, 0.5);
      CHECK_NEAR(ds_state_joint(s.scene, s.state, slider).position, 0.0625, 1e-12);
      CHECK_NEAR(v3_norm(ds_state_velocity(s.state, cart)), 0.25, 1e-9);
      sim_run(&s, 0.5);
      CHECK_NEAR(v3_norm(ds_state_velocity(s.state, cart)), 0.3, 1e-9);
    }
    sim_close(&s);
  }
}

/* In free flight, tumbling, joined by a ball and a hinge: impulses of joints change neither momentum nor energy, the
 * angular momentum to second order; for 30 s in steps of 10 ms. */
static void linkage_in_flight(void) {
  double off[2];
  for (int i = 0; i < 2; i++) {
    ds_scene *scene = scene_new(v3(0, 0, 0), 0.5, 0);
    ds_body_def one = body_at(0, 0, 0), other = body_at(1, 0, 0), third = body_at(1.5, 0.5, 0);
    one.velocity = v3(0.3, 0.1, -0.2);
    one.angular_velocity = v3(1, 0, 2);
    third.velocity = v3(0, 0, 1);
    ds_body_id a = scene_add(scene, &one, shape_box(1, 0.2, 0.1)), b = scene_add(scene, &other, shape_box(1, 0.3, 0.2));
    ds_body_id c = scene_add(scene, &third, shape_box(0.2, 1, 0.2));
    scene_join(scene, DS_JOINT_BALL, a, b, v3(0.5, 0, 0), across);
    scene_join(scene, DS_JOINT_HINGE, b, c, v3(1.5, 0, 0), v3(1, 0, 0));
    sim s;
    if (by_midpoint(&s, "tumbling", scene)) {
      s.options.step = i == 0 ? 0.02 : 0.01;
      sim_step(&s); /* velocities that do not fit the joints lose energy at once */
      ds_momentum before = ds_state_momentum(s.scene, s.state);
      double first = sim_energy(&s), worst = 0, linear = 0, angular = 0;
      off[i] = 0;
      int32_t steps = i == 0 ? 150 : test_quick() ? 300 : 3000;
      for (int32_t k = 0; k < steps && sim_step(&s); k++) {
        ds_momentum now = ds_state_momentum(s.scene, s.state);
        worst = fmax(worst, fabs(sim_energy(&s) / first - 1));
        linear = fmax(linear, v3_dist(now.linear, before.linear) / v3_norm(before.linear));
        angular = fmax(angular, v3_dist(now.angular, before.angular) / v3_norm(before.angular));
        if (ds_state_time(s.state) < 3) off[i] = angular;
      }
      printf("     %g s: momenta off by %.2g and %.2g, energy by %.2g\n", s.options.step, linear, angular, worst);
      CHECK_LE(linear, 1e-12);
      CHECK_LE(angular, 5e-6);
      CHECK_LE(worst, 1e-7);
      CHECK_LE(s.report.joint_drift, 1e-12);
    }
    sim_close(&s);
  }
  CHECK_LE(off[1], 0.3 * off[0]);
}

/* Boxes, turned anyhow, thrown at each other and spinning, without gravity: what they exchange stays among them. */
static void swarm(void) {
  static const double most[2] = {5e-4, 1e-3}; /* 48 swarms a little faster: 9e-6 to 5e-5 and 6e-5 to 8e-4 */
  for (int run = 0; run < 2; run++) {
    ds_scene *scene = scene_new(v3(0, 0, 0), run == 0 ? 0.4 : 0, 0);
    for (int32_t i = 0; i < 12; i++) {
      ds_vec3 cell = v3(i % 3 - 1, i / 3 % 2 - 0.5, i / 6 - 0.5);
      ds_body_def body = ds_default_body();
      body.pose.p = v3_scale(0.4, cell);
      body.pose.q = quat_unit(quat(1, sin(i + 1.0), cos(2.0 * i), sin(3.0 * i + run)));
      body.velocity = v3_mad(v3(sin(5.0 * i), cos(3.0 * i), sin(2.0 * i)), -1.5, cell);
      body.angular_velocity = v3(5 * sin(7.0 * i), 5 * cos(5.0 * i), 3);
      scene_add(scene, &body, shape_box(0.22, 0.15 + 0.01 * i, 0.12));
    }
    sim s;
    if (by_midpoint(&s, "swarm", scene)) {
      ds_momentum m0 = ds_state_momentum(s.scene, s.state);
      double e0 = sim_energy(&s), linear = 0, angular = 0, mass = 0;
      int32_t touched = 0;
      for (int32_t i = 0; i < 12; i++) mass += ds_body_mass(s.scene, ds_scene_body(s.scene, i)).mass;
      for (int32_t i = 0; i < 60 && sim_step(&s); i++) {
        ds_momentum m = ds_state_momentum(s.scene, s.state);
        linear = fmax(linear, v3_dist(m.linear, m0.linear) / sqrt(2 * mass * e0));
        angular = fmax(angular, v3_dist(m.angular, m0.angular) / sqrt(2 * mass * e0));
        touched += s.report.active_contacts;
        CHECK(s.report.motion.passed);
      }
      printf("     momenta off by %.2g and %.2g m, %d contacts; energy gained %.2g of %.3g J\n", linear, angular,
             (int)touched, s.energy_gain, e0);
      CHECK(touched > 20);
      CHECK_LE(linear, 1e-12);
      CHECK_LE(angular, most[run]);
      CHECK_LE(s.energy_gain, 1e-8 * e0);
    }
    sim_close(&s);
  }
}

/* ---- order in h ---- */

typedef ds_vec3 motion_case(double h);

/* Where a body is after a time, moved from a scene built by the case. */
static ds_vec3 end_of(const char *name, ds_scene *scene, ds_body_id id, double h, double time) {
  sim s;
  ds_vec3 x = v3(0, 0, 0);
  if (by_midpoint(&s, name, scene)) {
    s.options.step = h;
    s.options.tolerance = 1e-12;
    int64_t steps = llround(time / h);
    for (int64_t i = 0; i < steps && sim_step(&s); i++) continue;
    x = v3_add(ds_state_center(s.state, id), quat_rotate(ds_state_pose(s.scene, s.state, id).q, v3(0.1, 0, 0)));
  }
  sim_close(&s);
  return x;
}

static ds_vec3 pendulum(double h) {
  ds_scene *scene = scene_new(v3(0, 0, -gravity), 0.5, 0);
  ds_body_id anchor = scene_add_anchor(scene, 0, 1, 0), rod = scene_add_rod(scene, 0, 0, 0.6, -0.8, 0.05);
  scene_join(scene, DS_JOINT_HINGE, anchor, rod, v3(0, 0, 0), across);
  return end_of("pendulum", scene, rod, h, 1);
}

static ds_vec3 two_pendulums(double h) {
  ds_scene *scene = scene_new(v3(0, 0, -gravity), 0.5, 0);
  ds_body_id anchor = scene_add_anchor(scene, 0, 1, 0);
  ds_body_id upper = scene_add_rod(scene, 0, 0, 0.6, -0.8, 0.05),
             lower = scene_add_rod(scene, 0.6, -0.8, 1.4, -1.4, 0.05);
  scene_join(scene, DS_JOINT_BALL, anchor, upper, v3(0, 0, 0), across);
  scene_join(scene, DS_JOINT_HINGE, upper, lower, v3(0.6, 0, -0.8), across);
  return end_of("double pendulum", scene, lower, h, 1);
}

static ds_vec3 free_body(double h) {
  ds_scene *scene = scene_new(v3(0, 0, -gravity), 0.5, 0);
  ds_body_def body = body_at(0, 0, 0);
  body.velocity = v3(1, 0, 3);
  body.angular_velocity = v3(0.1, 6, 0.2); /* about the middle axis */
  ds_body_id id = scene_add(scene, &body, shape_box(0.3, 0.2, 0.1));
  return end_of("tennis racket", scene, id, h, 1);
}

/* A block rocks about an edge, away from impacts. */
static ds_vec3 tipping_block(double h) {
  ds_scene *scene = scene_new(v3(0, 0, -gravity), 1, 0);
  ds_quat tilt = quat_axis_angle(v3(0, 1, 0), 0.1);
  ds_vec3 c = quat_rotate(tilt, v3(-0.1, 0, 0.4));
  ds_body_def body = body_at(c.x, c.y, c.z);
  body.pose.q = tilt;
  body.angular_velocity = v3(0, 0.3, 0);
  body.velocity = v3_cross(body.angular_velocity, c);
  scene_add_floor(scene);
  ds_body_id id = scene_add(scene, &body, shape_box(0.2, 0.3, 0.8));
  return end_of("tipping block", scene, id, h, 0.4);
}

/* A ball rolls on a table that turns: a circle, with 2/7 of the table's rate. */
static ds_vec3 ball_on_turntable(double h) {
  ds_scene *scene = scene_new(v3(0, 0, -gravity), 1, 0);
  ds_body_def table = body_at(0, 0, -0.05), body = body_at(0.4, 0, 0.1);
  table.kind = DS_BODY_KINEMATIC;
  table.motion.kind = DS_MOTION_VELOCITY;
  table.motion.angular_velocity = v3(0, 0, 3);
  body.velocity = v3(0.2, 0, 0); /* the point that touches goes with the table: v - w x R up = 3 up x r */
  body.angular_velocity = v3_scale(1 / 0.1, v3_cross(up, v3_sub(body.velocity, v3(0, 1.2, 0))));
  scene_add(scene, &table, shape_round(DS_SHAPE_CYLINDER, 5, 0.05));
  ds_body_id id = scene_add(scene, &body, shape_sphere(0.1));
  return end_of("ball on a turntable", scene, id, h, 1);
}

/* A block slides down 30 degrees with friction. */
static ds_vec3 sliding_block(double h) {
  double slope = DS_PI / 6;
  ds_scene *scene = scene_new(v3(gravity * sin(slope), 0, -gravity * cos(slope)), 0.2, 0);
  ds_body_def body = body_at(0, 0, 0.05);
  body.velocity = v3(0, 1, 0);
  scene_add_floor(scene);
  ds_body_id id = scene_add(scene, &body, shape_box(0.1, 0.1, 0.1));
  return end_of("sliding block", scene, id, h, 1);
}

/* Errors at 10, 5, 2.5 and 1.25 ms against 0.3125 ms: from one step to half of it they fall to a quarter. */
static void order_in_h(void) {
  static const struct {
    const char *name;
    motion_case *end;
  } cases[6] = {
      {"pendulum", pendulum},           {"double pendulum", two_pendulums},       {"tennis racket", free_body},
      {"tipping block", tipping_block}, {"ball on turntable", ball_on_turntable}, {"sliding block", sliding_block}};
  for (int k = 0; k < 6; k++) {
    ds_vec3 exact = cases[k].end(0.0003125);
    double error[4], h = 0.01;
    for (int i = 0; i < 4; i++, h *= 0.5) error[i] = v3_dist(cases[k].end(h), exact);
    printf("     %-18s %.2e %.2e %.2e %.2e m, order %.2f\n", cases[k].name, error[0], error[1], error[2], error[3],
           log2(error[0] / error[2]) / 2);
    CHECK_LE(error[2], error[0] / 12 + 2e-6); /* 16 of second order, 4 of first; rolling is known to 1e-6 */
    CHECK_LE(error[0], 2e-3);
  }
}

/* ---- both rules ---- */

static uint64_t hash_after(const char *name, ds_scene *scene, ds_integrator integrator, int32_t steps, bool laws) {
  sim s;
  uint64_t hash = 0;
  if (sim_finish(&s, name, scene)) {
    s.options.integrator = integrator;
    if (laws) s.options.restitution_law = ds_restitution_named("poisson");
    for (int32_t i = 0; i < steps; i++) sim_step(&s);
    hash = ds_state_hash(s.state);
  }
  sim_close(&s);
  return hash;
}

/* A column of n cubes that comes down on a floor, 1 mm below it. */
static ds_scene *column(int32_t n, double speed) {
  ds_scene *scene = scene_new(v3(0, 0, -gravity), 0.5, 0.3);
  scene_add_floor(scene);
  for (int32_t i = 0; i < n; i++) {
    ds_body_def body = body_at(0.01 * i, 0, 0.101 + 0.2 * i);
    body.velocity = v3(0, 0, -speed);
    scene_add(scene, &body, shape_box(0.2, 0.2, 0.2));
  }
  return scene;
}

/* Automatic: few bodies always move by the midpoint rule, many do unless something lands among them in this step. */
static void automatic(void) {
  struct {
    int32_t cubes;
    double speed;
    bool laws;
    ds_integrator as;
  } cases[] = {{4, 2, false, DS_INTEGRATOR_MIDPOINT},
               {5, 2, false, DS_INTEGRATOR_EULER},
               {5, 2, true, DS_INTEGRATOR_MIDPOINT}, /* other laws of impacts need their time */
               {5, -2, false, DS_INTEGRATOR_MIDPOINT}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    uint64_t hash[3];
    for (int rule = 0; rule < 3; rule++)
      hash[rule] = hash_after("column", column(cases[i].cubes, cases[i].speed), (ds_integrator)rule, 1, cases[i].laws);
    CHECK(hash[DS_INTEGRATOR_AUTO] == hash[cases[i].as]);
    CHECK(hash[DS_INTEGRATOR_EULER] != hash[DS_INTEGRATOR_MIDPOINT]);
  }
}

int main(void) {
  RUN(free_flight);
  RUN(stopping_distance);
  RUN(rolling);
  RUN(law_of_bouncing);
  RUN(driven_slider);
  RUN(linkage_in_flight);
  RUN(swarm);
  RUN(order_in_h);
  RUN(automatic);
  return test_summary();
}
