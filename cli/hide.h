/* Bodies that are left out of a picture, by their names. */
#ifndef DS_CLI_HIDE_H
#define DS_CLI_HIDE_H

#include "args.h"
#include "drystone/drystone.h"

/* One flag a body: whether one of the lists names it. A list is names with commas between them; a name that ends in `*`
 * stands for all that begin so. NULL with a message where a name is nobody's, or memory ran out. Freed by the caller.
 * `source` is what the scene is called in messages. */
bool *hide_bodies(const ds_scene *scene, const arg_list *lists, const char *source, ds_error *error);

#endif
