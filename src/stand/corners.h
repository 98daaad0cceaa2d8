/* Which points of an interface matter. A force at a point between others is the same as forces at those: p = sum l_i
 * p_i and f at p give the wrench of l_i f at p_i. So corners of the convex hull carry all that the points could, with
 * tension as well, which is a load, and motions that separate the corners separate what is between them. */
#ifndef DS_STAND_CORNERS_H
#define DS_STAND_CORNERS_H

#include "base/arena.h"
#include "drystone/types.h"

/* is_corner: count flags, all true where the points are few or not in one plane. False where memory ran out. */
bool ds_corners_find(ds_arena *arena, bool *is_corner, const ds_vec3 *points, int32_t count, ds_vec3 normal);

#endif
