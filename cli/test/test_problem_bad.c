/* Malformed problem files: refused with a message that names the file and the cause, never a crash, never taken for
 * something else. Texts are cut at every byte and changed at every byte; HDF5 files are damaged dataset by dataset,
 * and cut. test/bad_problems has whole texts with their messages. */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include <hdf5.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "io/problem_file.h"
#include "problem_sample.h"

static char folder[64], path[160];
static bool quick; /* DRYSTONE_TEST_QUICK */

/* ---- Texts ---- */

/* Where the last number starts: a text cut before it is not whole. */
static size_t last_number(const char *text, size_t length) {
  while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\n')) length--;
  while (length > 0 && text[length - 1] != ' ' && text[length - 1] != '\n') length--;
  return length;
}

static void texts_cut(void) {
  for (int kind = 0; kind < 4 * SAMPLE_STORAGES; kind++) {
    static sample s;
    size_t length = 0;
    sample_make(&s, kind & 1, kind & 2 ? 2 : 3, 2, 0, 51 + (uint64_t)kind);
    char *text = sample_text(&length, &s.problem, (sample_storage)(kind / 4));
    CHECK(text != NULL);
    if (text == NULL) continue;
    size_t whole = last_number(text, length), taken = 0, silent = 0;
    for (size_t cut = 0; cut <= whole; cut += quick ? 13 : 1) {
      ds_error error = {{0}};
      char *copy = malloc(cut + 1); /* of this size exactly, so that a sanitizer sees what is read beyond it */
      if (copy == NULL) break;
      memcpy(copy, text, cut);
      ds_problem_file *file = ds_problem_text_read(copy, cut, "cut.dat", &error);
      taken += file != NULL;
      silent += file == NULL && strncmp(error.message, "cut.dat:", 8) != 0;
      ds_problem_file_free(file);
      free(copy);
    }
    CHECK(taken == 0);
    CHECK(silent == 0);
    free(text);
  }
}

/* Every byte replaced by each of a few others: read, or refused with a message. */
static void texts_changed(void) {
  static const char others[] = "0-9.e: \nx\x80";
  int count = 0, wrong = 0;
  for (int kind = 0; kind < 2 * SAMPLE_STORAGES; kind++) {
    static sample s;
    size_t length = 0;
    sample_make(&s, kind & 1, 2, 1, 0, 77 + (uint64_t)kind);
    if (kind & 1) s.problem.M.entries = 9; /* a short text */
    char *text = sample_text(&length, &s.problem, (sample_storage)(kind / 2));
    CHECK(text != NULL);
    for (size_t at = 0; text != NULL && at < length; at += quick ? 5 : 1) {
      char before = text[at];
      for (size_t i = 0; i < sizeof others - 1; i++) {
        ds_error error = {{0}};
        text[at] = others[i];
        ds_problem_file *file = ds_problem_text_read(text, length, "changed.dat", &error);
        wrong += file == NULL && strncmp(error.message, "changed.dat", 11) != 0;
        count++;
        ds_problem_file_free(file);
      }
      text[at] = before;
    }
    free(text);
  }
  CHECK(count > (quick ? 20000 : 100000));
  CHECK(wrong == 0);
}

/* ---- HDF5 ---- */

static hid_t make(bool global, int32_t equal) {
  static sample s;
  ds_error error = {{0}};
  sample_make(&s, global, 3, 4, equal, 91);
  CHECK(ds_problem_file_write(path, &s.problem, s.guess, "to be damaged", &error) == DS_OK);
  hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
  CHECK(file >= 0);
  return file;
}

/* Closes the file, reads it, and wants a message with its name, the place and the cause. */
static void expect(hid_t file, const char *where, const char *cause) {
  ds_error error = {{0}};
  if (file >= 0) H5Fclose(file);
  ds_problem_file *read = ds_problem_file_read(path, &error);
  bool told = read == NULL && strncmp(error.message, path, strlen(path)) == 0 && strstr(error.message, where) != NULL &&
              strstr(error.message, cause) != NULL;
  CHECK(told);
  if (!told) printf("wanted '%s: %s', got: %s\n", where, cause, read != NULL ? "a problem" : error.message);
  ds_problem_file_free(read);
}

static void put(hid_t file, const char *name, hid_t type, int rank, const hsize_t *dims, const void *data) {
  if (H5Lexists(file, name, H5P_DEFAULT) > 0) H5Ldelete(file, name, H5P_DEFAULT);
  hid_t space = rank > 0 ? H5Screate_simple(rank, dims, NULL) : H5Screate(H5S_SCALAR);
  hid_t set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  CHECK(set >= 0 && H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
  H5Dclose(set);
  H5Sclose(space);
}

static void put_integer(hid_t file, const char *name, int32_t value) {
  put(file, name, H5T_NATIVE_INT32, 1, &(hsize_t){1}, &value);
}

/* Changes one number of a dataset. */
static void change(hid_t file, const char *name, hsize_t index, double value) {
  hid_t set = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(set), one = H5Screate(H5S_SCALAR);
  CHECK(H5Sselect_elements(space, H5S_SELECT_SET, 1, &index) >= 0 &&
        H5Dwrite(set, H5T_NATIVE_DOUBLE, one, space, H5P_DEFAULT, &value) >= 0);
  H5Sclose(one);
  H5Sclose(space);
  H5Dclose(set);
}

static void datasets_missing(void) {
  static const char *const names[] = {"spacedim", "W/m",       "W/n",       "W/nz",       "W/nzmax", "W/p", "W/i",
                                      "W/x",      "vectors/q", "vectors/s", "vectors/mu", "V/x",     "R/nz"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char name[64];
    snprintf(name, sizeof name, "fclib_local/%s", names[i]);
    hid_t file = make(false, 2);
    CHECK(H5Ldelete(file, name, H5P_DEFAULT) >= 0);
    expect(file, name, "is missing");
  }
  hid_t file = make(false, 2);
  H5Ldelete(file, "fclib_local/V", H5P_DEFAULT);
  expect(file, "fclib_local", "R without V");
  file = make(false, 0);
  H5Ldelete(file, "fclib_local", H5P_DEFAULT);
  expect(file, "", "without fclib_local or fclib_global");
  file = make(true, 2);
  H5Ldelete(file, "fclib_global/vectors/b", H5P_DEFAULT);
  expect(file, "fclib_global/vectors/b", "is missing");
}

static void numbers_wrong(void) {
  static const struct {
    bool global;
    const char *name;
    hsize_t index;
    double value;
    const char *cause, *where; /* NULL = the name */
  } cases[] = {
      {false, "fclib_local/spacedim", 0, 4, "is 4; expected 2 to 3", NULL},
      {false, "fclib_local/spacedim", 0, -2147483648.0, "expected 2 to 3", NULL},
      {false, "fclib_local/W/m", 0, -1, "is -1; expected 0 to", NULL},
      {false, "fclib_local/W/nz", 0, -3, "is -3; expected -2 to", NULL},
      {false, "fclib_local/W/nzmax", 0, 5, "expected at most nzmax, 5", "fclib_local/W/nz"},
      {false, "fclib_local/W/i", 3, 12, "number 3 is 12; expected 0 to 11", NULL},
      {false, "fclib_local/W/i", 3, -1, "number 3 is -1; expected 0 to 11", NULL},
      {false, "fclib_local/W/p", 0, 2147483647.0, "number 0 is 2147483647; expected 0 to 11", NULL},
      {false, "fclib_local/W/x", 7, NAN, "number 7 is not finite", NULL},
      {false, "fclib_local/vectors/q", 2, INFINITY, "number 2 is not finite", NULL},
      {false, "fclib_local/vectors/mu", 1, -0.5, "number 1 is -0.5; expected 0 or more", NULL},
      {false, "fclib_local/vectors/mu", 1, NAN, "number 1 is not finite", NULL},
      {false, "guesses/1/r", 0, NAN, "number 0 is not finite", NULL},
      {true, "fclib_global/M/m", 0, 19, "is 19 x 18; expected 19 x 19", "fclib_global/M"},
      {true, "fclib_global/H/n", 0, 13, "13 components do not make contacts of 3", "fclib_global/H"},
      {true, "fclib_global/H/m", 0, 19, "is 19 x 12; expected 18 x 12", "fclib_global/H"},
      {true, "drystone/body_size", 1, 5, "add up to 17; expected the 18 rows", "bodies"},
      {true, "drystone/body_size", 1, 0, "body_size[1] is 0", "body_size"},
      {true, "drystone/body_size", 1, -6, "body_size[1] is -6", "body_size"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    hid_t file = make(cases[i].global, 0);
    change(file, cases[i].name, cases[i].index, cases[i].value);
    expect(file, cases[i].where != NULL ? cases[i].where : cases[i].name, cases[i].cause);
  }
}

/* W of 12 x 12 as compressed columns with wrong pointers. */
static void pointers_wrong(void) {
  static const struct {
    int at, value;
    const char *cause;
  } cases[] = {
      {0, 1, "starts at 1; expected 0"},
      {5, 3, "number 5 is 3; expected 4 to 12"},
      {5, -1, "number 5 is -1; expected 4 to 12"},
      {5, 13, "number 5 is 13; expected 4 to 12"},
      {12, 13, "ends at 13; expected 0 to nzmax, 12"},
      {12, -1, "ends at -1"},
      {12, 2147483647, "ends at 2147483647"},
  };
  for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
    int32_t p[13], index[12];
    double x[12];
    for (int k = 0; k < 12; k++) p[k] = index[k] = k, x[k] = 1;
    p[12] = 12;
    p[cases[i / 2].at] = cases[i / 2].value;
    hid_t file = make(false, 0);
    put_integer(file, "fclib_local/W/nz", i % 2 == 0 ? -1 : -2);
    put_integer(file, "fclib_local/W/nzmax", 12);
    put(file, "fclib_local/W/p", H5T_NATIVE_INT32, 1, &(hsize_t){13}, p);
    put(file, "fclib_local/W/i", H5T_NATIVE_INT32, 1, &(hsize_t){12}, index);
    put(file, "fclib_local/W/x", H5T_NATIVE_DOUBLE, 1, &(hsize_t){12}, x);
    expect(file, "fclib_local/W/p", cases[i / 2].cause);
  }
}

static void lengths_and_types_wrong(void) {
  double reals[64] = {0};
  int32_t integers[64] = {0};
  hid_t file = make(false, 0);
  put(file, "fclib_local/vectors/q", H5T_NATIVE_DOUBLE, 1, &(hsize_t){11}, reals);
  expect(file, "fclib_local/vectors/q", "has 11 numbers; expected 12");
  file = make(false, 0);
  put(file, "fclib_local/vectors/mu", H5T_NATIVE_DOUBLE, 1, &(hsize_t){5}, reals);
  expect(file, "fclib_local/vectors/mu", "has 5 numbers; expected 4");
  file = make(false, 0);
  put(file, "fclib_local/vectors/q", H5T_NATIVE_DOUBLE, 2, (hsize_t[]){3, 4}, reals);
  expect(file, "fclib_local/vectors/q", "array of 2 dimensions");
  file = make(false, 0);
  put(file, "fclib_local/vectors/q", H5T_NATIVE_INT32, 1, &(hsize_t){12}, integers);
  expect(file, "fclib_local/vectors/q", "expected floating-point numbers");
  file = make(false, 0);
  put(file, "fclib_local/spacedim", H5T_NATIVE_DOUBLE, 1, &(hsize_t){1}, reals);
  expect(file, "fclib_local/spacedim", "expected whole numbers");
  file = make(false, 0);
  put(file, "fclib_local/W/m", H5T_NATIVE_INT32, 1, &(hsize_t){2}, integers);
  expect(file, "fclib_local/W/m", "has 2 numbers; expected 1");
  file = make(false, 0);
  put(file, "fclib_local/W/x", H5T_NATIVE_DOUBLE, 1, &(hsize_t){3}, reals);
  expect(file, "fclib_local/W/x", "has 3 numbers; expected");
  file = make(false, 0);
  put(file, "guesses/1/r", H5T_NATIVE_DOUBLE, 1, &(hsize_t){13}, reals);
  expect(file, "guesses/1/r", "has 13 numbers; expected 12");
  file = make(false, 0);
  put(file, "solution", H5T_NATIVE_DOUBLE, 1, &(hsize_t){1}, reals); /* no group: as if it were not there */
  H5Ldelete(file, "fclib_local/vectors", H5P_DEFAULT);
  put(file, "fclib_local/vectors", H5T_NATIVE_DOUBLE, 1, &(hsize_t){1}, reals);
  expect(file, "fclib_local/vectors/q", "is missing");
  file = make(false, 0);
  H5Ldelete(file, "fclib_local/W/x", H5P_DEFAULT);
  H5Gclose(H5Gcreate2(file, "fclib_local/W/x", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  expect(file, "fclib_local/W/x", "is not a dataset");
}

/* A dataset of any size costs nothing to announce: it has to have bytes. */
static void announced_only(hid_t file, const char *name, hid_t type, hsize_t length, hsize_t chunk) {
  H5Ldelete(file, name, H5P_DEFAULT);
  hsize_t most = chunk > 0 ? H5S_UNLIMITED : length;
  hid_t space = H5Screate_simple(1, &length, &most), list = H5Pcreate(H5P_DATASET_CREATE);
  if (chunk > 0) H5Pset_chunk(list, 1, &chunk);
  hid_t set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, list, H5P_DEFAULT);
  CHECK(set >= 0);
  H5Dclose(set);
  H5Pclose(list);
  H5Sclose(space);
}

static void sizes_announced_only(void) {
  hid_t file = make(false, 0);
  put_integer(file, "fclib_local/W/nz", 2000000000);
  put_integer(file, "fclib_local/W/nzmax", 2000000000);
  announced_only(file, "fclib_local/W/p", H5T_NATIVE_INT32, 2000000000, 0);
  expect(file, "fclib_local/W/p", "longer than the bytes stored for it");
  file = make(false, 0);
  put_integer(file, "fclib_local/W/nz", 2000000000);
  put_integer(file, "fclib_local/W/nzmax", 2000000000);
  announced_only(file, "fclib_local/W/p", H5T_NATIVE_INT32, 2000000000, 1000);
  expect(file, "fclib_local/W/p", "longer than the bytes stored for it");
  file = make(false, 0);
  announced_only(file, "fclib_local/vectors/q", H5T_NATIVE_DOUBLE, 12, 400000000);
  expect(file, "fclib_local/vectors/q", "chunks are larger than 64 MiB");
  file = make(false, 0);
  announced_only(file, "fclib_local/vectors/q", H5T_NATIVE_DOUBLE, (hsize_t)1 << 40, 1 << 20);
  expect(file, "fclib_local/vectors/q", "at most 2147483647 numbers");
  file = make(true, 0);
  put_integer(file, "fclib_global/M/m", 2000000000);
  put_integer(file, "fclib_global/M/n", 2000000000);
  expect(file, "fclib_global/H", "expected 2000000000 x");
  /* what was made and never written is no guess */
  file = make(false, 0);
  announced_only(file, "guesses/1/r", H5T_NATIVE_DOUBLE, 12, 0);
  H5Fclose(file);
  ds_error error = {{0}};
  ds_problem_file *read = ds_problem_file_read(path, &error);
  CHECK(read != NULL && read->guess == NULL);
  ds_problem_file_free(read);
}

/* Data from other files are not taken: a problem from elsewhere must not read what its receiver can read. */
static void other_files(void) {
  char other[160];
  snprintf(other, sizeof other, "%s/other", folder);
  FILE *out = fopen(other, "wb");
  double zeros[12] = {0};
  CHECK(out != NULL && fwrite(zeros, sizeof zeros, 1, out) == 1 && fclose(out) == 0);
  hid_t file = make(false, 0);
  H5Ldelete(file, "fclib_local/vectors/q", H5P_DEFAULT);
  hid_t space = H5Screate_simple(1, &(hsize_t){12}, NULL), list = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_external(list, other, 0, sizeof zeros);
  hid_t set = H5Dcreate2(file, "fclib_local/vectors/q", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, list, H5P_DEFAULT);
  CHECK(set >= 0);
  H5Dclose(set);
  H5Pclose(list);
  H5Sclose(space);
  expect(file, "fclib_local/vectors/q", "lie in another file");
  file = make(false, 0);
  H5Ldelete(file, "fclib_local/vectors/q", H5P_DEFAULT);
  CHECK(H5Lcreate_external("elsewhere.hdf5", "/q", file, "fclib_local/vectors/q", H5P_DEFAULT, H5P_DEFAULT) >= 0);
  expect(file, "fclib_local/vectors/q", "is missing");
  file = make(false, 0);
  H5Ldelete(file, "fclib_local/vectors", H5P_DEFAULT);
  CHECK(H5Lcreate_soft("/fclib_local/vectors", file, "fclib_local/vectors", H5P_DEFAULT, H5P_DEFAULT) >= 0);
  expect(file, "fclib_local/vectors/q", "is missing");
}

static void hdf5_cut(void) {
  H5Fclose(make(true, 2));
  struct stat status;
  CHECK(stat(path, &status) == 0 && status.st_size > 4096);
  int taken = 0, silent = 0;
  for (long cut = (long)status.st_size - 1; cut >= 0; cut -= quick ? 97 : 11) {
    ds_error error = {{0}};
    if (truncate(path, cut) != 0) break;
    ds_problem_file *read = ds_problem_file_read(path, &error);
    taken += read != NULL;
    silent += read == NULL && strncmp(error.message, path, strlen(path)) != 0;
    ds_problem_file_free(read);
  }
  CHECK(taken == 0);
  CHECK(silent == 0);
}

int main(void) {
  snprintf(folder, sizeof folder, "/tmp/test_problem_bad_XXXXXX");
  if (mkdtemp(folder) == NULL) return 1;
  quick = getenv("DRYSTONE_TEST_QUICK") != NULL;
  snprintf(path, sizeof path, "%s/bad.hdf5", folder);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  RUN(texts_cut);
  RUN(texts_changed);
  RUN(datasets_missing);
  RUN(numbers_wrong);
  RUN(pointers_wrong);
  RUN(lengths_and_types_wrong);
  RUN(sizes_announced_only);
  RUN(other_files);
  RUN(hdf5_cut);
  char command[96];
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  if (system(command) != 0) printf("%s stays\n", folder);
  return test_summary();
}
