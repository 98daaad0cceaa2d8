/* The operations of every kind of body, held against each other: the metric against the energy, rows against velocities
 * and these against positions, changes of momentum, a free step, and the skin. A new kind needs a line in `add_bodies`.
 *
 * What is compared is linear or quadratic in what is varied, so that differences are exact to rounding. */
#include "assemble/assemble.h"
#include "hand_body.h"
#include "integrate/integrate.h"
#include "random_pose.h"
#include "scene_helper.h"

enum { TRIALS = 20, NUMBERS = 6 + DS_REDUCED_MAX };
static const double h = 0.01;

/* One body of every kind, each by itself. */
static void add_bodies(ds_scene *scene) {
  hand_def soft = hand_default();
  ds_body_def body = ds_default_body();
  ds_shape_def box = ds_default_shape();
  box.half = v3(0.1, 0.2, 0.3);
  scene_add(scene, &body, box);
  for (int stvk = 0; stvk < 2; stvk++) {
    ds_shape_def shape = ds_default_shape();
    soft.cubic = stvk ? 1e3 : 0;
    shape.kind = DS_SHAPE_REDUCED;
    shape.reduced = hand_body(&soft);
    scene_add(scene, &body, shape);
    ds_reduced_release(shape.reduced);
  }
  body.kind = DS_BODY_STATIC;
  scene_add(scene, &body, box);
  body.kind = DS_BODY_KINEMATIC;
  body.motion.kind = DS_MOTION_VELOCITY;
  body.motion.velocity = v3(1, 2, 3);
  body.motion.angular_velocity = v3(3, 2, 1);
  body.motion.end_time = INFINITY;
  scene_add(scene, &body, box);
}

/* A scene with its bodies anywhere, in any motion, and what a step knows of them. */
typedef struct world {
  ds_scene *scene;
  ds_state *state;
  ds_options options;
  ds_arena arena;
  ds_assembly assembly;
} world;

static bool world_open(world *x, ds_metric metric) {
  ds_error error = {""};
  *x = (world){.scene = scene_new(v3(0, 0, 0), 0.5, 0), .options = ds_default_options()};
  x->options.metric = metric;
  x->options.step = h;
  add_bodies(x->scene);
  CHECK(ds_scene_finish(x->scene, &error) == DS_OK);
  x->state = ds_state_create(x->scene);
  return x->state != NULL;
}

static void world_shake(world *x) {
  ds_contact_list none = {0};
  for (int32_t i = 0; i < x->scene->body_count; i++) {
    ds_body_state *s = &x->state->bodies[i];
    if (!x->scene->bodies[i].ops->dynamic) continue;
    *s = (ds_body_state){random_vec(1), random_quat(), random_vec(1), random_vec(3)};
  }
  for (int32_t i = 0; i < x->scene->reduced_count; i++)
    x->state->reduced[i] = uniform(-0.1, 0.1), x->state->reduced_rate[i] = uniform(-1, 1);
  ds_arena_reset(&x->arena);
  x->assembly = (ds_assembly){0};
  CHECK(ds_assemble(&x->arena, &x->assembly, x->scene, x->state, &none, &x->options, NULL));
}

static void world_close(world *x) {
  ds_arena_free(&x->arena);
  ds_state_destroy(x->state);
  ds_scene_destroy(x->scene);
}

/* Runs a check of every body that the scene has, in TRIALS states. */
typedef void check_body(world *x, int32_t i, double *worst);
static void check_all(ds_metric metric, check_body *check, const char *what, double tolerance) {
  world x;
  double worst = 0;
  if (!world_open(&x, metric)) return;
  for (int32_t trial = 0; trial < TRIALS; trial++) {
    world_shake(&x);
    for (int32_t i = 0; i < x.scene->body_count; i++)
      if (x.scene->bodies[i].ops->dynamic) check(&x, i, &worst);
  }
  printf("     %s to %.2g\n", what, worst);
  CHECK_LE(worst, tolerance);
  world_close(&x);
}

static void note(double *worst, double got, double want, double scale) {
  *worst = fmax(*worst, isfinite(got) ? fabs(got - want) / scale : INFINITY);
}

static ds_vec3 local_spin(const ds_body_state *s) { return quat_unrotate(s->q, s->w); }

/* ---- the table ---- */

/* Every kind of the table is that of some body, and the first that takes it. */
static void test_table(void) {
  const char *const names[] = {"rigid", "modal", "stvk", "static", "scripted"};
  world x;
  if (!world_open(&x, DS_METRIC_EFFECTIVE)) return;
  world_shake(&x);
  for (int32_t k = 0; k < ds_body_kind_count; k++) {
    int32_t found = 0;
    for (int32_t i = 0; i < x.scene->body_count; i++) found += x.scene->bodies[i].ops == ds_body_kinds[k];
    if (found == 0) printf("no body of kind %s here\n", ds_body_kinds[k]->name);
    CHECK(found > 0);
  }
  for (int32_t i = 0; i < x.scene->body_count; i++) {
    const ds_body *body = &x.scene->bodies[i];
    const ds_step_body *step = &x.assembly.bodies[i];
    if (i < 5) CHECK(strcmp(body->ops->name, names[i]) == 0);
    CHECK(step->moves == body->ops->dynamic && step->size == 6 + body->r && (step->rate != NULL) == (body->r > 0));
    CHECK(body->ops->deforms == (body->skin != NULL) && body->ops->deforms == (body->ops->stir != NULL));
    CHECK(!body->ops->fixed || (!body->ops->dynamic && !body->ops->move && !body->ops->script));
  }
  world_close(&x);
}

/* ---- the metric ---- */

static void scale_state(double *z, const world *x, int32_t i) {
  const ds_body_state *s = &x->state->bodies[i];
  ds_scale_velocity(z, &x->assembly.bodies[i], s->v, s->w, x->assembly.bodies[i].rate_before);
}

static void check_back(world *x, int32_t i, double *worst) {
  const ds_body_state *s = &x->state->bodies[i];
  const ds_step_body *step = &x->assembly.bodies[i];
  double z[NUMBERS], rate[DS_REDUCED_MAX] = {0};
  ds_vec3 v, w;
  scale_state(z, x, i);
  ds_unscale_velocity(&v, &w, rate, step, z);
  note(worst, v3_dist(v, s->v), 0, 1);
  note(worst, v3_dist(w, s->w), 0, 1);
  for (int32_t a = 0; a < step->body->r; a++) note(worst, rate[a], step->rate_before[a], 1);
}

/* |z|²/2 is the kinetic energy, in the metric of mass. */
static void check_energy(world *x, int32_t i, double *worst) {
  const ds_body *body = &x->scene->bodies[i];
  ds_energy energy = {0};
  double z[NUMBERS], sum = 0;
  scale_state(z, x, i);
  for (int32_t k = 0; k < 6 + body->r; k++) sum += 0.5 * z[k] * z[k];
  body->ops->energy(&energy, body, &x->state->bodies[i], x->state);
  note(worst, sum, energy.kinetic, energy.kinetic);
}

static void test_metric(void) {
  check_all(DS_METRIC_EFFECTIVE, check_back, "velocities scaled and back", 1e-12);
  check_all(DS_METRIC_MASS, check_back, "velocities scaled and back, metric of mass", 1e-12);
  check_all(DS_METRIC_MASS, check_energy, "metric of mass and energy agree", 1e-12);
}

/* ---- momentum ---- */

/* The momentum is the derivative of the energy by w, and `kick` its change. */
static void check_momentum(world *x, int32_t i, double *worst) {
  const ds_body *body = &x->scene->bodies[i];
  const ds_step_body *step = &x->assembly.bodies[i];
  ds_body_state s = x->state->bodies[i], up = s, down = s;
  ds_vec3 dw = random_vec(1), local = local_spin(&s);
  ds_energy high = {0}, low = {0};
  double rate[DS_REDUCED_MAX];
  up.w = v3_add(s.w, quat_rotate(s.q, dw)), down.w = v3_sub(s.w, quat_rotate(s.q, dw));
  body->ops->energy(&high, body, &up, x->state);
  body->ops->energy(&low, body, &down, x->state);
  ds_vec3 p = body->ops->momentum(body, step->q, local, step->rate_before);
  note(worst, 0.5 * (high.kinetic - low.kinetic), v3_dot(dw, p), v3_norm(p));
  for (int32_t a = 0; a < body->r; a++) rate[a] = uniform(-1, 1);
  ds_vec3 after = body->ops->momentum(body, step->q, v3_add(local, dw), rate);
  ds_vec3 kick = step->ops->kick(step, dw, rate, step->rate_before);
  note(worst, v3_dist(v3_sub(after, p), kick), 0, v3_norm(p));
}

static void test_momentum(void) {
  check_all(DS_METRIC_EFFECTIVE, check_momentum, "energy, momentum and kicks agree", 1e-12);
}

/* ---- rows ---- */

static ds_anchor any_anchor(const ds_body *body) {
  if (!body->skin) return (ds_anchor){-1, 0, 0};
  double s = uniform(0, 1), t = uniform(0, 1 - s);
  return (ds_anchor){(int32_t)uniform(0, 0.999 * body->skin->mesh->triangle_count), s, t};
}

/* Where the point of an anchor is, in the body's frame. */
static ds_vec3 anchored(const ds_skin *skin, const double *q, ds_anchor at) {
  const int32_t *t = skin->mesh->triangles + 3 * at.triangle;
  ds_vec3 a = ds_skin_vertex(skin, q, t[0]), b = ds_skin_vertex(skin, q, t[1]), c = ds_skin_vertex(skin, q, t[2]);
  return v3_mad(v3_mad(a, at.s, v3_sub(b, a)), at.t, v3_sub(c, a));
}

/* Velocity of a point against the frame: from the skin at q + rate and q - rate. */
static ds_vec3 stir_of(const ds_body *body, const ds_body_state *s, const ds_step_body *step, ds_anchor at) {
  double up[DS_REDUCED_MAX], down[DS_REDUCED_MAX];
  if (at.triangle < 0) return v3(0, 0, 0);
  for (int32_t a = 0; a < body->r; a++)
    up[a] = step->q[a] + step->rate_before[a], down[a] = step->q[a] - step->rate_before[a];
  return quat_rotate(s->q, v3_scale(0.5, v3_sub(anchored(body->skin, up, at), anchored(body->skin, down, at))));
}

static double product(const double *row, const double *z, int32_t n) {
  double sum = 0;
  for (int32_t k = 0; k < n; k++) sum += row[k] * z[k];
  return sum;
}

static void check_rows(world *x, int32_t i, double *worst) {
  const ds_body *body = &x->scene->bodies[i];
  const ds_step_body *step = &x->assembly.bodies[i];
  const ds_body_state *s = &x->state->bodies[i];
  ds_contact_frame frame = {.normal = v3_unit(random_vec(1))};
  ds_anchor at = any_anchor(body), other = any_anchor(body);
  ds_vec3 arm = random_vec(0.3), stir = stir_of(body, s, step, at);
  double g[3 * NUMBERS], row[NUMBERS], z[NUMBERS];
  int32_t n = step->size;
  v3_tangents(&frame.t1, &frame.t2, frame.normal);
  scale_state(z, x, i);
  ds_vec3 velocity = v3_add(v3_add(s->v, v3_cross(s->w, arm)), stir);
  if (step->ops->stir) note(worst, v3_dist(step->ops->stir(step, at, step->rate_before), stir), 0, 1);
  const ds_vec3 d[3] = {frame.normal, frame.t1, frame.t2};
  for (int sign = -1; sign <= 1; sign += 2) {
    step->ops->rows(g, step, arm, at, NULL, &frame, sign);
    for (int k = 0; k < 3; k++) note(worst, product(g + k * n, z, n), sign * v3_dot(d[k], velocity), 1);
  }
  step->ops->row(row, step, d[1], v3_cross(arm, d[1]), at);
  note(worst, product(row, z, n), v3_dot(d[1], velocity), 1);
  if (!body->skin) return;
  step->ops->rows(g, step, arm, at, &other, &frame, 1); /* with itself: only its deformation counts */
  stir = v3_sub(stir, stir_of(body, s, step, other));
  for (int k = 0; k < 3; k++) note(worst, product(g + k * n, z, n), v3_dot(d[k], stir), 1);
}

static void test_rows(void) {
  check_all(DS_METRIC_EFFECTIVE, check_rows, "rows and velocities agree", 1e-12);
  check_all(DS_METRIC_MASS, check_rows, "rows and velocities agree, metric of mass", 1e-12);
}

/* ---- one step ---- */

/* A body that nothing touches keeps its angular momentum, and goes on along its velocity. */
static void check_step(world *x, int32_t i, double *worst) {
  const ds_body *body = &x->scene->bodies[i];
  ds_step_body *step = &x->assembly.bodies[i];
  ds_body_state *s = &x->state->bodies[i], before = *s;
  double q[DS_REDUCED_MAX];
  ds_vec3 p = body->ops->momentum(body, step->q, local_spin(s), step->rate_before);
  for (int32_t a = 0; a < body->r; a++) q[a] = step->q[a];
  step->v = s->v;
  step->w = mat3_mul_v3(&step->rotation, step->ops->predict(step, p, p, &x->options));
  step->spin = mat3_mul_v3(&step->rotation, p);
  ds_move move = {.v = step->v, .w = step->w, .rate = step->rate, .share = 1, .keep = 1};
  step->ops->move(x->state, i, step, &move, h);
  note(worst, v3_dist(s->x, v3_mad(before.x, h, before.v)), 0, 1);
  note(worst, v3_dist(s->v, before.v), 0, 1);
  for (int32_t a = 0; a < body->r; a++) note(worst, step->q[a], q[a] + h * step->rate_before[a], 1);
  ds_vec3 later = body->ops->momentum(body, step->q, local_spin(s), step->rate_before);
  note(worst, v3_dist(quat_rotate(s->q, later), quat_rotate(before.q, p)), 0, v3_norm(p));
}

static void test_step(void) { check_all(DS_METRIC_EFFECTIVE, check_step, "a free step", 1e-12); }

/* A body that was stopped on its way loses that part of its velocity, and keeps that share of what is left. */
static void test_lost(void) {
  const ds_vec3 lost = v3(0.3, -0.2, 0.7);
  world x;
  if (!world_open(&x, DS_METRIC_EFFECTIVE)) return;
  for (int midpoint = 0; midpoint < 2; midpoint++) {
    world_shake(&x);
    for (int32_t i = 0; i < x.scene->body_count; i++) {
      const ds_body *body = &x.scene->bodies[i];
      ds_step_body *step = &x.assembly.bodies[i];
      ds_body_state *s = &x.state->bodies[i], before = *s;
      if (!body->ops->dynamic || body->ops->deforms) continue; /* those are not stopped */
      step->midpoint = midpoint;
      ds_move move = {.v = v3(1, 2, 3), .w = v3(3, 1, 2), .rate = step->rate, .share = 1, .keep = 1};
      body->ops->move(x.state, i, step, &move, h);
      ds_body_state whole = *s;
      *s = before;
      move.lost = lost, move.keep = 0.25;
      body->ops->move(x.state, i, step, &move, h);
      CHECK_LE(v3_dist(s->v, v3_scale(0.25, v3_sub(whole.v, lost))), 1e-14);
      CHECK_LE(v3_dist(s->w, v3_scale(0.25, whole.w)), 1e-13);
      CHECK(v3_dist(s->x, whole.x) == 0);
    }
  }
  world_close(&x);
}

/* What a script says is where the body lands, with the velocity that takes it there. */
static void test_script(void) {
  world x;
  int32_t scripts = 0;
  if (!world_open(&x, DS_METRIC_EFFECTIVE)) return;
  for (int k = 0; k < 3; k++) {
    world_shake(&x);
    for (int32_t i = 0; i < x.scene->body_count; i++) {
      const ds_body *body = &x.scene->bodies[i];
      const ds_step_body *step = &x.assembly.bodies[i];
      ds_body_state *s = &x.state->bodies[i], before = *s;
      if (!body->ops->script) continue;
      body->ops->move(x.state, i, step, &(ds_move){0}, h);
      ds_pose wanted = body->ops->script(body, x.state->time + h);
      CHECK_LE(v3_dist(s->x, wanted.p), 1e-15);
      CHECK_LE(v3_dist(s->x, v3_mad(before.x, h, step->v)), 1e-12);
      ds_quat turned = quat_mul(quat_exp(v3_scale(h, step->w)), before.q);
      CHECK_LE(quat_norm(quat(turned.w - s->q.w, turned.x - s->q.x, turned.y - s->q.y, turned.z - s->q.z)), 1e-12);
      scripts++;
    }
    x.state->time += h;
  }
  CHECK(scripts == 3);
  world_close(&x);
}

/* The velocity of a script is the derivative of its pose, whatever the kind of motion. */
static void test_script_velocity(void) {
  static const ds_keyframe keys[3] = {
      {0.1, {{0, 0, 0}, {1, 0, 0, 0}}}, {0.5, {{1, 2, 3}, {0.6, 0, 0.8, 0}}}, {1.5, {{-1, 2, 0}, {0, 0.6, 0.8, 0}}}};
  ds_scene *scene = scene_new(v3(0, 0, 0), 0.5, 0);
  ds_error error = {""};
  for (int k = 0; k < 3; k++) {
    ds_body_def body = body_at(0.3, -0.2, 1);
    body.kind = DS_BODY_KINEMATIC;
    body.pose.q = quat_unit(quat(0.9, 0.1, -0.2, 0.3));
    body.motion.kind = k == 0 ? DS_MOTION_VELOCITY : k == 1 ? DS_MOTION_HARMONIC : DS_MOTION_KEYFRAMES;
    body.motion.end_time = INFINITY;
    body.motion.velocity = v3(1, 2, 3), body.motion.angular_velocity = v3(3, 2, 1);
    body.motion.amplitude = v3(0.3, -0.1, 0.2), body.motion.angular_amplitude = v3(0.5, 0.2, -0.4);
    body.motion.frequency = 0.7, body.motion.phase = 1.1;
    body.motion.keyframes = keys, body.motion.keyframe_count = 3;
    scene_add(scene, &body, shape_box(0.1, 0.1, 0.1));
  }
  CHECK(ds_scene_finish(scene, &error) == DS_OK);
  for (int32_t i = 0; i < scene->body_count; i++)
    for (double t = 0.2; t < 1.4; t += 0.23) {
      const double d = 1e-5;
      const ds_body *body = &scene->bodies[i];
      ds_vec3 v, w, v0, w0;
      ds_motion_velocity(&v, &w, body, t);
      ds_velocity_between(&v0, &w0, ds_motion_pose(body, t - d), ds_motion_pose(body, t + d), 2 * d);
      CHECK_LE(v3_dist(v, v0), 1e-8);
      CHECK_LE(v3_dist(w, w0), 1e-8);
    }
  ds_scene_destroy(scene);
}

/* ---- the skin ---- */

/* `place` gives the bits of `vertex`; spheres hold the corners of their triangles. */
static void check_skin(world *x, int32_t i, double *worst) {
  const ds_skin *skin = x->scene->bodies[i].skin;
  const double *q = x->assembly.bodies[i].q;
  if (!skin) return;
  int32_t last = skin->mesh->vertex_count - 1, list[2] = {last, 0};
  ds_vec3 *y = DS_NEW0(&x->arena, ds_vec3, last + 1);
  ds_skin_place(y, skin, q, list, 2);
  for (int k = 0; k < 2; k++) note(worst, v3_dist(y[list[k]], ds_skin_vertex(skin, q, list[k])), 0, 1e-300);
  for (int32_t k = 0; k < skin->tree->sphere_count; k++) {
    const ds_bd_sphere *sphere = &skin->tree->spheres[k];
    ds_vec3 center;
    double radius = ds_skin_sphere(&center, skin, q, k);
    for (int32_t t = 3 * sphere->first; t < 3 * (sphere->first + sphere->count); t++) {
      int32_t v = skin->mesh->triangles[3 * skin->tree->triangle[t / 3] + t % 3];
      note(worst, fmax(0, v3_dist(center, ds_skin_vertex(skin, q, v)) - radius * (1 + 1e-12)), 0, 1);
    }
  }
}

static void test_skin(void) { check_all(DS_METRIC_EFFECTIVE, check_skin, "skins and their spheres", 0); }

int main(void) {
  RUN(test_table);
  RUN(test_metric);
  RUN(test_momentum);
  RUN(test_rows);
  RUN(test_step);
  RUN(test_lost);
  RUN(test_script);
  RUN(test_script_velocity);
  RUN(test_skin);
  return test_summary();
}
