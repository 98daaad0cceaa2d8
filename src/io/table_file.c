/* A table as an HDF5 file; see table_file.h. */
#include "io/table_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/attributes.h"
#include "io/hdf5_errors.h"
#include "io/hdf5_output.h"

static hid_t text_type(void) {
  hid_t type = H5Tcopy(H5T_C_S1);
  if (type < 0 || H5Tset_size(type, H5T_VARIABLE) < 0 || H5Tset_cset(type, H5T_CSET_UTF8) < 0) return -1;
  return type;
}

static bool write_role(hid_t set, const char *role) {
  hid_t type = text_type(), space = H5Screate(H5S_SCALAR);
  hid_t attribute = H5Acreate2(set, "role", type, space, H5P_DEFAULT, H5P_DEFAULT);
  bool ok = attribute >= 0 && H5Awrite(attribute, type, &role) >= 0;
  if (attribute >= 0) H5Aclose(attribute);
  if (space >= 0) H5Sclose(space);
  if (type >= 0) H5Tclose(type);
  return ok;
}

static bool write_column(hid_t file, const ds_column *c, int32_t rows, hid_t created) {
  hsize_t size = (hsize_t)rows;
  bool numbers = c->numbers != NULL;
  hid_t memory = numbers ? H5Tcopy(H5T_NATIVE_DOUBLE) : text_type();
  hid_t stored = numbers ? H5Tcopy(H5T_IEEE_F64LE) : text_type();
  hid_t space = H5Screate_simple(1, &size, NULL);
  hid_t set = H5Dcreate2(file, c->name, stored, space, H5P_DEFAULT, created, H5P_DEFAULT);
  const void *data = numbers ? (const void *)c->numbers : (const void *)c->texts;
  bool ok = set >= 0 && (rows == 0 || H5Dwrite(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
  ok = ok && (c->role == NULL || write_role(set, c->role));
  if (set >= 0) H5Dclose(set);
  if (space >= 0) H5Sclose(space);
  if (stored >= 0) H5Tclose(stored);
  if (memory >= 0) H5Tclose(memory);
  return ok;
}

bool ds_table_write(const char *path, const ds_column *columns, int32_t column_count, int32_t rows, ds_error *error) {
  char part[4096], reason[256] = "";
  ds_hdf5_output out;
  ds_hdf5_quiet();
  if (snprintf(part, sizeof part, "%s.part%ld", path, (long)getpid()) >= (int)sizeof part) {
    snprintf(error->message, sizeof error->message, "%.200s: the name is too long", path);
    return false;
  }
  bool ok = ds_hdf5_output_open(&out, part, false);
  hid_t created = H5Pcreate(H5P_DATASET_CREATE); /* no times in the file: the same table gives the same bytes */
  ok = ok && created >= 0 && H5Pset_obj_track_times(created, 0) >= 0;
  for (int32_t i = 0; ok && i < column_count; i++) ok = write_column(out.file, &columns[i], rows, created);
  if (!ok) ds_hdf5_output_reason(&out, reason, sizeof reason);
  if (created >= 0) H5Pclose(created);
  if (!ds_hdf5_output_close(&out) && ok) {
    ds_hdf5_output_reason(&out, reason, sizeof reason);
    ok = false;
  }
  if (ok && rename(part, path) != 0) {
    snprintf(reason, sizeof reason, "%s", strerror(errno));
    ok = false;
  }
  if (!ok) {
    remove(part);
    snprintf(error->message, sizeof error->message, "cannot write %.300s: %.180s", path, reason);
  }
  return ok;
}
