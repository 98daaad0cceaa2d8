/* An HDF5 file that is written. HDF5 itself does not survive a write that fails, on a full disk or at a size limit: it
 * crashes when it closes the file. Here the first failed write is remembered, HDF5 does not hear of it, and nothing
 * more reaches the file: it stays as it was at that moment, as if the process had been killed then. */
#ifndef DS_IO_HDF5_OUTPUT_H
#define DS_IO_HDF5_OUTPUT_H

#include <hdf5.h>
#include <stdbool.h>
#include <stddef.h>

/* Lives at one address from opening to closing. */
typedef struct ds_hdf5_output {
  hid_t file;   /* < 0: not open */
  hid_t driver; /* registered as long as the file is open: HDF5 asks for no less */
  int failure;  /* errno of the first write that failed; 0 = all reached the file */
} ds_hdf5_output;

/* Creates the file or empties it; false with the reason. `newest`: the newest file format, as SWMR needs. */
bool ds_hdf5_output_open(ds_hdf5_output *out, const char *path, bool newest);
/* Closes; false if something did not reach the file. */
bool ds_hdf5_output_close(ds_hdf5_output *out);
/* Why: the system's reason where a write failed, else HDF5's. */
void ds_hdf5_output_reason(const ds_hdf5_output *out, char *text, size_t size);

#endif
