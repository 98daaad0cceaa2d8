/* Small mesh files of every format and storage, all of the box 0 0 0 to 1 2 3: for tests and as seeds for fuzzing. */
#ifndef DS_TEST_MESH_FILES_H
#define DS_TEST_MESH_FILES_H

#include <stdint.h>
#include <stdio.h>

#include "mesh_helper.h"

typedef struct bytes {
  char data[8192];
  size_t length;
  bool big;
} bytes;

static inline void put(bytes *b, const char *text) {
  size_t n = strlen(text);
  memcpy(b->data + b->length, text, n);
  b->length += n;
}

static inline void put_whole(bytes *b, int64_t value, int size) {
  for (int i = 0; i < size; i++) b->data[b->length++] = (char)((uint64_t)value >> 8 * (b->big ? size - 1 - i : i));
}

static inline void put_real(bytes *b, double value, int size) {
  float f = (float)value;
  uint32_t f_bits;
  uint64_t d_bits;
  memcpy(&f_bits, &f, sizeof f);
  memcpy(&d_bits, &value, sizeof value);
  put_whole(b, (int64_t)(size == 4 ? f_bits : d_bits), size);
}

static inline void put_point(bytes *b, ds_vec3 x, int size) {
  put_real(b, x.x, size);
  put_real(b, x.y, size);
  put_real(b, x.z, size);
}

static inline ds_mesh box_mesh(void) { return mesh_box(v3(0, 0, 0), v3(1, 2, 3)); }

#define OBJ_VERTICES "v 0 0 0\nv 1 0 0\nv 0 2 0\nv 1 2 0\nv 0 0 3\nv 1 0 3\nv 0 2 3\nv 1 2 3\n"
#define OBJ_FACES "f 1 5 7 3\nf 2 4 8 6\nf 1 2 6 5\nf 3 7 8 4\nf 1 3 4 2\nf 5 6 8 7\n"

/* ---- STL ---- */

static inline bytes stl_text(void) {
  bytes b = {.length = 0};
  ds_mesh m = box_mesh();
  put(&b, "solid a box\n");
  for (int32_t t = 0; t < m.triangle_count; t++) {
    put(&b, "facet normal 0 0 nan\n  outer loop\n");
    for (int k = 0; k < 3; k++) {
      char line[64];
      ds_vec3 x = m.vertices[m.triangles[3 * t + k]];
      snprintf(line, sizeof line, "    vertex %.1f %.2e %g\n", x.x, x.y, x.z);
      put(&b, line);
    }
    put(&b, "  endloop\nendfacet\n");
    if (t == 5) put(&b, "endsolid a box\n\nSOLID\n"); /* two solids are one mesh */
  }
  put(&b, "endsolid\n");
  ds_mesh_free(&m);
  return b;
}

static inline bytes stl_binary(const char *header) {
  bytes b = {.length = 0};
  ds_mesh m = box_mesh();
  put(&b, header);
  while (b.length < 80) b.data[b.length++] = ' ';
  put_whole(&b, m.triangle_count, 4);
  for (int32_t t = 0; t < m.triangle_count; t++) {
    put_point(&b, v3(0, 0, 0), 4);
    for (int k = 0; k < 3; k++) put_point(&b, m.vertices[m.triangles[3 * t + k]], 4);
    put_whole(&b, 0, 2);
  }
  ds_mesh_free(&m);
  return b;
}

/* ---- PLY ---- */

/* Properties in an order of its own, other properties and elements between. */
static inline bytes ply_file(int storage) {
  static const char *const formats[] = {"ascii", "binary_little_endian", "binary_big_endian"};
  bytes b = {.big = storage == 2};
  ds_mesh m = box_mesh();
  put(&b, "ply\nformat ");
  put(&b, formats[storage]);
  put(&b,
      " 1.0\ncomment element vertex 7\nobj_info none\nelement nothing 5\nelement other 2\nproperty list uint8 float32 "
      "w\n"
      "property char c\nelement vertex 8\nproperty double z\nproperty uchar red\nproperty int x\nproperty list int "
      "short "
      "extra\nproperty float32 y\nelement face 6\nproperty float quality\nproperty list uchar ushort vertex_index\n"
      "property int flags\nelement edge 1\nproperty int vertex1\nend_header\n");
  if (storage == 0) put(&b, "2 0.5 nan -1\n0 7\n");
  for (int i = 0; i < 2 && storage > 0; i++) {
    put_whole(&b, 2 - 2 * i, 1);
    for (int k = 0; k < 2 - 2 * i; k++) put_real(&b, NAN, 4);
    put_whole(&b, -1, 1);
  }
  for (int32_t i = 0; i < 8; i++) {
    ds_vec3 x = m.vertices[i];
    char line[64];
    snprintf(line, sizeof line, "%.2f 255 %g 1 %d %g\n", x.z, x.x, i, x.y);
    if (storage == 0) put(&b, line);
    if (storage == 0) continue;
    put_real(&b, x.z, 8);
    put_whole(&b, 255, 1);
    put_whole(&b, (int64_t)x.x, 4);
    put_whole(&b, 1, 4);
    put_whole(&b, i, 2);
    put_real(&b, x.y, 4);
  }
  for (int32_t q = 0; q < 6; q++) {
    const int32_t *v = m.triangles + 6 * q;
    char line[64];
    snprintf(line, sizeof line, "0.1 4 %d %d %d %d 3\n", v[0], v[1], v[2], v[5]);
    if (storage == 0) put(&b, line);
    if (storage == 0) continue;
    put_real(&b, 0.1, 4);
    put_whole(&b, 4, 1);
    for (int k = 0; k < 4; k++) put_whole(&b, v[k < 3 ? k : 5], 2);
    put_whole(&b, 3, 4);
  }
  if (storage == 0) put(&b, "1");
  if (storage > 0) put_whole(&b, 1, 4);
  ds_mesh_free(&m);
  return b;
}

/* ---- Gmsh ---- */

enum { QUADS, SECOND_ORDER, TETRAHEDRA, TETRAHEDRA_RIGHT };

/* The box as elements of four kinds; node tags are 10 i + 7. Returns nodes of an element. */
static inline int msh_elements(int32_t elements[24][6], int *count, int *type, int kind) {
  /* Kuhn's six tetrahedra around the diagonal, some of them turned */
  static const int32_t tets[6][4] = {{0, 1, 3, 7}, {0, 1, 5, 7}, {0, 2, 3, 7},
                                     {0, 2, 6, 7}, {0, 4, 5, 7}, {0, 4, 6, 7}};
  ds_mesh m = box_mesh();
  *count = kind == SECOND_ORDER ? 12 : 6;
  *type = kind == QUADS ? 3 : kind == SECOND_ORDER ? 9 : 4;
  for (int i = 0; i < *count; i++)
    for (int k = 0; k < 6; k++) {
      bool turned = kind == TETRAHEDRA_RIGHT && (i == 1 || i == 2 || i == 5) && k % 4 >= 2;
      int32_t v = kind >= TETRAHEDRA ? tets[i][turned ? 5 - k % 4 : k % 4]
                  : kind == QUADS    ? m.triangles[6 * i + (k < 3 ? k : 5)]
                                     : m.triangles[3 * i + k % 3];
      elements[i][k] = 10 * v + 7;
    }
  ds_mesh_free(&m);
  return kind == SECOND_ORDER ? 6 : 4;
}

static inline void put_number(bytes *b, bool text, double value, int size) {
  char word[32];
  snprintf(word, sizeof word, "%.17g ", value);
  if (text)
    put(b, word);
  else if (size == -8)
    put_real(b, value, 8);
  else
    put_whole(b, (int64_t)value, size);
}

static inline bytes msh_2(bool text, bool big, int kind) {
  bytes b = {.big = big};
  ds_mesh m = box_mesh();
  int32_t elements[24][6];
  int count, type, nodes = msh_elements(elements, &count, &type, kind);
  char line[64];
  put(&b, text ? "$MeshFormat\n2.2 0 8\n" : "$MeshFormat\n2.2 1 8\n");
  if (!text) put_whole(&b, 1, 4);
  put(&b, "\n$EndMeshFormat\n$PhysicalNames\n1\n2 1 \"$Nodes\"\n$EndPhysicalNames\n$Nodes\n8\n");
  for (int i = 0; i < 8; i++) {
    put_number(&b, text, 10 * i + 7, 4);
    put_number(&b, text, m.vertices[i].x, -8);
    put_number(&b, text, m.vertices[i].y, -8);
    put_number(&b, text, m.vertices[i].z, -8);
  }
  snprintf(line, sizeof line, "\n$EndNodes\n$Elements\n%d\n", count + 1);
  put(&b, line);
  /* a point first, with two tags */
  const int point[6] = {1, 15, 2, 0, 0, 7}, binary_point[7] = {15, 1, 2, 1, 0, 0, 7};
  for (int k = 0; k < (text ? 6 : 7); k++) put_number(&b, text, text ? point[k] : binary_point[k], 4);
  if (!text) put_whole(&b, type, 4), put_whole(&b, count, 4), put_whole(&b, 1, 4);
  for (int i = 0; i < count; i++) {
    put_number(&b, text, i + 2, 4);
    if (text) put_number(&b, text, type, 4), put_number(&b, text, 1, 4);
    put_number(&b, text, 99, 4);
    for (int k = 0; k < nodes; k++) put_number(&b, text, elements[i][k], 4);
  }
  put(&b, "\n$EndElements\n");
  ds_mesh_free(&m);
  return b;
}

static inline void put_block(bytes *b, bool text, int first, int second, int third, int count, int size) {
  put_number(b, text, first, 4);
  put_number(b, text, second, 4);
  put_number(b, text, third, 4);
  put_number(b, text, count, size);
}

static inline void put_counts(bytes *b, bool text, int blocks, int count, int size) {
  put_number(b, text, blocks, size);
  put_number(b, text, count, size);
  put_number(b, text, 1, size);
  put_number(b, text, 100, size);
}

static inline bytes msh_4(bool text, bool big, int size, int kind) {
  bytes b = {.big = big};
  ds_mesh m = box_mesh();
  int32_t elements[24][6];
  char line[64];
  int count, type, nodes = msh_elements(elements, &count, &type, kind);
  snprintf(line, sizeof line, "$MeshFormat\n4.1 %d %d\n", !text, size);
  put(&b, line);
  if (!text) put_whole(&b, 1, 4);
  put(&b, "\n$EndMeshFormat\n$Nodes\n");
  put_counts(&b, text, 2, 8, size);
  for (int block = 0; block < 2; block++) { /* the second one with parameters on a surface */
    int n = block == 0 ? 3 : 5, from = block == 0 ? 0 : 3;
    put_block(&b, text, block + 1, 1, block, n, size);
    for (int i = from; i < from + n; i++) put_number(&b, text, 10 * i + 7, size);
    for (int i = from; i < from + n; i++) {
      put_number(&b, text, m.vertices[i].x, -8);
      put_number(&b, text, m.vertices[i].y, -8);
      put_number(&b, text, m.vertices[i].z, -8);
      for (int k = 0; k < 2 * block; k++) put_number(&b, text, 0.25, -8);
    }
  }
  put(&b, "\n$EndNodes\n$Elements\n");
  put_counts(&b, text, 2, count + 1, size);
  put_block(&b, text, 0, 1, 15, 1, size);
  put_number(&b, text, 1, size);
  put_number(&b, text, 7, size);
  put_block(&b, text, 2, 1, type, count, size);
  for (int i = 0; i < count; i++) {
    put_number(&b, text, i + 2, size);
    for (int k = 0; k < nodes; k++) put_number(&b, text, elements[i][k], size);
  }
  put(&b, "\n$EndElements\n$NodeData\n1 2 3\n$EndNodeData\n");
  ds_mesh_free(&m);
  return b;
}

#endif
