/* Torque-free rotation: energy and angular momentum are kept, a box turned about its middle axis tips over
 * (Dzhanibekov), and rates are right: about a principal axis exactly, of a symmetric top's precession to second order
 * in the step. */
#include "scene_helper.h"

static const double angular_rate = 5; /* rad/s, of the generator "spin" */

/* 10,000 steps. Rounding adds up like a random walk: 1e-16 sqrt(10,000) = 1e-14; 1e-10 leaves room for bias. */
static void test_conservation(void) {
  sim s;
  if (sim_generate(&s, "spin:omega=5,tilt=10")) {
    ds_energy e0 = ds_state_energy(s.scene, s.state);
    ds_momentum m0 = ds_state_momentum(s.scene, s.state);
    double size = v3_norm(m0.angular), worst_energy = 0, worst_momentum = 0;
    int32_t steps = test_quick() ? 2000 : 10000;
    for (int32_t i = 0; i < steps; i++) {
      sim_step(&s);
      ds_energy e = ds_state_energy(s.scene, s.state);
      ds_momentum m = ds_state_momentum(s.scene, s.state);
      worst_energy = fmax(worst_energy, fabs(e.kinetic / e0.kinetic - 1));
      worst_momentum = fmax(worst_momentum, v3_dist(m.angular, m0.angular) / size);
    }
    CHECK_LE(worst_energy, 1e-10);
    CHECK_LE(worst_momentum, 1e-10);
    CHECK_LE(v3_norm(ds_state_center(s.state, sim_body(&s, "box"))), 0);
    printf("     after %d steps: energy off by %.2g, angular momentum by %.2g\n", (int)steps, worst_energy,
           worst_momentum);
  }
  sim_close(&s);
}

/* Cosine between the box's middle axis and where it pointed at the start. */
static double middle_axis(const sim *s) {
  return quat_rotate(ds_state_pose(s->scene, s->state, sim_body(s, "box")).q, v3(0, 1, 0)).y;
}

/* One degree off the middle axis the box turns over again and again; off the others it never does. */
static void test_tips_over(void) {
  sim s;
  double least = 1, back = -1;
  if (sim_generate(&s, "spin:omega=5,tilt=1")) {
    for (int32_t i = 0; i < 2000; i++) {
      sim_step(&s);
      double c = middle_axis(&s);
      least = fmin(least, c);
      if (least < -0.99) back = fmax(back, c);
    }
    CHECK_LE(least, -0.99);
    CHECK_LE(-back, -0.99);
  }
  sim_close(&s);
}

/* Time of the first turn over, from Euler's equations integrated with a step a hundredth as long (classical
 * Runge-Kutta of fourth order). */
static double flip_time(ds_vec3 inertia, ds_vec3 w, double h) {
  double time = 0;
  while (w.y > 0 && time < 100) {
    ds_vec3 k[4], at = w;
    for (int32_t i = 0; i < 4; i++) {
      k[i] = v3((inertia.y - inertia.z) / inertia.x * at.y * at.z, (inertia.z - inertia.x) / inertia.y * at.z * at.x,
                (inertia.x - inertia.y) / inertia.z * at.x * at.y);
      at = v3_mad(w, i < 2 ? 0.5 * h : h, k[i]);
    }
    for (int32_t i = 0; i < 4; i++) w = v3_mad(w, (i == 0 || i == 3 ? h : 2 * h) / 6, k[i]);
    time += h;
  }
  return time;
}

static void test_flip_time(void) {
  sim s;
  if (sim_generate(&s, "spin:omega=5,tilt=1")) {
    ds_mass mass = ds_body_mass(s.scene, sim_body(&s, "box"));
    ds_vec3 w = ds_state_angular_velocity(s.state, sim_body(&s, "box"));
    double want = flip_time(v3(mass.inertia[0], mass.inertia[4], mass.inertia[8]), w, 1e-4), got = 0;
    ds_vec3 local = w;
    while (local.y > 0 && got < 100) {
      sim_step(&s);
      local = quat_unrotate(ds_state_pose(s.scene, s.state, sim_body(&s, "box")).q,
                            ds_state_angular_velocity(s.state, sim_body(&s, "box")));
      got = ds_state_time(s.state);
    }
    CHECK_LE(want, 99);
    CHECK_NEAR(got, want, 2 * s.options.step);
  }
  sim_close(&s);
}

/* About each principal axis: the angle after 1 s is omega, for any step. */
static void test_principal_axes(void) {
  for (int32_t axis = 0; axis < 3; axis++) {
    ds_scene *scene = scene_new(v3(0, 0, 0), 0.5, 0);
    ds_body_def body = body_at(0, 0, 0);
    ds_vec3 e = v3(axis == 0, axis == 1, axis == 2);
    body.angular_velocity = v3_scale(angular_rate, e);
    ds_body_id id = scene_add(scene, &body, shape_box(0.3, 0.2, 0.1));
    sim s;
    if (sim_finish(&s, "principal axis", scene)) {
      sim_run(&s, 1);
      ds_quat q = ds_state_pose(s.scene, s.state, id).q, want = quat_axis_angle(e, angular_rate);
      double sign = q.w * want.w + v3_dot(v3(q.x, q.y, q.z), v3(want.x, want.y, want.z)) < 0 ? -1 : 1;
      CHECK_NEAR(sign * q.w, want.w, 1e-13);
      CHECK_LE(v3_dist(v3_scale(sign, v3(q.x, q.y, q.z)), v3(want.x, want.y, want.z)), 1e-13);
    }
    sim_close(&s);
  }
}

/* A flat cylinder whose axis is tilted to its angular momentum L: the axis goes round L at the rate |L| / I_1. Returns
 * the relative error of that rate. */
static double precession_error(double h) {
  ds_scene *scene = scene_new(v3(0, 0, 0), 0.5, 0);
  ds_body_def body = body_at(0, 0, 0);
  body.angular_velocity = v3(1, 0, 4);
  ds_body_id id = scene_add(scene, &body, shape_round(DS_SHAPE_CYLINDER, 0.2, 0.05));
  sim s;
  double error = INFINITY;
  if (sim_finish(&s, "symmetric top", scene)) {
    s.options.step = h;
    ds_mass mass = ds_body_mass(s.scene, id);
    ds_vec3 momentum = ds_state_momentum(s.scene, s.state).angular, up = v3_unit(momentum);
    double rate = v3_norm(momentum) / mass.inertia[0], turned = 0, last = 0;
    ds_vec3 first = v3_unit(v3_mad(v3(0, 0, 1), -up.z, up)), side = v3_cross(up, first);
    int32_t steps = (int32_t)(2 / h + 0.5);
    double tilt = up.z, tilt_error = 0;
    for (int32_t i = 0; i < steps; i++) {
      sim_step(&s);
      ds_vec3 axis = quat_rotate(ds_state_pose(s.scene, s.state, id).q, v3(0, 0, 1));
      double angle = atan2(v3_dot(axis, side), v3_dot(axis, first));
      turned += remainder(angle - last, 2 * DS_PI);
      last = angle;
      tilt_error = fmax(tilt_error, fabs(v3_dot(axis, up) - tilt));
    }
    CHECK_LE(tilt_error, 1e-12); /* the axis keeps its angle to L whatever the step */
    error = turned / (rate * steps * h) - 1;
  }
  sim_close(&s);
  return error;
}

/* The rule is of second order: (rate h)²/12 = 2e-4 at h = 10 ms and 5 rad/s is the natural size, and a tenth of the
 * step leaves a hundredth of the error. */
static void test_symmetric_top(void) {
  double coarse = precession_error(0.01), fine = precession_error(0.001);
  CHECK_LE(fabs(coarse), 1e-3);
  CHECK_LE(fabs(fine), 0.011 * fabs(coarse) + 1e-12);
  printf("     precession: relative error %.3g at 10 ms, %.3g at 1 ms\n", coarse, fine);
}

int main(void) {
  RUN(test_conservation);
  RUN(test_tips_over);
  RUN(test_flip_time);
  RUN(test_principal_axes);
  RUN(test_symmetric_top);
  return test_summary();
}
