/* Tetrahedra as data: the figures of the report on forms with known ones, the surface, and all that is refused. */
#include "check.h"
#include "drystone/reduce.h"
#include "tets_files.h"

static ds_tets make(const ds_vec3 *nodes, int32_t node_count, const int32_t (*tets)[4], int32_t tet_count) {
  ds_tets t = {.nodes = malloc((size_t)node_count * sizeof *t.nodes),
               .node_count = node_count,
               .tets = malloc((size_t)tet_count * sizeof *tets),
               .tet_count = tet_count};
  if (!t.nodes || !t.tets) abort();
  memcpy(t.nodes, nodes, (size_t)node_count * sizeof *t.nodes);
  memcpy(t.tets, tets, (size_t)tet_count * sizeof *tets);
  return t;
}

static ds_tets make_box(void) {
  ds_vec3 nodes[8];
  for (int32_t i = 0; i < 8; i++) nodes[i] = box_corner(i);
  return make(nodes, 8, box_tets, 6);
}

/* ---- figures ---- */

static void regular(void) {
  const ds_vec3 nodes[4] = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};
  static const int32_t tet[1][4] = {{0, 1, 3, 2}};
  ds_error error = {""};
  ds_tets_report r;
  static const double scales[] = {1, 1e-200, 1e150, 1e-3};
  for (int s = 0; s < 4; s++) {
    ds_tets t = make(nodes, 4, tet, 1);
    for (int i = 0; i < 4; i++) t.nodes[i] = v3_scale(scales[s], nodes[i]);
    CHECK(ds_tets_check(&r, &t, &error) == DS_OK);
    CHECK_NEAR(r.least_angle, acos(1.0 / 3), 1e-14);
    CHECK_NEAR(r.greatest_angle, acos(1.0 / 3), 1e-14);
    CHECK_NEAR(r.least_quality, 1, 1e-14);
    CHECK_NEAR(r.mean_quality, 1, 1e-14);
    CHECK_NEAR(r.least_edge / scales[s], sqrt(8), 1e-14);
    CHECK_NEAR(r.greatest_edge / scales[s], sqrt(8), 1e-14);
    if (s == 0 || s == 3) CHECK_NEAR(r.volume / (scales[s] * scales[s] * scales[s]), 8.0 / 3, 1e-14);
    CHECK(r.angles[7] == 6 && r.parts == 1 && r.surface_triangles == 4 && r.surface_nodes == 4);
    ds_tets_free(&t);
    CHECK(t.nodes == NULL && t.tets == NULL && t.tet_count == 0);
  }
}

static void box(void) {
  ds_error error = {""};
  ds_tets_report r;
  ds_tets t = make_box();
  CHECK(ds_tets_check(&r, &t, &error) == DS_OK);
  CHECK_NEAR(r.volume, 6, 1e-14);
  CHECK_NEAR(r.least_edge, 1, 0);
  CHECK_NEAR(r.greatest_edge, sqrt(14), 1e-15);
  int32_t sum = 0;
  for (int i = 0; i < 18; i++) sum += r.angles[i];
  CHECK(sum == 36);
  CHECK(r.least_angle > 0 && r.greatest_angle <= DS_PI / 2 + 1e-15); /* Kuhn's have right angles */
  CHECK_LE(r.mean_quality, 1);
  CHECK_LE(r.least_quality, r.mean_quality);
  ds_tets_free(&t);
}

static void surface(void) {
  ds_error error = {""};
  ds_mesh mesh;
  ds_mesh_report report;
  int32_t *node = NULL;
  ds_tets t = make_box();
  CHECK(ds_tets_surface(&mesh, &node, &t, &error) == DS_OK);
  CHECK(ds_mesh_check(&report, &mesh, &error) == DS_OK && report.usable);
  CHECK_NEAR(report.volume, 6, 1e-14);
  CHECK(mesh.vertex_count == 8 && mesh.triangle_count == 12);
  for (int32_t i = 0; i < mesh.vertex_count; i++) CHECK(node[i] == i);
  ds_mesh_free(&mesh);
  free(node);
  ds_tets_free(&t);
  /* a regular tetrahedron in four, around a node that is not on the surface */
  const ds_vec3 nodes[5] = {{0, 0, 0}, {1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};
  static const int32_t four[4][4] = {{0, 1, 2, 3}, {0, 1, 4, 2}, {0, 1, 3, 4}, {0, 2, 4, 3}};
  t = make(nodes, 5, four, 4);
  CHECK(ds_tets_surface(&mesh, &node, &t, &error) == DS_OK);
  CHECK(mesh.vertex_count == 4 && mesh.triangle_count == 4);
  for (int32_t i = 0; i < mesh.vertex_count; i++)
    CHECK(node[i] == i + 1 && v3_dist(mesh.vertices[i], nodes[i + 1]) == 0);
  CHECK(ds_mesh_check(&report, &mesh, &error) == DS_OK && report.usable);
  CHECK_NEAR(report.volume, 8.0 / 3, 1e-14);
  free(node);
  ds_mesh_free(&mesh);
  ds_tets_free(&t);
}

/* ---- what is refused ---- */

static void refuse(const ds_tets *t, const char *part) {
  ds_tets_report r;
  ds_error error = {""};
  ds_status status = ds_tets_check(&r, t, &error);
  CHECK(status == DS_ERROR_INPUT && strstr(error.message, part) != NULL && strstr(error.message, "; expected"));
  if (status == DS_OK || !strstr(error.message, part))
    printf("     got \"%s\", wanted \"... %s\"\n", error.message, part);
}

static void bad_numbers(void) {
  ds_tets t = make_box(), none = {0};
  refuse(&none, "0 tetrahedra of 0 nodes");
  t.nodes[3].y = NAN;
  refuse(&t, "node 3 is at 1 nan 0");
  t.nodes[3].y = INFINITY;
  refuse(&t, "node 3 is at");
  t.nodes[3].y = 2;
  t.tets[4 * 2 + 1] = 8;
  refuse(&t, "tetrahedron 2 has the node 8; expected 0 to 7");
  t.tets[4 * 2 + 1] = -1;
  refuse(&t, "tetrahedron 2 has the node -1");
  t.tets[4 * 2 + 1] = 0;
  refuse(&t, "tetrahedron 2, near");
  ds_tets_free(&t);
}

static void bad_forms(void) {
  ds_tets t = make_box();
  int32_t swap = t.tets[4 * 4];
  t.tets[4 * 4] = t.tets[4 * 4 + 1];
  t.tets[4 * 4 + 1] = swap;
  refuse(&t, "tetrahedron 4, near 0.5 0.5 2.25 m, is inverted");
  ds_tets_free(&t);
  t = make_box();
  t.nodes[1] = v3(0.5, 1, 1.5); /* on the diagonal */
  refuse(&t, "tetrahedron 0, near 0.625 1.25 1.125 m, is flat");
  t.nodes[1] = v3(0.5 + 1e-14, 1, 1.5);
  refuse(&t, "is flat");
  ds_tets_free(&t);
}

static void bad_joints(void) {
  const ds_vec3 nodes[8] = {{0, 0, 0},  {1, 0, 0},     {0, 1, 0}, {0, 0, 1},
                            {0, 0, -1}, {0.2, 0.2, 2}, {9, 0, 0}, {9, 1, 0}};
  static const int32_t third[3][4] = {{0, 1, 2, 3}, {0, 2, 1, 4}, {0, 1, 2, 5}};
  static const int32_t same_side[2][4] = {{0, 1, 2, 3}, {0, 1, 2, 5}};
  static const int32_t twice[2][4] = {{0, 1, 2, 3}, {1, 2, 0, 3}};
  ds_tets t = make(nodes, 6, third, 3);
  refuse(&t, "tetrahedron 2 has a face, of nodes 0, 2 and 1, that two others share");
  ds_tets_free(&t);
  const ds_vec3 five[5] = {nodes[0], nodes[1], nodes[2], nodes[3], nodes[5]};
  static const int32_t same_five[2][4] = {{0, 1, 2, 3}, {0, 1, 2, 4}};
  t = make(five, 5, same_five, 2);
  refuse(&t, "tetrahedron 1 has a face, of nodes 0, 2 and 1, that another one on the same side shares");
  ds_tets_free(&t);
  t = make(nodes, 6, same_side, 2);
  refuse(&t, "same side");
  ds_tets_free(&t);
  t = make(nodes, 4, twice, 2);
  refuse(&t, "same side");
  ds_tets_free(&t);
  static const int32_t apart[1][4] = {{0, 1, 2, 3}};
  t = make(nodes, 5, apart, 1);
  refuse(&t, "node 4 belongs to no tetrahedron");
  ds_tets_free(&t);
}

static void bad_parts(void) {
  /* over a corner, over an edge, over nothing */
  const ds_vec3 nodes[8] = {{0, 0, 0},  {1, 0, 0},  {0, 1, 0},  {0, 0, 1},
                            {-1, 0, 0}, {0, -1, 0}, {0, 0, -1}, {-1, -1, -1}};
  static const int32_t corner[2][4] = {{0, 1, 2, 3}, {0, 5, 4, 6}};
  static const int32_t edge[2][4] = {{0, 1, 2, 3}, {0, 4, 5, 3}};
  static const int32_t nothing[2][4] = {{0, 1, 2, 3}, {7, 4, 5, 6}};
  ds_tets t = make(nodes, 7, corner, 2);
  refuse(&t, "2 parts that are not connected by faces (the second has tetrahedron 1,");
  ds_tets_free(&t);
  t = make(nodes, 6, edge, 2);
  refuse(&t, "2 parts");
  ds_mesh mesh;
  ds_error error = {""};
  CHECK(ds_tets_surface(&mesh, NULL, &t, &error) == DS_ERROR_INPUT);
  CHECK(strstr(error.message, "touches itself along the edge of nodes 0 and 3") != NULL && mesh.triangles == NULL);
  ds_tets_free(&t);
  t = make(nodes, 8, nothing, 2);
  refuse(&t, "2 parts");
  ds_tets_free(&t);
}

int main(void) {
  RUN(regular);
  RUN(box);
  RUN(surface);
  RUN(bad_numbers);
  RUN(bad_forms);
  RUN(bad_joints);
  RUN(bad_parts);
  return test_summary();
}
