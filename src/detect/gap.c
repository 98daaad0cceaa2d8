/* Least distance of two bodies, shape by shape: convex shapes by GJK on their cores (a point, a segment, a polytope, or
 * the shape itself) less their radii; half-spaces by the lowest point; solids by their samples in the other's distance
 * function, best ball first. */
#include "detect/gap.h"

#include "detect/solid.h"

/* The convex core of a shape and the radius about it. False for shapes that have none. */
static bool core_of(ds_convex *c, double *round, const ds_placed *s) {
  const ds_shape *shape = s->shape;
  if (!ds_shape_is_convex(shape)) return false;
  *c = (ds_convex){.r = s->r, .p = s->p, .shape = shape};
  *round = ds_shape_ops_of(shape)->rounded ? shape->radius : 0;
  if (shape->hull.vertex_count > 0) c->points = shape->hull.vertices, c->count = shape->hull.vertex_count;
  return true;
}

/* Lowest point of a core over a plane n.x = d. */
static double core_height(const ds_convex *c, ds_vec3 n, double d) {
  ds_vec3 m = mat3_tmul_v3(&c->r, n);
  return v3_dot(n, c->p) - d + v3_dot(m, ds_shape_ops_of(c->shape)->support(c->shape, v3_neg(m)));
}

static double convex_gap(const ds_placed *a, const ds_placed *b) {
  ds_convex ca, cb;
  double ra, rb;
  if (!core_of(&ca, &ra, a) || !core_of(&cb, &rb, b)) return INFINITY;
  ds_closest closest;
  ds_gjk(&closest, &ca, &cb, v3_sub(a->p, b->p), INFINITY);
  return closest.overlap ? -ra - rb : closest.distance - ra - rb;
}

static double plane_gap(const ds_placed *s, const ds_placed *plane) {
  ds_convex c;
  ds_vec3 n = ds_placed_axis(plane);
  double round;
  if (!core_of(&c, &round, s)) return INFINITY;
  return core_height(&c, n, v3_dot(n, plane->p)) - round;
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
  if (shape->kind == DS_SHAPE_SPHERE) return fmin(best, ds_shape_distance(&n, to->shape, p) - shape->radius);
  const ds_samples *samples = ds_shape_get_samples(shape);
  if (!samples || samples->count == 0) return best;
  return samples_gap(best, samples, 0, &r, p, to->shape, ds_shape_ops_of(shape)->rounded ? shape->radius : 0);
}

static double shape_gap(const ds_placed *a, const ds_placed *b, double enough) {
  if (a->shape->kind == DS_SHAPE_REDUCED || b->shape->kind == DS_SHAPE_REDUCED) return INFINITY;
  bool solid_a = a->shape->kind == DS_SHAPE_SOLID, solid_b = b->shape->kind == DS_SHAPE_SOLID;
  if (solid_a || solid_b) {
    if ((solid_a && a->shape->solid->samples.count == 0) || (solid_b && b->shape->solid->samples.count == 0))
      return INFINITY; /* made to be drawn only */
    return one_way(one_way(enough * (1 + 1e-9) + 1e-300, a, b), b, a);
  }
  if (a->shape->kind == DS_SHAPE_HALF_SPACE) return plane_gap(b, a);
  if (b->shape->kind == DS_SHAPE_HALF_SPACE) return plane_gap(a, b);
  return convex_gap(a, b);
}

double ds_body_gap(const ds_body *a, ds_pose pose_a, const ds_body *b, ds_pose pose_b, double enough) {
  double gap = INFINITY;
  for (int32_t i = 0; i < a->shape_count; i++)
    for (int32_t j = 0; j < b->shape_count; j++) {
      ds_pose qa = pose_mul(pose_a, a->shapes[i].pose), qb = pose_mul(pose_b, b->shapes[j].pose);
      double apart = v3_dist(qa.p, qb.p) - a->shapes[i].bounding_radius - b->shapes[j].bounding_radius;
      if (apart > enough) { /* infinite radii never get here */
        gap = fmin(gap, apart);
        continue;
      }
      ds_placed pa = {&a->shapes[i], mat3_from_quat(qa.q), qa.p}, pb = {&b->shapes[j], mat3_from_quat(qb.q), qb.p};
      gap = fmin(gap, shape_gap(&pa, &pb, enough));
    }
  return gap;
}

static double shape_overlap(const ds_shape *a, ds_pose pa, const ds_shape *b, ds_pose pb) {
  if (a->kind == DS_SHAPE_REDUCED || b->kind == DS_SHAPE_REDUCED) return 0;
  if (a->kind == DS_SHAPE_SOLID || b->kind == DS_SHAPE_SOLID) {
    ds_placed sa = {a, mat3_from_quat(pa.q), pa.p}, sb = {b, mat3_from_quat(pb.q), pb.p};
    return -shape_gap(&sa, &sb, 0);
  }
  ds_manifold m;
  double depth = 0;
  ds_narrow(&m, a, pa, b, pb, 0, 8);
  for (int32_t i = 0; i < m.count; i++) depth = fmax(depth, -m.gap[i]);
  return depth;
}

double ds_body_overlap(const ds_body *a, ds_pose pose_a, const ds_body *b, ds_pose pose_b) {
  double depth = 0;
  for (int32_t i = 0; i < a->shape_count; i++)
    for (int32_t j = 0; j < b->shape_count; j++) {
      ds_pose qa = pose_mul(pose_a, a->shapes[i].pose), qb = pose_mul(pose_b, b->shapes[j].pose);
      if (v3_dist(qa.p, qb.p) < a->shapes[i].bounding_radius + b->shapes[j].bounding_radius)
        depth = fmax(depth, shape_overlap(&a->shapes[i], qa, &b->shapes[j], qb));
    }
  return depth;
}
