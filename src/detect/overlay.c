/* The contact points of two convex polyhedra along a given normal: the corners of the height between them.
 *
 * Seen along the normal, the faces of the reference that look up and those of the incident body that look down are two
 * flat maps, one upon the other. The gap between the bodies is linear over every cell that the two maps have in common,
 * and convex over all of them: it is known from its values in the corners of the cells. These are vertices of either
 * body over a face of the other, and crossings of their edges. Each one whose gap is below the reach is a contact. So
 * an edge or a face that is tilted against the other is held where it touches and wherever it may come to lie within
 * the step; the deepest corner shows how far the bodies have to be moved along the normal to be apart. The normal may
 * be that of a face, or any other: one rule serves faces, edges and corners, apart or overlapping, and faces of several
 * nearly coplanar facets.
 *
 * At a face contact, facets of the reference count that are flush with the face. At others, corners count that lie in
 * nearly one line or plane with the deepest one, or touch.
 *
 * Decisions use a tolerance eps and a fixed priority (vertices of a, vertices of b, crossings), so that exact ties (a
 * cube flush on a cube) do not flicker. Feature ids name vertices and edges only: they survive a change of the normal
 * and of the reference.
 *
 * Limit: a face has at most 512 vertices, a pair at most 640 corners within the reach before the best are chosen. */
#include <string.h>

#include "detect/pairs.h"

enum { MAX_LOOP = 512, MAX_SPOTS = 640, MAX_VERTICES = 4096, MAX_SIDES = 128, MAX_PLACED = 256 };
static const double facing = 0.1;   /* cosine from which a face faces along the normal */
static const double flush = 0.995;  /* cosine from which a facet belongs to the face whose normal it is */
static const double parallel = 0.1; /* slope from which edges only cross (the same as in segment.c) */

typedef struct spot {
  double u, w, gap, height; /* in the plane; between the bodies; of the point between them */
  uint32_t feature;
} spot;

typedef struct side { /* an edge as seen along the normal */
  double u[2], w[2], z[2];
  double au, aw; /* unit normal of it in the plane */
  int32_t edge;
} side;

typedef struct polygon {
  int32_t count;
  double u[MAX_LOOP], w[MAX_LOOP];
  double low[2], high[2];            /* bounds */
  double au[MAX_LOOP], aw[MAX_LOOP]; /* inward unit normals of the sides, where they have been needed */
  bool has_sides;
  ds_vec3 n; /* of the face: (u, w, z) . n = d */
  double d;
} polygon;

/* One of the two bodies, in coordinates (u, w, z) with z along the normal. */
typedef struct layer {
  const ds_hull *h;
  ds_mat3 r; /* local -> (u, w, z) */
  ds_vec3 p;
  bool of_a;                   /* the first body */
  double sign;                 /* 1: the reference, seen from above; -1: the incident body, seen from below */
  double limit;                /* the least cosine of faces that count */
  double edge;                 /* sign z from which on its points can be within the reach of the other */
  bool face[2 * MAX_VERTICES]; /* faces that count */
  int32_t face_count;          /* how many */
  bool in[MAX_VERTICES];       /* their vertices */
  ds_vec3 x[MAX_PLACED];       /* where the first vertices are */
} layer;

typedef struct builder {
  const ds_query *query;
  double eps;
  layer ref, inc;
  polygon face;
  side of_ref[MAX_SIDES], of_inc[MAX_SIDES];
  spot spots[MAX_SPOTS];
  int32_t count;
} builder;

static void add_spot(builder *b, double u, double w, double z_ref, double z_inc, uint32_t feature) {
  double gap = z_inc - z_ref;
  if (gap < b->query->reach && b->count < MAX_SPOTS)
    b->spots[b->count++] = (spot){u, w, gap, 0.5 * (z_ref + z_inc), feature};
}

static ds_vec3 transform(const layer *l, int32_t vertex) {
  return v3_add(mat3_mul_v3(&l->r, l->h->vertices[vertex]), l->p);
}
static ds_vec3 place(const layer *l, int32_t vertex) {
  return vertex < MAX_PLACED ? l->x[vertex] : transform(l, vertex);
}

static double cosine(const layer *l, int32_t face) {
  ds_vec3 n = l->h->normals[face];
  return l->sign * (l->r.m[6] * n.x + l->r.m[7] * n.y + l->r.m[8] * n.z);
}

/* Whether a face faces the other body and comes near enough. */
static bool counts(const layer *l, int32_t face) {
  if (cosine(l, face) < l->limit) return false;
  for (int32_t i = l->h->face_start[face]; i < l->h->face_start[face + 1]; i++)
    if (l->sign * place(l, l->h->face_vertex[i]).z > l->edge) return true;
  return false;
}

/* Marks the faces that count, and their vertices. A knife that cuts straight down has no face that looks down: then
 * steeper ones count. */
static void open_layer(layer *l) {
  double best = 0;
  for (int32_t f = 0; f < l->h->face_count; f++) {
    double c = cosine(l, f);
    best = c > best ? c : best;
  }
  if (l->limit > best) l->limit = 0.5 * best;
  l->face_count = 0;
  for (int32_t i = 0; i < l->h->vertex_count; i++) l->in[i] = false;
  for (int32_t f = 0; f < l->h->face_count; f++) {
    l->face[f] = counts(l, f);
    l->face_count += l->face[f];
    for (int32_t i = l->h->face_start[f]; i < l->h->face_start[f + 1] && l->face[f]; i++)
      l->in[l->h->face_vertex[i]] = true;
  }
}

/* Places the vertices; how far they reach towards the other body. */
static double place_all(layer *l) {
  double best = -INFINITY;
  for (int32_t i = 0; i < l->h->vertex_count; i++) {
    ds_vec3 x = transform(l, i);
    if (i < MAX_PLACED) l->x[i] = x;
    double z = l->sign * x.z;
    best = z > best ? z : best;
  }
  return best;
}

static void load_face(polygon *p, const layer *l, int32_t face) {
  const ds_hull *h = l->h;
  int32_t first = h->face_start[face], size = h->face_start[face + 1] - first;
  p->count = size < MAX_LOOP ? size : MAX_LOOP;
  p->n = mat3_mul_v3(&l->r, h->normals[face]);
  p->d = h->offsets[face] + v3_dot(p->n, l->p);
  p->low[0] = p->low[1] = INFINITY;
  p->high[0] = p->high[1] = -INFINITY;
  for (int32_t i = 0; i < p->count; i++) {
    ds_vec3 x = place(l, h->face_vertex[first + i]);
    p->u[i] = x.x;
    p->w[i] = x.y;
    p->low[0] = x.x < p->low[0] ? x.x : p->low[0];
    p->low[1] = x.y < p->low[1] ? x.y : p->low[1];
    p->high[0] = x.x > p->high[0] ? x.x : p->high[0];
    p->high[1] = x.y > p->high[1] ? x.y : p->high[1];
  }
  p->has_sides = false;
}

/* sign = 1 for a loop that runs counter-clockwise in the plane, -1 for one that looks down on it */
static void fill_sides(polygon *p, double sign) {
  for (int32_t i = 0; i < p->count; i++) {
    int32_t j = i + 1 < p->count ? i + 1 : 0;
    double du = p->u[j] - p->u[i], dw = p->w[j] - p->w[i], length = sqrt(du * du + dw * dw);
    double s = length > 0 ? sign / length : 0;
    p->au[i] = -dw * s;
    p->aw[i] = du * s;
  }
  p->has_sides = true;
}

/* 1 inside, 0 outside by eps at most, -1 farther outside. */
static int where(polygon *p, double sign, double u, double w, double eps) {
  if (u < p->low[0] - eps || u > p->high[0] + eps || w < p->low[1] - eps || w > p->high[1] + eps) return -1;
  if (!p->has_sides) fill_sides(p, sign);
  bool in = !(u < p->low[0] || u > p->high[0] || w < p->low[1] || w > p->high[1]);
  for (int32_t i = 0; i < p->count; i++) {
    double d = p->au[i] * (u - p->u[i]) + p->aw[i] * (w - p->w[i]);
    if (d < -eps) return -1;
    in = in && !(d < 0);
  }
  return in ? 1 : 0;
}

static void add_vertex(builder *b, const layer *of, int32_t vertex, double z) {
  ds_vec3 x = place(of, vertex);
  bool up = of->sign > 0;
  add_spot(b, x.x, x.y, up ? x.z : z, up ? z : x.z, DS_FEATURE(of->of_a ? 0 : 1, vertex));
}

/* Vertices of one layer over, or under, faces of the other: inside of one, else on the border of one; the first. */
static void add_vertices(builder *b, const layer *of, const layer *over) {
  int32_t list[MAX_VERTICES], count = 0;
  double border[MAX_VERTICES]; /* height of the first face on whose border it lies; INFINITY: none */
  polygon *p = &b->face;
  for (int32_t i = 0; i < of->h->vertex_count; i++)
    if (of->in[i]) {
      border[count] = INFINITY;
      list[count++] = i;
    }
  for (int32_t f = 0; f < over->h->face_count && count > 0; f++) {
    if (!over->face[f]) continue;
    load_face(p, over, f);
    int32_t left = 0;
    for (int32_t k = 0; k < count; k++) {
      ds_vec3 x = place(of, list[k]);
      int at = where(p, over->sign, x.x, x.y, b->eps);
      double z = at >= 0 ? (p->d - p->n.x * x.x - p->n.y * x.y) / p->n.z : INFINITY;
      if (at > 0) {
        add_vertex(b, of, list[k], z);
        continue;
      }
      border[left] = border[k] < INFINITY ? border[k] : z;
      list[left++] = list[k];
    }
    count = left;
  }
  for (int32_t k = 0; k < count; k++)
    if (border[k] < INFINITY) add_vertex(b, of, list[k], border[k]);
}

/* Up to MAX_SIDES edges that count, from `first` on; returns where to continue. */
static int32_t load_sides(side *sides, int32_t *count, const layer *l, int32_t first) {
  int32_t e = first;
  for (*count = 0; e < l->h->edge_count && *count < MAX_SIDES; e++) {
    const int32_t *edge = l->h->edges + 4 * e;
    if (!l->face[edge[2]] && !l->face[edge[3]]) continue;
    ds_vec3 x = place(l, edge[0]), y = place(l, edge[1]);
    if (l->sign * x.z <= l->edge && l->sign * y.z <= l->edge) continue;
    double du = y.x - x.x, dw = y.y - x.y, length = sqrt(du * du + dw * dw);
    if (!(length > 0)) continue;
    sides[(*count)++] = (side){{x.x, y.x}, {x.y, y.y}, {x.z, y.z}, -dw / length, du / length, e};
  }
  return e;
}

/* How far the ends of q lie beside p; whether clearly on both sides. */
static bool is_crossed(double d[2], const side *p, const side *q, double eps) {
  d[0] = p->au * (q->u[0] - p->u[0]) + p->aw * (q->w[0] - p->w[0]);
  if (fabs(d[0]) <= eps) return false;
  d[1] = p->au * (q->u[1] - p->u[0]) + p->aw * (q->w[1] - p->w[0]);
  return d[0] > 0 ? d[1] < -eps : d[1] > eps;
}

static void add_crossing(builder *b, const side *p, const side *q) {
  double d[2], e[2];
  if (!is_crossed(d, p, q, b->eps) || !is_crossed(e, q, p, b->eps)) return;
  double s = d[0] / (d[0] - d[1]), t = e[0] / (e[0] - e[1]);
  uint32_t ref = (uint32_t)p->edge & 0x7fffu, inc = (uint32_t)q->edge & 0x7fffu;
  add_spot(b, q->u[0] + s * (q->u[1] - q->u[0]), q->w[0] + s * (q->w[1] - q->w[0]), p->z[0] + t * (p->z[1] - p->z[0]),
           q->z[0] + s * (q->z[1] - q->z[0]), DS_FEATURE(2, b->ref.of_a ? ref << 15 | inc : inc << 15 | ref));
}

static void add_crossings(builder *b) {
  int32_t refs, incs;
  for (int32_t i = 0; i < b->ref.h->edge_count;) {
    i = load_sides(b->of_ref, &refs, &b->ref, i);
    for (int32_t j = 0; j < b->inc.h->edge_count && refs > 0;) {
      j = load_sides(b->of_inc, &incs, &b->inc, j);
      for (int32_t k = 0; k < refs; k++)
        for (int32_t l = 0; l < incs; l++) add_crossing(b, &b->of_ref[k], &b->of_inc[l]);
    }
  }
}

/* Sorts by feature; of what lies in one place the first stays, with the least gap of all. */
static void merge_near(builder *b, double near) {
  spot *s = b->spots;
  for (int32_t i = 1; i < b->count; i++) {
    spot x = s[i];
    int32_t j = i;
    for (; j > 0 && s[j - 1].feature > x.feature; j--) s[j] = s[j - 1];
    s[j] = x;
  }
  int32_t kept = 0;
  for (int32_t i = 0; i < b->count; i++) {
    int32_t j = 0;
    while (j < kept && !(fabs(s[j].u - s[i].u) <= near && fabs(s[j].w - s[i].w) <= near)) j++;
    if (j == kept)
      s[kept++] = s[i];
    else
      s[j].gap = fmin(s[j].gap, s[i].gap);
  }
  b->count = kept;
}

static double apart(const spot *p, const spot *q) {
  double du = p->u - q->u, dw = p->w - q->w;
  return sqrt(du * du + dw * dw);
}

/* Where the contact is that of edges or corners, keeps what touches, and what lies in nearly one line or plane with the
 * deepest point. The rest recedes so steeply that it would only cost. */
static void drop_steep(builder *b, double near) {
  const spot *s = b->spots;
  int32_t low = 0, kept = 0;
  for (int32_t i = 1; i < b->count; i++)
    if (s[i].gap < s[low].gap - b->eps) low = i;
  spot deepest = b->spots[low];
  for (int32_t i = 0; i < b->count; i++) {
    if (s[i].gap <= near || s[i].gap <= deepest.gap + parallel * apart(&s[i], &deepest)) b->spots[kept++] = s[i];
  }
  b->count = kept;
}

/* How far spot q stands out of the line from p to x, to its left. */
static double stands_out(const spot *p, const spot *q, const spot *x) {
  double du = x->u - p->u, dw = x->w - p->w;
  return (dw * (q->u - p->u) - du * (q->w - p->w)) / fmax(sqrt(du * du + dw * dw), 1e-300);
}

/* The corners of the convex polygon around all spots, one after the other (Jarvis): from the spot farthest from the
 * first on, always to the one that has none on its right. On a straight side, within eps, only the ends count. Returns
 * how many. */
static int32_t outer_corners(int32_t *ring, const builder *b) {
  const spot *s = b->spots;
  int32_t start = 0, size = 0;
  for (int32_t i = 1; i < b->count; i++)
    if (apart(&s[0], &s[i]) > apart(&s[0], &s[start])) start = i;
  for (int32_t at = start; size < b->count;) {
    int32_t next = start;
    ring[size++] = at;
    for (int32_t i = 0; i < b->count; i++) {
      if (i == at || i == next) continue;
      double out = stands_out(&s[at], &s[i], &s[next]);
      if (next == at || out > b->eps || (out >= -b->eps && apart(&s[at], &s[i]) > apart(&s[at], &s[next]))) next = i;
    }
    if (next == start) break;
    at = next;
  }
  return size;
}

/* Takes the corner away that stands out least; the one to `keep` stays. */
static int32_t blunt(int32_t *ring, int32_t size, const builder *b, int32_t keep) {
  int32_t least = -1;
  double best = INFINITY;
  for (int32_t i = 0; i < size; i++) {
    int32_t before = ring[i > 0 ? i - 1 : size - 1], after = ring[i + 1 < size ? i + 1 : 0];
    double out = stands_out(&b->spots[before], &b->spots[ring[i]], &b->spots[after]);
    if (ring[i] == keep || (least >= 0 && out > best - 1e-6 * best)) continue;
    best = out;
    least = i;
  }
  memmove(ring + least, ring + least + 1, (size_t)(size - least - 1) * sizeof *ring);
  return size - 1;
}

/* Keeps `limit` points: the deepest; then the outer corners, without those that stand out least; then always the one
 * farthest from those kept, deeper ones first. A later point must be better by a millionth, so that ties go to the
 * lower feature. */
static void thin_out(builder *b, int32_t limit) {
  spot *s = b->spots;
  double least = INFINITY, far[MAX_SPOTS];
  bool taken[MAX_SPOTS] = {false};
  int32_t ring[MAX_SPOTS], deepest = 0, kept = 0;
  for (int32_t i = 0; i < b->count; i++) least = fmin(least, s[i].gap);
  while (s[deepest].gap > least + b->eps) deepest++;
  int32_t size = outer_corners(ring, b), inner = 1;
  for (int32_t i = 0; i < size; i++) inner &= ring[i] != deepest;
  while (size + inner > limit && size > 1) size = blunt(ring, size, b, deepest);
  for (int32_t i = 0; i < size; i++) taken[ring[i]] = true;
  taken[deepest] = true;
  for (int32_t i = 0; i < b->count; i++) {
    far[i] = apart(&s[i], &s[deepest]);
    for (int32_t j = 0; j < size; j++) far[i] = fmin(far[i], apart(&s[i], &s[ring[j]]));
  }
  for (int32_t n = size + inner; n < limit; n++) {
    double best = -INFINITY;
    int32_t next = -1;
    for (int32_t i = 0; i < b->count; i++) {
      double worth = far[i] - 2 * (s[i].gap - least);
      if (!taken[i] && (next < 0 || worth > best + 1e-6 * fabs(best))) {
        best = worth;
        next = i;
      }
    }
    taken[next] = true;
    for (int32_t i = 0; i < b->count; i++) far[i] = fmin(far[i], apart(&s[i], &s[next]));
  }
  for (int32_t i = 0; i < b->count; i++)
    if (taken[i]) s[kept++] = s[i];
  b->count = kept;
}

/* Axes of the plane: t1 is any direction across n, the same for the same n. */
static ds_mat3 axes(ds_vec3 n) {
  ds_vec3 a = fabs(n.x) < 0.6 ? v3(1, 0, 0) : v3(0, 1, 0), t1 = v3_unit(v3_mad(a, -v3_dot(a, n), n));
  ds_vec3 t2 = v3_cross(n, t1);
  return (ds_mat3){{t1.x, t1.y, t1.z, t2.x, t2.y, t2.z, n.x, n.y, n.z}};
}

bool ds_overlay_build(ds_manifold *m, const ds_query *query, const ds_overlay *in) {
  builder b;
  b.query = query;
  b.eps = in->eps;
  b.count = 0;
  ds_mat3 frame = axes(in->n);
  b.ref.h = in->ref, b.ref.r = frame, b.ref.p = v3(0, 0, 0), b.ref.sign = 1, b.ref.of_a = in->ref_is_a;
  b.inc.h = in->incident, b.inc.sign = -1, b.inc.of_a = !in->ref_is_a;
  ds_mat3 back = ds_mat3_transpose(&frame);
  b.inc.r = ds_mat3_tmul(&back, &in->r);
  b.inc.p = mat3_mul_v3(&frame, in->p);
  b.ref.limit = in->is_face ? flush : facing;
  b.inc.limit = facing;
  double top = place_all(&b.ref), bottom = -place_all(&b.inc);
  b.ref.edge = bottom - query->reach;
  b.inc.edge = -(top + query->reach);
  open_layer(&b.ref);
  open_layer(&b.inc);
  add_vertices(&b, &b.inc, &b.ref);
  add_vertices(&b, &b.ref, &b.inc);
  add_crossings(&b);
  merge_near(&b, 2 * in->eps);
  if (!in->is_face && b.count > 1) drop_steep(&b, in->near);
  int32_t limit = query->per_face < 1 ? 1 : query->per_face;
  if (b.count > limit) thin_out(&b, limit);
  ds_vec3 n_world = mat3_mul_v3(&in->placed->r, in->n), normal = in->ref_is_a ? v3_neg(n_world) : n_world;
  for (int32_t i = 0; i < b.count; i++) {
    const spot *s = &b.spots[i];
    ds_vec3 x = mat3_tmul_v3(&frame, v3(s->u, s->w, s->height));
    ds_emit(m, ds_placed_point(in->placed, x), normal, s->gap, s->feature);
  }
  return b.count > 0;
}
