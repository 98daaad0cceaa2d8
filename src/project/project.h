/* Stage 4, project: contact and friction impulses of one island, and their certificate. */
#ifndef DS_PROJECT_PROJECT_H
#define DS_PROJECT_PROJECT_H

#include "problem/subproblem.h"

/* r: warm start in, impulses out (3 x contacts). v: velocity out (dof). False only where memory ran out. */
bool ds_project_island(ds_arena *arena, double *r, double *v, ds_certificate *certificate, ds_subproblem *problem,
                       const ds_options *options);

#endif
