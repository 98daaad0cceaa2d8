/* The sphere: a point with a radius about it. */
#include "shape/shape.h"

static void mass(ds_mass *m, const ds_shape *shape) {
  double r = shape->radius, r2 = r * r;
  ds_mass_diagonal(m, 4.0 / 3.0 * DS_PI * r2 * r, 0.4 * r2, 0.4 * r2, 0.4 * r2);
}

static double thickness(const ds_shape *shape) { return 2 * shape->radius; }

static double reach(const ds_shape *shape, ds_pose pose) { return v3_norm(pose.p) + shape->radius; }

static void bounds(ds_vec3 *low, ds_vec3 *high, const ds_shape *shape, ds_pose pose) {
  ds_vec3 e = v3(shape->radius, shape->radius, shape->radius);
  *low = v3_sub(pose.p, e);
  *high = v3_add(pose.p, e);
}

static double ray(ds_vec3 *normal, const ds_shape *shape, ds_vec3 origin, ds_vec3 direction, double max_distance) {
  ds_span s = ds_span_ball(shape->radius, v3(0, 0, 0), origin, direction);
  return ds_span_first(normal, &s, max_distance);
}

static double distance(ds_vec3 *normal, const ds_shape *shape, ds_vec3 x) {
  double d = v3_norm(x);
  *normal = d > 0 ? v3_scale(1 / d, x) : v3(0, 0, 1);
  return d - shape->radius;
}

static ds_vec3 support(const ds_shape *shape, ds_vec3 direction) {
  (void)shape, (void)direction;
  return v3(0, 0, 0);
}

static void tessellate(ds_facets *facets, const ds_shape *shape, int32_t segments) {
  ds_facets_capsule(facets, shape->radius, 0, segments);
}

const ds_shape_ops ds_shape_sphere = {
    .name = "sphere",
    .measures = {{"radius", DS_MEASURE_LENGTH, offsetof(ds_shape_def, radius), 1}},
    .curved = true,
    .rounded = true,
    .smooth = true,
    .mass = mass,
    .thickness = thickness,
    .reach = reach,
    .bounds = bounds,
    .ray = ray,
    .distance = distance,
    .support = support,
    .tessellate = tessellate,
};
