/* Where the pictures of a film go: a folder of PNG files, or ffmpeg, which makes MP4 or GIF of them.
 *
 * A film stands under its name only when it is whole; of a folder each picture does. */
#ifndef DS_CLI_VIEW_REEL_H
#define DS_CLI_VIEW_REEL_H

#include "process.h"

typedef struct reel reel;

/* The kind comes from the name: .mp4, .gif, or a folder, which ends in / or is there. NULL with a message. */
reel *reel_open(const char *output, int32_t width, int32_t height, double rate, ds_error *error);
/* The next picture, a PNG file. False with a message. */
bool reel_add(reel *reel, const void *png, size_t size, ds_error *error);
/* Completes the film; false with a message where that fails. The reel has to be closed in any case. */
bool reel_finish(reel *reel, ds_error *error);
void reel_close(reel *reel); /* removes what is not whole; NULL is allowed */

#endif
