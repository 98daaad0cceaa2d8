/* Fast Frictional Dynamics (methods/ffd.c) against answers that can be written down. */
#include <math.h>

#include "methods/half_spaces.h"
#include "project/project.h"
#include "scene_helper.h"

/* A number from -1 to 1. */
static double number(uint64_t *seed) {
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return (double)(*seed >> 11) / 4503599627370496.0 - 1;
}

/* Projections onto random half-spaces that have a point in common: KKT conditions of the nearest one; and the surrogate
 * method comes to the intersection, not nearer than the nearest. */
static void projections(void) {
  ds_arena arena = {0};
  uint64_t seed = 3;
  double worst = 0, farther = 0;
  for (int32_t i = 0; i < 300; i++) {
    double a[40 * 6], c[40], inside[6], y0[6], y[6], z[6], lambda[40], work[90];
    ds_half_spaces h = {.n = 1 + i % 6, .count = 1 + i % 40, .a = a, .c = c};
    for (int32_t j = 0; j < h.n; j++) inside[j] = number(&seed), y0[j] = y[j] = z[j] = 3 * number(&seed);
    for (int32_t k = 0; k < h.count; k++) {
      c[k] = i % 3 == 0 ? 0 : -0.1 * fabs(number(&seed)); /* a third of them are cones at `inside` */
      for (int32_t j = 0; j < h.n; j++) {
        a[k * h.n + j] = k % 4 == 3 ? a[(k - 1) * h.n + j] : number(&seed); /* some rows are there twice */
        c[k] += a[k * h.n + j] * inside[j];
      }
    }
    ds_half_spaces_nearest(&arena, y, lambda, &h);
    double push[6] = {0}, slack = 0, distance = 0, longer = 0, largest = 1;
    for (int32_t k = 0; k < h.count; k++) {
      double by = -c[k];
      for (int32_t j = 0; j < h.n; j++) by += a[k * h.n + j] * y[j], push[j] += lambda[k] * a[k * h.n + j];
      CHECK(lambda[k] >= 0);
      largest = fmax(largest, lambda[k]);
      if (lambda[k] > 0) slack = fmax(slack, fabs(by));
    }
    for (int32_t j = 0; j < h.n; j++) slack = fmax(slack, fabs(y0[j] + push[j] - y[j]));
    worst = fmax(worst, fmax(slack, ds_half_spaces_violation(&h, y)) / largest);
    ds_half_spaces_surrogate(z, lambda, work, &h, 1e-6, 20000);
    for (int32_t j = 0; j < h.n; j++)
      distance += (y[j] - y0[j]) * (y[j] - y0[j]), longer += (z[j] - y0[j]) * (z[j] - y0[j]);
    if (i % 3 == 0) continue; /* towards the tip of a cone it takes very long */
    CHECK(ds_half_spaces_violation(&h, z) <= 1e-4);
    CHECK(sqrt(longer) >= sqrt(distance) - 1e-3);
    farther = fmax(farther, sqrt(longer) - sqrt(distance));
  }
  printf("     nearest points: KKT to %.1e; the surrogate method ends up to %.2g farther away\n", worst, farther);
  CHECK(worst <= 1e-9);
  ds_arena_free(&arena);
}

/* y >= 1 and -y >= 1: the least violation is at 0, whatever the start; the surrogate method would go to and fro between
 * both forever, and stays where it started. */
static void nothing_in_common(void) {
  ds_arena arena = {0};
  double a[2] = {1, -1}, c[2] = {1, 1}, y[1] = {0.3}, lambda[2], work[5];
  ds_half_spaces h = {.n = 1, .count = 2, .a = a, .c = c};
  ds_half_spaces_nearest(&arena, y, lambda, &h);
  CHECK_NEAR(y[0], 0, 1e-5);
  y[0] = 0.3;
  ds_half_spaces_surrogate(y, lambda, work, &h, 1e-4, 100);
  CHECK_NEAR(y[0], 0.3, 1e-12);
  ds_arena_free(&arena);
}

/* ---- point masses: bodies of three degrees of freedom, or of one ---- */

typedef struct masses {
  int32_t size[3], first[3], body[8], jacobian[8];
  double g[48], v[9], b[12], mu[4];
  ds_contact_law law[4];
  ds_subproblem p;
} masses;

/* `count` masses of `size` degrees of freedom in masses m, with velocities v. */
static void masses_new(masses *s, int32_t count, int32_t size, const double *m, const double *v) {
  *s = (masses){.p = {.body_count = count, .dof = count * size}};
  for (int32_t i = 0; i < count; i++) {
    s->size[i] = size, s->first[i] = i * size;
    for (int32_t j = 0; j < size; j++) s->v[i * size + j] = sqrt(m[i]) * v[i * size + j];
  }
  s->p.size = s->size, s->p.first = s->first, s->p.body = s->body, s->p.jacobian = s->jacobian;
  s->p.g = s->g, s->p.predicted = s->v, s->p.b = s->b, s->p.mu = s->mu, s->p.law = s->law;
}

/* A contact between a and b (-1: something scripted), with its normal along the first axis, towards a. */
static void masses_touch(masses *s, int32_t a, int32_t b, double sign, const double *m, double mu, double approach) {
  int32_t k = s->p.contact_count++, size = s->size[0];
  s->mu[k] = mu, s->b[3 * k] = approach;
  s->law[k] = (ds_contact_law){.flat = {1, 1}};
  for (int32_t side = 0; side < 2; side++) {
    int32_t body = side == 0 ? a : b, at = 3 * size * (2 * k + side);
    s->body[2 * k + side] = body, s->jacobian[2 * k + side] = at;
    for (int32_t c = 0; c < size && body >= 0; c++)
      s->g[at + c * size + c] = (side == 0 ? sign : -sign) / sqrt(m[body]);
  }
}

/* Velocities after one solve, in m/s; the momentum that came from nowhere is the sum of what changed. */
static void masses_solve(double *v, const masses *s, const char *method, const double *m) {
  ds_arena arena = {0};
  ds_options options = ds_default_options();
  ds_options_choose(&options, ds_method_named(method));
  options.rel_err = 1e-9;
  ds_certificate c;
  double r[12] = {0}, scaled[9];
  ds_solve solve = {.arena = &arena, .options = &options, .purpose = DS_FOR_STEP};
  CHECK(ds_project_island(&solve, r, scaled, &c, &s->p));
  for (int32_t i = 0; i < s->p.dof; i++) v[i] = scaled[i] / sqrt(m[i / s->size[0]]);
  ds_arena_free(&arena);
}

/* A point mass that slides is slowed down by mu g, in any direction, until it stops; with elliptic friction by what its
 * direction has. */
static void point_mass(void) {
  const char *const all[] = {"ffd", "ffd-qp", "ffd-half", "ffd-relative", "ffd-other", "ffd-least"};
  const double h = 1.0 / 210, mu = 0.3, gravity = 9.81, m[1] = {2};
  for (int i = 0; i < 6; i++) {
    double v[3] = {0, 0.7, -0.4}, speed = hypot(v[1], v[2]);
    for (int step = 0; step < 80; step++) {
      double before = hypot(v[1], v[2]), fall[3] = {v[0] - h * gravity, v[1], v[2]}, after[3];
      masses s;
      masses_new(&s, 1, 3, m, fall);
      masses_touch(&s, 0, -1, 1, m, mu, 0);
      masses_solve(after, &s, all[i], m);
      memcpy(v, after, sizeof v);
      double left = fmax(0, before - mu * gravity * h);
      CHECK_NEAR(hypot(v[1], v[2]), left, 1e-6 * h * gravity);
      CHECK_NEAR(v[0], 0, 1e-6 * h * gravity);
      if (left > 0) CHECK_NEAR(v[1] / hypot(v[1], v[2]), 0.7 / speed, 1e-6);
    }
    CHECK_NEAR(hypot(v[1], v[2]), 0, 1e-9);
  }
  const double fall[3] = {-h * gravity, 1, 0};
  double after[3];
  masses s;
  masses_new(&s, 1, 3, m, fall);
  masses_touch(&s, 0, -1, 1, m, mu, 0);
  s.law[0].flat[0] = 0.5; /* friction along the first tangent is half of it */
  for (int j = 0; j < 3; j++) s.g[3 + j] *= 0.5;
  masses_solve(after, &s, "ffd-qp", m);
  CHECK_NEAR(after[1], 1 - 0.5 * mu * gravity * h, 1e-6 * h);
}

/* Two masses that meet head on: eq. 30 gives both their common velocity, and Poisson's law adds e of the impulse: all
 * as mechanics says. By eq. 25 each takes the velocity of the other. */
static void two_masses(void) {
  const double m[2] = {1, 3}, v[2] = {1, -1};
  double after[2];
  masses s;
  masses_new(&s, 2, 1, m, v);
  masses_touch(&s, 1, 0, 1, m, 0, 0);
  masses_solve(after, &s, "ffd-qp", m);
  CHECK_NEAR(after[0], -0.5, 1e-9);
  CHECK_NEAR(after[1], -0.5, 1e-9);
  masses_solve(after, &s, "ffd-other", m);
  CHECK_NEAR(after[0], -1, 1e-9);
  CHECK_NEAR(after[1], 1, 1e-9);
  s.law[0].restitution = 0.5, s.law[0].rebound = s.b[0] = 1;
  masses_solve(after, &s, "ffd", m);
  CHECK_NEAR(after[0], -1.25, 1e-9);
  CHECK_NEAR(after[1], -0.25, 1e-9);
}

/* A mass that moves hits one that touches a third: the middle one must have half its velocity, and that of the third
 * at most, which is none. No velocity is both: T(q) is empty. So it is between walls that come from both sides. */
static void squeezed(void) {
  const double m[3] = {1, 1, 1}, v[3] = {1, 0, 0}, rest[1] = {0};
  double after[3];
  masses s;
  masses_new(&s, 3, 1, m, v);
  masses_touch(&s, 1, 0, 1, m, 0, 0);
  masses_touch(&s, 2, 1, 1, m, 0, 0);
  masses_solve(after, &s, "ffd", m);
  CHECK_NEAR(after[0], 0.5, 1e-6);
  CHECK_NEAR(after[1], 0, 1e-6);
  CHECK_NEAR(after[2], 0, 1e-6);
  masses_new(&s, 1, 1, m, rest);
  masses_touch(&s, 0, -1, 1, m, 0, 1);
  masses_touch(&s, 0, -1, -1, m, 0, 1);
  s.v[0] = 0.3;
  masses_solve(after, &s, "ffd", m);
  CHECK_NEAR(after[0], 0, 0);
  masses_solve(after, &s, "ffd-qp", m);
  CHECK_NEAR(after[0], 0, 0);
  masses_solve(after, &s, "ffd-least", m);
  CHECK_NEAR(after[0], 0.3, 1e-12);
}

/* On a belt of 1 m/s a mass at rest stays where it is, for friction opposes absolute velocity; relative to the belt it
 * is taken along with mu g. */
static void conveyor(void) {
  const double h = 1.0 / 210, m[1] = {1}, fall[3] = {-9.81 * h, 0, 0};
  double after[3];
  masses s;
  masses_new(&s, 1, 3, m, fall);
  masses_touch(&s, 0, -1, 1, m, 0.3, 0);
  s.b[1] = 1;
  masses_solve(after, &s, "ffd", m);
  CHECK_NEAR(after[1], 0, 1e-12);
  masses_solve(after, &s, "ffd-relative", m);
  CHECK_NEAR(after[1], 0.3 * 9.81 * h, 1e-6 * h);
}

/* A scene for `seconds`: how far its body has come, and its speed. */
static double travel(const char *spec, const char *method, double seconds, double *speed) {
  sim s = {0};
  if (!sim_generate(&s, spec)) return NAN;
  ds_options_choose(&s.options, ds_method_named(method));
  s.options.step = 1.0 / 210;
  sim_run(&s, seconds);
  double distance = sim_displacement(&s, s.start);
  for (int32_t i = 0; i < ds_scene_body_count(s.scene); i++)
    *speed = v3_norm(ds_state_velocity(s.state, ds_scene_body(s.scene, i)));
  CHECK(s.failed == 0);
  sim_free(&s);
  return distance;
}

/* What is open in eq. 24. In the span of tangential wrenches every wrench under a flat cube tips it, so that it slides
 * on forever, while a ball comes to roll at 5/7 of its speed. With half-spaces alone the cube stops, much too soon,
 * and the ball, too, does not roll but stop. */
static void spans_and_half_spaces(void) {
  double speed, distance = travel("slide", "ffd", 1, &speed);
  CHECK_NEAR(distance, 2, 1e-3);
  CHECK_NEAR(speed, 2, 1e-3);
  travel("roll", "ffd", 2, &speed);
  CHECK_NEAR(speed, 2 * 5.0 / 7, 1e-3);
  distance = travel("slide", "ffd-half", 1, &speed);
  CHECK(distance > 0.1 && distance < 0.4); /* v²/(2 mu g) = 0.68 */
  CHECK_NEAR(speed, 0, 1e-6);
  travel("roll", "ffd-half", 1, &speed);
  CHECK_NEAR(speed, 0, 1e-6);
}

/* The mechanism of Fig. 4, by the default solver: the camshaft lifts all followers by 0.1 m, and when it has turned
 * once those below the limit of jamming are down again, and those above it are not. */
static void followers_jam(void) {
  sim s = {0};
  if (!sim_generate(&s, "mechanism")) return;
  sim_run(&s, test_time(2, 0.1));
  for (int i = 0; i < 4 && !test_quick(); i++) {
    char name[32];
    snprintf(name, sizeof name, "follower%d", i + 1);
    ds_body_id id = sim_body(&s, name);
    double up = ds_state_center(s.state, id).z - ds_state_center(s.start, id).z;
    if (i < 2) CHECK(up < 0.01);
    if (i >= 2) CHECK_NEAR(up, 0.1, 0.002);
  }
  sim_close(&s);
}

int main(void) {
  RUN(projections);
  RUN(nothing_in_common);
  RUN(point_mass);
  RUN(two_masses);
  RUN(squeezed);
  RUN(conveyor);
  RUN(spans_and_half_spaces);
  RUN(followers_jam);
  return test_summary();
}
