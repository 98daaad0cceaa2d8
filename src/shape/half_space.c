/* The half-space: all points with local z <= 0. */
#include "shape/shape.h"

static void mass(ds_mass *m, const ds_shape *shape) { (void)m, (void)shape; }

static double thickness(const ds_shape *shape) {
  (void)shape;
  return INFINITY;
}

static double reach(const ds_shape *shape, ds_pose pose) {
  (void)shape, (void)pose;
  return INFINITY;
}

static void bounds(ds_vec3 *low, ds_vec3 *high, const ds_shape *shape, ds_pose pose) {
  (void)shape, (void)pose;
  *low = v3(-INFINITY, -INFINITY, -INFINITY);
  *high = v3(INFINITY, INFINITY, INFINITY);
}

static double ray(ds_vec3 *normal, const ds_shape *shape, ds_vec3 o, ds_vec3 dir, double max_distance) {
  ds_span s = ds_span_all();
  (void)shape;
  ds_span_cut_plane(&s, v3(0, 0, 1), 0, o, dir);
  return ds_span_first(normal, &s, max_distance);
}

static double distance(ds_vec3 *normal, const ds_shape *shape, ds_vec3 x) {
  (void)shape;
  *normal = v3(0, 0, 1);
  return x.z;
}

const ds_shape_ops ds_shape_half_space = {
    .name = "half-space",
    .unbounded = true,
    .mass = mass,
    .thickness = thickness,
    .reach = reach,
    .bounds = bounds,
    .ray = ray,
    .distance = distance,
};
