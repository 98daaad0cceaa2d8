/* drystone run --from: a run that goes on where a recording ends. */
#ifndef DS_CLI_RESUME_H
#define DS_CLI_RESUME_H

#include "drystone/drystone.h"

/* Sets the state to the last frame of a recording of the same bodies: places, velocities, deformations, time, and the
 * contacts with their impulses, from which the first step starts. False with a message where it cannot be read or is of
 * other bodies. */
bool resume_state(ds_state *state, const ds_scene *scene, const char *path, ds_error *error);

#endif
