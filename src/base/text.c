/* The text of a file, whole. Pipes and devices work as well as files; more than DS_JSON_LENGTH_MAX is refused. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/json.h"
#include "drystone/scene_file.h"

/* A path for a message: its end, where it is long. */
static const char *shown(const char *path) {
  size_t n = strlen(path);
  return n > 300 ? path + n - 300 : path;
}

static char *fail_errno(ds_error *error, const char *path, const char *action, int code) {
  char reason[128] = "unknown reason";
  if (strerror_r(code, reason, sizeof reason) != 0) snprintf(reason, sizeof reason, "error %d", code);
  ds_fail(error, DS_ERROR_INPUT, "%s: cannot %s: %s; check the path", shown(path), action, reason);
  return NULL;
}

static char *read_all(FILE *stream, const char *path, size_t *length, ds_error *error) {
  size_t capacity = (size_t)1 << 16, used = 0;
  char *text = malloc(capacity);
  while (text) {
    used += fread(text + used, 1, capacity - used - 1, stream);
    if (ferror(stream)) {
      int code = errno;
      free(text);
      return fail_errno(error, path, "read it", code);
    }
    if (used > DS_JSON_LENGTH_MAX) {
      free(text);
      ds_fail(error, DS_ERROR_INPUT, "%s: the file is larger than %zu MiB; split the scene", shown(path),
              DS_JSON_LENGTH_MAX >> 20);
      return NULL;
    }
    if (used < capacity - 1) { /* the end */
      text[used] = 0;
      *length = used;
      return text;
    }
    capacity *= 2;
    char *larger = realloc(text, capacity);
    if (!larger) free(text);
    text = larger;
  }
  ds_fail(error, DS_ERROR_MEMORY, "%s: memory ran out while reading the file", shown(path));
  return NULL;
}

char *ds_text_read_file(const char *path, size_t *length, ds_error *error) {
  struct stat status;
  if (stat(path, &status) != 0) return fail_errno(error, path, "open it", errno);
  if (S_ISDIR(status.st_mode)) {
    ds_fail(error, DS_ERROR_INPUT, "%s: is a directory; give a scene file", shown(path));
    return NULL;
  }
  if (S_ISREG(status.st_mode) && status.st_size > (off_t)DS_JSON_LENGTH_MAX) {
    ds_fail(error, DS_ERROR_INPUT, "%s: the file has %lld bytes; at most %zu MiB are read", shown(path),
            (long long)status.st_size, DS_JSON_LENGTH_MAX >> 20);
    return NULL;
  }
  FILE *stream = fopen(path, "rb");
  if (!stream) return fail_errno(error, path, "open it", errno);
  char *text = read_all(stream, path, length, error);
  fclose(stream);
  return text;
}
