/* A file put in place at once, and JSON: see output.h. A link is followed, so that it stays a link; what is no regular
 * file (a terminal, a pipe) is written in place. */
#define _XOPEN_SOURCE 700 /* realpath */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool fail(ds_error *error, const char *path, const char *what) {
  snprintf(error->message, sizeof error->message, "%.300s: %s", path, what);
  return false;
}

/* The file to replace: the path, or what a link points to. Freed by the caller. */
static char *resolve(const char *path) {
  struct stat status;
  if (lstat(path, &status) == 0 && S_ISLNK(status.st_mode)) {
    char *target = realpath(path, NULL);
    if (target != NULL) return target;
  }
  return strdup(path);
}

static bool open_part(output *out, const char *target, ds_error *error) {
  size_t size = strlen(target) + 32;
  out->part = malloc(size);
  if (out->part == NULL) return fail(error, out->path, "out of memory");
  int descriptor = -1;
  for (int attempt = 0; descriptor < 0 && attempt < 100; attempt++) {
    snprintf(out->part, size, "%s.part%ld-%d", target, (long)getpid(), attempt);
    descriptor = open(out->part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0 && errno != EEXIST) break;
  }
  if (descriptor >= 0) out->file = fdopen(descriptor, "w");
  if (out->file != NULL) return true;
  fail(error, out->path, strerror(errno));
  if (descriptor >= 0) close(descriptor), unlink(out->part);
  free(out->part);
  out->part = NULL;
  return false;
}

bool output_open(output *out, const char *path, ds_error *error) {
  struct stat status;
  *out = (output){.path = path};
  if (strcmp(path, "-") == 0) {
    out->file = stdout;
    return true;
  }
  if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
    if (S_ISDIR(status.st_mode)) return fail(error, path, "is a directory; give the name of a file");
    out->file = fopen(path, "w");
    return out->file != NULL || fail(error, path, strerror(errno));
  }
  char *target = resolve(path);
  bool opened = target != NULL ? open_part(out, target, error) : fail(error, path, "out of memory");
  free(target);
  return opened;
}

bool output_commit(output *out, ds_error *error) {
  bool ok = fflush(out->file) == 0 && ferror(out->file) == 0;
  int why = errno;
  if (out->file != stdout && fclose(out->file) != 0 && ok) ok = false, why = errno;
  if (ok && out->part != NULL) {
    char *target = resolve(out->path);
    ok = target != NULL && rename(out->part, target) == 0;
    why = errno;
    free(target);
  }
  if (!ok && out->part != NULL) unlink(out->part);
  if (!ok) fail(error, out->path, strerror(why));
  free(out->part);
  *out = (output){0};
  return ok;
}

void output_discard(output *out) {
  if (out->file != NULL && out->file != stdout) fclose(out->file);
  if (out->part != NULL) unlink(out->part);
  free(out->part);
  *out = (output){0};
}

/* ---- JSON ---- */

static void write_text(FILE *file, const char *text) {
  fputc('"', file);
  for (const unsigned char *c = (const unsigned char *)text; *c != '\0'; c++) {
    if (*c == '"' || *c == '\\')
      fprintf(file, "\\%c", *c);
    else if (*c < 0x20)
      fprintf(file, "\\u%04x", *c);
    else
      fputc(*c, file);
  }
  fputc('"', file);
}

static void indent(const json_object *object, int depth) {
  if (!object->line) fprintf(object->file, "\n%*s", 2 * depth, "");
}

static void write_key(json_object *object, const char *key) {
  if (object->started) fputs(object->line ? ", " : ",", object->file);
  object->started = true;
  indent(object, object->depth);
  write_text(object->file, key);
  fputs(": ", object->file);
}

json_object json_begin(FILE *file) {
  fputc('{', file);
  return (json_object){.file = file, .depth = 1};
}

json_object json_begin_line(FILE *file) {
  fputc('{', file);
  return (json_object){.file = file, .depth = 1, .line = true};
}

json_object json_child(json_object *parent, const char *key) {
  write_key(parent, key);
  fputc('{', parent->file);
  return (json_object){.file = parent->file, .depth = parent->depth + 1, .line = parent->line};
}

void json_end(json_object *object) {
  indent(object, object->depth - 1);
  fputc('}', object->file);
  if (object->depth == 1) fputc('\n', object->file);
}

static void write_real(FILE *file, double value) {
  if (!isfinite(value)) {
    fputs("null", file);
    return;
  }
  /* the fewest digits that read back as the same number */
  char text[40];
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(text, sizeof text, "%.*g", digits, value);
    if (strtod(text, NULL) == value) break;
  }
  fputs(text, file);
}

void json_real(json_object *object, const char *key, double value) {
  write_key(object, key);
  write_real(object->file, value);
}

void json_reals(json_object *object, const char *key, const double *values, int32_t count) {
  write_key(object, key);
  fputc('[', object->file);
  for (int32_t i = 0; i < count; i++) {
    if (i > 0) fputs(", ", object->file);
    write_real(object->file, values[i]);
  }
  fputc(']', object->file);
}

void json_integer(json_object *object, const char *key, int64_t value) {
  write_key(object, key);
  fprintf(object->file, "%lld", (long long)value);
}

void json_text(json_object *object, const char *key, const char *value) {
  write_key(object, key);
  if (value == NULL)
    fputs("null", object->file);
  else
    write_text(object->file, value);
}

void json_bool(json_object *object, const char *key, bool value) {
  write_key(object, key);
  fputs(value ? "true" : "false", object->file);
}

void json_texts(json_object *object, const char *key, const char *const *values, int32_t count) {
  write_key(object, key);
  fputc('[', object->file);
  for (int32_t i = 0; i < count; i++) {
    if (i > 0) fputs(", ", object->file);
    write_text(object->file, values[i]);
  }
  fputc(']', object->file);
}
