/* Does Siconos read from a .dat what we read? Its reader's matrices are compared with ours column by column, as
 * products with unit vectors, whatever their storage. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <FrictionContactProblem.h>
#include <GlobalFrictionContactProblem.h>
#include <NumericsMatrix.h>
#include <NumericsVerbose.h>

#include "siconos.h"

/* Both read the same decimal digits: only a last bit may differ. */
#define DIGITS 1e-15

static bool report(const char *name, double difference, double largest) {
  bool same = difference <= DIGITS * largest;
  printf("  %-3s largest entry %.6g, largest difference %.3g%s\n", name, largest, difference,
         same ? "" : ": NOT THE SAME");
  return same;
}

static bool same_vector(const char *name, const double *theirs, const double *ours, int32_t n) {
  double difference = 0, largest = 0;
  for (int32_t i = 0; i < n; i++) {
    double own = ours ? ours[i] : 0;
    difference = fmax(difference, fabs(theirs[i] - own)), largest = fmax(largest, fabs(own));
  }
  return report(name, difference, largest);
}

static int32_t *entries_by_column(int32_t *start, const ds_matrix *m) {
  int32_t *order = calloc((size_t)m->entries + 1, sizeof *order);
  for (int32_t k = 0; k < m->entries; k++) start[m->column[k] + 1]++;
  for (int32_t j = 0; j < m->columns; j++) start[j + 1] += start[j];
  for (int32_t k = m->entries - 1; order && k >= 0; k--) order[--start[m->column[k] + 1]] = k;
  for (int32_t j = 0; j < m->columns; j++) start[j] = start[j + 1];
  start[m->columns] = m->entries;
  return order;
}

static bool same_matrix(const char *name, NumericsMatrix *theirs, const ds_matrix *ours) {
  if (theirs->size0 != ours->rows || theirs->size1 != ours->columns) {
    printf("  %s: Siconos reads %d x %d, we %d x %d\n", name, theirs->size0, theirs->size1, ours->rows, ours->columns);
    return false;
  }
  int32_t *start = calloc((size_t)ours->columns + 2, sizeof *start), *order = NULL;
  double *unit = calloc((size_t)ours->columns + 1, sizeof *unit),
         *column = calloc((size_t)ours->rows + 1, sizeof *column);
  if (start && unit && column) order = entries_by_column(start, ours);
  if (!order) exit(1);
  double difference = 0, largest = 0;
  for (int32_t j = 0; j < ours->columns; j++) {
    unit[j] = 1;
    for (int32_t i = 0; i < ours->rows; i++) column[i] = 0;
    NM_gemv(1, theirs, unit, 0, column);
    for (int32_t i = start[j]; i < start[j + 1]; i++) {
      column[ours->row[order[i]]] -= ours->value[order[i]];
      largest = fmax(largest, fabs(ours->value[order[i]]));
    }
    for (int32_t i = 0; i < ours->rows; i++) difference = fmax(difference, fabs(column[i]));
    unit[j] = 0;
  }
  free(start), free(order), free(unit), free(column);
  return report(name, difference, largest);
}

static bool same_size(int dimension, int contacts, const ds_problem *ours) {
  if (dimension == ours->dimension && contacts == ours->contacts) return true;
  printf("  Siconos reads %d contacts in %dD, we %d in %dD\n", contacts, dimension, ours->contacts, ours->dimension);
  return false;
}

bool bench_siconos_opens(const char *path, const ds_problem *problem) {
  int32_t n = problem->dimension * problem->contacts;
  bool same;
  numerics_set_verbose(0);
  if (problem->form == DS_PROBLEM_LOCAL) {
    FrictionContactProblem *read = frictionContact_new_from_filename(path);
    same = read && same_size(read->dimension, read->numberOfContacts, problem) &&
           same_matrix("W", read->M, &problem->W) && same_vector("q", read->q, problem->q, n) &&
           same_vector("mu", read->mu, problem->mu, problem->contacts);
  } else {
    GlobalFrictionContactProblem *read = globalFrictionContact_new_from_filename(path);
    same = read && same_size(read->dimension, read->numberOfContacts, problem) &&
           same_matrix("M", read->M, &problem->M) && same_matrix("H", read->H, &problem->H) &&
           same_vector("f", read->q, problem->f, problem->dof) && same_vector("w", read->b, problem->w, n) &&
           same_vector("mu", read->mu, problem->mu, problem->contacts);
  }
  printf("%s: %s\n", path, same ? "Siconos reads the same" : "Siconos does NOT read the same");
  return same;
}
