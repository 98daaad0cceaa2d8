/* Stage 1, detect: contacts of a whole state.
 *
 * Every body's box is grown by how far it can come within the step (reach.c). Pairs of overlapping boxes (broad.c) are
 * tested shape by shape with the pair's own reach, from its relative motion (collide.c); bodies that are deformed
 * enough to touch themselves are pairs of their own. Points come in the order of their pairs, whichever threads found
 * them (share.c). */
#include "detect/detect.h"

#include "detect/detection.h"

static bool collide_ahead(ds_arena *arena, ds_point_list *list, const ds_detection *d, ds_manifold *m, ds_box_pair pair,
                          int32_t per_face) {
  int32_t first = list->count;
  double reach = ds_pair_reach(d, pair.a, pair.b);
  if (!ds_collide(arena, list, d, m, pair, reach, per_face)) return false;
  return !d->again || pair.a == pair.b || ds_keep_loaded(arena, list, d, pair, reach, first);
}

ds_status ds_detect(ds_arena *arena, ds_contact_list *contacts, const ds_scene *scene, const ds_state *state,
                    const ds_detect_options *options) {
  *contacts = (ds_contact_list){0};
  ds_detection d = {.scene = scene, .state = state, .step = options->step};
  ds_box_pair *pairs;
  int32_t pair_count;
  for (int32_t i = 0; i < state->contact_count; i++) d.again |= (state->contacts[i].feature & DS_FEATURE_AGAIN) != 0;
  if (!ds_place_shapes(arena, &d, options)) return DS_ERROR_MEMORY;
  if (!ds_body_pairs(arena, &pairs, &pair_count, d.boxes, d.moving, scene)) return DS_ERROR_MEMORY;
  if (ds_pass_on_motion(&d, pairs, pair_count) && !ds_body_pairs(arena, &pairs, &pair_count, d.boxes, d.moving, scene))
    return DS_ERROR_MEMORY;
  if (!ds_add_selves(arena, &d, &pairs, &pair_count)) return DS_ERROR_MEMORY;
  if (!ds_deform(arena, &d, pairs, pair_count, options->pool)) return DS_ERROR_MEMORY;
  return ds_detect_pairs(arena, contacts, &d, collide_ahead, pairs, pair_count, state->contact_count, options);
}
