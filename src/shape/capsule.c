/* The capsule: a segment along local z with a radius about it. */
#include "shape/shape.h"

static const double slope = 0.42; /* sine up to which the lowest line is treated as a whole: 25 degrees */

/* A cylinder and two half-balls, each with its centre 3r/8 beyond the cylinder's end. */
static void mass(ds_mass *m, const ds_shape *shape) {
  double r = shape->radius, l = 2 * shape->half_length, r2 = r * r;
  double cyl = DS_PI * r2 * l, ball = 4.0 / 3.0 * DS_PI * r2 * r;
  double across = cyl * (r2 / 4 + l * l / 12) + ball * (0.4 * r2 + l * l / 4 + 3 * l * r / 8);
  m->mass = cyl + ball;
  m->inertia[0] = m->inertia[4] = across;
  m->inertia[8] = cyl * r2 / 2 + ball * 0.4 * r2;
}

static double thickness(const ds_shape *shape) { return 2 * shape->radius; }

static double reach(const ds_shape *shape, ds_pose pose) {
  return v3_norm(pose.p) + (shape->radius + shape->half_length);
}

static void bounds(ds_vec3 *low, ds_vec3 *high, const ds_shape *shape, ds_pose pose) {
  ds_mat3 r = mat3_from_quat(pose.q);
  ds_vec3 u = v3(fabs(r.m[2]), fabs(r.m[5]), fabs(r.m[8]));
  ds_vec3 e = v3_mad(v3(shape->radius, shape->radius, shape->radius), shape->half_length, u);
  *low = v3_sub(pose.p, e);
  *high = v3_add(pose.p, e);
}

/* The union of the balls at both ends and the cylinder is convex, so their spans join. */
static double ray(ds_vec3 *normal, const ds_shape *shape, ds_vec3 o, ds_vec3 dir, double max_distance) {
  ds_span all = ds_span_none(), part[3];
  part[0] = ds_span_ball(shape->radius, v3(0, 0, -shape->half_length), o, dir);
  part[1] = ds_span_ball(shape->radius, v3(0, 0, shape->half_length), o, dir);
  part[2] = ds_span_all();
  ds_span_cut_mantle(&part[2], shape->radius, o, dir);
  ds_span_cut_plane(&part[2], v3(0, 0, 1), shape->half_length, o, dir);
  ds_span_cut_plane(&part[2], v3(0, 0, -1), shape->half_length, o, dir);
  for (int i = 0; i < 3; i++) {
    if (!(part[i].in <= part[i].out)) continue;
    if (part[i].in < all.in) {
      all.in = part[i].in;
      all.n_in = part[i].n_in;
    }
    if (part[i].out > all.out) {
      all.out = part[i].out;
      all.n_out = part[i].n_out;
    }
  }
  return ds_span_first(normal, &all, max_distance);
}

static double distance(ds_vec3 *normal, const ds_shape *shape, ds_vec3 x) {
  double l = shape->half_length, z = x.z < -l ? -l : x.z > l ? l : x.z;
  ds_vec3 r = v3(x.x, x.y, x.z - z);
  double d = v3_norm(r);
  *normal = d > 0 ? v3_scale(1 / d, r) : v3(1, 0, 0);
  return d - shape->radius;
}

static ds_vec3 support(const ds_shape *shape, ds_vec3 direction) {
  return v3(0, 0, direction.z > 0 ? shape->half_length : -shape->half_length);
}

static void face(ds_shape_face *f, const ds_shape *shape, ds_vec3 direction, int32_t wanted) {
  (void)wanted;
  f->count = 0;
  for (int i = 0; i < 2; i++) {
    if ((i ? -direction.z : direction.z) > slope) continue; /* the other end alone */
    f->points[f->count] = v3_mad(v3(0, 0, i ? shape->half_length : -shape->half_length), shape->radius, direction);
    f->ids[f->count++] = (uint32_t)i;
  }
}

static void samples(ds_shape_points *points, const ds_shape *shape, double spacing) {
  int32_t along = ds_shape_pieces(2 * shape->half_length, spacing);
  for (int32_t k = 0; k <= along; k++)
    ds_shape_point_add(points, v3(0, 0, shape->half_length * (2.0 * k / along - 1)), v3(0, 0, 0));
}

static void tessellate(ds_facets *facets, const ds_shape *shape, int32_t segments) {
  ds_facets_capsule(facets, shape->radius, shape->half_length, segments);
}

const ds_shape_ops ds_shape_capsule = {
    .name = "capsule",
    .measures = {{"radius", DS_MEASURE_LENGTH, offsetof(ds_shape_def, radius), 1},
                 {"length", DS_MEASURE_LENGTH, offsetof(ds_shape_def, half_length), 0.5}},
    .curved = true,
    .rounded = true,
    .mass = mass,
    .thickness = thickness,
    .reach = reach,
    .bounds = bounds,
    .ray = ray,
    .distance = distance,
    .support = support,
    .face = face,
    .samples = samples,
    .tessellate = tessellate,
};
