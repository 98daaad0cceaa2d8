/* The margin of an equilibrium: how much normal force every interface could lose.
 *
 * max m: r - m s e_N in K, G r = -w, m <= 1, where every interface shares s = 1 among its points. With r' = r - m s e_N
 * and t = 1 - m: G r' - t d = -w - d, d = G s e_N. A motion v with dᵀv = 1 proves m <= -wᵀv. The program has interior
 * points on either side whatever m is, so that it decides where the feasibility of forces alone is too near the edge.
 */
#ifndef DS_STAND_MARGIN_H
#define DS_STAND_MARGIN_H

#include "stand/cone_program.h"

/* answer: r' and t. share: s e_N, 3 x points. mu: of points, NULL = the graph's. False where memory ran out. */
bool ds_margin_solve(ds_arena *arena, ds_cone_answer *answer, double **share, const ds_graph *graph, const double *mu,
                     double width);
/* The centre of the program's forces, from those of the largest margin: none where there is no margin. */
bool ds_margin_centre(ds_arena *arena, ds_cone_centre *centre, const ds_cone_program *program);

#endif
