/* Cylinder against polyhedron and against cylinder.
 *
 * As with polyhedra (polyhedra.c): plane surfaces (faces, caps) first, by the cores; then the direction between the
 * nearest points of the cores, made exact where the mantle is met; where the cores overlap, the axis of least depth
 * among faces, caps and products of the axis with edges. Everything is done in the frame of b. */
#include "detect/pairs.h"

static const double mantle_cosine = 1e-4; /* |n.u| below which a contact is on the mantle */
static const double square = 2e-5;        /* 1 - cos of 0.36 degrees: a surface so nearly square to n is the contact */
enum { SINGLE = 2, MANTLE = 4 };          /* features */

typedef struct surface { /* a plane surface that separates */
  double separation;
  ds_vec3 n;     /* from b to a */
  bool of_hull;  /* a face of b's polyhedron, else a cap */
  bool cap_of_a; /* whose cap */
  double cap;    /* which: -1, 1 along its axis */
  int32_t face;
} surface;

typedef struct pair {
  ds_can a, b; /* b.radius = 0 where b is a polyhedron */
  ds_can core_a, core_b;
  const ds_hull *h;
  const ds_placed *placed; /* b: the frame */
  double skin_a, skin_b, tau, eps;
} pair;

static ds_can shrink(const ds_can *c, double skin) {
  ds_can s = *c;
  s.radius -= skin;
  s.half_length -= skin;
  return s;
}

/* Largest n.x of b. */
static double top_of_b(const pair *c, ds_vec3 n, bool core) {
  if (!c->h) return -ds_can_low(core ? &c->core_b : &c->b, v3_neg(n));
  const ds_vec3 *x = core ? c->h->core : c->h->vertices;
  double top = -INFINITY;
  for (int32_t i = 0; i < c->h->vertex_count; i++) top = fmax(top, v3_dot(n, x[i]));
  return top;
}

static double low_of_a(const pair *c, ds_vec3 n, bool core) { return ds_can_low(core ? &c->core_a : &c->a, n); }

/* The best plane surface of b (faces or caps), then of a (caps); ties go to b. */
static surface best_surface_of_b(const pair *c, bool core) {
  surface s = {.separation = -INFINITY};
  if (c->h) {
    for (int32_t f = 0; f < c->h->face_count; f++) {
      ds_vec3 n = c->h->normals[f];
      double offset = core ? v3_dot(n, c->h->core[c->h->face_vertex[c->h->face_start[f]]]) : c->h->offsets[f];
      double g = low_of_a(c, n, core) - offset;
      if (g > s.separation + c->tau) s = (surface){g, n, true, false, 0, f};
    }
    return s;
  }
  for (int cap = -1; cap <= 1; cap += 2) {
    ds_vec3 n = v3_scale(cap, c->b.u);
    double g = low_of_a(c, n, core) - v3_dot(n, c->b.c) - (core ? c->core_b : c->b).half_length;
    if (g > s.separation + c->tau) s = (surface){g, n, false, false, cap, 0};
  }
  return s;
}

static surface best_surface_of_a(const pair *c, bool core) {
  surface s = {.separation = -INFINITY};
  for (int cap = -1; cap <= 1; cap += 2) {
    ds_vec3 n = v3_scale(-cap, c->a.u);
    double g = v3_dot(n, c->a.c) - (core ? c->core_a : c->a).half_length - top_of_b(c, n, core);
    if (g > s.separation + c->tau) s = (surface){g, n, false, true, cap, 0};
  }
  return s;
}

/* --- is the other core's lowest feature over the surface? --- */

/* A convex polygon (loop of a core face) or a disc, seen along n. */
typedef struct area {
  ds_vec3 n;
  const ds_hull *h;
  int32_t face;
  ds_vec3 middle;
  double radius;
} area;

static double outside_distance(const area *s, ds_vec3 x) {
  if (!s->h) {
    ds_vec3 r = v3_sub(x, s->middle);
    return v3_norm(v3_mad(r, -v3_dot(r, s->n), s->n)) - s->radius;
  }
  /* distance to the polygon within the plane: 0 inside, else to the nearest side */
  const ds_hull *h = s->h;
  double nearest = INFINITY;
  bool in = true;
  for (int32_t i = h->face_start[s->face]; i < h->face_start[s->face + 1]; i++) {
    ds_segment e = {h->core[h->face_vertex[i]], h->core[h->face_vertex[ds_next_in_face(h, s->face, i)]]};
    ds_vec3 y = v3_mad(x, v3_dot(s->n, v3_sub(e.a, x)), s->n);
    in = in && v3_dot(v3_cross(s->n, v3_sub(e.b, e.a)), v3_sub(y, e.a)) >= 0;
    nearest = fmin(nearest, v3_dist(y, ds_segment_at(&e, ds_segment_nearest(&e, y))));
  }
  return in ? -nearest : nearest;
}

static bool segment_over_area(const area *s, ds_segment line, double tau) {
  if (outside_distance(s, line.a) <= tau || outside_distance(s, line.b) <= tau) return true;
  /* within the plane */
  line.b = v3_mad(line.b, v3_dot(s->n, v3_sub(line.a, line.b)), s->n);
  if (!s->h) {
    ds_vec3 m = v3_mad(s->middle, v3_dot(s->n, v3_sub(line.a, s->middle)), s->n);
    return v3_dist(m, ds_segment_at(&line, ds_segment_nearest(&line, m))) <= s->radius + tau;
  }
  for (int32_t i = s->h->face_start[s->face]; i < s->h->face_start[s->face + 1]; i++) {
    ds_segment e = {s->h->core[s->h->face_vertex[i]], s->h->core[s->h->face_vertex[ds_next_in_face(s->h, s->face, i)]]};
    e.a = v3_mad(e.a, v3_dot(s->n, v3_sub(line.a, e.a)), s->n);
    e.b = v3_mad(e.b, v3_dot(s->n, v3_sub(line.a, e.b)), s->n);
    double u, w;
    if (ds_segment_closest(&u, &w, &line, &e) <= tau) return true;
  }
  return false;
}

/* A cylinder's core over an area: its cap where upright, its lowest line where lying, else the lowest point of a rim.
 */
static bool can_over_area(const ds_can *can, const area *s, double tau) {
  double c = v3_dot(s->n, can->u), sine = v3_norm(v3_cross(s->n, can->u)), cap = c > 0 ? -1 : 1;
  if (2 * can->radius * sine <= tau)
    return outside_distance(s, v3_mad(can->c, cap * can->half_length, can->u)) <= can->radius + tau;
  if (2 * can->half_length * fabs(c) <= tau) {
    ds_segment line = {ds_can_rim_low(can, s->n, -1), ds_can_rim_low(can, s->n, 1)};
    return segment_over_area(s, line, tau);
  }
  return outside_distance(s, ds_can_rim_low(can, s->n, cap)) <= tau;
}

/* A polyhedron's core over a cap: any of its lowest vertices, or the lines between them. */
static bool hull_over_area(const ds_hull *h, const area *s, double tau) {
  enum { MAX_LOWEST = 32 };
  ds_vec3 lowest[MAX_LOWEST];
  double low = INFINITY;
  int count = 0;
  for (int32_t i = 0; i < h->vertex_count; i++) low = fmin(low, v3_dot(s->n, h->core[i]));
  for (int32_t i = 0; i < h->vertex_count && count < MAX_LOWEST; i++)
    if (v3_dot(s->n, h->core[i]) <= low + tau) lowest[count++] = h->core[i];
  for (int i = 0; i < count; i++)
    for (int j = i; j < count; j++)
      if (segment_over_area(s, (ds_segment){lowest[i], lowest[j]}, tau)) return true;
  return false;
}

static bool is_over(const pair *c, const surface *s) {
  if (s->of_hull) return can_over_area(&c->core_a, &(area){s->n, c->h, s->face, {0, 0, 0}, 0}, c->tau);
  const ds_can *o = s->cap_of_a ? &c->core_a : &c->core_b;
  area disc = {s->cap_of_a ? v3_neg(s->n) : s->n, NULL, 0, v3_mad(o->c, s->cap * o->half_length, o->u), o->radius};
  if (!s->cap_of_a) return can_over_area(&c->core_a, &disc, c->tau);
  return c->h ? hull_over_area(c->h, &disc, c->tau) : can_over_area(&c->core_b, &disc, c->tau);
}

/* --- contacts --- */

/* The lowest point of what lies over a surface: of a, or of b over a cap of a. */
static ds_vec3 lowest_point(const pair *c, const surface *s) {
  if (!s->cap_of_a || !c->h) {
    const ds_can *can = s->cap_of_a ? &c->b : &c->a;
    ds_vec3 n = s->cap_of_a ? v3_neg(s->n) : s->n;
    double cap = v3_dot(n, can->u) > 0 ? -1 : 1;
    if (v3_norm(v3_cross(n, can->u)) > 1e-6) return ds_can_rim_low(can, n, cap);
    return v3_mad(can->c, cap * can->half_length, can->u);
  }
  int32_t top = 0;
  for (int32_t i = 1; i < c->h->vertex_count; i++)
    if (v3_dot(s->n, c->h->vertices[i]) > v3_dot(s->n, c->h->vertices[top]) + c->tau) top = i;
  return c->h->vertices[top];
}

static void surface_contact(ds_manifold *m, const ds_query *query, const pair *c, const surface *s) {
  ds_spots spots;
  spots.count = 0;
  ds_can disc = s->cap_of_a ? c->a : c->b;
  disc.c = v3_mad(disc.c, s->cap * disc.half_length, disc.u);
  ds_vec3 up = s->cap_of_a ? v3_neg(s->n) : s->n;
  ds_floor floor = {up, 0, NULL, 0, NULL, c->eps};
  if (s->of_hull) {
    floor.hull = c->h;
    floor.face = s->face;
    floor.d = c->h->offsets[s->face];
  } else {
    floor.disc = &disc;
    floor.d = v3_dot(up, disc.c);
  }
  if (s->cap_of_a && c->h)
    ds_hull_over_floor(&spots, query, c->h, &floor);
  else
    ds_can_over_floor(&spots, query, s->cap_of_a ? &c->b : &c->a, &floor);
  /* features name points of a and of b, whichever is the floor */
  for (int32_t i = 0; i < spots.count && s->cap_of_a && !c->h; i++)
    if (spots.feature[i] >= 16 && spots.feature[i] < 0x1000) spots.feature[i] ^= DS_SPOT_RIM_OF_FLOOR;
  /* deep beyond the surface's border: no spot shows the depth, so the lowest point does */
  double least = INFINITY, skins = c->skin_a + c->skin_b;
  for (int32_t i = 0; i < spots.count; i++) least = fmin(least, spots.gap[i]);
  if (s->separation < query->reach && least > s->separation + 0.25 * fabs(s->separation) + 2 * skins &&
      spots.count < 256) {
    ds_vec3 x = lowest_point(c, s);
    spots.x[spots.count] = v3_mad(x, 0.5 * (floor.d - v3_dot(up, x)), up);
    spots.gap[spots.count] = v3_dot(up, x) - floor.d;
    spots.feature[spots.count++] = SINGLE;
  }
  ds_emit_spots(m, &spots, c->placed, s->n);
}

static void emit_single(ds_manifold *m, const ds_query *query, const pair *c, ds_vec3 xa, ds_vec3 xb, ds_vec3 n,
                        uint32_t feature) {
  double gap = v3_dot(n, v3_sub(xa, xb));
  if (gap < query->reach)
    ds_emit(m, ds_placed_point(c->placed, v3_scale(0.5, v3_add(xa, xb))), mat3_mul_v3(&c->placed->r, n), gap,
            DS_FEATURE(3, feature));
}

static ds_segment axis_of(const ds_can *c) {
  return (ds_segment){v3_mad(c->c, -c->half_length, c->u), v3_mad(c->c, c->half_length, c->u)};
}

/* The mantle of a along a line of b (an edge, or with radius rb the mantle's axis): two points, or one. */
static void mantle_contact(ds_manifold *m, const ds_query *query, const pair *c, const ds_segment *line, double rb,
                           ds_vec3 n) {
  ds_segment axis = axis_of(&c->a);
  double s[2], t[2];
  int count = ds_segment_overlap(s, t, &axis, line, n, 4 * (c->skin_a + c->skin_b));
  if (count < 2) {
    count = 1;
    ds_segment_closest(&s[0], &t[0], &axis, line);
  }
  for (int i = 0; i < count; i++) {
    ds_vec3 xa = v3_mad(ds_segment_at(&axis, s[i]), -c->a.radius, n), xb = v3_mad(ds_segment_at(line, t[i]), rb, n);
    emit_single(m, query, c, xa, xb, n, MANTLE + (uint32_t)i);
  }
}

/* The direction across two lines again, exactly; n where it does not agree. */
static ds_vec3 across_lines(ds_vec3 pa, ds_vec3 ua, ds_vec3 pb, ds_vec3 ub, ds_vec3 n) {
  ds_vec3 cross = v3_cross(ua, ub), d = v3_sub(pa, pb);
  ds_vec3 e = v3_norm(cross) > 1e-6 ? v3_unit(cross) : v3_unit(v3_mad(d, -v3_dot(d, ua), ua));
  if (v3_dot(e, n) < 0) e = v3_neg(e);
  return v3_dot(e, n) > 1 - 1e-6 ? e : n;
}

/* The point of a cylinder nearest in direction n, for a contact on its rim; on its mantle nearest to x. */
static ds_vec3 near_point(const ds_can *c, ds_vec3 n, ds_vec3 x) {
  double along = v3_dot(n, c->u);
  if (fabs(along) >= mantle_cosine) return ds_can_rim_low(c, v3_neg(n), along > 0 ? 1 : -1);
  double t = ds_clamp(v3_dot(c->u, v3_sub(x, c->c)), -c->half_length, c->half_length);
  return v3_mad(v3_mad(c->c, t, c->u), c->radius, v3_unit(v3_mad(n, -along, c->u)));
}

/* Edge of the polyhedron at the nearest vertices: their common one, or at a single vertex one along the axis of a. */
static int32_t edge_at(const pair *c, const int32_t *v, int count) {
  for (int32_t e = 0; e < c->h->edge_count; e++) {
    const int32_t *w = c->h->edges + 4 * e;
    if (count == 2 && ((w[0] == v[0] && w[1] == v[1]) || (w[0] == v[1] && w[1] == v[0]))) return e;
    if (count == 1 && (w[0] == v[0] || w[1] == v[0])) {
      ds_vec3 d = v3_unit(v3_sub(c->h->vertices[w[1]], c->h->vertices[w[0]]));
      if (v3_norm(v3_cross(d, c->a.u)) < 0.05) return e;
    }
  }
  return -1;
}

typedef struct nearest {
  int count; /* vertices of the polyhedron that carry the nearest point */
  int32_t v[3];
  int32_t edge; /* -1 = none */
} nearest;

static nearest nearest_feature(const pair *c, const ds_closest *g) {
  nearest f = {0, {0, 0, 0}, -1};
  for (int i = 0; i < g->count; i++) {
    bool known = false;
    for (int j = 0; j < f.count; j++) known = known || f.v[j] == g->ib[i];
    if (!known && f.count < 3) f.v[f.count++] = g->ib[i];
  }
  if (f.count <= 2) f.edge = edge_at(c, f.v, f.count);
  return f;
}

static void hull_edge_contact(ds_manifold *m, const ds_query *query, const pair *c, const nearest *f, ds_vec3 n) {
  const ds_hull *h = c->h;
  ds_vec3 x = h->vertices[f->v[0]];
  ds_segment edge = {x, x};
  if (f->edge >= 0) edge = (ds_segment){h->vertices[h->edges[4 * f->edge]], h->vertices[h->edges[4 * f->edge + 1]]};
  if (fabs(v3_dot(n, c->a.u)) < mantle_cosine) {
    mantle_contact(m, query, c, &edge, 0, n);
    return;
  }
  ds_vec3 xa = near_point(&c->a, v3_neg(n), x);
  emit_single(m, query, c, xa, ds_segment_at(&edge, ds_segment_nearest(&edge, xa)), n, SINGLE);
}

static void edge_contact(ds_manifold *m, const ds_query *query, const pair *c, const nearest *f, ds_vec3 n) {
  if (c->h) {
    hull_edge_contact(m, query, c, f, n);
    return;
  }
  if (fabs(v3_dot(n, c->a.u)) < mantle_cosine && fabs(v3_dot(n, c->b.u)) < mantle_cosine) {
    ds_segment axis = axis_of(&c->b);
    mantle_contact(m, query, c, &axis, c->b.radius, n);
    return;
  }
  /* on a mantle the point nearest to the other's */
  ds_vec3 xb = near_point(&c->b, n, c->a.c), xa = near_point(&c->a, v3_neg(n), xb);
  xb = near_point(&c->b, n, xa);
  emit_single(m, query, c, xa, xb, n, SINGLE);
}

static ds_mat3 frame_of(const ds_can *c, double scale) {
  ds_vec3 x = v3_scale(scale, c->e1), y = v3_scale(scale, c->e2), z = v3_scale(scale, c->u);
  return (ds_mat3){{x.x, y.x, z.x, x.y, y.y, z.y, x.z, y.z, z.z}};
}

/* Both sets scaled about their centres, or their cores. */
static void convex_sets(ds_convex *a, ds_convex *b, const pair *c, bool core, double scale) {
  const ds_can *ca = core ? &c->core_a : &c->a, *cb = core ? &c->core_b : &c->b;
  *a = (ds_convex){.radius = ca->radius, .half_length = ca->half_length, .r = frame_of(ca, scale), .p = ca->c};
  if (!c->h) {
    *b = (ds_convex){.radius = cb->radius, .half_length = cb->half_length, .r = frame_of(cb, scale), .p = cb->c};
    return;
  }
  ds_mat3 r = {{scale, 0, 0, 0, scale, 0, 0, 0, scale}};
  *b = (ds_convex){.points = core ? c->h->core : c->h->vertices, .count = c->h->vertex_count, .r = r};
  b->p = v3_scale(1 - scale, c->h->center);
}

static double separation_along(const pair *c, ds_vec3 n) { return low_of_a(c, n, false) - top_of_b(c, n, false); }

/* The direction between both sets, scaled about their centres until they are apart. */
static ds_vec3 shrunk_direction(const pair *c) {
  ds_vec3 apart = v3_sub(c->a.c, c->h ? c->h->center : c->b.c);
  for (double scale = 0.9; scale > 0.05; scale -= 0.2) {
    ds_convex a, b;
    ds_closest g;
    convex_sets(&a, &b, c, false, scale);
    ds_gjk(&g, &a, &b, apart, INFINITY);
    if (!g.overlap && g.distance > c->tau) return v3_unit(g.v);
  }
  return v3_norm(apart) > c->tau ? v3_unit(apart) : v3(0, 0, 1);
}

/* Turns n to where the sets are least deep nearby: steps in twelve directions, which turn and shrink when none is
 * better. */
static double climb(ds_vec3 *n, const pair *c) {
  double best = separation_along(c, *n), phase = 0, step = 0.4, least = 1e-12 * c->a.radius;
  for (int round = 0; round < 200 && step > 1e-6; round++) {
    ds_vec3 t1, t2, from = *n;
    bool better = false;
    v3_tangents(&t1, &t2, from);
    for (int k = 0; k < 12; k++) {
      double angle = phase + k * DS_PI / 6;
      ds_vec3 d = v3_unit(v3_mad(v3_mad(from, step * cos(angle), t1), step * sin(angle), t2));
      double s = separation_along(c, d);
      if (s > best + least) {
        best = s;
        *n = d;
        better = true;
      }
    }
    if (better) continue;
    step *= 0.6;
    phase += 0.7;
  }
  return best;
}

/* Cores overlap: the least deep of the plane surfaces, of directions across a's axis and an edge or axis of b, and of
 * what is found by climbing from these and from the direction between shrunk sets (exact to a few percent only). */
static void deep_contact(ds_manifold *m, const ds_query *query, const pair *c) {
  surface sb = best_surface_of_b(c, false), sa = best_surface_of_a(c, false);
  surface plane = sb.separation >= sa.separation - 0.1 * (c->skin_a + c->skin_b) ? sb : sa;
  double best = -INFINITY;
  ds_vec3 normal = plane.n;
  ds_segment line = axis_of(&c->b);
  int32_t lines = c->h ? c->h->edge_count : 1;
  for (int32_t e = 0; e < lines; e++) {
    ds_segment s = line;
    if (c->h) s = (ds_segment){c->h->vertices[c->h->edges[4 * e]], c->h->vertices[c->h->edges[4 * e + 1]]};
    ds_vec3 cross = v3_cross(c->a.u, v3_unit(v3_sub(s.b, s.a))), middle = c->h ? c->h->center : c->b.c;
    ds_vec3 d = v3_sub(c->a.c, c->h ? s.a : middle);
    ds_vec3 n = v3_norm(cross) > 1e-3 ? v3_unit(cross) : v3_unit(v3_mad(d, -v3_dot(d, c->a.u), c->a.u));
    if (v3_dot(n, v3_sub(c->a.c, middle)) < 0) n = v3_neg(n);
    double top = top_of_b(c, n, false), g = low_of_a(c, n, false) - top;
    bool carries = !c->h || v3_dot(n, s.a) >= top - c->tau;
    if (v3_norm(n) > 0.5 && carries && g > best + c->tau) {
      best = g;
      normal = n;
      line = s;
    }
  }
  /* rims have no axis of their own: search */
  ds_vec3 shrunk = shrunk_direction(c), start = best > plane.separation ? normal : plane.n;
  double limit = 0.05 * fabs(fmax(best, plane.separation)) + 0.1 * (c->skin_a + c->skin_b), rim = climb(&shrunk, c);
  if (climb(&start, c) > rim + c->tau) {
    shrunk = start;
    rim = separation_along(c, start);
  }
  if (rim > fmax(best, plane.separation) + limit) {
    nearest f = {1, {0, 0, 0}, -1};
    for (int32_t i = 0; c->h && i < c->h->vertex_count; i++)
      if (v3_dot(shrunk, c->h->vertices[i]) > v3_dot(shrunk, c->h->vertices[f.v[0]])) f.v[0] = i;
    edge_contact(m, query, c, &f, shrunk);
  } else if (best > plane.separation + limit)
    mantle_contact(m, query, c, &line, c->h ? 0 : c->b.radius, normal);
  else
    surface_contact(m, query, c, &plane);
}

/* The curve of a cylinder's core that is nearest in direction n: a rim, or for its mantle the axis. */
static ds_curve curve_of(const ds_can *core, ds_vec3 n) {
  double along = v3_dot(n, core->u);
  if (fabs(along) < mantle_cosine) return (ds_curve){core->c, core->u, v3(0, 0, 0), 0};
  return (ds_curve){v3_mad(core->c, (along > 0 ? 1 : -1) * core->half_length, core->u), core->e1, core->e2,
                    core->radius};
}

/* The direction between the cores again, from the features that the search found. */
static ds_vec3 refine_normal(const pair *c, const nearest *f, const ds_closest *g) {
  ds_vec3 n = v3_unit(g->v), xa = v3(0, 0, 0), xb = v3(0, 0, 0);
  for (int i = 0; i < g->count; i++) {
    xa = v3_mad(xa, g->weight[i], g->xa[i]);
    xb = v3_mad(xb, g->weight[i], g->xb[i]);
  }
  ds_curve a = curve_of(&c->core_a, v3_neg(n)), b;
  if (!c->h) {
    b = curve_of(&c->core_b, n);
  } else {
    if (f->count > 2) return n;
    ds_vec3 x = c->h->core[f->v[0]], e = f->count == 2 ? v3_sub(c->h->core[f->v[1]], x) : v3(0, 0, 0);
    b = (ds_curve){x, e, v3(0, 0, 0), 0};
  }
  ds_vec3 exact;
  if (a.radius == 0 && b.radius == 0)
    exact = across_lines(a.c, a.e1, b.c, v3_norm2(b.e1) > 0 ? v3_unit(b.e1) : a.e1, n);
  else
    exact = ds_curve_direction(&a, xa, &b, xb);
  return v3_dot(exact, n) > 1 - 1e-4 ? exact : n;
}

static void rounded_contact(ds_manifold *m, const ds_query *query, const pair *c, ds_vec3 guess) {
  double skins = c->skin_a + c->skin_b;
  ds_convex ca, cb;
  ds_closest g;
  convex_sets(&ca, &cb, c, true, 1);
  ds_gjk(&g, &ca, &cb, guess, INFINITY);
  if (g.overlap || g.distance < 1e-3 * skins) {
    deep_contact(m, query, c);
    return;
  }
  nearest f = {0, {0, 0, 0}, -1};
  if (c->h) f = nearest_feature(c, &g);
  ds_vec3 n = refine_normal(c, &f, &g);
  double separation = low_of_a(c, n, false) - top_of_b(c, n, false);
  if (separation >= query->reach) return;
  surface sb = best_surface_of_b(c, false), sa = best_surface_of_a(c, false);
  const surface *s = sb.separation >= sa.separation - c->tau ? &sb : &sa;
  /* an edge that lies along a cap has two points there, not one that jumps from end to end as it tips */
  bool flush = v3_dot(s->n, n) > 1 - square && s->separation > separation - 0.5 * skins;
  if (flush || s->separation > separation + 0.1 * skins)
    surface_contact(m, query, c, s);
  else
    edge_contact(m, query, c, &f, n);
}

static void collide(ds_manifold *m, const ds_query *query, const pair *c) {
  double retreat = (c->h ? c->h->retreat : 2 * c->skin_b) + 2 * c->skin_a, far = query->reach + retreat;
  surface sb = best_surface_of_b(c, true), sa = best_surface_of_a(c, true);
  if (sb.separation > far || sa.separation > far) return;
  double best = fmax(sa.separation, sb.separation);
  if (best > 1e-3 * fmin(c->skin_a, c->skin_b)) {
    if (sb.separation >= best - c->tau && is_over(c, &sb)) {
      surface_contact(m, query, c, &sb);
      return;
    }
    if (sa.separation >= best - c->tau && is_over(c, &sa)) {
      surface_contact(m, query, c, &sa);
      return;
    }
    rounded_contact(m, query, c, sb.separation >= sa.separation ? sb.n : sa.n);
    return;
  }
  rounded_contact(m, query, c, v3_sub(c->a.c, c->h ? c->h->center : c->b.c));
}

static double skin_of(const ds_can *c) { return DS_CORE_SHARE * fmin(c->radius, c->half_length); }

/* Both with the skin of the thinner one. */
static pair set_up(const ds_placed *a, const ds_placed *b, double skin_b) {
  pair c = {.a = ds_can_in_frame(a, b), .placed = b};
  double skin = fmin(skin_of(&c.a), skin_b);
  c.skin_a = c.skin_b = skin;
  c.core_a = shrink(&c.a, skin);
  c.tau = 1e-6 * skin;
  c.eps = 0.01 * skin;
  return c;
}

void ds_pair_cylinder_hull(ds_manifold *m, const ds_query *query, const ds_placed *a, const ds_placed *b) {
  ds_vec3 space[DS_HULL_THINNED];
  pair c = set_up(a, b, b->shape->hull.skin);
  ds_hull h = ds_hull_thin_skinned(space, &b->shape->hull, c.skin_a);
  c.h = &h, c.skin_b = h.skin;
  collide(m, query, &c);
}

void ds_pair_cylinder_cylinder(ds_manifold *m, const ds_query *query, const ds_placed *a, const ds_placed *b) {
  ds_can other = ds_can_in_frame(b, b);
  pair c = set_up(a, b, skin_of(&other));
  c.b = other;
  c.core_b = shrink(&c.b, c.skin_b);
  collide(m, query, &c);
}
