/* Random problems that have a solution by construction, each solved from zero and checked by the error measure alone.
 * Rank, conditioning, units, friction, dimension, form and sparsity vary (random_ds_problem.h); all of them must reach
 * 1e-8. `make-random-problem FILE.hdf5 number=N` writes one that does not. */
#include <stdlib.h>

#include "check.h"
#include "random_ds_problem.h"

static const double TOLERANCE = 1e-8;

/* DRYSTONE_TEST_QUICK=1 asks for short tests, as sanitizers need; DRYSTONE_RANDOM_PROBLEMS=N for N problems. */
static int64_t problem_count(void) {
  const char *quick = getenv("DRYSTONE_TEST_QUICK"), *count = getenv("DRYSTONE_RANDOM_PROBLEMS");
  if (count && count[0]) return strtoll(count, NULL, 10);
  return quick && quick[0] && quick[0] != '0' ? 500 : 10000;
}

static void describe(const random_spec *p, int64_t number) {
  printf(
      "  problem %lld: %dD %s %s %s, %d contacts, %d islands, %d equalities, redundancy %.2g, condition %.1e, mu "
      "%.2g\n",
      (long long)number, (int)p->dimension, p->bodies ? "bodies" : "dense", p->global ? "global" : "local",
      p->planted ? "planted" : "feasible", (int)p->contacts, (int)p->islands, (int)p->equalities, p->redundancy,
      p->condition, p->mu);
}

/* Error of r as ds_problem_check sees it; infinite where the check fails. */
static double measured_error(const ds_problem *problem, const double *r) {
  ds_solution checked;
  ds_error error = {""};
  if (ds_problem_check(problem, r, &checked, &error) == DS_OK) return checked.certificate.natural_error;
  printf("%s\n", error.message);
  return INFINITY;
}

static bool all_zero(const double *x, int32_t n) {
  for (int32_t i = 0; i < n; i++)
    if (x[i] != 0) return false;
  return true;
}

/* The planted pair solves the problem, up to rounding: the generator keeps its word and the measure agrees. */
static void planted_solutions_are_solutions(void) {
  ds_arena arena = {0};
  double worst = 0;
  for (int64_t number = 0; number < 1000; number++) {
    ds_arena_reset(&arena);
    random_spec spec = random_spec_draw(1, number);
    random_case c = random_ds_problem(&arena, &spec);
    CHECK(!ds_arena_failed(&arena));
    if (!c.r || all_zero(c.r, c.problem.dimension * c.problem.contacts)) continue; /* q may be nothing but rounding */
    worst = fmax(worst, measured_error(&c.problem, c.r));
  }
  printf("     planted solutions have an error of %.1e at most\n", worst);
  CHECK_LE(worst, 1e-11);
  ds_arena_free(&arena);
}

static bool solve_one(ds_arena *arena, double *reached, ds_solution *solution, const random_spec *spec) {
  ds_arena_reset(arena);
  random_case c = random_ds_problem(arena, spec);
  int32_t n = c.problem.dimension * c.problem.contacts;
  double *r = DS_NEW0(arena, double, n + 1), *u = DS_NEW0(arena, double, n + 1);
  ds_solve_options options = ds_default_solve_options();
  ds_error error = {""};
  options.tolerance = TOLERANCE;
  options.threads = 1;
  *reached = INFINITY;
  if (ds_arena_failed(arena)) return false;
  if (ds_problem_solve(&c.problem, &options, r, u, NULL, solution, &error) != DS_OK) {
    printf("%s\n", error.message);
    return false;
  }
  *reached = measured_error(&c.problem, r);
  return solution->outcome == DS_SOLVED && *reached <= TOLERANCE;
}

static void every_problem_is_solved(void) {
  ds_arena arena = {0};
  int64_t count = problem_count(), unsolved = 0;
  for (int64_t number = 0; number < count; number++) {
    random_spec spec = random_spec_draw(1, number);
    ds_solution solution = {0};
    double reached;
    if (solve_one(&arena, &reached, &solution, &spec)) continue;
    unsolved++;
    describe(&spec, number);
    printf("    outcome %d, error %.2e; %s\n", (int)solution.outcome, reached, solution.path);
  }
  printf("     %lld of %lld random problems solved to %g\n", (long long)(count - unsolved), (long long)count,
         TOLERANCE);
  CHECK(count > 0);
  CHECK_NEAR((double)unsolved, 0, 0);
  ds_arena_free(&arena);
}

int main(void) {
  RUN(planted_solutions_are_solutions);
  RUN(every_problem_is_solved);
  return test_summary();
}
