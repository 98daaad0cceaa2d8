/* A deformable's surface in one state: positions, normals and nearest points (deformed.c). All in the body's principal
 * frame. Built once per step for bodies that may touch something, then shared by threads. */
#ifndef DS_DETECT_DEFORMED_H
#define DS_DETECT_DEFORMED_H

#include "body/skin.h"
#include "detect/detect.h"
#include "detect/solid.h"

typedef struct ds_round {
  ds_vec3 center;
  double radius;
} ds_round;

typedef struct ds_deformed {
  const ds_skin *skin;
  const double *q;    /* NULL: undeformed */
  const double *rate; /* h dq/dt by `step`, NULL: at rest */
  double step;
  ds_vec3 *vertices;
  ds_vec3 *displacements; /* h U dq/dt of the vertices, NULL: at rest */
  ds_vec3 *normals;       /* of the triangles, unit where not zero; NULL: computed on demand */
  double stir;            /* the longest of them */
  ds_round *
      balls; /* one per sphere of the tree: contains all corners below it in the current shape; radius -1: not needed */
  unsigned char *known, *marks; /* what is there of a vertex or triangle, what of a sphere (patches.c) */
  int32_t *placed, *faced;      /* vertices and triangles that are there */
  int32_t placed_count, faced_count;
  bool folds; /* some patches may touch others of this body */
} ds_deformed;

/* Balls around what the points below a sphere of the tree have been displaced by, and are within the step. */
typedef struct ds_displacement {
  ds_round move, displacement;
} ds_displacement;
enum { DS_RING_MAX = 1000 }; /* triangles around a vertex */

/* Memory from the arena, false if it ran out; then what is needed; then its positions, by any thread. */
bool ds_deformed_begin(ds_arena *arena, ds_deformed *d, const ds_skin *skin, const double *q, const double *rate,
                       double step);
/* Patches nearer than reach to a shape, or of two to each other; pose: of the first's frame in the shape's, of the
 * second's in the first's (patches.c). */
void ds_want_near_shape(ds_deformed *d, const ds_shape *shape, ds_pose pose, double reach);
void ds_want_near_deformed(ds_deformed *a, ds_deformed *b, ds_pose pose, double reach);
void ds_want_all(ds_deformed *d);
/* Patches of one body that may touch each other, nearer than reach; the scratch is released. False if memory ran out.
 */
bool ds_want_folds(ds_arena *scratch, ds_deformed *d, double reach);
void ds_deformed_fill(ds_deformed *d);
/* The undeformed surface as it is in the body: no balls. */
ds_deformed ds_deformed_rest(const ds_skin *skin);

ds_round ds_round_join(ds_round a, ds_round b);                   /* the least ball around two */
ds_vec3 ds_deformed_normal(const ds_deformed *d, int32_t vertex); /* angle-weighted, unit where not zero */
ds_vec3 ds_deformed_anchor_displacement(const ds_deformed *d, ds_anchor anchor); /* by deformation within the step */
ds_anchor ds_deformed_anchor(const ds_deformed *d, int32_t vertex);              /* the vertex as a material point */

/* The surface point nearest to a point, without its normal. */
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

/* Spheres of the tree that together hold all that comes nearer to a point than some reach: what points around it must
 * be tested against. */
enum { DS_NEARBY_MAX = 96 };
typedef struct ds_nearby_spheres {
  int32_t count; /* -1: too many, the whole tree */
  int32_t sphere[DS_NEARBY_MAX];
} ds_nearby_spheres;
/* Those `among` others; no larger than `fine`, or leaves. */
void ds_deformed_gather(ds_nearby_spheres *spheres, const ds_deformed *d, const ds_nearby_spheres *among, ds_vec3 x,
                        double reach, double fine);

/* False if no triangle of these leaves comes nearer than reach. */
bool ds_deformed_find(ds_nearest *nearest, const ds_deformed *d, const ds_nearby_spheres *leaves, ds_vec3 x,
                      double reach);
/* `own` is the outward normal of the surface that x belongs to, zero for none: it chooses among normals at edges and
 * corners ... */
void ds_deformed_foot(ds_foot *foot, const ds_deformed *d, const ds_nearest *nearest, ds_vec3 x, ds_vec3 own);
/* ... and here, inside thin walls and at rims, also among the sides: x may have come through one up to `deep` away. */
void ds_deformed_face(ds_foot *foot, const ds_deformed *d, const ds_nearest *nearest, ds_vec3 x, double deep,
                      ds_vec3 own);
/* Whether `own` changes nothing: x is in front of a face, and not at its rim. */
bool ds_deformed_is_plain(const ds_deformed *d, const ds_nearest *nearest, ds_vec3 x);
/* Find and face in the whole tree. */
bool ds_deformed_nearest(ds_foot *foot, const ds_deformed *d, ds_vec3 x, double reach, ds_vec3 own);
/* On one triangle, at any distance. */
void ds_deformed_on_triangle(ds_nearest *nearest, const ds_deformed *d, int32_t triangle, ds_vec3 x);
/* Where on its path, 0 .. 1, a point first crosses the surface from outside, and which triangle; -1 where it does not.
 */
double ds_deformed_crossing(int32_t *triangle, const ds_deformed *d, ds_vec3 x, ds_vec3 displacement);

/* ---- from the coordinates alone, by the bounds of the tree: any q, no memory ---- */
/* World bounds with the principal frame at a pose; returns the radius of a ball about its origin. */
double ds_skin_bounds(ds_vec3 *low, ds_vec3 *high, const ds_skin *skin, const double *q, ds_pose pose);
/* Farthest that any point of the surface moves, in the body's frame, when q changes by dq. */
double ds_skin_stir(const ds_skin *skin, const double *dq);
/* The triangle that a ray meets first, as ds_shape_ray; origin and direction in the principal frame. */
double ds_skin_ray(ds_vec3 *normal, const ds_skin *skin, const double *q, ds_vec3 origin, ds_vec3 direction,
                   double max_distance);

#endif
