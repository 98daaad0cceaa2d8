/* drystone run --from: continues a run where a recording ends. */
#ifndef DS_CLI_RESUME_H
#define DS_CLI_RESUME_H

#include "drystone/drystone.h"

/* Sets the state to that of the last frame of a recording of the same bodies, so that the run continues bit for bit;
 * hands are released. Recordings before format version 5 have frames only: positions, velocities, deformations, time,
 * and contacts with impulses, the warm start of the first step; *exact is then false. False with a message if it cannot
 * be read or has other bodies. */
bool resume_state(ds_state *state, bool *exact, const ds_scene *scene, const char *path, ds_error *error);

#endif
