/* What clients send: taken apart and checked. Nothing in a message is trusted. */
#ifndef DS_CLI_VIEW_COMMANDS_H
#define DS_CLI_VIEW_COMMANDS_H

#include "bytes.h"

/* Bytes of a message at most: of most, of a scene's text, of a picture. */
enum { VIEW_COMMAND_MAX = 64 << 10, VIEW_TEXT_MAX = 4 << 20, VIEW_PICTURE_MAX = 64 << 20 };

typedef enum view_what {
  VIEW_SET_TOLERANCE = 1,
  VIEW_SET_GRAVITY,
  VIEW_SET_MU,
  VIEW_SET_METHOD,
  VIEW_SET_ALL_MU,
} view_what;

typedef struct view_command {
  view_type type;
  uint32_t client;      /* who sent it */
  double value;         /* PLAY: speed; SET: value; SEEN: step; PROBE: place; STAND: friction */
  uint32_t what, index; /* SET, PROBE: what, axis; STEP: steps; WANT: contacts, rate; PICTURE: index, of; STAND: full */
  uint32_t body;        /* GRAB, PROBE; STAND: removed */
  ds_vec3 point, target;   /* GRAB, MOVE; STAND: tilt and azimuth, degrees */
  char *text;              /* OPEN, OPEN_TEXT: the name; freed by view_command_free */
  const char *scene;       /* OPEN_TEXT: the scene, behind the name, with its size */
  const unsigned char *at; /* PICTURE: in the message */
  size_t size;
} view_command;

typedef enum view_decoded {
  VIEW_DECODED,
  VIEW_REFUSED, /* a message whose values cannot be used: the answer is an ERROR */
  VIEW_BROKEN,  /* no message at all: the connection is closed */
} view_decoded;

/* Bytes that the message that begins so may have. */
size_t view_command_limit(const unsigned char *begin, size_t size, bool film);

/* One whole message. `why` says what is wrong where it is not VIEW_DECODED. */
view_decoded view_command_decode(view_command *command, const unsigned char *bytes, size_t size, bool film,
                                 ds_error *why);
void view_command_free(view_command *command);

#endif
