/* Reads the section "solids" of a scene file, and builds those that bodies use.
 *
 * Every entry is checked when it is read; its mesh is made and its distance field built where the first body asks for
 * it, once for all bodies. A recipe is handed on as text in which everything before it is blank, so that messages about
 * it name the right line and column of the scene file. Limits: a mesh file is found relative to the scene file, or to
 * the folder that the caller gives. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scene/read.h"

#define COUNT(table) ((int32_t)(sizeof(table) / sizeof((table)[0])))
#define NAME_MAX_BYTES 63

/* Places in the table whose being given matters. */
enum { FIGURE, FILE_PATH, RECIPE, MESH, SCALE, CELL, SPACING };

#define AT(member) .offset = offsetof(ds_file_solid, member)
static const ds_field solid_fields[] = {
    [FIGURE] = {.key = "figure", .kind = DS_FIELD_NAME, AT(figure)},
    [FILE_PATH] = {.key = "file", .kind = DS_FIELD_NAME, AT(path), .high = 1023},
    [RECIPE] = {.key = "recipe", .kind = DS_FIELD_OBJECT, AT(recipe)},
    [MESH] = {.key = "mesh", .kind = DS_FIELD_OBJECT, AT(mesh)},
    [SCALE] = {.key = "scale", .kind = DS_FIELD_NUMBER, AT(scale), .low = 1e-9, .high = 1e9},
    [CELL] = {.key = "cell", .kind = DS_FIELD_NUMBER, AT(cell), .unit = "m", .low = 1e-9, .high = DS_FIELD_LIMIT},
    [SPACING] =
        {.key = "spacing", .kind = DS_FIELD_NUMBER, AT(spacing), .unit = "m", .low = 1e-9, .high = DS_FIELD_LIMIT},
};
#undef AT

/* A name becomes part of a path in recordings. */
bool ds_read_check_name(ds_reader *r, const ds_json *member, const char *what) {
  const char *name = member->key;
  size_t length = strlen(name);
  if (length == 0) return ds_reader_fail_key(r, member, "the name is empty; give the %s a name", what);
  if (length > NAME_MAX_BYTES)
    return ds_reader_fail_key(r, member, "the name has %zu bytes; expected at most %d", length, NAME_MAX_BYTES);
  if (strcmp(name, ".") == 0 || strchr(name, '/'))
    return ds_reader_fail_key(r, member, "the name %s; expected one without \"/\" that is not \".\"",
                              ds_quote(name).text);
  for (const char *c = name; *c; c++)
    if ((unsigned char)*c < 0x20 || *c == 0x7F)
      return ds_reader_fail_key(r, member, "the name holds a control character; expected printable text");
  return true;
}

static bool check_figure(ds_reader *r, const ds_json *value) {
  int32_t count;
  const ds_figure *figures = ds_figures(&count);
  char names[1024] = "";
  size_t n = 0;
  for (int32_t i = 0; i < count; i++) {
    if (strcmp(figures[i].name, value->string) == 0) return true;
    if (n < sizeof names) n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", n ? "|" : "", figures[i].name);
  }
  ds_word nearest = ds_nearest_word(value->string, names);
  if (nearest.text[0])
    return ds_reader_fail(r, value, "unknown figure %s; did you mean \"%s\"?", ds_quote(value->string).text,
                          nearest.text);
  for (char *c = names; *c; c++)
    if (*c == '|') *c = ' ';
  return ds_reader_fail(r, value, "unknown figure %s; known are %.240s", ds_quote(value->string).text, names);
}

bool ds_read_solid(ds_reader *r, ds_file_solid *solid, const ds_json *value, bool spacing) {
  const char *what = spacing ? "solid" : "shape";
  ds_fields fields = {spacing ? "a solid" : "a shape", solid_fields, COUNT(solid_fields) - !spacing, NULL};
  uint64_t given;
  *solid = (ds_file_solid){.value = value, .scale = 1};
  if (!ds_fields_read(r, solid, &given, value, &fields)) return false;
  int sources = (int)(given >> FIGURE & 1) + (int)(given >> FILE_PATH & 1) + (int)(given >> RECIPE & 1) +
                (int)(given >> MESH & 1);
  if (sources != 1)
    return ds_reader_fail(r, value, "%s %s %s; expected one of \"figure\", \"file\", \"mesh\" and \"recipe\"",
                          sources == 0 ? "nothing says what the" : "the", what,
                          sources == 0 ? "is" : "is said to be several things");
  if (solid->recipe && (given >> SCALE & 1))
    return ds_reader_fail_key(r, ds_json_find(value, "scale"),
                              "\"scale\" of a recipe; give its sizes in m, or use its own scale");
  return !solid->figure || check_figure(r, ds_json_find(value, "figure"));
}

bool ds_read_solids(ds_scene_reader *s, const ds_json *object) {
  ds_reader *r = &s->reader;
  if (!object || object->count == 0) return true;
  s->solids = calloc((size_t)object->count, sizeof *s->solids);
  if (!s->solids) return ds_reader_fail_memory(r);
  for (const ds_json *m = object->first; m; m = m->next) {
    if (m->kind == DS_JSON_STRING && strcmp(m->key, "note") == 0) continue;
    snprintf(r->where, sizeof r->where, "solid %s", ds_quote(m->key).text);
    ds_file_solid *solid = &s->solids[s->solid_count];
    if (!ds_read_check_name(r, m, "solid") || !ds_read_solid(r, solid, m, true)) return false;
    s->solid_count++;
    if (!ds_names_add(&s->solid_names, m->key, solid)) return ds_reader_fail_memory(r);
  }
  r->where[0] = 0;
  return true;
}

void ds_read_release_solids(ds_scene_reader *s) {
  for (int32_t i = 0; i < s->solid_count; i++) ds_solid_release(s->solids[i].solid);
  free(s->solids);
  ds_names_free(&s->solid_names);
}

/* ---- building ---- */

char *ds_read_path(ds_scene_reader *s, const ds_json *value, const char *path) {
  if (s->options.no_files) {
    ds_reader_fail(&s->reader, value,
                   "the file %.200s cannot be opened from here; a scene from a page may name no files", path);
    return NULL;
  }
  const char *folder = s->options.folder, *file = s->reader.file, *slash = strrchr(file, '/');
  size_t length = folder ? strlen(folder) : slash ? (size_t)(slash - file) : 0;
  bool none = path[0] == '/' || (!folder && !slash);
  size_t size = length + strlen(path) + 2;
  char *whole = malloc(size);
  if (!whole) ds_reader_fail_memory(&s->reader);
  if (whole && none) snprintf(whole, size, "%s", path);
  if (whole && !none) snprintf(whole, size, "%.*s/%s", (int)length, folder ? folder : file, path);
  return whole;
}

/* The text up to the end of the recipe, all before it blank, each character one blank. */
static char *recipe_text(size_t *length, const ds_json_doc *doc, const ds_json *recipe) {
  char *text = malloc((size_t)recipe->end + 1);
  if (!text) return NULL;
  size_t n = 0;
  for (size_t i = 0; i < recipe->start; i++) {
    unsigned char c = (unsigned char)doc->text[i];
    if ((c & 0xC0) != 0x80) text[n++] = c == '\n' ? '\n' : ' ';
  }
  memcpy(text + n, doc->text + recipe->start, recipe->end - recipe->start);
  *length = n + (recipe->end - recipe->start);
  text[*length] = 0;
  return text;
}

static bool make_recipe(ds_reader *r, ds_mesh *mesh, const ds_file_solid *solid) {
  size_t length;
  ds_error inner = {""};
  char *text = recipe_text(&length, r->doc, solid->recipe);
  if (!text) return ds_reader_fail_memory(r);
  ds_status status = ds_mesh_recipe(mesh, text, length, r->file, solid->cell, &inner);
  free(text);
  if (status == DS_OK) return true;
  /* a message with a place of its own is whole */
  size_t n = strlen(r->file);
  if (strncmp(inner.message, r->file, n) == 0 && inner.message[n] == ':')
    *r->error = inner;
  else
    ds_reader_fail(r, solid->recipe, "%s", inner.message);
  return false;
}

/* Rows of three numbers: vertices, or triangles with corners below `limit`. */
static bool read_rows(ds_reader *r, double *out, const ds_json *rows, int32_t limit) {
  static const ds_field vertex = {.key = "a vertex", .kind = DS_FIELD_VECTOR, .unit = "m"};
  for (const ds_json *v = rows->first; v; v = v->next, out += 3) {
    ds_vec3 x;
    if (!ds_reader_vector(r, &x, v, &vertex)) return false;
    out[0] = x.x, out[1] = x.y, out[2] = x.z;
    for (int32_t i = 0; i < 3 && limit > 0; i++)
      if (!(out[i] >= 0 && out[i] < limit) || out[i] != (double)(int32_t)out[i])
        return ds_reader_fail(r, v, "a triangle must name three of the %d vertices, from 0", (int)limit);
  }
  return true;
}

/* "mesh": {"vertices": [[x, y, z], ...], "triangles": [[a, b, c], ...]} */
static bool make_inline(ds_reader *r, ds_mesh *mesh, const ds_file_solid *solid) {
  const ds_json *vertices = ds_json_find(solid->mesh, "vertices"), *triangles = ds_json_find(solid->mesh, "triangles");
  if (!vertices || vertices->kind != DS_JSON_ARRAY || !triangles || triangles->kind != DS_JSON_ARRAY)
    return ds_reader_fail(r, solid->mesh, "a mesh must have lists of \"vertices\" and \"triangles\"");
  size_t nv = (size_t)vertices->count, nt = (size_t)triangles->count;
  double *numbers = malloc(3 * (nv + nt + 1) * sizeof *numbers);
  *mesh = (ds_mesh){.vertices = malloc((nv + 1) * sizeof *mesh->vertices),
                    .vertex_count = vertices->count,
                    .triangles = malloc(3 * (nt + 1) * sizeof *mesh->triangles),
                    .triangle_count = triangles->count};
  bool good = (numbers && mesh->vertices && mesh->triangles) || ds_reader_fail_memory(r);
  good = good && read_rows(r, numbers, vertices, 0) && read_rows(r, numbers + 3 * nv, triangles, vertices->count);
  for (size_t i = 0; i < nv && good; i++)
    mesh->vertices[i] =
        (ds_vec3){solid->scale * numbers[3 * i], solid->scale * numbers[3 * i + 1], solid->scale * numbers[3 * i + 2]};
  for (size_t i = 0; i < 3 * nt && good; i++) mesh->triangles[i] = (int32_t)numbers[3 * nv + i];
  free(numbers);
  if (!good) ds_mesh_free(mesh);
  return good;
}

bool ds_read_solid_mesh(ds_scene_reader *s, ds_mesh *mesh, const ds_file_solid *solid) {
  ds_reader *r = &s->reader;
  ds_error inner = {""};
  ds_status status;
  if (s->options.meshes) {
    status = s->options.meshes(s->options.user, mesh, solid->value->key, &inner);
  } else if (solid->recipe) {
    return make_recipe(r, mesh, solid);
  } else if (solid->mesh) {
    return make_inline(r, mesh, solid);
  } else if (solid->figure) {
    status = ds_mesh_figure(mesh, solid->figure, solid->scale, &inner);
  } else {
    char *path = ds_read_path(s, solid->value, solid->path);
    if (!path) return false;
    status = ds_mesh_read(mesh, path, solid->scale, &inner);
    free(path);
  }
  return status == DS_OK || ds_reader_fail(r, solid->value, "%s", inner.message);
}

typedef struct building {
  const ds_scene_read_options *options;
  const char *name;
} building;

static void report(void *user, double share) {
  building *b = user;
  b->options->progress(b->options->user, b->name, share);
}

static bool build(ds_scene_reader *s, ds_file_solid *solid) {
  ds_reader *r = &s->reader;
  ds_error inner = {""};
  ds_mesh mesh = {0};
  const char *name = solid->value->key;
  building b = {&s->options, name};
  if (s->options.progress) s->options.progress(s->options.user, name, 0);
  if (!ds_read_solid_mesh(s, &mesh, solid)) return false;
  ds_solid_def def = ds_default_solid();
  def.name = name;
  def.cell = solid->recipe ? 0 : solid->cell;
  def.spacing = solid->spacing;
  def.surface_only = s->options.surface_only;
  def.threads = s->options.threads;
  def.cache = s->options.solid_cache;
  def.progress = s->options.progress ? report : NULL;
  def.user = &b;
  solid->solid = ds_solid_create(&mesh, &def, &inner);
  ds_mesh_free(&mesh);
  if (solid->solid) return true;
  static const char prefix[] = "solid: "; /* said already, with the name */
  size_t said = strncmp(inner.message, prefix, sizeof prefix - 1) == 0 ? sizeof prefix - 1 : 0;
  return ds_reader_fail(r, solid->value, "%s", inner.message + said);
}

ds_solid *ds_read_solid_name(ds_scene_reader *s, const ds_json *value) {
  ds_reader *r = &s->reader;
  const ds_file_solid *found = ds_names_find(&s->solid_names, value->string);
  if (!found) {
    ds_read_unknown_name(s, value, &s->solid_names, "solid", "solids");
    return NULL;
  }
  ds_file_solid *solid = &s->solids[found - s->solids];
  if (solid->solid) return solid->solid;
  /* what is wrong is wrong with the solid, not with the body that asked first */
  char where[sizeof r->where];
  memcpy(where, r->where, sizeof where);
  snprintf(r->where, sizeof r->where, "solid %s", ds_quote(solid->value->key).text);
  if (!build(s, solid)) return NULL;
  memcpy(r->where, where, sizeof where);
  return solid->solid;
}
