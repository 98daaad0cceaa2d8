/* Changes single values of a scene text: "options.tolerance=1e-6", "bodies.card3.mass=0.2", "gravity.2=-1.62".
 *
 * Method: the value's bytes are replaced in the text, everything else stays, so that comments remain and messages keep
 * their line numbers. A path goes from the top through keys, indices from 0 and names of bodies, with dots between;
 * where keys or names hold dots themselves, the longest that fits is taken. A key that is not there yet is added to its
 * object; "options" is there in every scene, since it has defaults. After each setting the text is parsed again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "drystone/scene_file.h"

/* One setting on its way into the text. */
typedef struct setting {
  const char *file, *whole; /* the setting as given, for messages */
  const char *value;        /* behind the "=" */
  ds_error *error;
  const ds_json_doc *doc;
  const ds_json *target;   /* the value to replace, or NULL */
  const ds_json *parent;   /* the object to add to */
  const char *key, *inner; /* the new key; where inner is not NULL, the value becomes {inner: value} */
} setting;

static bool fail(const setting *s, const char *message, ds_quoted what) {
  ds_fail(s->error, DS_ERROR_INPUT, "%.100s: setting %s: %s %s", s->file, ds_quote(s->whole).text, message, what.text);
  return false;
}

/* Whether the path starts with the word, up to its end or a dot. */
static bool starts_with(const char *path, const char *word) {
  size_t n = strlen(word);
  return n > 0 && strncmp(path, word, n) == 0 && (path[n] == 0 || path[n] == '.');
}

/* The element of an array at the index the path starts with, or NULL; *path moves behind it. */
static const ds_json *step_to_index(const ds_json *array, const char **path) {
  size_t digits = strspn(*path, "0123456789");
  if (digits == 0 || digits > 9 || ((*path)[digits] != 0 && (*path)[digits] != '.')) return NULL;
  long index = strtol(*path, NULL, 10);
  if (index >= array->count) return NULL;
  const ds_json *element = array->first;
  for (; index > 0; index--) element = element->next;
  *path += digits + ((*path)[digits] == '.');
  return element;
}

/* The child of an object or array that the path names first, or NULL; *path moves behind it. */
static const ds_json *step_down(const ds_json *value, const char **path) {
  const ds_json *best = value->kind == DS_JSON_ARRAY ? step_to_index(value, path) : NULL;
  size_t best_length = 0;
  if (best) return best;
  for (const ds_json *c = value->first; c; c = c->next) {
    const char *name = c->key;
    if (value->kind == DS_JSON_ARRAY) {
      const ds_json *member = ds_json_find(c, "name");
      name = member && member->kind == DS_JSON_STRING ? member->string : NULL;
    }
    if (!name || !starts_with(*path, name) || strlen(name) <= best_length) continue;
    best = c;
    best_length = strlen(name);
  }
  if (best) *path += best_length + ((*path)[best_length] == '.');
  return best;
}

/* No such child: is it a new key of an object, or an error? */
static bool find_new(setting *s, const ds_json *value, const char *rest) {
  bool last = !strchr(rest, '.');
  if (value->kind == DS_JSON_ARRAY) {
    ds_quoted what = ds_quote(rest);
    char message[96];
    snprintf(message, sizeof message, "expected an index below %d or the name of an element, found", value->count);
    return fail(s, message, what);
  }
  if (value->kind != DS_JSON_OBJECT) return fail(s, "a plain value has nothing below it; leave out", ds_quote(rest));
  s->parent = value;
  s->key = rest;
  if (last) return true;
  if (value == s->doc->root && starts_with(rest, "options") && !strchr(rest + 8, '.')) {
    s->key = "options";
    s->inner = rest + 8;
    return true;
  }
  return fail(s, "no such key; add its parent to the file first:", ds_quote(rest));
}

/* Finds what the path names. The path has to live as long as the setting, which may point into it. */
static bool find_target(setting *s, const char *path) {
  const ds_json *value = s->doc->root;
  size_t n = strlen(path);
  if (n == 0 || path[0] == '.' || path[n - 1] == '.' || strstr(path, ".."))
    return fail(s, "expected a path like options.step, found", ds_quote(path));
  while (*path) {
    const ds_json *child = step_down(value, &path);
    if (!child) return find_new(s, value, path);
    value = child;
  }
  s->target = value;
  return true;
}

/* A word without quotes counts as a text, unless it is true, false or null. */
static bool is_bare_word(const char *value) {
  unsigned char c = (unsigned char)value[0];
  bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c >= 0x80;
  return letter && strcmp(value, "true") != 0 && strcmp(value, "false") != 0 && strcmp(value, "null") != 0;
}

/* The value as JSON text in the writer's form; new memory. */
static char *value_text(const setting *s, int32_t indent) {
  ds_json_doc doc = {0};
  ds_json word = {.kind = DS_JSON_STRING, .string = s->value};
  const ds_json *value = &word;
  if (!is_bare_word(s->value)) {
    ds_error inner = {""};
    if (ds_json_parse(&doc, s->value, strlen(s->value), "value", &inner) != DS_OK) {
      ds_fail(s->error, DS_ERROR_INPUT, "%.100s: setting %s: %.250s", s->file, ds_quote(s->whole).text, inner.message);
      return NULL;
    }
    value = doc.root;
  }
  char *text = NULL;
  if (s->target && s->target->kind != value->kind) {
    ds_fail(s->error, DS_ERROR_INPUT, "%.100s: setting %s: the value is %s; expected %s, as in the file", s->file,
            ds_quote(s->whole).text, ds_json_kind_name(value->kind), ds_json_kind_name(s->target->kind));
  } else {
    text = ds_json_write(value, indent);
    if (!text) ds_fail(s->error, DS_ERROR_MEMORY, "%.100s: memory ran out", s->file);
  }
  ds_json_free(&doc);
  return text;
}

/* Spaces at the start of the line that holds the byte. */
static int32_t indent_at(const char *text, size_t offset) {
  size_t line = offset;
  while (line > 0 && text[line - 1] != '\n') line--;
  size_t n = strspn(text + line, " ");
  return n < offset - line ? (int32_t)n : (int32_t)(offset - line);
}

static char *quoted_key(const char *key) { return ds_json_write(&(ds_json){.kind = DS_JSON_STRING, .string = key}, 0); }

/* The text with [start, end) replaced by the pieces; new memory, zero-terminated. */
static char *splice(const ds_json_doc *doc, size_t start, size_t end, const char *const pieces[], int32_t count,
                    size_t *length) {
  size_t total = start + (doc->length - end);
  for (int32_t i = 0; i < count; i++) total += strlen(pieces[i]);
  char *text = malloc(total + 1);
  if (!text) return NULL;
  size_t at = start;
  memcpy(text, doc->text, start);
  for (int32_t i = 0; i < count; i++) {
    size_t n = strlen(pieces[i]);
    memcpy(text + at, pieces[i], n);
    at += n;
  }
  memcpy(text + at, doc->text + end, doc->length - end);
  text[total] = 0;
  *length = total;
  return text;
}

/* The text with a member added behind the last one of its object. */
static char *insert(const setting *s, const char *value, size_t *length) {
  const ds_json *last = s->parent->first;
  while (last && last->next) last = last->next;
  size_t at = last ? last->end : s->parent->start + 1;
  char *key = quoted_key(s->key), *inner = s->inner ? quoted_key(s->inner) : NULL, *text = NULL;
  if (key && (inner || !s->inner)) {
    const char *pieces[] = {last ? ", " : "", key, ": ", inner ? "{" : "", inner ? inner : "", inner ? ": " : "", value,
                            inner ? "}" : ""};
    text = splice(s->doc, at, at, pieces, 8, length);
  }
  free(key);
  free(inner);
  return text;
}

/* Applies one "path=value"; new memory. */
static char *apply(const char *text, size_t *length, const char *file, const char *whole, ds_error *error) {
  ds_json_doc doc;
  setting s = {.file = file, .whole = whole, .error = error, .doc = &doc};
  const char *equals = strchr(whole, '=');
  char *path = NULL, *value = NULL, *result = NULL;
  if (ds_json_parse(&doc, text, *length, file, error) != DS_OK) return NULL;
  if (!equals || !equals[1]) {
    fail(&s, "expected path=value, like", ds_quote("options.step=0.005"));
    ds_json_free(&doc);
    return NULL;
  }
  s.value = equals + 1;
  path = malloc((size_t)(equals - whole) + 1);
  if (path) {
    memcpy(path, whole, (size_t)(equals - whole));
    path[equals - whole] = 0;
    if (find_target(&s, path)) value = value_text(&s, indent_at(text, s.target ? s.target->start : s.parent->end));
    if (value && s.target)
      result = splice(&doc, s.target->start, s.target->end, (const char *const[]){value}, 1, length);
    else if (value)
      result = insert(&s, value, length);
  }
  if (!path || (value && !result)) ds_fail(error, DS_ERROR_MEMORY, "%.100s: memory ran out", file);
  free(value);
  free(path);
  ds_json_free(&doc);
  return result;
}

char *ds_scene_set(const char *text, size_t length, const char *file, const char *const *settings, int32_t count,
                   ds_error *error) {
  if (!file) file = "scene";
  char *result = malloc(length + 1);
  if (!result) {
    ds_fail(error, DS_ERROR_MEMORY, "%.100s: memory ran out", file);
    return NULL;
  }
  memcpy(result, text, length);
  result[length] = 0;
  for (int32_t i = 0; i < count && result; i++) {
    char *next = apply(result, &length, file, settings[i], error);
    free(result);
    result = next;
  }
  return result;
}
