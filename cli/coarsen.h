/* Coarser meshes, for solids that are small in the picture or numerous. */
#ifndef DS_CLI_COARSEN_H
#define DS_CLI_COARSEN_H

#include "drystone/solid.h"

/* A mesh of about `triangles` triangles at most, or a copy if the given one has no more; freed with ds_mesh_free.
 * Indices must be valid and coordinates finite. False if memory ran out. */
bool coarsen_mesh(ds_mesh *coarse, const ds_mesh *mesh, int32_t triangles);

#endif
