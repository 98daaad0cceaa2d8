/* Pictures of a reduced body's modes. */
#ifndef DS_CLI_MODE_PICTURES_H
#define DS_CLI_MODE_PICTURES_H

#include "drystone/reduce.h"

/* PREFIX-01.png, ...: one per reduced coordinate, the body at both extremes. */
ds_status mode_pictures_write(const char *prefix, const ds_reduced *reduced, ds_error *error);

#endif
