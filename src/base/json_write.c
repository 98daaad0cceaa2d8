/* Writes a JSON value as text a person can read and that reads back as the same value.
 *
 * Two spaces of indentation; an array of numbers stands on one line, and so does an array or object of plain values and
 * arrays of numbers where it fits into COLUMNS columns. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

enum { COLUMNS = 110 };

typedef struct buffer {
  char *text; /* zero-terminated once something was put */
  size_t length, capacity;
  bool failed;
} buffer;

static void put_bytes(buffer *b, const char *s, size_t n) {
  if (b->failed) return;
  if (b->length + n + 1 > b->capacity) {
    size_t capacity = 2 * (b->length + n) + 64;
    char *text = realloc(b->text, capacity);
    if (!text) {
      b->failed = true;
      return;
    }
    b->text = text;
    b->capacity = capacity;
  }
  memcpy(b->text + b->length, s, n);
  b->length += n;
  b->text[b->length] = 0;
}

static void put(buffer *b, const char *s) { put_bytes(b, s, strlen(s)); }

static void put_line(buffer *b, int32_t indent) {
  put(b, "\n");
  for (int32_t i = 0; i < indent; i++) put(b, " ");
}

static void put_string(buffer *b, const char *s) {
  put(b, "\"");
  for (; *s; s++) {
    unsigned char c = (unsigned char)*s;
    char escape[8];
    if (c == '"' || c == '\\') {
      put_bytes(b, (char[]){'\\', (char)c}, 2);
    } else if (c == '\n') {
      put(b, "\\n");
    } else if (c == '\t') {
      put(b, "\\t");
    } else if (c < 0x20) {
      snprintf(escape, sizeof escape, "\\u%04x", (unsigned)c);
      put(b, escape);
    } else {
      put_bytes(b, s, 1);
    }
  }
  put(b, "\"");
}

void ds_json_write_number(char text[32], double number) {
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(text, 32, "%.*g", digits, number);
    if (strtod(text, NULL) == number) return;
  }
}

static bool is_numbers(const ds_json *v) {
  if (v->kind != DS_JSON_ARRAY) return false;
  for (const ds_json *c = v->first; c; c = c->next)
    if (c->kind != DS_JSON_NUMBER) return false;
  return true;
}

/* Nothing inside but plain values and arrays of numbers. */
static bool is_flat(const ds_json *v) {
  for (const ds_json *c = v->first; c; c = c->next)
    if ((c->kind == DS_JSON_ARRAY && !is_numbers(c)) || c->kind == DS_JSON_OBJECT) return false;
  return true;
}

static void put_value(buffer *b, const ds_json *v, int32_t indent, bool one_line);

static void put_children(buffer *b, const ds_json *v, int32_t indent, bool one_line) {
  bool object = v->kind == DS_JSON_OBJECT;
  put(b, object ? "{" : "[");
  for (const ds_json *c = v->first; c; c = c->next) {
    if (!one_line) put_line(b, indent + 2);
    if (object) {
      put_string(b, c->key);
      put(b, ": ");
    }
    put_value(b, c, indent + 2, one_line);
    if (c->next) put(b, one_line ? ", " : ",");
  }
  if (!one_line && v->first) put_line(b, indent);
  put(b, object ? "}" : "]");
}

static void put_value(buffer *b, const ds_json *v, int32_t indent, bool one_line) {
  char number[32];
  size_t start = b->length;
  switch (v->kind) {
    case DS_JSON_NULL:
      put(b, "null");
      break;
    case DS_JSON_BOOLEAN:
      put(b, v->boolean ? "true" : "false");
      break;
    case DS_JSON_NUMBER:
      ds_json_write_number(number, v->number);
      put(b, number);
      break;
    case DS_JSON_STRING:
      put_string(b, v->string);
      break;
    case DS_JSON_ARRAY:
    case DS_JSON_OBJECT:
      if (one_line || is_numbers(v)) {
        put_children(b, v, indent, true);
        break;
      }
      if (is_flat(v)) {
        put_children(b, v, indent, true);
        if (b->failed || b->length - start + (size_t)indent <= COLUMNS) break;
        b->length = start; /* too long: once more, on several lines */
      }
      put_children(b, v, indent, false);
      break;
  }
}

char *ds_json_write(const ds_json *value, int32_t indent) {
  buffer b = {0};
  locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0); /* a number has a point, not a comma */
  if (!c_locale) return NULL;
  locale_t old = uselocale(c_locale);
  put_value(&b, value, indent, false);
  uselocale(old);
  freelocale(c_locale);
  if (!b.failed) return b.text;
  free(b.text);
  return NULL;
}
