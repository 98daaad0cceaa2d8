/* Wavefront OBJ whose objects ("o NAME") or groups ("g NAME") are blocks. Faces are polygons of vertices; everything
 * else of the format is passed over. Faces before the first name are a block of their own. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/vec3.h"
#include "stand/blocks.h"

enum { MOST_CORNERS_OF_FACE = 64 };

typedef struct reading {
  const char *file;
  int32_t line;
  ds_error *error;
  ds_builder builder;
  const ds_assembly_options *options;
  ds_vec3 *vertices;
  int32_t vertex_count, vertex_capacity, face_capacity, corner_capacity;
  ds_surfaces surfaces;
  int32_t *first_corner; /* of faces: corners move while they grow */
  int32_t first_capacity;
} reading;

static bool fail(reading *r, const char *text, const char *what) {
  ds_fail(r->error, DS_ERROR_INPUT, "%s:%d: %s%s", r->file, (int)r->line, text, what);
  return false;
}

static bool fail_memory(reading *r) {
  ds_fail(r->error, DS_ERROR_MEMORY, "memory ran out");
  return false;
}

static bool read_vertex(reading *r, const char *at) {
  double x[3];
  char *end;
  for (int32_t i = 0; i < 3; i++, at = end) {
    x[i] = strtod(at, &end);
    if (end == at || !(fabs(x[i]) < 1e12)) return fail(r, "expected three coordinates below 1e12", "");
  }
  if (!ds_array_reserve(&r->vertices, &r->vertex_capacity, r->vertex_count + 1, sizeof *r->vertices))
    return fail_memory(r);
  r->vertices[r->vertex_count++] = v3(x[0], x[1], x[2]);
  return true;
}

static bool begin_block(reading *r, const char *name, size_t length) {
  ds_assembly *a = r->builder.assembly;
  bool empty = a->block_count > 0 && (r->surfaces.face_count == 0 ||
                                      r->surfaces.faces[r->surfaces.face_count - 1].block != a->block_count - 1);
  ds_block *b = empty ? &a->blocks[a->block_count - 1] : ds_builder_block(&r->builder);
  if (!b) return fail_memory(r);
  while (length > 0 && (name[length - 1] == ' ' || name[length - 1] == '\r')) length--;
  snprintf(b->name, sizeof b->name, "%.*s", (int)(length < 63 ? length : 63), name);
  if (b->name[0] == 0) snprintf(b->name, sizeof b->name, "%d", (int)a->block_count - 1);
  return true;
}

static bool read_face(reading *r, const char *at, const char *end) {
  ds_surfaces *s = &r->surfaces;
  if (r->builder.assembly->block_count == 0 && !begin_block(r, "", 0)) return false;
  if (!ds_array_reserve(&s->faces, &r->face_capacity, s->face_count + 1, sizeof *s->faces) ||
      !ds_array_reserve(&r->first_corner, &r->first_capacity, s->face_count + 1, sizeof *r->first_corner) ||
      !ds_array_reserve(&s->corners, &r->corner_capacity, s->corner_count + MOST_CORNERS_OF_FACE, sizeof *s->corners))
    return fail_memory(r);
  int32_t n = 0;
  while (at < end) {
    char *next;
    long v = strtol(at, &next, 10);
    if (next == at) break;
    long i = v < 0 ? r->vertex_count + v : v - 1;
    if (i < 0 || i >= r->vertex_count) return fail(r, "a face names a vertex that is not there", "");
    if (n == MOST_CORNERS_OF_FACE) return fail(r, "a face has more than 64 corners", "");
    s->corners[s->corner_count + n++] = r->vertices[i];
    while (next < end && *next != ' ' && *next != '\t') next++; /* texture and normal */
    at = next;
  }
  if (n < 3) return fail(r, "a face must have three or more corners", "");
  s->faces[s->face_count] = (ds_face){.block = r->builder.assembly->block_count - 1, .count = n};
  r->first_corner[s->face_count++] = s->corner_count;
  s->corner_count += n;
  return true;
}

static bool read_line(reading *r, const char *line, const char *end) {
  while (line < end && (*line == ' ' || *line == '\t')) line++;
  if (end - line < 2 || (line[1] != ' ' && line[1] != '\t')) return true;
  if (line[0] == 'v') return read_vertex(r, line + 2);
  if (line[0] == 'f') return read_face(r, line + 2, end);
  if (line[0] == 'o' || line[0] == 'g') return begin_block(r, line + 2, (size_t)(end - line - 2));
  return true;
}

static bool read_lines(reading *r, const char *text, size_t length) {
  for (const char *at = text, *stop = text + length; at < stop;) {
    const char *end = memchr(at, '\n', (size_t)(stop - at));
    if (!end) end = stop;
    r->line++;
    if (!read_line(r, at, end)) return false;
    at = end + 1;
  }
  return true;
}

static bool finish_blocks(reading *r) {
  ds_surfaces *s = &r->surfaces;
  ds_assembly *a = r->builder.assembly;
  for (int32_t f = 0; f < s->face_count; f++) s->faces[f].corners = s->corners + r->first_corner[f];
  int32_t last = a->block_count - 1; /* a name without faces at the end */
  if (last >= 0 && (s->face_count == 0 || s->faces[s->face_count - 1].block != last)) a->block_count--;
  if (a->block_count == 0) return fail(r, "there are no faces", "");
  int32_t all = s->face_count, first = 0;
  for (int32_t i = 0; i < a->block_count; i++) {
    s->face_count = first;
    while (s->face_count < all && s->faces[s->face_count].block == i) s->face_count++;
    ds_status status = ds_surfaces_weigh(s, &a->blocks[i], first, r->options->density);
    if (status == DS_ERROR_MEMORY) return fail_memory(r);
    if (status != DS_OK) {
      ds_fail(r->error, DS_ERROR_INPUT, "%s: group %s encloses no volume", r->file, a->blocks[i].name);
      return false;
    }
    first = s->face_count;
  }
  for (int32_t i = 0; i < r->options->support_count; i++) {
    int32_t k = r->options->supports[i];
    if (k < 0 || k >= a->block_count) {
      ds_fail(r->error, DS_ERROR_INPUT, "%s: there is no group %d to be a support; there are %d", r->file, (int)k,
              (int)a->block_count);
      return false;
    }
    a->blocks[k].support = true;
  }
  return true;
}

ds_assembly *ds_assembly_read_obj(const char *text, size_t length, const char *file, const ds_assembly_options *options,
                                  ds_error *error) {
  ds_assembly_options usual = ds_default_assembly_options();
  if (!options) options = &usual;
  reading r = {.file = file, .error = error, .options = options};
  ds_assembly *assembly = NULL;
  /* numbers are read up to what ends them: the last line ends with the text */
  char *copy = malloc(length + 1);
  bool good = (copy && ds_builder_begin(&r.builder)) || fail_memory(&r);
  if (good) {
    memcpy(copy, text, length);
    copy[length] = 0;
    r.builder.assembly->gravity = v3(0, 0, -9.81);
  }
  if (good && read_lines(&r, copy, length) && finish_blocks(&r)) {
    ds_surfaces_touch(&r.surfaces, &r.builder, options, options->mu >= 0 ? options->mu : DS_USUAL_MU);
    bool kept = !r.builder.failed && ds_surfaces_keep(&r.surfaces, r.builder.assembly);
    assembly = kept ? ds_builder_end(&r.builder) : NULL;
    if (!kept) ds_builder_cancel(&r.builder);
    if (!assembly) fail_memory(&r);
  } else {
    ds_builder_cancel(&r.builder);
  }
  free(copy);
  free(r.vertices);
  free(r.first_corner);
  ds_surfaces_free(&r.surfaces);
  return assembly;
}
