/* A second solution: accelerations other than rest that obey all laws of contact and friction. */
#ifndef DS_STAND_SECOND_H
#define DS_STAND_SECOND_H

#include "stand/graph.h"

/* Looks for a moving solution of M a = w + G r, r in K, u + mu |u_T| n in K*, orthogonal, by the solver of ds_problem
 * from several starts. Found: `moving` and the reason are set. False where memory ran out. */
bool ds_second_solution(ds_arena *arena, ds_stand *stand, const ds_graph *graph);

#endif
