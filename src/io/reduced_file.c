/* A reduced deformable body as a file: one HDF5 file whose root is a group of reduced_group.h. No times are stored: the
 * same body is the same file. */
#include "io/reduced_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "io/hdf5_errors.h"
#include "io/hdf5_output.h"
#include "io/parts.h"
#include "io/reduced_group.h"

/* Writes into a file that exists; false with the reason. */
static bool write_body(const char *path, const ds_reduced *reduced, char *reason, size_t size) {
  ds_hdf5_output out;
  bool ok = ds_hdf5_output_open(&out, path, false) && ds_reduced_group_write(out.file, reduced);
  if (!ok) ds_hdf5_output_reason(&out, reason, size);
  if (ds_hdf5_output_close(&out)) return ok;
  if (ok || out.failure != 0) ds_hdf5_output_reason(&out, reason, size);
  return false;
}

ds_status ds_reduced_file_write(const char *path, const ds_reduced *reduced, ds_error *error) {
  ds_part_file part;
  char reason[160];
  ds_hdf5_quiet();
  ds_status status = ds_part_file_reserve(&part, path, error);
  if (status != DS_OK) return status;
  if (write_body(part.part, reduced, reason, sizeof reason)) return ds_part_file_commit(&part, path, error);
  ds_part_file_discard(&part);
  return ds_fail(error, DS_ERROR_INPUT, "%.300s: cannot be written: %s", path, reason);
}

/* Opens the file; < 0 with a message. */
static hid_t open_file(int64_t *size, const char *path, ds_error *error) {
  struct stat status;
  char reason[160];
  int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  bool known = descriptor >= 0 && fstat(descriptor, &status) == 0;
  int why = errno;
  if (descriptor >= 0) close(descriptor);
  if (!known) return ds_fail(error, DS_ERROR_INPUT, "%.300s: cannot be opened: %s", path, strerror(why)), -1;
  if (!S_ISREG(status.st_mode)) return ds_fail(error, DS_ERROR_INPUT, "%.300s: is not a regular file", path), -1;
  *size = (int64_t)status.st_size;
  if (H5Fis_hdf5(path) <= 0)
    return ds_fail(error, DS_ERROR_INPUT,
                   "%.300s: not a reduced body: it is not an HDF5 file; 'drystone reduce MESH -o body.h5' makes one",
                   path),
           -1;
  hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  if (file >= 0) return file;
  ds_hdf5_reason(reason, sizeof reason);
  return ds_fail(error, DS_ERROR_INPUT, "%.300s: cannot be read: %s", path, reason), -1;
}

ds_reduced *ds_reduced_file_read(const char *path, ds_error *error) {
  int64_t size = 0;
  ds_hdf5_quiet();
  hid_t file = open_file(&size, path, error);
  if (file < 0) return NULL;
  ds_reduced *reduced = ds_reduced_group_read(file, size, path, error);
  H5Fclose(file);
  return reduced;
}

bool ds_reduced_file_is(const char *path) {
  struct stat status;
  ds_hdf5_quiet();
  if (stat(path, &status) != 0 || !S_ISREG(status.st_mode) || H5Fis_hdf5(path) <= 0) return false;
  hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  bool is = file >= 0 && H5Aexists(file, "drystone_reduced") > 0;
  if (file >= 0) H5Fclose(file);
  return is;
}
