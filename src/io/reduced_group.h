/* A reduced deformable body as an HDF5 group: the body file and recordings hold the same. docs/body-files.md has the
 * layout. */
#ifndef DS_IO_REDUCED_GROUP_H
#define DS_IO_REDUCED_GROUP_H

#include <hdf5.h>

#include "body/reduced.h"

/* Version of the layout, the attribute "drystone_reduced" of the group. */
enum { DS_REDUCED_GROUP_VERSION = 1 };

/* Writes into a group or file that is empty; false if HDF5 failed, which knows why. */
bool ds_reduced_group_write(hid_t group, const ds_reduced *body);
/* NULL with a message that starts with `name`. file_size is that of the whole file: no dataset claims more. */
ds_reduced *ds_reduced_group_read(hid_t group, int64_t file_size, const char *name, ds_error *error);

#endif
