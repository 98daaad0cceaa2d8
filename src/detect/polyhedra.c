/* Polyhedron against polyhedron (boxes and hulls alike): which normal, and which points.
 *
 * 1. Face normals. If the cores (hull.c) are apart, and the face that separates them most has part of the other's
 * lowest feature above it, then that face's normal is the direction of the shortest distance between the cores: exact,
 * and continuous in the poses. Points come from the face patch (patch.c).
 * 2. Otherwise edges or corners are nearest, and the normal is the direction between the nearest points of the cores:
 *    that of slightly rounded bodies, unique and continuous also where edges are parallel. It is computed again from
 * the features that carry the nearest points. Gaps are still those of the unrounded edges along this normal. Where the
 * rounding is wider than what truly overlaps (a narrow strip of a face), a face separates better by more than a share
 * of the skins, and overlaps less than half as deep: then that face is taken.
 * 3. Cores that overlap are moved in until they are apart, a quarter farther than the bodies overlap, and 1. and 2. are
 *    done with them: where two edges meet, the normal is the same whether they touch or overlap. The least way out,
 *    which is nearly always along a face, would tip it as soon as they overlap.
 * 4. Where the overlap is too deep for that: the axis of least penetration among face normals and products of edges. */
#include "detect/pairs.h"

enum { MAX_EDGES = 12288 };        /* of a hull of 4096 vertices */
static const double DEEPER = 1.25; /* so much of an overlap the cores are moved in */
enum { FEW = 8 };                  /* contacts per face, above which a grid of points fills it */
static const double SQUARE = 2e-5; /* 1 - cos of 0.36 degrees: a face so nearly square to a normal is the contact */

typedef struct pair {
  const ds_hull *h[2];
  const ds_placed *placed[2];
  ds_mat3 r[2]; /* r[k], p[k]: the other's frame -> frame of h[k] */
  ds_vec3 p[2];
  const ds_vec3 *core[2]; /* of the hulls, or farther inside */
  double retreat[2];      /* how far vertices of the cores have moved in at most */
  ds_vec3 middle[2];      /* middle[k]: a point inside the other's core, in the frame of h[k] */
  double skins;           /* how far both together are inside */
  double tau;             /* heights that differ by less are equal */
  double eps;             /* points that differ by less are one */
  double rounding;        /* so wide are edges and corners */
} pair;

static ds_vec3 to_frame(const pair *c, int k, ds_vec3 x) { return v3_add(mat3_mul_v3(&c->r[k], x), c->p[k]); }

/* The cores, `times` as far inside as the hulls' own, and their middles. */
static void set_cores(pair *c, const ds_vec3 *core_a, const ds_vec3 *core_b, double times) {
  c->core[0] = core_a, c->core[1] = core_b;
  for (int k = 0; k < 2; k++) {
    const ds_hull *o = c->h[1 - k];
    c->retreat[k] = times * c->h[k]->retreat;
    ds_vec3 sum = v3(0, 0, 0);
    for (int32_t i = 0; i < o->vertex_count; i++) sum = v3_add(sum, c->core[1 - k][i]);
    c->middle[k] = to_frame(c, k, v3_scale(1.0 / o->vertex_count, sum));
  }
}

static double face_offset(const pair *c, int k, int32_t face, bool core) {
  const ds_hull *h = c->h[k];
  return core ? v3_dot(h->normals[face], c->core[k][h->face_vertex[h->face_start[face]]]) : h->offsets[face];
}

/* How far the other lies in front of a face of h[k]: of the cores, or of the bodies themselves. Where that is no more
 * than `least`, the result only says so. */
static double face_separation(const pair *c, int k, int32_t face, bool core, double least) {
  const ds_hull *h = c->h[k], *o = c->h[1 - k];
  ds_vec3 n = h->normals[face], m = mat3_tmul_v3(&c->r[k], n);
  const ds_vec3 *x = core ? c->core[1 - k] : o->vertices;
  double shift = v3_dot(n, c->p[k]), offset = face_offset(c, k, face, core), low = INFINITY;
  for (int32_t i = 0; i < o->vertex_count; i++) {
    double g = v3_dot(m, x[i]);
    if (!(g < low)) continue;
    low = g;
    if (low + shift - offset <= least) break;
  }
  return low + shift - offset;
}

/* The face that separates most, and more than `least`; returns how much, or -INFINITY if there is none. A face that has
 * no more than that of the other's middle in front need not be tested. */
static double best_face(int32_t *face, const pair *c, int k, bool core, double least) {
  double best = least - c->tau, inside = core ? c->retreat[k] : 0;
  *face = 0;
  for (int32_t f = 0; f < c->h[k]->face_count; f++) {
    if (v3_dot(c->h[k]->normals[f], c->middle[k]) - c->h[k]->offsets[f] + inside <= best) continue;
    double s = face_separation(c, k, f, core, best + c->tau);
    if (s > best + c->tau) {
      best = s;
      *face = f;
    }
  }
  return best > least ? best : -INFINITY;
}

/* The core of a face: how far a point (in the frame of h) lies inside the side that starts at loop index i. */
static double inside_core_side(const pair *c, int k, int32_t face, int32_t i, ds_vec3 x) {
  const ds_hull *h = c->h[k];
  ds_vec3 v = c->core[k][h->face_vertex[i]], w = c->core[k][h->face_vertex[ds_next_in_face(h, face, i)]];
  ds_vec3 in = v3_cross(h->normals[face], v3_sub(w, v));
  return v3_dot(in, v3_sub(x, v)) / v3_norm(in);
}

/* Whether projections of a segment and of a core face have no point in common, along the normal of the segment. */
static bool beside_segment(const pair *c, int k, int32_t face, const ds_segment *s) {
  const ds_hull *h = c->h[k];
  ds_vec3 side = v3_unit(v3_cross(h->normals[face], v3_sub(s->b, s->a)));
  double low = INFINITY, high = -INFINITY;
  for (int32_t i = h->face_start[face]; i < h->face_start[face + 1]; i++) {
    double g = v3_dot(side, v3_sub(c->core[k][h->face_vertex[i]], s->a));
    low = fmin(low, g);
    high = fmax(high, g);
  }
  return low > c->tau || high < -c->tau;
}

/* Whether the lowest feature of the other core lies above the core of a face, at least in part. */
static bool is_over_face(const pair *c, int k, int32_t face, double separation) {
  enum { MAX_LOWEST = 64 };
  const ds_hull *h = c->h[k], *o = c->h[1 - k];
  ds_vec3 n = h->normals[face], m = mat3_tmul_v3(&c->r[k], n), lowest[MAX_LOWEST];
  double limit = separation + v3_dot(n, c->core[k][h->face_vertex[h->face_start[face]]]) - v3_dot(n, c->p[k]) + c->tau;
  int count = 0;
  for (int32_t i = 0; i < o->vertex_count && count < MAX_LOWEST; i++)
    if (v3_dot(m, c->core[1 - k][i]) <= limit) lowest[count++] = to_frame(c, k, c->core[1 - k][i]);
  /* a vertex above the face, or all beyond one of its sides */
  bool apart = false, over[MAX_LOWEST];
  for (int i = 0; i < count; i++) over[i] = true;
  for (int32_t e = h->face_start[face]; e < h->face_start[face + 1]; e++) {
    bool beyond = true;
    for (int i = 0; i < count; i++) {
      bool in = inside_core_side(c, k, face, e, lowest[i]) >= -c->tau;
      over[i] = over[i] && in;
      beyond = beyond && !in;
    }
    apart = apart || beyond;
  }
  for (int i = 0; i < count; i++)
    if (over[i]) return true;
  if (apart || count < 2) return false;
  /* an edge or a polygon that crosses: no separating line along its own sides */
  for (int i = 0; i < count; i++)
    for (int j = i + 1; j < count; j++) {
      ds_segment s = {lowest[i], lowest[j]};
      if (v3_norm2(v3_sub(s.b, s.a)) == 0 || !beside_segment(c, k, face, &s)) continue;
      /* separating only if all lowest points lie on the same side as the segment */
      ds_vec3 side = v3_unit(v3_cross(n, v3_sub(s.b, s.a))), mid = c->core[k][h->face_vertex[h->face_start[face]]];
      double face_side = v3_dot(side, v3_sub(mid, s.a));
      bool all = true;
      for (int l = 0; l < count; l++)
        all = all && v3_dot(side, v3_sub(lowest[l], s.a)) * face_side <= c->tau * fabs(face_side);
      if (all) return false;
    }
  return true;
}

/* The points of a face of h[k]; many of them where that is asked for and the other's face is flush with it. */
static void face_contact(ds_manifold *m, const ds_query *query, const pair *c, int k, int32_t face) {
  const ds_hull *h = c->h[k], *o = c->h[1 - k];
  if (query->per_face > FEW) {
    ds_patch patch = {h, face, c->placed[k], k == 0, o, c->r[k], c->p[k], c->eps};
    ds_patch_build(m, query, &patch);
    return;
  }
  ds_overlay overlay = {h, c->placed[k], k == 0, true, h->normals[face], o, c->r[k], c->p[k], c->eps, 2 * c->eps};
  ds_overlay_build(m, query, &overlay);
}

/* Largest n.x over the vertices, n in the frame of h[0]; k says whose. */
static double support_height(const pair *c, int k, ds_vec3 n) {
  const ds_hull *h = c->h[k];
  ds_vec3 d = k == 0 ? n : mat3_tmul_v3(&c->r[0], n);
  double best = -INFINITY;
  for (int32_t i = 0; i < h->vertex_count; i++) best = fmax(best, v3_dot(d, h->vertices[i]));
  return k == 0 ? best : best + v3_dot(n, c->p[0]);
}

typedef struct nearest { /* vertices of both bodies that carry the nearest points of the cores */
  int count[2];
  int32_t v[2][3];
} nearest;

static void unique_vertices(nearest *f, const ds_closest *g) {
  f->count[0] = f->count[1] = 0;
  for (int i = 0; i < g->count; i++)
    for (int k = 0; k < 2; k++) {
      int32_t v = k == 0 ? g->ia[i] : g->ib[i];
      bool known = false;
      for (int j = 0; j < f->count[k]; j++) known = known || f->v[k][j] == v;
      if (!known && f->count[k] < 3) f->v[k][f->count[k]++] = v;
    }
}

/* A vertex of body k in the frame of h[0]. */
static ds_vec3 vertex_of(const pair *c, int k, int32_t v, bool core) {
  ds_vec3 x = core ? c->core[k][v] : c->h[k]->vertices[v];
  return k == 0 ? x : to_frame(c, 0, x);
}

/* The direction of v again, from the features alone: free of the rounding of the search. */
static ds_vec3 refine_normal(const pair *c, const nearest *f, ds_vec3 v) {
  ds_vec3 n = v3_unit(v), a = vertex_of(c, 0, f->v[0][0], true), b = vertex_of(c, 1, f->v[1][0], true), exact = n;
  if (f->count[0] == 1 && f->count[1] == 1) {
    exact = v3_unit(v3_sub(a, b));
  } else if (f->count[0] == 2 && f->count[1] == 2) {
    ds_vec3 ea = v3_unit(v3_sub(vertex_of(c, 0, f->v[0][1], true), a));
    ds_vec3 eb = v3_unit(v3_sub(vertex_of(c, 1, f->v[1][1], true), b)), cross = v3_cross(ea, eb);
    if (v3_norm(cross) > 1e-6) {
      exact = v3_unit(cross);
      if (v3_dot(exact, n) < 0) exact = v3_neg(exact);
    } else {
      ds_vec3 d = v3_sub(a, b);
      exact = v3_unit(v3_mad(d, -v3_dot(d, eb), eb));
    }
  } else if (f->count[0] + f->count[1] == 3) {
    int k = f->count[0] == 2 ? 0 : 1;
    ds_vec3 e = v3_unit(v3_sub(vertex_of(c, k, f->v[k][1], true), k ? b : a)), d = v3_sub(a, b);
    exact = v3_unit(v3_mad(d, -v3_dot(d, e), e));
  }
  return v3_dot(exact, n) > 1 - 1e-6 ? exact : n;
}

static ds_segment edge_of(const pair *c, int k, int32_t edge) {
  const int32_t *e = c->h[k]->edges + 4 * edge;
  return (ds_segment){vertex_of(c, k, e[0], false), vertex_of(c, k, e[1], false)};
}

/* The points of an edge or corner contact with the given normal (frame of h[0], from b to a). What lies nearer together
 * than the rounding is one contact. */
static void edge_contact(ds_manifold *m, const ds_query *query, const pair *c, ds_vec3 n) {
  ds_overlay overlay = {c->h[0], c->placed[0], true, false, v3_neg(n), c->h[1], c->r[0], c->p[0], c->eps, c->rounding};
  ds_overlay_build(m, query, &overlay);
}

/* Whether the arcs of two edges' face normals, from a to b and from c to d, cross on the sphere, so that the edges'
 * product can separate; ba = b x a, dc = d x c. */
static bool arcs_cross(ds_vec3 a, ds_vec3 b, ds_vec3 ba, ds_vec3 c, ds_vec3 d, ds_vec3 dc) {
  double cba = v3_dot(c, ba), dba = v3_dot(d, ba);
  if (!(cba * dba < 0)) return false;
  double adc = v3_dot(a, dc), bdc = v3_dot(b, dc);
  return adc * bdc < 0 && cba * bdc > 0;
}

/* Edges of h[k] that can separate the bodies by more than `least`. Where a supporting plane touches h[k] along an edge,
 * its normal lies between those of the edge's two faces, so it has no more of the other body's centre in front than the
 * better one of these. Returns how many. */
static int32_t edges_towards(int32_t *edges, const pair *c, int k, double least) {
  const ds_hull *h = c->h[k];
  ds_vec3 x = to_frame(c, k, c->h[1 - k]->center);
  int32_t count = 0;
  for (int32_t e = 0; e < h->edge_count && count < MAX_EDGES; e++) {
    int32_t f = h->edges[4 * e + 2], g = h->edges[4 * e + 3];
    bool far = v3_dot(h->normals[f], x) - h->offsets[f] < least && v3_dot(h->normals[g], x) - h->offsets[g] < least;
    if (!far) edges[count++] = e;
  }
  return count;
}

/* The product of edges that separates most (is least deep) and more than `least`; its normal from b to a in the frame
 * of h[0]. -INFINITY if there is none. */
static double best_edges(ds_vec3 *normal, const pair *c, double least) {
  const ds_hull *a = c->h[0], *b = c->h[1];
  int32_t of_a[MAX_EDGES], of_b[MAX_EDGES];
  int32_t count_a = edges_towards(of_a, c, 0, least), count_b = edges_towards(of_b, c, 1, least);
  double best = -INFINITY;
  for (int32_t j = 0; j < count_b; j++) {
    const int32_t *eb = b->edges + 4 * of_b[j];
    ds_segment sb = edge_of(c, 1, of_b[j]);
    ds_vec3 fb = v3_neg(mat3_mul_v3(&c->r[0], b->normals[eb[2]])),
            gb = v3_neg(mat3_mul_v3(&c->r[0], b->normals[eb[3]]));
    ds_vec3 gfb = v3_cross(gb, fb), db = v3_unit(v3_sub(sb.b, sb.a));
    for (int32_t i = 0; i < count_a; i++) {
      const int32_t *ea = a->edges + 4 * of_a[i];
      if (!arcs_cross(a->normals[ea[2]], a->normals[ea[3]], a->arcs[of_a[i]], fb, gb, gfb)) continue;
      ds_vec3 xa = a->vertices[ea[0]], da = v3_unit(v3_sub(a->vertices[ea[1]], xa)), cross = v3_cross(da, db);
      if (v3_norm(cross) < 1e-3) continue;
      ds_vec3 n = v3_unit(cross); /* outward from a */
      if (v3_dot(n, v3_sub(xa, a->center)) < 0) n = v3_neg(n);
      double s = v3_dot(n, v3_sub(sb.a, xa));
      if (s > best + c->tau) {
        best = s;
        *normal = v3_neg(n);
      }
    }
  }
  return best;
}

/* The face of h[k] whose normal is nearest to n (frame of h[0], from b to a), and 1 - cos of the angle between them. */
static double square_face(int32_t *face, const pair *c, int k, ds_vec3 n) {
  ds_vec3 d = k == 0 ? v3_neg(n) : mat3_tmul_v3(&c->r[0], n);
  double best = -INFINITY;
  for (int32_t f = 0; f < c->h[k]->face_count; f++) {
    double cosine = v3_dot(d, c->h[k]->normals[f]);
    if (cosine > best + 1e-12) {
      best = cosine;
      *face = f;
    }
  }
  return 1 - best;
}

/* The contact with normal n: of edges and corners, but where a face is nearly square to n and holds the bodies apart as
 * well, it is that face's. */
static void contact_along(ds_manifold *m, const ds_query *query, const pair *c, ds_vec3 n, double separation) {
  int32_t fa = 0, fb = 0;
  double a = square_face(&fa, c, 0, n), b = square_face(&fb, c, 1, n);
  bool first = a <= b + SQUARE;
  double s = face_separation(c, first ? 0 : 1, first ? fa : fb, false, -INFINITY);
  if (fmin(a, b) < SQUARE && separation - s < 0.5 * c->skins)
    face_contact(m, query, c, first ? 0 : 1, first ? fa : fb);
  else
    edge_contact(m, query, c, n);
}

/* What separates two overlapping bodies most: a face of one of them, or two edges. */
typedef struct way_out {
  double face[2], edges; /* how far each separates, negative */
  int32_t of[2];         /* the faces */
  ds_vec3 n;             /* the product of the edges, from b to a, where there is one */
  double depth;          /* of the overlap; negative before it is computed */
} way_out;

static double least_way_out(way_out *w, const pair *c) {
  if (w->depth >= 0) return w->depth;
  w->face[0] = best_face(&w->of[0], c, 0, false, -INFINITY);
  w->face[1] = best_face(&w->of[1], c, 1, false, w->face[0] - c->skins);
  w->edges = best_edges(&w->n, c, fmax(w->face[0], w->face[1]) - c->tau);
  return w->depth = fmax(0, -fmax(w->edges, fmax(w->face[0], w->face[1])));
}

static void deep_contact(ds_manifold *m, const ds_query *query, const pair *c, const way_out *w) {
  double sf = fmax(w->face[0], w->face[1]);
  /* faces first: an edge pair must be less deep by a twentieth */
  if (w->edges > sf + 0.05 * fabs(sf) + 0.1 * c->skins) {
    contact_along(m, query, c, w->n, w->edges);
    return;
  }
  int k = w->face[0] >= w->face[1] - 0.1 * c->skins ? 0 : 1;
  face_contact(m, query, c, k, w->of[k]);
}

/* False if the cores overlap. */
static bool rounded_contact(ds_manifold *m, const ds_query *query, const pair *c, ds_vec3 guess, double far) {
  const ds_hull *a = c->h[0], *b = c->h[1];
  static const ds_mat3 identity = {{1, 0, 0, 0, 1, 0, 0, 0, 1}};
  ds_convex ca = {.points = c->core[0], .count = a->vertex_count, .r = identity};
  ds_convex cb = {.points = c->core[1], .count = b->vertex_count, .r = c->r[0], .p = c->p[0]};
  ds_closest g;
  ds_gjk(&g, &ca, &cb, guess, far);
  if (g.far) return true;
  if (g.overlap || g.distance < 1e-3 * c->skins) return false;
  nearest f;
  unique_vertices(&f, &g);
  ds_vec3 n = refine_normal(c, &f, g.v);
  double separation = -support_height(c, 0, v3_neg(n)) - support_height(c, 1, n);
  if (separation >= query->reach) return true;
  int32_t fa, fb;
  double better = fmax(separation + 0.1 * c->skins, 0.5 * separation);
  double sa = best_face(&fa, c, 0, false, better), sb = best_face(&fb, c, 1, false, fmax(better, sa - 2 * c->tau));
  if (fmax(sa, sb) > better) {
    bool first = sa >= sb - c->tau;
    face_contact(m, query, c, first ? 0 : 1, first ? fa : fb);
    return true;
  }
  contact_along(m, query, c, n, separation);
  return true;
}

/* 1. and 2. of the above; false if the cores overlap. Where even the bodies overlap so far that no core can be apart,
 * that is known without a search; `out` is NULL if the cores are inside enough to be apart. */
static bool contact_of_cores(ds_manifold *m, const ds_query *query, const pair *c, double far, way_out *out) {
  double apart = 1e-3 * fmin(c->h[0]->skin, c->h[1]->skin);
  int32_t fa, fb;
  double sa = best_face(&fa, c, 0, true, apart);
  if (sa > far) return true;
  double sb = best_face(&fb, c, 1, true, fmax(apart, sa - 2 * c->tau));
  if (sb > far) return true;
  if (fmax(sa, sb) > apart) {
    if (sa >= sb - c->tau && is_over_face(c, 0, fa, sa)) {
      face_contact(m, query, c, 0, fa);
      return true;
    }
    if (sb >= sa - c->tau && is_over_face(c, 1, fb, sb)) {
      face_contact(m, query, c, 1, fb);
      return true;
    }
    ds_vec3 guess = sa >= sb ? v3_neg(c->h[0]->normals[fa]) : mat3_mul_v3(&c->r[0], c->h[1]->normals[fb]);
    return rounded_contact(m, query, c, guess, far);
  }
  /* overlap of the cores along every face: edges may still hold them apart */
  if (out && least_way_out(out, c) > c->retreat[0] + c->retreat[1]) return false;
  return rounded_contact(m, query, c, v3_neg(c->p[0]), far);
}

/* Cores so much farther inside that they are apart although the bodies overlap; false if they would be too thin. */
static bool move_cores_in(pair *c, ds_vec3 core[2][DS_HULL_THINNED], double depth) {
  double skins = c->h[0]->skin + c->h[1]->skin, times = DEEPER * depth / skins;
  for (int k = 0; k < 2; k++) {
    const ds_hull *h = c->h[k];
    if (h->vertex_count > DS_HULL_THINNED || times > h->skins_deep) return false;
    for (int32_t i = 0; i < h->vertex_count; i++)
      core[k][i] = v3_mad(h->vertices[i], times, v3_sub(h->core[i], h->vertices[i]));
  }
  set_cores(c, core[0], core[1], times);
  c->skins = times * skins;
  return true;
}

void ds_pair_hull_hull(ds_manifold *m, const ds_query *query, const ds_placed *a, const ds_placed *b) {
  ds_vec3 space[2][DS_HULL_THINNED];
  double skin = fmin(a->shape->hull.skin, b->shape->hull.skin);
  ds_hull ha = ds_hull_thin_skinned(space[0], &a->shape->hull, skin);
  ds_hull hb = ds_hull_thin_skinned(space[1], &b->shape->hull, skin);
  pair c = {.h = {&ha, &hb}, .placed = {a, b}};
  c.r[0] = ds_mat3_tmul(&a->r, &b->r);
  c.r[1] = ds_mat3_transpose(&c.r[0]);
  ds_vec3 d = v3_sub(b->p, a->p);
  c.p[0] = mat3_tmul_v3(&a->r, d);
  c.p[1] = v3_neg(mat3_tmul_v3(&b->r, d));
  c.tau = 1e-6 * skin;
  c.eps = 0.01 * skin;
  c.skins = c.h[0]->skin + c.h[1]->skin;
  c.rounding = 4 * c.skins;
  set_cores(&c, c.h[0]->core, c.h[1]->core, 1);
  way_out w = {.depth = -1};
  if (contact_of_cores(m, query, &c, query->reach + c.h[0]->retreat + c.h[1]->retreat, &w)) return;
  ds_vec3 core[2][DS_HULL_THINNED];
  pair inner = c;
  if (move_cores_in(&inner, core, least_way_out(&w, &c)) && contact_of_cores(m, query, &inner, INFINITY, NULL)) return;
  deep_contact(m, query, &c, &w);
}
