/* A mesh file of which it is not known whether it holds tetrahedra or a surface. */
#ifndef DS_SCENE_TETS_SOURCE_H
#define DS_SCENE_TETS_SOURCE_H

#include "drystone/reduce.h"

/* Fills one of the two, to be freed: tets where the file has tetrahedra (tet_count > 0), else the surface. */
ds_status ds_tets_source_read(ds_tets *tets, ds_mesh *surface, const char *path, double scale, ds_error *error);

#endif
