/* Bodies hidden in a picture, by name. */
#ifndef DS_CLI_HIDE_H
#define DS_CLI_HIDE_H

#include "args.h"
#include "drystone/drystone.h"

/* One flag per body: whether one of the lists names it. A list has names separated by commas; a name that ends in `*`
 * matches all names with that prefix. NULL with a message if no body has a name, or memory ran out. Freed by the
 * caller. `source` is the name of the scene in messages. */
bool *hide_bodies(const ds_scene *scene, const arg_list *lists, const char *source, ds_error *error);

#endif
