/* Small files of tetrahedra in every format, all of the box 0 0 0 to 1 2 3 in six: for tests and as seeds for fuzzing.
 */
#ifndef DS_TEST_TETS_FILES_H
#define DS_TEST_TETS_FILES_H

#include "mesh_files.h"

/* Around the diagonal [Kuhn 1960], all with positive volume. Corner i has bit 0 for x, bit 1 for y, bit 2 for z. */
static const int32_t box_tets[6][4] = {{0, 1, 3, 7}, {0, 1, 7, 5}, {0, 2, 7, 3},
                                       {0, 2, 6, 7}, {0, 4, 5, 7}, {0, 4, 7, 6}};

static inline ds_vec3 box_corner(int32_t i) { return v3(i & 1, i & 2, 3 * (i >> 2)); }

/* The nodes as a table numbered from `base`, with what TetGen and people put around. */
static inline void put_node_table(bytes *b, int base, bool extras) {
  char line[128];
  put(b, extras ? "# made by hand\n\n  8 3 2 1  # attributes, a marker\n" : "8 3 0 0\n");
  for (int32_t i = 0; i < 8; i++) {
    ds_vec3 x = box_corner(i);
    snprintf(line, sizeof line, "%s%d\t%g %.3f %e%s\n", extras ? "  " : "", i + base, x.x, x.y, x.z,
             extras ? " 0.5 -7 1 # end" : "");
    put(b, line);
    if (extras && i == 3) put(b, "# half of them\n\n");
  }
}

static inline void put_ele_table(bytes *b, int base, bool extras, bool inverted) {
  char line[128];
  put(b, extras ? "6 4 1\n" : "6 4 0\n");
  for (int32_t t = 0; t < 6; t++) {
    const int32_t *v = box_tets[t];
    snprintf(line, sizeof line, "%d  %d %d %d %d%s\n", t + base, v[0] + base, v[1] + base, v[inverted ? 3 : 2] + base,
             v[inverted ? 2 : 3] + base, extras ? " -3 # region" : "");
    put(b, line);
  }
}

static inline bytes node_file(int base, bool extras) {
  bytes b = {.length = 0};
  put_node_table(&b, base, extras);
  return b;
}

static inline bytes ele_file(int base, bool extras, bool inverted) {
  bytes b = {.length = 0};
  put_ele_table(&b, base, extras, inverted);
  return b;
}

static inline bytes veg_file(int base, bool extras) {
  bytes b = {.length = 0};
  if (extras) put(&b, "# Vega mesh file.\n# 8 vertices, 6 elements\n\n");
  put(&b, "*VERTICES\n");
  put_node_table(&b, base, extras);
  put(&b, extras ? "\n*ELEMENTS\nTETS\n" : "*ELEMENTS\nTET\n");
  put_ele_table(&b, base, extras, false);
  if (extras) put(&b, "\n*MATERIAL BODY\nENU, 1000, 1e7, 0.45\n\n*SET some\n1, 2,\n3\n*REGION\nallElements, BODY\n");
  return b;
}

/* Version 2 or 5 of the legacy format. A triangle comes first, which is to be skipped. */
static inline bytes vtk_file(bool text, bool new_layout, bool single, bool extras) {
  bytes b = {.big = true};
  char line[64];
  put(&b, new_layout ? "# vtk DataFile Version 5.1\n" : "# vtk DataFile Version 2.0\n");
  put(&b, text ? "a box\nASCII\nDATASET UNSTRUCTURED_GRID\n" : "a box\nBINARY\nDATASET UNSTRUCTURED_GRID\n");
  if (extras) {
    put(&b, "FIELD FieldData 2\nTIME 1 1 double\n");
    put_number(&b, text, 0.25, -8);
    put(&b, "\nCYCLE 2 2 int\n");
    for (int i = 0; i < 4; i++) put_number(&b, text, i, 4);
    put(&b, "\n");
  }
  put(&b, single ? "POINTS 8 float\n" : "POINTS 8 double\n");
  for (int32_t i = 0; i < 8; i++) {
    ds_vec3 x = box_corner(i);
    const double c[3] = {x.x, x.y, x.z};
    if (!text) put_point(&b, x, single ? 4 : 8);
    for (int k = 0; k < 3 && text; k++) put_number(&b, true, c[k], 8);
  }
  if (extras) put(&b, "\nMETADATA\nINFORMATION 1\nNAME L2_NORM_RANGE LOCATION vtkDataArray\nDATA 2 0 3\n\n");
  snprintf(line, sizeof line, "\nCELLS %d %d\n", new_layout ? 8 : 7, new_layout ? 27 : 34);
  put(&b, line);
  if (new_layout) {
    put(&b, "OFFSETS vtktypeint64\n0");
    if (!text) b.length--;
    if (!text) put_whole(&b, 0, 8);
    put(&b, text ? " " : "");
    for (int i = 0; i < 7; i++) put_number(&b, text, 3 + 4 * i, 8);
    put(&b, "\nCONNECTIVITY vtktypeint64\n");
  }
  for (int i = 0; i < 7; i++) {
    int points = i == 0 ? 3 : 4, size = new_layout ? 8 : 4;
    if (!new_layout) put_number(&b, text, points, 4);
    for (int k = 0; k < points; k++) put_number(&b, text, i == 0 ? k : box_tets[i - 1][k], size);
  }
  put(&b, "\nCELL_TYPES 7\n");
  for (int i = 0; i < 7; i++) put_number(&b, text, i == 0 ? 5 : 10, 4);
  put(&b, "\nCELL_DATA 7\nSCALARS rubbish float 1\nLOOKUP_TABLE default\n");
  return b;
}

#endif
