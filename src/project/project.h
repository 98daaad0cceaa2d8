/* Stage 4, project: contact and friction impulses of one island, and their certificate. */
#ifndef DS_PROJECT_PROJECT_H
#define DS_PROJECT_PROJECT_H

#include "problem/subproblem.h"

/* What a solve aims at, over the tolerance. An error of the tolerance, repeated step after step with the same impulses,
 * would add up to a drift of the whole structure: a step aims lower, which Newton gives nearly free. */
#define DS_AIM_OF_STEP 1e-5
#define DS_AIM_ONCE 0.1

/* r: warm start in, impulses out (3 x contacts). v: velocity out (dof). False only where memory ran out. */
bool ds_project_island(ds_arena *arena, double *r, double *v, ds_certificate *certificate, ds_subproblem *problem,
                       const ds_options *options, double aim);

/* The same, by parts where inactive contacts leave them [split.c]. */
bool ds_project_split(ds_arena *arena, double *r, double *v, ds_certificate *certificate, ds_subproblem *problem,
                      const ds_options *options, double aim);

/* Sweeps and Newton in turn until the natural map is at most `tolerance`, or four times: no answer, but near one, for
 * those who will ask again. Only the counts of the certificate are set. */
bool ds_project_roughly(ds_arena *arena, double *r, double *v, ds_certificate *certificate, ds_subproblem *problem,
                        double tolerance);

#endif
