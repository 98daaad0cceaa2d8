/* The cone about local z: a disc of `radius` at z = -half_length, the tip at z = half_length; closed and solid.
 *
 * By its symmetry everything happens in the half-plane of distance rho from the axis and height z, where the cone is a
 * triangle: base from (0, -l) to (radius, -l), side from there to the tip (0, l). */
#include "shape/shape.h"

static const double facing = 0.906; /* cosine from which on the base or a line of the side is looked at: 25 degrees */
enum { TIP, RIM_LOWEST, RIM = 16 }; /* ids of points of faces */

/* Outward normal of the side in the half-plane: (2 l, radius), unit. */
static void side_normal(double *rho, double *z, const ds_shape *shape) {
  double slant = hypot(2 * shape->half_length, shape->radius);
  *rho = 2 * shape->half_length / slant;
  *z = shape->radius / slant;
}

static void mass(ds_mass *m, const ds_shape *shape) {
  double r2 = shape->radius * shape->radius, h = 2 * shape->half_length;
  double across = 3.0 / 20.0 * r2 + 3.0 / 80.0 * h * h;
  ds_mass_diagonal(m, DS_PI * r2 * h / 3, across, across, 0.3 * r2);
  m->center = v3(0, 0, -0.5 * shape->half_length);
}

/* Diameter of the largest ball inside. */
static double thickness(const ds_shape *shape) {
  double r = shape->radius, h = 2 * shape->half_length;
  return 2 * r * h / (r + hypot(r, h));
}

static double reach(const ds_shape *shape, ds_pose pose) {
  return v3_norm(pose.p) + hypot(shape->radius, shape->half_length);
}

static double ray(ds_vec3 *normal, const ds_shape *shape, ds_vec3 o, ds_vec3 dir, double max_distance) {
  double l = shape->half_length, nr, nz;
  side_normal(&nr, &nz, shape);
  ds_span s = ds_span_all();
  ds_span_cut_plane(&s, v3(0, 0, -1), l, o, dir);
  ds_span_cut_plane(&s, v3(0, 0, 1), l, o, dir); /* leaves out the cone above the tip */
  /* rho² <= k² (l - z)²: inside between the roots of a quadratic, or outside of them along steep lines */
  double k = shape->radius / (2 * l), top = l - o.z;
  double a = dir.x * dir.x + dir.y * dir.y - k * k * dir.z * dir.z;
  double b = o.x * dir.x + o.y * dir.y + k * k * top * dir.z, c = o.x * o.x + o.y * o.y - k * k * top * top;
  double det = b * b - a * c, roots[2] = {INFINITY, INFINITY};
  if (fabs(a) > 1e-14) {
    if (det < 0 && a > 0) return -1;
    double q = -(b + copysign(sqrt(fmax(det, 0)), b));
    roots[0] = q / a;
    roots[1] = q != 0 ? c / q : roots[0];
  } else if (b != 0) {
    roots[0] = -c / (2 * b);
  }
  for (int i = 0; i < 2; i++) {
    double t = roots[i];
    ds_vec3 x = v3_mad(o, t, dir);
    double rho = hypot(x.x, x.y);
    if (!isfinite(t) || !(x.z <= l)) continue; /* on the other half of the double cone */
    ds_vec3 n = rho > 0 ? v3(nr * x.x / rho, nr * x.y / rho, nz) : v3(0, 0, 1);
    if (v3_dot(n, dir) < 0 && t > s.in) s.in = t, s.n_in = n;
    if (v3_dot(n, dir) >= 0 && t < s.out) s.out = t, s.n_out = n;
  }
  if (!(s.in <= s.out)) return -1;
  /* what is left must be inside: a line that passes beside the tip meets both planes only */
  ds_vec3 middle = v3_mad(o, 0.5 * (s.in + s.out), dir);
  if (hypot(middle.x, middle.y) > k * (l - middle.z) + 1e-12 * shape->radius) return -1;
  return ds_span_first(normal, &s, max_distance);
}

static double distance(ds_vec3 *normal, const ds_shape *shape, ds_vec3 x) {
  double r = shape->radius, l = shape->half_length, rho = hypot(x.x, x.y), nr, nz;
  ds_vec3 out = rho > 0 ? v3(x.x / rho, x.y / rho, 0) : v3(1, 0, 0);
  side_normal(&nr, &nz, shape);
  double base = -l - x.z, side = nr * (rho - r) + nz * (x.z + l); /* heights over both */
  if (base <= 0 && side <= 0) {                                   /* inside: the nearer, the base first */
    bool on_base = base >= side - 1e-9 * r;
    *normal = on_base ? v3(0, 0, -1) : v3(nr * out.x, nr * out.y, nz);
    return on_base ? base : side;
  }
  if (base > 0 && rho <= r) {
    *normal = v3(0, 0, -1);
    return base;
  }
  double along = -nz * (rho - r) + nr * (x.z + l), slant = hypot(2 * l, r); /* way up the side, from the rim */
  if (along > 0 && along < slant) {
    *normal = v3(nr * out.x, nr * out.y, nz);
    return side;
  }
  ds_vec3 d = v3_sub(x, along <= 0 ? v3(r * out.x, r * out.y, -l) : v3(0, 0, l)); /* from the rim or the tip */
  double length = v3_norm(d);
  *normal = length > 0 ? v3_scale(1 / length, d) : v3(nr * out.x, nr * out.y, nz);
  return length;
}

static ds_vec3 rim_point(const ds_shape *shape, ds_vec3 d) {
  double across = hypot(d.x, d.y), s = across > 0 ? shape->radius / across : 0;
  return v3(s * d.x, s * d.y, -shape->half_length);
}

static ds_vec3 support(const ds_shape *shape, ds_vec3 d) {
  ds_vec3 rim = rim_point(shape, d), tip = v3(0, 0, shape->half_length);
  return v3_dot(d, tip) > v3_dot(d, rim) ? tip : rim;
}

/* The base: points of its rim that are fixed in the body. The side: the line from the tip to the rim. */
static void face(ds_shape_face *f, const ds_shape *shape, ds_vec3 d, int32_t wanted) {
  double across = hypot(d.x, d.y), nr, nz;
  side_normal(&nr, &nz, shape);
  f->count = 1;
  if (-d.z > facing) {
    f->count = wanted < 8 ? 8 : wanted > 32 ? 32 : wanted;
    for (int32_t i = 0; i < f->count; i++) {
      double angle = -2 * DS_PI * i / f->count;
      f->points[i] = v3(shape->radius * cos(angle), shape->radius * sin(angle), -shape->half_length);
      f->ids[i] = (uint32_t)(RIM + i);
    }
  } else if (nr * across + nz * d.z > facing && across > 0) {
    f->count = 2;
    f->points[0] = v3(0, 0, shape->half_length), f->ids[0] = TIP;
    f->points[1] = rim_point(shape, d), f->ids[1] = RIM_LOWEST;
  } else {
    f->points[0] = support(shape, d);
    f->ids[0] = (uint32_t)(f->points[0].z > 0 ? TIP : RIM_LOWEST);
  }
}

static void samples(ds_shape_points *points, const ds_shape *shape, double spacing) {
  double r = shape->radius, l = shape->half_length, nr, nz;
  int32_t around = ds_shape_pieces(2 * DS_PI * r, spacing), along = ds_shape_pieces(hypot(2 * l, r), spacing);
  if (around < 8) around = 8;
  side_normal(&nr, &nz, shape);
  for (int32_t k = 0; k < along; k++)
    for (int32_t i = 0; i < around; i++) {
      double angle = 2 * DS_PI * i / around, up = (double)k / along;
      ds_vec3 out = v3(cos(angle), sin(angle), 0);
      ds_vec3 x = v3(r * (1 - up) * out.x, r * (1 - up) * out.y, l * (2 * up - 1));
      ds_shape_point_add(points, x, v3(nr * out.x, nr * out.y, k == 0 ? nz - 1 : nz));
    }
  ds_shape_point_add(points, v3(0, 0, l), v3(0, 0, 1));
}

static void tessellate(ds_facets *facets, const ds_shape *shape, int32_t segments) {
  double nr, nz;
  side_normal(&nr, &nz, shape);
  int32_t first = ds_facets_ring(facets, shape->radius, -shape->half_length, nz, nr, segments);
  ds_facets_ring(facets, 0, shape->half_length, nz, nr, segments);
  ds_facets_join(facets, first, 2, segments);
  ds_facets_disc(facets, shape->radius, -shape->half_length, -1, segments);
}

const ds_shape_ops ds_shape_cone = {
    .name = "cone",
    .measures = {{"radius", DS_MEASURE_LENGTH, offsetof(ds_shape_def, radius), 1},
                 {"height", DS_MEASURE_LENGTH, offsetof(ds_shape_def, half_length), 0.5}},
    .curved = true,
    .capped = true,
    .mass = mass,
    .thickness = thickness,
    .reach = reach,
    .ray = ray,
    .distance = distance,
    .support = support,
    .face = face,
    .samples = samples,
    .tessellate = tessellate,
};
