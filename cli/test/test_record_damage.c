/* Recordings that are damaged, cut short or of another kind are refused with a reason, frame by frame where the rest
 * can be read. */
#define _XOPEN_SOURCE 700 /* mkdtemp, truncate */
#include <sys/stat.h>

#include "record_sample.h"

static void check_refused(const char *path, const char *reason) {
  ds_error error = {{0}};
  ds_recording *r = ds_recording_open(path, &error);
  CHECK(r == NULL);
  CHECK(strstr(error.message, reason) != NULL);
  if (strstr(error.message, reason) == NULL) printf("  said \"%s\", wanted \"%s\"\n", error.message, reason);
  ds_recording_close(r);
}

static void test_foreign(void) {
  check_refused(place("none.h5"), "No such file");
  check_refused(folder, "regular file");
  FILE *file = fopen(place("text.h5"), "w");
  fputs("not HDF5", file);
  fclose(file);
  check_refused(place("text.h5"), "not an HDF5 file");
  file = fopen(place("empty.h5"), "w");
  fclose(file);
  check_refused(place("empty.h5"), "not an HDF5 file");
  H5Fclose(H5Fcreate(place("other.h5"), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
  check_refused(place("other.h5"), "another kind");
}

static void check_doctored(const char *set, const char *attribute, hsize_t row, double value, const char *reason) {
  const char *path = place("bad.h5");
  write_plain(path);
  doctor(path, set, attribute, row, value);
  check_refused(path, reason);
}

static void test_damaged_index(void) {
  check_doctored("/", "format_version", 0, 8, "format version 8");
  check_doctored("/", "format_version", 0, 0, "format version 0");
  check_doctored("/settings", "step", 0, -1, "step");
  check_doctored("/settings", "method", 0, 77, "method");
  static const char *const choices[] = {"method",  "metric",        "integrator",   "restitution_law",
                                        "impacts", "face_pressure", "stabilization"};
  for (size_t i = 0; i < sizeof choices / sizeof *choices; i++)
    check_doctored("/settings", choices[i], 0, -1, "method is unknown");
  check_doctored("/settings", "step_budget", 0, -1, "step_budget");
  check_doctored("/settings", "error_control", 0, -1, "error_control");
  check_doctored("/frames/count", NULL, 0, 13, "shorter");
  check_doctored("/frames/count", NULL, 0, -1, "count");
  check_doctored("/frames/contact_start", NULL, 3, -1, "negative");
  check_doctored("/frames/contact_start", NULL, 3, 1e15, "missing");
  check_doctored("/frames/contact_count", NULL, 3, 1e9, "missing");
  check_doctored("/frames/motion", NULL, 3, -1, "negative");
  check_doctored("/frames/motion", NULL, 3, 1e15, "missing");
  check_doctored("/frames/time", NULL, 5, (double)NAN, "ascend");
  check_doctored("/frames/time", NULL, 5, 1e9, "ascend");
}

static void test_damaged_structure(void) {
  static const char *const sets[] = {"/frames/time",
                                     "/frames/motion",
                                     "/frames/pose",
                                     "/frames/velocity",
                                     "/frames/report",
                                     "/frames/contact_start",
                                     "/frames/contact_count",
                                     "/contacts",
                                     "/frames/count",
                                     "/closed",
                                     "/scene",
                                     "/settings",
                                     "/frames"};
  for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
    const char *path = place("bad.h5");
    write_plain(path);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    CHECK(H5Ldelete(file, sets[i], H5P_DEFAULT) >= 0);
    H5Fclose(file);
    check_refused(path, "not a readable Drystone recording");
    /* and again with something else of that name */
    file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    hsize_t dims[2] = {2, 2};
    hid_t space = H5Screate_simple(2, dims, NULL);
    hid_t set = H5Dcreate2(file, sets[i], H5T_IEEE_F32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dclose(set);
    H5Sclose(space);
    H5Fclose(file);
    check_refused(path, "not a readable Drystone recording");
  }
}

static void replace_set(hid_t file, const char *path, const hsize_t dims[3]) {
  hid_t space = H5Screate_simple(3, dims, NULL), as = H5Pcreate(H5P_DATASET_CREATE);
  CHECK(H5Pset_alloc_time(as, H5D_ALLOC_TIME_EARLY) >= 0); /* numbers that are not there are a fault of their own */
  CHECK(H5Ldelete(file, path, H5P_DEFAULT) >= 0);
  hid_t set = H5Dcreate2(file, path, H5T_IEEE_F64LE, space, H5P_DEFAULT, as, H5P_DEFAULT);
  H5Dclose(set);
  H5Pclose(as);
  H5Sclose(space);
}

/* Datasets and their tails of the right rank, with a body or a number of each body too many or too few. */
static void test_damaged_sizes(void) {
  static const struct {
    const char *set, *tail;
    hsize_t dims[3]; /* frames, bodies, numbers of each */
    bool fine;
  } shapes[] = {{"/frames/pose", "/tail/pose", {12, 2, 7}, true},
                {"/frames/pose", "/tail/pose", {12, 3, 7}, false},
                {"/frames/pose", "/tail/pose", {12, 1, 7}, false},
                {"/frames/pose", "/tail/pose", {12, 2, 6}, false},
                {"/frames/velocity", "/tail/velocity", {12, 2, 6}, true},
                {"/frames/velocity", "/tail/velocity", {12, 3, 6}, false},
                {"/frames/velocity", "/tail/velocity", {12, 1, 6}, false},
                {"/frames/velocity", "/tail/velocity", {12, 2, 7}, false}};
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    const char *path = place("bad.h5");
    write_plain(path);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    replace_set(file, shapes[i].set, shapes[i].dims);
    replace_set(file, shapes[i].tail, shapes[i].dims);
    H5Fclose(file);
    if (!shapes[i].fine) {
      check_refused(path, shapes[i].set);
      continue;
    }
    ds_error error = {{0}};
    ds_recording *r = ds_recording_open(path, &error);
    CHECK(r != NULL);
    ds_recording_close(r);
  }
}

/* The tail of a dataset alone: of other bodies, other numbers per body, or numbers of another type. */
static void test_damaged_tails(void) {
  static const hsize_t sizes[4][3] = {{12, 2, 7}, {12, 3, 7}, {12, 1, 7}, {12, 2, 6}};
  for (int i = 0; i < 5; i++) {
    const char *path = place("bad.h5");
    const hsize_t *dims = sizes[i % 4];
    write_plain(path);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    replace_set(file, "/tail/pose", dims);
    if (i == 4) {
      hid_t space = H5Screate_simple(3, dims, NULL);
      CHECK(H5Ldelete(file, "/tail/pose", H5P_DEFAULT) >= 0);
      H5Dclose(H5Dcreate2(file, "/tail/pose", H5T_IEEE_F32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
      H5Sclose(space);
    }
    H5Fclose(file);
    if (i > 0) {
      check_refused(path, "tail of another type or shape");
      continue;
    }
    ds_error error = {{0}};
    ds_recording *r = ds_recording_open(path, &error);
    CHECK(r != NULL);
    ds_recording_close(r);
  }
}

/* More rows than the bytes of a dataset can hold, however well they are packed: deflate packs 1,032 to one at most. */
static void test_claimed_rows(void) {
  const char *path = place("bad.h5");
  write_plain(path);
  hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), set = H5Dopen2(file, "/frames/pose", H5P_DEFAULT);
  double stored = (double)H5Dget_storage_size(set), row = 2 * 7 * sizeof(double);
  hsize_t most = (hsize_t)(1032 * stored / row);
  for (int far = 0; far < 2; far++) {
    CHECK(H5Dset_extent(set, (hsize_t[3]){most + (far ? 1 : 0), 2, 7}) >= 0);
    H5Fflush(file, H5F_SCOPE_GLOBAL);
    H5Dclose(set);
    H5Fclose(file);
    ds_error error = {{0}};
    ds_recording *r = far ? NULL : ds_recording_open(path, &error);
    if (far)
      check_refused(path, "more rows than it has bytes");
    else
      CHECK(r != NULL);
    ds_recording_close(r);
    file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), set = H5Dopen2(file, "/frames/pose", H5P_DEFAULT);
  }
  H5Dclose(set);
  H5Fclose(file);
}

static void check_bad_frame(const char *set, hsize_t row, double value) {
  ds_error error = {{0}};
  ds_frame frame;
  const char *path = place("bad.h5");
  write_plain(path);
  doctor(path, set, NULL, row, value);
  ds_recording *r = ds_recording_open(path, &error);
  CHECK(r != NULL);
  if (r == NULL) return;
  CHECK(ds_recording_read(r, &frame, (int32_t)row, &error) == DS_ERROR_INPUT);
  CHECK(ds_recording_read(r, &frame, 0, &error) == DS_OK);
  ds_recording_close(r);
}

static void test_damaged_frame(void) {
  check_bad_frame("/frames/pose", 6, (double)NAN);
  check_bad_frame("/frames/pose", 6, HUGE_VAL);
  check_bad_frame("/frames/velocity", 6, (double)NAN);
}

/* One number of every row of a dataset: the column-th real, or a member of rows that are structs. */
static void doctor_at(const char *path, const char *set, const char *member, hsize_t row, hsize_t body, hsize_t column,
                      double value) {
  hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), at = H5Dopen2(file, set, H5P_DEFAULT);
  hid_t space = H5Dget_space(at), type = H5T_NATIVE_DOUBLE;
  hsize_t start[3] = {row, body, column}, count[3] = {1, 1, 1}, one = 1;
  hid_t memory = H5Screate_simple(1, &one, NULL);
  int32_t whole = (int32_t)value;
  if (member != NULL) {
    type = H5Tcreate(H5T_COMPOUND, sizeof whole);
    H5Tinsert(type, member, 0, H5T_NATIVE_INT32);
  }
  H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
  CHECK(H5Dwrite(at, type, memory, space, H5P_DEFAULT, member != NULL ? (void *)&whole : (void *)&value) >= 0);
  if (member != NULL) H5Tclose(type);
  H5Sclose(memory);
  H5Sclose(space);
  H5Dclose(at);
  H5Fclose(file);
}

/* The frame is refused, or read: as `fine` says. */
static void check_frame_with(const char *set, const char *member, hsize_t row, hsize_t body, hsize_t column,
                             double value, int32_t frame_index, bool fine) {
  ds_error error = {{0}};
  ds_frame frame;
  const char *path = place("bad.h5");
  write_plain(path);
  doctor_at(path, set, member, row, body, column, value);
  ds_recording *r = ds_recording_open(path, &error);
  CHECK(r != NULL);
  bool read = r != NULL && ds_recording_read(r, &frame, frame_index, &error) == DS_OK;
  if (read != fine)
    printf("  %s %s, body %d, column %d, %g: %s\n", set, member ? member : "", (int)body, (int)column, value,
           read ? "read" : error.message);
  CHECK(read == fine);
  if (r != NULL) CHECK(ds_recording_read(r, &frame, 0, &error) == DS_OK);
  ds_recording_close(r);
}

/* One number of the first row of contacts: a vector's, or a real. */
static void doctor_contact(const char *path, const char *member, int column, double value) {
  hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), at = H5Dopen2(file, "/contacts", H5P_DEFAULT);
  hsize_t start = 0, one = 1, three = 3;
  double x[3] = {0, 0, 1};
  hid_t array = column < 0 ? H5T_NATIVE_DOUBLE : H5Tarray_create2(H5T_NATIVE_DOUBLE, 1, &three);
  hid_t type = H5Tcreate(H5T_COMPOUND, column < 0 ? sizeof *x : sizeof x);
  hid_t space = H5Dget_space(at), memory = H5Screate_simple(1, &one, NULL);
  x[column < 0 ? 0 : column] = value;
  CHECK(H5Tinsert(type, member, 0, array) >= 0);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &one, NULL);
  CHECK(H5Dwrite(at, type, memory, space, H5P_DEFAULT, x) >= 0);
  H5Sclose(memory);
  H5Sclose(space);
  H5Tclose(type);
  if (column >= 0) H5Tclose(array);
  H5Dclose(at);
  H5Fclose(file);
}

/* Every number of a contact: NaN and infinity are refused where the frame is read, others are not. */
static void test_damaged_contacts(void) {
  static const char *const members[] = {"point", "normal", "impulse", "velocity", "gap", "mu", "restitution"};
  static const double values[] = {(double)NAN, HUGE_VAL, 0.5};
  for (int i = 0; i < 7; i++)
    for (int column = i < 4 ? 0 : -1; column < (i < 4 ? 3 : 0); column++)
      for (int k = 0; k < 3; k++) {
        ds_error error = {{0}};
        ds_frame frame;
        const char *path = place("bad.h5");
        write_plain(path);
        doctor_contact(path, members[i], column, values[k]);
        ds_recording *r = ds_recording_open(path, &error);
        CHECK(r != NULL);
        if (r == NULL) continue;
        ds_status status = ds_recording_read(r, &frame, 4, &error); /* frames 4 to 7 have row 0 */
        if (status != (k < 2 ? DS_ERROR_INPUT : DS_OK)) printf("  %s %d, %g\n", members[i], column, values[k]);
        CHECK(status == (k < 2 ? DS_ERROR_INPUT : DS_OK));
        CHECK(ds_recording_read(r, &frame, 0, &error) == DS_OK);
        ds_recording_close(r);
      }
}

/* Every number of a pose and a velocity, of either body; the length of quaternions; bodies and modes of contacts. */
static void test_damaged_numbers(void) {
  for (hsize_t body = 0; body < 2; body++)
    for (hsize_t column = 0; column < 7; column++) {
      check_frame_with("/frames/pose", NULL, 6, body, column, (double)NAN, 6, false);
      check_frame_with("/frames/pose", NULL, 6, body, column, -HUGE_VAL, 6, false);
      if (column < 6) check_frame_with("/frames/velocity", NULL, 6, body, column, (double)NAN, 6, false);
      if (column < 6) check_frame_with("/frames/velocity", NULL, 6, body, column, HUGE_VAL, 6, false);
      if (column >= 3) check_frame_with("/frames/pose", NULL, 6, body, column, 3, 6, false);
      if (column < 3) check_frame_with("/frames/pose", NULL, 6, body, column, 3, 6, true);
    }
  static const char *const members[2] = {"a", "b"};
  for (int i = 0; i < 2; i++) { /* frames 4 to 7 have row 0 */
    check_frame_with("/contacts", members[i], 0, 0, 0, -1, 4, false);
    check_frame_with("/contacts", members[i], 0, 0, 0, 2, 4, false);
    check_frame_with("/contacts", members[i], 0, 0, 0, 1 - i, 4, true);
  }
}

/* A recording cut short anywhere is refused or read, never a crash. */
static void test_truncated(void) {
  const char *path = place("cut.h5");
  write_plain(path);
  struct stat status;
  CHECK(stat(path, &status) == 0);
  int opened = 0;
  for (off_t size = status.st_size - 1; size > 0; size -= 1 + status.st_size / 97) {
    ds_error error = {{0}};
    CHECK(truncate(path, size) == 0);
    ds_recording *r = ds_recording_open(path, &error);
    CHECK(r != NULL || error.message[0] != '\0');
    ds_frame frame;
    if (r != NULL) opened++;
    for (int k = 0; r != NULL && k < ds_recording_frame_count(r); k++) ds_recording_read(r, &frame, k, &error);
    ds_recording_close(r);
  }
  printf("  %d cut files could still be opened\n", opened);
}

int main(void) {
  snprintf(folder, sizeof folder, "/tmp/drystone-damage-XXXXXX");
  if (mkdtemp(folder) == NULL) return 1;
  RUN(test_foreign);
  RUN(test_damaged_index);
  RUN(test_damaged_structure);
  RUN(test_damaged_sizes);
  RUN(test_damaged_tails);
  RUN(test_claimed_rows);
  RUN(test_damaged_frame);
  RUN(test_damaged_numbers);
  RUN(test_damaged_contacts);
  RUN(test_truncated);
  static const char *const names[] = {"text", "empty", "other", "bad", "cut"};
  CHECK(remove_folder(names, sizeof names / sizeof *names)); /* nothing is left behind beside the recordings */
  return test_summary();
}
