/* The output of a film: a folder of PNG files, or ffmpeg, which encodes MP4 or GIF.
 *
 * A film has its name only when it is complete; in a folder, each image does. */
#ifndef DS_CLI_VIEW_REEL_H
#define DS_CLI_VIEW_REEL_H

#include "process.h"

typedef struct reel reel;

/* The kind comes from the name: .mp4, .gif, or a folder, which ends in / or is there. NULL with a message. */
reel *reel_open(const char *output, int32_t width, int32_t height, double rate, ds_error *error);
/* The next image, a PNG file. False with a message. */
bool reel_add(reel *reel, const void *png, size_t size, ds_error *error);
/* Completes the film; false with a message where that fails. The reel has to be closed in any case. */
bool reel_finish(reel *reel, ds_error *error);
void reel_close(reel *reel); /* removes incomplete files; NULL is allowed */

#endif
