/* Files that are no scenes, and what they are instead. */
#ifndef DS_CLI_FOREIGN_H
#define DS_CLI_FOREIGN_H

#include "drystone/types.h"

/* Whether a file, where a scene is expected, is a mesh, a recording, a picture or of another program: by the ending of
 * its name, or by its first bytes. The message says what it is and what to do. */
bool foreign_refuse(const char *path, ds_error *error);

#endif
