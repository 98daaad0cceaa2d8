/* Energies of a recorded frame. */
#ifndef DS_CLI_FRAME_ENERGY_H
#define DS_CLI_FRAME_ENERGY_H

#include "record/record.h"

/* Puts the state, which is one of the recording's scene, where the frame is. `step` is the one that led there, s; 0 for
 * the start. */
ds_energy frame_energy(ds_state *state, const ds_scene *scene, const ds_frame *frame, double step);

#endif
