/* Properties of interfaces, cables and loads, from a file beside the assembly:
 *
 *   {"interfaces": [{"a": "*", "b": "key", "mu": 0.5, "cohesion": 2e4, "tension": 100, "strength": 5e6}, ...],
 *    "cables": [{"tension": 1e4, "path": [{"block": "1", "point": [0, 0, 1]}, ...]}],
 *    "loads": [{"block": "3", "force": [0, 0, -500], "point": [0, 0, 2]}]}
 *
 * Later rules overrule earlier ones. Cohesion (Pa) and tension (N in all) are shared by the points. Where strength (Pa)
 * is limited, the section is cut into cells with even pressure: a point at the centre of each, which carries at most
 * strength times the area of its cell. Resultants then stay inside the section. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/fields.h"
#include "base/vec3.h"
#include "stand/build.h"

enum {
  CELLS = 4
}; /* per side of a triangle from the middle of a section: its outermost points are 1/24 of the depth in */

static double area_of(const ds_assembly *a, const ds_interface *face) {
  ds_vec3 sum = {0, 0, 0};
  const ds_vec3 *p = a->points + face->first;
  for (int32_t k = 1; k + 1 < face->count; k++) sum = v3_add(sum, v3_cross(v3_sub(p[k], p[0]), v3_sub(p[k + 1], p[0])));
  return 0.5 * fabs(v3_dot(sum, face->normal));
}

/* ---- sections in cells ---- */

/* Centres and areas of the small triangles of one triangle. */
static int32_t cut_triangle(ds_vec3 *points, double *area, ds_vec3 a, ds_vec3 b, ds_vec3 c) {
  int32_t count = 0;
  double whole = 0.5 * v3_norm(v3_cross(v3_sub(b, a), v3_sub(c, a)));
  ds_vec3 e = v3_scale(1.0 / CELLS, v3_sub(b, a)), f = v3_scale(1.0 / CELLS, v3_sub(c, a));
  for (int32_t i = 0; i < CELLS; i++)
    for (int32_t j = 0; i + j < CELLS; j++)
      for (int32_t flip = 0; flip < 2 && i + j + flip < CELLS; flip++) {
        double s = flip ? 2.0 / 3 : 1.0 / 3;
        points[count] = v3_mad(v3_mad(a, i + s, e), j + s, f);
        area[count++] = whole / (CELLS * CELLS);
      }
  return count;
}

/* Points of one interface, or its cells. Their number. */
static int32_t cut_section(ds_vec3 *points, double *area, const ds_assembly *a, const ds_interface *face) {
  const ds_vec3 *p = a->points + face->first;
  ds_vec3 middle = {0, 0, 0};
  int32_t count = 0;
  for (int32_t k = 0; k < face->count; k++) middle = v3_mad(middle, 1.0 / face->count, p[k]);
  for (int32_t k = 0; k < face->count; k++)
    count += cut_triangle(points + count, area + count, middle, p[k], p[(k + 1) % face->count]);
  return count;
}

/* strength: per interface, Pa; 0 = unlimited. */
static bool cut_sections(ds_assembly *a, const double *strength) {
  size_t room = 1;
  for (int32_t i = 0; i < a->interface_count; i++)
    room += (size_t)a->interfaces[i].count * (strength[i] > 0 ? CELLS * CELLS : 1);
  ds_vec3 *points = malloc(room * sizeof *points);
  double *limit = calloc(room, sizeof *limit);
  if (!points || !limit) {
    free(points);
    free(limit);
    return false;
  }
  int32_t count = 0;
  for (int32_t i = 0; i < a->interface_count; i++) {
    ds_interface *face = &a->interfaces[i];
    int32_t first = count;
    bool cut = strength[i] > 0 && face->count > 2 && !(a->strength && a->strength[face->first] > 0);
    if (cut) {
      count += cut_section(points + count, limit + count, a, face);
      for (int32_t k = first; k < count; k++) limit[k] *= strength[i];
      face->tension *= (double)face->count / (count - first);
    } else {
      memcpy(points + count, a->points + face->first, (size_t)face->count * sizeof *points);
      for (int32_t k = 0; k < face->count; k++) limit[count + k] = a->strength ? a->strength[face->first + k] : 0;
      count += face->count;
    }
    face->first = first, face->count = count - first;
  }
  free(a->points);
  free(a->strength);
  a->points = points, a->strength = limit, a->point_count = count;
  return true;
}

ds_status ds_assembly_set_material(ds_assembly *a, double cohesion, double strength, ds_error *error) {
  double *each = malloc(((size_t)a->interface_count + 1) * sizeof *each);
  if (!each) return ds_fail(error, DS_ERROR_MEMORY, "memory ran out");
  for (int32_t i = 0; i < a->interface_count; i++) {
    each[i] = strength;
    if (cohesion > 0) a->interfaces[i].tension = cohesion * area_of(a, &a->interfaces[i]) / a->interfaces[i].count;
  }
  bool good = !(strength > 0) || cut_sections(a, each);
  free(each);
  return good ? DS_OK : ds_fail(error, DS_ERROR_MEMORY, "memory ran out");
}

/* ---- the file ---- */

typedef struct rule {
  const char *a, *b;
  double mu, cohesion, tension, strength;
} rule;

enum { RULE_A, RULE_B, RULE_MU, RULE_COHESION, RULE_TENSION, RULE_STRENGTH };
#define AT(member) .offset = offsetof(rule, member)
static const ds_field rule_fields[] = {
    [RULE_A] = {.key = "a", .kind = DS_FIELD_NAME, AT(a)},
    [RULE_B] = {.key = "b", .kind = DS_FIELD_NAME, AT(b)},
    [RULE_MU] = {.key = "mu", .kind = DS_FIELD_NUMBER, AT(mu), .low = 0, .high = 1e6},
    [RULE_COHESION] = {.key = "cohesion", .kind = DS_FIELD_NUMBER, AT(cohesion), .unit = "Pa", .low = 0, .high = 1e12},
    [RULE_TENSION] = {.key = "tension", .kind = DS_FIELD_NUMBER, AT(tension), .unit = "N", .low = 0, .high = 1e12},
    [RULE_STRENGTH] =
        {.key = "strength", .kind = DS_FIELD_NUMBER, AT(strength), .unit = "Pa", .low = 0, .high = 1e12, .above = true},
};
#undef AT

typedef struct pull {
  const char *block;
  ds_vec3 force, point;
} pull;

enum { PULL_BLOCK, PULL_FORCE, PULL_POINT };
#define AT(member) .offset = offsetof(pull, member)
static const ds_field pull_fields[] = {
    [PULL_BLOCK] = {.key = "block", .kind = DS_FIELD_NAME, AT(block), .required = true},
    [PULL_FORCE] = {.key = "force", .kind = DS_FIELD_VECTOR, AT(force), .unit = "N"},
    [PULL_POINT] = {.key = "point", .kind = DS_FIELD_VECTOR, AT(point), .unit = "m"},
};
#undef AT

typedef struct reading {
  ds_reader reader;
  ds_assembly *a;
  double *strength; /* interfaces, Pa */
} reading;

static bool names(const char *pattern, const char *name) {
  return !pattern || strcmp(pattern, "*") == 0 || strcmp(pattern, name) == 0;
}

static bool apply_rule(reading *r, const ds_json *value) {
  static const ds_fields fields = {"a rule", rule_fields, sizeof rule_fields / sizeof *rule_fields, NULL};
  rule rule = {0};
  uint64_t given;
  int32_t matched = 0;
  if (!ds_fields_read(&r->reader, &rule, &given, value, &fields)) return false;
  for (int32_t i = 0; i < r->a->interface_count; i++) {
    ds_interface *face = &r->a->interfaces[i];
    const char *x = r->a->blocks[face->a].name, *y = r->a->blocks[face->b].name;
    if (!(names(rule.a, x) && names(rule.b, y)) && !(names(rule.a, y) && names(rule.b, x))) continue;
    matched++;
    if (given >> RULE_MU & 1) face->mu = rule.mu;
    if (given >> RULE_COHESION & 1) face->tension = rule.cohesion * area_of(r->a, face) / face->count;
    if (given >> RULE_TENSION & 1) face->tension = rule.tension / face->count;
    if (given >> RULE_STRENGTH & 1) r->strength[i] = rule.strength;
  }
  return matched > 0 || ds_reader_fail(&r->reader, value, "no interface is between blocks \"%s\" and \"%s\"",
                                       rule.a ? rule.a : "*", rule.b ? rule.b : "*");
}

static ds_block *find_block(reading *r, const char *name, const ds_json *at) {
  for (int32_t i = 0; i < r->a->block_count; i++)
    if (strcmp(r->a->blocks[i].name, name) == 0) return &r->a->blocks[i];
  ds_reader_fail(&r->reader, at, "there is no block \"%s\"", name);
  return NULL;
}

static void add_force(ds_block *b, ds_vec3 force, ds_vec3 point) {
  b->force = v3_add(b->force, force);
  b->torque = v3_add(b->torque, v3_cross(v3_sub(point, b->center), force));
}

static bool read_pull(reading *r, pull *p, ds_block **block, const ds_json *value, bool is_load) {
  static const ds_fields fields = {"a load or anchor", pull_fields, sizeof pull_fields / sizeof *pull_fields, NULL};
  uint64_t given;
  *p = (pull){0};
  if (!ds_fields_read(&r->reader, p, &given, value, &fields)) return false;
  *block = find_block(r, p->block, value);
  if (!*block) return false;
  if (is_load != (bool)(given >> PULL_FORCE & 1))
    return ds_reader_fail(&r->reader, value, is_load ? "a load must have a force" : "an anchor has no force");
  if (!is_load && !(given >> PULL_POINT & 1)) return ds_reader_fail(&r->reader, value, "an anchor must have a point");
  if (!(given >> PULL_POINT & 1)) p->point = (*block)->center;
  return true;
}

static bool apply_load(reading *r, const ds_json *value) {
  pull p;
  ds_block *block;
  if (!read_pull(r, &p, &block, value, true)) return false;
  add_force(block, p.force, p.point);
  return true;
}

/* A cable of constant tension pulls its anchors toward each other, and presses on what it goes around. */
static bool apply_cable(reading *r, const ds_json *value) {
  const ds_json *tension = value->kind == DS_JSON_OBJECT ? ds_json_find(value, "tension") : NULL;
  const ds_json *path = value->kind == DS_JSON_OBJECT ? ds_json_find(value, "path") : NULL;
  pull last = {0}, p;
  ds_block *from = NULL, *to;
  if (!tension || tension->kind != DS_JSON_NUMBER || !(tension->number > 0 && tension->number < DS_FIELD_LIMIT))
    return ds_reader_fail(&r->reader, tension ? tension : value, "a cable must have a tension above 0 N");
  if (!path || path->kind != DS_JSON_ARRAY || path->count < 2)
    return ds_reader_fail(&r->reader, path ? path : value, "a cable must have a path of two or more anchors");
  for (const ds_json *v = path->first; v; v = v->next, last = p, from = to) {
    if (!read_pull(r, &p, &to, v, false)) return false;
    if (v == path->first) continue;
    ds_vec3 along = v3_sub(p.point, last.point);
    if (!(v3_norm(along) > 0)) return ds_reader_fail(&r->reader, v, "two anchors are at the same point");
    ds_vec3 f = v3_scale(tension->number / v3_norm(along), along);
    add_force(from, f, last.point);
    add_force(to, v3_neg(f), p.point);
  }
  return true;
}

static bool apply_list(reading *r, const ds_json *list, bool (*apply)(reading *, const ds_json *)) {
  for (const ds_json *v = list ? list->first : NULL; v; v = v->next)
    if (!apply(r, v)) return false;
  return true;
}

typedef struct sections {
  const ds_json *interfaces, *cables, *loads;
} sections;

static bool apply(reading *r, const ds_json *root) {
  static const ds_field table[] = {
      {.key = "interfaces", .kind = DS_FIELD_ARRAY, .offset = offsetof(sections, interfaces)},
      {.key = "cables", .kind = DS_FIELD_ARRAY, .offset = offsetof(sections, cables)},
      {.key = "loads", .kind = DS_FIELD_ARRAY, .offset = offsetof(sections, loads)},
  };
  static const ds_fields fields = {"a file of interfaces", table, 3, NULL};
  sections s = {0};
  if (!ds_fields_read(&r->reader, &s, NULL, root, &fields)) return false;
  if (!apply_list(r, s.interfaces, apply_rule) || !apply_list(r, s.cables, apply_cable) ||
      !apply_list(r, s.loads, apply_load))
    return false;
  for (int32_t i = 0; i < r->a->interface_count; i++)
    if (r->strength[i] > 0) return cut_sections(r->a, r->strength) || ds_reader_fail_memory(&r->reader);
  return true;
}

ds_status ds_assembly_apply(ds_assembly *a, const char *text, size_t length, const char *file, ds_error *error) {
  ds_json_doc doc;
  ds_status status = ds_json_parse(&doc, text, length, file, error);
  if (status != DS_OK) return status;
  reading r = {.reader = {.doc = &doc, .file = file, .error = error}, .a = a};
  r.strength = calloc((size_t)a->interface_count + 1, sizeof *r.strength);
  bool good = r.strength ? apply(&r, doc.root) : ds_reader_fail_memory(&r.reader);
  free(r.strength);
  ds_json_free(&doc);
  return good ? DS_OK : DS_ERROR_INPUT;
}
