/* drystone run --from: a run that goes on where a recording ends. */
#ifndef DS_CLI_RESUME_H
#define DS_CLI_RESUME_H

#include "drystone/drystone.h"

/* Sets the state to that of the last frame of a recording of the same bodies, so that the run goes on bit for bit;
 * hands that held bodies let go. A recording before format version 5 has its frames only: places, velocities,
 * deformations, time, and the contacts with their impulses, from which the first step starts; *exact says which. False
 * with a message where it cannot be read or is of other bodies. */
bool resume_state(ds_state *state, bool *exact, const ds_scene *scene, const char *path, ds_error *error);

#endif
