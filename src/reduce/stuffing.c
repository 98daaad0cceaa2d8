/* Fills a closed surface with tetrahedra by isosurface stuffing [Labelle and Shewchuk 2007], uniform version.
 *
 * A body-centred cubic lattice is laid over the body (stuffing_lattice.c). Its points know their signed distance to the
 * surface; edges that pass through the surface have a cut point; a lattice point that has one too near is moved onto
 * it. What of each lattice tetrahedron is then inside is filled by a stencil (stuffing_stencil.c). Dihedral angles are
 * from 10.7 to 164.8 degrees, whatever the surface is. Tetrahedra that hang on by an edge only are taken away
 * (stuffing_trim.c).
 *
 * With V the volume, A the area and h the cell there are about 12 V / h³ + 2 A / h² tetrahedra, which gives the cell
 * where a number is wanted; the number that comes of it corrects the cell.
 *
 * Limits: edges and corners of the surface are cut off by a fraction of a cell where they do not lie on the lattice.
 * What is thinner than a cell may be lost. That is no silent repair: where the body falls apart, or a part of the
 * surface is farther than REACH cells from the result, it is an error that names a cell that works. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/sets.h"
#include "mesh/mesh.h"
#include "reduce/stuffing.h"

static const double REACH = 2;
enum { WANTED_MAX = 2000000, MORE = 16, TRIES = 14, TRIED_MAX = 500000, PASSES = 4 };
static const double size_low = 1e-9, size_high = 1e9;

typedef struct stuffer {
  const ds_stuffing_def *def;
  const ds_mesh *mesh;
  ds_surface surface;
  ds_distance tree;
  ds_pool *pool;
  double longest, volume;
  int32_t solids; /* parts of the surface that enclose something */
} stuffer;

/* One filling. */
typedef struct filling {
  ds_stuffing_lattice lattice;
  ds_tets tets;
  int32_t node_capacity, tet_capacity;
  int32_t *point_node, *cut_node; /* nodes that were made of points and cut points, or -1 */
} filling;

ds_stuffing_def ds_default_stuffing(void) { return (ds_stuffing_def){.wanted = 4000}; }

static void report(const stuffer *s, double share) {
  if (s->def->progress) s->def->progress(s->def->user, "tetrahedra", share);
}

/* ---- filling ---- */

static ds_status no_memory(ds_error *error) {
  return ds_fail(error, DS_ERROR_MEMORY, "memory ran out while filling a surface; make the cells larger");
}

/* The node of a point or cut point, made where there is none yet (-1). False where memory ran out. */
static bool node_at(filling *f, int32_t *node, ds_vec3 x) {
  if (*node >= 0) return true;
  if (!ds_array_reserve(&f->tets.nodes, &f->node_capacity, f->tets.node_count + 1, sizeof *f->tets.nodes)) return false;
  f->tets.nodes[f->tets.node_count] = x;
  *node = f->tets.node_count++;
  return true;
}

/* A piece of the tetrahedron of four points, turned so that its volume is positive. */
static bool add_piece(filling *f, const int piece[4], const int32_t point[4]) {
  int32_t node[4];
  ds_vec3 x[4];
  for (int k = 0; k < 4; k++) {
    bool is_point = piece[k] < 4;
    int32_t i = is_point ? point[piece[k]]
                         : ds_stuffing_find_cut(&f->lattice, point[(piece[k] - 4) / 4], point[(piece[k] - 4) % 4]);
    x[k] = is_point ? ds_stuffing_point(&f->lattice, i) : f->lattice.cuts[i].x;
    int32_t *at = is_point ? &f->point_node[i] : &f->cut_node[i];
    if (!node_at(f, at, x[k])) return false;
    node[k] = *at;
  }
  if (v3_dot(v3_cross(v3_sub(x[1], x[0]), v3_sub(x[2], x[0])), v3_sub(x[3], x[0])) < 0) {
    int32_t swap = node[2];
    node[2] = node[3], node[3] = swap;
  }
  if (f->tets.tet_count >= DS_MESH_ELEMENTS_MAX / 4 ||
      !ds_array_reserve(&f->tets.tets, &f->tet_capacity, 4 * (f->tets.tet_count + 1), sizeof *f->tets.tets))
    return false;
  memcpy(f->tets.tets + 4 * (int64_t)f->tets.tet_count++, node, sizeof node);
  return true;
}

/* Points 0 and 1 are middles of cells that are neighbours along the axis, 2 and 3 the ends of an edge of the face
 * between them, which runs along another. */
static bool fill_tet(filling *f, const int32_t point[4], int axis, int across) {
  const ds_stuffing_lattice *l = &f->lattice;
  ds_stuffing_cell cell;
  int piece[3][4], inside = 0;
  for (int k = 0; k < 4; k++) {
    double value = l->value[point[k]];
    cell.sign[k] = (value > 0) - (value < 0);
    inside += value > 0;
  }
  if (inside == 0) return true;
  for (int k = 0; k < 4; k++) {
    cell.even[k] = ds_stuffing_is_even(l, point[k], k < 2 ? axis : across);
    cell.x[k] = ds_stuffing_point(l, point[k]);
    for (int j = 0; j < 4; j++)
      if (cell.sign[k] > 0 && cell.sign[j] < 0) cell.cut[k][j] = l->cuts[ds_stuffing_find_cut(l, point[k], point[j])].x;
  }
  int pieces = ds_stuffing_stencil(piece, &cell);
  for (int i = 0; i < pieces; i++)
    if (!add_piece(f, piece[i], point)) return false;
  return true;
}

/* The four tetrahedra around the edge from the middle of a cell to that of the next along the axis. */
static bool fill_around(filling *f, const int32_t cell[3], int axis) {
  const int32_t *size = f->lattice.size, step[3] = {1, size[0], size[0] * size[1]};
  int u = (axis + 1) % 3, v = (axis + 2) % 3;
  int32_t low = cell[0] + size[0] * (cell[1] + size[1] * cell[2]), next = low + step[axis];
  const int32_t corner[4] = {2 * next, 2 * (next + step[u]), 2 * (next + step[u] + step[v]), 2 * (next + step[v])};
  for (int k = 0; k < 4; k++) {
    const int32_t point[4] = {2 * low + 1, 2 * next + 1, corner[k], corner[(k + 1) % 4]};
    if (!fill_tet(f, point, axis, k % 2 == 0 ? u : v)) return false;
  }
  return true;
}

static bool fill(filling *f) {
  const int32_t *size = f->lattice.size;
  int32_t cell[3];
  f->point_node = malloc((size_t)f->lattice.points * sizeof *f->point_node);
  f->cut_node = malloc((size_t)f->lattice.cut_count * sizeof *f->cut_node + 1);
  if (!f->point_node || !f->cut_node) return false;
  memset(f->point_node, 0xff, (size_t)f->lattice.points * sizeof *f->point_node);
  memset(f->cut_node, 0xff, (size_t)f->lattice.cut_count * sizeof *f->cut_node);
  for (cell[2] = 0; cell[2] + 1 < size[2]; cell[2]++)
    for (cell[1] = 0; cell[1] + 1 < size[1]; cell[1]++)
      for (cell[0] = 0; cell[0] + 1 < size[0]; cell[0]++)
        for (int axis = 0; axis < 3; axis++)
          if (!fill_around(f, cell, axis)) return false;
  return true;
}

/* With so many cells along the longest side. */
static ds_status stuff(ds_tets *tets, const stuffer *s, int32_t along, ds_error *error) {
  filling f = {.node_capacity = 0};
  ds_status status = ds_stuffing_lattice_build(&f.lattice, &s->tree, along, s->pool, error);
  double cell = f.lattice.cell;
  if (status == DS_OK && !fill(&f)) status = no_memory(error);
  ds_stuffing_lattice_free(&f.lattice);
  free(f.point_node);
  free(f.cut_node);
  if (status == DS_OK && f.tets.tet_count > 0) status = ds_stuffing_trim(&f.tets, cell * cell * cell, error);
  if (status == DS_OK)
    *tets = f.tets;
  else
    ds_tets_free(&f.tets);
  return status;
}

/* ---- what was lost ---- */

static bool count_parts(int32_t *parts, const ds_tets *tets, const int32_t *twin) {
  int32_t *set = malloc((size_t)tets->tet_count * sizeof *set + 1);
  if (!set) return false;
  ds_sets_single(set, tets->tet_count);
  for (int32_t f = 0; f < 4 * tets->tet_count; f++)
    if (twin[f] >= 0) ds_sets_join(set, f / 4, twin[f] / 4);
  *parts = 0;
  for (int32_t t = 0; t < tets->tet_count; t++) *parts += ds_sets_root(set, t) == t;
  free(set);
  return true;
}

/* The greatest distance of the surface's corners and middles of triangles to the filling, at *where. */
static ds_status find_lost(double *lost, ds_vec3 *where, const stuffer *s, const ds_tets *tets, ds_error *error) {
  ds_mesh mesh = {0};
  ds_surface surface = {0};
  ds_distance tree = {0};
  ds_nearby nearby;
  *lost = 0;
  ds_status status = ds_tets_surface(&mesh, NULL, tets, error);
  if (status == DS_OK) status = ds_surface_build(&surface, &mesh, error);
  if (status == DS_OK) status = ds_distance_build(&tree, &surface, error);
  ds_nearby_all(&nearby);
  for (int32_t h = 0; h < 4 * s->mesh->triangle_count && status == DS_OK; h++) {
    ds_vec3 x[3], middle;
    for (int k = 0; k < 3; k++) x[k] = ds_half_point(&s->surface, 3 * (h / 4) + k);
    middle = v3_scale(1.0 / 3, v3_add(x[0], v3_add(x[1], x[2])));
    ds_vec3 p = h % 4 < 3 ? x[h % 4] : middle;
    double distance = ds_distance_signed(&nearby, &tree, p);
    if (distance > *lost) *lost = distance, *where = p;
  }
  ds_distance_free(&tree);
  ds_surface_free(&surface);
  ds_mesh_free(&mesh);
  return status;
}

/* *whole: nothing was lost; else, where it is asked for, *where it was. */
static ds_status inspect(bool *whole, ds_vec3 *where, const stuffer *s, const ds_tets *tets, int32_t along,
                         ds_error *error) {
  int32_t parts = 0;
  double lost = 0;
  ds_vec3 there = s->mesh->vertices[s->mesh->triangles[0]];
  int32_t *twin = malloc(4 * (size_t)tets->tet_count * sizeof *twin + 1);
  ds_status status = twin ? ds_tets_pair(twin, tets, error) : no_memory(error);
  if (status == DS_OK && !count_parts(&parts, tets, twin)) status = no_memory(error);
  free(twin);
  if (status == DS_OK && parts > 0 && (parts == s->solids || where)) status = find_lost(&lost, &there, s, tets, error);
  *whole = status == DS_OK && parts == s->solids && lost <= REACH * s->longest / along;
  if (where) *where = there;
  return status;
}

/* ---- the cell ---- */

static int32_t cells_along(const stuffer *s, double cell) {
  double along = ceil(s->longest / cell - 1e-6);
  return along < 1 ? 1 : along > DS_STUFFING_POINTS_MAX ? DS_STUFFING_POINTS_MAX : (int32_t)along;
}

/* With N = 12 V / h³ + 2 A / h², by Newton from the first term alone. */
static double guess_cell(const stuffer *s, double wanted) {
  double h = cbrt(12 * s->volume / wanted);
  for (int i = 0; i < 20; i++) {
    double n = 12 * s->volume / (h * h * h) + 2 * s->surface.area / (h * h);
    double slope = -(36 * s->volume / (h * h * h * h) + 4 * s->surface.area / (h * h * h));
    h = fmax(0.5 * h, h - (n - wanted) / slope);
  }
  return h;
}

/* Keeps the filling whose number is nearest to what is wanted. */
static ds_status stuff_wanted(ds_tets *tets, int32_t *along, const stuffer *s, ds_error *error) {
  double wanted = s->def->wanted, best = INFINITY;
  int32_t next = cells_along(s, guess_cell(s, wanted)), tried[PASSES] = {0};
  for (int pass = 0; pass < PASSES; pass++) {
    ds_tets now = {0};
    ds_status status = stuff(&now, s, next, error);
    if (status != DS_OK) return status;
    double off = fabs(log(fmax(now.tet_count, 1) / wanted));
    tried[pass] = next;
    /* a lattice that missed all of a thin wall says nothing of the next */
    next = (int32_t)fmax(1, round(next * fmin(1.5, cbrt(wanted / fmax(now.tet_count, 1)))));
    if (off < best) {
      ds_tets_free(tets);
      *tets = now;
      *along = tried[pass];
      best = off;
    } else {
      ds_tets_free(&now);
    }
    report(s, 0.8 * (pass + 1) / PASSES);
    for (int i = 0; i <= pass; i++)
      if (tried[i] == next) return DS_OK;
  }
  return DS_OK;
}

/* ---- errors ---- */

/* The cell of so many along the longest side, in the fewest digits that give just as many when they are read again:
 * another number of cells was not tried. */
static void write_cell(char *text, size_t size, const stuffer *s, int32_t along) {
  double cell = s->longest / along;
  for (int digits = 3; digits <= 17; digits++) {
    double unit = pow(10, floor(log10(cell)) + 1 - digits), rounded = ceil(cell / unit) * unit;
    snprintf(text, size, "%.*g", digits, rounded);
    if (cells_along(s, strtod(text, NULL)) == along) return;
  }
}

static ds_status fail_lost(const stuffer *s, int32_t along, ds_vec3 where, int32_t works, ds_error *error) {
  double cell = s->longest / along;
  char advice[80] = "expected a body without parts so thin", number[32] = "";
  if (works > 0) {
    write_cell(number, sizeof number, s, works);
    snprintf(advice, sizeof advice, "try a cell of %s m", number);
  }
  return ds_fail(error, DS_ERROR_INPUT,
                 "cells of %.3g m are too coarse for the thinnest part of the surface, near %.3g %.3g %.3g m; %s", cell,
                 where.x, where.y, where.z, advice);
}

/* Smaller cells, until one works: it is what the message advises, or what is taken where the cell was to be chosen. */
static ds_status stuff_finer(ds_tets *tets, const stuffer *s, int32_t along, ds_vec3 where, ds_error *error) {
  int64_t most = s->def->cell > 0 ? 0 : MORE * (int64_t)s->def->wanted;
  int32_t finer = along;
  bool whole = false, large = false;
  for (int i = 0; i < TRIES && !whole && !large; i++) {
    ds_tets now = {0};
    finer += 1 + finer / 8;
    ds_status status = stuff(&now, s, finer, error);
    if (status == DS_OK) status = inspect(&whole, NULL, s, &now, finer, error);
    if (status == DS_OK && whole && now.tet_count <= most) {
      *tets = now;
      return DS_OK;
    }
    large = status != DS_OK || now.tet_count > TRIED_MAX;
    ds_tets_free(&now);
    if (status == DS_ERROR_MEMORY) return status;
  }
  return fail_lost(s, along, where, whole ? finer : 0, error);
}

/* ---- all of it ---- */

static ds_status check_def(const ds_stuffing_def *def, ds_error *error) {
  if (!(def->cell >= 0) || !isfinite(def->cell))
    return ds_fail(error, DS_ERROR_INPUT, "stuffing: cell = %g m; expected a positive number, or 0 to have it chosen",
                   def->cell);
  if (def->cell == 0 && (def->wanted < 1 || def->wanted > WANTED_MAX))
    return ds_fail(error, DS_ERROR_INPUT, "stuffing: wanted = %d; expected 1 to %d tetrahedra", def->wanted,
                   WANTED_MAX);
  if (def->threads < 0)
    return ds_fail(error, DS_ERROR_INPUT, "stuffing: threads = %d; expected 1 or more, or 0 for all cores",
                   def->threads);
  return DS_OK;
}

static ds_status check_mesh(const ds_mesh *mesh, ds_error *error) {
  ds_mesh_report report;
  ds_status status = ds_mesh_check(&report, mesh, error);
  if (status != DS_OK || report.usable) return status;
  int k = 0;
  while (k < DS_MESH_FAULT_COUNT - 1 && report.count[k] == 0) k++;
  ds_vec3 p = report.place[k];
  return ds_fail(error, DS_ERROR_INPUT,
                 "the surface cannot be filled: %s, %d time%s (the first near %g %g %g m); expected a closed surface "
                 "that faces outward and does not cut itself",
                 ds_mesh_fault_name((ds_mesh_fault)k), report.count[k], report.count[k] > 1 ? "s" : "", p.x, p.y, p.z);
}

/* Parts of the surface with positive volume: what lies in a cavity of another is a solid of its own. */
static bool count_solids(stuffer *s) {
  int32_t n = s->mesh->triangle_count, *set = malloc((size_t)n * sizeof *set);
  double *volume = calloc((size_t)n, sizeof *volume);
  bool ok = set && volume;
  if (ok) {
    ds_sets_single(set, n);
    for (int32_t h = 0; h < 3 * n; h++) ds_sets_join(set, h / 3, s->surface.twin[h] / 3);
    for (int32_t t = 0; t < n; t++) {
      ds_vec3 a = ds_half_point(&s->surface, 3 * t), b = ds_half_point(&s->surface, 3 * t + 1);
      ds_vec3 first = ds_half_point(&s->surface, 3 * ds_sets_root(set, t)); /* a point of its own part */
      ds_vec3 c = ds_half_point(&s->surface, 3 * t + 2), d = v3_cross(v3_sub(a, first), v3_sub(b, first));
      volume[ds_sets_root(set, t)] += v3_dot(d, v3_sub(c, first)) / 6;
    }
    for (int32_t t = 0; t < n; t++) {
      s->solids += volume[t] > 0;
      s->volume += volume[t];
    }
  }
  free(set);
  free(volume);
  return ok;
}

static ds_status prepare(stuffer *s, ds_error *error) {
  ds_status status = ds_surface_build(&s->surface, s->mesh, error);
  if (status != DS_OK) return status;
  ds_vec3 extent = v3_sub(s->surface.high, s->surface.low);
  s->longest = fmax(extent.x, fmax(extent.y, extent.z));
  if (!(s->longest >= size_low && s->longest <= size_high))
    return ds_fail(error, DS_ERROR_INPUT, "the longest side of the surface is %g m; expected %g to %g m", s->longest,
                   size_low, size_high);
  status = ds_distance_build(&s->tree, &s->surface, error);
  if (status != DS_OK) return status;
  if (!count_solids(s)) return no_memory(error);
  if (s->solids != 1)
    return ds_fail(error, DS_ERROR_INPUT, "the surface encloses %d separate bodies; expected one", s->solids);
  s->pool = ds_pool_create(s->def->threads);
  return s->pool ? DS_OK : no_memory(error);
}

static ds_status run(ds_tets *tets, const stuffer *s, ds_error *error) {
  int32_t along = s->def->cell > 0 ? cells_along(s, s->def->cell) : 0;
  bool whole = false;
  ds_vec3 where;
  report(s, 0);
  ds_status status = along > 0 ? stuff(tets, s, along, error) : stuff_wanted(tets, &along, s, error);
  report(s, 0.8);
  if (status == DS_OK) status = inspect(&whole, &where, s, tets, along, error);
  if (status == DS_OK && !whole) {
    ds_tets_free(tets);
    status = stuff_finer(tets, s, along, where, error);
  }
  if (status == DS_OK) report(s, 1);
  return status;
}

ds_status ds_tets_stuff(ds_tets *tets, const ds_mesh *surface, const ds_stuffing_def *def, ds_error *error) {
  *tets = (ds_tets){0};
  stuffer s = {.def = def, .mesh = surface};
  ds_status status = check_def(def, error);
  if (status == DS_OK) status = check_mesh(surface, error);
  if (status == DS_OK) status = prepare(&s, error);
  if (status == DS_OK) status = run(tets, &s, error);
  if (status != DS_OK) ds_tets_free(tets);
  ds_pool_destroy(s.pool);
  ds_distance_free(&s.tree);
  ds_surface_free(&s.surface);
  return status;
}
