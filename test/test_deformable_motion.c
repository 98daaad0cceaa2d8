/* Deformable bodies in flight: the mass matrix against plain sums over point masses, what must be conserved, Newmark's
 * period and damping, limits that are known, a warm step without a request for memory. */
#include <stdatomic.h>

#include "assemble/assemble.h"
#include "body/deformable.h"
#include "body/scene.h"
#include "fem_helper.h"
#include "hand_body.h"
#include "random_pose.h"
#include "scene_helper.h"

/* ---- requests for memory are counted (--wrap in CMakeLists.txt) ---- */

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
static atomic_long requests;
void *__wrap_malloc(size_t size) {
  atomic_fetch_add(&requests, 1);
  return __real_malloc(size);
}
void *__wrap_calloc(size_t count, size_t size) {
  atomic_fetch_add(&requests, 1);
  return __real_calloc(count, size);
}
void *__wrap_realloc(void *old, size_t size) {
  atomic_fetch_add(&requests, 1);
  return __real_realloc(old, size);
}

/* ---- one body in space ---- */

static ds_shape_def shape_reduced(ds_reduced *reduced) {
  ds_shape_def def = ds_default_shape();
  def.kind = DS_SHAPE_REDUCED;
  def.reduced = reduced;
  return def;
}

/* The body by itself, at rest, without gravity unless given. The scene becomes the only owner. */
static bool fly(sim *s, const char *name, ds_reduced *reduced, const ds_body_def *body, ds_vec3 gravity) {
  ds_scene *scene = scene_new(gravity, 0.5, 0);
  scene_add(scene, body, shape_reduced(reduced));
  ds_reduced_release(reduced);
  return sim_finish(s, name, scene);
}

static double total(const sim *s) {
  ds_energy e = ds_state_energy(s->scene, s->state);
  return e.kinetic + e.potential + e.elastic;
}

static void random_numbers(double *x, int32_t n, double size) {
  for (int32_t i = 0; i < n; i++) x[i] = uniform(-size, size);
}

/* ---- the mass matrix ---- */

/* Kinetic energy of the point masses. */
static double energy_of_points(const ds_reduced *x, const double *q, ds_vec3 w, const double *rate) {
  double sum = 0, m = x->mass / HAND_POINTS;
  for (int32_t i = 0; i < HAND_POINTS; i++) {
    ds_vec3 y = ds_reduced_vertex(x, q, i), u = v3_sub(ds_reduced_vertex(x, rate, i), x->surface.vertices[i]);
    sum += 0.5 * m * v3_norm2(v3_add(v3_cross(w, y), u));
  }
  return sum;
}

static ds_vec3 momentum_of_points(const ds_reduced *x, const double *q, ds_vec3 w, const double *rate) {
  ds_vec3 sum = v3(0, 0, 0);
  for (int32_t i = 0; i < HAND_POINTS; i++) {
    ds_vec3 y = ds_reduced_vertex(x, q, i), u = v3_sub(ds_reduced_vertex(x, rate, i), x->surface.vertices[i]);
    sum = v3_mad(sum, x->mass / HAND_POINTS, v3_cross(y, v3_add(v3_cross(w, y), u)));
  }
  return sum;
}

static void test_mass_matrix(void) {
  hand_def def = hand_default();
  ds_reduced *x = hand_body(&def);
  if (!x) return;
  int32_t r = x->r, n = 3 + r;
  double worst = 0, worst_momentum = 0, worst_drive = 0, m[(3 + DS_REDUCED_MAX) * (3 + DS_REDUCED_MAX)];
  for (int32_t trial = 0; trial < 20; trial++) {
    double q[DS_REDUCED_MAX], z[3 + DS_REDUCED_MAX], elastic = 0, sum = 0;
    double s[DS_REDUCED_MAX], coupled[DS_REDUCED_MAX];
    ds_vec3 w = random_vec(3);
    random_numbers(q, r, 0.3);
    z[0] = w.x, z[1] = w.y, z[2] = w.z;
    random_numbers(z + 3, r, 1);
    ds_deformable_mass(m, x, q);
    for (int32_t i = 0; i < n; i++)
      for (int32_t k = 0; k < n; k++) sum += 0.5 * z[i] * m[i * n + k] * z[k];
    double want = energy_of_points(x, q, w, z + 3);
    worst = fmax(worst, fabs(sum - want) / want);
    worst = fmax(worst, fabs(ds_deformable_energy(&elastic, x, q, w, z + 3, 0) - want) / want);
    ds_vec3 p = momentum_of_points(x, q, w, z + 3);
    worst_momentum = fmax(worst_momentum, v3_dist(ds_deformable_momentum(x, q, w, z + 3), p) / v3_norm(p));
    ds_vec3 back = ds_deformable_spin(x, q, z + 3, p, 0);
    worst_momentum = fmax(worst_momentum, v3_dist(back, w) / v3_norm(w));
    /* dT/dq, and the q part of dT/dq' : T is of second degree in both, so that differences are exact */
    ds_deformable_drive(s, coupled, x, q, w, z + 3);
    for (int32_t a = 0; a < r; a++) {
      double step = 0.1, at = q[a], rate = z[3 + a], up, down;
      q[a] = at + step, up = energy_of_points(x, q, w, z + 3);
      q[a] = at - step, down = energy_of_points(x, q, w, z + 3);
      q[a] = at;
      worst_drive = fmax(worst_drive, fabs((up - down) / (2 * step) - s[a]) / want);
      z[3 + a] = rate + step, up = energy_of_points(x, q, w, z + 3);
      z[3 + a] = rate - step, down = energy_of_points(x, q, w, z + 3);
      z[3 + a] = rate;
      worst_drive = fmax(worst_drive, fabs((up - down) / (2 * step) - rate - coupled[a]) / want);
    }
  }
  printf("     energy %.2g, momentum %.2g, derivatives %.2g relative\n", worst, worst_momentum, worst_drive);
  CHECK_LE(worst, 1e-13);
  CHECK_LE(worst_momentum, 1e-13);
  CHECK_LE(worst_drive, 1e-12);
  ds_reduced_release(x);
}

/* ---- contact rows ---- */

/* Where the anchored material point stands. */
static ds_vec3 anchored(const ds_reduced *x, const ds_body_state *s, const double *q, ds_anchor anchor) {
  const int32_t *t = x->surface.triangles + 3 * anchor.triangle;
  ds_vec3 a = ds_reduced_vertex(x, q, t[0]), b = ds_reduced_vertex(x, q, t[1]), c = ds_reduced_vertex(x, q, t[2]);
  ds_vec3 y = v3_mad(v3_mad(a, anchor.s, v3_sub(b, a)), anchor.t, v3_sub(c, a));
  return pose_point(ds_principal_pose(s), y);
}

/* The same after moving for a time dt with velocities v, w, rate. */
static ds_vec3 anchored_after(const ds_reduced *x, const ds_body_state *s, const double *q, ds_anchor anchor, ds_vec3 v,
                              ds_vec3 w, const double *rate, double dt) {
  ds_body_state moved = *s;
  double later[DS_REDUCED_MAX];
  moved.x = v3_mad(s->x, dt, v);
  moved.q = quat_mul(quat_exp(v3_scale(dt, w)), s->q);
  for (int32_t a = 0; a < x->r; a++) later[a] = q[a] + dt * rate[a];
  return anchored(x, &moved, later, anchor);
}

/* Rows of two points of two bodies, and of two points of one, times velocities: differences of positions. */
static void check_rows(ds_metric metric, bool itself) {
  hand_def def = hand_default();
  ds_reduced *x = hand_body(&def);
  ds_scene *scene = scene_new(v3(0, 0, 0), 0.5, 0);
  ds_body_def body = ds_default_body();
  ds_error error = {""};
  scene_add(scene, &body, shape_reduced(x));
  scene_add(scene, &body, shape_reduced(x));
  CHECK(ds_scene_finish(scene, &error) == DS_OK);
  ds_state *state = ds_state_create(scene);
  ds_options options = ds_default_options();
  options.metric = metric;
  ds_arena arena = {0};
  double worst = 0;
  for (int32_t trial = 0; trial < 10; trial++) {
    for (int32_t i = 0; i < 2; i++) state->bodies[i].x = random_vec(1), state->bodies[i].q = random_quat();
    random_numbers(state->reduced, scene->reduced_count, 0.3);
    int32_t a = 0, b = itself ? 0 : 1;
    ds_contact_point c = {.a = a, .b = b, .on_a = {3, 0.2, 0.5}, .on_b = {17, 0.6, 0.1}};
    const double *qa = state->reduced, *qb = state->reduced + b * x->r;
    c.point = anchored(x, &state->bodies[a], qa, c.on_a);
    if (!itself) /* both bodies touch where the contact is, so that arms are those of the points */
      state->bodies[b].x = v3_add(state->bodies[b].x, v3_sub(c.point, anchored(x, &state->bodies[b], qb, c.on_b)));
    c.normal = v3_unit(random_vec(1));
    ds_contact_list list = {&c, 1};
    ds_assembly assembly = {0};
    CHECK(ds_assemble(&arena, &assembly, scene, state, &list, &options, NULL));
    const ds_subproblem *p = &assembly.islands[0].problem;
    CHECK(assembly.island_count == 1 && p->size[0] == 6 + x->r);
    ds_vec3 v[2], w[2], relative = v3(0, 0, 0);
    double rate[2][DS_REDUCED_MAX], scaled[2][6 + DS_REDUCED_MAX], u[3] = {0, 0, 0}, dt = 1e-5;
    for (int32_t i = 0; i < 2; i++) {
      v[i] = random_vec(1), w[i] = itself ? v3(0, 0, 0) : random_vec(1); /* one body turns: arms are the contact's */
      random_numbers(rate[i], x->r, 1);
      ds_scale_velocity(scaled[i], &assembly.bodies[i], v[i], w[i], rate[i]);
    }
    for (int32_t side = 0; side < 2; side++) {
      int32_t at = side == 0 ? a : b;
      const double *q = side == 0 ? qa : qb;
      ds_anchor anchor = side == 0 ? c.on_a : c.on_b;
      ds_vec3 up = anchored_after(x, &state->bodies[at], q, anchor, v[at], w[at], rate[at], dt);
      ds_vec3 down = anchored_after(x, &state->bodies[at], q, anchor, v[at], w[at], rate[at], -dt);
      relative = v3_mad(relative, (side == 0 ? 1 : -1) / (2 * dt), v3_sub(up, down));
      if (p->body[side] < 0) continue;
      const double *g = p->g + p->jacobian[side];
      for (int32_t k = 0; k < 3; k++)
        for (int32_t j = 0; j < 6 + x->r; j++) u[k] += g[k * (6 + x->r) + j] * scaled[p->body[side]][j];
    }
    const ds_contact_frame *f = &assembly.frames[0];
    worst = fmax(worst, fabs(u[0] - v3_dot(f->normal, relative)));
    worst = fmax(worst, fmax(fabs(u[1] - v3_dot(f->t1, relative)), fabs(u[2] - v3_dot(f->t2, relative))));
    ds_arena_reset(&arena);
  }
  printf("     %s: rows times velocities are off by %.2g m/s\n", itself ? "one body" : "two bodies", worst);
  CHECK_LE(worst, 1e-8);
  ds_arena_free(&arena);
  ds_state_destroy(state);
  ds_scene_destroy(scene);
  ds_reduced_release(x);
}

static void test_rows(void) {
  check_rows(DS_METRIC_EFFECTIVE, false);
  check_rows(DS_METRIC_MASS, false);
  check_rows(DS_METRIC_EFFECTIVE, true);
}

/* ---- vibration ---- */

/* Modes of a body that does not turn are oscillators of their own... as long as C(q) q' = 0: one mode at a time.
 * Newmark with average accelerations is known in closed form: q_n turns by theta a step, tan(theta/2) = w h/2. */
static void test_vibration(void) {
  int32_t steps = test_quick() ? 200 : 1000;
  for (int32_t mode = 0; mode < 3; mode++) {
    hand_def def = hand_default();
    sim s;
    ds_body_def body = ds_default_body();
    if (!fly(&s, "vibration", hand_body(&def), &body, v3(0, 0, 0))) return;
    s.options.newmark_damping = 0;
    ds_body_id id = ds_scene_body(s.scene, 0);
    double w = 2 * DS_PI * def.frequency * (1 + 0.5 * mode), h = s.options.step, theta = 2 * atan(0.5 * w * h);
    double q[6] = {0}, rate[6] = {0}, worst = 0, least = INFINITY, most = 0, amplitude = 0.2;
    q[mode] = amplitude;
    rate[mode] = (amplitude - amplitude * cos(theta)) / h; /* of the step before, had it swung already */
    ds_state_set_reduced(s.state, id, q, rate);
    s.state->reduced_step = h;
    double start = total(&s);
    for (int32_t n = 1; n <= steps; n++) {
      int32_t r;
      sim_step(&s);
      const double *now = ds_state_reduced(s.state, id, &r);
      worst = fmax(worst, fabs(now[mode] - amplitude * cos(n * theta)) / amplitude);
      least = fmin(least, total(&s)), most = fmax(most, total(&s));
    }
    double period_error = w * h / theta - 1;
    printf(
        "     mode %d, w h = %.3f: off by %.2g of the amplitude, energy by %.2g; period longer by %.4f (w² h²/12 = "
        "%.4f)\n",
        (int)mode, w * h, worst, (most - least) / start, period_error, w * h * w * h / 12);
    CHECK_LE(worst, 1e-9);
    CHECK_LE((most - least) / start, 1e-9);
    CHECK_NEAR(period_error, w * h * w * h / 12, 0.01 * w * h * w * h);
    CHECK_LE(v3_norm(ds_state_angular_velocity(s.state, id)), 1e-12);
    sim_close(&s);
  }
}

/* Rayleigh damping: the amplitude falls by exp(-zeta w t), zeta = (a/w + b w)/2. */
static void test_damping(void) {
  for (int32_t trial = 0; trial < 2; trial++) {
    hand_def def = hand_default();
    sim s;
    ds_body_def body = ds_default_body();
    def.damping_mass = trial == 0 ? 0.5 : 0;
    def.damping_stiffness = trial == 0 ? 0 : 2e-3;
    if (!fly(&s, "damping", hand_body(&def), &body, v3(0, 0, 0))) return;
    s.options.step = 1e-3;
    ds_body_id id = ds_scene_body(s.scene, 0);
    double w = 2 * DS_PI * def.frequency, zeta = 0.5 * (def.damping_mass / w + def.damping_stiffness * w);
    double q[6] = {0.2}, rate[6] = {0};
    ds_state_set_reduced(s.state, id, q, rate);
    sim_step(&s);
    double start = total(&s), swing = 2 * DS_PI / (w * sqrt(1 - zeta * zeta));
    int32_t periods = 4, steps = (int32_t)(periods * swing / s.options.step + 0.5);
    for (int32_t n = 0; n < steps; n++) sim_step(&s);
    double rate_found = 0.5 * log(start / total(&s)) / (w * steps * s.options.step);
    printf("     zeta = %.5f found, %.5f wanted\n", rate_found, zeta);
    CHECK_NEAR(rate_found, zeta, 3e-3 * zeta);
    sim_close(&s);
  }
}

/* Numerical damping: at the Nyquist end a step multiplies a stiff mode by -(1 - delta)/(1 + delta), twice over. */
static void test_numerical_damping(void) {
  hand_def def = hand_default();
  def.frequency = 1e7;
  sim s;
  ds_body_def body = ds_default_body();
  if (!fly(&s, "numerical damping", hand_body(&def), &body, v3(0, 0, 0))) return;
  s.options.newmark_damping = 0.5;
  ds_body_id id = ds_scene_body(s.scene, 0);
  double x = -1.0 / 3, h = s.options.step, q[6] = {0.1}, rate[6] = {(0.1 - 0.1 / x) / h};
  ds_state_set_reduced(s.state, id, q, rate);
  s.state->reduced_step = h;
  for (int32_t n = 1; n <= 8; n++) {
    int32_t r;
    sim_step(&s);
    const double *now = ds_state_reduced(s.state, id, &r);
    CHECK_NEAR(now[0] / (0.1 * pow(x, n)), 1, 1e-6);
  }
  sim_close(&s);
}

/* ---- turning and vibrating ---- */

/* Takes the body. q and rates at the start are up to `size` and `speed`. */
static void check_conservation(const char *name, ds_reduced *x, double size, double speed, double spin,
                               ds_options options, double energy_limit) {
  int32_t steps = test_quick() ? 200 : 1000, contacts = 0;
  sim s;
  ds_body_def body = ds_default_body();
  seed = 5;
  body.pose = random_pose(1);
  body.velocity = random_vec(1);
  body.angular_velocity = v3_scale(spin, v3_unit(random_vec(1)));
  if (!x || !fly(&s, name, x, &body, v3(0, 0, 0))) return;
  double h = options.step;
  s.options = options;
  double q[32], rate[32];
  random_numbers(q, x->r, size);
  random_numbers(rate, x->r, speed);
  for (int32_t a = 0; a < x->r; a++) { /* stiff coordinates less */
    double softer = x->stiffness[0] / x->stiffness[a * (x->r + 1)];
    q[a] *= softer, rate[a] *= sqrt(softer);
  }
  ds_state_set_reduced(s.state, ds_scene_body(s.scene, 0), q, rate);
  s.state->reduced_step = h;
  ds_momentum start = ds_state_momentum(s.scene, s.state);
  double energy = total(&s), linear = 0, angular = 0, least = INFINITY, most = 0, early = 0, late = 0;
  for (int32_t n = 0; n < steps; n++) {
    sim_step(&s);
    contacts += s.report.contacts;
    ds_momentum now = ds_state_momentum(s.scene, s.state);
    linear = fmax(linear, v3_dist(now.linear, start.linear) / v3_norm(start.linear));
    angular = fmax(angular, v3_dist(now.angular, start.angular) / v3_norm(start.angular));
    double e = total(&s);
    least = fmin(least, e), most = fmax(most, e);
    if (n < steps / 5) early += e / (steps / 5);
    if (n >= steps - steps / 5) late += e / (steps / 5);
  }
  printf("     %s: momentum %.1e, angular %.1e; energy within %.4f .. %.4f of its start, drift %.1e\n", name, linear,
         angular, least / energy, most / energy, late / early - 1);
  CHECK(contacts == 0); /* it does not touch itself, which would cost energy */
  CHECK_LE(linear, 1e-10);
  CHECK_LE(angular, 1e-10);
  CHECK_LE(most / energy - 1, energy_limit);
  CHECK_LE(1 - least / energy, energy_limit);
  CHECK_LE(fabs(late / early - 1), 0.3 * energy_limit);
  sim_close(&s);
}

static void test_conservation(void) {
  hand_def def = hand_default();
  ds_options options = ds_default_options();
  options.newmark_damping = 0;
  check_conservation("modal", hand_body(&def), 0.1, 0.5, 3, options, 0.02);
  def.frequency = 8;
  check_conservation("modal, fast", hand_body(&def), 0.1, 0.5, 20, options, 0.05);
  def.frequency = 2;
  options.metric = DS_METRIC_MASS;
  check_conservation("modal, mass metric", hand_body(&def), 0.1, 0.5, 3, options, 0.02);
  options.metric = DS_METRIC_EFFECTIVE;
  def.cubic = 2;
  check_conservation("stvk", hand_body(&def), 0.2, 1, 3, options, 0.05);
  options.newton = 20;
  check_conservation("stvk, full newton", hand_body(&def), 0.2, 1, 3, options, 0.05);
}

static ds_reduced *make_beam(bool stvk) {
  ds_error error = {""};
  ds_reduced_def def = ds_default_reduced();
  ds_tets tets = tets_box(v3(0.5, 0.1, 0.08), 10, 2, 2);
  def.young = 1e5;
  def.modes = stvk ? 9 : 12;
  def.stvk = stvk;
  def.damping_stiffness = 0;
  ds_reduced *reduced = ds_reduced_create(&tets, &def, &error);
  tets_drop(&tets);
  if (!reduced) printf("%s\n", error.message);
  CHECK(reduced != NULL);
  return reduced;
}

/* The same of beams of finite elements. The first bending mode swings by some centimetres. */
static void test_beams(void) {
  ds_options options = ds_default_options();
  options.newmark_damping = 0;
  options.step = 0.003;
  check_conservation("beam", make_beam(false), 0.03, 0.6, 5, options, 0.02);
  check_conservation("beam, stvk", make_beam(true), 0.03, 0.6, 5, options, 0.02);
  options.newton = 20;
  check_conservation("beam, stvk, full newton", make_beam(true), 0.03, 0.6, 5, options, 0.02);
}

/* ---- limits ---- */

/* So stiff that nothing deforms: the rigid body of the same mass, turning freely under gravity. */
static void test_rigid_limit(void) {
  hand_def def = hand_default();
  def.frequency = 1e6;
  sim soft, hard;
  ds_body_def body = ds_default_body();
  body.velocity = v3(1, 2, 3);
  body.angular_velocity = v3(0.4, 5, 0.3);
  ds_vec3 gravity = v3(0, 0, -9.81);
  ds_reduced *x = hand_body(&def);
  ds_vec3 j = x->inertia;
  double m = x->mass; /* a box of the same moments: j.x = m (y² + z²)/3 */
  ds_vec3 half =
      v3(sqrt(1.5 * (j.y + j.z - j.x) / m), sqrt(1.5 * (j.x + j.z - j.y) / m), sqrt(1.5 * (j.x + j.y - j.z) / m));
  if (!fly(&soft, "stiff", x, &body, gravity)) return;
  ds_scene *scene = scene_new(gravity, 0.5, 0);
  body.mass = m;
  scene_add(scene, &body, shape_box(2 * half.x, 2 * half.y, 2 * half.z));
  if (!sim_finish(&hard, "rigid", scene)) return;
  hard.options.integrator = DS_INTEGRATOR_MIDPOINT;
  ds_body_id id = ds_scene_body(scene, 0);
  double place = 0, turn = 0;
  for (int32_t n = 0; n < 300; n++) {
    sim_step(&soft), sim_step(&hard);
    ds_pose a = ds_state_pose(soft.scene, soft.state, id), b = ds_state_pose(hard.scene, hard.state, id);
    place = fmax(place, v3_dist(a.p, b.p));
    turn = fmax(turn, 1 - fabs(a.q.w * b.q.w + a.q.x * b.q.x + a.q.y * b.q.y + a.q.z * b.q.z));
  }
  printf("     300 steps: %.2g m and %.2g rad from the rigid body\n", place, sqrt(2 * fmax(turn, 0)));
  CHECK_LE(place, 1e-9);
  CHECK_LE(turn, 1e-12);
  sim_close(&soft);
  sim_close(&hard);
}

/* Gravity does not deform: x = n h v + g (n h)²/2. */
static void test_free_fall(void) {
  hand_def def = hand_default();
  sim s;
  ds_body_def body = ds_default_body();
  body.velocity = v3(1, 2, 3);
  if (!fly(&s, "fall", hand_body(&def), &body, v3(0, 0, -9.81))) return;
  ds_body_id id = ds_scene_body(s.scene, 0);
  int32_t n = 200, r;
  double h = s.options.step;
  for (int32_t i = 0; i < n; i++) sim_step(&s);
  ds_vec3 x = ds_state_center(s.state, id);
  CHECK_NEAR(x.x, n * h, 1e-12);
  CHECK_NEAR(x.z, 3 * n * h - 0.5 * 9.81 * n * n * h * h, 1e-11);
  const double *q = ds_state_reduced(s.state, id, &r);
  CHECK(r == def.r);
  for (int32_t a = 0; a < r; a++) CHECK_NEAR(q[a], 0, 0);
  sim_close(&s);
}

/* Spinning about a principal axis it stretches until elasticity balances what pulls outwards. */
static void test_centrifugal(void) {
  hand_def def = hand_default();
  def.damping_mass = 20;
  def.frequency = 10;
  sim s;
  ds_body_def body = ds_default_body();
  body.angular_velocity = v3(0, 0, 4);
  if (!fly(&s, "centrifugal", hand_body(&def), &body, v3(0, 0, 0))) return;
  ds_body_id id = ds_scene_body(s.scene, 0);
  const ds_reduced *x = s.scene->bodies[0].reduced;
  int32_t r;
  sim_run(&s, 3);
  const double *q = ds_state_reduced(s.state, id, &r);
  double pull[32], coupled[32], rest[32] = {0}, force[32];
  ds_vec3 w = quat_unrotate(s.state->bodies[0].q, s.state->bodies[0].w);
  ds_deformable_drive(pull, coupled, x, q, w, rest);
  ds_reduced_force(force, x, q);
  double scale = 0;
  for (int32_t a = 0; a < r; a++) scale = fmax(scale, fabs(force[a]));
  for (int32_t a = 0; a < r; a++) CHECK_NEAR(force[a], pull[a], 2e-3 * scale);
  sim_close(&s);
}

/* Energy beyond all numbers ends the step with an error, and leaves the state as it was: it can be mended. */
static void test_blow_up(void) {
  hand_def def = hand_default();
  def.cubic = 2;
  sim s;
  ds_body_def body = ds_default_body();
  body.angular_velocity = v3(0, 0, 4);
  if (!fly(&s, "blow-up", hand_body(&def), &body, v3(0, 0, 0))) return;
  ds_body_id id = ds_scene_body(s.scene, 0);
  double q[6] = {1e120, 0, -1e150}, rate[6] = {0};
  int32_t r;
  ds_step_report report;
  ds_state_set_reduced(s.state, id, q, rate);
  uint64_t before = ds_state_hash(s.state);
  for (int32_t n = 0; n < 2; n++) {
    CHECK(ds_step(s.stepper, s.state, &report, s.scene, &s.options) == DS_ERROR_NOT_FINITE);
    CHECK(ds_state_hash(s.state) == before);
  }
  q[0] = 0.01, q[2] = 0;
  ds_state_set_reduced(s.state, id, q, rate);
  for (int32_t n = 0; n < 10; n++) CHECK(ds_step(s.stepper, s.state, &report, s.scene, &s.options) == DS_OK);
  const double *now = ds_state_reduced(s.state, id, &r);
  for (int32_t a = 0; a < r; a++) CHECK(fabs(now[a]) < 1);
  CHECK(v3_finite(ds_state_angular_velocity(s.state, id)) && v3_finite(ds_state_center(s.state, id)));
  sim_free(&s);
}

/* ---- state and scene ---- */

static void test_state(void) {
  hand_def def = hand_default();
  ds_reduced *x = hand_body(&def);
  ds_scene *scene = scene_new(v3(0, 0, -9.81), 0.5, 0);
  ds_body_def body = ds_default_body();
  ds_shape_def shape = shape_reduced(x);
  double start[6] = {0.1, 0.2, 0.3, 0, 0, 0}, rate[6] = {0, 0, 0, 1, 2, 3};
  shape.start = start;
  shape.start_rate = rate;
  ds_body_def ball = body_at(9, 0, 0);
  scene_add(scene, &ball, shape_sphere(0.1));
  ds_body_id id = scene_add(scene, &body, shape);
  sim s;
  if (!sim_finish(&s, "state", scene)) return;
  int32_t r;
  CHECK(ds_state_reduced(s.state, ds_scene_body(scene, 0), &r) == NULL && r == 0);
  const double *q = ds_state_reduced(s.state, id, &r), *u = ds_state_reduced_rate(s.state, id, &r);
  CHECK(r == 6 && memcmp(q, start, sizeof start) == 0 && memcmp(u, rate, sizeof rate) == 0);
  ds_shape_def back = ds_body_shape(scene, id, 0);
  CHECK(back.kind == DS_SHAPE_REDUCED && back.reduced == x && back.start[2] == 0.3 && back.start_rate[5] == 3);
  CHECK_NEAR(ds_body_mass(scene, id).mass, def.mass, 0);
  for (int32_t i = 0; i < 20; i++) sim_step(&s);
  ds_state *copy = ds_state_copy(s.state);
  CHECK(copy && ds_state_hash(copy) == ds_state_hash(s.state));
  double other[6] = {0.1, 0.2, 0.3, 0, 0, 1e-12};
  for (int32_t i = 0; i < 20; i++) {
    ds_step_report report;
    sim_step(&s);
    CHECK(ds_step(s.stepper, copy, &report, scene, &s.options) == DS_OK);
  }
  CHECK(ds_state_hash(copy) == ds_state_hash(s.state));
  ds_state_set_reduced(copy, id, other, NULL);
  CHECK(ds_state_hash(copy) != ds_state_hash(s.state));
  ds_state_destroy(copy);
  sim_close(&s);
  ds_reduced_release(x);
}

static void check_refused(ds_reduced *x, const ds_body_def *body, ds_shape_def shape, bool twice, const char *why) {
  ds_scene *scene = scene_new(v3(0, 0, -9.81), 0.5, 0);
  ds_error error = {""};
  ds_body_id id = ds_scene_add_body(scene, body, &error);
  ds_status status = ds_scene_add_shape(scene, id, &shape, &error);
  ds_shape_def again = shape_sphere(0.1);
  if (twice && status == DS_OK) status = ds_scene_add_shape(scene, id, &again, &error);
  if (status == DS_OK || !strstr(error.message, why)) printf("\"%s\" does not say \"%s\"\n", error.message, why);
  CHECK(status == DS_ERROR_INPUT && strstr(error.message, why));
  ds_scene_destroy(scene);
  CHECK(atomic_load(&x->owners) == 1);
}

static void test_refusals(void) {
  hand_def def = hand_default();
  ds_reduced *x = hand_body(&def);
  ds_body_def body = ds_default_body();
  ds_shape_def shape = shape_reduced(x);
  check_refused(x, &body, shape_reduced(NULL), false, "ds_reduced_create");
  check_refused(x, &body, shape, true, "one shape");
  body.mass = 3;
  check_refused(x, &body, shape, false, "mass");
  body.mass = 0;
  body.kind = DS_BODY_STATIC;
  check_refused(x, &body, shape, false, "dynamic");
  body.kind = DS_BODY_DYNAMIC;
  shape.pose.p.x = 1;
  check_refused(x, &body, shape, false, "pose");
  shape = shape_reduced(x);
  double start[6] = {0, NAN};
  shape.start = start;
  check_refused(x, &body, shape, false, "finite");
  ds_options options = ds_default_options();
  ds_error error;
  options.newton = 0;
  CHECK(ds_options_check(&options, &error) == DS_ERROR_INPUT && strstr(error.message, "newton"));
  options = ds_default_options();
  options.newmark_damping = -1;
  CHECK(ds_options_check(&options, &error) == DS_ERROR_INPUT && strstr(error.message, "newmark_damping"));
  options = ds_default_options();
  options.metric = (ds_metric)7;
  CHECK(ds_options_check(&options, &error) == DS_ERROR_INPUT && strstr(error.message, "metric"));
  ds_reduced_release(x);
}

/* Before its release a body hangs where it is. */
static void test_held(void) {
  hand_def def = hand_default();
  sim s;
  ds_body_def body = ds_default_body();
  body.release_time = 0.105;
  if (!fly(&s, "held", hand_body(&def), &body, v3(0, 0, -9.81))) return;
  ds_body_id id = ds_scene_body(s.scene, 0);
  double q[6] = {0.1};
  int32_t r;
  ds_state_set_reduced(s.state, id, q, NULL);
  sim_run(&s, 0.1);
  CHECK(ds_state_center(s.state, id).z == 0 && ds_state_reduced(s.state, id, &r)[0] == 0.1);
  sim_run(&s, 0.1);
  CHECK(ds_state_center(s.state, id).z < 0 && ds_state_reduced(s.state, id, &r)[0] != 0.1);
  sim_close(&s);
}

static void check_warm(sim *s, int32_t before) {
  for (int32_t i = 0; i < before; i++) sim_step(s);
  long there = atomic_load(&requests);
  for (int32_t i = 0; i < 20; i++) sim_step(s);
  CHECK_NEAR((double)(atomic_load(&requests) - there), 0, 0);
  sim_close(s);
}

static void test_warm_step(void) {
  hand_def def = hand_default();
  sim s;
  ds_body_def body = ds_default_body();
  body.angular_velocity = v3(1, 2, 3);
  def.cubic = 2;
  if (!fly(&s, "warm", hand_body(&def), &body, v3(0, 0, -9.81))) return;
  CHECK(atomic_load(&requests) > 0); /* the linker does send them here */
  s.options.newton = 5;
  check_warm(&s, 5);
  ds_scene *scene = scene_new(v3(0, 0, -9.81), 0.5, 0); /* and on a floor, with a ball that rests on it */
  def.frequency = 20;
  def.damping_stiffness = 1e-3;
  ds_reduced *x = hand_body(&def);
  body = body_at(0, 0, 0.1);
  ds_body_def ball = body_at(0, 0, 0.25);
  scene_add_floor(scene);
  scene_add(scene, &body, shape_reduced(x));
  scene_add(scene, &ball, shape_sphere(0.05));
  ds_reduced_release(x);
  if (!sim_finish(&s, "warm, on a floor", scene)) return;
  check_warm(&s, 100);
}

int main(void) {
  RUN(test_mass_matrix);
  RUN(test_rows);
  RUN(test_vibration);
  RUN(test_damping);
  RUN(test_numerical_damping);
  RUN(test_conservation);
  RUN(test_beams);
  RUN(test_rigid_limit);
  RUN(test_free_fall);
  RUN(test_centrifugal);
  RUN(test_blow_up);
  RUN(test_state);
  RUN(test_refusals);
  RUN(test_held);
  RUN(test_warm_step);
  return test_summary();
}
