/* VTK's legacy files that hold an unstructured grid, text and binary (which is big-endian), versions 1 to 5.1.
 *
 *   # vtk DataFile Version 2.0 | title | ASCII or BINARY | DATASET UNSTRUCTURED_GRID
 *   POINTS n type              x y z of every point
 *   CELLS n size               to version 4: how many points, then which, for every cell
 *   CELLS n+1 size             from version 5: OFFSETS type, n+1 of them; CONNECTIVITY type, the points of all cells
 *   CELL_TYPES n               10 = tetrahedron, 24 and 71 of higher order
 *
 * FIELD and METADATA may stand between; what follows CELL_TYPES is data on the mesh and is not read. Cells without
 * volume are skipped, others than tetrahedra refused. Source: VTK user's guide, "VTK file formats". */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "reduce/tets.h"

typedef struct vtk {
  ds_mesh_input *in;
  bool binary, points_read;
  int32_t *points; /* of all cells, one after the other */
  int32_t point_count, point_capacity;
  int32_t *first; /* of a cell in points; one more at the end */
  size_t *place;  /* of a cell in the file */
  int32_t cell_count, first_capacity, place_capacity;
} vtk;

/* ---- values ---- */

typedef enum value_kind { REAL, SIGNED, UNSIGNED } value_kind;
typedef struct value_type {
  const char *name;
  size_t size;
  value_kind kind;
} value_type;

static const value_type types[] = {
    {"int", 4, SIGNED},
    {"float", 4, REAL},
    {"double", 8, REAL},
    {"unsigned_int", 4, UNSIGNED},
    {"long", 8, SIGNED},
    {"unsigned_long", 8, UNSIGNED},
    {"short", 2, SIGNED},
    {"unsigned_short", 2, UNSIGNED},
    {"char", 1, SIGNED},
    {"unsigned_char", 1, UNSIGNED},
    {"vtkidtype", 4, SIGNED},
    {"vtktypeint64", 8, SIGNED},
    {"vtktypeint32", 4, SIGNED},
    {"vtktypeuint64", 8, UNSIGNED},
    {"vtktypeuint32", 4, UNSIGNED},
};
static const value_type *const plain_int = &types[0];

static bool take_type(vtk *v, const value_type **type) {
  ds_mesh_word word = {.at = v->in->at};
  if (ds_mesh_take_word(v->in, &word))
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
      if (ds_mesh_word_is_any_case(&word, types[i].name)) return *type = &types[i], true;
  return ds_mesh_fail(v->in, word.at, "%s is not a number type; expected float, double, int, vtktypeint64, ...",
                      ds_mesh_quote_word(&word).text);
}

static bool take_whole_type(vtk *v, const value_type **type) {
  if (!take_type(v, type)) return false;
  return (*type)->kind != REAL ||
         ds_mesh_fail(v->in, v->in->at, "numbers of type %s; expected a whole type", (*type)->name);
}

/* Binary data starts right behind the end of the line. */
static bool begin_data(vtk *v) {
  ds_mesh_input *in = v->in;
  if (!v->binary) return true;
  if (in->at < in->length && in->bytes[in->at] == '\r') in->at++;
  if (in->at < in->length && in->bytes[in->at] == '\n') return in->at++, true;
  return ds_mesh_fail(in, in->at, "no line end before binary data; expected one");
}

static bool take_whole(vtk *v, int64_t *value, const value_type *type, const char *what) {
  const char *bytes;
  if (!v->binary) return ds_mesh_take_integer(v->in, value, what);
  if (!ds_mesh_take_bytes(v->in, &bytes, type->size, what)) return false;
  uint64_t bits = ds_mesh_load(bytes, type->size, true), top = (uint64_t)1 << (8 * type->size - 1);
  if (type->kind == SIGNED) bits = (bits ^ top) - top; /* the sign bit goes all the way up */
  *value = (int64_t)bits;
  return true;
}

static bool take_real(vtk *v, double *value, const value_type *type, const char *what) {
  const char *bytes;
  int64_t whole;
  if (!v->binary) return ds_mesh_take_number(v->in, value, what);
  if (type->kind != REAL) {
    if (!take_whole(v, &whole, type, what)) return false;
    *value = (double)whole;
    return true;
  }
  if (!ds_mesh_take_bytes(v->in, &bytes, type->size, what)) return false;
  *value = ds_mesh_load_real(bytes, type->size, true);
  return true;
}

static bool expect(vtk *v, const char *lower) {
  ds_mesh_word word = {.at = v->in->at};
  if (ds_mesh_take_word(v->in, &word) && ds_mesh_word_is_any_case(&word, lower)) return true;
  return ds_mesh_fail(v->in, word.at, "%s; expected \"%s\"", ds_mesh_quote_word(&word).text, lower);
}

/* ---- points ---- */

static bool read_points(vtk *v) {
  int64_t count;
  const value_type *type;
  if (v->points_read) return ds_mesh_fail(v->in, v->in->at, "POINTS comes twice; expected it once");
  v->points_read = true;
  if (!ds_mesh_take_count(v->in, &count, "the number of points") || !take_type(v, &type) || !begin_data(v))
    return false;
  for (int64_t i = 0; i < count; i++) {
    ds_vec3 x;
    size_t at = v->in->at;
    if (!take_real(v, &x.x, type, "the coordinates of a point") ||
        !take_real(v, &x.y, type, "the coordinates of a point") ||
        !take_real(v, &x.z, type, "the coordinates of a point"))
      return false;
    if (!ds_mesh_add_vertex(v->in, x, v->binary ? at : v->in->at)) return false;
  }
  return true;
}

/* ---- cells ---- */

static bool add_point(vtk *v, int64_t number, size_t at) {
  if (!ds_array_reserve(&v->points, &v->point_capacity, v->point_count + 1, sizeof *v->points))
    return ds_mesh_fail_memory(v->in);
  return ds_mesh_find_vertex(v->in, &v->points[v->point_count++], number, at);
}

static bool add_cell(vtk *v, int64_t first, size_t at) {
  if (!ds_array_reserve(&v->first, &v->first_capacity, v->cell_count + 2, sizeof *v->first) ||
      !ds_array_reserve(&v->place, &v->place_capacity, v->cell_count + 2, sizeof *v->place))
    return ds_mesh_fail_memory(v->in);
  v->first[v->cell_count] = (int32_t)first;
  v->place[v->cell_count++] = at;
  return true;
}

/* A count and as many points per cell; `size` is the number of all of these. */
static bool read_cells_old(vtk *v, int64_t count, int64_t size) {
  int64_t points, number;
  if (!begin_data(v)) return false;
  for (int64_t i = 0; i < count; i++) {
    size_t at = v->in->at;
    if (!take_whole(v, &points, plain_int, "the number of points of a cell")) return false;
    if (!v->binary) at = v->in->at;
    if (points < 0 || points >= size)
      return ds_mesh_fail(v->in, at, "a cell of %lld points; expected 0 to %lld, as the size of CELLS says",
                          (long long)points, (long long)size - 1);
    size -= points + 1;
    if (!add_cell(v, v->point_count, at)) return false;
    for (int64_t k = 0; k < points; k++)
      if (!take_whole(v, &number, plain_int, "the points of a cell") || !add_point(v, number, at)) return false;
  }
  if (size != 0)
    return ds_mesh_fail(v->in, v->in->at, "%lld numbers of CELLS are left; expected as many as it says",
                        (long long)size);
  v->first[v->cell_count] = v->point_count;
  return true;
}

/* OFFSETS, one more than cells, the last being all points; then CONNECTIVITY. */
static bool read_cells_new(vtk *v, int64_t count, int64_t size) {
  const value_type *type;
  int64_t number, last = 0;
  if (!expect(v, "offsets") || !take_whole_type(v, &type) || !begin_data(v)) return false;
  for (int64_t i = 0; i < count; i++) {
    size_t at = v->in->at;
    if (!take_whole(v, &number, type, "an offset")) return false;
    if (!v->binary) at = v->in->at;
    if (number < last || number > size || (i == 0 && number != 0) || (i == count - 1 && number != size))
      return ds_mesh_fail(v->in, at, "offset %lld; expected them to rise from 0 to %lld", (long long)number,
                          (long long)size);
    last = number;
    if (!add_cell(v, number, at)) return false;
  }
  v->cell_count--;
  if (!expect(v, "connectivity") || !take_whole_type(v, &type) || !begin_data(v)) return false;
  for (int64_t k = 0; k < size; k++) {
    size_t at = v->in->at;
    if (!take_whole(v, &number, type, "the points of a cell")) return false;
    if (!add_point(v, number, v->binary ? at : v->in->at)) return false;
  }
  return true;
}

static bool read_cells(vtk *v) {
  int64_t count, size;
  ds_mesh_word word;
  if (!v->points_read) return ds_mesh_fail(v->in, v->in->at, "CELLS before POINTS; expected POINTS first");
  if (v->first) return ds_mesh_fail(v->in, v->in->at, "CELLS comes twice; expected it once");
  if (!ds_mesh_take_count(v->in, &count, "the number of cells") ||
      !ds_mesh_take_count(v->in, &size, "the size of CELLS"))
    return false;
  if (count == 0) return ds_mesh_fail(v->in, v->in->at, "no cells; expected tetrahedra");
  size_t start = v->in->at;
  bool is_new = ds_mesh_take_word(v->in, &word) && ds_mesh_word_is_any_case(&word, "offsets");
  v->in->at = start;
  return is_new ? read_cells_new(v, count, size) : read_cells_old(v, count, size);
}

/* Vertices, lines, triangles, quadrilaterals and the like of any order. */
static bool is_flat_type(int64_t type) {
  return (type >= 0 && type <= 9) || (type >= 21 && type <= 23) || type == 28 || type == 30 ||
         (type >= 34 && type <= 36) || (type >= 68 && type <= 70) || (type >= 75 && type <= 77);
}

static bool add_typed(vtk *v, int32_t cell, int64_t type, size_t at) {
  int32_t nodes = v->first[cell + 1] - v->first[cell];
  if (is_flat_type(type)) return true;
  if (type != 10 && type != 24 && type != 71)
    return ds_mesh_fail(v->in, at, "cell %d has the type %lld; expected tetrahedra, type 10", cell, (long long)type);
  bool right = type == 10   ? nodes == 4
               : type == 24 ? nodes == 10
                            : nodes == 4 || nodes == 10 || nodes == 20 || nodes == 35 || nodes == 56;
  if (!right)
    return ds_mesh_fail(v->in, v->place[cell], "a tetrahedron of %d points; expected %s", nodes,
                        type == 10   ? "4"
                        : type == 24 ? "10"
                                     : "4, 10, 20, 35 or 56");
  return ds_mesh_add_tet(v->in, v->points + v->first[cell], nodes, v->place[cell]);
}

static bool read_cell_types(vtk *v) {
  int64_t count, type;
  if (!v->first) return ds_mesh_fail(v->in, v->in->at, "CELL_TYPES before CELLS; expected CELLS first");
  if (!ds_mesh_take_count(v->in, &count, "the number of cells") || !begin_data(v)) return false;
  if (count != v->cell_count)
    return ds_mesh_fail(v->in, v->in->at, "%lld types of %d cells; expected one each", (long long)count, v->cell_count);
  for (int32_t i = 0; i < v->cell_count; i++) {
    size_t at = v->in->at;
    if (!take_whole(v, &type, plain_int, "the type of a cell")) return false;
    if (!add_typed(v, i, type, v->binary ? at : v->in->at)) return false;
  }
  return true;
}

/* ---- what is skipped ---- */

/* FIELD name n, then n times: name, components, tuples, type, and the values. */
static bool skip_field(vtk *v) {
  int64_t arrays, components, tuples;
  const value_type *type;
  const char *bytes;
  if (!ds_mesh_skip_words(v->in, 1, "the name of a field") ||
      !ds_mesh_take_count(v->in, &arrays, "the number of arrays of a field"))
    return false;
  for (int64_t i = 0; i < arrays; i++) {
    if (!ds_mesh_skip_words(v->in, 1, "the name of an array") ||
        !ds_mesh_take_count(v->in, &components, "the number of components") ||
        !ds_mesh_take_count(v->in, &tuples, "the number of tuples") || !take_type(v, &type) || !begin_data(v))
      return false;
    int64_t values = components * tuples;
    if (!ds_mesh_check_count(v->in, values, v->in->at, "the number of values")) return false;
    if (v->binary ? !ds_mesh_take_bytes(v->in, &bytes, (size_t)values * type->size, "the values of an array")
                  : !ds_mesh_skip_words(v->in, values, "the values of an array"))
      return false;
  }
  return true;
}

/* To behind the next empty line. */
static bool skip_metadata(vtk *v) {
  ds_mesh_input *in = v->in;
  ds_mesh_word word;
  in->by_line = true;
  bool more = ds_mesh_next_line(in);
  while (more && ds_mesh_take_word(in, &word)) more = ds_mesh_next_line(in);
  in->by_line = false;
  return true;
}

/* ---- the file ---- */

static bool read_header(vtk *v) {
  ds_mesh_input *in = v->in;
  static const char start[] = "# vtk DataFile Version";
  ds_mesh_word word = {.at = 0};
  if (in->length < sizeof start - 1 || memcmp(in->bytes, start, sizeof start - 1) != 0)
    return ds_mesh_fail(in, 0, "no VTK legacy file; expected \"%s ...\" as its first line", start);
  ds_mesh_next_line(in);
  ds_mesh_next_line(in); /* the title */
  if (!ds_mesh_take_word(in, &word)) word.at = in->at;
  v->binary = ds_mesh_word_is_any_case(&word, "binary");
  if (!v->binary && !ds_mesh_word_is_any_case(&word, "ascii"))
    return ds_mesh_fail(in, word.at, "%s; expected ASCII or BINARY", ds_mesh_quote_word(&word).text);
  if (!expect(v, "dataset")) return false;
  if (!ds_mesh_take_word(in, &word) || !ds_mesh_word_is_any_case(&word, "unstructured_grid"))
    return ds_mesh_fail(in, word.at, "data set %s; expected UNSTRUCTURED_GRID", ds_mesh_quote_word(&word).text);
  in->binary = v->binary;
  return true;
}

static bool read_sections(vtk *v) {
  ds_mesh_word word;
  while (ds_mesh_take_word(v->in, &word)) {
    bool ok = true;
    if (ds_mesh_word_is_any_case(&word, "points"))
      ok = read_points(v);
    else if (ds_mesh_word_is_any_case(&word, "cells"))
      ok = read_cells(v);
    else if (ds_mesh_word_is_any_case(&word, "cell_types"))
      return read_cell_types(v);
    else if (ds_mesh_word_is_any_case(&word, "field"))
      ok = skip_field(v);
    else if (ds_mesh_word_is_any_case(&word, "metadata"))
      ok = skip_metadata(v);
    else
      ok = ds_mesh_fail(v->in, word.at, "%s; expected POINTS, CELLS or CELL_TYPES", ds_mesh_quote_word(&word).text);
    if (!ok) return false;
  }
  return ds_mesh_fail(v->in, v->in->at, "the file ends; expected POINTS, CELLS and CELL_TYPES");
}

bool ds_tets_read_vtk(ds_mesh_input *in) {
  vtk v = {.in = in};
  bool ok = read_header(&v) && read_sections(&v);
  free(v.points);
  free(v.first);
  free(v.place);
  return ok;
}
