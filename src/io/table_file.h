/* A table as an HDF5 file: one dataset per column, in the order of the table. */
#ifndef DS_IO_TABLE_FILE_H
#define DS_IO_TABLE_FILE_H

#include "drystone/types.h"

typedef struct ds_column {
  const char *name;
  const char *role;      /* attribute "role", or NULL */
  const double *numbers; /* or NULL: ... */
  char *const *texts;    /* ... UTF-8, none NULL */
} ds_column;

/* Writes under a temporary name and renames. */
bool ds_table_write(const char *path, const ds_column *columns, int32_t column_count, int32_t rows, ds_error *error);

#endif
