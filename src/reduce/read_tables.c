/* TetGen's .node and .ele, and VEGA's .veg, which puts the same tables into one file.
 *
 * A table is a line with the number of rows and what they hold, then one row per line: its number, its values, and data
 * that is not needed here (attributes, markers). Nodes are numbered in order, from 0 or from 1; '#' starts a comment.
 *
 *   .node  rows, 3, attributes, markers    then  number x y z ...
 *   .ele   rows, nodes per tetrahedron, ...  then  number node node node node ...
 *   .veg   *VERTICES, a table of nodes; *ELEMENTS, TET, a table of tetrahedra; *MATERIAL name, then "ENU, density,
 *          young, poisson"; *REGION, then lines "set, material" with the materials in use; *SET is skipped.
 *          Instead of a table, *INCLUDE names a file beside it that has one.
 *
 * Sources: Si, TetGen's manual 1.5, "File formats"; Sin, Schroeder and Barbic 2013, Vega FEM library, user's manual. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reduce/tets.h"

enum { TET_NODES_MAX = 56 };

static void begin(ds_mesh_input *in) { in->by_line = in->comments = true; }

/* To the next line that holds something; false at the end of the file. */
static bool find_line(ds_mesh_input *in) {
  for (;;) {
    size_t start = in->at;
    ds_mesh_word word;
    if (ds_mesh_take_word(in, &word)) return in->at = start, true;
    if (!ds_mesh_next_line(in)) return false;
  }
}

/* The first line of a table: how many rows, and how many values per row where that is said. */
static bool read_head(ds_mesh_input *in, int64_t *rows, int64_t *values, const char *what) {
  ds_mesh_word word;
  if (!find_line(in)) return ds_mesh_fail(in, in->at, "the file ends; expected %s", what);
  if (!ds_mesh_take_count(in, rows, what)) return false;
  size_t at = in->at;
  if (ds_mesh_take_word(in, &word)) {
    in->at = at;
    if (!ds_mesh_take_integer(in, values, "how many values a row has")) return false;
  }
  ds_mesh_next_line(in);
  return true;
}

static bool begin_row(ds_mesh_input *in, int64_t *number, int64_t row, int64_t rows, const char *what) {
  if (!find_line(in))
    return ds_mesh_fail(in, in->at, "the file ends after %lld of %lld rows; expected %s", (long long)row,
                        (long long)rows, what);
  return ds_mesh_take_integer(in, number, what);
}

/* ---- nodes ---- */

static bool read_nodes(ds_mesh_input *in) {
  int64_t rows, dimension = 3, number;
  if (!read_head(in, &rows, &dimension, "the number of nodes")) return false;
  if (dimension != 3) return ds_mesh_fail(in, in->at, "nodes of %lld coordinates; expected 3", (long long)dimension);
  for (int64_t i = 0; i < rows; i++) {
    ds_vec3 x;
    if (!begin_row(in, &number, i, rows, "the number of a node")) return false;
    size_t at = in->at;
    if (i == 0 && (number == 0 || number == 1)) in->base = (int32_t)number;
    if (number != i + in->base)
      return ds_mesh_fail(in, at, "node %lld; expected %lld: nodes in order, from 0 or 1", (long long)number,
                          (long long)(i + in->base));
    if (!ds_mesh_take_number(in, &x.x, "the coordinates x y z") ||
        !ds_mesh_take_number(in, &x.y, "the coordinates x y z") ||
        !ds_mesh_take_number(in, &x.z, "the coordinates x y z"))
      return false;
    if (!ds_mesh_add_vertex(in, x, at)) return false;
    ds_mesh_next_line(in);
  }
  return true;
}

bool ds_tets_read_node(ds_mesh_input *in) {
  begin(in);
  return read_nodes(in);
}

/* ---- tetrahedra ---- */

static bool read_tets(ds_mesh_input *in) {
  int64_t rows, nodes = 4, number;
  int32_t vertex[TET_NODES_MAX];
  if (!read_head(in, &rows, &nodes, "the number of tetrahedra")) return false;
  if (nodes != 4 && nodes != 10)
    return ds_mesh_fail(in, in->at, "elements of %lld nodes; expected tetrahedra, of 4 or 10", (long long)nodes);
  for (int64_t i = 0; i < rows; i++) {
    if (!begin_row(in, &number, i, rows, "the number of a tetrahedron")) return false;
    size_t at = in->at;
    for (int64_t k = 0; k < nodes; k++)
      if (!ds_mesh_take_integer(in, &number, "the nodes of a tetrahedron") ||
          !ds_mesh_find_vertex(in, &vertex[k], number, at))
        return false;
    if (!ds_mesh_add_tet(in, vertex, (int32_t)nodes, at)) return false;
    ds_mesh_next_line(in);
  }
  return ds_tets_orient(in);
}

bool ds_tets_read_ele(ds_mesh_input *in) {
  begin(in);
  return read_tets(in);
}

/* ---- VEGA ---- */

/* A name in the folder of the file: no way out of it, and nothing of a system that begins elsewhere. */
static bool is_beside(const ds_mesh_word *name) {
  if (name->length == 0 || name->length > 255 || name->text[0] == '/' || name->text[0] == '\\') return false;
  for (size_t i = 0; i < name->length; i++) {
    if (name->text[i] == 0 || name->text[i] == ':') return false;
    if (i > 0 && name->text[i] == '.' && name->text[i - 1] == '.') return false;
  }
  return true;
}

/* A table that is in another file: reads on in it, and then here again. */
static bool read_included(ds_mesh_input *in, const ds_mesh_word *name, bool (*read)(ds_mesh_input *in)) {
  char path[4608], *bytes = NULL;
  size_t length = 0;
  const char *slash = strrchr(in->name, '/');
  int folder = slash ? (int)(slash - in->name) + 1 : 0;
  if (!in->from_file)
    return ds_mesh_fail(in, name->at, "*INCLUDE %s; expected a file that has all in it", ds_mesh_quote_word(name).text);
  if (!is_beside(name) || folder > 4096)
    return ds_mesh_fail(in, name->at, "*INCLUDE %s; expected the name of a file beside this one",
                        ds_mesh_quote_word(name).text);
  snprintf(path, sizeof path, "%.*s%.*s", folder, in->name, (int)name->length, name->text);
  if ((in->status = ds_mesh_load_file(&bytes, &length, path, in->error)) != DS_OK) return false;
  ds_mesh_input here = *in;
  in->bytes = bytes, in->length = length, in->at = 0, in->name = path;
  bool ok = read(in);
  in->bytes = here.bytes, in->length = here.length, in->at = here.at, in->name = here.name;
  free(bytes);
  return ok;
}

/* A table, here or in another file. */
static bool read_table(ds_mesh_input *in, bool (*read)(ds_mesh_input *in)) {
  ds_mesh_word word = {.at = in->at};
  if (!find_line(in)) return ds_mesh_fail(in, in->at, "the file ends; expected a table");
  size_t start = in->at;
  ds_mesh_take_word(in, &word);
  if (!ds_mesh_word_is_any_case(&word, "*include")) return in->at = start, read(in);
  if (!ds_mesh_take_word(in, &word)) return ds_mesh_fail(in, in->at, "*INCLUDE without a name; expected one");
  bool ok = read_included(in, &word, read);
  ds_mesh_next_line(in);
  return ok;
}

static bool read_elements(ds_mesh_input *in) {
  ds_mesh_word word = {.at = in->at};
  if (!find_line(in)) return ds_mesh_fail(in, in->at, "the file ends; expected TET");
  ds_mesh_take_word(in, &word);
  if (!ds_mesh_word_is_any_case(&word, "tet") && !ds_mesh_word_is_any_case(&word, "tets"))
    return ds_mesh_fail(in, word.at, "elements of kind %s; expected TET", ds_mesh_quote_word(&word).text);
  ds_mesh_next_line(in);
  return read_table(in, read_tets);
}

static bool skip_section(ds_mesh_input *in) {
  while (ds_mesh_next_line(in) && find_line(in)) {
    size_t start = in->at;
    ds_mesh_word word;
    if (ds_mesh_take_word(in, &word) && word.text[0] == '*') return in->at = start, true;
  }
  return true;
}

/* ---- VEGA's materials ---- */

enum { MATERIALS_MAX = 64, NAME_MAX_LENGTH = 63 };
typedef struct veg_material {
  char name[NAME_MAX_LENGTH + 1];
  double value[3]; /* young, poisson, density; zeros where its kind is not known */
  bool used;
} veg_material;
typedef struct veg_materials {
  veg_material items[MATERIALS_MAX];
  int32_t count;
  bool regions; /* *REGION names the ones in use */
} veg_materials;

/* The next word of a line whose words have commas or blanks between them; cuts it off, NULL at its end. */
static char *next_word(char **line) {
  char *word = *line + strspn(*line, " \t\r,");
  if (*word == 0) return NULL;
  char *end = word + strcspn(word, " \t\r,");
  *line = *end ? end + 1 : end;
  *end = 0;
  return word;
}

/* The rest of the line without its comment, and on to the next one. */
static void take_line(char *line, size_t size, ds_mesh_input *in) {
  size_t n = 0;
  for (size_t i = in->at; i < in->length && in->bytes[i] != '\n' && in->bytes[i] != '#'; i++)
    if (n + 1 < size && in->bytes[i] != 0) line[n++] = in->bytes[i];
  line[n] = 0;
  ds_mesh_next_line(in);
}

/* Whether a section goes on in the next line that holds something. */
static bool section_goes_on(ds_mesh_input *in) { return find_line(in) && in->bytes[in->at] != '*'; }

static bool read_material(ds_mesh_input *in, veg_materials *all, const ds_mesh_word *name) {
  char line[256], *rest = line, *word, *end;
  veg_material m = {.used = false};
  take_line(line, sizeof line, in); /* what is left of *MATERIAL NAME */
  if ((word = next_word(&rest))) snprintf(m.name, sizeof m.name, "%.*s", NAME_MAX_LENGTH, word);
  if (!section_goes_on(in)) return ds_mesh_fail(in, name->at, "*MATERIAL without a line; expected ENU, density, E, nu");
  size_t at = in->at;
  take_line(line, sizeof line, in);
  rest = line;
  word = next_word(&rest);
  if (word && (strcmp(word, "ENU") == 0 || strcmp(word, "enu") == 0)) {
    const int place[3] = {2, 0, 1}; /* density, young, poisson */
    for (int i = 0; i < 3; i++) {
      word = next_word(&rest);
      double x = word ? strtod(word, &end) : 0;
      if (!word || *end != 0 || !isfinite(x))
        return ds_mesh_fail(in, at, "a material that is not three numbers; expected ENU, density, E, nu");
      m.value[place[i]] = x;
    }
  }
  if (all->count == MATERIALS_MAX)
    return ds_mesh_fail(in, name->at, "more than %d materials; expected fewer", (int)MATERIALS_MAX);
  all->items[all->count++] = m;
  return true;
}

static bool read_region(ds_mesh_input *in, veg_materials *all) {
  char line[256], *rest, *word, *name;
  ds_mesh_next_line(in);
  while (section_goes_on(in)) {
    size_t at = in->at;
    take_line(line, sizeof line, in);
    rest = line;
    word = next_word(&rest), name = word ? next_word(&rest) : NULL;
    int32_t i = 0;
    while (name && i < all->count && strncmp(all->items[i].name, name, NAME_MAX_LENGTH) != 0) i++;
    if (!name || i == all->count)
      return ds_mesh_fail(in, at, "a region of no material before it; expected \"set, material\"");
    all->items[i].used = all->regions = true;
  }
  return true;
}

/* How many different ones are in use, and which where it is one. */
static void count_materials(ds_mesh_input *in, const veg_materials *all) {
  for (int32_t i = 0; i < all->count; i++) {
    const veg_material *m = &all->items[i];
    if (all->regions && !m->used) continue;
    bool same = in->materials == 1 && memcmp(in->material, m->value, sizeof m->value) == 0;
    if (!same) in->materials++;
    memcpy(in->material, m->value, sizeof m->value);
  }
}

static bool read_section(ds_mesh_input *in, veg_materials *materials, const ds_mesh_word *name) {
  if (ds_mesh_word_is_any_case(name, "*vertices")) {
    if (in->vertex_count > 0) return ds_mesh_fail(in, name->at, "*VERTICES comes twice; expected it once");
    ds_mesh_next_line(in);
    return read_table(in, read_nodes);
  }
  if (ds_mesh_word_is_any_case(name, "*elements")) {
    if (in->vertex_count == 0) return ds_mesh_fail(in, name->at, "*ELEMENTS before *VERTICES; expected nodes first");
    if (in->tet_count > 0) return ds_mesh_fail(in, name->at, "*ELEMENTS comes twice; expected it once");
    ds_mesh_next_line(in);
    return read_elements(in);
  }
  if (ds_mesh_word_is_any_case(name, "*material")) return read_material(in, materials, name);
  if (ds_mesh_word_is_any_case(name, "*region")) return read_region(in, materials);
  if (ds_mesh_word_is_any_case(name, "*set")) return skip_section(in);
  return ds_mesh_fail(in, name->at, "%s; expected *VERTICES, *ELEMENTS, *MATERIAL, *SET or *REGION",
                      ds_mesh_quote_word(name).text);
}

bool ds_tets_read_veg(ds_mesh_input *in) {
  veg_materials materials = {.count = 0};
  begin(in);
  while (find_line(in)) {
    ds_mesh_word word;
    if (!ds_mesh_take_word(in, &word)) break;
    if (!read_section(in, &materials, &word)) return false;
  }
  count_materials(in, &materials);
  return true;
}
