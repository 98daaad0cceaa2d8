/* Stage 4, project: contact and friction impulses of one island, and their certificate. */
#ifndef DS_PROJECT_PROJECT_H
#define DS_PROJECT_PROJECT_H

#include "project/solve.h"

/* r: warm start in, impulses out (3 x contacts). v: velocity out (dof). False only where memory ran out. */
bool ds_project_island(const ds_solve *solve, double *r, double *v, ds_certificate *certificate,
                       const ds_subproblem *problem);

/* The same by parts, where inactive contacts leave them [split.c]. True where that solves the whole; else r is a start
 * for the whole, and `work` has what it took. */
bool ds_project_parts(const ds_solve *solve, double *r, double *v, ds_certificate *work, const ds_subproblem *problem);

/* Sweeps and Newton in turn until the natural map is at most `tolerance`, or four times: an
 * approximate solution, from which a later solve starts. The certificate is by that tolerance. */
bool ds_project_roughly(const ds_solve *solve, double *r, double *v, ds_certificate *certificate,
                        const ds_subproblem *problem, double tolerance);

#endif
