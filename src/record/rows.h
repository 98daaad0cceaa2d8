/* Reads the rows of a dataset that grows, and of its tail (growing.h). */
#ifndef DS_RECORD_ROWS_H
#define DS_RECORD_ROWS_H

#include <hdf5.h>
#include <stdbool.h>
#include <stdint.h>

int64_t ds_rows_count(hid_t set); /* < 0: it has no rows */
/* Whether the rows of a tail are as those of its set, and not larger than the file. */
bool ds_rows_fit(hid_t set, hid_t tail, int64_t file_size);
/* Whether a set can have as many rows as it claims: deflate makes nothing more than 1,032 times smaller. */
bool ds_rows_have_bytes(hid_t set, int64_t file_size);
/* Rows of the set, and of its tail where the set ends before; tail < 0 = there is none. */
bool ds_rows_read(hid_t set, hid_t tail, void *rows, hid_t type, int64_t at, int64_t count);

#endif
