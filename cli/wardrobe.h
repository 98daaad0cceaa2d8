/* The solids of a scene as they are drawn: each prepared for drawing once, however many bodies have it. */
#ifndef DS_CLI_WARDROBE_H
#define DS_CLI_WARDROBE_H

#include "drystone/drystone.h"
#include "drystone/reduce.h"
#include "skin.h"

/* A solid as it is drawn and as it casts shadows. */
typedef struct ds_dressed {
  const ds_solid *solid;
  ds_skin skin, caster; /* the caster is empty where has_casters is false */
} ds_dressed;

typedef struct ds_wardrobe {
  ds_dressed *solids;
  int32_t count, capacity, last;
  int32_t skin_triangles, caster_triangles; /* per solid, at most */
  bool has_casters;                         /* shadows are cast by coarser solids */
} ds_wardrobe;

/* Chooses the detail: fewer triangles per solid the more bodies have one. `hidden` bodies do not count; NULL = none. */
void ds_wardrobe_open(ds_wardrobe *wardrobe, const ds_scene *scene, const bool *hidden);
/* The same for one mesh. */
void ds_wardrobe_open_mesh(ds_wardrobe *wardrobe, const ds_mesh *mesh);
/* NULL if memory ran out. Valid until the next call. */
const ds_dressed *ds_wardrobe_dress(ds_wardrobe *wardrobe, const ds_solid *solid);
/* A reduced body with coordinates q (NULL: undeformed), in its mesh's frame: to be freed, in every case. False if
 * memory ran out. */
bool ds_wardrobe_dress_reduced(ds_dressed *dressed, const ds_wardrobe *wardrobe, const ds_reduced *reduced,
                               const double *q);
/* For a mesh without a body; `rest` as in ds_skin_build. False if memory ran out. */
bool ds_wardrobe_dress_mesh(ds_dressed *dressed, const ds_wardrobe *wardrobe, const ds_mesh *mesh, const ds_vec3 *rest);
void ds_dressed_free(ds_dressed *dressed);
void ds_wardrobe_close(ds_wardrobe *wardrobe);

#endif
