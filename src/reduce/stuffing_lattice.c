/* The body-centred cubic lattice of isosurface stuffing: depth at its points, cut points on its edges, warping
 * [Labelle and Shewchuk 2007, section 3].
 *
 * - Lattice points are the corners of cubic cells and their middles. Long edges join neighbouring corners, or
 *   neighbouring middles; short ones, sqrt(3)/2 of a cell, join a middle with the corners of its cell. Where the bounds
 *   are whole numbers of cells, corners lie on them, so that a box along the axes is filled exactly; else the lattice
 *   lies evenly to both sides.
 * - Along a row only the points are measured that may be near the surface: distance is 1-Lipschitz, so k cells on, the
 *   surface is at least |f| - k cells away.
 * - Cut points are found on the true distance, to 1e-9 of the edge, by regula falsi with halved weights and a bisection
 *   now and then.
 * - Where a cut point is nearer than alpha to one of the ends of its edge, that end is moved there, nearest first; the
 *   other cut points on its edges are then gone. */
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "reduce/stuffing.h"

enum { CHUNK = 64 };
/* A point that is nearer to the surface than this part of a cell is on it. */
static const double on_surface = 1e-9;

/* ---- points ---- */

static int32_t point_at(const ds_stuffing_lattice *l, int32_t x, int32_t y, int32_t z, int32_t middle) {
  return 2 * (x + l->size[0] * (y + l->size[1] * z)) + middle;
}

static int32_t coordinate(const ds_stuffing_lattice *l, int32_t point, int axis) {
  int32_t cell = point / 2;
  return axis == 0 ? cell % l->size[0] : axis == 1 ? cell / l->size[0] % l->size[1] : cell / l->size[0] / l->size[1];
}

bool ds_stuffing_is_even(const ds_stuffing_lattice *l, int32_t point, int axis) {
  return coordinate(l, point, axis) % 2 == 0;
}

static ds_vec3 unwarped(const ds_stuffing_lattice *l, int32_t point) {
  double half = 0.5 * (point & 1);
  ds_vec3 at = v3(coordinate(l, point, 0) + half, coordinate(l, point, 1) + half, coordinate(l, point, 2) + half);
  return v3_mad(l->origin, l->cell, at);
}

ds_vec3 ds_stuffing_point(const ds_stuffing_lattice *l, int32_t point) {
  return l->warp[point] >= 0 ? l->cuts[l->warp[point]].x : unwarped(l, point);
}

static ds_status plan(ds_stuffing_lattice *l, const ds_surface *s, int32_t along, ds_error *error) {
  ds_vec3 extent = v3_sub(s->high, s->low);
  double side[3] = {extent.x, extent.y, extent.z}, longest = fmax(side[0], fmax(side[1], side[2])), points = 2;
  double middle[3] = {0.5 * (s->low.x + s->high.x), 0.5 * (s->low.y + s->high.y), 0.5 * (s->low.z + s->high.z)};
  double origin[3];
  *l = (ds_stuffing_lattice){.cell = longest / along};
  for (int k = 0; k < 3; k++) {
    double cells = fmax(1, ceil(side[k] / l->cell - 1e-6));
    origin[k] = middle[k] - (0.5 * cells + 1) * l->cell;
    points *= cells + 3; /* one around, and the corners at the far end */
    if (points > DS_STUFFING_POINTS_MAX)
      return ds_fail(error, DS_ERROR_INPUT,
                     "cells of %g m are too fine for a body of %g x %g x %g m; expected larger cells", l->cell, side[0],
                     side[1], side[2]);
    l->size[k] = (int32_t)cells + 3;
  }
  l->points = (int32_t)points;
  l->origin = v3(origin[0], origin[1], origin[2]);
  return DS_OK;
}

/* ---- depth ---- */

typedef struct work {
  ds_stuffing_lattice *lattice;
  const ds_distance *tree;
} work;

static void measure_row(const work *w, ds_nearby *nearby, int32_t y, int32_t z, int32_t middle) {
  ds_stuffing_lattice *l = w->lattice;
  for (int32_t x = 0; x < l->size[0];) {
    int32_t point = point_at(l, x++, y, z, middle);
    double f = -ds_distance_signed(nearby, w->tree, unwarped(l, point)), cell = l->cell;
    l->value[point] = fabs(f) <= on_surface * cell ? 0 : f;
    for (double left = fabs(f) - cell; left > 1.001 * cell && x < l->size[0]; left -= cell)
      l->value[point_at(l, x++, y, z, middle)] = copysign(left, f);
  }
}

static void measure_layer(void *context, int32_t z, int32_t worker) {
  (void)worker;
  const work *w = context;
  ds_nearby nearby;
  ds_nearby_all(&nearby);
  for (int32_t y = 0; y < w->lattice->size[1]; y++)
    for (int32_t middle = 0; middle < 2; middle++) measure_row(w, &nearby, y, z, middle);
}

/* ---- edges ---- */

/* The other end of an edge that a point owns, or -1 where the lattice ends. */
static int32_t far_end(const ds_stuffing_lattice *l, int32_t point, int32_t which) {
  int32_t step[3] = {0, 0, 0}, middle = point & 1;
  if (which < 3)
    step[which] = 1;
  else
    for (int k = 0; k < 3; k++) step[k] = (which - 3) >> k & 1;
  if (which >= 3) middle = 0;
  int32_t at[3];
  for (int k = 0; k < 3; k++) {
    at[k] = coordinate(l, point, k) + step[k];
    if (at[k] >= l->size[k]) return -1;
  }
  return point_at(l, at[0], at[1], at[2], middle);
}

static int32_t edge_between(const ds_stuffing_lattice *l, int32_t a, int32_t b) {
  bool is_short = (a & 1) != (b & 1);
  int32_t owner = is_short ? (a & 1 ? a : b) : (a < b ? a : b), other = a + b - owner, which = is_short ? 3 : 0;
  for (int k = 0; k < 3; k++)
    if (coordinate(l, other, k) != coordinate(l, owner, k)) which += is_short ? 1 << k : k;
  return DS_STUFFING_EDGES * owner + which;
}

int32_t ds_stuffing_find_cut(const ds_stuffing_lattice *l, int32_t a, int32_t b) {
  int32_t edge = edge_between(l, a, b), low = 0, high = l->cut_count - 1;
  while (low < high) {
    int32_t middle = low + (high - low) / 2;
    if (l->cuts[middle].edge < edge)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static bool list_cuts(ds_stuffing_lattice *l) {
  for (int32_t a = 0; a < l->points; a++) {
    if (l->value[a] == 0 || fabs(l->value[a]) > 1.001 * l->cell) continue;
    for (int32_t which = 0; which < (a & 1 ? DS_STUFFING_EDGES : 3); which++) {
      int32_t b = far_end(l, a, which);
      if (b < 0 || !((l->value[a] > 0 && l->value[b] < 0) || (l->value[a] < 0 && l->value[b] > 0))) continue;
      if (!ds_array_reserve(&l->cuts, &l->cut_capacity, l->cut_count + 1, sizeof *l->cuts)) return false;
      l->cuts[l->cut_count++] = (ds_stuffing_cut){.edge = DS_STUFFING_EDGES * a + which, .end = {a, b}};
    }
  }
  return true;
}

static void find_zero(const work *w, ds_nearby *nearby, ds_stuffing_cut *cut) {
  const ds_stuffing_lattice *l = w->lattice;
  ds_vec3 a = unwarped(l, cut->end[0]), d = v3_sub(unwarped(l, cut->end[1]), a);
  double low = 0, high = 1, fa = l->value[cut->end[0]], fb = l->value[cut->end[1]], m = 0.5;
  bool rising = fa < 0;
  for (int k = 0, side = 0; k < 60 && high - low > 1e-9; k++) {
    m = k % 4 == 3 ? 0.5 * (low + high) : low - fa * (high - low) / (fb - fa);
    m = fmin(fmax(m, low + 1e-10), high - 1e-10);
    double f = -ds_distance_signed(nearby, w->tree, v3_mad(a, m, d));
    if (fabs(f) <= 1e-12 * l->cell) break;
    if ((f > 0) == rising) {
      high = m, fb = f;
      if (side > 0) fa *= 0.5;
      side = 1;
    } else {
      low = m, fa = f;
      if (side < 0) fb *= 0.5;
      side = -1;
    }
  }
  cut->at = m;
  cut->x = v3_mad(a, m, d);
}

static void find_zeros(void *context, int32_t chunk, int32_t worker) {
  (void)worker;
  const work *w = context;
  ds_stuffing_lattice *l = w->lattice;
  ds_nearby nearby;
  ds_nearby_all(&nearby);
  for (int32_t i = CHUNK * chunk; i < CHUNK * (chunk + 1) && i < l->cut_count; i++) find_zero(w, &nearby, &l->cuts[i]);
}

/* ---- warping ---- */

typedef struct pull {
  double distance;
  int32_t point, cut;
} pull;

static int compare_pulls(const void *pa, const void *pb) {
  const pull *a = pa, *b = pb;
  if (a->distance != b->distance) return a->distance < b->distance ? -1 : 1;
  if (a->cut != b->cut) return a->cut < b->cut ? -1 : 1;
  return (a->point > b->point) - (a->point < b->point);
}

static bool warp(ds_stuffing_lattice *l) {
  pull *pulls = malloc((size_t)l->cut_count * sizeof *pulls + 1);
  int32_t count = 0;
  if (!pulls) return false;
  for (int32_t i = 0; i < l->cut_count; i++) {
    const ds_stuffing_cut *c = &l->cuts[i];
    bool is_short = (c->end[0] & 1) != (c->end[1] & 1);
    double alpha = is_short ? DS_STUFFING_ALPHA_SHORT : DS_STUFFING_ALPHA_LONG;
    double length = (is_short ? sqrt(0.75) : 1) * l->cell, near = fmin(c->at, 1 - c->at);
    if (near < alpha) pulls[count++] = (pull){near * length, c->end[c->at > 0.5], i};
  }
  qsort(pulls, (size_t)count, sizeof *pulls, compare_pulls);
  for (int32_t i = 0; i < count; i++) {
    const ds_stuffing_cut *c = &l->cuts[pulls[i].cut];
    if (l->value[c->end[0]] == 0 || l->value[c->end[1]] == 0) continue; /* the cut point is gone */
    l->warp[pulls[i].point] = pulls[i].cut;
    l->value[pulls[i].point] = 0;
  }
  free(pulls);
  return true;
}

/* ---- all of it ---- */

ds_status ds_stuffing_lattice_build(ds_stuffing_lattice *l, const ds_distance *tree, int32_t along, ds_pool *pool,
                                    ds_error *error) {
  ds_status status = plan(l, tree->surface, along, error);
  if (status != DS_OK) return status;
  work w = {l, tree};
  l->value = malloc((size_t)l->points * sizeof *l->value);
  l->warp = malloc((size_t)l->points * sizeof *l->warp);
  bool ok = l->value && l->warp;
  if (ok) {
    for (int32_t i = 0; i < l->points; i++) l->warp[i] = -1;
    ds_pool_run(pool, l->size[2], measure_layer, &w);
    ok = list_cuts(l);
  }
  if (ok) {
    ds_pool_run(pool, (l->cut_count + CHUNK - 1) / CHUNK, find_zeros, &w);
    ok = warp(l);
  }
  if (ok) return DS_OK;
  ds_stuffing_lattice_free(l);
  return ds_fail(error, DS_ERROR_MEMORY, "memory ran out while filling a surface; make the cells larger");
}

void ds_stuffing_lattice_free(ds_stuffing_lattice *l) {
  free(l->value);
  free(l->warp);
  free(l->cuts);
  *l = (ds_stuffing_lattice){0};
}
