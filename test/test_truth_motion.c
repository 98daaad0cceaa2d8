/* Bodies that are moved: scripted floors carry what lies on them as far as friction reaches, forces, torques and
 * damping act as their equations say, and a body with a release time waits for it. */
#include "scene_helper.h"

static const double gravity = 9.81;

/* A kinematic slab under a cube of 0.2 m. */
static bool start_belt(sim *s, ds_body_id *slab, ds_body_id *cube, const ds_motion_def *motion, double mu) {
  ds_scene *scene = scene_new(v3(0, 0, -gravity), mu, 0);
  ds_body_def belt = body_at(0, 0, -0.05), body = body_at(0, 0, 0.1);
  belt.kind = DS_BODY_KINEMATIC;
  belt.motion = *motion;
  if (motion->kind == DS_MOTION_HARMONIC) body.pose.p = v3_mad(body.pose.p, sin(motion->phase), motion->amplitude);
  *slab = scene_add(scene, &belt, shape_box(20, 2, 0.1));
  *cube = scene_add(scene, &body, shape_box(0.2, 0.2, 0.2));
  return sim_finish(s, "belt", scene);
}

/* It is dragged along at mu g until it has the belt's speed, then goes with it. */
static void test_belt(void) {
  ds_motion_def motion = ds_default_body().motion;
  motion.kind = DS_MOTION_VELOCITY;
  motion.velocity = v3(1, 0, 0);
  sim s;
  ds_body_id belt, cube;
  if (start_belt(&s, &belt, &cube, &motion, 0.3)) {
    sim_run(&s, 0.2);
    CHECK_NEAR(ds_state_velocity(s.state, cube).x, 0.3 * gravity * 0.2, 1e-8);
    sim_run(&s, 0.3);
    ds_vec3 there = v3_sub(ds_state_center(s.state, cube), ds_state_center(s.state, belt));
    sim_run(&s, 2);
    CHECK_NEAR(ds_state_velocity(s.state, cube).x, 1, 1e-9);
    CHECK_LE(v3_dist(v3_sub(ds_state_center(s.state, cube), ds_state_center(s.state, belt)), there), 1e-9);
    CHECK_NEAR(ds_state_center(s.state, belt).x, 2.5, 1e-12); /* the script is followed exactly */
    CHECK_NEAR(ds_state_center(s.state, cube).z, 0.1, 1e-9);
    /* behind by v²/(2 mu g), to v h/2 */
    CHECK_NEAR(2.5 - ds_state_center(s.state, cube).x, 1 / (2 * 0.3 * gravity), 0.01);
  }
  sim_close(&s);
}

/* A platform that goes to and fro as A cos(w t): the cube keeps its place while A w² < mu g, and slips beyond. */
static void harmonic(double factor, bool stays) {
  const double mu = 0.4, frequency = 1, w = 2 * DS_PI * frequency;
  ds_motion_def motion = ds_default_body().motion;
  motion.kind = DS_MOTION_HARMONIC;
  motion.amplitude = v3(factor * mu * gravity / (w * w), 0, 0);
  motion.frequency = frequency;
  motion.phase = 0.5 * DS_PI; /* starts at rest, displaced */
  sim s;
  ds_body_id slab, cube;
  if (start_belt(&s, &slab, &cube, &motion, mu)) {
    double start = ds_state_center(s.state, cube).x - ds_state_center(s.state, slab).x;
    double script = 0, slip = 0;
    for (int32_t i = 0; i < (test_quick() ? 100 : 500); i++) {
      sim_step(&s);
      double x = ds_state_center(s.state, slab).x, t = ds_state_time(s.state);
      script = fmax(script, fabs(x - motion.amplitude.x * cos(w * t)));
      slip = fmax(slip, fabs(ds_state_center(s.state, cube).x - x - start));
    }
    CHECK_LE(script, 1e-12);
    if (stays)
      CHECK_LE(slip, 1e-8);
    else
      CHECK_LE(1e-4, slip);
    printf("     platform at %g of mu g: slip %.3g m\n", factor, slip);
  }
  sim_close(&s);
}

static void test_platform(void) {
  harmonic(0.99, true);
  harmonic(1.05, false);
}

/* Up and down below g nothing lifts off; what presses is m (g + a). */
static void test_lift(void) {
  ds_motion_def motion = ds_default_body().motion;
  motion.kind = DS_MOTION_HARMONIC;
  motion.frequency = 1;
  motion.amplitude = v3(0, 0, 0.5 * gravity / (4 * DS_PI * DS_PI));
  motion.phase = 0.5 * DS_PI;
  sim s;
  ds_body_id slab, cube;
  if (start_belt(&s, &slab, &cube, &motion, 0.5)) {
    double gap = 0, force_error = 0, mass = ds_body_mass(s.scene, cube).mass;
    for (int32_t i = 0; i < 200; i++) {
      ds_vec3 before = ds_state_velocity(s.state, cube);
      sim_step(&s);
      ds_vec3 after = ds_state_velocity(s.state, cube);
      int32_t count;
      const ds_contact *contacts = ds_state_contacts(s.state, &count);
      double push = 0;
      for (int32_t k = 0; k < count; k++) push += fabs(contacts[k].impulse.z);
      double want = mass * (after.z - before.z + gravity * s.options.step);
      force_error = fmax(force_error, fabs(push - want) / (mass * gravity * s.options.step));
      gap = fmax(gap, fabs(ds_state_center(s.state, cube).z - ds_state_center(s.state, slab).z - 0.15));
    }
    CHECK_LE(gap, 1e-8);
    CHECK_LE(force_error, 1e-9);
  }
  sim_close(&s);
}

static void test_turntable(void) {
  /* a cube at the radius r on a turntable stays while w² r < mu g */
  for (int32_t fast = 0; fast < 2; fast++) {
    ds_scene *scene = scene_new(v3(0, 0, -gravity), 0.4, 0);
    double r = 0.5, w = sqrt((fast ? 1.1 : 0.9) * 0.4 * gravity / r);
    ds_body_id cube = scene_add_turntable(scene, r, w);
    sim s;
    if (sim_finish(&s, "turntable", scene)) {
      sim_run(&s, test_time(2, 0.5));
      ds_vec3 x = ds_state_center(s.state, cube);
      double out = hypot(x.x, x.y);
      /* a step along the tangent leads outwards by w² r h²/2: the circle is followed to first order, r (1 + w² h t/2)
       */
      double spiral = r * 0.5 * w * w * s.options.step * ds_state_time(s.state);
      printf("     turntable at %g of the limit: radius %.6f from %.6f (tangential steps add %.3g)\n", fast ? 1.1 : 0.9,
             out, r, spiral);
      if (fast)
        CHECK_LE(r + 2 * spiral, out);
      else
        CHECK_NEAR(out, r, 1.2 * spiral);
    }
    sim_close(&s);
  }
}

static void test_release(void) {
  ds_scene *scene = scene_new(v3(0, 0, -gravity), 0.5, 0);
  scene_add_floor(scene);
  ds_body_def held = body_at(0, 0, 5), under = body_at(0, 0, 0.1);
  held.release_time = 0.5;
  held.velocity = v3(1, 0, 0);
  ds_body_id a = scene_add(scene, &held, shape_box(0.2, 0.2, 0.2));
  scene_add(scene, &under, shape_box(0.2, 0.2, 0.2));
  sim s;
  if (sim_finish(&s, "release", scene)) {
    sim_run(&s, 0.5);
    CHECK_LE(v3_dist(ds_state_center(s.state, a), v3(0, 0, 5)), 0);
    sim_run(&s, 0.4);
    double t = 0.4;
    ds_vec3 v = ds_state_velocity(s.state, a), x = ds_state_center(s.state, a);
    CHECK_NEAR(v.x, 1, 1e-12); /* it leaves with the velocity it was given */
    CHECK_NEAR(v.z, -gravity * t, 1e-9);
    CHECK_NEAR(x.x, 0.4, 1e-12);
    CHECK_NEAR(x.z, 5 - 0.5 * gravity * t * t, 1e-9);
  }
  sim_close(&s);
}

/* Constant force and torque, and those of one step, without gravity. */
static void test_forces(void) {
  ds_scene *scene = scene_new(v3(0, 0, 0), 0.5, 0);
  ds_body_def body = body_at(0, 0, 0);
  body.mass = 2;
  body.force = v3(1, -2, 3);
  body.torque = v3(0, 0, 0.1);
  ds_body_id id = scene_add(scene, &body, shape_box(0.3, 0.2, 0.1));
  sim s;
  if (sim_finish(&s, "forces", scene)) {
    double h = s.options.step, iz = ds_body_mass(s.scene, id).inertia[8];
    CHECK_NEAR(iz, 2 * (0.09 + 0.04) / 12, 1e-15);
    sim_run(&s, 1);
    CHECK_LE(v3_dist(ds_state_velocity(s.state, id), v3(0.5, -1, 1.5)), 1e-12);
    CHECK_LE(v3_dist(ds_state_center(s.state, id), v3_scale(0.5, v3(0.5, -1, 1.5))), 1e-12);
    CHECK_LE(v3_dist(ds_state_angular_velocity(s.state, id), v3(0, 0, 0.1 / iz)), 1e-11);
    /* a push at a point acts for one step: m dv = f h, I dw = (p - x) x f h */
    ds_vec3 v0 = ds_state_velocity(s.state, id), x = ds_state_center(s.state, id);
    ds_vec3 w0 = ds_state_angular_velocity(s.state, id);
    ds_state_apply_force(s.state, id, v3(0, 10, 0), v3_add(x, v3(0.1, 0, 0)));
    ds_state_apply_torque(s.state, id, v3(0, 0, -1));
    sim_run(&s, h);
    CHECK_LE(v3_dist(ds_state_velocity(s.state, id), v3_add(v0, v3_scale(h / 2, v3(1, 8, 3)))), 1e-12);
    CHECK_NEAR(ds_state_angular_velocity(s.state, id).z - w0.z, h * (0.1 + 1 - 1) / iz, 1e-11);
    v0 = ds_state_velocity(s.state, id);
    sim_run(&s, h); /* and is gone */
    CHECK_LE(v3_dist(ds_state_velocity(s.state, id), v3_add(v0, v3_scale(h / 2, v3(1, -2, 3)))), 1e-12);
  }
  sim_close(&s);
}

/* dv/dt = -c v by the midpoint rule: v = v0 ((1 - h c/2)/(1 + h c/2))^n, which is exp(-c t) to second order. Falling,
 * it ends at g/c. */
static void test_damping(void) {
  ds_scene *scene = scene_new(v3(0, 0, -gravity), 0.5, 0);
  ds_body_def body = body_at(0, 0, 100);
  body.velocity = v3(3, 0, 0);
  body.angular_velocity = v3(0, 0, 7);
  body.linear_damping = 2;
  body.angular_damping = 0.5;
  ds_body_id id = scene_add(scene, &body, shape_sphere(0.1));
  sim s;
  if (sim_finish(&s, "damping", scene)) {
    double h = s.options.step;
    sim_run(&s, 1);
    CHECK_NEAR(ds_state_velocity(s.state, id).x, 3 * pow((1 - h) / (1 + h), 100), 1e-12);
    CHECK_NEAR(ds_state_velocity(s.state, id).x, 3 * exp(-2), 3 * exp(-2) * h * h);
    CHECK_NEAR(ds_state_angular_velocity(s.state, id).z, 7 * pow((1 - 0.25 * h) / (1 + 0.25 * h), 100), 1e-12);
    sim_run(&s, 9);
    CHECK_NEAR(ds_state_velocity(s.state, id).z, -gravity / 2, 1e-6);
  }
  sim_close(&s);
}

/* Keyframes whose quaternions are given with either sign: the same rotations, by the shorter way, at 2 rad/s. Before
 * the first and after the last nothing moves. */
static void test_keyframes(void) {
  ds_keyframe keys[4];
  for (int i = 0; i < 4; i++) {
    ds_quat q = quat_axis_angle(v3(0, 0, 1), 0.2 * i);
    keys[i] = (ds_keyframe){0.1 + 0.1 * i, {v3(0.03 * i, 0, 0), i % 2 ? quat(-q.w, -q.x, -q.y, -q.z) : q}};
  }
  ds_scene *scene = scene_new(v3(0, 0, 0), 0.5, 0);
  ds_body_def table = ds_default_body();
  table.kind = DS_BODY_KINEMATIC;
  table.motion.kind = DS_MOTION_KEYFRAMES;
  table.motion.keyframes = keys, table.motion.keyframe_count = 4;
  ds_body_id id = scene_add(scene, &table, shape_box(1, 1, 0.1));
  sim s;
  if (sim_finish(&s, "keyframes", scene))
    for (int i = 1; i <= 50 && sim_step(&s); i++) {
      double t = 0.01 * i, gone = fmin(fmax(t - 0.1, 0), 0.3), moves = i > 10 && i <= 40 ? 1 : 0;
      ds_vec3 w = ds_state_angular_velocity(s.state, id), v = ds_state_velocity(s.state, id);
      ds_pose pose = ds_state_pose(s.scene, s.state, id);
      CHECK_LE(v3_dist(w, v3(0, 0, 2 * moves)) + v3_dist(v, v3(0.3 * moves, 0, 0)), 1e-10);
      CHECK_NEAR(pose.p.x, 0.3 * gone, 1e-14);
      CHECK_LE(v3_dist(quat_rotate(pose.q, v3(1, 0, 0)), v3(cos(2 * gone), sin(2 * gone), 0)), 1e-12);
    }
  sim_close(&s);
}

/* A million steps of 1 ms are 1,000 s, to the last bits: time is summed up with what rounding left over. What is
 * scripted is where its script says. */
static void test_long_time(void) {
  const int32_t steps = test_quick() ? 100000 : 1000000;
  ds_scene *scene = scene_new(v3(0, 0, 0), 0.5, 0);
  ds_body_def cart = ds_default_body();
  cart.kind = DS_BODY_KINEMATIC;
  cart.motion.kind = DS_MOTION_VELOCITY;
  cart.motion.velocity = v3(0.5, 0, 0);
  ds_body_id id = scene_add(scene, &cart, shape_sphere(0.1));
  sim s;
  if (sim_finish(&s, "long time", scene)) {
    s.options.step = 1e-3;
    for (int32_t i = 0; i < steps && sim_step(&s); i++) continue;
    CHECK_NEAR(ds_state_time(s.state), 1e-3 * steps, 2e-16 * steps);
    CHECK(s.report.time == ds_state_time(s.state) && s.report.step == steps);
    CHECK_NEAR(ds_state_center(s.state, id).x, 0.5e-3 * steps, 2e-16 * steps);
  }
  sim_close(&s);
}

/* A script has a start and an end: a wall that moves at 2 m/s from 0.1 s to 0.35 s stays before and after, and pushes a
 * ball ahead only meanwhile. */
static void test_start_and_end(void) {
  ds_scene *scene = scene_new(v3(0, 0, 0), 0, 0);
  ds_body_def wall = body_at(0, 0, 0), ball = body_at(0.3, 0, 0);
  wall.kind = DS_BODY_KINEMATIC, wall.motion.kind = DS_MOTION_VELOCITY, wall.motion.velocity = v3(2, 0, 0);
  wall.motion.start_time = 0.1, wall.motion.end_time = 0.35;
  ds_body_id pusher = scene_add(scene, &wall, shape_box(0.2, 1, 1)),
             pushed = scene_add(scene, &ball, shape_sphere(0.1));
  sim s;
  if (sim_finish(&s, "start and end", scene)) {
    for (int i = 1; i <= 60 && sim_step(&s); i++) {
      double t = 0.01 * i, at = 2 * fmin(fmax(t - 0.1, 0), 0.25);
      CHECK_NEAR(ds_state_pose(s.scene, s.state, pusher).p.x, at, 1e-12);
      if (t < 0.14) CHECK_NEAR(ds_state_center(s.state, pushed).x, 0.3, 1e-12);
    }
    /* it was met at 0.05 s after the start, and goes on at 2 m/s when the wall has stopped */
    CHECK_NEAR(ds_state_center(s.state, pushed).x, 0.7 + 2 * 0.25, 1e-6); /* 1e-5 of its radius */
    CHECK_NEAR(ds_state_velocity(s.state, pushed).x, 2, 1e-9);
  }
  sim_close(&s);
}

int main(void) {
  RUN(test_belt);
  RUN(test_platform);
  RUN(test_lift);
  RUN(test_turntable);
  RUN(test_release);
  RUN(test_forces);
  RUN(test_damping);
  RUN(test_keyframes);
  RUN(test_start_and_end);
  RUN(test_long_time);
  return test_summary();
}
