/* Energies of a recorded frame. */
#ifndef DS_CLI_FRAME_ENERGY_H
#define DS_CLI_FRAME_ENERGY_H

#include "record/record.h"

/* Sets the state, of the recording's scene, to that of the frame. `step` is the time step before it, s; 0 for the
 * start. */
ds_energy frame_energy(ds_state *state, const ds_scene *scene, const ds_frame *frame, double step);

#endif
