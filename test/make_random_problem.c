/* make-random-problem FILE.hdf5|FILE.dat [key=value ...]: writes one random problem (random_ds_problem.h).
 *
 * number=N is the N-th of those that test_random_problems solves; the other keys change what it drew. */
#include <stdio.h>
#include <stdlib.h>

#include "io/problem_file.h"
#include "random_ds_problem.h"

typedef struct key {
  const char *name;
  double low, high;
  int32_t *whole; /* or */
  bool *flag;     /* or */
  double *real;
} key;

static int complain(const char *what, const char *why) {
  fprintf(stderr, "make-random-problem: %s: %s\n", what, why);
  return 2;
}

static bool set(const key *keys, int32_t count, const char *word) {
  for (int32_t i = 0; i < count; i++) {
    size_t length = strlen(keys[i].name);
    if (strncmp(word, keys[i].name, length) != 0 || word[length] != '=') continue;
    char *end;
    double value = strtod(word + length + 1, &end);
    if (end == word + length + 1 || *end || !(value >= keys[i].low && value <= keys[i].high)) {
      fprintf(stderr, "make-random-problem: %s: expected a number, %g to %g\n", word, keys[i].low, keys[i].high);
      return false;
    }
    if (keys[i].whole) *keys[i].whole = (int32_t)value;
    if (keys[i].flag) *keys[i].flag = value != 0;
    if (keys[i].real) *keys[i].real = value;
    return true;
  }
  fprintf(stderr, "make-random-problem: %s: unknown; the keys are", word);
  for (int32_t i = 0; i < count; i++) fprintf(stderr, " %s", keys[i].name);
  fprintf(stderr, "\n");
  return false;
}

static bool read_spec(random_spec *spec, int argc, char **argv) {
  int32_t number = 0, seed = 1;
  const key numbers[] = {{"number", 0, 1e9, &number, NULL, NULL}, {"seed", 0, 1e9, &seed, NULL, NULL}};
  const key keys[] = {{"dimension", 2, 3, &spec->dimension, NULL, NULL},
                      {"contacts", 1, 1000, &spec->contacts, NULL, NULL},
                      {"islands", 1, 1000, &spec->islands, NULL, NULL},
                      {"equalities", 0, 1000, &spec->equalities, NULL, NULL},
                      {"bodies", 0, 1, NULL, &spec->bodies, NULL},
                      {"planted", 0, 1, NULL, &spec->planted, NULL},
                      {"global", 0, 1, NULL, &spec->global, NULL},
                      {"redundancy", 1, 100, NULL, NULL, &spec->redundancy},
                      {"condition", 1, 1e16, NULL, NULL, &spec->condition},
                      {"compliance", 1e-12, 1e12, NULL, NULL, &spec->compliance},
                      {"velocity", 1e-12, 1e12, NULL, NULL, &spec->velocity},
                      {"mu", 1e-6, 1e3, NULL, NULL, &spec->mu},
                      {"spread", 1, 1e6, NULL, NULL, &spec->spread},
                      {"smooth", 0, 1, NULL, NULL, &spec->smooth},
                      {"outside", 0, 1, NULL, NULL, &spec->outside}};
  for (int i = 2; i < argc; i++)
    if ((strncmp(argv[i], "number=", 7) == 0 || strncmp(argv[i], "seed=", 5) == 0) && !set(numbers, 2, argv[i]))
      return false;
  *spec = random_spec_draw((uint64_t)seed, number);
  for (int i = 2; i < argc; i++)
    if (strncmp(argv[i], "number=", 7) != 0 && strncmp(argv[i], "seed=", 5) != 0 &&
        !set(keys, (int32_t)(sizeof keys / sizeof *keys), argv[i]))
      return false;
  return true;
}

int main(int argc, char **argv) {
  if (argc < 2) return complain("usage", "make-random-problem FILE.hdf5 [number=N] [contacts=..] [redundancy=..] ...");
  random_spec spec;
  if (!read_spec(&spec, argc, argv)) return 2;
  ds_arena arena = {0};
  ds_error error = {""};
  random_case c = random_ds_problem(&arena, &spec);
  if (ds_arena_failed(&arena)) return complain(argv[1], "out of memory");
  ds_status status = ds_problem_file_write(argv[1], &c.problem, NULL, "random", &error);
  ds_arena_free(&arena);
  return status == DS_OK ? 0 : complain(argv[1], error.message);
}
