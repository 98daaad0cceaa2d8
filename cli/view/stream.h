/* A recording as the messages of the protocol, one after the other: HELLO, SCENE, GEOMETRY, FRAME, END. */
#ifndef DS_CLI_VIEW_STREAM_H
#define DS_CLI_VIEW_STREAM_H

#include "describe.h"

typedef struct view_stream view_stream;

/* Of a recording that is still being written, the frames so far; for a film those that it shows. `film` is kept. NULL
 * with a message. */
view_stream *view_stream_open(const char *path, view_mode mode, const view_film *film, ds_error *error);
void view_stream_close(view_stream *stream); /* NULL is allowed */
/* The next message, the caller being its one owner. NULL after the last, with an empty message, or where a frame cannot
 * be read. */
view_message *view_stream_next(view_stream *stream, ds_error *error);
int32_t view_stream_frames(const view_stream *stream); /* of the recording */
bool view_stream_is_film(const view_stream *stream);

#endif
