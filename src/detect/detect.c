/* Stage 1, detect: contacts of a whole state, and the queries that need only detection.
 *
 * Every body's box is grown by how far it can come within the step: 2 (h |v| + min(h |w|, 2) R) + h² |g| + margin;
 * twice its present motion, because an impact turns a fall into a spin within the same step; but no farther than its
 * own size: what moves faster is stopped on its way (integrate/sweep.c), or far away things would act as walls. Pairs
 * of overlapping boxes (broad.c) are tested shape by shape with the pair's own reach, from its relative motion; bodies
 * that are deformed enough to touch themselves are pairs of their own. Pairs
 * come sorted from the broad phase, and points are sorted within a pair, so the list is ordered and unique: whole runs
 * of pairs are shared out to threads and put together in their order. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "detect/body_pairs.h"
#include "detect/deformable.h"
#include "detect/detect.h"
#include "detect/solid.h"

typedef struct motion {
  ds_vec3 move;  /* h v */
  double spin;   /* how far its points can come by turning, min(h |w|, 2) R, and deforming; 0 if it has no bounds */
  double turn;   /* min(h |w|, 2), for bodies without bounds */
  double stir;   /* how far its points come by deforming at most */
  double fall;   /* h² |g| of a dynamic body */
  double struck; /* how far it may be thrown by what strikes it within the step */
  double margin; /* infinite for bodies without bounds */
} motion;

typedef struct placed_shape {
  ds_pose pose;
  ds_box box;
  double radius; /* about the pose: of a deformable's as it is now */
} placed_shape;

typedef struct detection {
  const ds_scene *scene;
  const ds_state *state;
  motion *motions;
  ds_box *boxes;
  bool *moving;
  placed_shape *shapes;
  int32_t *first_shape;
  double step; /* 0 where nothing moves */
  bool solids; /* some shape is one: its pairs cost much more than others */
  bool deformables;
  bool again;             /* the last step had contacts that only its second look found */
  ds_deformed **deformed; /* a body each: its surface, where it is in a pair; NULL where there are no deformables */
} detection;

static const double margin_share = 1e-3, margin_limit = 1e-3; /* of the bounding radius; m */
static const double farthest = 2;                             /* reach by motion at most, over the bounding radius */
static const double relax = 0.1;   /* share of its way by which a point of a solid may stray from it */
static const double deeper = 2e-3; /* of the smaller radius: what gets deeper by more was overlooked */
static const double nearby = 0.1;  /* of the smaller radius: a contact stands for others that are nearer */
/* pairs of a run; and from which on threads pay */
enum { RUN = 16, RUN_DEFORMABLE = 2, PAIRS_TO_SHARE = 1000, SOLIDS_TO_SHARE = 64, DEFORMABLES_TO_SHARE = 4 };

/* Reduced coordinates of a deformable body, and their rates. */
static const double *coordinates(const ds_state *state, const ds_body *body) {
  return body->reduced ? state->reduced + body->first_reduced : NULL;
}
static const double *rates(const ds_state *state, const ds_body *body) {
  return body->reduced ? state->reduced_rate + body->first_reduced : NULL;
}

/* `radius` is that of the body as it is now. */
static motion motion_of(const ds_scene *scene, const ds_body *body, const ds_state *state, const ds_body_state *s,
                        double radius, const ds_detect_options *options) {
  motion m = {0};
  bool bounded = isfinite(body->bounding_radius);
  if (body->kind != DS_BODY_STATIC) {
    double h = options->step;
    m.turn = fmin(h * v3_norm(s->w), 2);
    m.move = v3_scale(h, s->v);
    if (bounded) m.spin = m.turn * radius;
    if (body->reduced) m.stir = h * ds_reduced_stir(body->reduced, rates(state, body));
    m.spin += m.stir;
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
    double radius = body->bounding_radius;
    d->first_shape[i] = k;
    d->moving[i] = body->kind == DS_BODY_DYNAMIC;
    for (int32_t j = 0; j < body->shape_count; j++, k++) {
      placed_shape *s = &d->shapes[k];
      s->pose = pose_mul(pose, body->shapes[j].pose);
      s->radius = body->shapes[j].bounding_radius;
      d->solids |= body->shapes[j].kind == DS_SHAPE_SOLID;
      if (body->reduced) {
        const double *q = coordinates(d->state, body);
        radius = s->radius = ds_reduced_bounds(&s->box.low, &s->box.high, body->reduced, q, s->pose);
        d->deformables = true;
      } else {
        ds_shape_bounds(&s->box.low, &s->box.high, &body->shapes[j], s->pose);
      }
      box.low = v3_min(box.low, s->box.low);
      box.high = v3_max(box.high, s->box.high);
    }
    if (ds_body_is_held(body, d->state->time)) box = (ds_box){{1, 1, 1}, {0, 0, 0}};
    if (options) {
      d->motions[i] = motion_of(scene, body, d->state, &d->state->bodies[i], radius, options);
      const motion *m = &d->motions[i];
      double way = fmin(2 * (v3_norm(m->move) + m->spin), farthest * body->bounding_radius);
      double grow = way + m->fall + (isfinite(m->margin) ? m->margin : 0);
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
  return fmin(2 * way, farthest * fmin(d->scene->bodies[a].bounding_radius, d->scene->bodies[b].bounding_radius));
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
    return height < reach + body->radius;
  }
  const ds_box *x = &pa->box, *y = &pb->box;
  return x->low.x <= y->high.x + reach && y->low.x <= x->high.x + reach && x->low.y <= y->high.y + reach &&
         y->low.y <= x->high.y + reach && x->low.z <= y->high.z + reach && y->low.z <= x->high.z + reach;
}

typedef struct point_list {
  ds_contact_point *points;
  int32_t count, capacity;
} point_list;

static bool make_room(ds_arena *arena, point_list *list, int32_t more) {
  if (list->count + more <= list->capacity) return true;
  int32_t capacity = 2 * list->capacity + more;
  ds_contact_point *points = DS_NEW(arena, ds_contact_point, capacity);
  if (!points) return false;
  if (list->count > 0) memcpy(points, list->points, (size_t)list->count * sizeof *points);
  list->points = points;
  list->capacity = capacity;
  return true;
}

static bool append_point(ds_arena *arena, point_list *list, const ds_contact_point *c) {
  if (!make_room(arena, list, 1)) return false;
  list->points[list->count++] = *c;
  return true;
}

static bool append(ds_arena *arena, point_list *list, int32_t a, int32_t b, const ds_manifold *m, uint64_t shapes) {
  if (!make_room(arena, list, m->count)) return false;
  for (int32_t i = 0; i < m->count; i++)
    list->points[list->count++] = (ds_contact_point){
        a, b, m->point[i], m->normal[i], m->gap[i], shapes << 32 | m->feature[i], m->on_a[i], m->on_b[i], 0, 0};
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

/* Motion of body a against body b within the step. */
static ds_twist relative_twist(const detection *d, int32_t a, int32_t b, double h) {
  const ds_body_state *sa = &d->state->bodies[a], *sb = &d->state->bodies[b];
  bool moves_a = d->scene->bodies[a].kind != DS_BODY_STATIC, moves_b = d->scene->bodies[b].kind != DS_BODY_STATIC;
  ds_vec3 zero = {0, 0, 0}, wa = moves_a ? sa->w : zero, wb = moves_b ? sb->w : zero;
  ds_vec3 va = moves_a ? v3_sub(sa->v, v3_cross(wa, sa->x)) : zero;
  ds_vec3 vb = moves_b ? v3_sub(sb->v, v3_cross(wb, sb->x)) : zero;
  return (ds_twist){v3_scale(h, v3_sub(va, vb)), v3_scale(h, v3_sub(wa, wb))};
}

/* What solids of the pair are asked for: `reach` is what is wanted whatever moves. */
static ds_solid_query solid_query(const detection *d, ds_box_pair pair, double reach, int32_t per_face) {
  if (d->step == 0) return (ds_solid_query){.slack = reach, .reach = reach, .per_face = per_face};
  const motion *ma = &d->motions[pair.a], *mb = &d->motions[pair.b];
  double margin = fmin(ma->margin, mb->margin), struck = fmax(ma->struck, mb->struck);
  return (ds_solid_query){
      .slack = (isfinite(margin) ? margin : 0) + fmax(ma->fall, mb->fall) + 0.5 * relax * struck,
      .relax = relax,
      .reach = reach,
      .twist = relative_twist(d, pair.a, pair.b, d->step),
      .per_face = per_face,
  };
}

/* A solid made only to be drawn has no distance field. */
static bool can_collide(const ds_shape *shape) {
  return shape->kind != DS_SHAPE_SOLID || shape->solid->samples.count > 0;
}

static bool deforms(const ds_shape *a, const ds_shape *b) {
  return a->kind == DS_SHAPE_REDUCED || b->kind == DS_SHAPE_REDUCED;
}

static int compare_pair(const ds_contact *c, ds_box_pair pair) {
  int32_t a = ds_index(c->a), b = ds_index(c->b);
  if (a != pair.a) return a < pair.a ? -1 : 1;
  return b < pair.b ? -1 : b > pair.b;
}

/* The contacts of a pair in the last step; all are sorted. */
static const ds_contact *contacts_before(int32_t *count, const ds_state *state, ds_box_pair pair) {
  int32_t low = 0, high = state->contact_count, end;
  while (low < high) {
    int32_t middle = low + (high - low) / 2;
    if (compare_pair(&state->contacts[middle], pair) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  for (end = low; end < state->contact_count && compare_pair(&state->contacts[end], pair) == 0;) end++;
  *count = end - low;
  return state->contacts + low;
}

static double deepest_of(const ds_contact *contacts, int32_t count) {
  double deepest = 0;
  for (int32_t i = 0; i < count; i++) deepest = fmax(deepest, -contacts[i].gap);
  return deepest;
}

/* Their deepest overlap. */
static double deepest_before(const ds_state *state, ds_box_pair pair) {
  int32_t count;
  const ds_contact *contacts = contacts_before(&count, state, pair);
  return deepest_of(contacts, count);
}

static uint64_t shape_bits(int32_t i, int32_t j) { return ((uint64_t)i & 0xffff) << 16 | ((uint64_t)j & 0xffff); }

static ds_party party_of(const detection *d, int32_t body, int32_t shape) {
  const ds_shape *s = &d->scene->bodies[body].shapes[shape];
  return (ds_party){s, d->shapes[d->first_shape[body] + shape].pose, d->deformed[body]};
}

static bool narrow_deformable(ds_arena *arena, const detection *d, ds_manifold *m, ds_box_pair pair, int32_t i,
                              int32_t j, const ds_solid_query *query) {
  ds_deformable_query q = {.solid = *query, .deepest = INFINITY, .shapes = shape_bits(i, j)};
  if (d->step > 0) {
    q.has_past = d->state->step > 0;
    q.before = contacts_before(&q.before_count, d->state, pair);
    q.deepest = deepest_of(q.before, q.before_count);
  }
  ds_party a = party_of(d, pair.a, i), b = party_of(d, pair.b, j);
  return pair.a == pair.b ? ds_narrow_self(arena, m, &q, &a) : ds_narrow_deformable(arena, m, &q, &a, &b);
}

static bool collide(ds_arena *arena, point_list *list, const detection *d, ds_manifold *m, ds_box_pair pair,
                    double reach, int32_t per_face) {
  const ds_body *a = &d->scene->bodies[pair.a], *b = &d->scene->bodies[pair.b];
  int32_t first = list->count;
  ds_solid_query query = solid_query(d, pair, reach, per_face);
  for (int32_t i = 0; i < a->shape_count; i++)
    for (int32_t j = 0; j < b->shape_count; j++) {
      const placed_shape *pa = &d->shapes[d->first_shape[pair.a] + i], *pb = &d->shapes[d->first_shape[pair.b] + j];
      if (!can_touch(&a->shapes[i], pa, &b->shapes[j], pb, reach)) continue;
      if (deforms(&a->shapes[i], &b->shapes[j])) {
        if (!can_collide(&a->shapes[i]) || !can_collide(&b->shapes[j])) continue;
        if (!narrow_deformable(arena, d, m, pair, i, j, &query)) return false;
      } else if (a->shapes[i].kind == DS_SHAPE_SOLID || b->shapes[j].kind == DS_SHAPE_SOLID) {
        if (!can_collide(&a->shapes[i]) || !can_collide(&b->shapes[j])) continue;
        if (!ds_narrow_solid(arena, m, &query, &a->shapes[i], pa->pose, &b->shapes[j], pb->pose)) return false;
      } else {
        ds_narrow(m, &a->shapes[i], pa->pose, &b->shapes[j], pb->pose, reach, per_face);
      }
      if (!append(arena, list, pair.a, pair.b, m, shape_bits(i, j))) return false;
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

typedef bool collide_function(ds_arena *arena, point_list *list, const detection *d, ds_manifold *m, ds_box_pair pair,
                              int32_t per_face);

/* ---- what only the second look of the last step found ---- */

static ds_vec3 velocity_at(const ds_body_state *s, ds_vec3 x) { return v3_add(s->v, v3_cross(s->w, v3_sub(x, s->x))); }

/* How far a shape's surface is from a point. */
static double distance_to(const detection *d, int32_t body, int32_t shape, ds_vec3 x) {
  const ds_pose pose = d->shapes[d->first_shape[body] + shape].pose;
  return fabs(ds_shape_distance_alone(&d->scene->bodies[body].shapes[shape], pose_unpoint(pose, x)));
}

/* Where a contact of the last step is now: its gap has changed as the velocities solved for say, its point went with
 * both bodies, its normal with b. */
static ds_contact_point carry(const ds_contact *c, const ds_state *state) {
  double h = state->reduced_step;
  int32_t a = ds_index(c->a), b = ds_index(c->b);
  const ds_body_state *sa = &state->bodies[a], *sb = &state->bodies[b];
  ds_vec3 way = v3_add(velocity_at(sa, c->point), velocity_at(sb, c->point));
  return (ds_contact_point){.a = a,
                            .b = b,
                            .point = v3_mad(c->point, 0.5 * h, way),
                            .normal = quat_rotate(quat_exp(v3_scale(h, sb->w)), c->normal),
                            .gap = c->gap + h * v3_dot(c->normal, c->velocity),
                            .feature = c->feature,
                            .on_a = {-1, 0, 0},
                            .on_b = {-1, 0, 0}};
}

/* A contact that only the second look found, and that carries, is kept while both surfaces are near it and no other
 * contact of the pair stands for it: else every step would solve without it first. */
static bool keep_loaded(ds_arena *arena, point_list *list, const detection *d, ds_box_pair pair, double reach,
                        int32_t first) {
  int32_t count, found = list->count;
  const ds_contact *before = contacts_before(&count, d->state, pair);
  const ds_body *a = &d->scene->bodies[pair.a], *b = &d->scene->bodies[pair.b];
  double size = fmin(a->bounding_radius, b->bounding_radius);
  for (int32_t k = 0; k < count; k++) {
    if (!(before[k].feature & DS_FEATURE_AGAIN) || !(v3_dot(before[k].impulse, before[k].normal) > 0)) continue;
    ds_contact_point c = carry(&before[k], d->state);
    int32_t i = (int32_t)(c.feature >> 48 & 0x7fff), j = (int32_t)(c.feature >> 32 & 0xffff);
    double near = 0.5 * fabs(c.gap) + deeper * size;
    if (!(c.gap < reach) || i >= a->shape_count || j >= b->shape_count) continue;
    if (distance_to(d, pair.a, i, c.point) > near || distance_to(d, pair.b, j, c.point) > near) continue;
    bool known = false;
    for (int32_t l = first; l < found && !known; l++) known = v3_dist(list->points[l].point, c.point) < nearby * size;
    if (!known && !append_point(arena, list, &c)) return false;
  }
  return true;
}

static bool collide_ahead(ds_arena *arena, point_list *list, const detection *d, ds_manifold *m, ds_box_pair pair,
                          int32_t per_face) {
  int32_t first = list->count;
  double reach = pair_reach(d, pair.a, pair.b);
  if (!collide(arena, list, d, m, pair, reach, per_face)) return false;
  return !d->again || pair.a == pair.b || keep_loaded(arena, list, d, pair, reach, first);
}

/* Pairs in runs, each with a list of its own in the memory of the thread that did it. */
typedef struct detect_job {
  const detection *d;
  collide_function *collide;
  const ds_box_pair *pairs;
  int32_t pair_count, per_face, run; /* run: so many pairs */
  ds_arena *workers;
  ds_manifold *manifolds; /* a thread each */
  point_list *lists;      /* a run each */
  bool *done;
} detect_job;

static void detect_run(void *context, int32_t run, int32_t worker) {
  detect_job *job = context;
  ds_arena *arena = &job->workers[worker];
  const detection *d = job->d;
  point_list *list = &job->lists[run];
  int32_t first = run * job->run, last = first + job->run < job->pair_count ? first + job->run : job->pair_count;
  for (int32_t i = first; i < last; i++)
    if (!job->collide(arena, list, d, &job->manifolds[worker], job->pairs[i], job->per_face)) return;
  job->done[run] = true;
}

static ds_status detect_shared(ds_arena *arena, ds_contact_list *contacts, detect_job *job, ds_pool *pool) {
  int32_t runs = (job->pair_count + job->run - 1) / job->run, count = 0;
  job->lists = DS_NEW0(arena, point_list, runs + 1);
  job->done = DS_NEW0(arena, bool, runs + 1);
  job->manifolds = DS_NEW(arena, ds_manifold, ds_pool_size(pool));
  if (ds_arena_failed(arena)) return DS_ERROR_MEMORY;
  ds_pool_run(pool, runs, detect_run, job);
  for (int32_t i = 0; i < runs; i++) {
    if (!job->done[i]) return DS_ERROR_MEMORY;
    count += job->lists[i].count;
  }
  ds_contact_point *points = DS_NEW(arena, ds_contact_point, count + 1);
  if (!points) return DS_ERROR_MEMORY;
  *contacts = (ds_contact_list){points, count};
  for (int32_t i = 0; i < runs; i++) {
    if (job->lists[i].count > 0) memcpy(points, job->lists[i].points, (size_t)job->lists[i].count * sizeof *points);
    points += job->lists[i].count;
  }
  return DS_OK;
}

static ds_status detect_alone(ds_arena *arena, ds_contact_list *contacts, const detect_job *job, int32_t expected) {
  point_list list = {.capacity = expected + expected / 4 + 256};
  list.points = DS_NEW(arena, ds_contact_point, list.capacity);
  ds_manifold *m = DS_NEW(arena, ds_manifold, 1);
  if (!list.points || !m) return DS_ERROR_MEMORY;
  for (int32_t i = 0; i < job->pair_count; i++)
    if (!job->collide(arena, &list, job->d, m, job->pairs[i], job->per_face)) return DS_ERROR_MEMORY;
  *contacts = (ds_contact_list){list.points, list.count};
  return DS_OK;
}

static ds_status detect_pairs(ds_arena *arena, ds_contact_list *contacts, detect_job *job, int32_t expected,
                              const ds_detect_options *options) {
  int32_t enough = job->d->deformables ? DEFORMABLES_TO_SHARE : job->d->solids ? SOLIDS_TO_SHARE : PAIRS_TO_SHARE;
  job->run = job->d->deformables ? RUN_DEFORMABLE : RUN;
  if (!options->pool || ds_pool_size(options->pool) == 1 || job->pair_count < enough)
    return detect_alone(arena, contacts, job, expected);
  job->workers = options->workers;
  int32_t size = ds_pool_size(options->pool);
  ds_arena_mark *marks = DS_NEW(arena, ds_arena_mark, size);
  if (!marks) return DS_ERROR_MEMORY;
  for (int32_t i = 0; i < size; i++) marks[i] = ds_arena_get_mark(&job->workers[i]);
  ds_status status = detect_shared(arena, contacts, job, options->pool);
  for (int32_t i = 0; i < size; i++) ds_arena_release(&job->workers[i], marks[i]);
  return status;
}

/* Adds bodies that may touch themselves to the pairs, each before its pairs with others. */
static bool add_selves(ds_arena *arena, const detection *d, ds_box_pair **pairs, int32_t *pair_count) {
  int32_t n = d->scene->body_count, count = 0;
  if (!d->deformables) return true;
  ds_box_pair *all = DS_NEW(arena, ds_box_pair, *pair_count + n + 1);
  if (!all) return false;
  for (int32_t i = 0, k = 0; i <= n; i++) {
    while (k < *pair_count && (*pairs)[k].a < i) all[count++] = (*pairs)[k++];
    if (i == n) break;
    const ds_body *body = &d->scene->bodies[i];
    if (!body->reduced || ds_body_is_held(body, d->state->time)) continue;
    if (ds_may_touch_itself(body->reduced, coordinates(d->state, body), d->motions[i].stir))
      all[count++] = (ds_box_pair){i, i};
  }
  *pairs = all;
  *pair_count = count;
  return true;
}

static void fill_surface(void *context, int32_t item, int32_t worker) {
  (void)worker;
  ds_deformed_fill(((ds_deformed **)context)[item]);
}

/* How far a body's points go within the step; `apart` stands for the size of one that has none. */
static double way_of(const detection *d, int32_t i, double apart) {
  const ds_body *body = &d->scene->bodies[i];
  const ds_body_state *s = &d->state->bodies[i];
  if (body->kind == DS_BODY_STATIC) return 0;
  double radius = body->reduced ? d->shapes[d->first_shape[i]].radius : body->bounding_radius;
  return d->step * v3_norm(s->w) * (isfinite(radius) ? radius : apart) + d->motions[i].stir;
}

/* No search of a pair goes farther than this: slack, ways and depth of deformable.c. */
static double want_reach(const detection *d, ds_box_pair pair) {
  const ds_body *a = &d->scene->bodies[pair.a], *b = &d->scene->bodies[pair.b];
  const ds_body_state *sa = &d->state->bodies[pair.a], *sb = &d->state->bodies[pair.b];
  const motion *ma = &d->motions[pair.a], *mb = &d->motions[pair.b];
  double apart = v3_dist(sa->x, sb->x), margin = fmin(ma->margin, mb->margin);
  double way = d->step * v3_dist(sa->v, sb->v) + way_of(d, pair.a, apart) + way_of(d, pair.b, apart);
  double reach = (isfinite(margin) ? margin : 0) + fmax(ma->struck, mb->struck) + fmax(ma->fall, mb->fall);
  double deepest = d->step > 0 ? deepest_before(d->state, pair) : INFINITY, deep = 0;
  if (a->reduced) deep = fmax(deep, ds_search_depth(a->reduced, deepest, way));
  if (b->reduced) deep = fmax(deep, ds_search_depth(b->reduced, deepest, way));
  return reach + 2 * (1 + relax) * way + deep + deeper * fmin(a->bounding_radius, b->bounding_radius);
}

/* The same of a body and itself: only its deformation brings it nearer. */
static double fold_reach(const detection *d, int32_t i) {
  const ds_reduced *reduced = d->scene->bodies[i].reduced;
  const motion *m = &d->motions[i];
  double way = 2 * m->stir;
  double deep = ds_search_depth(reduced, deepest_before(d->state, (ds_box_pair){i, i}), way);
  return (isfinite(m->margin) ? m->margin : 0) + m->struck + m->fall + (1 + relax) * way + deep;
}

/* Marks the patches of a pair's surfaces that may touch. */
static bool want(ds_arena *scratch, const detection *d, ds_box_pair pair) {
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
      if (!can_collide(&body->shapes[i])) continue;
      ds_pose shape = d->shapes[d->first_shape[rigid] + i].pose;
      ds_want_near_shape(a ? a : b, &body->shapes[i], pose_mul(pose_inverse(shape), a ? pa : pb), reach);
    }
  }
  return true;
}

/* The surfaces of deformables that are in some pair, where they may touch. */
static bool deform(ds_arena *arena, detection *d, const ds_box_pair *pairs, int32_t pair_count, ds_pool *pool) {
  int32_t n = d->scene->body_count, count = 0;
  if (!d->deformables) return true;
  d->deformed = DS_NEW0(arena, ds_deformed *, n + 1);
  ds_deformed **all = DS_NEW(arena, ds_deformed *, n + 1);
  if (!d->deformed || !all) return false;
  for (int32_t k = 0; k < 2 * pair_count; k++) {
    int32_t i = k % 2 ? pairs[k / 2].b : pairs[k / 2].a;
    const ds_body *body = &d->scene->bodies[i];
    if (!body->reduced || d->deformed[i]) continue;
    ds_deformed *surface = all[count++] = d->deformed[i] = DS_NEW(arena, ds_deformed, 1);
    const double *q = coordinates(d->state, body), *rate = d->motions[i].stir > 0 ? rates(d->state, body) : NULL;
    if (!surface || !ds_deformed_begin(arena, surface, body->reduced, q, rate, d->step)) return false;
  }
  for (int32_t k = 0; k < pair_count; k++)
    if (!want(arena, d, pairs[k])) return false;
  if (pool && count > 1)
    ds_pool_run(pool, count, fill_surface, all);
  else
    for (int32_t i = 0; i < count; i++) ds_deformed_fill(all[i]);
  return true;
}

ds_status ds_detect(ds_arena *arena, ds_contact_list *contacts, const ds_scene *scene, const ds_state *state,
                    const ds_detect_options *options) {
  *contacts = (ds_contact_list){0};
  detection d = {.scene = scene, .state = state, .step = options->step};
  ds_box_pair *pairs;
  int32_t pair_count;
  for (int32_t i = 0; i < state->contact_count; i++) d.again |= (state->contacts[i].feature & DS_FEATURE_AGAIN) != 0;
  if (!place_shapes(arena, &d, options)) return DS_ERROR_MEMORY;
  if (!ds_body_pairs(arena, &pairs, &pair_count, d.boxes, d.moving, scene)) return DS_ERROR_MEMORY;
  if (pass_on_motion(&d, pairs, pair_count) && !ds_body_pairs(arena, &pairs, &pair_count, d.boxes, d.moving, scene))
    return DS_ERROR_MEMORY;
  if (!add_selves(arena, &d, &pairs, &pair_count)) return DS_ERROR_MEMORY;
  if (!deform(arena, &d, pairs, pair_count, options->pool)) return DS_ERROR_MEMORY;
  detect_job job = {.d = &d, .collide = collide_ahead, .pairs = pairs, .pair_count = pair_count};
  job.per_face = options->contacts_per_face;
  return detect_pairs(arena, contacts, &job, state->contact_count, options);
}

/* ---- a second look, with the velocities that the first one led to ---- */

static const double changed_share = 0.1; /* of the thickness: what an impact moves its points by, from which on a body
                                            is looked at again */

static ds_pose pose_after(const ds_body_state *s, double h) {
  return (ds_pose){v3_mad(s->x, h, s->v), quat_unit(quat_mul(quat_exp(v3_scale(h, s->w)), s->q))};
}

/* Where a point of a body at the end of the step is at its start. */
static ds_vec3 back_to_start(const ds_body_state *s, ds_pose after, ds_vec3 x) {
  return pose_point(ds_principal_pose(s), pose_unpoint(after, x));
}

/* Contacts of convex shapes that overlap after the step, with gaps as seen from its start. */
static void overlaps_after(ds_manifold *m, const detection *d, ds_box_pair pair, const ds_shape *a, const ds_shape *b,
                           int32_t per_face) {
  const ds_body_state *sa = &d->state->bodies[pair.a], *sb = &d->state->bodies[pair.b];
  ds_pose pa = pose_after(sa, d->step), pb = pose_after(sb, d->step);
  ds_narrow(m, a, pose_mul(pa, a->pose), b, pose_mul(pb, b->pose), 0, per_face);
  for (int32_t i = 0; i < m->count; i++) {
    ds_vec3 x = v3_add(back_to_start(sa, pa, m->point[i]), back_to_start(sb, pb, m->point[i]));
    m->point[i] = v3_scale(0.5, x);
    ds_vec3 u = v3_sub(velocity_at(sa, m->point[i]), velocity_at(sb, m->point[i]));
    m->gap[i] -= d->step * v3_dot(m->normal[i], u);
  }
}

/* Of a manifold, what gets deeper within the step. */
static void keep_deeper(ds_manifold *m, const detection *d, ds_box_pair pair, double tolerance) {
  const ds_body_state *sa = &d->state->bodies[pair.a], *sb = &d->state->bodies[pair.b];
  int32_t kept = 0;
  for (int32_t i = 0; i < m->count; i++) {
    ds_vec3 u = v3_sub(velocity_at(sa, m->point[i]), velocity_at(sb, m->point[i]));
    double after = m->gap[i] + d->step * v3_dot(m->normal[i], u);
    if (!(after < fmin(m->gap[i], 0) - 0.5 * tolerance)) continue;
    m->point[kept] = m->point[i], m->normal[kept] = m->normal[i], m->gap[kept] = m->gap[i];
    m->on_a[kept] = m->on_a[i], m->on_b[kept] = m->on_b[i];
    m->feature[kept++] = m->feature[i];
  }
  m->count = kept;
}

static bool collide_again(ds_arena *arena, point_list *list, const detection *d, ds_manifold *m, ds_box_pair pair,
                          int32_t per_face) {
  const ds_body *a = &d->scene->bodies[pair.a], *b = &d->scene->bodies[pair.b];
  double tolerance = deeper * fmin(a->bounding_radius, b->bounding_radius);
  int32_t first = list->count;
  ds_solid_query query = {.slack = tolerance, .per_face = per_face, .after = true};
  query.twist = relative_twist(d, pair.a, pair.b, d->step);
  for (int32_t i = 0; i < a->shape_count && i < 0x8000; i++)
    for (int32_t j = 0; j < b->shape_count; j++) {
      const placed_shape *pa = &d->shapes[d->first_shape[pair.a] + i], *pb = &d->shapes[d->first_shape[pair.b] + j];
      if (a->shapes[i].kind == DS_SHAPE_SOLID || b->shapes[j].kind == DS_SHAPE_SOLID) {
        if (!can_collide(&a->shapes[i]) || !can_collide(&b->shapes[j])) continue;
        if (!ds_narrow_solid(arena, m, &query, &a->shapes[i], pa->pose, &b->shapes[j], pb->pose)) return false;
      } else {
        overlaps_after(m, d, pair, &a->shapes[i], &b->shapes[j], per_face);
      }
      keep_deeper(m, d, pair, tolerance);
      uint64_t shapes = ((uint64_t)i & 0x7fff) << 16 | ((uint64_t)j & 0xffff) | DS_FEATURE_AGAIN >> 32;
      if (!append(arena, list, pair.a, pair.b, m, shapes)) return false;
    }
  order_points(list, first);
  return true;
}

/* Whether the points of a body go elsewhere than they were going by a good part of its thickness. */
static bool has_changed(const detection *d, const ds_state *before, int32_t i) {
  const ds_body *body = &d->scene->bodies[i];
  const ds_body_state *s = &d->state->bodies[i], *old = &before->bodies[i];
  double r = body->bounding_radius;
  double change = d->step * (v3_dist(s->v, old->v) + v3_dist(s->w, old->w) * r);
  return body->kind == DS_BODY_DYNAMIC && !body->reduced && change > changed_share * fmin(body->thickness, r);
}

/* Boxes of whole ways, and which bodies have changed. */
static void mark_changed(detection *d, const ds_state *before) {
  for (int32_t i = 0; i < d->scene->body_count; i++) {
    const ds_body *body = &d->scene->bodies[i];
    const ds_body_state *s = &d->state->bodies[i];
    double r = body->bounding_radius;
    d->moving[i] = has_changed(d, before, i);
    ds_vec3 size = v3(r, r, r), from = s->x, to = v3_mad(s->x, d->step, s->v);
    d->boxes[i] = (ds_box){v3_sub(v3_min(from, to), size), v3_add(v3_max(from, to), size)};
    if (body->reduced || ds_body_is_held(body, d->state->time)) d->boxes[i] = (ds_box){{1, 1, 1}, {0, 0, 0}};
  }
}

static bool comes_before(const ds_contact_point *x, const ds_contact_point *y) {
  if (x->a != y->a) return x->a < y->a;
  if (x->b != y->b) return x->b < y->b;
  return x->feature < y->feature;
}

ds_status ds_detect_again(ds_arena *arena, ds_contact_list *contacts, int32_t *added, const ds_scene *scene,
                          const ds_state *state, const ds_body_state *solved, const ds_detect_options *options) {
  ds_state moved = *state;
  moved.bodies = (ds_body_state *)(uintptr_t)solved;
  detection d = {.scene = scene, .state = &moved, .step = options->step};
  ds_contact_list found;
  ds_box_pair *pairs;
  int32_t pair_count;
  *added = 0;
  bool any = false;
  for (int32_t i = 0; i < scene->body_count && !any; i++) any = has_changed(&d, state, i);
  if (!any) return DS_OK;
  if (!place_shapes(arena, &d, NULL)) return DS_ERROR_MEMORY;
  mark_changed(&d, state);
  if (!ds_body_pairs(arena, &pairs, &pair_count, d.boxes, d.moving, scene)) return DS_ERROR_MEMORY;
  detect_job job = {.d = &d, .collide = collide_again, .pairs = pairs, .pair_count = pair_count};
  job.per_face = options->contacts_per_face;
  ds_status status = detect_pairs(arena, &found, &job, 0, options);
  if (status != DS_OK || found.count == 0) return status;
  ds_contact_point *all = DS_NEW(arena, ds_contact_point, contacts->count + found.count);
  if (!all) return DS_ERROR_MEMORY;
  int32_t count = 0, i = 0, j = 0;
  while (i < contacts->count || j < found.count) {
    bool old = j == found.count || (i < contacts->count && !comes_before(&found.points[j], &contacts->points[i]));
    if (old && j < found.count && !comes_before(&contacts->points[i], &found.points[j])) j++; /* there already */
    all[count++] = old ? contacts->points[i++] : found.points[j++];
  }
  *added = count - contacts->count;
  *contacts = (ds_contact_list){all, count};
  return DS_OK;
}

double ds_state_deepest_overlap(const ds_scene *scene, const ds_state *state, ds_body_id *a, ds_body_id *b) {
  ds_arena arena = {0};
  detection d = {.scene = scene, .state = state};
  ds_box_pair *pairs;
  int32_t pair_count = 0;
  double depth = 0;
  ds_body_id deepest_a = {0}, deepest_b = {0};
  bool ok = place_shapes(&arena, &d, NULL) && ds_body_pairs(&arena, &pairs, &pair_count, d.boxes, d.moving, scene) &&
            deform(&arena, &d, pairs, pair_count, NULL);
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
      double t = -1;
      if (body->reduced) {
        ds_vec3 from = pose_unpoint(placed, origin), along = quat_unrotate(placed.q, dir);
        t = ds_reduced_ray(&normal, body->reduced, coordinates(state, body), from, along, nearest);
        normal = quat_rotate(placed.q, normal);
      } else {
        if (v3_norm(v3_mad(r, -v3_dot(r, dir), dir)) > shape->bounding_radius * (1 + 1e-9)) continue;
        t = ds_shape_ray(&normal, shape, placed, origin, dir, nearest);
      }
      if (t < 0 || (hit.body.index1 && t >= nearest)) continue;
      nearest = t;
      hit = (ds_ray_hit){ds_id(i), t, v3_mad(origin, t, dir), normal};
    }
  }
  return hit;
}
