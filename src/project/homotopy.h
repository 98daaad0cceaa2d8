/* Continuation from the central path of a convex program to the contact problem, through its folds: what solves hard
 * problems. */
#ifndef DS_PROJECT_HOMOTOPY_H
#define DS_PROJECT_HOMOTOPY_H

#include "project/solve.h"

typedef struct ds_homotopy_options {
  double relaxation;      /* kappa at the start, in units of the typical predicted velocity */
  int32_t iterations;     /* factorizations at most, besides Newton's */
  const ds_iterate *from; /* a point near a solution to start at; NULL: on the central path */
} ds_homotopy_options;

typedef enum ds_homotopy_end {
  DS_HOMOTOPY_SOLVED,    /* `best` meets the goal of the solve */
  DS_HOMOTOPY_LOST,      /* or out of iterations */
  DS_HOMOTOPY_UNBOUNDED, /* the path runs to impulses without bound before t is 0: a sign that no solution exists */
} ds_homotopy_end;

/* The best iterate found goes to `best`. */
ds_homotopy_end ds_homotopy_solve(ds_solve *solve, ds_iterate *best, const ds_subproblem *problem,
                                  const ds_homotopy_options *options);

#endif
