/* Contacts of any two convex shapes, from what every convex kind has: its support, and the part of its surface that
 * meets a plane [shape/shape.h].
 *
 * The normal is the direction of largest separation (shape/separation.c). Seen along it, each shape touches with a
 * corner, a line or a polygon; the contacts are the corners of what both cover, with their heights over each other as
 * gaps. A smooth shape touches at one point: others beside it would hinder it from rolling. The deepest point is always
 * a contact, also where it lies between the corners: on the rim of a tilted cap.
 *
 * Features: kind 0 and 1 corners of a and b, kind 2 crossings of sides, kind 3 the deepest point. */
#include "detect/pairs.h"
#include "shape/separation.h"

static const double one_point = 1e-6; /* of the smaller radius: the deepest point is distinguished from corners */
static const double plain_distance =
    1e-4;                        /* of the smaller radius: from here on the direction is that of the distance */
static const double thin = 1e-9; /* of the smaller radius: crossings this near to a corner are the corner */
enum { DEEPEST = 0, SIDES_MAX = 2 * DS_SHAPE_FACE_MAX };

/* A face of one shape, seen along the normal. */
typedef struct outline {
  int32_t count;
  double u[DS_SHAPE_FACE_MAX], w[DS_SHAPE_FACE_MAX], height[DS_SHAPE_FACE_MAX];
  uint32_t ids[DS_SHAPE_FACE_MAX];
  double slope_u, slope_w; /* of the height, across the face */
} outline;

/* The pair in the frame of b. */
typedef struct pair {
  const ds_placed *a, *b;
  ds_mat3 r; /* a -> b */
  ds_vec3 p;
  ds_vec3 n, t1, t2; /* from b to a */
  double gap, size;
  ds_vec3 on_a, on_b; /* `gap` apart along n */
} pair;

static ds_vec3 in_a(const pair *c, ds_vec3 x) { return mat3_tmul_v3(&c->r, x); }

/* Adds a contact at u, w with the heights of both surfaces. */
static void emit(ds_manifold *m, const ds_query *query, const pair *c, double u, double w, double low, double high,
                 uint32_t feature) {
  if (!(high - low < query->reach)) return;
  ds_vec3 x = v3_add(v3_add(v3_scale(u, c->t1), v3_scale(w, c->t2)), v3_scale(0.5 * (low + high), c->n));
  ds_emit(m, ds_placed_point(c->b, x), mat3_mul_v3(&c->b->r, c->n), high - low, feature);
}

/* ---- the normal ---- */

static bool find_normal(pair *c, const ds_query *query) {
  ds_convex ca = {.shape = c->a->shape, .r = c->r, .p = c->p},
            cb = {.shape = c->b->shape, .r = mat3_from_quat(quat_identity())};
  const ds_shape *a = c->a->shape, *b = c->b->shape;
  double ra = ds_shape_ops_of(a)->rounded ? a->radius : 0, rb = ds_shape_ops_of(b)->rounded ? b->radius : 0;
  ds_closest closest;
  ds_gjk(&closest, &ca, &cb, c->p, query->reach + ra + rb);
  if (closest.far) return false;
  if (!closest.overlap && closest.distance - ra - rb > plain_distance * c->size) {
    c->n = v3_scale(1 / closest.distance, closest.v);
    c->on_a = c->on_b = v3(0, 0, 0);
    for (int i = 0; i < closest.count; i++) {
      c->on_a = v3_mad(c->on_a, closest.weight[i], closest.xa[i]);
      c->on_b = v3_mad(c->on_b, closest.weight[i], closest.xb[i]);
    }
    c->on_a = v3_mad(c->on_a, -ra, c->n);
    c->on_b = v3_mad(c->on_b, rb, c->n);
    c->gap = closest.distance - ra - rb;
  } else {
    c->gap = ds_shape_separation(&c->n, &c->on_a, &c->on_b, a, &c->r, c->p, b, query->reach);
  }
  return c->gap < query->reach;
}

/* ---- what each shape touches with ---- */

static outline outline_of(const pair *c, const ds_query *query, bool of_a) {
  ds_shape_face face;
  outline o;
  if (of_a)
    ds_shape_get_face(&face, c->a->shape, in_a(c, v3_neg(c->n)), query->per_face);
  else
    ds_shape_get_face(&face, c->b->shape, c->n, query->per_face);
  o.count = face.count;
  o.slope_u = o.slope_w = 0;
  for (int32_t i = 0; i < face.count; i++) {
    ds_vec3 x = of_a ? v3_add(c->p, mat3_mul_v3(&c->r, face.points[i])) : face.points[i];
    o.u[i] = v3_dot(c->t1, x), o.w[i] = v3_dot(c->t2, x), o.height[i] = v3_dot(c->n, x);
    o.ids[i] = face.ids[i] & 0xfff;
  }
  /* the plane of a polygon, from its area (Newell) */
  ds_vec3 area = v3(0, 0, 0);
  for (int32_t i = 0; i < o.count && o.count > 2; i++) {
    int32_t k = (i + 1) % o.count;
    area.x += (o.w[i] - o.w[k]) * (o.height[i] + o.height[k]);
    area.y += (o.height[i] - o.height[k]) * (o.u[i] + o.u[k]);
    area.z += (o.u[i] - o.u[k]) * (o.w[i] + o.w[k]);
  }
  if (o.count > 2 && area.z != 0) o.slope_u = -area.x / area.z, o.slope_w = -area.y / area.z;
  return o;
}

static double height_at(const outline *o, double u, double w) {
  return o->height[0] + o->slope_u * (u - o->u[0]) + o->slope_w * (w - o->w[0]);
}

/* Twice the area of the triangle of two corners and a point: more than 0 to the left of the side. */
static double turn(const outline *o, int32_t i, int32_t k, double u, double w) {
  return (o->u[k] - o->u[i]) * (w - o->w[i]) - (o->w[k] - o->w[i]) * (u - o->u[i]);
}

/* Whether a polygon, run through either way round, covers a point, or is less than eps beside it. */
static bool covers(const outline *o, double u, double w, double eps) {
  int sign = 0;
  for (int32_t i = 0; i < o->count; i++) {
    int32_t k = (i + 1) % o->count;
    double beside = turn(o, i, k, u, w) / fmax(hypot(o->u[k] - o->u[i], o->w[k] - o->w[i]), 1e-300);
    int side = beside > eps ? 1 : beside < -eps ? -1 : 0;
    if (side != 0 && sign != 0 && side != sign) return false;
    if (side != 0) sign = side;
  }
  return true;
}

/* Corners of one outline that the other covers. */
static void add_corners(ds_manifold *m, const ds_query *query, const pair *c, const outline *of, const outline *on,
                        bool of_a) {
  for (int32_t i = 0; i < of->count; i++) {
    if (!covers(on, of->u[i], of->w[i], thin * c->size)) continue;
    double other = height_at(on, of->u[i], of->w[i]);
    emit(m, query, c, of->u[i], of->w[i], of_a ? other : of->height[i], of_a ? of->height[i] : other,
         DS_FEATURE(of_a ? 0 : 1, of->ids[i]));
  }
}

/* Crossings of the sides of both. */
static void add_crossings(ds_manifold *m, const ds_query *query, const pair *c, const outline *a, const outline *b) {
  int32_t na = a->count == 2 ? 1 : a->count, nb = b->count == 2 ? 1 : b->count;
  for (int32_t i = 0; i < na; i++)
    for (int32_t j = 0; j < nb; j++) {
      int32_t i1 = (i + 1) % a->count, j1 = (j + 1) % b->count;
      double p = turn(b, j, j1, a->u[i], a->w[i]), q = turn(b, j, j1, a->u[i1], a->w[i1]);
      double r = turn(a, i, i1, b->u[j], b->w[j]), s = turn(a, i, i1, b->u[j1], b->w[j1]);
      double la = hypot(a->u[i1] - a->u[i], a->w[i1] - a->w[i]), lb = hypot(b->u[j1] - b->u[j], b->w[j1] - b->w[j]);
      if (!(p * q < 0 && r * s < 0)) continue;
      /* where an end lies on the other side it is a corner already */
      if (fmin(fabs(p), fabs(q)) <= thin * c->size * lb || fmin(fabs(r), fabs(s)) <= thin * c->size * la) continue;
      double t = p / (p - q), v = r / (r - s);
      double u = a->u[i] + t * (a->u[i1] - a->u[i]), w = a->w[i] + t * (a->w[i1] - a->w[i]);
      emit(m, query, c, u, w, b->height[j] + v * (b->height[j1] - b->height[j]),
           a->height[i] + t * (a->height[i1] - a->height[i]), DS_FEATURE(2, a->ids[i] << 12 | b->ids[j]));
    }
}

/* The stretch of two lines that run side by side. */
static void add_lines(ds_manifold *m, const ds_query *query, const pair *c, const outline *a, const outline *b) {
  ds_segment sa = {v3(a->u[0], a->w[0], 0), v3(a->u[1], a->w[1], 0)},
             sb = {v3(b->u[0], b->w[0], 0), v3(b->u[1], b->w[1], 0)};
  double s[2], t[2];
  int count = ds_segment_overlap(s, t, &sa, &sb, v3(0, 0, 1), 0.01 * c->size);
  for (int i = 0; i < count; i++) {
    ds_vec3 x = v3_scale(0.5, v3_add(ds_segment_at(&sa, s[i]), ds_segment_at(&sb, t[i])));
    emit(m, query, c, x.x, x.y, b->height[0] + t[i] * (b->height[1] - b->height[0]),
         a->height[0] + s[i] * (a->height[1] - a->height[0]), DS_FEATURE(2, 0x800000 | i));
  }
}

/* The deepest point, where no other contact is as deep. */
static void add_deepest(ds_manifold *m, const ds_query *query, const pair *c) {
  double least = INFINITY;
  for (int32_t i = 0; i < m->count; i++) least = fmin(least, m->gap[i]);
  if (least <= c->gap + one_point * c->size) return;
  ds_vec3 x = v3_scale(0.5, v3_add(c->on_a, c->on_b));
  double at = v3_dot(c->n, x);
  emit(m, query, c, v3_dot(c->t1, x), v3_dot(c->t2, x), at - 0.5 * c->gap, at + 0.5 * c->gap, DS_FEATURE(3, DEEPEST));
}

void ds_pair_convex(ds_manifold *m, const ds_query *query, const ds_placed *a, const ds_placed *b) {
  pair c = {.a = a, .b = b, .size = fmin(a->shape->bounding_radius, b->shape->bounding_radius)};
  c.r = ds_mat3_tmul(&b->r, &a->r);
  c.p = mat3_tmul_v3(&b->r, v3_sub(a->p, b->p));
  if (!find_normal(&c, query)) return;
  v3_tangents(&c.t1, &c.t2, c.n);
  if (ds_shape_ops_of(a->shape)->smooth || ds_shape_ops_of(b->shape)->smooth) {
    add_deepest(m, query, &c);
    return;
  }
  outline oa = outline_of(&c, query, true), ob = outline_of(&c, query, false);
  if (oa.count == 2 && ob.count == 2) {
    add_lines(m, query, &c, &oa, &ob);
  } else if (oa.count > 1 && ob.count > 1) {
    if (ob.count > 2) add_corners(m, query, &c, &oa, &ob, true);
    if (oa.count > 2) add_corners(m, query, &c, &ob, &oa, false);
    add_crossings(m, query, &c, &oa, &ob);
  }
  add_deepest(m, query, &c);
}

void ds_pair_convex_half_space(ds_manifold *m, const ds_query *query, const ds_placed *a, const ds_placed *b) {
  pair c = {.a = a, .b = b, .size = a->shape->bounding_radius, .n = v3(0, 0, 1), .t1 = v3(1, 0, 0), .t2 = v3(0, 1, 0)};
  c.r = ds_mat3_tmul(&b->r, &a->r);
  c.p = mat3_tmul_v3(&b->r, v3_sub(a->p, b->p));
  ds_vec3 low = v3_add(c.p, mat3_mul_v3(&c.r, ds_shape_support(a->shape, in_a(&c, v3(0, 0, -1)))));
  c.gap = low.z;
  c.on_a = low;
  c.on_b = v3(low.x, low.y, 0);
  if (!(c.gap < query->reach)) return;
  outline o = outline_of(&c, query, true);
  for (int32_t i = 0; i < o.count; i++) emit(m, query, &c, o.u[i], o.w[i], 0, o.height[i], DS_FEATURE(0, o.ids[i]));
  add_deepest(m, query, &c);
}
