/* From "name:key=value,key=value" to scene text: finds the generator, checks every value, and lets it write.
 *
 * Nothing is guessed: an unknown name, a value that is no number, or one out of its range is answered with what is
 * known, the nearest name first. */
#include "scene/generate.h"

#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/fields.h"
#include "base/json.h"
#include "scene/imperfect.h"

enum { WORD_MAX = 48 };

/* ---- Parameters of the call ---- */

static int32_t parameter_index(const ds_generator *generator, const char *name) {
  for (int32_t i = 0; i < generator->parameter_count; i++)
    if (strcmp(generator->parameters[i].name, name) == 0) return i;
  return -1;
}

double ds_generation_value(const ds_generation *g, const char *name) {
  int32_t i = parameter_index(g->generator, name);
  return i >= 0 ? g->values[i] : NAN;
}

int32_t ds_generation_count(const ds_generation *g, const char *name) { return (int32_t)ds_generation_value(g, name); }

/* The place of a word in "one|two|three", or -1. */
static int32_t choice_index(const char *choices, const char *word) {
  size_t length = strlen(word);
  int32_t index = 0;
  for (const char *at = choices;; index++) {
    size_t n = strcspn(at, "|");
    if (n == length && memcmp(at, word, n) == 0) return index;
    if (at[n] == 0) return -1;
    at += n + 1;
  }
}

bool ds_generation_chose(const ds_generation *g, const char *name, const char *choice) {
  int32_t i = parameter_index(g->generator, name);
  return i >= 0 && ds_generation_count(g, name) == choice_index(g->generator->parameters[i].choices, choice);
}

/* ---- Messages about names ---- */

/* Adds to a message as much as fits. */
typedef struct message {
  char text[sizeof(((ds_error *)0)->message)];
  size_t length;
} message;

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static void
say(message *m, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int n = vsnprintf(m->text + m->length, sizeof m->text - m->length, format, arguments);
  va_end(arguments);
  if (n > 0) m->length += (size_t)n;
  if (m->length > sizeof m->text - 1) m->length = sizeof m->text - 1;
}

/* Joins words as "a|b|c", the form in which ds_nearest_word takes them. */
static void add_word(message *words, const char *word) { say(words, "%s%s", words->length > 0 ? "|" : "", word); }

static ds_status refuse_generator(ds_error *error, const char *name) {
  int32_t count;
  const ds_generator *all = ds_generators(&count);
  message m = {0}, words = {0};
  for (int32_t i = 0; i < count; i++) add_word(&words, all[i].name);
  ds_word nearest = ds_nearest_word(name, words.text);
  say(&m, "no generator %s", ds_quote(name).text);
  if (nearest.text[0]) say(&m, "; did you mean \"%s\"?", nearest.text);
  say(&m, "%s known:", nearest.text[0] ? "" : ";");
  for (int32_t i = 0; i < count; i++) say(&m, "%s %s", i == 0 ? "" : ",", all[i].name);
  return ds_fail(error, DS_ERROR_INPUT, "%s", m.text);
}

static ds_status refuse_key(ds_error *error, const ds_generator *generator, const char *key) {
  message m = {0}, words = {0};
  for (int32_t i = 0; i < generator->parameter_count; i++) add_word(&words, generator->parameters[i].name);
  ds_word nearest = ds_nearest_word(key, words.text);
  say(&m, "generator %s has no parameter %s", generator->name, ds_quote(key).text);
  if (nearest.text[0]) say(&m, "; did you mean \"%s\"?", nearest.text);
  say(&m, "%s known, with defaults:", nearest.text[0] ? "" : ";");
  for (int32_t i = 0; i < generator->parameter_count; i++)
    say(&m, "%s %s=%s", i == 0 ? "" : ",", generator->parameters[i].name, generator->parameters[i].initial);
  return ds_fail(error, DS_ERROR_INPUT, "%s", m.text);
}

/* ---- Values ---- */

static ds_status read_value(double *value, const ds_generator *generator, const ds_generator_parameter *parameter,
                            const char *word, ds_error *error) {
  if (parameter->choices) {
    int32_t index = choice_index(parameter->choices, word);
    if (index < 0)
      return ds_fail(error, DS_ERROR_INPUT, "%s: %s is %s; expected one of %s", generator->name, parameter->name,
                     ds_quote(word).text, parameter->choices);
    *value = index;
    return DS_OK;
  }
  /* strtod alone would also take hexadecimal, "inf" and leading blanks */
  char *end;
  double x = strtod(word, &end);
  bool plain = word[0] != 0 && strspn(word, "0123456789+-.eE") == strlen(word) && *end == 0 && isfinite(x);
  bool whole = !parameter->integer || (plain && x == floor(x));
  if (plain && whole && x >= parameter->low && x <= parameter->high) {
    *value = x + 0.0; /* -0 becomes 0 */
    return DS_OK;
  }
  const char *unit = parameter->unit ? parameter->unit : "";
  return ds_fail(error, DS_ERROR_INPUT, "%s: %s is %s; expected a %s from %g to %g%s%s (default %s)", generator->name,
                 parameter->name, ds_quote(word).text, parameter->integer ? "whole number" : "number", parameter->low,
                 parameter->high, unit[0] ? " " : "", unit, parameter->initial);
}

/* Copies the characters up to one of `stops` and moves on to it; false if the word is longer than any known one. */
static bool take_word(char word[WORD_MAX + 1], const char **at, const char *stops) {
  size_t n = strcspn(*at, stops), kept = n < WORD_MAX ? n : WORD_MAX;
  memcpy(word, *at, kept);
  word[kept] = 0;
  *at += n;
  return n == kept;
}

static ds_status read_settings(ds_generation *g, const char *at, ds_error *error) {
  bool given[DS_GENERATION_PARAMETERS] = {0};
  char key[WORD_MAX + 1], word[WORD_MAX + 1];
  while (*at == ':' || *at == ',') {
    at++;
    bool fits = take_word(key, &at, "=,");
    if (*at != '=')
      return ds_fail(error, DS_ERROR_INPUT, "generator %s: expected key=value, found %s", g->generator->name,
                     ds_quote(key).text);
    at++;
    int32_t i = fits ? parameter_index(g->generator, key) : -1;
    if (i < 0) return refuse_key(error, g->generator, key);
    if (given[i]) return ds_fail(error, DS_ERROR_INPUT, "generator %s: %s is given twice", g->generator->name, key);
    given[i] = true;
    fits = take_word(word, &at, ",");
    if (!fits)
      return ds_fail(error, DS_ERROR_INPUT, "generator %s: the value of %s is too long", g->generator->name, key);
    ds_status status = read_value(&g->values[i], g->generator, &g->generator->parameters[i], word, error);
    if (status != DS_OK) return status;
  }
  return DS_OK;
}

static ds_status generate(ds_generation *g, const char *specification, ds_error *error) {
  char name[WORD_MAX + 1];
  const char *at = specification;
  take_word(name, &at, ":");
  int32_t count, index = 0;
  const ds_generator *all = ds_generators(&count);
  while (index < count && strcmp(all[index].name, name) != 0) index++;
  if (index == count) return refuse_generator(error, name);
  g->generator = &all[index];
  for (int32_t i = 0; i < g->generator->parameter_count; i++) {
    const ds_generator_parameter *parameter = &g->generator->parameters[i];
    ds_status status = read_value(&g->values[i], g->generator, parameter, parameter->initial, error);
    if (status != DS_OK) return status;
  }
  ds_status status = read_settings(g, at, error);
  if (status != DS_OK) return status;
  if (ds_imperfect_begin(g)) { /* to count and to measure */
    ds_generate_functions[index](g);
    ds_imperfect_measured(g);
    g->options = g->materials = g->solids = g->deformables = g->bodies = g->joints = 0;
    g->text.length = 0;
  }
  if (!g->reason[0]) ds_generate_functions[index](g);
  if (g->reason[0]) return ds_fail(error, DS_ERROR_INPUT, "generator %s: %s", name, g->reason);
  if (g->text.failed) return ds_fail(error, DS_ERROR_MEMORY, "out of memory while generating %s", name);
  return DS_OK;
}

char *ds_generate(const char *specification, ds_error *error) {
  /* numbers are read and written with a decimal point whatever the program's locale */
  locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  if (c_locale == (locale_t)0) {
    ds_fail(error, DS_ERROR_MEMORY, "out of memory while generating a scene");
    return NULL;
  }
  locale_t before = uselocale(c_locale);
  ds_generation g = {0};
  ds_status status = generate(&g, specification, error);
  uselocale(before);
  freelocale(c_locale);
  if (status == DS_OK) return g.text.data;
  free(g.text.data);
  return NULL;
}
