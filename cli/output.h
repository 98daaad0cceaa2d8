/* A file that is written under a temporary name and then renamed, and JSON output to it. */
#ifndef DS_CLI_OUTPUT_H
#define DS_CLI_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "drystone/types.h"

typedef struct output {
  FILE *file;
  const char *path;
  char *part; /* the temporary name; NULL if the file is written in place (a terminal, a pipe, "-") */
} output;

bool output_open(output *out, const char *path, ds_error *error);
bool output_commit(output *out, ds_error *error); /* closes in every case */
void output_discard(output *out);

/* Members of one JSON object; a number that is not finite becomes null. */
typedef struct json_object {
  FILE *file;
  int depth;
  bool started;
  bool line; /* all in one line */
} json_object;

json_object json_begin(FILE *file);
json_object json_begin_line(FILE *file);
json_object json_child(json_object *parent, const char *key);
void json_end(json_object *object);
void json_real(json_object *object, const char *key, double value);
void json_integer(json_object *object, const char *key, int64_t value);
void json_text(json_object *object, const char *key, const char *value); /* NULL becomes null */
void json_bool(json_object *object, const char *key, bool value);
void json_reals(json_object *object, const char *key, const double *values, int32_t count);
void json_texts(json_object *object, const char *key, const char *const *values, int32_t count);

#endif
