/* What a solid is inside: what detection reads. Built by solid.c from field.c, samples.c and ball_tree.c; kept on disk
 * by cache.c. Everything is in the mesh's own frame. Constant once built, shared by threads. */
#ifndef DS_MESH_SOLID_H
#define DS_MESH_SOLID_H

#include <stdatomic.h>

#include "drystone/solid.h"
#include "la/vec3.h"

/* ---- Signed distance field (field.c) ----
 * A coarse grid over the bounding box and a band around it; cells of it near the surface have a brick of finer cells.
 * Values are floats at grid points; between them trilinear, continuous across bricks and coarse cells. */
typedef struct ds_distance_field {
  ds_vec3 origin;  /* of the coarse grid */
  double coarse;   /* edge of a coarse cell, m */
  double fine;     /* = coarse / DS_BRICK */
  int32_t size[3]; /* coarse cells */
  float *values;   /* (size + 1)³ coarse grid points, x fastest */
  int32_t *brick;  /* a coarse cell each: index of its brick, or -1 */
  int32_t brick_count;
  float *bricks; /* brick_count x (DS_BRICK + 1)³ */
} ds_distance_field;
#define DS_BRICK 8
/* x coarse: values outside the solid exceed the true distance by less than this, anywhere. Between grid points h apart
 * the excess of a trilinear interpolant is at most h²/8 times the sum of the second derivatives along the axes, which
 * for a distance d are at most 1/d each; cells without a brick have d >= coarse / 2. */
#define DS_FIELD_EXCESS 0.75

/* Distance and gradient (unit where not zero) anywhere; outside the grid a lower bound that is right at its boundary.
 */
double ds_field_sample(ds_vec3 *gradient, const ds_distance_field *field, ds_vec3 x);
double ds_field_distance(const ds_distance_field *field, ds_vec3 x);

/* ---- Samples of the surface and their balls (samples.c, ball_tree.c) ----
 * Sample i keeps its number: it is the feature id of contacts. Corners and edges of the mesh come first. */
typedef struct ds_ball {
  ds_vec3 center;
  double radius;        /* holds all samples below it */
  int32_t first, count; /* samples [first, first + count) in tree order */
  int32_t child;        /* first of its children, which are neighbours in the array; 0 = leaf */
  int32_t child_count;
} ds_ball;

typedef struct ds_samples {
  ds_vec3 *points;  /* in tree order */
  ds_vec3 *normals; /* outward unit normals of the surface there */
  int32_t *ids;     /* tree order -> sample number */
  int32_t count;
  ds_ball *balls; /* [0] = root */
  int32_t ball_count;
} ds_samples;

struct ds_solid {
  atomic_int owners;
  char *name;
  ds_mesh mesh;
  ds_mass mass; /* at 1 kg/m³ */
  ds_solid_info info;
  ds_distance_field field;
  ds_samples samples;
  double error; /* m: largest |distance| of the field at the samples, which lie on the surface */
};

#endif
