/* JSON text as a tree with the position of every value, so that messages can name the line.
 *
 * Strict JSON, plus comments to the end of a line after two slashes or between slash-star and star-slash. The tree
 * points into the text given, which has to outlive it. */
#ifndef DS_BASE_JSON_H
#define DS_BASE_JSON_H

#include <stddef.h>

#include "drystone/types.h"

#define DS_JSON_LENGTH_MAX ((size_t)256 << 20) /* bytes of text */
#define DS_JSON_VALUES_MAX (1 << 24)           /* values in one text: bounds memory to about 1 GB */
#define DS_JSON_DEPTH_MAX 64                   /* arrays and objects within each other: bounds the stack */

typedef enum ds_json_kind {
  DS_JSON_NULL,
  DS_JSON_BOOLEAN,
  DS_JSON_NUMBER,
  DS_JSON_STRING,
  DS_JSON_ARRAY,
  DS_JSON_OBJECT,
} ds_json_kind;

typedef struct ds_json {
  ds_json_kind kind;
  int32_t count;               /* elements of an array, members of an object */
  uint32_t start, end;         /* the value is text[start, end) */
  uint32_t key_start;          /* of a member: where its key stands */
  const char *key;             /* of a member: decoded, zero-terminated; NULL in an array */
  const struct ds_json *first; /* first element or member */
  const struct ds_json *next;  /* the one after this in the same array or object */
  union {
    bool boolean;
    double number;      /* finite */
    const char *string; /* decoded UTF-8, zero-terminated, no zero inside */
  };
} ds_json;

typedef struct ds_json_chunk ds_json_chunk;

typedef struct ds_json_doc {
  const char *text;
  size_t length;
  const ds_json *root;
  ds_json_chunk *chunks; /* the values, newest chunk first */
  int32_t values;
  char *pool; /* decoded strings: never longer together than the text */
} ds_json_doc;

/* Reads text[0, length). On other than DS_OK the document is empty and the message is "file:line:column: what is wrong;
 * what was expected". */
ds_status ds_json_parse(ds_json_doc *doc, const char *text, size_t length, const char *file, ds_error *error);
void ds_json_free(ds_json_doc *doc);

/* The member of an object with that key, or NULL. */
const ds_json *ds_json_find(const ds_json *object, const char *key);
/* Line and column, from 1, of a byte of the text; a column is a character, not a byte. */
void ds_json_locate(int32_t *line, int32_t *column, const char *text, size_t offset);
/* "an array", "a string", ... */
const char *ds_json_kind_name(ds_json_kind kind);

/* Fills error->message with "file:line:column: " and the formatted message; the error may be NULL. A long file name is
 * cut at its front, so that the message always fits. */
void ds_json_message(ds_error *error, const char *file, const char *text, size_t offset, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* A string for a message: in quotes, control characters replaced, cut after 40 characters. */
typedef struct ds_quoted {
  char text[176];
} ds_quoted;
ds_quoted ds_quote(const char *string);

/* The value as text, indented by `indent` spaces from its second line on; arrays of numbers and short objects are on
 * one line. NULL if memory ran out. The caller frees it. */
char *ds_json_write(const ds_json *value, int32_t indent);
/* The shortest of 15 to 17 digits that reads back as the same number. */
void ds_json_write_number(char text[32], double number);

#endif
