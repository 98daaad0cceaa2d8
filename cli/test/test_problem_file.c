/* Problem files: what is written is read back, bit for bit and in its order where the format has room for that, in
 * every storage, both forms, 2D and 3D; files are whole or not there. test_problem_bad.c has the malformed ones. */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include <hdf5.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "io/problem_file.h"
#include "problem_sample.h"

static char folder[64];

static const char *place(const char *name) {
  static char path[2][160];
  static int which;
  which = 1 - which;
  snprintf(path[which], sizeof path[which], "%s/%s", folder, name);
  return path[which];
}

/* ---- Comparisons ---- */

static bool same_bytes(const void *a, const void *b, size_t size) { return size == 0 || memcmp(a, b, size) == 0; }

static bool same_triplets(const ds_matrix *a, const ds_matrix *b) {
  size_t n = (size_t)a->entries;
  return a->rows == b->rows && a->columns == b->columns && a->entries == b->entries &&
         same_bytes(a->row, b->row, n * sizeof *a->row) && same_bytes(a->column, b->column, n * sizeof *a->column) &&
         same_bytes(a->value, b->value, n * sizeof *a->value);
}

/* The same sums of entries, whatever their order. */
static bool same_values(const ds_matrix *a, const ds_matrix *b) {
  double *x = sample_dense(a), *y = sample_dense(b);
  bool same = x != NULL && y != NULL && a->rows == b->rows && a->columns == b->columns;
  for (int32_t k = 0; same && k < a->rows * a->columns; k++) same = x[k] == y[k];
  free(x);
  free(y);
  return same;
}

static bool same_vector(const double *a, const double *b, int32_t count) {
  return count == 0 || (a != NULL && b != NULL && memcmp(a, b, (size_t)count * sizeof *a) == 0);
}

static void check_same(const ds_problem *a, const ds_problem *b, bool (*same)(const ds_matrix *, const ds_matrix *)) {
  int32_t rows = a->dimension * a->contacts;
  CHECK(a->form == b->form);
  CHECK(a->dimension == b->dimension && a->contacts == b->contacts && a->dof == b->dof);
  CHECK(a->equalities == b->equalities);
  if (a->form != b->form || a->contacts != b->contacts || a->dof != b->dof || a->equalities != b->equalities) return;
  CHECK(same_vector(a->mu, b->mu, a->contacts));
  if (a->form == DS_PROBLEM_LOCAL) {
    CHECK(same(&a->W, &b->W));
    CHECK(same(&a->V, &b->V));
    CHECK(same(&a->R, &b->R));
    CHECK(same_vector(a->q, b->q, rows));
    CHECK(same_vector(a->s, b->s, a->equalities));
  } else {
    CHECK(same(&a->M, &b->M));
    CHECK(same(&a->H, &b->H));
    CHECK(same(&a->G, &b->G));
    CHECK(same_vector(a->f, b->f, a->dof));
    CHECK(same_vector(a->w, b->w, rows));
    CHECK(same_vector(a->b, b->b, a->equalities));
  }
}

static ds_problem_file *read_file(const char *path) {
  ds_error error = {{0}};
  ds_problem_file *file = ds_problem_file_read(path, &error);
  CHECK(file != NULL);
  if (file == NULL) printf("%s\n", error.message);
  return file;
}

static bool write_ok(const char *path, const ds_problem *problem, const double *guess, const char *title) {
  ds_error error = {{0}};
  bool ok = ds_problem_file_write(path, problem, guess, title, &error) == DS_OK;
  CHECK(ok);
  if (!ok) printf("%s\n", error.message);
  return ok;
}

/* ---- FCLIB ---- */

static void fclib_round_trips(void) {
  for (int kind = 0; kind < 16; kind++) {
    bool global = kind & 1, bodies = kind & 2, equal = kind & 4;
    sample s;
    sample_make(&s, global, kind & 8 ? 2 : 3, 5, equal ? SAMPLE_EQUALITIES : 0, 7 + (uint64_t)kind);
    s.first.value[3] = -0.0, s.first.value[4] = 5e-324, s.vector[0][2] = -1e300;
    if (!bodies) s.problem.body_size = NULL, s.problem.body_count = 0;
    if (!write_ok(place("a.hdf5"), &s.problem, s.guess, "a title, \xc3\xa9")) continue;
    ds_problem_file *file = read_file(place("a.hdf5"));
    if (file == NULL) continue;
    check_same(&s.problem, &file->problem, same_triplets);
    CHECK(strcmp(file->title, "a title, \xc3\xa9") == 0);
    CHECK(file->guess != NULL && same_vector(file->guess, s.guess, s.problem.dimension * 5));
    CHECK(file->solution == NULL);
    CHECK(file->problem.body_count == s.problem.body_count);
    if (global && bodies)
      CHECK(file->problem.body_size != NULL && same_bytes(file->problem.body_size, s.body_size, 3 * sizeof(int32_t)));
    ds_problem_file_free(file);
  }
}

static void no_contacts(void) {
  for (int kind = 0; kind < 4; kind++) {
    sample s;
    sample_make(&s, kind & 1, 3, 0, 0, 3);
    const char *path = place(kind & 2 ? "none.dat" : "none.hdf5");
    if (!write_ok(path, &s.problem, NULL, NULL)) continue;
    ds_problem_file *file = read_file(path);
    if (file == NULL) continue;
    check_same(&s.problem, &file->problem, same_values);
    CHECK(strcmp(file->title, kind & 2 ? "none.dat" : "none.hdf5") == 0);
    ds_problem_file_free(file);
  }
}

static char *file_bytes(const char *path, size_t *size) {
  struct stat status;
  FILE *in = stat(path, &status) == 0 ? fopen(path, "rb") : NULL;
  char *bytes = in != NULL ? malloc((size_t)status.st_size + 1) : NULL;
  *size = bytes != NULL ? fread(bytes, 1, (size_t)status.st_size, in) : 0;
  if (in != NULL) fclose(in);
  return bytes;
}

/* The same problem gives the same file, and long lists are packed. */
static void fclib_bytes(void) {
  static sample s;
  size_t sizes[2] = {0, 0};
  char *bytes[2];
  sample_make(&s, false, 3, 8, 0, 5);
  for (int32_t k = 0; k < s.problem.W.entries; k++) s.first.value[k] = 1;
  for (int i = 0; i < 2; i++) {
    const char *path = place(i == 0 ? "one.h5" : "two.h5");
    write_ok(path, &s.problem, NULL, "same");
    bytes[i] = file_bytes(path, &sizes[i]);
  }
  CHECK(sizes[0] > 0 && sizes[0] == sizes[1]);
  CHECK(sizes[0] == sizes[1] && bytes[0] != NULL && bytes[1] != NULL && memcmp(bytes[0], bytes[1], sizes[0]) == 0);
  for (int i = 0; i < 2; i++) free(bytes[i]);
  hid_t file = H5Fopen(place("one.h5"), H5F_ACC_RDONLY, H5P_DEFAULT);
  hid_t set = H5Dopen2(file, "fclib_local/W/x", H5P_DEFAULT);
  CHECK(H5Dget_storage_size(set) > 0);
  CHECK_LE((double)H5Dget_storage_size(set), 0.1 * 8 * s.problem.W.entries);
  H5Dclose(set);
  H5Fclose(file);
}

/* As FCLIB and others store matrices: compressed columns or rows, with room for more entries than there are. */
static void put(hid_t at, const char *name, hid_t type, int32_t count, const void *data) {
  hsize_t length = (hsize_t)count;
  hid_t space = H5Screate_simple(1, &length, NULL);
  hid_t set = H5Dcreate2(at, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  CHECK(set >= 0 && H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
  H5Dclose(set);
  H5Sclose(space);
}

static void compress(hid_t matrix, const ds_matrix *m, bool by_rows, int32_t spare) {
  int32_t spans = by_rows ? m->rows : m->columns, other = by_rows ? m->columns : m->rows, at = 0;
  int32_t p[SAMPLE_ROWS + 1], index[SAMPLE_ENTRIES] = {0};
  double value[SAMPLE_ENTRIES] = {0}, *x = sample_dense(m);
  for (int32_t k = 0; k < spans; k++) {
    p[k] = at;
    for (int32_t e = 0; e < other; e++) {
      double v = x[by_rows ? k + m->rows * e : e + m->rows * k];
      if (v != 0) index[at] = e, value[at++] = v;
    }
  }
  p[spans] = at;
  free(x);
  int32_t nz = by_rows ? -2 : -1, nzmax = at + spare;
  H5Ldelete(matrix, "nz", H5P_DEFAULT);
  H5Ldelete(matrix, "nzmax", H5P_DEFAULT);
  H5Ldelete(matrix, "p", H5P_DEFAULT);
  H5Ldelete(matrix, "i", H5P_DEFAULT);
  H5Ldelete(matrix, "x", H5P_DEFAULT);
  put(matrix, "nz", H5T_NATIVE_INT32, 1, &nz);
  put(matrix, "nzmax", H5T_NATIVE_INT32, 1, &nzmax);
  put(matrix, "p", H5T_NATIVE_INT32, spans + 1, p);
  put(matrix, "i", H5T_NATIVE_INT32, nzmax, index);
  put(matrix, "x", H5T_NATIVE_DOUBLE, nzmax, value);
}

static void fclib_compressed(void) {
  for (int kind = 0; kind < 4; kind++) {
    bool global = kind & 1, by_rows = kind & 2;
    static sample s;
    sample_make(&s, global, 3, 4, 0, 11);
    s.problem.body_size = NULL, s.problem.body_count = 0;
    write_ok(place("c.hdf5"), &s.problem, NULL, NULL);
    hid_t file = H5Fopen(place("c.hdf5"), H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t matrix = H5Gopen2(file, global ? "fclib_global/H" : "fclib_local/W", H5P_DEFAULT);
    compress(matrix, global ? &s.problem.H : &s.problem.W, by_rows, kind < 2 ? 5 : 0);
    H5Gclose(matrix);
    H5Fclose(file);
    ds_problem_file *read = read_file(place("c.hdf5"));
    if (read != NULL) check_same(&s.problem, &read->problem, same_values);
    ds_problem_file_free(read);
  }
}

/* Numbers of other widths and byte orders are numbers. */
static void fclib_other_types(void) {
  static sample s;
  sample_make(&s, false, 2, 4, 0, 13);
  write_ok(place("t.hdf5"), &s.problem, NULL, NULL);
  hid_t file = H5Fopen(place("t.hdf5"), H5F_ACC_RDWR, H5P_DEFAULT);
  int64_t two = 2;
  float mu[4] = {0.5f, 0.25f, 0, 2};
  H5Ldelete(file, "fclib_local/spacedim", H5P_DEFAULT);
  H5Ldelete(file, "fclib_local/vectors/mu", H5P_DEFAULT);
  hid_t scalar = H5Screate(H5S_SCALAR);
  hid_t set = H5Dcreate2(file, "fclib_local/spacedim", H5T_STD_I64BE, scalar, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Dwrite(set, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, &two);
  H5Dclose(set);
  H5Sclose(scalar);
  put(file, "fclib_local/vectors/mu", H5T_NATIVE_FLOAT, 4, mu);
  H5Fclose(file);
  ds_problem_file *read = read_file(place("t.hdf5"));
  if (read == NULL) return;
  CHECK(read->problem.dimension == 2 && read->problem.contacts == 4);
  CHECK_NEAR(read->problem.mu[0], 0.5, 0);
  CHECK_NEAR(read->problem.mu[3], 2, 0);
  ds_problem_file_free(read);
}

static void solutions(void) {
  for (int kind = 0; kind < 2; kind++) {
    static sample s;
    ds_error error = {{0}};
    sample_make(&s, kind, 3, 5, 0, 17);
    int32_t rows = 15;
    CHECK(ds_solution_file_write(place("s.h5"), &s.problem, s.guess, s.vector[1], kind ? s.vector[2] : NULL, "solved",
                                 &error) == DS_OK);
    ds_problem_file *file = read_file(place("s.h5"));
    if (file == NULL) continue;
    check_same(&s.problem, &file->problem, same_triplets);
    CHECK(file->guess == NULL);
    CHECK(file->solution != NULL && same_vector(file->solution, s.guess, rows));
    ds_problem_file_free(file);
    double u[15], v[SAMPLE_DOF];
    hid_t h5 = H5Fopen(place("s.h5"), H5F_ACC_RDONLY, H5P_DEFAULT);
    hid_t set = H5Dopen2(h5, "solution/u", H5P_DEFAULT);
    CHECK(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, u) >= 0 && same_vector(u, s.vector[1], rows));
    H5Dclose(set);
    CHECK((H5Lexists(h5, "solution/v", H5P_DEFAULT) > 0) == (kind == 1));
    if (kind == 1) {
      set = H5Dopen2(h5, "solution/v", H5P_DEFAULT);
      CHECK(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, v) >= 0);
      CHECK(same_vector(v, s.vector[2], SAMPLE_DOF));
      H5Dclose(set);
    }
    H5Fclose(h5);
    /* zeros are no solution */
    memset(s.guess, 0, sizeof s.guess);
    CHECK(ds_solution_file_write(place("s.h5"), &s.problem, s.guess, s.vector[1], NULL, NULL, &error) == DS_OK);
    file = read_file(place("s.h5"));
    CHECK(file != NULL && file->solution == NULL);
    ds_problem_file_free(file);
  }
}

/* ---- Siconos ---- */

static void text_round_trips(void) {
  for (int kind = 0; kind < 4; kind++) {
    bool global = kind & 1;
    static sample s;
    sample_make(&s, global, kind & 2 ? 2 : 3, 5, 0, 23 + (uint64_t)kind);
    s.first.value[2] = 1.0 / 3, s.vector[0][0] = 5e-324, s.vector[0][1] = 1.7976931348623157e308;
    if (!write_ok(place("a.dat"), &s.problem, s.guess, "a title")) continue;
    ds_problem_file *file = read_file(place("a.dat"));
    if (file == NULL) continue;
    check_same(&s.problem, &file->problem, global ? same_triplets : same_values);
    CHECK(strcmp(file->title, "a.dat") == 0 && file->guess == NULL && file->solution == NULL);
    ds_problem_file_free(file);
  }
}

static void text_storages(void) {
  for (int kind = 0; kind < 4 * SAMPLE_STORAGES; kind++) {
    static sample s;
    ds_error error = {{0}};
    size_t length = 0;
    sample_storage storage = (sample_storage)(kind / 4);
    sample_make(&s, kind & 1, kind & 2 ? 2 : 3, 4, 0, 31 + (uint64_t)kind);
    char *text = sample_text(&length, &s.problem, storage);
    ds_problem_file *file = text != NULL ? ds_problem_text_read(text, length, "text", &error) : NULL;
    CHECK(file != NULL);
    if (file == NULL) printf("storage %d: %s\n", kind / 4, error.message);
    if (file != NULL) check_same(&s.problem, &file->problem, same_values);
    ds_problem_file_free(file);
    free(text);
  }
}

/* As people write them by hand: few blanks, no line end, integers, carriage returns, one more token. */
static void text_by_hand(void) {
  static const char *const texts[] = {
      "3 1 0 3 3 3 3 15 -1 -2 -1 14 1 -2 1 16 -1 2 3 0.1",
      "3\r\n1\r\n0\r\n3\r\n3\r\n3\t3\r\n15 -1 -2\r\n-1 14 1\r\n-2 1 16\r\n-1 2 3\r\n0.1\r\n",
      "+3 1\n0 3 3 3 3 1.5e1 -1. -.2e1 -1 14 1 -2 1 16 -1 2 3 .1\n0\n",
      "3 1 1 3 3 1 1 1 3 3 2 1 0 1 0 0 15 -1 -2 -1 14 1 -2 1 16 -1 2 3 1e-1 1",
      "3 1 2 3 3 1\n#\ntriplet: 3-by-3, nnz: 7\n0 0 : 15 1 0 : -1 2 0 : -2 1 1 : 14 1 2 : 1 2 1 : 1 2 2 : 16 -1 2 3 .1",
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    ds_error error = {{0}};
    ds_problem_file *file = ds_problem_text_read(texts[i], strlen(texts[i]), "text", &error);
    CHECK(file != NULL);
    if (file == NULL) printf("%zu: %s\n", i, error.message);
    if (file == NULL) continue;
    double *w = sample_dense(&file->problem.W);
    CHECK(file->problem.form == DS_PROBLEM_LOCAL && file->problem.contacts == 1);
    CHECK(w != NULL && w[0] == 15 && w[1] == -1 && w[2] == -2 && w[5] == 1 && w[8] == 16);
    CHECK(file->problem.q[0] == -1 && file->problem.q[2] == 3 && file->problem.mu[0] == 0.1);
    free(w);
    ds_problem_file_free(file);
  }
}

/* M is as large as W would be: what follows it decides. */
static void local_or_global(void) {
  const char *global = "2 1 0 2 2 2 2 1 0 0 1  0 2 2 2 2 1 0 0 1  -1 -2  0.5 0.25  0.3";
  const char *local = "2 1 0 2 2 2 2 1 0 0 1  0. 2 2";
  ds_error error = {{0}};
  ds_problem_file *file = ds_problem_text_read(global, strlen(global), "text", &error);
  CHECK(file != NULL && file->problem.form == DS_PROBLEM_GLOBAL && file->problem.dof == 2 && file->problem.f[1] == -2 &&
        file->problem.w[1] == 0.25 && file->problem.mu[0] == 0.3);
  ds_problem_file_free(file);
  file = ds_problem_text_read(local, strlen(local), "text", &error);
  CHECK(file != NULL && file->problem.form == DS_PROBLEM_LOCAL && file->problem.q[1] == 2 && file->problem.mu[0] == 2);
  ds_problem_file_free(file);
}

/* ---- Writing ---- */

static void expect_refused(const char *path, const ds_problem *problem, const double *guess, const char *part) {
  ds_error error = {{0}};
  CHECK(ds_problem_file_write(path, problem, guess, NULL, &error) != DS_OK);
  CHECK(strstr(error.message, part) != NULL);
  if (strstr(error.message, part) == NULL) printf("wanted '%s' in: %s\n", part, error.message);
}

static int files_in_folder(void) {
  char command[128], answer[32] = "";
  snprintf(command, sizeof command, "ls -A '%s' | wc -l", folder);
  FILE *list = popen(command, "r");
  if (list == NULL || fgets(answer, sizeof answer, list) == NULL) answer[0] = '\0';
  if (list != NULL) pclose(list);
  return atoi(answer);
}

static void places_to_write(void) {
  static sample s;
  sample_make(&s, false, 3, 3, 0, 41);
  int before = files_in_folder();
  expect_refused(place("a.txt"), &s.problem, NULL, "ends in .hdf5, .h5 or .dat");
  expect_refused(place("no/such.hdf5"), &s.problem, NULL, "No such file");
  expect_refused(place("no/such.dat"), &s.problem, NULL, "No such file");
  s.guess[4] = NAN;
  expect_refused(place("new.hdf5"), &s.problem, s.guess, "number 4 of the guess is not finite");
  s.vector[0][1] = INFINITY;
  expect_refused(place("new.dat"), &s.problem, NULL, "q[1] is not a finite number");
  sample_make(&s, false, 3, 3, 1, 41);
  expect_refused(place("new.dat"), &s.problem, NULL, "equality rows");
  s.first.row[2] = 9;
  expect_refused(place("new.hdf5"), &s.problem, NULL, "row 9");
  CHECK(files_in_folder() == before);
  char directory[160];
  snprintf(directory, sizeof directory, "%s/d.hdf5", folder);
  CHECK(mkdir(directory, 0777) == 0);
  sample_make(&s, false, 3, 3, 0, 41);
  expect_refused(directory, &s.problem, NULL, "directory");
  rmdir(directory);
  /* a link stays a link */
  CHECK(symlink("target.hdf5", place("link.hdf5")) == 0);
  FILE *target = fopen(place("target.hdf5"), "w");
  if (target != NULL) fclose(target);
  write_ok(place("link.hdf5"), &s.problem, NULL, NULL);
  struct stat status;
  CHECK(lstat(place("link.hdf5"), &status) == 0 && S_ISLNK(status.st_mode));
  ds_problem_file *file = read_file(place("target.hdf5"));
  CHECK(file != NULL);
  ds_problem_file_free(file);
}

int main(void) {
  snprintf(folder, sizeof folder, "/tmp/test_problem_file_XXXXXX");
  if (mkdtemp(folder) == NULL) return 1;
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  RUN(fclib_round_trips);
  RUN(no_contacts);
  RUN(fclib_bytes);
  RUN(fclib_compressed);
  RUN(fclib_other_types);
  RUN(solutions);
  RUN(text_round_trips);
  RUN(text_storages);
  RUN(text_by_hand);
  RUN(local_or_global);
  RUN(places_to_write);
  char command[96];
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  if (system(command) != 0) printf("%s stays\n", folder);
  return test_summary();
}
