/* Neighbours and normals of a closed triangle mesh: what distance.c and samples.c both need.
 *
 * A half-edge is 3 t + k: edge k of triangle t, from its vertex k to its vertex k + 1. A corner has the same number:
 * the one at vertex k. */
#ifndef DS_MESH_SURFACE_H
#define DS_MESH_SURFACE_H

#include "drystone/solid.h"
#include "la/vec3.h"

typedef struct ds_surface {
  const ds_mesh *mesh;
  ds_vec3 low, high; /* bounds of the triangles */
  double area;
  int32_t *twin;           /* 3 per triangle: the half-edge that runs the other way */
  ds_vec3 *normals;        /* one per triangle: outward unit normal */
  ds_vec3 *corner_normals; /* 3 per triangle: angle-weighted normal of the triangles around, unit where not zero */
} ds_surface;

/* DS_ERROR_INPUT if an edge has not exactly two triangles that run along it in opposite directions. */
ds_status ds_surface_build(ds_surface *surface, const ds_mesh *mesh, ds_error *error);
void ds_surface_free(ds_surface *surface);

/* Angle-weighted normals at the corners, from the triangles around that are reached over edges whose two normals have a
 * dot product of at least `smooth`; -2 takes all of them. False if memory ran out. */
bool ds_surface_corner_normals(ds_vec3 *normals, const ds_surface *surface, double smooth);

static inline int32_t ds_half_next(int32_t half) { return half % 3 == 2 ? half - 2 : half + 1; }
/* Where a half-edge starts: vertex number and place. */
static inline int32_t ds_half_vertex(const ds_surface *s, int32_t half) { return s->mesh->triangles[half]; }
static inline ds_vec3 ds_half_point(const ds_surface *s, int32_t half) {
  return s->mesh->vertices[s->mesh->triangles[half]];
}
/* Angle of the triangle at a corner, rad. */
double ds_corner_angle(const ds_surface *surface, int32_t corner);

#endif
