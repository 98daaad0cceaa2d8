/* Which bodies a picture is framed on. */
#ifndef DS_CLI_FRAMED_H
#define DS_CLI_FRAMED_H

#include "drystone/drystone.h"

/* Sets a flag per body, all of them false before. Poses are those of the bodies' user frames, one a body; `hidden`
 * bodies (NULL = none) are not there. False if memory ran out. */
bool ds_framed_choose(bool *framed, const ds_scene *scene, const ds_pose *poses, const bool *hidden);

#endif
