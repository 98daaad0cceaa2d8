/* Recipes: solids combined from signed-distance primitives.
 *
 * A recipe is a tree. Its leaves are primitives with their exact distance, its inner nodes join, cut, blend, move,
 * mirror, hollow or grow what is below them. f(x) is negative inside and never changes faster than |dx|, so that
 * |f(x)| > R says that a ball of radius R about x holds no surface. Away from its own surface f may be less than the
 * distance (cuts, stretched parts), never more outside.
 *
 * Building cannot fail halfway: a call that runs out of memory marks the recipe, returns -1, and calls with -1 return
 * -1. ds_recipe_finish reports the failure. A node has at most one parent. */
#ifndef DS_MESH_RECIPE_H
#define DS_MESH_RECIPE_H

#include "drystone/solid.h"
#include "la/vec3.h"

#define DS_RECIPE_NODES_MAX 4096
#define DS_RECIPE_SEGMENTS_MAX 65536

typedef enum ds_recipe_kind {
  DS_RECIPE_SPHERE,
  DS_RECIPE_BOX,
  DS_RECIPE_CAPSULE,
  DS_RECIPE_TORUS,
  DS_RECIPE_CONE,
  DS_RECIPE_ELLIPSOID,
  DS_RECIPE_LATHE,
  DS_RECIPE_EXTRUSION,
  DS_RECIPE_HALF_SPACE,
  DS_RECIPE_UNION,
  DS_RECIPE_INTERSECTION,
  DS_RECIPE_SUBTRACTION, /* the first part less all others */
  DS_RECIPE_PLACE,
  DS_RECIPE_MIRROR,
  DS_RECIPE_SHELL,
  DS_RECIPE_OFFSET,
} ds_recipe_kind;

typedef struct ds_recipe_node {
  ds_recipe_kind kind;
  int32_t child, last, next;   /* first and last part, next part of the same parent; -1 = none */
  int32_t first, count, block; /* segments of a profile, and the first box over them */
  double r[3];                 /* radii, lengths, blend: see recipe.c */
  ds_vec3 a, b;                /* ends, half extents, translation, scale */
  ds_mat3 turn;
  ds_vec3 low, high; /* bounds, set by ds_recipe_finish */
  bool tight;        /* f is nowhere less than the distance to the bounds */
} ds_recipe_node;

typedef struct ds_recipe_segment {
  double x0, y0, x1, y1;
} ds_recipe_segment;

typedef struct ds_recipe {
  ds_recipe_node *nodes;
  int32_t node_count, node_capacity;
  ds_recipe_segment *segments;
  int32_t segment_count, segment_capacity;
  ds_recipe_segment *blocks; /* boxes over DS_RECIPE_BLOCK segments each */
  int32_t block_count, block_capacity;
  int32_t root;
  bool failed;    /* memory ran out */
  bool too_large; /* more nodes or segments than allowed */
} ds_recipe;
#define DS_RECIPE_BLOCK 8

void ds_recipe_free(ds_recipe *recipe);

/* ---- Primitives; lengths in m ---- */
int32_t ds_recipe_sphere(ds_recipe *recipe, ds_vec3 center, double radius);
int32_t ds_recipe_box(ds_recipe *recipe, ds_vec3 half, double rounding);
/* The hull of two balls. */
int32_t ds_recipe_capsule(ds_recipe *recipe, ds_vec3 a, double radius_a, ds_vec3 b, double radius_b);
int32_t ds_recipe_torus(ds_recipe *recipe, double radius, double tube); /* about z */
/* Along z from -length/2 with radius r0 to length/2 with r1. */
int32_t ds_recipe_cone(ds_recipe *recipe, double r0, double r1, double length);
int32_t ds_recipe_ellipsoid(ds_recipe *recipe, ds_vec3 center, ds_vec3 radii);
/* A profile is a closed polygon of (r, z) or (x, y) pairs; as a spline it is smooth (centripetal Catmull-Rom), with a
 * corner at every point that is given twice. */
int32_t ds_recipe_lathe(ds_recipe *recipe, const double *profile, int32_t count, bool spline);
int32_t ds_recipe_extrusion(ds_recipe *recipe, const double *profile, int32_t count, bool spline, double length);
int32_t ds_recipe_half_space(ds_recipe *recipe); /* z <= 0 */

/* ---- Operations ---- */
/* UNION, INTERSECTION or SUBTRACTION of the parts added next; edges are blended over about `blend`. */
int32_t ds_recipe_operation(ds_recipe *recipe, ds_recipe_kind kind, double blend);
void ds_recipe_add(ds_recipe *recipe, int32_t operation, int32_t part);
int32_t ds_recipe_pair(ds_recipe *recipe, ds_recipe_kind kind, double blend, int32_t a, int32_t b);
/* x -> position + rotation (scale x), component-wise scale. */
int32_t ds_recipe_place(ds_recipe *recipe, int32_t part, ds_vec3 position, ds_quat rotation, ds_vec3 scale);
/* What lies on the positive side of the plane through the origin (axis 0, 1, 2 = x, y, z), and its mirror image. */
int32_t ds_recipe_mirror(ds_recipe *recipe, int32_t part, int32_t axis);
int32_t ds_recipe_shell(ds_recipe *recipe, int32_t part, double thickness); /* the part hollowed out */
int32_t ds_recipe_offset(ds_recipe *recipe, int32_t part, double distance); /* the part grown; rounds its edges */

/* Sets the root and all bounds. Fails if memory ran out, or where the solid has no bounds. */
ds_status ds_recipe_finish(ds_recipe *recipe, int32_t root, ds_error *error);
/* f(x), and its bounds; after ds_recipe_finish. */
double ds_recipe_distance(const ds_recipe *recipe, ds_vec3 x);

/* Builds the tree of a JSON text (recipe_read.c); *cell and *triangles are changed where the text has them. */
ds_status ds_recipe_read(ds_recipe *recipe, double *cell, int32_t *triangles, const char *text, size_t length,
                         const char *file, ds_error *error);

/* ---- Meshing (isosurface.c) ---- */
typedef double ds_distance(const void *context, ds_vec3 x); /* 1-Lipschitz, negative inside */
/* The surface f = 0 within the bounds, outside of which f > 0: closed, 2-manifold, outward, not crossing itself. */
ds_status ds_isosurface(ds_mesh *mesh, ds_distance *f, const void *context, ds_vec3 low, ds_vec3 high, double cell,
                        ds_error *error);
/* Recipe -> mesh: cell 0 = chosen, triangles 0 = as they come. */
ds_status ds_recipe_mesh(ds_mesh *mesh, const ds_recipe *recipe, double cell, int32_t triangles, ds_error *error);

#endif
