/* Convex polyhedra: the hull of points, and the polyhedron of a box.
 *
 * Points are moved to their middle and scaled to unit extent, so that tolerances are relative. The hull is built by
 * quickhull (Barber, Dobkin and Huhdanpaa 1996): a tetrahedron grows by the point farthest outside a face, whose
 * visible faces are replaced by a fan over their horizon. Triangles that lie in one plane within a tolerance are then
 * merged into polygons, and vertices that fewer than three faces share are dropped.
 *
 * Every hull also carries its core: each face moved inwards by `skin`. Where more than three planes meet in a vertex
 * and would no longer meet after the move, the core is the hull scaled about its centre instead; both have the same
 * faces, edges and normals as the hull.
 *
 * Limits: 100,000 points in, 4,096 vertices out, thickness at least a millionth of the extent. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "shape/hull.h"

/* A point nearer to a plane than the first is on it, triangles nearer to one plane than the second are merged; extent =
 * 1. Where the noise of the points (few printed digits) is of the size of the tolerances, the result may not be a
 * polyhedron: then coarser tolerances are tried, and at last hardly any merging. */
static const double tolerances[][2] = {{1e-10, 1e-8}, {3e-9, 3e-7}, {3e-8, 3e-6}, {1e-12, 1e-11}};
enum { ATTEMPTS = 4 };
static const double flat_tolerance = 1e-6; /* thinner sets count as flat */
enum { MAX_POINTS = 100000, MAX_VERTICES = 4096 };

typedef struct triangle {
  int32_t v[3], adj[3]; /* adj[k] lies across the edge v[k], v[k + 1] */
  ds_vec3 n;
  double d;
  int32_t outside; /* first of the list of points in front of it, the farthest; -1 = none */
  int32_t group;
  bool dead, visible;
} triangle;

typedef struct builder {
  ds_vec3 *p; /* count points, unit extent */
  double outside_tolerance, merge_tolerance;
  int32_t count;
  int32_t *next; /* lists of outside points */
  triangle *t;
  int32_t t_count, t_capacity;
  int32_t *queue, *horizon,
      *start; /* visible faces; (a, b, outer) a horizon edge; horizon edge that starts at a point */
  int32_t queue_capacity, horizon_capacity;
  int32_t *uses; /* by point: how many faces share it, and where it went */
} builder;

static const char *const broken =
    "the points of a convex hull are too nearly coplanar to build it; merge points that almost coincide";

static ds_status fail(ds_error *error, const char *message) { return ds_fail(error, DS_ERROR_INPUT, "%s", message); }

static ds_status no_memory(ds_error *error) {
  return ds_fail(error, DS_ERROR_MEMORY, "out of memory while building a convex hull");
}

static double height(const triangle *t, ds_vec3 x) { return v3_dot(t->n, x) - t->d; }

/* Appends it. False where memory ran out. */
static bool new_triangle(builder *b, int32_t i, int32_t j, int32_t k) {
  if (!ds_array_reserve(&b->t, &b->t_capacity, b->t_count + 1, sizeof *b->t)) return false;
  ds_vec3 x = b->p[i], n = v3_unit(v3_cross(v3_sub(b->p[j], x), v3_sub(b->p[k], x)));
  double d = (v3_dot(n, x) + v3_dot(n, b->p[j]) + v3_dot(n, b->p[k])) / 3;
  b->t[b->t_count++] = (triangle){{i, j, k}, {-1, -1, -1}, n, d, -1, -1, false, false};
  return true;
}

/* Puts a point into the list of the face of [first, t_count) that it lies farthest in front of. */
static void assign_point(builder *b, int32_t point, int32_t first) {
  double best = b->outside_tolerance;
  int32_t face = -1;
  for (int32_t f = first; f < b->t_count; f++) {
    double g = height(&b->t[f], b->p[point]);
    if (!b->t[f].dead && g > best) {
      best = g;
      face = f;
    }
  }
  if (face < 0) return;
  int32_t head = b->t[face].outside;
  if (head >= 0 && height(&b->t[face], b->p[head]) >= best) {
    b->next[point] = b->next[head];
    b->next[head] = point;
  } else {
    b->next[point] = head;
    b->t[face].outside = point;
  }
}

/* The point that makes a function of the points largest: distance from a point, a line or a plane. */
static int32_t farthest(const builder *b, double *distance, ds_vec3 origin, ds_vec3 line, ds_vec3 plane, int kind) {
  int32_t best = 0;
  *distance = -1;
  for (int32_t i = 0; i < b->count; i++) {
    ds_vec3 r = v3_sub(b->p[i], origin);
    double g = kind == 0 ? v3_norm(r) : kind == 1 ? v3_norm(v3_cross(line, r)) : fabs(v3_dot(plane, r));
    if (g > *distance) {
      *distance = g;
      best = i;
    }
  }
  return best;
}

static ds_status first_tetrahedron(builder *b, ds_error *error) {
  double size;
  int32_t i0 = farthest(b, &size, b->p[0], v3(0, 0, 0), v3(0, 0, 0), 0);
  int32_t i1 = farthest(b, &size, b->p[i0], v3(0, 0, 0), v3(0, 0, 0), 0);
  ds_vec3 line = v3_unit(v3_sub(b->p[i1], b->p[i0]));
  int32_t i2 = farthest(b, &size, b->p[i0], line, v3(0, 0, 0), 1);
  if (!(size > flat_tolerance))
    return fail(error, "the points of a convex hull lie on one line; give points that span a volume");
  ds_vec3 plane = v3_unit(v3_cross(line, v3_sub(b->p[i2], b->p[i0])));
  int32_t i3 = farthest(b, &size, b->p[i0], line, plane, 2);
  if (!(size > flat_tolerance))
    return fail(error, "the points of a convex hull lie in one plane; give points that span a volume");
  if (v3_dot(plane, v3_sub(b->p[i3], b->p[i0])) > 0) {
    int32_t swap = i1;
    i1 = i2;
    i2 = swap;
  }
  /* now i3 lies below the plane of i0, i1, i2 */
  const int32_t v[4][3] = {{i0, i1, i2}, {i1, i0, i3}, {i2, i1, i3}, {i0, i2, i3}};
  const int32_t adj[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
  for (int32_t f = 0; f < 4; f++) {
    if (!new_triangle(b, v[f][0], v[f][1], v[f][2])) return no_memory(error);
    memcpy(b->t[f].adj, adj[f], sizeof adj[f]);
  }
  for (int32_t i = 0; i < b->count; i++) assign_point(b, i, 0);
  return DS_OK;
}

/* Collects the faces that see a point, and the horizon around them. */
static bool find_horizon(builder *b, int32_t *visible_count, int32_t *horizon_count, int32_t face, ds_vec3 x) {
  int32_t visible = 1, edges = 0;
  b->queue[0] = face;
  b->t[face].visible = true;
  for (int32_t q = 0; q < visible; q++) {
    triangle *t = &b->t[b->queue[q]];
    for (int k = 0; k < 3; k++) {
      triangle *o = &b->t[t->adj[k]];
      if (o->visible) continue;
      if (height(o, x) > b->outside_tolerance) {
        if (!ds_array_reserve(&b->queue, &b->queue_capacity, visible + 1, sizeof *b->queue)) return false;
        o->visible = true;
        b->queue[visible++] = t->adj[k];
      } else {
        if (!ds_array_reserve(&b->horizon, &b->horizon_capacity, 3 * edges + 3, sizeof *b->horizon)) return false;
        int32_t *e = b->horizon + 3 * edges++;
        e[0] = t->v[k];
        e[1] = t->v[(k + 1) % 3];
        e[2] = t->adj[k];
      }
    }
  }
  *visible_count = visible;
  *horizon_count = edges;
  return true;
}

/* Replaces the faces that see a point by a fan over their horizon. */
static ds_status add_point(builder *b, int32_t point, int32_t face, ds_error *error) {
  int32_t visible, edges;
  if (!find_horizon(b, &visible, &edges, face, b->p[point])) return no_memory(error);
  for (int32_t e = 0; e < edges; e++) {
    if (b->start[b->horizon[3 * e]] >= 0) return fail(error, broken);
    b->start[b->horizon[3 * e]] = e;
  }
  int32_t first = b->t_count;
  for (int32_t e = 0; e < edges; e++) {
    const int32_t *h = b->horizon + 3 * e;
    int32_t next = b->start[h[1]], f = first + e;
    if (!new_triangle(b, h[0], h[1], point)) return no_memory(error);
    if (next < 0) return fail(error, broken);
    triangle *t = &b->t[f], *outer = &b->t[h[2]];
    t->adj[0] = h[2];
    t->adj[1] = first + next;
    for (int k = 0; k < 3; k++)
      if (outer->v[k] == h[1] && outer->v[(k + 1) % 3] == h[0]) outer->adj[k] = f;
  }
  for (int32_t e = 0; e < edges; e++) {
    b->t[b->t[first + e].adj[1]].adj[2] = first + e;
    b->start[b->horizon[3 * e]] = -1;
  }
  for (int32_t q = 0; q < visible; q++) {
    triangle *t = &b->t[b->queue[q]];
    t->dead = true;
    for (int32_t i = t->outside, next; i >= 0; i = next) {
      next = b->next[i];
      if (i != point) assign_point(b, i, first);
    }
  }
  return DS_OK;
}

/* The representative of a face's group of coplanar faces. */
static int32_t group_of(builder *b, int32_t f) {
  while (b->t[f].group != f) f = b->t[f].group = b->t[b->t[f].group].group;
  return f;
}

static double area2(const builder *b, const triangle *t) {
  ds_vec3 x = b->p[t->v[0]];
  return v3_norm(v3_cross(v3_sub(b->p[t->v[1]], x), v3_sub(b->p[t->v[2]], x)));
}

/* Two neighbours lie in one plane where the far vertex of the smaller is in the plane of the larger. */
static void merge_coplanar(builder *b) {
  for (int32_t f = 0; f < b->t_count; f++) b->t[f].group = f;
  for (int32_t f = 0; f < b->t_count; f++) {
    if (b->t[f].dead) continue;
    for (int k = 0; k < 3; k++) {
      int32_t o = b->t[f].adj[k];
      if (o < f) continue;
      bool larger = area2(b, &b->t[f]) >= area2(b, &b->t[o]);
      const triangle *big = &b->t[larger ? f : o], *small = &b->t[larger ? o : f];
      double worst = 0;
      for (int i = 0; i < 3; i++) worst = fmax(worst, fabs(height(big, b->p[small->v[i]])));
      if (worst < b->merge_tolerance) b->t[group_of(b, o)].group = group_of(b, f);
    }
  }
}

static ds_status allocate(ds_hull *h, int32_t vertices, int32_t faces, int32_t loops) {
  *h = (ds_hull){.vertex_count = vertices, .face_count = faces, .edge_count = loops / 2};
  h->vertices = calloc((size_t)vertices, sizeof *h->vertices);
  h->core = calloc((size_t)vertices, sizeof *h->core);
  h->normals = calloc((size_t)faces, sizeof *h->normals);
  h->offsets = calloc((size_t)faces, sizeof *h->offsets);
  h->face_start = calloc((size_t)faces + 1, sizeof *h->face_start);
  h->face_vertex = calloc((size_t)loops, sizeof *h->face_vertex);
  h->edges = calloc(2 * (size_t)loops + 4, sizeof *h->edges);
  h->arcs = calloc((size_t)loops / 2 + 1, sizeof *h->arcs);
  if (h->vertices && h->core && h->normals && h->offsets && h->face_start && h->face_vertex && h->edges && h->arcs)
    return DS_OK;
  ds_hull_free(h);
  return DS_ERROR_MEMORY;
}

/* Fills the edges from the loops; false if an edge has other than two faces. */
static bool fill_edges(ds_hull *h) {
  int32_t count = 0;
  for (int32_t f = 0; f < h->face_count; f++)
    for (int32_t i = h->face_start[f]; i < h->face_start[f + 1]; i++) {
      int32_t next = i + 1 < h->face_start[f + 1] ? i + 1 : h->face_start[f];
      int32_t v = h->face_vertex[i], w = h->face_vertex[next];
      if (v < w) {
        if (count >= h->edge_count) return false;
        memcpy(h->edges + 4 * count++, (int32_t[4]){v, w, f, -1}, 4 * sizeof(int32_t));
      }
    }
  if (count != h->edge_count || h->vertex_count - h->edge_count + h->face_count != 2) return false;
  for (int32_t f = 0; f < h->face_count; f++)
    for (int32_t i = h->face_start[f]; i < h->face_start[f + 1]; i++) {
      int32_t next = i + 1 < h->face_start[f + 1] ? i + 1 : h->face_start[f], e = 0;
      int32_t v = h->face_vertex[i], w = h->face_vertex[next];
      if (v < w) continue;
      while (e < count && !(h->edges[4 * e] == w && h->edges[4 * e + 1] == v)) e++;
      if (e == count || h->edges[4 * e + 3] >= 0) return false;
      h->edges[4 * e + 3] = f;
    }
  return true;
}

/* Outward normals by Newell's sum; offsets such that every vertex is inside. */
static void fill_planes(ds_hull *h) {
  for (int32_t f = 0; f < h->face_count; f++) {
    int32_t first = h->face_start[f], last = h->face_start[f + 1];
    ds_vec3 origin = h->vertices[h->face_vertex[first]], sum = v3(0, 0, 0);
    for (int32_t i = first + 1; i + 1 < last; i++) {
      ds_vec3 r = v3_sub(h->vertices[h->face_vertex[i]], origin),
              s = v3_sub(h->vertices[h->face_vertex[i + 1]], origin);
      sum = v3_add(sum, v3_cross(r, s));
    }
    h->normals[f] = v3_unit(sum);
    h->offsets[f] = -INFINITY;
    for (int32_t i = 0; i < h->vertex_count; i++)
      h->offsets[f] = fmax(h->offsets[f], v3_dot(h->normals[f], h->vertices[i]));
  }
}

static void fill_arcs(ds_hull *h) {
  for (int32_t e = 0; e < h->edge_count; e++)
    h->arcs[e] = v3_cross(h->normals[h->edges[4 * e + 3]], h->normals[h->edges[4 * e + 2]]);
}

/* The centroid of the volume, by tetrahedra over the faces. */
static ds_vec3 centroid(const ds_hull *h) {
  ds_vec3 sum = v3(0, 0, 0), base = h->vertices[0];
  double volume = 0;
  for (int32_t f = 0; f < h->face_count; f++) {
    ds_vec3 a = v3_sub(h->vertices[h->face_vertex[h->face_start[f]]], base);
    for (int32_t i = h->face_start[f] + 1; i + 1 < h->face_start[f + 1]; i++) {
      ds_vec3 b = v3_sub(h->vertices[h->face_vertex[i]], base), c = v3_sub(h->vertices[h->face_vertex[i + 1]], base);
      double w = v3_dot(a, v3_cross(b, c));
      volume += w;
      sum = v3_mad(sum, w / 4, v3_add(a, v3_add(b, c)));
    }
  }
  return v3_mad(base, 1 / volume, sum);
}

/* The point where the planes of a vertex's faces, moved in by `skin`, meet; false if they do not meet in one. */
static bool meet_planes(ds_vec3 *x, const ds_hull *h, int32_t vertex, double skin) {
  double m[3][4] = {{0}};
  int32_t planes = 0;
  for (int32_t i = 0, f = 0; f < h->face_count; i++) {
    while (f < h->face_count && i >= h->face_start[f + 1]) f++;
    if (f == h->face_count) break;
    if (h->face_vertex[i] != vertex) continue;
    const double n[3] = {h->normals[f].x, h->normals[f].y, h->normals[f].z};
    planes++;
    for (int r = 0; r < 3; r++)
      for (int c = 0; c < 4; c++) m[r][c] += n[r] * (c < 3 ? n[c] : -skin);
  }
  for (int c = 0; c < 3; c++) {
    int pivot = c;
    for (int r = c + 1; r < 3; r++)
      if (fabs(m[r][c]) > fabs(m[pivot][c])) pivot = r;
    if (!(fabs(m[pivot][c]) > 1e-9)) return false;
    for (int k = 0; k < 4; k++) {
      double swap = m[c][k];
      m[c][k] = m[pivot][k];
      m[pivot][k] = swap;
    }
    for (int r = 0; r < 3; r++)
      for (int k = 3; r != c && k >= c; k--) m[r][k] -= m[r][c] / m[c][c] * m[c][k];
  }
  ds_vec3 move = v3(m[0][3] / m[0][0], m[1][3] / m[1][1], m[2][3] / m[2][2]);
  *x = v3_add(h->vertices[vertex], move);
  for (int32_t i = 0, f = 0; f < h->face_count && planes > 3; i++) {
    while (f < h->face_count && i >= h->face_start[f + 1]) f++;
    if (f == h->face_count) break;
    if (h->face_vertex[i] == vertex && fabs(v3_dot(h->normals[f], move) + skin) > 1e-6 * skin) return false;
  }
  return true;
}

/* How many times as far in the core can be before one of its edges has lost three quarters of its length. */
static double deepest_core(const ds_hull *h) {
  double most = INFINITY;
  for (int32_t e = 0; e < h->edge_count; e++) {
    int32_t i = h->edges[4 * e], j = h->edges[4 * e + 1];
    ds_vec3 r = v3_sub(h->vertices[j], h->vertices[i]);
    double length = v3_norm2(r), lost = length - v3_dot(v3_sub(h->core[j], h->core[i]), r);
    if (lost > 0) most = fmin(most, 0.75 * length / lost);
  }
  return most;
}

static void fill_core(ds_hull *h) {
  double depth = INFINITY;
  for (int32_t f = 0; f < h->face_count; f++) depth = fmin(depth, h->offsets[f] - v3_dot(h->normals[f], h->center));
  h->skin = DS_CORE_SHARE * depth;
  bool uniform = true;
  for (int32_t i = 0; i < h->vertex_count && uniform; i++) uniform = meet_planes(&h->core[i], h, i, h->skin);
  for (int32_t e = 0; e < h->edge_count && uniform; e++) {
    int32_t i = h->edges[4 * e], j = h->edges[4 * e + 1];
    ds_vec3 r = v3_sub(h->vertices[j], h->vertices[i]);
    uniform = v3_dot(v3_sub(h->core[j], h->core[i]), r) > 0.5 * v3_norm2(r);
  }
  h->retreat = 0;
  for (int32_t i = 0; i < h->vertex_count; i++) {
    if (!uniform) h->core[i] = v3_mad(h->vertices[i], -h->skin / depth, v3_sub(h->vertices[i], h->center));
    h->retreat = fmax(h->retreat, v3_dist(h->core[i], h->vertices[i]));
  }
  h->skins_deep = deepest_core(h);
}

ds_hull ds_hull_thin_skinned(ds_vec3 space[DS_HULL_THINNED], const ds_hull *hull, double skin) {
  ds_hull h = *hull;
  if (!(skin < h.skin) || h.vertex_count > DS_HULL_THINNED) return h;
  double share = skin / h.skin;
  for (int32_t i = 0; i < h.vertex_count; i++)
    space[i] = v3_mad(h.vertices[i], share, v3_sub(h.core[i], h.vertices[i]));
  h.core = space;
  h.skin = skin, h.retreat *= share, h.skins_deep /= share;
  return h;
}

/* The loop of a group: edges to other groups, one after the other; only vertices of three or more groups count. */
static int32_t trace_loop(int32_t *loop, builder *b, int32_t group) {
  int32_t f = -1, k = 0, count = 0;
  for (int32_t i = 0; i < b->t_count && f < 0; i++)
    for (int e = 0; e < 3 && f < 0; e++)
      if (!b->t[i].dead && group_of(b, i) == group && group_of(b, b->t[i].adj[e]) != group) {
        f = i;
        k = e;
      }
  int32_t f0 = f, k0 = k;
  for (int32_t guard = 0; f >= 0 && guard < 4 * b->t_count; guard++) {
    int32_t v = b->t[f].v[k];
    if (b->uses[v] >= 3) {
      if (loop) loop[count] = v;
      count++;
    }
    /* turn about the end of the edge to the next one on the border */
    for (k = (k + 1) % 3; group_of(b, b->t[f].adj[k]) == group;) {
      int32_t o = b->t[f].adj[k], end = b->t[f].v[k];
      for (k = 0; b->t[o].v[k] != end; k++)
        if (k == 2) return -1;
      f = o;
    }
    if (f == f0 && k == k0) return count;
  }
  return -1;
}

/* uses[v] = number of groups that meet in v */
static void count_uses(builder *b) {
  for (int32_t i = 0; i < b->count; i++) b->uses[i] = 0;
  for (int32_t f = 0; f < b->t_count; f++) {
    for (int k = 0; k < 3 && !b->t[f].dead; k++) {
      /* go round the vertex once, from the first triangle by index, and count the borders crossed */
      int32_t v = b->t[f].v[k], g = f, lowest = f, borders = 0;
      do {
        int e = 0;
        while (e < 2 && b->t[g].v[e] != v) e++;
        int32_t o = b->t[g].adj[e];
        borders += group_of(b, g) != group_of(b, o);
        lowest = o < lowest ? o : lowest;
        g = o;
      } while (g != f);
      if (lowest == f) b->uses[v] = borders;
    }
  }
}

static ds_status make_polygons(ds_hull *hull, builder *b, double scale, ds_vec3 middle, ds_error *error) {
  merge_coplanar(b);
  count_uses(b);
  int32_t vertices = 0, faces = 0, loops = 0;
  for (int32_t f = 0; f < b->t_count; f++) {
    if (b->t[f].dead || group_of(b, f) != f) continue;
    int32_t size = trace_loop(NULL, b, f);
    if (size < 3) return fail(error, broken);
    faces++;
    loops += size;
  }
  for (int32_t i = 0; i < b->count; i++) vertices += b->uses[i] >= 3;
  if (vertices > MAX_VERTICES) return fail(error, "a convex hull has more than 4096 vertices; simplify its points");
  if (vertices < 4 || faces < 4 || loops % 2) return fail(error, broken);
  if (allocate(hull, vertices, faces, loops) != DS_OK) return no_memory(error);
  int32_t face = 0;
  for (int32_t f = 0; f < b->t_count; f++) {
    if (b->t[f].dead || group_of(b, f) != f) continue;
    hull->face_start[face + 1] = hull->face_start[face] + trace_loop(hull->face_vertex + hull->face_start[face], b, f);
    face++;
  }
  for (int32_t i = 0, v = 0; i < b->count; i++) {
    if (b->uses[i] < 3) continue;
    hull->vertices[v] = v3_mad(middle, scale, b->p[i]);
    b->uses[i] = v++;
  }
  for (int32_t i = 0; i < loops; i++) hull->face_vertex[i] = b->uses[hull->face_vertex[i]];
  if (!fill_edges(hull)) {
    ds_hull_free(hull);
    return fail(error, broken);
  }
  return DS_OK;
}

/* Faces must hold all points and be convex: what the caller relies on. */
static bool is_sound(const ds_hull *h, const builder *b, double scale, ds_vec3 middle) {
  double tolerance = fmax(10 * b->merge_tolerance, 1e-8) * scale;
  for (int32_t f = 0; f < h->face_count; f++) {
    if (!(v3_norm(h->normals[f]) > 0.5)) return false;
    for (int32_t i = 0; i < b->count; i++)
      if (!(v3_dot(h->normals[f], v3_mad(middle, scale, b->p[i])) <= h->offsets[f] + tolerance)) return false;
    for (int32_t i = h->face_start[f]; i < h->face_start[f + 1]; i++) {
      int32_t j = ds_next_in_face(h, f, i), k = ds_next_in_face(h, f, j);
      ds_vec3 x = h->vertices[h->face_vertex[i]], y = h->vertices[h->face_vertex[j]],
              z = h->vertices[h->face_vertex[k]];
      double turn = v3_dot(h->normals[f], v3_cross(v3_sub(y, x), v3_sub(z, y)));
      if (!(v3_dot(h->normals[f], x) >= h->offsets[f] - tolerance)) return false;
      if (!(turn >= -tolerance * (v3_dist(x, y) + v3_dist(y, z)))) return false;
    }
  }
  return true;
}

static ds_status build(ds_hull *hull, builder *b, double scale, ds_vec3 middle, int attempt, ds_error *error) {
  b->outside_tolerance = tolerances[attempt][0];
  b->merge_tolerance = tolerances[attempt][1];
  b->t_count = 0;
  for (int32_t i = 0; i < b->count; i++) b->start[i] = -1;
  ds_status status = first_tetrahedron(b, error);
  for (int32_t f = 0; f < b->t_count && status == DS_OK; f++)
    if (!b->t[f].dead && b->t[f].outside >= 0) status = add_point(b, b->t[f].outside, f, error);
  if (status == DS_OK) status = make_polygons(hull, b, scale, middle, error);
  if (status != DS_OK) return status;
  fill_planes(hull);
  fill_arcs(hull);
  hull->center = centroid(hull);
  if (is_sound(hull, b, scale, middle)) return DS_OK;
  ds_hull_free(hull);
  return fail(error, broken);
}

ds_status ds_hull_build(ds_hull *hull, const ds_vec3 *points, int32_t count, ds_error *error) {
  *hull = (ds_hull){0};
  if (count < 4 || !points) return fail(error, "a convex hull needs at least 4 points");
  if (count > MAX_POINTS) return fail(error, "a convex hull takes at most 100000 points; simplify them");
  ds_vec3 low = points[0], high = points[0];
  for (int32_t i = 0; i < count; i++) {
    if (!v3_finite(points[i])) return fail(error, "a point of a convex hull is not a finite number");
    low = v3_min(low, points[i]);
    high = v3_max(high, points[i]);
  }
  ds_vec3 span = v3_sub(high, low), middle = v3_mad(low, 0.5, span);
  double extent = fmax(span.x, fmax(span.y, span.z));
  double reach = fmax(v3_norm(low), v3_norm(high));
  if (!(extent > 0) || extent < 1e-12 * reach)
    return fail(error, "the points of a convex hull coincide; give points that span a volume");
  if (!(extent > 1e-100 && reach < 1e100)) return fail(error, "the points of a convex hull are too small or too large");
  builder b = {.count = count};
  b.p = calloc((size_t)count, sizeof *b.p);
  b.next = calloc((size_t)count, sizeof *b.next);
  b.start = calloc((size_t)count, sizeof *b.start);
  b.uses = calloc((size_t)count, sizeof *b.uses);
  ds_status status = DS_ERROR_MEMORY;
  if (b.p && b.next && b.start && b.uses && ds_array_reserve(&b.queue, &b.queue_capacity, 64, sizeof *b.queue)) {
    for (int32_t i = 0; i < count; i++) {
      b.p[i] = v3_scale(1 / extent, v3_sub(points[i], middle));
    }
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      status = build(hull, &b, extent, middle, attempt, error);
      if (status != DS_ERROR_INPUT) break;
    }
  } else {
    no_memory(error);
  }
  free(b.p);
  free(b.next);
  free(b.start);
  free(b.uses);
  free(b.queue);
  free(b.horizon);
  free(b.t);
  if (status != DS_OK) return status;
  fill_core(hull);
  return DS_OK;
}

ds_status ds_hull_box(ds_hull *hull, ds_vec3 half) {
  /* vertex i: bit 0 = +x, bit 1 = +y, bit 2 = +z; faces -x +x -y +y -z +z */
  static const int32_t loops[24] = {0, 4, 6, 2, 1, 3, 7, 5, 0, 1, 5, 4, 2, 6, 7, 3, 0, 2, 3, 1, 4, 5, 7, 6};
  if (allocate(hull, 8, 6, 24) != DS_OK) return DS_ERROR_MEMORY;
  hull->skin = DS_CORE_SHARE * fmin(half.x, fmin(half.y, half.z));
  hull->retreat = sqrt(3) * hull->skin;
  for (int i = 0; i < 8; i++) {
    ds_vec3 sign = v3(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1);
    hull->vertices[i] = v3_mul(sign, half);
    hull->core[i] = v3_mad(hull->vertices[i], -hull->skin, sign);
  }
  memcpy(hull->face_vertex, loops, sizeof loops);
  const double side[3] = {half.x, half.y, half.z};
  for (int f = 0; f < 6; f++) {
    double s = f % 2 ? 1 : -1;
    hull->normals[f] = v3(f / 2 == 0 ? s : 0, f / 2 == 1 ? s : 0, f / 2 == 2 ? s : 0);
    hull->offsets[f] = side[f / 2];
    hull->face_start[f + 1] = 4 * (f + 1);
  }
  fill_edges(hull);
  fill_arcs(hull);
  hull->skins_deep = deepest_core(hull);
  return DS_OK;
}

void ds_hull_free(ds_hull *hull) {
  free(hull->vertices);
  free(hull->core);
  free(hull->normals);
  free(hull->offsets);
  free(hull->face_start);
  free(hull->face_vertex);
  free(hull->edges);
  free(hull->arcs);
  *hull = (ds_hull){0};
}
