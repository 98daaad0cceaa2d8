/* Selects the bodies that determine the view of a picture. */
#ifndef DS_CLI_FRAMED_H
#define DS_CLI_FRAMED_H

#include "drystone/drystone.h"

/* Sets a flag per body, all of them false before. Poses are those of the bodies' user frames, one per body; `hidden`
 * bodies (NULL = none) are ignored. False if memory ran out. */
bool ds_framed_choose(bool *framed, const ds_scene *scene, const ds_pose *poses, const bool *hidden);

#endif
