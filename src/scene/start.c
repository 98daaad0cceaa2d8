/* Whether the bodies of a scene may start where they are.
 *
 * Rounding of the numbers in a file may overlap a little: 1e-4 of the smaller body, 1 mm at most; and so may what
 * distance fields blur. Limits: only the deepest overlap is looked at. */
#include "scene/start.h"

#include <math.h>

#include "body/scene.h"
#include "drystone/reduce.h"
#include "la/vec3.h"
#include "mesh/solid.h"

/* The largest extent of a body's largest shape. */
static double body_size(const ds_scene *scene, ds_body_id body) {
  double size = 0;
  for (int32_t i = 0; i < ds_body_shape_count(scene, body); i++) {
    const ds_shape *shape = &scene->bodies[ds_index(body)].shapes[i];
    ds_vec3 low, high;
    if (shape->reduced) {
      ds_reduced_info info = ds_reduced_get_info(shape->reduced);
      low = info.low, high = info.high;
    } else {
      ds_shape_bounds(&low, &high, shape, pose_identity());
    }
    ds_vec3 d = v3_sub(high, low);
    size = fmax(size, fmax(d.x, fmax(d.y, d.z)));
  }
  return size;
}

/* How far the distance fields of a body's solids may be wrong. */
static double field_error(const ds_scene *scene, ds_body_id body) {
  double error = 0;
  for (int32_t i = 0; i < ds_body_shape_count(scene, body); i++) {
    ds_shape_def shape = ds_body_shape(scene, body, i);
    if (shape.kind == DS_SHAPE_SOLID) error = fmax(error, shape.solid->error);
  }
  return error;
}

ds_status ds_start_overlap(double *depth, ds_body_id *a, ds_body_id *b, const ds_scene *scene) {
  *a = *b = (ds_body_id){0};
  ds_state *state = ds_state_create(scene);
  if (!state) return DS_ERROR_MEMORY;
  ds_status status = ds_state_deepest_overlap(depth, a, b, scene, state);
  ds_state_destroy(state);
  if (status != DS_OK || !(*depth > 0)) return status;
  double limit = fmin(1e-3, 1e-4 * fmin(body_size(scene, *a), body_size(scene, *b)));
  limit += field_error(scene, *a) + field_error(scene, *b);
  if (*depth <= limit) *depth = 0;
  return DS_OK;
}
