/* How far two shapes are apart: for following bodies along their path (meet.c). */
#ifndef DS_DETECT_GAP_H
#define DS_DETECT_GAP_H

#include "body/scene.h"

/* Distance of two placed convex shapes, or minus the depth of their overlap, and the direction from b to a along which
 * it is. One of them may be a half-space. */
double ds_shape_apart(ds_vec3 *n, const ds_shape *a, ds_pose pose_a, const ds_shape *b, ds_pose pose_b);
/* The same by an expanding polytope, which is exact also where they touch, and the point between the two; they are no
 * farther apart than the smaller one's radius. */
double ds_shape_nearest(ds_vec3 *n, ds_vec3 *point, const ds_shape *a, ds_pose pose_a, const ds_shape *b,
                        ds_pose pose_b);
/* Least distance of the samples of two placed shapes, of which one is a solid, to the other one; any number above
 * `enough` where it is more. */
double ds_samples_gap(const ds_shape *a, ds_pose pose_a, const ds_shape *b, ds_pose pose_b, double enough);
/* The same of two rigid bodies. */
double ds_bodies_gap(const ds_body *a, ds_pose pose_a, const ds_body *b, ds_pose pose_b, double enough);

#endif
