#include "detect/body_pairs.h"

bool ds_body_pairs(ds_arena *arena, ds_box_pair **pairs, int32_t *pair_count, const ds_box *boxes, const bool *moving,
                   const ds_scene *scene) {
  int32_t kept = 0;
  if (!ds_broad_pairs(arena, pairs, pair_count, boxes, moving, scene->body_count)) return false;
  if (scene->apart_count == 0) return true;
  for (int32_t i = 0; i < *pair_count; i++)
    if (!ds_scene_apart(scene, (*pairs)[i].a, (*pairs)[i].b)) (*pairs)[kept++] = (*pairs)[i];
  *pair_count = kept;
  return true;
}
