/* Joints and exact friction together: what stands by both stands, what does not slides, and every step is certified. */
#include <string.h>

#include "drystone/problem.h"
#include "joint_helper.h"

static const double gravity = 9.81;
static const ds_vec3 across = {0, 1, 0};

/* Where a block is, as its plank sees it. */
static ds_vec3 seen_from(const sim *s, const ds_state *state, ds_body_id plank, ds_body_id block) {
  return pose_unpoint(ds_state_pose(s->scene, state, plank), ds_state_pose(s->scene, state, block).p);
}

/* How far the blocks of a bridge of 12 planks and 5 blocks have come from their places on the planks. */
static double slipped(const sim *s) {
  const char *const plank[] = {"plank2", "plank4", "plank7", "plank9", "plank11"};
  double most = 0;
  for (int i = 0; i < 5; i++) {
    char name[32];
    snprintf(name, sizeof name, "block%d", i + 1);
    ds_body_id under = sim_body(s, plank[i]), block = sim_body(s, name);
    most = fmax(most, v3_dist(seen_from(s, s->state, under, block), seen_from(s, s->start, under, block)));
  }
  return most;
}

/* The chain alone hangs in balance; it carries blocks that friction holds; on smooth planks they slide off. */
static void test_bridge(void) {
  sim s;
  if (sim_generate(&s, "bridge:blocks=0,damping=0")) {
    double drift = sim_drift(&s, 5), moved = sim_displacement(&s, s.start);
    printf("     bare: moved %.2g m, drift %.2g m\n", moved, drift);
    CHECK_LE(moved, 1e-12);
    CHECK_LE(drift, 1e-12);
  }
  sim_close(&s);
  if (sim_generate(&s, "bridge")) {
    double drift = sim_drift(&s, test_time(10, 2));
    printf("     mu = 0.6: blocks moved %.2g m on their planks, planks %.2g m, drift %.2g m\n", slipped(&s),
           sim_displacement(&s, s.start), drift);
    CHECK_LE(slipped(&s), 1e-6);                   /* friction holds velocities, while the planks turn under it */
    CHECK_LE(1e-4, sim_displacement(&s, s.start)); /* it does give way under them */
    CHECK_LE(drift, 1e-9);
    CHECK_LE(s.natural_error, 1e-8);
  }
  sim_close(&s);
  if (sim_generate(&s, "bridge:mu=0.15")) {
    double drift = sim_drift(&s, 2);
    printf("     mu = 0.15: blocks moved %.2g m, drift %.2g m\n", slipped(&s), drift);
    CHECK_LE(0.05, slipped(&s));
    CHECK_LE(drift, 1e-8);
  }
  sim_close(&s);
}

/* Two bars hinged at the top stand on the floor by friction alone. With the contact points at x = +-f, centres of mass
 * at
 * +-c and the hinge at height z, each foot carries its bar's weight and friction W (f - c)/z: mu decides. */
static void a_frame(double factor, bool stands) {
  const double radius = 0.05, foot = 0.5, top = 1 + radius;
  double mu = factor * (0.5 * foot) / top;
  ds_scene *scene = scene_new(v3(0, 0, -gravity), mu, 0);
  ds_body_id bars[2];
  scene_add_floor(scene);
  for (int i = 0; i < 2; i++) {
    double side = i == 0 ? -1 : 1, half = 0.5 * hypot(foot, top - radius);
    ds_body_def def = body_at(side * 0.5 * foot, 0, 0.5 * (top + radius));
    def.pose.q = quat_axis_angle(across, side * -atan2(foot, top - radius));
    ds_shape_def leg = shape_round(DS_SHAPE_CAPSULE, radius, half);
    leg.density =
        i == 0 ? 1000 : 2000; /* three legs, so that it does not fall over sideways; both bars weigh the same */
    leg.pose.p.y = i == 0 ? -0.3 : 0;
    bars[i] = scene_add(scene, &def, leg);
    leg.pose.p.y = 0.3;
    if (i == 0) CHECK(ds_scene_add_shape(scene, bars[i], &leg, NULL) == DS_OK);
  }
  scene_join(scene, DS_JOINT_HINGE, bars[0], bars[1], v3(0, 0, top), across);
  sim s;
  if (sim_finish(&s, "A-frame", scene)) {
    double drift = sim_drift(&s, stands ? 10 : 3), moved = sim_displacement(&s, s.start);
    printf("     mu = %.4f of what it takes: moved %.2g m, drift %.2g m\n", factor, moved, drift);
    if (stands)
      CHECK_LE(moved, 1e-9);
    else
      CHECK_LE(0.1, moved);
    CHECK_LE(drift, 1e-9);
  }
  sim_close(&s);
}
static void test_a_frame(void) {
  a_frame(1.001, true);
  a_frame(0.999, false);
}

/* Cubes welded in a row stand on a slope as long as one would. */
static void welded_incline(double factor, bool stands) {
  const double angle = atan(0.5), size = 0.2;
  ds_scene *scene = scene_new(v3(0, 0, -gravity), 0.5 * factor, 0);
  ds_body_def slope = ds_default_body();
  slope.kind = DS_BODY_STATIC;
  slope.pose.q = quat_axis_angle(across, angle);
  scene_add(scene, &slope, shape_half_space());
  ds_body_id cubes[3];
  for (int i = 0; i < 3; i++) {
    ds_vec3 at = quat_rotate(slope.pose.q, v3(size * (i - 1), 0, 0.5 * size));
    ds_body_def def = body_at(at.x, at.y, at.z);
    def.pose.q = slope.pose.q;
    cubes[i] = scene_add(scene, &def, shape_box(size, size, size));
    if (i > 0) scene_join(scene, DS_JOINT_WELD, cubes[i - 1], cubes[i], at, across);
  }
  sim s;
  if (sim_finish(&s, "welded cubes", scene)) {
    sim_run(&s, stands ? 10 : 5);
    double moved = sim_displacement(&s, s.start);
    printf("     mu = %.4f tan: moved %.3g m\n", factor, moved);
    if (stands)
      CHECK_LE(moved, 1e-9);
    else
      CHECK_NEAR(moved, 0.5 * gravity * (1 - factor) * sin(angle) * 25, 0.02 * moved);
  }
  sim_close(&s);
}
static void test_welded_incline(void) {
  welded_incline(1.001, true);
  welded_incline(0.99, false);
}

/* A chain of balls and capsules falls into a heap on the floor: impacts, contacts of its own links, sliding. */
static bool start_chain(sim *s, int32_t threads) {
  ds_scene *scene = scene_new(v3(0, 0, -gravity), 0.4, 0);
  ds_body_id before = {0};
  scene_add_floor(scene);
  for (int i = 0; i < 12; i++) {
    ds_body_def def = body_at(0.02 * (i % 3), 0.015 * (i % 2), 0.3 + 0.2 * i);
    ds_body_id link = scene_add(scene, &def, shape_round(DS_SHAPE_CAPSULE, 0.04, 0.05));
    ds_joint_kind kind = i % 3 == 2 ? DS_JOINT_HINGE : DS_JOINT_BALL;
    if (i > 0) scene_join(scene, kind, before, link, v3(0.01, 0, 0.2 + 0.2 * i), across);
    before = link;
  }
  if (!sim_finish(s, "chain", scene)) return false;
  ds_stepper_destroy(s->stepper);
  s->stepper = ds_stepper_create(threads);
  return s->stepper != NULL;
}

static void fall_into_a_heap(ds_integrator integrator, double tolerance, double error) {
  sim s;
  if (start_chain(&s, 1)) {
    s.options.integrator = integrator;
    s.options.tolerance = tolerance;
    double drift = sim_drift(&s, 3);
    printf("     drift %.2g m, penetration %.2g m, error %.2g, %d contacts at the end\n", drift, s.penetration,
           s.natural_error, (int)s.report.contacts);
    CHECK_LE(drift, 1e-6);
    CHECK_LE(s.natural_error, error);
    CHECK_LE(1, s.report.active_contacts);
    CHECK_LE(ds_state_energy(s.scene, s.state).kinetic, 1); /* of some 50 J it fell with */
  }
  sim_close(&s);
}
static void test_chain(void) {
  fall_into_a_heap(DS_INTEGRATOR_EULER, 1e-8, 1e-8); /* in motion, too */
  fall_into_a_heap(DS_INTEGRATOR_AUTO, 0, 1e-4);
}

static void test_threads(void) {
  uint64_t hash[3] = {0};
  for (int i = 0; i < 3; i++) {
    sim s;
    if (start_chain(&s, i + 1)) {
      sim_run(&s, 0.5);
      hash[i] = ds_state_hash(s.state);
    }
    sim_close(&s);
  }
  CHECK(hash[0] == hash[1] && hash[0] == hash[2]);
}

/* What an observer sees of a step with joints can be solved again alone, to the same bits. */
static void solve_again(void *user, const ds_observation *o) {
  int32_t *seen = user, n = 3 * o->problem->contacts;
  double *r = malloc((size_t)n * sizeof *r), *u = malloc((size_t)n * sizeof *u),
         *v = malloc((size_t)o->problem->dof * sizeof *v);
  ds_solve_options options = ds_default_solve_options();
  ds_solution solution;
  ds_error error = {""};
  options.as_step = true;
  if (r && u && v) {
    memcpy(r, o->start, (size_t)n * sizeof *r);
    CHECK(ds_problem_solve(o->problem, &options, r, u, v, &solution, &error) == DS_OK);
    CHECK(memcmp(r, o->r, (size_t)n * sizeof *r) == 0);
    ++*seen;
  }
  free(r), free(u), free(v);
}

static void test_observed(void) {
  sim s;
  int32_t seen = 0;
  if (sim_generate(&s, "bridge")) {
    ds_stepper_observe(s.stepper, solve_again, &seen);
    sim_run(&s, 0.3);
    CHECK_LE(30, seen);
  }
  sim_close(&s);
}

/* Joined bodies pass through each other unless they are told to collide. */
static int32_t contacts_of_overlapping(bool collide) {
  ds_scene *scene = scene_new(v3(0, 0, 0), 0.5, 0);
  ds_body_def one = body_at(0, 0, 0), other = body_at(0.15, 0, 0);
  ds_joint_def joint = ds_default_joint();
  joint.a = scene_add(scene, &one, shape_box(0.2, 0.2, 0.2));
  joint.b = scene_add(scene, &other, shape_box(0.2, 0.2, 0.2));
  joint.point = v3(0.075, 0, 0);
  joint.collide = collide;
  CHECK(ds_scene_add_joint(scene, &joint, NULL).index1 > 0);
  sim s;
  int32_t contacts = -1;
  if (sim_finish(&s, "overlapping", scene)) {
    CHECK(sim_step(&s));
    contacts = s.report.contacts;
  }
  sim_free(&s);
  return contacts;
}
static void test_collide(void) {
  CHECK(contacts_of_overlapping(false) == 0);
  CHECK(contacts_of_overlapping(true) > 0);
}

/* The crank turns round, the paddle swings between its dead points and shoves the blocks as far as it reaches. */
static void test_linkage(void) {
  sim s;
  if (sim_generate(&s, "linkage")) {
    ds_body_id lower = sim_body(&s, "block1"), upper = sim_body(&s, "block2");
    double drift = sim_drift(&s, test_time(10, 5)), pushed = ds_state_center(s.state, lower).x;
    double apart = fabs(ds_state_center(s.state, upper).x - pushed);
    printf("     pushed %.3g m, upper block %.2g m beside it, drift %.2g m\n",
           pushed - ds_state_center(s.start, lower).x, apart, drift);
    CHECK_LE(drift, 1e-9);
    CHECK_LE(0.05, pushed - ds_state_center(s.start, lower).x);
    CHECK_LE(apart, 0.05);
    CHECK_LE(s.natural_error, 1e-4); /* it moves: the loosest automatic tolerance */
  }
  sim_close(&s);
}

/* A deadline ends a step on a contact projection; joints hold all the same. */
static void test_deadline(void) {
  sim s;
  if (sim_generate(&s, "bridge")) {
    s.options.deadline = 1e-6;
    double drift = sim_drift(&s, 0.5);
    CHECK_LE(drift, 1e-3);
    CHECK_LE(s.penetration, 1e-3);
  }
  sim_free(&s);
}

/* Every method takes joints. */
static void test_methods(void) {
  for (int i = 0; i < 3; i++) {
    sim s;
    if (sim_generate(&s, "bridge:planks=4,blocks=2")) {
      if (i == 0) s.options.method = ds_method_named("gauss-seidel"), s.options.max_iterations = 2000;
      if (i == 1) s.options.method = ds_method_named("staggered");
      if (i == 2) s.options.friction_samples = 8;
      CHECK_LE(sim_drift(&s, 0.5), 1e-6);
      CHECK_LE(sim_displacement(&s, s.start), 0.1);
    }
    sim_free(&s);
  }
}

/* With joints an island is solved several times in a step; its certificate counts the work of all of them. */
static void all_work_is_counted(void) {
  ds_run_settings run = {.options = ds_default_options()};
  ds_scene *scene = scene_generate(&run, "bridge", NULL, 0);
  sim s = {.options = run.options};
  if (sim_start(&s, "bridge", scene, 1)) {
    int64_t all = 0;
    for (int i = 0; i < 40 && sim_step(&s); i++) {
      CHECK_NEAR(s.report.worst.factorizations, (double)ds_stepper_work(s.stepper), 0);
      all += s.report.worst.factorizations;
    }
    CHECK(all > 100);
  }
  sim_free(&s);
}

/* A block of a tower pulled out through a joint: what contacts carried before it moved has nothing to do with how it
 * moves now, and joints are not closed for that. It slides under its load, and nothing else is thrown. */
static void test_block_pulled_through_a_joint(void) {
  enum { LAYERS = 18 };
  ds_scene *scene = scene_new(v3(0, 0, -9.81), 0.5, 0);
  scene_add_floor(scene);
  ds_body_id pulled = {0}, handle, ids[3 * LAYERS];
  for (int i = 0; i < 3 * LAYERS; i++) {
    double across = (i % 3 - 1) * 0.025, z = (i / 3 + 0.5) * 0.015;
    bool along_x = i / 3 % 2 == 1;
    ds_body_def block = body_at(along_x ? 0 : across, along_x ? across : 0, z);
    ids[i] = scene_add(scene, &block, along_x ? shape_box(0.075, 0.025, 0.015) : shape_box(0.025, 0.075, 0.015));
    if (i == 0) pulled = ids[0];
  }
  ds_body_def hand = body_at(-0.025, 0.1, 0.0075);
  hand.kind = DS_BODY_KINEMATIC;
  hand.motion.kind = DS_MOTION_VELOCITY;
  hand.motion.velocity = v3(0, 0.05, 0);
  hand.motion.start_time = 0.1;
  hand.motion.end_time = 10;
  handle = scene_add(scene, &hand, shape_sphere(0.002));
  scene_join(scene, DS_JOINT_BALL, pulled, handle, v3(-0.025, 0.1, 0.0075), v3(0, 0, 1));
  sim s;
  if (sim_finish(&s, "tower", scene)) {
    double fastest = 0, drift = 0;
    for (int i = 0; i < (test_quick() ? 14 : 40) && sim_step(&s); i++) {
      drift = fmax(drift, s.report.joint_drift);
      for (int k = 0; k < 3 * LAYERS; k++) fastest = fmax(fastest, v3_norm(ds_state_velocity(s.state, ids[k])));
    }
    printf("     fastest block %.3g m/s, drift %.2g m\n", fastest, drift);
    CHECK(fastest > 0.04);
    CHECK_LE(fastest, 0.2);
    CHECK_LE(drift, 1e-8);
  }
  sim_close(&s);
}

int main(void) {
  RUN(all_work_is_counted);
  RUN(test_bridge);
  RUN(test_a_frame);
  RUN(test_welded_incline);
  RUN(test_chain);
  RUN_THREADS(test_threads);
  RUN(test_observed);
  RUN(test_collide);
  RUN(test_linkage);
  RUN(test_deadline);
  RUN(test_methods);
  RUN(test_block_pulled_through_a_joint);
  return test_summary();
}
