/* Toy bricks in the format of StableLego [Liu et al. 2024]: JSON {"1": {"x", "y", "z", "brick_id", "ori"}, ...} on a
 * grid of knobs. A brick is one unit high; ori 0 has its shorter side along x, ori 1 along y. Bricks of layer 0 are on
 * a plate. A knob is held at three points (by bricks two or more wide) or four, each of which carries any pressure and
 * a tension up to the clutch. Knobs lock sideways: their friction is high. Neighbours in a layer press without
 * friction. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/fields.h"
#include "base/vec3.h"
#include "stand/blocks.h"

static const double unit_length = 0.0078, unit_height = 0.0096; /* m, per knob and per layer */
static const double knob_mu = 10;                               /* a knob in its cavity does not slide sideways */
static const double standard_gravity = 9.8;                     /* as StableLego has it */
enum { MOST_GRID = 1 << 20 };                                   /* coordinates are below */

/* Width, length and mass of bricks by id. */
static const struct brick_kind {
  int32_t id, width, length;
  double mass;
} kinds[] = {{1, 2, 2, 0.2},     {2, 2, 4, 0.00216}, {3, 2, 6, 0.00323},  {4, 1, 8, 0.00303}, {5, 1, 4, 0.00157},
             {6, 1, 6, 0.00228}, {9, 1, 2, 0.00081}, {10, 1, 1, 0.00043}, {12, 2, 2, 0.00115}};

typedef struct brick {
  int32_t key, x, y, z, along_x, along_y;
  const struct brick_kind *kind;
} brick;

typedef struct reading {
  ds_reader reader;
  ds_builder builder;
  brick *bricks;
  int32_t count;
  ds_surfaces sides;
} reading;

static const ds_json *first_brick(const ds_json *root) {
  return root->kind == DS_JSON_OBJECT && root->first && root->first->kind == DS_JSON_OBJECT ? root->first : NULL;
}

bool ds_assembly_is_bricks(const char *text, size_t length) {
  ds_json_doc doc;
  ds_error error;
  if (ds_json_parse(&doc, text, length, "", &error) != DS_OK) return false;
  const ds_json *first = first_brick(doc.root);
  bool is = first && ds_json_find(first, "brick_id") && ds_json_find(first, "ori");
  ds_json_free(&doc);
  return is;
}

static bool read_whole(reading *r, int32_t *out, const ds_json *value, const char *key) {
  const ds_json *v = ds_json_find(value, key);
  if (!v || v->kind != DS_JSON_NUMBER || v->number != floor(v->number) || !(v->number >= 0 && v->number < MOST_GRID))
    return ds_reader_fail(&r->reader, v ? v : value, "a brick must have \"%s\", a whole number from 0 to %d", key,
                          MOST_GRID - 1);
  *out = (int32_t)v->number;
  return true;
}

static bool read_brick(reading *r, brick *b, const ds_json *value) {
  int32_t id = 0, ori = 0;
  char *end;
  errno = 0;
  long key = strtol(value->key, &end, 10);
  if (value->kind != DS_JSON_OBJECT || end == value->key || *end || errno != 0 || key < 0 || key > INT32_MAX)
    return ds_reader_fail(&r->reader, value, "a brick must be an object whose key is a number");
  b->key = (int32_t)key;
  if (!read_whole(r, &b->x, value, "x") || !read_whole(r, &b->y, value, "y") || !read_whole(r, &b->z, value, "z") ||
      !read_whole(r, &id, value, "brick_id") || !read_whole(r, &ori, value, "ori"))
    return false;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (kinds[i].id == id) b->kind = &kinds[i];
  if (!b->kind)
    return ds_reader_fail(&r->reader, value, "there is no brick with the id %d: 1 to 6, 9, 10 and 12 are known",
                          (int)id);
  if (ori > 1) return ds_reader_fail(&r->reader, value, "\"ori\" must be 0 or 1");
  b->along_x = ori == 0 ? b->kind->width : b->kind->length;
  b->along_y = ori == 0 ? b->kind->length : b->kind->width;
  return true;
}

static int compare(const void *x, const void *y) {
  const brick *a = x, *b = y;
  if (a->z != b->z) return a->z < b->z ? -1 : 1;
  if (a->x != b->x) return a->x < b->x ? -1 : 1;
  return a->key < b->key ? -1 : a->key > b->key;
}

static bool read_bricks(reading *r, const ds_json *root) {
  r->bricks = calloc((size_t)root->count + 1, sizeof *r->bricks);
  if (!r->bricks) return ds_reader_fail_memory(&r->reader);
  for (const ds_json *v = root->first; v; v = v->next)
    if (!read_brick(r, &r->bricks[r->count++], v)) return false;
  qsort(r->bricks, (size_t)r->count, sizeof *r->bricks, compare);
  return true;
}

/* Corner i of a brick: bits are high x, y, z. */
static ds_vec3 corner(const brick *b, int32_t i) {
  return v3(unit_length * (b->x + ((i & 1) ? b->along_x : 0)), unit_length * (b->y + ((i & 2) ? b->along_y : 0)),
            unit_height * (b->z + ((i & 4) ? 1 : 0)));
}

static bool add_block(reading *r, const brick *b) {
  static const int32_t faces[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                      {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
  ds_block *block = ds_builder_block(&r->builder);
  if (!block) return ds_reader_fail_memory(&r->reader);
  snprintf(block->name, sizeof block->name, "%d", (int)b->key);
  ds_vec3 low = corner(b, 0), edges = v3_sub(corner(b, 7), low);
  double m = block->mass = b->kind->mass;
  block->center = v3_mad(low, 0.5, edges);
  block->inertia[0] = m / 12 * (edges.y * edges.y + edges.z * edges.z);
  block->inertia[4] = m / 12 * (edges.x * edges.x + edges.z * edges.z);
  block->inertia[8] = m / 12 * (edges.x * edges.x + edges.y * edges.y);
  for (int32_t f = 0; f < 6; f++) {
    ds_vec3 *at = r->sides.corners + r->sides.corner_count;
    for (int32_t k = 0; k < 4; k++) at[k] = corner(b, faces[f][k]);
    r->sides.corner_count += 4;
    ds_face *face = &r->sides.faces[r->sides.face_count++];
    *face = (ds_face){.block = r->builder.assembly->block_count - 1, .corners = at, .count = 4};
    ds_face_finish(face);
  }
  return true;
}

/* Knobs of brick or plate `a` (below) under brick b, over a range of the grid. */
static void add_knobs(reading *r, int32_t a, int32_t b, int32_t pair, int32_t x0, int32_t x1, int32_t y0, int32_t y1) {
  static const double three[3][2] = {{0.125, -0.125}, {-0.25, 0}, {0.125, 0.125}};
  static const double four[4][2] = {{0, -0.25}, {-0.25, 0}, {0, 0.25}, {0.25, 0}};
  const brick *upper = &r->bricks[b - 1];
  bool wide = upper->kind->width >= 2;
  for (int32_t x = x0; x < x1; x++)
    for (int32_t y = y0; y < y1; y++)
      for (int32_t k = 0; k < (wide ? 3 : 4); k++) {
        const double *d = wide ? three[k] : four[k];
        ds_vec3 p = v3(unit_length * (x + 0.5 + d[0]), unit_length * (y + 0.5 + d[1]), unit_height * upper->z);
        ds_builder_point(&r->builder, (ds_touch_point){a, b, p, v3(0, 0, 1), 0, knob_mu, pair, false});
      }
}

static int32_t larger(int32_t a, int32_t b) { return a > b ? a : b; }
static int32_t smaller(int32_t a, int32_t b) { return a < b ? a : b; }

/* Bricks are sorted by layers, and in a layer by x. */
static bool join_layers(reading *r) {
  int32_t pair = 0, layer = 0, below = 0;
  for (int32_t j = 0; j < r->count; j++) {
    const brick *b = &r->bricks[j];
    if (j > 0 && b->z != r->bricks[j - 1].z) below = layer, layer = j;
    if (b->z == 0) add_knobs(r, 0, j + 1, ++pair, b->x, b->x + b->along_x, b->y, b->y + b->along_y);
    for (int32_t i = layer; i < j; i++) {
      const brick *c = &r->bricks[i];
      if (c->x < b->x + b->along_x && b->x < c->x + c->along_x && c->y < b->y + b->along_y && b->y < c->y + c->along_y)
        return ds_reader_fail(&r->reader, r->reader.doc->root, "bricks %d and %d overlap", (int)c->key, (int)b->key);
    }
    for (int32_t i = below; i < layer; i++) {
      const brick *c = &r->bricks[i];
      int32_t x0 = larger(b->x, c->x), x1 = smaller(b->x + b->along_x, c->x + c->along_x);
      int32_t y0 = larger(b->y, c->y), y1 = smaller(b->y + b->along_y, c->y + c->along_y);
      if (c->z == b->z - 1 && x0 < x1 && y0 < y1) add_knobs(r, i + 1, j + 1, ++pair, x0, x1, y0, y1);
    }
  }
  return true;
}

/* Side faces that lie against each other; horizontal ones have knobs. */
static bool join_neighbours(reading *r) {
  ds_face *sides = malloc(4 * ((size_t)r->count + 1) * sizeof *sides);
  int32_t count = 0;
  if (!sides) return ds_reader_fail_memory(&r->reader);
  for (int32_t f = 0; f < r->sides.face_count; f++)
    if (fabs(r->sides.faces[f].normal.z) < 0.5) sides[count++] = r->sides.faces[f];
  ds_faces_touch(&r->builder, sides, count, 1e-3 * unit_length, 0);
  free(sides);
  return !r->builder.failed || ds_reader_fail_memory(&r->reader);
}

static bool build(reading *r) {
  size_t room = 6 * ((size_t)r->count + 1);
  r->sides.faces = malloc(room * sizeof *r->sides.faces);
  r->sides.corners = malloc(4 * room * sizeof *r->sides.corners);
  if (!r->sides.faces || !r->sides.corners) return ds_reader_fail_memory(&r->reader);
  ds_block *plate = ds_builder_block(&r->builder);
  if (!plate) return ds_reader_fail_memory(&r->reader);
  snprintf(plate->name, sizeof plate->name, "plate");
  plate->support = true;
  for (int32_t i = 0; i < r->count; i++)
    if (!add_block(r, &r->bricks[i])) return false;
  if (!join_layers(r) || !join_neighbours(r)) return false;
  return ds_surfaces_keep(&r->sides, r->builder.assembly) || ds_reader_fail_memory(&r->reader);
}

static void set_properties(ds_assembly *a, const ds_assembly_options *options) {
  for (int32_t i = 0; i < a->interface_count; i++) {
    ds_interface *face = &a->interfaces[i];
    if (fabs(face->normal.z) > 0.5) face->tension = options->clutch;
    if (options->mu >= 0) face->mu = options->mu;
  }
  for (int32_t i = 0; i < options->support_count; i++)
    for (int32_t k = 0; k < a->block_count; k++)
      if (atoi(a->blocks[k].name) == options->supports[i] && strcmp(a->blocks[k].name, "plate") != 0)
        a->blocks[k].support = true;
}

ds_assembly *ds_assembly_read_bricks(const char *text, size_t length, const char *file,
                                     const ds_assembly_options *options, ds_error *error) {
  ds_assembly_options usual = ds_default_assembly_options();
  ds_json_doc doc;
  if (!options) options = &usual;
  if (ds_json_parse(&doc, text, length, file, error) != DS_OK) return NULL;
  reading r = {.reader = {.doc = &doc, .file = file, .error = error}};
  ds_assembly *assembly = NULL;
  bool good = ds_builder_begin(&r.builder) || ds_reader_fail_memory(&r.reader);
  if (good) r.builder.assembly->gravity = v3(0, 0, -standard_gravity);
  if (good && !first_brick(doc.root)) good = ds_reader_fail(&r.reader, doc.root, "expected an object of bricks");
  if (good && read_bricks(&r, doc.root) && build(&r)) {
    assembly = ds_builder_end(&r.builder);
    if (!assembly) ds_reader_fail_memory(&r.reader);
  } else {
    ds_builder_cancel(&r.builder);
  }
  if (assembly) set_properties(assembly, options);
  free(r.bricks);
  ds_surfaces_free(&r.sides);
  ds_json_free(&doc);
  return assembly;
}
