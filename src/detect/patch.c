/* The contact patch of a polyhedron over a plane face: the corners of the faces' common polygon, and points inside.
 *
 * Everything is done in the frame of the reference, so that all gaps of a patch are heights over one plane. Faces of
 * the incident body that face the plane are projected along the normal; corners of the common polygon are vertices of
 * either polygon inside the other, and crossings of their sides. Decisions use a tolerance eps and a fixed priority
 * (vertices of a, vertices of b, crossings), so that exact ties (a cube flush on a cube) do not flicker, and feature
 * ids name vertices and sides only, so that they survive a change of the reference.
 *
 * With more than 8 contacts per face, a grid of points laid out in the frame of a's face fills the polygon. */
#include "detect/pairs.h"

enum {
  MAX_LOOP = 512,
  MAX_SPOTS = 640,
  MAX_CORNERS = 8,
  MAX_LOW = 64
};                                /* MAX_LOW: vertices kept over an unbounded plane */
static const double facing = 0.1; /* cosine from which an incident face faces the plane */

typedef struct spot {
  double u, w, gap; /* in the plane, and over it */
  uint32_t feature;
} spot;

typedef struct polygon {
  int32_t count;
  double u[MAX_LOOP], w[MAX_LOOP], gap[MAX_LOOP];
  double au[MAX_LOOP], aw[MAX_LOOP]; /* inward unit normals of the sides */
  int32_t vertex[MAX_LOOP], first;   /* first = index of side 0 among all loops */
} polygon;

typedef struct plane {
  ds_vec3 n, o, t1, t2; /* normal, origin on it, axes */
} plane;

typedef struct builder {
  const ds_patch *in;
  const ds_query *query;
  plane f;
  polygon ref, inc;
  spot spots[MAX_SPOTS];
  int32_t count;
} builder;

static void add_spot(builder *b, double u, double w, double gap, uint32_t feature) {
  if (gap < b->query->reach && b->count < MAX_SPOTS) b->spots[b->count++] = (spot){u, w, gap, feature};
}

/* How far a point lies inside side i. */
static double inside_side(const polygon *p, int32_t i, double u, double w) {
  return p->au[i] * (u - p->u[i]) + p->aw[i] * (w - p->w[i]);
}

static double inside(const polygon *p, double u, double w) {
  double least = INFINITY;
  for (int32_t i = 0; i < p->count; i++) least = fmin(least, inside_side(p, i, u, w));
  return least;
}

/* sign = +1 for a loop that runs counter-clockwise in the plane, -1 for one that looks down on it */
static void fill_sides(polygon *p, double sign) {
  for (int32_t i = 0; i < p->count; i++) {
    int32_t j = i + 1 < p->count ? i + 1 : 0;
    double du = p->u[j] - p->u[i], dw = p->w[j] - p->w[i], l = sqrt(du * du + dw * dw);
    double s = l > 0 ? sign / l : 0;
    p->au[i] = -dw * s;
    p->aw[i] = du * s;
  }
}

static void load_polygon(polygon *p, const plane *f, const ds_hull *h, int32_t face, const ds_mat3 *r, ds_vec3 t) {
  p->first = h->face_start[face];
  int32_t size = h->face_start[face + 1] - p->first;
  p->count = size < MAX_LOOP ? size : MAX_LOOP;
  for (int32_t i = 0; i < p->count; i++) {
    p->vertex[i] = h->face_vertex[p->first + i];
    ds_vec3 x = h->vertices[p->vertex[i]];
    if (r) x = v3_add(mat3_mul_v3(r, x), t);
    x = v3_sub(x, f->o);
    p->u[i] = v3_dot(x, f->t1);
    p->w[i] = v3_dot(x, f->t2);
    p->gap[i] = v3_dot(x, f->n);
  }
}

static uint32_t vertex_feature(bool of_a, int32_t vertex) { return DS_FEATURE(of_a ? 0 : 1, vertex); }

static void add_crossings(builder *b) {
  const polygon *p = &b->inc, *q = &b->ref;
  double eps = b->in->eps;
  for (int32_t i = 0; i < p->count; i++) {
    int32_t i1 = i + 1 < p->count ? i + 1 : 0;
    for (int32_t j = 0; j < q->count; j++) {
      double d0 = inside_side(q, j, p->u[i], p->w[i]), d1 = inside_side(q, j, p->u[i1], p->w[i1]);
      if (!((d0 > eps && d1 < -eps) || (d0 < -eps && d1 > eps))) continue;
      int32_t j1 = j + 1 < q->count ? j + 1 : 0;
      double e0 = inside_side(p, i, q->u[j], q->w[j]), e1 = inside_side(p, i, q->u[j1], q->w[j1]);
      if (!((e0 > eps && e1 < -eps) || (e0 < -eps && e1 > eps))) continue;
      double s = d0 / (d0 - d1);
      uint32_t ref = (uint32_t)(q->first + j) & 0x7fffu, inc = (uint32_t)(p->first + i) & 0x7fffu;
      uint32_t number = b->in->ref_is_a ? ref << 15 | inc : inc << 15 | ref;
      add_spot(b, p->u[i] + s * (p->u[i1] - p->u[i]), p->w[i] + s * (p->w[i1] - p->w[i]),
               p->gap[i] + s * (p->gap[i1] - p->gap[i]), DS_FEATURE(2, number));
    }
  }
}

/* Height over the plane of the incident face m.x = d at a point of the plane. */
static double face_height(const plane *f, ds_vec3 m, double d, double u, double w) {
  ds_vec3 x = v3_mad(v3_mad(f->o, u, f->t1), w, f->t2);
  return (d - v3_dot(m, x)) / v3_dot(m, f->n);
}

static void add_face(builder *b, ds_vec3 m, double d) {
  const polygon *p = &b->inc, *q = &b->ref;
  double eps = b->in->eps;
  bool ref_is_a = b->in->ref_is_a, bounded = b->in->ref != NULL;
  for (int32_t i = 0; i < p->count; i++)
    if (p->gap[i] < b->query->reach && (!bounded || inside(q, p->u[i], p->w[i]) >= -eps))
      add_spot(b, p->u[i], p->w[i], p->gap[i], vertex_feature(!ref_is_a, p->vertex[i]));
  if (!bounded) return;
  for (int32_t j = 0; j < q->count; j++)
    if (inside(p, q->u[j], q->w[j]) >= -eps)
      add_spot(b, q->u[j], q->w[j], face_height(&b->f, m, d, q->u[j], q->w[j]), vertex_feature(ref_is_a, q->vertex[j]));
  add_crossings(b);
}

/* Sorts by feature, and drops what repeats a feature or a place. */
static void remove_doubles(builder *b) {
  spot *s = b->spots;
  for (int32_t i = 1; i < b->count; i++) {
    spot x = s[i];
    int32_t j = i;
    for (; j > 0 && s[j - 1].feature > x.feature; j--) s[j] = s[j - 1];
    s[j] = x;
  }
  int32_t kept = 0;
  double near = 2 * b->in->eps;
  for (int32_t i = 0; i < b->count; i++) {
    bool again = false;
    for (int32_t j = 0; j < kept && !again; j++)
      again = s[j].feature == s[i].feature ||
              (fabs(s[j].u - s[i].u) <= near && fabs(s[j].w - s[i].w) <= near && fabs(s[j].gap - s[i].gap) <= 2 * near);
    if (!again) s[kept++] = s[i];
  }
  b->count = kept;
}

/* Keeps `limit` points: the deepest, then always the one farthest from those kept, deeper ones first. A later point
 * must be better by a millionth, so that ties go to the lower feature. */
static void thin_out(builder *b, int32_t limit) {
  spot *s = b->spots;
  double least = INFINITY, far[MAX_SPOTS];
  bool taken[MAX_SPOTS] = {false};
  for (int32_t i = 0; i < b->count; i++) least = fmin(least, s[i].gap);
  int32_t last = 0;
  while (s[last].gap > least + b->in->eps) last++;
  for (int32_t i = 0; i < b->count; i++) far[i] = INFINITY;
  for (int32_t n = 1;; n++) {
    taken[last] = true;
    if (n == limit) break;
    double best = -INFINITY;
    int32_t next = -1;
    for (int32_t i = 0; i < b->count; i++) {
      far[i] = fmin(far[i], hypot(s[i].u - s[last].u, s[i].w - s[last].w));
      double worth = far[i] - 2 * (s[i].gap - least);
      if (!taken[i] && (next < 0 || worth > best + 1e-6 * fabs(best))) {
        best = worth;
        next = i;
      }
    }
    last = next;
  }
  int32_t kept = 0;
  for (int32_t i = 0; i < b->count; i++)
    if (taken[i]) s[kept++] = s[i];
  b->count = kept;
}

/* Axes of the grid: along the first side of a's face (of the incident face over an unbounded plane). */
static void grid_axes(double axis[2], const builder *b) {
  const polygon *p = b->in->ref && b->in->ref_is_a ? &b->ref : &b->inc;
  double du = p->u[1] - p->u[0], dw = p->w[1] - p->w[0], l = hypot(du, dw);
  axis[0] = du / l;
  axis[1] = dw / l;
}

/* Lays a grid of about `wanted` cells over the bounds, and takes the cell middles inside both polygons as spots, or
 * only returns the share of cells that are inside. */
static double lay_grid(builder *b, const double axis[2], const double low[2], const double high[2], double wanted,
                       bool add, ds_vec3 m, double d) {
  double span[2] = {high[0] - low[0], high[1] - low[1]};
  /* the small shift keeps exact halves from flipping */
  int32_t nx = (int32_t)fmin(200, fmax(1, floor(sqrt(wanted * span[0] / span[1]) + 0.5 + 1e-6)));
  int32_t ny = (int32_t)fmin(200, fmax(1, floor(wanted / nx + 0.5 + 1e-6)));
  int32_t count = 0;
  for (int32_t iy = 0; iy < ny; iy++)
    for (int32_t ix = 0; ix < nx; ix++) {
      double x = low[0] + (ix + 0.5) / nx * span[0], y = low[1] + (iy + 0.5) / ny * span[1];
      double u = axis[0] * x - axis[1] * y, w = axis[1] * x + axis[0] * y;
      if (inside(&b->inc, u, w) < -b->in->eps || (b->in->ref && inside(&b->ref, u, w) < -b->in->eps)) continue;
      count++;
      if (add) add_spot(b, u, w, face_height(&b->f, m, d, u, w), DS_FEATURE(3, 256 * iy + ix));
    }
  return (double)count / ((double)nx * ny);
}

static void add_grid(builder *b, ds_vec3 m, double d) {
  double wanted = b->query->per_face - b->count;
  if (wanted < 1 || b->count < 3) return;
  double axis[2], low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
  grid_axes(axis, b);
  for (int32_t i = 0; i < b->count; i++) {
    double x = axis[0] * b->spots[i].u + axis[1] * b->spots[i].w, y = axis[0] * b->spots[i].w - axis[1] * b->spots[i].u;
    low[0] = fmin(low[0], x);
    low[1] = fmin(low[1], y);
    high[0] = fmax(high[0], x);
    high[1] = fmax(high[1], y);
  }
  if (!(high[0] - low[0] > 10 * b->in->eps && high[1] - low[1] > 10 * b->in->eps)) return;
  /* a polygon fills only part of its bounds: correspondingly more cells are used */
  double share = lay_grid(b, axis, low, high, fmax(wanted, 64), false, m, d);
  lay_grid(b, axis, low, high, wanted / fmax(share, 0.01), true, m, d);
}

static void set_plane(builder *b) {
  const ds_patch *in = b->in;
  if (!in->ref) {
    b->f = (plane){v3(0, 0, 1), v3(0, 0, 0), v3(1, 0, 0), v3(0, 1, 0)};
    b->ref.count = 0;
    return;
  }
  const ds_hull *h = in->ref;
  int32_t first = h->face_start[in->face];
  ds_vec3 n = h->normals[in->face], v = h->vertices[h->face_vertex[first]], w = h->vertices[h->face_vertex[first + 1]];
  ds_vec3 o = v3_mad(v, h->offsets[in->face] - v3_dot(n, v), n), e = v3_sub(w, v);
  ds_vec3 t1 = v3_unit(v3_mad(e, -v3_dot(e, n), n));
  b->f = (plane){n, o, t1, v3_cross(n, t1)};
  load_polygon(&b->ref, &b->f, h, in->face, NULL, v3(0, 0, 0));
  fill_sides(&b->ref, 1);
}

/* The lowest vertex of the incident body, where no corner was found by clipping. */
static void add_lowest(builder *b) {
  const ds_hull *h = b->in->incident;
  ds_vec3 down = mat3_tmul_v3(&b->in->r, b->f.n);
  int32_t lowest = 0;
  for (int32_t i = 1; i < h->vertex_count; i++)
    if (v3_dot(down, h->vertices[i]) < v3_dot(down, h->vertices[lowest]) - b->in->eps) lowest = i;
  ds_vec3 x = v3_sub(v3_add(mat3_mul_v3(&b->in->r, h->vertices[lowest]), b->in->p), b->f.o);
  add_spot(b, v3_dot(x, b->f.t1), v3_dot(x, b->f.t2), v3_dot(x, b->f.n), vertex_feature(!b->in->ref_is_a, lowest));
}

void ds_patch_build(ds_manifold *m, const ds_query *query, const ds_patch *in) {
  builder b;
  b.in = in;
  b.query = query;
  b.count = 0;
  set_plane(&b);
  const ds_hull *h = in->incident;
  ds_vec3 n_inc = mat3_tmul_v3(&in->r, b.f.n), flat_m = v3(0, 0, 0);
  double flat_d = 0;
  int32_t flat_face = -1, faces = 0;
  for (int32_t f = 0; f < h->face_count; f++) {
    double c = v3_dot(n_inc, h->normals[f]);
    if (c > -facing) continue;
    load_polygon(&b.inc, &b.f, h, f, &in->r, in->p);
    bool near = false;
    for (int32_t i = 0; i < b.inc.count; i++) near = near || b.inc.gap[i] < query->reach;
    if (!near) continue;
    fill_sides(&b.inc, -1);
    ds_vec3 normal = mat3_mul_v3(&in->r, h->normals[f]);
    double d = h->offsets[f] + v3_dot(normal, in->p);
    add_face(&b, normal, d);
    faces++;
    if (c < -0.999999) {
      flat_face = f;
      flat_m = normal;
      flat_d = d;
    }
  }
  if (b.count == 0) add_lowest(&b);
  remove_doubles(&b);
  int32_t limit = query->per_face < 1 ? 1 : query->per_face, most = in->ref || limit > MAX_LOW ? limit : MAX_LOW;
  if (b.count > most) thin_out(&b, most);
  if (limit > MAX_CORNERS && flat_face >= 0) {
    if (faces > 1) {
      load_polygon(&b.inc, &b.f, h, flat_face, &in->r, in->p);
      fill_sides(&b.inc, -1);
    }
    add_grid(&b, flat_m, flat_d);
  }
  ds_vec3 n_world = mat3_mul_v3(&in->placed->r, b.f.n), normal = in->ref_is_a ? v3_neg(n_world) : n_world;
  for (int32_t i = 0; i < b.count; i++) {
    const spot *s = &b.spots[i];
    ds_vec3 x = v3_mad(v3_mad(v3_mad(b.f.o, s->u, b.f.t1), s->w, b.f.t2), 0.5 * s->gap, b.f.n);
    ds_emit(m, ds_placed_point(in->placed, x), normal, s->gap, s->feature);
  }
}
