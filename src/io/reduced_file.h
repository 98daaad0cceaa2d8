/* A reduced deformable body as a file: what `drystone reduce` writes and scenes name. */
#ifndef DS_IO_REDUCED_FILE_H
#define DS_IO_REDUCED_FILE_H

#include "drystone/reduce.h"

/* Written under another name and then put in place: the file is whole or not there. */
ds_status ds_reduced_file_write(const char *path, const ds_reduced *reduced, ds_error *error);
/* NULL with the reason. Nothing in the file is trusted. The name is the one in the file. */
ds_reduced *ds_reduced_file_read(const char *path, ds_error *error);
/* Whether it is an HDF5 file that says it is a reduced body, of whatever version. */
bool ds_reduced_file_is(const char *path);

#endif
