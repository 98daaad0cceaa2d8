/* What the files of the narrow phase share: placed shapes, features, segments, closest points, patches.
 *
 * Every pair function appends points with normals from b to a and gaps below the reach. Feature ids of a manifold:
 *   kind 0: vertex of a          kind 1: vertex of b          kind 2: crossing of a loop edge of a and one of b
 *   kind 3: all else (grid points, edge pairs, rims), distinguished by DS_FEATURE_EDGES and small numbers. */
#ifndef DS_DETECT_PAIRS_H
#define DS_DETECT_PAIRS_H

#include "detect/detect.h"

typedef struct ds_placed {
  const ds_shape *shape;
  ds_mat3 r; /* local -> world */
  ds_vec3 p;
} ds_placed;

typedef struct ds_query {
  double reach;
  int32_t per_face; /* contacts per face-face patch, see ds_detect_options */
} ds_query;

#define DS_FEATURE(kind, number) (((uint32_t)(kind) << 30) | ((uint32_t)(number)&0x3fffffffu))
#define DS_FEATURE_EDGES 0x20000000u /* within kind 3: two edges of 14 bits and the end of their overlap */

static inline void ds_emit(ds_manifold *m, ds_vec3 point, ds_vec3 normal, double gap, uint32_t feature) {
  if (m->count >= DS_MANIFOLD_MAX) return;
  int32_t i = m->count++;
  m->point[i] = point;
  m->normal[i] = normal;
  m->gap[i] = gap;
  m->feature[i] = feature;
  m->on_a[i] = m->on_b[i] = (ds_anchor){-1, 0, 0};
}

static inline ds_vec3 ds_placed_point(const ds_placed *s, ds_vec3 x) { return v3_add(s->p, mat3_mul_v3(&s->r, x)); }
static inline ds_vec3 ds_placed_axis(const ds_placed *s) { return v3(s->r.m[2], s->r.m[5], s->r.m[8]); }
/* aᵀb */
static inline ds_mat3 ds_mat3_tmul(const ds_mat3 *a, const ds_mat3 *b) {
  ds_mat3 c;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      c.m[3 * i + j] = a->m[i] * b->m[j] + a->m[3 + i] * b->m[3 + j] + a->m[6 + i] * b->m[6 + j];
  return c;
}
static inline ds_mat3 ds_mat3_transpose(const ds_mat3 *a) {
  return (ds_mat3){{a->m[0], a->m[3], a->m[6], a->m[1], a->m[4], a->m[7], a->m[2], a->m[5], a->m[8]}};
}
static inline double ds_clamp(double x, double low, double high) { return x < low ? low : x > high ? high : x; }

/* --- segments (segment.c) --- */
typedef struct ds_segment {
  ds_vec3 a, b;
} ds_segment;
static inline ds_vec3 ds_segment_at(const ds_segment *s, double t) { return v3_mad(s->a, t, v3_sub(s->b, s->a)); }
/* Parameter in [0, 1] of the point of s nearest to x. */
double ds_segment_nearest(const ds_segment *s, ds_vec3 x);
/* Parameters of the nearest points of two segments; returns their distance. */
double ds_segment_closest(double *s, double *t, const ds_segment *a, const ds_segment *b);
/* The ends of the stretch over which two nearly parallel segments run side by side, seen along n: 0 where they are not
 * parallel (sin >= 0.1) or further apart sideways than `lateral`, else 1 or 2 parameter pairs, ascending along a. The
 * stretch shrinks to the crossing as the angle grows. */
int ds_segment_overlap(double s[2], double t[2], const ds_segment *a, const ds_segment *b, ds_vec3 n, double lateral);
/* Clips a segment to the inside of a face's prism, sides moved out by eps; false if nothing is left. */
bool ds_segment_clip(double *t0, double *t1, const ds_segment *s, const ds_hull *h, int32_t face, double eps);
static inline ds_segment ds_shape_axis(const ds_placed *s) {
  ds_vec3 u = v3_scale(s->shape->half_length, ds_placed_axis(s));
  return (ds_segment){v3_sub(s->p, u), v3_add(s->p, u)};
}
/* The contact of two balls that are the rounded ends of nearest points xa and xb. */
void ds_emit_round(ds_manifold *m, const ds_query *query, ds_vec3 xa, double ra, ds_vec3 xb, double rb,
                   ds_vec3 fallback_normal, uint32_t feature);

/* --- closest points of convex sets (gjk.c) --- */
typedef struct ds_convex {
  const ds_vec3 *points; /* a polytope in its own frame; NULL = `shape`, or a cylinder about its own z */
  int32_t count;
  const ds_shape *shape; /* by its support, less what is round about it; NULL = the cylinder */
  double radius, half_length;
  ds_mat3 r; /* own frame -> common frame */
  ds_vec3 p;
} ds_convex;
typedef struct ds_closest {
  bool overlap; /* the sets meet: nothing else is set */
  bool far;     /* they are farther apart than asked for: nothing else is set */
  double distance;
  ds_vec3 v;     /* nearest point of a minus nearest point of b */
  int32_t count; /* support points that carry them, at most 3 */
  int32_t ia[4], ib[4];
  double weight[4];
  ds_vec3 xa[4], xb[4];
} ds_closest;
void ds_gjk(ds_closest *closest, const ds_convex *a, const ds_convex *b, ds_vec3 direction, double far);

/* --- circles, lines and points (curve.c) --- */
typedef struct ds_curve {
  ds_vec3 c, e1, e2; /* circle: c + radius (cos s e1 + sin s e2); radius 0 = line c + s e1, a point where e1 = 0 */
  double radius;
} ds_curve;
/* Unit direction from the nearest point of b to that of a, searched from points near them. */
ds_vec3 ds_curve_direction(const ds_curve *a, ds_vec3 near_a, const ds_curve *b, ds_vec3 near_b);

/* --- face patches (patch.c) --- */
typedef struct ds_patch {
  const ds_hull *ref; /* NULL = the plane z = 0 without bounds */
  int32_t face;
  const ds_placed *placed; /* of the reference */
  bool ref_is_a;
  const ds_hull *incident;
  ds_mat3 r; /* incident -> reference frame */
  ds_vec3 p;
  double eps; /* points nearer than this are one, m */
} ds_patch;
void ds_patch_build(ds_manifold *m, const ds_query *query, const ds_patch *patch);

/* --- points of two polyhedra along a normal (overlay.c) --- */
typedef struct ds_overlay {
  const ds_hull *ref;
  const ds_placed *placed; /* of the reference */
  bool ref_is_a;
  bool is_face; /* n is the normal of a face of the reference */
  ds_vec3 n;    /* unit, out of the reference, in its frame */
  const ds_hull *incident;
  ds_mat3 r; /* incident -> reference frame */
  ds_vec3 p;
  double eps;  /* points this far outside a face still count as inside, m */
  double near; /* points nearer than this are one, m */
} ds_overlay;
/* Returns whether there is any within the reach. */
bool ds_overlay_build(ds_manifold *m, const ds_query *query, const ds_overlay *overlay);

/* The face most in front of which all of a segment lies, and by how much. */
double ds_hull_face_of_segment(int32_t *face, const ds_hull *h, const ds_segment *s);

/* --- pairs --- */
typedef void ds_pair_function(ds_manifold *m, const ds_query *query, const ds_placed *a, const ds_placed *b);
ds_pair_function ds_pair_sphere_sphere, ds_pair_sphere_capsule, ds_pair_sphere_convex;
ds_pair_function ds_pair_capsule_capsule, ds_pair_capsule_cylinder, ds_pair_capsule_hull;
ds_pair_function ds_pair_cylinder_cylinder, ds_pair_cylinder_hull, ds_pair_hull_hull;
ds_pair_function ds_pair_sphere_half_space, ds_pair_capsule_half_space, ds_pair_cylinder_half_space,
    ds_pair_hull_half_space;
/* Any convex shape against any other, or against a half-space (convex.c). */
ds_pair_function ds_pair_convex, ds_pair_convex_half_space;

/* --- caps and rims of cylinders (cap.c), in a common frame --- */
typedef struct ds_can {
  ds_vec3 c, u; /* centre, axis */
  double radius, half_length;
  ds_vec3 e1, e2; /* body-fixed directions across the axis */
} ds_can;
/* A plane surface n.x = d under a body: a face of a polyhedron, a cap of a cylinder, or, with neither, no bounds. */
typedef struct ds_floor {
  ds_vec3 n;
  double d;
  const ds_hull *hull;
  int32_t face;
  const ds_can *disc; /* its centre is the middle of the cap */
  double eps;         /* points this far outside still count as inside */
} ds_floor;
typedef struct ds_spots {
  int32_t count;
  ds_vec3 x[256]; /* between the surfaces */
  double gap[256];
  uint32_t feature[256]; /* below 2^20 */
} ds_spots;
#define DS_SPOT_RIM_OF_FLOOR 512u /* added to the features of rim points that belong to the floor */
ds_can ds_can_in_frame(const ds_placed *cylinder, const ds_placed *frame);
/* Lowest n.x of a cylinder. */
double ds_can_low(const ds_can *can, ds_vec3 n);
/* The lowest point of the rim at the end where `cap` = -1 or 1, going down along -n; n must not be along the axis. */
ds_vec3 ds_can_rim_low(const ds_can *can, ds_vec3 n, double cap);
/* Points of a cylinder (rims, lowest line) over a floor, and corners of the floor under its cap. */
void ds_can_over_floor(ds_spots *spots, const ds_query *query, const ds_can *can, const ds_floor *floor);
/* Vertices and edges of a polyhedron over a cap, and points of the cap under its faces. */
void ds_hull_over_floor(ds_spots *spots, const ds_query *query, const ds_hull *h, const ds_floor *floor);
/* Turns spots into contacts: frame -> world, features of kind 3. */
void ds_emit_spots(ds_manifold *m, const ds_spots *spots, const ds_placed *frame, ds_vec3 normal);

#endif
