/* The problems of problems/ and the tests' own error measure: what counts as solved obeys Coulomb's law, and what
 * cannot be solved is not claimed to be. The work is bounded in test_own_problems.sh. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "io/problem_file.h"
#include "own_error.h"

enum { LARGE = 300 }; /* contacts: matrices are dense here */

static void check_one(const ds_problem *p, const char *name, int32_t counts[2]) {
  size_t n = (size_t)(p->dimension * p->contacts);
  double *r = calloc(n + 1, sizeof *r), *u = calloc(n + 1, sizeof *u);
  double *v = calloc((size_t)p->dof + 1, sizeof *v);
  ds_solve_options options = ds_default_solve_options();
  ds_solution solution;
  ds_error error = {""};
  CHECK(ds_problem_solve(p, &options, r, u, v, &solution, &error) == DS_OK);
  own_problem own = own_of_problem(p);
  double law = own_coulomb_error(&own, r), natural = own_natural_error(&own, r);
  double said = solution.certificate.natural_error, off = 0, allowed = own_allowed(&own, options.tolerance);
  double *slip = calloc(n + 1, sizeof *slip);
  own_slip(slip, &own, r);
  for (size_t i = 0; i < n; i++) off = fmax(off, fabs(slip[i] - u[i]));
  bool solved = solution.outcome == DS_SOLVED, agree = fabs(natural - said) <= 1e-2 * fmax(natural, options.tolerance);
  if (!agree || (solved && !(law <= allowed)))
    printf("%s: outcome %d, error %.2e, said to be %.2e, law off by %.2e\n", name, (int)solution.outcome, natural, said,
           law);
  CHECK(agree);
  CHECK(!solved || law <= allowed);
  CHECK_LE(off, 1e-9 * fmax(own_norm(r, own.n) / own.rho, own_norm(own.q, own.n)));
  if (strncmp(name, "infeasible", 10) == 0) {
    CHECK(!solved);
    CHECK_LE(options.tolerance, law);
  }
  counts[0] += solved, counts[1]++;
  own_free(&own);
  free(slip), free(v), free(u), free(r);
}

static void every_solved_problem_obeys_the_law(void) {
  DIR *folder = opendir(PROBLEMS);
  int32_t counts[2] = {0, 0};
  CHECK(folder != NULL);
  for (const struct dirent *entry; folder && (entry = readdir(folder)) != NULL;) {
    char path[1024];
    ds_error error = {""};
    if (!strstr(entry->d_name, ".hdf5")) continue;
    snprintf(path, sizeof path, "%s/%s", PROBLEMS, entry->d_name);
    ds_problem_file *file = ds_problem_file_read(path, &error);
    CHECK(file != NULL);
    if (file && file->problem.contacts <= (test_quick() ? 40 : LARGE)) check_one(&file->problem, entry->d_name, counts);
    ds_problem_file_free(file);
  }
  if (folder) closedir(folder);
  printf("     %d of %d problems solved\n", (int)counts[0], (int)counts[1]);
  CHECK(counts[1] > 0 && counts[0] >= counts[1] - 4);
}

int main(void) {
  RUN(every_solved_problem_obeys_the_law);
  return test_summary();
}
