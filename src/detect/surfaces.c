/* The surfaces of deformable bodies as they stand, where they may touch something: built before pairs are tested. */
#include <math.h>

#include "body/compression.h"
#include "detect/detection.h"

/* Adds bodies that may touch themselves to the pairs, each before its pairs with others. Where a part of a body is
 * inside out its normals point inward, and contact would keep it so: it does not touch itself until it has recovered.
 */
bool ds_add_selves(ds_arena *arena, const ds_detection *d, ds_box_pair **pairs, int32_t *pair_count) {
  int32_t n = d->scene->body_count, count = 0;
  if (!d->deformables) return true;
  ds_box_pair *all = DS_NEW(arena, ds_box_pair, *pair_count + n + 1);
  if (!all) return false;
  for (int32_t i = 0, k = 0; i <= n; i++) {
    while (k < *pair_count && (*pairs)[k].a < i) all[count++] = (*pairs)[k++];
    if (i == n) break;
    const ds_body *body = &d->scene->bodies[i];
    if (!body->skin || d->boxes[i].low.x > d->boxes[i].high.x) continue; /* held, or not active */
    const double *q = ds_body_coordinates(d->state, body);
    bool inverted = body->reduced && ds_reduced_is_inverted(body->reduced, q);
    if (ds_may_touch_itself(body->skin, q, d->motions[i].stir) && !inverted) all[count++] = (ds_box_pair){i, i};
  }
  *pairs = all;
  *pair_count = count;
  return true;
}

static void fill_surface(void *context, int32_t item, int32_t worker) {
  (void)worker;
  ds_deformed_fill(((ds_deformed **)context)[item]);
}

/* How far a body's points move within the step; `apart` replaces the size of a body that has none. */
static double travel_of(const ds_detection *d, int32_t i, double apart) {
  const ds_body *body = &d->scene->bodies[i];
  const ds_body_state *s = &d->state->bodies[i];
  if (body->ops->fixed) return 0;
  double radius = body->skin ? d->shapes[d->first_shape[i]].radius : body->bounding_radius;
  return d->step * v3_norm(s->w) * (isfinite(radius) ? radius : apart) + d->motions[i].stir;
}

/* No search of a pair goes farther than this: slack, travel and depth of deformable.c. */
static double want_reach(const ds_detection *d, ds_box_pair pair) {
  const ds_body *a = &d->scene->bodies[pair.a], *b = &d->scene->bodies[pair.b];
  const ds_body_state *sa = &d->state->bodies[pair.a], *sb = &d->state->bodies[pair.b];
  const ds_motion_ahead *ma = &d->motions[pair.a], *mb = &d->motions[pair.b];
  double apart = v3_dist(sa->x, sb->x), margin = fmin(ma->margin, mb->margin);
  double travel = d->step * v3_dist(sa->v, sb->v) + travel_of(d, pair.a, apart) + travel_of(d, pair.b, apart);
  double reach = (isfinite(margin) ? margin : 0) + fmax(ma->struck, mb->struck) + fmax(ma->fall, mb->fall);
  double deepest = d->step > 0 ? ds_deepest_before(d->state, pair) : INFINITY, deep = 0;
  if (a->skin) deep = fmax(deep, ds_search_depth(a->skin, deepest, travel));
  if (b->skin) deep = fmax(deep, ds_search_depth(b->skin, deepest, travel));
  return reach + 2 * (1 + DS_STRAY) * travel + deep + DS_DEEPER * fmin(a->bounding_radius, b->bounding_radius);
}

/* The same of a body and itself: only its deformation brings it nearer. */
static double fold_reach(const ds_detection *d, int32_t i) {
  const ds_skin *skin = d->scene->bodies[i].skin;
  const ds_motion_ahead *m = &d->motions[i];
  double travel = 2 * m->stir;
  double deep = ds_search_depth(skin, ds_deepest_before(d->state, (ds_box_pair){i, i}), travel);
  return (isfinite(m->margin) ? m->margin : 0) + m->struck + m->fall + (1 + DS_STRAY) * travel + deep;
}

/* Marks the patches of a pair's surfaces that may touch. */
static bool want(ds_arena *scratch, const ds_detection *d, ds_box_pair pair) {
  ds_deformed *a = d->deformed[pair.a], *b = d->deformed[pair.b];
  if (!a && !b) return true;
  if (pair.a == pair.b) return ds_want_folds(scratch, a, fold_reach(d, pair.a));
  double reach = want_reach(d, pair);
  ds_pose pa = ds_principal_pose(&d->state->bodies[pair.a]), pb = ds_principal_pose(&d->state->bodies[pair.b]);
  if (a && b) {
    ds_want_near_deformed(a, b, pose_mul(pose_inverse(pa), pb), reach);
  } else {
    int32_t rigid = a ? pair.b : pair.a;
    const ds_body *body = &d->scene->bodies[rigid];
    for (int32_t i = 0; i < body->shape_count; i++) {
      if (!ds_can_collide(&body->shapes[i])) continue;
      ds_pose shape = d->shapes[d->first_shape[rigid] + i].pose;
      ds_want_near_shape(a ? a : b, &body->shapes[i], pose_mul(pose_inverse(shape), a ? pa : pb), reach);
    }
  }
  return true;
}

/* The surfaces of deformables that are in some pair, where they may touch. */
bool ds_deform(ds_arena *arena, ds_detection *d, const ds_box_pair *pairs, int32_t pair_count, ds_pool *pool) {
  int32_t n = d->scene->body_count, count = 0;
  if (!d->deformables) return true;
  d->deformed = DS_NEW0(arena, ds_deformed *, n + 1);
  ds_deformed **all = DS_NEW(arena, ds_deformed *, n + 1);
  if (!d->deformed || !all) return false;
  for (int32_t k = 0; k < 2 * pair_count; k++) {
    int32_t i = k % 2 ? pairs[k / 2].b : pairs[k / 2].a;
    const ds_body *body = &d->scene->bodies[i];
    if (!body->skin || d->deformed[i]) continue;
    ds_deformed *surface = all[count++] = d->deformed[i] = DS_NEW(arena, ds_deformed, 1);
    const double *q = ds_body_coordinates(d->state, body),
                 *rate = d->motions[i].stir > 0 ? ds_body_rates(d->state, body) : NULL;
    if (!surface || !ds_deformed_begin(arena, surface, body->skin, q, rate, d->step)) return false;
  }
  for (int32_t k = 0; k < pair_count; k++)
    if (!want(arena, d, pairs[k])) return false;
  if (pool && count > 1)
    ds_pool_run(pool, count, fill_surface, all);
  else
    for (int32_t i = 0; i < count; i++) ds_deformed_fill(all[i]);
  return true;
}
