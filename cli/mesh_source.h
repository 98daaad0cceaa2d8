/* Where a mesh comes from: a file, a figure by name, or a file with a recipe. */
#ifndef DS_CLI_MESH_SOURCE_H
#define DS_CLI_MESH_SOURCE_H

#include "drystone/solid.h"

/* Whether the name is one of a mesh: FILE.obj, .stl, .ply or .msh, figure:NAME, recipe:FILE.json. */
bool mesh_source_is(const char *source);
/* Reads it; coordinates are multiplied by scale. Whether it can be used is for ds_mesh_check to say. Freed with
 * ds_mesh_free. */
ds_status mesh_source_read(ds_mesh *mesh, const char *source, double scale, ds_error *error);
/* Whether it has triangles, of vertices that exist, with finite coordinates: what a picture needs. */
ds_status mesh_source_drawable(const ds_mesh *mesh, const char *source, ds_error *error);

/* The lowest and the highest corner of its box. */
void mesh_bounds(ds_vec3 *low, ds_vec3 *high, const ds_mesh *mesh);

#endif
