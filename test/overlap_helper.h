/* How deep two convex polyhedra overlap, by the separating-axis theorem over all face normals and all products of
 * edges: nothing of the library's own detection, which a test of it must not use. */
#ifndef DS_TEST_OVERLAP_HELPER_H
#define DS_TEST_OVERLAP_HELPER_H

#include "la/vec3.h"

enum { PRISM_SIDES = 24 };

/* A prism with its axis along z: a plate, a box, a disc. */
typedef struct prism {
  ds_vec3 vertex[2 * PRISM_SIDES], side[PRISM_SIDES], edge[PRISM_SIDES]; /* sides point outwards */
  int32_t sides;
  double thickness; /* along z */
  double radius;    /* of the ball around it */
} prism;

static inline prism prism_of(const ds_vec3 *rim, int32_t sides, double thickness) {
  prism p = {.sides = sides, .thickness = thickness};
  for (int32_t i = 0; i < sides; i++) {
    ds_vec3 x = rim[i], y = rim[(i + 1) % sides];
    p.vertex[2 * i] = v3(x.x, x.y, -0.5 * thickness);
    p.vertex[2 * i + 1] = v3(x.x, x.y, 0.5 * thickness);
    p.edge[i] = v3_unit(v3(y.x - x.x, y.y - x.y, 0));
    p.side[i] = v3(p.edge[i].y, -p.edge[i].x, 0);
    p.radius = fmax(p.radius, v3_norm(p.vertex[2 * i]));
  }
  return p;
}

static inline prism prism_box(double x, double y, double z) {
  ds_vec3 rim[4] = {{-0.5 * x, -0.5 * y, 0}, {0.5 * x, -0.5 * y, 0}, {0.5 * x, 0.5 * y, 0}, {-0.5 * x, 0.5 * y, 0}};
  return prism_of(rim, 4, z);
}

static inline prism prism_regular(int32_t sides, double radius, double thickness) {
  ds_vec3 rim[PRISM_SIDES];
  for (int32_t i = 0; i < sides; i++)
    rim[i] = v3(radius * cos(2 * DS_PI * i / sides), radius * sin(2 * DS_PI * i / sides), 0);
  return prism_of(rim, sides, thickness);
}

/* How far b reaches along n (unit, in a's frame) into a. */
static inline double prism_depth_along(const prism *a, const prism *b, const ds_vec3 *at, ds_vec3 n) {
  double high_a = -INFINITY, low_b = INFINITY, high_b = -INFINITY, low_a = INFINITY;
  for (int32_t i = 0; i < 2 * a->sides; i++) {
    double s = v3_dot(n, a->vertex[i]);
    high_a = fmax(high_a, s), low_a = fmin(low_a, s);
  }
  for (int32_t i = 0; i < 2 * b->sides; i++) {
    double s = v3_dot(n, at[i]);
    high_b = fmax(high_b, s), low_b = fmin(low_b, s);
  }
  return fmin(high_a - low_b, high_b - low_a);
}

/* The least depth over all axes; negative where the two are apart. */
static inline double prism_overlap(const prism *a, ds_pose pose_a, const prism *b, ds_pose pose_b) {
  double least = INFINITY;
  if (v3_dist(pose_a.p, pose_b.p) > a->radius + b->radius) return -INFINITY;
  ds_vec3 at[2 * PRISM_SIDES], side[PRISM_SIDES + 1], edge[PRISM_SIDES + 1];
  for (int32_t i = 0; i < 2 * b->sides; i++) at[i] = pose_unpoint(pose_a, pose_point(pose_b, b->vertex[i]));
  for (int32_t i = 0; i < b->sides; i++) {
    side[i] = quat_unrotate(pose_a.q, quat_rotate(pose_b.q, b->side[i]));
    edge[i] = quat_unrotate(pose_a.q, quat_rotate(pose_b.q, b->edge[i]));
  }
  ds_vec3 z = v3(0, 0, 1), axis = quat_unrotate(pose_a.q, quat_rotate(pose_b.q, z));
  side[b->sides] = edge[b->sides] = axis;
  least = fmin(prism_depth_along(a, b, at, z), prism_depth_along(a, b, at, axis));
  for (int32_t i = 0; i < a->sides && least > 0; i++) least = fmin(least, prism_depth_along(a, b, at, a->side[i]));
  for (int32_t i = 0; i < b->sides && least > 0; i++) least = fmin(least, prism_depth_along(a, b, at, side[i]));
  for (int32_t i = 0; i <= a->sides && least > 0; i++)
    for (int32_t j = 0; j <= b->sides && least > 0; j++) {
      ds_vec3 n = v3_cross(i < a->sides ? a->edge[i] : z, edge[j]);
      if (v3_norm(n) > 1e-9) least = fmin(least, prism_depth_along(a, b, at, v3_unit(n)));
    }
  return least;
}

#endif
