/* Bodies by their index in the scene, as recordings, pictures and messages count them. */
#ifndef DS_CLI_BODIES_H
#define DS_CLI_BODIES_H

#include "drystone/drystone.h"

static inline int32_t body_index(ds_body_id id) { return id.index1 - 1; }
static inline ds_body_id body_at(int32_t index) { return (ds_body_id){index + 1}; }
static inline bool body_is_dynamic(const ds_scene *scene, int32_t index) {
  return ds_body_get_kind(scene, body_at(index)) == DS_BODY_DYNAMIC;
}
/* What a deformable body is made of; NULL = rigid. */
static inline const struct ds_reduced *body_reduced(const ds_scene *scene, int32_t index) {
  return ds_body_shape_count(scene, body_at(index)) > 0 ? ds_body_shape(scene, body_at(index), 0).reduced : NULL;
}

#endif
