/* Laws of restitution, by name: one table (restitution.c) that options, scene files, the program and the page read. A
 * law solves an impact: a contact problem at one instant, from the velocities before it to those after it. */
#ifndef DS_PROJECT_RESTITUTION_H
#define DS_PROJECT_RESTITUTION_H

#include "project/solve.h"

/* What an impact has besides its contact problem, in which v_p are the velocities before it, and b those of surfaces:
 * no contact is open. */
typedef struct ds_impact {
  const double *restitution; /* e of each contact */
  const int32_t *pair;       /* of each contact, ascending: those of the same two bodies have the same number */
  double slow;               /* m/s: a rebound that is not faster than this does not happen */
  ds_restitution_law law;
  bool sequential; /* pairs of bodies collide one after the other [impact.c] */
} ds_impact;

/* r: impulses, zero at first. v: velocities after the impact. False only where memory ran out. */
typedef bool ds_restitution_solve(const ds_solve *solve, double *r, double *v, ds_certificate *certificate,
                                  const ds_subproblem *problem, const ds_impact *impact);

/* All contacts at once by the law of the impact. */
ds_restitution_solve ds_restitution_apply;

/* The same, or pair after pair where that is asked for [impact.c]. */
ds_restitution_solve ds_project_impact;

#endif
