/* Where a mesh comes from: a file of a surface or of tetrahedra, a figure by name, or a file with a recipe. */
#ifndef DS_CLI_MESH_SOURCE_H
#define DS_CLI_MESH_SOURCE_H

#include "drystone/reduce.h"

/* Whether the name is one of a mesh: FILE.obj, .stl, .ply or .msh, of tetrahedra .msh, .vtk, .veg, .node or .ele,
 * figure:NAME, recipe:FILE.json. */
bool mesh_source_is(const char *source);
/* Reads it; coordinates are multiplied by scale. It is not checked; see ds_mesh_check and ds_tets_check.
 * Fills one of the two, to be freed: tets where there are tetrahedra (tet_count > 0), else the surface. */
ds_status mesh_source_read_any(ds_tets *tets, ds_mesh *mesh, const char *source, double scale, ds_error *error);
/* The surface alone; that of tetrahedra is their boundary. Freed with ds_mesh_free. */
ds_status mesh_source_read(ds_mesh *mesh, const char *source, double scale, ds_error *error);
/* Whether it has triangles, of vertices that exist, with finite coordinates, as needed for drawing. */
ds_status mesh_source_drawable(const ds_mesh *mesh, const char *source, ds_error *error);

/* The lowest and the highest corner of its box. */
void mesh_bounds(ds_vec3 *low, ds_vec3 *high, const ds_mesh *mesh);

#endif
