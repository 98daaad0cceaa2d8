/* Reads JSON text into a tree.
 *
 * Method: recursive descent, at most DS_JSON_DEPTH_MAX deep, over text that is checked to be UTF-8 first. Values are
 * kept in chunks that never move; decoded strings in one pool, which is as long as the text because decoding never
 * makes a string longer. A value keeps the bytes it came from; line and column are counted only when a message needs
 * them. Limits: text of DS_JSON_LENGTH_MAX bytes, DS_JSON_VALUES_MAX values; keys are unique in an object; numbers are
 * finite doubles, read in the C locale whatever the program's locale is. Grammar: RFC 8259. */
#include "base/json.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"

struct ds_json_chunk {
  ds_json_chunk *older;
  int32_t used, capacity;
  ds_json values[];
};

typedef struct parser {
  ds_json_doc *doc;
  const char *text;
  size_t length, at, pool_used;
  const char *file;
  ds_error *error;
  bool out_of_memory;
} parser;

#define FAIL(p, offset, ...) (ds_json_message((p)->error, (p)->file, (p)->text, (offset), __VA_ARGS__), false)

static bool fail_memory(parser *p) {
  p->out_of_memory = true;
  return FAIL(p, p->at, "memory ran out while reading; make the file smaller");
}

/* ---- characters ---- */

/* The byte at `at`, or -1 behind the end. */
static int peek(const parser *p) { return p->at < p->length ? (unsigned char)p->text[p->at] : -1; }

static bool is_digit(int c) { return c >= '0' && c <= '9'; }
static bool is_word(int c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || is_digit(c); }

/* Bytes of the UTF-8 character at s, of which `left` bytes remain; 0 if it is none [RFC 3629 section 4]. */
static size_t utf8_length(const unsigned char *s, size_t left) {
  if (s[0] < 0x80) return 1;
  size_t n = s[0] >= 0xC2 && s[0] <= 0xDF ? 2 : (s[0] & 0xF0) == 0xE0 ? 3 : s[0] >= 0xF0 && s[0] <= 0xF4 ? 4 : 0;
  if (n == 0 || n > left) return 0;
  for (size_t i = 1; i < n; i++)
    if ((s[i] & 0xC0) != 0x80) return 0;
  if (s[0] == 0xE0 && s[1] < 0xA0) return 0; /* overlong */
  if (s[0] == 0xED && s[1] > 0x9F) return 0; /* surrogate */
  if (s[0] == 0xF0 && s[1] < 0x90) return 0; /* overlong */
  if (s[0] == 0xF4 && s[1] > 0x8F) return 0; /* above U+10FFFF */
  return n;
}

/* Text only: UTF-8 without control characters other than tab and line ends. */
static bool check_characters(parser *p) {
  const unsigned char *s = (const unsigned char *)p->text;
  if (p->length >= 2 && ((s[0] == 0xFE && s[1] == 0xFF) || (s[0] == 0xFF && s[1] == 0xFE)))
    return FAIL(p, 0, "the text is UTF-16; save it as UTF-8");
  for (size_t i = 0; i < p->length;) {
    size_t n = utf8_length(s + i, p->length - i);
    if (n == 0) return FAIL(p, i, "byte 0x%02X is not UTF-8 text; a scene is JSON in UTF-8", (unsigned)s[i]);
    if (s[i] < 0x20 && s[i] != '\t' && s[i] != '\n' && s[i] != '\r')
      return FAIL(p, i, "control character 0x%02X; a scene is JSON text, is this another kind of file?",
                  (unsigned)s[i]);
    i += n;
  }
  return true;
}

static bool skip_space(parser *p) {
  for (;;) {
    int c = peek(p);
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      p->at++;
    } else if (c == '/') {
      size_t start = p->at;
      int d = p->at + 1 < p->length ? p->text[p->at + 1] : -1;
      if (d == '/') {
        while (p->at < p->length && p->text[p->at] != '\n') p->at++;
      } else if (d == '*') {
        p->at += 2;
        while (p->at + 1 < p->length && !(p->text[p->at] == '*' && p->text[p->at + 1] == '/')) p->at++;
        if (p->at + 1 >= p->length) return FAIL(p, start, "the comment that starts here has no end; expected \"*/\"");
        p->at += 2;
      } else {
        return FAIL(p, start, "a single \"/\"; a comment starts with \"//\" or \"/*\"");
      }
    } else {
      return true;
    }
  }
}

/* What is at the parser's position, for a message. */
static ds_quoted found(const parser *p) {
  ds_quoted quoted = {"the end of the text"};
  if (p->at >= p->length) return quoted;
  char word[48];
  size_t n = 0;
  while (n < 40 && p->at + n < p->length && is_word((unsigned char)p->text[p->at + n])) n++;
  if (n == 0) n = utf8_length((const unsigned char *)p->text + p->at, p->length - p->at);
  memcpy(word, p->text + p->at, n);
  word[n] = 0;
  return ds_quote(word);
}

/* ---- values ---- */

static ds_json *new_value(parser *p, ds_json_kind kind) {
  ds_json_doc *doc = p->doc;
  ds_json_chunk *chunk = doc->chunks;
  if (doc->values >= DS_JSON_VALUES_MAX) {
    ds_json_message(p->error, p->file, p->text, p->at, "more than %d values in one text; split the scene",
                    DS_JSON_VALUES_MAX);
    return NULL;
  }
  if (!chunk || chunk->used == chunk->capacity) {
    int32_t capacity = chunk ? chunk->capacity * 2 : 64;
    if (capacity > 1 << 16) capacity = 1 << 16;
    chunk = malloc(sizeof *chunk + (size_t)capacity * sizeof(ds_json));
    if (!chunk) {
      fail_memory(p);
      return NULL;
    }
    *chunk = (ds_json_chunk){.older = doc->chunks, .capacity = capacity};
    doc->chunks = chunk;
  }
  ds_json *value = &chunk->values[chunk->used++];
  doc->values++;
  *value = (ds_json){.kind = kind, .start = (uint32_t)p->at};
  return value;
}

static bool read_hex4(parser *p, unsigned *code) {
  *code = 0;
  for (int i = 0; i < 4; i++) {
    int c = peek(p);
    int digit = is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
    if (digit < 0) return FAIL(p, p->at, "\"\\u\" has to be followed by 4 hexadecimal digits");
    *code = *code * 16 + (unsigned)digit;
    p->at++;
  }
  return true;
}

static size_t put_utf8(char *out, unsigned code) {
  if (code < 0x80) return out[0] = (char)code, 1;
  if (code < 0x800) return out[0] = (char)(0xC0 | code >> 6), out[1] = (char)(0x80 | (code & 63)), 2;
  if (code < 0x10000) {
    out[0] = (char)(0xE0 | code >> 12);
    out[1] = (char)(0x80 | (code >> 6 & 63));
    out[2] = (char)(0x80 | (code & 63));
    return 3;
  }
  out[0] = (char)(0xF0 | code >> 18);
  out[1] = (char)(0x80 | (code >> 12 & 63));
  out[2] = (char)(0x80 | (code >> 6 & 63));
  out[3] = (char)(0x80 | (code & 63));
  return 4;
}

/* What follows a backslash. */
static bool read_escape(parser *p) {
  static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
  size_t start = p->at - 1;
  int c = peek(p);
  char *out = p->doc->pool + p->pool_used;
  const char *found_at = c > 0 ? strchr(from, c) : NULL;
  if (found_at) {
    *out = to[found_at - from];
    p->pool_used++;
    p->at++;
    return true;
  }
  if (c != 'u')
    return FAIL(p, start,
                "\"\\\" in a string; write \"\\\\\" for a backslash, or one of \\\" \\/ \\b \\f \\n \\r \\t \\uXXXX");
  p->at++;
  unsigned code, low;
  if (!read_hex4(p, &code)) return false;
  if (code >= 0xD800 && code <= 0xDBFF && peek(p) == '\\' && p->at + 1 < p->length && p->text[p->at + 1] == 'u') {
    p->at += 2;
    if (!read_hex4(p, &low)) return false;
    if (low < 0xDC00 || low > 0xDFFF)
      return FAIL(p, start, "half of a surrogate pair; \\uD800 to \\uDBFF needs a \\uDC00 to \\uDFFF behind it");
    code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
  } else if (code >= 0xD800 && code <= 0xDFFF) {
    return FAIL(p, start, "half of a surrogate pair; \\uD800 to \\uDBFF needs a \\uDC00 to \\uDFFF behind it");
  }
  if (code == 0) return FAIL(p, start, "\\u0000 in a string; leave it out");
  p->pool_used += put_utf8(out, code);
  return true;
}

/* Reads a string into the pool; the parser is at its opening quote. */
static bool read_string(parser *p, const char **string) {
  size_t start = p->at++;
  *string = p->doc->pool + p->pool_used;
  for (;;) {
    int c = peek(p);
    if (c < 0 || c == '\n' || c == '\r')
      return FAIL(p, start, "the string that starts here has no end on its line; expected a closing \"");
    p->at++;
    if (c == '"') break;
    if (c == '\\') {
      if (!read_escape(p)) return false;
    } else {
      p->doc->pool[p->pool_used++] = (char)c;
    }
  }
  p->doc->pool[p->pool_used++] = 0;
  return true;
}

/* The parser stands on '-' or a digit. */
static bool read_number(parser *p, ds_json *value) {
  size_t start = p->at;
  if (peek(p) == '-') p->at++;
  if (peek(p) == 'I' || peek(p) == 'N' || peek(p) == 'i' || peek(p) == 'n')
    return FAIL(p, start, "%s is not a finite number; expected a finite number", found(p).text);
  if (!is_digit(peek(p))) return FAIL(p, start, "\"-\" without a digit; expected a number like -0.5");
  if (peek(p) == '0' && p->at + 1 < p->length && is_digit((unsigned char)p->text[p->at + 1]))
    return FAIL(p, start, "a number with a leading zero; write 5, not 05");
  while (is_digit(peek(p))) p->at++;
  if (peek(p) == '.') {
    p->at++;
    if (!is_digit(peek(p))) return FAIL(p, start, "a number that ends with its point; write 1.0 or 1, not \"1.\"");
    while (is_digit(peek(p))) p->at++;
  }
  if (peek(p) == 'e' || peek(p) == 'E') {
    p->at++;
    if (peek(p) == '+' || peek(p) == '-') p->at++;
    if (!is_digit(peek(p))) return FAIL(p, start, "an exponent without digits; write a number like 1e-3");
    while (is_digit(peek(p))) p->at++;
  }
  if (is_word(peek(p)) || peek(p) == '.')
    return FAIL(p, start, "%s right behind a number; expected a number like 12.5 or 1e-3", found(p).text);
  /* The pool has room: it holds at most the bytes before `start`, and is one longer than the text. */
  size_t n = p->at - start;
  char *copy = p->doc->pool + p->pool_used;
  memcpy(copy, p->text + start, n);
  copy[n] = 0;
  value->number = strtod(copy, NULL);
  if (!isfinite(value->number))
    return FAIL(p, start, "%s is too large for a number; the largest is about 1.8e308", ds_quote(copy).text);
  return true;
}

static bool read_word(parser *p, ds_json *value) {
  static const char *const words[] = {"null", "true", "false"};
  size_t n = 0;
  while (p->at + n < p->length && is_word((unsigned char)p->text[p->at + n])) n++;
  for (int i = 0; i < 3; i++) {
    if (n != strlen(words[i]) || memcmp(p->text + p->at, words[i], n) != 0) continue;
    value->kind = i == 0 ? DS_JSON_NULL : DS_JSON_BOOLEAN;
    value->boolean = i == 1;
    p->at += n;
    return true;
  }
  const char *s = p->text + p->at;
  if ((n == 3 && (s[0] == 'N' || s[0] == 'n') && (s[1] == 'a' || s[1] == 'A')) ||
      (n >= 3 && (memcmp(s, "Inf", 3) == 0 || memcmp(s, "inf", 3) == 0)))
    return FAIL(p, p->at, "%s is not a finite number; expected a finite number", found(p).text);
  return FAIL(p, p->at, "unexpected word %s; expected a value (a text needs double quotes)", found(p).text);
}

static bool read_value(parser *p, ds_json **value, int32_t depth);

/* Few keys are compared one by one, many through a table. */
static bool check_keys(parser *p, const ds_json *object) {
  ds_names names = {0};
  bool ok = true;
  for (const ds_json *m = object->first; m && ok; m = m->next) {
    const ds_json *same = NULL;
    if (object->count <= 16) {
      for (same = object->first; same != m && strcmp(same->key, m->key) != 0;) same = same->next;
      if (same == m) same = NULL;
    } else {
      const void *old = ds_names_find(&names, m->key);
      same = old;
      if (!old && !ds_names_add(&names, m->key, m)) ok = fail_memory(p);
    }
    if (!same) continue;
    int32_t line, column;
    ds_json_locate(&line, &column, p->text, same->key_start);
    ok = FAIL(p, m->key_start, "key %s is given twice, first on line %d; keep one", ds_quote(m->key).text, line);
  }
  ds_names_free(&names);
  return ok;
}

/* A key and its colon; the parser ends before the value. */
static bool read_key(parser *p, const char **key) {
  if (peek(p) == '\'') return FAIL(p, p->at, "single quotes; a key stands in double quotes");
  if (peek(p) == '}') return FAIL(p, p->at, "a comma before \"}\"; remove the comma");
  if (peek(p) != '"')
    return FAIL(p, p->at, "%s where a key should start; expected a key in double quotes", found(p).text);
  if (!read_string(p, key) || !skip_space(p)) return false;
  if (peek(p) != ':') return FAIL(p, p->at, "%s after key %s; expected \":\"", found(p).text, ds_quote(*key).text);
  p->at++;
  return skip_space(p);
}

/* The content of an array or object; the parser is at its opening bracket. */
static bool read_children(parser *p, ds_json *parent, int32_t depth) {
  bool object = parent->kind == DS_JSON_OBJECT;
  char close = object ? '}' : ']';
  const ds_json **link = &parent->first;
  if (depth >= DS_JSON_DEPTH_MAX)
    return FAIL(p, p->at, "more than %d brackets within each other; a scene needs at most 7", DS_JSON_DEPTH_MAX);
  p->at++;
  if (!skip_space(p)) return false;
  while (peek(p) != close || parent->count > 0) {
    size_t key_start = p->at;
    const char *key = NULL;
    ds_json *child;
    if (object && !read_key(p, &key)) return false;
    if (!object && parent->count > 0 && peek(p) == ']') return FAIL(p, p->at, "a comma before \"]\"; remove the comma");
    if (!read_value(p, &child, depth + 1)) return false;
    child->key = key;
    child->key_start = (uint32_t)key_start;
    *link = child;
    link = &child->next;
    parent->count++;
    if (!skip_space(p)) return false;
    if (peek(p) == close) break;
    if (peek(p) < 0)
      return FAIL(p, parent->start, "the \"%c\" here is never closed; expected \"%c\" before the end of the text",
                  object ? '{' : '[', close);
    if (peek(p) != ',')
      return FAIL(p, p->at, "%s after %s; expected \",\" or \"%c\"", found(p).text, object ? "a member" : "an element",
                  close);
    p->at++;
    if (!skip_space(p)) return false;
  }
  p->at++;
  return !object || check_keys(p, parent);
}

static bool read_value(parser *p, ds_json **value, int32_t depth) {
  int c = peek(p);
  ds_json_kind kind = c == '{'                    ? DS_JSON_OBJECT
                      : c == '['                  ? DS_JSON_ARRAY
                      : c == '"'                  ? DS_JSON_STRING
                      : (is_digit(c) || c == '-') ? DS_JSON_NUMBER
                                                  : DS_JSON_NULL;
  ds_json *v = *value = new_value(p, kind);
  if (!v) return false;
  bool ok;
  if (kind == DS_JSON_OBJECT || kind == DS_JSON_ARRAY)
    ok = read_children(p, v, depth);
  else if (kind == DS_JSON_STRING)
    ok = read_string(p, &v->string);
  else if (kind == DS_JSON_NUMBER)
    ok = read_number(p, v);
  else if (is_word(c))
    ok = read_word(p, v);
  else if (c == '\'')
    ok = FAIL(p, p->at, "single quotes; a text stands in double quotes");
  else if (c == '+' || c == '.')
    ok = FAIL(p, p->at, "a number cannot start with \"%c\"; write 0.5, not %s", c, c == '+' ? "+0.5" : ".5");
  else
    ok = FAIL(p, p->at, "%s where a value should stand; expected a number, a text, true, false, [ or {", found(p).text);
  v->end = (uint32_t)p->at;
  return ok;
}

static bool read_document(parser *p) {
  ds_json *root;
  if (!check_characters(p)) return false;
  if (p->length >= 3 && memcmp(p->text, "\xEF\xBB\xBF", 3) == 0) p->at = 3; /* byte-order mark */
  if (!skip_space(p)) return false;
  if (p->at >= p->length) return FAIL(p, 0, "the text is empty; expected a JSON object in { }");
  if (!read_value(p, &root, 0) || !skip_space(p)) return false;
  if (p->at < p->length)
    return FAIL(p, p->at, "%s after the end of the JSON value; remove what follows", found(p).text);
  p->doc->root = root;
  return true;
}

ds_status ds_json_parse(ds_json_doc *doc, const char *text, size_t length, const char *file, ds_error *error) {
  *doc = (ds_json_doc){.text = text, .length = length};
  parser p = {.doc = doc, .text = text, .length = length, .file = file, .error = error};
  bool ok = false;
  if (length > DS_JSON_LENGTH_MAX) {
    ds_json_message(error, file, text, 0, "the text has %zu bytes; at most %zu are read", length, DS_JSON_LENGTH_MAX);
    return DS_ERROR_INPUT;
  }
  doc->pool = malloc(length + 1);
  locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0); /* strtod may not read "0.5" in other locales */
  if (!doc->pool || !c_locale) {
    fail_memory(&p);
  } else {
    locale_t old = uselocale(c_locale);
    ok = read_document(&p);
    uselocale(old);
  }
  if (c_locale) freelocale(c_locale);
  if (!ok) ds_json_free(doc);
  return ok ? DS_OK : p.out_of_memory ? DS_ERROR_MEMORY : DS_ERROR_INPUT;
}

void ds_json_free(ds_json_doc *doc) {
  for (ds_json_chunk *chunk = doc->chunks, *older; chunk; chunk = older) {
    older = chunk->older;
    free(chunk);
  }
  free(doc->pool);
  *doc = (ds_json_doc){0};
}

const ds_json *ds_json_find(const ds_json *object, const char *key) {
  if (object->kind != DS_JSON_OBJECT) return NULL;
  const ds_json *m = object->first;
  while (m && strcmp(m->key, key) != 0) m = m->next;
  return m;
}
