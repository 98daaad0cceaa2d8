/* PLY: ascii, binary_little_endian and binary_big_endian 1.0. The header names elements and their properties in any
 * order; of "vertex" x, y, z are taken, of "face" the list "vertex_indices" (or "vertex_index"), everything else is
 * skipped. Polygons are split into fans. Limits: ELEMENTS elements, PROPERTIES properties; triangle strips are not
 * read. Source: Turk 1994, The PLY polygon file format. */
#include <string.h>

#include "la/vec3.h"
#include "mesh/mesh.h"

enum { ELEMENTS = 64, PROPERTIES = 512 };

typedef enum role { SKIPPED, X, Y, Z, INDICES } role;

typedef struct type {
  const char *name, *other;
  size_t size;
  bool real, is_signed;
} type;

static const type types[] = {
    {"char", "int8", 1, false, true},      {"uchar", "uint8", 1, false, false},  {"short", "int16", 2, false, true},
    {"ushort", "uint16", 2, false, false}, {"int", "int32", 4, false, true},     {"uint", "uint32", 4, false, false},
    {"float", "float32", 4, true, true},   {"double", "float64", 8, true, true},
};

typedef struct property {
  role role;
  const type *count; /* of a list, else NULL */
  const type *item;
} property;

typedef struct element {
  bool vertex, face;
  int64_t count;
  int32_t first, properties; /* of the array below */
  size_t at;                 /* in the header */
} element;

typedef struct ply {
  ds_mesh_input *in;
  bool text, big_endian;
  element elements[ELEMENTS];
  int32_t element_count;
  property properties[PROPERTIES];
  int32_t property_count;
} ply;

/* ---- header ---- */

static bool take_type(ply *p, const type **found) {
  ds_mesh_word word = {0};
  ds_mesh_take_word(p->in, &word);
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
    if (ds_mesh_word_is(&word, types[i].name) || ds_mesh_word_is(&word, types[i].other))
      return *found = &types[i], true;
  return ds_mesh_fail(p->in, p->in->at,
                      "%s is not a PLY type; expected char, uchar, short, ushort, int, uint, float or "
                      "double",
                      ds_mesh_quote_word(&word).text);
}

static bool read_format(ply *p) {
  ds_mesh_word word = {0}, version = {0};
  ds_mesh_take_word(p->in, &word);
  ds_mesh_take_word(p->in, &version);
  p->text = ds_mesh_word_is(&word, "ascii");
  p->big_endian = ds_mesh_word_is(&word, "binary_big_endian");
  if (!p->text && !p->big_endian && !ds_mesh_word_is(&word, "binary_little_endian"))
    return ds_mesh_fail(p->in, p->in->at, "the format is %s; expected ascii, binary_little_endian or binary_big_endian",
                        ds_mesh_quote_word(&word).text);
  if (!ds_mesh_word_is(&version, "1.0"))
    return ds_mesh_fail(p->in, p->in->at, "the version is %s; expected 1.0", ds_mesh_quote_word(&version).text);
  return true;
}

static bool read_element(ply *p) {
  ds_mesh_word name;
  element e = {.first = p->property_count, .at = p->in->at};
  if (!ds_mesh_take_word(p->in, &name)) return ds_mesh_fail(p->in, e.at, "an element without name; expected a name");
  if (!ds_mesh_take_count(p->in, &e.count, "the number of elements")) return false;
  if (p->element_count == ELEMENTS)
    return ds_mesh_fail(p->in, e.at, "more than %d elements; expected \"vertex\" and \"face\"", ELEMENTS);
  e.vertex = ds_mesh_word_is(&name, "vertex");
  e.face = ds_mesh_word_is(&name, "face");
  for (int32_t i = 0; i < p->element_count; i++)
    if ((e.vertex && p->elements[i].vertex) || (e.face && p->elements[i].face))
      return ds_mesh_fail(p->in, e.at, "element %s comes twice; expected it once", ds_mesh_quote_word(&name).text);
  p->elements[p->element_count++] = e;
  return true;
}

static role role_of(const element *e, const ds_mesh_word *name, bool list) {
  if (e->vertex && !list)
    return ds_mesh_word_is(name, "x") ? X : ds_mesh_word_is(name, "y") ? Y : ds_mesh_word_is(name, "z") ? Z : SKIPPED;
  if (e->face && list && (ds_mesh_word_is(name, "vertex_indices") || ds_mesh_word_is(name, "vertex_index")))
    return INDICES;
  return SKIPPED;
}

static bool read_property(ply *p) {
  ds_mesh_input *in = p->in;
  ds_mesh_word word = {0};
  property q = {SKIPPED, NULL, NULL};
  size_t at = in->at;
  if (p->element_count == 0) return ds_mesh_fail(in, at, "a property before any element; expected \"element\"");
  if (p->property_count == PROPERTIES)
    return ds_mesh_fail(in, at, "more than %d properties; expected fewer", PROPERTIES);
  bool list = ds_mesh_take_word(in, &word) && ds_mesh_word_is(&word, "list");
  if (!list) in->at = at;
  if ((list && !take_type(p, &q.count)) || !take_type(p, &q.item)) return false;
  if (list && q.count->real) return ds_mesh_fail(in, at, "the length of a list is a real; expected a whole type");
  if (!ds_mesh_take_word(in, &word)) return ds_mesh_fail(in, at, "a property without name; expected a name");
  element *e = &p->elements[p->element_count - 1];
  q.role = role_of(e, &word, list);
  if (q.role == INDICES && q.item->real)
    return ds_mesh_fail(in, at, "vertex indices are reals; expected a whole type such as int");
  for (int32_t i = 0; i < e->properties; i++)
    if (q.role != SKIPPED && p->properties[e->first + i].role == q.role)
      return ds_mesh_fail(in, at, "property %s comes twice; expected it once", ds_mesh_quote_word(&word).text);
  p->properties[p->property_count++] = q;
  e->properties++;
  return true;
}

static bool has(const ply *p, const element *e, role r) {
  for (int32_t i = 0; i < e->properties; i++)
    if (p->properties[e->first + i].role == r) return true;
  return false;
}

static bool check_header(ply *p) {
  bool vertex = false, face = false;
  for (int32_t i = 0; i < p->element_count; i++) {
    const element *e = &p->elements[i];
    vertex = vertex || e->vertex;
    face = face || e->face;
    if (e->vertex && !(has(p, e, X) && has(p, e, Y) && has(p, e, Z)))
      return ds_mesh_fail(p->in, e->at, "the vertices lack coordinates; expected properties x, y and z");
    if (e->face && !has(p, e, INDICES))
      return ds_mesh_fail(p->in, e->at, "the faces lack vertices; expected a list property vertex_indices");
  }
  if (!vertex) return ds_mesh_fail(p->in, p->in->at, "the header has no vertices; expected \"element vertex\"");
  if (!face) return ds_mesh_fail(p->in, p->in->at, "the header has no faces; expected \"element face\"");
  return true;
}

static bool read_header(ply *p) {
  ds_mesh_input *in = p->in;
  ds_mesh_word word = {0};
  bool format = false, ok = true;
  in->by_line = true;
  if (!ds_mesh_take_word(in, &word) || !ds_mesh_word_is(&word, "ply"))
    return ds_mesh_fail(in, 0, "%s at the start; expected \"ply\"", ds_mesh_quote_word(&word).text);
  /* where lines end with CR alone, an LF behind the last one is data */
  bool cr_only = in->at + 1 < in->length && in->bytes[in->at] == '\r' && in->bytes[in->at + 1] != '\n';
  while (ok && ds_mesh_next_line(in)) {
    if (!ds_mesh_take_word(in, &word)) continue;
    if (ds_mesh_word_is(&word, "end_header")) {
      if (!format)
        return ds_mesh_fail(in, word.at, "the header has no format; expected \"format ascii 1.0\" or binary");
      if (!check_header(p)) return false;
      size_t end = in->at;
      while (end < in->length && in->bytes[end] != '\r' && in->bytes[end] != '\n') end++;
      ds_mesh_next_line(in);
      if (cr_only) in->at = end < in->length ? end + 1 : end;
      return true;
    }
    if (ds_mesh_word_is(&word, "format"))
      ok = format = read_format(p);
    else if (ds_mesh_word_is(&word, "element"))
      ok = read_element(p);
    else if (ds_mesh_word_is(&word, "property"))
      ok = read_property(p);
    else if (!ds_mesh_word_is(&word, "comment") && !ds_mesh_word_is(&word, "obj_info"))
      ok = ds_mesh_fail(in, word.at,
                        "%s is not a keyword of a PLY header; expected element, property, comment or end_header",
                        ds_mesh_quote_word(&word).text);
  }
  return ok && ds_mesh_fail(in, in->at, "the file ends within its header; expected \"end_header\"");
}

/* ---- body ---- */

static bool take_whole(ply *p, int64_t *value, const type *t, const char *what) {
  const char *bytes;
  if (p->text) return ds_mesh_take_integer(p->in, value, what);
  if (!ds_mesh_take_bytes(p->in, &bytes, t->size, what)) return false;
  uint64_t bits = ds_mesh_load(bytes, t->size, p->big_endian);
  uint64_t sign = t->is_signed ? (uint64_t)1 << (8 * t->size - 1) : 0;
  *value = (int64_t)(bits ^ sign) - (int64_t)sign;
  return true;
}

static bool take_real(ply *p, double *value, const type *t) {
  const char *bytes;
  int64_t whole;
  if (p->text) return ds_mesh_take_number(p->in, value, "a coordinate");
  if (!t->real) {
    if (!take_whole(p, &whole, t, "a coordinate")) return false;
    *value = (double)whole;
    return true;
  }
  if (!ds_mesh_take_bytes(p->in, &bytes, t->size, "a coordinate")) return false;
  *value = ds_mesh_load_real(bytes, t->size, p->big_endian);
  return true;
}

static bool skip(ply *p, const type *t, int64_t count) {
  const char *bytes;
  if (p->text) return ds_mesh_skip_words(p->in, count, "a property");
  return ds_mesh_take_bytes(p->in, &bytes, (size_t)count * t->size, "a property");
}

static bool read_list(ply *p, const property *q) {
  int64_t count, index;
  size_t start = p->in->at;
  if (!take_whole(p, &count, q->count, "the length of a list")) return false;
  if (!ds_mesh_check_count(p->in, count, start, "the length of a list")) return false;
  if (q->role != INDICES) return skip(p, q->item, count);
  if (count < 3) return ds_mesh_fail(p->in, p->in->at, "a face with %d corners; expected at least 3", (int)count);
  ds_mesh_begin_polygon(p->in);
  for (int64_t i = 0; i < count; i++) {
    if (!take_whole(p, &index, q->item, "a vertex index")) return false;
    if (!ds_mesh_add_corner(p->in, index, p->text ? p->in->at : p->in->at - q->item->size)) return false;
  }
  return true;
}

static bool read_row(ply *p, const element *e) {
  double x[3] = {0, 0, 0};
  size_t at = p->in->at;
  for (int32_t i = 0; i < e->properties; i++) {
    const property *q = &p->properties[e->first + i];
    bool ok = q->count             ? read_list(p, q)
              : q->role == SKIPPED ? skip(p, q->item, 1)
                                   : take_real(p, &x[q->role - X], q->item);
    if (!ok) return false;
  }
  return !e->vertex || ds_mesh_add_vertex(p->in, v3(x[0], x[1], x[2]), p->text ? p->in->at : at);
}

bool ds_mesh_read_ply(ds_mesh_input *in) {
  ply p = {.in = in};
  if (!read_header(&p)) return false;
  in->by_line = false;
  in->binary = !p.text;
  for (int32_t i = 0; i < p.element_count; i++) {
    const element *e = &p.elements[i];
    for (int64_t k = 0; e->properties > 0 && k < e->count; k++)
      if (!read_row(&p, e)) return false;
  }
  return true;
}
