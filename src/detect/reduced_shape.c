/* The shape of a deformable body: its surface as it is undeformed. What touches it, and where rays meet it, depends on
 * its reduced coordinates [detect/deformable.c, detect/deformed.c]. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "body/reduced.h"
#include "detect/deformed.h"

static bool all_finite(const double *x, int32_t n) {
  for (int32_t i = 0; x && i < n; i++)
    if (!isfinite(x[i])) return false;
  return true;
}

/* A deformable body is one thing: its shape, mass and inertia come together. */
static ds_status check(const ds_shape_def *def, const ds_body_def *body, int32_t others, ds_error *error) {
  const ds_quat q = def->pose.q;
  if (!def->reduced)
    return ds_fail(error, DS_ERROR_INPUT, "a shape of kind reduced needs a body: build one with ds_reduced_create");
  if (body->kind != DS_BODY_DYNAMIC)
    return ds_fail(error, DS_ERROR_INPUT, "a deformable body must be dynamic, not static or kinematic");
  if (others > 0)
    return ds_fail(error, DS_ERROR_INPUT, "a deformable body has one shape: it cannot be added to another");
  if (body->mass != 0)
    return ds_fail(error, DS_ERROR_INPUT,
                   "mass = %g kg: a deformable body has the mass it was built with (%g kg); give 0", body->mass,
                   def->reduced->mass);
  if (v3_norm(def->pose.p) != 0 || q.x != 0 || q.y != 0 || q.z != 0)
    return ds_fail(error, DS_ERROR_INPUT,
                   "the shape of a deformable body has no pose of its own; place the body instead");
  if (!all_finite(def->start, def->reduced->r) || !all_finite(def->start_rate, def->reduced->r))
    return ds_fail(error, DS_ERROR_INPUT, "reduced coordinates and rates at the start must be finite");
  return DS_OK;
}

static bool copy_start(ds_shape *shape, const ds_shape_def *def) {
  size_t r = (size_t)def->reduced->r;
  if (!def->start && !def->start_rate) return true;
  shape->start = calloc(2 * r, sizeof(double));
  if (!shape->start) return false;
  if (def->start) memcpy(shape->start, def->start, r * sizeof(double));
  if (def->start_rate) memcpy(shape->start + r, def->start_rate, r * sizeof(double));
  return true;
}

static ds_status prepare(ds_shape *shape, const ds_shape_def *def, ds_error *error) {
  if (!copy_start(shape, def)) return ds_fail(error, DS_ERROR_MEMORY, "out of memory");
  shape->reduced = ds_reduced_retain(def->reduced);
  return DS_OK;
}

static double thickness(const ds_shape *shape) { return shape->reduced->tree.thickness; }

static double spacing(const ds_shape *shape) { return shape->reduced->tree.spacing; }

static double reach(const ds_shape *shape, ds_pose pose) {
  double r = 0;
  (void)pose; /* the identity: it lies in the principal frame */
  for (int32_t i = 0; i < shape->reduced->surface.vertex_count; i++)
    r = fmax(r, v3_norm(shape->reduced->surface.vertices[i]));
  return r;
}

static void bounds(ds_vec3 *low, ds_vec3 *high, const ds_shape *shape, ds_pose pose) {
  ds_skin_bounds(low, high, &shape->reduced->skin, NULL, pose);
}

const ds_shape_ops ds_shape_reduced = {
    .name = "deformable",
    .not_in_files = true,
    .check = check,
    .prepare = prepare,
    .thickness = thickness,
    .reach = reach,
    .bounds = bounds,
    .spacing = spacing,
};
