#include "fuzz_solve.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "problem/condense.h"

enum { CONTACTS_MAX = 20, DOF_MAX = 60, ENTRIES_MAX = 4000, EQUALITIES_MAX = 12, ITERATIONS = 20 };

void fuzz_fail(const char *what, const char *detail) {
  fprintf(stderr, "fuzz: %s: %s\n", what, detail);
  abort();
}

static double *dense(const ds_matrix *m) {
  double *x = calloc((size_t)m->rows * (size_t)m->columns + 1, sizeof *x);
  if (x == NULL) fuzz_fail("memory", "a small matrix");
  for (int32_t k = 0; k < m->entries; k++) x[m->row[k] + (int64_t)m->rows * m->column[k]] += m->value[k];
  return x;
}

/* Sums of entries of the same place may overflow, to the same value on both sides. */
static bool same_matrix(const ds_matrix *a, const ds_matrix *b) {
  if (a->rows != b->rows || a->columns != b->columns) return false;
  double *x = dense(a), *y = dense(b);
  bool same = true;
  for (size_t k = 0; k < (size_t)a->rows * (size_t)a->columns; k++)
    same = same && (x[k] == y[k] || (!isfinite(x[k]) && !isfinite(y[k])));
  free(x);
  free(y);
  return same;
}

static bool same_vector(const double *a, const double *b, int32_t count) {
  for (int32_t i = 0; i < count; i++)
    if (a[i] != b[i]) return false;
  return true;
}

bool fuzz_same(const ds_problem *a, const ds_problem *b) {
  if (a->form != b->form || a->dimension != b->dimension || a->contacts != b->contacts) return false;
  if (a->equalities != b->equalities || !same_vector(a->mu, b->mu, a->contacts)) return false;
  int32_t rows = a->dimension * a->contacts, ne = a->equalities;
  if (a->form == DS_PROBLEM_LOCAL)
    return same_matrix(&a->W, &b->W) && same_vector(a->q, b->q, rows) &&
           (ne == 0 || (same_matrix(&a->V, &b->V) && same_matrix(&a->R, &b->R) && same_vector(a->s, b->s, ne)));
  return a->dof == b->dof && same_matrix(&a->M, &b->M) && same_matrix(&a->H, &b->H) &&
         same_vector(a->f, b->f, a->dof) && same_vector(a->w, b->w, rows) &&
         (ne == 0 || (same_matrix(&a->G, &b->G) && same_vector(a->b, b->b, ne)));
}

static bool small(const ds_problem *p) {
  int64_t entries = (int64_t)p->W.entries + p->M.entries + p->H.entries + p->V.entries + p->R.entries + p->G.entries;
  return p->contacts <= CONTACTS_MAX && p->dof <= DOF_MAX && p->equalities <= EQUALITIES_MAX && entries <= ENTRIES_MAX;
}

/* Whether all numbers are zero or of a size that measurements have. */
static bool ordinary(const double *x, int32_t count) {
  for (int32_t i = 0; i < count; i++)
    if (x[i] != 0 && !(fabs(x[i]) > 1e-30 && fabs(x[i]) < 1e30)) return false;
  return true;
}

static bool ordinary_problem(const ds_problem *p) {
  int32_t rows = p->dimension * p->contacts, ne = p->equalities;
  bool same = ordinary(p->mu, p->contacts) && ordinary(p->W.value, p->W.entries) &&
              ordinary(p->V.value, p->V.entries) && ordinary(p->R.value, p->R.entries) &&
              ordinary(p->M.value, p->M.entries) && ordinary(p->H.value, p->H.entries) &&
              ordinary(p->G.value, p->G.entries);
  if (p->form == DS_PROBLEM_LOCAL) return same && ordinary(p->q, rows) && ordinary(p->s, ne);
  return same && ordinary(p->f, p->dof) && ordinary(p->w, rows) && ordinary(p->b, ne);
}

static const double *scaled(double *y, const double *x, int32_t count, int power) {
  for (int32_t i = 0; i < count; i++) y[i] = scalbn(x[i], power);
  return y;
}

/* Problem and answer in another unit of velocity, in which the impulses are about 1: the error must still be below the
 * tolerance. Where sums of squares overflow or vanish, an error relative to them would pass. */
static void check_scaled(const ds_problem *p, const double *r, double tolerance) {
  double x[3][3 * CONTACTS_MAX + DOF_MAX], largest = 0;
  int32_t rows = p->dimension * p->contacts;
  for (int32_t i = 0; i < rows; i++) largest = fmax(largest, fabs(r[i]));
  if (largest == 0) return;
  int power = -ilogb(largest);
  ds_problem q = *p;
  ds_solution checked;
  ds_error error = {{0}};
  if (p->form == DS_PROBLEM_LOCAL) {
    q.q = scaled(x[0], p->q, rows, power);
    if (p->equalities > 0) q.s = scaled(x[1], p->s, p->equalities, power);
  } else {
    q.f = scaled(x[0], p->f, p->dof, power);
    q.w = scaled(x[1], p->w, rows, power);
    if (p->equalities > 0) q.b = scaled(x[2], p->b, p->equalities, power);
  }
  double answer[3 * CONTACTS_MAX];
  scaled(answer, r, rows, power);
  if (ds_problem_check(&q, answer, &checked, &error) != DS_OK) fuzz_fail("check in other units", error.message);
  if (!(checked.certificate.natural_error <= 2 * tolerance)) {
    char text[96];
    snprintf(text, sizeof text, "solved, and %g where r is 2^%d times that", checked.certificate.natural_error, power);
    fuzz_fail("check in other units", text);
  }
}

static void solve(const ds_problem *p, const double *guess, const ds_solve_options *options) {
  double r[3 * CONTACTS_MAX] = {0}, u[3 * CONTACTS_MAX], v[DOF_MAX + 1];
  size_t rows = (size_t)p->dimension * (size_t)p->contacts;
  ds_solution solution, checked;
  ds_error error = {{0}};
  if (guess != NULL) memcpy(r, guess, rows * sizeof *r);
  ds_status status = ds_problem_solve(p, options, r, u, p->form == DS_PROBLEM_GLOBAL ? v : NULL, &solution, &error);
  if (status != DS_OK) {
    if (error.message[0] == '\0') fuzz_fail("solve", "failed without a message");
    return;
  }
  double told = solution.certificate.natural_error;
  if ((solution.outcome == DS_SOLVED) != (told <= options->tolerance)) fuzz_fail("solve", "outcome against error");
  if (solution.certificate.converged != (solution.outcome == DS_SOLVED))
    fuzz_fail("solve", "outcome against converged");
  if (memchr(solution.path, '\0', sizeof solution.path) == NULL) fuzz_fail("solve", "a path without an end");
  for (size_t i = 0; solution.outcome == DS_SOLVED && i < rows; i++)
    if (!isfinite(r[i]) || !isfinite(u[i])) fuzz_fail("solve", "solved by numbers that are not finite");
  if (solution.outcome == DS_SOLVED && !options->asymmetric && ordinary_problem(p))
    check_scaled(p, r, options->tolerance);
  if (ds_problem_check(p, r, &checked, &error) != DS_OK) fuzz_fail("check", error.message);
  bool as_given = options->asymmetric && !(checked.asymmetry == 0); /* NaN where |W| overflows */
  double found = as_given ? checked.asymmetric_error : checked.certificate.natural_error;
  /* of the file's own W only the natural map is told beside it, which is one of the three that the error is at least */
  bool fits = as_given ? told >= found : told == found;
  if (!fits && !(isnan(told) && isnan(found))) {
    char text[96];
    snprintf(text, sizeof text, "told %.17g, found %.17g", told, found);
    fuzz_fail("the error of the answer", text);
  }
}

void fuzz_problem(const ds_problem_file *file) {
  ds_error error = {{0}};
  const ds_problem *p = &file->problem;
  if (ds_problem_validate(p, &error) != DS_OK) fuzz_fail("a problem was read that is none", error.message);
  if (memchr(file->title, '\0', sizeof file->title) == NULL) fuzz_fail("title", "without an end");
  if (!small(p)) return;
  ds_solve_options options = ds_default_solve_options();
  options.max_iterations = ITERATIONS;
  options.threads = 1;
  solve(p, file->guess, &options);
  options.asymmetric = true;
  solve(p, NULL, &options);
}
