/* A dataset of a recording that grows: full chunks compressed (shuffle and deflate), and the rows after the last full
 * chunk in a second dataset, its tail, as they are.
 *
 * HDF5 would write a compressed chunk anew, at another place, at every flush until it is full. The tail is written in
 * place. When it is full its rows go to the dataset, compressed, and reach the file before the tail begins again; so
 * row r of a file is at any moment row r of the dataset or, where that has n rows only, row r - n of the tail. */
#ifndef DS_RECORD_GROWING_H
#define DS_RECORD_GROWING_H

#include <hdf5.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct ds_growing {
  hid_t set, tail;    /* < 0: not there */
  hid_t type;         /* of a row's elements in memory; the caller's */
  int columns;        /* dimensions besides the rows, ... */
  hsize_t size[3];    /* ... and all dimensions of a chunk */
  size_t row;         /* bytes in memory */
  int64_t rows;       /* of the dataset */
  hsize_t fill;       /* rows of the tail */
  unsigned char *buf; /* the same rows */
} ds_growing;

/* Empty, with chunks of about `bytes`; `path` and `tail` are their names. False: HDF5 knows why, or memory ran out. */
bool ds_growing_create(ds_growing *g, hid_t file, const char *path, const char *tail, hid_t stored, size_t bytes);
bool ds_growing_append(ds_growing *g, const void *rows, int64_t count);
bool ds_growing_flush(const ds_growing *g);
/* The tail's rows go to the dataset, whose last chunk is not full then. Nothing is appended after that. */
bool ds_growing_finish(ds_growing *g);
bool ds_growing_close(ds_growing *g); /* frees; false: something did not reach the file */

#endif
