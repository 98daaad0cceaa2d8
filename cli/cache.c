/* The folder in which built solids are kept: see cache.h. */
#include "cache.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* "a" and "/b" together; NULL if memory ran out. */
static char *join(const char *a, const char *b) {
  size_t size = strlen(a) + strlen(b) + 1;
  char *path = malloc(size);
  if (path != NULL) snprintf(path, size, "%s%s", a, b);
  return path;
}

static bool is_folder(const char *path) {
  struct stat status;
  return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* Makes the folder and those above it. */
static bool make_folder(char *path) {
  for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    bool there = is_folder(path) || mkdir(path, 0777) == 0 || is_folder(path);
    *slash = '/';
    if (!there) return false;
  }
  return is_folder(path) || mkdir(path, 0777) == 0 || is_folder(path);
}

static const char *environment(const char *name) {
  const char *value = getenv(name);
  return value != NULL && value[0] != '\0' ? value : NULL;
}

char *cache_folder(const char *given, ds_error *error) {
  const char *own = environment("DRYSTONE_CACHE"), *xdg = environment("XDG_CACHE_HOME"), *home = environment("HOME");
  const char *asked = given != NULL ? given : own;
  error->message[0] = '\0';
  if (asked == NULL && (xdg == NULL || xdg[0] != '/') && home == NULL) return NULL;
  char *path = asked != NULL                  ? join(asked, "")
               : xdg != NULL && xdg[0] == '/' ? join(xdg, "/drystone")
                                              : join(home, "/.cache/drystone");
  if (path == NULL) {
    snprintf(error->message, sizeof error->message, "out of memory");
    return NULL;
  }
  if (make_folder(path)) return path;
  if (asked != NULL)
    snprintf(error->message, sizeof error->message, "cache %.300s: cannot be created: %s", path, strerror(errno));
  free(path);
  return NULL;
}
