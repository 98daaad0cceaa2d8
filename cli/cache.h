/* The folder in which built solids are kept from one run to the next. */
#ifndef DS_CLI_CACHE_H
#define DS_CLI_CACHE_H

#include "drystone/types.h"

/* The folder given, else $DRYSTONE_CACHE, else $XDG_CACHE_HOME/drystone, else ~/.cache/drystone; made if missing. Freed
 * by the caller. NULL with an empty message if there is none and none was asked for, with a message where the one
 * asked for cannot be made. */
char *cache_folder(const char *given, ds_error *error);

#endif
