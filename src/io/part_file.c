/* A file that is whole or not there: written under a name of its own beside the wanted one, then renamed. A link is
 * followed, so that it stays a link. */
#define _XOPEN_SOURCE 700 /* realpath */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "io/parts.h"

static ds_status cannot(ds_error *error, const char *path, const char *why) {
  return ds_fail(error, DS_ERROR_INPUT, "%.300s: cannot be written: %.150s", path, why);
}

static char *resolve(const char *path) {
  struct stat status;
  if (lstat(path, &status) == 0 && S_ISLNK(status.st_mode)) {
    char *target = realpath(path, NULL);
    if (target != NULL) return target;
  }
  return strdup(path);
}

ds_status ds_part_file_reserve(ds_part_file *file, const char *path, ds_error *error) {
  struct stat status;
  *file = (ds_part_file){0};
  if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
    return cannot(error, path, S_ISDIR(status.st_mode) ? "it is a directory" : "it is not a regular file");
  file->target = resolve(path);
  size_t size = file->target != NULL ? strlen(file->target) + 32 : 0;
  file->part = file->target != NULL ? malloc(size) : NULL;
  if (file->part == NULL) {
    free(file->target);
    file->target = NULL;
    return ds_fail(error, DS_ERROR_MEMORY, "%.300s: out of memory", path);
  }
  int descriptor = -1;
  for (int attempt = 0; descriptor < 0 && attempt < 100; attempt++) {
    snprintf(file->part, size, "%s.part%ld-%d", file->target, (long)getpid(), attempt);
    descriptor = open(file->part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0 && errno != EEXIST) break;
  }
  if (descriptor >= 0) return close(descriptor), DS_OK;
  ds_status failed = cannot(error, path, strerror(errno));
  free(file->part);
  free(file->target);
  *file = (ds_part_file){0};
  return failed;
}

ds_status ds_part_file_commit(ds_part_file *file, const char *path, ds_error *error) {
  ds_status status = DS_OK;
  if (rename(file->part, file->target) != 0) {
    status = cannot(error, path, strerror(errno));
    unlink(file->part);
  }
  free(file->part);
  free(file->target);
  *file = (ds_part_file){0};
  return status;
}

void ds_part_file_discard(ds_part_file *file) {
  if (file->part != NULL) unlink(file->part);
  free(file->part);
  free(file->target);
  *file = (ds_part_file){0};
}
