/* The motion certificate: energy and momentum of a step against what forces, impulses, drives and scripted bodies
 * account for. Each figure is compared with one that is worked out here. */
#include "joint_helper.h"

static const double g = 9.81;

/* A rod 50:1 that spins flat gains energy by the velocities at the end of long steps; steps are divided until it does
 * not. */
static void steps_that_gain_are_divided(void) {
  for (int midpoint = 0; midpoint < 2; midpoint++) {
    ds_scene *scene = scene_new(v3(0, 0, -g), 0, 0);
    ds_body_def body = body_at(0, 0, 0.01);
    body.angular_velocity = v3(0, 0, 10);
    scene_add_floor(scene);
    scene_add(scene, &body, shape_box(1, 0.02, 0.02));
    sim s;
    if (sim_finish(&s, "rod", scene)) {
      double before = sim_energy(&s), most = 0;
      int32_t parts = 0;
      s.options.integrator = midpoint ? DS_INTEGRATOR_MIDPOINT : DS_INTEGRATOR_EULER;
      for (int i = 0; i < 200 && sim_step(&s); i++) {
        most = fmax(most, s.report.motion.gain_share);
        parts = s.report.parts > parts ? s.report.parts : parts;
        CHECK(s.report.motion.passed && s.report.motion.limited == 0);
      }
      printf("     %s: largest share gained %.2g, up to %d parts, energy after 2 s %.3f\n",
             midpoint ? "midpoint" : "euler", most, (int)parts, sim_energy(&s) / before);
      CHECK_LE(most, midpoint ? 1e-10 : 0.01);
      CHECK(midpoint ? parts == 1 : parts >= 2 && parts <= 16);
    }
    sim_close(&s);
  }
}

/* A platform lifts a block at a constant acceleration: the energy rises, and the platform accounts for all of it. */
static void scripted_work_is_accounted_for(void) {
  for (int midpoint = 0; midpoint < 2; midpoint++) {
    ds_scene *scene = scene_new(v3(0, 0, -g), 0.5, 0);
    ds_body_def lift = body_at(0, 0, -0.1), block = body_at(0, 0, 0.1);
    lift.kind = DS_BODY_KINEMATIC;
    lift.motion.kind = DS_MOTION_HARMONIC;
    lift.motion.amplitude = v3(0.03, 0, 0.05);
    lift.motion.frequency = 1;
    scene_add(scene, &lift, shape_box(2, 2, 0.2));
    ds_body_id id = scene_add(scene, &block, shape_box(0.2, 0.2, 0.2));
    sim s;
    if (sim_finish(&s, "lift", scene)) {
      double rise = 0, gain = 0, momentum = 0, mass = ds_body_mass(scene, id).mass;
      s.options.integrator = midpoint ? DS_INTEGRATOR_MIDPOINT : DS_INTEGRATOR_EULER;
      for (int i = 0; i < 100 && sim_step(&s); i++) {
        rise += fmax(0, s.report.energy_after - s.report.energy_before);
        gain = fmax(gain, s.report.motion.gain);
        momentum = fmax(momentum, s.report.motion.momentum_share);
        CHECK(s.report.motion.unjudged == 0);
      }
      printf("     %s: lifted by %.3g J, unexplained %.2g J, momentum %.2g\n", midpoint ? "midpoint" : "euler", rise,
             gain, momentum);
      CHECK(rise > 0.05 * mass * g);
      CHECK_LE(gain, 1e-5 * rise);
      CHECK_LE(momentum, 1e-9);
    }
    sim_close(&s);
  }
}

/* A force and a torque of known work, in free flight. */
static void applied_work_is_accounted_for(void) {
  ds_scene *scene = scene_new(v3(0, 0, 0), 0, 0);
  ds_body_def body = body_at(0, 0, 0);
  body.force = v3(3, 0, 0);
  body.torque = v3(0, 0, 0.01);
  ds_body_id id = scene_add(scene, &body, shape_sphere(0.1));
  sim s;
  if (sim_finish(&s, "push", scene)) {
    double gain = 0, momentum = 0;
    for (int i = 0; i < 50 && sim_step(&s); i++) {
      gain = fmax(gain, s.report.motion.gain_share);
      momentum = fmax(momentum, s.report.motion.momentum_share);
    }
    CHECK(ds_state_velocity(s.state, id).x > 0.01);
    CHECK_LE(gain, 1e-12);
    CHECK_LE(momentum, 1e-12);
    ds_state_apply_force(s.state, id, v3(0, 5, 0), ds_state_center(s.state, id)); /* for one step */
    sim_step(&s);
    CHECK_LE(s.report.motion.gain_share, 1e-12);
    CHECK_LE(s.report.motion.momentum_share, 1e-12);
  }
  sim_close(&s);
}

/* A block on a turntable does not slide; by the velocities at the end of a step it slips by h² w² r / 2 in each. */
static void slip_of_sticking_contacts(void) {
  for (int midpoint = 0; midpoint < 2; midpoint++) {
    ds_scene *scene = scene_new(v3(0, 0, -g), 0.8, 0);
    ds_body_def table = body_at(0, 0, -0.1), block = body_at(0.5, 0, 0.05);
    table.kind = DS_BODY_KINEMATIC;
    table.motion.kind = DS_MOTION_VELOCITY;
    table.motion.angular_velocity = v3(0, 0, 2);
    table.motion.end_time = INFINITY;
    block.velocity = v3(0, 1, 0);
    block.angular_velocity = v3(0, 0, 2);
    scene_add(scene, &table, shape_box(3, 3, 0.2));
    scene_add(scene, &block, shape_box(0.1, 0.1, 0.1));
    sim s;
    if (sim_finish(&s, "turntable", scene)) {
      double slip = 0, want = 0.5 * 0.01 * 0.01 * 2 * 2 * 0.5;
      s.options.integrator = midpoint ? DS_INTEGRATOR_MIDPOINT : DS_INTEGRATOR_EULER;
      for (int i = 0; i < 100 && sim_step(&s); i++)
        if (i > 1) slip = fmax(slip, s.report.motion.slip);
      printf("     %s: %.3g m\n", midpoint ? "midpoint" : "euler", slip);
      if (midpoint)
        CHECK_LE(slip, 1e-12);
      else
        CHECK_NEAR(slip, want, 0.2 * want); /* corners are farther out than the centre */
    }
    sim_close(&s);
  }
}

/* What no number can hold ends the step with an error, and the state is as it was. */
static void infinite_states_are_refused(void) {
  ds_scene *scene = scene_new(v3(0, 0, -g), 0.5, 0);
  ds_body_def body = body_at(0, 0, 1);
  ds_body_id id = scene_add(scene, &body, shape_box(0.2, 0.1, 0.3));
  sim s;
  if (sim_finish(&s, "infinite", scene)) {
    CHECK(sim_step(&s));
    ds_state_set_velocity(s.state, id, v3(0, 0, 0), v3(1e200, 1e200, 0));
    uint64_t before = ds_state_hash(s.state);
    CHECK(ds_step(s.stepper, s.state, &s.report, s.scene, &s.options) == DS_ERROR_NOT_FINITE);
    CHECK(ds_state_hash(s.state) == before);
    CHECK(!s.report.worst.converged);
    ds_state_set_velocity(s.state, id, v3(0, 0, 0), v3(1, 0, 0));
    CHECK(sim_step(&s));
  }
  sim_close(&s);
}

/* Where the ends of a double pendulum are after half a second, in steps of h with a bound on their error. */
static ds_vec3 swing(double h, double bound, double *error, int32_t *parts) {
  ds_scene *scene = scene_new(v3(0, 0, -g), 0, 0);
  ds_body_id anchor = scene_add_anchor(scene, 0, 0, 0);
  ds_body_id upper = scene_add_rod(scene, 0, 0, 0.5, 0, 0.02), lower = scene_add_rod(scene, 0.5, 0, 1, 0, 0.02);
  scene_join(scene, DS_JOINT_HINGE, anchor, upper, v3(0, 0, 0), v3(0, 1, 0));
  scene_join(scene, DS_JOINT_HINGE, upper, lower, v3(0.5, 0, 0), v3(0, 1, 0));
  sim s;
  ds_vec3 end = v3(0, 0, 0);
  *error = 0, *parts = 0;
  if (sim_finish(&s, "double pendulum", scene)) {
    s.options.integrator = DS_INTEGRATOR_MIDPOINT;
    s.options.step = h;
    s.options.error_control = bound;
    for (int i = 0; i < (int)(0.5 / h + 0.5) && sim_step(&s); i++) {
      *error = fmax(*error, s.report.motion.time_error);
      *parts = s.report.parts > *parts ? s.report.parts : *parts;
    }
    end = ds_state_center(s.state, lower);
  }
  sim_close(&s);
  return end;
}

static void error_control_bounds_the_error(void) {
  double error, plain_error;
  int32_t parts;
  ds_vec3 exact = swing(5e-4, 0, &plain_error, &parts), plain = swing(0.02, 0, &plain_error, &parts);
  CHECK(parts == 1 && plain_error == 0);
  static const double bounds[2] = {0.02, 0.002};
  for (int i = 0; i < 2; i++) {
    ds_vec3 end = swing(0.02, bounds[i], &error, &parts);
    printf("     bound %g m/s: estimate %.2g m/s, off by %.2g m, without by %.2g m; up to %d parts\n", bounds[i], error,
           v3_dist(end, exact), v3_dist(plain, exact), (int)parts);
    CHECK(error > 0 && parts > 1 && parts <= 64);
    CHECK_LE(error, bounds[i]);
    CHECK_LE(v3_dist(end, exact), 0.5 * bounds[i]);
  }
  CHECK(v3_dist(plain, exact) > 0.5 * bounds[1]);
}

/* What cannot be judged is counted. */
static void the_rest_is_unjudged(void) {
  for (int friction = 0; friction < 2; friction++) {
    ds_scene *scene = scene_new(v3(0, 0, -g), friction ? 0.5 : 0, 0.8);
    ds_body_def ball = body_at(0, 0, 0.12);
    ball.velocity = v3(1, 0, -2);
    scene_add_floor(scene);
    scene_add(scene, &ball, shape_sphere(0.1));
    sim s;
    if (sim_finish(&s, "bounce", scene)) {
      int32_t unjudged = 0;
      for (int i = 0; i < 10 && sim_step(&s); i++) unjudged += s.report.motion.unjudged;
      CHECK(friction ? unjudged == 1 : unjudged == 0);
    }
    sim_close(&s);
  }
}

/* What damping takes is not known as an impulse: the momentum of a damped body says nothing, and none is reported. */
static void damped_momentum_is_left_out(void) {
  ds_scene *scene = scene_new(v3(0, 0, -g), 0, 0);
  ds_body_def ball = body_at(0, 0, 0);
  ball.velocity = v3(20, 0, 0);
  ball.linear_damping = 5;
  ds_body_id id = scene_add(scene, &ball, shape_sphere(0.1));
  sim s;
  if (sim_finish(&s, "damped", scene)) {
    sim_step(&s);
    CHECK_LE(ds_state_velocity(s.state, id).x, 19.1); /* 5 % of it is gone ... */
    CHECK_LE(s.report.motion.momentum_share, 1e-12);  /* ... and no fault of the step */
  }
  sim_close(&s);
}

int main(void) {
  RUN(steps_that_gain_are_divided);
  RUN(scripted_work_is_accounted_for);
  RUN(applied_work_is_accounted_for);
  RUN(slip_of_sticking_contacts);
  RUN(infinite_states_are_refused);
  RUN(error_control_bounds_the_error);
  RUN(the_rest_is_unjudged);
  RUN(damped_momentum_is_left_out);
  return test_summary();
}
