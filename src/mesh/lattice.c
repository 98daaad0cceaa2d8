/* The cells of a grid that a surface passes through, found without visiting empty space.
 *
 * A block of 2^k cells is left out where |f| at its middle says that no surface can be in it (f is 1-Lipschitz); else
 * its eight parts are visited. Corners are shared through a hash table. The crossing on an edge is found to 1e-9 of a
 * cell by secants kept in a bracket, its normal by differences. How the surface passes through a cell is the set of
 * loops that its pieces on the six faces make [Nielson 2004, Dual Marching Cubes]; where a face has four crossings, f
 * at its middle decides which are connected, for both cells alike. Where two cells would be connected twice through
 * such a face, which is no 2-manifold [Wenger 2013], its connection is flipped: that parts the loop in both, and never
 * joins others. */
#include "mesh/lattice.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"

enum { NONE = -1 };

static ds_vec3 place_of(const ds_lattice *l, double i, double j, double k) {
  return v3(l->origin.x + l->h * i, l->origin.y + l->h * j, l->origin.z + l->h * k);
}

static double value(const ds_lattice *l, ds_vec3 x) { return l->f(l->context, x); }

/* ---- points ---- */

static uint32_t hash(const int32_t at[3]) {
  uint32_t x = (uint32_t)at[0] * 73856093u ^ (uint32_t)at[1] * 19349663u ^ (uint32_t)at[2] * 83492791u;
  x ^= x >> 15;
  x *= 0x2c1b3c6du;
  return x ^ x >> 13;
}

static bool grow_table(ds_lattice *l) {
  uint32_t mask = l->mask ? 2 * l->mask + 1 : 4095;
  int32_t *table = malloc(((size_t)mask + 1) * sizeof *table);
  if (!table) return false;
  memset(table, 0xFF, ((size_t)mask + 1) * sizeof *table);
  for (int32_t p = 0; p < l->point_count; p++) {
    uint32_t s = hash(l->points[p].at) & mask;
    while (table[s] != NONE) s = (s + 1) & mask;
    table[s] = p;
  }
  free(l->table);
  l->table = table;
  l->mask = mask;
  return true;
}

/* The point there, made where it is new. False where memory ran out. */
static bool point_at(ds_lattice *l, int32_t *point, const int32_t at[3]) {
  if ((uint32_t)l->point_count >= l->mask / 2 && !grow_table(l)) return false;
  uint32_t s = hash(at) & l->mask;
  for (; l->table[s] != NONE; s = (s + 1) & l->mask) {
    *point = l->table[s];
    if (memcmp(l->points[*point].at, at, 3 * sizeof *at) == 0) return true;
  }
  if (!ds_array_reserve(&l->points, &l->point_capacity, l->point_count + 1, sizeof *l->points)) return false;
  ds_lattice_point *p = &l->points[l->point_count];
  *p = (ds_lattice_point){{at[0], at[1], at[2]}, NONE, {NONE, NONE, NONE}, 0};
  p->f = value(l, place_of(l, at[0], at[1], at[2]));
  *point = l->table[s] = l->point_count++;
  return true;
}

int32_t ds_lattice_find(const ds_lattice *l, ds_vec3 x) {
  ds_vec3 d = v3_scale(1 / l->h, v3_sub(x, l->origin));
  const int32_t at[3] = {(int32_t)floor(d.x), (int32_t)floor(d.y), (int32_t)floor(d.z)};
  for (uint32_t s = hash(at) & l->mask; l->table[s] != NONE; s = (s + 1) & l->mask)
    if (memcmp(l->points[l->table[s]].at, at, sizeof at) == 0) return l->points[l->table[s]].cell;
  return NONE;
}

/* ---- cells ---- */

static ds_status no_memory(ds_error *error) {
  return ds_fail(error, DS_ERROR_MEMORY, "memory ran out while meshing; make the cells larger");
}

static ds_status add_cell(ds_lattice *l, const int32_t at[3], ds_error *error) {
  ds_lattice_cell c = {.vertex = NONE};
  for (int k = 0; k < 8; k++) {
    int32_t corner[3] = {at[0] + (k & 1), at[1] + (k >> 1 & 1), at[2] + (k >> 2)};
    if (!point_at(l, &c.corner[k], corner)) return no_memory(error);
    if (l->points[c.corner[k]].f <= 0) c.inside |= (uint8_t)(1u << k);
  }
  if (c.inside == 0 || c.inside == 255) return DS_OK;
  if (l->cell_count >= DS_LATTICE_CELLS_MAX)
    return ds_fail(error, DS_ERROR_INPUT, "the surface has more than %d cells of %g m; expected larger cells",
                   DS_LATTICE_CELLS_MAX, l->h);
  if (!ds_array_reserve(&l->cells, &l->cell_capacity, l->cell_count + 1, sizeof *l->cells)) return no_memory(error);
  l->points[c.corner[0]].cell = l->cell_count;
  l->cells[l->cell_count++] = c;
  return DS_OK;
}

static ds_status visit(ds_lattice *l, const int32_t at[3], int32_t size, ds_error *error) {
  for (int a = 0; a < 3; a++)
    if (at[a] >= l->size[a]) return DS_OK;
  double half = 0.5 * size, f = value(l, place_of(l, at[0] + half, at[1] + half, at[2] + half));
  /* a thousandth more than half the diagonal: rounding, and primitives that are exact to rounding only */
  if (fabs(f) > half * l->h * 1.7338) return DS_OK;
  if (size == 1) return add_cell(l, at, error);
  for (int k = 0; k < 8; k++) {
    int32_t s = size / 2, part[3] = {at[0] + s * (k & 1), at[1] + s * (k >> 1 & 1), at[2] + s * (k >> 2)};
    ds_status status = visit(l, part, s, error);
    if (status != DS_OK) return status;
  }
  return DS_OK;
}

/* ---- crossings ---- */

static int32_t first_corner(int32_t edge) {
  int32_t n = edge & 3;
  return edge < 4 ? n << 1 : edge < 8 ? (n & 1) | (n & 2) << 1 : n;
}

/* Where f changes sign between a (inside) and b (outside): regula falsi with halved weights (Illinois), and a bisection
 * now and then, for functions with kinks. */
static ds_vec3 find_zero(const ds_lattice *l, ds_vec3 a, double fa, ds_vec3 b, double fb) {
  double s = 0, t = 1;
  ds_vec3 d = v3_sub(b, a);
  int side = 0;
  for (int k = 0; k < 60 && t - s > 1e-9; k++) {
    double m = k % 4 == 3 || !(fb > fa) ? 0.5 * (s + t) : s - fa * (t - s) / (fb - fa);
    m = fmin(fmax(m, s + 1e-10), t - 1e-10);
    double f = value(l, v3_mad(a, m, d));
    if (f <= 0) {
      s = m, fa = f;
      if (side < 0) fb *= 0.5;
      side = -1;
    } else {
      t = m, fb = f;
      if (side > 0) fa *= 0.5;
      side = 1;
    }
    if (fabs(f) < 1e-12 * l->h) return v3_mad(a, m, d);
  }
  return v3_mad(a, 0.5 * (s + t), d);
}

/* Differences over a millionth of a cell: a kink nearer than that is met by chance only. */
static ds_vec3 normal_at(const ds_lattice *l, ds_vec3 x) {
  double e = 1e-6 * l->h;
  return v3_unit(v3(value(l, v3(x.x + e, x.y, x.z)) - value(l, v3(x.x - e, x.y, x.z)),
                    value(l, v3(x.x, x.y + e, x.z)) - value(l, v3(x.x, x.y - e, x.z)),
                    value(l, v3(x.x, x.y, x.z + e)) - value(l, v3(x.x, x.y, x.z - e))));
}

static bool add_crossings(ds_lattice *l, const ds_lattice_cell *c) {
  for (int32_t e = 0; e < 12; e++) {
    int32_t axis = e / 4, low = first_corner(e), high = low | 1 << axis;
    bool in = c->inside >> low & 1;
    ds_lattice_point *p = &l->points[c->corner[low]], *q = &l->points[c->corner[high]];
    if (in == (c->inside >> high & 1) || p->edge[axis] >= 0) continue;
    if (!ds_array_reserve(&l->crossings, &l->crossing_capacity, l->crossing_count + 1, sizeof *l->crossings))
      return false;
    ds_vec3 a = place_of(l, p->at[0], p->at[1], p->at[2]), b = place_of(l, q->at[0], q->at[1], q->at[2]);
    ds_lattice_crossing *x = &l->crossings[l->crossing_count];
    *x = (ds_lattice_crossing){.vertex = {NONE, NONE, NONE, NONE}, .axis = axis, .upward = in};
    x->x = in ? find_zero(l, a, p->f, b, q->f) : find_zero(l, b, q->f, a, p->f);
    x->normal = normal_at(l, x->x);
    p->edge[axis] = l->crossing_count++;
  }
  return true;
}

int32_t ds_lattice_edge(const ds_lattice *l, const ds_lattice_cell *c, int32_t e) {
  return l->points[c->corner[first_corner(e)]].edge[e / 4];
}

/* ---- loops ---- */

/* Corner n of a face, counter-clockwise seen from outside the cell. */
static int32_t face_corner(int32_t face, int32_t n) {
  int32_t a = face / 2, b = (a + 1) % 3, c = (a + 2) % 3, side = face & 1;
  n = side ? n & 3 : (4 - n) & 3;
  return side << a | (n == 1 || n == 2) << b | (n >= 2) << c;
}

static int32_t edge_between(int32_t p, int32_t q) {
  int32_t axis = (p ^ q) >> 1, low = p & q;
  return 4 * axis + (axis == 0 ? low >> 1 : axis == 1 ? (low & 1) | (low >> 2) << 1 : low & 3);
}

/* Edges of a face where the walk around it leaves the inside (out) or comes back (in); their number. in[i] follows
 * out[i]. */
static int face_edges(int32_t out[2], int32_t in[2], uint8_t inside, int32_t face) {
  int n = 0, start = 0;
  while (start < 4 && !((inside >> face_corner(face, start) & 1) && !(inside >> face_corner(face, start + 1) & 1)))
    start++;
  if (start == 4) return 0;
  for (int i = start; i < start + 4; i++) {
    int32_t p = face_corner(face, i), q = face_corner(face, i + 1);
    bool pi = inside >> p & 1, qi = inside >> q & 1;
    if (pi && !qi) out[n] = edge_between(p, q);
    if (!pi && qi) in[n++] = edge_between(p, q);
  }
  return n;
}

static void trace_loops(ds_lattice_cell *c) {
  int32_t next[12], out[2], in[2];
  for (int e = 0; e < 12; e++) next[e] = NONE, c->loop[e] = NONE;
  for (int32_t face = 0; face < 6; face++) {
    int n = face_edges(out, in, c->inside, face);
    /* joined: each piece cuts off an outside corner, so it ends where the walk comes back next */
    bool cross = n == 2 && !(c->joined >> face & 1);
    for (int i = 0; i < n; i++) next[out[i]] = in[cross ? 1 - i : i];
  }
  c->loops = 0;
  for (int e = 0; e < 12; e++) {
    if (next[e] == NONE || c->loop[e] >= 0) continue;
    for (int k = e; c->loop[k] < 0; k = next[k]) c->loop[k] = c->loops;
    c->loops++;
  }
}

static void join_faces(ds_lattice *l, ds_lattice_cell *c) {
  int32_t out[2], in[2];
  for (int32_t face = 0; face < 6; face++) {
    if (face_edges(out, in, c->inside, face) < 2) continue;
    const ds_lattice_point *p = &l->points[c->corner[face_corner(face, 0)]];
    const ds_lattice_point *q = &l->points[c->corner[face_corner(face, 2)]];
    ds_vec3 middle = place_of(l, 0.5 * (p->at[0] + q->at[0]), 0.5 * (p->at[1] + q->at[1]), 0.5 * (p->at[2] + q->at[2]));
    if (value(l, middle) <= 0) c->joined |= (uint8_t)(1u << face);
  }
}

/* Whether both pieces on a face with four crossings belong to one loop. */
static bool is_one_loop(const ds_lattice_cell *c, int32_t face) {
  int32_t out[2], in[2];
  return face_edges(out, in, c->inside, face) == 2 && c->loop[out[0]] == c->loop[out[1]];
}

static ds_status part_double_faces(ds_lattice *l, ds_error *error) {
  for (int32_t i = 0; i < l->cell_count; i++)
    for (int32_t axis = 0; axis < 3; axis++) {
      ds_lattice_cell *c = &l->cells[i];
      int32_t face = 2 * axis + 1;
      if (!is_one_loop(c, face)) continue;
      int32_t other = l->points[c->corner[1 << axis]].cell;
      if (other < 0) return ds_fail(error, DS_ERROR_INPUT, "the distance changes faster than distances do");
      if (!is_one_loop(&l->cells[other], 2 * axis)) continue;
      c->joined ^= (uint8_t)(1u << face);
      l->cells[other].joined ^= (uint8_t)(1u << (2 * axis));
      trace_loops(c);
      trace_loops(&l->cells[other]);
    }
  return DS_OK;
}

/* ---- all ---- */

static ds_status set_grid(ds_lattice *l, ds_vec3 low, ds_vec3 high, double h, ds_error *error) {
  ds_vec3 d = v3_sub(high, low);
  double side = fmax(d.x, fmax(d.y, d.z)) / h;
  if (!(h > 0) || !(side <= DS_LATTICE_SIDE_MAX))
    return ds_fail(error, DS_ERROR_INPUT, "cells of %g m for a solid of %g m; expected at most %d cells per side", h,
                   side * h, DS_LATTICE_SIDE_MAX);
  /* shares of a cell that are no simple fractions: faces of solids seldom fall on grid planes */
  l->origin = v3_sub(low, v3(1.3819 * h, 1.4142 * h, 1.3028 * h));
  l->h = h;
  l->size[0] = (int32_t)(d.x / h) + 4;
  l->size[1] = (int32_t)(d.y / h) + 4;
  l->size[2] = (int32_t)(d.z / h) + 4;
  return DS_OK;
}

ds_status ds_lattice_build(ds_lattice *l, ds_distance *f, const void *context, ds_vec3 low, ds_vec3 high, double cell,
                           ds_error *error) {
  *l = (ds_lattice){.f = f, .context = context};
  ds_status status = set_grid(l, low, high, cell, error);
  int32_t size = 1, zero[3] = {0};
  while (size < l->size[0] || size < l->size[1] || size < l->size[2]) size *= 2;
  if (status == DS_OK && !grow_table(l)) status = no_memory(error);
  if (status == DS_OK) status = visit(l, zero, size, error);
  for (int32_t i = 0; status == DS_OK && i < l->cell_count; i++) {
    if (!add_crossings(l, &l->cells[i])) status = no_memory(error);
    join_faces(l, &l->cells[i]);
    trace_loops(&l->cells[i]);
  }
  if (status == DS_OK) status = part_double_faces(l, error);
  if (status != DS_OK) ds_lattice_free(l);
  return status;
}

void ds_lattice_free(ds_lattice *l) {
  free(l->points);
  free(l->table);
  free(l->cells);
  free(l->crossings);
  free(l->claims);
  *l = (ds_lattice){0};
}
