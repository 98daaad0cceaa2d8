/* Messages about a place in a text: line and column of a byte, and strings quoted for messages. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"

void ds_json_locate(int32_t *line, int32_t *column, const char *text, size_t offset) {
  *line = *column = 1;
  for (size_t i = 0; i < offset; i++) {
    if (text[i] == '\n') {
      ++*line;
      *column = 1;
    } else if (((unsigned char)text[i] & 0xC0) != 0x80) { /* a UTF-8 continuation byte is no character */
      ++*column;
    }
  }
}

const char *ds_json_kind_name(ds_json_kind kind) {
  static const char *const names[] = {"null", "true or false", "a number", "a text", "an array", "an object"};
  return names[kind];
}

/* A start of `s` of at most n bytes that does not cut a UTF-8 character. */
static size_t cut(const char *s, size_t n) {
  size_t length = strlen(s);
  if (length <= n) return length;
  while (n > 0 && ((unsigned char)s[n] & 0xC0) == 0x80) n--;
  return n;
}

ds_quoted ds_quote(const char *string) {
  ds_quoted q;
  size_t out = 0, characters = 0, i = 0;
  q.text[out++] = '"';
  for (; string[i] && out < sizeof q.text - 10; i++) {
    unsigned char c = (unsigned char)string[i];
    bool starts = (c & 0xC0) != 0x80;
    if (starts && characters == 40) break;
    characters += starts;
    q.text[out++] = c < 0x20 || c == 0x7F ? '?' : string[i];
  }
  if (string[i]) {
    memcpy(q.text + out, "...", 3);
    out += 3;
  }
  q.text[out++] = '"';
  q.text[out] = 0;
  return q;
}

void ds_json_message(ds_error *error, const char *file, const char *text, size_t offset, const char *format, ...) {
  if (!error) return;
  const size_t file_max = 160, size = sizeof error->message;
  char buffer[sizeof error->message + 8]; /* apart, because an argument may be the old message; +8 to see a cut */
  int32_t line, column;
  ds_json_locate(&line, &column, text, offset);
  size_t length = strlen(file), from = length > file_max ? length - file_max : 0;
  while (((unsigned char)file[from] & 0xC0) == 0x80) from++;
  int n = snprintf(buffer, sizeof buffer, "%s%s:%d:%d: ", from ? "..." : "", file + from, (int)line, (int)column);
  va_list arguments;
  va_start(arguments, format);
  if (n >= 0 && (size_t)n < sizeof buffer) vsnprintf(buffer + n, sizeof buffer - (size_t)n, format, arguments);
  va_end(arguments);
  n = (int)cut(buffer, size - 1);
  memcpy(error->message, buffer, (size_t)n);
  error->message[n] = 0;
}
