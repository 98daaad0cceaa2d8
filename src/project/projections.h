/* The two projections of [SP08], each strictly convex in the velocity [DESIGN 3]:
 *
 *   contact(f):      v = argmin 1/2 |v - v_hat|²  subject to Nᵀ v >= b,                  v_hat = v_p + f,   multipliers
 * alpha friction(alpha): v = argmin 1/2 |v - v_hat|² + sum_k mu_k alpha_k |D_kᵀ v - b_T|,    v_hat = v_p + N alpha,
 * subgradients beta
 *
 * Both by a primal-dual interior point whose steps are one symmetric factorization on the body graph, so that redundant
 * contacts cost nothing and impulses come out spread, not at a vertex. The friction norm is the exact disk, or the
 * polygon of k samples [SP08 eq. 7]. */
#ifndef DS_PROJECT_PROJECTIONS_H
#define DS_PROJECT_PROJECTIONS_H

#include "project/solve.h"

/* Relative error of a projection that has the last word; and of the work of an impact, over that of its compression
 * (restitution.c). */
#define DS_EXACT 1e-9

/* How far an interior point goes along a step that reaches the boundary at t: not quite there, whatever rounding does.
 */
static inline double ds_step_inside(double t) { return 0.99 * t < 1 ? 0.99 * t : 1; }

/* alpha goes to the normal components of r, beta to its tangential ones; the others are left alone. v is the minimizer.
 * The return value is the relative error of the projection's own optimality conditions (natural map), best seen. */
double ds_project_contact(ds_solve *solve, double *r, double *v, const ds_subproblem *problem, const double *v_hat,
                          double tolerance);
double ds_project_friction(ds_solve *solve, double *r, double *v, const ds_subproblem *problem, const double *v_hat,
                           double tolerance, int32_t samples);

#endif
