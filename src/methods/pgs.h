/* Sweeps of projected Gauss-Seidel, row by row; what pgs.c, nncg.c and shock.c share. */
#ifndef DS_METHODS_PGS_H
#define DS_METHODS_PGS_H

#include "methods/rows.h"
#include "project/iterate.h"
#include "project/solve.h"

typedef enum ds_friction_bound {
  DS_FRICTION_BOX,  /* each tangential impulse within mu r_N of zero, on its own [Erleben 2007] */
  DS_FRICTION_DISK, /* both together */
} ds_friction_bound;

typedef struct ds_pgs {
  ds_row_view view;
  ds_friction_bound bound;
  double *diagonal; /* W_ii, 3 x contacts */
} ds_pgs;

/* False where memory ran out. */
bool ds_pgs_prepare(ds_arena *arena, ds_pgs *pgs, const ds_subproblem *problem, ds_friction_bound bound);

/* Visits one contact: its normal row, then its tangents. v goes with r; u and the error of x are left alone. */
void ds_pgs_visit(const ds_pgs *pgs, ds_iterate *x, int32_t k);

/* All contacts in their order, as one iteration. False where no more may be done. */
bool ds_pgs_sweep(ds_solve *solve, const ds_pgs *pgs, ds_iterate *x);

/* x as an answer: v from its impulses, u, and the full error. */
void ds_method_finish(ds_iterate *x, const ds_subproblem *problem);

#endif
