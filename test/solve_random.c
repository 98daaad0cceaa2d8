/* solve-random FAMILY|all FIRST COUNT [options]: solves random problems in this process and counts.
 *
 * FAMILY is one of random_families.h, `flow`, discs in a plane (random_flow.h, 2,000 contacts, masses 1:1 and mu 0.5
 * where no other number is given), or `random`, the problems of test_random_problems. A line for every problem that
 * is unsolved, or takes more factorizations than the budget; then a summary per family. Options:
 *
 *   --tol E       error to reach, default 1e-8
 *   --budget N    factorizations above which a problem is named, default 500
 *   --contacts N  as many contacts, whatever was drawn; --ratio R, --mu M the same for masses and friction
 *   --seed N      another series of problems, default 1
 *   --alone       flows as W and q without bodies
 *   --feasible    only problems of which it is known that they have a solution
 *   --as-step     as a step of a simulation is solved
 *   --all         a line for every problem
 *
 * Exit code: 0 all solved, proven infeasible or jammed, 1 not all, 2 wrong arguments. `make-random-problem FILE
 * family=NAME number=N` writes one of them. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "random_families.h"
#include "random_flow.h"

typedef struct settings {
  ds_solve_options options;
  double budget, contacts, ratio, mu, seed;
  bool all, feasible, alone;
} settings;

typedef struct tally {
  int64_t problems, solved, infeasible, jammed, unsolved, factorizations, projections;
  int64_t most_factorizations, most_at; /* and whose */
  double seconds, longest;
  int64_t longest_at;
} tally;

typedef struct result {
  ds_solution solution;
  double error, seconds; /* error: as ds_problem_check measures it */
  int32_t contacts, bodies;
  bool may_be_infeasible;
} result;

static int complain(const char *what, const char *why) {
  fprintf(stderr, "solve-random: %s: %s\n", what, why);
  return 2;
}

static ds_problem make(ds_arena *arena, result *out, const char *name, int64_t number, const settings *set) {
  if (strcmp(name, "random") == 0) {
    random_spec spec = random_spec_draw((uint64_t)set->seed, number);
    return random_ds_problem(arena, &spec).problem;
  }
  if (strcmp(name, "flow") == 0) {
    flow_spec spec = {.seed = (uint64_t)(1000 * set->seed) + (uint64_t)number, .contacts = 2000, .ratio = 1, .mu = 0.5};
    if (set->contacts > 0) spec.contacts = (int32_t)set->contacts;
    if (set->ratio > 0) spec.ratio = set->ratio;
    if (set->mu > 0) spec.mu = set->mu;
    spec.alone = set->alone;
    return flow_problem(arena, &spec);
  }
  int which = 0;
  while (strcmp(name, family_names[which]) != 0) which++;
  family_spec spec = family_draw((family)which, (uint64_t)set->seed, number);
  if (set->contacts > 0) spec.contacts = (int32_t)fmin(set->contacts, FAMILY_CONTACTS);
  if (set->ratio > 0) spec.ratio = set->ratio;
  if (set->mu > 0) spec.mu = set->mu;
  family_case c = family_problem(arena, &spec);
  out->bodies = c.bodies, out->may_be_infeasible = c.may_be_infeasible;
  return c.problem;
}

static bool solve(ds_arena *arena, result *out, const char *name, int64_t number, const settings *set) {
  ds_arena_reset(arena);
  *out = (result){.error = INFINITY};
  ds_problem p = make(arena, out, name, number, set);
  int32_t n = p.dimension * p.contacts;
  double *r = DS_NEW0(arena, double, n + 1), *u = DS_NEW0(arena, double, n + 1);
  ds_error error = {""};
  ds_solution checked;
  if (ds_arena_failed(arena)) return complain(name, "out of memory") == 0;
  out->contacts = p.contacts;
  if (set->feasible && out->may_be_infeasible) return true;
  clock_t ticks = clock();
  ds_status status = ds_problem_solve(&p, &set->options, r, u, NULL, &out->solution, &error);
  out->seconds = (double)(clock() - ticks) / CLOCKS_PER_SEC;
  if (status != DS_OK || ds_problem_check(&p, r, &checked, &error) != DS_OK) return complain(name, error.message) == 0;
  out->error = checked.certificate.natural_error;
  return true;
}

static void print_one(const char *name, int64_t number, const result *r, const char *outcome) {
  const ds_certificate *c = &r->solution.certificate;
  printf("%s %lld: %s, error %.1e, %d contacts, %d bodies, %d factorizations, %d iterations, %.2f s; %s\n", name,
         (long long)number, outcome, r->error, (int)r->contacts, (int)r->bodies, (int)c->factorizations,
         (int)c->projection_iterations, r->seconds, r->solution.path);
  fflush(stdout);
}

/* Solved and proven infeasible are what the solver is asked for. A jam, impulses without bound, is believed where the
 * family does not know better. */
static void count(tally *t, const char *name, int64_t number, const result *r, const settings *set) {
  const ds_certificate *c = &r->solution.certificate;
  bool none = r->solution.outcome == DS_NO_SOLUTION, jam = r->solution.outcome == DS_JAM;
  bool solved = r->solution.outcome == DS_SOLVED && r->error <= set->options.tolerance;
  bool infeasible = none && r->may_be_infeasible, jammed = jam && r->may_be_infeasible;
  bool decided = solved || infeasible || jammed, over = c->factorizations > set->budget;
  const char *outcome = solved                             ? "solved"
                        : infeasible                       ? "infeasible"
                        : jammed                           ? "jammed"
                        : none                             ? "FALSELY CALLED INFEASIBLE"
                        : jam                              ? "FALSELY CALLED A JAM"
                        : r->solution.outcome == DS_SOLVED ? "FALSELY CALLED SOLVED"
                                                           : "unsolved";
  t->problems++;
  t->solved += solved, t->infeasible += infeasible, t->jammed += jammed, t->unsolved += !decided;
  t->factorizations += c->factorizations, t->projections += c->projection_iterations, t->seconds += r->seconds;
  if (c->factorizations > t->most_factorizations) t->most_factorizations = c->factorizations, t->most_at = number;
  if (r->seconds > t->longest) t->longest = r->seconds, t->longest_at = number;
  if (!decided || over || set->all) print_one(name, number, r, outcome);
}

static bool run(int64_t *unsolved, const char *name, int64_t first, int64_t problems, const settings *set) {
  ds_arena arena = {0};
  tally t = {0};
  bool good = true;
  for (int64_t number = first; good && number < first + problems; number++) {
    result r;
    good = solve(&arena, &r, name, number, set);
    if (good && !(set->feasible && r.may_be_infeasible)) count(&t, name, number, &r, set);
  }
  ds_arena_free(&arena);
  printf(
      "%s: %lld problems, %lld solved, %lld proven infeasible, %lld jammed, %lld unsolved; %lld factorizations, at "
      "most %lld "
      "(%lld); %lld iterations; %.2f s, at most %.2f s (%lld)\n",
      name, (long long)t.problems, (long long)t.solved, (long long)t.infeasible, (long long)t.jammed,
      (long long)t.unsolved, (long long)t.factorizations, (long long)t.most_factorizations, (long long)t.most_at,
      (long long)t.projections, t.seconds, t.longest, (long long)t.longest_at);
  *unsolved += t.unsolved;
  return good;
}

/* One number from a word; false with a message where it is none, or out of range. */
static bool number(double *out, const char *what, const char *word, double low, double high) {
  char *end = NULL;
  double value = word ? strtod(word, &end) : 0;
  if (word && end != word && !*end && value >= low && value <= high) {
    *out = value;
    return true;
  }
  fprintf(stderr, "solve-random: %s: expected a number, %g to %g\n", what, low, high);
  return false;
}

static bool read_options(settings *set, int argc, char **argv) {
  for (int i = 4; i < argc; i++) {
    const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
    const struct {
      const char *name;
      double *out, low, high;
    } numbers[] = {{"--tol", &set->options.tolerance, 1e-16, 1},
                   {"--budget", &set->budget, 0, 1e9},
                   {"--contacts", &set->contacts, 1, 100000},
                   {"--ratio", &set->ratio, 1, 1e12},
                   {"--mu", &set->mu, 1e-6, 1e3},
                   {"--seed", &set->seed, 0, 1e9}};
    const struct {
      const char *name;
      bool *out;
    } flags[] = {{"--as-step", &set->options.as_step},
                 {"--feasible", &set->feasible},
                 {"--alone", &set->alone},
                 {"--all", &set->all}};
    bool known = false;
    for (size_t k = 0; k < sizeof flags / sizeof *flags; k++)
      if (strcmp(name, flags[k].name) == 0) known = *flags[k].out = true;
    for (size_t k = 0; !known && k < sizeof numbers / sizeof *numbers; k++) {
      if (strcmp(name, numbers[k].name) != 0) continue;
      if (!number(numbers[k].out, name, value, numbers[k].low, numbers[k].high)) return false;
      known = true;
      i++;
    }
    if (!known)
      return complain(name,
                      "unknown; there are --tol, --budget, --contacts, --ratio, --mu, --seed, "
                      "--alone, --feasible, --as-step, --all") == 0;
  }
  return true;
}

int main(int argc, char **argv) {
  static const char *usage =
      "solve-random massratio|redundant|pebbles|wedge|gears|flow|random|all FIRST COUNT [options]";
  settings set = {.options = ds_default_solve_options(), .budget = 500, .seed = 1};
  double first, problems;
  if (argc < 4) return complain("usage", usage);
  bool known = strcmp(argv[1], "all") == 0 || strcmp(argv[1], "random") == 0;
  known = known || strcmp(argv[1], "flow") == 0;
  for (int i = 0; i < FAMILY_COUNT; i++) known = known || strcmp(argv[1], family_names[i]) == 0;
  if (!known) return complain(argv[1], usage);
  if (!number(&first, "FIRST", argv[2], 0, 1e9) || !number(&problems, "COUNT", argv[3], 1, 1e9)) return 2;
  if (!read_options(&set, argc, argv)) return 2;
  int64_t unsolved = 0;
  bool good = true, all = strcmp(argv[1], "all") == 0;
  for (int i = 0; good && i < (all ? FAMILY_COUNT : 1); i++)
    good = run(&unsolved, all ? family_names[i] : argv[1], (int64_t)first, (int64_t)problems, &set);
  return !good ? 2 : unsolved > 0;
}
