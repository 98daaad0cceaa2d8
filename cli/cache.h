/* The cache folder for built solids. */
#ifndef DS_CLI_CACHE_H
#define DS_CLI_CACHE_H

#include "drystone/types.h"

/* The folder given, else $DRYSTONE_CACHE, else $XDG_CACHE_HOME/drystone, else ~/.cache/drystone; made if missing. Freed
 * by the caller. NULL with an empty message if there is none and none was requested; NULL with a message if the
 * requested one cannot be created. */
char *cache_folder(const char *given, ds_error *error);

#endif
