/* Meshes the surface f = 0 with its edges and corners kept: manifold dual contouring.
 *
 * Every loop of the surface through a cell (lattice.c) gets one vertex, where the tangent planes at its crossings meet
 * best [Ju et al. 2002] (fit.c). Every crossing gives a quadrangle of the four vertices around its edge, split along
 * the diagonal that lies nearer to the surface. The result is a closed 2-manifold by construction. Triangles that cross
 * each other, and specks that are inside out, are looked for, and their vertices drawn back to the mean of their
 * crossings; quadrangles that still cross become four triangles about their crossing. Where that does not help, the
 * meshing is done again with smaller cells.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "mesh/crossing.h"
#include "mesh/lattice.h"

typedef struct contour {
  ds_lattice lattice;
  ds_vec3 *means; /* of the crossings of a vertex */
  int8_t *bold;   /* one per vertex, see ds_lattice_fit */
  int8_t *fan;    /* one per crossing: 1 = four triangles */
  ds_mesh mesh;   /* vertices: loops first, then one per crossing that is a fan */
  int32_t loop_count;
  int32_t *source; /* of a triangle: its crossing */
} contour;

/* ---- vertices ---- */

static void set_vertices(contour *c) {
  ds_lattice *l = &c->lattice;
  for (int32_t i = 0; i < l->cell_count; i++)
    for (int32_t loop = 0; loop < l->cells[i].loops; loop++) {
      const ds_lattice_cell *cell = &l->cells[i];
      int32_t v = cell->vertex + loop;
      for (int32_t e = 0; e < 12; e++)
        if (cell->loop[e] == loop) l->crossings[ds_lattice_edge(l, cell, e)].vertex[e & 3] = v;
      c->mesh.vertices[v] = ds_lattice_fit(&c->means[v], &c->bold[v], l, cell, loop);
    }
}

/* ---- triangles ---- */

static ds_vec3 area_of(const ds_vec3 *x, int32_t a, int32_t b, int32_t c) {
  return v3_cross(v3_sub(x[b], x[a]), v3_sub(x[c], x[a]));
}

/* How bad the split along q0 q2 is: the diagonal's distance to the surface; far worse where a triangle folds back. */
static double split_cost(const contour *c, const int32_t q[4], ds_vec3 normal) {
  const ds_vec3 *x = c->mesh.vertices;
  const ds_lattice *l = &c->lattice;
  ds_vec3 n = area_of(x, q[0], q[1], q[2]), m = area_of(x, q[0], q[2], q[3]);
  double cost = fabs(l->f(l->context, v3_scale(0.5, v3_add(x[q[0]], x[q[2]])))) / l->h, size = l->h * l->h;
  double flat = v3_dot(n, m) / (v3_norm(n) * v3_norm(m) + 1e-30);
  if (flat < -0.5) cost += 4;
  if (v3_norm(n) < 1e-4 * size || v3_norm(m) < 1e-4 * size) cost += 2;
  if (v3_dot(n, normal) < -0.1 * v3_norm(n)) cost += 1;
  if (v3_dot(m, normal) < -0.1 * v3_norm(m)) cost += 1;
  return cost;
}

static void add_triangle(contour *c, int32_t crossing, int32_t p, int32_t q, int32_t r) {
  int32_t *t = c->mesh.triangles + 3 * (size_t)c->mesh.triangle_count;
  t[0] = p, t[1] = q, t[2] = r;
  c->source[c->mesh.triangle_count++] = crossing;
}

/* Makes all triangles again; false if a quadrangle lacks a cell, which a 1-Lipschitz f does not let happen. */
static bool set_triangles(contour *c) {
  const ds_lattice *l = &c->lattice;
  c->mesh.triangle_count = 0;
  c->mesh.vertex_count = c->loop_count;
  for (int32_t k = 0; k < l->crossing_count; k++) {
    const ds_lattice_crossing *x = &l->crossings[k];
    const int32_t *v = x->vertex;
    if (v[0] < 0 || v[1] < 0 || v[2] < 0 || v[3] < 0) return false;
    /* around the edge, counter-clockwise seen from its end; y has its neighbours x and z the other way round */
    bool turn = x->upward == (x->axis == 1);
    int32_t q[4] = {v[0], turn ? v[2] : v[1], v[3], turn ? v[1] : v[2]}, r[4] = {q[1], q[2], q[3], q[0]};
    if (c->fan[k]) {
      int32_t middle = c->mesh.vertex_count++;
      c->mesh.vertices[middle] = x->x;
      for (int i = 0; i < 4; i++) add_triangle(c, k, middle, q[i], q[(i + 1) & 3]);
      continue;
    }
    const int32_t *s = split_cost(c, q, x->normal) <= split_cost(c, r, x->normal) ? q : r;
    add_triangle(c, k, s[0], s[1], s[2]);
    add_triangle(c, k, s[0], s[2], s[3]);
  }
  return true;
}

/* ---- crossings of triangles ---- */

static int32_t root_of(int32_t *parent, int32_t v) {
  while (parent[v] != v) v = parent[v] = parent[parent[v]];
  return v;
}

/* Marks the triangles of parts that are inside out, though nothing crosses: specks smaller than a cell. The crossings
 * alone give a volume of the same sign, by the lengths of lattice lines inside. Adds their number to *count. False
 * where memory ran out. */
static bool find_turned_over(uint8_t *bad, int32_t *count, const contour *c) {
  const ds_mesh *m = &c->mesh;
  int32_t *parent = malloc((size_t)m->vertex_count * sizeof *parent);
  double *lengths = calloc(2 * (size_t)m->vertex_count, sizeof *lengths);
  double *volume = lengths ? lengths + m->vertex_count : NULL;
  bool ok = parent && lengths;
  for (int32_t v = 0; ok && v < m->vertex_count; v++) parent[v] = v;
  for (int32_t i = 0; ok && i < 3 * m->triangle_count; i++) {
    int32_t a = root_of(parent, m->triangles[i]), b = root_of(parent, m->triangles[i - i % 3]);
    if (a != b) parent[a > b ? a : b] = a > b ? b : a;
  }
  for (int32_t k = 0; ok && k < c->lattice.crossing_count; k++) {
    const ds_lattice_crossing *x = &c->lattice.crossings[k];
    double along = x->axis == 0 ? x->x.x : x->axis == 1 ? x->x.y : x->x.z;
    lengths[root_of(parent, x->vertex[0])] += x->upward ? along : -along;
  }
  for (int32_t t = 0; ok && t < m->triangle_count; t++) {
    const int32_t *a = m->triangles + 3 * (size_t)t;
    ds_vec3 n = area_of(m->vertices, a[0], a[1], a[2]);
    volume[root_of(parent, a[0])] += v3_dot(n, m->vertices[a[0]]);
  }
  for (int32_t t = 0; ok && t < m->triangle_count; t++) {
    int32_t part = root_of(parent, m->triangles[3 * (size_t)t]);
    if (volume[part] * lengths[part] > 0 || bad[t]) continue;
    bad[t] = 1;
    ++*count;
  }
  free(parent);
  free(lengths);
  return ok;
}

/* Marks the triangles that cross another, have no area or are inside out, and counts them. False where memory ran out.
 */
static bool find_faults(uint8_t *bad, int32_t *count, const contour *c) {
  const ds_mesh *m = &c->mesh;
  ds_triangle_grid grid;
  *count = 0;
  if (!ds_triangle_grid_init(&grid, m, 2 * c->lattice.h)) return false;
  memset(bad, 0, (size_t)m->triangle_count);
  bool ok = true;
  for (int32_t t = 0; t < m->triangle_count && ok; t++) {
    const int32_t *a = m->triangles + 3 * (size_t)t;
    const ds_vec3 *x = m->vertices;
    ds_triangle_box box = ds_triangle_bounds(x, a);
    ok = ds_triangle_grid_find(&grid, box.low, box.high) && ds_triangle_grid_put(&grid, t, x, a);
    bool hit = v3_norm(area_of(x, a[0], a[1], a[2])) < 1e-8 * c->lattice.h * c->lattice.h;
    for (int32_t i = 0; i < grid.found_count && ok; i++) {
      const int32_t *b = m->triangles + 3 * (size_t)grid.found[i];
      if (ds_triangle_boxes_apart(&box, &grid.boxes[grid.found[i]])) continue;
      if (!ds_triangles_cross(x, a, b)) continue;
      hit = true;
      *count += !bad[grid.found[i]];
      bad[grid.found[i]] = 1;
    }
    if (hit) ++*count, bad[t] = 1;
  }
  ds_triangle_grid_free(&grid);
  return ok && find_turned_over(bad, count, c);
}

/* How readily a vertex is drawn back: edges that were followed first, then corners, then all others. */
static int readiness(const contour *c, int32_t v) {
  return v >= c->loop_count ? 0 : c->bold[v] == 1 ? 3 : c->bold[v] == 2 ? 2 : 1;
}

/* Draws vertices of bad triangles half way (or all the way) to their mean, and later fans out their quadrangles. False
 * if memory ran out. */
static bool draw_back(contour *c, const uint8_t *bad, int round) {
  double share = round < 3 ? 0.5 : 1;
  uint8_t *moved = calloc((size_t)c->loop_count, 1);
  if (!moved) return false;
  for (int32_t t = 0; t < c->mesh.triangle_count; t++) {
    if (!bad[t]) continue;
    const int32_t *corners = c->mesh.triangles + 3 * (size_t)t;
    int most = 0;
    if (round >= 4) c->fan[c->source[t]] = 1;
    for (int k = 0; k < 3; k++)
      if (readiness(c, corners[k]) > most) most = readiness(c, corners[k]);
    for (int k = 0; k < 3; k++) {
      int32_t v = corners[k];
      if (v >= c->loop_count || (readiness(c, v) < most && round < 3) || moved[v]) continue;
      moved[v] = 1;
      c->mesh.vertices[v] = v3_mad(c->mesh.vertices[v], share, v3_sub(c->means[v], c->mesh.vertices[v]));
    }
  }
  free(moved);
  return true;
}

/* DS_OK with *crossing left where triangles still cross. */
static ds_status settle(contour *c, int32_t *crossing, ds_error *error) {
  enum { ROUNDS = 8 };
  uint8_t *bad = malloc(4 * (size_t)c->lattice.crossing_count);
  bool ok = bad != NULL;
  *crossing = 1;
  for (int round = 0; ok && *crossing > 0 && round < ROUNDS; round++) {
    if (!set_triangles(c)) {
      free(bad);
      return ds_fail(error, DS_ERROR_INPUT, "the distance changes faster than distances do, a surface cannot be found");
    }
    ok = find_faults(bad, crossing, c);
    if (ok && *crossing > 0 && round + 1 < ROUNDS) ok = draw_back(c, bad, round);
  }
  free(bad);
  if (!ok) return ds_fail(error, DS_ERROR_MEMORY, "memory ran out while meshing; make the cells larger");
  return DS_OK;
}

/* ---- all ---- */

static bool allocate(contour *c) {
  const ds_lattice *l = &c->lattice;
  size_t n = (size_t)l->crossing_count;
  for (int32_t i = 0; i < l->cell_count; i++) {
    l->cells[i].vertex = c->loop_count;
    c->loop_count += l->cells[i].loops;
  }
  c->means = malloc(((size_t)c->loop_count + 1) * sizeof *c->means);
  c->bold = calloc((size_t)c->loop_count + 1, sizeof *c->bold);
  c->fan = calloc(n + 1, sizeof *c->fan);
  c->source = malloc((4 * n + 1) * sizeof *c->source);
  c->mesh.vertices = malloc(((size_t)c->loop_count + n + 1) * sizeof *c->mesh.vertices);
  c->mesh.triangles = malloc((12 * n + 1) * sizeof *c->mesh.triangles);
  return c->means && c->bold && c->fan && c->source && c->mesh.vertices && c->mesh.triangles;
}

static ds_status try_cell(contour *c, int32_t *crossing, ds_distance *f, const void *context, ds_vec3 low, ds_vec3 high,
                          double cell, ds_error *error) {
  *c = (contour){0};
  *crossing = 0;
  ds_status status = ds_lattice_build(&c->lattice, f, context, low, high, cell, error);
  if (status != DS_OK) return status;
  if (c->lattice.cell_count == 0)
    return ds_fail(error, DS_ERROR_INPUT,
                   "no surface was found with cells of %g m; expected a solid that is not empty, or smaller cells",
                   cell);
  bool ok = allocate(c);
  if (ok) set_vertices(c);
  if (!ok || c->lattice.failed)
    return ds_fail(error, DS_ERROR_MEMORY, "memory ran out while meshing; make the cells larger");
  return settle(c, crossing, error);
}

static void free_contour(contour *c) {
  ds_lattice_free(&c->lattice);
  free(c->means);
  free(c->bold);
  free(c->fan);
  free(c->source);
  free(c->mesh.vertices);
  free(c->mesh.triangles);
}

ds_status ds_isosurface(ds_mesh *mesh, ds_distance *f, const void *context, ds_vec3 low, ds_vec3 high, double cell,
                        ds_error *error) {
  *mesh = (ds_mesh){0};
  for (int attempt = 0; attempt < 4; attempt++, cell *= 0.83) {
    contour c;
    int32_t crossing;
    ds_status status = try_cell(&c, &crossing, f, context, low, high, cell, error);
    if (status == DS_OK && crossing == 0) {
      *mesh = c.mesh;
      c.mesh = (ds_mesh){0};
    }
    free_contour(&c);
    if (status != DS_OK || crossing == 0) return status;
  }
  return ds_fail(error, DS_ERROR_INPUT,
                 "the surface cannot be meshed without crossings with cells of %g m; expected parts thicker than two "
                 "cells, or smaller cells",
                 cell);
}
