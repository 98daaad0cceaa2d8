/* What detection knows of a body, for pictures and checks: the spheres of its tree, and distances to its surface. */
#ifndef DRYSTONE_INSPECT_H
#define DRYSTONE_INSPECT_H

#include "drystone/drystone.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ds_tree_sphere {
  ds_vec3 center; /* world */
  double radius;  /* m */
  int32_t level;  /* 0 = the root */
} ds_tree_sphere;
/* Spheres of a body's solids, or of a deformable body as it is now, those of lower levels first in each tree; `room` at
 * most. *count is 0 for bodies of other shapes. DS_ERROR_MEMORY is the only failure. */
ds_status ds_state_spheres(ds_tree_sphere *spheres, int32_t *count, int32_t room, const ds_scene *scene,
                           const ds_state *state, ds_body_id body);

/* A body as it is now, to be asked for distances. Scene and state must outlive it. */
typedef struct ds_probe ds_probe;
ds_probe *ds_probe_create(const ds_scene *scene, const ds_state *state, ds_body_id body); /* NULL: memory ran out */
void ds_probe_destroy(ds_probe *probe);                                                   /* NULL is fine */
/* The box around the body, in its own frame; infinite where it has a half-space. */
void ds_probe_bounds(ds_vec3 *low, ds_vec3 *high, const ds_probe *probe);
/* Signed distance of a point in the body's frame to its surface, negative inside. That to a body of many shapes is the
 * least of theirs, which is exact outside. Twice the diagonal of its box is the most that a deformable body tells. */
double ds_probe_distance(const ds_probe *probe, ds_vec3 x);

/* Kinds of shapes: the name in scene files, NULL if there is no such kind; whether its surface is curved. */
const char *ds_shape_kind_name(ds_shape_kind kind);
bool ds_shape_kind_is_curved(ds_shape_kind kind);

/* Triangles of a shape, in its frame. Flat faces have vertices of their own, so that their shading is flat. */
typedef struct ds_facets {
  ds_vec3 *points, *normals;
  int32_t *corners;  /* three per triangle, counter-clockwise seen from outside */
  int32_t *surfaces; /* per triangle: the flat face or smooth patch that it belongs to */
  uint8_t *edges;    /* per triangle: bit i if the edge from corner i to corner i + 1 is a crease, drawn as a line */
  int32_t point_count, triangle_count, surface_count;
  int32_t point_capacity, normal_capacity, corner_capacity, surface_capacity, edge_capacity;
  bool failed; /* memory ran out */
} ds_facets;
/* Solids, half-spaces and deformable bodies have none. `segments` is the number of corners of a full circle, at least
 * 6. Free the facets in any case. */
ds_status ds_body_facets(ds_facets *facets, const ds_scene *scene, ds_body_id body, int32_t shape, int32_t segments);
void ds_facets_free(ds_facets *facets);
/* Whether two shapes have the same surface in their frames, by their kinds and dimensions. */
bool ds_body_same_form(const ds_scene *scene, ds_body_id a, int32_t shape_a, ds_body_id b, int32_t shape_b);

#ifdef __cplusplus
}
#endif

#endif
