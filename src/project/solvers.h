/* The solvers, by name: one table (solvers.c) that options, scene files, the program and the page read. */
#ifndef DS_PROJECT_SOLVERS_H
#define DS_PROJECT_SOLVERS_H

#include "project/solve.h"

/* Impulses for p from x, which is the better of warm start and none. x becomes the answer, with v, u and error. */
typedef void ds_solver_solve(ds_solve *solve, ds_iterate *x, const ds_subproblem *p);

typedef struct ds_solver {
  const char *name;
  const char *summary; /* one line for users */
  ds_solver_solve *solve;
  bool thorough;      /* solves until the goal is met: a tolerance may follow the motion, easy problems are swept first,
                         impulses end on their cones */
  bool safeguarded;   /* islands are split into sub-islands, and an answer that misses its tolerance and adds energy is
                         replaced; else the answer is what the method gives, and so is the motion */
  bool own_velocity;  /* v is not that of the impulses: the error has |v - v_p - G r|, too */
  bool euler;         /* published with semi-implicit Euler, which goes with it where no integrator is given */
  bool rigid;         /* for rigid bodies without joints only */
  int32_t iterations; /* `max_iterations` where none are given */
} ds_solver;

/* By ds_options.method, which must be one of the table. */
const ds_solver *ds_solver_of(const ds_options *options);

#endif
