/* The data of a solid for detection. Built by solid.c from field.c, samples.c, ball_tree.c and faces.c; kept
 * on disk by cache.c, without the faces, which are found again. Everything is in the mesh's own frame. Constant once
 * built, shared by threads. */
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
  int32_t *brick;  /* one per coarse cell: index of its brick, or -1 */
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
/* Whether a point is within the grid. */
bool ds_field_covers(const ds_distance_field *field, ds_vec3 x);

/* ---- Samples of the surface and their balls (samples.c, ball_tree.c) ----
 * Sample i keeps its number: it is the feature id of contacts. Corners and edges of the mesh come first. */
typedef struct ds_ball {
  ds_vec3 center;
  double radius;        /* holds all samples below it */
  int32_t first, count; /* samples [first, first + count) in tree order */
  int32_t child;        /* first of its children, which are neighbours in the array; 0 = leaf */
  int32_t child_count;
} ds_ball;

/* The smooth surface near a sample (caps.c): a point of it, its outward normal there, and its curvatures along t1 and
 * across, positive where it falls away. */
typedef struct ds_cap {
  ds_vec3 p, n, t1;
  double k1, k2; /* 1/m; k1 >= k2 */
  bool smooth;   /* there is one */
  bool bulges;   /* both curvatures are positive, and small enough for the spacing of samples */
} ds_cap;
#define DS_CAP_SPREAD 1.5 /* x spacing: how far from its sample a cap is used */

typedef struct ds_samples {
  ds_vec3 *points;  /* in tree order */
  ds_vec3 *normals; /* outward unit normals of the surface there */
  int32_t *ids;     /* tree order -> sample number */
  int32_t count;
  ds_cap *caps;   /* in tree order; NULL where nothing bulges smoothly */
  double spread;  /* m: how far from its sample a cap is used */
  double bulge;   /* m: how far caps rise above samples within that at most */
  double lift;    /* m: the same above their own samples */
  ds_ball *balls; /* [0] = root */
  int32_t ball_count;
} ds_samples;

/* ---- Planar faces (faces.c) ----
 * Triangles that lie in one plane are a face: a polygon of any form, with holes. All its points lie in its plane. */
typedef struct ds_side {
  ds_vec3 point;  /* where it starts; the face is to its left, seen from outside */
  double u, w;    /* the same along t1 and t2 of its face */
  int32_t vertex; /* the corner at its start */
  int32_t next;   /* the side that starts where it ends */
  ds_vec3 across; /* normal of the surface on its other side */
  bool convex;    /* the surface falls away there */
} ds_side;

typedef struct ds_face {
  ds_vec3 normal; /* outward; normal . x = offset */
  double offset;
  ds_vec3 t1, t2; /* normal = t1 x t2 */
  ds_vec3 low, high;
  double area, width;   /* width: 2 area / perimeter */
  double deviation;     /* m: how far the mesh leaves the plane */
  int32_t first, count; /* sides of all its loops; none = a plane without bounds */
} ds_face;

typedef struct ds_faces {
  ds_face *face;
  int32_t count;
  ds_vec3 low, high; /* bounds of all */
  ds_side *side;
  int32_t side_count;
  ds_vec3 *corners, *corner_normals; /* vertices of the mesh that sides start from */
  int32_t corner_count;
  int32_t *spoke_start; /* corner_count + 1 */
  ds_vec3 *spokes;      /* unit directions of the edges that leave a corner, corner after corner */
  bool complete;        /* the faces are all of the surface, and few */
} ds_faces;
#define DS_FACES_MAX 256         /* of a complete set; numbers of faces have 14 bits in features */
#define DS_FACE_SIDES_MAX 0x7fff /* numbers of sides and corners have 15 */

struct ds_solid {
  atomic_int owners;
  char *name;
  ds_mesh mesh;
  ds_mass mass; /* at 1 kg/m³ */
  ds_solid_info info;
  ds_distance_field field;
  ds_samples samples;
  ds_faces faces;
  double error; /* m: largest |distance| of the field at the samples, which lie on the surface */
};

#endif
