/* A file driver for HDF5: reads and writes by POSIX calls, as HDF5's own does, until a write fails. From then on what
 * is written is kept in memory, where HDF5 finds it again while it closes the file, and the file stays as it is.
 *
 * HDF5 orders the writes of a file in SWMR mode so that it is readable after each; so a recording that has met a full
 * disk is readable as one whose writer was killed. */
#include "io/hdf5_output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "io/hdf5_errors.h"
#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

/* A write that did not reach the file. */
typedef struct kept {
  haddr_t at;
  size_t size;
  unsigned char *bytes;
} kept;

typedef struct output_file {
  H5FD_t base; /* HDF5's own part, first */
  int descriptor;
  haddr_t allocated, end; /* of the address space, of the file */
  int *failure;
  kept *kept;
  int32_t kept_count, kept_capacity;
} output_file;

/* What the access property list carries to the driver. */
typedef struct output_access {
  int *failure;
} output_access;

static H5FD_t *open_output(const char *name, unsigned flags, hid_t list, haddr_t most) {
  const output_access *access = H5Pget_driver_info(list);
  struct stat status;
  int how = O_CLOEXEC | (flags & H5F_ACC_RDWR ? O_RDWR : O_RDONLY);
  if (flags & H5F_ACC_TRUNC) how |= O_TRUNC;
  if (flags & H5F_ACC_CREAT) how |= O_CREAT;
  if (flags & H5F_ACC_EXCL) how |= O_EXCL;
  (void)most;
  output_file *f = access != NULL ? calloc(1, sizeof *f) : NULL;
  if (f == NULL) return NULL;
  f->failure = access->failure;
  f->descriptor = open(name, how, 0666);
  if (f->descriptor >= 0 && fstat(f->descriptor, &status) == 0) {
    f->end = (haddr_t)status.st_size;
    return &f->base;
  }
  if (f->descriptor >= 0)
    close(f->descriptor);
  else if (flags & H5F_ACC_TRUNC)
    *f->failure = errno;
  free(f);
  return NULL;
}

static herr_t close_output(H5FD_t *file) {
  output_file *f = (output_file *)file;
  if (close(f->descriptor) != 0 && *f->failure == 0) *f->failure = errno;
  for (int32_t i = 0; i < f->kept_count; i++) free(f->kept[i].bytes);
  free(f->kept);
  free(f);
  return 0;
}

static herr_t query_output(const H5FD_t *file, unsigned long *flags) {
  (void)file;
  *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
           H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_SUPPORTS_SWMR_IO | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
  return 0;
}

static haddr_t get_allocated(const H5FD_t *file, H5FD_mem_t type) {
  (void)type;
  return ((const output_file *)file)->allocated;
}

static herr_t set_allocated(H5FD_t *file, H5FD_mem_t type, haddr_t at) {
  (void)type;
  ((output_file *)file)->allocated = at;
  return 0;
}

static haddr_t get_end(const H5FD_t *file, H5FD_mem_t type) {
  (void)type;
  return ((const output_file *)file)->end;
}

/* What lies beyond the end of the file reads as zeros. */
static herr_t read_output(H5FD_t *file, H5FD_mem_t type, hid_t list, haddr_t at, size_t size, void *buffer) {
  output_file *f = (output_file *)file;
  unsigned char *bytes = buffer;
  size_t have = 0;
  (void)type, (void)list;
  while (have < size) {
    ssize_t n = pread(f->descriptor, bytes + have, size - have, (off_t)(at + have));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return -1;
    if (n == 0) break;
    have += (size_t)n;
  }
  memset(bytes + have, 0, size - have);
  for (int32_t i = 0; i < f->kept_count; i++) {
    const kept *k = &f->kept[i];
    haddr_t from = k->at > at ? k->at : at, to = k->at + k->size < at + size ? k->at + k->size : at + size;
    if (from < to) memcpy(bytes + (from - at), k->bytes + (from - k->at), (size_t)(to - from));
  }
  return 0;
}

static herr_t keep(output_file *f, haddr_t at, size_t size, const void *buffer) {
  if (!ds_array_reserve(&f->kept, &f->kept_capacity, f->kept_count + 1, sizeof *f->kept)) return -1;
  unsigned char *bytes = malloc(size > 0 ? size : 1);
  if (bytes == NULL) return -1;
  memcpy(bytes, buffer, size);
  f->kept[f->kept_count++] = (kept){at, size, bytes};
  return 0;
}

static herr_t write_output(H5FD_t *file, H5FD_mem_t type, hid_t list, haddr_t at, size_t size, const void *buffer) {
  output_file *f = (output_file *)file;
  const unsigned char *bytes = buffer;
  size_t done = 0;
  (void)type, (void)list;
  if (at + size > f->end) f->end = at + size;
  while (*f->failure == 0 && done < size) {
    ssize_t n = pwrite(f->descriptor, bytes + done, size - done, (off_t)(at + done));
    if (n < 0 && errno != EINTR) *f->failure = errno;
    if (n > 0) done += (size_t)n;
  }
  return *f->failure == 0 ? 0 : keep(f, at, size, buffer);
}

static herr_t truncate_output(H5FD_t *file, hid_t list, hbool_t closing) {
  output_file *f = (output_file *)file;
  (void)list, (void)closing;
  if (f->allocated == f->end) return 0;
  if (*f->failure == 0 && ftruncate(f->descriptor, (off_t)f->allocated) != 0) *f->failure = errno;
  f->end = f->allocated;
  return 0;
}

static herr_t lock_output(H5FD_t *file, hbool_t writing) {
  int descriptor = ((output_file *)file)->descriptor;
  return flock(descriptor, (writing ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0 || errno == ENOSYS ? 0 : -1;
}

static herr_t unlock_output(H5FD_t *file) {
  return flock(((output_file *)file)->descriptor, LOCK_UN) == 0 || errno == ENOSYS ? 0 : -1;
}

static const H5FD_class_t output_class = {
#if H5_VERSION_GE(1, 13, 0)
    .version = H5FD_CLASS_VERSION,
    .value = (H5FD_class_value_t)509, /* any of those for use in one program */
#endif
    .name = "drystone-output",
    .maxaddr = ((haddr_t)1 << 62) - 1,
    .fc_degree = H5F_CLOSE_WEAK,
    .fapl_size = sizeof(output_access),
    .open = open_output,
    .close = close_output,
    .query = query_output,
    .get_eoa = get_allocated,
    .set_eoa = set_allocated,
    .get_eof = get_end,
    .read = read_output,
    .write = write_output,
    .truncate = truncate_output,
    .lock = lock_output,
    .unlock = unlock_output,
    .fl_map = H5FD_FLMAP_DICHOTOMY,
};

/* ---- ---- */

bool ds_hdf5_output_open(ds_hdf5_output *out, const char *path, bool newest) {
  *out = (ds_hdf5_output){.file = -1, .driver = H5FDregister(&output_class)};
  output_access access = {&out->failure};
  hid_t list = H5Pcreate(H5P_FILE_ACCESS);
  bool ok = out->driver >= 0 && list >= 0 && H5Pset_driver(list, out->driver, &access) >= 0;
  if (ok && newest) ok = H5Pset_libver_bounds(list, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST) >= 0;
  if (ok) out->file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, list);
  if (list >= 0) H5Pclose(list);
  if (out->file < 0 && out->driver >= 0) H5FDunregister(out->driver);
  return out->file >= 0;
}

bool ds_hdf5_output_close(ds_hdf5_output *out) {
  bool ok = out->file < 0 || H5Fclose(out->file) >= 0;
  if (out->file >= 0) H5FDunregister(out->driver);
  out->file = -1;
  return ok && out->failure == 0;
}

void ds_hdf5_output_reason(const ds_hdf5_output *out, char *text, size_t size) {
  if (out->failure != 0)
    snprintf(text, size, "%s", strerror(out->failure));
  else
    ds_hdf5_reason(text, size);
}
