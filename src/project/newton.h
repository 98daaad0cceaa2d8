/* Proximal Newton on the Alart-Curnier map: fast when warm or nearly right. */
#ifndef DS_PROJECT_NEWTON_H
#define DS_PROJECT_NEWTON_H

#include "project/solve.h"

/* First weight of the proximal term, alpha: of the error's own size, Newton cycles near the end of a path. Good starts
 * take a tenth: the log house takes 782 factorizations per second with that, 961 without. */
#define DS_PROXIMAL 1e-2

/* Improves x (r set) until it meets the goal, and towards its target while that comes easily; x is the best iterate
 * seen on return, its error the full one. True where the goal is met. */
bool ds_newton_solve(ds_solve *solve, ds_iterate *x, const ds_subproblem *problem, const ds_goal *goal, double proximal,
                     int32_t steps);

#endif
