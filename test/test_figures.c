/* Every figure: closed, 2-manifold, outward, without crossings, of the size and the number of triangles it should have.
 */
#include <string.h>

#include "check.h"
#include "drystone/scene_file.h"
#include "drystone/solid.h"
#include "la/vec3.h"
#include "scene/generate_solids.h"

/* Size in m, triangles, V - E + F, and how much of its box is solid. */
typedef struct expectation {
  const char *name;
  double x, y, z;
  int32_t least, most, euler;
  double low_fill, high_fill;
  bool stands; /* on z = 0, about the z axis */
} expectation;

static const expectation all[] = {
    {"king", 0.039, 0.039, 0.095, 1900, 5800, 2, 0.15, 0.35, true},
    {"queen", 0.037, 0.037, 0.085, 1900, 5800, 2, 0.15, 0.35, true},
    {"rook", 0.034, 0.034, 0.058, 1900, 5800, 2, 0.2, 0.5, true},
    {"bishop", 0.033, 0.033, 0.072, 1900, 5800, 2, 0.15, 0.35, true},
    {"knight", 0.036, 0.034, 0.065, 1900, 5800, 2, 0.15, 0.4, true},
    {"pawn", 0.032, 0.032, 0.05, 1900, 5800, 2, 0.2, 0.4, true},
    {"helmet", 0.296, 0.1975, 0.353, 20000, 28000, 2, 0.02, 0.12, false},
    {"bunny", 0.0866, 0.046, 0.1, 2000, 4000, 2, 0.15, 0.4, false},
    {"dinosaur", 0.332, 0.082, 0.187, 4000, 6000, 2, 0.05, 0.2, false},
    {"bone", 0.158, 0.054, 0.03, 500, 2000, 2, 0.2, 0.5, false},
    {"log", 1, 0.1, 0.1, 200, 2000, 2, 0.65, 0.785, false},
    {"log-half", 1, 0.1, 0.05, 200, 2000, 2, 0.65, 0.785, false},
    {"chair", 0.525, 0.51, 0.83, 4000, 8000, -12, 0.02, 0.08, false},
    {"ring", 0.06, 0.06, 0.012, 1000, 3000, 0, 0.3, 0.5, false},
    {"coat-hanger", 0.42, 0.01, 0.205, 2000, 5000, 0, 0.05, 0.15, false},
    {"funnel", 0.314, 0.314, 0.3, 1000, 5000, 0, 0.02, 0.06, true},
    {"tube", 0.12, 0.12, 0.3, 500, 3000, 0, 0.4, 0.45, true},
    {"loop-track", 1.74, 0.11, 0.666, 1000, 4000, 2, 0.002, 0.02, false},
};
enum { COUNT = (int)(sizeof all / sizeof all[0]) };

/* A figure that falls keeps within the ball for which generators make their grids, which is not much larger. */
static bool check_ball(const ds_mesh *mesh, const char *name) {
  for (int32_t k = 0; k < DS_FALLERS; k++) {
    const ds_faller *f = &ds_fallers[k];
    if (strcmp(f->figure, name) != 0) continue;
    double farthest = 0;
    for (int32_t i = 0; i < mesh->vertex_count; i++)
      farthest = fmax(farthest, v3_dist(mesh->vertices[i], v3(f->ahead, 0, f->center)));
    CHECK_LE(farthest, f->radius);
    CHECK_LE(f->radius, 1.1 * farthest);
    return true;
  }
  return false;
}

static bool check_figure(const expectation *e) {
  ds_mesh m;
  ds_error error = {""};
  ds_mesh_report report;
  CHECK(ds_mesh_figure(&m, e->name, 1, &error) == DS_OK);
  if (error.message[0]) printf("  %s: %s\n", e->name, error.message);
  if (!m.vertices) return false;
  CHECK(ds_mesh_check(&report, &m, &error) == DS_OK);
  CHECK(report.usable && report.parts == 1);
  for (int k = 0; k < DS_MESH_FAULT_COUNT; k++)
    if (report.count[k] > 0) printf("  %s %s: %d\n", e->name, ds_mesh_fault_name((ds_mesh_fault)k), report.count[k]);
  ds_vec3 low = m.vertices[0], high = low;
  for (int32_t i = 1; i < m.vertex_count; i++) low = v3_min(low, m.vertices[i]), high = v3_max(high, m.vertices[i]);
  ds_vec3 size = v3_sub(high, low);
  CHECK_NEAR(size.x, e->x, 0.02 * e->x + 0.001);
  CHECK_NEAR(size.y, e->y, 0.02 * e->y + 0.002);
  CHECK_NEAR(size.z, e->z, 0.02 * e->z + 0.001);
  CHECK(m.triangle_count >= e->least && m.triangle_count <= e->most);
  CHECK(m.vertex_count - m.triangle_count / 2 == e->euler);
  double fill = report.volume / (size.x * size.y * size.z);
  CHECK(fill >= e->low_fill && fill <= e->high_fill);
  if (e->stands) {
    CHECK(low.z == 0);
    CHECK_NEAR(low.y + high.y, 0, 2e-4);
  }
  if (e->stands && size.z < 0.1) { /* a flat foot: many points at z = 0, none just above */
    int32_t foot = 0, near = 0;
    for (int32_t i = 0; i < m.vertex_count; i++) foot += m.vertices[i].z == 0, near += m.vertices[i].z < 1e-4;
    CHECK(foot >= 12 && near == foot);
  }
  printf("  %-12s %6d triangles, %.3g m³ of %.3g\n", e->name, m.triangle_count, report.volume,
         size.x * size.y * size.z);
  bool falls = check_ball(&m, e->name);
  ds_mesh_free(&m);
  return falls;
}

static void every_figure(void) {
  int32_t count, falling = 0;
  const ds_figure *figures = ds_figures(&count);
  CHECK(count == COUNT);
  for (int32_t i = 0; i < count && i < COUNT; i++) {
    CHECK(strcmp(figures[i].name, all[i].name) == 0);
    CHECK(strlen(figures[i].summary) > 5);
    if (!test_quick() || all[i].most <= 4000) falling += check_figure(&all[i]);
  }
  if (!test_quick()) CHECK_NEAR(falling, DS_FALLERS, 0);
}

/* Crossed logs: the necks meet 25.25 mm from the middle, flat. */
static void logs_interlock(void) {
  ds_mesh m;
  int32_t neck = 0;
  CHECK(ds_mesh_figure(&m, "log", 1, NULL) == DS_OK);
  for (int32_t i = 0; i < m.vertex_count; i++) {
    ds_vec3 x = m.vertices[i];
    double along = fabs(fabs(x.x) - 0.4);
    if (along > 0.033) continue;
    CHECK_LE(fabs(x.z), 0.02525 + 1e-5);
    CHECK_LE(fabs(x.y), 0.034 + 1e-5);
    neck++;
  }
  for (int k = 0; k < 32; k++) { /* all corners of both necks */
    ds_vec3 corner =
        v3((k & 1 ? 0.4 : -0.4) + (k & 2 ? 0.03425 : -0.03425), k & 4 ? 0.034 : -0.034, k & 8 ? 0.02525 : -0.02525);
    double best = 1;
    for (int32_t i = 0; i < m.vertex_count; i++) best = fmin(best, v3_dist(corner, m.vertices[i]));
    CHECK_LE(best, 1e-5);
  }
  ds_mesh_free(&m);
}

static void scaled_and_refused(void) {
  ds_mesh a, b;
  ds_error error;
  CHECK(ds_mesh_figure(&a, "ring", 1, &error) == DS_OK && ds_mesh_figure(&b, "ring", 8, &error) == DS_OK);
  CHECK(a.vertex_count == b.vertex_count);
  for (int32_t i = 0; i < a.vertex_count && i < b.vertex_count; i++)
    CHECK_LE(v3_dist(v3_scale(8, a.vertices[i]), b.vertices[i]), 1e-15);
  ds_mesh_free(&a);
  ds_mesh_free(&b);
  CHECK(ds_mesh_figure(&a, "kink", 1, &error) == DS_ERROR_INPUT && strstr(error.message, "did you mean \"king\""));
  CHECK(ds_mesh_figure(&a, "xyzzy", 1, &error) == DS_ERROR_INPUT && strstr(error.message, "expected one of king"));
  CHECK(ds_mesh_figure(&a, "king", 0, &error) == DS_ERROR_INPUT && strstr(error.message, "scale"));
  CHECK(ds_mesh_figure(&a, "king", NAN, &error) == DS_ERROR_INPUT);
  CHECK(ds_mesh_figure(&a, NULL, 1, &error) == DS_ERROR_INPUT);
  CHECK(a.vertices == NULL);
}

int main(void) {
  RUN(every_figure);
  RUN(logs_interlock);
  RUN(scaled_and_refused);
  return test_summary();
}
