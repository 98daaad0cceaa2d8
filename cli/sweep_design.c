/* The runs of a sweep: the values of their parameters, their command lines, and their keys.
 *
 * Grid: every combination, the last parameter changing fastest. List: the n-th values of all parameters. Latin
 * hypercube: the range of each parameter is cut into as many equal strata as there are samples; each stratum of each
 * parameter has one sample, in an order drawn from the seed, at a random place within [McKay, Beckman, Conover 1979].
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "drystone/scene_file.h"
#include "source.h"
#include "sweep.h"

/* ---- random numbers: splitmix64, the same everywhere ---- */

static uint64_t mixed(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

/* The n-th number of a stream, in [0, 1). */
static double uniform(int32_t seed, int32_t stream, int64_t n) {
  uint64_t x = mixed(mixed((uint64_t)(uint32_t)seed << 32 | (uint32_t)stream) ^ (uint64_t)n);
  return (double)(x >> 11) * 0x1p-53;
}

static bool draw_strata(sweep *s) {
  size_t samples = (size_t)s->samples;
  s->strata = malloc(samples * (size_t)s->parameter_count * sizeof *s->strata);
  if (s->strata == NULL) return false;
  for (int32_t p = 0; p < s->parameter_count; p++) {
    int32_t *order = s->strata + (size_t)p * samples;
    for (int32_t i = 0; i < s->samples; i++) order[i] = i;
    for (int32_t i = s->samples - 1; i > 0; i--) { /* Fisher and Yates */
      int32_t k = (int32_t)(uniform(s->seed, 2 * p, i) * (i + 1)), kept = order[i];
      order[i] = order[k];
      order[k] = kept;
    }
  }
  return true;
}

/* ---- values ---- */

static void set_json(sweep_value *value, const ds_json *from) {
  value->is_text = from->kind == DS_JSON_STRING;
  value->number = NAN;
  if (from->kind == DS_JSON_NUMBER) {
    value->number = from->number;
    ds_json_write_number(value->text, from->number);
  } else if (from->kind == DS_JSON_STRING) {
    snprintf(value->text, sizeof value->text, "%s", from->string);
  } else {
    value->number = from->boolean;
    snprintf(value->text, sizeof value->text, "%s", from->boolean ? "true" : "false");
  }
}

/* The place at `share` of the way from "from" to "to"; the ends are met exactly. */
static void set_between(sweep_value *value, const sweep_parameter *p, double share) {
  double x = p->log ? p->from * pow(p->to / p->from, share) : p->from + share * (p->to - p->from);
  if (share == 0) x = p->from;
  if (share == 1) x = p->to;
  value->is_text = false;
  snprintf(value->text, sizeof value->text, "%.12g", x); /* 0.3, not 0.30000000000000004 */
  value->number = strtod(value->text, NULL);
}

int32_t sweep_level(const sweep *s, int32_t run, int32_t parameter) {
  if (s->design == SWEEP_LIST) return run;
  if (s->design == SWEEP_HYPERCUBE) return -1;
  for (int32_t p = s->parameter_count - 1; p > parameter; p--) run /= s->parameters[p].count;
  return run % s->parameters[parameter].count;
}

void sweep_parameter_value(sweep_value *value, const sweep *s, int32_t run, int32_t parameter) {
  const sweep_parameter *p = &s->parameters[parameter];
  int32_t level = sweep_level(s, run, parameter);
  double share = p->count > 1 ? (double)level / (p->count - 1) : 0;
  if (level < 0) {
    int32_t stratum = s->strata[(size_t)parameter * (size_t)s->samples + (size_t)run];
    share = (stratum + uniform(s->seed, 2 * parameter + 1, run)) / s->samples;
    level = (int32_t)(share * p->count); /* of listed values */
  }
  if (p->values != NULL)
    set_json(value, p->items[level]);
  else
    set_between(value, p, share);
}

/* ---- command lines ---- */

bool sweep_words_add(sweep_words *words, const char *text) {
  char **more = realloc(words->word, ((size_t)words->count + 2) * sizeof *more);
  if (more == NULL) return false;
  words->word = more;
  size_t size = strlen(text) + 1;
  more[words->count] = malloc(size);
  if (more[words->count] == NULL) return false;
  memcpy(more[words->count++], text, size);
  more[words->count] = NULL;
  return true;
}

void sweep_words_free(sweep_words *words) {
  for (int32_t i = 0; i < words->count; i++) free(words->word[i]);
  free(words->word);
  *words = (sweep_words){0};
}

/* The generator with the values of its parameters: "card-house:levels=5,mu=0.7". */
static char *specification(const sweep *s, int32_t run) {
  size_t size = strlen(s->source) + 1;
  for (int32_t p = 0; p < s->parameter_count; p++) size += strlen(s->parameters[p].path) + SWEEP_TEXT + 2;
  char *text = malloc(size);
  if (text == NULL) return NULL;
  size_t n = (size_t)snprintf(text, size, "%s", s->source);
  bool first = strchr(s->source, ':') == NULL;
  for (int32_t p = 0; p < s->parameter_count; p++) {
    sweep_value value;
    if (s->parameters[p].target != SWEEP_GENERATOR) continue;
    sweep_parameter_value(&value, s, run, p);
    n += (size_t)snprintf(text + n, size - n, "%c%s=%s", first ? ':' : ',', s->parameters[p].path, value.text);
    first = false;
  }
  return text;
}

bool sweep_words_make(sweep_words *words, const sweep *s, int32_t run) {
  char setting[512];
  *words = (sweep_words){0};
  char *scene = specification(s, run);
  bool ok = scene != NULL && sweep_words_add(words, s->command == SWEEP_RUN ? "run" : "stand") &&
            sweep_words_add(words, scene);
  free(scene);
  for (int32_t i = 0; ok && i < s->argument_count; i++) ok = sweep_words_add(words, s->arguments[i]);
  for (int32_t p = 0; ok && p < s->parameter_count; p++) {
    const sweep_parameter *parameter = &s->parameters[p];
    sweep_value value;
    if (parameter->target == SWEEP_GENERATOR) continue;
    sweep_parameter_value(&value, s, run, p);
    bool set = parameter->target == SWEEP_SET;
    snprintf(setting, sizeof setting, "%s%s%s", set ? parameter->path : "", set ? "=" : "", value.text);
    ok = sweep_words_add(words, set ? "--set" : parameter->path) && sweep_words_add(words, setting);
  }
  if (!ok) sweep_words_free(words);
  return ok;
}

/* ---- keys ---- */

/* Two hashes of the same bytes that have nothing in common: FNV-1a, and splitmix64 as a chain. */
static void hash_bytes(uint64_t key[2], const void *bytes, size_t size) {
  const unsigned char *b = bytes;
  for (size_t i = 0; i < size; i++) {
    key[0] = (key[0] ^ b[i]) * 0x100000001b3u;
    key[1] = mixed(key[1] ^ b[i]);
  }
}

static void hash_text(uint64_t key[2], const char *text) { hash_bytes(key, text, strlen(text) + 1); }

static bool make_key(uint64_t key[2], const sweep *s, int32_t run) {
  sweep_words words;
  if (!sweep_words_make(&words, s, run)) return false;
  key[0] = 0xcbf29ce484222325u;
  key[1] = 0;
  hash_text(key, ds_version());
  hash_bytes(key, s->content, sizeof s->content);
  for (int32_t i = 0; i < words.count; i++)
    if (s->is_generator || i != 1) hash_text(key, words.word[i]); /* not where a scene file is */
  sweep_words_free(&words);
  for (int32_t i = 0; i < s->metric_count; i++) {
    const sweep_metric *m = &s->metrics[i];
    hash_text(key, m->body != NULL ? m->body : "");
    hash_text(key, m->field != NULL ? m->field : "");
    hash_bytes(key, &m->quantity, sizeof m->quantity);
  }
  return true;
}

/* Sorts run numbers by key: heapsort, as qsort has no place for the sweep. */
static int key_order(const sweep *s, int32_t a, int32_t b) {
  const uint64_t *x = s->runs[a].key, *y = s->runs[b].key;
  if (x[0] != y[0]) return x[0] < y[0] ? -1 : 1;
  if (x[1] != y[1]) return x[1] < y[1] ? -1 : 1;
  return a < b ? -1 : a > b;
}

static void sift(const sweep *s, int32_t *order, int32_t root, int32_t count) {
  for (;;) {
    int32_t child = 2 * root + 1;
    if (child >= count) return;
    if (child + 1 < count && key_order(s, order[child], order[child + 1]) < 0) child++;
    if (key_order(s, order[root], order[child]) >= 0) return;
    int32_t kept = order[root];
    order[root] = order[child];
    order[child] = kept;
    root = child;
  }
}

static void sort_runs(sweep *s) {
  for (int32_t i = 0; i < s->run_count; i++) s->order[i] = i;
  for (int32_t i = s->run_count / 2 - 1; i >= 0; i--) sift(s, s->order, i, s->run_count);
  for (int32_t i = s->run_count - 1; i > 0; i--) {
    int32_t kept = s->order[0];
    s->order[0] = s->order[i];
    s->order[i] = kept;
    sift(s, s->order, 0, i);
  }
}

static bool count_runs(sweep *s, ds_error *error) {
  int64_t count = 1;
  for (int32_t p = 0; p < s->parameter_count && count <= SWEEP_RUNS_MAX; p++) count *= s->parameters[p].count;
  if (s->design == SWEEP_LIST) count = s->parameters[0].count;
  if (s->design == SWEEP_HYPERCUBE) count = s->samples;
  s->run_count = (int32_t)(count <= SWEEP_RUNS_MAX ? count : 0);
  if (count > SWEEP_RUNS_MAX)
    ds_json_message(error, s->file, s->text, s->at->start, "the grid has more than %d runs", SWEEP_RUNS_MAX);
  return count <= SWEEP_RUNS_MAX;
}

bool sweep_plan(sweep *s, ds_error *error) {
  if (!count_runs(s, error)) return false;
  if (!s->is_generator) {
    size_t length;
    char *text = ds_text_read_file(s->source, &length, error);
    if (text == NULL) return false;
    hash_bytes(s->content, text, length);
    free(text);
  }
  snprintf(error->message, sizeof error->message, "out of memory");
  s->runs = calloc((size_t)s->run_count, sizeof *s->runs);
  s->order = malloc((size_t)s->run_count * sizeof *s->order);
  if (s->runs == NULL || s->order == NULL || (s->design == SWEEP_HYPERCUBE && !draw_strata(s))) return false;
  for (int32_t i = 0; i < s->run_count; i++)
    if (!make_key(s->runs[i].key, s, i)) return false;
  sort_runs(s);
  return true;
}
