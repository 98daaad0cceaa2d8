/* The members of a JSON object, read into a struct by a table: one place that checks types, ranges, unknown and missing
 * keys, and words the messages. */
#ifndef DS_BASE_FIELDS_H
#define DS_BASE_FIELDS_H

#include "base/json.h"

/* No quantity of a scene is larger: products of several of them stay far from overflow. */
#define DS_FIELD_LIMIT 1e12

typedef struct ds_reader {
  const ds_json_doc *doc;
  const char *file;
  ds_error *error;
  char where[320]; /* what a message is about: 'body "card3", shapes[0]', or "" */
} ds_reader;

typedef enum ds_field_kind {
  DS_FIELD_NUMBER,   /* double */
  DS_FIELD_INTEGER,  /* int32_t */
  DS_FIELD_BOOLEAN,  /* bool */
  DS_FIELD_VECTOR,   /* ds_vec3; the range is for each component */
  DS_FIELD_ROTATION, /* ds_quat, from [w, x, y, z] or {"axis", "degrees" or "radians"} */
  DS_FIELD_CHOICE,   /* an enum or int32_t: 0 for the first of `choices` "a|b|c" */
  DS_FIELD_NAME,     /* const char *, one to 255 bytes, no control characters */
  DS_FIELD_OBJECT,   /* const ds_json * */
  DS_FIELD_ARRAY,    /* const ds_json * */
  DS_FIELD_NAMED,    /* const ds_json *: an object, or a text that names one */
} ds_field_kind;

/* A number lies in [low, high], or in (low, high] where `above`; low = high = 0 means any number up to the limit. */
typedef struct ds_field {
  const char *key;
  ds_field_kind kind;
  size_t offset;
  const char *unit; /* "kg", or NULL */
  double low, high;
  bool above, required;
  const char *choices;
  uint32_t variants; /* bits of the variants (kinds of shape or motion) that have this key; 0 = all */
} ds_field;

/* What an object is, and which keys it has. A "note" is allowed in every object. */
typedef struct ds_fields {
  const char *what; /* "a body" */
  const ds_field *fields;
  int32_t count;           /* at most 64 */
  const char *variant_key; /* "kind", or NULL; its field comes first in the table */
} ds_fields;

/* Reads the object into *target; fields that are not given keep their value. Bit i of *given is set where field i was
 * given; given may be NULL. */
bool ds_fields_read(ds_reader *reader, void *target, uint64_t *given, const ds_json *object, const ds_fields *fields);

/* Fills the error with "file:line:column: where: message" and returns false. */
bool ds_reader_fail(ds_reader *reader, const ds_json *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same at the key of a member. */
bool ds_reader_fail_key(ds_reader *reader, const ds_json *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool ds_reader_fail_memory(ds_reader *reader);

/* Three numbers, each of the field's range. */
bool ds_reader_vector(ds_reader *reader, ds_vec3 *vector, const ds_json *value, const ds_field *field);

/* The nearest word of "a|b|c" to a misspelt one, or "" where none is near (nearest.c). */
typedef struct ds_word {
  char text[64];
} ds_word;
ds_word ds_nearest_word(const char *misspelt, const char *words);

#endif
