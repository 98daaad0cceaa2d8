/* A mesh file that may hold tetrahedra or a surface. Only .msh can hold either: one without
 * tetrahedra is read again as a surface. */
#include <string.h>

#include "drystone/reduce.h"

/* What ds_tets_read says of a file that is sound but has none. */
#define NONE "no tetrahedra"

ds_status ds_tets_read_any(ds_tets *tets, ds_mesh *surface, const char *path, double scale, ds_error *error) {
  ds_error why = {""};
  *tets = (ds_tets){0};
  *surface = (ds_mesh){0};
  if (!ds_tets_is_file(path)) return ds_mesh_read(surface, path, scale, error);
  ds_status status = ds_tets_read(tets, path, scale, &why);
  if (status == DS_OK) return DS_OK;
  if (strstr(why.message, NONE) && ds_mesh_read(surface, path, scale, error) == DS_OK) return DS_OK;
  if (error) *error = why;
  return status;
}
