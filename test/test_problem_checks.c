/* Problems that contradict themselves: each number of a good one is broken once, and must be refused with a message
 * that names it. Ranks, bodies of a diagonal M, and problems in which nothing moves, by hand. */
#include <string.h>

#include "check.h"
#include "drystone/problem.h"
#include "problem/condense.h"

/* Two point masses, each over the floor, in global form; the same in local form: W = 1, q = f + w. */
typedef struct sample {
  ds_problem global, local;
  int32_t m_row[6], m_column[6], h_row[6], h_column[6], w_row[6], w_column[6], size[2];
  double m[6], h[6], f[6], w[6], mu[2], one[6], q[6], u_before[6];
} sample;

static void make(sample *s) {
  memset(s, 0, sizeof *s);
  for (int32_t i = 0; i < 6; i++) {
    s->m_row[i] = s->m_column[i] = s->h_row[i] = s->h_column[i] = s->w_row[i] = s->w_column[i] = i;
    s->m[i] = s->h[i] = s->one[i] = 1;
    s->f[i] = s->q[i] = i % 3 == 0 ? -1 : 0.2;
  }
  s->mu[0] = 0.5, s->mu[1] = 0.1, s->size[0] = s->size[1] = 3;
  s->global = (ds_problem){.form = DS_PROBLEM_GLOBAL, .dimension = 3, .contacts = 2, .dof = 6, .f = s->f, .w = s->w};
  s->global.M = (ds_matrix){6, 6, 6, s->m_row, s->m_column, s->m};
  s->global.H = (ds_matrix){6, 6, 6, s->h_row, s->h_column, s->h};
  s->global.mu = s->mu, s->global.body_size = s->size, s->global.body_count = 2, s->global.u_before = s->u_before;
  s->local = (ds_problem){.form = DS_PROBLEM_LOCAL, .dimension = 3, .contacts = 2, .q = s->q, .mu = s->mu};
  s->local.W = (ds_matrix){6, 6, 6, s->w_row, s->w_column, s->one};
}

static ds_status solve(const ds_problem *p, ds_solution *solution, ds_error *error) {
  double r[6] = {0}, u[6], v[6];
  ds_solve_options options = ds_default_solve_options();
  *error = (ds_error){""};
  return ds_problem_solve(p, &options, r, u, v, solution, error);
}

static void refuse(const ds_problem *p, const char *says) {
  ds_solution solution;
  ds_error error;
  ds_status status = solve(p, &solution, &error);
  if (status != DS_ERROR_INPUT || !strstr(error.message, says))
    printf("     status %d, \"%s\" says nothing of \"%s\"\n", (int)status, error.message, says);
  CHECK(status == DS_ERROR_INPUT && strstr(error.message, says) != NULL);
}

static void good_ones_are_solved(void) {
  sample s;
  ds_solution solution;
  ds_error error;
  make(&s);
  CHECK(solve(&s.global, &solution, &error) == DS_OK && solution.outcome == DS_SOLVED && solution.islands == 2);
  CHECK(solve(&s.local, &solution, &error) == DS_OK && solution.outcome == DS_SOLVED && solution.islands == 2);
}

static void numbers_are_looked_at(void) {
  const double bad[3] = {NAN, INFINITY, -INFINITY};
  sample s;
  for (int i = 0; i < 3; i++)
    for (int at = 0; at < 6; at += 5) { /* the first and the last */
      make(&s), s.m[at] = bad[i], refuse(&s.global, "of M");
      make(&s), s.h[at] = bad[i], refuse(&s.global, "of H");
      make(&s), s.f[at] = bad[i], refuse(&s.global, "f[");
      make(&s), s.w[at] = bad[i], refuse(&s.global, "w[");
      make(&s), s.u_before[at] = bad[i], refuse(&s.global, "u_before[");
      make(&s), s.one[at] = bad[i], refuse(&s.local, "of W");
      make(&s), s.q[at] = bad[i], refuse(&s.local, "q[");
      make(&s), s.mu[at > 0] = bad[i], refuse(&s.local, "mu[");
    }
  make(&s), s.mu[1] = -1e-9, refuse(&s.global, "mu[1]");
  make(&s), s.m[2] = -1, refuse(&s.global, "positive definite");
}

static void places_are_looked_at(void) {
  const int32_t bad[2] = {-1, 6};
  sample s;
  for (int i = 0; i < 2; i++) {
    make(&s), s.m_row[5] = bad[i], refuse(&s.global, "of M");
    make(&s), s.m_column[0] = bad[i], refuse(&s.global, "of M");
    make(&s), s.h_row[0] = bad[i], refuse(&s.global, "of H");
    make(&s), s.h_column[5] = bad[i], refuse(&s.global, "of H");
    make(&s), s.w_row[3] = bad[i], refuse(&s.local, "of W");
    make(&s), s.w_column[3] = bad[i], refuse(&s.local, "of W");
  }
  make(&s), s.global.M.rows = 5, refuse(&s.global, "M is 5 x 6");
  make(&s), s.global.H.columns = 7, refuse(&s.global, "H is 6 x 7");
  make(&s), s.local.W.columns = 3, refuse(&s.local, "W is 6 x 3");
  make(&s), s.local.W.entries = -1, refuse(&s.local, "W has -1");
  make(&s), s.local.W.row = NULL, refuse(&s.local, "W has 6");
  make(&s), s.local.W.column = NULL, refuse(&s.local, "W has 6");
  make(&s), s.local.W.value = NULL, refuse(&s.local, "W has 6");
}

static void sizes_are_looked_at(void) {
  sample s;
  make(&s), s.local.dimension = 1, refuse(&s.local, "dimension is 1");
  make(&s), s.local.dimension = 4, refuse(&s.local, "dimension is 4");
  make(&s), s.local.contacts = -1, refuse(&s.local, "-1 contacts");
  make(&s), s.local.equalities = -1, refuse(&s.local, "-1 equality");
  make(&s), s.global.dof = -1, refuse(&s.global, "dof is -1");
  make(&s), s.size[0] = 0, refuse(&s.global, "body_size[0]");
  make(&s), s.size[1] = 2, refuse(&s.global, "add up to 5");
  make(&s), s.size[1] = 4, refuse(&s.global, "add up to 7");
  make(&s), s.local.q = NULL, refuse(&s.local, "q is missing");
  make(&s), s.local.mu = NULL, refuse(&s.local, "mu is missing");
  make(&s), s.global.f = NULL, refuse(&s.global, "f is missing");
  make(&s), s.global.w = NULL, refuse(&s.global, "w is missing");
  make(&s), s.local.equalities = 1, refuse(&s.local, "V is 0 x 0");
  make(&s), s.global.equalities = 1, refuse(&s.global, "G is 0 x 0");
}

static void options_are_looked_at(void) {
  sample s;
  double r[6] = {0}, u[6];
  ds_solution solution;
  ds_error error = {""};
  const ds_solve_options good = ds_default_solve_options();
  make(&s);
  for (int i = 0; i < 8; i++) {
    ds_solve_options o = good;
    if (i == 0) o.tolerance = 0;
    if (i == 1) o.tolerance = NAN;
    if (i == 2) o.max_iterations = 0;
    if (i == 3) o.budget = -1;
    if (i == 4) o.budget = NAN;
    if (i == 5) o.threads = -1;
    if (i == 6) o.threads = 1025;
    if (i == 7) o.tolerance = INFINITY;
    CHECK(ds_problem_solve(&s.local, &o, r, u, NULL, &solution, &error) == DS_ERROR_INPUT);
  }
  r[4] = NAN;
  CHECK(ds_problem_solve(&s.local, &good, r, u, NULL, &solution, &error) == DS_ERROR_INPUT);
  CHECK(strstr(error.message, "r[4]") != NULL);
}

/* Of the diagonal 1, 1e-9, 1e-13 of a contact's W two count, of two rows that are the same one does. */
static void check_rank(const ds_problem *p, int32_t want) {
  int32_t rank = -1;
  CHECK(ds_problem_rank(&rank, p, NULL) == DS_OK);
  CHECK_NEAR(rank, want, 0);
}

static void ranks_by_hand(void) {
  sample s;
  make(&s);
  check_rank(&s.local, 6);
  check_rank(&s.global, 6);
  s.one[1] = 1e-9, s.one[2] = 1e-13;
  check_rank(&s.local, 5);
  s.one[3] = s.one[4] = s.one[5] = 0;
  check_rank(&s.local, 2);
  make(&s);
  for (int i = 3; i < 6; i++) s.h_row[i] = i - 3; /* both contacts on the first body */
  check_rank(&s.global, 3);
  s.mu[0] = NAN;
  int32_t rank;
  CHECK(ds_problem_rank(&rank, &s.global, NULL) == DS_ERROR_INPUT);
}

/* Where nothing can move, an approach stays what it is, which proves that there is no solution; a parting velocity is
 * one. */
static void nothing_moves(void) {
  sample s;
  ds_solution solution;
  ds_error error;
  make(&s);
  s.local.W.entries = 3; /* the second contact has no W */
  s.q[3] = 1;
  CHECK(solve(&s.local, &solution, &error) == DS_OK && solution.outcome == DS_SOLVED);
  s.q[3] = -1;
  CHECK(solve(&s.local, &solution, &error) == DS_OK && solution.outcome == DS_NO_SOLUTION);
  CHECK(solution.conflict > 0);
  CHECK_NEAR(solution.certificate.approach_velocity, 1, 1e-9);
  CHECK(isfinite(solution.certificate.natural_error));
}

/* Discs in a row, each on the floor and against the next, with a diagonal M: as many bodies of three rows, though an
 * even number of them would also do for half as many of six. */
static void planar_bodies_are_found_again(void) {
  enum { DISCS = 6, CONTACTS = 2 * DISCS - 1, ENTRIES = 3 * DISCS + 6 * (DISCS - 1) };
  int32_t diagonal[3 * DISCS], row[ENTRIES], column[ENTRIES], t = 0;
  double mass[3 * DISCS], value[ENTRIES], f[3 * DISCS], w[2 * CONTACTS] = {0}, mu[CONTACTS];
  for (int32_t i = 0; i < 3 * DISCS; i++) diagonal[i] = i, mass[i] = i % 3 == 2 ? 0.5 : 1, f[i] = i % 3 == 1 ? -1 : 0;
  for (int32_t k = 0; k < CONTACTS; k++) mu[k] = 0.3;
  for (int32_t i = 0; i < DISCS; i++) { /* floor: y; x and spin */
    row[t] = 3 * i + 1, column[t] = 2 * i, value[t++] = 1;
    row[t] = 3 * i, column[t] = 2 * i + 1, value[t++] = 1;
    row[t] = 3 * i + 2, column[t] = 2 * i + 1, value[t++] = 1;
  }
  for (int32_t i = 0; i + 1 < DISCS; i++) /* the next one: x; y and spins */
    for (int side = 0; side < 2; side++) {
      int32_t at = 3 * (i + side), k = 2 * (DISCS + i);
      row[t] = at, column[t] = k, value[t++] = side == 0 ? -1 : 1;
      row[t] = at + 1, column[t] = k + 1, value[t++] = side == 0 ? -1 : 1;
      row[t] = at + 2, column[t] = k + 1, value[t++] = -1;
    }
  CHECK(t == ENTRIES);
  ds_problem p = {.form = DS_PROBLEM_GLOBAL, .dimension = 2, .contacts = CONTACTS, .dof = 3 * DISCS};
  p.M = (ds_matrix){3 * DISCS, 3 * DISCS, 3 * DISCS, diagonal, diagonal, mass};
  p.H = (ds_matrix){3 * DISCS, 2 * CONTACTS, ENTRIES, row, column, value};
  p.f = f, p.w = w, p.mu = mu;
  ds_arena arena = {0};
  ds_whole whole;
  ds_error error = {""};
  CHECK(ds_problem_condense(&arena, &whole, &p, &error) == DS_OK);
  CHECK(whole.p.body_count == DISCS);
  for (int32_t i = 0; i < whole.p.body_count; i++) CHECK(whole.p.size[i] == 3);
  ds_arena_free(&arena);
}

int main(void) {
  RUN(good_ones_are_solved);
  RUN(numbers_are_looked_at);
  RUN(places_are_looked_at);
  RUN(sizes_are_looked_at);
  RUN(options_are_looked_at);
  RUN(ranks_by_hand);
  RUN(nothing_moves);
  RUN(planar_bodies_are_found_again);
  return test_summary();
}
