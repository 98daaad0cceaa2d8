/* Whether the bodies of a scene may start where they are. */
#ifndef DS_SCENE_START_H
#define DS_SCENE_START_H

#include "drystone/drystone.h"

/* The deepest overlap at the start, m, and its bodies; 0 if there is none or it is within rounding. DS_ERROR_MEMORY is
 * the only failure. */
ds_status ds_start_overlap(double *depth, ds_body_id *a, ds_body_id *b, const ds_scene *scene);

#endif
