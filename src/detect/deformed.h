/* A deformable's surface as it stands in one state: places, normals and nearest points (deformed.c). All in the body's
 * principal frame. Built once a step for bodies that may touch something, then shared by threads. */
#ifndef DS_DETECT_DEFORMED_H
#define DS_DETECT_DEFORMED_H

#include "body/reduced.h"
#include "detect/detect.h"

typedef struct ds_round {
  ds_vec3 center;
  double radius;
} ds_round;

typedef struct ds_deformed {
  const ds_reduced *reduced;
  const double *q;    /* NULL: undeformed */
  const double *rate; /* h dq/dt by `step`, NULL: at rest */
  double step;
  ds_vec3 *vertices;
  ds_vec3 *ways;   /* h U dq/dt of the vertices, NULL: at rest */
  double stir;     /* the longest of them */
  ds_round *balls; /* a sphere of the tree each: holds all corners below it, as they are now */
} ds_deformed;

/* Memory from the arena, false where it ran out; then the places, by any thread. */
bool ds_deformed_begin(ds_arena *arena, ds_deformed *d, const ds_reduced *reduced, const double *q, const double *rate,
                       double step);
void ds_deformed_fill(ds_deformed *d);
/* The undeformed surface as it is in the body: no balls. */
ds_deformed ds_deformed_rest(const ds_reduced *reduced);

ds_round ds_round_join(ds_round a, ds_round b);                          /* the least ball around two */
ds_vec3 ds_deformed_normal(const ds_deformed *d, int32_t vertex);        /* angle-weighted, unit where not zero */
ds_vec3 ds_deformed_face_normal(const ds_deformed *d, int32_t triangle); /* unit where not zero */
ds_vec3 ds_deformed_anchor_way(const ds_deformed *d, ds_anchor anchor);  /* by deformation within the step */
ds_anchor ds_deformed_anchor(const ds_deformed *d, int32_t vertex);      /* the vertex as a material point */

/* The place of the surface next to a point, before its normal is asked for. */
typedef struct ds_nearest {
  double distance2;
  ds_vec3 point;
  ds_anchor at;
  int32_t feature; /* of the triangle: 0 = face, 1 + k = edge k, 4 + k = corner k */
} ds_nearest;

/* What the surface is like there. */
typedef struct ds_foot {
  ds_vec3 point, normal; /* normal: outward, unit */
  double gap;            /* normal . (x - point): negative inside */
  double distance;       /* signed */
  ds_anchor anchor;
  bool on_face; /* not on an edge or corner of its triangle */
} ds_foot;

/* Leaves of the tree that come nearer to a point than some reach: all that points around it need look at. */
enum { DS_LEAVES = 96 };
typedef struct ds_leaves {
  int32_t count; /* -1: too many, the whole tree */
  int32_t leaf[DS_LEAVES];
} ds_leaves;
void ds_deformed_gather(ds_leaves *leaves, const ds_deformed *d, ds_vec3 x, double reach);

/* False where no triangle comes nearer than reach. */
bool ds_deformed_find(ds_nearest *nearest, const ds_deformed *d, const ds_leaves *leaves, ds_vec3 x, double reach);
/* `own` is the outward normal of the surface that x belongs to, zero for none: it chooses among normals at edges and
 * corners ... */
void ds_deformed_foot(ds_foot *foot, const ds_deformed *d, const ds_nearest *nearest, ds_vec3 x, ds_vec3 own);
/* ... and here, inside thin walls and at rims, also among the sides. */
void ds_deformed_face(ds_foot *foot, const ds_deformed *d, const ds_nearest *nearest, ds_vec3 x, double reach,
                      ds_vec3 own);
/* Find and face in the whole tree. */
bool ds_deformed_nearest(ds_foot *foot, const ds_deformed *d, ds_vec3 x, double reach, ds_vec3 own);
/* On one triangle, at any distance. */
void ds_deformed_on_triangle(ds_nearest *nearest, const ds_deformed *d, int32_t triangle, ds_vec3 x);
/* Whether a leaf comes nearer to x than reach. */
bool ds_deformed_is_near(const ds_deformed *d, ds_vec3 x, double reach);
/* Where on its way, 0 .. 1, a point first crosses the surface from outside, and which triangle; -1 where it does not.
 */
double ds_deformed_crossing(int32_t *triangle, const ds_deformed *d, ds_vec3 x, ds_vec3 way);

/* ---- from the coordinates alone, by the bounds of the tree: any q, no memory ---- */
/* World bounds with the principal frame at a pose; returns the radius of a ball about its origin. */
double ds_reduced_bounds(ds_vec3 *low, ds_vec3 *high, const ds_reduced *reduced, const double *q, ds_pose pose);
/* Farthest that any point of the surface moves, in the body's frame, when q changes by dq. */
double ds_reduced_stir(const ds_reduced *reduced, const double *dq);
/* The triangle that a ray meets first, as ds_shape_ray; origin and direction in the principal frame. */
double ds_reduced_ray(ds_vec3 *normal, const ds_reduced *reduced, const double *q, ds_vec3 origin, ds_vec3 direction,
                      double max_distance);

#endif
