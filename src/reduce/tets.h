/* What the files of src/reduce share about tetrahedra: their form, their faces, their readers. */
#ifndef DS_REDUCE_TETS_H
#define DS_REDUCE_TETS_H

#include "drystone/reduce.h"
#include "la/vec3.h"
#include "mesh/mesh.h"

/* ---- tets.c ---- */
/* Coordinates are divided by 2^exponent, so that the largest is below 1 and no product leaves the range. */
int ds_tets_exponent(const ds_tets *tets);
void ds_tets_corners(ds_vec3 x[4], const ds_tets *tets, int32_t tet, int exponent);
/* +1, -1, or 0 where it is flat: its volume then means nothing. Coordinates of at most 1. */
int ds_tet_sign(const ds_vec3 x[4]);
/* The dihedral angles at edges 01, 02, 03, 12, 13, 23, rad. */
void ds_tet_angles(double angles[6], const ds_vec3 x[4]);
/* The twin of every face, or -1; DS_ERROR_INPUT if a face has not one tetrahedron, or one on each side. */
ds_status ds_tets_pair(int32_t *twin, const ds_tets *tets, ds_error *error);

/* ---- readers ---- */
bool ds_tets_read_vtk(ds_mesh_input *in);
bool ds_tets_read_veg(ds_mesh_input *in);
/* .node, then .ele with the nodes in place. */
bool ds_tets_read_node(ds_mesh_input *in);
bool ds_tets_read_ele(ds_mesh_input *in);
/* Turns all tetrahedra where all are inverted; a message where some are, or where one is flat. */
bool ds_tets_orient(ds_mesh_input *in);

#endif
