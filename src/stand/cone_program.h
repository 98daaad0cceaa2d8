/* Cone programs over the contact forces of an assembly, solved with proofs on either side.
 *
 *   primal   min cᵀr + e t   subject to  G r + d t = b,  r in K, t >= 0
 *   dual     max bᵀy         subject to  c - Gᵀy in K*,  e - dᵀy >= 0
 *
 * K = {|r_T| <= mu r_N} at every point, or r_N >= 0, r_T = 0 where mu = 0; K* = {u_N >= mu |u_T|}. The column d and the
 * unknown t, a load or a margin, are there if d is given. Points that crush have r_N at most their limit.
 *
 * Method: the homogeneous self-dual embedding with Nesterov-Todd scaling and Mehrotra's corrector [Ye, Todd and Mizuno
 * 1994; Andersen, Roos and Terlaky 2003]. Every iteration factors S = G W² Gᵀ once on the graph of blocks. From every
 * iterate two candidates are tried: forces, corrected so that they satisfy the equations to rounding, and a motion
 * y, as it is. What passes the check of its cones is a feasible point whose value is a bound, whatever the method did.
 * So the answer is an interval, and both ends are checked points. */
#ifndef DS_STAND_CONE_PROGRAM_H
#define DS_STAND_CONE_PROGRAM_H

#include "stand/graph.h"

typedef struct ds_cone_program {
  const ds_graph *graph;
  const double *b;       /* 6 n */
  const double *c;       /* 3 x points, or NULL = 0 */
  const double *d;       /* 6 n, or NULL = no t */
  double e;              /* cost of t */
  const double *d_limit; /* 3 x points: of points that crush, r_N + d_limit t + slack = limit + d_limit; NULL = 0 */
  bool frictionless;     /* as if mu = 0 everywhere */
  const double *mu;      /* points: in place of the graph's; NULL = those */
  bool first;            /* the first forces found are enough, and so is the first mechanism */
  bool forces_only;      /* give up early where there are probably no forces: no mechanism is wanted */
  double width;          /* relative width of the interval of values that is enough */
  double least;          /* a value below which the width is absolute; 0 = 1e-3 */
  const struct ds_cone_centre *centre; /* where to start, or NULL: of a program that differs in c and e alone */
} ds_cone_program;

typedef struct ds_cone_answer {
  bool forces;    /* r, t: feasible, with the value `upper` */
  bool motion;    /* y: feasible, with the value `lower` */
  bool mechanism; /* v: Gᵀv in K*, dᵀv >= 0, -bᵀv > 0: the primal is infeasible */
  bool unbounded; /* a ray: G r + d t = 0 in the cones at negative cost, e.g. forces that jam a wedge */
  double upper, lower;
  double *r, t;    /* 3 x points */
  double *y;       /* 6 n; where `mechanism`, it is -v */
  double *last;    /* 6 n: the last iterate of y, unchecked and of any size */
  double residual; /* of G r + d t = b, as ds_graph_residual */
  int32_t factorizations;
} ds_cone_answer;

/* The analytic centre of all forces within the cones that satisfy the equations: max sum log det r. With its
 * multipliers it is on the central path of every cost, far from the end: programs that differ in c and e alone start
 * there with forces and a motion that are feasible. */
typedef struct ds_cone_centre {
  double *x, *y; /* in the coordinates of the method; NULL where none was found */
  int32_t factorizations;
} ds_cone_centre;
/* From forces r inside the cones, and t small. The centre has none where forces have no bound, as where blocks can be
 * wedged. False where memory ran out. */
bool ds_cone_find_centre(ds_arena *arena, ds_cone_centre *centre, const ds_cone_program *program, const double *r);

/* False where memory ran out. */
bool ds_cone_solve(ds_arena *arena, ds_cone_answer *answer, const ds_cone_program *program);

#endif
