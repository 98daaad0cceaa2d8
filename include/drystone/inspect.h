/* What detection knows of a body, for pictures and checks: the spheres of its tree, and distances to its surface. */
#ifndef DRYSTONE_INSPECT_H
#define DRYSTONE_INSPECT_H

#include "drystone/drystone.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ds_tree_sphere {
  ds_vec3 center; /* world */
  double radius;  /* m */
  int32_t level;  /* 0 = the root */
} ds_tree_sphere;
/* Spheres of a body's solids, or of a deformable body as it is now, those of lower levels first in each tree; `room` at
 * most. *count is 0 for bodies of other shapes. DS_ERROR_MEMORY is the only failure. */
ds_status ds_state_spheres(ds_tree_sphere *spheres, int32_t *count, int32_t room, const ds_scene *scene,
                           const ds_state *state, ds_body_id body);

/* A body as it is now, to be asked for distances. Scene and state must outlive it. */
typedef struct ds_probe ds_probe;
ds_probe *ds_probe_create(const ds_scene *scene, const ds_state *state, ds_body_id body); /* NULL: memory ran out */
void ds_probe_destroy(ds_probe *probe);                                                   /* NULL is fine */
/* The box around the body, in its own frame; infinite where it has a half-space. */
void ds_probe_bounds(ds_vec3 *low, ds_vec3 *high, const ds_probe *probe);
/* Signed distance of a point in the body's frame to its surface, negative inside. That to a body of many shapes is the
 * least of theirs, which is exact outside. Twice the diagonal of its box is the most that a deformable body tells. */
double ds_probe_distance(const ds_probe *probe, ds_vec3 x);

#ifdef __cplusplus
}
#endif

#endif
