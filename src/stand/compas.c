/* Assemblies of compas_assembly and compas_cra: JSON in which `data.graph` (or `data.graph.data`) has nodes with
 * blocks, meshes of vertices and faces, and edges u -> v with interfaces: polygons whose normal, x axis times y axis of
 * their frame, points from u to v. Where no edge has one, touching faces are searched. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/fields.h"
#include "base/vec3.h"
#include "stand/blocks.h"

typedef struct reading {
  ds_reader reader;
  const ds_assembly_options *options;
  ds_builder builder;
  int32_t *key; /* of the blocks, ascending */
  ds_surfaces surfaces;
  int32_t given; /* interfaces so far */
  double mu;
} reading;

static const ds_json *inner(const ds_json *object) { /* newer files wrap everything in {dtype, data} */
  const ds_json *data = object && object->kind == DS_JSON_OBJECT ? ds_json_find(object, "data") : NULL;
  return data && data->kind == DS_JSON_OBJECT ? data : object;
}

static const ds_json *member(const ds_json *object, const char *key, ds_json_kind kind) {
  const ds_json *value = object && object->kind == DS_JSON_OBJECT ? ds_json_find(object, key) : NULL;
  return value && value->kind == kind ? value : NULL;
}

static const ds_json *graph_of(const ds_json *root) {
  const ds_json *top = inner(root), *graph = member(top, "graph", DS_JSON_OBJECT);
  return graph ? inner(graph) : NULL;
}

bool ds_assembly_is_compas(const char *text, size_t length) {
  ds_json_doc doc;
  ds_error error;
  if (ds_json_parse(&doc, text, length, "", &error) != DS_OK) return false;
  bool is = member(graph_of(doc.root), "node", DS_JSON_OBJECT) != NULL;
  ds_json_free(&doc);
  return is;
}

/* A key: a number from 0, perhaps in quotes within the quotes. */
static bool read_key(int32_t *number, const char *key) {
  char *end;
  while (*key == '\'' || *key == '"') key++;
  errno = 0;
  long value = strtol(key, &end, 10);
  while (*end == '\'' || *end == '"') end++;
  *number = (int32_t)value;
  return *end == 0 && end != key && errno == 0 && value >= 0 && value < INT32_MAX;
}

static int32_t block_of(const reading *r, int32_t key) {
  int32_t low = 0, high = r->builder.assembly->block_count;
  while (low < high) {
    int32_t middle = (low + high) / 2;
    if (r->key[middle] < key)
      low = middle + 1;
    else
      high = middle;
  }
  return low < r->builder.assembly->block_count && r->key[low] == key ? low : -1;
}

typedef struct entry {
  int32_t key;
  const ds_json *node;
} entry;

static int compare(const void *x, const void *y) {
  const entry *a = x, *b = y;
  return a->key < b->key ? -1 : a->key > b->key;
}

/* ---- blocks ---- */

static bool read_point(reading *r, ds_vec3 *point, const ds_json *vertex) {
  static const char *const axes[] = {"x", "y", "z"};
  double x[3] = {0}; /* the default of a vertex */
  if (vertex->kind != DS_JSON_OBJECT)
    return ds_reader_fail(&r->reader, vertex, "a vertex is %s; expected an object with x, y, z",
                          ds_json_kind_name(vertex->kind));
  for (int32_t i = 0; i < 3; i++) {
    const ds_json *value = ds_json_find(vertex, axes[i]);
    if (!value) continue;
    if (value->kind != DS_JSON_NUMBER || !(fabs(value->number) < DS_FIELD_LIMIT))
      return ds_reader_fail(&r->reader, value, "%s of a vertex must be a number below 1e12 m", axes[i]);
    x[i] = value->number;
  }
  *point = v3(x[0], x[1], x[2]);
  return true;
}

/* Vertices by key. */
static bool read_vertices(reading *r, ds_vec3 *points, int32_t *keys, const ds_json *vertices) {
  int32_t n = 0;
  for (const ds_json *v = vertices->first; v; v = v->next, n++) {
    if (!read_key(&keys[n], v->key)) return ds_reader_fail(&r->reader, v, "the key of a vertex must be a number");
    if (!read_point(r, &points[n], v)) return false;
  }
  return true;
}

static int32_t vertex_of(const int32_t *keys, int32_t count, double key) {
  for (int32_t i = 0; i < count; i++)
    if (keys[i] == key) return i;
  return -1;
}

static bool read_face(reading *r, ds_face *face, const ds_json *loop, const ds_vec3 *points, const int32_t *keys,
                      int32_t vertex_count) {
  if (loop->kind != DS_JSON_ARRAY || loop->count < 3)
    return ds_reader_fail(&r->reader, loop, "a face must be a list of three or more vertices");
  ds_vec3 *corners = r->surfaces.corners + r->surfaces.corner_count;
  int32_t n = 0, last = -1, start = -1;
  for (const ds_json *v = loop->first; v; v = v->next) {
    int32_t i = v->kind == DS_JSON_NUMBER ? vertex_of(keys, vertex_count, v->number) : -1;
    if (i < 0) return ds_reader_fail(&r->reader, v, "a face names a vertex that the block does not have");
    if (i == last || (!v->next && i == start)) continue; /* loops that name a vertex twice */
    if (n == 0) start = i;
    corners[n++] = points[last = i];
  }
  r->surfaces.corner_count += n;
  *face = (ds_face){.block = r->builder.assembly->block_count - 1, .corners = corners, .count = n};
  return true;
}

static bool weigh(reading *r, ds_block *block, int32_t first_face, const ds_json *at) {
  ds_status status = ds_surfaces_weigh(&r->surfaces, block, first_face, r->options->density);
  if (status == DS_ERROR_MEMORY) return ds_reader_fail_memory(&r->reader);
  return status == DS_OK || ds_reader_fail(&r->reader, at, "block %s encloses no volume", block->name);
}

static bool read_block(reading *r, const ds_json *node, int32_t key, bool support_default) {
  ds_block *block = ds_builder_block(&r->builder);
  if (!block) return ds_reader_fail_memory(&r->reader);
  snprintf(block->name, sizeof block->name, "%d", (int)key);
  const ds_json *mesh = inner(member(node, "block", DS_JSON_OBJECT)), *support = ds_json_find(node, "is_support");
  const ds_json *vertices = member(mesh, "vertex", DS_JSON_OBJECT), *faces = member(mesh, "face", DS_JSON_OBJECT);
  if (!vertices || !faces || vertices->count < 4)
    return ds_reader_fail(&r->reader, node, "node %d has no block with vertices and faces", (int)key);
  block->support = support && support->kind == DS_JSON_BOOLEAN ? support->boolean : support_default;
  for (int32_t i = 0; i < r->options->support_count; i++)
    block->support = block->support || r->options->supports[i] == key;
  ds_vec3 *points = malloc((size_t)vertices->count * sizeof *points);
  int32_t *keys = malloc((size_t)vertices->count * sizeof *keys), first = r->surfaces.face_count;
  bool good = (points && keys) || ds_reader_fail_memory(&r->reader);
  good = good && read_vertices(r, points, keys, vertices);
  for (const ds_json *f = faces->first; f && good; f = f->next) {
    good = read_face(r, &r->surfaces.faces[r->surfaces.face_count], f, points, keys, vertices->count);
    if (good && r->surfaces.faces[r->surfaces.face_count].count >= 3) r->surfaces.face_count++;
  }
  free(points);
  free(keys);
  return good && weigh(r, block, first, node);
}

static bool read_blocks(reading *r, const ds_json *graph) {
  const ds_json *nodes = member(graph, "node", DS_JSON_OBJECT);
  const ds_json *defaults = member(graph, "default_node_attributes", DS_JSON_OBJECT);
  const ds_json *support = member(defaults, "is_support", DS_JSON_BOOLEAN);
  int32_t count = 0, faces = 0, corners = 0;
  entry *entries = malloc(((size_t)nodes->count + 1) * sizeof *entries);
  if (!entries) return ds_reader_fail_memory(&r->reader);
  bool good = true;
  for (const ds_json *n = nodes->first; n && good; n = n->next) {
    entries[count].node = n;
    good = n->kind == DS_JSON_OBJECT && read_key(&entries[count++].key, n->key);
    if (!good) ds_reader_fail(&r->reader, n, "a node must be an object whose key is a number");
    const ds_json *all = member(inner(member(n, "block", DS_JSON_OBJECT)), "face", DS_JSON_OBJECT);
    for (const ds_json *f = all ? all->first : NULL; f; f = f->next) faces++, corners += f->count;
  }
  if (good) qsort(entries, (size_t)count, sizeof *entries, compare);
  r->key = malloc(((size_t)count + 1) * sizeof *r->key);
  r->surfaces.faces = malloc(((size_t)faces + 1) * sizeof *r->surfaces.faces);
  r->surfaces.corners = malloc(((size_t)corners + 1) * sizeof *r->surfaces.corners);
  if (good && (!r->key || !r->surfaces.faces || !r->surfaces.corners)) good = ds_reader_fail_memory(&r->reader);
  for (int32_t i = 0; i < count && good; i++) {
    r->key[i] = entries[i].key;
    good = i == 0 || entries[i].key != entries[i - 1].key ||
           ds_reader_fail(&r->reader, entries[i].node, "two nodes have the key %d", (int)entries[i].key);
    good = good && read_block(r, entries[i].node, entries[i].key, support && support->boolean);
  }
  free(entries);
  for (int32_t i = 0; i < r->options->support_count && good; i++)
    if (block_of(r, r->options->supports[i]) < 0)
      good = ds_reader_fail(&r->reader, nodes, "there is no block %d to be a support", (int)r->options->supports[i]);
  return good;
}

/* ---- interfaces ---- */

static bool read_vector(reading *r, ds_vec3 *vector, const ds_json *value, const ds_json *at, const char *what) {
  static const ds_field any = {.key = "a point", .kind = DS_FIELD_VECTOR};
  if (!value) return ds_reader_fail(&r->reader, at, "an interface has no %s", what);
  return ds_reader_vector(&r->reader, vector, value, &any);
}

static bool read_interface(reading *r, const ds_json *value, int32_t a, int32_t b) {
  const ds_json *data = inner(value), *points = member(data, "points", DS_JSON_ARRAY);
  const ds_json *frame = inner(member(data, "frame", DS_JSON_OBJECT));
  ds_vec3 x, y;
  if (!points || points->count == 0 || !frame)
    return ds_reader_fail(&r->reader, value, "an interface must have points and a frame");
  if (!read_vector(r, &x, ds_json_find(frame, "xaxis"), value, "xaxis") ||
      !read_vector(r, &y, ds_json_find(frame, "yaxis"), value, "yaxis"))
    return false;
  ds_vec3 normal = v3_unit(v3_cross(x, y));
  if (!(v3_norm(normal) > 0.5)) return ds_reader_fail(&r->reader, frame, "the axes of a frame are parallel");
  r->given++;
  for (const ds_json *p = points->first; p; p = p->next) {
    ds_vec3 point;
    if (!read_vector(r, &point, p, value, "point")) return false;
    ds_builder_point(&r->builder, (ds_touch_point){a, b, point, normal, 0, r->mu, r->given, false});
  }
  return true;
}

static bool read_edge(reading *r, const ds_json *edge, int32_t a, int32_t b) {
  const ds_json *list = member(edge, "interfaces", DS_JSON_ARRAY), *one = member(edge, "interface", DS_JSON_OBJECT);
  for (const ds_json *i = list ? list->first : NULL; i; i = i->next)
    if (!read_interface(r, i, a, b)) return false;
  return list || !one || read_interface(r, one, a, b);
}

static bool read_edges(reading *r, const ds_json *graph) {
  const ds_json *edges = member(graph, "edge", DS_JSON_OBJECT);
  for (const ds_json *u = edges ? edges->first : NULL; u; u = u->next)
    for (const ds_json *v = u->kind == DS_JSON_OBJECT ? u->first : NULL; v; v = v->next) {
      int32_t a = -1, b = -1, key;
      if (read_key(&key, u->key)) a = block_of(r, key);
      if (read_key(&key, v->key)) b = block_of(r, key);
      if (a < 0 || b < 0 || a == b)
        return ds_reader_fail(&r->reader, v, "an edge must be between two different blocks");
      if (r->builder.assembly->blocks[a].support && r->builder.assembly->blocks[b].support) continue;
      if (!read_edge(r, v, a, b)) return false;
    }
  return true;
}

ds_assembly *ds_assembly_read_compas(const char *text, size_t length, const char *file,
                                     const ds_assembly_options *options, ds_error *error) {
  ds_assembly_options usual = ds_default_assembly_options();
  ds_json_doc doc;
  if (ds_json_parse(&doc, text, length, file, error) != DS_OK) return NULL;
  reading r = {.reader = {.doc = &doc, .file = file, .error = error}, .options = options ? options : &usual};
  r.mu = r.options->mu >= 0 ? r.options->mu : DS_USUAL_MU;
  ds_assembly *assembly = NULL;
  const ds_json *graph = graph_of(doc.root);
  bool good = ds_builder_begin(&r.builder) || ds_reader_fail_memory(&r.reader);
  if (good && !member(graph, "node", DS_JSON_OBJECT))
    good = ds_reader_fail(&r.reader, doc.root, "not an assembly: there is no data.graph with nodes");
  if (good) r.builder.assembly->gravity = v3(0, 0, -9.81);
  good = good && read_blocks(&r, graph) && read_edges(&r, graph);
  if (good) r.builder.assembly->given = r.given > 0;
  if (good && r.builder.touch_count == 0) ds_surfaces_touch(&r.surfaces, &r.builder, r.options, r.mu);
  good = good &&
         ((!r.builder.failed && ds_surfaces_keep(&r.surfaces, r.builder.assembly)) || ds_reader_fail_memory(&r.reader));
  if (good) {
    assembly = ds_builder_end(&r.builder);
    if (!assembly) ds_reader_fail_memory(&r.reader);
  } else {
    ds_builder_cancel(&r.builder);
  }
  free(r.key);
  ds_surfaces_free(&r.surfaces);
  ds_json_free(&doc);
  return assembly;
}
