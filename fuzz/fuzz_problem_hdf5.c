/* Fuzz target: FCLIB files. The bytes say which datasets a file has, their types, lengths and contents; the file is
 * made with HDF5 itself and read. So what is tested is our reading of well-formed HDF5 with any content; HDF5's own
 * parser is not ours to fuzz, and known to fall over damaged files. Bytes that start with HDF5's signature are taken as
 * a whole file all the same, to replay such a case.
 *
 * The bytes, read in order; what is missing is zero:
 *   1      form (bit 0), dimension 3 - bit 1, equality rows bit 2, bodies bit 3, guess bit 4, packed bit 5
 *   1      contacts (0 to 15), 1: bodies or rows
 *   then for each dataset of the layout in turn 1 byte: 0..239 as it should be, with numbers from the bytes;
 *   above: left out, wrong length, wrong class, rank 2, huge and never written, extreme numbers. */
#include <fcntl.h>
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz_solve.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

static char path[64];

static void remove_file(void) { unlink(path); }

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc, (void)argv;
  snprintf(path, sizeof path, "/dev/shm/fuzz_problem_%ld.hdf5", (long)getpid());
  if (access("/dev/shm", W_OK) != 0) snprintf(path, sizeof path, "/tmp/fuzz_problem_%ld.hdf5", (long)getpid());
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  atexit(remove_file);
  return 0;
}

typedef struct bytes {
  const uint8_t *at, *end;
} bytes;

static uint8_t take(bytes *b) { return b->at < b->end ? *b->at++ : 0; }

enum { LENGTH_MAX = 1024 };

typedef enum trouble { MISSING = 240, LENGTH, CLASS, RANK, NEVER_WRITTEN, EXTREME } trouble;

static double real_number(bytes *b, bool extreme) {
  double x;
  uint8_t raw[8];
  if (!extreme) return ((double)take(b) - 128) / 16;
  for (int i = 0; i < 8; i++) raw[i] = take(b);
  memcpy(&x, raw, sizeof x);
  return x;
}

/* A dataset of `count` numbers, whole ones from 0 to below `limit` or real ones; or with one trouble. */
static void put(hid_t at, bytes *b, const char *name, bool real, int32_t count, int32_t limit, const int32_t *given,
                bool packed) {
  static double reals[LENGTH_MAX + 1];
  static int32_t integers[LENGTH_MAX + 1];
  uint8_t how = take(b);
  if (how == MISSING) return;
  hsize_t dims[2] = {(hsize_t)count, 1};
  if (how == LENGTH) dims[0] = take(b);
  if (how == NEVER_WRITTEN) dims[0] = (hsize_t)take(b) << (take(b) % 40);
  if (how == CLASS) real = !real;
  if (dims[0] > LENGTH_MAX && how != NEVER_WRITTEN) dims[0] = LENGTH_MAX;
  for (hsize_t i = 0; i < dims[0] && i < LENGTH_MAX; i++) {
    reals[i] = real_number(b, how == EXTREME);
    if (given != NULL && how != EXTREME)
      integers[i] = given[i < (hsize_t)count ? i : 0];
    else if (how == EXTREME)
      integers[i] = (int32_t)((uint32_t)take(b) << 24 | (uint32_t)take(b) << 8 | take(b));
    else
      integers[i] = limit > 0 ? take(b) % limit : 0;
  }
  hid_t space = H5Screate_simple(how == RANK ? 2 : 1, dims, NULL), list = H5Pcreate(H5P_DATASET_CREATE);
  hsize_t chunk[2] = {64, 1};
  if (packed && dims[0] >= 64 && H5Pset_chunk(list, how == RANK ? 2 : 1, chunk) >= 0) H5Pset_deflate(list, 1);
  hid_t type = real ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT32;
  hid_t set = H5Dcreate2(at, name, type, space, H5P_DEFAULT, list, H5P_DEFAULT);
  if (set >= 0 && how != NEVER_WRITTEN)
    H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, real ? (const void *)reals : (const void *)integers);
  if (set >= 0) H5Dclose(set);
  H5Pclose(list);
  H5Sclose(space);
}

/* A matrix in one of the three storages, with indices from the bytes. */
static void put_matrix(hid_t at, bytes *b, const char *name, int32_t rows, int32_t columns, bool packed) {
  uint8_t storage = take(b) % 3;
  int32_t entries = take(b) * 2, nz = storage == 0 ? entries : storage == 1 ? -1 : -2;
  int32_t spans = storage == 1 ? columns : rows, p[LENGTH_MAX + 1];
  hid_t group = H5Gcreate2(at, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  if (rows == 0 || columns == 0) entries = 0, nz = nz > 0 ? 0 : nz;
  int32_t nzmax = entries + take(b) % 4;
  put(group, b, "m", false, 1, 0, &rows, false);
  put(group, b, "n", false, 1, 0, &columns, false);
  put(group, b, "nz", false, 1, 0, &nz, false);
  put(group, b, "nzmax", false, 1, 0, &nzmax, false);
  if (storage == 0) {
    put(group, b, "p", false, entries, columns, NULL, packed);
    put(group, b, "i", false, entries, rows, NULL, packed);
  } else {
    for (int32_t k = 0; k <= spans; k++) p[k] = spans > 0 ? (int32_t)((int64_t)entries * k / spans) : 0;
    put(group, b, "p", false, spans + 1, 0, p, packed);
    put(group, b, "i", false, entries, storage == 1 ? rows : columns, NULL, packed);
  }
  put(group, b, "x", true, entries, 0, NULL, packed);
  H5Gclose(group);
}

static void make_file(bytes *b) {
  uint8_t flags = take(b);
  bool global = flags & 1, packed = flags & 32;
  int32_t d = flags & 2 ? 2 : 3, nc = take(b) % 16, ne = flags & 4 ? 1 + take(b) % 3 : 0, rows = d * nc;
  int32_t bodies = 1 + take(b) % 6, dof = 6 * bodies, sizes[6] = {6, 6, 6, 6, 6, 6};
  hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  if (file < 0) return;
  hid_t group = H5Gcreate2(file, global ? "fclib_global" : "fclib_local", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  put(group, b, "spacedim", false, 1, 0, &d, false);
  put_matrix(group, b, global ? "M" : "W", global ? dof : rows, global ? dof : rows, packed);
  if (global) put_matrix(group, b, "H", dof, rows, packed);
  if (ne > 0) put_matrix(group, b, global ? "G" : "V", global ? dof : rows, ne, packed);
  if (ne > 0 && !global) put_matrix(group, b, "R", ne, ne, packed);
  hid_t vectors = H5Gcreate2(group, "vectors", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  put(vectors, b, global ? "f" : "q", true, global ? dof : rows, 0, NULL, packed);
  if (global) put(vectors, b, "w", true, rows, 0, NULL, packed);
  if (ne > 0) put(vectors, b, global ? "b" : "s", true, ne, 0, NULL, packed);
  put(vectors, b, "mu", true, nc, 0, NULL, packed);
  H5Gclose(vectors);
  H5Gclose(group);
  if (flags & 8) {
    group = H5Gcreate2(file, "drystone", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    put(group, b, "body_size", false, bodies, 8, flags & 64 ? NULL : sizes, false);
    H5Gclose(group);
  }
  if (flags & 16) {
    group = H5Gcreate2(file, "solution", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    put(group, b, "r", true, rows, 0, NULL, packed);
    H5Gclose(group);
  }
  H5Fclose(file);
}

static bool is_hdf5(const uint8_t *data, size_t size) { return size >= 8 && memcmp(data, "\x89HDF\r\n\x1a\n", 8) == 0; }

/* What was read is written by us and read again: the same, in the same order. */
static void round_trip(const ds_problem_file *file) {
  ds_error error = {{0}};
  const ds_problem *p = &file->problem;
  if (ds_problem_file_write(path, p, file->guess, file->title, &error) != DS_OK) fuzz_fail("write", error.message);
  ds_problem_file *again = ds_problem_file_read(path, &error);
  if (again == NULL) fuzz_fail("what was written cannot be read", error.message);
  if (!fuzz_same(p, &again->problem)) fuzz_fail("round trip", "another problem came back");
  if (again->problem.body_count != p->body_count) fuzz_fail("round trip", "other bodies came back");
  ds_problem_file_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (is_hdf5(data, size)) {
    FILE *out = fopen(path, "wb");
    if (out == NULL) return 0;
    fwrite(data, 1, size, out);
    fclose(out);
  } else {
    make_file(&(bytes){data, data + size});
  }
  ds_error error = {{0}};
  ds_problem_file *file = ds_problem_file_read(path, &error);
  if (file == NULL) {
    if (strncmp(error.message, path, strlen(path)) != 0) fuzz_fail("a message without the file", error.message);
    return 0;
  }
  fuzz_problem(file);
  round_trip(file);
  ds_problem_file_free(file);
  return 0;
}
