/* The cells of a grid that a surface f = 0 passes through, and how it passes through each of them; see lattice.c. */
#ifndef DS_MESH_LATTICE_H
#define DS_MESH_LATTICE_H

#include "mesh/recipe.h"

/* Corner c of a cell is at (c & 1, c >> 1 & 1, c >> 2); edge 4 axis + n goes along the axis from the n-th corner of the
 * face below, bit 0 of n for the lower of the other two axes; face 2 axis + side. */
typedef struct ds_lattice_point {
  int32_t at[3];
  int32_t cell;    /* of which it is corner 0, or -1 */
  int32_t edge[3]; /* crossing on the edge that begins here, or -1 */
  double f;
} ds_lattice_point;

typedef struct ds_lattice_cell {
  int32_t corner[8];
  int32_t vertex; /* its first one; one per loop */
  uint8_t inside; /* corners with f <= 0 */
  uint8_t joined; /* faces with four crossings in which the inside is connected */
  int8_t loops;
  int8_t loop[12]; /* of the crossing on an edge, or -1 */
} ds_lattice_cell;

typedef struct ds_lattice_crossing {
  ds_vec3 x, normal;
  int32_t vertex[4]; /* of the cells around the edge */
  int32_t axis;
  bool upward; /* from inside to outside along the axis */
} ds_lattice_crossing;

typedef struct ds_lattice {
  ds_distance *f;
  const void *context;
  ds_vec3 origin;
  double h;
  int32_t size[3];
  ds_lattice_point *points;
  int32_t point_count, point_capacity;
  int32_t *table; /* points by hash, -1 = free */
  uint32_t mask;
  ds_lattice_cell *cells;
  int32_t cell_count, cell_capacity;
  ds_lattice_crossing *crossings;
  int32_t crossing_count, crossing_capacity;
  ds_vec3 *claims; /* corners that were put into empty cells */
  int32_t claim_count, claim_capacity;
  bool failed; /* memory ran out in ds_lattice_fit */
} ds_lattice;

#define DS_LATTICE_CELLS_MAX 4000000
#define DS_LATTICE_SIDE_MAX 4096

ds_status ds_lattice_build(ds_lattice *lattice, ds_distance *f, const void *context, ds_vec3 low, ds_vec3 high,
                           double cell, ds_error *error);
void ds_lattice_free(ds_lattice *lattice);
/* The cell with surface that holds the place, or -1. */
int32_t ds_lattice_find(const ds_lattice *lattice, ds_vec3 x);
/* The crossing on edge e of a cell, or -1. */
int32_t ds_lattice_edge(const ds_lattice *lattice, const ds_lattice_cell *cell, int32_t e);
/* Where the vertex of a loop goes, and the mean of its crossings (fit.c). *bold: 1 where it follows an edge out of its
 * cell, 2 per corner. Marks the lattice where memory runs out. */
ds_vec3 ds_lattice_fit(ds_vec3 *mean, int8_t *bold, ds_lattice *lattice, const ds_lattice_cell *cell, int32_t loop);

#endif
