/* What HDF5 says went wrong. */
#ifndef DS_IO_HDF5_ERRORS_H
#define DS_IO_HDF5_ERRORS_H

#include <stddef.h>

/* What HDF5 says went wrong last, innermost first: the system's own message where there is one. */
void ds_hdf5_reason(char *text, size_t size);
/* HDF5 prints its errors unless told not to. */
void ds_hdf5_quiet(void);

#endif
