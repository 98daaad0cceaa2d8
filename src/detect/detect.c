/* Stage 1, detect: contacts of a whole state, and the queries that need only detection.
 *
 * Every body's box is grown by how far it can come within the step: 2 (h |v| + min(h |w|, 2) R) + h² |g| + margin;
 * twice its present motion, because an impact turns a fall into a spin within the same step. Pairs of overlapping boxes
 * (broad.c) are tested shape by shape with the pair's own reach, from its relative motion. Pairs come sorted from
 * the broad phase, and points are sorted within a pair, so the list is ordered and unique. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "detect/broad.h"
#include "detect/detect.h"

typedef struct motion {
  ds_vec3 move;  /* h v */
  double spin;   /* how far its points can come by turning: min(h |w|, 2) R; 0 if it has no bounds */
  double turn;   /* min(h |w|, 2), for bodies without bounds */
  double fall;   /* h² |g| of a dynamic body */
  double struck; /* how far it may be thrown by what strikes it within the step */
  double margin; /* infinite for bodies without bounds */
} motion;

typedef struct placed_shape {
  ds_pose pose;
  ds_box box;
} placed_shape;

typedef struct detection {
  const ds_scene *scene;
  const ds_state *state;
  motion *motions;
  ds_box *boxes;
  bool *moving;
  placed_shape *shapes;
  int32_t *first_shape;
} detection;

static const double margin_share = 1e-3, margin_limit = 1e-3; /* of the bounding radius; m */

static motion motion_of(const ds_scene *scene, const ds_body *body, const ds_body_state *s,
                        const ds_detect_options *options) {
  motion m = {0};
  bool bounded = isfinite(body->bounding_radius);
  if (body->kind != DS_BODY_STATIC) {
    double h = options->step;
    m.turn = fmin(h * v3_norm(s->w), 2);
    m.move = v3_scale(h, s->v);
    if (bounded) m.spin = m.turn * body->bounding_radius;
    if (body->kind == DS_BODY_DYNAMIC) m.fall = h * h * v3_norm(scene->def.gravity);
  }
  m.margin = options->margin > 0 ? options->margin : INFINITY;
  if (!(options->margin > 0) && bounded) m.margin = fmin(margin_share * body->bounding_radius, margin_limit);
  return m;
}

/* Places all shapes, and bounds all bodies; grown by their motion where options are given. */
static bool place_shapes(ds_arena *arena, detection *d, const ds_detect_options *options) {
  const ds_scene *scene = d->scene;
  int32_t n = scene->body_count, shapes = 0;
  for (int32_t i = 0; i < n; i++) shapes += scene->bodies[i].shape_count;
  d->motions = DS_NEW0(arena, motion, n + 1);
  d->boxes = DS_NEW(arena, ds_box, n + 1);
  d->moving = DS_NEW0(arena, bool, n + 1);
  d->shapes = DS_NEW(arena, placed_shape, shapes + 1);
  d->first_shape = DS_NEW(arena, int32_t, n + 1);
  if (ds_arena_failed(arena)) return false;
  for (int32_t i = 0, k = 0; i < n; i++) {
    const ds_body *body = &scene->bodies[i];
    ds_pose pose = ds_principal_pose(&d->state->bodies[i]);
    ds_box box = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    d->first_shape[i] = k;
    d->moving[i] = body->kind == DS_BODY_DYNAMIC;
    for (int32_t j = 0; j < body->shape_count; j++, k++) {
      placed_shape *s = &d->shapes[k];
      s->pose = pose_mul(pose, body->shapes[j].pose);
      ds_shape_bounds(&s->box.low, &s->box.high, &body->shapes[j], s->pose);
      box.low = v3_min(box.low, s->box.low);
      box.high = v3_max(box.high, s->box.high);
    }
    if (ds_body_is_held(body, d->state->time)) box = (ds_box){{1, 1, 1}, {0, 0, 0}};
    if (options) {
      d->motions[i] = motion_of(scene, body, &d->state->bodies[i], options);
      const motion *m = &d->motions[i];
      double grow = 2 * (v3_norm(m->move) + m->spin) + m->fall + (isfinite(m->margin) ? m->margin : 0);
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
static double relative_way(const detection *d, int32_t a, int32_t b) {
  const motion *ma = &d->motions[a], *mb = &d->motions[b];
  double way = v3_dist(ma->move, mb->move) + ma->spin + mb->spin;
  double apart = v3_dist(d->state->bodies[a].x, d->state->bodies[b].x);
  if (!isfinite(d->scene->bodies[a].bounding_radius)) way += ma->turn * apart;
  if (!isfinite(d->scene->bodies[b].bounding_radius)) way += mb->turn * apart;
  return 2 * way;
}

/* How far ahead contacts of a pair are wanted. */
static double pair_reach(const detection *d, int32_t a, int32_t b) {
  const motion *ma = &d->motions[a], *mb = &d->motions[b];
  double margin = fmin(ma->margin, mb->margin), way = relative_way(d, a, b);
  /* gravity counts once: it moves both alike */
  return fmax(way, fmax(ma->struck, mb->struck)) + fmax(ma->fall, mb->fall) + (isfinite(margin) ? margin : 0);
}

/* Whether two placed shapes can be nearer than reach. */
static bool can_touch(const ds_shape *a, const placed_shape *pa, const ds_shape *b, const placed_shape *pb,
                      double reach) {
  if (a->kind == DS_SHAPE_HALF_SPACE || b->kind == DS_SHAPE_HALF_SPACE) {
    bool first = a->kind == DS_SHAPE_HALF_SPACE;
    const placed_shape *plane = first ? pa : pb, *body = first ? pb : pa;
    double height = v3_dot(quat_rotate(plane->pose.q, v3(0, 0, 1)), v3_sub(body->pose.p, plane->pose.p));
    return height < reach + (first ? b : a)->bounding_radius;
  }
  const ds_box *x = &pa->box, *y = &pb->box;
  return x->low.x <= y->high.x + reach && y->low.x <= x->high.x + reach && x->low.y <= y->high.y + reach &&
         y->low.y <= x->high.y + reach && x->low.z <= y->high.z + reach && y->low.z <= x->high.z + reach;
}

typedef struct point_list {
  ds_contact_point *points;
  int32_t count, capacity;
} point_list;

static bool append(ds_arena *arena, point_list *list, int32_t a, int32_t b, const ds_manifold *m, uint64_t shapes) {
  if (list->count + m->count > list->capacity) {
    int32_t capacity = 2 * list->capacity + m->count;
    ds_contact_point *points = DS_NEW(arena, ds_contact_point, capacity);
    if (!points) return false;
    memcpy(points, list->points, (size_t)list->count * sizeof *points);
    list->points = points;
    list->capacity = capacity;
  }
  for (int32_t i = 0; i < m->count; i++)
    list->points[list->count++] =
        (ds_contact_point){a, b, m->point[i], m->normal[i], m->gap[i], shapes << 32 | m->feature[i]};
  return true;
}

/* Orders the points from `first` on by feature; of equal features the deeper stays. */
static void order_points(point_list *list, int32_t first) {
  ds_contact_point *p = list->points;
  for (int32_t i = first + 1; i < list->count; i++) {
    ds_contact_point x = p[i];
    int32_t j = i;
    for (; j > first && p[j - 1].feature > x.feature; j--) p[j] = p[j - 1];
    p[j] = x;
  }
  int32_t kept = first;
  for (int32_t i = first; i < list->count; i++) {
    if (kept > first && p[kept - 1].feature == p[i].feature) {
      if (p[i].gap < p[kept - 1].gap) p[kept - 1] = p[i];
    } else {
      p[kept++] = p[i];
    }
  }
  list->count = kept;
}

static bool collide(ds_arena *arena, point_list *list, const detection *d, ds_manifold *m, ds_box_pair pair,
                    double reach, int32_t per_face) {
  const ds_body *a = &d->scene->bodies[pair.a], *b = &d->scene->bodies[pair.b];
  int32_t first = list->count;
  for (int32_t i = 0; i < a->shape_count; i++)
    for (int32_t j = 0; j < b->shape_count; j++) {
      const placed_shape *pa = &d->shapes[d->first_shape[pair.a] + i], *pb = &d->shapes[d->first_shape[pair.b] + j];
      if (!can_touch(&a->shapes[i], pa, &b->shapes[j], pb, reach)) continue;
      ds_narrow(m, &a->shapes[i], pa->pose, &b->shapes[j], pb->pose, reach, per_face);
      uint64_t shapes = ((uint64_t)i & 0xffff) << 16 | ((uint64_t)j & 0xffff);
      if (!append(arena, list, pair.a, pair.b, m, shapes)) return false;
    }
  order_points(list, first);
  return true;
}

static bool grow_struck(detection *d, int32_t body, double struck) {
  motion *m = &d->motions[body];
  if (!d->moving[body] || !(struck > m->struck + m->margin)) return false; /* within what is looked ahead anyway */
  double more = struck - m->struck;
  m->struck = struck;
  d->boxes[body].low = v3_sub(d->boxes[body].low, v3(more, more, more));
  d->boxes[body].high = v3_add(d->boxes[body].high, v3(more, more, more));
  return true;
}

/* A body that rests may be struck within the step, and strike its neighbours: it may then move as far as its striker
 * came towards it. Returns whether any box grew. */
static bool pass_on_motion(detection *d, const ds_box_pair *pairs, int32_t pair_count) {
  bool grew = false;
  for (int32_t i = 0; i < pair_count; i++) {
    double way = relative_way(d, pairs[i].a, pairs[i].b);
    grew |= grow_struck(d, pairs[i].a, way);
    grew |= grow_struck(d, pairs[i].b, way);
  }
  for (int32_t i = 0; i < pair_count; i++) {
    double way = fmax(d->motions[pairs[i].a].struck, d->motions[pairs[i].b].struck);
    grew |= grow_struck(d, pairs[i].a, way);
    grew |= grow_struck(d, pairs[i].b, way);
  }
  return grew;
}

ds_status ds_detect(ds_arena *arena, ds_contact_list *contacts, const ds_scene *scene, const ds_state *state,
                    const ds_detect_options *options) {
  *contacts = (ds_contact_list){0};
  detection d = {.scene = scene, .state = state};
  ds_box_pair *pairs;
  int32_t pair_count;
  if (!place_shapes(arena, &d, options)) return DS_ERROR_MEMORY;
  if (!ds_broad_pairs(arena, &pairs, &pair_count, d.boxes, d.moving, scene->body_count)) return DS_ERROR_MEMORY;
  if (pass_on_motion(&d, pairs, pair_count) &&
      !ds_broad_pairs(arena, &pairs, &pair_count, d.boxes, d.moving, scene->body_count))
    return DS_ERROR_MEMORY;
  point_list list = {.capacity = state->contact_count + state->contact_count / 4 + 256};
  list.points = DS_NEW(arena, ds_contact_point, list.capacity);
  ds_manifold *m = DS_NEW(arena, ds_manifold, 1);
  if (!list.points || !m) return DS_ERROR_MEMORY;
  for (int32_t i = 0; i < pair_count; i++)
    if (!collide(arena, &list, &d, m, pairs[i], pair_reach(&d, pairs[i].a, pairs[i].b), options->contacts_per_face))
      return DS_ERROR_MEMORY;
  *contacts = (ds_contact_list){list.points, list.count};
  return DS_OK;
}

double ds_state_deepest_overlap(const ds_scene *scene, const ds_state *state, ds_body_id *a, ds_body_id *b) {
  ds_arena arena = {0};
  detection d = {.scene = scene, .state = state};
  ds_box_pair *pairs;
  int32_t pair_count = 0;
  double depth = 0;
  ds_body_id deepest_a = {0}, deepest_b = {0};
  bool ok = place_shapes(&arena, &d, NULL) &&
            ds_broad_pairs(&arena, &pairs, &pair_count, d.boxes, d.moving, scene->body_count);
  point_list list = {.capacity = 256};
  if (ok) list.points = DS_NEW(&arena, ds_contact_point, list.capacity);
  ds_manifold *m = ok ? DS_NEW(&arena, ds_manifold, 1) : NULL;
  ok = ok && list.points && m;
  for (int32_t i = 0; i < pair_count && ok; i++) {
    list.count = 0;
    ok = collide(&arena, &list, &d, m, pairs[i], 0, 8);
    for (int32_t k = 0; k < list.count; k++)
      if (-list.points[k].gap > depth) {
        depth = -list.points[k].gap;
        deepest_a = ds_id(pairs[i].a);
        deepest_b = ds_id(pairs[i].b);
      }
  }
  ds_arena_free(&arena);
  if (a) *a = deepest_a;
  if (b) *b = deepest_b;
  return ok ? depth : NAN; /* out of memory: no number would be true */
}

ds_ray_hit ds_state_ray_cast(const ds_scene *scene, const ds_state *state, ds_vec3 origin, ds_vec3 direction,
                             double max_distance) {
  ds_ray_hit hit = {0};
  double length = v3_norm(direction);
  if (!(length > 0) || !isfinite(length) || !v3_finite(origin)) return hit;
  ds_vec3 dir = v3_scale(1 / length, direction);
  double nearest = max_distance;
  for (int32_t i = 0; i < scene->body_count; i++) {
    const ds_body *body = &scene->bodies[i];
    ds_pose pose = ds_principal_pose(&state->bodies[i]);
    for (int32_t j = 0; j < body->shape_count; j++) {
      const ds_shape *shape = &body->shapes[j];
      ds_pose placed = pose_mul(pose, shape->pose);
      ds_vec3 r = v3_sub(placed.p, origin), normal;
      if (v3_norm(v3_mad(r, -v3_dot(r, dir), dir)) > shape->bounding_radius * (1 + 1e-9)) continue;
      double t = ds_shape_ray(&normal, shape, placed, origin, dir, nearest);
      if (t < 0 || (hit.body.index1 && t >= nearest)) continue;
      nearest = t;
      hit = (ds_ray_hit){ds_id(i), t, v3_mad(origin, t, dir), normal};
    }
  }
  return hit;
}
