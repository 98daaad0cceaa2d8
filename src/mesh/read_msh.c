/* Gmsh meshes, formats 2.2 and 4.1, text and binary of either byte order.
 *
 * If tetrahedra are requested they are read, all other volume elements are refused and the rest is skipped. Otherwise
 * the surface consists of all triangles and quadrilaterals of the file, of higher-order ones the corners. Where the
 * file has none but tetrahedra, the surface is made of the faces that belong to one tetrahedron only, turned outwards.
 * Other sections and elements are skipped. Limits: formats before 2 and 4.0 are refused, as are element types that the
 * manual does not list. Source: Geuzaine and Remacle 2009; Gmsh reference manual, "MSH file format". */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "la/vec3.h"
#include "mesh/mesh.h"

typedef struct msh {
  ds_mesh_input *in;
  bool v4, binary, big_endian, nodes_read, elements_read;
  size_t size_bytes; /* of a size_t in binary 4.1 */
  int64_t *tags;     /* of the vertices, in order */
  int32_t tag_capacity;
  int32_t *slots; /* tag -> vertex */
  size_t slot_count;
} msh;

/* ---- element types ---- */

enum { NODES_MAX = 125 };
typedef enum family { OTHER, TRIANGLE, QUADRILATERAL, TETRAHEDRON, VOLUME } family;

/* Nodes of an element type, 0 = unknown. */
static int32_t nodes_of(int64_t type) {
  static const unsigned char nodes[32] = {0, 2,  3,  4,  4, 8,  6,  5,  3,  6,  9, 10, 27, 18, 14, 1,
                                          8, 20, 15, 13, 9, 10, 12, 15, 15, 21, 4, 5,  6,  20, 35, 56};
  return type > 0 && type < 32 ? nodes[type] : type == 92 ? 64 : type == 93 ? 125 : 0;
}

/* Of all orders; the corners come first. */
static family family_of(int64_t type) {
  if (type == 2 || type == 9 || (type >= 20 && type <= 25)) return TRIANGLE;
  if (type == 3 || type == 10 || type == 16) return QUADRILATERAL;
  if (type == 4 || type == 11 || (type >= 29 && type <= 31)) return TETRAHEDRON;
  return type == 1 || type == 8 || type == 15 || (type >= 26 && type <= 28) ? OTHER : VOLUME;
}

/* ---- values ---- */

static bool take_binary(msh *m, int64_t *value, size_t size, const char *what) {
  const char *bytes;
  if (!ds_mesh_take_bytes(m->in, &bytes, size, what)) return false;
  uint64_t bits = ds_mesh_load(bytes, size, m->big_endian);
  *value = size == 4 ? (int32_t)(uint32_t)bits : (int64_t)bits;
  return true;
}

static bool take_int(msh *m, int64_t *value, const char *what) {
  return m->binary ? take_binary(m, value, 4, what) : ds_mesh_take_integer(m->in, value, what);
}

static bool take_size(msh *m, int64_t *value, const char *what) {
  return m->binary ? take_binary(m, value, m->size_bytes, what) : ds_mesh_take_integer(m->in, value, what);
}

static bool take_sized_count(msh *m, int64_t *value, const char *what) {
  return take_size(m, value, what) && ds_mesh_check_count(m->in, *value, m->in->at, what);
}

/* A node's tag: int in 2.2, size_t in 4.1. */
static bool take_tag(msh *m, int64_t *value, const char *what) {
  return m->v4 ? take_size(m, value, what) : take_int(m, value, what);
}

static bool take_real(msh *m, double *value, const char *what) {
  const char *bytes;
  if (!m->binary) return ds_mesh_take_number(m->in, value, what);
  if (!ds_mesh_take_bytes(m->in, &bytes, 8, what)) return false;
  *value = ds_mesh_load_real(bytes, 8, m->big_endian);
  return true;
}

static bool skip_values(msh *m, int64_t count, size_t size, const char *what) {
  const char *bytes;
  if (!m->binary) return ds_mesh_skip_words(m->in, count, what);
  return ds_mesh_take_bytes(m->in, &bytes, (size_t)count * size, what);
}

/* Binary data starts right behind the end of the line. */
static bool begin_data(msh *m) {
  if (!m->binary) return true;
  if (m->in->at < m->in->length && m->in->bytes[m->in->at] == '\n') return m->in->at++, true;
  return ds_mesh_fail(m->in, m->in->at, "no line end before binary data; expected one");
}

static bool expect(msh *m, const char *keyword) {
  ds_mesh_word word = {.at = m->in->at};
  if (ds_mesh_take_word(m->in, &word) && ds_mesh_word_is(&word, keyword)) return true;
  return ds_mesh_fail(m->in, word.at, "%s where \"%s\" should stand; expected the end of the section",
                      ds_mesh_quote_word(&word).text, keyword);
}

static bool read_format(msh *m) {
  ds_mesh_input *in = m->in;
  double version;
  int64_t kind, size, one;
  size_t at = in->at;
  if (!ds_mesh_take_number(in, &version, "the format version") || !ds_mesh_take_integer(in, &kind, "the file type") ||
      !ds_mesh_take_integer(in, &size, "the data size"))
    return false;
  m->v4 = version == 4.1;
  if (!m->v4 && !(version >= 2 && version <= 2.2))
    return ds_mesh_fail(in, in->at, "Gmsh format %g; expected 2.2 or 4.1 (gmsh -save -format msh41)", version);
  if (kind != 0 && kind != 1) return ds_mesh_fail(in, in->at, "file type %lld; expected 0 or 1", (long long)kind);
  if (!(size == 8 || (size == 4 && m->v4)))
    return ds_mesh_fail(in, in->at, "data size %lld; expected %s", (long long)size, m->v4 ? "4 or 8" : "8");
  m->size_bytes = (size_t)size;
  m->binary = in->binary = kind == 1;
  if (m->binary) {
    if (!begin_data(m)) return false;
    at = in->at;
    if (!take_int(m, &one, "the number 1")) return false;
    m->big_endian = one == 0x01000000;
    if (one != 1 && !m->big_endian)
      return ds_mesh_fail(in, at, "%lld in place of the byte-order mark; expected 1", (long long)one);
  }
  return expect(m, "$EndMeshFormat");
}

/* ---- nodes ---- */

static bool add_node(msh *m, int64_t tag, ds_vec3 x, size_t at) {
  if (!ds_array_reserve(&m->tags, &m->tag_capacity, m->in->vertex_count + 1, sizeof *m->tags))
    return ds_mesh_fail_memory(m->in);
  m->tags[m->in->vertex_count] = tag;
  return ds_mesh_add_vertex(m->in, x, at);
}

static bool take_point(msh *m, ds_vec3 *x) {
  return take_real(m, &x->x, "the coordinates of a node") && take_real(m, &x->y, "the coordinates of a node") &&
         take_real(m, &x->z, "the coordinates of a node");
}

static bool read_nodes_2(msh *m) {
  int64_t count, tag;
  ds_vec3 x;
  if (!ds_mesh_take_count(m->in, &count, "the number of nodes") || !begin_data(m)) return false;
  for (int64_t i = 0; i < count; i++) {
    size_t at = m->in->at;
    if (!take_int(m, &tag, "the number of a node") || !take_point(m, &x)) return false;
    if (!add_node(m, tag, x, m->binary ? at : m->in->at)) return false;
  }
  return true;
}

/* A block: its tags first, then its points, each with the parameters on its entity where there are any. */
static bool read_node_block(msh *m, int64_t *left) {
  int64_t dimension, entity, parametric, count, tag;
  ds_vec3 x;
  if (!take_int(m, &dimension, "the dimension of a block of nodes") || !take_int(m, &entity, "the entity of a block") ||
      !take_int(m, &parametric, "0 or 1") || !take_sized_count(m, &count, "the number of nodes in a block"))
    return false;
  if (dimension < 0 || dimension > 3)
    return ds_mesh_fail(m->in, m->in->at, "dimension %lld; expected 0 to 3", (long long)dimension);
  if (count > *left)
    return ds_mesh_fail(m->in, m->in->at, "more nodes than were announced; expected %lld more", (long long)*left);
  *left -= count;
  int32_t first = m->in->vertex_count;
  for (int64_t i = 0; i < count; i++) {
    if (!take_size(m, &tag, "the tag of a node")) return false;
    if (!ds_array_reserve(&m->tags, &m->tag_capacity, first + (int32_t)i + 1, sizeof *m->tags))
      return ds_mesh_fail_memory(m->in);
    m->tags[first + i] = tag;
  }
  for (int64_t i = 0; i < count; i++) {
    size_t at = m->in->at;
    if (!take_point(m, &x)) return false;
    if (parametric != 0 && !skip_values(m, dimension, 8, "the parameters of a node")) return false;
    if (!ds_mesh_add_vertex(m->in, x, m->binary ? at : m->in->at)) return false;
  }
  return true;
}

static bool read_nodes_4(msh *m) {
  int64_t blocks, count, low, high;
  if (!begin_data(m) || !take_sized_count(m, &blocks, "the number of blocks") ||
      !take_sized_count(m, &count, "the number of nodes") || !take_size(m, &low, "the lowest tag") ||
      !take_size(m, &high, "the highest tag"))
    return false;
  for (int64_t i = 0; i < blocks; i++)
    if (!read_node_block(m, &count)) return false;
  if (count > 0)
    return ds_mesh_fail(m->in, m->in->at, "%lld nodes fewer than announced; expected all", (long long)count);
  return true;
}

/* The slot of a tag, or the empty one where it would be. */
static size_t slot_of(const msh *m, int64_t tag) {
  size_t slot = ds_mesh_hash((uint64_t)tag, 0, 0) & (m->slot_count - 1);
  while (m->slots[slot] >= 0 && m->tags[m->slots[slot]] != tag) slot = (slot + 1) & (m->slot_count - 1);
  return slot;
}

static bool index_nodes(msh *m) {
  m->slot_count = 16;
  while (m->slot_count < 2 * (size_t)m->in->vertex_count) m->slot_count *= 2;
  m->slots = malloc(m->slot_count * sizeof *m->slots);
  if (!m->slots) return ds_mesh_fail_memory(m->in);
  memset(m->slots, 0xff, m->slot_count * sizeof *m->slots);
  for (int32_t i = 0; i < m->in->vertex_count; i++) {
    size_t slot = slot_of(m, m->tags[i]);
    if (m->slots[slot] >= 0)
      return ds_mesh_fail(m->in, m->in->at, "two nodes have the number %lld; expected a number once",
                          (long long)m->tags[i]);
    m->slots[slot] = i;
  }
  return true;
}

/* ---- elements ---- */

/* The nodes of one element of a known type. */
static bool read_element_nodes(msh *m, int64_t type) {
  family f = family_of(type);
  int32_t nodes = nodes_of(type), vertex[NODES_MAX];
  int32_t corners = f == TRIANGLE ? 3 : 4, used = f == TETRAHEDRON && m->in->volume ? nodes : corners;
  size_t start = m->in->at;
  if (f == OTHER || f == VOLUME || (f != TETRAHEDRON && m->in->volume)) used = 0;
  for (int32_t i = 0; i < used; i++) {
    int64_t tag;
    if (!take_tag(m, &tag, "the nodes of an element")) return false;
    vertex[i] = m->slots[slot_of(m, tag)];
    if (vertex[i] < 0)
      return ds_mesh_fail(m->in, m->in->at, "node %lld does not exist; expected a node of $Nodes", (long long)tag);
  }
  if (!skip_values(m, nodes - used, m->v4 ? m->size_bytes : 4, "the nodes of an element")) return false;
  if (f == TETRAHEDRON) return ds_mesh_add_tet(m->in, vertex, used, start);
  ds_mesh_begin_polygon(m->in);
  for (int32_t i = 0; i < used; i++)
    if (!ds_mesh_add_corner(m->in, vertex[i], start)) return false;
  return true;
}

static bool check_type(msh *m, int64_t type) {
  if (m->in->volume && family_of(type) == VOLUME)
    return ds_mesh_fail(m->in, m->in->at, "element type %lld fills volume; expected tetrahedra only", (long long)type);
  return nodes_of(type) > 0 ||
         ds_mesh_fail(m->in, m->in->at, "element type %lld is unknown; expected 1 to 31, 92 or 93", (long long)type);
}

static bool read_elements_2(msh *m) {
  int64_t count, number, type, tags, follow = 1;
  if (!ds_mesh_take_count(m->in, &count, "the number of elements") || !begin_data(m)) return false;
  while (count > 0) {
    /* text: number, type, tags of every element; binary: type, how many follow, tags of a run */
    if (!m->binary && !take_int(m, &number, "the number of an element")) return false;
    if (!take_int(m, &type, "an element type") || !check_type(m, type)) return false;
    if (m->binary && !take_int(m, &follow, "the number of elements that follow")) return false;
    if (!take_int(m, &tags, "the number of tags")) return false;
    if (tags < 0 || tags > 1000 || follow < 1 || follow > count)
      return ds_mesh_fail(m->in, m->in->at, "%lld elements with %lld tags; expected 1 to %lld with at most 1000",
                          (long long)follow, (long long)tags, (long long)count);
    for (int64_t i = 0; i < follow; i++)
      if (!skip_values(m, tags + (m->binary ? 1 : 0), 4, "the tags of an element") || !read_element_nodes(m, type))
        return false;
    count -= follow;
  }
  return true;
}

static bool read_elements_4(msh *m) {
  int64_t blocks, count, low, high, dimension, entity, type, size;
  if (!begin_data(m) || !take_sized_count(m, &blocks, "the number of blocks") ||
      !take_sized_count(m, &count, "the number of elements") || !take_size(m, &low, "the lowest tag") ||
      !take_size(m, &high, "the highest tag"))
    return false;
  for (int64_t b = 0; b < blocks; b++) {
    if (!take_int(m, &dimension, "the dimension of a block of elements") ||
        !take_int(m, &entity, "the entity of a block") || !take_int(m, &type, "an element type") ||
        !check_type(m, type) || !take_sized_count(m, &size, "the number of elements in a block"))
      return false;
    if (size > count)
      return ds_mesh_fail(m->in, m->in->at, "more elements than were announced; expected %lld more", (long long)count);
    count -= size;
    for (int64_t i = 0; i < size; i++)
      if (!skip_values(m, 1, m->size_bytes, "the tag of an element") || !read_element_nodes(m, type)) return false;
  }
  if (count > 0)
    return ds_mesh_fail(m->in, m->in->at, "%lld elements fewer than announced; expected all", (long long)count);
  return true;
}

/* ---- the boundary of tetrahedra ---- */

/* Turned to positive volume. */
static void turn(ds_mesh_input *in) {
  const ds_vec3 *x = in->vertices;
  for (int32_t t = 0; t < in->tet_count; t++) {
    int32_t *v = in->tets[t];
    double volume = v3_dot(v3_cross(v3_sub(x[v[1]], x[v[0]]), v3_sub(x[v[2]], x[v[0]])), v3_sub(x[v[3]], x[v[0]]));
    if (volume < 0) {
      int32_t swap = v[2];
      v[2] = v[3], v[3] = swap;
    }
  }
}

/* Faces of one tetrahedron only. */
static bool take_boundary(ds_mesh_input *in) {
  ds_tet_fault fault; /* is for ds_mesh_check to find in the surface */
  int32_t *twin = malloc(4 * (size_t)in->tet_count * sizeof *twin);
  turn(in);
  bool ok = (twin && ds_tet_faces_pair(twin, &fault, in->tets[0], in->tet_count)) || ds_mesh_fail_memory(in);
  for (int32_t f = 0; f < 4 * in->tet_count && ok; f++) {
    int32_t corner[3];
    if (twin[f] >= 0) continue;
    ds_tet_face(corner, in->tets[0], f);
    ds_mesh_begin_polygon(in);
    for (int i = 0; i < 3 && ok; i++) ok = ds_mesh_add_corner(in, corner[i], in->length);
  }
  free(twin);
  return ok;
}

/* ---- the file ---- */

/* To behind "$EndNAME" of the section whose "$NAME" was read. */
static bool skip_section(msh *m, const ds_mesh_word *name) {
  ds_mesh_input *in = m->in;
  size_t n = name->length - 1; /* without $ */
  while (in->length - in->at >= n + 4) {
    const char *found = memchr(in->bytes + in->at, '$', in->length - in->at - (n + 3));
    if (!found) break;
    in->at = (size_t)(found - in->bytes) + 1;
    if (memcmp(found, "$End", 4) == 0 && memcmp(found + 4, name->text + 1, n) == 0) return in->at += n + 3, true;
  }
  return ds_mesh_fail(in, name->at, "section %s has no end; expected \"$End...\"", ds_mesh_quote_word(name).text);
}

static bool read_section(msh *m, const ds_mesh_word *name) {
  if (ds_mesh_word_is(name, "$Nodes")) {
    if (m->nodes_read) return ds_mesh_fail(m->in, name->at, "$Nodes comes twice; expected it once");
    m->nodes_read = true;
    return (m->v4 ? read_nodes_4(m) : read_nodes_2(m)) && expect(m, "$EndNodes") && index_nodes(m);
  }
  if (ds_mesh_word_is(name, "$Elements")) {
    if (!m->nodes_read) return ds_mesh_fail(m->in, name->at, "$Elements before $Nodes; expected $Nodes first");
    if (m->elements_read) return ds_mesh_fail(m->in, name->at, "$Elements comes twice; expected it once");
    m->elements_read = true;
    return (m->v4 ? read_elements_4(m) : read_elements_2(m)) && expect(m, "$EndElements");
  }
  return skip_section(m, name);
}

static bool read_sections(msh *m) {
  ds_mesh_word word = {0};
  bool format = false;
  while (ds_mesh_take_word(m->in, &word)) {
    if (word.text[0] != '$' || word.length < 2)
      return ds_mesh_fail(m->in, word.at, "%s where a section should start; expected \"$Nodes\", \"$Elements\", ...",
                          ds_mesh_quote_word(&word).text);
    bool is_format = ds_mesh_word_is(&word, "$MeshFormat");
    if (is_format == format && !ds_mesh_word_is(&word, "$Comments"))
      return ds_mesh_fail(m->in, word.at, "section %s; expected \"$MeshFormat\" once, first of all",
                          ds_mesh_quote_word(&word).text);
    if (!(is_format ? read_format(m) : read_section(m, &word))) return false;
    format = format || is_format;
  }
  if (!m->elements_read) return ds_mesh_fail(m->in, m->in->at, "the file ends; expected $Nodes and $Elements");
  return m->in->volume || m->in->triangle_count > 0 || m->in->tet_count == 0 || take_boundary(m->in);
}

bool ds_mesh_read_msh(ds_mesh_input *in) {
  msh m = {.in = in};
  bool ok = read_sections(&m);
  free(m.tags);
  free(m.slots);
  return ok;
}
