/* A scene at one time as triangles: what is drawn and what the camera must see. */
#ifndef DS_CLI_TABLEAU_H
#define DS_CLI_TABLEAU_H

#include "drystone/drystone.h"
#include "drystone/solid.h"
#include "model.h"

typedef struct ds_tableau {
  ds_model model;
  ds_model casters; /* the same with coarser solids, for shadows; empty where the model serves */
  ds_vec3 *points;  /* of the surfaces that the picture is framed on */
  int32_t point_count;
  int32_t framed_count;  /* bodies that they belong to */
  ds_vec3 low, high;     /* their box */
  double radius;         /* half its diagonal */
  bool has_surroundings; /* a ramp, or the ground below flying bodies, is among the points too */
  bool has_ground;       /* a horizontal floor at z = ground */
  double ground;
} ds_tableau;

/* The bodies of a scene at one time. */
typedef struct ds_bodies_at {
  const ds_scene *scene;
  const ds_pose *poses;  /* of the bodies' user frames, one per body */
  const double *reduced; /* coordinates of all deformable bodies, one after the other; NULL = undeformed */
  const bool *hidden;    /* bodies that are left out, one flag per body; NULL = none */
  const ds_vec3 *colors; /* sRGB, 0..1, one per body; NULL = the usual ones */
} ds_bodies_at;
/* `muted` draws in pale colours, so that marks stand out. */
ds_status ds_tableau_build(ds_tableau *tableau, const ds_bodies_at *bodies, bool muted, ds_error *error);
/* A mesh alone, standing on the ground. Where it is open or inside out, back sides are drawn too, in red. `rest` is
 * NULL, or where the vertices of a deformed mesh were before. */
ds_status ds_tableau_build_mesh(ds_tableau *tableau, const ds_mesh *mesh, const ds_vec3 *rest, ds_error *error);
void ds_tableau_free(ds_tableau *tableau);

#endif
