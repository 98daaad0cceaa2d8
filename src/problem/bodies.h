/* A global problem with bodies: M block diagonal, a contact between at most two of its blocks. */
#ifndef DS_PROBLEM_BODIES_H
#define DS_PROBLEM_BODIES_H

#include "problem/condense.h"

/* Makes whole->p of the bodies, or leaves it alone and *kept false where the problem has none, or where W is cheaper.
 */
ds_status ds_problem_keep_bodies(ds_arena *arena, ds_whole *whole, bool *kept, const ds_problem *problem,
                                 ds_error *error);
void ds_whole_body_velocity(double *v, const ds_whole *whole, const double *r);

#endif
