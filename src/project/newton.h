/* Proximal Newton on the Alart-Curnier map: fast when warm or nearly right. */
#ifndef DS_PROJECT_NEWTON_H
#define DS_PROJECT_NEWTON_H

#include "project/solve.h"

/* Steps from a point that is near, at most. */
#define DS_NEWTON_STEPS 30

/* Digits more that are asked for where the natural map is solved and the full error is not. */
#define DS_MORE_DIGITS 6

typedef struct ds_newton_options {
  double tolerance; /* natural-map error that will do */
  double target;    /* error aimed at, below the tolerance: tried for as long as it comes easily */
  double proximal;  /* first weight alpha */
  int32_t steps;    /* at most */
  int32_t polish;   /* at most, once the tolerance is met; 0: no such limit */
} ds_newton_options;

/* Improves x (r, v, u, error set); x is the best iterate seen on return. True where the tolerance was met. */
bool ds_newton_solve(ds_solve *solve, ds_iterate *x, const ds_subproblem *problem, const ds_newton_options *options);

#endif
