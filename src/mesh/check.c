/* Whether a mesh is the surface of a solid: everything that is wrong with it, counted, with the first place.
 *
 * Vertices, triangles, edges, parts and crossings are checked in turn; what one check rejects is left out of the next
 * where it would be reported again (a triangle twice is not also three edges with too many triangles). Coordinates are
 * first divided by a power of two so that the largest is below 1, which rounds nothing and keeps products in range.
 * Edges and equal triangles are found by sorting, so the result depends on the mesh alone. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/sets.h"
#include "la/vec3.h"
#include "mesh/mesh.h"

/* A triangle is without area where its height is below this part of its longest side, or below the rounding of its
 * coordinates: its normal then means nothing. */
static const double flat_limit = 1e-10, rounding = 4.5e-16;
/* A volume below this part of (size x area) is rounding. */
static const double volume_limit = 1e-13;

typedef struct record {
  int32_t key[3]; /* sorted corners of a triangle; low and high end of an edge */
  int32_t item;   /* triangle; half-edge 3 t + k */
} record;

typedef struct checker {
  ds_mesh_report *report;
  const ds_mesh *mesh;
  int32_t n;        /* triangles */
  int exponent;     /* coordinates are x times 2^exponent */
  ds_vec3 *x;       /* 0 where not finite */
  ds_vec3 middle;   /* of the box */
  double size;      /* its diagonal */
  double area;      /* of all triangles */
  bool *finite;     /* one per vertex */
  bool *no_edges;   /* one per triangle: not part of the surface (bad index, collapsed, again) */
  bool *no_volume;  /* not to be measured */
  bool *no_cutting; /* not to be tested for crossings */
  record *records;  /* 3 n */
  int32_t *parent;  /* sets of triangles joined by edges */
  bool *bad_edge;   /* one per triangle */
  ds_mesh_parts parts;
} checker;

const char *ds_mesh_fault_name(ds_mesh_fault fault) {
  static const char *const names[DS_MESH_FAULT_COUNT] = {
      [DS_MESH_EMPTY] = "empty",
      [DS_MESH_NOT_FINITE] = "not finite",
      [DS_MESH_BAD_INDEX] = "bad index",
      [DS_MESH_DEGENERATE] = "degenerate",
      [DS_MESH_DUPLICATE] = "duplicate",
      [DS_MESH_OPEN] = "open",
      [DS_MESH_NOT_MANIFOLD] = "not manifold",
      [DS_MESH_INCONSISTENT] = "inconsistent",
      [DS_MESH_CROSSING] = "crossing",
      [DS_MESH_INVERTED] = "inverted",
      [DS_MESH_NO_VOLUME] = "no volume",
  };
  return fault >= 0 && fault < DS_MESH_FAULT_COUNT ? names[fault] : "unknown";
}

/* ---- places ---- */

static ds_vec3 corner(const checker *c, int32_t t, int k) { return c->x[c->mesh->triangles[3 * (int64_t)t + k]]; }

static ds_vec3 unscaled(const checker *c, ds_vec3 x) {
  return v3(ldexp(x.x, c->exponent), ldexp(x.y, c->exponent), ldexp(x.z, c->exponent));
}

static void add_fault(checker *c, ds_mesh_fault fault, int32_t where, ds_vec3 place) {
  ds_mesh_report *r = c->report;
  if (r->count[fault]++ > 0 && r->where[fault] <= where) return;
  r->where[fault] = where;
  r->place[fault] = place;
}

/* The middle of those corners that exist. */
static void add_triangle_fault(checker *c, ds_mesh_fault fault, int32_t t) {
  ds_vec3 sum = v3(0, 0, 0);
  int corners = 0;
  for (int k = 0; k < 3; k++) {
    int32_t v = c->mesh->triangles[3 * (int64_t)t + k];
    if (v < 0 || v >= c->mesh->vertex_count) continue;
    sum = v3_add(sum, c->x[v]);
    corners++;
  }
  add_fault(c, fault, t, unscaled(c, v3_scale(corners > 0 ? 1.0 / corners : 0, sum)));
}

static void add_edge_fault(checker *c, ds_mesh_fault fault, int32_t half) {
  int32_t t = half / 3, k = half % 3;
  ds_vec3 middle = v3_scale(0.5, v3_add(corner(c, t, k), corner(c, t, (k + 1) % 3)));
  c->bad_edge[t] = true;
  add_fault(c, fault, t, unscaled(c, middle));
}

/* ---- vertices and triangles ---- */

static void look_at_vertices(checker *c) {
  const ds_mesh *mesh = c->mesh;
  double largest = 0;
  ds_vec3 low = v3(INFINITY, INFINITY, INFINITY), high = v3_neg(low);
  for (int32_t i = 0; i < mesh->vertex_count; i++) {
    ds_vec3 v = mesh->vertices[i];
    c->finite[i] = v3_finite(v);
    if (c->finite[i]) largest = fmax(largest, fmax(fabs(v.x), fmax(fabs(v.y), fabs(v.z))));
  }
  frexp(largest, &c->exponent);
  for (int32_t i = 0; i < mesh->vertex_count; i++) {
    ds_vec3 v = mesh->vertices[i];
    if (!c->finite[i]) {
      v = v3(isfinite(v.x) ? v.x : 0, isfinite(v.y) ? v.y : 0, isfinite(v.z) ? v.z : 0);
      add_fault(c, DS_MESH_NOT_FINITE, i, v);
      c->x[i] = v3(0, 0, 0);
      continue;
    }
    c->x[i] = v3(ldexp(v.x, -c->exponent), ldexp(v.y, -c->exponent), ldexp(v.z, -c->exponent));
    low = v3_min(low, c->x[i]);
    high = v3_max(high, c->x[i]);
  }
  if (!(low.x <= high.x)) low = high = v3(0, 0, 0);
  c->middle = v3_scale(0.5, v3_add(low, high));
  c->size = v3_dist(low, high);
}

static bool is_flat(const checker *c, int32_t t) {
  ds_vec3 a = corner(c, t, 0), b = corner(c, t, 1), d = corner(c, t, 2);
  double longest = fmax(v3_dist(a, b), fmax(v3_dist(b, d), v3_dist(d, a)));
  double twice = v3_norm(v3_cross(v3_sub(b, a), v3_sub(d, a)));
  return !(twice > longest * fmax(flat_limit * longest, rounding));
}

static void look_at_triangles(checker *c) {
  for (int32_t t = 0; t < c->n; t++) {
    const int32_t *v = c->mesh->triangles + 3 * (int64_t)t;
    bool exists = true, finite = true;
    for (int k = 0; k < 3; k++) exists = exists && v[k] >= 0 && v[k] < c->mesh->vertex_count;
    if (!exists) {
      add_triangle_fault(c, DS_MESH_BAD_INDEX, t);
      c->no_edges[t] = c->no_volume[t] = c->no_cutting[t] = true;
      continue;
    }
    for (int k = 0; k < 3; k++) finite = finite && c->finite[v[k]];
    bool collapsed = v[0] == v[1] || v[1] == v[2] || v[2] == v[0];
    if (collapsed || (finite && is_flat(c, t))) {
      add_triangle_fault(c, DS_MESH_DEGENERATE, t);
      c->no_cutting[t] = true;
    }
    c->no_edges[t] = c->no_edges[t] || collapsed;
    if (!finite || collapsed) c->no_volume[t] = c->no_cutting[t] = true;
  }
}

static int compare_records(const void *a, const void *b) {
  const record *p = a, *q = b;
  for (int k = 0; k < 3; k++)
    if (p->key[k] != q->key[k]) return p->key[k] < q->key[k] ? -1 : 1;
  return (p->item > q->item) - (p->item < q->item);
}

static bool same_key(const record *a, const record *b) { return memcmp(a->key, b->key, sizeof a->key) == 0; }

/* The same three corners, in whatever order. */
static void look_for_duplicates(checker *c) {
  int32_t count = 0;
  for (int32_t t = 0; t < c->n; t++) {
    if (c->no_edges[t]) continue;
    const int32_t *v = c->mesh->triangles + 3 * (int64_t)t;
    int32_t low = v[0] < v[1] ? v[0] : v[1], high = v[0] < v[1] ? v[1] : v[0];
    int32_t least = low < v[2] ? low : v[2], most = high > v[2] ? high : v[2];
    int32_t between = low >= v[2] ? low : high <= v[2] ? high : v[2];
    c->records[count++] = (record){{least, between, most}, t};
  }
  qsort(c->records, (size_t)count, sizeof *c->records, compare_records);
  for (int32_t i = 1; i < count; i++) {
    int32_t t = c->records[i].item;
    if (!same_key(&c->records[i - 1], &c->records[i])) continue;
    add_triangle_fault(c, DS_MESH_DUPLICATE, t);
    c->no_edges[t] = c->no_volume[t] = c->no_cutting[t] = true;
  }
}

/* ---- edges ---- */

static bool runs_up(const checker *c, int32_t half) {
  const int32_t *v = c->mesh->triangles + 3 * (int64_t)(half / 3);
  return v[half % 3] < v[(half + 1) % 3];
}

/* The triangles of one edge, records [first, end). */
static void judge_edge(checker *c, int64_t first, int64_t end) {
  int32_t half = c->records[first].item;
  for (int64_t i = first + 1; i < end; i++) ds_sets_join(c->parent, half / 3, c->records[i].item / 3);
  if (end - first == 1)
    add_edge_fault(c, DS_MESH_OPEN, half);
  else if (end - first > 2)
    add_edge_fault(c, DS_MESH_NOT_MANIFOLD, half);
  else if (runs_up(c, half) == runs_up(c, c->records[first + 1].item))
    add_edge_fault(c, DS_MESH_INCONSISTENT, half);
}

static void look_at_edges(checker *c) {
  int64_t count = 0;
  ds_sets_single(c->parent, c->n);
  for (int32_t t = 0; t < c->n; t++) {
    if (c->no_edges[t]) continue;
    const int32_t *v = c->mesh->triangles + 3 * (int64_t)t;
    for (int k = 0; k < 3; k++) {
      int32_t a = v[k], b = v[(k + 1) % 3];
      c->records[count++] = (record){{a < b ? a : b, a < b ? b : a, 0}, 3 * t + k};
    }
  }
  qsort(c->records, (size_t)count, sizeof *c->records, compare_records);
  for (int64_t first = 0, end; first < count; first = end) {
    for (end = first + 1; end < count && same_key(&c->records[first], &c->records[end]);) end++;
    judge_edge(c, first, end);
  }
}

/* ---- parts, volume, crossings ---- */

/* Numbers the parts and sums up area and volume of each. */
static void measure(checker *c) {
  ds_mesh_parts *p = &c->parts;
  for (int32_t t = 0; t < c->n; t++) {
    p->of[t] = -1;
    if (c->no_edges[t]) continue;
    int32_t root = ds_sets_root(c->parent, t); /* the lowest triangle of the part */
    if (root == t) {
      p->volume[p->count] = 0;
      p->broken[p->count] = false;
      p->of[t] = p->count++;
    }
    int32_t part = p->of[t] = p->of[root];
    if (c->bad_edge[t] || c->no_volume[t]) p->broken[part] = true;
    if (c->no_volume[t]) continue;
    ds_vec3 a = v3_sub(corner(c, t, 0), c->middle), b = v3_sub(corner(c, t, 1), c->middle);
    ds_vec3 d = v3_sub(corner(c, t, 2), c->middle), n = v3_cross(v3_sub(b, a), v3_sub(d, a));
    c->area += 0.5 * v3_norm(n);
    p->volume[part] += v3_dot(n, a) / 6;
  }
  double volume = 0;
  for (int32_t i = 0; i < p->count; i++) volume += p->volume[i];
  c->report->parts = p->count;
  c->report->area = ldexp(c->area, 2 * c->exponent);
  c->report->volume = ldexp(volume, 3 * c->exponent);
  /* what an open surface encloses cannot be said */
  if (p->count > 0 && c->report->count[DS_MESH_OPEN] == 0 && c->report->count[DS_MESH_NOT_FINITE] == 0 &&
      !(fabs(volume) > volume_limit * c->size * c->area))
    add_triangle_fault(c, DS_MESH_NO_VOLUME, 0);
}

static bool look_at_parts(checker *c) {
  int32_t count, first;
  measure(c);
  double least = volume_limit * c->size * c->area;
  if (!ds_mesh_find_inverted(&count, &first, &c->parts, c->x, c->mesh->triangles, c->n, least)) return false;
  if (count > 0) add_triangle_fault(c, DS_MESH_INVERTED, first);
  c->report->count[DS_MESH_INVERTED] = count;
  if (!ds_mesh_find_crossings(&count, &first, c->x, c->mesh->triangles, c->n, c->no_cutting)) return false;
  if (count > 0) add_triangle_fault(c, DS_MESH_CROSSING, first);
  c->report->count[DS_MESH_CROSSING] = count;
  return true;
}

static bool allocate(checker *c) {
  size_t vertices = (size_t)(c->mesh->vertex_count > 0 ? c->mesh->vertex_count : 0) + 1, n = (size_t)c->n + 1;
  c->x = malloc(vertices * sizeof *c->x);
  c->finite = malloc(vertices * sizeof *c->finite);
  c->no_edges = calloc(n, sizeof *c->no_edges);
  c->no_volume = calloc(n, sizeof *c->no_volume);
  c->no_cutting = calloc(n, sizeof *c->no_cutting);
  c->bad_edge = calloc(n, sizeof *c->bad_edge);
  c->records = malloc(3 * n * sizeof *c->records);
  c->parent = malloc(n * sizeof *c->parent);
  c->parts.of = malloc(n * sizeof *c->parts.of);
  c->parts.broken = malloc(n * sizeof *c->parts.broken);
  c->parts.volume = malloc(n * sizeof *c->parts.volume);
  return c->x && c->finite && c->no_edges && c->no_volume && c->no_cutting && c->bad_edge && c->records && c->parent &&
         c->parts.of && c->parts.broken && c->parts.volume;
}

static void release(checker *c) {
  free(c->x);
  free(c->finite);
  free(c->no_edges);
  free(c->no_volume);
  free(c->no_cutting);
  free(c->bad_edge);
  free(c->records);
  free(c->parent);
  free(c->parts.of);
  free(c->parts.broken);
  free(c->parts.volume);
}

ds_status ds_mesh_check(ds_mesh_report *report, const ds_mesh *mesh, ds_error *error) {
  checker c = {.report = report, .mesh = mesh, .n = mesh->triangle_count > 0 ? mesh->triangle_count : 0};
  *report = (ds_mesh_report){0};
  for (int i = 0; i < DS_MESH_FAULT_COUNT; i++) report->where[i] = -1;
  if (c.n > INT32_MAX / 3)
    return ds_fail(error, DS_ERROR_MEMORY, "a mesh of %d triangles is too large to be checked", c.n);
  bool ok = allocate(&c);
  if (ok) {
    look_at_vertices(&c);
    if (c.n == 0) add_fault(&c, DS_MESH_EMPTY, -1, v3(0, 0, 0));
    look_at_triangles(&c);
    look_for_duplicates(&c);
    look_at_edges(&c);
    ok = look_at_parts(&c);
  }
  release(&c);
  if (!ok) return ds_fail(error, DS_ERROR_MEMORY, "memory ran out while checking a mesh of %d triangles", c.n);
  report->usable = true;
  for (int i = 0; i < DS_MESH_FAULT_COUNT; i++) report->usable = report->usable && report->count[i] == 0;
  return DS_OK;
}
