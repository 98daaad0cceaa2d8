/* Reads the bodies of a scene file: pose, mass, material, motion and shapes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "body/reduced.h"
#include "la/vec3.h"
#include "scene/read.h"
#include "shape/shape.h"

#define COUNT(table) ((int32_t)(sizeof(table) / sizeof((table)[0])))
#define SIZE_LOW 1e-9 /* m; smaller things lose their inertia to rounding */

typedef struct body_text {
  ds_body_def def;
  double density;
  ds_material_def material; /* given inside the body */
  const char *material_name;
  const ds_json *motion, *shapes, *deformable, *reduced, *reduced_rate;
} body_text;

/* Places in the table whose being given matters. */
enum { MATERIAL, MU, E, MASS, DENSITY, FIRST_OTHER };

#define AT(member) .offset = offsetof(body_text, member)
static const ds_field body_fields[] = {
    [MATERIAL] = {.key = "material", .kind = DS_FIELD_NAME, AT(material_name)},
    [MU] = {.key = "mu", .kind = DS_FIELD_NUMBER, AT(material.mu), .high = DS_FIELD_LIMIT},
    [E] = {.key = "e", .kind = DS_FIELD_NUMBER, AT(material.restitution), .high = 1},
    [MASS] = {.key = "mass", .kind = DS_FIELD_NUMBER, AT(def.mass), .unit = "kg", .low = 1e-30, .high = DS_FIELD_LIMIT},
    [DENSITY] =
        {.key = "density", .kind = DS_FIELD_NUMBER, AT(density), .unit = "kg/m³", .low = 1e-9, .high = DS_FIELD_LIMIT},
    [FIRST_OTHER] = {.key = "name", .kind = DS_FIELD_NAME, AT(def.name)},
    {.key = "kind", .kind = DS_FIELD_CHOICE, AT(def.kind), .choices = "dynamic|static|kinematic"},
    {.key = "position", .kind = DS_FIELD_VECTOR, AT(def.pose.p), .unit = "m"},
    {.key = "rotation", .kind = DS_FIELD_ROTATION, AT(def.pose.q)},
    {.key = "velocity", .kind = DS_FIELD_VECTOR, AT(def.velocity), .unit = "m/s"},
    {.key = "angular_velocity", .kind = DS_FIELD_VECTOR, AT(def.angular_velocity), .unit = "rad/s"},
    {.key = "linear_damping", .kind = DS_FIELD_NUMBER, AT(def.linear_damping), .unit = "1/s", .high = DS_FIELD_LIMIT},
    {.key = "angular_damping", .kind = DS_FIELD_NUMBER, AT(def.angular_damping), .unit = "1/s", .high = DS_FIELD_LIMIT},
    {.key = "force", .kind = DS_FIELD_VECTOR, AT(def.force), .unit = "N"},
    {.key = "torque", .kind = DS_FIELD_VECTOR, AT(def.torque), .unit = "N m"},
    {.key = "release_time", .kind = DS_FIELD_NUMBER, AT(def.release_time), .unit = "s", .high = DS_FIELD_LIMIT},
    {.key = "color", .kind = DS_FIELD_VECTOR, AT(def.color), .unit = "red, green, blue", .high = 1},
    {.key = "motion", .kind = DS_FIELD_OBJECT, AT(motion)},
    {.key = "shapes", .kind = DS_FIELD_ARRAY, AT(shapes)},
    {.key = "deformable", .kind = DS_FIELD_NAMED, AT(deformable)},
    {.key = "reduced", .kind = DS_FIELD_ARRAY, AT(reduced)},
    {.key = "reduced_rate", .kind = DS_FIELD_ARRAY, AT(reduced_rate)},
};
#undef AT

typedef struct shape_text {
  ds_shape_def def;
  int32_t choice; /* among the kinds that files have */
  const ds_json *points;
  const char *solid, *material;
} shape_text;

/* The members of a shape, from the measures of all kinds: a measure that several kinds share is one field. */
typedef struct shape_table {
  ds_field fields[DS_SHAPE_KINDS_MAX * DS_MEASURES_MAX / 2];
  double share[DS_SHAPE_KINDS_MAX * DS_MEASURES_MAX / 2]; /* one per field */
  int32_t count;
  ds_shape_kind kinds[DS_SHAPE_KINDS_MAX]; /* one per choice */
  char choices[512];
} shape_table;

#define AT(member) .offset = offsetof(shape_text, member)

static void add_measure(shape_table *t, const ds_measure *m, uint32_t variant) {
  for (int32_t i = 1; i < t->count; i++)
    if (strcmp(t->fields[i].key, m->key) == 0 && t->share[i] == m->share) {
      t->fields[i].variants |= variant;
      return;
    }
  ds_field f = {.key = m->key, .required = true, .variants = variant};
  switch (m->kind) {
    case DS_MEASURE_LENGTH:
    case DS_MEASURE_LENGTHS:
      f.kind = m->kind == DS_MEASURE_LENGTH ? DS_FIELD_NUMBER : DS_FIELD_VECTOR;
      f.offset = offsetof(shape_text, def) + m->offset;
      f.unit = "m", f.low = SIZE_LOW, f.high = DS_FIELD_LIMIT;
      break;
    case DS_MEASURE_POINTS:
      f.kind = DS_FIELD_ARRAY, f.offset = offsetof(shape_text, points);
      break;
    case DS_MEASURE_SOLID:
      f.kind = DS_FIELD_NAME, f.offset = offsetof(shape_text, solid);
      break;
  }
  t->share[t->count] = m->share;
  t->fields[t->count++] = f;
}

static void make_shape_table(shape_table *t) {
  static const ds_field common[] = {
      {.key = "position", .kind = DS_FIELD_VECTOR, AT(def.pose.p), .unit = "m"},
      {.key = "rotation", .kind = DS_FIELD_ROTATION, AT(def.pose.q)},
      {.key = "density",
       .kind = DS_FIELD_NUMBER,
       AT(def.density),
       .unit = "kg/m³",
       .low = 1e-9,
       .high = DS_FIELD_LIMIT},
      {.key = "material", .kind = DS_FIELD_NAME, AT(material)},
  };
  int32_t choice = 0;
  size_t length = 0;
  t->count = 1;
  for (int32_t kind = 0; kind < ds_shape_kind_count; kind++) {
    const ds_shape_ops *ops = ds_shape_kinds[kind];
    if (ops->not_in_files) continue;
    length += (size_t)snprintf(t->choices + length, sizeof t->choices - length, "%s%s", choice ? "|" : "", ops->name);
    for (int i = 0; i < DS_MEASURES_MAX && ops->measures[i].key; i++) add_measure(t, &ops->measures[i], 1u << choice);
    t->kinds[choice++] = (ds_shape_kind)kind;
  }
  t->fields[0] = (ds_field){.key = "kind", .kind = DS_FIELD_CHOICE, AT(choice), .choices = t->choices};
  for (int32_t i = 0; i < COUNT(common); i++) t->share[t->count] = 1, t->fields[t->count++] = common[i];
}

/* Full lengths of the file become the halves of the definition. */
static void apply_shares(shape_text *shape, const shape_table *t, uint64_t given) {
  for (int32_t i = 1; i < t->count; i++) {
    if (!(given >> i & 1) || t->share[i] == 1) continue;
    double *x = (double *)(void *)((char *)shape + t->fields[i].offset);
    for (int k = 0; k < (t->fields[i].kind == DS_FIELD_VECTOR ? 3 : 1); k++) x[k] *= t->share[i];
  }
}
#undef AT

typedef struct motion_text {
  ds_motion_def def;
  int32_t kind; /* in the order of `choices` */
  const ds_json *keyframes;
} motion_text;

enum { VELOCITY = 1, HARMONIC = 2, KEYFRAMES = 4 };
/* Places in the table whose being given matters. */
enum { M_KIND, M_VELOCITY, M_ANGULAR_VELOCITY, M_AMPLITUDE, M_ANGULAR_AMPLITUDE, M_OTHER };

#define AT(member) .offset = offsetof(motion_text, member)
static const ds_field motion_fields[] = {
    [M_KIND] = {.key = "kind", .kind = DS_FIELD_CHOICE, AT(kind), .choices = "velocity|harmonic|keyframes"},
    [M_VELOCITY] = {.key = "velocity", .kind = DS_FIELD_VECTOR, AT(def.velocity), .unit = "m/s", .variants = VELOCITY},
    [M_ANGULAR_VELOCITY] = {.key = "angular_velocity",
                            .kind = DS_FIELD_VECTOR,
                            AT(def.angular_velocity),
                            .unit = "rad/s",
                            .variants = VELOCITY},
    [M_AMPLITUDE] = {.key = "amplitude", .kind = DS_FIELD_VECTOR, AT(def.amplitude), .unit = "m", .variants = HARMONIC},
    [M_ANGULAR_AMPLITUDE] = {.key = "angular_amplitude",
                             .kind = DS_FIELD_VECTOR,
                             AT(def.angular_amplitude),
                             .unit = "rad",
                             .variants = HARMONIC},
    [M_OTHER] = {.key = "frequency",
                 .kind = DS_FIELD_NUMBER,
                 AT(def.frequency),
                 .unit = "Hz",
                 .low = 1e-9,
                 .high = 1e9,
                 .required = true,
                 .variants = HARMONIC},
    {.key = "phase", .kind = DS_FIELD_NUMBER, AT(def.phase), .unit = "rad", .variants = HARMONIC},
    {.key = "start_time", .kind = DS_FIELD_NUMBER, AT(def.start_time), .unit = "s", .variants = VELOCITY | HARMONIC},
    {.key = "end_time", .kind = DS_FIELD_NUMBER, AT(def.end_time), .unit = "s", .variants = VELOCITY | HARMONIC},
    {.key = "keyframes", .kind = DS_FIELD_ARRAY, AT(keyframes), .required = true, .variants = KEYFRAMES},
};
#undef AT

static const ds_field keyframe_fields[] = {
    {.key = "time", .kind = DS_FIELD_NUMBER, .offset = offsetof(ds_keyframe, time), .unit = "s", .required = true},
    {.key = "position", .kind = DS_FIELD_VECTOR, .offset = offsetof(ds_keyframe, pose.p), .unit = "m"},
    {.key = "rotation", .kind = DS_FIELD_ROTATION, .offset = offsetof(ds_keyframe, pose.q)},
};

void ds_read_set_where(ds_reader *r, const ds_json *body, int32_t index) {
  const ds_json *name = ds_json_find(body, "name");
  if (name && name->kind == DS_JSON_STRING)
    snprintf(r->where, sizeof r->where, "body %s", ds_quote(name->string).text);
  else
    snprintf(r->where, sizeof r->where, "bodies[%d]", index);
}

/* ---- shapes ---- */

/* Whether the points lie in a plane, to rounding: the farthest from the first, then from that line, then from that
 * plane, against the size. */
static bool is_flat(const ds_vec3 *points, int32_t count) {
  ds_vec3 a = points[0], along = {0, 0, 0}, normal = {0, 0, 0};
  double length = 0, area = 0, height = 0;
  for (int32_t i = 1; i < count; i++) {
    ds_vec3 d = v3_sub(points[i], a);
    if (v3_norm(d) > length) along = d, length = v3_norm(d);
  }
  for (int32_t i = 1; i < count; i++) {
    ds_vec3 n = v3_cross(v3_unit(along), v3_sub(points[i], a));
    if (v3_norm(n) > area) normal = n, area = v3_norm(n);
  }
  for (int32_t i = 1; i < count; i++) height = fmax(height, fabs(v3_dot(v3_unit(normal), v3_sub(points[i], a))));
  return !(height > 1e-9 * length);
}

/* The points of a hull, in new memory. */
static ds_vec3 *read_points(ds_reader *r, const ds_json *array) {
  static const ds_field point = {.key = "points", .kind = DS_FIELD_VECTOR, .unit = "m"};
  if (array->count < 4) {
    ds_reader_fail(r, array, "\"points\" has %d points; expected at least 4, not in one plane", array->count);
    return NULL;
  }
  ds_vec3 *points = malloc((size_t)array->count * sizeof *points);
  if (!points) {
    ds_reader_fail_memory(r);
    return NULL;
  }
  int32_t i = 0;
  bool ok = true;
  for (const ds_json *p = array->first; p && ok; p = p->next) ok = ds_reader_vector(r, &points[i++], p, &point);
  if (ok && is_flat(points, array->count))
    ok = ds_reader_fail(r, array, "the points lie in one plane; expected points that span a volume");
  if (ok) return points;
  free(points);
  return NULL;
}

static bool read_shape(ds_scene_reader *s, ds_body_id body, const body_text *b, const shape_table *table,
                       const ds_json *value) {
  const ds_fields fields = {"a shape", table->fields, table->count, "kind"};
  ds_reader *r = &s->reader;
  ds_error inner = {""};
  ds_vec3 *points = NULL;
  shape_text shape = {.def = ds_default_shape()};
  uint64_t given;
  shape.def.density = b->density;
  shape.def.half_length = 0, shape.def.half = v3(0, 0, 0);
  if (!ds_fields_read(r, &shape, &given, value, &fields)) return false;
  shape.def.kind = table->kinds[shape.choice];
  apply_shares(&shape, table, given);
  if (ds_shape_kinds[shape.def.kind]->unbounded && b->def.kind == DS_BODY_DYNAMIC)
    return ds_reader_fail(r, value,
                          "a dynamic body cannot have a half-space, which has no mass; expected \"kind\": \"static\" "
                          "or \"kinematic\" in the body");
  if (shape.material) {
    const ds_file_material *material = ds_read_material_name(s, ds_json_find(value, "material"));
    if (!material) return false;
    shape.def.material = material->id;
  }
  if (shape.points) {
    points = read_points(r, shape.points);
    if (!points) return false;
    shape.def.points = points;
    shape.def.point_count = shape.points->count;
  }
  if (shape.solid) {
    shape.def.solid = ds_read_solid_name(s, ds_json_find(value, "solid"));
    if (!shape.def.solid) return false;
  }
  ds_status status = ds_scene_add_shape(s->scene, body, &shape.def, &inner);
  free(points);
  return status == DS_OK || ds_reader_fail(r, value, "%s", inner.message);
}

static bool read_shapes(ds_scene_reader *s, ds_body_id body, const body_text *b) {
  ds_reader *r = &s->reader;
  size_t length = strlen(r->where);
  int32_t i = 0;
  shape_table table;
  make_shape_table(&table);
  if (b->shapes->count == 0) return ds_reader_fail(r, b->shapes, "\"shapes\" is empty; expected at least one shape");
  for (const ds_json *shape = b->shapes->first; shape; shape = shape->next, i++) {
    snprintf(r->where + length, sizeof r->where - length, ", shapes[%d]", i);
    if (!read_shape(s, body, b, &table, shape)) return false;
  }
  r->where[length] = 0;
  return true;
}

/* ---- deformable bodies ---- */

/* What a body with shapes, or with a deformable in their place, cannot have. */
static bool check_form(ds_reader *r, const body_text *b, uint64_t given, const ds_json *value) {
  if (b->shapes && b->deformable)
    return ds_reader_fail_key(r, b->deformable, "\"shapes\" and \"deformable\" in one body; keep one of them");
  if (!b->shapes && !b->deformable)
    return ds_reader_fail(r, value, "a body without \"shapes\"; expected an array in [ ], or \"deformable\"");
  const ds_json *start = b->reduced ? b->reduced : b->reduced_rate;
  if (!b->deformable && start)
    return ds_reader_fail_key(r, start, "\"%s\" in a rigid body; expected it beside \"deformable\"", start->key);
  if (!b->deformable) return true;
  if (b->def.kind != DS_BODY_DYNAMIC)
    return ds_reader_fail_key(r, b->deformable, "\"deformable\" in a body that is %s; expected \"kind\": \"dynamic\"",
                              b->def.kind == DS_BODY_STATIC ? "static" : "kinematic");
  if (given & (1u << MASS | 1u << DENSITY)) {
    const ds_json *key = ds_json_find(value, given >> MASS & 1 ? "mass" : "density");
    return ds_reader_fail_key(
        r, key, "\"%s\" in a deformable body; expected \"density\" or \"mass\" in its \"deformable\"", key->key);
  }
  return true;
}

/* `count` numbers, where they are given. */
static bool read_coordinates(ds_reader *r, double *q, int32_t count, const ds_json *array) {
  if (!array) return true;
  if (array->count != count)
    return ds_reader_fail(r, array, "\"%s\" has %d numbers; expected %d, one per reduced coordinate", array->key,
                          array->count, count);
  for (const ds_json *x = array->first; x; x = x->next) {
    if (x->kind != DS_JSON_NUMBER || !(fabs(x->number) <= DS_FIELD_LIMIT))
      return ds_reader_fail(r, x, "\"%s\" holds %s; expected numbers between -1e12 and 1e12", array->key,
                            x->kind == DS_JSON_NUMBER ? "a number that is too large" : ds_json_kind_name(x->kind));
    *q++ = x->number;
  }
  return true;
}

static bool read_deformable(ds_scene_reader *s, ds_body_id body, const body_text *b, int32_t body_count) {
  ds_reader *r = &s->reader;
  ds_error inner = {""};
  double q[2 * DS_REDUCED_MAX] = {0};
  ds_shape_def shape = ds_default_shape();
  shape.kind = DS_SHAPE_REDUCED;
  shape.reduced = ds_read_deformable(s, b->deformable, body_count);
  if (!shape.reduced) return false;
  int32_t count = ds_reduced_get_info(shape.reduced).modes;
  if (!read_coordinates(r, q, count, b->reduced) || !read_coordinates(r, q + count, count, b->reduced_rate))
    return false;
  shape.start = b->reduced ? q : NULL;
  shape.start_rate = b->reduced_rate ? q + count : NULL;
  if (ds_scene_add_shape(s->scene, body, &shape, &inner) == DS_OK) return true;
  return ds_reader_fail(r, b->deformable, "%s", inner.message);
}

/* ---- motion ---- */

/* Keyframes in new memory; what a keyframe leaves out is as in the body's own pose. */
static ds_keyframe *read_keyframes(ds_reader *r, const ds_json *array, ds_pose pose) {
  static const ds_fields fields = {"a keyframe", keyframe_fields, COUNT(keyframe_fields), NULL};
  if (array->count == 0) {
    ds_reader_fail(r, array, "\"keyframes\" is empty; expected at least one keyframe");
    return NULL;
  }
  ds_keyframe *keyframes = calloc((size_t)array->count, sizeof *keyframes);
  if (!keyframes) {
    ds_reader_fail_memory(r);
    return NULL;
  }
  size_t length = strlen(r->where);
  int32_t i = 0;
  bool ok = true;
  for (const ds_json *k = array->first; k && ok; k = k->next, i++) {
    snprintf(r->where + length, sizeof r->where - length, ", keyframes[%d]", i);
    keyframes[i].pose = pose;
    ok = ds_fields_read(r, &keyframes[i], NULL, k, &fields);
    if (ok && i > 0 && !(keyframes[i].time > keyframes[i - 1].time))
      ok = ds_reader_fail(r, ds_json_find(k, "time"), "\"time\" is %.9g s after %.9g s; expected ascending times",
                          keyframes[i].time, keyframes[i - 1].time);
  }
  if (!ok) {
    free(keyframes);
    return NULL;
  }
  r->where[length] = 0;
  return keyframes;
}

/* Fills b->def.motion; *keyframes is memory to free after the body is added. */
static bool read_motion(ds_reader *r, body_text *b, ds_keyframe **keyframes) {
  static const ds_fields fields = {"a motion", motion_fields, COUNT(motion_fields), "kind"};
  motion_text motion = {.def = b->def.motion};
  size_t length = strlen(r->where);
  uint64_t given;
  if (!b->motion) return true;
  if (b->def.kind != DS_BODY_KINEMATIC)
    return ds_reader_fail_key(r, b->motion, "\"motion\" in a body that is %s; expected \"kind\": \"kinematic\"",
                              b->def.kind == DS_BODY_STATIC ? "static" : "dynamic");
  snprintf(r->where + length, sizeof r->where - length, ", motion");
  motion.def.start_time = 0;
  motion.def.end_time = INFINITY;
  if (!ds_fields_read(r, &motion, &given, b->motion, &fields)) return false;
  if (!(motion.def.end_time > motion.def.start_time))
    return ds_reader_fail(r, b->motion, "\"end_time\" %.9g s is not after \"start_time\" %.9g s; expected a later end",
                          motion.def.end_time, motion.def.start_time);
  if (motion.kind == 0 && !(given & (1u << M_VELOCITY | 1u << M_ANGULAR_VELOCITY)))
    return ds_reader_fail(r, b->motion, "no velocity; expected \"velocity\" or \"angular_velocity\"");
  if (motion.kind == 1 && !(given & (1u << M_AMPLITUDE | 1u << M_ANGULAR_AMPLITUDE)))
    return ds_reader_fail(r, b->motion, "no amplitude; expected \"amplitude\" or \"angular_amplitude\"");
  motion.def.kind = motion.kind == 0 ? DS_MOTION_VELOCITY : motion.kind == 1 ? DS_MOTION_HARMONIC : DS_MOTION_KEYFRAMES;
  if (motion.keyframes) {
    *keyframes = read_keyframes(r, motion.keyframes, b->def.pose);
    if (!*keyframes) return false;
    motion.def.keyframes = *keyframes;
    motion.def.keyframe_count = motion.keyframes->count;
  }
  b->def.motion = motion.def;
  r->where[length] = 0;
  return true;
}

/* ---- bodies ---- */

/* A name, or numbers inside the body: bodies with the same numbers share one material. */
static bool read_material(ds_scene_reader *s, body_text *b, uint64_t given, const ds_json *value, int32_t body_count) {
  ds_reader *r = &s->reader;
  ds_error inner = {""};
  if (given >> MATERIAL & 1) {
    if (given & (1u << MU | 1u << E))
      return ds_reader_fail_key(r, ds_json_find(value, given >> MU & 1 ? "mu" : "e"),
                                "\"material\" and \"%s\" in one body; keep one of them", given >> MU & 1 ? "mu" : "e");
    const ds_file_material *material = ds_read_material_name(s, ds_json_find(value, "material"));
    if (material) b->def.material = material->id;
    return material != NULL;
  }
  if (!(given & (1u << MU | 1u << E))) return true;
  if (!s->inline_materials) s->inline_materials = calloc((size_t)body_count, sizeof *s->inline_materials);
  if (!s->inline_materials) return ds_reader_fail_memory(r);
  ds_file_material *new_material = &s->inline_materials[s->inline_count];
  snprintf(new_material->key, sizeof new_material->key, "%a %a", b->material.mu, b->material.restitution);
  const ds_file_material *material = ds_names_find(&s->inline_names, new_material->key);
  if (!material) {
    new_material->def = b->material;
    new_material->id = ds_scene_add_material(s->scene, &b->material, &inner);
    if (new_material->id.index1 == 0) return ds_reader_fail(r, value, "%s", inner.message);
    if (!ds_names_add(&s->inline_names, new_material->key, new_material)) return ds_reader_fail_memory(r);
    s->inline_count++;
    material = new_material;
  }
  b->def.material = material->id;
  return true;
}

static bool is_zero(ds_vec3 v) { return v.x == 0 && v.y == 0 && v.z == 0; }

/* What only a dynamic body can have. */
static bool check_kind(ds_reader *r, const body_text *b, const ds_json *value) {
  if (b->def.kind == DS_BODY_DYNAMIC) return true;
  const char *key = !is_zero(b->def.velocity)           ? "velocity"
                    : !is_zero(b->def.angular_velocity) ? "angular_velocity"
                    : !is_zero(b->def.force)            ? "force"
                    : !is_zero(b->def.torque)           ? "torque"
                                                        : NULL;
  if (!key) return true;
  if (b->def.kind == DS_BODY_STATIC)
    return ds_reader_fail_key(r, ds_json_find(value, key),
                              "\"%s\" in a static body, which never moves; remove it or make the body dynamic", key);
  return ds_reader_fail_key(r, ds_json_find(value, key),
                            "\"%s\" in a kinematic body, which moves by its script only; use \"motion\"", key);
}

static bool check_name(ds_scene_reader *s, const body_text *b, const ds_json *value) {
  ds_reader *r = &s->reader;
  if (!b->def.name) return true;
  const ds_json *old = ds_names_find(&s->body_names, b->def.name);
  if (old) {
    int32_t line, column;
    ds_json_locate(&line, &column, r->doc->text, old->start);
    return ds_reader_fail(r, ds_json_find(value, "name"),
                          "the body on line %d has this name too; expected unique names", line);
  }
  return ds_names_add(&s->body_names, b->def.name, value) || ds_reader_fail_memory(r);
}

static bool read_body(ds_scene_reader *s, const ds_json *value, int32_t body_count) {
  static const ds_fields fields = {"a body", body_fields, COUNT(body_fields), NULL};
  ds_reader *r = &s->reader;
  ds_error inner = {""};
  body_text b = {.def = ds_default_body(), .density = ds_default_shape().density, .material = ds_default_material()};
  uint64_t given;
  ds_keyframe *keyframes = NULL;
  if (!ds_fields_read(r, &b, &given, value, &fields)) return false;
  if (!check_name(s, &b, value) || !check_form(r, &b, given, value) || !check_kind(r, &b, value) ||
      !read_material(s, &b, given, value, body_count))
    return false;
  if (!read_motion(r, &b, &keyframes)) return false;
  ds_body_id body = ds_scene_add_body(s->scene, &b.def, &inner);
  free(keyframes);
  if (body.index1 == 0) return ds_reader_fail(r, value, "%s", inner.message);
  return b.deformable ? read_deformable(s, body, &b, body_count) : read_shapes(s, body, &b);
}

bool ds_read_bodies(ds_scene_reader *s, const ds_json *bodies) {
  int32_t i = 0;
  if (bodies->count == 0) return ds_reader_fail(&s->reader, bodies, "\"bodies\" is empty; expected at least one body");
  for (const ds_json *body = bodies->first; body; body = body->next, i++) {
    ds_read_set_where(&s->reader, body, i);
    if (!read_body(s, body, bodies->count)) return false;
  }
  s->reader.where[0] = 0;
  return true;
}
