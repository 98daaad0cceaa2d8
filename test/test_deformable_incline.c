/* Deformable bodies in contact, against what is known: a block on an incline sticks and slides as a rigid one does;
 * what rests is in balance whatever the step; impacts keep momentum; a stack stands; threads change nothing. */
#include "body/deformable.h"
#include "body/scene.h"
#include "fem_helper.h"
#include "hand_body.h"
#include "scene_helper.h"

static ds_shape_def shape_reduced(ds_reduced *reduced) {
  ds_shape_def def = ds_default_shape();
  def.kind = DS_SHAPE_REDUCED;
  def.reduced = reduced;
  return def;
}

/* A box of tetrahedra with modes of its own. */
static ds_reduced *make_box(ds_vec3 size, int32_t nx, int32_t ny, int32_t nz, double young, int32_t modes, bool stvk,
                            double damping) {
  ds_error error = {""};
  ds_reduced_def def = ds_default_reduced();
  ds_tets tets = tets_box(size, nx, ny, nz);
  def.young = young;
  def.modes = modes;
  def.stvk = stvk;
  def.damping_stiffness = damping;
  ds_reduced *reduced = ds_reduced_create(&tets, &def, &error);
  tets_drop(&tets);
  if (!reduced) printf("%s\n", error.message);
  CHECK(reduced != NULL);
  return reduced;
}

/* ---- the incline ---- */

static bool incline(sim *s, ds_reduced *reduced, double height, double angle, double mu, ds_metric metric) {
  double g = 9.81;
  ds_scene *scene = scene_new(v3(g * sin(angle), 0, -g * cos(angle)), mu, 0);
  ds_body_def body = body_at(0, 0, 0.5 * height);
  scene_add_floor(scene);
  scene_add(scene, &body, shape_reduced(reduced));
  if (!sim_finish(s, "incline", scene)) return false;
  s->options.metric = metric;
  return true;
}

/* After it has settled: rest below the angle of friction, the acceleration g (sin - mu cos) above. */
static void check_incline(const char *name, ds_reduced *reduced, double height, double mu, ds_metric metric) {
  double critical = atan(mu), settle = 0.8, time = test_time(1, 0.4);
  for (int32_t slides = 0; slides < 2; slides++) {
    sim s;
    double angle = critical * (slides ? 1.05 : 0.97), g = 9.81, want = g * (sin(angle) - mu * cos(angle));
    if (!incline(&s, reduced, height, angle, mu, metric)) return;
    ds_body_id id = ds_scene_body(s.scene, 1);
    sim_run(&s, settle);
    double x = ds_state_center(s.state, id).x, v = ds_state_velocity(s.state, id).x;
    sim_run(&s, time);
    double moved = ds_state_center(s.state, id).x - x, gained = ds_state_velocity(s.state, id).x - v;
    if (slides) {
      printf("     %s, mu = %g: acceleration %.6f m/s², rigid %.6f\n", name, mu, gained / time, want);
      CHECK_NEAR(gained / time, want, 2e-3 * want);
    } else {
      printf("     %s, mu = %g: has crept %.1e m while it settled, then %.1e m\n", name, mu, x, moved);
      CHECK_LE(fabs(x), 0.05 * height);
      CHECK_LE(fabs(moved), 1e-6 * height);
    }
    sim_close(&s);
  }
}

static void test_incline(void) {
  ds_reduced *box = make_box(v3(0.2, 0.15, 0.1), 4, 3, 2, 1e6, 10, false, 1e-3);
  ds_reduced *soft = make_box(v3(0.2, 0.15, 0.1), 4, 3, 2, 5e4, 8, true, 1e-3);
  hand_def def = hand_default();
  def.frequency = 30;
  def.damping_stiffness = 1e-3;
  ds_reduced *hand = hand_body(&def);
  if (box && soft && hand) {
    check_incline("box", box, 0.1, 0.2, DS_METRIC_EFFECTIVE);
    check_incline("box", box, 0.1, 0.6, DS_METRIC_EFFECTIVE);
    check_incline("box, mass metric", box, 0.1, 0.4, DS_METRIC_MASS);
    check_incline("soft stvk box", soft, 0.1, 0.4, DS_METRIC_EFFECTIVE);
    check_incline("point masses", hand, 0.2, 0.5, DS_METRIC_EFFECTIVE);
  }
  ds_reduced_release(box);
  ds_reduced_release(soft);
  ds_reduced_release(hand);
}

/* ---- balance ---- */

/* Coordinates (s, t) of the foot of y on the plane of a triangle, and its distance to the triangle. */
static double foot_on(double weight[3], ds_vec3 y, ds_vec3 a, ds_vec3 b, ds_vec3 c) {
  ds_vec3 u = v3_sub(b, a), v = v3_sub(c, a), n = v3_cross(u, v), d = v3_sub(y, a);
  weight[1] = v3_dot(v3_cross(d, v), n) / v3_norm2(n), weight[2] = v3_dot(v3_cross(u, d), n) / v3_norm2(n);
  weight[0] = 1 - weight[1] - weight[2];
  double outside = fmax(0, fmax(-weight[0], fmax(-weight[1], -weight[2]))) * sqrt(v3_norm(n));
  return fmax(fabs(v3_dot(d, n)) / v3_norm(n), outside);
}

/* Adds Uᵀ Rᵀ f of a force at a world point to the forces on q. */
static void add_force(double *sum, const ds_reduced *x, const double *q, ds_pose pose, ds_vec3 point, ds_vec3 force) {
  ds_vec3 y = pose_unpoint(pose, point), local = quat_unrotate(pose.q, force);
  double best = INFINITY, at[3] = {0};
  int32_t triangle = 0, r = x->r;
  for (int32_t i = 0; i < x->surface.triangle_count; i++) {
    const int32_t *t = x->surface.triangles + 3 * i;
    double weight[3], d = foot_on(weight, y, ds_reduced_vertex(x, q, t[0]), ds_reduced_vertex(x, q, t[1]),
                                  ds_reduced_vertex(x, q, t[2]));
    if (!(d < best)) continue;
    best = d, triangle = i;
    memcpy(at, weight, sizeof at);
  }
  CHECK_LE(best, 1e-4);
  for (int32_t corner = 0; corner < 3; corner++) {
    const double *u = x->basis + 3 * r * x->surface.triangles[3 * triangle + corner];
    for (int32_t a = 0; a < r; a++)
      sum[a] += at[corner] * (u[a] * local.x + u[r + a] * local.y + u[2 * r + a] * local.z);
  }
}

/* A soft plank on two supports. */
static ds_scene *plank_scene(ds_reduced *plank) {
  ds_scene *scene = scene_new(v3(0, 0, -9.81), 0.5, 0);
  for (int32_t side = -1; side <= 1; side += 2) {
    ds_body_def support = body_at(0.16 * side, 0, 0.1);
    support.kind = DS_BODY_STATIC;
    scene_add(scene, &support, shape_box(0.04, 0.2, 0.2));
  }
  ds_body_def body = body_at(0, 0, 0.2 + 0.01);
  scene_add(scene, &body, shape_reduced(plank));
  return scene;
}

/* How much elastic forces and those of the contacts differ, relative; and the weight and what holds it. */
static void check_balance(const sim *s, const ds_reduced *plank, ds_body_id id) {
  int32_t r, count;
  const double *q = ds_state_reduced(s->state, id, &r);
  const ds_contact *contacts = ds_state_contacts(s->state, &count);
  double f[DS_REDUCED_MAX], pushed[DS_REDUCED_MAX] = {0}, off = 0, scale = 0, weight = plank->mass * 9.81;
  ds_vec3 total = v3(0, 0, 0);
  for (int32_t k = 0; k < count; k++) {
    double side = contacts[k].b.index1 == id.index1 ? -1 : 1;
    ds_vec3 force = v3_scale(side / s->options.step, contacts[k].impulse);
    total = v3_add(total, force);
    if (!(v3_norm(force) > 0)) continue;
    add_force(pushed, plank, q, ds_principal_pose(&s->state->bodies[ds_index(id)]), contacts[k].point, force);
  }
  ds_reduced_force(f, plank, q);
  for (int32_t a = 0; a < r; a++) off = fmax(off, fabs(f[a] - pushed[a])), scale = fmax(scale, fabs(f[a]));
  printf("     h = %g s: elastic and contact forces differ by %.1e, weight and support by %.1e\n", s->options.step,
         off / scale, v3_dist(total, v3(0, 0, weight)) / weight);
  CHECK_LE(off / scale, 1e-4); /* contact points lie between the surfaces, not quite in them */
  CHECK_LE(v3_dist(total, v3(0, 0, weight)) / weight, 1e-9);
}

/* What rests with one step rests with any other. */
static void test_balance(void) {
  ds_reduced *plank = make_box(v3(0.4, 0.06, 0.02), 12, 2, 1, 5e6, 8, false, 0.005);
  const double steps[3] = {0.01, 0.0025, 0.02};
  double rest[DS_REDUCED_MAX], largest = 0;
  int32_t r;
  sim s;
  if (!plank || !sim_finish(&s, "plank", plank_scene(plank))) return;
  ds_body_id id = ds_scene_body(s.scene, 2);
  sim_run(&s, 2);
  memcpy(rest, ds_state_reduced(s.state, id, &r), (size_t)plank->r * sizeof(double));
  double low = 0.2 + 0.01 - ds_state_center(s.state, id).z;
  CHECK_LE(1e-4, low); /* it does sag */
  for (int32_t a = 0; a < r; a++) largest = fmax(largest, fabs(rest[a]));
  for (int32_t i = 0; i < 3; i++) {
    double changed = 0;
    s.options.step = steps[i];
    for (int32_t k = 0; k < 50; k++) sim_step(&s);
    check_balance(&s, plank, id);
    const double *q = ds_state_reduced(s.state, id, &r);
    for (int32_t a = 0; a < r; a++) changed = fmax(changed, fabs(q[a] - rest[a]));
    printf("     hangs %.4f mm low, its shape has changed by %.1e\n", 1e3 * low, changed / largest);
    CHECK_LE(changed / largest, 1e-5);
  }
  sim_close(&s);
  ds_reduced_release(plank);
}

/* ---- impacts ---- */

/* Two deformable bodies and a rigid one run into each other in space. */
static void check_impact(const char *name, const hand_def *def, ds_metric metric) {
  ds_scene *scene = scene_new(v3(0, 0, 0), 0.5, 0);
  ds_reduced *x = hand_body(def);
  const ds_vec3 at[3] = {{0, 0, 0}, {0.7, 0.1, 0.05}, {1.1, -0.1, 0.05}};
  for (int32_t i = 0; i < 3; i++) {
    ds_body_def body = body_at(at[i].x, at[i].y, at[i].z);
    body.velocity = v3(i == 0 ? 1 : 0, 0, 0);
    body.angular_velocity = v3(0.1, 0.2, i == 0 ? 0.3 : -0.9);
    scene_add(scene, &body, i < 2 ? shape_reduced(x) : shape_box(0.1, 0.2, 0.3));
  }
  ds_reduced_release(x);
  sim s;
  if (!sim_finish(&s, name, scene)) return;
  s.options.metric = metric;
  ds_momentum before = ds_state_momentum(scene, s.state);
  double linear = 0, angular = 0, gain = 0;
  int32_t active = 0;
  for (int32_t i = 0; i < 100; i++) {
    sim_step(&s);
    ds_momentum now = ds_state_momentum(scene, s.state);
    linear = fmax(linear, v3_dist(now.linear, before.linear) / v3_norm(before.linear));
    angular = fmax(angular, v3_dist(now.angular, before.angular) / v3_norm(before.angular));
    gain = fmax(gain, (s.report.energy_after - s.report.energy_before) / s.report.energy_before);
    active += s.report.active_contacts;
  }
  printf(
      "     %s: %d contacts acted; momentum changed by %.1e, angular by %.1e; energy gained in a step %.1e at most\n",
      name, (int)active, linear, angular, gain);
  CHECK_LE(10, active);
  CHECK_LE(linear, 1e-12);
  CHECK_LE(angular, 1e-12);
  CHECK_LE(gain, 1e-3);
  sim_close(&s);
}

static void test_impact(void) {
  hand_def def = hand_default();
  def.frequency = 20;
  check_impact("stiff", &def, DS_METRIC_EFFECTIVE);
  def.frequency = 3;
  check_impact("soft", &def, DS_METRIC_EFFECTIVE);
  def.cubic = 3;
  check_impact("stvk", &def, DS_METRIC_EFFECTIVE);
}

/* A stiff St. Venant-Kirchhoff bar thrown at the floor with steps in which it would be crushed: energy never grows by
 * much, and it comes to rest in its own shape. */
static void test_crash(void) {
  ds_reduced *bar = make_box(v3(0.3, 0.1, 0.1), 6, 2, 2, 1e6, 12, true, 1e-3);
  const double steps[2] = {0.01, 0.03};
  for (int32_t i = 0; bar && i < 2; i++) {
    ds_scene *scene = scene_new(v3(0, 0, -9.81), 0.5, 0);
    ds_body_def body = body_at(0, 0, 0.4);
    body.pose.q = quat_axis_angle(v3(1, 2, 0), 1);
    body.velocity = v3(2, 0, -10);
    body.angular_velocity = v3(3, -4, 5);
    scene_add_floor(scene);
    scene_add(scene, &body, shape_reduced(bar));
    sim s;
    if (!sim_finish(&s, "crash", scene)) break;
    s.options.step = steps[i];
    s.options.tolerance = 1e-6;
    int32_t count = (int32_t)(test_time(3, 1.5) / steps[i]), r;
    double gain = 0, first = 0, largest = 0;
    for (int32_t k = 0; k < count; k++) {
      sim_step(&s);
      if (k == 0) first = s.report.energy_before;
      gain = fmax(gain, s.report.energy_after - s.report.energy_before);
    }
    const double *q = ds_state_reduced(s.state, ds_scene_body(scene, 1), &r);
    for (int32_t a = 0; a < r; a++) largest = fmax(largest, fabs(q[a]));
    double speed = v3_norm(ds_state_velocity(s.state, ds_scene_body(scene, 1)));
    printf("     h = %g s: energy gained in a step %.1e of the first, at last %.1e m/s, |q| %.1e\n", steps[i],
           gain / first, speed, largest);
    CHECK_LE(gain / first, 0.05);
    CHECK_LE(largest, 5e-3);
    if (!test_quick()) CHECK_LE(speed, 1e-3);
    sim_close(&s);
  }
  ds_reduced_release(bar);
}

/* ---- a stack, and threads ---- */

static ds_scene *stack_of(ds_reduced *box, int32_t count, double tilt) {
  ds_scene *scene = scene_new(v3(9.81 * sin(tilt), 0, -9.81 * cos(tilt)), 0.5, 0);
  scene_add_floor(scene);
  for (int32_t i = 0; i < count; i++) {
    ds_body_def body = body_at(0.01 * (i % 2), 0, 0.05 + 0.1 * i);
    scene_add(scene, &body, i % 3 == 2 ? shape_box(0.2, 0.15, 0.1) : shape_reduced(box));
  }
  return scene;
}

static void test_stack(void) {
  ds_reduced *box = make_box(v3(0.2, 0.15, 0.1), 4, 3, 2, 1e6, 8, false, 1e-3);
  sim s;
  if (box && sim_finish(&s, "stack", stack_of(box, 4, 0))) {
    sim_run(&s, test_time(1, 0.3));
    ds_state *settled = ds_state_copy(s.state);
    sim_run(&s, test_time(3, 0.3));
    double moved = settled ? sim_displacement(&s, settled) : INFINITY;
    printf("     four blocks, one rigid: moved %.1e m, settled %.1e m\n", moved, sim_displacement(&s, s.start));
    CHECK_LE(moved, 1e-7);
    CHECK_LE(sim_displacement(&s, s.start), 2e-3);
    ds_state_destroy(settled);
    sim_close(&s);
  }
  ds_reduced_release(box);
}

static void test_threads(void) {
  ds_reduced *box = make_box(v3(0.2, 0.15, 0.1), 4, 3, 2, 1e5, 8, true, 1e-3);
  uint64_t hash[3] = {0, 0, 0};
  for (int32_t i = 0; box && i < 3; i++) {
    sim s;
    ds_error error = {""};
    ds_scene *scene = stack_of(box, 4, 0.3);
    CHECK(ds_scene_finish(scene, &error) == DS_OK);
    s.options = ds_default_options();
    if (!sim_start(&s, "threads", scene, i + 1)) break;
    for (int32_t k = 0; k < 15; k++) sim_step(&s);
    hash[i] = ds_state_hash(s.state);
    sim_close(&s);
  }
  CHECK(hash[0] != 0 && hash[0] == hash[1] && hash[0] == hash[2]);
  ds_reduced_release(box);
}

int main(void) {
  RUN(test_incline);
  RUN(test_balance);
  RUN(test_impact);
  RUN(test_crash);
  RUN(test_stack);
  RUN(test_threads);
  return test_summary();
}
