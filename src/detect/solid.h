/* Contacts of solids: planar faces on planar faces (faces.h), samples of one surface in the distance function of the
 * other, both ways (solid.c), and the choice of few well-spread ones among them (reduce.c). */
#ifndef DS_DETECT_SOLID_H
#define DS_DETECT_SOLID_H

#include "detect/pairs.h"
#include "mesh/solid.h"

/* How a point x of body a moves against body b within the step: move + turn x x, world. */
typedef struct ds_twist {
  ds_vec3 move, turn;
} ds_twist;

typedef struct ds_solid_query {
  double slack;     /* a point counts as touching where it comes nearer than this */
  double relax;     /* of its own displacement, added to slack: an impact changes motions within the step */
  double reach;     /* how far ahead planar faces that face each other are searched; at least slack */
  ds_twist twist;   /* of a against b */
  int32_t per_face; /* largest number of points per patch */
  bool after;       /* looks from the end of the step at what gets deeper by more than slack */
} ds_solid_query;

/* A point that may become a contact; normals from b to a. */
typedef struct ds_candidate {
  ds_vec3 point, normal;
  double gap;
  uint32_t feature;
  int32_t tag; /* what else is known of it, by number */
} ds_candidate;

/* All points of two shapes of which at least one is a solid. The scratch is released before returning. False if memory
 * ran out. */
bool ds_narrow_solid(ds_arena *scratch, ds_manifold *manifold, const ds_solid_query *query, const ds_shape *a,
                     ds_pose pose_a, const ds_shape *b, ds_pose pose_b);

/* Keeps at most `limit` points a patch: the support polygon of what touches, and that of what will. Of equal ones those
 * of lower feature; `eps` is the length below which gaps count as equal. Returns how many stay, in front. */
int32_t ds_reduce(ds_arena *scratch, ds_candidate *candidates, int32_t count, int32_t limit, double eps);

/* NULL where it has none. */
static inline const ds_samples *ds_shape_get_samples(const ds_shape *shape) {
  return shape->kind == DS_SHAPE_SOLID ? &shape->solid->samples : shape->samples;
}

#endif
