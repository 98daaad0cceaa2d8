/* The signed distance field of a solid: a coarse grid, with a brick of 8 x 8 x 8 fine cells in every coarse cell near
 * the surface, trilinear between grid points (sparse adaptive fields: Frisken and others 2000, with two levels).
 *
 * - A fine grid point lies on the low corner of the bounds, and whole cells span the longest side: faces, edges and
 *   corners of a box along the axes are then exact, but for high sides that are no whole number of cells away.
 * - Bricks reach at least `band` coarse cells to both sides of the surface. Where a brick has a neighbour without one,
 *   the grid points between them follow the neighbour's interpolation, so the field is continuous. All values there
 *   have the same sign and are larger than the band: no sign is wrong there.
 * - Outside the grid, with q the nearest point of it: every point s of the solid has (x - q)'(q - s) >= 0, so
 *   |x - s|² >= |x - q|² + d(q)², which is the bound returned.
 *
 * Limits: an edge or corner that is not along the grid is rounded off by a fraction of a fine cell. */
#include <stdlib.h>

#include "base/error.h"
#include "mesh/build.h"

#define POINTS (DS_BRICK + 1)
#define BRICK_POINTS (POINTS * POINTS * POINTS)
enum { PAD = 2, CHUNKS = 40 };
_Static_assert(POINTS % 3 == 0, "bricks are filled in blocks of 3 x 3 x 3 points");
#define CELL_LIMIT ((int64_t)1 << 26)  /* coarse cells: half a GiB */
#define BYTES_LIMIT ((int64_t)1 << 31) /* of a whole field */

static int64_t cell_count(const ds_distance_field *f) { return (int64_t)f->size[0] * f->size[1] * f->size[2]; }

static int64_t point_count(const ds_distance_field *f) {
  return (int64_t)(f->size[0] + 1) * (f->size[1] + 1) * (f->size[2] + 1);
}

static int64_t cell_index(const ds_distance_field *f, int32_t x, int32_t y, int32_t z) {
  return x + f->size[0] * (y + (int64_t)f->size[1] * z);
}

static int64_t point_index(const ds_distance_field *f, int32_t x, int32_t y, int32_t z) {
  return x + (f->size[0] + 1) * (y + (int64_t)(f->size[1] + 1) * z);
}

/* A point of the fine grid: the same bits from whichever cell it is reached. */
static ds_vec3 grid_point(const ds_distance_field *f, double x, double y, double z) {
  return v3(f->origin.x + f->fine * x, f->origin.y + f->fine * y, f->origin.z + f->fine * z);
}

int64_t ds_field_bytes(const ds_distance_field *f) {
  return point_count(f) * (int64_t)sizeof(float) + cell_count(f) * (int64_t)sizeof(int32_t) +
         (int64_t)f->brick_count * BRICK_POINTS * (int64_t)sizeof(float);
}

void ds_field_free(ds_distance_field *f) {
  free(f->values);
  free(f->brick);
  free(f->bricks);
  *f = (ds_distance_field){0};
}

/* ---- planning ---- */

typedef struct work {
  ds_distance_field *field;
  const ds_distance *tree;
  double radius;       /* cells whose middle is nearer have a brick */
  int32_t *brick_cell; /* cell of a brick */
  int32_t first;       /* brick of item 0 */
} work;

static void mark_layer(void *context, int32_t z, int32_t worker) {
  (void)worker;
  const work *w = context;
  ds_distance_field *f = w->field;
  for (int32_t y = 0; y < f->size[1]; y++)
    for (int32_t x = 0; x < f->size[0]; x++) {
      ds_vec3 middle = grid_point(f, DS_BRICK * (x + 0.5), DS_BRICK * (y + 0.5), DS_BRICK * (z + 0.5));
      f->brick[cell_index(f, x, y, z)] = ds_distance_within(w->tree, middle, w->radius) ? 0 : -1;
    }
}

ds_status ds_field_plan(ds_distance_field *f, const ds_build *build, double fine, double band, ds_error *error) {
  ds_vec3 low = build->surface->low, extent = v3_sub(build->surface->high, low);
  double sides[3] = {extent.x, extent.y, extent.z}, cells = 1;
  *f = (ds_distance_field){.coarse = DS_BRICK * fine, .fine = fine};
  f->origin = v3_sub(low, v3_scale(PAD * f->coarse, v3(1, 1, 1)));
  for (int k = 0; k < 3; k++) {
    double size = fmax(1, ceil(sides[k] / f->coarse - 1e-9)) + 2 * PAD;
    cells *= size;
    if (cells > (double)CELL_LIMIT)
      return ds_fail(error, DS_ERROR_INPUT,
                     "a distance field with cells of %g m for a solid of %g x %g x %g m is too large; expected larger "
                     "cells",
                     fine, sides[0], sides[1], sides[2]);
    f->size[k] = (int32_t)size;
  }
  f->brick = malloc((size_t)cell_count(f) * sizeof *f->brick);
  if (!f->brick) return ds_fail(error, DS_ERROR_MEMORY, "no memory for a distance field of %.0f cells", cells);
  /* a cell's middle is at most half its diagonal away from any of its points */
  work w = {.field = f, .tree = build->tree, .radius = (band + sqrt(0.75)) * f->coarse};
  ds_pool_run(build->pool, f->size[2], mark_layer, &w);
  for (int64_t i = 0; i < cell_count(f); i++)
    if (f->brick[i] >= 0) f->brick[i] = f->brick_count++;
  if (ds_field_bytes(f) <= BYTES_LIMIT) return DS_OK;
  double mib = (double)ds_field_bytes(f) / 0x1p20;
  ds_field_free(f);
  return ds_fail(error, DS_ERROR_INPUT,
                 "a distance field with cells of %g m would take %.0f MiB; expected larger cells (at most %.0f MiB)",
                 fine, mib, (double)BYTES_LIMIT / 0x1p20);
}

/* ---- filling ---- */

static void fill_layer(void *context, int32_t z, int32_t worker) {
  (void)worker;
  const work *w = context;
  ds_distance_field *f = w->field;
  ds_nearby nearby;
  ds_nearby_all(&nearby);
  for (int32_t y = 0; y <= f->size[1]; y++)
    for (int32_t x = 0; x <= f->size[0]; x++) {
      ds_vec3 p = grid_point(f, DS_BRICK * x, DS_BRICK * y, DS_BRICK * z);
      f->values[point_index(f, x, y, z)] = (float)ds_distance_signed(&nearby, w->tree, p);
    }
}

/* Whether a cell is in the grid and has no brick. */
static bool is_plain(const ds_distance_field *f, const int32_t cell[3]) {
  for (int k = 0; k < 3; k++)
    if (cell[k] < 0 || cell[k] >= f->size[k]) return false;
  return f->brick[cell_index(f, cell[0], cell[1], cell[2])] < 0;
}

static float *brick_point(float *brick, const int32_t at[3]) {
  return &brick[at[0] + POINTS * (at[1] + POINTS * at[2])];
}

/* Grid points of side `side` (0 low, 1 high) of `axis` follow the bilinear interpolation of its corners. */
static void flatten_face(float *brick, int axis, int side) {
  int u = (axis + 1) % 3, v = (axis + 2) % 3;
  int32_t at[3];
  double corner[2][2];
  at[axis] = side * DS_BRICK;
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++) {
      at[u] = i * DS_BRICK, at[v] = j * DS_BRICK;
      corner[i][j] = (double)*brick_point(brick, at);
    }
  for (at[u] = 0; at[u] <= DS_BRICK; at[u]++)
    for (at[v] = 0; at[v] <= DS_BRICK; at[v]++) {
      double s = (double)at[u] / DS_BRICK, t = (double)at[v] / DS_BRICK;
      *brick_point(brick, at) = (float)((1 - s) * ((1 - t) * corner[0][0] + t * corner[0][1]) +
                                        s * ((1 - t) * corner[1][0] + t * corner[1][1]));
    }
}

/* The same for the edge along `axis` at the sides i, j of the other two. */
static void flatten_edge(float *brick, int axis, int i, int j) {
  int32_t at[3];
  at[(axis + 1) % 3] = i * DS_BRICK;
  at[(axis + 2) % 3] = j * DS_BRICK;
  at[axis] = 0;
  double a = (double)*brick_point(brick, at);
  at[axis] = DS_BRICK;
  double b = (double)*brick_point(brick, at);
  for (at[axis] = 0; at[axis] <= DS_BRICK; at[axis]++) {
    double s = (double)at[axis] / DS_BRICK;
    *brick_point(brick, at) = (float)((1 - s) * a + s * b);
  }
}

/* Makes a brick meet its neighbours without one. */
static void join_plain_cells(float *brick, const ds_distance_field *f, const int32_t cell[3]) {
  for (int axis = 0; axis < 3; axis++) {
    int u = (axis + 1) % 3, v = (axis + 2) % 3;
    for (int side = 0; side < 2; side++) {
      int32_t next[3] = {cell[0], cell[1], cell[2]};
      next[axis] += 2 * side - 1;
      if (is_plain(f, next)) flatten_face(brick, axis, side);
    }
    /* an edge has three other cells; over two of them flatten_face may not have seen it */
    for (int i = 0; i < 2; i++)
      for (int j = 0; j < 2; j++) {
        bool plain = false;
        for (int k = 1; k < 4; k++) {
          int32_t next[3] = {cell[0], cell[1], cell[2]};
          if (k & 1) next[u] += 2 * i - 1;
          if (k & 2) next[v] += 2 * j - 1;
          plain = plain || is_plain(f, next);
        }
        if (plain) flatten_edge(brick, axis, i, j);
      }
  }
}

/* The 3 x 3 x 3 points from `low` on of a brick that starts at fine grid point `start`. */
static void fill_block(float *brick, ds_nearby *nearby, const work *w, const int32_t start[3], const int32_t low[3]) {
  const ds_distance_field *f = w->field;
  ds_vec3 middle = grid_point(f, start[0] + low[0] + 1, start[1] + low[1] + 1, start[2] + low[2] + 1);
  ds_distance_gather(nearby, w->tree, middle, sqrt(3) * f->fine);
  for (int32_t z = low[2]; z < low[2] + 3; z++)
    for (int32_t y = low[1]; y < low[1] + 3; y++)
      for (int32_t x = low[0]; x < low[0] + 3; x++) {
        ds_vec3 p = grid_point(f, start[0] + x, start[1] + y, start[2] + z);
        brick[x + POINTS * (y + POINTS * z)] = (float)ds_distance_signed(nearby, w->tree, p);
      }
}

static void fill_brick(void *context, int32_t item, int32_t worker) {
  (void)worker;
  const work *w = context;
  const ds_distance_field *f = w->field;
  int32_t index = w->first + item, c = w->brick_cell[index];
  int32_t cell[3] = {c % f->size[0], c / f->size[0] % f->size[1], c / f->size[0] / f->size[1]};
  int32_t start[3] = {DS_BRICK * cell[0], DS_BRICK * cell[1], DS_BRICK * cell[2]}, low[3];
  float *brick = f->bricks + (int64_t)index * BRICK_POINTS;
  ds_nearby nearby;
  ds_nearby_all(&nearby);
  for (low[2] = 0; low[2] < POINTS; low[2] += 3)
    for (low[1] = 0; low[1] < POINTS; low[1] += 3)
      for (low[0] = 0; low[0] < POINTS; low[0] += 3) fill_block(brick, &nearby, w, start, low);
  for (int32_t k = 0; k < 8; k++) {
    int32_t i = k & 1, j = k >> 1 & 1, l = k >> 2;
    brick[DS_BRICK * (i + POINTS * (j + POINTS * l))] =
        f->values[point_index(f, cell[0] + i, cell[1] + j, cell[2] + l)];
  }
  join_plain_cells(brick, f, cell);
}

ds_status ds_field_fill(ds_distance_field *f, const ds_build *build, ds_error *error) {
  work w = {.field = f, .tree = build->tree};
  f->values = malloc((size_t)point_count(f) * sizeof *f->values);
  f->bricks = malloc(((size_t)f->brick_count * BRICK_POINTS + 1) * sizeof *f->bricks);
  w.brick_cell = malloc(((size_t)f->brick_count + 1) * sizeof *w.brick_cell);
  if (!f->values || !f->bricks || !w.brick_cell) {
    free(w.brick_cell);
    ds_field_free(f);
    return ds_fail(error, DS_ERROR_MEMORY, "no memory for a distance field");
  }
  for (int32_t i = 0; i < (int32_t)cell_count(f); i++)
    if (f->brick[i] >= 0) w.brick_cell[f->brick[i]] = i;
  ds_pool_run(build->pool, f->size[2] + 1, fill_layer, &w);
  for (int64_t chunk = 0; chunk < CHUNKS; chunk++) {
    int32_t last = (int32_t)(f->brick_count * (chunk + 1) / CHUNKS);
    w.first = (int32_t)(f->brick_count * chunk / CHUNKS);
    ds_pool_run(build->pool, last - w.first, fill_brick, &w);
    if (build->progress) build->progress(build->user, 0.1 + 0.8 * (double)(chunk + 1) / CHUNKS);
  }
  free(w.brick_cell);
  return DS_OK;
}

/* ---- sampling ---- */

/* The cell of the finest grid there is at a point of the grid, and where in the cell. */
typedef struct place {
  const float *corner; /* its low corner */
  int32_t y, z;        /* steps to the next value along y and z */
  double fx, fy, fz;   /* 0 .. 1 */
  double size;         /* of the cell */
} place;

/* The cell of a coordinate counted in cells; *share is what is left of it. */
static int32_t cell_of(double *share, double x, int32_t size) {
  int32_t i = (int32_t)x;
  if (i >= size) i = size - 1;
  *share = x - i;
  return i;
}

static place find_place(const ds_distance_field *f, ds_vec3 x) {
  double scale = 1 / f->coarse, fx, fy, fz;
  int32_t i = cell_of(&fx, (x.x - f->origin.x) * scale, f->size[0]);
  int32_t j = cell_of(&fy, (x.y - f->origin.y) * scale, f->size[1]);
  int32_t k = cell_of(&fz, (x.z - f->origin.z) * scale, f->size[2]);
  int32_t brick = f->brick[cell_index(f, i, j, k)];
  if (brick < 0) {
    int32_t y = f->size[0] + 1, z = y * (f->size[1] + 1);
    return (place){f->values + point_index(f, i, j, k), y, z, fx, fy, fz, f->coarse};
  }
  i = cell_of(&fx, fx * DS_BRICK, DS_BRICK);
  j = cell_of(&fy, fy * DS_BRICK, DS_BRICK);
  k = cell_of(&fz, fz * DS_BRICK, DS_BRICK);
  const float *corner = f->bricks + (int64_t)brick * BRICK_POINTS + i + POINTS * (j + POINTS * k);
  return (place){corner, POINTS, POINTS * POINTS, fx, fy, fz, f->fine};
}

/* The trilinear interpolant and its unit gradient. */
static double interpolate(ds_vec3 *gradient, const place *p) {
  const float *a = p->corner, *b = a + p->y, *c = a + p->z, *d = c + p->y;
  double fx = p->fx, fy = p->fy, fz = p->fz;
  double a0 = (double)a[0], b0 = (double)b[0], c0 = (double)c[0], d0 = (double)d[0];
  double ax = (double)a[1] - a0, bx = (double)b[1] - b0, cx = (double)c[1] - c0, dx = (double)d[1] - d0;
  double va = a0 + fx * ax, vb = b0 + fx * bx, vc = c0 + fx * cx, vd = d0 + fx * dx;
  double low = va + fy * (vb - va), high = vc + fy * (vd - vc);
  if (gradient) {
    double gx_low = ax + fy * (bx - ax), gx_high = cx + fy * (dx - cx);
    double gy_low = vb - va, gy_high = vd - vc;
    *gradient = v3_unit(
        v3_scale(1 / p->size, v3(gx_low + fz * (gx_high - gx_low), gy_low + fz * (gy_high - gy_low), high - low)));
  }
  return low + fz * (high - low);
}

static double clamp(double x, double low, double high) { return x > high ? high : x > low ? x : low; }

/* The nearest point of the grid. */
static ds_vec3 clamp_to_grid(const ds_distance_field *f, ds_vec3 x) {
  return v3(clamp(x.x, f->origin.x, f->origin.x + f->coarse * f->size[0]),
            clamp(x.y, f->origin.y, f->origin.y + f->coarse * f->size[1]),
            clamp(x.z, f->origin.z, f->origin.z + f->coarse * f->size[2]));
}

bool ds_field_covers(const ds_distance_field *f, ds_vec3 x) { return v3_dist(clamp_to_grid(f, x), x) == 0; }

double ds_field_sample(ds_vec3 *gradient, const ds_distance_field *f, ds_vec3 x) {
  ds_vec3 q = clamp_to_grid(f, x), away = v3_sub(x, q);
  place p = find_place(f, q);
  double d = interpolate(gradient, &p);
  if (away.x == 0 && away.y == 0 && away.z == 0) return d;
  /* away from the surface point that q is nearest to */
  if (gradient) *gradient = v3_unit(v3_mad(away, d, *gradient));
  return sqrt(v3_norm2(away) + d * d);
}

double ds_field_distance(const ds_distance_field *f, ds_vec3 x) { return ds_field_sample(NULL, f, x); }
