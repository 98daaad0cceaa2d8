/* Isosurface stuffing inside: the lattice, its cut points, the stencils; see stuffing.c. */
#ifndef DS_REDUCE_STUFFING_H
#define DS_REDUCE_STUFFING_H

#include "base/thread.h"
#include "mesh/distance.h"
#include "reduce/tets.h"

/* A cut point nearer to an end of its edge than this part of the edge pulls that end onto itself. */
#define DS_STUFFING_ALPHA_LONG 0.285
#define DS_STUFFING_ALPHA_SHORT 0.3985

/* ---- stuffing_stencil.c ---- */
/* A tetrahedron of the lattice: corners 0 and 1 are the ends of a long edge, 2 and 3 of another, the other four edges
 * are short. sign: +1 inside, 0 on the surface, -1 outside. even: of the ends of each long edge one is. */
typedef struct ds_stuffing_cell {
  int sign[4];
  bool even[4];
  ds_vec3 x[4];
  ds_vec3 cut[4][4]; /* [i][j]: on the edge of i, inside, and j, outside */
} ds_stuffing_cell;
/* A corner of a piece: 0 .. 3 = that corner, DS_STUFFING_CUT(i, j) = that cut point. */
#define DS_STUFFING_CUT(i, j) (4 + 4 * (i) + (j))
/* The inside of a cell as tetrahedra, not turned; how many, at most 3. */
int ds_stuffing_stencil(int piece[3][4], const ds_stuffing_cell *cell);

/* ---- stuffing_lattice.c ---- */
/* Points are numbered 2 c for the low corner of cell c and 2 c + 1 for its middle; cells x first, then y, z. */
typedef struct ds_stuffing_cut {
  int32_t edge; /* DS_STUFFING_EDGES times the point that owns it, plus which; ascending */
  int32_t end[2];
  double at; /* part of the edge, from end[0] */
  ds_vec3 x;
} ds_stuffing_cut;
enum { DS_STUFFING_EDGES = 11 }; /* a point owns: 3 long edges upward, 8 short ones of a middle */

typedef struct ds_stuffing_lattice {
  ds_vec3 origin;
  double cell;
  int32_t size[3]; /* cells, those around included */
  int32_t points;  /* 2 per cell */
  double *value;   /* depth: above 0 inside; away from the surface a lower bound of it */
  int32_t *warp;   /* cut point that the point was moved to, or -1 */
  ds_stuffing_cut *cuts;
  int32_t cut_count, cut_capacity;
} ds_stuffing_lattice;

/* `along` cells span the longest side of the surface. DS_ERROR_INPUT if it would be too large. */
ds_status ds_stuffing_lattice_build(ds_stuffing_lattice *lattice, const ds_distance *tree, int32_t along, ds_pool *pool,
                                    ds_error *error);
void ds_stuffing_lattice_free(ds_stuffing_lattice *lattice);
ds_vec3 ds_stuffing_point(const ds_stuffing_lattice *lattice, int32_t point); /* where it is, after warping */
/* The cut point between two neighbours, of which it is known that there is one. */
int32_t ds_stuffing_find_cut(const ds_stuffing_lattice *lattice, int32_t a, int32_t b);
/* Whether the coordinate of a point along the axis is an even number of cells. */
bool ds_stuffing_is_even(const ds_stuffing_lattice *lattice, int32_t point, int axis);

#define DS_STUFFING_POINTS_MAX (1 << 23)

/* ---- stuffing_trim.c ---- */
/* Takes tetrahedra away until the boundary has two triangles at every edge, parts of less volume than `least`, and
 * nodes that are left without any. */
ds_status ds_stuffing_trim(ds_tets *tets, double least, ds_error *error);

#endif
