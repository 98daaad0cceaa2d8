/* The system of system.h in numbers of twice the digits. */
#ifndef DS_PROJECT_TWOFOLD_SYSTEM_H
#define DS_PROJECT_TWOFOLD_SYSTEM_H

#include "la/block_twofold.h"
#include "project/system.h"

typedef struct ds_twofold_system {
  ds_system *system; /* whose problem, pattern and effort it shares */
  ds_block_twofold *matrix;
} ds_twofold_system;

/* NULL where the problem has no bodies, or memory ran out. */
ds_twofold_system *ds_twofold_system_create(ds_arena *arena, ds_system *system);
/* H from c, 9 a contact. False where H is singular or not finite, and where the effort is over. */
bool ds_twofold_system_factor(ds_twofold_system *system, const ds_twofold *c);
void ds_twofold_system_solve(ds_twofold *x, const ds_twofold_system *system); /* x := H⁻¹ x */
int32_t ds_twofold_system_sign(const ds_twofold_system *system);

/* v := G r, and y := Gᵀ v, 3 a contact */
void ds_twofold_push(ds_twofold *v, const ds_subproblem *problem, const ds_twofold *r);
void ds_twofold_slip(ds_twofold *y, const ds_subproblem *problem, const ds_twofold *v);

#endif
