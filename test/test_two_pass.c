/* Two passes against answers that can be written down: one contact with W = (w_nn w_nt; w_nt w_tt) has
 *
 *   alpha = -q_n / w_nn,   beta = -(q_t + w_nt alpha) / w_tt cut to mu alpha,   u_n = w_nt beta. */
#include <math.h>

#include "drystone/problem.h"
#include "scene_helper.h"

typedef struct answer {
  double r[3], u[3];
  ds_solution solution;
} answer;

static answer solve(const char *method, double w_nt, const double q[3], double mu) {
  const int32_t row[] = {0, 1, 2, 0, 1}, column[] = {0, 1, 2, 1, 0};
  const double value[] = {2, 3, 3, w_nt, w_nt};
  ds_problem p = {.form = DS_PROBLEM_LOCAL, .dimension = 3, .contacts = 1, .q = q, .mu = &mu};
  p.W = (ds_matrix){3, 3, 5, row, column, value};
  ds_solve_options options = ds_default_solve_options();
  options.method = ds_method_named(method);
  answer a = {0};
  ds_error error;
  CHECK(ds_problem_solve(&p, &options, a.r, a.u, NULL, &a.solution, &error) == DS_OK);
  return a;
}

/* Sliding and sticking without coupling: what Coulomb's law says, and so does the default. */
static void exact_without_coupling(void) {
  const double q[3] = {-1, 0.9, -1.2};
  for (int i = 0; i < 2; i++) {
    double mu = i == 0 ? 0.5 : 2, size = i == 0 ? 0.5 * 0.5 : 1.5 / 3;
    answer a = solve("two-pass", 0, q, mu), b = solve("coupled", 0, q, mu);
    CHECK_NEAR(a.r[0], 0.5, 1e-8);
    CHECK_NEAR(a.r[1], -0.6 * size, 1e-8);
    CHECK_NEAR(a.r[2], 0.8 * size, 1e-8);
    for (int k = 0; k < 3; k++) CHECK_NEAR(a.u[k], b.u[k], 1e-7);
    CHECK(a.solution.certificate.converged);
  }
}

/* Friction that presses: the second pass pushes the body into the other by w_nt beta, and the certificate says so. */
static void friction_undoes_contact(void) {
  const double q[3] = {-1, 0.6, 0}, w_nt = 0.9;
  answer a = solve("two-pass", w_nt, q, 1);
  double alpha = 0.5, beta = -(q[1] + w_nt * alpha) / 3;
  CHECK_NEAR(a.r[0], alpha, 1e-8);
  CHECK_NEAR(a.r[1], beta, 1e-8);
  CHECK_NEAR(a.u[0], w_nt * beta, 1e-8);
  CHECK_NEAR(a.solution.certificate.approach_velocity, -w_nt * beta, 1e-8);
  CHECK(!a.solution.certificate.converged);
  CHECK(solve("coupled", w_nt, q, 1).solution.certificate.converged);
}

/* What stands by friction needs both at once: two cards that lean on each other stay up with the default, and fall here
 * [SP08 4]. */
static void cards_fall(void) {
  const char *methods[2] = {"coupled", "two-pass"};
  double moved[2] = {0, 0};
  for (int i = 0; i < 2; i++) {
    sim s;
    if (sim_generate(&s, "card-pair")) {
      ds_options_choose(&s.options, ds_method_named(methods[i]));
      sim_run(&s, 1);
      moved[i] = sim_displacement(&s, s.start);
      CHECK(i == 0 ? s.unconverged == 0 : s.unconverged > 0);
      s.unconverged = 0;
    }
    sim_close(&s);
  }
  printf("     cards moved by %.2g m with both at once, by %.2g m in two passes\n", moved[0], moved[1]);
  CHECK_LE(moved[0], 1e-6);
  CHECK(moved[1] > 1e-2);
}

int main(void) {
  RUN(exact_without_coupling);
  RUN(friction_undoes_contact);
  RUN(cards_fall);
  return test_summary();
}
