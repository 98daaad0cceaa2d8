/* A mesh prepared for drawing: normals are smooth on curved surfaces and discontinuous at sharp edges. Built once and
 * added to the model for every body that has it. */
#ifndef DS_CLI_SKIN_H
#define DS_CLI_SKIN_H

#include "drystone/solid.h"
#include "model.h"

typedef struct ds_skin {
  ds_vertex *vertices; /* in the mesh's frame */
  ds_triangle *triangles;
  int32_t vertex_count, triangle_count, surface_count;
  int32_t open_edges; /* with a triangle on one side only */
  double volume;      /* enclosed, m³; negative where the surface is inside out */
} ds_skin;

/* A skin of about `triangles` triangles at most. `rest` are the vertices of a deformed mesh before it was deformed:
 * they define its creases, which so do not depend on the deformation; NULL = it is not deformed. False if memory ran
 * out. Indices must be valid and coordinates finite. */
bool ds_skin_build(ds_skin *skin, const ds_mesh *mesh, const ds_vec3 *rest, int32_t triangles);
void ds_skin_free(ds_skin *skin);

/* Adds it at a pose; `back` adds the triangles' back sides instead. False if memory ran out. */
bool ds_model_add_skin(ds_model *model, const ds_skin *skin, ds_pose pose, int32_t paint, bool back);

#endif
