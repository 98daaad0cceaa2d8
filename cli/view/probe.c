/* Spheres and slices: see probe.h. Spheres are sent level by level, SPHERES_MAX at most. */
#include "probe.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../bodies.h"
#include "base/vec3.h"
#include "drystone/inspect.h"

enum { SPHERES_MAX = 4096, SLICE = 96 /* values along the longer side of a slice */ };

static view_message *refuse(ds_error *error, const char *what) {
  snprintf(error->message, sizeof error->message, "%s", what);
  return NULL;
}

/* ---- spheres ---- */

static void write_spheres(view_bytes *out, const ds_tree_sphere *spheres, int32_t count) {
  view_u32(out, (uint32_t)count);
  for (int32_t i = 0; i < count; i++) {
    view_vec3(out, spheres[i].center);
    view_f32(out, spheres[i].radius);
    view_f32(out, spheres[i].level);
    for (int k = 0; k < 3; k++) view_f32(out, 0);
  }
}

view_message *view_spheres_message(const ds_scene *scene, const ds_state *state, uint32_t index, ds_error *error) {
  if (index >= (uint32_t)ds_scene_body_count(scene)) return refuse(error, "there is no such body");
  ds_tree_sphere *spheres = malloc(SPHERES_MAX * sizeof *spheres);
  int32_t count = 0;
  view_message *message = NULL;
  bool good =
      spheres != NULL && ds_state_spheres(spheres, &count, SPHERES_MAX, scene, state, body_at((int32_t)index)) == DS_OK;
  if (good && count > 0) {
    view_bytes out;
    view_begin(&out, VIEW_SPHERES);
    view_u32(&out, index);
    write_spheres(&out, spheres, count);
    message = view_end(&out);
  }
  free(spheres);
  if (message != NULL) return message;
  return refuse(error, good && count == 0 ? "this body has no tree of spheres: solids and deformable bodies have one"
                                          : "out of memory");
}

/* ---- slices ---- */

/* The rectangle of a slice: a tenth larger than the body on all sides. */
typedef struct slice {
  ds_vec3 origin, along, up;
  uint32_t columns, rows;
} slice;

static double *coordinate(ds_vec3 *a, int axis) { return axis == 0 ? &a->x : axis == 1 ? &a->y : &a->z; }

static slice cut(ds_vec3 low, ds_vec3 high, int axis, double place) {
  int u = (axis + 1) % 3, v = (axis + 2) % 3;
  double margin = 0.1 * fmax(high.x - low.x, fmax(high.y - low.y, high.z - low.z));
  double width = *coordinate(&high, u) - *coordinate(&low, u) + 2 * margin;
  double height = *coordinate(&high, v) - *coordinate(&low, v) + 2 * margin;
  double cell = fmax(width, height) / (SLICE - 1);
  slice s = {.columns = (uint32_t)ceil(width / cell - 1e-9) + 1, .rows = (uint32_t)ceil(height / cell - 1e-9) + 1};
  s.origin = low;
  *coordinate(&s.origin, axis) += place * (*coordinate(&high, axis) - *coordinate(&low, axis));
  *coordinate(&s.origin, u) -= margin;
  *coordinate(&s.origin, v) -= margin;
  *coordinate(&s.along, u) = cell;
  *coordinate(&s.up, v) = cell;
  return s;
}

static view_message *slice_message(const ds_probe *of, uint32_t index, int axis, double place) {
  ds_vec3 low, high;
  ds_probe_bounds(&low, &high, of);
  slice s = cut(low, high, axis, place);
  view_bytes out;
  view_begin(&out, VIEW_FIELD);
  view_u32(&out, index);
  view_u32(&out, s.columns);
  view_u32(&out, s.rows);
  view_u32(&out, 0);
  view_vec3(&out, s.origin);
  view_vec3(&out, s.along);
  view_vec3(&out, s.up);
  for (uint32_t row = 0; row < s.rows; row++)
    for (uint32_t column = 0; column < s.columns; column++)
      view_f32(&out, ds_probe_distance(of, v3_mad(v3_mad(s.origin, column, s.along), row, s.up)));
  return view_end(&out);
}

view_message *view_field_message(const ds_scene *scene, const ds_state *state, uint32_t index, int axis, double place,
                                 ds_error *error) {
  if (index >= (uint32_t)ds_scene_body_count(scene)) return refuse(error, "there is no such body");
  ds_probe *probe = ds_probe_create(scene, state, body_at((int32_t)index));
  if (probe == NULL) return refuse(error, "out of memory");
  ds_vec3 low, high;
  ds_probe_bounds(&low, &high, probe);
  bool bounded = v3_finite(low) && v3_finite(high);
  view_message *message = bounded ? slice_message(probe, index, axis, place) : NULL;
  ds_probe_destroy(probe);
  if (message != NULL) return message;
  return refuse(error, bounded ? "out of memory"
                               : "a half-space has no bounds to lay a slice between; its distance is the height "
                                 "above it");
}
