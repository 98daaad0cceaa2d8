/* Mesh files: the same box from every format and storage, what the formats allow, and the messages of files that are
 * wrong, with their place. */
#include <locale.h>
#include <unistd.h>

#include "check.h"
#include "mesh_files.h"

/* ---- reading ---- */

static ds_error last; /* the last message */

static ds_mesh_report read_bytes(ds_mesh *mesh, const bytes *b, const char *name) {
  ds_mesh_report report = {0};
  last.message[0] = 0;
  ds_status status = ds_mesh_read_bytes(mesh, b->data, b->length, name, 1, &last);
  CHECK(status == DS_OK);
  if (status != DS_OK) printf("%s\n", last.message);
  if (status == DS_OK) CHECK(ds_mesh_check(&report, mesh, &last) == DS_OK);
  return report;
}

/* The box 0 0 0 to 1 2 3. */
static void check_box(const bytes *b, const char *name) {
  ds_mesh mesh;
  ds_mesh_report r = read_bytes(&mesh, b, name);
  CHECK(mesh.vertex_count == 8 && mesh.triangle_count == 12);
  CHECK(r.usable);
  CHECK_NEAR(r.volume, 6, 1e-14);
  ds_mesh_free(&mesh);
}

static void check_text(const char *text, const char *name) {
  bytes b = {.length = 0};
  put(&b, text);
  check_box(&b, name);
}

/* Refused, with a message that starts so and holds the other. */
static void refuse_bytes(const bytes *b, const char *name, const char *start, const char *part) {
  ds_mesh mesh;
  ds_error error = {""};
  char *copy = malloc(b->length + 1); /* so that a sanitizer sees its end */
  memcpy(copy, b->data, b->length);
  CHECK(ds_mesh_read_bytes(&mesh, copy, b->length, name, 1, &error) == DS_ERROR_INPUT);
  CHECK(mesh.vertices == NULL && mesh.triangles == NULL);
  CHECK(strncmp(error.message, start, strlen(start)) == 0 && strstr(error.message, part) != NULL);
  CHECK(strstr(error.message, "; ") != NULL);
  if (strncmp(error.message, start, strlen(start)) != 0 || strstr(error.message, part) == NULL)
    printf("     got \"%s\", wanted \"%s ... %s\"\n", error.message, start, part);
  free(copy);
}

static void refuse(const char *text, const char *name, const char *start, const char *part) {
  bytes b = {.length = 0};
  put(&b, text);
  refuse_bytes(&b, name, start, part);
}

/* ---- OBJ ---- */

static void obj(void) {
  check_text(OBJ_VERTICES OBJ_FACES, "a.obj");
  check_text(OBJ_FACES OBJ_VERTICES, "a.OBJ"); /* faces may come first */
  /* everything else that is legal; comments, blanks, line ends, no line end at the end */
  check_text(
      "\xEF\xBB\xBF# box\r\nmtllib a.mtl\r\no box\r\n\tv  0.0 0 0 1.0 # first\r\nv 1 0. +0\r\nv 0 .2e1 0 0.5 0.5 "
      "0.5\r\n"
      "v 1 2 0\r\nv 0 0 3\r\nv 1 0 3\r\nv 0 2 3\r\nv 1 2 300E-2\r\nvt 0 0\r\nvn 0 0 1\r\ng a b\r\ns off\r\nusemtl x\r\n"
      "f 1/1 5/1 7/1 3/1\r\nf 2//1 4//1 8//1 6//1\r\nf 1/1/1 2/1/1 6/1/1 5/1/1\r\nf -6 -2 \\\r\n-1 -5\r\nl 1 2\r\np "
      "1\r\n"
      "f 1 3 4\\\r\n 2\r\n\r\nf 5 6 8 7",
      "dir.x/a.obj");
  check_text(
      "v 0 0 0\rv 1 0 0\rv 0 2 0\rv 1 2 0\rv 0 0 3\rv 1 0 3\rv 0 2 3\rv 1 2 3\r"
      "f 1 5 7 3\rf 2 4 8 6\rf 1 2 6 5\rf 3 7 8 4\rf 1 3 4 2\rf 5 6 8 7\r",
      "a.obj");
  refuse("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4\n", "a.obj", "a.obj:4: ", "vertex 4 does not exist");
  refuse("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 -4\n", "a.obj", "a.obj:4: ", "vertex -4");
  refuse("v 0 0 0\r\n\r\nv 1 0 0\r\nv 0 1 0\r\nf 0 2 1\n", "a.obj", "a.obj:5: ", "vertex 0");
  refuse("v 0 0 0\nv 1 0 0\nf 1 2\n", "a.obj", "a.obj:3: ", "2 corners");
  refuse("v 0 0 0\nv 1 0\nf 1 2\n", "a.obj", "a.obj:2: ", "expected the coordinates");
  refuse("v 0 0 0\nv 1 0 0x1\n", "a.obj", "a.obj:2: ", "\"0x1\" is not a number");
  refuse("v 0 0 nan\n", "a.obj", "a.obj:1: ", "\"nan\" is not a number");
  refuse("v 0 0 1e999\n", "a.obj", "a.obj:1: ", "not finite");
  refuse("v 0 0 1 1 1 1 1 1\n", "a.obj", "a.obj:1: ", "at most 4");
  refuse("v 0 0 1,5\n", "a.obj", "a.obj:1: ", "\"1,5\"");
  refuse("v 0 0 1\nvertex 1 2 3\n", "a.obj", "a.obj:2: ", "\"vertex\" is not an OBJ keyword");
  refuse("f 1/2/3/4 2 3\n", "a.obj", "a.obj:1: ", "not a corner");
  refuse("f /1 2 3\n", "a.obj", "a.obj:1: ", "not a corner");
  refuse("f 99999999999999999999 2 3\n", "a.obj", "a.obj:1: ", "not a corner");
  refuse("f 999999999999 2 3\n", "a.obj", "a.obj:1: ", "does not exist");
  refuse("v 0 0 1\n", "a.obj", "a.obj: ", "no faces");
  refuse("", "a.obj", "a.obj: ", "empty");
}

/* ---- STL ---- */

static void stl(void) {
  bytes b = stl_text();
  check_box(&b, "a.stl");
  b = stl_binary("any header");
  check_box(&b, "a.stl");
  b = stl_binary("solid is what some binary files start with");
  check_box(&b, "a.STL");
  b.length--;
  refuse_bytes(&b, "a.stl", "a.stl: byte 80: ", "12 triangles need 684 bytes, the file has 683");
  b = stl_binary("x");
  b.length += 7;
  refuse_bytes(&b, "a.stl", "a.stl: byte 80: ", "the file has 691");
  b = stl_binary("x");
  b.data[80] = b.data[81] = b.data[82] = b.data[83] = '\xff';
  refuse_bytes(&b, "a.stl", "a.stl: byte 80: ", "4294967295 triangles need 214748364834 bytes");
  b = stl_binary("x");
  size_t length = b.length;
  b.length = 84 + 50 + 12 + 12 + 4;
  put_real(&b, INFINITY, 4);
  b.length = length;
  refuse_bytes(&b, "a.stl", "a.stl: byte 158: ", "not finite");
  b.length = 84;
  memset(b.data + 80, 0, 4);
  refuse_bytes(&b, "a.stl", "a.stl: ", "no faces");
  b.length = 50;
  refuse_bytes(&b, "a.stl", "a.stl: byte 50: ", "header of 84 bytes");
  refuse("solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nvertex 0 0 1\nendloop\n",
         "a.stl", "a.stl:7: ", "\"endloop\" should stand");
  refuse("solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0\nendloop\n", "a.stl",
         "a.stl:5: ", "\"endloop\" is not a number");
  refuse("solid x\nfacet normal 0 0 1\n", "a.stl", "a.stl:", "the end where \"outer\"");
  refuse("solid x\nfacets\n", "a.stl", "a.stl:2: ", "\"facets\" within a solid");
  refuse("solid x\n", "a.stl", "a.stl:2: ", "ends within a solid");
  refuse("solid x\nendsolid\nrest", "a.stl", "a.stl:3: ", "\"rest\"");
}

/* ---- PLY ---- */

#define PLY_HEAD "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
#define PLY_FACE "element face 1\nproperty list uchar int vertex_indices\nend_header\n"

static void ply(void) {
  ds_mesh mesh;
  for (int storage = 0; storage < 3; storage++) {
    bytes b = ply_file(storage);
    check_box(&b, "a.ply");
    b.length -= storage == 0 ? 1 : 4;
    refuse_bytes(&b, "a.ply", storage == 0 ? "a.ply:38: " : "a.ply: byte ", "ends");
  }
  /* lines that end with CR alone: the first byte of data may be LF */
  bytes b = {.length = 0};
  put(&b,
      "ply\rformat binary_little_endian 1.0\relement vertex 3\rproperty uchar x\rproperty uchar y\rproperty uchar z\r"
      "element face 1\rproperty list uchar uchar vertex_indices\rend_header\r\n");
  static const char points[] = {0, 0, 10, 10, 0, 0, 10, 0, 3, 0, 1, 2}; /* LF is 10 */
  memcpy(b.data + b.length, points, sizeof points);
  b.length += sizeof points;
  read_bytes(&mesh, &b, "a.ply");
  CHECK(mesh.vertex_count == 3 && mesh.vertices[0].x == 10 && mesh.vertices[1].y == 10);
  ds_mesh_free(&mesh);
  refuse(PLY_HEAD PLY_FACE "0 0 0\n1 0 0\n0 1 0\n3 0 1 3\n", "a.ply", "a.ply:13: ", "vertex 3 does not exist");
  refuse(PLY_HEAD PLY_FACE "0 0 0\n1 0 0\n0 1 0\n3 0 1 -1\n", "a.ply", "a.ply:13: ", "vertex -1");
  refuse(PLY_HEAD PLY_FACE "0 0 0\n1 0 0\n0 1 0\n2 0 1\n", "a.ply", "a.ply:13: ", "2 corners");
  refuse(PLY_HEAD PLY_FACE "0 0 0\n1 0 0\n0 1 0\n-3 0 1\n", "a.ply", "a.ply:1", "-3 as the length");
  refuse(PLY_HEAD PLY_FACE "0 0 0\n1 x 0\n", "a.ply", "a.ply:11: ", "\"x\" is not a number");
  refuse(PLY_HEAD "end_header\n", "a.ply", "a.ply:7: ", "\"element face\"");
  refuse(PLY_HEAD "element face 1\nproperty int a\nend_header\n", "a.ply", "a.ply:7: ", "vertex_indices");
  refuse(PLY_HEAD "element face 1\nproperty list uchar float vertex_indices\n", "a.ply", "a.ply:8: ", "whole type");
  refuse(PLY_HEAD "element face 1\nproperty list float int vertex_indices\n", "a.ply", "a.ply:8: ", "real");
  refuse(PLY_HEAD "property float y\n", "a.ply", "a.ply:7: ", "twice");
  refuse(PLY_HEAD "element vertex 3\n", "a.ply", "a.ply:7: ", "twice");
  refuse(PLY_HEAD "elements\n", "a.ply", "a.ply:7: ", "not a keyword");
  refuse(PLY_HEAD, "a.ply", "a.ply:7: ", "end_header");
  refuse("ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nend_header\n", "a.ply", "a.ply:3: ", "x, y and z");
  refuse("ply\nformat ascii 1.0\nelement vertex 200000000\n", "a.ply", "a.ply:3: ", "expected 0 to 100000000");
  refuse("ply\nformat ascii 1.0\nproperty float x\n", "a.ply", "a.ply:3: ", "before any element");
  refuse("ply\nformat ascii 1.0\nelement vertex 1\nproperty real x\n", "a.ply", "a.ply:4: ", "\"real\" is not a");
  refuse("ply\nformat text 1.0\n", "a.ply", "a.ply:2: ", "\"text\"");
  refuse("ply\nformat ascii 2.0\n", "a.ply", "a.ply:2: ", "\"2.0\"");
  refuse("ply\nelement vertex 3\nend_header\n", "a.ply", "a.ply:3: ", "no format");
  refuse("plot\n", "a.ply", "a.ply:1: ", "expected \"ply\"");
}

/* ---- Gmsh ---- */

#define MSH_HEAD "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"
#define MSH_NODES MSH_HEAD "$Nodes\n3\n1 0 0 0\n2 1 0 0\n5 0 1 0\n$EndNodes\n"

static void msh(void) {
  for (int kind = QUADS; kind <= TETRAHEDRA; kind++)
    for (int text = 0; text < 2; text++)
      for (int big = 0; big < 2; big++) {
        bytes b = msh_2(text, big, kind);
        check_box(&b, "a.msh");
        for (int size = 4; size <= 8; size += 4) {
          b = msh_4(text, big, size, kind);
          check_box(&b, "a.msh");
        }
      }
  bytes b = msh_4(false, false, 8, QUADS);
  b.length = 200;
  refuse_bytes(&b, "a.msh", "a.msh: byte ", "the file ends");
  refuse(MSH_NODES "$Elements\n1\n1 2 0 1 2 3\n$EndElements\n", "a.msh", "a.msh:12: ", "node 3 does not exist");
  refuse(MSH_NODES "$Elements\n1\n1 99 0 1 2 5\n$EndElements\n", "a.msh", "a.msh:12: ", "element type 99");
  refuse(MSH_NODES "$Elements\n1\n1 2 -1 1 2 5\n$EndElements\n", "a.msh", "a.msh:12: ", "-1 tags");
  refuse(MSH_NODES "$Elements\n1\n1 2 0 1 2 5 6\n$EndElements\n", "a.msh",
         "a.msh:12: ", "\"6\" where \"$EndElements\"");
  refuse(MSH_NODES "$Elements\n2\n1 2 0 1 2 5\n$EndElements\n", "a.msh", "a.msh:13: ", "not a whole number");
  refuse(MSH_NODES "$Elements\n1\n1 1 0 1 2\n$EndElements\n", "a.msh", "a.msh: ", "no faces");
  refuse(MSH_NODES, "a.msh", "a.msh:10: ", "$Elements");
  refuse(MSH_HEAD "$Elements\n0\n", "a.msh", "a.msh:4: ", "before $Nodes");
  refuse(MSH_HEAD "$Nodes\n2\n1 0 0 0\n1 1 0 0\n$EndNodes\n", "a.msh", "a.msh:8: ", "number 1");
  refuse(MSH_HEAD "$Nodes\n-2\n", "a.msh", "a.msh:5: ", "-2 as the number of nodes");
  refuse(MSH_HEAD "$Entities\n", "a.msh", "a.msh:4: ", "has no end");
  refuse(MSH_HEAD "Nodes\n", "a.msh", "a.msh:4: ", "\"Nodes\" where a section");
  refuse("$MeshFormat\n4 0 8\n$EndMeshFormat\n", "a.msh", "a.msh:2: ", "format 4;");
  refuse("$MeshFormat\n2.2 0 4\n$EndMeshFormat\n", "a.msh", "a.msh:2: ", "data size 4");
  refuse("$Nodes\n0\n$EndNodes\n", "a.msh", "a.msh:1: ", "$MeshFormat");
  refuse("$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 5 1 5\n0 1 0 6\n", "a.msh", "a.msh:6: ", "more nodes");
  refuse("$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n0 5 1 5\n$EndNodes", "a.msh", "a.msh:5: ", "5 nodes fewer");
}

/* ---- files, names, scale ---- */

static void write_and_read(void) {
  char path[64];
  ds_error error = {""};
  ds_mesh m = mesh_torus(0.1, 1.0 / 30, 40, 20), again;
  snprintf(path, sizeof path, "/tmp/drystone_mesh_%ld.obj", (long)getpid());
  CHECK(ds_mesh_write_obj(&m, path, &error) == DS_OK);
  CHECK(ds_mesh_read(&again, path, 1, &error) == DS_OK);
  CHECK(again.vertex_count == m.vertex_count && again.triangle_count == m.triangle_count);
  for (int32_t i = 0; i < again.vertex_count; i++)
    CHECK(v3_dist(again.vertices[i], m.vertices[i]) == 0); /* bit for bit, but for the sign of 0 */
  CHECK(memcmp(again.triangles, m.triangles, 3 * (size_t)m.triangle_count * sizeof *m.triangles) == 0);
  ds_mesh_free(&again);
  CHECK(ds_mesh_read(&again, path, 1e-3, &error) == DS_OK);
  CHECK_NEAR(again.vertices[0].x, 1e-3 * m.vertices[0].x, 1e-19);
  ds_mesh_free(&again);
  remove(path);
  CHECK(ds_mesh_read(&again, path, 1, &error) == DS_ERROR_INPUT && strstr(error.message, "cannot open it"));
  CHECK(again.vertices == NULL);
  CHECK(ds_mesh_write_obj(&m, "/nowhere/a.obj", &error) == DS_ERROR_INPUT && strstr(error.message, "cannot write"));
  CHECK(ds_mesh_read(&again, "/tmp", 1, &error) == DS_ERROR_INPUT && strstr(error.message, "folder"));
  ds_mesh_free(&m);
}

static void names_and_scale(void) {
  ds_mesh mesh;
  ds_error error;
  static const double bad[] = {0, -1, NAN, INFINITY};
  const char text[] = OBJ_VERTICES OBJ_FACES;
  for (int i = 0; i < 4; i++) {
    CHECK(ds_mesh_read_bytes(&mesh, text, strlen(text), "a.obj", bad[i], &error) == DS_ERROR_INPUT);
    CHECK(strstr(error.message, "scale") != NULL);
  }
  CHECK(ds_mesh_read_bytes(&mesh, text, strlen(text), "a.obj", 1e308, &error) == DS_ERROR_INPUT);
  CHECK(strncmp(error.message, "a.obj:3: ", 9) == 0 && strstr(error.message, "too large") != NULL);
  refuse(text, "a.step", "a.step: ", "ends with .obj");
  refuse(text, "obj", "obj: ", "ends with .obj");
  refuse("ply\nformat ascii 1.0\n", "a.obj", "a.obj: ", "PLY format");
  refuse(MSH_NODES, "a.ply", "a.ply: ", "Gmsh format");
  refuse("solid x\nendsolid x\n", "a.obj", "a.obj: ", "STL format");
  bytes b = stl_binary("ply\n");
  check_box(&b, "a.stl");
  refuse_bytes(&b, "a.obj", "a.obj: ", "STL format");
  refuse(text, "a.stl", "a.stl: byte ", "84");
}

/* Equal vertices become one, -0 is 0, unused ones go, the order stays. */
static void merging(void) {
  ds_mesh mesh;
  ds_error error;
  const char text[] =
      "v 9 9 9\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 -0 0\nv 0 0 1\nv 1.0 0e5 0\nf 2 4 3\nf 5 6 4\nf 2 7 6\nf 3 4 6\n";
  CHECK(ds_mesh_read_bytes(&mesh, text, strlen(text), "a.obj", 0.5, &error) == DS_OK);
  CHECK(mesh.vertex_count == 4 && mesh.triangle_count == 4);
  static const int32_t want[12] = {0, 2, 1, 0, 3, 2, 0, 1, 3, 1, 2, 3};
  CHECK(memcmp(mesh.triangles, want, sizeof want) == 0);
  CHECK(mesh.vertices[1].x == 0.5 && mesh.vertices[3].z == 0.5);
  ds_mesh_free(&mesh);
}

/* Numbers have a point in whatever locale the program runs. */
static void locales(void) {
  static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"};
  bool set = false;
  for (int i = 0; i < 4 && !set; i++) set = setlocale(LC_ALL, names[i]) != NULL;
  check_text("v 0 0 0\nv 1.0 0 0\nv 0 2.0 0\nv 1 2 0\nv 0 0 3.0\nv 1 0 3.0\nv 0 2 3\nv 1 2 3\n" OBJ_FACES, "a.obj");
  write_and_read();
  setlocale(LC_ALL, "C");
  if (!set) printf("     no locale with a decimal comma here\n");
}

/* Every file cut short at every byte: a message or a mesh, never a crash. */
static void cut_short(void) {
  int meshes = 0;
  for (int kind = 0; kind < 8; kind++) {
    bytes b = kind == 0   ? stl_text()
              : kind == 1 ? stl_binary("x")
              : kind < 5  ? ply_file(kind - 2)
              : kind == 5 ? msh_2(true, false, TETRAHEDRA)
              : kind == 6 ? msh_2(false, false, QUADS)
                          : msh_4(false, true, 8, TETRAHEDRA);
    const char *name = kind < 2 ? "a.stl" : kind < 5 ? "a.ply" : "a.msh";
    for (size_t n = 0; n < b.length; n++) {
      char *copy = malloc(n + 1);
      ds_mesh mesh;
      ds_error error = {""};
      memcpy(copy, b.data, n);
      bool ok = ds_mesh_read_bytes(&mesh, copy, n, name, 1, &error) == DS_OK;
      CHECK(ok || strncmp(error.message, name, 5) == 0);
      meshes += ok;
      ds_mesh_free(&mesh);
      free(copy);
    }
  }
  CHECK_LE(meshes, 80); /* what is behind the last element */
}

int main(void) {
  RUN(obj);
  RUN(stl);
  RUN(ply);
  RUN(msh);
  RUN(write_and_read);
  RUN(names_and_scale);
  RUN(merging);
  RUN(locales);
  RUN(cut_short);
  return test_summary();
}
