/* How far two shapes are apart: convex shapes by GJK on their cores (a point, a segment, a polytope, or the shape
 * itself) less their radii, and by an expanding polytope where the cores touch; half-spaces by the lowest point; solids
 * by their samples in the other's distance function, best ball first. */
#include "detect/gap.h"

#include "detect/detection.h"
#include "detect/pairs.h"
#include "shape/separation.h"

/* Of the smaller radius: the direction of a vector that is shorter is one of rounding. */
static const double clear_of_rounding = 1e-6;

/* The convex core of a shape and the radius about it. False for shapes that have none. */
static bool core_of(ds_convex *c, double *round, const ds_placed *s) {
  const ds_shape *shape = s->shape;
  if (!ds_shape_is_convex(shape)) return false;
  *c = (ds_convex){.r = s->r, .p = s->p, .shape = shape};
  *round = ds_shape_ops_of(shape)->rounded ? shape->radius : 0;
  if (shape->hull.vertex_count > 0) c->points = shape->hull.vertices, c->count = shape->hull.vertex_count;
  return true;
}

/* A convex shape and a half-space, in either order. */
static double plane_nearest(ds_vec3 *n, ds_vec3 *point, const ds_placed *a, const ds_placed *b) {
  bool first = a->shape->kind == DS_SHAPE_HALF_SPACE;
  const ds_placed *plane = first ? a : b, *s = first ? b : a;
  ds_vec3 up = ds_placed_axis(plane);
  ds_vec3 x = ds_placed_point(s, ds_shape_support(s->shape, mat3_tmul_v3(&s->r, v3_neg(up))));
  double height = v3_dot(up, v3_sub(x, plane->p));
  *n = first ? v3_neg(up) : up;
  *point = v3_mad(x, -0.5 * height, up);
  return height;
}

/* Least distance of samples below a ball to a shape; `best` is what is known already. */
static double samples_gap(double best, const ds_samples *samples, int32_t index, const ds_mat3 *r, ds_vec3 p,
                          const ds_shape *other, double round) {
  const ds_ball *ball = &samples->balls[index];
  ds_vec3 n;
  double d = ds_shape_distance(&n, other, v3_add(p, mat3_mul_v3(r, ball->center)));
  if (!(d - ball->radius - round < best)) return best;
  for (int32_t i = 0; i < ball->child_count; i++)
    best = samples_gap(best, samples, ball->child + i, r, p, other, round);
  for (int32_t i = ball->first; ball->child_count == 0 && i < ball->first + ball->count; i++)
    best = fmin(best, ds_shape_distance(&n, other, v3_add(p, mat3_mul_v3(r, samples->points[i]))) - round);
  return best;
}

static double one_way(double best, const ds_placed *from, const ds_placed *to) {
  const ds_shape *shape = from->shape;
  ds_mat3 r = ds_mat3_tmul(&to->r, &from->r);
  ds_vec3 n, p = mat3_tmul_v3(&to->r, v3_sub(from->p, to->p));
  if (shape->kind == DS_SHAPE_HALF_SPACE) return best;
  /* where the distance of a solid is but a lower bound, its own samples tell */
  bool known = to->shape->kind != DS_SHAPE_SOLID || ds_field_covers(&to->shape->solid->field, p);
  if (shape->kind == DS_SHAPE_SPHERE && !known) return best;
  if (shape->kind == DS_SHAPE_SPHERE) return fmin(best, ds_shape_distance(&n, to->shape, p) - shape->radius);
  const ds_samples *samples = ds_shape_get_samples(shape);
  if (!samples || samples->count == 0) return best;
  return samples_gap(best, samples, 0, &r, p, to->shape, ds_shape_ops_of(shape)->rounded ? shape->radius : 0);
}

double ds_shape_nearest(ds_vec3 *n, ds_vec3 *point, const ds_shape *a, ds_pose pose_a, const ds_shape *b,
                        ds_pose pose_b) {
  ds_placed pa = {a, mat3_from_quat(pose_a.q), pose_a.p}, pb = {b, mat3_from_quat(pose_b.q), pose_b.p};
  if (a->kind == DS_SHAPE_HALF_SPACE || b->kind == DS_SHAPE_HALF_SPACE) return plane_nearest(n, point, &pa, &pb);
  ds_mat3 r = ds_mat3_tmul(&pb.r, &pa.r);
  ds_vec3 on_a, on_b, p = mat3_tmul_v3(&pb.r, v3_sub(pa.p, pb.p));
  double size = fmin(a->bounding_radius, b->bounding_radius);
  double apart = ds_shape_separation(n, &on_a, &on_b, a, &r, p, b, size);
  *n = mat3_mul_v3(&pb.r, *n);
  *point = ds_placed_point(&pb, v3_scale(0.5, v3_add(on_a, on_b)));
  return apart;
}

double ds_shape_apart(ds_vec3 *n, const ds_shape *a, ds_pose pose_a, const ds_shape *b, ds_pose pose_b) {
  ds_placed pa = {a, mat3_from_quat(pose_a.q), pose_a.p}, pb = {b, mat3_from_quat(pose_b.q), pose_b.p};
  ds_vec3 point;
  ds_convex ca, cb;
  ds_closest closest;
  if (a->kind == DS_SHAPE_HALF_SPACE || b->kind == DS_SHAPE_HALF_SPACE) return plane_nearest(n, &point, &pa, &pb);
  double ra, rb, near = clear_of_rounding * fmin(a->bounding_radius, b->bounding_radius);
  if (!core_of(&ca, &ra, &pa) || !core_of(&cb, &rb, &pb)) return INFINITY;
  ds_gjk(&closest, &ca, &cb, v3_sub(pa.p, pb.p), INFINITY);
  if (closest.overlap || closest.distance < near) return ds_shape_nearest(n, &point, a, pose_a, b, pose_b);
  *n = v3_unit(closest.v);
  return closest.distance - ra - rb;
}

double ds_samples_gap(const ds_shape *a, ds_pose pose_a, const ds_shape *b, ds_pose pose_b, double enough) {
  if (!ds_can_collide(a) || !ds_can_collide(b)) return INFINITY;
  ds_placed pa = {a, mat3_from_quat(pose_a.q), pose_a.p}, pb = {b, mat3_from_quat(pose_b.q), pose_b.p};
  return one_way(one_way(enough * (1 + 1e-9) + 1e-300, &pa, &pb), &pb, &pa);
}

double ds_bodies_gap(const ds_body *a, ds_pose pose_a, const ds_body *b, ds_pose pose_b, double enough) {
  double gap = INFINITY;
  for (int32_t i = 0; i < a->shape_count; i++)
    for (int32_t j = 0; j < b->shape_count; j++) {
      const ds_shape *sa = &a->shapes[i], *sb = &b->shapes[j];
      ds_pose pa = pose_mul(pose_a, sa->pose), pb = pose_mul(pose_b, sb->pose);
      double apart = v3_dist(pa.p, pb.p) - sa->bounding_radius - sb->bounding_radius;
      ds_vec3 n;
      if (!(apart > enough)) /* infinite radii never get there */
        apart = sa->solid || sb->solid ? ds_samples_gap(sa, pa, sb, pb, enough) : ds_shape_apart(&n, sa, pa, sb, pb);
      gap = fmin(gap, apart);
    }
  return gap;
}
