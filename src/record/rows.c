/* Reads the rows of a dataset that grows; see rows.h. */
#include "record/rows.h"

int64_t ds_rows_count(hid_t set) {
  hsize_t dims[3] = {0, 0, 0};
  hid_t space = H5Dget_space(set);
  int rank = space >= 0 ? H5Sget_simple_extent_ndims(space) : -1;
  bool ok = rank >= 1 && rank <= 3 && H5Sget_simple_extent_dims(space, dims, NULL) == rank;
  if (space >= 0) H5Sclose(space);
  return ok && dims[0] < (hsize_t)INT64_MAX ? (int64_t)dims[0] : -1;
}

bool ds_rows_fit(hid_t set, hid_t tail, int64_t file_size) {
  hsize_t a[3] = {0, 0, 0}, b[3] = {0, 0, 0};
  hid_t types[2] = {H5Dget_type(set), H5Dget_type(tail)};
  hid_t spaces[2] = {H5Dget_space(set), H5Dget_space(tail)};
  int rank = spaces[0] >= 0 ? H5Sget_simple_extent_ndims(spaces[0]) : -1;
  bool ok = types[0] >= 0 && types[1] >= 0 && spaces[1] >= 0 && rank >= 1 && rank <= 3 &&
            H5Sget_simple_extent_ndims(spaces[1]) == rank && H5Sget_simple_extent_dims(spaces[0], a, NULL) == rank &&
            H5Sget_simple_extent_dims(spaces[1], b, NULL) == rank && a[1] == b[1] && a[2] == b[2] &&
            H5Tequal(types[0], types[1]) > 0 && H5Dget_storage_size(tail) <= (hsize_t)file_size;
  for (int i = 0; i < 2; i++) {
    if (types[i] >= 0) H5Tclose(types[i]);
    if (spaces[i] >= 0) H5Sclose(spaces[i]);
  }
  return ok;
}

bool ds_rows_have_bytes(hid_t set, int64_t file_size) {
  hid_t type = H5Dget_type(set), space = H5Dget_space(set);
  hssize_t numbers = space >= 0 ? H5Sget_simple_extent_npoints(space) : -1;
  hsize_t stored = H5Dget_storage_size(set);
  double bytes = type >= 0 ? (double)numbers * (double)H5Tget_size(type) : -1;
  if (type >= 0) H5Tclose(type);
  if (space >= 0) H5Sclose(space);
  return numbers >= 0 && bytes >= 0 && stored <= (hsize_t)file_size && bytes <= 1032 * (double)stored;
}

static bool read_slab(hid_t set, void *rows, hid_t type, int64_t at, int64_t count) {
  hsize_t dims[3] = {0, 0, 0}, start[3] = {(hsize_t)at, 0, 0};
  hid_t space = H5Dget_space(set);
  int rank = space >= 0 ? H5Sget_simple_extent_dims(space, dims, NULL) : -1;
  dims[0] = (hsize_t)count;
  hid_t memory = rank > 0 ? H5Screate_simple(rank, dims, NULL) : -1;
  bool ok = memory >= 0 && H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, dims, NULL) >= 0 &&
            H5Dread(set, type, memory, space, H5P_DEFAULT, rows) >= 0;
  if (memory >= 0) H5Sclose(memory);
  if (space >= 0) H5Sclose(space);
  return ok;
}

/* Bytes of a row in memory. */
static size_t row_bytes(hid_t set, hid_t type) {
  hsize_t dims[3] = {0, 0, 0};
  hid_t space = H5Dget_space(set);
  int rank = space >= 0 ? H5Sget_simple_extent_dims(space, dims, NULL) : -1;
  size_t size = H5Tget_size(type);
  for (int i = 1; i < rank; i++) size *= (size_t)dims[i];
  if (space >= 0) H5Sclose(space);
  return size;
}

/* A writer that moves the tail's rows makes the set longer first: if it has not grown meanwhile, what was read of the
 * tail was right. */
bool ds_rows_read(hid_t set, hid_t tail, void *rows, hid_t type, int64_t at, int64_t count) {
  enum { ATTEMPTS = 8 };
  if (tail < 0 || at + count <= ds_rows_count(set)) return read_slab(set, rows, type, at, count);
  for (int i = 0; i < ATTEMPTS; i++) {
    if (H5Drefresh(set) < 0 || H5Drefresh(tail) < 0) return false;
    int64_t have = ds_rows_count(set), first = have <= at ? 0 : have - at < count ? have - at : count;
    int64_t rest = count - first, from = at + first - have;
    unsigned char *to = (unsigned char *)rows + (size_t)first * row_bytes(set, type);
    bool ok = (first == 0 || read_slab(set, rows, type, at, first)) &&
              (rest == 0 || (from + rest <= ds_rows_count(tail) && read_slab(tail, to, type, from, rest)));
    if (rest == 0) return ok;
    if (H5Drefresh(set) < 0) return false;
    if (ds_rows_count(set) == have) return ok;
  }
  return false;
}
