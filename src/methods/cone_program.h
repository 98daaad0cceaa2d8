/* The contact problem without De Saxcé's term, a convex cone program:
 *
 *   min ½|v - v_p|²  subject to  u_N + shift_k >= mu |u_T|,   impulses r in K_mu are its multipliers. */
#ifndef DS_METHODS_CONE_PROGRAM_H
#define DS_METHODS_CONE_PROGRAM_H

#include "project/solve.h"

/* x becomes its solution, with v and u; `shift` (contacts, m/s) may be NULL. Returns the relative natural-map error of
 * this program, |r - P_K(r - rho (u + shift n))| over the scale of the contact problem's. */
double ds_cone_program(ds_solve *solve, ds_iterate *x, const ds_subproblem *problem, const double *shift);

#endif
