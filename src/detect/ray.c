/* Rays and bounding boxes of single shapes.
 *
 * A ray that starts inside a solid meets its surface from within, where it leaves. */
#include "detect/deformed.h"
#include "detect/pairs.h"
#include "mesh/solid.h"

typedef struct span { /* the part of the ray inside a convex solid, with the normals where it enters and leaves */
  double in, out;
  ds_vec3 n_in, n_out;
} span;

/* Cuts by the half-space n.x <= d. */
static void cut_plane(span *s, ds_vec3 n, double d, ds_vec3 o, ds_vec3 dir) {
  double g = v3_dot(n, o) - d, rate = v3_dot(n, dir);
  if (rate == 0) {
    if (g > 0) s->out = -INFINITY;
    return;
  }
  double t = -g / rate;
  if (rate < 0 && t > s->in) {
    s->in = t;
    s->n_in = n;
  } else if (rate > 0 && t < s->out) {
    s->out = t;
    s->n_out = n;
  }
}

/* Cuts by the infinite cylinder of a radius about z. */
static void cut_mantle(span *s, double radius, ds_vec3 o, ds_vec3 dir) {
  double a = dir.x * dir.x + dir.y * dir.y, b = o.x * dir.x + o.y * dir.y, c = o.x * o.x + o.y * o.y - radius * radius;
  if (a <= 1e-30) {
    if (c > 0) s->out = -INFINITY;
    return;
  }
  double det = b * b - a * c;
  if (det < 0) {
    s->out = -INFINITY;
    return;
  }
  double t0 = (-b - sqrt(det)) / a, t1 = (-b + sqrt(det)) / a;
  if (t0 > s->in) {
    s->in = t0;
    s->n_in = v3_scale(1 / radius, v3(o.x + t0 * dir.x, o.y + t0 * dir.y, 0));
  }
  if (t1 < s->out) {
    s->out = t1;
    s->n_out = v3_scale(1 / radius, v3(o.x + t1 * dir.x, o.y + t1 * dir.y, 0));
  }
}

static span whole_line(void) { return (span){-INFINITY, INFINITY, {0, 0, 0}, {0, 0, 0}}; }

static span ball_span(double radius, ds_vec3 c, ds_vec3 o, ds_vec3 dir) {
  ds_vec3 r = v3_sub(o, c);
  double b = v3_dot(r, dir);
  /* |r|² - b² without cancellation */
  double across2 = v3_norm2(v3_mad(r, -b, dir)), det = radius * radius - across2;
  span s = {INFINITY, -INFINITY, {0, 0, 0}, {0, 0, 0}};
  if (det < 0) return s;
  s.in = -b - sqrt(det);
  s.out = -b + sqrt(det);
  s.n_in = v3_scale(1 / radius, v3_mad(r, s.in, dir));
  s.n_out = v3_scale(1 / radius, v3_mad(r, s.out, dir));
  return s;
}

/* The union of the balls at a capsule's ends and its cylinder is convex, so their spans join. */
static span capsule_span(const ds_shape *shape, ds_vec3 o, ds_vec3 dir) {
  span all = {INFINITY, -INFINITY, {0, 0, 0}, {0, 0, 0}}, part[3];
  part[0] = ball_span(shape->radius, v3(0, 0, -shape->half_length), o, dir);
  part[1] = ball_span(shape->radius, v3(0, 0, shape->half_length), o, dir);
  part[2] = whole_line();
  cut_mantle(&part[2], shape->radius, o, dir);
  cut_plane(&part[2], v3(0, 0, 1), shape->half_length, o, dir);
  cut_plane(&part[2], v3(0, 0, -1), shape->half_length, o, dir);
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
  return all;
}

/* The first triangle of a surface that is met; from either side (Moeller and Trumbore 1997). */
static double mesh_ray(ds_vec3 *normal, const ds_mesh *mesh, ds_vec3 o, ds_vec3 dir, double max_distance) {
  double nearest = -1;
  for (int32_t i = 0; i < mesh->triangle_count; i++) {
    const int32_t *t = mesh->triangles + 3 * (size_t)i;
    ds_vec3 a = mesh->vertices[t[0]], e1 = v3_sub(mesh->vertices[t[1]], a), e2 = v3_sub(mesh->vertices[t[2]], a);
    ds_vec3 p = v3_cross(dir, e2), s = v3_sub(o, a), q = v3_cross(s, e1);
    double det = v3_dot(e1, p);
    if (det == 0) continue;
    double u = v3_dot(s, p) / det, w = v3_dot(dir, q) / det, way = v3_dot(e2, q) / det;
    if (!(u >= 0 && w >= 0 && u + w <= 1 && way >= 0 && way <= max_distance)) continue;
    if (nearest >= 0 && way >= nearest) continue;
    nearest = way;
    *normal = v3_unit(v3_cross(e1, e2));
  }
  return nearest;
}

/* The part of the ray inside the box of a solid. */
static span box_span(ds_vec3 low, ds_vec3 high, ds_vec3 o, ds_vec3 dir) {
  span s = whole_line();
  cut_plane(&s, v3(1, 0, 0), high.x, o, dir);
  cut_plane(&s, v3(-1, 0, 0), -low.x, o, dir);
  cut_plane(&s, v3(0, 1, 0), high.y, o, dir);
  cut_plane(&s, v3(0, -1, 0), -low.y, o, dir);
  cut_plane(&s, v3(0, 0, 1), high.z, o, dir);
  cut_plane(&s, v3(0, 0, -1), -low.z, o, dir);
  return s;
}

static double solid_ray(ds_vec3 *normal, const ds_solid *solid, ds_vec3 o, ds_vec3 dir, double max_distance) {
  span s = box_span(solid->info.low, solid->info.high, o, dir);
  if (!(s.in <= s.out && s.out >= 0 && s.in <= max_distance)) return -1;
  return mesh_ray(normal, &solid->mesh, o, dir, max_distance);
}

double ds_shape_ray(ds_vec3 *normal, const ds_shape *shape, ds_pose pose, ds_vec3 origin, ds_vec3 direction,
                    double max_distance) {
  ds_vec3 o = pose_unpoint(pose, origin), dir = quat_unrotate(pose.q, direction);
  span s = whole_line();
  switch (shape->kind) {
    case DS_SHAPE_SPHERE:
      s = ball_span(shape->radius, v3(0, 0, 0), o, dir);
      break;
    case DS_SHAPE_BOX:
    case DS_SHAPE_HULL:
      for (int32_t f = 0; f < shape->hull.face_count; f++)
        cut_plane(&s, shape->hull.normals[f], shape->hull.offsets[f], o, dir);
      break;
    case DS_SHAPE_CAPSULE:
      s = capsule_span(shape, o, dir);
      break;
    case DS_SHAPE_CYLINDER:
      cut_mantle(&s, shape->radius, o, dir);
      cut_plane(&s, v3(0, 0, 1), shape->half_length, o, dir);
      cut_plane(&s, v3(0, 0, -1), shape->half_length, o, dir);
      break;
    case DS_SHAPE_HALF_SPACE:
      cut_plane(&s, v3(0, 0, 1), 0, o, dir);
      break;
    case DS_SHAPE_SOLID: {
      double t = solid_ray(normal, shape->solid, o, dir, max_distance);
      if (t >= 0) *normal = quat_rotate(pose.q, *normal);
      return t;
    }
    case DS_SHAPE_REDUCED: /* ds_reduced_ray */
      return -1;
  }
  if (!(s.in <= s.out)) return -1;
  bool enters = s.in >= 0;
  double t = enters ? s.in : s.out;
  if (!(t >= 0 && t <= max_distance) || !isfinite(t)) return -1;
  *normal = quat_rotate(pose.q, enters ? s.n_in : s.n_out);
  return t;
}

void ds_shape_bounds(ds_vec3 *low, ds_vec3 *high, const ds_shape *shape, ds_pose pose) {
  ds_mat3 r = mat3_from_quat(pose.q);
  ds_vec3 u = v3(fabs(r.m[2]), fabs(r.m[5]), fabs(r.m[8])), e = v3(0, 0, 0); /* e = half extents about pose.p */
  double radius = shape->radius, half = shape->half_length;
  switch (shape->kind) {
    case DS_SHAPE_SPHERE:
      e = v3(radius, radius, radius);
      break;
    case DS_SHAPE_BOX: {
      ds_mat3 a;
      for (int i = 0; i < 9; i++) a.m[i] = fabs(r.m[i]);
      e = mat3_mul_v3(&a, shape->half);
      break;
    }
    case DS_SHAPE_CAPSULE:
      e = v3_mad(v3(radius, radius, radius), half, u);
      break;
    case DS_SHAPE_CYLINDER:
      e = v3(radius * sqrt(fmax(0, 1 - u.x * u.x)), radius * sqrt(fmax(0, 1 - u.y * u.y)),
             radius * sqrt(fmax(0, 1 - u.z * u.z)));
      e = v3_mad(e, half, u);
      break;
    case DS_SHAPE_HULL:
      *low = v3(INFINITY, INFINITY, INFINITY);
      *high = v3_neg(*low);
      for (int32_t i = 0; i < shape->hull.vertex_count; i++) {
        ds_vec3 x = v3_add(pose.p, mat3_mul_v3(&r, shape->hull.vertices[i]));
        *low = v3_min(*low, x);
        *high = v3_max(*high, x);
      }
      return;
    case DS_SHAPE_SOLID: {
      const ds_solid_info *info = &shape->solid->info;
      ds_mat3 a;
      for (int i = 0; i < 9; i++) a.m[i] = fabs(r.m[i]);
      e = mat3_mul_v3(&a, v3_scale(0.5, v3_sub(info->high, info->low)));
      pose.p = v3_add(pose.p, mat3_mul_v3(&r, v3_scale(0.5, v3_add(info->low, info->high))));
      break;
    }
    case DS_SHAPE_REDUCED: /* undeformed; else ds_reduced_bounds */
      ds_reduced_bounds(low, high, shape->reduced, NULL, pose);
      return;
    case DS_SHAPE_HALF_SPACE:
      *low = v3(-INFINITY, -INFINITY, -INFINITY);
      *high = v3(INFINITY, INFINITY, INFINITY);
      return;
  }
  *low = v3_sub(pose.p, e);
  *high = v3_add(pose.p, e);
}
