/* Files of tetrahedra: the same box from every format and storage, what the formats allow, which way tetrahedra turn,
 * and the messages of files that are wrong, with their place. */
#include <unistd.h>

#include "check.h"
#include "drystone/reduce.h"
#include "tets_files.h"

static ds_error last; /* the last message */

/* ---- the box ---- */

static void check_tets(const ds_tets *tets) {
  ds_tets_report r;
  CHECK(tets->node_count == 8 && tets->tet_count == 6);
  CHECK(ds_tets_check(&r, tets, &last) == DS_OK);
  CHECK_NEAR(r.volume, 6, 1e-14);
  CHECK(r.parts == 1 && r.surface_triangles == 12 && r.surface_nodes == 8);
  for (int32_t i = 0; i < 8 && tets->node_count == 8; i++) CHECK_LE(v3_dist(tets->nodes[i], box_corner(i)), 0);
}

static void check_box(const bytes *b, const bytes *second, const char *name) {
  ds_tets tets;
  last.message[0] = 0;
  ds_status status = ds_tets_read_bytes(&tets, b->data, b->length, second ? second->data : NULL,
                                        second ? second->length : 0, name, 1, &last);
  CHECK(status == DS_OK);
  if (status != DS_OK) printf("     %s\n", last.message);
  if (status == DS_OK) check_tets(&tets);
  ds_tets_free(&tets);
}

/* Refused, with a message that starts so and holds the other. */
static void refuse_both(const bytes *b, const bytes *second, const char *name, const char *start, const char *part) {
  ds_tets tets;
  ds_error error = {""};
  char *copy = malloc(b->length + 1), *copy2 = malloc((second ? second->length : 0) + 1); /* a sanitizer sees the end */
  memcpy(copy, b->data, b->length);
  if (second) memcpy(copy2, second->data, second->length);
  CHECK(ds_tets_read_bytes(&tets, copy, b->length, second ? copy2 : NULL, second ? second->length : 0, name, 1,
                           &error) == DS_ERROR_INPUT);
  CHECK(tets.nodes == NULL && tets.tets == NULL);
  bool right = strncmp(error.message, start, strlen(start)) == 0 && strstr(error.message, part) != NULL;
  CHECK(right);
  CHECK(strstr(error.message, "; ") != NULL);
  if (!right) printf("     got \"%s\", wanted \"%s ... %s\"\n", error.message, start, part);
  ds_tets_free(&tets);
  free(copy);
  free(copy2);
}

static void refuse(const char *text, const char *name, const char *start, const char *part) {
  bytes b = {.length = 0};
  put(&b, text);
  refuse_both(&b, NULL, name, start, part);
}

static void refuse_pair(const char *node, const char *ele, const char *start, const char *part) {
  bytes b = {.length = 0}, second = {.length = 0};
  put(&b, node);
  put(&second, ele);
  refuse_both(&b, &second, "a.node", start, part);
}

/* ---- Gmsh ---- */

#define MSH_HEAD "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"
#define MSH_NODES MSH_HEAD "$Nodes\n5\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 0.25 0.25 0\n$EndNodes\n"

static void msh(void) {
  for (int text = 0; text < 2; text++)
    for (int big = 0; big < 2; big++) {
      bytes b = msh_2(text, big, TETRAHEDRA_RIGHT);
      check_box(&b, NULL, "a.msh");
      for (int size = 4; size <= 8; size += 4) {
        b = msh_4(text, big, size, TETRAHEDRA_RIGHT);
        check_box(&b, NULL, "a.MSH");
      }
    }
  bytes b = msh_2(true, false, TETRAHEDRA);
  refuse_both(&b, NULL, "a.msh", "a.msh:15: ", "tetrahedron 2 of the file is inverted");
  b = msh_2(true, false, QUADS);
  refuse_both(&b, NULL, "a.msh", "a.msh: ", "no tetrahedra");
  refuse(MSH_NODES "$Elements\n1\n1 5 0 1 2 3 4 1 2 3 4\n$EndElements\n", "a.msh", "a.msh:14: ", "type 5 fills volume");
  refuse(MSH_NODES "$Elements\n1\n1 4 0 1 2 3 7\n$EndElements\n", "a.msh", "a.msh:14: ", "node 7 does not exist");
  refuse(MSH_NODES "$Elements\n1\n1 4 0 1 2 3 5\n$EndElements\n", "a.msh", "a.msh:14: ",
         "tetrahedron 1 of the file is "
         "flat");
}

/* Tetrahedra of higher order with straight edges count by their corners, whatever the order of the other nodes. */
static void higher_order(void) {
  static const char head[] = MSH_HEAD "$Nodes\n10\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 .5 0 0\n6 .5 .5 0\n";
  static const char tail[] = "8 0 0 .5\n9 0 .5 .5\n10 .5 0 .5\n$EndNodes\n$Elements\n1\n1 11 0 ";
  bytes b = {.length = 0}, bent = {.length = 0};
  ds_tets tets;
  put(&b, head);
  put(&b, "7 0 .5 0\n");
  put(&b, tail);
  put(&b, "1 2 3 4 10 6 7 8 9 5\n$EndElements\n");
  CHECK(ds_tets_read_bytes(&tets, b.data, b.length, NULL, 0, "a.msh", 1, &last) == DS_OK);
  CHECK(tets.node_count == 4 && tets.tet_count == 1);
  ds_tets_free(&tets);
  put(&bent, head);
  put(&bent, "7 -.1 .5 0\n");
  put(&bent, tail);
  put(&bent, "1 2 3 4 10 6 7 8 9 5\n$EndElements\n");
  refuse_both(&bent, NULL, "a.msh", "a.msh:19: ", "curved edges");
}

/* ---- VTK ---- */

#define VTK_HEAD "# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\n"
#define VTK_POINTS VTK_HEAD "POINTS 4 float\n0 0 0 1 0 0\n0 1 0 0 0 1\n"

static void vtk(void) {
  for (int k = 0; k < 16; k++) {
    bytes b = vtk_file(k & 1, k & 2, k & 4, k & 8);
    check_box(&b, NULL, "a.vtk");
  }
  refuse(VTK_POINTS "CELLS 1 5\n4 0 1 2 4\nCELL_TYPES 1\n10\n", "a.vtk", "a.vtk:9: ", "node 4 does not exist");
  refuse(VTK_POINTS "CELLS 1 5\n4 0 1 2 -1\nCELL_TYPES 1\n10\n", "a.vtk", "a.vtk:9: ", "node -1 does not exist");
  refuse(VTK_POINTS "CELLS 1 5\n4 0 1 2 2\nCELL_TYPES 1\n10\n", "a.vtk", "a.vtk:9: ", "flat");
  refuse(VTK_POINTS "CELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n12\n", "a.vtk", "a.vtk:11: ", "cell 0 has the type 12");
  refuse(VTK_POINTS "CELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n24\n", "a.vtk", "a.vtk:9: ", "4 points; expected 10");
  refuse(VTK_POINTS "CELLS 1 5\n4 0 1 2 3\nCELL_TYPES 2\n10 10\n", "a.vtk", "a.vtk:10: ", "2 types of 1 cells");
  refuse(VTK_POINTS "CELLS 1 4\n4 0 1 2 3\n", "a.vtk", "a.vtk:9: ", "a cell of 4 points; expected 0 to 3");
  refuse(VTK_POINTS "CELLS 1 9\n4 0 1 2 3\n", "a.vtk", "a.vtk:9: ", "4 numbers of CELLS are left");
  refuse(VTK_POINTS "CELLS 1 5\n-4 0 1 2 3\n", "a.vtk", "a.vtk:9: ", "-4 points");
  refuse(VTK_POINTS "CELLS 0 0\n", "a.vtk", "a.vtk:8: ", "no cells");
  refuse(VTK_POINTS "CELLS 1 5\n4 0 1 2 3\n", "a.vtk", "a.vtk:10: ", "CELL_TYPES");
  refuse(VTK_POINTS "CELLS 2 4\nOFFSETS vtktypeint64\n0 3\nCONNECTIVITY vtktypeint64\n0 1 2 3\n", "a.vtk",
         "a.vtk:10: ", "offset 3; expected them to rise from 0 to 4");
  refuse(VTK_POINTS "CELLS 2 4\nOFFSETS float\n0 4\n", "a.vtk", "a.vtk:9: ", "a whole type");
  refuse(VTK_POINTS "CELLS 2 4\nOFFSETS vtktypeint64\n0 4\nCONNECT\n", "a.vtk", "a.vtk:11: ", "\"CONNECT\"");
  refuse(VTK_POINTS "POINTS 4 float\n", "a.vtk", "a.vtk:8: ", "twice");
  refuse(VTK_HEAD "CELLS 1 5\n", "a.vtk", "a.vtk:5: ", "POINTS first");
  refuse(VTK_HEAD "POINTS 4 real\n", "a.vtk", "a.vtk:5: ", "\"real\" is not a");
  refuse(VTK_HEAD "POINTS 4 float\n0 0 nan\n", "a.vtk", "a.vtk:6: ", "\"nan\" is not a number");
  refuse(VTK_HEAD "POINTS 999999999 float\n", "a.vtk", "a.vtk:5: ", "expected 0 to 100000000");
  refuse(VTK_HEAD "POINTS 100000000 float\n", "a.vtk", "a.vtk:6: ", "the file ends");
  refuse(VTK_HEAD "POINT_DATA 4\n", "a.vtk", "a.vtk:5: ", "\"POINT_DATA\"; expected POINTS");
  refuse(VTK_HEAD "FIELD f 1\na 100000 100000 int\n", "a.vtk", "a.vtk:6: ", "the number of values");
  refuse("# vtk DataFile Version 3.0\nt\nASCII\nDATASET POLYDATA\n", "a.vtk", "a.vtk:4: ", "\"POLYDATA\"");
  refuse("# vtk DataFile Version 3.0\nt\nTEXT\n", "a.vtk", "a.vtk:3: ", "ASCII or BINARY");
  refuse("<VTKFile type=\"UnstructuredGrid\">\n", "a.vtk", "a.vtk:1: ", "no VTK legacy file");
  refuse("", "a.vtk", "a.vtk:1: ", "no VTK legacy file");
}

/* ---- TetGen ---- */

#define NODES "4 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n"

static void tetgen(void) {
  for (int k = 0; k < 8; k++) {
    bytes node = node_file(k & 1, k & 2), ele = ele_file(k & 1, k & 2, k & 4);
    check_box(&node, &ele, k & 2 ? "a.node" : "dir/a.ELE");
  }
  refuse(NODES, "a.node", "a.node: ", "half of a mesh");
  refuse_pair("", "", "a.node:1: ", "expected the number of nodes");
  refuse_pair("4 2 0 0\n", "", "a.node:2: ", "2 coordinates");
  refuse_pair("2 3 0 0\n1 0 0 0\n3 0 0 0\n", "", "a.node:3: ", "node 3; expected 2");
  refuse_pair("2 3 0 0\n5 0 0 0\n", "", "a.node:2: ", "node 5; expected 0");
  refuse_pair("2 3 0 0\n1 0 0\n", "", "a.node:2: ", "coordinates");
  refuse_pair("2 3 0 0\n1 0 0 inf\n", "", "a.node:2: ", "\"inf\"");
  refuse_pair("2 3 0 0\n1 0 0 1e400\n", "", "a.node:2: ", "not finite");
  refuse_pair("3 3 0 0\n1 0 0 0\n", "", "a.node:3: ", "after 1 of 3 rows");
  refuse_pair("-1 3 0 0\n", "", "a.node:1: ", "-1 as the number");
  refuse_pair(NODES, "", "a.ele:1: ", "the number of tetrahedra");
  refuse_pair(NODES, "1 5 0\n", "a.ele:2: ", "5 nodes");
  refuse_pair(NODES, "1 4 0\n1 1 2 3 5\n", "a.ele:2: ", "node 5 does not exist; expected 1 to 4");
  refuse_pair(NODES, "1 4 0\n1 1 2 3 0\n", "a.ele:2: ", "node 0 does not exist");
  refuse_pair(NODES, "1 4 0\n1 1 2 3\n", "a.ele:2: ", "the line ends here");
  refuse_pair(NODES, "2 4 0\n1 1 2 3 4\n", "a.ele:3: ", "after 1 of 2 rows");
  refuse_pair(NODES, "2 4 0\n1 1 2 3 4\n2 1 2 4 3\n", "a.ele:3: ", "tetrahedron 2 of the file is inverted");
  refuse_pair(NODES, "1 4 0\n1 1 2 3 3\n", "a.ele:2: ", "flat");
  refuse_pair(NODES, "0 4 0\n", "a.ele: ", "no tetrahedra");
}

/* ---- VEGA ---- */

static void veg(void) {
  for (int k = 0; k < 4; k++) {
    bytes b = veg_file(k & 1, k & 2);
    check_box(&b, NULL, "a.veg");
  }
  refuse("*VERTICES\n" NODES "*ELEMENTS\nCUBIC\n1 8 0\n", "a.veg", "a.veg:8: ", "\"CUBIC\"; expected TET");
  refuse("*VERTICES\n" NODES "*ELEMENTS\nTET\n1 4 0\n1 1 2 3 9\n", "a.veg", "a.veg:10: ", "node 9");
  refuse("*VERTICES\n4 3 0 0\n1 0 0 0\n*ELEMENTS\n", "a.veg", "a.veg:4: ", "\"*ELEMENTS\" is not a whole number");
  refuse("*ELEMENTS\nTET\n", "a.veg", "a.veg:1: ", "before *VERTICES");
  refuse("*VERTICES\n" NODES "*VERTICES\n" NODES, "a.veg", "a.veg:7: ", "twice");
  refuse("*VERTICES\n" NODES "*ELEMENTS\nTET\n1 4 0\n1 1 2 3 4\n*ELEMENTS\n", "a.veg", "a.veg:11: ", "twice");
  refuse("*VERTICES\n*INCLUDE b.node\n", "a.veg", "a.veg:2: ", "a file that has all in it");
  refuse("*NODES\n", "a.veg", "a.veg:1: ", "\"*NODES\"; expected *VERTICES");
  refuse("*VERTICES\n" NODES "*MATERIAL m\nENU, 1, 2, 3\n", "a.veg", "a.veg: ", "no tetrahedra");
  refuse("*VERTICES\n", "a.veg", "a.veg:2: ", "a table");
  refuse("*MATERIAL m\n*VERTICES\n", "a.veg", "a.veg:1: ", "without a line");
  refuse("*MATERIAL m\nENU, 1, x, 3\n", "a.veg", "a.veg:2: ", "three numbers");
  refuse("*MATERIAL m\nENU, 1, 2\n", "a.veg", "a.veg:2: ", "three numbers");
  refuse("*MATERIAL m\nENU, 1, 2, 0.3\n*REGION\nall, n\n", "a.veg", "a.veg:4: ", "no material before it");
  refuse("*MATERIAL m\nENU, 1, 2, 0.3\n*REGION\nall\n", "a.veg", "a.veg:4: ", "no material before it");
  refuse("*VERTICES\n" NODES "*ELEMENTS\n", "a.veg", "a.veg:8: ", "expected TET");
}

/* What a file says of the material, and what a body takes of it. */
static void veg_material(void) {
  static const struct {
    const char *text;
    int32_t count;
    double young, poisson, density;
  } cases[] = {{"", 0, 0, 0, 0},
               {"*MATERIAL m\nENU, 1100, 2e6, 0.45\n*REGION\nall, m\n", 1, 2e6, 0.45, 1100},
               {"*MATERIAL m # it\n\nENU,1100,2e6,0.45 # here\n", 1, 2e6, 0.45, 1100},
               {"*MATERIAL a\nENU, 1, 2, 0.3\n*MATERIAL b\nENU 5 6 0.1\n*REGION\nall, b\n", 1, 6, 0.1, 5},
               {"*MATERIAL a\nENU, 1, 2, 0.3\n*MATERIAL b\nENU 1 2 0.3\n*REGION\nx, a\ny, b\n", 1, 2, 0.3, 1},
               {"*MATERIAL a\nENU, 1, 2, 0.3\n*MATERIAL b\nENU 5 6 0.1\n*REGION\nx, a\ny, b\n", 2, 6, 0.1, 5},
               {"*MATERIAL a\nMOONEYRIVLIN, 1000, 1, 2, 3\n", 1, 0, 0, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[512];
    ds_error error = {""};
    ds_tets tets;
    snprintf(text, sizeof text, "*VERTICES\n" NODES "%s*ELEMENTS\nTET\n1 4 0\n1 1 2 3 4\n", cases[i].text);
    CHECK(ds_tets_read_bytes(&tets, text, strlen(text), NULL, 0, "a.veg", 1, &error) == DS_OK);
    if (error.message[0]) printf("%s\n", error.message);
    CHECK_NEAR(tets.material.count, cases[i].count, 0);
    if (tets.material.count == 1) {
      CHECK_NEAR(tets.material.young, cases[i].young, 0);
      CHECK_NEAR(tets.material.poisson, cases[i].poisson, 0);
      CHECK_NEAR(tets.material.density, cases[i].density, 0);
    }
    ds_reduced_def def = ds_default_reduced();
    bool usable = cases[i].count == 0 || (cases[i].count == 1 && cases[i].young > 0);
    CHECK((ds_reduced_take_material(&def, &tets, (ds_material_given){.poisson = true}, &error) == DS_OK) == usable);
    CHECK_NEAR(def.poisson, 0.3, 0);
    CHECK_NEAR(def.young, usable && cases[i].count == 1 ? cases[i].young : 1e6, 0);
    CHECK(ds_reduced_take_material(&def, &tets, (ds_material_given){true, true, true}, &error) == DS_OK);
    ds_tets_free(&tets);
  }
}

/* ---- files ---- */

static void write_file(const char *path, const bytes *b) {
  FILE *out = fopen(path, "wb");
  CHECK(out != NULL && fwrite(b->data, 1, b->length, out) == b->length);
  if (out) fclose(out);
}

static void read_file(const char *path) {
  ds_tets tets;
  ds_status status = ds_tets_read(&tets, path, 1, &last);
  CHECK(status == DS_OK);
  if (status == DS_OK) check_tets(&tets);
  if (status != DS_OK) printf("     %s\n", last.message);
  ds_tets_free(&tets);
}

static void files(void) {
  static const char *const endings[] = {"node", "ele", "veg", "vtk"};
  char path[4][64];
  ds_tets tets;
  for (int i = 0; i < 4; i++)
    snprintf(path[i], sizeof path[i], "/tmp/drystone_tets_%ld.%s", (long)getpid(), endings[i]);
  bytes node = node_file(1, true), ele = ele_file(1, true, true), vtk_bytes = vtk_file(false, true, false, true);
  write_file(path[0], &node);
  CHECK(ds_tets_read(&tets, path[0], 1, &last) == DS_ERROR_INPUT && strstr(last.message, ".ele: cannot open it"));
  write_file(path[1], &ele);
  write_file(path[3], &vtk_bytes);
  read_file(path[0]);
  read_file(path[1]);
  read_file(path[3]);
  /* tables in files beside it */
  bytes b = {.length = 0};
  char text[1024];
  snprintf(text, sizeof text,
           "*VERTICES\n*INCLUDE %s # there\n*ELEMENTS\nTET\n*INCLUDE %s\n*MATERIAL a\nENU, 1, 2, 3\n", path[0] + 5,
           path[1] + 5);
  put(&b, text);
  write_file(path[2], &b);
  read_file(path[2]);
  static const char *const bad[] = {"/etc/hostname", "../etc/hostname", "nothing.node"};
  for (int i = 0; i < 3; i++) {
    b.length = 0;
    snprintf(text, sizeof text, "*VERTICES\n*INCLUDE %s\n", bad[i]);
    put(&b, text);
    write_file(path[2], &b);
    CHECK(ds_tets_read(&tets, path[2], 1, &last) == DS_ERROR_INPUT);
    CHECK(strstr(last.message, i < 2 ? "beside this one" : "nothing.node: cannot open it") != NULL);
  }
  for (int i = 0; i < 4; i++) remove(path[i]);
  CHECK(ds_tets_read(&tets, path[3], 1, &last) == DS_ERROR_INPUT && strstr(last.message, "cannot open it"));
  CHECK(tets.nodes == NULL);
}

static void names_and_scale(void) {
  static const double bad[] = {0, -1, NAN, INFINITY};
  ds_tets tets;
  bytes b = veg_file(1, false);
  CHECK(ds_tets_is_file("a.msh") && ds_tets_is_file("b/a.VTK") && ds_tets_is_file("a.veg") &&
        ds_tets_is_file("a.node") && ds_tets_is_file("a.ele"));
  CHECK(!ds_tets_is_file("a.obj") && !ds_tets_is_file(".ele") && !ds_tets_is_file("node") && !ds_tets_is_file(""));
  for (int i = 0; i < 4; i++)
    CHECK(ds_tets_read_bytes(&tets, b.data, b.length, NULL, 0, "a.veg", bad[i], &last) == DS_ERROR_INPUT &&
          strstr(last.message, "scale"));
  CHECK(ds_tets_read_bytes(&tets, b.data, b.length, NULL, 0, "a.veg", 1e308, &last) == DS_ERROR_INPUT &&
        strstr(last.message, "too large"));
  CHECK(ds_tets_read_bytes(&tets, b.data, b.length, NULL, 0, "a.veg", 1e-3, &last) == DS_OK);
  CHECK_NEAR(tets.nodes[7].z, 3e-3, 1e-18);
  ds_tets_free(&tets);
  CHECK(ds_tets_read_bytes(&tets, b.data, b.length, NULL, 0, "a.veg", 1e200, &last) == DS_OK); /* no overflow */
  ds_tets_free(&tets);
  refuse("", "a.obj", "a.obj: ", "ends with .msh");
  CHECK(ds_tets_read(&tets, "a.obj", 1, &last) == DS_ERROR_INPUT && strstr(last.message, "ends with .msh"));
}

/* All inverted: turned. Nodes that nothing uses: left out. Equal nodes: left apart. */
static void other_convention(void) {
  bytes node = node_file(0, false), ele = ele_file(0, false, true), b = {.length = 0};
  ds_tets tets;
  check_box(&node, &ele, "a.ele");
  put(&b, VTK_HEAD "POINTS 6 float\n9 9 9 0 0 0 1 0 0\n0 1 0 0 0 1 0 0 1\nCELLS 1 5\n4 1 2 3 5\nCELL_TYPES 1\n10\n");
  CHECK(ds_tets_read_bytes(&tets, b.data, b.length, NULL, 0, "a.vtk", 1, &last) == DS_OK);
  CHECK(tets.node_count == 4 && tets.tets[0] == 0 && tets.tets[3] == 3 && tets.nodes[3].z == 1);
  ds_tets_free(&tets);
}

/* Every file cut short at every byte: a message or a mesh, never a crash. */
static void cut_short(void) {
  int meshes = 0;
  for (int kind = 0; kind < 9; kind++) {
    bytes ele = ele_file(1, true, false);
    bytes b = kind < 4    ? vtk_file(kind & 1, kind & 2, false, true)
              : kind == 4 ? veg_file(1, true)
              : kind == 5 ? msh_2(false, false, TETRAHEDRA_RIGHT)
              : kind == 6 ? msh_4(true, false, 8, TETRAHEDRA_RIGHT)
                          : node_file(1, kind == 7);
    const char *name = kind < 4 ? "a.vtk" : kind == 4 ? "a.veg" : kind < 7 ? "a.msh" : "a.node";
    bytes *cut = kind == 8 ? &ele : &b;
    size_t length = cut->length;
    for (size_t n = 0; n < length; n++) {
      ds_tets tets;
      ds_error error = {""};
      cut->length = n;
      char *copy = malloc(cut->length + 1);
      memcpy(copy, cut->data, n);
      bool ok = kind < 7    ? ds_tets_read_bytes(&tets, copy, n, NULL, 0, name, 1, &error) == DS_OK
                : kind == 7 ? ds_tets_read_bytes(&tets, copy, n, ele.data, ele.length, name, 1, &error) == DS_OK
                            : ds_tets_read_bytes(&tets, b.data, b.length, copy, n, name, 1, &error) == DS_OK;
      CHECK(ok || strncmp(error.message, "a.", 2) == 0);
      meshes += ok;
      ds_tets_free(&tets);
      free(copy);
    }
  }
  CHECK_LE(meshes, 500); /* what is behind the last element */
}

int main(void) {
  RUN(msh);
  RUN(higher_order);
  RUN(vtk);
  RUN(tetgen);
  RUN(veg);
  RUN(veg_material);
  RUN(files);
  RUN(names_and_scale);
  RUN(other_convention);
  RUN(cut_short);
  return test_summary();
}
