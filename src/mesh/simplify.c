/* Makes a mesh coarser by collapsing edges, cheapest first [Garland and Heckbert 1997].
 *
 * The cost of a point is the area-weighted sum of its squared distances to the planes of all triangles that were merged
 * into it, plus a little for long edges, so that flat parts stay even. An edge is collapsed only where no triangle
 * turns over or becomes a needle. Ties are broken by vertex numbers: the result is the same on every machine that
 * rounds alike.
 *
 * For a solid (ds_mesh_simplify) the two ends go to the point of least cost. The surface stays a 2-manifold (the ends
 * have just two neighbours in common), and no triangle comes to cross another one.
 *
 * For drawing (ds_mesh_decimate) one end goes to the other, so that vertices keep their places and numbers, and what
 * belongs to them (normals, modes) stays valid. The mesh may be open, with edges of many triangles; planes upright on
 * its borders keep these in place. Crossings are not looked for. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "mesh/crossing.h"
#include "mesh/recipe.h"

enum { STAR_MAX = 64, LINK_MAX = 28 }; /* triangles at a collapsed edge, and edges at the vertex that is left */

/* Symmetric: xx xy xz yy yz zz of A, then b, then c: xᵀAx + 2 bᵀx + c. */
typedef struct quadric {
  double q[10], weight;
} quadric;

typedef struct candidate {
  double cost;
  int32_t u, v, stamp_u, stamp_v;
} candidate;

typedef struct simplifier {
  ds_mesh *mesh;
  ds_vec3 center;
  quadric *quadrics;
  int32_t *head, *next; /* corners 3 t + k at a vertex */
  int32_t *stamp;       /* of a vertex; -1 = gone */
  bool *gone;           /* of a triangle */
  int32_t alive;
  candidate *heap;
  int32_t heap_count, heap_capacity;
  ds_triangle_grid grid;
  int32_t *mark; /* of a triangle: the star that holds it */
  int32_t star;
  bool drawn;       /* for drawing: ends stay where they are, any mesh */
  double departure; /* m: largest root mean square distance to the planes of a point */
  bool failed;
} simplifier;

/* The triangles around an edge, as they will be. */
typedef struct star {
  int32_t u, v, count, removed[2], removed_count;
  int32_t triangles[STAR_MAX], corners[STAR_MAX][3];
} star;

/* ---- quadrics ---- */

static void add_quadric(quadric *a, const quadric *b) {
  for (int i = 0; i < 10; i++) a->q[i] += b->q[i];
  a->weight += b->weight;
}

/* Of the plane through a with unit normal n, counted as so much area. */
static quadric weighted_plane(ds_vec3 n, ds_vec3 a, double area) {
  double d = -v3_dot(n, a);
  quadric q = {{n.x * n.x, n.x * n.y, n.x * n.z, n.y * n.y, n.y * n.z, n.z * n.z, n.x * d, n.y * d, n.z * d, d * d},
               area};
  for (int i = 0; i < 10; i++) q.q[i] *= area;
  return q;
}

static quadric plane_quadric(ds_vec3 a, ds_vec3 b, ds_vec3 c) {
  ds_vec3 n = v3_cross(v3_sub(b, a), v3_sub(c, a));
  return weighted_plane(v3_unit(n), a, 0.5 * v3_norm(n));
}

static double quadric_value(const quadric *a, ds_vec3 x) {
  const double *q = a->q;
  double ax = q[0] * x.x + q[1] * x.y + q[2] * x.z, ay = q[1] * x.x + q[3] * x.y + q[4] * x.z;
  double az = q[2] * x.x + q[4] * x.y + q[5] * x.z;
  return fmax(0, x.x * ax + x.y * ay + x.z * az + 2 * (q[6] * x.x + q[7] * x.y + q[8] * x.z) + q[9]);
}

/* The point of least cost, drawn a little to the middle of the edge where the planes leave it free. */
static ds_vec3 best_point(const quadric *a, ds_vec3 middle) {
  const double *q = a->q;
  double e = 1e-6 * (q[0] + q[3] + q[5]) + 1e-300, xx = q[0] + e, yy = q[3] + e, zz = q[5] + e;
  ds_vec3 r = v3_sub(v3_scale(e, middle), v3(q[6], q[7], q[8]));
  double c0 = yy * zz - q[4] * q[4], c1 = q[2] * q[4] - q[1] * zz, c2 = q[1] * q[4] - q[2] * yy;
  double det = xx * c0 + q[1] * c1 + q[2] * c2;
  if (!(det > 0)) return middle;
  ds_vec3 x =
      v3(c0 * r.x + c1 * r.y + c2 * r.z, c1 * r.x + (xx * zz - q[2] * q[2]) * r.y + (q[1] * q[2] - xx * q[4]) * r.z,
         c2 * r.x + (q[1] * q[2] - xx * q[4]) * r.y + (xx * yy - q[1] * q[1]) * r.z);
  return v3_scale(1 / det, x);
}

/* Where the ends u, v of an edge go when it is collapsed, and at what cost. */
static double collapse_cost(ds_vec3 *x, const simplifier *s, int32_t u, int32_t v) {
  ds_vec3 a = v3_sub(s->mesh->vertices[u], s->center), b = v3_sub(s->mesh->vertices[v], s->center);
  ds_vec3 middle = v3_scale(0.5, v3_add(a, b));
  quadric q = s->quadrics[u];
  add_quadric(&q, &s->quadrics[v]);
  double length = v3_dist(a, b);
  ds_vec3 best = s->drawn ? b : best_point(&q, middle);
  if (!(v3_dist(best, middle) <= length)) best = middle;
  *x = s->drawn ? s->mesh->vertices[v] : v3_add(s->center, best);
  return quadric_value(&q, best) + 1e-6 * length * length * q.weight;
}

/* ---- the heap, cheapest on top ---- */

static bool before(const candidate *a, const candidate *b) {
  if (a->cost != b->cost) return a->cost < b->cost;
  return a->u != b->u ? a->u < b->u : a->v < b->v;
}

static void push(simplifier *s, int32_t u, int32_t v) {
  ds_vec3 x;
  if (u > v) {
    int32_t t = u;
    u = v, v = t;
  }
  candidate c = {collapse_cost(&x, s, u, v), u, v, s->stamp[u], s->stamp[v]};
  if (s->drawn) { /* the cheaper end is left */
    double other = collapse_cost(&x, s, v, u);
    if (other < c.cost) c = (candidate){other, v, u, s->stamp[v], s->stamp[u]};
  }
  if (!ds_array_reserve(&s->heap, &s->heap_capacity, s->heap_count + 1, sizeof *s->heap)) {
    s->failed = true;
    return;
  }
  int32_t i = s->heap_count++;
  for (; i > 0 && before(&c, &s->heap[(i - 1) / 2]); i = (i - 1) / 2) s->heap[i] = s->heap[(i - 1) / 2];
  s->heap[i] = c;
}

static candidate pop(simplifier *s) {
  candidate top = s->heap[0], last = s->heap[--s->heap_count];
  int32_t i = 0;
  for (;;) {
    int32_t k = 2 * i + 1;
    if (k >= s->heap_count) break;
    if (k + 1 < s->heap_count && before(&s->heap[k + 1], &s->heap[k])) k++;
    if (!before(&s->heap[k], &last)) break;
    s->heap[i] = s->heap[k];
    i = k;
  }
  s->heap[i] = last;
  return top;
}

/* ---- what a collapse would do ---- */

static const int32_t *corners_of(const simplifier *s, int32_t t) { return s->mesh->triangles + 3 * (size_t)t; }

static bool is_in(const int32_t *list, int32_t n, int32_t v) {
  for (int32_t i = 0; i < n; i++)
    if (list[i] == v) return true;
  return false;
}

/* Neighbours of a vertex, each once; -1 where there are too many. On a closed surface every one of them is the next
 * corner in just one triangle. */
static int32_t neighbours(int32_t *list, const simplifier *s, int32_t v) {
  int32_t n = 0;
  for (int32_t c = s->head[v]; c >= 0; c = s->next[c]) {
    if (s->gone[c / 3]) continue;
    for (int32_t k = 1; k <= (s->drawn ? 2 : 1); k++) {
      int32_t other = corners_of(s, c / 3)[(c % 3 + k) % 3];
      if (s->drawn && is_in(list, n, other)) continue;
      if (n == STAR_MAX) return -1;
      list[n++] = other;
    }
  }
  return n;
}

/* Exactly two common neighbours, or one at a border, and not too many edges afterwards. */
static bool stays_manifold(const simplifier *s, int32_t u, int32_t v) {
  int32_t a[STAR_MAX], b[STAR_MAX], n = neighbours(a, s, u), m = neighbours(b, s, v), common = 0;
  if (n < 0 || m < 0 || n + m - 4 > LINK_MAX || (n + m - 4 < 3 && !s->drawn)) return false;
  for (int32_t i = 0; i < n; i++) common += is_in(b, m, a[i]);
  return s->drawn ? common <= 2 : common == 2;
}

static bool gather_star(star *g, simplifier *s, int32_t u, int32_t v) {
  *g = (star){.u = u, .v = v};
  s->star++;
  for (int k = 0; k < 2; k++)
    for (int32_t c = s->head[k ? v : u]; c >= 0; c = s->next[c]) {
      int32_t t = c / 3;
      if (s->gone[t] || s->mark[t] == s->star) continue;
      const int32_t *w = corners_of(s, t);
      bool has_u = w[0] == u || w[1] == u || w[2] == u, has_v = w[0] == v || w[1] == v || w[2] == v;
      s->mark[t] = s->star;
      if (has_u && has_v) {
        if (g->removed_count == 2) return false;
        g->removed[g->removed_count++] = t;
        continue;
      }
      if (g->count == STAR_MAX) return false;
      g->triangles[g->count] = t;
      for (int i = 0; i < 3; i++) g->corners[g->count][i] = w[i] == u ? v : w[i];
      g->count++;
    }
  return g->removed_count == 2 || s->drawn;
}

/* Height over the longest edge: 0.87 for an equilateral triangle, 0 for a needle. */
static double shape_of(ds_vec3 a, ds_vec3 b, ds_vec3 c) {
  double longest = fmax(v3_norm2(v3_sub(b, a)), fmax(v3_norm2(v3_sub(c, b)), v3_norm2(v3_sub(a, c))));
  return v3_norm(v3_cross(v3_sub(b, a), v3_sub(c, a))) / longest;
}

/* The new triangles look where the old ones did, and are no needles unless they were. x[v] is the new place. */
static bool keeps_shape(const simplifier *s, const star *g, ds_vec3 old_v) {
  const ds_vec3 *x = s->mesh->vertices;
  for (int32_t i = 0; i < g->count; i++) {
    const int32_t *o = corners_of(s, g->triangles[i]), *w = g->corners[i];
    ds_vec3 p[3];
    for (int k = 0; k < 3; k++) p[k] = o[k] == g->v ? old_v : x[o[k]];
    ds_vec3 old = v3_cross(v3_sub(p[1], p[0]), v3_sub(p[2], p[0]));
    ds_vec3 now = v3_cross(v3_sub(x[w[1]], x[w[0]]), v3_sub(x[w[2]], x[w[0]]));
    if (!(v3_dot(old, now) > 0.3 * v3_norm(old) * v3_norm(now))) return false;
    double shape = shape_of(x[w[0]], x[w[1]], x[w[2]]);
    if (shape < 0.05 && shape < shape_of(p[0], p[1], p[2])) return false;
  }
  return true;
}

/* Whether the star, seen along its mean normal, lies spread out once around its middle: then it does not cross itself.
 */
static bool is_spread(const ds_vec3 *x, const star *g) {
  ds_vec3 areas[STAR_MAX], mean = {0, 0, 0}, t1, t2, middle = x[g->v];
  int turns = 0;
  for (int32_t i = 0; i < g->count; i++) {
    const int32_t *w = g->corners[i];
    areas[i] = v3_cross(v3_sub(x[w[1]], x[w[0]]), v3_sub(x[w[2]], x[w[0]]));
    mean = v3_add(mean, v3_unit(areas[i]));
  }
  mean = v3_unit(mean);
  v3_tangents(&t1, &t2, mean);
  for (int32_t i = 0; i < g->count; i++) {
    const int32_t *w = g->corners[i];
    int at = w[0] == g->v ? 0 : w[1] == g->v ? 1 : 2;
    if (!(v3_dot(areas[i], mean) > 0.1 * v3_norm(areas[i]))) return false;
    double from = v3_dot(t2, v3_sub(x[w[(at + 1) % 3]], middle)), to = v3_dot(t2, v3_sub(x[w[(at + 2) % 3]], middle));
    turns += from < 0 && to >= 0;
  }
  return turns == 1;
}

static bool crosses_itself(const ds_vec3 *x, const star *g) {
  if (is_spread(x, g)) return false;
  for (int32_t i = 0; i < g->count; i++)
    for (int32_t k = 0; k < i; k++)
      if (ds_triangles_cross(x, g->corners[i], g->corners[k])) return true;
  return false;
}

/* Whether the triangles of the star cross neither each other nor any that is near. */
static bool stays_clear(simplifier *s, const star *g) {
  const ds_vec3 *x = s->mesh->vertices;
  ds_triangle_box boxes[STAR_MAX], all = {v3(INFINITY, INFINITY, INFINITY), v3(-INFINITY, -INFINITY, -INFINITY)};
  if (crosses_itself(x, g)) return false;
  for (int32_t i = 0; i < g->count; i++) {
    boxes[i] = ds_triangle_bounds(x, g->corners[i]);
    all.low = v3_min(all.low, boxes[i].low);
    all.high = v3_max(all.high, boxes[i].high);
  }
  if (!ds_triangle_grid_find(&s->grid, all.low, all.high)) {
    s->failed = true;
    return false;
  }
  for (int32_t k = 0; k < s->grid.found_count; k++) {
    int32_t t = s->grid.found[k];
    const ds_triangle_box *box = &s->grid.boxes[t];
    if (s->mark[t] == s->star || ds_triangle_boxes_apart(&all, box)) continue;
    for (int32_t i = 0; i < g->count; i++)
      if (!ds_triangle_boxes_apart(&boxes[i], box) && ds_triangles_cross(x, g->corners[i], corners_of(s, t)))
        return false;
  }
  return true;
}

static void remove_triangle(simplifier *s, int32_t t) {
  s->gone[t] = true;
  s->alive--;
  if (!s->drawn) ds_triangle_grid_drop(&s->grid, t);
}

static void apply(simplifier *s, const star *g) {
  int32_t u = g->u, v = g->v, list[STAR_MAX];
  for (int k = 0; k < g->removed_count; k++) remove_triangle(s, g->removed[k]);
  for (int32_t i = 0; i < g->count; i++) {
    int32_t t = g->triangles[i];
    memcpy(s->mesh->triangles + 3 * (size_t)t, g->corners[i], sizeof g->corners[i]);
    if (s->drawn) continue;
    ds_triangle_grid_drop(&s->grid, t);
    if (!ds_triangle_grid_put(&s->grid, t, s->mesh->vertices, g->corners[i])) s->failed = true;
  }
  /* corners of both ends in one list, without those of triangles that are gone */
  int32_t corners = -1;
  for (int k = 0; k < 2; k++)
    for (int32_t c = s->head[k ? v : u], after; c >= 0; c = after) {
      after = s->next[c];
      if (s->gone[c / 3]) continue;
      s->next[c] = corners;
      corners = c;
    }
  s->head[v] = corners;
  s->head[u] = -1;
  add_quadric(&s->quadrics[v], &s->quadrics[u]);
  s->stamp[u] = -1;
  s->stamp[v]++;
  int32_t n = neighbours(list, s, v);
  for (int32_t i = 0; i < n; i++) push(s, v, list[i]);
}

/* ---- all ---- */

/* Whether a corner's triangle is the only one at the edge from there to the next corner. */
static bool is_border(const simplifier *s, int32_t corner) {
  const int32_t *w = corners_of(s, corner / 3);
  int32_t b = w[(corner % 3 + 1) % 3];
  for (int32_t c = s->head[w[corner % 3]]; c >= 0; c = s->next[c]) {
    const int32_t *o = corners_of(s, c / 3);
    if (c / 3 != corner / 3 && (o[0] == b || o[1] == b || o[2] == b)) return false;
  }
  return true;
}

/* At a border, a plane upright on its triangle, which counts as the square of the edge. */
static void hold_border(simplifier *s, int32_t corner) {
  const int32_t *w = corners_of(s, corner / 3);
  int32_t a = w[corner % 3], b = w[(corner % 3 + 1) % 3];
  const ds_vec3 *x = s->mesh->vertices;
  ds_vec3 normal = v3_cross(v3_sub(x[w[1]], x[w[0]]), v3_sub(x[w[2]], x[w[0]])), edge = v3_sub(x[b], x[a]);
  quadric q = weighted_plane(v3_unit(v3_cross(edge, normal)), v3_sub(x[a], s->center), v3_norm2(edge));
  q.weight = 0; /* distances are a mean over the triangles */
  add_quadric(&s->quadrics[a], &q);
  add_quadric(&s->quadrics[b], &q);
}

/* The triangles in a grid, for the crossings of a solid. Cells have a size between the edges there are and those that
 * will be. */
static bool fill_grid(simplifier *s, int32_t triangles, double area) {
  const ds_mesh *m = s->mesh;
  double between = sqrt(fmax(4, triangles) * m->triangle_count);
  if (!ds_triangle_grid_init(&s->grid, m, sqrt(2 * area / between))) return false;
  for (int32_t i = 0; i < m->triangle_count; i++)
    if (!ds_triangle_grid_put(&s->grid, i, m->vertices, corners_of(s, i))) return false;
  return true;
}

static bool allocate(simplifier *s) {
  size_t n = (size_t)s->mesh->vertex_count + 1, t = (size_t)s->mesh->triangle_count + 1;
  s->quadrics = calloc(n, sizeof *s->quadrics);
  s->head = malloc(n * sizeof *s->head);
  s->stamp = calloc(n, sizeof *s->stamp);
  s->next = malloc(3 * t * sizeof *s->next);
  s->gone = calloc(t, sizeof *s->gone);
  s->mark = calloc(t, sizeof *s->mark);
  if (!s->quadrics || !s->head || !s->stamp || !s->next || !s->gone || !s->mark) return false;
  memset(s->head, 0xFF, n * sizeof *s->head);
  return true;
}

static bool prepare(simplifier *s, int32_t triangles) {
  const ds_mesh *m = s->mesh;
  double area = 0;
  if (!allocate(s)) return false;
  s->center = m->vertices[0];
  s->alive = m->triangle_count;
  for (int32_t i = 0; i < m->triangle_count; i++) {
    const int32_t *c = corners_of(s, i);
    if (s->drawn && (c[0] == c[1] || c[1] == c[2] || c[2] == c[0])) {
      remove_triangle(s, i);
      continue;
    }
    quadric q = plane_quadric(v3_sub(m->vertices[c[0]], s->center), v3_sub(m->vertices[c[1]], s->center),
                              v3_sub(m->vertices[c[2]], s->center));
    area += q.weight;
    for (int32_t k = 0; k < 3; k++) {
      add_quadric(&s->quadrics[c[k]], &q);
      s->next[3 * i + k] = s->head[c[k]];
      s->head[c[k]] = 3 * i + k;
    }
  }
  if (!s->drawn && !fill_grid(s, triangles, area)) return false;
  for (int32_t i = 0; s->drawn && i < 3 * m->triangle_count; i++)
    if (!s->gone[i / 3] && is_border(s, i)) hold_border(s, i);
  for (int32_t i = 0; i < m->triangle_count && !s->failed; i++) {
    const int32_t *c = corners_of(s, i);
    for (int k = 0; k < 3 && !s->gone[i]; k++)
      if (c[k] < c[(k + 1) % 3] || (s->drawn && is_border(s, 3 * i + k))) push(s, c[k], c[(k + 1) % 3]);
  }
  return !s->failed;
}

static void collapse(simplifier *s, const candidate *c) {
  star g;
  ds_vec3 x, *place = &s->mesh->vertices[c->v], old = *place;
  if (!stays_manifold(s, c->u, c->v) || !gather_star(&g, s, c->u, c->v)) return;
  collapse_cost(&x, s, c->u, c->v);
  if (!s->drawn) *place = x;
  if (!keeps_shape(s, &g, old) || (!s->drawn && !stays_clear(s, &g))) {
    if (!s->drawn) *place = old;
    return;
  }
  double weight = s->quadrics[c->u].weight + s->quadrics[c->v].weight;
  if (weight > 0) s->departure = fmax(s->departure, sqrt(c->cost / weight));
  apply(s, &g);
}

/* Takes out what is gone, keeping the order. */
static void compact(simplifier *s) {
  ds_mesh *m = s->mesh;
  int32_t n = 0, *number = s->stamp, count = 0;
  for (int32_t v = 0; v < m->vertex_count; v++) {
    bool used = s->stamp[v] >= 0 || s->drawn;
    number[v] = used ? n : -1;
    if (used && !s->drawn) m->vertices[n] = m->vertices[v];
    n += used;
  }
  for (int32_t t = 0; t < m->triangle_count; t++) {
    if (s->gone[t]) continue;
    for (int32_t k = 0; k < 3; k++) m->triangles[3 * count + k] = number[m->triangles[3 * t + k]];
    count++;
  }
  m->vertex_count = n;
  m->triangle_count = count;
}

static void free_simplifier(simplifier *s) {
  free(s->quadrics);
  free(s->head);
  free(s->next);
  free(s->stamp);
  free(s->gone);
  free(s->mark);
  free(s->heap);
  ds_triangle_grid_free(&s->grid);
}

static ds_status simplify(simplifier *s, int32_t triangles, double tolerance, ds_error *error) {
  bool ok = prepare(s, triangles);
  while (ok && s->heap_count > 0 && s->alive > triangles) {
    candidate c = pop(s);
    if (s->stamp[c.u] != c.stamp_u || s->stamp[c.v] != c.stamp_v) continue;
    double weight = s->quadrics[c.u].weight + s->quadrics[c.v].weight;
    if (c.cost > weight * tolerance * tolerance) continue;
    collapse(s, &c);
    ok = !s->failed;
  }
  if (s->stamp && s->gone) compact(s);
  free_simplifier(s);
  if (!ok) return ds_fail(error, DS_ERROR_MEMORY, "memory ran out while making a mesh coarser");
  return DS_OK;
}

ds_status ds_mesh_simplify(ds_mesh *mesh, int32_t triangles, double tolerance, ds_error *error) {
  simplifier s = {.mesh = mesh};
  return mesh->triangle_count <= 4 ? DS_OK : simplify(&s, triangles, tolerance, error);
}

ds_status ds_mesh_decimate(ds_mesh *mesh, double *departure, int32_t triangles, double tolerance, ds_error *error) {
  simplifier s = {.mesh = mesh, .drawn = true};
  ds_status status = mesh->triangle_count <= triangles ? DS_OK : simplify(&s, triangles, tolerance, error);
  if (departure) *departure = s.departure;
  return status;
}
