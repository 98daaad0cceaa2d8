/* Interior point on the product of Coulomb cones, with the De Saxcé term in the Newton matrix: the coupled predictor.
 */
#ifndef DS_PROJECT_CONE_H
#define DS_PROJECT_CONE_H

#include "project/solve.h"

typedef struct ds_cone_options {
  double tolerance;   /* natural-map error at which to stop */
  int32_t iterations; /* at most; fewer where steps stay short */
  bool convex;        /* De Saxcé term at zero: one convex program, exact where nothing slides */
  double centring;    /* least sigma: 0 for the convex program, 0.3 to 0.7 on the non-convex one */
  double start;       /* size of the first iterate, in units of the predicted velocities */
} ds_cone_options;

/* From its own interior start. x becomes the best iterate seen, if better than x->error. */
bool ds_cone_solve(ds_solve *solve, ds_iterate *x, const ds_subproblem *problem, const ds_cone_options *options);

#endif
