/* A recording with its page as a folder that any web server can show: nothing of Drystone runs there. */
#ifndef DS_CLI_VIEW_EXPORT_H
#define DS_CLI_VIEW_EXPORT_H

#include "stream.h"

/* Writes index.html and what belongs to it, and recording.bin, into a folder, which is created if missing. Files are
 * complete or absent. False with a message. */
bool view_export(const char *recording, const char *folder, ds_error *error);

#endif
