/* Messages of docs/protocol.md as bytes: a writer that grows, and what it becomes when it is complete, which many
 * clients and threads share. */
#ifndef DS_CLI_VIEW_BYTES_H
#define DS_CLI_VIEW_BYTES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drystone/types.h"

enum { VIEW_VERSION = 1, VIEW_HEADER = 16, VIEW_ROOM = 32 /* bytes before a message, for a WebSocket header */ };

typedef enum view_type {
  VIEW_HELLO = 1,
  VIEW_SCENE,
  VIEW_GEOMETRY,
  VIEW_FRAME,
  VIEW_STATUS,
  VIEW_SPHERES,
  VIEW_FIELD,
  VIEW_ERROR,
  VIEW_TAKEN,
  VIEW_END,
  VIEW_VERDICT,
  VIEW_SCENE_TEXT,
  VIEW_PLAY = 64,
  VIEW_PAUSE,
  VIEW_STEP,
  VIEW_RESET,
  VIEW_OPEN,
  VIEW_SET,
  VIEW_GRAB,
  VIEW_MOVE,
  VIEW_RELEASE,
  VIEW_WANT,
  VIEW_PROBE,
  VIEW_SEEN,
  VIEW_PICTURE,
  VIEW_STAND,
  VIEW_ASK_TEXT,
  VIEW_OPEN_TEXT,
  VIEW_TYPE_END,
} view_type;

/* A message as it is sent: constant, shared, freed by its last owner. */
typedef struct view_message {
  atomic_int owners;
  size_t size;
  unsigned char *bytes; /* room for a WebSocket's header lies before them */
} view_message;

view_message *view_message_retain(view_message *message); /* NULL is allowed */
void view_message_release(view_message *message);

/* Writing: where memory runs out the writer remembers it, and view_end gives NULL. */
typedef struct view_bytes {
  unsigned char *data; /* VIEW_ROOM unused bytes, then the message */
  size_t size, capacity;
  bool failed;
} view_bytes;

void view_begin(view_bytes *out, view_type type);
void view_u32(view_bytes *out, uint32_t value);
void view_f32(view_bytes *out, double value); /* rounded to single precision */
void view_f64(view_bytes *out, double value);
void view_vec3(view_bytes *out, ds_vec3 value); /* three f32 */
void view_raw(view_bytes *out, const void *bytes, size_t size);
void view_text(view_bytes *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* JSON: a text in quotation marks, a number (0 where it is not finite), an array of three. */
void view_json_text(view_bytes *out, const char *text);
void view_json_number(view_bytes *out, double value);
void view_json_vec3(view_bytes *out, ds_vec3 value);
/* The message, with its length and padding; the caller is its one owner. NULL if memory ran out. The writer is empty
 * again. */
view_message *view_end(view_bytes *out);
/* A message of a text alone. */
view_message *view_text_message(view_type type, const char *text);

#endif
