/* Assemblies under construction: patches are added, coplanar ones of the same blocks are joined to one interface. */
#ifndef DS_STAND_BUILD_H
#define DS_STAND_BUILD_H

#include "drystone/stand.h"

/* A point at which blocks a and b touch. Points of the same blocks in the same plane become one interface; those of one
 * that is given as a whole have its number, from 1, and stay together; 0 = found. */
typedef struct ds_touch_point {
  int32_t a, b;
  ds_vec3 point, normal; /* from a to b */
  double gap, mu;
  int32_t given;
  bool partial; /* of a patch that has points beyond the tolerance, too */
} ds_touch_point;

typedef struct ds_builder {
  ds_assembly *assembly;
  int32_t block_capacity;
  struct ds_touch_point *touch; /* points so far */
  int32_t touch_count, touch_capacity;
  bool failed; /* memory ran out */
} ds_builder;

bool ds_builder_begin(ds_builder *builder);
/* A block; NULL where memory ran out. Valid until the next one. */
ds_block *ds_builder_block(ds_builder *builder);
void ds_builder_point(ds_builder *builder, ds_touch_point point);
/* Joins points to interfaces, and reduces those that were found to the corners of their convex hulls: forces at the
 * corners give every force that points between them could. NULL where memory ran out. */
ds_assembly *ds_builder_end(ds_builder *builder);
void ds_builder_cancel(ds_builder *builder);

/* A plane polygon of a block, for the search of touching faces. */
typedef struct ds_face {
  int32_t block;
  const ds_vec3 *corners; /* counter-clockwise seen from outside */
  int32_t count;
  ds_vec3 normal;
  ds_vec3 low, high; /* its box */
} ds_face;
/* Normal and box of a face from its corners. False if it has no area. */
bool ds_face_finish(ds_face *face);
/* Triangles of a face, whose corners need not be convex: three indices each, at most count - 2 of them. Their number.
 */
int32_t ds_face_triangles(int32_t *triangles, const ds_face *face);
/* Adds patches where faces of two blocks lie against each other with gaps and overlaps up to the tolerance, and angles
 * up to 8 degrees. */
void ds_faces_touch(ds_builder *builder, const ds_face *faces, int32_t count, double tolerance, double mu);

#endif
