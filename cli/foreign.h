/* Files that are not scenes, and what they are. */
#ifndef DS_CLI_FOREIGN_H
#define DS_CLI_FOREIGN_H

#include "drystone/types.h"

/* Whether a file given as a scene is a mesh, a recording, a picture or a file of another program: by its extension or
 * its first bytes. The message says what it is and what to do. */
bool foreign_refuse(const char *path, ds_error *error);

#endif
