/* Motions whose course is known, by the midpoint rule at the default step of 10 ms: a slender rod that spins, a block
 * on a turntable, a block that rocks, cut shots, a bounce, a ball that slides until it rolls, a double pendulum. Each
 * in the usual frame and in one that is turned as a whole, gravity included: mechanics knows no axes. */
#include "joint_helper.h"

static const double gravity = 9.81;

/* ---- scenes that are turned as a whole ---- */

typedef struct frame {
  const char *name;
  ds_quat q;
} frame;

enum { FRAMES = 2 };
static const frame FRAME[FRAMES] = {{"level", {1, 0, 0, 0}}, {"skew", {0.5, 0.7, -0.1, 0.5}}}; /* |q| = 1 */

static ds_vec3 into(const frame *f, double x, double y, double z) { return quat_rotate(f->q, v3(x, y, z)); }

static ds_scene *frame_scene(const frame *f, double g, double mu, double e) {
  return scene_new(into(f, 0, 0, -g), mu, e);
}

static ds_body_id frame_add(ds_scene *scene, const frame *f, ds_body_def body, ds_shape_def shape) {
  body.pose = (ds_pose){quat_rotate(f->q, body.pose.p), quat_mul(f->q, body.pose.q)};
  body.velocity = quat_rotate(f->q, body.velocity);
  body.angular_velocity = quat_rotate(f->q, body.angular_velocity);
  body.motion.angular_velocity = quat_rotate(f->q, body.motion.angular_velocity);
  return scene_add(scene, &body, shape);
}

static void frame_floor(ds_scene *scene, const frame *f) {
  ds_body_def floor = ds_default_body();
  floor.kind = DS_BODY_STATIC;
  frame_add(scene, f, floor, shape_half_space());
}

static ds_vec3 place(const sim *s, const frame *f, ds_body_id id) {
  return quat_unrotate(f->q, ds_state_center(s->state, id));
}
static ds_vec3 velocity(const sim *s, const frame *f, ds_body_id id) {
  return quat_unrotate(f->q, ds_state_velocity(s->state, id));
}
static ds_vec3 spin(const sim *s, const frame *f, ds_body_id id) {
  return quat_unrotate(f->q, ds_state_angular_velocity(s->state, id));
}

/* By the midpoint rule. */
static bool by_midpoint(sim *s, const char *name, ds_scene *scene) {
  bool started = sim_finish(s, name, scene);
  s->options.integrator = DS_INTEGRATOR_MIDPOINT;
  return started;
}

/* ---- what is held while it turns ---- */

/* A rod of 1 m and 50:1 lies on a floor without friction and spins: nothing does work on it, nothing slows it down. */
static void spinning_rod(const frame *f) {
  ds_scene *scene = frame_scene(f, gravity, 0, 0);
  ds_body_def body = body_at(0, 0, 0.01);
  body.angular_velocity = v3(0, 0, 10);
  frame_floor(scene, f);
  ds_body_id rod = frame_add(scene, f, body, shape_box(1, 0.02, 0.02));
  sim s;
  if (by_midpoint(&s, "spinning rod", scene)) {
    double before = ds_state_energy(s.scene, s.state).kinetic, worst = 0, off = 0;
    for (int32_t i = 0; i < (test_quick() ? 100 : 1000) && sim_step(&s); i++) {
      worst = fmax(worst, fabs(ds_state_energy(s.scene, s.state).kinetic / before - 1));
      ds_vec3 x = quat_unrotate(f->q, quat_rotate(ds_state_pose(s.scene, s.state, rod).q, v3(1, 0, 0)));
      off = fmax(off, fabs(x.z));
    }
    ds_vec3 w = spin(&s, f, rod);
    printf("     %s: energy off by %.2g, out of the level by %.2g rad\n", f->name, worst, off);
    CHECK_LE(worst, 1e-6);
    CHECK_LE(off, 1e-6);
    CHECK_LE(v3_dist(w, v3(0, 0, 10)), 1e-6 * 10);
    CHECK_LE(v3_dist(place(&s, f, rod), v3(0, 0, 0.01)), 1e-6);
  }
  sim_close(&s);
}
static void test_spinning_rod(void) {
  for (int i = 0; i < FRAMES; i++) spinning_rod(&FRAME[i]);
}

/* A cube at 0.5 m from the axis, mu = 0.5: friction needed is w² r/g = 0.05 and 0.20, so that it stays where it is on
 * the table, and turns with it. */
static void turntable(const frame *f, double w) {
  const double r = 0.5;
  ds_scene *scene = frame_scene(f, gravity, 0.5, 0);
  frame_add(scene, f, turntable_def(w), turntable_shape());
  ds_body_id cube = frame_add(scene, f, rider_def(r, w), rider_shape());
  sim s;
  if (by_midpoint(&s, "turntable", scene)) {
    double worst = 0, turned = 0;
    ds_vec3 up = into(f, 0, 0, 1);
    for (int32_t i = 0; i < (test_quick() ? 200 : 2000) && sim_step(&s); i++) {
      ds_quat back = quat_axis_angle(v3(0, 0, 1), -w * ds_state_time(s.state));
      worst = fmax(worst, v3_dist(quat_rotate(back, place(&s, f, cube)), v3(r, 0, 0.05)));
      ds_quat q = quat_mul(quat_axis_angle(up, -w * ds_state_time(s.state)), ds_state_pose(s.scene, s.state, cube).q);
      turned = fmax(turned, v3_dist(quat_rotate(q, v3(1, 0, 0)), into(f, 1, 0, 0)));
    }
    printf("     %s, %g rad/s: crept by %.2g m, turned by %.2g rad on the table\n", f->name, w, worst, turned);
    CHECK_LE(worst, 1e-6);
    CHECK_LE(0.1 * turned, 1e-6);
  }
  sim_close(&s);
}
static void test_turntable(void) {
  for (int i = 0; i < FRAMES; i++) {
    turntable(&FRAME[i], 1);
    turntable(&FRAME[i], 2);
  }
}

/* ---- impacts ---- */

/* Housner (1963): a block of half-diagonal R and slenderness alpha rocks about its edges. About an edge, energy:
 * (2/3) m R² w² = m g R (cos(alpha - theta) - cos alpha), with I = (4/3) m R²; at an impact the angular momentum about
 * the new edge leaves r = 1 - (3/2) sin²(alpha) of the speed. So cos(alpha - theta) - cos(alpha) has r² of what it had
 * from one amplitude to the next. */
static void rocking_block(const frame *f) {
  enum { AMPLITUDES = 5 };
  const double width = 0.2, height = 0.8, alpha = atan(width / height), start = 0.5 * alpha;
  const double kept = 1 - 1.5 * sin(alpha) * sin(alpha);
  ds_scene *scene = frame_scene(f, gravity, 1, 0);
  ds_quat tilt = quat_axis_angle(v3(0, 1, 0), start); /* about the edge at x = 0 */
  ds_vec3 c = quat_rotate(tilt, v3(-0.5 * width, 0, 0.5 * height));
  ds_body_def body = body_at(c.x, c.y, c.z);
  body.pose.q = tilt;
  frame_floor(scene, f);
  ds_body_id block = frame_add(scene, f, body, shape_box(width, 0.3, height));
  sim s;
  if (by_midpoint(&s, "rocking block", scene)) {
    double most = 0, last = start, want = cos(alpha - start) - cos(alpha);
    int32_t seen = 0;
    for (int32_t i = 0; i < 1000 && seen <= AMPLITUDES && sim_step(&s); i++) {
      ds_vec3 axis = quat_unrotate(f->q, quat_rotate(ds_state_pose(s.scene, s.state, block).q, v3(0, 0, 1)));
      double theta = atan2(axis.x, axis.z);
      if (theta * last < 0) { /* upright: an impact */
        if (seen > 0) {
          want *= kept * kept;
          double amplitude = alpha - acos(cos(alpha) + want);
          printf("     %s: amplitude %d is %.5f of the first, theory %.5f\n", f->name, (int)seen, most / start,
                 amplitude / start);
          CHECK_NEAR(most / amplitude, 1, 5e-3);
        }
        seen++;
        most = 0;
      }
      most = fmax(most, fabs(theta));
      last = theta;
      CHECK_LE(fabs(axis.y), 1e-6); /* in its plane */
    }
    CHECK(seen == AMPLITUDES + 1);
  }
  sim_close(&s);
}
static void test_rocking_block(void) {
  for (int i = 0; i < FRAMES; i++) rocking_block(&FRAME[i]);
}

/* Two equal balls, e = 1, no friction: the one that lay goes along the line of centres with v cos(angle), the other
 * across it with v sin(angle). Returns by how much the first is off the line, in degrees. */
static double cut_shot(const frame *f, double speed, double degrees, double way) {
  const double radius = 0.028575, angle = degrees * DS_PI / 180;
  ds_scene *scene = frame_scene(f, gravity, 0, 1);
  ds_vec3 line = v3(cos(angle), sin(angle), 0), across = v3(sin(angle), -cos(angle), 0);
  ds_body_def cue = body_at(-2 * radius * line.x - way, -2 * radius * line.y, radius), lies = body_at(0, 0, radius);
  cue.velocity = v3(speed, 0, 0);
  frame_floor(scene, f);
  ds_body_id a = frame_add(scene, f, cue, shape_sphere(radius)), b = frame_add(scene, f, lies, shape_sphere(radius));
  sim s;
  double off = INFINITY;
  if (by_midpoint(&s, "cut shot", scene)) {
    sim_run(&s, way / speed + 0.1);
    ds_vec3 v = velocity(&s, f, b), u = velocity(&s, f, a);
    off = fabs(remainder(atan2(v.y, v.x) - angle, 2 * DS_PI)) * 180 / DS_PI;
    double tolerance = 2e-3 * speed; /* 0.1 degrees, as a share of the speed */
    CHECK_LE(v3_dist(v, v3_scale(speed * cos(angle), line)), tolerance);
    CHECK_LE(v3_dist(u, v3_scale(speed * sin(angle), across)), tolerance);
    CHECK_NEAR(v3_norm2(v) + v3_norm2(u), speed * speed, 1e-6 * speed * speed);
    CHECK_LE(v3_norm(v3_sub(v3_add(v, u), v3(speed, 0, 0))), 1e-9 * speed);
  }
  sim_close(&s);
  return off;
}
static void test_cut_shots(void) {
  static const double speeds[2] = {3, 8}, ways[3] = {0.2903, 0.3137, 0.3371}; /* other parts of a step */
  for (int i = 0; i < FRAMES; i++)
    for (int k = 0; k < 2; k++) {
      double worst = 0;
      for (int n = 0; n < 27; n++) worst = fmax(worst, cut_shot(&FRAME[i], speeds[k], 10 * (n / 3), ways[n % 3]));
      printf("     %s, %g m/s: off the line of centres by %.2g degrees at most\n", FRAME[i].name, speeds[k], worst);
      CHECK_LE(worst, 0.1);
    }
}

/* From 1 m, e = 0.5: up to 0.25 m, at sqrt(2 H/g) (1 + e). In the air the energy says how high a ball will get. */
static void bounce(const frame *f) {
  ds_scene *scene = frame_scene(f, gravity, 0.3, 0.5);
  frame_floor(scene, f);
  ds_body_id ball = frame_add(scene, f, body_at(0, 0, 1.1), shape_sphere(0.1));
  sim s;
  if (by_midpoint(&s, "bounce", scene)) {
    const double fall = sqrt(2 / gravity);
    double highest = 0;
    while (ds_state_time(s.state) < 1.9 * fall && sim_step(&s)) /* lands again at 2 fall */
      if (ds_state_time(s.state) > fall) highest = fmax(highest, place(&s, f, ball).z - 0.1);
    ds_vec3 v = velocity(&s, f, ball), x = place(&s, f, ball);
    double t = ds_state_time(s.state) - fall, apex = x.z - 0.1 + v.z * v.z / (2 * gravity);
    printf("     %s: highest seen %.6f m, apex by its energy %.8f m\n", f->name, highest, apex);
    CHECK_NEAR(highest, 0.25, 0.5 * gravity * 0.005 * 0.005 + 1e-6); /* seen 5 ms off at most */
    CHECK_NEAR(apex, 0.25, 1e-5 * 0.25);
    CHECK_NEAR(x.z, 0.1 + 0.5 * gravity * t * (fall - t), 1e-5); /* v = e g fall at the floor */
    CHECK_LE(fabs(x.x) + fabs(x.y), 1e-9);
  }
  sim_close(&s);
}
static void test_bounce(void) {
  for (int i = 0; i < FRAMES; i++) bounce(&FRAME[i]);
}

/* ---- sliding ---- */

/* A ball launched without spin slides for T = 2 v/(7 mu g), over v T - mu g T²/2, and rolls on at 5/7 v. */
static void sliding_ball(const frame *f) {
  const double v0 = 2, mu = 0.2, time = 2, rolls = 2 * v0 / (7 * mu * gravity);
  ds_scene *scene = frame_scene(f, gravity, mu, 0);
  ds_body_def body = body_at(0, 0, 0.1);
  body.velocity = v3(v0, 0, 0);
  frame_floor(scene, f);
  ds_body_id ball = frame_add(scene, f, body, shape_sphere(0.1));
  sim s;
  if (by_midpoint(&s, "sliding ball", scene)) {
    sim_run(&s, time);
    ds_vec3 v = velocity(&s, f, ball), x = place(&s, f, ball), w = spin(&s, f, ball);
    double want = v0 * rolls - 0.5 * mu * gravity * rolls * rolls + 5.0 / 7 * v0 * (time - rolls);
    printf("     %s: speed off by %.2g, place by %.2g m\n", f->name, v.x / (5.0 / 7 * v0) - 1, x.x - want);
    CHECK_NEAR(v.x / (5.0 / 7 * v0), 1, 3e-4);
    CHECK_NEAR(0.1 * w.y, v.x, 1e-8);
    CHECK_NEAR(x.x, want, 1e-3 * v0);
    CHECK_LE(fabs(x.y), 1e-7);
  }
  sim_close(&s);
}
static void test_sliding_ball(void) {
  for (int i = 0; i < FRAMES; i++) sliding_ball(&FRAME[i]);
}

/* ---- joints ---- */

static ds_body_id frame_rod(ds_scene *scene, const frame *f, double x, double length) {
  return frame_add(scene, f, body_at(x + 0.5 * length, 0, 0), shape_box(length, 0.02, 0.02));
}

/* Two rods of 1 m and 50:1, let go from the level: what they have in energy stays, to the tolerance of a thousand
 * solves. */
static void double_pendulum(const frame *f) {
  ds_scene *scene = frame_scene(f, gravity, 0.5, 0);
  ds_body_def anchor = body_at(0, 0.5, 0); /* beside them: the lower swings through the upper one's axis */
  anchor.kind = DS_BODY_STATIC;
  ds_body_id base = frame_add(scene, f, anchor, shape_box(0.02, 0.02, 0.02));
  ds_body_id upper = frame_rod(scene, f, 0, 1), lower = frame_rod(scene, f, 1, 1);
  scene_join(scene, DS_JOINT_HINGE, base, upper, into(f, 0, 0, 0), into(f, 0, 1, 0));
  scene_join(scene, DS_JOINT_HINGE, upper, lower, into(f, 1, 0, 0), into(f, 0, 1, 0));
  sim s;
  if (by_midpoint(&s, "double pendulum", scene)) {
    double unit = ds_body_mass(s.scene, upper).mass * gravity, before = sim_energy(&s), worst = 0, drift = 0;
    for (int32_t i = 0; i < (test_quick() ? 100 : 1000) && sim_step(&s); i++) {
      worst = fmax(worst, fabs(sim_energy(&s) - before) / unit);
      drift = fmax(drift, s.report.joint_drift);
    }
    printf("     %s: energy off by %.2g m g L, joints by %.2g m\n", f->name, worst, drift);
    CHECK_LE(worst, 1e-6);
    CHECK_LE(drift, 1e-9);
    CHECK_LE(fabs(place(&s, f, lower).y), 1e-6);
  }
  sim_close(&s);
}
static void test_double_pendulum(void) {
  for (int i = 0; i < FRAMES; i++) double_pendulum(&FRAME[i]);
}

int main(void) {
  RUN(test_spinning_rod);
  RUN(test_turntable);
  RUN(test_rocking_block);
  RUN(test_cut_shots);
  RUN(test_bounce);
  RUN(test_sliding_ball);
  RUN(test_double_pendulum);
  return test_summary();
}
