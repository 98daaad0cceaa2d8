/* Stage 1, detect: contacts of a whole state.
 *
 * Every body's box is grown by how far it can come within the step (reach.c). Pairs of overlapping boxes (broad.c) are
 * tested shape by shape with the pair's own reach, from its relative motion (collide.c); bodies that are deformed
 * enough to touch themselves are pairs of their own. Points come in the order of their pairs, whichever threads found
 * them (share.c). */
#include "detect/detect.h"

#include <string.h>

#include "detect/detection.h"
#include "detect/recall.h"

/* ---- what is known of pairs at rest ---- */

static bool is_at_rest(const ds_detection *d, int32_t i) {
  const ds_body *body = &d->scene->bodies[i];
  const ds_body_state *s = &d->state->bodies[i];
  return !body->skin && (body->ops->fixed || (v3_norm2(s->v) == 0 && v3_norm2(s->w) == 0));
}

/* Everything on which the contacts of a pair depend; false if its bodies move. */
static bool rest_of_pair(ds_known_pair *key, const ds_detection *d, ds_box_pair pair, double reach, int32_t per_face) {
  if (!is_at_rest(d, pair.a) || !is_at_rest(d, pair.b)) return false;
  *key = (ds_known_pair){.a = pair.a,
                         .b = pair.b,
                         .pose_a = ds_principal_pose(&d->state->bodies[pair.a]),
                         .pose_b = ds_principal_pose(&d->state->bodies[pair.b]),
                         .step = d->step,
                         .reach = reach,
                         .slack = ds_pair_query(d, pair, reach, per_face).slack,
                         .per_face = per_face};
  return true;
}

/* Keeps what was found of pairs at rest for the next step. */
static void remember(ds_recall **recall, const ds_detection *d, const ds_box_pair *pairs, int32_t pair_count,
                     const ds_contact_list *contacts, int32_t per_face) {
  ds_recall_begin(recall, pair_count, contacts->count);
  const ds_contact_point *c = contacts->points, *end = c + contacts->count;
  for (int32_t i = 0; i < pair_count && *recall; i++) {
    ds_known_pair key;
    const ds_contact_point *first = c;
    while (c < end && c->a == pairs[i].a && c->b == pairs[i].b) c++;
    if (rest_of_pair(&key, d, pairs[i], ds_pair_reach(d, pairs[i].a, pairs[i].b), per_face))
      ds_recall_add(*recall, &key, first, (int32_t)(c - first));
  }
}

static bool append_known(ds_arena *arena, ds_point_list *list, const ds_contact_point *points, int32_t count) {
  if (!ds_make_room(arena, list, count)) return false;
  if (count > 0) memcpy(list->points + list->count, points, (size_t)count * sizeof *points);
  list->count += count;
  return true;
}

/* ---- all pairs ---- */

static bool collide_ahead(ds_arena *arena, ds_point_list *list, const ds_detection *d, ds_manifold *m, ds_box_pair pair,
                          int32_t per_face) {
  int32_t first = list->count, count;
  double reach = ds_pair_reach(d, pair.a, pair.b);
  ds_known_pair key;
  const ds_contact_point *known = NULL;
  if (d->recall && rest_of_pair(&key, d, pair, reach, per_face)) known = ds_recall_find(&count, d->recall, &key);
  if (known ? !append_known(arena, list, known, count) : !ds_collide(arena, list, d, m, pair, reach, per_face))
    return false;
  return !d->again || pair.a == pair.b || ds_keep_loaded(arena, list, d, pair, reach, first);
}

static bool find_pairs(ds_arena *arena, ds_box_pair **pairs, int32_t *pair_count, const ds_detection *d) {
  return ds_body_pairs(arena, pairs, pair_count, d->boxes, d->moving, d->scene) &&
         ds_add_interfaces(arena, d, pairs, pair_count);
}

ds_status ds_detect(ds_arena *arena, ds_contact_list *contacts, const ds_scene *scene, const ds_state *state,
                    const ds_detect_options *options) {
  *contacts = (ds_contact_list){0};
  ds_detection d = {.scene = scene, .state = state, .step = options->step};
  ds_box_pair *pairs;
  int32_t pair_count;
  for (int32_t i = 0; i < state->contact_count; i++) d.again |= (state->contacts[i].feature & DS_FEATURE_AGAIN) != 0;
  if (!ds_place_shapes(arena, &d, options)) return DS_ERROR_MEMORY;
  if (!find_pairs(arena, &pairs, &pair_count, &d)) return DS_ERROR_MEMORY;
  if (ds_pass_on_motion(&d, pairs, pair_count) && !find_pairs(arena, &pairs, &pair_count, &d)) return DS_ERROR_MEMORY;
  if (!ds_add_selves(arena, &d, &pairs, &pair_count)) return DS_ERROR_MEMORY;
  if (!ds_deform(arena, &d, pairs, pair_count, options->pool)) return DS_ERROR_MEMORY;
  d.recall = options->recall ? *options->recall : NULL;
  ds_status status =
      ds_detect_pairs(arena, contacts, &d, collide_ahead, pairs, pair_count, state->contact_count, options);
  /* not where the list has contacts that no look would find */
  if (status == DS_OK && options->recall && !d.again)
    remember(options->recall, &d, pairs, pair_count, contacts, options->contacts_per_face);
  return status;
}
