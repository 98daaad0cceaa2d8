/* Problem files, problem_file.h: which format a file has, the memory of what was read, and putting files in place. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/error.h"
#include "io/parts.h"
#include "problem/condense.h"

/* A text larger than this is refused: about 100 million numbers. */
#define TEXT_BYTES_MAX ((size_t)1 << 30)

/* ---- Memory ---- */

static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

/* The title is the name. */
static ds_problem_file *new_file(const char *name, ds_error *error) {
  ds_problem_file *file = calloc(1, sizeof *file);
  ds_arena *arena = calloc(1, sizeof *arena);
  if (file == NULL || arena == NULL) {
    free(file);
    free(arena);
    ds_fail(error, DS_ERROR_MEMORY, "%.300s: out of memory", name);
    return NULL;
  }
  file->memory = arena;
  snprintf(file->title, sizeof file->title, "%s", base_name(name));
  return file;
}

void ds_problem_file_free(ds_problem_file *file) {
  if (file == NULL) return;
  ds_arena_free(file->memory);
  free(file->memory);
  free(file);
}

void *ds_problem_file_array(ds_problem_file *file, int64_t count, size_t size) {
  return count >= 0 ? ds_arena_alloc(file->memory, count > 0 ? (size_t)count : 1, size) : NULL;
}

bool ds_problem_file_triplets(ds_file_triplets *t, ds_problem_file *file, int64_t capacity) {
  t->row = ds_problem_file_array(file, capacity, sizeof *t->row);
  t->column = ds_problem_file_array(file, capacity, sizeof *t->column);
  t->value = ds_problem_file_array(file, capacity, sizeof *t->value);
  return t->row != NULL && t->column != NULL && t->value != NULL;
}

ds_matrix ds_file_triplets_matrix(const ds_file_triplets *t, int32_t rows, int32_t columns, int32_t entries) {
  return (ds_matrix){rows, columns, entries, t->row, t->column, t->value};
}

/* ---- Validity of the problem as a whole: the library's own check, with the file's name in the message ---- */

static ds_status check_problem(const ds_problem *problem, const char *name, ds_error *error) {
  ds_error why = {{0}};
  ds_status status = ds_problem_validate(problem, &why);
  return status == DS_OK ? DS_OK : ds_fail(error, status, "%.300s: %.200s", name, why.message);
}

static ds_status check_vector(const double *x, int64_t count, const char *name, const char *what, ds_error *error) {
  for (int64_t i = 0; i < count; i++)
    if (!isfinite(x[i]))
      return ds_fail(error, DS_ERROR_INPUT, "%.300s: number %lld of %s is not finite", name, (long long)i, what);
  return DS_OK;
}

/* ---- Reading ---- */

static bool is_hdf5(const char *start, size_t length) {
  return length >= 8 && memcmp(start, "\x89HDF\r\n\x1a\n", 8) == 0;
}

/* The whole of a text, or its first 8 bytes where it is HDF5. NULL with a message. */
static char *read_start(FILE *stream, size_t *length, int64_t size, const char *path, ds_error *error) {
  size_t capacity = 1 << 16, count = 0;
  char *text = malloc(capacity);
  while (text != NULL) {
    count += fread(text + count, 1, capacity - count, stream);
    if (count < capacity || is_hdf5(text, count)) break;
    capacity *= 2;
    bool large = capacity > TEXT_BYTES_MAX || (uint64_t)size > TEXT_BYTES_MAX; /* the size of a pipe is unknown */
    char *more = large ? NULL : realloc(text, capacity);
    if (more == NULL) {
      free(text);
      if (large)
        ds_fail(error, DS_ERROR_INPUT, "%.300s: larger than %zu MiB; give such a problem as HDF5", path,
                TEXT_BYTES_MAX >> 20);
      else
        ds_fail(error, DS_ERROR_MEMORY, "%.300s: out of memory", path);
      return NULL;
    }
    text = more;
  }
  if (text == NULL) ds_fail(error, DS_ERROR_MEMORY, "%.300s: out of memory", path);
  if (text != NULL && ferror(stream) != 0) {
    ds_fail(error, DS_ERROR_INPUT, "%.300s: %s", path, strerror(errno));
    free(text);
    return NULL;
  }
  *length = count;
  return text;
}

static FILE *open_input(const char *path, int64_t *size, ds_error *error) {
  struct stat status;
  FILE *stream = fopen(path, "rb");
  if (stream == NULL || stat(path, &status) != 0) {
    ds_fail(error, DS_ERROR_INPUT, "%.300s: %s", path, strerror(errno));
  } else if (S_ISDIR(status.st_mode)) {
    ds_fail(error, DS_ERROR_INPUT, "%.300s: is a directory; give a problem file", path);
  } else {
    *size = (int64_t)status.st_size;
    return stream;
  }
  if (stream != NULL) fclose(stream);
  return NULL;
}

/* The second half of every reader: checks the problem as a whole. */
static ds_problem_file *finish(ds_problem_file *file, ds_status status, const char *name, ds_error *error) {
  if (status == DS_OK) status = check_problem(&file->problem, name, error);
  if (status == DS_OK) return file;
  ds_problem_file_free(file);
  return NULL;
}

ds_problem_file *ds_problem_text_read(const char *text, size_t length, const char *name, ds_error *error) {
  ds_problem_file *file = new_file(name, error);
  if (file == NULL) return NULL;
  return finish(file, ds_siconos_read(file, text, length, name, error), name, error);
}

ds_problem_file *ds_problem_file_read(const char *path, ds_error *error) {
  int64_t size = 0;
  size_t length = 0;
  errno = 0;
  FILE *stream = open_input(path, &size, error);
  if (stream == NULL) return NULL;
  char *text = read_start(stream, &length, size, path, error);
  fclose(stream);
  if (text == NULL) return NULL;
  ds_problem_file *file = NULL;
  if (!is_hdf5(text, length)) {
    file = ds_problem_text_read(text, length, path, error);
  } else {
    file = new_file(path, error);
    if (file != NULL) file = finish(file, ds_fclib_read(file, path, size, error), path, error);
  }
  free(text);
  return file;
}

/* ---- Writing ---- */

static bool ends_in(const char *path, const char *ending) {
  size_t n = strlen(path), k = strlen(ending);
  return n > k && strcmp(path + n - k, ending) == 0;
}

static ds_status write_fclib(const char *path, const ds_problem *problem, const ds_fclib_extra *extra,
                             ds_error *error) {
  ds_part_file part;
  char reason[160];
  ds_status status = ds_part_file_reserve(&part, path, error);
  if (status != DS_OK) return status;
  if (ds_fclib_write(part.part, problem, extra, reason, sizeof reason)) return ds_part_file_commit(&part, path, error);
  ds_part_file_discard(&part);
  return ds_fail(error, DS_ERROR_INPUT, "%.300s: cannot be written: %s", path, reason);
}

static ds_status write_siconos(const char *path, const ds_problem *problem, ds_error *error) {
  if (problem->equalities > 0)
    return ds_fail(error, DS_ERROR_INPUT, "%.300s: a text file has no place for equality rows; write .hdf5", path);
  ds_part_file part;
  ds_status status = ds_part_file_reserve(&part, path, error);
  if (status != DS_OK) return status;
  FILE *out = fopen(part.part, "w");
  bool memory = out == NULL || ds_siconos_write(out, problem);
  bool whole = out != NULL && fflush(out) == 0 && ferror(out) == 0;
  int why = errno;
  if (out != NULL && fclose(out) != 0 && whole) whole = false, why = errno;
  if (memory && whole) return ds_part_file_commit(&part, path, error);
  ds_part_file_discard(&part);
  if (!memory) return ds_fail(error, DS_ERROR_MEMORY, "%.300s: out of memory", path);
  return ds_fail(error, DS_ERROR_INPUT, "%.300s: cannot be written: %s", path, strerror(why));
}

ds_status ds_problem_file_write(const char *path, const ds_problem *problem, const double *guess, const char *title,
                                ds_error *error) {
  int64_t rows = (int64_t)problem->dimension * problem->contacts;
  ds_status status = check_problem(problem, path, error);
  if (status == DS_OK && guess != NULL) status = check_vector(guess, rows, path, "the guess", error);
  if (status != DS_OK) return status;
  if (ends_in(path, ".dat")) return write_siconos(path, problem, error);
  if (ends_in(path, ".hdf5") || ends_in(path, ".h5"))
    return write_fclib(path, problem, &(ds_fclib_extra){.title = title, .guess = guess}, error);
  return ds_fail(error, DS_ERROR_INPUT, "%.300s: a problem's file ends in .hdf5, .h5 or .dat", path);
}

ds_status ds_solution_file_write(const char *path, const ds_problem *problem, const double *r, const double *u,
                                 const double *v, const char *title, ds_error *error) {
  int64_t rows = (int64_t)problem->dimension * problem->contacts;
  ds_status status = check_problem(problem, path, error);
  if (status == DS_OK) status = check_vector(r, rows, path, "r", error);
  if (status == DS_OK) status = check_vector(u, rows, path, "u", error);
  if (status == DS_OK && v != NULL) status = check_vector(v, problem->dof, path, "v", error);
  if (status != DS_OK) return status;
  if (!ends_in(path, ".hdf5") && !ends_in(path, ".h5"))
    return ds_fail(error, DS_ERROR_INPUT, "%.300s: a solution's file ends in .hdf5 or .h5", path);
  return write_fclib(path, problem, &(ds_fclib_extra){.title = title, .r = r, .u = u, .v = v}, error);
}
