/* What the readers and writers of problem files share; problem_file.h is what others see. */
#ifndef DS_IO_PARTS_H
#define DS_IO_PARTS_H

#include <stddef.h>
#include <stdio.h>

#include "io/problem_file.h"

/* ---- Memory of a problem: freed as a whole ---- */

/* NULL where memory ran out; never NULL for nothing, so that NULL alone means failure. */
void *ds_problem_file_array(ds_problem_file *file, int64_t count, size_t size);

/* A matrix that is being read. */
typedef struct ds_file_triplets {
  int32_t *row, *column;
  double *value;
} ds_file_triplets;
bool ds_problem_file_triplets(ds_file_triplets *t, ds_problem_file *file, int64_t capacity);
ds_matrix ds_file_triplets_matrix(const ds_file_triplets *t, int32_t rows, int32_t columns, int32_t entries);

/* ---- Formats ---- */

ds_status ds_fclib_read(ds_problem_file *file, const char *path, int64_t size, ds_error *error);
ds_status ds_siconos_read(ds_problem_file *file, const char *text, size_t length, const char *name, ds_error *error);

/* What FCLIB keeps besides the problem. NULL = not there. */
typedef struct ds_fclib_extra {
  const char *title;
  const double *guess;     /* d nc: r */
  const double *r, *u, *v; /* the solution */
} ds_fclib_extra;
/* Writes into a file that exists and is empty; false with HDF5's reason. */
bool ds_fclib_write(const char *path, const ds_problem *problem, const ds_fclib_extra *extra, char *reason,
                    size_t reason_size);
/* False if memory ran out; errors of the stream stay in the stream. */
bool ds_siconos_write(FILE *out, const ds_problem *problem);

/* ---- A file written under another name and then put in place ---- */

typedef struct ds_part_file {
  char *target; /* the path, or what a link points to */
  char *part;   /* its name meanwhile; exists and is empty after ds_part_file_reserve */
} ds_part_file;
ds_status ds_part_file_reserve(ds_part_file *file, const char *path, ds_error *error);
ds_status ds_part_file_commit(ds_part_file *file, const char *path, ds_error *error);
void ds_part_file_discard(ds_part_file *file); /* also after a commit, then without effect */

#endif
