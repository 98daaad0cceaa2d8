/* Shapes as triangles, added to a model. */
#ifndef DS_CLI_TESSELLATE_H
#define DS_CLI_TESSELLATE_H

#include "model.h"

void ds_model_free(ds_model *model);
/* Adds a paint and gives its index, or -1 if memory ran out. Colours are sRGB-encoded, 0..1. */
int32_t ds_model_add_paint(ds_model *model, ds_vec3 color, double gloss);

/* All return false if memory ran out; the model then holds a part of the shape and is still usable. `segments` is
 * the number of corners of a full circle, at least 6. */
bool ds_model_add_sphere(ds_model *model, ds_pose pose, double radius, int32_t segments, int32_t paint);
bool ds_model_add_box(ds_model *model, ds_pose pose, ds_vec3 half, int32_t paint);
bool ds_model_add_capsule(ds_model *model, ds_pose pose, double radius, double half_length, int32_t segments,
                          int32_t paint);
bool ds_model_add_cylinder(ds_model *model, ds_pose pose, double radius, double half_length, int32_t segments,
                           int32_t paint);
/* A convex face; points counter-clockwise seen from outside, in the frame of the pose. */
bool ds_model_add_face(ds_model *model, ds_pose pose, const ds_vec3 *points, int32_t count, int32_t paint);
/* The faces of a convex polyhedron. */
bool ds_model_add_polyhedron(ds_model *model, ds_pose pose, const ds_polyhedron *hull, int32_t paint);

#endif
