/* Consistency checks of a reduced body that was read. */
#ifndef DS_IO_REDUCED_CHECK_H
#define DS_IO_REDUCED_CHECK_H

#include "body/reduced.h"

/* After ds_reduced_finish, which has checked every number and index by itself, and that the surface is closed. */
ds_status ds_reduced_check(const ds_reduced *body, ds_error *error);

#endif
