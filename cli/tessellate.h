/* Shapes as triangles, added to a model. */
#ifndef DS_CLI_TESSELLATE_H
#define DS_CLI_TESSELLATE_H

#include "drystone/drystone.h"
#include "model.h"

void ds_model_free(ds_model *model);
/* Adds a paint; *paint is its index. Colours are sRGB-encoded, 0..1. False if memory ran out. */
bool ds_model_add_paint(ds_model *model, int32_t *paint, ds_vec3 color, double gloss);

/* Both return false if memory ran out; the model is still usable. Shapes without triangles (solids, half-spaces,
 * deformable bodies) add nothing. `segments` is the number of corners of a full circle, at least 6. */
bool ds_model_add_shape(ds_model *model, ds_pose pose, const ds_scene *scene, ds_body_id body, int32_t index,
                        int32_t segments, int32_t paint);
/* A convex face; points counter-clockwise seen from outside, in the frame of the pose. */
bool ds_model_add_face(ds_model *model, ds_pose pose, const ds_vec3 *points, int32_t count, int32_t paint);

#endif
