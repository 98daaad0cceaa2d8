/* Joints against theory: periods, energies, momenta, closed loops, redundancy. No contact here: test_joints_contact.c.
 */
#include "joint_helper.h"

static const double gravity = 9.81;
static const ds_vec3 across = {0, 1, 0}; /* the axis of hinges: everything swings in the plane y = 0 */

static double angle_of(const sim *s, ds_body_id body, ds_vec3 pivot) { /* from hanging straight down */
  ds_vec3 d = v3_sub(ds_state_center(s->state, body), pivot);
  return atan2(d.x, -d.z);
}

/* The time of one swing to and fro, from the passages through the middle within `seconds`. */
static double period_of(sim *s, ds_body_id body, ds_vec3 pivot, double seconds) {
  double first = -1, last = -1, before = angle_of(s, body, pivot);
  int32_t passages = 0, steps = (int32_t)(seconds / s->options.step + 0.5);
  for (int32_t i = 0; i < steps && sim_step(s); i++) {
    double now = angle_of(s, body, pivot), t = ds_state_time(s->state);
    if (before * now < 0) {
      last = t - s->options.step * now / (now - before);
      if (first < 0) first = last;
      passages++;
    }
    before = now;
  }
  return 2 * (last - first) / (passages - 1);
}

/* The period of a pendulum of moment of inertia and weight moment as given, amplitude a: T = 2 pi sqrt(I/(m g c)) (1 +
 * a²/16 + 11 a⁴/3072 + 173 a⁶/737280 + 22931 a⁸/1321205760). */
static double period_in_theory(double inertia, double moment, double a) {
  double a2 = a * a, a4 = a2 * a2;
  return 2 * DS_PI * sqrt(inertia / moment) *
         (1 + a2 / 16 + 11 * a4 / 3072 + 173 * a2 * a4 / 737280 + 22931 * a4 * a4 / 1321205760);
}

/* Periods with steps of h and h/2: the midpoint rule makes them longer by (h w)²/12 of their length, and by nothing
 * else. */
static void check_periods(const double period[2], double want, double h) {
  double hw = h * 2 * DS_PI / want;
  printf("     periods %.7f and %.7f s, without their error %.8f s, theory %.8f s\n", period[0], period[1],
         extrapolated(period[0], period[1]), want);
  CHECK_NEAR(period[0], want * (1 + hw * hw / 12), 1e-5 * want);
  check_second_order(period[0] - want, period[1] - want);
  CHECK_NEAR(extrapolated(period[0], period[1]), want, 1e-6 * want);
}

/* A rod of length 1 m on a hinge or a ball, let go at 0.5 rad: its period, its energy, and the pivot stays where it is.
 */
static void swing_rod(ds_joint_kind kind) {
  const double amplitude = 0.5, thick = 0.05, h = 0.01;
  double period[2] = {0, 0}, inertia = (1 + thick * thick) / 12 + 0.25; /* over the mass */
  for (int fine = 0; fine < 2; fine++) {
    ds_scene *scene = scene_new(v3(0, 0, -gravity), 0.5, 0);
    ds_body_id anchor = scene_add_anchor(scene, 0, 0, 2);
    ds_body_id rod = scene_add_rod(scene, 0, 2, sin(amplitude), 2 - cos(amplitude), thick);
    scene_join(scene, kind, anchor, rod, v3(0, 0, 2), across);
    sim s;
    if (sim_finish(&s, "pendulum", scene)) {
      s.options.step = fine ? 0.5 * h : h;
      double start = sim_energy(&s);
      period[fine] = period_of(&s, rod, v3(0, 0, 2), 10);
      ds_vec3 top = pose_point(ds_state_pose(s.scene, s.state, rod), v3(-0.5, 0, 0));
      printf("     length off by %.2g m; energy %.6g J, off by %.2g J; drift %.2g m\n", v3_dist(top, v3(0, 0, 2)),
             start, sim_energy(&s) - start, s.report.joint_drift);
      CHECK_LE(v3_dist(top, v3(0, 0, 2)), 1e-12);
      CHECK_NEAR(v3_dist(ds_state_center(s.state, rod), v3(0, 0, 2)), 0.5, 1e-12);
      CHECK_NEAR(ds_state_center(s.state, rod).y, 0, 1e-12);
      CHECK_NEAR(sim_energy(&s), start, 1e-8 * start);
      CHECK_LE(s.natural_error, 1e-8);
    }
    sim_close(&s);
  }
  check_periods(period, period_in_theory(inertia, gravity * 0.5, amplitude), h);
}
static void test_pendulum(void) {
  swing_rod(DS_JOINT_HINGE);
  swing_rod(DS_JOINT_BALL);
}

/* Two rods, let go level: chaotic, but its energy neither grows nor falls, and nothing comes apart. */
static void test_double_pendulum(void) {
  ds_scene *scene = scene_new(v3(0, 0, -gravity), 0.5, 0);
  ds_body_id anchor = scene_add_anchor(scene, 0, 1, 3); /* aside: nothing strikes it */
  ds_body_id upper = scene_add_rod(scene, 0, 3, 1, 3, 0.05), lower = scene_add_rod(scene, 1, 3, 2, 3, 0.05);
  scene_join(scene, DS_JOINT_HINGE, anchor, upper, v3(0, 0, 3), across);
  scene_join(scene, DS_JOINT_HINGE, upper, lower, v3(1, 0, 3), across);
  sim s;
  if (sim_finish(&s, "double pendulum", scene)) {
    s.options.step = 0.002;
    double start = sim_energy(&s), size = 2 * ds_body_mass(s.scene, upper).mass * gravity, drift = 0;
    const int32_t steps = 10000;
    double worst = 0;
    for (int32_t i = 0; i < steps && sim_step(&s); i++) {
      drift = fmax(drift, s.report.joint_drift);
      worst = fmax(worst, fabs(sim_energy(&s) - start));
    }
    printf("     drift %.2g m; energy off by %.3g of m g l at most\n", drift, worst / size);
    CHECK_LE(drift, 1e-12);
    CHECK_LE(worst, 1e-7 * size);
  }
  sim_close(&s);
}

/* A parallelogram of two cranks and a coupler: three bodies, four hinges, 24 rows of rank 17. The coupler moves on a
 * circle and does not turn; the whole swings like one pendulum. */
static double four_bar(double h, double *want) {
  const double amplitude = 0.4, length = 0.8, span = 1.2, thick = 0.04, dx = length * sin(amplitude),
               dz = length * cos(amplitude);
  ds_scene *scene = scene_new(v3(0, 0, -gravity), 0.5, 0);
  ds_body_id left = scene_add_anchor(scene, 0, 0, 2), right = scene_add_anchor(scene, span, 0, 2);
  ds_body_id one = scene_add_rod(scene, 0, 2, dx, 2 - dz, thick);
  ds_body_id other = scene_add_rod(scene, span, 2, span + dx, 2 - dz, thick);
  ds_body_id coupler = scene_add_rod(scene, dx, 2 - dz, span + dx, 2 - dz, thick);
  scene_join(scene, DS_JOINT_HINGE, left, one, v3(0, 0, 2), across);
  scene_join(scene, DS_JOINT_HINGE, one, coupler, v3(dx, 0, 2 - dz), across);
  scene_join(scene, DS_JOINT_HINGE, coupler, other, v3(span + dx, 0, 2 - dz), across);
  scene_join(scene, DS_JOINT_HINGE, other, right, v3(span, 0, 2), across);
  double period = NAN;
  sim s;
  if (sim_finish(&s, "four-bar", scene)) {
    s.options.step = h;
    double m = ds_body_mass(s.scene, one).mass, big = ds_body_mass(s.scene, coupler).mass;
    double inertia = 2 * m * ((length * length + thick * thick) / 12 + length * length / 4) + big * length * length;
    *want = period_in_theory(inertia, (2 * m * length / 2 + big * length) * gravity, amplitude);
    period = period_of(&s, one, v3(0, 0, 2), 10);
    ds_pose pose = ds_state_pose(s.scene, s.state, coupler);
    printf("     drift %.2g m, coupler turned by %.2g\n", s.report.joint_drift,
           v3_norm(v3(pose.q.x, pose.q.y, pose.q.z)));
    CHECK_LE(v3_norm(v3(pose.q.x, pose.q.y, pose.q.z)), 1e-10);
    CHECK_NEAR(pose.p.y, 0, 1e-12);
    CHECK_NEAR(angle_of(&s, other, v3(span, 0, 2)), angle_of(&s, one, v3(0, 0, 2)), 1e-10);
    CHECK_LE(s.report.joint_drift, 1e-11);
  }
  sim_close(&s);
  return period;
}
static void test_four_bar(void) {
  const double h = 0.01;
  double want, period[2] = {four_bar(h, &want), four_bar(0.5 * h, &want)};
  check_periods(period, want, h);
}

/* A door on hinges that are far more than it needs: 18 rows of rank 5. It turns about the upright axis and does not
 * sag. */
static double door(double h) {
  ds_scene *scene = scene_new(v3(0, 0, -gravity), 0.5, 0);
  ds_body_id post = scene_add_anchor(scene, 0, 0, 1);
  ds_body_def def = body_at(0.45, 0, 1);
  def.angular_velocity = v3(0, 0, 2);
  def.velocity = v3(0, 0.9, 0);
  ds_body_id door = scene_add(scene, &def, shape_box(0.9, 0.05, 2));
  for (int i = 0; i < 3; i++) scene_join(scene, DS_JOINT_HINGE, post, door, v3(0, 0, 0.2 + 0.8 * i), v3(0, 0, 1));
  double behind = NAN;
  sim s;
  if (sim_finish(&s, "door", scene)) {
    s.options.step = h;
    double energy = sim_energy(&s), drift = sim_drift(&s, 10);
    ds_vec3 spin = ds_state_angular_velocity(s.state, door), x = ds_state_center(s.state, door);
    behind = remainder(20 - atan2(x.y, x.x), 2 * DS_PI);
    printf("     sags by %.2g m, turns at %.12f rad/s, %.3g rad behind, drift %.2g m\n", fabs(x.z - 1), spin.z, behind,
           drift);
    CHECK_NEAR(x.z, 1, 1e-12);
    CHECK_NEAR(hypot(x.x, x.y), 0.45, 1e-12);
    CHECK_NEAR(behind, 0, 2 * h * h * 20 / 6); /* (h w)²/12 of 20 rad, for what of its energy is in its centre */
    CHECK_NEAR(spin.z, 2, 2 * h * h);
    CHECK_NEAR(sim_energy(&s), energy, 1e-10 * fabs(energy));
    CHECK_LE(drift, 1e-12);
  }
  sim_close(&s);
  return behind;
}
static void test_door(void) {
  double coarse = door(0.01), fine = door(0.005);
  check_second_order(coarse, fine);
}

/* In free flight, tumbling, joined by a ball and a hinge: linear momentum and energy stay as they are, angular momentum
 * to second order of the step. What it is off by after a second. */
static double tumble(double h, int32_t steps) {
  const ds_vec3 start = {0.3, 0.1, -0.2}, spin = {0.5, 0, 1}, spin_a = {1, 0.5, 2}, spin_c = {2.5, 0, 1};
  ds_scene *scene = scene_new(v3(0, 0, 0), 0.5, 0);
  ds_body_def one = body_at(0, 0, 0), other = body_at(1, 0, 0), third = body_at(1.5, 0.5, 0);
  other.velocity = v3_add(start, v3_cross(spin, other.pose.p)), other.angular_velocity = spin;
  ds_vec3 ball = v3(0.5, 0, 0), hinge = v3(1.5, 0, 0); /* velocities that fit the joints */
  one.velocity = v3_add(v3_add(start, v3_cross(spin, ball)), v3_cross(spin_a, v3_sub(one.pose.p, ball)));
  third.velocity = v3_add(v3_add(start, v3_cross(spin, hinge)), v3_cross(spin_c, v3_sub(third.pose.p, hinge)));
  one.angular_velocity = spin_a, third.angular_velocity = spin_c;
  ds_body_id a = scene_add(scene, &one, shape_box(1, 0.2, 0.1)), b = scene_add(scene, &other, shape_box(1, 0.3, 0.2));
  ds_body_id c = scene_add(scene, &third, shape_box(0.2, 1, 0.2));
  scene_join(scene, DS_JOINT_BALL, a, b, ball, across);
  scene_join(scene, DS_JOINT_HINGE, b, c, hinge, v3(1, 0, 0));
  double off = NAN;
  sim s;
  if (sim_finish(&s, "tumbling", scene)) {
    s.options.step = h;
    ds_momentum before = ds_state_momentum(s.scene, s.state);
    double first = sim_energy(&s), worst = 0;
    for (int32_t i = 0; i < steps && sim_step(&s); i++) worst = fmax(worst, fabs(sim_energy(&s) - first));
    ds_momentum after = ds_state_momentum(s.scene, s.state);
    off = v3_dist(after.angular, before.angular);
    printf("     momenta off by %.2g N s and %.2g of %.3g N m s; energy %.6g J, off by %.2g; drift %.2g m\n",
           v3_dist(after.linear, before.linear), off, v3_norm(before.angular), first, worst, s.report.joint_drift);
    CHECK_LE(v3_dist(after.linear, before.linear), 1e-10 * v3_norm(before.linear));
    CHECK_LE(off, 1e-4 * v3_norm(before.angular));
    CHECK_LE(worst, 1e-6 * first);
    CHECK_LE(s.report.joint_drift, 1e-12);
  }
  sim_close(&s);
  return off;
}
static void test_momentum(void) {
  double coarse = tumble(0.01, 100), fine = tumble(0.005, 200);
  check_second_order(coarse, fine);
  tumble(0.01, test_quick() ? 300 : 3000);
}

/* Two boxes welded are the body of both boxes. */
static void test_weld(void) {
  const ds_vec3 at[2] = {{0, 0, 0}, {0.5, 0.3, 0}}, spin = {1, 3, 2};
  ds_scene *joined = scene_new(v3(0, 0, -gravity), 0.5, 0), *one = scene_new(v3(0, 0, -gravity), 0.5, 0);
  ds_body_def compound = body_at(0, 0, 0);
  compound.angular_velocity = spin;
  ds_body_id parts[2], whole = scene_add(one, &compound, shape_box(0.4, 0.2, 0.2));
  ds_shape_def second = shape_box(0.2, 0.6, 0.3);
  second.pose.p = at[1];
  CHECK(ds_scene_add_shape(one, whole, &second, NULL) == DS_OK);
  for (int i = 0; i < 2; i++) {
    ds_body_def def = body_at(at[i].x, at[i].y, at[i].z);
    def.angular_velocity = spin;
    def.velocity = v3_cross(spin, at[i]);
    parts[i] = scene_add(joined, &def, i == 0 ? shape_box(0.4, 0.2, 0.2) : shape_box(0.2, 0.6, 0.3));
  }
  scene_join(joined, DS_JOINT_WELD, parts[0], parts[1], v3(0.2, 0.1, 0), across);
  scene_join(joined, DS_JOINT_WELD, parts[0], parts[1], v3(0.3, 0.1, 0), across); /* once more does no harm */
  sim s, t;
  if (sim_finish(&s, "welded", joined) && sim_finish(&t, "compound", one)) {
    s.options.step = t.options.step = 0.001;
    double drift = sim_drift(&s, 1);
    sim_run(&t, 1);
    ds_pose p = ds_state_pose(s.scene, s.state, parts[0]), q = ds_state_pose(t.scene, t.state, whole);
    double turned = v3_norm(v3_sub(quat_rotate(p.q, v3(1, 1, 1)), quat_rotate(q.q, v3(1, 1, 1))));
    printf("     after 1 s: %.2g m and %.2g apart, drift %.2g m\n", v3_dist(p.p, q.p), turned, drift);
    CHECK_LE(v3_dist(p.p, q.p), 1e-5); /* both are of second order, with errors of their own */
    CHECK_LE(turned, 1e-4);
    CHECK_LE(drift, 1e-12);
  }
  sim_close(&s);
  sim_close(&t);
}

/* How fast the two points of a joint come apart, m/s. */
static double opening_rate(const sim *s, ds_joint_id joint) {
  ds_joint_def def = ds_joint_get_def(s->scene, joint);
  ds_vec3 at = ds_state_joint(s->scene, s->state, joint).on_a, v[2];
  ds_body_id body[2] = {def.a, def.b};
  for (int i = 0; i < 2; i++) {
    ds_vec3 arm = v3_sub(at, ds_state_center(s->state, body[i]));
    v[i] = v3_add(ds_state_velocity(s->state, body[i]), v3_cross(ds_state_angular_velocity(s->state, body[i]), arm));
  }
  return v3_dist(v[0], v[1]);
}

/* A joint to a scripted body follows its script exactly, and takes its velocity over at once: what is across the joint
 * is of second order of the step. The largest of it. */
static double on_a_crank(double h, double seconds) {
  ds_scene *scene = scene_new(v3(0, 0, -gravity), 0.5, 0);
  ds_body_def crank = body_at(0, 0, 1), bob = body_at(0.3, 0, 0.5);
  crank.kind = DS_BODY_KINEMATIC;
  crank.motion.kind = DS_MOTION_VELOCITY;
  crank.motion.angular_velocity = v3(0, 20, 0); /* a fifth of a radian a step of 10 ms */
  ds_body_id a = scene_add(scene, &crank, shape_box(0.6, 0.05, 0.05)), b = scene_add(scene, &bob, shape_sphere(0.1));
  ds_joint_id ball = scene_join(scene, DS_JOINT_BALL, b, a, v3(0.3, 0, 1), across);
  double opens = 0;
  sim s;
  if (sim_finish(&s, "scripted", scene)) {
    double drift = 0;
    s.options.step = h;
    for (double time = 0; time < seconds - 0.5 * h && sim_step(&s); time = ds_state_time(s.state)) {
      drift = fmax(drift, s.report.joint_drift);
      opens = fmax(opens, opening_rate(&s, ball));
    }
    printf("     drift %.2g m, opens by %.2g m/s of 6\n", drift, opens);
    CHECK_LE(drift, 1e-12);
  }
  sim_close(&s);
  return opens;
}
static void test_scripted(void) {
  double coarse = on_a_crank(0.01, 0.1), fine = on_a_crank(0.005, 0.1);
  check_second_order(coarse, fine);
  CHECK_LE(coarse, 0.1);
  on_a_crank(0.01, 5);
}

/* Velocities at the start that do not fit the joints: an impact at once, plastic, and then energy stays; no velocity
 * across a joint is left over. */
static void test_start(void) {
  const double mass = 8, inertia = mass * 0.04 / 6; /* two cubes, a ball joint in the middle between them */
  ds_scene *scene = scene_new(v3(0, 0, 0), 0.5, 0);
  ds_body_def one = body_at(0, 0, 0), other = body_at(1, 0, 0);
  one.velocity = v3(0, 1, 0);
  ds_body_id a = scene_add(scene, &one, shape_box(0.2, 0.2, 0.2)),
             b = scene_add(scene, &other, shape_box(0.2, 0.2, 0.2));
  ds_joint_id ball = scene_join(scene, DS_JOINT_BALL, a, b, v3(0.5, 0, 0), across);
  sim s;
  if (sim_finish(&s, "start", scene)) {
    /* with the impulse p at 0.5 m: 1 - p/m - p/(4 I) = p/m + p/(4 I) */
    double p = 0.5 / (1 / mass + 0.25 / inertia), slower = 1 - p / mass, faster = p / mass;
    double want = 0.5 * mass * (slower * slower + faster * faster) + 0.25 * p * p / inertia, worst = 0, opens = 0;
    for (int32_t i = 0; i < 200 && sim_step(&s); i++) {
      worst = fmax(worst, fabs(sim_energy(&s) - want));
      opens = fmax(opens, opening_rate(&s, ball));
    }
    printf("     energy %.9f J of %.9f, opens by %.2g m/s\n", sim_energy(&s), want, opens);
    CHECK_LE(worst, 1e-8 * want);
    CHECK_LE(opens, 1e-4);
  }
  sim_close(&s);
}

/* A rod that turns about its end by up to two radians in every step: its joint is closed to rounding all the same. */
static void turns_far_in_a_step(void) {
  for (double turn = 0.2; turn < 2.1; turn += 0.2) {
    ds_scene *scene = scene_new(v3(0, 0, 0), 0.5, 0);
    ds_body_id post = scene_add_anchor(scene, 0, 0, 0);
    ds_body_def def = body_at(0.5, 0, 0);
    def.velocity = v3(0, 50 * turn, 0), def.angular_velocity = v3(0, 0, 100 * turn);
    ds_body_id rod = scene_add(scene, &def, shape_box(1, 0.1, 0.1));
    scene_join(scene, DS_JOINT_HINGE, post, rod, v3(0, 0, 0), v3(0, 0, 1));
    sim s;
    if (sim_finish(&s, "rod", scene)) {
      double drift = 0;
      for (int i = 0; i < 50 && sim_step(&s); i++) drift = fmax(drift, s.report.joint_drift);
      CHECK_LE(drift, 2e-14);
    }
    sim_close(&s);
  }
}

int main(void) {
  RUN(turns_far_in_a_step);
  RUN(test_pendulum);
  RUN(test_double_pendulum);
  RUN(test_four_bar);
  RUN(test_door);
  RUN(test_momentum);
  RUN(test_weld);
  RUN(test_scripted);
  RUN(test_start);
  return test_summary();
}
