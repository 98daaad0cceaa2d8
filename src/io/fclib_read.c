/* Reads FCLIB's HDF5 layout, see docs/problems.md. One of
 *
 *   fclib_local  { spacedim, W, V, R, vectors { q, s, mu } }
 *   fclib_global { spacedim, M, H, G, vectors { f, w, b, mu } }
 *
 * with V, R, s or G, b where there are equality rows, and besides it, as far as they are there: info/title,
 * guesses/1/r, solution/r, drystone/body_size and drystone/u_before. A matrix is a group { m, n, nz, nzmax, p, i, x
 * } in CSparse's manner: nz >= 0 triplets (i rows, p columns), -1 compressed columns, -2 compressed rows.
 *
 * A dataset is used only where its type, rank and length are the expected ones, it lies in this very file (no links,
 * no external or virtual storage), and its length fits the stored bytes: deflate packs 1032 to 1 at best. */
#include <hdf5.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/error.h"
#include "io/hdf5_errors.h"
#include "io/parts.h"

enum {
  PACKING_MAX = 1032,
  CHUNK_BYTES_MAX = 1 << 26, /* HDF5 reads whole chunks, whatever the dataset's length */
  TITLE_BYTES_MAX = 1 << 16,
};

typedef struct fclib_reader {
  hid_t h5;
  const char *path;
  const char *group; /* "fclib_local" */
  int64_t size;      /* bytes of the file */
  ds_problem_file *file;
  ds_error *error;
} fclib_reader;

typedef struct place {
  char text[96]; /* "fclib_local/W/nz" */
} place;

static place place_of(const char *a, const char *b, const char *c) {
  place p;
  snprintf(p.text, sizeof p.text, "%s%s%s%s%s", a, b != NULL ? "/" : "", b != NULL ? b : "", c != NULL ? "/" : "",
           c != NULL ? c : "");
  return p;
}

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static ds_status
bad(const fclib_reader *r, const char *where, const char *format, ...) {
  char text[256];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return ds_fail(r->error, DS_ERROR_INPUT, "%.130s: %s: %s", r->path, where, text);
}

static ds_status no_memory(const fclib_reader *r) {
  return ds_fail(r->error, DS_ERROR_MEMORY, "%.300s: out of memory", r->path);
}

/* Whether an object is there, reached by hard links only: other links can lead into other files. */
static bool exists(const fclib_reader *r, const char *where) {
  char name[sizeof(place)];
  for (const char *slash = where; slash != NULL;) {
    slash = strchr(slash + 1, '/');
    snprintf(name, sizeof name, "%.*s", slash != NULL ? (int)(slash - where) : (int)strlen(where), where);
    H5L_info_t link;
    if (H5Lexists(r->h5, name, H5P_DEFAULT) <= 0 || H5Lget_info(r->h5, name, &link, H5P_DEFAULT) < 0 ||
        link.type != H5L_TYPE_HARD)
      return false;
    hid_t object = slash != NULL ? H5Gopen2(r->h5, name, H5P_DEFAULT) : -1;
    if (object >= 0) H5Gclose(object);
    if (slash != NULL && object < 0) return false;
  }
  return true;
}

/* ---- Datasets ---- */

/* How the bytes are kept: inside the file, in chunks that fit into memory, and as many as the length needs. */
static const char *storage_trouble(const fclib_reader *r, hid_t set, int64_t length, size_t item) {
  hid_t list = H5Dget_create_plist(set);
  if (list < 0) return "its storage cannot be read";
  H5D_layout_t layout = H5Pget_layout(list);
  hsize_t chunk[1] = {0}, stored = H5Dget_storage_size(set);
  const char *trouble = NULL;
  double wanted = (double)length * (double)item;
  if ((layout != H5D_CONTIGUOUS && layout != H5D_CHUNKED && layout != H5D_COMPACT) || H5Pget_external_count(list) != 0)
    trouble = "its data lie in another file";
  else if (layout == H5D_CHUNKED && (H5Pget_chunk(list, 1, chunk) != 1 || chunk[0] > CHUNK_BYTES_MAX / item))
    trouble = "its chunks are larger than 64 MiB";
  else if (stored > (hsize_t)r->size || wanted > (double)stored * (layout == H5D_CHUNKED ? PACKING_MAX : 1))
    trouble = "it is longer than the bytes stored for it; the file may have been cut short";
  H5Pclose(list);
  return trouble;
}

typedef struct dataset {
  hid_t id;
  int64_t length;
} dataset;

/* Opens a list of numbers (rank 1, or a scalar) of a class. */
static ds_status open_dataset(const fclib_reader *r, dataset *set, const char *where, H5T_class_t class) {
  *set = (dataset){-1, 0};
  if (!exists(r, where)) return bad(r, where, "is missing");
  hid_t id = H5Dopen2(r->h5, where, H5P_DEFAULT);
  if (id < 0) return bad(r, where, "is not a dataset");
  hid_t type = H5Dget_type(id), space = H5Dget_space(id);
  ds_status status = DS_OK;
  if (type < 0 || space < 0)
    status = bad(r, where, "its type or size cannot be read");
  else if (H5Tget_class(type) != class || H5Tget_size(type) > 8)
    status = bad(r, where, "expected %s", class == H5T_FLOAT ? "floating-point numbers" : "whole numbers");
  else if (H5Sget_simple_extent_ndims(space) > 1 || H5Sget_simple_extent_type(space) == H5S_NULL)
    status =
        bad(r, where, "expected a list of numbers, found an array of %d dimensions", H5Sget_simple_extent_ndims(space));
  if (status == DS_OK) {
    set->length = (int64_t)H5Sget_simple_extent_npoints(space);
    const char *trouble = set->length < 0 || set->length > INT32_MAX
                              ? "expected at most 2147483647 numbers"
                              : storage_trouble(r, id, set->length, H5Tget_size(type));
    if (trouble != NULL) status = bad(r, where, "%s", trouble);
  }
  if (space >= 0) H5Sclose(space);
  if (type >= 0) H5Tclose(type);
  if (status == DS_OK)
    set->id = id;
  else
    H5Dclose(id);
  return status;
}

/* Reads all numbers of an open dataset into memory of the file, and closes it. */
static ds_status take_dataset(const fclib_reader *r, void *array, dataset *set, const char *where, hid_t type,
                              size_t item) {
  ds_status status = DS_OK;
  void *data = ds_problem_file_array(r->file, set->length, item);
  if (data == NULL)
    status = no_memory(r);
  else if (set->length > 0 && H5Dread(set->id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0) {
    char reason[160];
    ds_hdf5_reason(reason, sizeof reason);
    status = bad(r, where, "cannot be read: %s", reason);
  }
  memcpy(array, &data, sizeof data); /* array points to a typed pointer */
  H5Dclose(set->id);
  set->id = -1;
  return status;
}

static ds_status read_list(const fclib_reader *r, void *array, int64_t *length, const char *where, H5T_class_t class,
                           int64_t low, int64_t high) {
  dataset set;
  ds_status status = open_dataset(r, &set, where, class);
  if (status != DS_OK) return status;
  if (set.length < low || set.length > high) {
    H5Dclose(set.id);
    return low == high ? bad(r, where, "has %lld numbers; expected %lld", (long long)set.length, (long long)low)
                       : bad(r, where, "has %lld numbers; expected %lld to %lld", (long long)set.length, (long long)low,
                             (long long)high);
  }
  if (length != NULL) *length = set.length;
  return class == H5T_FLOAT ? take_dataset(r, array, &set, where, H5T_NATIVE_DOUBLE, sizeof(double))
                            : take_dataset(r, array, &set, where, H5T_NATIVE_INT32, sizeof(int32_t));
}

static ds_status read_number(const fclib_reader *r, int32_t *value, const char *where, int32_t low, int32_t high) {
  int32_t *list;
  ds_status status = read_list(r, &list, NULL, where, H5T_INTEGER, 1, 1);
  if (status != DS_OK) return status;
  *value = *list;
  if (*value < low || *value > high) return bad(r, where, "is %d; expected %d to %d", (int)*value, (int)low, (int)high);
  return DS_OK;
}

static ds_status read_vector(const fclib_reader *r, const double **x, int64_t count, const char *where) {
  double *list;
  ds_status status = read_list(r, &list, NULL, where, H5T_FLOAT, count, count);
  if (status != DS_OK) return status;
  for (int64_t i = 0; i < count; i++)
    if (!isfinite(list[i])) return bad(r, where, "number %lld is not finite", (long long)i);
  *x = list;
  return DS_OK;
}

/* ---- Matrices ---- */

typedef struct stored_matrix {
  int32_t m, n, nz, nzmax;
  int32_t *p, *i;
  double *x;
} stored_matrix;

/* Pointers of compressed storage start at 0 and never fall; each span is written out as one index. */
static ds_status expand(const fclib_reader *r, int32_t **index, const int32_t *pointer, int32_t count, int32_t entries,
                        const char *where) {
  if (pointer[0] != 0) return bad(r, where, "starts at %d; expected 0", (int)pointer[0]);
  for (int32_t k = 0; k < count; k++)
    if (pointer[k + 1] < pointer[k] || pointer[k + 1] > entries)
      return bad(r, where, "number %d is %d; expected %d to %d", (int)k + 1, (int)pointer[k + 1], (int)pointer[k],
                 (int)entries);
  *index = ds_problem_file_array(r->file, entries, sizeof **index);
  if (*index == NULL) return no_memory(r);
  for (int32_t k = 0; k < count; k++)
    for (int32_t e = pointer[k]; e < pointer[k + 1]; e++) (*index)[e] = k;
  return DS_OK;
}

static ds_status read_entries(const fclib_reader *r, stored_matrix *s, const char *name) {
  int64_t count = s->nz, high;
  place p = place_of(r->group, name, "p");
  if (s->nz < 0) {
    int64_t spans = s->nz == -1 ? s->n : s->m;
    ds_status status = read_list(r, &s->p, NULL, p.text, H5T_INTEGER, spans + 1, spans + 1);
    if (status != DS_OK) return status;
    count = s->p[spans];
    if (count < 0 || count > s->nzmax)
      return bad(r, p.text, "ends at %lld; expected 0 to nzmax, %d", (long long)count, (int)s->nzmax);
  } else if (s->nz > s->nzmax) {
    return bad(r, place_of(r->group, name, "nz").text, "is %d; expected at most nzmax, %d", (int)s->nz, (int)s->nzmax);
  }
  high = s->nzmax; /* some writers store their whole capacity */
  ds_status status = DS_OK;
  if (s->nz >= 0) status = read_list(r, &s->p, NULL, p.text, H5T_INTEGER, count, high);
  if (status == DS_OK) status = read_list(r, &s->i, NULL, place_of(r->group, name, "i").text, H5T_INTEGER, count, high);
  if (status == DS_OK) status = read_list(r, &s->x, NULL, place_of(r->group, name, "x").text, H5T_FLOAT, count, high);
  s->nzmax = (int32_t)count;
  return status;
}

static ds_status check_indices(const fclib_reader *r, const int32_t *index, int32_t count, int32_t limit,
                               const char *name, const char *which) {
  for (int32_t k = 0; k < count; k++)
    if (index[k] < 0 || index[k] >= limit)
      return bad(r, place_of(r->group, name, which).text, "number %d is %d; expected 0 to %d", (int)k, (int)index[k],
                 (int)limit - 1);
  return DS_OK;
}

static ds_status read_matrix(const fclib_reader *r, ds_matrix *matrix, const char *name) {
  stored_matrix s = {0};
  ds_status status = read_number(r, &s.m, place_of(r->group, name, "m").text, 0, INT32_MAX - 1);
  if (status == DS_OK) status = read_number(r, &s.n, place_of(r->group, name, "n").text, 0, INT32_MAX - 1);
  if (status == DS_OK) status = read_number(r, &s.nzmax, place_of(r->group, name, "nzmax").text, 0, INT32_MAX);
  if (status == DS_OK) status = read_number(r, &s.nz, place_of(r->group, name, "nz").text, -2, INT32_MAX);
  if (status == DS_OK) status = read_entries(r, &s, name);
  if (status != DS_OK) return status;
  int32_t entries = s.nzmax, *spread = NULL;
  ds_file_triplets t = {s.i, s.p, s.x};
  if (s.nz < 0) {
    status = expand(r, &spread, s.p, s.nz == -1 ? s.n : s.m, entries, place_of(r->group, name, "p").text);
    t = s.nz == -1 ? (ds_file_triplets){s.i, spread, s.x} : (ds_file_triplets){spread, s.i, s.x};
  }
  if (status == DS_OK) status = check_indices(r, t.row, entries, s.m, name, s.nz == -2 ? "p" : "i");
  if (status == DS_OK) status = check_indices(r, t.column, entries, s.n, name, s.nz == -2 ? "i" : "p");
  for (int32_t k = 0; k < entries && status == DS_OK; k++)
    if (!isfinite(t.value[k])) status = bad(r, place_of(r->group, name, "x").text, "number %d is not finite", (int)k);
  if (status == DS_OK) *matrix = ds_file_triplets_matrix(&t, s.m, s.n, entries);
  return status;
}

/* ---- Problems ---- */

static ds_status check_size(const fclib_reader *r, const ds_matrix *m, int32_t rows, int32_t columns,
                            const char *name) {
  if (m->rows == rows && m->columns == columns) return DS_OK;
  return bad(r, place_of(r->group, name, NULL).text, "is %d x %d; expected %d x %d", (int)m->rows, (int)m->columns,
             (int)rows, (int)columns);
}

static ds_status vector_of(const fclib_reader *r, const double **x, int64_t count, const char *name) {
  return read_vector(r, x, count, place_of(r->group, "vectors", name).text);
}

static ds_status set_contacts(const fclib_reader *r, ds_problem *p, int32_t rows, const char *name) {
  p->contacts = rows / p->dimension;
  if (rows % p->dimension == 0) return DS_OK;
  return bad(r, place_of(r->group, name, NULL).text, "%d components do not make contacts of %d", (int)rows,
             (int)p->dimension);
}

static ds_status read_local(const fclib_reader *r, ds_problem *p) {
  ds_status status = read_matrix(r, &p->W, "W");
  int32_t rows = p->W.rows;
  if (status == DS_OK) status = check_size(r, &p->W, rows, rows, "W");
  if (status == DS_OK) status = set_contacts(r, p, rows, "W");
  if (status == DS_OK) status = vector_of(r, &p->q, rows, "q");
  bool coupled = exists(r, place_of(r->group, "V", NULL).text);
  if (status == DS_OK && coupled != exists(r, place_of(r->group, "R", NULL).text))
    status = bad(r, r->group, "has %s without %s; equality rows need both", coupled ? "V" : "R", coupled ? "R" : "V");
  if (status != DS_OK || !coupled) return status;
  status = read_matrix(r, &p->V, "V");
  if (status == DS_OK) status = read_matrix(r, &p->R, "R");
  if (status == DS_OK) p->equalities = p->R.rows, status = check_size(r, &p->R, p->R.rows, p->R.rows, "R");
  if (status == DS_OK) status = check_size(r, &p->V, rows, p->equalities, "V");
  return status == DS_OK ? vector_of(r, &p->s, p->equalities, "s") : status;
}

/* The sizes of the bodies are kept if known: M is then split as it was assembled. */
static ds_status read_bodies(const fclib_reader *r, ds_problem *p) {
  const char *where = "drystone/body_size";
  int32_t *sizes;
  int64_t count;
  if (!exists(r, where)) return DS_OK;
  ds_status status = read_list(r, &sizes, &count, where, H5T_INTEGER, 0, p->dof);
  if (status != DS_OK) return status;
  p->body_size = sizes, p->body_count = (int32_t)count;
  return exists(r, "drystone/u_before") ? read_vector(r, &p->u_before, p->dimension * p->contacts, "drystone/u_before")
                                        : DS_OK;
}

static ds_status read_global(const fclib_reader *r, ds_problem *p) {
  ds_status status = read_matrix(r, &p->M, "M");
  if (status == DS_OK) p->dof = p->M.rows, status = check_size(r, &p->M, p->dof, p->dof, "M");
  if (status == DS_OK) status = read_matrix(r, &p->H, "H");
  if (status == DS_OK) status = check_size(r, &p->H, p->dof, p->H.columns, "H");
  if (status == DS_OK) status = set_contacts(r, p, p->H.columns, "H");
  if (status == DS_OK) status = vector_of(r, &p->f, p->dof, "f");
  if (status == DS_OK) status = vector_of(r, &p->w, p->H.columns, "w");
  if (status == DS_OK && exists(r, place_of(r->group, "G", NULL).text)) {
    status = read_matrix(r, &p->G, "G");
    if (status == DS_OK) p->equalities = p->G.columns, status = check_size(r, &p->G, p->dof, p->G.columns, "G");
    if (status == DS_OK) status = vector_of(r, &p->b, p->equalities, "b");
  }
  return status == DS_OK ? read_bodies(r, p) : status;
}

static ds_status read_friction(const fclib_reader *r, ds_problem *p) {
  ds_status status = vector_of(r, &p->mu, p->contacts, "mu");
  for (int32_t i = 0; i < p->contacts && status == DS_OK; i++)
    if (p->mu[i] < 0)
      status =
          bad(r, place_of(r->group, "vectors", "mu").text, "number %d is %g; expected 0 or more", (int)i, p->mu[i]);
  return status;
}

/* A text of fixed length; what is longer, or of another kind, leaves the file's name as title. */
static void read_title(const fclib_reader *r) {
  place where = place_of(r->group, "info", "title");
  if (!exists(r, where.text)) return;
  hid_t set = H5Dopen2(r->h5, where.text, H5P_DEFAULT), type = set >= 0 ? H5Dget_type(set) : -1;
  hid_t space = set >= 0 ? H5Dget_space(set) : -1;
  if (type >= 0 && space >= 0 && H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0 &&
      H5Sget_simple_extent_npoints(space) == 1 && H5Tget_size(type) < TITLE_BYTES_MAX) {
    char *text = ds_problem_file_array(r->file, (int64_t)H5Tget_size(type) + 1, 1);
    if (text != NULL) memset(text, 0, H5Tget_size(type) + 1);
    if (text != NULL && H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) >= 0 && text[0] != '\0') {
      snprintf(r->file->title, sizeof r->file->title, "%s", text);
      for (char *c = r->file->title; *c != '\0'; c++)
        if ((unsigned char)*c < ' ') *c = ' ';
    }
  }
  if (space >= 0) H5Sclose(space);
  if (type >= 0) H5Tclose(type);
  if (set >= 0) H5Dclose(set);
}

/* A dataset that was made and never written has no bytes. */
static bool never_written(const fclib_reader *r, const char *where) {
  hid_t set = H5Dopen2(r->h5, where, H5P_DEFAULT);
  if (set < 0) return false;
  H5D_space_status_t status = H5D_SPACE_STATUS_ERROR;
  bool empty = H5Dget_space_status(set, &status) >= 0 && status == H5D_SPACE_STATUS_NOT_ALLOCATED;
  H5Dclose(set);
  return empty;
}

static ds_status read_impulses(const fclib_reader *r, double **x, int64_t count, const char *where) {
  const double *list = NULL;
  *x = NULL;
  if (!exists(r, where) || never_written(r, where)) return DS_OK;
  ds_status status = read_vector(r, &list, count, where);
  if (status == DS_OK) memcpy(x, &list, sizeof list); /* the list is ours */
  return status;
}

static ds_status read_extras(const fclib_reader *r) {
  ds_problem_file *file = r->file;
  int64_t count = (int64_t)file->problem.dimension * file->problem.contacts;
  read_title(r);
  ds_status status = read_impulses(r, &file->guess, count, "guesses/1/r");
  if (status == DS_OK) status = read_impulses(r, &file->solution, count, "solution/r");
  bool zero = true; /* many files carry a solution of zeros */
  for (int64_t i = 0; file->solution != NULL && i < count; i++) zero = zero && file->solution[i] == 0;
  if (zero) file->solution = NULL;
  return status;
}

static ds_status read_all(fclib_reader *r) {
  ds_problem *p = &r->file->problem;
  bool global = exists(r, "fclib_global");
  if (!global && !exists(r, "fclib_local"))
    return ds_fail(r->error, DS_ERROR_INPUT, "%.300s: an HDF5 file without fclib_local or fclib_global", r->path);
  r->group = global ? "fclib_global" : "fclib_local";
  p->form = global ? DS_PROBLEM_GLOBAL : DS_PROBLEM_LOCAL;
  ds_status status = read_number(r, &p->dimension, place_of(r->group, "spacedim", NULL).text, 2, 3);
  if (status == DS_OK) status = global ? read_global(r, p) : read_local(r, p);
  if (status == DS_OK) status = read_friction(r, p);
  return status == DS_OK ? read_extras(r) : status;
}

ds_status ds_fclib_read(ds_problem_file *file, const char *path, int64_t size, ds_error *error) {
  ds_hdf5_quiet();
  fclib_reader r = {.path = path, .size = size, .file = file, .error = error};
  r.h5 = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  if (r.h5 < 0) {
    char reason[160];
    ds_hdf5_reason(reason, sizeof reason);
    return ds_fail(error, DS_ERROR_INPUT, "%.300s: HDF5 cannot open it: %s", path, reason);
  }
  ds_status status = read_all(&r);
  H5Fclose(r.h5);
  return status;
}
