/* Pictures of a reduced body's modes: see mode_pictures.h. Both ends of the swing stand side by side; the largest
 * displacement is SWING of the body's size, whatever the mode's own scale is. */
#include "mode_pictures.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec3.h"
#include "picture.h"

#define SWING 0.12 /* of the diagonal of its box */
#define APART 0.25 /* of the same: room between the two */
enum { WIDTH = 960, HEIGHT = 540 };

/* The coordinate at which the farthest displacement of a vertex is `distance`. */
static double swing(const ds_vec3 *displacements, int32_t count, double distance) {
  double most = 0;
  for (int32_t i = 0; i < count; i++) most = fmax(most, v3_norm(displacements[i]));
  return most > 0 ? distance / most : 0;
}

/* Two copies of the surface, at q and -q, side by side; after the vertices, as many at rest. */
static bool make_pair(ds_mesh *pair, const ds_reduced *body, int32_t mode) {
  ds_reduced_info info = ds_reduced_get_info(body);
  int32_t n = info.vertices, t = info.triangles;
  double size = v3_dist(info.low, info.high), most, q[DS_REDUCED_MAX] = {0}, low[2] = {0, 0}, high = 0;
  *pair = (ds_mesh){.vertices = malloc(4 * (size_t)n * sizeof(ds_vec3)),
                    .vertex_count = 2 * n,
                    .triangles = malloc(6 * (size_t)t * sizeof(int32_t)),
                    .triangle_count = 2 * t};
  if (pair->vertices == NULL || pair->triangles == NULL) return false;
  ds_reduced_mode(pair->vertices, body, mode);
  most = swing(pair->vertices, n, SWING * size);
  for (int side = 0; side < 2; side++) {
    ds_vec3 *x = pair->vertices + (side == 0 ? 0 : n);
    q[mode] = (side == 0 ? 1 : -1) * most;
    ds_reduced_shape(x, body, q);
    ds_reduced_shape(x + 2 * n, body, NULL);
    low[side] = x[0].x;
    for (int32_t i = 0; i < n; i++) low[side] = fmin(low[side], x[i].x);
    for (int32_t i = 0; side == 0 && i < n; i++) high = i == 0 ? x[i].x : fmax(high, x[i].x);
    for (int32_t i = 0; side == 1 && i < n; i++) x[i].x += high - low[1] + APART * size;
    for (int32_t i = 0; i < 3 * t; i++) pair->triangles[3 * side * t + i] = ds_reduced_triangles(body)[i] + side * n;
  }
  return true;
}

static ds_status draw(const char *path, const ds_reduced *body, int32_t mode, ds_error *error) {
  ds_mesh pair;
  ds_tableau tableau;
  ds_image image = {0};
  char label[96];
  ds_reduced_info info = ds_reduced_get_info(body);
  bool linear = !info.stvk && mode < info.linear_modes;
  if (linear)
    snprintf(label, sizeof label, "mode %d of %d, %.4g Hz", (int)mode + 1, (int)info.modes, info.frequency[mode]);
  else
    snprintf(label, sizeof label, "coordinate %d of %d", (int)mode + 1, (int)info.modes);
  ds_picture picture = {.width = WIDTH, .height = HEIGHT, .framing = {.zoom = 1}, .is_mesh = true, .label = label};
  ds_status status = DS_ERROR_MEMORY;
  if (!make_pair(&pair, body, mode))
    snprintf(error->message, sizeof error->message, "no memory to draw a mode");
  else
    status = ds_tableau_build_mesh(&tableau, &pair, pair.vertices + pair.vertex_count, error);
  if (status == DS_OK) {
    status = ds_picture_draw(&image, NULL, &tableau, &picture, error);
    ds_tableau_free(&tableau);
  }
  if (status == DS_OK) status = ds_image_write_png(&image, path, error);
  ds_image_free(&image);
  ds_mesh_free(&pair);
  return status;
}

ds_status mode_pictures_write(const char *prefix, const ds_reduced *body, ds_error *error) {
  size_t size = strlen(prefix) + 16;
  char *path = malloc(size);
  ds_status status = path != NULL ? DS_OK : DS_ERROR_MEMORY;
  if (path == NULL) snprintf(error->message, sizeof error->message, "out of memory");
  for (int32_t i = 0; status == DS_OK && i < ds_reduced_get_info(body).modes; i++) {
    snprintf(path, size, "%s-%02d.png", prefix, (int)i + 1);
    status = draw(path, body, i, error);
  }
  free(path);
  return status;
}
