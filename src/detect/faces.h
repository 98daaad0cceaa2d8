/* Contacts of planar faces: where a face of one shape lies over a face of another, the corners of their common polygon
 * are contacts, exact as those of convex polyhedra (face_pairs.c: which faces; face_patch.c: which points). */
#ifndef DS_DETECT_FACES_H
#define DS_DETECT_FACES_H

#include "detect/solid.h"

/* A face in the frame of shape a. */
typedef struct ds_placed_face {
  const ds_faces *faces;
  const ds_face *face;
  int32_t number;
  bool of_a;
  ds_vec3 n, t1, t2; /* n.x = d, n = t1 x t2 */
  double d;
  ds_vec3 low, high;
  int32_t count; /* sides; 0 = a plane without bounds */
  const ds_side *sides;
  ds_vec3 *points; /* where they start */
} ds_placed_face;

typedef struct ds_face_query {
  double reach;
  int32_t per_face;
  double eps;   /* points nearer than this are one, m */
  double check; /* overlaps deeper than this must be those of the distance functions, m */
  double error; /* m: of the distance functions */
  const ds_placed *a, *b;
} ds_face_query;

/* Corners of the convex hull of a common polygon, in the plane of the face that is the reference. What lies in there is
 * held by them. */
typedef struct ds_face_patch {
  ds_vec3 normal, t1, t2; /* frame of a; normal from b to a */
  double d;               /* of the reference: side normal.x = d */
  double gap, gap_u, gap_w;
  double error;    /* of gaps: how far meshes leave their planes */
  int32_t face[2]; /* numbers of the faces of a and b */
  int32_t count;
  double *u, *w; /* counter-clockwise seen along t1 x t2 */
} ds_face_patch;

typedef struct ds_face_contacts {
  ds_candidate *found; /* points and normals in the frame of a */
  int32_t count, capacity;
  ds_face_patch *patches;
  int32_t patch_count, patch_capacity;
  bool failed; /* memory ran out */
} ds_face_contacts;

/* Adds the contacts of two faces that face each other (face_patch.c). */
void ds_face_pair(ds_arena *arena, ds_face_contacts *contacts, const ds_face_query *query, const ds_placed_face *f,
                  const ds_placed_face *g);
/* The contacts of all faces of two shapes that have some (face_pairs.c). */
void ds_face_pairs(ds_arena *arena, ds_face_contacts *contacts, const ds_face_query *query);
/* The faces of a shape, or NULL. */
const ds_faces *ds_shape_get_faces(const ds_shape *shape);
/* Whether a point, given like those of the contacts, is held by their patches: it lies in one, within `beside`, its
 * normal is like the patch's and its gap not smaller than there, within `error`. */
bool ds_faces_hold(const ds_face_contacts *contacts, const ds_candidate *point, double beside, double error);
/* Whether a point (frame of a) lies in a patch, within `beside`, between the two faces or as near. */
bool ds_faces_cover(const ds_face_contacts *contacts, ds_vec3 point, double beside);
/* Whether a corner is the lowest point of its shape around, up to a slope of DS_BELOW (frame of the shape). */
bool ds_corner_is_lowest(const ds_faces *faces, int32_t corner, ds_vec3 up);
#define DS_BELOW 0.05
#define DS_PARALLEL 0.9961946980917455 /* cos 5 degrees: faces that are parallel, and touch with all of a polygon */
#define DS_TAG_EDGES 1                 /* tag of a candidate where two edges cross */
void ds_face_contacts_add(ds_arena *arena, ds_face_contacts *contacts, ds_candidate point);

/* Features. Kinds 0, 1: a corner on a face of the other; 2: two sides that cross. Numbers of samples are smaller. */
#define DS_FEATURE_CORNER 0x20000000u /* with corner and face; without it, a corner among the samples: */
#define DS_FEATURE_LONE 0x10000000u

#endif
