/* The section "joints" of a scene: two bodies by name, the kind, and a point and an axis in the world at the start. */
#include <stdio.h>

#include "scene/read.h"

#define COUNT(table) ((int32_t)(sizeof(table) / sizeof((table)[0])))

typedef struct joint_text {
  ds_joint_def def;
  const ds_json *bodies;
} joint_text; /* def.limited is set where a limit is given */

enum { AXIS = 4, LOWER = 6, UPPER = 7 }; /* places in the table of keys */

/* The kinds that the library has: "ball|hinge|...", and bits of those with an axis. */
static uint32_t list_kinds(char *names, size_t size) {
  uint32_t axial = 0;
  size_t length = 0;
  names[0] = 0;
  for (int kind = 0; ds_joint_kind_name((ds_joint_kind)kind) && length < size; kind++) {
    length += (size_t)snprintf(names + length, size - length, "%s%s", kind > 0 ? "|" : "",
                               ds_joint_kind_name((ds_joint_kind)kind));
    if (ds_joint_kind_has_axis((ds_joint_kind)kind)) axial |= 1u << kind;
  }
  return axial;
}

static bool read_fields(ds_reader *r, joint_text *joint, uint64_t *given, const ds_json *value) {
  char kinds[256];
  uint32_t axial = list_kinds(kinds, sizeof kinds);
#define AT(member) .offset = offsetof(joint_text, member)
  const ds_field table[] = {
      {.key = "kind", .kind = DS_FIELD_CHOICE, AT(def.kind), .choices = kinds, .required = true},
      {.key = "name", .kind = DS_FIELD_NAME, AT(def.name)},
      {.key = "bodies", .kind = DS_FIELD_ARRAY, AT(bodies), .required = true},
      {.key = "point", .kind = DS_FIELD_VECTOR, AT(def.point), .unit = "m", .required = true},
      [AXIS] = {.key = "axis", .kind = DS_FIELD_VECTOR, AT(def.axis), .variants = axial},
      {.key = "collide", .kind = DS_FIELD_BOOLEAN, AT(def.collide)},
      [LOWER] = {.key = "lower", .kind = DS_FIELD_NUMBER, AT(def.lower), .variants = axial},
      [UPPER] = {.key = "upper", .kind = DS_FIELD_NUMBER, AT(def.upper), .variants = axial},
      {.key = "max_force",
       .kind = DS_FIELD_NUMBER,
       AT(def.max_force),
       .high = DS_FIELD_LIMIT,
       .above = true,
       .variants = axial},
      {.key = "speed", .kind = DS_FIELD_NUMBER, AT(def.speed), .variants = axial},
      {.key = "velocity", .kind = DS_FIELD_VECTOR, AT(def.velocity), .unit = "m/s", .variants = axial},
  };
#undef AT
  const ds_fields fields = {"a joint", table, COUNT(table), "kind"};
  return ds_fields_read(r, joint, given, value, &fields);
}

static void set_where(ds_reader *r, const ds_json *joint, int32_t index) {
  const ds_json *name = joint->kind == DS_JSON_OBJECT ? ds_json_find(joint, "name") : NULL;
  if (name && name->kind == DS_JSON_STRING && name->string[0])
    snprintf(r->where, sizeof r->where, "joint %s", ds_quote(name->string).text);
  else
    snprintf(r->where, sizeof r->where, "joints[%d]", index);
}

bool ds_read_body_name(ds_scene_reader *s, ds_body_id *body, const ds_json *value) {
  if (value->kind != DS_JSON_STRING)
    return ds_reader_fail(&s->reader, value,
                          "%s where the name of a body should stand; expected a text in double quotes",
                          ds_json_kind_name(value->kind));
  if (!ds_names_find(&s->body_names, value->string)) {
    ds_read_unknown_name(s, value, &s->body_names, "body", "bodies");
    return false;
  }
  *body = ds_scene_find_body(s->scene, value->string);
  return true;
}

static bool read_joint(ds_scene_reader *s, ds_names *names, const ds_json *value) {
  ds_reader *r = &s->reader;
  ds_error inner = {""};
  joint_text joint = {.def = ds_default_joint()};
  uint64_t given;
  if (!read_fields(r, &joint, &given, value)) return false;
  if (joint.bodies->count != 2)
    return ds_reader_fail(r, joint.bodies, "\"bodies\" has %d elements; expected the names of two bodies",
                          joint.bodies->count);
  if (!ds_read_body_name(s, &joint.def.a, joint.bodies->first) ||
      !ds_read_body_name(s, &joint.def.b, joint.bodies->first->next))
    return false;
  if (ds_joint_kind_has_axis(joint.def.kind) && !(given >> AXIS & 1))
    return ds_reader_fail(r, value, "a %s without \"axis\"; expected its direction, such as [0, 1, 0]",
                          ds_joint_kind_name(joint.def.kind));
  joint.def.limited = (given >> LOWER & 1) || (given >> UPPER & 1);
  if (joint.def.name && ds_names_find(names, joint.def.name))
    return ds_reader_fail(r, ds_json_find(value, "name"), "another joint has this name too; expected unique names");
  if (joint.def.name && !ds_names_add(names, joint.def.name, value)) return ds_reader_fail_memory(r);
  if (ds_scene_add_joint(s->scene, &joint.def, &inner).index1 == 0)
    return ds_reader_fail(r, value, "%s", inner.message);
  return true;
}

bool ds_read_joints(ds_scene_reader *s, const ds_json *joints) {
  ds_names names = {0};
  bool ok = true;
  int32_t i = 0;
  for (const ds_json *joint = joints ? joints->first : NULL; joint && ok; joint = joint->next, i++) {
    set_where(&s->reader, joint, i);
    ok = read_joint(s, &names, joint);
  }
  ds_names_free(&names);
  if (ok) s->reader.where[0] = 0;
  return ok;
}
