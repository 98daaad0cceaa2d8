/* Frictional contact problems as files: FCLIB's HDF5 layout and the text files of Siconos. docs/problems.md has both
 * formats. Nothing in a file is trusted: sizes, indices and values are checked before they are used. */
#ifndef DS_IO_PROBLEM_FILE_H
#define DS_IO_PROBLEM_FILE_H

#include <stddef.h>

#include "drystone/problem.h"

typedef struct ds_problem_file {
  ds_problem problem; /* its arrays belong to this object */
  char title[128];    /* info/title, or the file's name */
  double *guess;      /* d nc: r of the first guess, or NULL */
  double *solution;   /* d nc: r of the stored solution where it is not all zero, or NULL */
  void *memory;       /* what ds_problem_file_free frees */
} ds_problem_file;

/* Reads an FCLIB file (recognized by HDF5's signature) or a Siconos text file. NULL with a message that names the file,
 * the line or the dataset, and what was expected. */
ds_problem_file *ds_problem_file_read(const char *path, ds_error *error);
void ds_problem_file_free(ds_problem_file *file);

/* The same from memory: a Siconos text, `name` in messages. */
ds_problem_file *ds_problem_text_read(const char *text, size_t length, const char *name, ds_error *error);

/* Writes a problem: FCLIB where the path ends in .hdf5 or .h5, Siconos' text where it ends in .dat. `guess` (d nc) and
 * `title` may be NULL. A file is whole or not there: written under another name, then renamed. */
ds_status ds_problem_file_write(const char *path, const ds_problem *problem, const double *guess, const char *title,
                                ds_error *error);

/* Writes problem and solution in FCLIB's layout: r, u, and v in global form (else NULL). */
ds_status ds_solution_file_write(const char *path, const ds_problem *problem, const double *r, const double *u,
                                 const double *v, const char *title, ds_error *error);

#endif
