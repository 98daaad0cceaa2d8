/* Separation of convex shapes by an expanding polytope (van den Bergen 2001).
 *
 * With h(d) the support function of the difference A - B, the separation along n is -h(-n), and the largest over all
 * unit n is the distance, or minus the least depth of overlap. A ball of radius rho about A shifts h by rho and leaves
 * the best direction as it is. So one search serves shapes that are apart, touch or overlap: rho is larger than any
 * separation that is asked for, the origin then lies well inside A - B + ball, and the nearest point of its surface is
 * searched by a polytope of support points that grows where it is nearest to the origin. Touching shapes are no special
 * case: no direction is that of a vector of length zero.
 *
 * Where the surface is smooth there, a few steps of Newton's method on the two slopes of h give the direction to
 * rounding; at kinks the polytope itself is exact. */
#include "shape/separation.h"

enum { POINTS_MAX = 256, FACES_MAX = 2 * POINTS_MAX, HORIZON_MAX = 128, NEWTON_STEPS = 6 };
static const double enough = 1e-12;    /* of the sizes: what the surface may be farther than the polytope */
static const double visible = 1e-14;   /* of the sizes: a face is seen by a point that is farther above it */
static const double same_plane = 1e-9; /* of the sizes: facets that are as near as this are one */
static const double margin = 1e-4;     /* of the smaller size: rho is larger than the gap by this at least */

typedef struct corner {
  ds_vec3 w, xa, xb; /* w = xa - xb + rho d */
} corner;

typedef struct facet {
  int32_t v[3], next[3]; /* next[i]: the facet across the side from v[i] to v[i + 1] */
  ds_vec3 n;
  double offset;
  bool alive;
} facet;

typedef struct search {
  const ds_shape *a, *b;
  const ds_mat3 *r;
  ds_vec3 p;
  double rho, size;
  corner corners[POINTS_MAX];
  facet facets[FACES_MAX];
  int32_t corner_count, facet_count;
  int turn;   /* of the first directions */
  bool ended; /* by rounding or space, before the tolerance was met */
} search;

static corner support(const search *s, ds_vec3 d) {
  corner c = {.xa = s->p};
  if (s->a) c.xa = v3_add(s->p, mat3_mul_v3(s->r, ds_shape_support(s->a, mat3_tmul_v3(s->r, d))));
  c.xb = ds_shape_support(s->b, v3_neg(d));
  c.w = v3_mad(v3_sub(c.xa, c.xb), s->rho, d);
  return c;
}

/* Plane through the corners of a facet; false where it has no area. */
static bool level(search *s, facet *f) {
  ds_vec3 a = s->corners[f->v[0]].w, b = s->corners[f->v[1]].w, c = s->corners[f->v[2]].w;
  ds_vec3 n = v3_cross(v3_sub(b, a), v3_sub(c, a));
  double area = v3_norm(n);
  if (!(area > 1e-28 * s->size * s->size)) return false;
  f->n = v3_scale(1 / area, n);
  f->offset = v3_dot(f->n, a);
  return true;
}

/* A tetrahedron of support points. */
static bool start(search *s) {
  static const int sides[4][3] = {{0, 1, 2}, {0, 3, 1}, {1, 3, 2}, {2, 3, 0}};
  static const int across[4][3] = {{1, 2, 3}, {3, 2, 0}, {1, 3, 0}, {2, 1, 0}};
  for (int turn = s->turn; turn < s->turn + 3; turn++) {
    ds_quat q = quat_exp(v3(0.3 * turn, 0.7 * turn, 0.5 * turn));
    for (int i = 0; i < 4; i++) {
      ds_vec3 d = v3(i == 0 || i == 1 ? 1 : -1, i == 0 || i == 2 ? 1 : -1, i == 0 || i == 3 ? 1 : -1);
      s->corners[i] = support(s, quat_rotate(q, v3_unit(d)));
    }
    ds_vec3 o = s->corners[0].w, e1 = v3_sub(s->corners[1].w, o), e2 = v3_sub(s->corners[2].w, o);
    ds_vec3 e3 = v3_sub(s->corners[3].w, o);
    double volume = v3_dot(v3_cross(e1, e2), e3);
    if (!(fabs(volume) > 1e-12 * s->rho * s->rho * s->rho)) continue;
    if (volume > 0) { /* the fourth lies above the first side: turn it over */
      corner c = s->corners[1];
      s->corners[1] = s->corners[2];
      s->corners[2] = c;
    }
    s->corner_count = s->facet_count = 4;
    bool good = true;
    for (int i = 0; i < 4; i++) {
      facet *f = &s->facets[i];
      for (int k = 0; k < 3; k++) f->v[k] = sides[i][k], f->next[k] = across[i][k];
      f->alive = true;
      good = good && level(s, f);
    }
    if (good) return true;
  }
  return false;
}

typedef struct rim {
  int32_t count;
  int32_t v[HORIZON_MAX], w[HORIZON_MAX], beyond[HORIZON_MAX]; /* side from v to w, and the facet that stays */
  bool failed;
} rim;

/* Takes away a facet that is seen from x, and those around it; what stays around them is the rim, in order. */
static void take_away(search *s, rim *r, int32_t f, int from, ds_vec3 x) {
  facet *it = &s->facets[f];
  it->alive = false;
  for (int k = 0; k < 3; k++) {
    int side = (from + k) % 3;
    int32_t g = it->next[side];
    facet *other = &s->facets[g];
    if (!other->alive) continue;
    if (v3_dot(other->n, x) > other->offset + visible * s->size) {
      int entry = other->next[0] == f ? 0 : other->next[1] == f ? 1 : 2;
      take_away(s, r, g, (entry + 1) % 3, x);
    } else if (r->count < HORIZON_MAX) {
      r->v[r->count] = it->v[side], r->w[r->count] = it->v[(side + 1) % 3], r->beyond[r->count++] = g;
    } else {
      r->failed = true;
    }
  }
}

static int32_t free_facet(search *s) {
  for (int32_t i = 0; i < s->facet_count; i++)
    if (!s->facets[i].alive) return i;
  return s->facet_count < FACES_MAX ? s->facet_count++ : -1;
}

/* Puts a new corner over a facet; false where rounding or space ends the search. */
static bool grow(search *s, int32_t f, const corner *c) {
  rim r = {.count = 0};
  int32_t made[HORIZON_MAX];
  if (s->corner_count >= POINTS_MAX) return false;
  take_away(s, &r, f, 0, c->w);
  if (r.failed || r.count < 3) return false;
  for (int32_t i = 0; i < r.count; i++)
    if (r.w[i] != r.v[(i + 1) % r.count]) return false;
  int32_t v = s->corner_count++;
  s->corners[v] = *c;
  for (int32_t i = 0; i < r.count; i++) {
    int32_t g = free_facet(s);
    if (g < 0) return false;
    facet *it = &s->facets[g], *beyond = &s->facets[r.beyond[i]];
    *it = (facet){.v = {r.v[i], r.w[i], v}, .next = {r.beyond[i], -1, -1}, .alive = true};
    for (int k = 0; k < 3; k++)
      if (beyond->v[k] == r.w[i] && beyond->v[(k + 1) % 3] == r.v[i]) beyond->next[k] = g;
    made[i] = g;
    if (!level(s, it)) return false;
  }
  for (int32_t i = 0; i < r.count; i++) {
    s->facets[made[i]].next[1] = made[(i + 1) % r.count];
    s->facets[made[i]].next[2] = made[(i + r.count - 1) % r.count];
  }
  return true;
}

static int32_t nearest_facet(const search *s) {
  int32_t best = -1;
  for (int32_t i = 0; i < s->facet_count; i++)
    if (s->facets[i].alive && (best < 0 || s->facets[i].offset < s->facets[best].offset)) best = i;
  return best;
}

/* Weights of a facet's corners for the point of its plane that is nearest to the origin; returns the least of them. */
static double weigh(double weight[3], const search *s, const facet *f) {
  ds_vec3 x = v3_scale(f->offset, f->n), w[3];
  double sum = 0;
  for (int i = 0; i < 3; i++) w[i] = v3_sub(s->corners[f->v[i]].w, x);
  for (int i = 0; i < 3; i++) {
    weight[i] = v3_dot(f->n, v3_cross(w[(i + 1) % 3], w[(i + 2) % 3]));
    sum += weight[i];
  }
  for (int i = 0; i < 3; i++) weight[i] /= sum;
  return fmin(weight[0], fmin(weight[1], weight[2]));
}

/* Points of both shapes under the point of the polytope that is nearest to the origin: of facets that are as near as
 * the best, in one plane with it, the one that the point lies in. */
static void witness(ds_vec3 *on_a, ds_vec3 *on_b, const search *s, const facet *best) {
  double weight[3], most, sum = 0;
  const facet *f = best;
  most = weigh(weight, s, best);
  for (int32_t i = 0; i < s->facet_count && most < 0; i++) {
    const facet *g = &s->facets[i];
    if (!g->alive || g->offset > best->offset + same_plane * s->size || v3_dot(g->n, best->n) < 0.99) continue;
    double least = weigh(weight, s, g);
    if (least > most) most = least, f = g;
  }
  weigh(weight, s, f);
  for (int i = 0; i < 3; i++) weight[i] = fmax(weight[i], 0), sum += weight[i];
  *on_a = *on_b = v3(0, 0, 0);
  for (int i = 0; i < 3; i++) {
    *on_a = v3_mad(*on_a, weight[i] / sum, s->corners[f->v[i]].xa);
    *on_b = v3_mad(*on_b, weight[i] / sum, s->corners[f->v[i]].xb);
  }
}

/* Slopes of h across d, along two directions. */
static ds_vec3 slope(corner *c, const search *s, ds_vec3 d) {
  *c = support(s, d);
  ds_vec3 w = v3_sub(c->xa, c->xb);
  return v3_mad(w, -v3_dot(w, d), d);
}

/* Newton's method on the slopes, by differences; keeps what is better. */
static bool polish(ds_vec3 *best, corner *at, const search *s) {
  corner c, c1, c2;
  ds_vec3 now = *best, *d = &now, g = slope(&c, s, now);
  double step = 1e-6, before = v3_norm(g), highest = v3_dot(v3_sub(c.xa, c.xb), *d);
  bool better = false;
  for (int i = 0; i < NEWTON_STEPS && v3_norm(g) > 1e-15 * s->size; i++) {
    ds_vec3 t1, t2;
    v3_tangents(&t1, &t2, *d);
    ds_vec3 g1 = slope(&c1, s, v3_unit(v3_mad(*d, step, t1))), g2 = slope(&c2, s, v3_unit(v3_mad(*d, step, t2)));
    double a = (v3_dot(t1, g1) - v3_dot(t1, g)) / step, b = (v3_dot(t1, g2) - v3_dot(t1, g)) / step;
    double e = (v3_dot(t2, g1) - v3_dot(t2, g)) / step, f = (v3_dot(t2, g2) - v3_dot(t2, g)) / step;
    double det = a * f - b * e, u = v3_dot(t1, g), w = v3_dot(t2, g);
    if (!(fabs(det) > 1e-12 * (a * a + b * b + e * e + f * f))) break;
    ds_vec3 move = v3_add(v3_scale(-(f * u - b * w) / det, t1), v3_scale(-(a * w - e * u) / det, t2));
    if (!(v3_norm(move) < 0.01)) break;
    ds_vec3 next = v3_unit(v3_add(*d, move)), gn = slope(&c1, s, next);
    if (!(v3_norm(gn) < 0.5 * v3_norm(g))) break;
    *d = next, g = gn, c = c1;
    better = true;
  }
  if (!better || !(v3_norm(g) < 1e-3 * before || v3_norm(g) < 1e-9 * s->size)) return false;
  if (v3_dot(v3_sub(c.xa, c.xb), *d) > highest + 1e-9 * s->size) return false; /* stationary, but not the least */
  *best = now;
  *at = c;
  return true;
}

/* Lets the polytope grow until it is as far from the surface as `tolerance`, or full; the nearest facet. False where
 * the shapes are more than rho apart. */
static bool expand(search *s, facet *best, double tolerance) {
  if (!start(s)) return false;
  for (;;) {
    int32_t f = nearest_facet(s);
    *best = s->facets[f];
    corner c = support(s, best->n);
    double h = v3_dot(c.w, best->n);
    if (h < 0) return false;
    s->ended = h - best->offset > tolerance && !grow(s, f, &c);
    if (s->ended || h - best->offset <= tolerance) return true;
  }
}

double ds_shape_separation(ds_vec3 *n, ds_vec3 *on_a, ds_vec3 *on_b, const ds_shape *a, const ds_mat3 *r, ds_vec3 p,
                           const ds_shape *b, double reach) {
  search s = {.a = a, .b = b, .r = r, .p = p};
  double ra = a ? a->bounding_radius : 0, rb = b->bounding_radius, least = margin * (a ? fmin(ra, rb) : rb);
  s.rho = fmax(reach, 0) + least;
  s.size = v3_norm(p) + ra + rb + s.rho;
  facet best;
  /* first, roughly, how far apart they are: over a corner all directions within a ball that is much larger than the gap
   * are nearly as good, and would all have to be searched */
  for (double next; expand(&s, &best, 0.1 * s.rho); s.rho = next) {
    next = 1.5 * fmax(s.rho - best.offset, 0) + least;
    if (next > 0.7 * s.rho) break;
  }
  double separation = -INFINITY;
  do { /* again from other directions where it ended early: the better of both is as good as any */
    if (!expand(&s, &best, enough * s.size)) return INFINITY;
    ds_vec3 d = best.n, xa, xb;
    corner c = support(&s, d);
    witness(&xa, &xb, &s, &best);
    if (polish(&d, &c, &s)) xa = c.xa, xb = c.xb;
    double along = v3_dot(d, v3_sub(c.xb, c.xa));
    if (along > separation) separation = along, *n = v3_neg(d), *on_a = xa, *on_b = xb;
  } while (s.ended && ++s.turn < 3);
  return separation <= reach ? separation : INFINITY;
}

double ds_point_separation(ds_vec3 *normal, const ds_shape *shape, ds_vec3 x) {
  ds_vec3 on_a, on_b;
  double d = ds_shape_separation(normal, &on_a, &on_b, NULL, NULL, x, shape, v3_norm(x) + shape->bounding_radius);
  if (isfinite(d)) return d;
  *normal = v3_unit(x);
  return v3_norm(x) - shape->bounding_radius;
}
