/* The solid: any closed surface, with its distance field [mesh/solid.h]. */
#include "mesh/solid.h"

#include "shape/shape.h"

static ds_status prepare(ds_shape *shape, const ds_shape_def *def, ds_error *error) {
  (void)error;
  shape->solid = ds_solid_retain(def->solid);
  return DS_OK;
}

static void mass(ds_mass *m, const ds_shape *shape) { *m = shape->solid->mass; }

static double thickness(const ds_shape *shape) { return shape->solid->info.thickness; }

static double reach(const ds_shape *shape, ds_pose pose) {
  double r = 0;
  for (int32_t i = 0; i < shape->solid->mesh.vertex_count; i++)
    r = fmax(r, v3_norm(pose_point(pose, shape->solid->mesh.vertices[i])));
  return r;
}

static void bounds(ds_vec3 *low, ds_vec3 *high, const ds_shape *shape, ds_pose pose) {
  const ds_solid_info *info = &shape->solid->info;
  ds_mat3 r = mat3_from_quat(pose.q), a;
  for (int i = 0; i < 9; i++) a.m[i] = fabs(r.m[i]);
  ds_vec3 e = mat3_mul_v3(&a, v3_scale(0.5, v3_sub(info->high, info->low)));
  pose.p = v3_add(pose.p, mat3_mul_v3(&r, v3_scale(0.5, v3_add(info->low, info->high))));
  *low = v3_sub(pose.p, e);
  *high = v3_add(pose.p, e);
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
    double u = v3_dot(s, p) / det, w = v3_dot(dir, q) / det, distance = v3_dot(e2, q) / det;
    if (!(u >= 0 && w >= 0 && u + w <= 1 && distance >= 0 && distance <= max_distance)) continue;
    if (nearest >= 0 && distance >= nearest) continue;
    nearest = distance;
    *normal = v3_unit(v3_cross(e1, e2));
  }
  return nearest;
}

static double ray(ds_vec3 *normal, const ds_shape *shape, ds_vec3 o, ds_vec3 dir, double max_distance) {
  ds_vec3 low = shape->solid->info.low, high = shape->solid->info.high;
  ds_span s = ds_span_all();
  ds_span_cut_plane(&s, v3(1, 0, 0), high.x, o, dir);
  ds_span_cut_plane(&s, v3(-1, 0, 0), -low.x, o, dir);
  ds_span_cut_plane(&s, v3(0, 1, 0), high.y, o, dir);
  ds_span_cut_plane(&s, v3(0, -1, 0), -low.y, o, dir);
  ds_span_cut_plane(&s, v3(0, 0, 1), high.z, o, dir);
  ds_span_cut_plane(&s, v3(0, 0, -1), -low.z, o, dir);
  if (!(s.in <= s.out && s.out >= 0 && s.in <= max_distance)) return -1;
  return mesh_ray(normal, &shape->solid->mesh, o, dir, max_distance);
}

/* The gradient of the interpolant jumps from cell to cell: a sample that lies on their border would change its normal
 * by rounding. Central differences over half a cell do not jump. */
static double distance(ds_vec3 *normal, const ds_shape *shape, ds_vec3 x) {
  const ds_distance_field *f = &shape->solid->field;
  double h = 0.25 * f->fine, g[6];
  for (int i = 0; i < 6; i++) {
    double step = i % 2 ? -h : h;
    ds_vec3 y = v3(x.x + (i / 2 == 0 ? step : 0), x.y + (i / 2 == 1 ? step : 0), x.z + (i / 2 == 2 ? step : 0));
    g[i] = ds_field_distance(f, y);
  }
  *normal = v3_unit(v3(g[0] - g[1], g[2] - g[3], g[4] - g[5]));
  return ds_field_distance(f, x);
}

static double distance_alone(const ds_shape *shape, ds_vec3 x) { return ds_field_distance(&shape->solid->field, x); }

static double spacing(const ds_shape *shape) {
  return shape->solid->samples.count > 0 ? shape->solid->info.spacing : INFINITY;
}

const ds_shape_ops ds_shape_solid = {
    .name = "solid",
    .measures = {{"solid", DS_MEASURE_SOLID, 0, 1}},
    .prepare = prepare,
    .mass = mass,
    .thickness = thickness,
    .reach = reach,
    .bounds = bounds,
    .ray = ray,
    .distance = distance,
    .distance_alone = distance_alone,
    .spacing = spacing,
};
