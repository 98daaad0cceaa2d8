/* How far bodies can move within the step, and so how far ahead their contacts are searched.
 *
 * Every body's box is grown by 2 (h |v| + min(h |w|, 2) R) + h² |g| + margin: twice its present motion, because an
 * impact turns a fall into a spin within the same step; but no farther than its own size: what moves faster is stopped
 * on its way (integrate/sweep.c), or far away things would act as walls. What may be struck reaches as far as its
 * striker. */
#include <math.h>

#include "detect/detection.h"

static const double margin_share = 1e-3; /* of the bounding radius */
static const double farthest = 2;        /* reach by motion at most, over the bounding radius */

/* `radius` is that of the body as it is now. */
static ds_motion_ahead motion_of(const ds_scene *scene, const ds_body *body, const ds_state *state,
                                 const ds_body_state *s, double radius, const ds_detect_options *options) {
  ds_motion_ahead m = {0};
  bool bounded = isfinite(body->bounding_radius);
  if (!body->ops->fixed) {
    double h = options->step;
    m.turn = fmin(h * v3_norm(s->w), 2);
    m.move = v3_scale(h, s->v);
    if (bounded) m.spin = m.turn * radius;
    if (body->skin) m.stir = h * ds_skin_stir(body->skin, ds_body_rates(state, body));
    m.spin += m.stir;
    if (body->ops->dynamic) m.fall = h * h * v3_norm(scene->def.gravity);
  }
  m.margin = options->margin > 0 ? options->margin : INFINITY;
  if (!(options->margin > 0) && bounded) m.margin = margin_share * body->bounding_radius;
  return m;
}

/* Whether what is farther away than is searched here is not found by a second look (again.c): deformable bodies. */
static bool looks_once(const ds_scene *scene) { return scene->reduced_count > 0; }

/* Places all shapes, and bounds all bodies; grown by their motion where options are given. */
bool ds_place_shapes(ds_arena *arena, ds_detection *d, const ds_detect_options *options) {
  const ds_scene *scene = d->scene;
  int32_t n = scene->body_count, shapes = 0;
  for (int32_t i = 0; i < n; i++) shapes += scene->bodies[i].shape_count;
  d->motions = DS_NEW0(arena, ds_motion_ahead, n + 1);
  d->boxes = DS_NEW(arena, ds_box, n + 1);
  d->moving = DS_NEW0(arena, bool, n + 1);
  d->shapes = DS_NEW(arena, ds_placed_shape, shapes + 1);
  d->first_shape = DS_NEW(arena, int32_t, n + 1);
  if (ds_arena_failed(arena)) return false;
  for (int32_t i = 0, k = 0; i < n; i++) {
    const ds_body *body = &scene->bodies[i];
    ds_pose pose = ds_principal_pose(&d->state->bodies[i]);
    ds_box box = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    double radius = body->bounding_radius;
    d->first_shape[i] = k;
    d->moving[i] = body->ops->dynamic;
    for (int32_t j = 0; j < body->shape_count; j++, k++) {
      ds_placed_shape *s = &d->shapes[k];
      s->pose = pose_mul(pose, body->shapes[j].pose);
      s->radius = body->shapes[j].bounding_radius;
      d->solids |= body->shapes[j].kind == DS_SHAPE_SOLID;
      if (body->skin) {
        const double *q = ds_body_coordinates(d->state, body);
        radius = s->radius = ds_skin_bounds(&s->box.low, &s->box.high, body->skin, q, s->pose);
        d->deformables = true;
      } else {
        ds_shape_bounds(&s->box.low, &s->box.high, &body->shapes[j], s->pose);
      }
      box.low = v3_min(box.low, s->box.low);
      box.high = v3_max(box.high, s->box.high);
    }
    bool active = !options || !options->active || options->active[i] || !body->ops->dynamic;
    if (ds_body_is_held(body, d->state->time) || !active) box = (ds_box){{1, 1, 1}, {0, 0, 0}};
    if (options) {
      d->motions[i] = motion_of(scene, body, d->state, &d->state->bodies[i], radius, options);
      const ds_motion_ahead *m = &d->motions[i];
      double travel = 2 * (v3_norm(m->move) + m->spin);
      if (!looks_once(scene)) travel = fmin(travel, farthest * body->bounding_radius);
      double grow = travel + m->fall + (isfinite(m->margin) ? m->margin : 0);
      if (box.low.x <= box.high.x) {
        box.low = v3_sub(box.low, v3(grow, grow, grow));
        box.high = v3_add(box.high, v3(grow, grow, grow));
      }
    }
    d->boxes[i] = box;
  }
  return true;
}

/* How far two bodies can come nearer to each other by their own motion: twice what they do now, because an impact turns
 * a fall into a spin within the same step. */
static double relative_travel(const ds_detection *d, int32_t a, int32_t b) {
  const ds_motion_ahead *ma = &d->motions[a], *mb = &d->motions[b];
  double travel = v3_dist(ma->move, mb->move) + ma->spin + mb->spin;
  double apart = v3_dist(d->state->bodies[a].x, d->state->bodies[b].x);
  if (!isfinite(d->scene->bodies[a].bounding_radius)) travel += ma->turn * apart;
  if (!isfinite(d->scene->bodies[b].bounding_radius)) travel += mb->turn * apart;
  if (d->scene->bodies[a].skin || d->scene->bodies[b].skin) return 2 * travel;
  return fmin(2 * travel, farthest * fmin(d->scene->bodies[a].bounding_radius, d->scene->bodies[b].bounding_radius));
}

/* How far ahead contacts of a pair are searched. */
double ds_pair_reach(const ds_detection *d, int32_t a, int32_t b) {
  const ds_motion_ahead *ma = &d->motions[a], *mb = &d->motions[b];
  double margin = fmin(ma->margin, mb->margin), travel = relative_travel(d, a, b);
  /* gravity counts once: it moves both alike */
  return fmax(travel, fmax(ma->struck, mb->struck)) + fmax(ma->fall, mb->fall) + (isfinite(margin) ? margin : 0);
}

static bool grow_struck(ds_detection *d, int32_t body, double struck) {
  ds_motion_ahead *m = &d->motions[body];
  if (!d->moving[body] || !(struck > m->struck + m->margin)) return false; /* within the distance searched anyway */
  double more = struck - m->struck;
  m->struck = struck;
  d->boxes[body].low = v3_sub(d->boxes[body].low, v3(more, more, more));
  d->boxes[body].high = v3_add(d->boxes[body].high, v3(more, more, more));
  return true;
}

/* A body that rests may be struck within the step, and strike its neighbours: it may then move as far as its striker
 * came towards it. Returns whether any box grew. */
bool ds_pass_on_motion(ds_detection *d, const ds_box_pair *pairs, int32_t pair_count) {
  bool grew = false;
  for (int32_t i = 0; i < pair_count; i++) {
    double travel = relative_travel(d, pairs[i].a, pairs[i].b);
    grew |= grow_struck(d, pairs[i].a, travel);
    grew |= grow_struck(d, pairs[i].b, travel);
  }
  for (int32_t i = 0; i < pair_count; i++) {
    double travel = fmax(d->motions[pairs[i].a].struck, d->motions[pairs[i].b].struck);
    grew |= grow_struck(d, pairs[i].a, travel);
    grew |= grow_struck(d, pairs[i].b, travel);
  }
  return grew;
}

/* Motion of body a against body b within the step. */
ds_twist ds_relative_twist(const ds_detection *d, int32_t a, int32_t b, double h) {
  const ds_body_state *sa = &d->state->bodies[a], *sb = &d->state->bodies[b];
  bool moves_a = !d->scene->bodies[a].ops->fixed, moves_b = !d->scene->bodies[b].ops->fixed;
  ds_vec3 zero = {0, 0, 0}, wa = moves_a ? sa->w : zero, wb = moves_b ? sb->w : zero;
  ds_vec3 va = moves_a ? v3_sub(sa->v, v3_cross(wa, sa->x)) : zero;
  ds_vec3 vb = moves_b ? v3_sub(sb->v, v3_cross(wb, sb->x)) : zero;
  return (ds_twist){v3_scale(h, v3_sub(va, vb)), v3_scale(h, v3_sub(wa, wb))};
}
