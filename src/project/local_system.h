/* The linear system of second-order methods where a problem has W alone: (I + W C) x = y on the graph of contacts. */
#ifndef DS_PROJECT_LOCAL_SYSTEM_H
#define DS_PROJECT_LOCAL_SYSTEM_H

#include "la/block.h"
#include "problem/subproblem.h"

typedef struct ds_local_system ds_local_system;

ds_local_system *ds_local_system_create(ds_arena *arena, const ds_subproblem *problem); /* NULL where memory ran out */
/* As ds_system_factor. */
bool ds_local_system_factor(ds_local_system *system, const double *c, bool symmetric);
void ds_local_system_solve(double *x, const ds_local_system *system); /* x := (I + W C)⁻¹ x */
int32_t ds_local_system_sign(const ds_local_system *system);          /* of det(I + W C) */

#endif
