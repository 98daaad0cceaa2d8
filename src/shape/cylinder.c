/* The circular cylinder about local z. */
#include "shape/shape.h"

static const double slope = 0.42; /* sine up to which a cap or the lowest line is treated as a whole: 25 degrees */

static void mass(ds_mass *m, const ds_shape *shape) {
  double r = shape->radius, l = 2 * shape->half_length, r2 = r * r;
  ds_mass_diagonal(m, DS_PI * r2 * l, r2 / 4 + l * l / 12, r2 / 4 + l * l / 12, r2 / 2);
}

static double thickness(const ds_shape *shape) { return 2 * fmin(shape->radius, shape->half_length); }

static double reach(const ds_shape *shape, ds_pose pose) {
  return v3_norm(pose.p) + hypot(shape->radius, shape->half_length);
}

static void bounds(ds_vec3 *low, ds_vec3 *high, const ds_shape *shape, ds_pose pose) {
  ds_mat3 r = mat3_from_quat(pose.q);
  ds_vec3 u = v3(fabs(r.m[2]), fabs(r.m[5]), fabs(r.m[8]));
  double radius = shape->radius;
  ds_vec3 e = v3(radius * sqrt(fmax(0, 1 - u.x * u.x)), radius * sqrt(fmax(0, 1 - u.y * u.y)),
                 radius * sqrt(fmax(0, 1 - u.z * u.z)));
  e = v3_mad(e, shape->half_length, u);
  *low = v3_sub(pose.p, e);
  *high = v3_add(pose.p, e);
}

static double ray(ds_vec3 *normal, const ds_shape *shape, ds_vec3 o, ds_vec3 dir, double max_distance) {
  ds_span s = ds_span_all();
  ds_span_cut_mantle(&s, shape->radius, o, dir);
  ds_span_cut_plane(&s, v3(0, 0, 1), shape->half_length, o, dir);
  ds_span_cut_plane(&s, v3(0, 0, -1), shape->half_length, o, dir);
  return ds_span_first(normal, &s, max_distance);
}

double ds_cylinder_distance(ds_vec3 *normal, double radius, double half_length, ds_vec3 x) {
  double across = sqrt(x.x * x.x + x.y * x.y), dr = across - radius, dz = fabs(x.z) - half_length;
  ds_vec3 cap = v3(0, 0, x.z < 0 ? -1 : 1), side = across > 0 ? v3(x.x / across, x.y / across, 0) : v3(1, 0, 0);
  if (dr > 0 && dz > 0) {
    double d = sqrt(dr * dr + dz * dz);
    *normal = v3_add(v3_scale(dr / d, side), v3_scale(dz / d, cap));
    return d;
  }
  /* over a cap, beside, or inside: then the nearer surface, the cap first */
  bool on_cap = dz > 0 || (dr <= 0 && dz >= dr - 1e-9 * radius);
  *normal = on_cap ? cap : side;
  return on_cap ? dz : dr;
}

static double distance(ds_vec3 *normal, const ds_shape *shape, ds_vec3 x) {
  return ds_cylinder_distance(normal, shape->radius, shape->half_length, x);
}

static ds_vec3 support(const ds_shape *shape, ds_vec3 d) {
  double across = sqrt(d.x * d.x + d.y * d.y), s = across > 0 ? shape->radius / across : 0;
  return v3(s * d.x, s * d.y, d.z >= 0 ? shape->half_length : -shape->half_length);
}

static void face(ds_shape_face *f, const ds_shape *shape, ds_vec3 d, int32_t wanted) {
  ds_vec3 x = support(shape, d);
  double across = sqrt(d.x * d.x + d.y * d.y);
  f->count = 1;
  f->points[0] = x;
  f->ids[0] = 0;
  if (across < slope) { /* a cap: points of its rim that are fixed in the body */
    f->count = wanted < 8 ? 8 : wanted > 32 ? 32 : wanted;
    for (int32_t i = 0; i < f->count; i++) {
      double angle = (d.z > 0 ? 2 : -2) * DS_PI * i / f->count;
      f->points[i] = v3(shape->radius * cos(angle), shape->radius * sin(angle), x.z);
      f->ids[i] = (uint32_t)(16 + i);
    }
  } else if (fabs(d.z) < slope) {
    f->count = 2;
    f->points[0] = v3(x.x, x.y, -shape->half_length);
    f->points[1] = v3(x.x, x.y, shape->half_length);
    f->ids[1] = 1;
  }
}

static void samples(ds_shape_points *points, const ds_shape *shape, double spacing) {
  double radius = shape->radius, half = shape->half_length;
  int32_t around = ds_shape_pieces(2 * DS_PI * radius, spacing), along = ds_shape_pieces(2 * half, spacing);
  if (around < 8) around = 8;
  for (int32_t k = 0; k <= along; k++)
    for (int32_t i = 0; i < around; i++) {
      double angle = 2 * DS_PI * i / around, z = half * (2.0 * k / along - 1);
      ds_vec3 out = v3(cos(angle), sin(angle), 0);
      double cap = k == 0 ? -1 : k == along ? 1 : 0;
      ds_shape_point_add(points, v3(radius * out.x, radius * out.y, z), v3(out.x, out.y, cap));
    }
}

static void tessellate(ds_facets *facets, const ds_shape *shape, int32_t segments) {
  int32_t first = ds_facets_ring(facets, shape->radius, -shape->half_length, 0, 1, segments);
  ds_facets_ring(facets, shape->radius, shape->half_length, 0, 1, segments);
  ds_facets_join(facets, first, 2, segments);
  for (int side = -1; side <= 1; side += 2)
    ds_facets_disc(facets, shape->radius, side * shape->half_length, side, segments);
}

const ds_shape_ops ds_shape_cylinder = {
    .name = "cylinder",
    .measures = {{"radius", DS_MEASURE_LENGTH, offsetof(ds_shape_def, radius), 1},
                 {"length", DS_MEASURE_LENGTH, offsetof(ds_shape_def, half_length), 0.5}},
    .curved = true,
    .capped = true,
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
