/* Problems without a solution, by hand: how far apart the walls would have to be (project/conflict.h), what the solve
 * answers then, and which impulses add energy (project/deadline.h). */
#include "project/conflict.h"

#include <string.h>

#include "bare_solve.h"
#include "check.h"
#include "drystone/problem.h"
#include "project/deadline.h"
#include "random_problem.h"

/* A point mass of 1 kg between two walls that face each other along x and close in at `left` and `right`: normals +x
 * and -x, u_N = v_x - left and -v_x - right. */
typedef struct vice {
  ds_arena arena;
  ds_subproblem p;
  double g[18], b[6], predicted[3], mu[2];
} vice;

static const int32_t SIZE[1] = {3}, FIRST[1] = {0}, BODY[4] = {0, -1, 0, -1}, JACOBIAN[4] = {0, 9, 9, 18};

static void open_vice(vice *v, double left, double right, double falling) {
  memset(v, 0, sizeof *v);
  const double rows[2][9] = {{1, 0, 0, 0, 1, 0, 0, 0, 1}, {-1, 0, 0, 0, 1, 0, 0, 0, 1}};
  memcpy(v->g, rows, sizeof rows);
  v->b[0] = left, v->b[3] = right, v->predicted[2] = -falling, v->mu[0] = v->mu[1] = 0.5;
  v->p = (ds_subproblem){.body_count = 1, .contact_count = 2, .dof = 3, .size = SIZE, .first = FIRST, .body = BODY};
  v->p.jacobian = JACOBIAN, v->p.g = v->g, v->p.predicted = v->predicted, v->p.b = v->b, v->p.mu = v->mu;
  CHECK(ds_subproblem_prepare(&v->arena, &v->p));
}

static double find(vice *v, double *violation) {
  ds_solve solve = bare_solve(&v->arena, &v->p);
  return ds_conflict_find(&solve, violation, &v->p);
}

/* The best is the mean of both walls: each is then run into at half the speed at which they close. */
static void least_violation(void) {
  const double speeds[3][2] = {{1, 1}, {1, 3}, {-1, 2}};
  for (int i = 0; i < 3; i++) {
    vice v;
    double violation[2] = {0, 0}, left = speeds[i][0], right = speeds[i][1], half = 0.5 * (left + right);
    open_vice(&v, left, right, 0.1);
    ds_solve solve = bare_solve(&v.arena, &v.p);
    double conflict = ds_conflict_find(&solve, violation, &v.p);
    double q = sqrt(left * left + right * right + 2 * 0.01);
    CHECK_NEAR(violation[0], half, 1e-5 * half);
    CHECK_NEAR(violation[1], half, 1e-5 * half);
    CHECK_NEAR(conflict, sqrt(2) * half / q, 1e-5);
    CHECK(solve.work.projections > 0 && solve.work.projections < 40);
    ds_arena_free(&v.arena);
  }
  /* walls that part, or keep their distance, leave room */
  vice v;
  double violation[2];
  open_vice(&v, 1, -1.5, 0.1);
  CHECK_NEAR(find(&v, violation), 0, 0);
  ds_arena_free(&v.arena);
  open_vice(&v, 1, -1, 0.1);
  CHECK_NEAR(find(&v, violation), 0, 0);
  ds_arena_free(&v.arena);
}

/* Problems that have a solution, b <= 0: nothing is proved of them, however bodies differ. */
static void no_conflict_where_none_is(void) {
  uint64_t s = 61;
  ds_arena arena = {0};
  int claimed = 0;
  for (int i = 0; i < 500; i++) {
    ds_arena_reset(&arena);
    int32_t bodies = 1 + random_int(&s, 8);
    ds_subproblem p = random_problem(&arena, &s, bodies, 1 + random_int(&s, 4 * bodies), 1 + random_int(&s, 6));
    double *g = DS_NEW(&arena, double, 36 * (size_t)p.contact_count),
           *violation = DS_NEW0(&arena, double, p.contact_count);
    for (int32_t k = 0; k < 36 * p.contact_count; k++) /* masses of 1:10,000 */
      g[k] = p.g[k] * (k % 36 < 18 && p.body[2 * (k / 36)] % 2 == 0 ? 0.01 : 1);
    p.g = g;
    CHECK(ds_subproblem_prepare(&arena, &p));
    ds_solve solve = {.arena = &arena, .system = ds_system_create(&arena, &p, NULL, NULL)};
    claimed += solve.system && ds_conflict_find(&solve, violation, &p) > 0;
  }
  CHECK_NEAR(claimed, 0, 0);
  ds_arena_free(&arena);
}

/* The answer gives way as little as it must: the body moves with the mean of the walls, no friction is lost. */
static void answer_gives_way(void) {
  const int32_t diagonal[3] = {0, 1, 2}, size[1] = {3};
  const int32_t row[6] = {0, 1, 2, 0, 1, 2}, column[6] = {0, 1, 2, 3, 4, 5};
  const double one[3] = {1, 1, 1}, value[6] = {1, 1, 1, -1, 1, 1}, w[6] = {-1, 0, 0, -3, 0, 0}, mu[2] = {0.5, 0.5};
  const double f[3] = {0.2, 0, -0.1};
  ds_problem p = {.form = DS_PROBLEM_GLOBAL, .dimension = 3, .contacts = 2, .dof = 3, .f = f, .w = w, .mu = mu};
  p.M = (ds_matrix){3, 3, 3, diagonal, diagonal, one};
  p.H = (ds_matrix){3, 6, 6, row, column, value};
  p.body_size = size, p.body_count = 1;
  for (int as_step = 0; as_step < 2; as_step++) {
    double r[6] = {0}, u[6], v[3];
    ds_solve_options o = ds_default_solve_options();
    ds_solution s;
    ds_error error = {""};
    o.as_step = as_step;
    CHECK(ds_problem_solve(&p, &o, r, u, v, &s, &error) == DS_OK);
    printf("     u_N %.6f and %.6f, v %.6f %.6f %.6f, conflict %.6f\n", u[0], u[3], v[0], v[1], v[2], s.conflict);
    CHECK(s.outcome == DS_NO_SOLUTION && !s.certificate.converged);
    CHECK_NEAR(s.conflict, sqrt(8) / sqrt(0.64 + 10.24 + 0.02), 1e-4);
    CHECK_NEAR(v[0], -1, 0.01);
    CHECK_NEAR(u[0], -2, 0.01);
    CHECK_NEAR(u[3], -2, 0.01);
    CHECK_NEAR(s.certificate.approach_velocity, 2, 0.01);
  }
}

/* An impulse that throws the body back faster than it came adds energy; one that stops it does not. The work is
 * rᵀ(u + q)/2. */
static void energy_by_hand(void) {
  vice v;
  open_vice(&v, 0, -10, 0);
  v.predicted[0] = -1;
  CHECK(ds_subproblem_prepare(&v.arena, &v.p));
  ds_iterate x = ds_iterate_new(&v.arena, &v.p);
  const double normal[5] = {0.5, 1, 1.5, 2.1, 4};
  for (int i = 0; i < 5; i++) {
    memset(x.r, 0, 6 * sizeof *x.r);
    x.r[0] = normal[i];
    ds_iterate_update(&x, &v.p);
    CHECK_NEAR(x.v[0], normal[i] - 1, 1e-15);
    CHECK(ds_impulses_add_energy(&x, &v.p) == (normal[i] > 2));
    bool limited = ds_limit_energy(&x, &v.p);
    CHECK(limited == (normal[i] > 2));
    CHECK_NEAR(x.r[0], limited ? 1 : normal[i], 1e-12); /* the least energy is that of rest */
    CHECK_NEAR(x.v[0], x.r[0] - 1, 1e-15);
  }
  ds_arena_free(&v.arena);
}

int main(void) {
  RUN(least_violation);
  RUN(no_conflict_where_none_is);
  RUN(answer_gives_way);
  RUN(energy_by_hand);
  return test_summary();
}
