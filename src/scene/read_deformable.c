/* Reads deformables of a scene file, in the section "deformables" or inside a body, and builds those that bodies use.
 *
 * A deformable is a body file, which the caller's loader reads, or a shape with a material: tetrahedra from a file, or
 * a closed surface that is filled with them, then reduced. It is built when the first body needs it, once for all
 * bodies that name it or that give it in the very same words. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "body/reduced.h"
#include "scene/read.h"

#define COUNT(table) ((int32_t)(sizeof(table) / sizeof((table)[0])))

typedef struct deformable_text {
  const char *path;
  const ds_json *shape;
  ds_reduced_def def;
  ds_stuffing_def stuffing;
} deformable_text;

/* Places in the table whose being given matters. */
enum { FILE_PATH, SHAPE, FIRST_OTHER, YOUNG = FIRST_OTHER, POISSON, DENSITY, MASS };

#define AT(member) .offset = offsetof(deformable_text, member)
static const ds_field deformable_fields[] = {
    [FILE_PATH] = {.key = "file", .kind = DS_FIELD_NAME, AT(path), .high = 1023},
    [SHAPE] = {.key = "shape", .kind = DS_FIELD_NAMED, AT(shape)},
    [FIRST_OTHER] = {.key = "young", .kind = DS_FIELD_NUMBER, AT(def.young), .unit = "Pa", .low = 1e-9, .high = 1e15},
    [POISSON] = {.key = "poisson", .kind = DS_FIELD_NUMBER, AT(def.poisson), .low = -1, .high = 0.5},
    [DENSITY] = {.key = "density",
                 .kind = DS_FIELD_NUMBER,
                 AT(def.density),
                 .unit = "kg/m³",
                 .low = 1e-9,
                 .high = DS_FIELD_LIMIT},
    [MASS] = {.key = "mass", .kind = DS_FIELD_NUMBER, AT(def.mass), .unit = "kg", .low = 1e-9, .high = DS_FIELD_LIMIT},
    {.key = "modes", .kind = DS_FIELD_INTEGER, AT(def.modes), .low = 1, .high = DS_REDUCED_MAX},
    {.key = "stvk", .kind = DS_FIELD_BOOLEAN, AT(def.stvk)},
    {.key = "damping_mass", .kind = DS_FIELD_NUMBER, AT(def.damping_mass), .unit = "1/s", .high = DS_FIELD_LIMIT},
    {.key = "damping_stiffness",
     .kind = DS_FIELD_NUMBER,
     AT(def.damping_stiffness),
     .unit = "s",
     .high = DS_FIELD_LIMIT},
    {.key = "cell", .kind = DS_FIELD_NUMBER, AT(stuffing.cell), .unit = "m", .low = 1e-9, .high = DS_FIELD_LIMIT},
    {.key = "tets", .kind = DS_FIELD_INTEGER, AT(stuffing.wanted), .low = 1, .high = 1e7},
};
#undef AT

/* ---- what the file says ---- */

static bool read_shape(ds_scene_reader *s, ds_file_deformable *d, const ds_json *shape) {
  ds_reader *r = &s->reader;
  d->of = &d->own_shape;
  if (shape->kind == DS_JSON_OBJECT) return ds_read_solid(r, &d->own_shape, shape, false);
  d->of = ds_names_find(&s->solid_names, shape->string);
  if (!d->of) ds_read_unknown_name(s, shape, &s->solid_names, "solid", "solids");
  return d->of != NULL;
}

static bool read_definition(ds_scene_reader *s, ds_file_deformable *d, const ds_json *value) {
  static const ds_fields fields = {"a deformable", deformable_fields, COUNT(deformable_fields), NULL};
  ds_reader *r = &s->reader;
  deformable_text text = {.def = ds_default_reduced(), .stuffing = ds_default_stuffing()};
  uint64_t given;
  if (!ds_fields_read(r, &text, &given, value, &fields)) return false;
  if ((text.path != NULL) == (text.shape != NULL))
    return ds_reader_fail(
        r, value, "%s; expected one of \"file\", for a body file, and \"shape\"",
        text.path ? "the deformable is said to be two things" : "nothing says what the deformable is");
  for (int32_t i = FIRST_OTHER; text.path && i < COUNT(deformable_fields); i++)
    if (given >> i & 1)
      return ds_reader_fail_key(r, ds_json_find(value, deformable_fields[i].key),
                                "\"%s\" beside \"file\", which has its own; remove it, or give a \"shape\"",
                                deformable_fields[i].key);
  if ((given >> DENSITY & 1) && (given >> MASS & 1))
    return ds_reader_fail_key(r, ds_json_find(value, "mass"), "\"mass\" beside \"density\"; expected one of them");
  if (!(text.def.poisson > -1 && text.def.poisson < 0.5))
    return ds_reader_fail(r, ds_json_find(value, "poisson"),
                          "\"poisson\" is %.9g; expected a number above -1 and below 0.5", text.def.poisson);
  d->path = text.path;
  d->def = text.def;
  d->given = (ds_material_given){given >> YOUNG & 1, given >> POISSON & 1, (given >> DENSITY | given >> MASS) & 1};
  d->stuffing = text.stuffing;
  return !text.shape || read_shape(s, d, text.shape);
}

bool ds_read_deformables(ds_scene_reader *s, const ds_json *object) {
  ds_reader *r = &s->reader;
  if (!object || object->count == 0) return true;
  s->deformables = calloc((size_t)object->count, sizeof *s->deformables);
  if (!s->deformables) return ds_reader_fail_memory(r);
  for (const ds_json *m = object->first; m; m = m->next) {
    if (m->kind == DS_JSON_STRING && strcmp(m->key, "note") == 0) continue;
    snprintf(r->where, sizeof r->where, "deformable %s", ds_quote(m->key).text);
    ds_file_deformable *d = &s->deformables[s->deformable_count++];
    d->value = m;
    if (!ds_read_check_name(r, m, "deformable") || !read_definition(s, d, m)) return false;
    if (!ds_names_add(&s->deformable_names, m->key, d)) return ds_reader_fail_memory(r);
  }
  r->where[0] = 0;
  return true;
}

static void release(ds_file_deformable *items, int32_t count) {
  for (int32_t i = 0; i < count; i++) {
    ds_reduced_release(items[i].reduced);
    free(items[i].text);
  }
  free(items);
}

void ds_read_release_deformables(ds_scene_reader *s) {
  release(s->deformables, s->deformable_count);
  release(s->inline_deformables, s->inline_deformable_count);
  ds_names_free(&s->deformable_names);
  ds_names_free(&s->inline_deformable_names);
}

/* ---- building ---- */

typedef struct building {
  const ds_scene_read_options *options;
  const char *name;
} building;

static void report(void *user, const char *what, double share) {
  building *b = user;
  (void)what;
  b->options->progress(b->options->user, b->name, share);
}

/* What it is called in progress and results: by its name in the section, or by what it is made of. */
static const char *name_of(const ds_file_deformable *d) {
  if (!d->text) return d->value->key;
  const ds_file_solid *of = d->of;
  const char *path = d->path ? d->path : of->path, *slash = path ? strrchr(path, '/') : NULL;
  if (path) return slash ? slash + 1 : path;
  return of->figure ? of->figure : of != &d->own_shape ? of->value->key : "deformable";
}

/* Tetrahedra of the file, or of the surface. */
static bool make_tets(ds_scene_reader *s, ds_tets *tets, const ds_file_deformable *d, const building *b) {
  ds_reader *r = &s->reader;
  ds_error inner = {""};
  ds_mesh surface = {0};
  ds_status status = DS_OK;
  if (d->of->path) {
    char *path = ds_read_path(s, d->value, d->of->path);
    if (!path) return false;
    status = ds_tets_read_any(tets, &surface, path, d->of->scale, &inner);
    free(path);
  } else if (!ds_read_solid_mesh(s, &surface, d->of)) {
    return false;
  }
  if (status == DS_OK && tets->tet_count == 0) {
    ds_stuffing_def def = d->stuffing;
    def.threads = s->options.threads;
    def.progress = s->options.progress ? report : NULL;
    def.user = (void *)b;
    status = ds_tets_stuff(tets, &surface, &def, &inner);
  }
  ds_mesh_free(&surface);
  return status == DS_OK || ds_reader_fail(r, d->value, "%s", inner.message);
}

static bool load(ds_scene_reader *s, ds_file_deformable *d) {
  ds_reader *r = &s->reader;
  ds_error inner = {"this program reads no body files; give a \"shape\" in place of \"file\""};
  char *path = ds_read_path(s, d->value, d->path);
  if (!path) return false;
  if (s->options.load) d->reduced = s->options.load(s->options.user, path, &inner);
  free(path);
  return d->reduced || ds_reader_fail(r, d->value, "%s", inner.message);
}

static bool reduce(ds_scene_reader *s, ds_file_deformable *d) {
  ds_reader *r = &s->reader;
  ds_error inner = {""};
  ds_tets tets = {0};
  building b = {&s->options, name_of(d)};
  if (s->options.progress) s->options.progress(s->options.user, b.name, 0);
  if (!make_tets(s, &tets, d, &b)) return false;
  ds_reduced_def def = d->def;
  if (ds_reduced_take_material(&def, &tets, d->given, &inner) != DS_OK) {
    ds_tets_free(&tets);
    return ds_reader_fail(r, d->value, "%s", inner.message);
  }
  def.name = b.name;
  def.threads = s->options.threads;
  def.cache = s->options.solid_cache;
  def.progress = s->options.progress ? report : NULL;
  def.user = &b;
  d->reduced = ds_reduced_create(&tets, &def, &inner);
  ds_tets_free(&tets);
  return d->reduced || ds_reader_fail(r, d->value, "%s", inner.message);
}

static bool build(ds_scene_reader *s, ds_file_deformable *d) {
  ds_error inner = {""};
  int32_t index = s->deformables_used++;
  if (!s->options.reduced) return d->path ? load(s, d) : reduce(s, d);
  d->reduced = s->options.reduced(s->options.user, index, &inner);
  return d->reduced || ds_reader_fail(&s->reader, d->value, "%s", inner.message);
}

/* ---- for a body ---- */

/* The one given inside a body: one that was given before in the same words, or a new one. */
static ds_file_deformable *find_inline(ds_scene_reader *s, const ds_json *value, int32_t body_count) {
  ds_reader *r = &s->reader;
  size_t length = value->end - value->start;
  if (!s->inline_deformables) s->inline_deformables = calloc((size_t)body_count, sizeof *s->inline_deformables);
  char *text = malloc(length + 1);
  if (!s->inline_deformables || !text) {
    free(text);
    ds_reader_fail_memory(r);
    return NULL;
  }
  memcpy(text, r->doc->text + value->start, length);
  text[length] = 0;
  const ds_file_deformable *found = ds_names_find(&s->inline_deformable_names, text);
  if (found) {
    free(text);
    return &s->inline_deformables[found - s->inline_deformables];
  }
  ds_file_deformable *d = &s->inline_deformables[s->inline_deformable_count++];
  d->value = value;
  d->text = text;
  if (!read_definition(s, d, value)) return NULL;
  if (ds_names_add(&s->inline_deformable_names, text, d)) return d;
  ds_reader_fail_memory(r);
  return NULL;
}

static ds_file_deformable *find_named(ds_scene_reader *s, const ds_json *value) {
  const ds_file_deformable *found = ds_names_find(&s->deformable_names, value->string);
  if (found) return &s->deformables[found - s->deformables];
  ds_read_unknown_name(s, value, &s->deformable_names, "deformable", "deformables");
  return NULL;
}

ds_reduced *ds_read_deformable(ds_scene_reader *s, const ds_json *value, int32_t body_count) {
  ds_reader *r = &s->reader;
  char where[sizeof r->where];
  size_t length = strlen(r->where);
  memcpy(where, r->where, sizeof where);
  bool named = value->kind == DS_JSON_STRING;
  if (!named) snprintf(r->where + length, sizeof r->where - length, ", deformable");
  ds_file_deformable *d = named ? find_named(s, value) : find_inline(s, value, body_count);
  if (!d) return NULL;
  /* what is wrong is wrong with the deformable, not with the body that named it first */
  if (named) snprintf(r->where, sizeof r->where, "deformable %s", ds_quote(value->string).text);
  if (!d->reduced && !build(s, d)) return NULL;
  memcpy(r->where, where, sizeof where);
  return d->reduced;
}
