/* What becomes of bodies and contacts in the problem of an island: the implicit matrix of a deformable body, contacts
 * of a body with itself, restitution of a surface that moves by itself, and which contacts count as sliding. */
#include "assemble/assemble.h"

#include "body/deformable.h"
#include "drystone/problem.h"
#include "hand_body.h"
#include "scene_helper.h"

/* ---- the implicit matrix ---- */

enum { R = 2, N = 3 + R };

/* The q block of L Lᵀ less the mass, over beta h²; the diagonal of L is reciprocal. */
static void stiffness_of(double *k, const double *factor, const ds_reduced *x, const double *q, double h, double beta) {
  double mass[N * N];
  ds_deformable_mass(mass, x, q);
  for (int i = 0; i < R; i++)
    for (int j = 0; j < R; j++) {
      double sum = 0;
      for (int c = 0; c <= 3 + (i < j ? i : j); c++) {
        double a = factor[(3 + i) * N + c], b = factor[(3 + j) * N + c];
        sum += (c == 3 + i ? 1 / a : a) * (c == 3 + j ? 1 / b : b);
      }
      k[i * R + j] = (sum - mass[(3 + i) * N + 3 + j]) / (beta * h * h);
    }
}

/* Of a tangent with an eigenvalue below zero, the part above it is used; and what a misjudged step adds, is added. */
static void implicit_stiffness(void) {
  const double h = 0.01, up = 7e4, angle = 0.6, q[R] = {0.01, -0.02}, more[R * R] = {3e3, 1e3, 1e3, 2e3};
  double root_beta[R] = {0.6, 0.6}, root_gamma[R] = {0.8, 0.8}, root_delta[R] = {0.1, 0.1};
  ds_newmark newmark = {.h = h, .root_beta = root_beta, .root_gamma = root_gamma, .root_delta = root_delta};
  hand_def def = hand_default();
  def.r = R, def.cubic = 1;
  ds_reduced *x = hand_body(&def);
  for (int negative = 0; negative < 2; negative++)
    for (int stiffer = 0; stiffer < 2; stiffer++) {
      double down = negative ? -5e4 : 2e4, c = cos(angle), s = sin(angle), tangent[R * R], factor[N * N], found[R * R];
      const double along[R] = {c, s}, across[R] = {-s, c};
      for (int i = 0; i < R * R; i++)
        tangent[i] = up * along[i / R] * along[i % R] + down * across[i / R] * across[i % R];
      ds_implicit_factor(factor, tangent, stiffer ? more : NULL, x, q, &newmark);
      stiffness_of(found, factor, x, q, h, root_beta[0] * root_beta[0]);
      for (int i = 0; i < R * R; i++) {
        double want = up * along[i / R] * along[i % R] + fmax(0, down) * across[i / R] * across[i % R];
        if (stiffer) want += more[i];
        CHECK_NEAR(found[i], want, 1e-8 * up);
        CHECK_NEAR(tangent[i], want, 1e-10 * up);
      }
    }
  ds_reduced_release(x);
}

/* ---- a body that touches itself ---- */

static ds_body_id add_reduced(ds_scene *scene, const ds_reduced *x, ds_pose pose) {
  ds_body_def def = body_at(pose.p.x, pose.p.y, pose.p.z);
  ds_shape_def shape = ds_default_shape();
  def.pose.q = pose.q;
  shape.kind = DS_SHAPE_REDUCED;
  shape.reduced = (ds_reduced *)(uintptr_t)x;
  return scene_add(scene, &def, shape);
}

/* An impulse between two points of a body changes neither its linear nor its angular momentum, deformed and tilted. */
static void touching_itself(void) {
  hand_def def = hand_default();
  ds_reduced *x = hand_body(&def);
  ds_scene *scene = scene_new(v3(0, 0, 0), 0.5, 0);
  ds_body_id id = add_reduced(scene, x, (ds_pose){v3(0.3, -0.2, 0.5), quat_axis_angle(v3(1, 2, 3), 0.9)});
  sim s;
  if (!sim_finish(&s, "itself", scene)) return;
  ds_arena arena = {0};
  ds_assembly assembly = {0};
  ds_contact_list none = {0};
  double q[6] = {0.05, -0.08, 0.02, 0.1, -0.03, 0.04}, rate[6], g[3 * 12], strongest = 0;
  ds_state_set_reduced(s.state, id, q, NULL);
  CHECK(ds_assemble(&arena, &assembly, s.scene, s.state, &none, &s.options, NULL));
  ds_contact_frame frame = {.normal = v3_unit(v3(1, -2, 0.5))};
  v3_tangents(&frame.t1, &frame.t2, frame.normal);
  ds_anchor one = {3, 0.2, 0.3}, other = {20, 0.5, 0.1};
  ds_deformable_contact_rows(g, &assembly.bodies[0], v3(0.1, 0.2, -0.1), one, &other, &frame, 1);
  for (int k = 0; k < 3; k++) { /* scaled velocities are those that a unit impulse gives */
    ds_vec3 v, w;
    ds_unscale_velocity(&v, &w, rate, &assembly.bodies[0], g + 12 * k);
    ds_state_set_velocity(s.state, id, v, w);
    ds_state_set_reduced(s.state, id, NULL, rate);
    ds_momentum m = ds_state_momentum(s.scene, s.state);
    CHECK_LE(v3_norm(m.linear), 1e-12);
    CHECK_LE(v3_norm(m.angular), 1e-12);
    for (int a = 0; a < 6; a++) strongest = fmax(strongest, fabs(rate[a]));
  }
  CHECK(strongest > 1e-3);
  ds_arena_free(&arena);
  sim_close(&s);
  ds_reduced_release(x);
}

/* ---- restitution ---- */

/* A body at rest as a whole whose surface swings towards the floor bounces by what its surface does: contacts that
 * carry load leave with e times the speed at which they came. */
static void surface_bounces(void) {
  const double e = 0.6;
  hand_def def = hand_default();
  ds_reduced *x = hand_body(&def);
  ds_scene *scene = scene_new(v3(0, 0, 0), 0, e);
  scene_add_floor(scene);
  ds_body_id id = add_reduced(scene, x, (ds_pose){v3(0, 0, 0.5 * def.size.z), quat_identity()});
  sim s;
  if (!sim_finish(&s, "bounce", scene)) return;
  s.options.metric = DS_METRIC_MASS; /* in which steps are not taken in parts */
  double rate[6] = {0.3, -0.5, 0.4, 0.2, -0.6, 0.5};
  ds_state_set_reduced(s.state, id, NULL, rate);
  CHECK(sim_step(&s));
  int32_t count, loaded = 0;
  const ds_contact *contacts = ds_state_contacts(s.state, &count);
  for (int32_t i = 0; i < count; i++) {
    const ds_contact *c = &contacts[i];
    int32_t nearest = 0;
    for (int32_t k = 1; k < HAND_POINTS; k++)
      if (v3_dist(v3_add(hand_point(&def, k), v3(0, 0, 0.5 * def.size.z)), c->point) <
          v3_dist(v3_add(hand_point(&def, nearest), v3(0, 0, 0.5 * def.size.z)), c->point))
        nearest = k;
    double up = 0;
    for (int32_t a = 0; a < 6; a++) up += x->basis[(3 * nearest + 2) * 6 + a] * rate[a];
    double side = c->a.index1 == id.index1 ? 1 : -1, leaves = v3_dot(c->normal, c->velocity);
    CHECK_NEAR(v3_dot(c->normal, v3(0, 0, 1)), side, 1e-12);
    if (!(v3_dot(c->normal, c->impulse) > 1e-6)) continue;
    loaded++;
    CHECK_NEAR(leaves, e * fmax(0, -up), 1e-7);
  }
  CHECK(loaded >= 3);
  sim_close(&s);
  ds_reduced_release(x);
}

/* ---- sliding ---- */

typedef struct memory {
  int32_t contacts;
  double u_before[3 * 64];
} memory;

static void remember(void *user, const ds_observation *o) {
  memory *m = user;
  CHECK(o->problem->contacts <= 64 && m->contacts == 0);
  m->contacts = o->problem->contacts;
  if (o->problem->u_before) memcpy(m->u_before, o->problem->u_before, 3 * (size_t)m->contacts * sizeof(double));
}

/* A block slides on a floor, along a wall that it touches without load: what slides under load counts as motion, what
 * only passes by does not (ds_problem.u_before). */
static void only_loaded_contacts_slide(void) {
  ds_scene *scene = scene_new(v3(0, 0, -9.81), 0.3, 0);
  ds_body_def block = body_at(0, 0, 0.1), wall = body_at(0, 0.25, 0.5);
  block.velocity = v3(2, 0, 0);
  wall.kind = DS_BODY_STATIC;
  scene_add_floor(scene);
  scene_add(scene, &block, shape_box(0.3, 0.2, 0.2));
  ds_body_id beside = scene_add(scene, &wall, shape_box(9, 0.3, 1));
  sim s;
  if (!sim_finish(&s, "wall", scene)) return;
  memory m = {0};
  ds_stepper_observe(s.stepper, remember, &m);
  int32_t passing = 0, sliding = 0;
  for (int i = 0; i < 5; i++) {
    int32_t count;
    const ds_contact *contacts = ds_state_contacts(s.state, &count);
    ds_contact before[64];
    if (count > 0 && count <= 64) memcpy(before, contacts, (size_t)count * sizeof *before);
    m.contacts = 0;
    CHECK(sim_step(&s));
    if (i == 0) continue; /* there was no step before */
    CHECK_NEAR(m.contacts, count, 0);
    for (int32_t k = 0; k < count && k < m.contacts; k++) {
      const double *u = m.u_before + 3 * k;
      bool of_wall = before[k].a.index1 == beside.index1 || before[k].b.index1 == beside.index1;
      CHECK_NEAR(hypot(u[1], u[2]), of_wall ? 0 : v3_norm(before[k].velocity), 1e-9);
      if (of_wall) CHECK(v3_norm(before[k].velocity) > 1);
      passing += of_wall, sliding += !of_wall;
    }
  }
  printf("     %d contacts slid, %d passed by\n", sliding, passing);
  CHECK(passing > 0 && sliding > 0);
  sim_close(&s);
}

/* Steps of a scene; of every loaded contact of one whose first body is `body` or whose second is, the turning that the
 * problem says, against `wanted` times the angular speed of the body before. */
static int32_t check_turning(ds_scene *scene, const char *name, ds_body_id body, double wanted) {
  sim s;
  int32_t loaded = 0;
  if (!sim_finish(&s, name, scene)) return 0;
  memory m = {0};
  ds_stepper_observe(s.stepper, remember, &m);
  for (int i = 0; i < 5; i++) {
    double w = v3_norm(s.state->bodies[ds_index(body)].w);
    m.contacts = 0;
    CHECK(sim_step(&s));
    if (i < 2) continue; /* there was no step before, or the first one, in which it settles */
    for (int32_t k = 0; k < m.contacts; k++) {
      const double *u = m.u_before + 3 * k;
      if (u[0] == 0 && u[1] == 0 && u[2] == 0) continue; /* without load */
      CHECK_NEAR(u[0], wanted * w, 1e-9);
      loaded++;
    }
  }
  sim_close(&s);
  return loaded;
}

/* A slab that tips about its edge turns against the floor, and slides nowhere; what rides on a turntable does not turn
 * against it. */
static void what_tips_turns(void) {
  ds_scene *scene = scene_new(v3(0, 0, -9.81), 0.8, 0);
  double angle = 0.3;
  ds_body_def slab = body_at(0, 0, 0.5 * (0.6 * cos(angle) + 0.2 * sin(angle)));
  slab.pose.q = quat_exp(v3(0, angle, 0));
  slab.angular_velocity = v3(0, 1, 0);
  slab.velocity = v3_cross(slab.angular_velocity, v3(-0.1 * cos(angle) + 0.3 * sin(angle), 0, slab.pose.p.z));
  scene_add_floor(scene);
  ds_body_id tips = scene_add(scene, &slab, shape_box(0.2, 0.3, 0.6));
  CHECK(check_turning(scene, "slab", tips, 0.5 * sqrt(0.2 * 0.2 + 0.3 * 0.3 + 0.6 * 0.6)) > 0);

  scene = scene_new(v3(0, 0, -9.81), 0.8, 0);
  ds_body_id rides = scene_add_turntable(scene, 0.5, 1);
  CHECK(check_turning(scene, "turntable", rides, 0) > 0);
}

int main(void) {
  RUN(implicit_stiffness);
  RUN(touching_itself);
  RUN(surface_bounces);
  RUN(only_loaded_contacts_slide);
  RUN(what_tips_turns);
  return test_summary();
}
