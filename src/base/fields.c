/* Reads the members of a JSON object into a struct by a table; see fields.h. Every value is checked for type and range
 * here, so what follows never sees a number that is not finite or out of range. */
#include "base/fields.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/vec3.h"

static bool fail_at(ds_reader *reader, size_t offset, const char *format, va_list arguments) {
  char message[sizeof reader->error->message];
  vsnprintf(message, sizeof message, format, arguments);
  ds_json_message(reader->error, reader->file, reader->doc->text, offset, "%s%s%s", reader->where,
                  reader->where[0] ? ": " : "", message);
  return false;
}

bool ds_reader_fail(ds_reader *reader, const ds_json *at, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fail_at(reader, at->start, format, arguments);
  va_end(arguments);
  return false;
}

bool ds_reader_fail_key(ds_reader *reader, const ds_json *at, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fail_at(reader, at->key ? at->key_start : at->start, format, arguments);
  va_end(arguments);
  return false;
}

bool ds_reader_fail_memory(ds_reader *reader) {
  return ds_reader_fail(reader, reader->doc->root, "memory ran out while building the scene; make it smaller");
}

/* ---- what is expected, in words ---- */

typedef struct words {
  char text[256];
} words;

/* "a"|"b"|"c" of the choices, or of the keys of a table. */
static void put_choices(words *w, const char *choices) {
  size_t n = strlen(w->text);
  for (const char *c = choices; *c;) {
    size_t length = strcspn(c, "|");
    bool last = !c[length];
    n += (size_t)snprintf(w->text + n, sizeof w->text - n, "\"%.*s\"%s", (int)length, c, last ? "" : ", ");
    if (n >= sizeof w->text) return;
    c += length + !last;
  }
}

/* A small positive lower bound only keeps divisions finite: the message says "above 0" first. */
static void put_range(words *w, const ds_field *f) {
  size_t n = strlen(w->text), size = sizeof w->text - n;
  if (f->low == 0 && f->high == 0)
    snprintf(w->text + n, size, " between -1e12 and 1e12");
  else if (f->above)
    snprintf(w->text + n, size, " above %g and at most %g", f->low, f->high);
  else
    snprintf(w->text + n, size, "%s from %g to %g", f->low > 0 && f->low < 1e-6 ? " above 0," : "", f->low, f->high);
}

static words expected(const ds_field *f, bool with_range) {
  static const char *const kinds[] = {
      [DS_FIELD_NUMBER] = "a number",
      [DS_FIELD_INTEGER] = "a whole number",
      [DS_FIELD_BOOLEAN] = "true or false",
      [DS_FIELD_VECTOR] = "an array of 3 numbers",
      [DS_FIELD_ROTATION] = "a quaternion [w, x, y, z] or {\"axis\": [x, y, z], \"degrees\": a}",
      [DS_FIELD_CHOICE] = "one of ",
      [DS_FIELD_NAME] = "a text in double quotes",
      [DS_FIELD_OBJECT] = "an object in { }",
      [DS_FIELD_ARRAY] = "an array in [ ]",
      [DS_FIELD_NAMED] = "an object in { }, or the name of one in double quotes"};
  words w;
  snprintf(w.text, sizeof w.text, "%s", kinds[f->kind]);
  bool number = f->kind == DS_FIELD_NUMBER || f->kind == DS_FIELD_INTEGER || f->kind == DS_FIELD_VECTOR;
  if (f->kind == DS_FIELD_CHOICE) put_choices(&w, f->choices);
  if (number && with_range) put_range(&w, f);
  size_t n = strlen(w.text);
  if (number && f->unit) snprintf(w.text + n, sizeof w.text - n, " (%s)", f->unit);
  return w;
}

static bool fail_kind(ds_reader *reader, const ds_json *value, const ds_field *f) {
  const char *kind =
      value->kind == DS_JSON_BOOLEAN ? (value->boolean ? "true" : "false") : ds_json_kind_name(value->kind);
  return ds_reader_fail(reader, value, "\"%s\" is %s; expected %s", f->key, kind, expected(f, false).text);
}

/* ---- values ---- */

static bool check_range(ds_reader *reader, const ds_json *value, const ds_field *f) {
  bool any = f->low == 0 && f->high == 0;
  double x = value->number, low = any ? -DS_FIELD_LIMIT : f->low, high = any ? DS_FIELD_LIMIT : f->high;
  if (x >= low && x <= high && !(f->above && x == low)) return true;
  ds_field one = *f;
  if (one.kind != DS_FIELD_INTEGER) one.kind = DS_FIELD_NUMBER; /* of an array: one of its numbers */
  return ds_reader_fail(reader, value, "\"%s\" is %.9g; expected %s", f->key, x, expected(&one, true).text);
}

static bool read_number(ds_reader *reader, double *out, const ds_json *value, const ds_field *f) {
  if (value->kind != DS_JSON_NUMBER) return fail_kind(reader, value, f);
  *out = value->number;
  return check_range(reader, value, f);
}

static bool read_integer(ds_reader *reader, int32_t *out, const ds_json *value, const ds_field *f) {
  if (value->kind != DS_JSON_NUMBER) return fail_kind(reader, value, f);
  if (!check_range(reader, value, f)) return false;
  if (value->number != floor(value->number))
    return ds_reader_fail(reader, value, "\"%s\" is %.9g; expected %s", f->key, value->number, expected(f, true).text);
  *out = (int32_t)value->number;
  return true;
}

/* An array of `count` numbers, each within the range of the field. */
static bool read_numbers(ds_reader *reader, double *x, int32_t count, const ds_json *value, const ds_field *f) {
  if (value->kind != DS_JSON_ARRAY) return fail_kind(reader, value, f);
  if (value->count != count)
    return ds_reader_fail(reader, value, "\"%s\" has %d elements; expected %s", f->key, value->count,
                          expected(f, false).text);
  for (const ds_json *c = value->first; c; c = c->next) {
    if (c->kind != DS_JSON_NUMBER)
      return ds_reader_fail(reader, c, "\"%s\" holds %s; expected %s", f->key, ds_json_kind_name(c->kind),
                            expected(f, false).text);
    if (!check_range(reader, c, f)) return false;
    *x++ = c->number;
  }
  return true;
}

bool ds_reader_vector(ds_reader *reader, ds_vec3 *vector, const ds_json *value, const ds_field *f) {
  double x[3];
  if (!read_numbers(reader, x, 3, value, f)) return false;
  *vector = v3(x[0], x[1], x[2]);
  return true;
}

/* A unit quaternion; it is normalized within rounding, anything more is refused. */
static bool read_quaternion(ds_reader *reader, ds_quat *q, const ds_json *value, const ds_field *f) {
  double x[4];
  if (!read_numbers(reader, x, 4, value, f)) return false;
  *q = quat(x[0], x[1], x[2], x[3]);
  double norm = quat_norm(*q);
  if (!(norm > 1e-12))
    return ds_reader_fail(reader, value, "quaternion \"%s\" is zero; [1, 0, 0, 0] is no rotation", f->key);
  *q = quat_unit(*q);
  if (fabs(norm - 1) > 1e-6)
    return ds_reader_fail(reader, value, "quaternion \"%s\" has length %.9g, not 1; write [%.16g, %.16g, %.16g, %.16g]",
                          f->key, norm, q->w, q->x, q->y, q->z);
  return true;
}

typedef struct axis_angle {
  ds_vec3 axis;
  double degrees, radians;
} axis_angle;

static bool read_rotation(ds_reader *reader, ds_quat *q, const ds_json *value, const ds_field *f) {
  static const ds_field fields[] = {
      {.key = "axis", .kind = DS_FIELD_VECTOR, .offset = offsetof(axis_angle, axis), .required = true},
      {.key = "degrees", .kind = DS_FIELD_NUMBER, .offset = offsetof(axis_angle, degrees), .unit = "degrees"},
      {.key = "radians", .kind = DS_FIELD_NUMBER, .offset = offsetof(axis_angle, radians), .unit = "rad"}};
  if (value->kind == DS_JSON_ARRAY) return read_quaternion(reader, q, value, f);
  if (value->kind != DS_JSON_OBJECT) return fail_kind(reader, value, f);
  axis_angle a = {0};
  uint64_t given;
  if (!ds_fields_read(reader, &a, &given, value, &(ds_fields){"a rotation", fields, 3, NULL})) return false;
  if ((given >> 1 & 1) + (given >> 2 & 1) != 1)
    return ds_reader_fail(reader, value, "\"%s\" has %s; expected one of \"degrees\" and \"radians\"", f->key,
                          given >> 1 & 1 ? "both angles" : "no angle");
  if (!(v3_norm(a.axis) > 1e-12))
    return ds_reader_fail(reader, ds_json_find(value, "axis"), "\"axis\" is zero; expected a direction like [0, 0, 1]");
  *q = quat_axis_angle(a.axis, given >> 1 & 1 ? a.degrees * (DS_PI / 180) : a.radians);
  return true;
}

static bool read_choice(ds_reader *reader, int32_t *out, const ds_json *value, const ds_field *f) {
  if (value->kind != DS_JSON_STRING) return fail_kind(reader, value, f);
  size_t n = strlen(value->string);
  *out = 0;
  for (const char *c = f->choices; *c; ++*out) {
    size_t length = strcspn(c, "|");
    if (length == n && memcmp(c, value->string, n) == 0) return true;
    c += length + (c[length] == '|');
  }
  ds_word nearest = ds_nearest_word(value->string, f->choices);
  return ds_reader_fail(reader, value, "\"%s\" is %s; expected %s%s%s%s", f->key, ds_quote(value->string).text,
                        expected(f, false).text, nearest.text[0] ? ", did you mean \"" : "", nearest.text,
                        nearest.text[0] ? "\"?" : "");
}

static bool read_name(ds_reader *reader, const char **out, const ds_json *value, const ds_field *f) {
  double longest = f->high > 0 ? f->high : 255;
  if (value->kind != DS_JSON_STRING) return fail_kind(reader, value, f);
  if (!value->string[0]) return ds_reader_fail(reader, value, "\"%s\" is empty; give a name or leave it out", f->key);
  if ((double)strlen(value->string) > longest)
    return ds_reader_fail(reader, value, "\"%s\" has %zu bytes; expected at most %g", f->key, strlen(value->string),
                          longest);
  for (const char *c = value->string; *c; c++)
    if ((unsigned char)*c < 0x20 || *c == 0x7F)
      return ds_reader_fail(reader, value, "\"%s\" holds a control character; expected printable text", f->key);
  *out = value->string;
  return true;
}

static bool read_field(ds_reader *reader, void *target, const ds_json *value, const ds_field *f) {
  _Static_assert(sizeof(ds_method) == sizeof(int32_t), "a choice is stored as an int32_t");
  void *out = (char *)target + f->offset;
  int32_t choice;
  switch (f->kind) {
    case DS_FIELD_NUMBER:
      return read_number(reader, out, value, f);
    case DS_FIELD_INTEGER:
      return read_integer(reader, out, value, f);
    case DS_FIELD_BOOLEAN:
      if (value->kind != DS_JSON_BOOLEAN) return fail_kind(reader, value, f);
      *(bool *)out = value->boolean;
      return true;
    case DS_FIELD_VECTOR:
      return ds_reader_vector(reader, out, value, f);
    case DS_FIELD_ROTATION:
      return read_rotation(reader, out, value, f);
    case DS_FIELD_CHOICE:
      if (!read_choice(reader, &choice, value, f)) return false;
      memcpy(out, &choice, sizeof choice);
      return true;
    case DS_FIELD_NAME:
      return read_name(reader, out, value, f);
    case DS_FIELD_OBJECT:
    case DS_FIELD_ARRAY:
      if (value->kind != (f->kind == DS_FIELD_OBJECT ? DS_JSON_OBJECT : DS_JSON_ARRAY))
        return fail_kind(reader, value, f);
      *(const ds_json **)out = value;
      return true;
    case DS_FIELD_NAMED:
      if (value->kind != DS_JSON_OBJECT && value->kind != DS_JSON_STRING) return fail_kind(reader, value, f);
      *(const ds_json **)out = value;
      return true;
  }
  return false;
}

/* ---- objects ---- */

static bool has_field(const ds_field *f, uint32_t variant) { return f->variants == 0 || (f->variants & variant); }

/* The keys of one variant as "a|b|c". */
static words keys_of(const ds_fields *fields, uint32_t variant) {
  words w = {""};
  size_t n = 0;
  for (int32_t i = 0; i < fields->count && n < sizeof w.text; i++)
    if (has_field(&fields->fields[i], variant))
      n += (size_t)snprintf(w.text + n, sizeof w.text - n, "%s%s", n ? "|" : "", fields->fields[i].key);
  return w;
}

static bool fail_unknown(ds_reader *reader, const ds_json *member, const ds_fields *fields, uint32_t variant,
                         const char *variant_name) {
  words keys = keys_of(fields, variant), list = {""};
  ds_word nearest = ds_nearest_word(member->key, keys.text);
  if (nearest.text[0])
    return ds_reader_fail_key(reader, member, "unknown key %s; did you mean \"%s\"?", ds_quote(member->key).text,
                              nearest.text);
  put_choices(&list, keys.text);
  return ds_reader_fail_key(reader, member, "unknown key %s; %s%s%s%s has %s", ds_quote(member->key).text, fields->what,
                            variant_name[0] ? " of kind \"" : "", variant_name, variant_name[0] ? "\"" : "", list.text);
}

/* The bit of the variant the object says it is, 1 for an object without variants. */
static bool read_variant(ds_reader *reader, uint32_t *variant, const char **name, const ds_json *object,
                         const ds_fields *fields) {
  *variant = 1;
  *name = "";
  if (!fields->variant_key) return true;
  const ds_json *value = ds_json_find(object, fields->variant_key);
  int32_t choice;
  if (!value)
    return ds_reader_fail(reader, object, "%s without \"%s\"; expected %s", fields->what, fields->variant_key,
                          expected(&fields->fields[0], false).text);
  if (!read_choice(reader, &choice, value, &fields->fields[0])) return false;
  *variant = 1u << choice;
  *name = value->string;
  return true;
}

bool ds_fields_read(ds_reader *reader, void *target, uint64_t *given, const ds_json *object, const ds_fields *fields) {
  uint64_t seen = 0;
  uint32_t variant;
  const char *variant_name;
  if (object->kind != DS_JSON_OBJECT)
    return ds_reader_fail(reader, object, "%s where %s should stand; expected an object in { }",
                          ds_json_kind_name(object->kind), fields->what);
  if (!read_variant(reader, &variant, &variant_name, object, fields)) return false;
  for (const ds_json *m = object->first; m; m = m->next) {
    int32_t i = 0;
    while (i < fields->count && (strcmp(fields->fields[i].key, m->key) != 0 || !has_field(&fields->fields[i], variant)))
      i++;
    if (i < fields->count) {
      if (!read_field(reader, target, m, &fields->fields[i])) return false;
      seen |= (uint64_t)1 << i;
    } else if (strcmp(m->key, "note") != 0) {
      return fail_unknown(reader, m, fields, variant, variant_name);
    } else if (m->kind != DS_JSON_STRING) {
      return ds_reader_fail(reader, m, "\"note\" is %s; expected a text in double quotes", ds_json_kind_name(m->kind));
    }
  }
  for (int32_t i = 0; i < fields->count; i++) {
    const ds_field *f = &fields->fields[i];
    if (f->required && has_field(f, variant) && !(seen >> i & 1))
      return ds_reader_fail(reader, object, "%s%s%s%s without \"%s\"; expected %s", fields->what,
                            variant_name[0] ? " of kind \"" : "", variant_name, variant_name[0] ? "\"" : "", f->key,
                            expected(f, true).text);
  }
  if (given) *given = seen;
  return true;
}
