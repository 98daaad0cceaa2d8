/* Convex contact: De Saxcé's term mu |u_T| is dropped,
 *
 *   u = Gᵀ(v_p + G r) - b,   r_k in K_mu,   u_k in K*_mu,   orthogonal,
 *
 * the conditions of one convex cone program, which is solved to the end. It is what Anitescu (2006), Chrono, Drake and
 * MuJoCo build on. Exact where nothing slides. A contact that slides has u_N = mu |u_T|: bodies rise by h mu |u_T| in
 * every step in which they slide, until the gap ends contact. */
#include "methods/cone_program.h"
#include "methods/pgs.h"
#include "project/solvers.h"

ds_solver_solve ds_convex_solve; /* for the table of solvers.c */

void ds_convex_solve(ds_solve *s, ds_iterate *x, const ds_subproblem *p) {
  ds_cone_program(s, x, p, NULL);
  ds_method_finish(x, p);
}
