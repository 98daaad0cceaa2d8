/* Two plane polygons that face each other, of any form, with holes: the points where their bodies touch.
 *
 * One of them is the reference: the other is projected into its plane along its normal, and gaps are heights over it.
 * Where they lie over each other is a common polygon, whose corners are corners of either in the other and crossings of
 * sides. Gaps are linear over it, so the corners of its convex hull hold all of it. As in patch.c decisions have a
 * tolerance and a fixed priority, so that ties (a cube flush on a cube) do not flicker.
 *
 * Reference: the one that the lowest point of the other lies in; where both or neither do, the larger one. Where the
 * lowest point is a crossing of sides and the faces are not nearly parallel, two edges touch, and the normal is square
 * to both.
 *
 * A strip that is narrow (compared with the faces, or with the depth of the overlap) is no face contact: sides that
 * stand flush behind each other look like one. Deeper overlaps must be confirmed by the distance functions of both
 * bodies at a point inside: the far sides of two overlapping thin plates face each other as well. */
#include <stdlib.h>

#include "detect/faces.h"

static const double on_face = 0.9986295347545738; /* cos 3 degrees: an edge lies in a face */
static const double crossing = 0.1;               /* sine from which on two edges cross */
static const double narrow = 0.01;                /* of the faces' width: no common polygon is narrower */
static const double deepest = 0.5;                /* of the common polygon's width */
static const double edge_depth = 0.2;             /* of their overlap: how deep its middle lies in both at least */
static const double tie = 0.05;                   /* of the faces' slope over their width: heights that are equal */
enum { CORNERS = 8, GRID_MAX = 64 };

typedef enum spot_kind { OF_INCIDENT, OF_REFERENCE, OF_BOTH } spot_kind;

typedef struct spot {
  double u, w, gap;
  uint32_t feature;
  spot_kind kind;
  int32_t side[2]; /* OF_BOTH: of the incident, of the reference */
} spot;

typedef struct outline { /* a polygon in the plane of the reference */
  int32_t count;
  const ds_side *sides; /* next is counted from `first` */
  int32_t first;
  double *u, *w, *gap;
  double *du, *dw, *length; /* of the sides: unit directions */
  double low[2], high[2];
  double left; /* +1 where the inside is to the left of its sides */
} outline;

typedef struct tally { /* how the corners of one polygon lie to the other */
  int32_t in, out;
} tally;

typedef struct region {
  ds_arena *arena;
  const ds_face_query *query;
  const ds_placed_face *ref, *inc;
  outline r, i;
  double cosine; /* of the angle between the faces, 1 where they are parallel */
  spot *spots;
  int32_t count, capacity;
  tally of_inc, of_ref;
  bool crossings;
  bool ties;
  double area, around, longest; /* of the common polygon; its longest piece of border */
  double *ends;                 /* u, w of both ends of all pieces of border */
  int32_t end_count, end_capacity;
  double mid[2], inward[2]; /* middle of that piece, and which way the inside is */
} region;

static int32_t next_of(const outline *p, int32_t i) { return p->sides[i].next - p->first; }

/* ---- points and polygons ---- */

/* 1 inside, -1 outside, 0 nearer than eps to the border. */
static int where(const outline *p, double u, double w, double eps) {
  bool in = false;
  if (p->count == 0) return 1;
  if (u < p->low[0] - eps || u > p->high[0] + eps || w < p->low[1] - eps || w > p->high[1] + eps) return -1;
  for (int32_t i = 0; i < p->count; i++) {
    int32_t j = next_of(p, i);
    double x = u - p->u[i], y = w - p->w[i], across = p->du[i] * y - p->dw[i] * x;
    if (fabs(across) < eps) {
      double t = p->du[i] * x + p->dw[i] * y, past = t < 0 ? -t : t > p->length[i] ? t - p->length[i] : 0;
      if (across * across + past * past < eps * eps) return 0;
    }
    if ((y < 0) != (p->w[j] > w) && (across > 0) == (p->dw[i] > 0)) in = !in;
  }
  return in ? 1 : -1;
}

/* How far a point lies to the left of the line of a side. */
static double left_of(const outline *p, int32_t i, double u, double w) {
  return p->du[i] * (w - p->w[i]) - p->dw[i] * (u - p->u[i]);
}

static bool load(ds_arena *arena, outline *p, const ds_placed_face *f, const ds_placed_face *ref, double left) {
  int32_t n = f->count;
  *p = (outline){.count = n, .sides = f->sides, .first = f->face->first, .left = left};
  p->low[0] = p->low[1] = INFINITY, p->high[0] = p->high[1] = -INFINITY;
  p->u = DS_NEW(arena, double, 6 * n + 1);
  if (!p->u) return false;
  p->w = p->u + n, p->gap = p->w + n, p->du = p->gap + n, p->dw = p->du + n, p->length = p->dw + n;
  for (int32_t i = 0; i < n; i++) {
    double u = p->u[i] = v3_dot(f->points[i], ref->t1), w = p->w[i] = v3_dot(f->points[i], ref->t2);
    p->gap[i] = v3_dot(f->points[i], ref->n) - ref->d;
    p->low[0] = u < p->low[0] ? u : p->low[0], p->high[0] = u > p->high[0] ? u : p->high[0];
    p->low[1] = w < p->low[1] ? w : p->low[1], p->high[1] = w > p->high[1] ? w : p->high[1];
  }
  return true;
}

static void load_sides(outline *p) {
  for (int32_t i = 0; i < p->count; i++) {
    int32_t j = next_of(p, i);
    double du = p->u[j] - p->u[i], dw = p->w[j] - p->w[i], l = sqrt(du * du + dw * dw), s = l > 0 ? 1 / l : 0;
    p->du[i] = s * du, p->dw[i] = s * dw, p->length[i] = l;
  }
}

/* Whether the part of p that is lower than `top` lies outside the bounds of q. */
static bool are_apart(const outline *p, const outline *q, double top, double eps) {
  double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
  if (p->count == 0 || q->count == 0) return false;
  for (int32_t i = 0; i < p->count; i++) {
    int32_t j = next_of(p, i);
    double t = 1, u = p->u[i], w = p->w[i];
    if (p->gap[i] >= top) { /* where the side comes down to it */
      if (p->gap[j] >= top) continue;
      t = (top - p->gap[i]) / (p->gap[j] - p->gap[i]);
      u += t * (p->u[j] - u), w += t * (p->w[j] - w);
    }
    low[0] = u < low[0] ? u : low[0], high[0] = u > high[0] ? u : high[0];
    low[1] = w < low[1] ? w : low[1], high[1] = w > high[1] ? w : high[1];
    if (t < 1 || p->gap[j] < top) continue;
    t = (top - p->gap[i]) / (p->gap[j] - p->gap[i]);
    u += t * (p->u[j] - u), w += t * (p->w[j] - w);
    low[0] = u < low[0] ? u : low[0], high[0] = u > high[0] ? u : high[0];
    low[1] = w < low[1] ? w : low[1], high[1] = w > high[1] ? w : high[1];
  }
  return low[0] > q->high[0] + eps || q->low[0] > high[0] + eps || low[1] > q->high[1] + eps ||
         q->low[1] > high[1] + eps;
}

/* Height of the incident plane over a point of the reference's. */
static double height(const region *g, double u, double w) {
  const ds_placed_face *ref = g->ref, *inc = g->inc;
  ds_vec3 x = v3_mad(v3_mad(v3_scale(ref->d, ref->n), u, ref->t1), w, ref->t2);
  return (inc->d - v3_dot(inc->n, x)) / v3_dot(inc->n, ref->n);
}

/* ---- what can touch ---- */

static ds_segment segment_of(const ds_placed_face *f, int32_t side) {
  return (ds_segment){f->points[side], f->points[f->sides[side].next - f->face->first]};
}

/* A direction of the frame of a in the frame of the face's shape. */
static ds_vec3 to_shape(const region *g, const ds_placed_face *f, ds_vec3 x) {
  return f->of_a ? x : mat3_tmul_v3(&g->query->b->r, mat3_mul_v3(&g->query->a->r, x));
}

/* Whether a corner touches what lies below it: no edge goes down from there. */
static bool corner_touches(const region *g, const ds_placed_face *f, int32_t side, ds_vec3 up) {
  return ds_corner_is_lowest(f->faces, f->sides[side].vertex, to_shape(g, f, up));
}

/* Whether an edge touches what lies below it: it is convex, and down is between the normals of its two faces. */
static bool edge_touches(const region *g, const ds_placed_face *f, int32_t side, ds_vec3 up) {
  const ds_side *s = &f->sides[side];
  ds_vec3 down = to_shape(g, f, v3_neg(up)), n = f->face->normal, axis = v3_cross(n, s->across);
  double turn = v3_norm(axis);
  if (!s->convex) return false;
  if (turn < DS_BELOW) return v3_dot(down, n) > 1 - DS_BELOW;
  return v3_dot(v3_cross(n, down), axis) >= -DS_BELOW * turn &&
         v3_dot(v3_cross(down, s->across), axis) >= -DS_BELOW * turn && v3_dot(down, v3_add(n, s->across)) > 0;
}

/* The normal of two edges that cross, out of the reference; false if they are nearly parallel. */
static bool edge_normal(ds_vec3 *n, const region *g, const spot *s) {
  ds_segment i = segment_of(g->inc, s->side[0]), r = segment_of(g->ref, s->side[1]);
  *n = v3_cross(v3_unit(v3_sub(i.b, i.a)), v3_unit(v3_sub(r.b, r.a)));
  if (v3_norm(*n) < crossing) return false;
  *n = v3_unit(v3_dot(*n, g->ref->n) < 0 ? v3_neg(*n) : *n);
  return true;
}

/* Faces that are not parallel touch with a corner or an edge; `up` of the spot's own kind of contact. */
static bool can_touch(const region *g, const spot *s) {
  ds_vec3 n;
  switch (s->kind) {
    case OF_INCIDENT:
      return corner_touches(g, g->inc, s->side[0], g->ref->n);
    case OF_REFERENCE:
      return corner_touches(g, g->ref, s->side[1], g->inc->n);
    case OF_BOTH:
      return edge_normal(&n, g, s) && edge_touches(g, g->inc, s->side[0], n) &&
             edge_touches(g, g->ref, s->side[1], v3_neg(n));
  }
  return false;
}

/* ---- corners of the common polygon ---- */

static uint32_t corner_feature(const ds_placed_face *of, int32_t side, const ds_placed_face *on) {
  uint32_t corner = (uint32_t)of->sides[side].vertex & 0x7fffu, face = (uint32_t)on->number & 0x3fffu;
  return DS_FEATURE(of->of_a ? 0 : 1, DS_FEATURE_CORNER | corner << 14 | face);
}

static uint32_t crossing_feature(const region *g, int32_t inc, int32_t ref) {
  uint32_t i = (uint32_t)(g->inc->face->first + inc) & 0x7fffu, r = (uint32_t)(g->ref->face->first + ref) & 0x7fffu;
  return DS_FEATURE(2, g->ref->of_a ? r << 15 | i : i << 15 | r);
}

/* Of faces that are not parallel only what can touch, and is in reach. */
static bool is_wanted(const region *g, const spot *s) {
  if (g->cosine >= DS_PARALLEL) return true;
  if (s->gap >= g->query->reach) return false;
  return (s->kind == OF_BOTH && edge_touches(g, g->inc, s->side[0], g->ref->n)) || can_touch(g, s);
}

static void add_spot(region *g, spot s) {
  if (g->count < g->capacity && is_wanted(g, &s)) g->spots[g->count++] = s;
}

/* A corner of one polygon, where it lies in the other. */
static void add_corner(region *g, tally *t, const outline *other, spot s) {
  if (g->cosine < DS_PARALLEL && s.gap >= g->query->reach) return;
  int at = where(other, s.u, s.w, g->query->eps);
  t->in += at > 0, t->out += at < 0, g->ties |= at == 0;
  if (at >= 0) add_spot(g, s);
}

static void add_crossings(region *g, int32_t i) {
  const outline *p = &g->i, *q = &g->r;
  double eps = g->query->eps;
  int32_t i1 = next_of(p, i);
  double low_u = fmin(p->u[i], p->u[i1]), high_u = fmax(p->u[i], p->u[i1]);
  double low_w = fmin(p->w[i], p->w[i1]), high_w = fmax(p->w[i], p->w[i1]), reach = g->query->reach;
  if (low_u > q->high[0] || high_u < q->low[0] || low_w > q->high[1] || high_w < q->low[1]) return;
  if (g->cosine < DS_PARALLEL && p->gap[i] >= reach && p->gap[i1] >= reach) return;
  for (int32_t j = 0; j < q->count; j++) {
    int32_t j1 = next_of(q, j);
    if ((q->u[j] < low_u && q->u[j1] < low_u) || (q->u[j] > high_u && q->u[j1] > high_u) ||
        (q->w[j] < low_w && q->w[j1] < low_w) || (q->w[j] > high_w && q->w[j1] > high_w))
      continue;
    double d0 = left_of(q, j, p->u[i], p->w[i]), d1 = left_of(q, j, p->u[i1], p->w[i1]);
    if (!((d0 > eps && d1 < -eps) || (d0 < -eps && d1 > eps))) continue;
    double e0 = left_of(p, i, q->u[j], q->w[j]), e1 = left_of(p, i, q->u[j1], q->w[j1]);
    if (!((e0 > eps && e1 < -eps) || (e0 < -eps && e1 > eps))) continue;
    double t = d0 / (d0 - d1);
    g->crossings = true;
    add_spot(g, (spot){p->u[i] + t * (p->u[i1] - p->u[i]),
                       p->w[i] + t * (p->w[i1] - p->w[i]),
                       p->gap[i] + t * (p->gap[i1] - p->gap[i]),
                       crossing_feature(g, i, j),
                       OF_BOTH,
                       {i, j}});
  }
}

/* Of faces that are not parallel only what is in reach counts: the lower part of the incident one. */
static double top_of(const region *g) {
  double error = g->query->eps + g->inc->face->deviation;
  return g->cosine < DS_PARALLEL ? g->query->reach + error / g->cosine : INFINITY;
}

static bool find_spots(region *g) {
  outline *p = &g->i, *q = &g->r;
  if (are_apart(p, q, top_of(g), g->query->eps)) return true;
  load_sides(p);
  load_sides(q);
  g->capacity = 5 * (p->count + q->count) + 16;
  g->spots = DS_NEW(g->arena, spot, g->capacity);
  if (!g->spots) return false;
  for (int32_t i = 0; i < p->count; i++) {
    spot s = {p->u[i], p->w[i], p->gap[i], corner_feature(g->inc, i, g->ref), OF_INCIDENT, {i, -1}};
    add_corner(g, &g->of_inc, q, s);
  }
  for (int32_t j = 0; j < q->count; j++) {
    double gap = height(g, q->u[j], q->w[j]);
    spot s = {q->u[j], q->w[j], gap, corner_feature(g->ref, j, g->inc), OF_REFERENCE, {-1, j}};
    add_corner(g, &g->of_ref, p, s);
  }
  for (int32_t i = 0; i < p->count && q->count > 0; i++) add_crossings(g, i);
  return true;
}

/* ---- how wide it is ---- */

/* Where a side of p may enter or leave q, as distances along it; ascending, both its ends among them. */
static int32_t cut_side(double *cuts, const outline *p, int32_t i, const outline *q, double eps) {
  int32_t count = 2;
  double du = p->du[i], dw = p->dw[i], l = p->length[i];
  cuts[0] = 0, cuts[1] = l;
  for (int32_t j = 0; j < q->count; j++) {
    int32_t j1 = next_of(q, j);
    double e0 = left_of(p, i, q->u[j], q->w[j]), e1 = left_of(p, i, q->u[j1], q->w[j1]), t = -1;
    if (fabs(e0) <= eps)
      t = (q->u[j] - p->u[i]) * du + (q->w[j] - p->w[i]) * dw;
    else if ((e0 > 0) != (e1 > 0)) {
      double s = e0 / (e0 - e1), u = q->u[j] + s * (q->u[j1] - q->u[j]), w = q->w[j] + s * (q->w[j1] - q->w[j]);
      t = (u - p->u[i]) * du + (w - p->w[i]) * dw;
    }
    if (!(t > 0 && t < l)) continue;
    int32_t k = count++;
    for (; cuts[k - 1] > t; k--) cuts[k] = cuts[k - 1];
    cuts[k] = t;
  }
  return count;
}

/* Adds the pieces of p's border just inside of which q lies too; with q NULL, all of it. What both have in common
 * counts for the reference. area = 1/2 sum (x - origin).outward length */
static void add_border(region *g, double *cuts, const outline *p, const outline *q) {
  double eps = g->query->eps, origin[2] = {g->i.u[0], g->i.w[0]};
  for (int32_t i = 0; i < p->count; i++) {
    int32_t n = 2;
    cuts[0] = 0, cuts[1] = p->length[i];
    if (q) n = cut_side(cuts, p, i, q, eps);
    double in_u = -p->left * p->dw[i], in_w = p->left * p->du[i];
    for (int32_t k = 0; k + 1 < n; k++) {
      double t = 0.5 * (cuts[k] + cuts[k + 1]), length = cuts[k + 1] - cuts[k];
      double u = p->u[i] + t * p->du[i], w = p->w[i] + t * p->dw[i];
      if (!(length > eps) || (q && where(q, u + 2 * eps * in_u, w + 2 * eps * in_w, 0) < 0)) continue;
      if (q == &g->r && where(q, u, w, eps) == 0) continue;
      for (int e = 0; e < 2 && g->end_count < g->end_capacity; e++, g->end_count++) {
        g->ends[2 * g->end_count] = p->u[i] + cuts[k + e] * p->du[i];
        g->ends[2 * g->end_count + 1] = p->w[i] + cuts[k + e] * p->dw[i];
      }
      g->around += length;
      g->area -= 0.5 * length * ((u - origin[0]) * in_u + (w - origin[1]) * in_w);
      if (!(length > g->longest * (1 + 1e-9))) continue;
      g->longest = length;
      g->mid[0] = u, g->mid[1] = w;
      g->inward[0] = in_u, g->inward[1] = in_w;
    }
  }
}

/* A point within the common polygon, or near its border. */
static void point_within(double *u, double *w, const region *g, double width) {
  *u = g->mid[0] + 0.5 * width * g->inward[0];
  *w = g->mid[1] + 0.5 * width * g->inward[1];
}

static double width_of(const region *g) { return g->around > 0 ? fmax(0, 2 * g->area / g->around) : 0; }

/* Whether one face lies over the other with all of it, by its corners; then that is the common polygon. */
static bool measure_whole(region *g, double *cuts) {
  bool all = !g->crossings && g->of_inc.out == 0 && g->of_ref.in == 0;
  if (g->cosine < DS_PARALLEL && g->r.count > 0) return false; /* not all corners were tested */
  if (g->r.count > 0 && !all && (g->crossings || g->of_ref.out > 0 || g->of_inc.in > 0)) return false;
  add_border(g, cuts, g->r.count == 0 || all ? &g->i : &g->r, NULL);
  double u, w;
  point_within(&u, &w, g, width_of(g));
  /* corners on the border say nothing: it may fill a notch */
  return where(&g->r, u, w, 0) > 0 && where(&g->i, u, w, 0) > 0;
}

/* The width of the common polygon, 0 if it has none. */
static double measure(region *g) {
  int32_t n = g->i.count + g->r.count;
  double *cuts = DS_NEW(g->arena, double, n + 2);
  g->end_capacity = 0;
  g->ends = DS_NEW(g->arena, double, 8 * n + 1);
  if (!cuts || !g->ends) return 0;
  if (measure_whole(g, cuts)) return width_of(g);
  g->area = g->around = g->longest = 0;
  g->end_capacity = 4 * n;
  add_border(g, cuts, &g->r, &g->i);
  add_border(g, cuts, &g->i, &g->r);
  return width_of(g);
}

/* Corners that lie on the other's border may touch it from outside: those of the common polygon stay. */
static void drop_ties(region *g) {
  int32_t kept = 0;
  double near = 4 * g->query->eps;
  if (!g->ties || g->end_capacity == 0 || g->end_count == g->end_capacity) return;
  for (int32_t i = 0; i < g->count; i++) {
    const spot *s = &g->spots[i];
    bool end = false;
    for (int32_t k = 0; k < g->end_count && !end; k++)
      end = fabs(g->ends[2 * k] - s->u) < near && fabs(g->ends[2 * k + 1] - s->w) < near;
    if (end) g->spots[kept++] = *s;
  }
  g->count = kept;
}

/* ---- few of them ---- */

/* Sorts by feature, and drops what repeats a feature or a place. */
static void order_spots(region *g) {
  spot *s = g->spots;
  double near = 2 * g->query->eps;
  int32_t kept = 0;
  for (int32_t i = 1; i < g->count; i++) {
    spot x = s[i];
    int32_t j = i;
    for (; j > 0 && s[j - 1].feature > x.feature; j--) s[j] = s[j - 1];
    s[j] = x;
  }
  for (int32_t i = 0; i < g->count; i++) {
    bool again = false;
    for (int32_t k = 0; k < kept && !again; k++)
      again = s[k].feature == s[i].feature || (fabs(s[k].u - s[i].u) < near && fabs(s[k].w - s[i].w) < near);
    if (!again) s[kept++] = s[i];
  }
  g->count = kept;
}

static double turn(const spot *a, const spot *b, const spot *c) {
  double du = c->u - a->u, dw = c->w - a->w, l = sqrt(du * du + dw * dw);
  return l > 0 ? ((b->u - a->u) * dw - (b->w - a->w) * du) / l : 0; /* b to the right of a c */
}

/* Corners of the convex hull of the first `count` spots (Andrew 1979), as indices; points nearer than eps to the line
 * of their neighbours are left out. Returns how many. */
static int32_t find_hull(int32_t *hull, int32_t *order, const region *g, int32_t count) {
  const spot *s = g->spots;
  double eps = g->query->eps;
  int32_t n = 0;
  for (int32_t i = 0; i < count; i++) {
    int32_t j = i;
    for (; j > 0 && (s[order[j - 1]].u > s[i].u || (s[order[j - 1]].u == s[i].u && s[order[j - 1]].w > s[i].w)); j--)
      order[j] = order[j - 1];
    order[j] = i;
  }
  for (int pass = 0; pass < 2; pass++) {
    int32_t base = n;
    for (int32_t k = 0; k < count; k++) {
      int32_t i = order[pass == 0 ? k : count - 1 - k];
      while (n - base >= 2 && turn(&s[hull[n - 2]], &s[hull[n - 1]], &s[i]) <= eps) n--;
      if (n == 0 || hull[n - 1] != i) hull[n++] = i;
    }
    if (pass == 0 && n > 1) n--; /* the last is the first of the way back */
  }
  if (n > 1 && hull[n - 1] == hull[0]) n--;
  return n;
}

/* Moves the hull's corners to the front, in order of their features. */
static int32_t keep_hull(region *g, const int32_t *hull, int32_t n, bool *marks) {
  int32_t kept = 0;
  for (int32_t i = 0; i < g->count; i++) marks[i] = false;
  for (int32_t i = 0; i < n; i++) marks[hull[i]] = true;
  for (int32_t i = 0; i < g->count; i++)
    if (marks[i]) g->spots[kept++] = g->spots[i];
  return kept;
}

/* Down to `limit`: the lowest first, then always the one farthest from those kept, lower ones first (as patch.c). */
static void thin_out(region *g, double *far, bool *taken, int32_t limit) {
  spot *s = g->spots;
  double least = INFINITY;
  int32_t last = 0, kept = 0;
  for (int32_t i = 0; i < g->count; i++) least = fmin(least, s[i].gap), far[i] = INFINITY, taken[i] = false;
  while (s[last].gap > least + g->query->eps) last++;
  for (int32_t n = 1;; n++) {
    double best = -INFINITY;
    int32_t next = -1;
    taken[last] = true;
    if (n == limit) break;
    for (int32_t i = 0; i < g->count; i++) {
      far[i] = fmin(far[i], hypot(s[i].u - s[last].u, s[i].w - s[last].w));
      double worth = far[i] - 2 * (s[i].gap - least);
      if (!taken[i] && (next < 0 || worth > best + 1e-6 * fabs(best))) best = worth, next = i;
    }
    last = next;
  }
  for (int32_t i = 0; i < g->count; i++)
    if (taken[i]) s[kept++] = s[i];
  g->count = kept;
}

/* ---- what comes out ---- */

static ds_vec3 normal_of(const region *g) { return g->ref->of_a ? v3_neg(g->ref->n) : g->ref->n; }

static ds_vec3 place(const region *g, double u, double w, double gap) {
  const ds_placed_face *ref = g->ref;
  return v3_mad(v3_mad(v3_scale(ref->d + gap, ref->n), u, ref->t1), w, ref->t2);
}

static bool keep_patch(ds_face_contacts *out, region *g, const int32_t *hull, int32_t n) {
  if (out->patch_count == out->patch_capacity) {
    int32_t capacity = 2 * out->patch_capacity + 16;
    ds_face_patch *patches = DS_NEW(g->arena, ds_face_patch, capacity);
    if (!patches) return false;
    for (int32_t i = 0; i < out->patch_count; i++) patches[i] = out->patches[i];
    out->patches = patches;
    out->patch_capacity = capacity;
  }
  double *u = DS_NEW(g->arena, double, 2 * n + 1);
  if (!u) return false;
  for (int32_t i = 0; i < n; i++) u[i] = g->spots[hull[i]].u, u[n + i] = g->spots[hull[i]].w;
  double slope = 1 / v3_dot(g->inc->n, g->ref->n);
  out->patches[out->patch_count++] = (ds_face_patch){
      .normal = normal_of(g),
      .t1 = g->ref->t1,
      .t2 = g->ref->t2,
      .d = v3_dot(normal_of(g), v3_scale(g->ref->d, g->ref->n)),
      .gap = height(g, 0, 0),
      .gap_u = -slope * v3_dot(g->inc->n, g->ref->t1),
      .gap_w = -slope * v3_dot(g->inc->n, g->ref->t2),
      .face = {g->ref->of_a ? g->ref->number : g->inc->number, g->ref->of_a ? g->inc->number : g->ref->number},
      .error = g->inc->face->deviation + g->ref->face->deviation,
      .count = n,
      .u = u,
      .w = u + n,
  };
  return true;
}

/* Points inside, on a grid along the axes of a's face, if more than the corners are requested. */
static void add_grid(ds_face_contacts *out, region *g, int32_t wanted) {
  const ds_face_patch *patch = &out->patches[out->patch_count - 1];
  double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
  ds_vec3 along = g->ref->of_a ? g->ref->t1 : g->inc->t1;
  double au = v3_dot(along, g->ref->t1), aw = v3_dot(along, g->ref->t2), l = hypot(au, aw);
  if (wanted < 1 || patch->count < 3 || !(l > 0.5)) return;
  au /= l, aw /= l;
  for (int32_t i = 0; i < patch->count; i++) {
    double x = au * patch->u[i] + aw * patch->w[i], y = au * patch->w[i] - aw * patch->u[i];
    low[0] = fmin(low[0], x), low[1] = fmin(low[1], y);
    high[0] = fmax(high[0], x), high[1] = fmax(high[1], y);
  }
  /* a polygon fills only part of its bounds: correspondingly more cells are used */
  double span[2] = {high[0] - low[0], high[1] - low[1]}, cells = wanted * fmax(1, span[0] * span[1] / g->area);
  int32_t nx = (int32_t)fmin(GRID_MAX, fmax(1, floor(sqrt(cells * span[0] / span[1]) + 0.5 + 1e-6)));
  int32_t ny = (int32_t)fmin(GRID_MAX, fmax(1, floor(cells / nx + 0.5 + 1e-6)));
  uint32_t fa = (uint32_t)(g->ref->of_a ? g->ref->number : g->inc->number) & 0xffu;
  uint32_t fb = (uint32_t)(g->ref->of_a ? g->inc->number : g->ref->number) & 0xffu;
  for (int32_t k = 0; k < nx * ny; k++) {
    double x = low[0] + (k % nx + 0.5) / nx * span[0], y = low[1] + (k / nx + 0.5) / ny * span[1];
    double u = au * x - aw * y, w = aw * x + au * y, gap = height(g, u, w);
    if (gap >= g->query->reach || where(&g->i, u, w, 0) < 0 || where(&g->r, u, w, 0) < 0) continue;
    uint32_t number = fa << 20 | fb << 12 | (uint32_t)(GRID_MAX * (k / nx) + k % nx);
    ds_face_contacts_add(g->arena, out,
                         (ds_candidate){place(g, u, w, 0.5 * gap), normal_of(g), gap, DS_FEATURE(3, number), 0});
  }
}

/* Whether a point lies deeper than `most` in a, and another in b (frame of a). */
static bool overlap_is_true(const region *g, ds_vec3 in_a, ds_vec3 in_b, double most) {
  const ds_face_query *q = g->query;
  most += q->error + g->ref->face->deviation + g->inc->face->deviation;
  in_b = mat3_tmul_v3(&q->b->r, v3_sub(ds_placed_point(q->a, in_b), q->b->p));
  return ds_shape_distance_alone(q->a->shape, in_a) <= most && ds_shape_distance_alone(q->b->shape, in_b) <= most;
}

/* The same of the two faces, at a point within the common polygon. */
static bool is_overlap(const region *g, double width) {
  double u, w;
  point_within(&u, &w, g, width);
  double gap = height(g, u, w);
  ds_vec3 low = place(g, u, w, gap), high = place(g, u, w, 0); /* of the incident, of the reference */
  return overlap_is_true(g, g->ref->of_a ? low : high, g->ref->of_a ? high : low, gap < 0 ? 0.5 * gap : 1.5 * gap);
}

/* Of faces that are not parallel only corners and edges of the incident one that touch the reference. */
static void keep_touching(region *g) {
  int32_t kept = 0;
  for (int32_t i = 0; i < g->count; i++) {
    const spot *s = &g->spots[i];
    bool corner = s->kind == OF_INCIDENT && corner_touches(g, g->inc, s->side[0], g->ref->n);
    bool edge = s->kind == OF_BOTH && edge_touches(g, g->inc, s->side[0], g->ref->n);
    if (corner || edge) g->spots[kept++] = *s;
  }
  g->count = kept;
}

static double depth_of(const region *g) {
  double depth = 0;
  for (int32_t i = 0; i < g->count; i++) depth = -g->spots[i].gap > depth ? -g->spots[i].gap : depth;
  return depth;
}

/* No common polygon is wider: 2 area / perimeter is at most the diameter of the largest circle inside. */
static double span_of(const region *g) {
  double span = INFINITY;
  for (int k = 0; k < 2; k++) {
    span = fmin(span, g->i.high[k] - g->i.low[k]);
    if (g->r.count > 0) span = fmin(span, g->r.high[k] - g->r.low[k]);
  }
  return span;
}

static void emit(ds_face_contacts *out, region *g) {
  const ds_face_query *q = g->query;
  if (g->cosine < DS_PARALLEL) keep_touching(g);
  if (g->count == 0) return;
  if (g->cosine < DS_PARALLEL && depth_of(g) > deepest * span_of(g)) return;
  double width = measure(g), least = fmin(g->ref->face->width, g->inc->face->width);
  if (g->cosine >= DS_PARALLEL) drop_ties(g);
  double depth = depth_of(g);
  if (g->count == 0 || !(width > narrow * least) || depth > deepest * width) return;
  if (depth > q->check && !is_overlap(g, width)) return;
  order_spots(g);
  int32_t *hull = DS_NEW(g->arena, int32_t, 2 * g->count + 2), *order = DS_NEW(g->arena, int32_t, g->count + 1);
  bool *marks = DS_NEW(g->arena, bool, g->count + 1);
  double *far = DS_NEW(g->arena, double, g->count + 1);
  if (!hull || !order || !marks || !far) return;
  int32_t n = find_hull(hull, order, g, g->count), near = 0;
  if (!keep_patch(out, g, hull, n)) return;
  for (int32_t i = 0; i < g->count; i++)
    if (g->spots[i].gap < q->reach) g->spots[near++] = g->spots[i];
  if (near < g->count) n = find_hull(hull, order, g, g->count = near);
  g->count = keep_hull(g, hull, n, marks);
  int32_t limit = q->per_face < 1 ? 1 : q->per_face;
  if (g->count > limit) thin_out(g, far, marks, limit);
  for (int32_t i = 0; i < g->count; i++) {
    const spot *s = &g->spots[i];
    ds_face_contacts_add(g->arena, out,
                         (ds_candidate){place(g, s->u, s->w, 0.5 * s->gap), normal_of(g), s->gap, s->feature, 0});
  }
  if (limit > CORNERS && g->cosine > DS_PARALLEL) add_grid(out, g, limit - g->count);
}

/* Two crossing edges that touch; the normal is that of edge_normal. */
static void emit_edges(ds_face_contacts *out, const region *g, const spot *s, ds_vec3 up) {
  const ds_placed_face *inc = g->inc, *ref = g->ref;
  ds_segment i = segment_of(inc, s->side[0]), r = segment_of(ref, s->side[1]);
  double ti, tr;
  ds_segment_closest(&ti, &tr, &i, &r);
  ds_vec3 xi = ds_segment_at(&i, ti), xr = ds_segment_at(&r, tr), x = v3_scale(0.5, v3_add(xi, xr));
  double gap = v3_dot(up, v3_sub(xi, xr));
  if (gap >= g->query->reach || (-gap > g->query->check && !overlap_is_true(g, x, x, edge_depth * gap))) return;
  ds_face_contacts_add(g->arena, out, (ds_candidate){x, ref->of_a ? v3_neg(up) : up, gap, s->feature, DS_TAG_EDGES});
}

/* ---- a pair ---- */

static bool set_region(region *g, ds_arena *arena, const ds_face_query *query, const ds_placed_face *ref,
                       const ds_placed_face *inc) {
  *g = (region){.arena = arena, .query = query, .ref = ref, .inc = inc, .cosine = -v3_dot(ref->n, inc->n)};
  return load(arena, &g->r, ref, ref, 1) && load(arena, &g->i, inc, ref, -1) && find_spots(g);
}

/* The lowest spot of each kind, or NULL. */
static void find_lowest(const spot *lowest[3], const region *g) {
  lowest[0] = lowest[1] = lowest[2] = NULL;
  for (int32_t i = 0; i < g->count; i++) {
    const spot *s = &g->spots[i];
    if (!lowest[s->kind] || s->gap < lowest[s->kind]->gap) lowest[s->kind] = s;
  }
}

static double gap_of(const spot *s) { return s ? s->gap : INFINITY; }

static void touch(ds_arena *arena, ds_face_contacts *out, const ds_face_query *query, const ds_placed_face *ref,
                  const ds_placed_face *inc) {
  region g;
  const spot *lowest[3];
  if (!set_region(&g, arena, query, ref, inc)) return;
  find_lowest(lowest, &g);
  double of_inc = gap_of(lowest[OF_INCIDENT]), of_ref = gap_of(lowest[OF_REFERENCE]), both = gap_of(lowest[OF_BOTH]);
  if (fmin(both, fmin(of_inc, of_ref)) >= query->reach) return;
  double sine = sqrt(fmax(0, 1 - g.cosine * g.cosine));
  double equal = query->eps + tie * sine * fmin(ref->face->width, inc->face->width);
  bool swap = of_ref < fmin(of_inc, both) - equal;
  ds_vec3 n;
  if (g.cosine < DS_PARALLEL && both < fmin(of_inc, of_ref) - equal && edge_normal(&n, &g, lowest[OF_BOTH])) {
    swap = -v3_dot(n, inc->n) > on_face;
    if (!swap && v3_dot(n, ref->n) < on_face) {
      emit_edges(out, &g, lowest[OF_BOTH], n);
      return;
    }
  }
  if (swap && !set_region(&g, arena, query, inc, ref)) return;
  emit(out, &g);
}

void ds_face_pair(ds_arena *arena, ds_face_contacts *out, const ds_face_query *query, const ds_placed_face *f,
                  const ds_placed_face *g) {
  bool first = f->face->area >= g->face->area * (1 - 1e-9);
  touch(arena, out, query, first ? f : g, first ? g : f);
  if (ds_arena_failed(arena)) out->failed = true;
}
