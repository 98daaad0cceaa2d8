/* A cube on a slope: it stays if and only if tan theta <= mu, whatever way it is turned; where it slides, it does so
 * straight down at g (sin theta - mu cos theta). A cube that slides on the level stops after v²/(2 mu g). */
#include "scene_helper.h"

static const double gravity = 9.81;
static const double yaws[4] = {0, 15, 30, 45};
static const double slopes[3] = {0.1, 0.5, 0.9};

/* 0.1 % of friction to spare: it creeps less than a nanometre in 10 s. */
static void test_holds(void) {
  char spec[96];
  double worst = 0;
  for (int32_t i = 0; i < 3; i++) {
    for (int32_t k = 0; k < 4; k++) {
      sim s;
      snprintf(spec, sizeof spec, "incline:slope=%.17g,mu=%.17g,yaw=%g", slopes[i], 1.001 * slopes[i], yaws[k]);
      if (sim_generate(&s, spec)) {
        sim_run(&s, test_time(10, 1));
        double creep = sim_displacement(&s, s.start);
        if (!(creep <= 1e-9)) printf("%s\n", spec);
        CHECK_LE(creep, 1e-9);
        worst = fmax(worst, creep);
      }
      sim_close(&s);
    }
  }
  printf("     largest creep of a cube that should stay: %.3g m\n", worst);
}

/* 2 % of friction missing: a fiftieth of g sin theta, right to a millionth. */
static void test_slides(void) {
  char spec[96];
  double worst = 0, time = test_time(2, 0.5);
  for (int32_t i = 0; i < 3; i++) {
    double theta = atan(slopes[i]), mu = 0.98 * slopes[i];
    double want = gravity * (sin(theta) - mu * cos(theta));
    ds_vec3 down = v3(cos(theta), 0, -sin(theta)), up = v3(sin(theta), 0, cos(theta));
    for (int32_t k = 0; k < 4; k++) {
      sim s;
      snprintf(spec, sizeof spec, "incline:slope=%.17g,mu=%.17g,yaw=%g", slopes[i], mu, yaws[k]);
      if (sim_generate(&s, spec)) {
        sim_run(&s, time);
        ds_body_id cube = sim_body(&s, "cube");
        ds_vec3 v = ds_state_velocity(s.state, cube), w = ds_state_angular_velocity(s.state, cube);
        double got = v3_dot(v, down) / time;
        if (!(fabs(got / want - 1) <= 1e-6)) printf("%s\n", spec);
        CHECK_NEAR(got / want, 1, 1e-6);
        worst = fmax(worst, fabs(got / want - 1));
        /* straight down: nothing across, off the surface or about any axis but a millionth of the speed */
        CHECK_LE(fabs(v.y), 1e-6 * want * time);
        CHECK_LE(fabs(v3_dot(v, up)), 1e-6 * want * time);
        CHECK_LE(0.1 * v3_norm(w), 1e-6 * want * time);
      }
      sim_close(&s);
    }
  }
  printf("     largest relative error of the acceleration: %.3g\n", worst);
}

/* Far from the limit on both sides, and up the slope: the same law. */
static void test_far_from_the_limit(void) {
  sim s;
  if (sim_generate(&s, "incline:slope=0.5,mu=0.1,yaw=20")) {
    double theta = atan(0.5), want = gravity * (sin(theta) - 0.1 * cos(theta));
    sim_run(&s, 1);
    ds_vec3 v = ds_state_velocity(s.state, sim_body(&s, "cube"));
    CHECK_NEAR(v3_dot(v, v3(cos(theta), 0, -sin(theta))) / want, 1, 1e-6);
  }
  sim_close(&s);
  /* thrown up at 1 m/s with mu > tan theta: stops after v²/(2 g (sin + mu cos)) and stays */
  if (sim_generate(&s, "incline:slope=0.3,mu=0.4,velocity=-1")) {
    double theta = atan(0.3), stop = 1 / (2 * gravity * (sin(theta) + 0.4 * cos(theta)));
    sim_run(&s, 3);
    ds_vec3 moved =
        v3_sub(ds_state_center(s.state, sim_body(&s, "cube")), ds_state_center(s.start, sim_body(&s, "cube")));
    CHECK_NEAR(-v3_dot(moved, v3(cos(theta), 0, -sin(theta))), stop, 1e-3 * stop);
    CHECK_LE(v3_norm(ds_state_velocity(s.state, sim_body(&s, "cube"))), 1e-9);
  }
  sim_close(&s);
}

/* v²/(2 mu g); the time of the stop is known to a step. */
static void test_stopping_distance(void) {
  static const double speed[3] = {0.5, 2, 5}, mu[3] = {0.1, 0.3, 0.6};
  char spec[96];
  for (int32_t i = 0; i < 3; i++) {
    for (int32_t k = 0; k < 3; k++) {
      sim s;
      snprintf(spec, sizeof spec, "slide:velocity=%.17g,mu=%.17g", speed[i], mu[k]);
      if (sim_generate(&s, spec)) {
        double h = s.options.step, stop = speed[i] * speed[i] / (2 * mu[k] * gravity);
        sim_run(&s, speed[i] / (mu[k] * gravity) + 0.1);
        ds_vec3 p = ds_state_center(s.state, sim_body(&s, "cube"));
        CHECK_NEAR(p.x, stop, 0.25 * mu[k] * gravity * h * h + 1e-9);
        CHECK_LE(fabs(p.y), 1e-7);
        CHECK_NEAR(p.z, 0.1, 1e-8);
        CHECK_LE(v3_norm(ds_state_velocity(s.state, sim_body(&s, "cube"))), 1e-9);
      }
      sim_close(&s);
    }
  }
}

int main(void) {
  RUN(test_holds);
  RUN(test_slides);
  RUN(test_far_from_the_limit);
  RUN(test_stopping_distance);
  return test_summary();
}
