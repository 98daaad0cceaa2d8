/* Reads a recipe from JSON; docs/shapes.md is its reference. Types, ranges, counts and depth are checked, and every
 * message names the line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/fields.h"
#include "mesh/recipe.h"

#define COUNT(table) ((int32_t)(sizeof(table) / sizeof((table)[0])))
#define SIZE_LOW 1e-9
#define SIZE_HIGH 1e6 /* m */
#define PROFILE_MAX 4096

/* In the order of `choices` below. */
typedef enum part_kind {
  SPHERE,
  BOX,
  CAPSULE,
  TORUS,
  CONE,
  CYLINDER,
  ELLIPSOID,
  LATHE,
  EXTRUSION,
  HALF_SPACE,
  UNION,
  INTERSECTION,
  SUBTRACTION,
  MIRROR,
  SHELL,
  OFFSET,
} part_kind;

typedef struct part_text {
  part_kind kind;
  double radius, end_radius, tube, length, rounding, blend, thickness, distance, scale;
  ds_vec3 size, radii, from, to, position, stretch;
  ds_quat rotation;
  bool spline;
  int32_t axis;
  const ds_json *profile, *of;
} part_text;

/* Places in the table whose being given matters. */
enum { KIND, FROM, TO, LENGTH, END_RADIUS, POSITION, ROTATION, SCALE, STRETCH, FIRST_OTHER };

#define BIT(kind) (1u << (kind))
#define AT(member) .offset = offsetof(part_text, member)
#define SIZE_RANGE .unit = "m", .low = SIZE_LOW, .high = SIZE_HIGH
#define PLACE_RANGE .unit = "m", .low = -SIZE_HIGH, .high = SIZE_HIGH
static const ds_field part_fields[] = {
    [KIND] = {.key = "kind",
              .kind = DS_FIELD_CHOICE,
              AT(kind),
              .choices = "sphere|box|capsule|torus|cone|cylinder|ellipsoid|lathe|extrusion|half-space|union|"
                         "intersection|subtraction|mirror|shell|offset"},
    [FROM] = {.key = "from", .kind = DS_FIELD_VECTOR, AT(from), PLACE_RANGE, .variants = BIT(CAPSULE)},
    [TO] = {.key = "to", .kind = DS_FIELD_VECTOR, AT(to), PLACE_RANGE, .variants = BIT(CAPSULE)},
    [LENGTH] = {.key = "length",
                .kind = DS_FIELD_NUMBER,
                AT(length),
                SIZE_RANGE,
                .variants = BIT(CAPSULE) | BIT(CONE) | BIT(CYLINDER) | BIT(EXTRUSION)},
    [END_RADIUS] = {.key = "end_radius",
                    .kind = DS_FIELD_NUMBER,
                    AT(end_radius),
                    .unit = "m",
                    .high = SIZE_HIGH,
                    .variants = BIT(CAPSULE) | BIT(CONE)},
    [POSITION] = {.key = "position", .kind = DS_FIELD_VECTOR, AT(position), PLACE_RANGE},
    [ROTATION] = {.key = "rotation", .kind = DS_FIELD_ROTATION, AT(rotation)},
    [SCALE] = {.key = "scale", .kind = DS_FIELD_NUMBER, AT(scale), .low = 1e-6, .high = 1e6},
    [STRETCH] = {.key = "stretch", .kind = DS_FIELD_VECTOR, AT(stretch), .low = 1e-3, .high = 1e3},
    [FIRST_OTHER] = {.key = "radius",
                     .kind = DS_FIELD_NUMBER,
                     AT(radius),
                     SIZE_RANGE,
                     .required = true,
                     .variants = BIT(SPHERE) | BIT(CAPSULE) | BIT(TORUS) | BIT(CONE) | BIT(CYLINDER)},
    {.key = "tube", .kind = DS_FIELD_NUMBER, AT(tube), SIZE_RANGE, .required = true, .variants = BIT(TORUS)},
    {.key = "size", .kind = DS_FIELD_VECTOR, AT(size), SIZE_RANGE, .required = true, .variants = BIT(BOX)},
    {.key = "rounding", .kind = DS_FIELD_NUMBER, AT(rounding), .unit = "m", .high = SIZE_HIGH, .variants = BIT(BOX)},
    {.key = "radii", .kind = DS_FIELD_VECTOR, AT(radii), SIZE_RANGE, .required = true, .variants = BIT(ELLIPSOID)},
    {.key = "profile", .kind = DS_FIELD_ARRAY, AT(profile), .required = true, .variants = BIT(LATHE) | BIT(EXTRUSION)},
    {.key = "spline", .kind = DS_FIELD_BOOLEAN, AT(spline), .variants = BIT(LATHE) | BIT(EXTRUSION)},
    {.key = "of",
     .kind = DS_FIELD_ARRAY,
     AT(of),
     .required = true,
     .variants = BIT(UNION) | BIT(INTERSECTION) | BIT(SUBTRACTION) | BIT(MIRROR) | BIT(SHELL) | BIT(OFFSET)},
    {.key = "blend",
     .kind = DS_FIELD_NUMBER,
     AT(blend),
     .unit = "m",
     .high = SIZE_HIGH,
     .variants = BIT(UNION) | BIT(INTERSECTION) | BIT(SUBTRACTION)},
    {.key = "axis", .kind = DS_FIELD_CHOICE, AT(axis), .choices = "x|y|z", .required = true, .variants = BIT(MIRROR)},
    {.key = "thickness", .kind = DS_FIELD_NUMBER, AT(thickness), SIZE_RANGE, .required = true, .variants = BIT(SHELL)},
    {.key = "distance", .kind = DS_FIELD_NUMBER, AT(distance), SIZE_RANGE, .required = true, .variants = BIT(OFFSET)},
};
#undef AT

typedef struct recipe_text {
  const ds_json *shape;
  double cell;
  int32_t triangles;
} recipe_text;

#define AT(member) .offset = offsetof(recipe_text, member)
static const ds_field recipe_fields[] = {
    {.key = "shape", .kind = DS_FIELD_OBJECT, AT(shape), .required = true},
    {.key = "cell", .kind = DS_FIELD_NUMBER, AT(cell), SIZE_RANGE},
    {.key = "triangles", .kind = DS_FIELD_INTEGER, AT(triangles), .low = 4, .high = 1e7},
};
#undef AT

static int32_t read_part(ds_reader *r, ds_recipe *recipe, const ds_json *value);

/* ---- profiles ---- */

static bool read_pair(ds_reader *r, double *pair, const ds_json *value, bool lathe) {
  if (value->kind != DS_JSON_ARRAY || value->count != 2 || value->first->kind != DS_JSON_NUMBER ||
      value->first->next->kind != DS_JSON_NUMBER)
    return ds_reader_fail(r, value, "\"profile\" holds %s; expected points like %s", ds_json_kind_name(value->kind),
                          lathe ? "[r, z]" : "[x, y]");
  pair[0] = value->first->number;
  pair[1] = value->first->next->number;
  if (!(fabs(pair[0]) <= SIZE_HIGH && fabs(pair[1]) <= SIZE_HIGH))
    return ds_reader_fail(r, value, "a point of \"profile\" is beyond %g m; expected a smaller one", SIZE_HIGH);
  if (lathe && pair[0] < 0)
    return ds_reader_fail(r, value, "a point of \"profile\" has r = %.9g; expected r >= 0", pair[0]);
  return true;
}

/* The pairs in new memory, or NULL. */
static double *read_profile(ds_reader *r, ds_recipe *recipe, const part_text *p) {
  const ds_json *array = p->profile;
  int32_t n = 0;
  bool ok = true;
  if (array->count < 3 || array->count > PROFILE_MAX) {
    ds_reader_fail(r, array, "\"profile\" has %d points; expected 3 to %d", array->count, PROFILE_MAX);
    return NULL;
  }
  double *pairs = malloc(2 * (size_t)array->count * sizeof *pairs);
  if (!pairs) {
    recipe->failed = true;
    return NULL;
  }
  for (const ds_json *v = array->first; v && ok; v = v->next) ok = read_pair(r, pairs + 2 * n++, v, p->kind == LATHE);
  if (ok) return pairs;
  free(pairs);
  return NULL;
}

static int32_t build_profile(ds_reader *r, ds_recipe *recipe, const part_text *p) {
  double *pairs = read_profile(r, recipe, p);
  if (!pairs) return -1;
  int32_t node = p->kind == LATHE ? ds_recipe_lathe(recipe, pairs, p->profile->count, p->spline)
                                  : ds_recipe_extrusion(recipe, pairs, p->profile->count, p->spline, p->length);
  free(pairs);
  return node;
}

/* ---- parts ---- */

/* The parts of "of" in one operation; a single part is itself. */
static int32_t build_list(ds_reader *r, ds_recipe *recipe, const part_text *p) {
  ds_recipe_kind kind = p->kind == INTERSECTION  ? DS_RECIPE_INTERSECTION
                        : p->kind == SUBTRACTION ? DS_RECIPE_SUBTRACTION
                                                 : DS_RECIPE_UNION;
  size_t length = strlen(r->where);
  int32_t i = 0, list = ds_recipe_operation(recipe, kind, p->blend), least = p->kind == SUBTRACTION ? 2 : 1;
  if (p->of->count < least) {
    ds_reader_fail(r, p->of, "\"of\" has %d parts; expected at least %d", p->of->count, least);
    return -1;
  }
  for (const ds_json *v = p->of->first; v; v = v->next, i++) {
    snprintf(r->where + length, sizeof r->where - length, "%sof[%d]", length ? ", " : "", i);
    int32_t part = read_part(r, recipe, v);
    if (part < 0) return -1;
    ds_recipe_add(recipe, list, part);
    r->where[length] = 0;
  }
  return list;
}

static int32_t build_capsule(ds_reader *r, ds_recipe *recipe, const part_text *p, uint64_t given, const ds_json *at) {
  bool ends = (given >> FROM & 1) && (given >> TO & 1), length = given >> LENGTH & 1;
  double end = given >> END_RADIUS & 1 ? p->end_radius : p->radius;
  if (ends == length || (given >> FROM & 1) != (given >> TO & 1)) {
    ds_reader_fail(r, at, "a capsule needs its ends once; expected \"from\" and \"to\", or \"length\" along z");
    return -1;
  }
  ds_vec3 half = v3(0, 0, 0.5 * p->length);
  return ds_recipe_capsule(recipe, ends ? p->from : v3_neg(half), p->radius, ends ? p->to : half, end);
}

static int32_t build_part(ds_reader *r, ds_recipe *recipe, const part_text *p, uint64_t given, const ds_json *at) {
  switch (p->kind) {
    case SPHERE:
      return ds_recipe_sphere(recipe, v3(0, 0, 0), p->radius);
    case BOX:
      return ds_recipe_box(recipe, v3_scale(0.5, p->size), p->rounding);
    case CAPSULE:
      return build_capsule(r, recipe, p, given, at);
    case TORUS:
      return ds_recipe_torus(recipe, p->radius, p->tube);
    case CONE:
      return ds_recipe_cone(recipe, p->radius, p->end_radius, p->length);
    case CYLINDER:
      return ds_recipe_cone(recipe, p->radius, p->radius, p->length);
    case ELLIPSOID:
      return ds_recipe_ellipsoid(recipe, v3(0, 0, 0), p->radii);
    case LATHE:
    case EXTRUSION:
      return build_profile(r, recipe, p);
    case HALF_SPACE:
      return ds_recipe_half_space(recipe);
    case UNION:
    case INTERSECTION:
    case SUBTRACTION:
      return build_list(r, recipe, p);
    case MIRROR:
      return ds_recipe_mirror(recipe, build_list(r, recipe, p), p->axis);
    case SHELL:
      return ds_recipe_shell(recipe, build_list(r, recipe, p), p->thickness);
    case OFFSET:
      return ds_recipe_offset(recipe, build_list(r, recipe, p), p->distance);
  }
  return -1;
}

/* The node of a part, or -1: then either the recipe is marked or the message is written. JSON is at most 64 deep, and
 * so is this. */
static int32_t read_part(ds_reader *r, ds_recipe *recipe, const ds_json *value) {
  static const ds_fields fields = {"a part", part_fields, COUNT(part_fields), "kind"};
  part_text p = {.scale = 1, .stretch = {1, 1, 1}, .rotation = {1, 0, 0, 0}};
  uint64_t given;
  if (!ds_fields_read(r, &p, &given, value, &fields)) return -1;
  uint32_t kind = BIT(p.kind);
  if ((kind & (BIT(CONE) | BIT(CYLINDER) | BIT(EXTRUSION))) && !(given >> LENGTH & 1)) {
    ds_reader_fail(r, value, "a part without \"length\"; expected a number above 0 (m)");
    return -1;
  }
  int32_t node = build_part(r, recipe, &p, given, value);
  bool placed = given & (BIT(POSITION) | BIT(ROTATION) | BIT(SCALE) | BIT(STRETCH));
  if (node < 0 || !placed) return node;
  return ds_recipe_place(recipe, node, p.position, p.rotation, v3_scale(p.scale, p.stretch));
}

ds_status ds_recipe_read(ds_recipe *recipe, double *cell, int32_t *triangles, const char *text, size_t length,
                         const char *file, ds_error *error) {
  static const ds_fields fields = {"a recipe", recipe_fields, COUNT(recipe_fields), NULL};
  ds_json_doc doc;
  ds_status status = ds_json_parse(&doc, text, length, file, error);
  if (status != DS_OK) return status;
  ds_error inner = {""};
  ds_reader r = {.doc = &doc, .file = file, .error = &inner};
  recipe_text t = {.cell = *cell, .triangles = *triangles};
  bool wrapped = doc.root->kind == DS_JSON_OBJECT && ds_json_find(doc.root, "shape"), ok = true;
  if (wrapped) ok = ds_fields_read(&r, &t, NULL, doc.root, &fields);
  int32_t root = ok ? read_part(&r, recipe, wrapped ? t.shape : doc.root) : -1;
  if (inner.message[0]) {
    status = ds_fail(error, DS_ERROR_INPUT, "%s", inner.message);
  } else {
    status = ds_recipe_finish(recipe, root, &inner);
    if (status != DS_OK) {
      ds_json_message(error, file, text, doc.root->start, "%s", inner.message);
    }
  }
  *cell = t.cell;
  *triangles = t.triangles;
  ds_json_free(&doc);
  return status;
}
