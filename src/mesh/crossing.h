/* Whether triangles of a mesh cut each other, and a grid to find the ones that may: for meshing and simplification,
 * which must not make crossings. */
#ifndef DS_MESH_CROSSING_H
#define DS_MESH_CROSSING_H

#include "drystone/solid.h"

/* Two triangles of one mesh: with no vertex in common they cross where an edge of one meets the other; with one, where
 * an edge not at it does; with two, where they are nearly folded onto each other. Coordinates of at most 1e7. */
bool ds_triangles_cross(const ds_vec3 *vertices, const int32_t a[3], const int32_t b[3]);

typedef struct ds_triangle_box {
  ds_vec3 low, high;
} ds_triangle_box;
static inline ds_triangle_box ds_triangle_bounds(const ds_vec3 *x, const int32_t c[3]) {
  ds_vec3 a = x[c[0]], b = x[c[1]], d = x[c[2]];
#define LEAST(p, q, r) ((p) < (q) ? ((p) < (r) ? (p) : (r)) : ((q) < (r) ? (q) : (r)))
  return (ds_triangle_box){{LEAST(a.x, b.x, d.x), LEAST(a.y, b.y, d.y), LEAST(a.z, b.z, d.z)},
                           {-LEAST(-a.x, -b.x, -d.x), -LEAST(-a.y, -b.y, -d.y), -LEAST(-a.z, -b.z, -d.z)}};
#undef LEAST
}
static inline bool ds_triangle_boxes_apart(const ds_triangle_box *a, const ds_triangle_box *b) {
  return a->low.x > b->high.x || b->low.x > a->high.x || a->low.y > b->high.y || b->low.y > a->high.y ||
         a->low.z > b->high.z || b->low.z > a->high.z;
}

/* Triangles by the cells their boxes reach. An entry counts as long as the triangle's stamp is the one it was put with.
 */
typedef struct ds_triangle_grid {
  ds_vec3 origin;
  double cell;
  int32_t size[3];
  int32_t *head; /* one per cell, -1 = empty */
  struct ds_grid_entry {
    int32_t triangle, stamp, next;
  } * entries;
  int32_t entry_count, entry_capacity, unused; /* unused: list of entries that can be taken again */
  int32_t *stamp;                              /* one per triangle */
  ds_triangle_box *boxes;                      /* one per triangle, as it was put */
  int32_t *seen;                               /* one per triangle: the query that met it last */
  int32_t query;
  int32_t *found; /* result of ds_triangle_grid_find */
  int32_t found_count, found_capacity;
} ds_triangle_grid;

bool ds_triangle_grid_init(ds_triangle_grid *grid, const ds_mesh *mesh, double cell); /* holds nothing yet */
void ds_triangle_grid_free(ds_triangle_grid *grid);
bool ds_triangle_grid_put(ds_triangle_grid *grid, int32_t triangle, const ds_vec3 *vertices, const int32_t corners[3]);
static inline void ds_triangle_grid_drop(ds_triangle_grid *grid, int32_t triangle) { grid->stamp[triangle]++; }
/* Fills grid->found with the triangles in the cells that a box reaches. */
bool ds_triangle_grid_find(ds_triangle_grid *grid, ds_vec3 low, ds_vec3 high);

#endif
