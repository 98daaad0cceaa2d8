/* Nonsmooth Gauss-Seidel over the contacts: the rival, and the rough start of a rescue. */
#ifndef DS_PROJECT_GAUSS_SEIDEL_H
#define DS_PROJECT_GAUSS_SEIDEL_H

#include "project/single_contact.h"
#include "project/solve.h"

/* W_kk of every contact, which the sweeps need. NULL where memory ran out. */
ds_single_contact *ds_gauss_seidel_blocks(ds_arena *arena, const ds_subproblem *problem);

/* At most so many sweeps from x; x is the last iterate. True where the tolerance was met. The error is looked at every
 * tenth sweep. */
bool ds_gauss_seidel_solve(ds_solve *solve, ds_iterate *x, const ds_subproblem *problem,
                           const ds_single_contact *blocks, double tolerance, int32_t sweeps);

/* Sweeps while each takes nine tenths of the error away, half of it where contacts are few and a factorization is dear:
 * all there is to do where contacts hardly see each other. x is the best iterate, trial is workspace. */
bool ds_gauss_seidel_quick(ds_solve *solve, ds_iterate *x, ds_iterate *trial, const ds_subproblem *problem,
                           const ds_single_contact *blocks, double tolerance);

#endif
