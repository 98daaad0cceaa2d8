/* What HDF5 says went wrong. */
#ifndef DS_IO_HDF5_ERRORS_H
#define DS_IO_HDF5_ERRORS_H

#include <stddef.h>

/* The last error of HDF5, innermost first: the system's own message if there is one. */
void ds_hdf5_reason(char *text, size_t size);
/* HDF5 prints its errors by default; this stops it. */
void ds_hdf5_quiet(void);

#endif
