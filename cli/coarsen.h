/* Coarser meshes: what is drawn of solids that are small on the picture, or of which there are many. */
#ifndef DS_CLI_COARSEN_H
#define DS_CLI_COARSEN_H

#include "drystone/solid.h"

/* A mesh of about `triangles` triangles at most, or a copy where the given one has no more; freed with ds_mesh_free.
 * Indices have to be right and coordinates finite. False if memory ran out. */
bool coarsen_mesh(ds_mesh *coarse, const ds_mesh *mesh, int32_t triangles);

#endif
