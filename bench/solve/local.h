/* A problem in the one form that every solver of the comparison takes: u = W r + q with W sparse and symmetric. */
#ifndef BENCH_SOLVE_LOCAL_H
#define BENCH_SOLVE_LOCAL_H

#include "drystone/problem.h"

/* W by compressed columns, its rows ascending and each place there once. */
typedef struct bench_local {
  int32_t dimension, contacts, size; /* size = dimension * contacts */
  int32_t *start;                    /* size + 1 */
  int32_t *row;
  double *value;
  double *q, *mu;
  double rho;         /* 3 nc / tr W: the scale of the natural-map error */
  ds_problem problem; /* the same as triplets */
  int32_t *column;    /* of the triplets */
} bench_local;

/* Condenses a problem in either form; equality rows are eliminated. NULL with a message where M or R is singular or
 * memory is short. */
bench_local *bench_local_new(const ds_problem *problem, ds_error *error);
void bench_local_free(bench_local *local);

#endif
