/* The surface of a body that deforms: all that detection and hands see of it.
 *
 * Triangles, and a tree of spheres over them, in the body's principal frame. Where they are depends on the coordinates
 * q of the body: its kind gives the three functions. Nothing allocates. */
#ifndef DS_BODY_SKIN_H
#define DS_BODY_SKIN_H

#include "drystone/solid.h"
#include "la/vec3.h"

/* A sphere of the BD-tree [James and Pai 2004] over the surface's triangles: all corners of triangles below it lie
 * within radius + sum_a |q_a| growth_a of center + shift q. */
typedef struct ds_bd_sphere {
  ds_vec3 center; /* undeformed, principal frame */
  double radius;
  int32_t first, count; /* triangles [first, first + count) in tree order */
  int32_t child;        /* first of its two children, neighbours in the array; 0 = leaf */
} ds_bd_sphere;

typedef struct ds_bd_tree {
  ds_bd_sphere *spheres; /* [0] = root */
  int32_t sphere_count;
  double *shift;     /* sphere_count x 3 x r */
  double *growth;    /* sphere_count x r */
  int32_t *triangle; /* tree order -> triangle */
  int32_t *leaf_of;  /* triangle -> its leaf */
  /* what contact needs besides; a half-edge is 3 t + k: edge k of triangle t, from its corner k to its corner k + 1 */
  int32_t *twin;    /* 3 per triangle: the half-edge that runs the other way */
  int32_t *corner;  /* a vertex each: a half-edge that starts there, -1 = none */
  double spacing;   /* m: mean length of the edges, undeformed */
  double thickness; /* m: 2 volume / area, that of a plate; less than the width of anything rounder */
} ds_bd_tree;

typedef struct ds_skin {
  const ds_mesh *mesh; /* undeformed */
  const ds_bd_tree *tree;
  int32_t freedoms; /* in how many ways it can deform: its contacts need as many points more */
  const void *of;   /* whose it is, for the functions */
  /* A vertex with coordinates q (NULL: undeformed); and the same bits for listed vertices, each to its own place. */
  ds_vec3 (*vertex)(const void *of, const double *q, int32_t vertex);
  void (*place)(ds_vec3 *y, const void *of, const double *q, const int32_t *list, int32_t count);
  /* Centre and radius of a sphere of the tree that holds all corners below it. With rates in place of q the same holds
   * of the undeformed corners plus their velocities. */
  double (*sphere)(ds_vec3 *center, const void *of, const double *q, int32_t sphere);
} ds_skin;

static inline ds_vec3 ds_skin_vertex(const ds_skin *skin, const double *q, int32_t vertex) {
  return skin->vertex(skin->of, q, vertex);
}
static inline void ds_skin_place(ds_vec3 *y, const ds_skin *skin, const double *q, const int32_t *list, int32_t count) {
  skin->place(y, skin->of, q, list, count);
}
static inline double ds_skin_sphere(ds_vec3 *center, const ds_skin *skin, const double *q, int32_t sphere) {
  return skin->sphere(center, skin->of, q, sphere);
}

#endif
