/* The loop-track: a channel for a ball of about 30 mm, swept along a curve. A mesh made directly, in mm.
 *
 * The path: a ramp of 35 degrees, 0.65 m high, that runs out into a flat piece; a circle of radius 180 upright in x and
 * z, going sideways by 62 meanwhile, so that the way out passes beside the way in; a flat piece. A section has as many
 * points outside as inside, so that its ends are closed by a row of quadrangles. */
#include <stdlib.h>

#include "base/error.h"
#include "scene/figures.h"

enum { SIDE = 6, POINTS = 2 * SIDE, RAMP = 4, BEND = 14, FLAT = 2, LOOP = 72, OUT = 3, STATIONS_MAX = 128 };

/* Sideways and up, from one upper edge down outside to the other, then back inside. */
static const double section[POINTS][2] = {{-24, 20}, {-24, 5}, {-11, -5}, {11, -5}, {24, 5},  {24, 20},
                                          {20, 20},  {20, 8},  {8, 0},    {-8, 0},  {-20, 8}, {-20, 20}};

typedef struct station {
  ds_vec3 x, side, up;
} station;

static void add_station(station *all, int *n, double x, double y, double z, double angle) {
  all[(*n)++] = (station){v3(x, y, z), v3(0, 1, 0), v3(-sin(angle), 0, cos(angle))};
}

/* Stations along the path; `angle` is its slope. The sections stay upright in x and z: sideways drift only shears them.
 */
static int set_path(station *all) {
  const double slope = 35 * DS_PI / 180, bend = 320, loop = 180, drift = 62, bottom = 5, height = 650, flat = 120;
  double bend_x = -flat - bend * sin(slope), bend_z = bottom + bend * (1 - cos(slope));
  double run = (height - bend_z) / tan(slope);
  int n = 0;
  for (int i = 0; i < RAMP; i++) {
    double s = 1 - (double)i / RAMP;
    add_station(all, &n, bend_x - run * s, 0, bend_z + (height - bend_z) * s, -slope);
  }
  for (int i = 0; i < BEND; i++) {
    double a = slope * (1 - (double)i / BEND);
    add_station(all, &n, -flat - bend * sin(a), 0, bottom + bend * (1 - cos(a)), -a);
  }
  for (int i = 0; i < FLAT; i++) add_station(all, &n, -flat + flat * i / FLAT, 0, bottom, 0);
  for (int i = 0; i <= LOOP; i++) {
    double s = (double)i / LOOP, a = 2 * DS_PI * s;
    add_station(all, &n, loop * sin(a), drift * s * s * (3 - 2 * s), bottom + loop * (1 - cos(a)), a);
  }
  for (int i = 1; i <= OUT; i++) add_station(all, &n, 600.0 * i / OUT, drift, bottom, 0);
  return n;
}

static void add_quad(ds_mesh *m, int32_t a, int32_t b, int32_t c, int32_t d) {
  const int32_t corners[6] = {a, b, c, a, c, d};
  for (int k = 0; k < 6; k++) m->triangles[3 * m->triangle_count + k] = corners[k];
  m->triangle_count += 2;
}

ds_status ds_figure_loop_track(ds_mesh *mesh, ds_error *error) {
  station path[STATIONS_MAX];
  int32_t n = set_path(path);
  *mesh = (ds_mesh){0};
  mesh->vertices = malloc((size_t)n * POINTS * sizeof *mesh->vertices);
  mesh->triangles = malloc(3 * (2 * (size_t)n * POINTS + 4 * SIDE) * sizeof *mesh->triangles);
  if (!mesh->vertices || !mesh->triangles) {
    ds_mesh_free(mesh);
    return ds_fail(error, DS_ERROR_MEMORY, "memory ran out while making a figure");
  }
  for (int32_t i = 0; i < n; i++)
    for (int k = 0; k < POINTS; k++)
      mesh->vertices[mesh->vertex_count++] =
          v3_mad(v3_mad(path[i].x, section[k][0], path[i].side), section[k][1], path[i].up);
  for (int32_t i = 0; i + 1 < n; i++)
    for (int32_t k = 0; k < POINTS; k++) {
      int32_t l = (k + 1) % POINTS, a = POINTS * i, b = POINTS * (i + 1);
      add_quad(mesh, a + k, a + l, b + l, b + k);
    }
  for (int32_t k = 0; k + 1 < SIDE; k++) { /* point k outside is across from POINTS - 1 - k inside */
    int32_t in = POINTS - 1 - k, end = POINTS * (n - 1);
    add_quad(mesh, k, in, in - 1, k + 1);
    add_quad(mesh, end + k, end + k + 1, end + in - 1, end + in);
  }
  return DS_OK;
}
