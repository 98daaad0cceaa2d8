/* Reads a scene from JSON text: docs/scenes.md describes the keys, schema/scene.schema.json is the formal definition.
 *
 * Method: the text becomes a tree (json.c), tables turn objects into definitions (fields.c), and the public API builds
 * the scene; so a program can do whatever a file can. Every error names file, line and column, the body and
 * the key, and what was expected. Last, the start is checked for overlaps. Limits: only the deepest overlap is looked
 * at. */
#include "scene/read.h"
#include "body/scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "la/vec3.h"
#include "scene/start.h"

#define COUNT(table) ((int32_t)(sizeof(table) / sizeof((table)[0])))
#define RULES "geometric|min|max|average|product"

/* The whole file. */
typedef struct file_text {
  double version, time;
  const char *name;
  ds_scene_def def;
  bool allow_overlap;
  const ds_json *options, *materials, *pairs, *solids, *deformables, *bodies, *joints, *interfaces;
} file_text;

#define AT(member) .offset = offsetof(file_text, member)
static const ds_field file_fields[] = {
    {.key = "drystone", .kind = DS_FIELD_NUMBER, AT(version)},
    {.key = "name", .kind = DS_FIELD_NAME, AT(name), .high = 63},
    {.key = "gravity", .kind = DS_FIELD_VECTOR, AT(def.gravity), .unit = "m/s²"},
    {.key = "time", .kind = DS_FIELD_NUMBER, AT(time), .unit = "s", .high = DS_FIELD_LIMIT, .above = true},
    {.key = "options", .kind = DS_FIELD_OBJECT, AT(options)},
    {.key = "friction_rule", .kind = DS_FIELD_CHOICE, AT(def.friction_rule), .choices = RULES},
    {.key = "restitution_rule", .kind = DS_FIELD_CHOICE, AT(def.restitution_rule), .choices = RULES},
    {.key = "materials", .kind = DS_FIELD_OBJECT, AT(materials)},
    {.key = "pairs", .kind = DS_FIELD_ARRAY, AT(pairs)},
    {.key = "solids", .kind = DS_FIELD_OBJECT, AT(solids)},
    {.key = "deformables", .kind = DS_FIELD_OBJECT, AT(deformables)},
    {.key = "allow_overlap", .kind = DS_FIELD_BOOLEAN, AT(allow_overlap)},
    {.key = "bodies", .kind = DS_FIELD_ARRAY, AT(bodies), .required = true},
    {.key = "joints", .kind = DS_FIELD_ARRAY, AT(joints)},
    {.key = "interfaces", .kind = DS_FIELD_ARRAY, AT(interfaces)},
};
#undef AT

#define AT(member) .offset = offsetof(ds_options, member)
enum { METHOD = 2, LAW = 3, INTEGRATOR = 11, STABILIZATION = 14, GRIP = 17 };
static const ds_field option_fields[] = {
    {.key = "step", .kind = DS_FIELD_NUMBER, AT(step), .unit = "s", .low = 1e-9, .high = 1e3},
    {.key = "tolerance", .kind = DS_FIELD_NUMBER, AT(tolerance), .high = 1},
    [METHOD] = {.key = "method", .kind = DS_FIELD_CHOICE, AT(method)},                /* read_options has its choices */
    [LAW] = {.key = "restitution_law", .kind = DS_FIELD_CHOICE, AT(restitution_law)}, /* likewise */
    {.key = "friction_samples", .kind = DS_FIELD_INTEGER, AT(friction_samples), .high = 64},
    {.key = "max_iterations", .kind = DS_FIELD_INTEGER, AT(max_iterations), .low = 1, .high = 1e9},
    {.key = "rel_err", .kind = DS_FIELD_NUMBER, AT(rel_err), .high = DS_FIELD_LIMIT, .above = true},
    {.key = "warm_start", .kind = DS_FIELD_BOOLEAN, AT(warm_start)},
    {.key = "sub_islands", .kind = DS_FIELD_BOOLEAN, AT(sub_islands)},
    {.key = "contacts_per_face", .kind = DS_FIELD_INTEGER, AT(contacts_per_face), .low = 3, .high = 400},
    {.key = "margin", .kind = DS_FIELD_NUMBER, AT(margin), .unit = "m", .high = DS_FIELD_LIMIT},
    [INTEGRATOR] = {.key = "integrator", .kind = DS_FIELD_CHOICE, AT(integrator), .choices = "euler|midpoint|auto"},
    {.key = "impacts", .kind = DS_FIELD_CHOICE, AT(impacts), .choices = "simultaneous|sequential"},
    {.key = "face_pressure", .kind = DS_FIELD_CHOICE, AT(face_pressure), .choices = "corners|even"},
    [STABILIZATION] = {.key = "stabilization",
                       .kind = DS_FIELD_CHOICE,
                       AT(stabilization),
                       .choices = "positions|none|baumgarte|envelope"},
    {.key = "stabilization_gain", .kind = DS_FIELD_NUMBER, AT(stabilization_gain), .high = 1},
    {.key = "envelope", .kind = DS_FIELD_NUMBER, AT(envelope), .unit = "m", .high = DS_FIELD_LIMIT, .above = true},
    [GRIP] = {.key = "friction_stabilization", .kind = DS_FIELD_NUMBER, AT(friction_stabilization), .high = 1},
    {.key = "metric", .kind = DS_FIELD_CHOICE, AT(metric), .choices = "effective|mass"},
    {.key = "newton", .kind = DS_FIELD_INTEGER, AT(newton), .low = 1, .high = 100},
    {.key = "newmark_damping", .kind = DS_FIELD_NUMBER, AT(newmark_damping), .high = 1},
    {.key = "error_control", .kind = DS_FIELD_NUMBER, AT(error_control), .unit = "m/s", .high = DS_FIELD_LIMIT},
    {.key = "step_budget", .kind = DS_FIELD_NUMBER, AT(step_budget), .high = 1e9},
    {.key = "deadline", .kind = DS_FIELD_NUMBER, AT(deadline), .unit = "s", .high = 1e6},
};
#undef AT

enum { MU_ALONG = 2, AXIS = 3 }; /* places in the table */
static const ds_field material_fields[] = {
    {.key = "mu", .kind = DS_FIELD_NUMBER, .offset = offsetof(ds_material_def, mu), .high = DS_FIELD_LIMIT},
    {.key = "e", .kind = DS_FIELD_NUMBER, .offset = offsetof(ds_material_def, restitution), .high = 1},
    {.key = "mu_along", .kind = DS_FIELD_NUMBER, .offset = offsetof(ds_material_def, mu_along), .high = DS_FIELD_LIMIT},
    {.key = "axis", .kind = DS_FIELD_VECTOR, .offset = offsetof(ds_material_def, axis), .unit = "direction"},
};

typedef struct pair_text {
  ds_material_def def;
  const ds_json *materials;
} pair_text;

static const ds_field pair_fields[] = {
    {.key = "mu", .kind = DS_FIELD_NUMBER, .offset = offsetof(pair_text, def.mu), .high = DS_FIELD_LIMIT},
    {.key = "e", .kind = DS_FIELD_NUMBER, .offset = offsetof(pair_text, def.restitution), .high = 1},
    {.key = "materials", .kind = DS_FIELD_ARRAY, .offset = offsetof(pair_text, materials), .required = true},
};

static bool read_version(ds_reader *r, const ds_json *root) {
  if (root->kind != DS_JSON_OBJECT)
    return ds_reader_fail(r, root, "%s where the scene should stand; expected an object {\"drystone\": 1, ...}",
                          ds_json_kind_name(root->kind));
  const ds_json *version = ds_json_find(root, "drystone");
  if (!version) return ds_reader_fail(r, root, "no format version; a scene starts with \"drystone\": 1");
  if (version->kind != DS_JSON_NUMBER)
    return ds_reader_fail(r, version, "\"drystone\" is %s; expected the format version 1",
                          ds_json_kind_name(version->kind));
  if (version->number != 1)
    return ds_reader_fail(r, version, "format version %.9g is unknown to Drystone %s; expected version 1",
                          version->number, ds_version());
  return true;
}

static bool read_options(ds_reader *r, ds_options *options, const ds_json *object) {
  ds_error inner = {""};
  if (!object) return true;
  snprintf(r->where, sizeof r->where, "options");
  const ds_json *predictor = ds_json_find(object, "predictor");
  if (predictor)
    return ds_reader_fail(r, predictor,
                          "\"predictor\" is gone: \"method\" is \"coupled\" where it was \"coupled\", the default, and "
                          "\"staggered\" where it was \"none\"");
  ds_field fields[COUNT(option_fields)];
  ds_method_list methods = ds_method_choices(), laws = ds_restitution_choices();
  memcpy(fields, option_fields, sizeof fields);
  fields[METHOD].choices = methods.text;
  fields[LAW].choices = laws.text;
  uint64_t given;
  ds_options read = *options;
  if (!ds_fields_read(r, &read, &given, object, &(ds_fields){"options", fields, COUNT(fields), NULL})) return false;
  if (given >> METHOD & 1) { /* what goes with it, then once more what is given */
    ds_options_choose(options, read.method);
    ds_fields_read(r, options, NULL, object, &(ds_fields){"options", fields, COUNT(fields), NULL});
  } else {
    *options = read;
  }
  if ((given >> STABILIZATION & 1 || given >> GRIP & 1) && !(given >> INTEGRATOR & 1))
    options->integrator = DS_INTEGRATOR_EULER; /* for which it is meant */
  const ds_json *samples = ds_json_find(object, "friction_samples");
  if (options->friction_samples == 1 || options->friction_samples == 2)
    return ds_reader_fail(r, samples, "\"friction_samples\" is %d; expected 0 for the exact disk, or 3 to 64",
                          options->friction_samples);
  if (ds_options_check(options, &inner) != DS_OK) return ds_reader_fail(r, object, "%s", inner.message);
  r->where[0] = 0;
  return true;
}

/* ---- materials ---- */

static bool read_materials(ds_scene_reader *s, const ds_json *object) {
  static const ds_fields fields = {"a material", material_fields, COUNT(material_fields), NULL};
  ds_reader *r = &s->reader;
  ds_error inner = {""};
  if (!object || object->count == 0) return true;
  s->materials = calloc((size_t)object->count, sizeof *s->materials);
  if (!s->materials) return ds_reader_fail_memory(r);
  ds_file_material *material = s->materials;
  for (const ds_json *m = object->first; m; m = m->next) {
    if (m->kind == DS_JSON_STRING && strcmp(m->key, "note") == 0) continue;
    snprintf(r->where, sizeof r->where, "material %s", ds_quote(m->key).text);
    if (!m->key[0]) return ds_reader_fail_key(r, m, "the name is empty; give the material a name");
    material->def = ds_default_material();
    uint64_t given;
    if (!ds_fields_read(r, &material->def, &given, m, &fields)) return false;
    if ((given >> MU_ALONG & 1) != (given >> AXIS & 1))
      return ds_reader_fail(r, m, "\"%s\" without \"%s\"; friction that differs by direction has both",
                            given >> AXIS & 1 ? "axis" : "mu_along", given >> AXIS & 1 ? "mu_along" : "axis");
    if ((given >> AXIS & 1) && !(v3_norm2(material->def.axis) > 0))
      return ds_reader_fail(r, ds_json_find(m, "axis"), "\"axis\" has no length; expected a direction, as [1, 0, 0]");
    material->id = ds_scene_add_material(s->scene, &material->def, &inner);
    if (material->id.index1 == 0) return ds_reader_fail(r, m, "%s", inner.message);
    if (ds_scene_name_material(s->scene, material->id, m->key, &inner) != DS_OK) return ds_reader_fail_memory(r);
    if (!ds_names_add(&s->material_names, m->key, material)) return ds_reader_fail_memory(r);
    material++;
  }
  r->where[0] = 0;
  return true;
}

void ds_read_unknown_name(ds_scene_reader *s, const ds_json *value, const ds_names *table, const char *what,
                          const char *section) {
  /* the names as "a|b|c", as far as they fit */
  char names[512] = "";
  size_t n = 0;
  for (uint32_t i = 0; i < table->capacity && n < sizeof names; i++)
    if (table->places[i].name)
      n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", n ? "|" : "", table->places[i].name);
  ds_word nearest = ds_nearest_word(value->string, names);
  if (nearest.text[0])
    ds_reader_fail(&s->reader, value, "unknown %s %s; did you mean \"%s\"?", what, ds_quote(value->string).text,
                   nearest.text);
  else
    ds_reader_fail(&s->reader, value, "unknown %s %s; add it to \"%s\" at the top of the scene", what,
                   ds_quote(value->string).text, section);
}

const ds_file_material *ds_read_material_name(ds_scene_reader *s, const ds_json *value) {
  ds_reader *r = &s->reader;
  if (value->kind != DS_JSON_STRING) {
    ds_reader_fail(r, value, "%s where the name of a material should stand; expected a text in double quotes",
                   ds_json_kind_name(value->kind));
    return NULL;
  }
  const ds_file_material *material = ds_names_find(&s->material_names, value->string);
  if (material) return material;
  ds_read_unknown_name(s, value, &s->material_names, "material", "materials");
  return NULL;
}

/* Two pairs of the same materials, in whatever order, have the same key. */
typedef struct pair_key {
  char text[32];
} pair_key;

static bool read_pair(ds_scene_reader *s, pair_key *key, const ds_json *value) {
  static const ds_fields fields = {"a pair", pair_fields, COUNT(pair_fields), NULL};
  ds_reader *r = &s->reader;
  ds_error inner = {""};
  pair_text pair = {0};
  uint64_t given;
  if (!ds_fields_read(r, &pair, &given, value, &fields)) return false;
  if (pair.materials->count != 2)
    return ds_reader_fail(r, pair.materials, "\"materials\" has %d elements; expected the names of two materials",
                          pair.materials->count);
  if (!(given & 3)) return ds_reader_fail(r, value, "a pair with neither \"mu\" nor \"e\"; expected at least one");
  const ds_file_material *a = ds_read_material_name(s, pair.materials->first);
  const ds_file_material *b = a ? ds_read_material_name(s, pair.materials->first->next) : NULL;
  if (!a || !b) return false;
  /* what the pair leaves open follows the rule */
  if (!(given & 1)) pair.def.mu = ds_mix(s->def.friction_rule, a->def.mu, b->def.mu);
  if (!(given & 2)) pair.def.restitution = ds_mix(s->def.restitution_rule, a->def.restitution, b->def.restitution);
  int32_t low = a->id.index1 < b->id.index1 ? a->id.index1 : b->id.index1;
  snprintf(key->text, sizeof key->text, "%d %d", low, a->id.index1 + b->id.index1 - low);
  if (ds_scene_set_pair(s->scene, a->id, b->id, pair.def.mu, pair.def.restitution, &inner) != DS_OK)
    return ds_reader_fail(r, value, "%s", inner.message);
  return true;
}

static bool read_pairs(ds_scene_reader *s, const ds_json *array) {
  ds_reader *r = &s->reader;
  if (!array || array->count == 0) return true;
  ds_names seen = {0};
  pair_key *keys = calloc((size_t)array->count, sizeof *keys);
  bool ok = keys || ds_reader_fail_memory(r);
  int32_t i = 0;
  for (const ds_json *p = array->first; p && ok; p = p->next, i++) {
    snprintf(r->where, sizeof r->where, "pairs[%d]", i);
    ok = read_pair(s, &keys[i], p);
    if (!ok) break;
    const ds_json *old = ds_names_find(&seen, keys[i].text);
    int32_t line, column;
    if (old) {
      ds_json_locate(&line, &column, r->doc->text, old->start);
      ok = ds_reader_fail(r, p, "these materials have a pair on line %d already; keep one", line);
    } else if (!ds_names_add(&seen, keys[i].text, p)) {
      ok = ds_reader_fail_memory(r);
    }
  }
  ds_names_free(&seen);
  free(keys);
  if (ok) r->where[0] = 0;
  return ok;
}

/* ---- the start ---- */

static const ds_json *nth(const ds_json *array, int32_t index) {
  const ds_json *value = array->first;
  for (; value && index > 0; index--) value = value->next;
  return value;
}

static bool check_overlap(ds_scene_reader *s, const ds_json *bodies) {
  ds_reader *r = &s->reader;
  ds_body_id a, b;
  double depth;
  if (ds_start_overlap(&depth, &a, &b, s->scene) != DS_OK) return ds_reader_fail_memory(r);
  if (depth <= 0) return true;
  int32_t first = (a.index1 < b.index1 ? a.index1 : b.index1) - 1, second = a.index1 + b.index1 - 2 - first;
  ds_read_set_where(r, nth(bodies, first), first);
  char other[sizeof r->where];
  memcpy(other, r->where, sizeof other);
  ds_read_set_where(r, nth(bodies, second), second);
  return ds_reader_fail(r, nth(bodies, second),
                        "overlaps %s by %.4g m at the start; move it, or set \"allow_overlap\": true", other, depth);
}

/* ---- the whole ---- */

static bool build(ds_scene_reader *s, ds_run_settings *run, const ds_json *root) {
  static const ds_fields fields = {"a scene", file_fields, COUNT(file_fields), NULL};
  ds_reader *r = &s->reader;
  ds_error inner = {""};
  file_text file = {.time = run->time, .name = "", .def = ds_default_scene()};
  if (!read_version(r, root) || !ds_fields_read(r, &file, NULL, root, &fields)) return false;
  snprintf(run->name, sizeof run->name, "%s", file.name);
  run->time = file.time;
  s->def = file.def;
  if (!read_options(r, &run->options, file.options)) return false;
  s->scene = ds_scene_create(&file.def, &inner);
  if (!s->scene) return ds_reader_fail(r, root, "%s", inner.message);
  if (!read_materials(s, file.materials) || !read_pairs(s, file.pairs) || !ds_read_solids(s, file.solids) ||
      !ds_read_deformables(s, file.deformables) || !ds_read_bodies(s, file.bodies) || !ds_read_joints(s, file.joints) ||
      !ds_read_interfaces(s, file.interfaces))
    return false;
  if (ds_scene_finish(s->scene, &inner) != DS_OK) return ds_reader_fail(r, file.bodies, "%s", inner.message);
  bool joints = file.joints && file.joints->count > 0, soft = file.deformables && file.deformables->count > 0;
  if (ds_method_is_rigid(run->options.method) && (joints || soft))
    return ds_reader_fail(r, joints ? file.joints : file.deformables,
                          "method %s is for rigid bodies without joints; expected another method for this scene",
                          ds_method_name(run->options.method));
  return file.allow_overlap || s->options.surface_only || check_overlap(s, file.bodies);
}

ds_scene_read_options ds_default_scene_read(void) { return (ds_scene_read_options){0}; }

ds_scene *ds_scene_read_text_with(const char *text, size_t length, const char *file,
                                  const ds_scene_read_options *options, ds_run_settings *run, ds_error *error) {
  ds_error own_error;
  ds_json_doc doc;
  ds_run_settings settings = {.time = 10, .options = ds_default_options()};
  if (!error) error = &own_error;
  if (!file) file = "scene";
  error->message[0] = 0;
  if (ds_json_parse(&doc, text, length, file, error) != DS_OK) return NULL;
  ds_scene_reader s = {.reader = {.doc = &doc, .file = file, .error = error},
                       .options = options ? *options : ds_default_scene_read()};
  if (build(&s, &settings, doc.root)) {
    if (run) *run = settings;
  } else {
    ds_scene_destroy(s.scene);
    s.scene = NULL;
  }
  free(s.materials);
  free(s.inline_materials);
  ds_read_release_solids(&s);
  ds_read_release_deformables(&s);
  ds_names_free(&s.material_names);
  ds_names_free(&s.inline_names);
  ds_names_free(&s.body_names);
  ds_json_free(&doc);
  return s.scene;
}

ds_scene *ds_scene_read_text(const char *text, size_t length, const char *file, ds_run_settings *run, ds_error *error) {
  return ds_scene_read_text_with(text, length, file, NULL, run, error);
}

ds_scene *ds_scene_read_file_with(const char *path, const ds_scene_read_options *options, ds_run_settings *run,
                                  ds_error *error) {
  size_t length;
  char *text = ds_text_read_file(path, &length, error);
  if (!text) return NULL;
  ds_scene *scene = ds_scene_read_text_with(text, length, path, options, run, error);
  free(text);
  return scene;
}

ds_scene *ds_scene_read_file(const char *path, ds_run_settings *run, ds_error *error) {
  return ds_scene_read_file_with(path, NULL, run, error);
}
