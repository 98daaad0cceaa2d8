/* How exactly a problem has to be solved (project/goal.h): 1e-8 at rest, less where loaded contacts slide, by hand; and
 * what must never relax it. */
#include "project/goal.h"

#include <string.h>

#include "check.h"
#include "drystone/drystone.h"
#include "drystone/problem.h"
#include "project/project.h"

static const double REST = 1e-8, BEFORE = 0.7, AFTER = 0.01; /* as in the manual */

enum { POINTS = 2 };

/* Point masses of 1 kg on the floor, a contact each: G = I, so that W = I and rho = 3 nc / tr W = 1. */
typedef struct case_of_points {
  ds_arena arena;
  ds_subproblem p;
  int32_t size[POINTS], first[POINTS], body[2 * POINTS], jacobian[2 * POINTS];
  double g[9], b[3 * POINTS], mu[POINTS], u_before[3 * POINTS];
  double predicted[3 * POINTS]; /* q */
  double r[3 * POINTS], u[3 * POINTS], v[3 * POINTS];
} case_of_points;

static void prepare(case_of_points *c) {
  for (int i = 0; i < POINTS; i++) {
    c->size[i] = 3, c->first[i] = 3 * i, c->mu[i] = 0.5;
    c->body[2 * i] = i, c->body[2 * i + 1] = -1;
    c->jacobian[2 * i] = c->jacobian[2 * i + 1] = 0;
  }
  for (int i = 0; i < 9; i++) c->g[i] = i % 4 == 0;
  c->p = (ds_subproblem){.body_count = POINTS, .contact_count = POINTS, .dof = 3 * POINTS};
  c->p.size = c->size, c->p.first = c->first, c->p.body = c->body, c->p.jacobian = c->jacobian;
  c->p.g = c->g, c->p.b = c->b, c->p.mu = c->mu, c->p.predicted = c->predicted;
  CHECK(ds_subproblem_prepare(&c->arena, &c->p));
  CHECK_NEAR(c->p.rho, 1, 1e-15);
}

static void set(double *x, int point, double normal, double tangent) {
  x[3 * point] = normal, x[3 * point + 1] = tangent, x[3 * point + 2] = 0;
}

/* q = (-1, 0.5 + slip, 0) and mu = 0.5: r = (1, -0.5, 0), and what slides on is `slip`. The other point flies off, and
 * along the floor fast. */
static void slide(case_of_points *c, double slip) {
  memset(c, 0, sizeof *c);
  set(c->predicted, 0, -1, 0.5 + slip);
  set(c->predicted, 1, 1, 0);
  prepare(c);
  set(c->r, 0, 1, -0.5);
  set(c->u, 0, 0, slip);
  set(c->u, 1, 1, 0);
}

/* S = max(|r|, rho |q|) of that */
static double scale_of(double slip) { return sqrt(1 + (0.5 + slip) * (0.5 + slip) + 1); }

static ds_goal goal_of(const ds_options *options) { return ds_goal_of(options, DS_FOR_STEP); }

static ds_goal default_goal(void) {
  ds_options options = ds_default_options();
  return goal_of(&options);
}

static double tolerance_of(const case_of_points *c) {
  ds_goal g = default_goal();
  return ds_goal_tolerance(&g, &c->p, c->r, c->u);
}

static bool is_met(case_of_points *c) {
  ds_goal g = default_goal();
  ds_iterate x = {c->r, c->v, c->u, 0};
  return ds_goal_is_met(&x, &c->p, &g);
}

static void test_rest(void) {
  static case_of_points c;
  slide(&c, 0);
  CHECK_NEAR(tolerance_of(&c), REST, 0);
  CHECK(is_met(&c));
  ds_arena_free(&c.arena);
}

static void test_sliding(void) {
  static case_of_points c;
  const double slips[] = {1e-9, 1e-6, 1e-5, 1e-4, 5e-4, 1e-2, 1};
  for (size_t i = 0; i < sizeof slips / sizeof *slips; i++) {
    slide(&c, slips[i]);
    double allowed = AFTER * slips[i] / scale_of(slips[i]), wanted = fmin(DS_LOOSEST, fmax(REST, allowed));
    CHECK_NEAR(tolerance_of(&c), wanted, 1e-12 * wanted);
    CHECK(is_met(&c));
    ds_arena_free(&c.arena);
  }
}

/* With an error between that of rest and that of motion, an iterate is an answer only where something slides. */
static void test_met(void) {
  static case_of_points c;
  for (int sliding = 0; sliding < 2; sliding++) {
    slide(&c, sliding ? 1e-2 : 0);
    c.r[0] += 1e-6; /* too hard: it leaves the floor at 1e-6 m/s */
    c.u[0] += 1e-6;
    double error = ds_subproblem_error(&c.p, c.r, c.u);
    CHECK(error > 1e-7 && error < 1e-5);
    CHECK(is_met(&c) == (sliding == 1));
    ds_arena_free(&c.arena);
  }
}

/* Impulses that work, r'u > 0, add energy: no error but that of rest is small enough then, however fast contacts slide.
 */
static void test_work(void) {
  static case_of_points c;
  for (int working = 0; working < 2; working++) {
    slide(&c, 1e-2); /* friction takes 0.5 x 1e-2 */
    double up = working ? 0.0051 : 0.0049;
    c.r[0] = 1 + 1e-6, c.u[0] = 1e-6;
    set(c.r, 1, up * 1e-3, 0);
    set(c.u, 1, 1e3, 0);
    CHECK((c.r[0] * c.u[0] + c.r[1] * c.u[1] + c.r[3] * c.u[3] > 0) == (working == 1));
    CHECK_NEAR(tolerance_of(&c), working ? REST : fmin(DS_LOOSEST, AFTER * 1e-2 / scale_of(1e-2)), 1e-9);
    ds_arena_free(&c.arena);
  }
}

static void test_unloaded(void) {
  static case_of_points c;
  slide(&c, 0);
  set(c.u, 1, 1, 5); /* the other one slides, but does not touch */
  CHECK_NEAR(tolerance_of(&c), REST, 0);
  ds_arena_free(&c.arena);

  /* an error e leaves impulses uncertain by e S: one of less does not count, one of more does */
  for (int loaded = 0; loaded < 2; loaded++) {
    slide(&c, 0);
    set(c.u, 0, -1e-3, 0);
    set(c.u, 1, 0, 5);
    set(c.r, 1, loaded ? 0.1 : 1e-6, 0);
    double error = ds_subproblem_error(&c.p, c.r, c.u);
    CHECK(error > 1e-5 && isfinite(error));
    CHECK_NEAR(tolerance_of(&c), loaded ? DS_LOOSEST : REST, 0);
    ds_arena_free(&c.arena);
  }
}

static void test_u_before(void) {
  static case_of_points c;
  slide(&c, 0);
  c.p.u_before = c.u_before;
  CHECK_NEAR(tolerance_of(&c), REST, 0);
  c.u_before[1] = 3e-5, c.u_before[5] = 4e-5;
  double wanted = BEFORE * 5e-5 / scale_of(0);
  CHECK_NEAR(tolerance_of(&c), wanted, 1e-12 * wanted);
  c.u_before[1] = 1;
  CHECK_NEAR(tolerance_of(&c), DS_LOOSEST, 0);
  ds_arena_free(&c.arena);

  /* a hundredth of turning */
  slide(&c, 0);
  c.p.u_before = c.u_before;
  c.u_before[0] = 3e-4, c.u_before[3] = 4e-4;
  wanted = AFTER * 5e-4 / scale_of(0);
  CHECK_NEAR(tolerance_of(&c), wanted, 1e-12 * wanted);
  ds_goal g = default_goal();
  CHECK(!ds_goal_moves(&g, &c.p)); /* nothing has slid */
  ds_arena_free(&c.arena);

  /* the faster of both steps counts, not their sum */
  slide(&c, 1e-4);
  c.p.u_before = c.u_before;
  c.u_before[1] = 1e-6;
  wanted = AFTER * 1e-4 / scale_of(1e-4);
  CHECK_NEAR(tolerance_of(&c), wanted, 1e-12 * wanted);
  ds_arena_free(&c.arena);
}

/* What is slower than `least` is solved to the loosest tolerance, relative to that speed, whatever work impulses do;
 * what is faster is none of this. */
static void test_least(void) {
  static case_of_points c;
  for (int slow = 0; slow < 2; slow++) {
    slide(&c, 0);
    double q = c.p.target, least = (slow ? 4 : 0.25) * q / sqrt(POINTS);
    c.p.least = least;
    CHECK(ds_subproblem_prepare(&c.arena, &c.p));
    CHECK_NEAR(c.p.slip, q, 1e-15 * q);
    CHECK_NEAR(c.p.target, slow ? 4 * q : q, 1e-14 * q);
    c.u[0] = 1e-6; /* it works */
    CHECK_NEAR(tolerance_of(&c), slow ? DS_LOOSEST : REST, 0);
    CHECK(is_met(&c) == (slow == 1));
    ds_arena_free(&c.arena);
  }
}

/* The same through the public call: a point of 1 kg that has slid at 1 m/s, and sticks now. */
static void test_of_a_problem(void) {
  const int32_t diagonal[3] = {0, 1, 2}, size[1] = {3};
  const double one[3] = {1, 1, 1}, f[3] = {-1, 0.1, 0}, w[3] = {0}, mu[1] = {0.5}, slid[3] = {0, 0.6, -0.8};
  ds_problem p = {.form = DS_PROBLEM_GLOBAL, .dimension = 3, .contacts = 1, .dof = 3, .f = f, .w = w, .mu = mu};
  p.M = p.H = (ds_matrix){3, 3, 3, diagonal, diagonal, one};
  p.body_size = size, p.body_count = 1;
  for (int moved = 0; moved < 2; moved++) {
    double r[3] = {0}, u[3], v[3];
    ds_solve_options o = ds_default_solve_options();
    ds_solution s;
    ds_error error = {""};
    p.u_before = moved ? slid : NULL;
    o.as_step = true, o.tolerance = 0;
    CHECK(ds_problem_solve(&p, &o, r, u, v, &s, &error) == DS_OK);
    CHECK_NEAR(s.certificate.tolerance, moved ? DS_LOOSEST : REST, 0);
    CHECK_NEAR(r[0], 1, 1e-4);
    CHECK_NEAR(r[1], -0.1, 1e-4);
  }
}

static void test_not_finite(void) {
  static case_of_points c;
  const double bad[] = {NAN, INFINITY, -INFINITY};
  for (int i = 0; i < 3; i++)
    for (int place = 0; place < 3 * POINTS; place++)
      for (int of_r = 0; of_r < 2; of_r++)
        for (int before = 0; before < 2; before++) {
          slide(&c, 1e-2);
          if (before) c.p.u_before = c.u_before;
          c.u_before[1] = 1;
          (of_r ? c.r : c.u)[place] = bad[i];
          /* how fast an open contact parts or slides is no error of the map, even without bound; all else is */
          bool open = !of_r && place >= 3 && !isnan(bad[i]) && !(place == 3 && bad[i] < 0);
          if (!before && !open) CHECK_NEAR(tolerance_of(&c), REST, 0);
          if (!open) CHECK(!is_met(&c));
          ds_arena_free(&c.arena);
        }
  /* nor does one in the slip of the step before, or a slip whose square overflows */
  for (int overflow = 0; overflow < 2; overflow++) {
    slide(&c, 0);
    c.p.u_before = c.u_before;
    c.u_before[1] = overflow ? 1e200 : NAN;
    CHECK_NEAR(tolerance_of(&c), REST, 0);
    ds_arena_free(&c.arena);
  }
}

/* A tolerance that is given holds whatever slides; so does 1e-8 for methods and deadlines that promise nothing else. */
static void test_given(void) {
  static case_of_points c;
  const double given[] = {1e-12, 1e-8, 1e-6, 1e-3};
  slide(&c, 1);
  c.p.u_before = c.u_before;
  c.u_before[1] = 1;
  for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
    ds_options options = ds_default_options();
    options.tolerance = given[i];
    ds_goal g = goal_of(&options);
    CHECK_NEAR(ds_goal_tolerance(&g, &c.p, c.r, c.u), given[i], 0);
    CHECK_NEAR(g.target, 1e-5 * given[i], 1e-15 * given[i]);
  }
  for (int i = 0; i < 3; i++) {
    ds_options options = ds_default_options();
    if (i == 0) options.deadline = 1;
    if (i == 1) options.method = ds_method_named("gauss-seidel");
    if (i == 2) options.method = ds_method_named("staggered");
    ds_goal g = goal_of(&options);
    CHECK_NEAR(ds_goal_tolerance(&g, &c.p, c.r, c.u), REST, 0);
  }
  ds_arena_free(&c.arena);
}

int main(void) {
  RUN(test_rest);
  RUN(test_sliding);
  RUN(test_met);
  RUN(test_work);
  RUN(test_unloaded);
  RUN(test_u_before);
  RUN(test_least);
  RUN(test_of_a_problem);
  RUN(test_not_finite);
  RUN(test_given);
  return test_summary();
}
