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

/* A rod of length 1 m on a hinge or a ball, let go at 0.5 rad: T = 2 pi sqrt(I/(m g c)) (1 + a²/16 + 11 a⁴/3072 + 173
 * a⁶/737280), and the pivot stays where it is. */
static void swing_rod(ds_joint_kind kind) {
  const double amplitude = 0.5, thick = 0.05;
  ds_scene *scene = scene_new(v3(0, 0, -gravity), 0.5, 0);
  ds_body_id anchor = scene_add_anchor(scene, 0, 0, 2);
  ds_body_id rod = scene_add_rod(scene, 0, 2, sin(amplitude), 2 - cos(amplitude), thick);
  scene_join(scene, kind, anchor, rod, v3(0, 0, 2), across);
  sim s;
  if (sim_finish(&s, "pendulum", scene)) {
    double inertia = (1 + thick * thick) / 12 + 0.25, a2 = amplitude * amplitude; /* over the mass */
    double want =
        2 * DS_PI * sqrt(inertia / (gravity * 0.5)) * (1 + a2 / 16 + 11 * a2 * a2 / 3072 + 173 * a2 * a2 * a2 / 737280);
    double period = period_of(&s, rod, v3(0, 0, 2), 10), energy = sim_energy(&s);
    ds_vec3 top = pose_point(ds_state_pose(s.scene, s.state, rod), v3(-0.5, 0, 0));
    printf("     period %.6f s, theory %.6f s; length off by %.2g m; energy %.6g J, drift %.2g m\n", period, want,
           v3_dist(top, v3(0, 0, 2)), energy, s.report.joint_drift);
    double turned = s.options.step * 2 * DS_PI / want; /* in a step, of a circle a period */
    CHECK_NEAR(period, want * (1 + turned * turned / 12), 1e-5 * want);
    CHECK_LE(v3_dist(top, v3(0, 0, 2)), 1e-12);
    CHECK_NEAR(v3_dist(ds_state_center(s.state, rod), v3(0, 0, 2)), 0.5, 1e-9);
    CHECK_NEAR(ds_state_center(s.state, rod).y, 0, 1e-12);
    CHECK_LE(s.natural_error, 1e-8);
  }
  sim_close(&s);
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
    double start = sim_energy(&s), size = 2 * ds_body_mass(s.scene, upper).mass * gravity, drift = 0, mean[2] = {0, 0};
    const int32_t steps = 10000;
    double worst = 0;
    for (int32_t i = 0; i < steps && sim_step(&s); i++) {
      drift = fmax(drift, s.report.joint_drift);
      worst = fmax(worst, fabs(sim_energy(&s) - start));
      if (i < 1000) mean[0] += sim_energy(&s) / 1000;
      if (i >= steps - 1000) mean[1] += sim_energy(&s) / 1000;
    }
    printf("     drift %.2g m; energy off by %.3g of m g l at most, mean %.2g -> %.2g\n", drift, worst / size,
           (mean[0] - start) / size, (mean[1] - start) / size);
    CHECK_LE(drift, 1e-8);
    CHECK_LE(worst, 0.03 * size);
    CHECK_NEAR(mean[1], mean[0], 3e-3 * size);
  }
  sim_close(&s);
}

/* A parallelogram of two cranks and a coupler: three bodies, four hinges, 24 rows of rank 17. The coupler moves on a
 * circle and does not turn; the whole swings like one pendulum. */
static void test_four_bar(void) {
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
  sim s;
  if (sim_finish(&s, "four-bar", scene)) {
    double m = ds_body_mass(s.scene, one).mass, big = ds_body_mass(s.scene, coupler).mass;
    double inertia = 2 * m * ((length * length + thick * thick) / 12 + length * length / 4) + big * length * length;
    double a2 = amplitude * amplitude, weight = (2 * m * length / 2 + big * length) * gravity;
    double want = 2 * DS_PI * sqrt(inertia / weight) * (1 + a2 / 16 + 11 * a2 * a2 / 3072);
    double period = period_of(&s, one, v3(0, 0, 2), 10);
    ds_pose pose = ds_state_pose(s.scene, s.state, coupler);
    printf("     period %.6f s, theory %.6f s; drift %.2g m, coupler turned by %.2g\n", period, want,
           s.report.joint_drift, v3_norm(v3(pose.q.x, pose.q.y, pose.q.z)));
    double turned = s.options.step * 2 * DS_PI / want;
    CHECK_NEAR(period, want * (1 + turned * turned / 12), 1e-5 * want);
    CHECK_LE(v3_norm(v3(pose.q.x, pose.q.y, pose.q.z)), 1e-10);
    CHECK_NEAR(pose.p.y, 0, 1e-12);
    CHECK_NEAR(angle_of(&s, other, v3(span, 0, 2)), angle_of(&s, one, v3(0, 0, 2)), 1e-10);
    CHECK_LE(s.report.joint_drift, 1e-11);
  }
  sim_close(&s);
}

/* A door on hinges that are far more than it needs: 18 rows of rank 5. It turns about the upright axis and does not
 * sag. */
static void test_door(void) {
  ds_scene *scene = scene_new(v3(0, 0, -gravity), 0.5, 0);
  ds_body_id post = scene_add_anchor(scene, 0, 0, 1);
  ds_body_def def = body_at(0.45, 0, 1);
  def.angular_velocity = v3(0, 0, 2);
  def.velocity = v3(0, 0.9, 0);
  ds_body_id door = scene_add(scene, &def, shape_box(0.9, 0.05, 2));
  for (int i = 0; i < 3; i++) scene_join(scene, DS_JOINT_HINGE, post, door, v3(0, 0, 0.2 + 0.8 * i), v3(0, 0, 1));
  sim s;
  if (sim_finish(&s, "door", scene)) {
    double energy = sim_energy(&s), drift = sim_drift(&s, 10);
    ds_vec3 spin = ds_state_angular_velocity(s.state, door), x = ds_state_center(s.state, door);
    printf("     sags by %.2g m, turns at %.12f rad/s, drift %.2g m\n", fabs(x.z - 1), spin.z, drift);
    CHECK_NEAR(x.z, 1, 1e-12);
    CHECK_NEAR(hypot(x.x, x.y), 0.45, 1e-12);
    CHECK_NEAR(atan2(x.y, x.x), remainder(20, 2 * DS_PI), 2e-3); /* chords: (h w)² / 24 of 20 rad */
    CHECK_NEAR(spin.z, 2, 1e-3);
    CHECK_NEAR(sim_energy(&s), energy, 1e-3 * fabs(energy));
    CHECK_LE(drift, 1e-12);
  }
  sim_close(&s);
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
    CHECK_LE(v3_dist(p.p, q.p), 1e-3); /* both integrators are of their own, of second order */
    CHECK_LE(turned, 1e-3);
    CHECK_LE(drift, 1e-12);
  }
  sim_close(&s);
  sim_close(&t);
}

/* A joint to a scripted body follows its script exactly. */
static void test_scripted(void) {
  ds_scene *scene = scene_new(v3(0, 0, -gravity), 0.5, 0);
  ds_body_def crank = body_at(0, 0, 1), bob = body_at(0.3, 0, 0.5);
  crank.kind = DS_BODY_KINEMATIC;
  crank.motion.kind = DS_MOTION_VELOCITY;
  crank.motion.angular_velocity = v3(0, 20, 0); /* a fifth of a radian a step */
  ds_body_id a = scene_add(scene, &crank, shape_box(0.6, 0.05, 0.05)), b = scene_add(scene, &bob, shape_sphere(0.1));
  scene_join(scene, DS_JOINT_BALL, b, a, v3(0.3, 0, 1), across);
  sim s;
  if (sim_finish(&s, "scripted", scene)) {
    double drift = sim_drift(&s, 5);
    printf("     drift %.2g m\n", drift);
    CHECK_LE(drift, 1e-12);
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
  RUN(test_weld);
  RUN(test_scripted);
  return test_summary();
}
