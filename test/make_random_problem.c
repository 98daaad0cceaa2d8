/* make-random-problem FILE.hdf5|FILE.dat [key=value ...]: writes one random problem.
 *
 * number=N is the N-th of those that test_random_problems solves (random_ds_problem.h), with family=NAME the N-th of a
 * family (random_families.h), as solve-random numbers them; the other keys change what it drew. */
#include <stdio.h>
#include <stdlib.h>

#include "io/problem_file.h"
#include "random_families.h"

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

static bool starts(const char *word, const char *with) { return strncmp(word, with, strlen(with)) == 0; }

/* The words that say which problem; the others change it. */
static bool is_choice(const char *word) {
  return starts(word, "number=") || starts(word, "seed=") || starts(word, "family=");
}

static bool read_choice(int32_t *number, int32_t *seed, int argc, char **argv) {
  const key keys[] = {{"number", 0, 1e9, number, NULL, NULL}, {"seed", 0, 1e9, seed, NULL, NULL}};
  for (int i = 2; i < argc; i++)
    if (is_choice(argv[i]) && !starts(argv[i], "family=") && !set(keys, 2, argv[i])) return false;
  return true;
}

static bool read_changes(const key *keys, int32_t count, int argc, char **argv) {
  for (int i = 2; i < argc; i++)
    if (!is_choice(argv[i]) && !set(keys, count, argv[i])) return false;
  return true;
}

static bool read_spec(random_spec *spec, int argc, char **argv) {
  int32_t number = 0, seed = 1;
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
  if (!read_choice(&number, &seed, argc, argv)) return false;
  *spec = random_spec_draw((uint64_t)seed, number);
  return read_changes(keys, (int32_t)(sizeof keys / sizeof *keys), argc, argv);
}

static bool read_family(family_spec *spec, const char *name, int argc, char **argv) {
  int32_t number = 0, seed = 1;
  const key keys[] = {{"contacts", 1, FAMILY_CONTACTS, &spec->contacts, NULL, NULL},
                      {"friction", 0, 2, &spec->friction, NULL, NULL},
                      {"ratio", 1, 1e12, NULL, NULL, &spec->ratio},
                      {"mu", 1e-6, 1e3, NULL, NULL, &spec->mu}};
  int which = 0;
  while (which < FAMILY_COUNT && strcmp(name, family_names[which]) != 0) which++;
  if (which == FAMILY_COUNT) {
    complain(name, "unknown; the families are massratio, redundant, pebbles, wedge and gears");
    return false;
  }
  if (!read_choice(&number, &seed, argc, argv)) return false;
  *spec = family_draw((family)which, (uint64_t)seed, number);
  return read_changes(keys, (int32_t)(sizeof keys / sizeof *keys), argc, argv);
}

int main(int argc, char **argv) {
  if (argc < 2)
    return complain("usage", "make-random-problem FILE.hdf5 [family=NAME] [number=N] [contacts=..] [mu=..] ...");
  const char *name = NULL;
  for (int i = 2; i < argc; i++)
    if (starts(argv[i], "family=")) name = argv[i] + 7;
  random_spec spec;
  family_spec of_family;
  if (name ? !read_family(&of_family, name, argc, argv) : !read_spec(&spec, argc, argv)) return 2;
  ds_arena arena = {0};
  ds_error error = {""};
  ds_problem problem = name ? family_problem(&arena, &of_family).problem : random_ds_problem(&arena, &spec).problem;
  if (ds_arena_failed(&arena)) return complain(argv[1], "out of memory");
  ds_status status = ds_problem_file_write(argv[1], &problem, NULL, name ? name : "random", &error);
  ds_arena_free(&arena);
  return status == DS_OK ? 0 : complain(argv[1], error.message);
}
