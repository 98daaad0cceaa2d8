/* Pairs of bodies that may touch: boxes that overlap, less bodies that a joint connects (joint/joint.c). */
#ifndef DS_DETECT_BODY_PAIRS_H
#define DS_DETECT_BODY_PAIRS_H

#include "body/scene.h"
#include "detect/broad.h"

/* As ds_broad_pairs, a box a body of the scene. */
bool ds_body_pairs(ds_arena *arena, ds_box_pair **pairs, int32_t *pair_count, const ds_box *boxes, const bool *moving,
                   const ds_scene *scene);

#endif
