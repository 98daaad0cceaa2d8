/* How far two convex shapes are apart, or how deep they overlap, from their supports alone. */
#ifndef DS_SHAPE_SEPARATION_H
#define DS_SHAPE_SEPARATION_H

#include "shape/shape.h"

/* Largest separation over all directions of a, placed in the frame of b, from b: the distance, or minus the least
 * overlap; NULL for a is the point p. INFINITY where it is more than `reach`, which must be finite. `n` is the unit
 * direction from b to a, `on_a` and `on_b` points that are `separation` apart along it; all in the frame of b. */
double ds_shape_separation(ds_vec3 *n, ds_vec3 *on_a, ds_vec3 *on_b, const ds_shape *a, const ds_mat3 *r, ds_vec3 p,
                           const ds_shape *b, double reach);
/* Signed distance of a point, and its gradient. */
double ds_point_separation(ds_vec3 *normal, const ds_shape *shape, ds_vec3 x);

#endif
