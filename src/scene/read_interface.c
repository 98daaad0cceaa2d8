/* The section "interfaces" of a scene: two bodies by name, and where they touch in the world at the start. */
#include <stdio.h>
#include <stdlib.h>

#include "scene/read.h"

#define COUNT(table) ((int32_t)(sizeof(table) / sizeof((table)[0])))

typedef struct interface_text {
  ds_interface_def def;
  const ds_json *bodies, *points;
} interface_text;

#define AT(member) .offset = offsetof(interface_text, member)
static const ds_field interface_fields[] = {
    {.key = "bodies", .kind = DS_FIELD_ARRAY, AT(bodies), .required = true},
    {.key = "normal", .kind = DS_FIELD_VECTOR, AT(def.normal), .required = true},
    {.key = "points", .kind = DS_FIELD_ARRAY, AT(points), .required = true},
    {.key = "mu", .kind = DS_FIELD_NUMBER, AT(def.mu), .high = DS_FIELD_LIMIT},
};
#undef AT

static bool read_points(ds_reader *r, ds_vec3 *points, const ds_json *array) {
  static const ds_field any = {.key = "a point", .kind = DS_FIELD_VECTOR, .unit = "m"};
  for (const ds_json *p = array->first; p; p = p->next)
    if (!ds_reader_vector(r, points++, p, &any)) return false;
  return true;
}

static bool read_interface(ds_scene_reader *s, const ds_json *value) {
  static const ds_fields fields = {"an interface", interface_fields, COUNT(interface_fields), NULL};
  ds_reader *r = &s->reader;
  ds_error inner = {""};
  interface_text text = {.def = ds_default_interface()};
  if (!ds_fields_read(r, &text, NULL, value, &fields)) return false;
  if (text.bodies->count != 2)
    return ds_reader_fail(r, text.bodies, "\"bodies\" has %d elements; expected the names of two bodies",
                          text.bodies->count);
  if (!ds_read_body_name(s, &text.def.a, text.bodies->first) ||
      !ds_read_body_name(s, &text.def.b, text.bodies->first->next))
    return false;
  ds_vec3 *points = malloc(((size_t)text.points->count + 1) * sizeof *points);
  if (!points) return ds_reader_fail_memory(r);
  text.def.points = points;
  text.def.point_count = text.points->count;
  bool good = read_points(r, points, text.points);
  if (good && ds_scene_add_interface(s->scene, &text.def, &inner) != DS_OK)
    good = ds_reader_fail(r, value, "%s", inner.message);
  free(points);
  return good;
}

bool ds_read_interfaces(ds_scene_reader *s, const ds_json *interfaces) {
  int32_t i = 0;
  for (const ds_json *value = interfaces ? interfaces->first : NULL; value; value = value->next, i++) {
    snprintf(s->reader.where, sizeof s->reader.where, "interfaces[%d]", (int)i);
    if (!read_interface(s, value)) return false;
  }
  s->reader.where[0] = 0;
  return true;
}
