/* A small dense concave program with linear inequalities, by a log barrier: every iterate is strictly feasible, so that
 * its value is a bound whatever the accuracy.
 *
 *   max lᵀx - xᵀPx / (4 x_last)   subject to   a_iᵀx + b_i >= 0
 *
 * P may be NULL. Newton's method on increasing weights of the objective [Boyd and Vandenberghe 2004, ch. 11]. */
#ifndef DS_STAND_BARRIER_H
#define DS_STAND_BARRIER_H

#include "base/arena.h"
#include "drystone/types.h"

enum { DS_BARRIER_ENTRIES = 8 };

typedef struct ds_barrier_row {
  int32_t count, column[DS_BARRIER_ENTRIES];
  double value[DS_BARRIER_ENTRIES], constant;
} ds_barrier_row;

typedef struct ds_barrier {
  int32_t n, rows;
  const double *l, *P; /* n, n x n */
  const ds_barrier_row *row;
  const double *E; /* equalities x n: E x stays what it is; or NULL */
  int32_t equalities;
  double gap;    /* that is enough */
  double enough; /* a value that is enough, INFINITY = none */
} ds_barrier;

/* x: strictly feasible on entry and on return. False where memory ran out. */
bool ds_barrier_solve(ds_arena *arena, double *x, const ds_barrier *program);
double ds_barrier_value(const ds_barrier *program, const double *x);
static inline void ds_barrier_entry(ds_barrier_row *row, int32_t column, double value) {
  row->column[row->count] = column;
  row->value[row->count++] = value;
}

#endif
