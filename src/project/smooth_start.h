/* A point inside the cones near impulses that are not far from a solution.
 *
 * In the variables of centre.c, x = (mu r_N, r_T) and z = (u_N/mu + |u_T|, u_T), a solution is x = s₊, z = s₋, the
 * parts of s = x - z in the Lorentz cone and in its opposite (each in the unit of the contact's own mass). For any s
 *
 *   x = (s + (s² + 4 g e)^½)/2,   z = x - s     solve x o z = g e,
 *
 * inside the cones (Chen, Harker, Kanzow, Smale; Fukushima, Luo, Tseng 2001 for cones). */
#ifndef DS_PROJECT_SMOOTH_START_H
#define DS_PROJECT_SMOOTH_START_H

#include "project/centre.h"
#include "project/iterate.h"

/* The gap g at which z of a loaded contact, g/|x|, is as large as what is missing: the mean over the contacts of
 * |s| |x - s₊|, an energy, zero at a solution. With |x - s₊|² a path does not leave its start: offsets are then many
 * times z. Ten times more or a third of it give longer paths. */
double ds_smooth_start_gap(const ds_iterate *at, const ds_subproblem *problem);
void ds_smooth_start_find(double *x, double *z, const ds_iterate *at, const ds_subproblem *problem, double gap);

#endif
