/* The shapes of a scene as messages, each form once however many bodies have it, and where bodies have them. */
#ifndef DS_CLI_VIEW_GEOMETRY_H
#define DS_CLI_VIEW_GEOMETRY_H

#include "bytes.h"
#include "drystone/drystone.h"

typedef struct view_part {
  int32_t geometry;
  ds_pose pose; /* in the body's frame */
} view_part;

typedef struct view_geometries {
  view_message **messages; /* GEOMETRY, one each */
  int32_t count;
  view_part *parts;    /* of all bodies, one body after the other */
  int32_t *first_part; /* body_count + 1 */
} view_geometries;

/* False if memory ran out; nothing has to be freed then. */
bool view_geometries_build(view_geometries *out, const ds_scene *scene);
void view_geometries_free(view_geometries *geometries);

#endif
