/* Writes FCLIB's HDF5 layout, see docs/problems.md. Matrices are triplets in the caller's order, numbers are kept bit
 * for bit, so that what is read back is solved in the same way. Longer lists are packed (shuffle, deflate), which any
 * reader undoes without noticing. No times are stored: the same problem is the same file.
 *
 * Readers of FCLIB want v, u and l beside every r. Those of a guess are zeros, as in FCLIB's own collection. */
#include <hdf5.h>
#include <stdlib.h>
#include <string.h>

#include "io/hdf5_errors.h"
#include "io/hdf5_output.h"
#include "io/parts.h"

enum { PACK_FROM = 128, CHUNK_LENGTH = 1 << 15, PACK_LEVEL = 6 };

static hid_t make_group(hid_t at, const char *name) {
  return H5Gcreate2(at, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
}

static bool close_group(hid_t group) { return group >= 0 && H5Gclose(group) >= 0; }

/* How a dataset is kept. */
static hid_t creation_list(int64_t count) {
  hid_t list = H5Pcreate(H5P_DATASET_CREATE);
  hsize_t chunk = count < CHUNK_LENGTH ? (hsize_t)count : CHUNK_LENGTH;
  bool ok = list >= 0 && H5Pset_obj_track_times(list, false) >= 0;
  if (ok && count >= PACK_FROM && H5Zfilter_avail(H5Z_FILTER_DEFLATE) > 0)
    ok = H5Pset_chunk(list, 1, &chunk) >= 0 && H5Pset_shuffle(list) >= 0 && H5Pset_deflate(list, PACK_LEVEL) >= 0;
  if (ok) return list;
  if (list >= 0) H5Pclose(list);
  return -1;
}

static bool write_list(hid_t at, const char *name, hid_t file_type, hid_t memory_type, int64_t count,
                       const void *data) {
  hsize_t length = (hsize_t)count;
  hid_t space = H5Screate_simple(1, &length, NULL), list = creation_list(count), set = -1;
  if (space >= 0 && list >= 0) set = H5Dcreate2(at, name, file_type, space, H5P_DEFAULT, list, H5P_DEFAULT);
  bool ok = set >= 0 && (count == 0 || H5Dwrite(set, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
  if (set >= 0 && H5Dclose(set) < 0) ok = false;
  if (list >= 0) H5Pclose(list);
  if (space >= 0) H5Sclose(space);
  return ok;
}

static bool write_integers(hid_t at, const char *name, int64_t count, const int32_t *data) {
  return write_list(at, name, H5T_STD_I32LE, H5T_NATIVE_INT32, count, data);
}

static bool write_integer(hid_t at, const char *name, int32_t value) { return write_integers(at, name, 1, &value); }

static bool write_reals(hid_t at, const char *name, int64_t count, const double *data) {
  return write_list(at, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, count, data);
}

static bool write_zeros(hid_t at, const char *name, int64_t count) {
  double *zeros = calloc(count > 0 ? (size_t)count : 1, sizeof *zeros);
  bool ok = zeros != NULL && write_reals(at, name, count, zeros);
  free(zeros);
  return ok;
}

static bool write_text(hid_t at, const char *name, const char *text) {
  hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR), list = H5Pcreate(H5P_DATASET_CREATE), set = -1;
  if (type >= 0 && space >= 0 && list >= 0 && H5Tset_size(type, strlen(text) + 1) >= 0 &&
      H5Pset_obj_track_times(list, false) >= 0)
    set = H5Dcreate2(at, name, type, space, H5P_DEFAULT, list, H5P_DEFAULT);
  bool ok = set >= 0 && H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) >= 0;
  if (set >= 0 && H5Dclose(set) < 0) ok = false;
  if (list >= 0) H5Pclose(list);
  if (space >= 0) H5Sclose(space);
  if (type >= 0) H5Tclose(type);
  return ok;
}

static bool write_matrix(hid_t at, const char *name, const ds_matrix *m, int32_t rows, int32_t columns) {
  hid_t group = make_group(at, name);
  bool ok = group >= 0 && write_integer(group, "nzmax", m->entries) && write_integer(group, "m", rows) &&
            write_integer(group, "n", columns) && write_integer(group, "nz", m->entries) &&
            write_integers(group, "p", m->entries, m->column) && write_integers(group, "i", m->entries, m->row) &&
            write_reals(group, "x", m->entries, m->value);
  return close_group(group) && ok;
}

static bool write_local(hid_t at, const ds_problem *p) {
  int32_t rows = p->dimension * p->contacts, ne = p->equalities;
  if (!write_matrix(at, "W", &p->W, rows, rows)) return false;
  if (ne > 0 && !(write_matrix(at, "V", &p->V, rows, ne) && write_matrix(at, "R", &p->R, ne, ne))) return false;
  hid_t vectors = make_group(at, "vectors");
  bool ok = vectors >= 0 && write_reals(vectors, "q", rows, p->q) && write_reals(vectors, "mu", p->contacts, p->mu) &&
            (ne == 0 || write_reals(vectors, "s", ne, p->s));
  return close_group(vectors) && ok;
}

static bool write_global(hid_t at, const ds_problem *p) {
  int32_t rows = p->dimension * p->contacts, ne = p->equalities;
  if (!write_matrix(at, "M", &p->M, p->dof, p->dof) || !write_matrix(at, "H", &p->H, p->dof, rows)) return false;
  if (ne > 0 && !write_matrix(at, "G", &p->G, p->dof, ne)) return false;
  hid_t vectors = make_group(at, "vectors");
  bool ok = vectors >= 0 && write_reals(vectors, "f", p->dof, p->f) && write_reals(vectors, "w", rows, p->w) &&
            write_reals(vectors, "mu", p->contacts, p->mu) && (ne == 0 || write_reals(vectors, "b", ne, p->b));
  return close_group(vectors) && ok;
}

static bool write_info(hid_t at, const char *title) {
  hid_t info = make_group(at, "info");
  bool ok = info >= 0 && write_text(info, "title", title != NULL ? title : "") &&
            write_text(info, "description", "written by Drystone") && write_text(info, "math_info", "");
  return close_group(info) && ok;
}

static bool write_problem(hid_t file, const ds_problem *p, const char *title) {
  bool local = p->form == DS_PROBLEM_LOCAL;
  hid_t group = make_group(file, local ? "fclib_local" : "fclib_global");
  bool ok = group >= 0 && write_integer(group, "spacedim", p->dimension) &&
            (local ? write_local(group, p) : write_global(group, p)) && write_info(group, title);
  return close_group(group) && ok;
}

static bool write_bodies(hid_t file, const ds_problem *p) {
  if (p->form != DS_PROBLEM_GLOBAL || p->body_size == NULL) return true;
  hid_t group = make_group(file, "drystone");
  bool ok = group >= 0 && write_integers(group, "body_size", p->body_count, p->body_size) &&
            (p->u_before == NULL || write_reals(group, "u_before", p->dimension * p->contacts, p->u_before));
  return close_group(group) && ok;
}

static bool write_guess(hid_t file, const ds_problem *p, const double *guess) {
  int32_t rows = p->dimension * p->contacts;
  hid_t guesses = make_group(file, "guesses"), first = guesses >= 0 ? make_group(guesses, "1") : -1;
  bool ok = first >= 0 && write_integer(guesses, "number_of_guesses", 1) && write_reals(first, "r", rows, guess) &&
            write_zeros(first, "u", rows) && (p->form == DS_PROBLEM_LOCAL || write_zeros(first, "v", p->dof)) &&
            (p->equalities == 0 || write_zeros(first, "l", p->equalities));
  if (!close_group(first)) ok = false;
  return close_group(guesses) && ok;
}

static bool write_solution(hid_t file, const ds_problem *p, const ds_fclib_extra *extra) {
  int32_t rows = p->dimension * p->contacts;
  hid_t group = make_group(file, "solution");
  bool ok = group >= 0 && write_reals(group, "r", rows, extra->r) && write_reals(group, "u", rows, extra->u) &&
            (extra->v == NULL || write_reals(group, "v", p->dof, extra->v));
  return close_group(group) && ok;
}

bool ds_fclib_write(const char *path, const ds_problem *problem, const ds_fclib_extra *extra, char *reason,
                    size_t reason_size) {
  ds_hdf5_quiet();
  ds_hdf5_output out;
  bool ok = ds_hdf5_output_open(&out, path, false);
  hid_t file = out.file;
  ok = ok && write_problem(file, problem, extra->title) && write_bodies(file, problem) &&
       (extra->guess == NULL || write_guess(file, problem, extra->guess)) &&
       (extra->r == NULL || write_solution(file, problem, extra));
  if (!ok) ds_hdf5_output_reason(&out, reason, reason_size);
  if (ds_hdf5_output_close(&out)) return ok;
  if (ok || out.failure != 0) ds_hdf5_output_reason(&out, reason, reason_size);
  return false;
}
