/* Coarser surfaces of a form, for bodies that are small in the frame. */
#ifndef DS_CLI_VIEW_LEVELS_H
#define DS_CLI_VIEW_LEVELS_H

#include <stdbool.h>

#include "../model.h"

enum { VIEW_LEVELS_MAX = 12 };

/* A list of corners over the vertices of the form, so that normals and modes hold for all levels. */
typedef struct view_level {
  uint32_t *corners; /* three per triangle */
  int32_t triangles;
  double error; /* m: distance of the surfaces, estimated */
} view_level;

typedef struct view_levels {
  view_level levels[VIEW_LEVELS_MAX]; /* finest first; the form itself is none of them */
  int32_t count;
} view_levels;

/* Levels of n vertices and m triangles; none where these are few. False if memory ran out. To be freed in any case. */
bool view_levels_build(view_levels *out, const ds_vertex *vertices, int32_t n, const ds_triangle *triangles, int32_t m);
void view_levels_free(view_levels *levels);

#endif
