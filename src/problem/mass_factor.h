/* M⁻¹ of a global problem. M falls into components (bodies, or single degrees of freedom where it is diagonal): small
 * ones have a dense factor, large ones (finite elements) a sparse one. */
#ifndef DS_PROBLEM_MASS_FACTOR_H
#define DS_PROBLEM_MASS_FACTOR_H

#include "base/arena.h"
#include "drystone/problem.h"

typedef struct ds_mass_factor {
  int32_t dof, count;
  int32_t *start;             /* count + 1: degrees of freedom of a component ... */
  int32_t *member;            /* ... ascending */
  int32_t *component, *place; /* dof: its component, and where it stands there */
  int32_t largest;
  struct ds_mass_component *components;
} ds_mass_factor;

/* Symmetric part of M. DS_ERROR_INPUT where it is not positive definite. */
ds_status ds_mass_factor_create(ds_arena *arena, ds_mass_factor **factor, const ds_matrix *m, ds_error *error);
/* x := M_c⁻¹ x for one component; work has `largest` numbers */
void ds_mass_factor_solve(double *x, const ds_mass_factor *factor, int32_t component, double *work);

#endif
