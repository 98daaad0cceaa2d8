/* What clients send: see commands.h and docs/protocol.md. A message has the length of its type, exactly, and zeros up
 * to a multiple of 8 bytes. Whether bodies and materials exist is for the session to say. */
#include "commands.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPEED_MAX 1e3
#define REACH 1e6 /* m: farthest that a hand may be */
enum { STEPS_MAX = 10000, RATE_MAX = 1000 };

static uint32_t read_u32(const unsigned char *at) {
  uint32_t value;
  memcpy(&value, at, sizeof value);
  return value;
}

static double read_f32(const unsigned char *at) {
  float value;
  memcpy(&value, at, sizeof value);
  return (double)value;
}

static double read_f64(const unsigned char *at) {
  double value;
  memcpy(&value, at, sizeof value);
  return value;
}

static ds_vec3 read_vec3(const unsigned char *at) {
  return (ds_vec3){read_f32(at), read_f32(at + 4), read_f32(at + 8)};
}

static view_decoded broken(ds_error *why, const char *what) {
  snprintf(why->message, sizeof why->message, "%s", what);
  return VIEW_BROKEN;
}

static view_decoded refuse(ds_error *why, const char *what) {
  snprintf(why->message, sizeof why->message, "%s", what);
  return VIEW_REFUSED;
}

/* The length of a type's messages; -1: any, -2: no such type. */
static long length_of(uint32_t type, bool film) {
  switch (type) {
    case VIEW_PLAY:
    case VIEW_STEP:
      return 4;
    case VIEW_PAUSE:
    case VIEW_RESET:
    case VIEW_RELEASE:
    case VIEW_ASK_TEXT:
      return 0;
    case VIEW_OPEN:
    case VIEW_OPEN_TEXT:
      return -1;
    case VIEW_SET:
    case VIEW_PROBE:
      return 16;
    case VIEW_STAND:
      return 20;
    case VIEW_GRAB:
      return 28;
    case VIEW_MOVE:
      return 12;
    case VIEW_WANT:
    case VIEW_SEEN:
      return 8;
    case VIEW_PICTURE:
      return film ? -1 : -2;
    default:
      return -2;
  }
}

static view_decoded check_envelope(const unsigned char *bytes, size_t size, bool film, ds_error *why) {
  if (size < VIEW_HEADER || size % 8 != 0)
    return broken(why, "a message must have a header of 16 bytes and a length that is a multiple of 8");
  uint32_t type = read_u32(bytes), length = read_u32(bytes + 8);
  long known = length_of(type, film);
  if (read_u32(bytes + 4) != VIEW_VERSION) return broken(why, "the version of the protocol must be 1");
  if (read_u32(bytes + 12) != 0) return broken(why, "the last word of the header must be 0");
  if (known == -2) return broken(why, "unknown message type");
  if (length > size - VIEW_HEADER || size - VIEW_HEADER - length >= 8)
    return broken(why, "the length of the message is not what its header says");
  if (known >= 0 && (uint32_t)known != length) return broken(why, "the message has the wrong length for its type");
  for (size_t i = VIEW_HEADER + length; i < size; i++)
    if (bytes[i] != 0) return broken(why, "the padding must be zeros");
  return VIEW_DECODED;
}

size_t view_command_limit(const unsigned char *begin, size_t size, bool film) {
  uint32_t type = size >= 4 ? read_u32(begin) : 0;
  return film ? VIEW_PICTURE_MAX : type == VIEW_OPEN_TEXT ? VIEW_TEXT_MAX : VIEW_COMMAND_MAX;
}

static bool is_near(ds_vec3 a) { return fabs(a.x) <= REACH && fabs(a.y) <= REACH && fabs(a.z) <= REACH; }

static view_decoded decode_open(view_command *c, const unsigned char *at, size_t length, ds_error *why) {
  if (length == 0 || length > 4096) return refuse(why, "a scene's name has 1 to 4096 bytes");
  for (size_t i = 0; i < length; i++)
    if (at[i] < 0x20 || at[i] == 0x7f) return refuse(why, "a scene's name has no control characters");
  c->text = malloc(length + 1);
  if (c->text == NULL) return refuse(why, "out of memory");
  memcpy(c->text, at, length);
  c->text[length] = '\0';
  return VIEW_DECODED;
}

/* The length of the name, the name, the scene. */
static view_decoded decode_open_text(view_command *c, const unsigned char *at, size_t length, ds_error *why) {
  size_t name = length >= 4 ? read_u32(at) : 0;
  if (length < 4 || name > length - 4) return broken(why, "a scene must be a name with its length, then the text");
  view_decoded result = decode_open(c, at + 4, name, why);
  if (result != VIEW_DECODED) return result;
  c->size = length - 4 - name;
  char *both = realloc(c->text, name + 1 + c->size + 1);
  if (both == NULL) return refuse(why, "out of memory");
  memcpy(both + name + 1, at + 4 + name, c->size);
  both[name + 1 + c->size] = '\0';
  c->text = both;
  c->scene = both + name + 1;
  return VIEW_DECODED;
}

static view_decoded decode_picture(view_command *c, const unsigned char *at, size_t length, ds_error *why) {
  static const unsigned char png[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  if (length < 8 + sizeof png || memcmp(at + 8, png, sizeof png) != 0)
    return broken(why, "an image must be a PNG file");
  c->index = read_u32(at);
  c->what = read_u32(at + 4);
  c->at = at + 8;
  c->size = length - 8;
  return c->index < c->what ? VIEW_DECODED : broken(why, "the index of an image must be below their number");
}

static view_decoded decode_body(view_command *c, const unsigned char *at, size_t length, ds_error *why) {
  switch (c->type) {
    case VIEW_PLAY:
      c->value = read_f32(at);
      return c->value >= 0 && c->value <= SPEED_MAX ? VIEW_DECODED : refuse(why, "the speed is from 0 to 1000");
    case VIEW_STEP:
      c->index = read_u32(at);
      return c->index >= 1 && c->index <= STEPS_MAX ? VIEW_DECODED : refuse(why, "steps are from 1 to 10,000");
    case VIEW_OPEN:
      return decode_open(c, at, length, why);
    case VIEW_OPEN_TEXT:
      return decode_open_text(c, at, length, why);
    case VIEW_SET:
      c->what = read_u32(at);
      c->index = read_u32(at + 4);
      c->value = read_f64(at + 8);
      return isfinite(c->value) ? VIEW_DECODED : refuse(why, "a value to be set is a finite number");
    case VIEW_GRAB:
      c->body = read_u32(at);
      c->point = read_vec3(at + 4);
      c->target = read_vec3(at + 16);
      return is_near(c->point) && is_near(c->target) ? VIEW_DECODED : refuse(why, "the hand is too far away");
    case VIEW_MOVE:
      c->target = read_vec3(at);
      return is_near(c->target) ? VIEW_DECODED : refuse(why, "the hand is too far away");
    case VIEW_WANT:
      c->what = read_u32(at);
      c->index = read_u32(at + 4);
      if (c->what > 2) return refuse(why, "contacts must be 0 (none), 1 (all) or 2 (loaded ones)");
      return c->index <= RATE_MAX ? VIEW_DECODED : refuse(why, "the frame rate is at most 1000");
    case VIEW_PROBE:
      c->what = read_u32(at);
      c->body = read_u32(at + 4);
      c->index = read_u32(at + 8);
      c->value = read_f32(at + 12);
      if (c->what < 1 || c->what > 2) return refuse(why, "a probe must be 1 (spheres) or 2 (field)");
      return c->index <= 2 && c->value >= 0 && c->value <= 1
                 ? VIEW_DECODED
                 : refuse(why, "a slice needs an axis 0, 1 or 2 and a position from 0 to 1");
    case VIEW_STAND:
      c->value = read_f32(at);
      c->point = (ds_vec3){read_f32(at + 4), read_f32(at + 8), 0};
      c->body = read_u32(at + 12);
      c->what = read_u32(at + 16);
      if (!(c->value == -1 || (c->value >= 0 && c->value <= 1e3)) || c->what > 1)
        return refuse(why, "friction must be from 0 to 1000, or -1 for the scene's; the last word 0 or 1");
      return c->point.x >= 0 && c->point.x <= 89 && fabs(c->point.y) <= 360
                 ? VIEW_DECODED
                 : refuse(why, "a tilt must be from 0 to 89 degrees, its azimuth from -360 to 360");
    case VIEW_SEEN:
      c->value = read_f64(at);
      return VIEW_DECODED;
    case VIEW_PICTURE:
      return decode_picture(c, at, length, why);
    default:
      return VIEW_DECODED;
  }
}

view_decoded view_command_decode(view_command *command, const unsigned char *bytes, size_t size, bool film,
                                 ds_error *why) {
  *command = (view_command){0};
  view_decoded result = check_envelope(bytes, size, film, why);
  if (result != VIEW_DECODED) return result;
  command->type = (view_type)read_u32(bytes);
  result = decode_body(command, bytes + VIEW_HEADER, read_u32(bytes + 8), why);
  if (result != VIEW_DECODED) view_command_free(command);
  return result;
}

void view_command_free(view_command *command) {
  free(command->text);
  command->text = NULL;
}
