/* The last digits of a projection: an interior point ends where its slacks cancel, a Newton step on the natural map
 * does not. */
#ifndef DS_PROJECT_POLISH_H
#define DS_PROJECT_POLISH_H

#include "project/solve.h"

/* Improves the normal components of r (radius = NULL), or the tangential ones within disks (or polygons) of the given
 * radii (a contact each; the contact projection and the friction projection of projections.h), and v = v_hat + G (that
 * part of r). Returns the error of the projection's optimality conditions, relative as in ds_subproblem_error; r and v
 * are the best seen. */
double ds_projection_polish(ds_solve *solve, double *r, double *v, const ds_subproblem *problem, const double *v_hat,
                            const double *radius, double tolerance, int32_t samples);

#endif
