/* Points of an intersection of half-spaces A y >= c, few dimensions, any number of rows: the two projections of
 * methods/ffd.c. */
#ifndef DS_METHODS_HALF_SPACES_H
#define DS_METHODS_HALF_SPACES_H

#include "base/arena.h"
#include "drystone/types.h"

typedef struct ds_half_spaces {
  int32_t n, count;
  double *a; /* count x n */
  double *c; /* count */
} ds_half_spaces;

/* The largest c_k - a_k . y; 0 where y is inside. */
double ds_half_spaces_violation(const ds_half_spaces *h, const double *y);

/* Moves y towards the intersection by the Surrogate Constraint Method [Yang and Murty 1992]: until it is violated by no
 * more than `enough`, or `most` times. y = (y at first) + Aᵀ lambda, lambda >= 0. Returns the iterations;
 * the point is near, but not the nearest, and where the intersection is empty, the one of all iterations that violates
 * it least. `work` has room for 2 count + n numbers. */
int32_t ds_half_spaces_surrogate(double *y, double *lambda, double *work, const ds_half_spaces *h, double enough,
                                 int32_t most);

/* The nearest point of the intersection, y = (y at first) + Aᵀ lambda, by a dual active-set method. Where the
 * intersection is empty: the point that violates it least, in squares over |a_k|². Returns the iterations; memory that
 * ran out is a matter of the arena. */
int32_t ds_half_spaces_nearest(ds_arena *arena, double *y, double *lambda, const ds_half_spaces *h);

#endif
