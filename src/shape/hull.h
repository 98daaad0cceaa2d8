/* Convex polyhedra: what a box or a hull is made of. */
#ifndef DS_SHAPE_HULL_H
#define DS_SHAPE_HULL_H

#include "la/vec3.h"

/* Faces, edges and vertices of a convex polyhedron, built once by ds_hull_build. Boxes have one too, so that polyhedra
 * are treated alike. Face loops run counter-clockwise seen from outside. */
typedef struct ds_hull {
  int32_t vertex_count, face_count, edge_count;
  ds_vec3 *vertices;    /* in the shape's local frame */
  ds_vec3 *normals;     /* face_count outward unit normals */
  double *offsets;      /* normal . x <= offset inside */
  int32_t *face_start;  /* face_count + 1: where a face's loop starts in face_vertex */
  int32_t *face_vertex; /* vertex indices, loop after loop */
  int32_t *edges;       /* edge_count x 4: vertex, vertex, face, face */
  ds_vec3 *arcs;        /* edge_count: product of the normals of its faces, the second and the first */
  ds_vec3 center;       /* a point well inside */
  ds_vec3 *core;        /* vertices of the core: the faces moved inwards by about `skin`, the same combinatorics */
  double skin, retreat; /* retreat: how far a vertex moved at most. Cores give rounded normals at edges and corners */
  double skins_deep;    /* factor of the inset at which the core's edges still have a quarter of their length */
} ds_hull;

/* Convex hull of points, coplanar triangles merged into faces; false with a reason where the points span no volume. */
ds_status ds_hull_build(ds_hull *hull, const ds_vec3 *points, int32_t count, ds_error *error);
ds_status ds_hull_box(ds_hull *hull, ds_vec3 half); /* the polyhedron of a box */
void ds_hull_free(ds_hull *hull);

/* The place in face_vertex that follows place i of a face. */
static inline int32_t ds_next_in_face(const ds_hull *h, int32_t face, int32_t i) {
  return i + 1 < h->face_start[face + 1] ? i + 1 : h->face_start[face];
}

/* How far a core lies inside its body, of the way to the nearest face. */
#define DS_CORE_SHARE 0.002

/* The hull with a core that lies inside by `skin`, no deeper than its own: of two bodies that meet both are rounded as
 * the thinner one, so that edges of a large floor are not rounder than what stands on it. `space` holds the vertices of
 * the core; a hull with more vertices keeps its own. */
enum { DS_HULL_THINNED = 256 };
ds_hull ds_hull_thin_skinned(ds_vec3 space[DS_HULL_THINNED], const ds_hull *hull, double skin);

#endif
