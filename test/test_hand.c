/* Hands: what a spring and a damper do is known, so the force that a hand feels is checked against weight, friction and
 * the contact's own impulses; and no stiffness, mass or step makes it unstable. */
#include "drystone/touch.h"

#include "assemble/hold.h"
#include "drystone/reduce.h"
#include "la/eigen.h"
#include "scene_helper.h"

static const double g = 9.81;

static ds_hand_id grab(sim *s, const ds_hand_def *def) {
  ds_error error = {""};
  ds_hand_id hand = ds_state_grab(s->state, def, &error);
  if (hand.index1 == 0) printf("%s\n", error.message);
  CHECK(hand.index1 > 0);
  return hand;
}

static ds_hand_def hand_on(ds_body_id body, ds_vec3 target) {
  ds_hand_def def = ds_default_hand();
  def.body = body;
  def.target.p = target;
  return def;
}

static ds_pose at(double x, double y, double z) { return (ds_pose){{x, y, z}, {1, 0, 0, 0}}; }

/* One box of 0.2 m, 8 kg, on a floor or in the air. */
static bool box_sim(sim *s, bool floor, double height, double mu) {
  ds_scene *scene = scene_new(v3(0, 0, -g), mu, 0);
  ds_body_def def = body_at(0, 0, height);
  def.name = "box";
  if (floor) scene_add_floor(scene);
  scene_add(scene, &def, shape_box(0.2, 0.2, 0.2));
  return sim_finish(s, "box", scene);
}

/* In the air: sag and force are those of the weight; the motion is backward Euler's to rounding. */
static void test_spring(void) {
  sim s;
  const double m = 8, k = 500, c = 30, h = 0.01;
  if (box_sim(&s, false, 0, 0.5)) {
    ds_body_id box = sim_body(&s, "box");
    ds_hand_def def = hand_on(box, v3(0.1, 0, 0));
    def.stiffness = k, def.damping = c, def.max_force = INFINITY;
    ds_hand_id hand = grab(&s, &def);
    double x = 0, v = 0, z = 0, w = 0, worst = 0;
    for (int i = 0; i < 100; i++) {
      double s0 = m + h * c + h * h * k;
      v = (m * v + h * k * (0.1 - x)) / s0, x += h * v;
      w = (m * (w - h * g) - h * k * z) / s0, z += h * w;
      sim_step(&s);
      ds_vec3 p = ds_state_center(s.state, box), f = ds_state_hand(s.state, hand).force;
      worst = fmax(worst, fabs(p.x - x) + fabs(p.z - z));
      worst = fmax(worst, fabs(f.x - (k * (0.1 - x) - c * v)) / 100);
    }
    CHECK_LE(worst, 1e-13);
    sim_run(&s, 20);
    ds_hand now = ds_state_hand(s.state, hand);
    CHECK_NEAR(now.force.z, m * g, 1e-6);
    CHECK_NEAR(now.grip.z, -m * g / k, 1e-8);
    CHECK_NEAR(now.grip.x, 0.1, 1e-8);
    ds_state_release(s.state, hand);
    CHECK(ds_state_next_hand(s.state, (ds_hand_id){0}).index1 == 0);
    sim_run(&s, 0.1);
    CHECK_NEAR(ds_state_velocity(s.state, box).z, -0.1 * g, 1e-6);
  }
  sim_close(&s);
}

static ds_vec3 impulse_on(const sim *s, ds_body_id body) {
  int32_t count;
  const ds_contact *c = ds_state_contacts(s->state, &count);
  ds_vec3 sum = v3(0, 0, 0);
  for (int32_t i = 0; i < count; i++) {
    if (c[i].a.index1 == body.index1) sum = v3_add(sum, c[i].impulse);
    if (c[i].b.index1 == body.index1) sum = v3_sub(sum, c[i].impulse);
  }
  return sum;
}

/* On the floor: pressed down, the floor answers with spring and weight; dragged, the hand feels mu times that. */
static void test_contact(void) {
  sim s;
  const double m = 8, mu = 0.3, k = 2000;
  if (box_sim(&s, true, 0.1, mu)) {
    ds_body_id box = sim_body(&s, "box");
    ds_hand_def def = hand_on(box, v3(0, 0, 0.05));
    def.stiffness = k;
    ds_hand_id hand = grab(&s, &def);
    sim_run(&s, 1);
    ds_hand now = ds_state_hand(s.state, hand);
    CHECK_NEAR(now.force.z, -k * 0.05, 1e-6);
    CHECK_NEAR(impulse_on(&s, box).z / s.options.step, m * g + k * 0.05, 1e-6);
    CHECK_NEAR(v3_dist(now.grip, v3(0, 0, 0.1)), 0, 1e-9);
    /* at its foot, so that it does not tip */
    ds_state_release(s.state, hand);
    def.grip = v3(0, 0, -0.1);
    hand = grab(&s, &def);
    double speed = 0.1;
    for (int i = 0; i < 200; i++) {
      double x = speed * s.options.step * i;
      ds_state_move_hand_at(s.state, hand, at(x, 0, 0), v3(speed, 0, 0), v3(0, 0, 0));
      sim_step(&s);
    }
    now = ds_state_hand(s.state, hand);
    CHECK_NEAR(now.force.x, mu * m * g, 1e-3 * m * g);
    CHECK_NEAR(ds_state_velocity(s.state, box).x, speed, 1e-4);
  }
  sim_close(&s);
}

/* A plate held at its corner, of any mass, stiffness and step: the hand stirs, then holds still, and the plate comes to
 * rest. With no limit on the pull. */
static void check_stable(double size, double h, double stiffness, bool floor) {
  sim s;
  ds_scene *scene = scene_new(v3(0, 0, -g), 0.5, 0);
  ds_body_def def = body_at(0, 0, floor ? 0.02 * size : 0);
  def.name = "plate";
  if (floor) scene_add_floor(scene);
  scene_add(scene, &def, shape_box(size, 0.7 * size, 0.04 * size));
  if (sim_finish(&s, "plate", scene)) {
    s.options.step = h;
    ds_body_id plate = sim_body(&s, "plate");
    double mass = ds_body_mass(s.scene, plate).mass, radius = 0.62 * size;
    ds_hand_def held = hand_on(plate, v3(0, 0, 0));
    held.grip = v3(0.5 * size, 0.35 * size, 0);
    held.stiffness = stiffness * mass;
    held.max_force = INFINITY;
    ds_hand_id hand = grab(&s, &held);
    double stirred = 0;
    ds_pose target = at(0, 0, 0);
    for (int i = 0; i < 400; i++) {
      if (i < 100) target = at(3 * size * sin(0.7 * i), size * cos(0.3 * i), size * sin(0.2 * i));
      ds_state_move_hand(s.state, hand, target);
      sim_step(&s);
      ds_vec3 v = ds_state_velocity(s.state, plate), w = ds_state_angular_velocity(s.state, plate);
      double speed = v3_norm(v) + radius * v3_norm(w);
      if (i < 100) stirred = fmax(stirred, speed);
      double most = fmax(2 * stirred, 10 * sqrt(g * size));
      if (i < 200 || speed <= most) continue;
      printf("     size %g, h %g, k/m %g, floor %d, step %d\n", size, h, stiffness, floor, i);
      CHECK_LE(speed, most);
      break;
    }
    double off = v3_dist(ds_state_hand(s.state, hand).grip, target.p), rate = sqrt(stiffness);
    if (rate * h > 0.1) CHECK_LE(off, 3 * size + g * h * h); /* as far as it was stirred */
  }
  sim_free(&s);
}

static void test_stable(void) {
  const double sizes[] = {0.01, 1}, steps[] = {1e-3, 0.01, 0.1}, stiffness[] = {1, 1e4, 1e8, 1e12};
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 3; j++)
      for (int k = 0; k < 4; k++)
        for (int floor = 0; floor < 2; floor++) check_stable(sizes[i], steps[j], stiffness[k], floor);
}

/* A tool turns with its hand, does not sag, and feels nothing while it is free. */
static void test_tool(void) {
  const double steps[] = {1e-3, 0.01};
  for (int i = 0; i < 2; i++) {
    sim s;
    if (!box_sim(&s, false, 0, 0.5)) return;
    ds_body_id box = sim_body(&s, "box");
    ds_hand_def def = ds_default_tool();
    s.options.step = steps[i];
    def.body = box;
    def.target = (ds_pose){v3(0.05, 0.02, 0), quat_axis_angle(v3(1, 2, 3), 2)};
    ds_hand_id hand = grab(&s, &def);
    sim_run(&s, 0.5);
    ds_hand now = ds_state_hand(s.state, hand);
    ds_quat q = ds_state_pose(s.scene, s.state, box).q;
    CHECK_LE(v3_dist(now.grip, now.target.p), 1e-6);
    CHECK_NEAR(fabs(q.w * now.target.q.w + q.x * now.target.q.x + q.y * now.target.q.y + q.z * now.target.q.z), 1,
               1e-9);
    CHECK_LE(v3_norm(now.force), 0.1);
    CHECK_LE(v3_norm(now.torque), 0.1);
    sim_close(&s);
  }
}

/* A limit on the pull: at rest the hand pulls with it, no harder. */
static void test_limit(void) {
  sim s;
  if (box_sim(&s, true, 0.1, 0.5)) {
    ds_hand_def def = hand_on(sim_body(&s, "box"), v3(0, 0, 5));
    def.max_force = 20;
    ds_hand_id hand = grab(&s, &def);
    sim_run(&s, 1);
    ds_vec3 force = ds_state_hand(s.state, hand).force;
    CHECK_NEAR(force.z, 20, 1e-6);
    CHECK_NEAR(sim_displacement(&s, s.start), 0, 1e-9);
  }
  sim_close(&s);
}

/* A soft cube hangs from its corner, longer than it was; a hand on all of it does not deform it. */
static void test_deformable(void) {
  sim s;
  if (sim_generate(&s, "soft-incline:slope=0.1,young=2e5")) {
    ds_body_id cube = sim_body(&s, "cube");
    double weight = ds_body_mass(s.scene, cube).mass * g;
    ds_pose pose = ds_state_pose(s.scene, s.state, cube);
    ds_hand_def on_face = hand_on(cube, pose.p);
    on_face.grip = v3(0.1, 0.031, 0.017); /* a point of a face is held where it is */
    ds_hand_id first = grab(&s, &on_face);
    CHECK_LE(v3_dist(pose_unpoint(pose, ds_state_hand(s.state, first).grip), on_face.grip), 1e-9);
    ds_state_release(s.state, first);
    for (int whole = 0; whole < 2; whole++) {
      ds_hand_def def = hand_on(cube, v3_add(pose.p, v3(0, 0, 1)));
      def.grip = v3(10, 10, 10); /* the corner, wherever that is */
      def.whole = whole;
      if (whole) def.grip = v3(0, 0, 0);
      ds_hand_id hand = grab(&s, &def);
      ds_pose frame = ds_state_pose(s.scene, s.state, cube);
      ds_vec3 held = pose_unpoint(frame, ds_state_hand(s.state, hand).grip);
      if (whole)
        CHECK_LE(v3_norm(held), 1e-12);
      else
        CHECK_LE(v3_dist(held, v3(0.1, 0.1, 0.1)), 1e-3); /* the corner nearest to the grip */
      sim_run(&s, 6);
      ds_hand now = ds_state_hand(s.state, hand);
      int32_t r;
      const double *q = ds_state_reduced(s.state, cube, &r);
      double size = 0;
      for (int32_t i = 0; i < r; i++) size += q[i] * q[i];
      printf("     %s: force %.6g N of %.6g N, |q| %.3g\n", whole ? "whole" : "corner", now.force.z, weight,
             sqrt(size));
      CHECK_NEAR(now.force.z, weight, 0.02 * weight);
      CHECK_NEAR(now.target.p.z - now.grip.z, weight / now.stiffness, 0.02 * weight / now.stiffness);
      if (whole)
        CHECK_LE(sqrt(size), 1e-5);
      else
        CHECK_LE(1e-3, sqrt(size));
      ds_state_release(s.state, hand);
    }
  }
  sim_close(&s);
}

/* A copy goes on with its hands, bit for bit; a state without one is another. */
static void test_copy(void) {
  sim s;
  if (sim_generate(&s, "stack:count=3")) {
    ds_hand_def def = hand_on(ds_scene_body(s.scene, 2), v3(0.5, 0, 1));
    grab(&s, &def);
    sim_run(&s, 0.1);
    ds_state *copy = ds_state_copy(s.state);
    ds_step_report report;
    CHECK(copy && ds_state_hash(copy) == ds_state_hash(s.state));
    for (int i = 0; i < 20 && copy; i++) {
      sim_step(&s);
      CHECK(ds_step(s.stepper, copy, &report, s.scene, &s.options) == DS_OK);
    }
    CHECK(copy && ds_state_hash(copy) == ds_state_hash(s.state));
    ds_state_release(s.state, (ds_hand_id){1});
    CHECK(copy && ds_state_hash(copy) != ds_state_hash(s.state));
    ds_state_destroy(copy);
  }
  sim_close(&s);
}

static void refuse(sim *s, ds_hand_def def, const char *says) {
  ds_error error = {""};
  CHECK(ds_state_grab(s->state, &def, &error).index1 == 0);
  if (!strstr(error.message, says)) printf("     \"%s\" says nothing of \"%s\"\n", error.message, says);
  CHECK(strstr(error.message, says) != NULL);
}

static void test_refused(void) {
  sim s;
  if (box_sim(&s, true, 0.1, 0.5)) {
    ds_hand_def good = hand_on(sim_body(&s, "box"), v3(0, 0, 0)), def = good;
    def.body = (ds_body_id){0}, refuse(&s, def, "not in the scene");
    def.body = (ds_body_id){3}, refuse(&s, def, "not in the scene");
    def.body = ds_scene_body(s.scene, 0), refuse(&s, def, "dynamic");
    def = good, def.grip.x = NAN, refuse(&s, def, "finite");
    def = good, def.target.q = quat(0, 0, 0, 0), refuse(&s, def, "unit");
    def = good, def.stiffness = -1, refuse(&s, def, "stiffness");
    def = good, def.stiffness = INFINITY, refuse(&s, def, "stiffness");
    def = good, def.max_force = NAN, refuse(&s, def, "max_force");
    def = good, def.carry = 2, refuse(&s, def, "carry");
    for (int i = 0; i < DS_HANDS_MAX; i++) grab(&s, &good);
    refuse(&s, good, "hands");
    sim_run(&s, 0.1);
  }
  sim_close(&s);
}

/* Between steps, friction and gravity may change: a box stays on a slope, slides, and floats. */
static void test_changes(void) {
  sim s;
  if (sim_generate(&s, "incline:slope=0.5,mu=0.6")) {
    ds_body_id cube = sim_body(&s, "cube");
    ds_error error = {""};
    sim_run(&s, 0.5);
    CHECK_LE(sim_displacement(&s, s.start), 1e-9);
    int32_t count = ds_scene_material_count(s.scene);
    CHECK(count >= 1 && strcmp(ds_material_name(s.scene, (ds_material_id){0}), "default") == 0);
    for (int32_t i = 0; i < count; i++) {
      ds_material_def def = ds_scene_material(s.scene, (ds_material_id){i});
      def.mu = 0.3;
      CHECK(ds_scene_change_material(s.scene, (ds_material_id){i}, &def, &error) == DS_OK);
    }
    CHECK(ds_body_material(s.scene, cube).index1 < count);
    sim_run(&s, 1);
    CHECK_NEAR(v3_norm(ds_state_velocity(s.state, cube)), g * (0.5 - 0.3) / sqrt(1.25), 1e-3);
    CHECK(ds_scene_change_gravity(s.scene, v3(0, 0, 0), &error) == DS_OK);
    CHECK(ds_scene_change_gravity(s.scene, v3(0, NAN, 0), &error) == DS_ERROR_INPUT);
    ds_vec3 before = ds_state_velocity(s.state, cube);
    sim_run(&s, 0.5);
    CHECK_LE(v3_dist(before, ds_state_velocity(s.state, cube)), 1e-9);
    ds_material_def bad = {.mu = -1};
    CHECK(ds_scene_change_material(s.scene, (ds_material_id){0}, &bad, &error) == DS_ERROR_INPUT);
  }
  sim_close(&s);
}

/* A pull F at the arm r turns the body like a pendulum: the torque r x F changes by -S d with a small rotation d, S =
 * (r.F) 1 - (r F' + F r')/2 without its antisymmetric part. The implicit step may have no negative stiffness: the
 * metric gains h² P, with P the positive part of S, which is the one P >= 0 with P - S >= 0 and tr(P (P - S)) = 0. */
static void pendulum(ds_vec3 arm, ds_vec3 to) {
  const double h = 0.01, k = 300, c = 2;
  ds_scene *scene = scene_new(v3(0, 0, 0), 0, 0);
  ds_body_def def = body_at(0, 0, 0);
  def.mass = 1;
  ds_body_id ball = scene_add(scene, &def, shape_sphere(sqrt(2.5))); /* an inertia of 1 kg m² */
  sim s;
  if (!sim_finish(&s, "a ball that is held", scene)) return;
  ds_hand_def hand = hand_on(ball, v3_add(arm, to));
  hand.grip = arm, hand.stiffness = k, hand.damping = c, hand.max_force = INFINITY;
  grab(&s, &hand);
  s.options.step = h;
  ds_arena arena = {0};
  ds_assembly assembly = {0};
  ds_contact_list none = {0};
  CHECK(ds_assemble(&arena, &assembly, s.scene, s.state, &none, &s.options, NULL) && assembly.bodies[0].hold);
  const double *t = assembly.bodies[0].hold->factor, r[3] = {arm.x, arm.y, arm.z},
               f[3] = {k * to.x, k * to.y, k * to.z};
  double extra[9], rest[9], over[9], wp[3], wr[3], work[9], dot = v3_dot(arm, v3_scale(k, to)), trace = 0, size = 0;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      double m = 0; /* of T T', whose diagonal is kept reciprocal */
      for (int q = 0; q <= 3 + (i < j ? i : j); q++) {
        double a = t[6 * (3 + i) + q], b = t[6 * (3 + j) + q];
        m += (q == 3 + i ? 1 / a : a) * (q == 3 + j ? 1 / b : b);
      }
      double spring = (h * c + h * h * k) * ((i == j ? v3_norm2(arm) : 0) - r[i] * r[j]);
      double stiff = (i == j ? dot : 0) - 0.5 * (r[i] * f[j] + f[i] * r[j]);
      extra[3 * i + j] = over[3 * i + j] = (m - (i == j) - spring) / (h * h);
      rest[3 * i + j] = extra[3 * i + j] - stiff;
      trace += extra[3 * i + j] * rest[3 * i + j];
      size += stiff * stiff;
    }
  CHECK(ds_symmetric_eigen(over, wp, work, 3) && ds_symmetric_eigen(rest, wr, work, 3));
  for (int i = 0; i < 3; i++) CHECK(wp[i] > -1e-9 * sqrt(size) && wr[i] > -1e-9 * sqrt(size));
  CHECK_LE(fabs(trace), 1e-9 * size);
  ds_arena_free(&arena);
  sim_free(&s);
}

static void test_pendulum(void) {
  pendulum(v3(0.3, 0.1, -0.2), v3(0.5, 0.2, 0.1));
  pendulum(v3(0.3, 0.1, -0.2), v3(-0.4, 0.2, 0.3));
  pendulum(v3(0, 0, 0.5), v3(0, 0.2, 0));
  pendulum(v3(0, 0.1, 0.2), v3(0, 0.3, 0.6)); /* in line */
}

int main(void) {
  RUN(test_spring);
  RUN(test_contact);
  RUN(test_stable);
  RUN(test_pendulum);
  RUN(test_tool);
  RUN(test_limit);
  RUN(test_deformable);
  RUN(test_copy);
  RUN(test_refused);
  RUN(test_changes);
  return test_summary();
}
