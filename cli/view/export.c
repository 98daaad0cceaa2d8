/* A recording with its page as a folder: see export.h. */
#include "export.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../progress.h"
#include "interrupt.h"
#include "page.h"

enum { PATH_SIZE = 4200 };

static bool fail(ds_error *error, const char *path, const char *why) {
  snprintf(error->message, sizeof error->message, "%.300s: cannot be written: %s", path, why);
  return false;
}

/* Writes beside the place and renames. `write` gives false if it has filled the error itself. */
static bool write_file(const char *folder, const char *name, bool (*write)(FILE *, const void *, ds_error *),
                       const void *what, ds_error *error) {
  char path[PATH_SIZE], part[PATH_SIZE + 8];
  if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
    return fail(error, folder, "the name is too long");
  snprintf(part, sizeof part, "%s.part", path);
  FILE *file = fopen(part, "wb");
  if (file == NULL) return fail(error, path, strerror(errno));
  error->message[0] = '\0';
  errno = 0;
  bool good = write(file, what, error);
  int why = errno;
  if (fclose(file) != 0) {
    if (good) why = errno;
    good = false;
  }
  if (good && rename(part, path) == 0) return true;
  if (good) why = errno;
  unlink(part);
  return error->message[0] != '\0' ? false : fail(error, path, strerror(why));
}

static bool write_bytes(FILE *file, const void *what, ds_error *error) {
  (void)error;
  const view_page_file *page = what;
  return fwrite(page->bytes, 1, page->size, file) == page->size;
}

static bool write_stream(FILE *file, const void *what, ds_error *error) {
  view_stream *stream = view_stream_open(what, VIEW_RECORDING, NULL, error);
  if (stream == NULL) return false;
  progress line;
  progress_begin(&line, false, 0);
  view_message *message;
  bool good = true;
  double done = 0, all = view_stream_frames(stream) + 4.0;
  while (good && (message = view_stream_next(stream, error)) != NULL) {
    good = fwrite(message->bytes, 1, message->size, file) == message->size;
    view_message_release(message);
    progress_build(&line, "writing", "recording.bin", done++ / all);
    if (good && interrupt_caught() != 0) {
      snprintf(error->message, sizeof error->message, "interrupted; the recording was not written");
      good = false;
    }
  }
  progress_end(&line);
  view_stream_close(stream);
  return good && error->message[0] == '\0';
}

bool view_export(const char *recording, const char *folder, ds_error *error) {
  if (!view_page_is_built) {
    snprintf(error->message, sizeof error->message,
             "this program was built without the page; build it with npm, see docs/viewer.md");
    return false;
  }
  if (mkdir(folder, 0777) != 0 && errno != EEXIST) return fail(error, folder, strerror(errno));
  if (!write_file(folder, "recording.bin", write_stream, recording, error)) return false;
  for (size_t i = 0; i < view_page_file_count; i++)
    if (!write_file(folder, view_page_files[i].name, write_bytes, &view_page_files[i], error)) return false;
  printf("%s/index.html; serve it with any web server, such as: python3 -m http.server -d %s\n", folder, folder);
  return true;
}
