/* Arguments of a command: see args.h. The distance of words counts insertions, deletions, substitutions and swaps of
 * neighbours (optimal string alignment); a candidate is near where that is at most a third of the word, and at least
 * one. Words longer than WORD_MAX are compared by their first WORD_MAX characters. */
#include "args.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { WORD_MAX = 48, OPTION_MAX = 64 };

static int32_t min3(int32_t a, int32_t b, int32_t c) {
  int32_t m = a < b ? a : b;
  return m < c ? m : c;
}

static int32_t word_distance(const char *a, const char *b) {
  int32_t d[WORD_MAX + 1][WORD_MAX + 1];
  int32_t m = (int32_t)strnlen(a, WORD_MAX), n = (int32_t)strnlen(b, WORD_MAX);
  for (int32_t i = 0; i <= m; i++) d[i][0] = i;
  for (int32_t j = 0; j <= n; j++) d[0][j] = j;
  for (int32_t i = 1; i <= m; i++) {
    for (int32_t j = 1; j <= n; j++) {
      d[i][j] = min3(d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
      bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped && d[i - 2][j - 2] + 1 < d[i][j]) d[i][j] = d[i - 2][j - 2] + 1;
    }
  }
  return d[m][n];
}

bool args_ends_in(const char *name, const char *ending) {
  const char *slash = strrchr(name, '/'), *dot = strrchr(slash != NULL ? slash : name, '.');
  return strcasecmp(dot != NULL ? dot : "", ending) == 0;
}

const char *args_nearest(const char *word, const char *const *candidates, int32_t count) {
  int32_t limit = (int32_t)strnlen(word, WORD_MAX) / 3, best = INT32_MAX;
  if (limit < 1) limit = 1;
  const char *nearest = NULL;
  for (int32_t i = 0; i < count; i++) {
    int32_t d = word_distance(word, candidates[i]);
    if (d < best && d <= limit) best = d, nearest = candidates[i];
  }
  return nearest;
}

static bool number_start(const char *text) {
  if (*text == '-' || *text == '+') text++;
  return (*text >= '0' && *text <= '9') || *text == '.';
}

bool args_real(double *value, const char *text) {
  if (!number_start(text) || strpbrk(text, "xX") != NULL) return false;
  char *end;
  double x = strtod(text, &end);
  if (end == text || *end != '\0' || !isfinite(x)) return false;
  *value = x;
  return true;
}

bool args_integer(int64_t *value, const char *text) {
  if (!number_start(text)) return false;
  char *end;
  errno = 0;
  long long x = strtoll(text, &end, 10);
  if (end == text || *end != '\0' || errno != 0) return false;
  *value = x;
  return true;
}

/* Index of a value in "one|two|three", or -1. */
static int32_t choice_index(const char *choices, const char *value) {
  size_t length = strlen(value);
  for (int32_t index = 0;; index++) {
    size_t n = strcspn(choices, "|");
    if (n == length && memcmp(choices, value, n) == 0) return index;
    if (choices[n] == '\0') return -1;
    choices += n + 1;
  }
}

static bool store_number(const char *command, const arg_option *option, const char *value) {
  double x = 0;
  int64_t n = 0;
  bool integer = option->kind == ARG_INTEGER;
  bool read = integer ? args_integer(&n, value) : args_real(&x, value);
  if (integer) x = (double)n;
  if (!read) {
    fprintf(stderr, "drystone %s: %s: '%s' is not %s\n", command, option->name, value,
            integer ? "a whole number" : "a finite number");
    return false;
  }
  if (!(x >= option->low && x <= option->high)) {
    fprintf(stderr, "drystone %s: %s: %s is out of range; give %.10g to %.10g\n", command, option->name, value,
            option->low, option->high);
    return false;
  }
  if (integer)
    *(int32_t *)option->target = (int32_t)n;
  else
    *(double *)option->target = x;
  return true;
}

static bool store(const char *command, const arg_option *option, const char *value) {
  switch (option->kind) {
    case ARG_FLAG:
      *(bool *)option->target = true;
      return true;
    case ARG_TEXT:
      if (value[0] == '\0') {
        fprintf(stderr, "drystone %s: %s: the value is empty\n", command, option->name);
        return false;
      }
      *(const char **)option->target = value;
      return true;
    case ARG_LIST: {
      arg_list *list = option->target;
      list->items[list->count++] = value;
      return true;
    }
    case ARG_CHOICE: {
      int32_t index = choice_index(option->choices, value);
      if (index < 0)
        fprintf(stderr, "drystone %s: %s: '%s' is not one of %s\n", command, option->name, value, option->choices);
      else
        *(int32_t *)option->target = index;
      return index >= 0;
    }
    case ARG_REAL:
    case ARG_INTEGER:
      return store_number(command, option, value);
    case ARG_RENAMED:
      break; /* refused by args_parse */
  }
  return false;
}

static const arg_option *find_option(const char *word, size_t length, const arg_option *options, int32_t count) {
  for (int32_t i = 0; i < count; i++) {
    const arg_option *option = &options[i];
    if (strlen(option->name) == length && memcmp(option->name, word, length) == 0) return option;
    if (option->alias != NULL && strcmp(option->alias, word) == 0) return option;
  }
  return NULL;
}

static void say_unknown(const char *command, const char *word, size_t length, const arg_option *options,
                        int32_t count) {
  const char *names[OPTION_MAX];
  char typed[WORD_MAX + 1];
  int32_t n = 0;
  for (int32_t i = 0; i < count && n < OPTION_MAX; i++)
    if (options[i].kind != ARG_RENAMED) names[n++] = options[i].name;
  snprintf(typed, sizeof typed, "%.*s", (int)(length < WORD_MAX ? length : WORD_MAX), word);
  const char *nearest = args_nearest(typed, names, n);
  fprintf(stderr, "drystone %s: unknown option %s; ", command, typed);
  if (nearest != NULL)
    fprintf(stderr, "did you mean %s?\n", nearest);
  else
    fprintf(stderr, "'drystone help %s' lists them\n", command);
}

bool args_parse(arg_list *words, int argc, char **argv, const arg_option *options, int32_t option_count) {
  const char *command = argc > 0 ? argv[0] : "";
  bool open = true; /* until "--" */
  for (int i = 1; i < argc; i++) {
    const char *word = argv[i];
    if (!open || word[0] != '-' || word[1] == '\0') {
      words->items[words->count++] = word;
      continue;
    }
    if (strcmp(word, "--") == 0) {
      open = false;
      continue;
    }
    size_t length = strcspn(word, "=");
    const arg_option *option = find_option(word, length, options, option_count);
    if (option == NULL) return say_unknown(command, word, length, options, option_count), false;
    if (option->kind == ARG_RENAMED)
      return fprintf(stderr, "drystone %s: %s is now %s\n", command, option->name, option->choices), false;
    const char *value = word[length] == '=' ? word + length + 1 : NULL;
    if (option->kind == ARG_FLAG) {
      if (value != NULL) return fprintf(stderr, "drystone %s: %s takes no value\n", command, option->name), false;
    } else if (value == NULL) {
      if (i + 1 >= argc) return fprintf(stderr, "drystone %s: %s needs a value\n", command, option->name), false;
      value = argv[++i];
    }
    if (!store(command, option, value)) return false;
    if (option->given != NULL) *option->given = true;
  }
  return true;
}

bool args_reals(double *out, int count, const char *text, double limit) {
  char word[64];
  for (int i = 0; i < count; i++) {
    size_t length = strcspn(text, ",");
    if (length >= sizeof word || (text[length] == ',') != (i + 1 < count)) return false;
    memcpy(word, text, length);
    word[length] = '\0';
    if (!args_real(&out[i], word) || !(fabs(out[i]) <= limit)) return false;
    text += length + 1;
  }
  return true;
}
