/* The spheres of bodies' trees, and slices of their distance fields. */
#ifndef DS_CLI_VIEW_PROBE_H
#define DS_CLI_VIEW_PROBE_H

#include "bytes.h"
#include "drystone/drystone.h"

/* SPHERES of a solid or a deformable body, as the state has it. NULL with a message where there are none. */
view_message *view_spheres_message(const ds_scene *scene, const ds_state *state, uint32_t body, ds_error *error);
/* FIELD across an axis of the body's frame, at a place from 0 to 1 between its bounds, of a deformable as the state has
 * it. NULL with a message where it has no bounds (half-spaces). */
view_message *view_field_message(const ds_scene *scene, const ds_state *state, uint32_t body, int axis, double place,
                                 ds_error *error);

#endif
