/* The ellipsoid with semi-axes a, b, c along local x, y, z: the points with (x/a)² + (y/b)² + (z/c)² <= 1.
 *
 * Nearest point of the surface to y: x_i = a_i² y_i / (a_i² + t) with the largest root t > -min a_i² of
 * |q(t)| = 1, q_i = a_i y_i / (a_i² + t), for points inside and outside alike. Newton's method for 1 / |q| = 1 from
 * the left, where |q| >= 1, climbs to the root without passing it, also next to a pole. Where y has no part along the
 * shortest axes there may be no such root: then t = -min a_i², and the shortest axis takes up what is missing. */
#include "shape/shape.h"

static void mass(ds_mass *m, const ds_shape *shape) {
  ds_vec3 s = v3_mul(shape->half, shape->half);
  double volume = 4.0 / 3.0 * DS_PI * shape->half.x * shape->half.y * shape->half.z;
  ds_mass_diagonal(m, volume, (s.y + s.z) / 5, (s.x + s.z) / 5, (s.x + s.y) / 5);
}

static double least(ds_vec3 a) { return fmin(a.x, fmin(a.y, a.z)); }
static double largest(ds_vec3 a) { return fmax(a.x, fmax(a.y, a.z)); }

static double thickness(const ds_shape *shape) { return 2 * least(shape->half); }

static double reach(const ds_shape *shape, ds_pose pose) { return v3_norm(pose.p) + largest(shape->half); }

static ds_vec3 support(const ds_shape *shape, ds_vec3 d) {
  ds_vec3 a = shape->half, s = v3_mul(a, d);
  double norm = v3_norm(s);
  return norm > 0 ? v3_scale(1 / norm, v3_mul(a, s)) : v3(0, 0, a.z);
}

/* A ball of radius 1 in coordinates x_i / a_i, along a direction of another length. */
static double ray(ds_vec3 *normal, const ds_shape *shape, ds_vec3 origin, ds_vec3 direction, double max_distance) {
  ds_vec3 inverse = v3(1 / shape->half.x, 1 / shape->half.y, 1 / shape->half.z);
  ds_vec3 o = v3_mul(inverse, origin), dir = v3_mul(inverse, direction);
  double stretch = v3_norm(dir);
  ds_span s = ds_span_ball(1, v3(0, 0, 0), o, v3_scale(1 / stretch, dir));
  s.in /= stretch, s.out /= stretch;
  double t = ds_span_first(normal, &s, max_distance);
  if (t >= 0) *normal = v3_unit(v3_mul(inverse, *normal));
  return t;
}

/* The nearest point of the surface to y, whose coordinates are at least 0. */
static void nearest(double x[3], const double a[3], const double y[3]) {
  double low = fmin(a[0], fmin(a[1], a[2])), s = 0, rest = 1, d[3]; /* s = t + low² >= 0 */
  for (int i = 0; i < 3; i++) {
    d[i] = (a[i] - low) * (a[i] + low); /* a_i² + t = d_i + s: nothing cancels next to t = -low² */
    s = fmax(s, a[i] * y[i] - d[i]);
  }
  for (int round = 0; round < 100; round++) {
    double q2 = 0, slope = 0;
    for (int i = 0; i < 3; i++) {
      if (y[i] == 0) continue;
      double q = a[i] * y[i] / (d[i] + s);
      q2 += q * q;
      slope += q * q / (d[i] + s);
    }
    double next = s + (sqrt(q2) - 1) * q2 / slope;
    if (!(next > s)) break;
    s = next;
  }
  int shortest = -1;
  for (int i = 0; i < 3; i++) {
    if (d[i] + s > 0)
      x[i] = a[i] * a[i] * y[i] / (d[i] + s);
    else
      x[i] = 0, shortest = i;
    rest -= x[i] / a[i] * (x[i] / a[i]);
  }
  if (shortest >= 0) x[shortest] = a[shortest] * sqrt(fmax(rest, 0));
}

static double distance(ds_vec3 *normal, const ds_shape *shape, ds_vec3 point) {
  const double a[3] = {shape->half.x, shape->half.y, shape->half.z}, p[3] = {point.x, point.y, point.z};
  double x[3], y[3];
  for (int i = 0; i < 3; i++) y[i] = fabs(p[i]);
  nearest(x, a, y);
  ds_vec3 on = v3(copysign(x[0], p[0]), copysign(x[1], p[1]), copysign(x[2], p[2]));
  *normal = v3_unit(v3(on.x / (a[0] * a[0]), on.y / (a[1] * a[1]), on.z / (a[2] * a[2])));
  return v3_dot(*normal, v3_sub(point, on));
}

/* Circles of latitude of the sphere that the ellipsoid is stretched from. */
static ds_vec3 stretched(const ds_shape *shape, ds_vec3 u, ds_vec3 *normal) {
  ds_vec3 a = shape->half;
  *normal = v3_unit(v3(u.x / a.x, u.y / a.y, u.z / a.z));
  return v3_mul(a, u);
}

static void samples(ds_shape_points *points, const ds_shape *shape, double spacing) {
  int32_t half = ds_shape_pieces(DS_PI * largest(shape->half), spacing);
  int32_t rows = half < 8 ? 8 : half > 32 ? 32 : half;
  for (int32_t k = 0; k <= rows; k++) {
    double latitude = DS_PI * ((double)k / rows - 0.5);
    int32_t around = k == 0 || k == rows ? 1 : (int32_t)ceil(2 * rows * cos(latitude));
    for (int32_t i = 0; i < around; i++) {
      double angle = 2 * DS_PI * i / around;
      ds_vec3 normal, u = v3(cos(latitude) * cos(angle), cos(latitude) * sin(angle), sin(latitude));
      ds_vec3 x = stretched(shape, u, &normal);
      ds_shape_point_add(points, x, normal);
    }
  }
}

static void tessellate(ds_facets *facets, const ds_shape *shape, int32_t segments) {
  int32_t quarter = segments / 4 < 2 ? 2 : segments / 4, rings = 2 * quarter + 1, first = facets->point_count;
  for (int32_t k = 0; k < rings; k++)
    for (int32_t i = 0; i < segments; i++) {
      double latitude = 0.5 * DS_PI * (k - quarter) / quarter, angle = 2 * DS_PI * i / segments;
      ds_vec3 normal, u = v3(cos(latitude) * cos(angle), cos(latitude) * sin(angle), sin(latitude));
      ds_vec3 x = stretched(shape, u, &normal);
      ds_facets_point(facets, x, normal);
    }
  ds_facets_join(facets, first, rings, segments);
}

const ds_shape_ops ds_shape_ellipsoid = {
    .name = "ellipsoid",
    .measures = {{"semi_axes", DS_MEASURE_LENGTHS, offsetof(ds_shape_def, half), 1}},
    .curved = true,
    .smooth = true,
    .mass = mass,
    .thickness = thickness,
    .reach = reach,
    .ray = ray,
    .distance = distance,
    .support = support,
    .samples = samples,
    .tessellate = tessellate,
};
