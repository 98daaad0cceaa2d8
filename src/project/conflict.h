/* Whether a problem has a solution at all. */
#ifndef DS_PROJECT_CONFLICT_H
#define DS_PROJECT_CONFLICT_H

#include "project/solve.h"

/* The least |(b - Nᵀ v)+| of any velocity over |q|, where a certificate proves that it is not zero; else 0. `violation`
 * (a number a contact) gets that least (b - Nᵀ v)+: with b less this the problem has a solution. */
double ds_conflict_find(ds_solve *solve, double *violation, const ds_subproblem *problem);

#endif
