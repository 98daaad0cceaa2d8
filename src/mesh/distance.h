/* Exact signed distance of points to a closed triangle mesh. */
#ifndef DS_MESH_DISTANCE_H
#define DS_MESH_DISTANCE_H

#include "mesh/surface.h"

/* A triangle, in the order of the tree's leaves. */
typedef struct ds_facet {
  ds_vec3 v[3], normal;
  ds_vec3 out[3]; /* in its plane, away from edge k */
  int32_t triangle;
} ds_facet;

typedef struct ds_facet_box {
  double low[3], high[3];
  int32_t first; /* facets of a leaf, or the first of two children */
  int32_t count; /* facets of a leaf, 0 = has children */
} ds_facet_box;

typedef struct ds_distance {
  const ds_surface *surface;
  ds_facet *facets;
  ds_facet_box *boxes; /* [0] = root */
  int32_t box_count;
} ds_distance;

ds_status ds_distance_build(ds_distance *tree, const ds_surface *surface, ds_error *error);
void ds_distance_free(ds_distance *tree);

/* The facets that may be nearest to points of a ball, by their distance from its middle. */
enum { DS_NEARBY = 96 };
typedef struct ds_nearby {
  int32_t count; /* -1 = the whole tree, for any point */
  int32_t hint;  /* a facet that may be near, -1 = none: changes the time only */
  ds_vec3 middle;
  int32_t facets[DS_NEARBY];
  double distances[DS_NEARBY];
} ds_nearby;
void ds_nearby_all(ds_nearby *nearby);
/* For the ball of a radius around a point. Uses the hint. */
void ds_distance_gather(ds_nearby *nearby, const ds_distance *tree, ds_vec3 middle, double radius);
/* Distance, negative inside, of a point of the ball. */
double ds_distance_signed(ds_nearby *nearby, const ds_distance *tree, ds_vec3 x);

/* Whether the surface comes nearer to x than radius. */
bool ds_distance_within(const ds_distance *tree, ds_vec3 x, double radius);
/* Distance along a unit direction at which the surface is met from inside, beyond `from`; INFINITY where it is not. */
double ds_distance_exit(const ds_distance *tree, ds_vec3 x, ds_vec3 direction, double from);

#endif
