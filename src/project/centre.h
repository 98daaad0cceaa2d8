/* A point on the central path of a convex program, where the homotopy starts. */
#ifndef DS_PROJECT_CENTRE_H
#define DS_PROJECT_CENTRE_H

#include "project/solve.h"

/* Such a contact is treated as frictionless: x and z are numbers, and their tangents are zero. */
static inline bool ds_is_frictionless(double mu) { return mu < 1e-6; }

/* mu in x = (mu r_N, r_T), y = (u_N/mu, u_T); 1 for a frictionless contact */
static inline double ds_cone_mu(double mu) { return ds_is_frictionless(mu) ? 1 : mu; }

/* x and z (3 x contacts) inside Lorentz cones with z = y + kappa e_0, to `residual` |q|, and x o z = gap e, within a
 * tenth of the gap. False where no such point was found: likely there is none, and a larger kappa has one. x and z are
 * then where it ended. */
bool ds_centre_find(ds_solve *solve, double *x, double *z, const ds_subproblem *problem, double kappa, double gap,
                    double residual);

/* How far from the centre a point may be, of the gap (the homotopy takes 0.2, and removes the rest); and the residual
 * with which it will do as the start of a path. */
#define DS_CENTRED 0.1

#endif
