/* Messages as bytes: see bytes.h. The program runs on little-endian machines only, which CMake checks. */
#include "bytes.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The message and its bytes are two blocks, so that the writer's becomes the message's without a copy. */
view_message *view_message_retain(view_message *message) {
  if (message != NULL) atomic_fetch_add(&message->owners, 1);
  return message;
}

void view_message_release(view_message *message) {
  if (message == NULL || atomic_fetch_sub(&message->owners, 1) != 1) return;
  free(message->bytes - VIEW_ROOM);
  free(message);
}

static bool reserve(view_bytes *out, size_t more) {
  if (out->failed) return false;
  size_t need = VIEW_ROOM + out->size + more;
  if (need <= out->capacity) return true;
  size_t capacity = out->capacity * 2 > need ? out->capacity * 2 : need + 256;
  unsigned char *data = realloc(out->data, capacity);
  if (data == NULL) {
    out->failed = true;
    return false;
  }
  out->data = data;
  out->capacity = capacity;
  return true;
}

void view_raw(view_bytes *out, const void *bytes, size_t size) {
  if (size == 0 || !reserve(out, size)) return;
  memcpy(out->data + VIEW_ROOM + out->size, bytes, size);
  out->size += size;
}

void view_u32(view_bytes *out, uint32_t value) { view_raw(out, &value, sizeof value); }

void view_f32(view_bytes *out, double value) {
  float single = (float)value;
  view_raw(out, &single, sizeof single);
}

void view_f64(view_bytes *out, double value) { view_raw(out, &value, sizeof value); }

void view_vec3(view_bytes *out, ds_vec3 value) {
  float single[3] = {(float)value.x, (float)value.y, (float)value.z};
  view_raw(out, single, sizeof single);
}

void view_text(view_bytes *out, const char *format, ...) {
  char small[256];
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  int length = vsnprintf(small, sizeof small, format, arguments);
  if (length >= (int)sizeof small && reserve(out, (size_t)length + 1)) {
    vsnprintf((char *)out->data + VIEW_ROOM + out->size, (size_t)length + 1, format, again);
    out->size += (size_t)length;
  } else if (length < (int)sizeof small && length > 0) {
    view_raw(out, small, (size_t)length);
  }
  va_end(again);
  va_end(arguments);
}

/* The length of the UTF-8 character at the start of a text, 0 if it is none. */
static size_t utf8_length(const unsigned char *s) {
  static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
  size_t n = s[0] < 0x80 ? 1 : s[0] >= 0xc2 && s[0] < 0xe0 ? 2 : (s[0] & 0xf0) == 0xe0 ? 3 : s[0] < 0xf5 ? 4 : 0;
  if (n == 0 || (s[0] >= 0x80 && s[0] < 0xc2)) return 0;
  if (n == 1) return 1;
  uint32_t code = (uint32_t)(s[0] & (0xff >> (n + 1)));
  for (size_t i = 1; i < n; i++) {
    if ((s[i] & 0xc0) != 0x80) return 0;
    code = code << 6 | (s[i] & 0x3f);
  }
  return code >= least[n] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? n : 0;
}

void view_json_text(view_bytes *out, const char *text) {
  view_raw(out, "\"", 1);
  for (const unsigned char *s = (const unsigned char *)text; *s != '\0';) {
    size_t n = utf8_length(s);
    if (n == 0)
      view_raw(out, "\xef\xbf\xbd", 3); /* a character that could not be read */
    else if (*s == '"' || *s == '\\')
      view_text(out, "\\%c", *s);
    else if (*s < 0x20 || *s == 0x7f)
      view_text(out, "\\u%04x", *s);
    else
      view_raw(out, s, n);
    s += n > 0 ? n : 1;
  }
  view_raw(out, "\"", 1);
}

void view_json_number(view_bytes *out, double value) { view_text(out, "%.12g", isfinite(value) ? value : 0); }

void view_json_vec3(view_bytes *out, ds_vec3 value) {
  view_raw(out, "[", 1);
  view_json_number(out, value.x);
  view_raw(out, ", ", 2);
  view_json_number(out, value.y);
  view_raw(out, ", ", 2);
  view_json_number(out, value.z);
  view_raw(out, "]", 1);
}

void view_begin(view_bytes *out, view_type type) {
  *out = (view_bytes){0};
  view_u32(out, (uint32_t)type);
  view_u32(out, VIEW_VERSION);
  view_u32(out, 0);
  view_u32(out, 0);
}

view_message *view_end(view_bytes *out) {
  static const unsigned char zeros[8];
  uint32_t length = (uint32_t)(out->size - VIEW_HEADER);
  bool fits = out->size >= VIEW_HEADER && out->size - VIEW_HEADER <= UINT32_MAX - 64;
  view_raw(out, zeros, (8 - out->size % 8) % 8);
  view_message *message = out->failed || !fits ? NULL : malloc(sizeof *message);
  if (message == NULL) {
    free(out->data);
  } else {
    memcpy(out->data + VIEW_ROOM + 8, &length, sizeof length);
    atomic_init(&message->owners, 1);
    message->size = out->size;
    message->bytes = out->data + VIEW_ROOM;
  }
  *out = (view_bytes){0};
  return message;
}

view_message *view_text_message(view_type type, const char *text) {
  view_bytes out;
  view_begin(&out, type);
  view_raw(&out, text, strlen(text));
  return view_end(&out);
}
