/* Whether the bodies of a scene may start where they are. */
#ifndef DS_SCENE_START_H
#define DS_SCENE_START_H

#include "drystone/drystone.h"

/* The deepest overlap at the start, m, and whose it is; 0 if it is none or within rounding, NAN if memory ran
 * out. */
double ds_start_overlap(ds_body_id *a, ds_body_id *b, const ds_scene *scene);

#endif
