/* How far two bodies are apart: for following fast ones along their way (integrate/sweep.c). */
#ifndef DS_DETECT_GAP_H
#define DS_DETECT_GAP_H

#include "body/scene.h"

/* Least distance of two bodies with their principal frames at these poses; 0 or less where they touch. Larger ones than
 * `enough` may come back as any number above it. Of solids it is the distance of their samples. Deformables
 * are left out: they are not followed along their way. */
double ds_body_gap(const ds_body *a, ds_pose pose_a, const ds_body *b, ds_pose pose_b, double enough);
/* Deepest overlap of the two, 0 if there is none. */
double ds_body_overlap(const ds_body *a, ds_pose pose_a, const ds_body *b, ds_pose pose_b);

#endif
