/* Fuzz target: bytes as a text problem of Siconos. What can be read is written and read again, and has to be the same;
 * then solved (fuzz_solve.c). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz_solve.h"
#include "io/parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void round_trip(const ds_problem *p) {
  char *text = NULL;
  size_t length = 0;
  ds_error error = {{0}};
  FILE *out = open_memstream(&text, &length);
  if (out == NULL) return;
  bool written = ds_siconos_write(out, p);
  if (fclose(out) != 0 || !written) {
    free(text);
    return;
  }
  ds_problem_file *again = ds_problem_text_read(text, length, "again", &error);
  free(text);
  /* sums that overflow are written as inf, and that is no number of a file */
  if (again == NULL && strstr(error.message, "inf") == NULL && strstr(error.message, "nan") == NULL)
    fuzz_fail("what was written cannot be read", error.message);
  if (again != NULL && !fuzz_same(p, &again->problem)) fuzz_fail("round trip", "another problem came back");
  ds_problem_file_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  ds_error error = {{0}};
  ds_problem_file *file = ds_problem_text_read((const char *)data, size, "fuzz.dat", &error);
  if (file == NULL) {
    if (strncmp(error.message, "fuzz.dat:", 9) != 0) fuzz_fail("a message without place", error.message);
    return 0;
  }
  if ((int64_t)file->problem.dof * file->problem.dof < 100000 && file->problem.contacts < 100)
    round_trip(&file->problem);
  fuzz_problem(file);
  ds_problem_file_free(file);
  return 0;
}
