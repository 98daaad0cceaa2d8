/* Structures in a plane: bounds of friction that hold in every solution. */
#ifndef DS_STAND_PLANAR_H
#define DS_STAND_PLANAR_H

#include "base/arena.h"
#include "drystone/stand.h"

/* Tries to prove that every solution is at rest; sets verdict, reason and `planar`. False where memory ran out. */
bool ds_planar_stands(ds_arena *arena, ds_stand *stand, const ds_assembly *assembly);
void ds_planar_free(struct ds_planar_proof *proof);

#endif
