/* A second look, with the velocities that the first one led to; and contacts that only it found, in the next step.
 *
 * Bodies are followed along their path (meet.c). Where convex shapes would overlap too deeply there, the points that
 * touch on it become contacts, with the gaps g that the velocities u found have led from, g = g(t) - t h n.u: a
 * solution with n.u >= -g/h has what rotation and sliding do to them in it. */
#include <math.h>

#include "body/kind.h"
#include "detect/detection.h"
#include "detect/gap.h"
#include "detect/meet.h"
#include "detect/pairs.h"

static const double nearby = 0.1;        /* of the smaller radius: a contact stands for others that are nearer */
static const double plain_share = 0.2;   /* of the thickness: overlaps no deeper have their normals on the right side */
static const double along = 0.97;        /* cosine from which on two normals lead the same way */
static const double as_deep = 0.5;       /* of the deepest overlap: a contact as deep stands for the deepest point */
static const double changed_share = 0.1; /* of the thickness: how far an impact has to move the points of a body until
                                            its samples are looked at again */
#define DEEPEST DS_FEATURE(3, 0x1fffffff)

/* ---- contacts that only the second detection of the last step found ---- */

/* How far a shape's surface is from a point. */
static double distance_to(const ds_detection *d, int32_t body, int32_t shape, ds_vec3 x) {
  const ds_pose pose = d->shapes[d->first_shape[body] + shape].pose;
  return fabs(ds_shape_distance_alone(&d->scene->bodies[body].shapes[shape], pose_unpoint(pose, x)));
}

/* Where a contact that carried load in the last step is now: its point went with both bodies, its normal with b. Its
 * gap is closed: the way of the step led onto the surface, g + h n.u = 0, whatever the velocity at its end is; by that
 * it leaves where it rebounds. By the velocity at the end a gap of 2 nm stayed what it was, and every step moved bodies
 * at rest to close it. */
static ds_contact_point carry(const ds_contact *c, const ds_state *state) {
  double h = state->reduced_step;
  int32_t a = ds_index(c->a), b = ds_index(c->b);
  const ds_body_state *sa = &state->bodies[a], *sb = &state->bodies[b];
  ds_vec3 sum = v3_add(ds_velocity_at(sa, c->point), ds_velocity_at(sb, c->point));
  return (ds_contact_point){.a = a,
                            .b = b,
                            .point = v3_mad(c->point, 0.5 * h, sum),
                            .normal = quat_rotate(quat_exp(v3_scale(h, sb->w)), c->normal),
                            .gap = fmax(0, h * v3_dot(c->normal, c->velocity)),
                            .feature = c->feature,
                            .on_a = {-1, 0, 0},
                            .on_b = {-1, 0, 0}};
}

/* A contact that only the second detection found, and that carries load, is kept while both surfaces are near it and no
 * other contact of the pair represents it: otherwise every step would first be solved without it. */
bool ds_keep_loaded(ds_arena *arena, ds_point_list *list, const ds_detection *d, ds_box_pair pair, double reach,
                    int32_t first) {
  int32_t count, found = list->count;
  const ds_contact *before = ds_contacts_before(&count, d->state, pair);
  const ds_body *a = &d->scene->bodies[pair.a], *b = &d->scene->bodies[pair.b];
  double size = fmin(a->bounding_radius, b->bounding_radius);
  for (int32_t k = 0; k < count; k++) {
    if (!(before[k].feature & DS_FEATURE_AGAIN) || !(v3_dot(before[k].impulse, before[k].normal) > 0)) continue;
    ds_contact_point c = carry(&before[k], d->state);
    int32_t i = ds_feature_shape(c.feature, 0), j = ds_feature_shape(c.feature, 1);
    double near = 0.5 * fabs(c.gap) + DS_DEEPER * size;
    if (!(c.gap < reach) || i >= a->shape_count || j >= b->shape_count) continue;
    if (distance_to(d, pair.a, i, c.point) > near || distance_to(d, pair.b, j, c.point) > near) continue;
    bool known = false;
    for (int32_t l = first; l < found && !known; l++) known = v3_dist(list->points[l].point, c.point) < nearby * size;
    if (!known && !ds_append_point(arena, list, &c)) return false;
  }
  return true;
}

/* ---- the second detection ---- */

/* The deepest point, in place of those whose normals lead elsewhere; nothing where a point as deep is there already. */
static void add_deepest(ds_manifold *m, const ds_shape *a, ds_pose pa, const ds_shape *b, ds_pose pb) {
  ds_vec3 n, point;
  double gap = ds_shape_nearest(&n, &point, a, pa, b, pb), deepest = INFINITY;
  int32_t kept = 0;
  for (int32_t i = 0; i < m->count; i++) {
    if (v3_dot(m->normal[i], n) < along) continue;
    m->point[kept] = m->point[i], m->normal[kept] = m->normal[i], m->gap[kept] = m->gap[i];
    m->feature[kept++] = m->feature[i];
    deepest = fmin(deepest, m->gap[i]);
  }
  m->count = kept;
  if (deepest > as_deep * gap) ds_emit(m, point, n, gap, DEEPEST);
}

/* Where a point of a body at a time of the step is at its start. */
static ds_vec3 back_to_start(const ds_body_state *s, ds_pose after, ds_vec3 x) {
  return pose_point(ds_principal_pose(s), pose_unpoint(after, x));
}

/* Contacts of convex shapes at a time t of the step, with gaps as seen from its start: the solution is linear in them,
 * and where they overlap at t although no contact of the start says so, these do. Gaps count from an overlap of
 * `before`. */
static void contacts_at(ds_manifold *m, const ds_detection *d, ds_box_pair pair, const ds_duel *duel, double t,
                        double before, int32_t per_face) {
  const ds_body_state *sa = &d->state->bodies[pair.a], *sb = &d->state->bodies[pair.b];
  const ds_shape *a = duel->shape[0], *b = duel->shape[1];
  ds_pose pa = ds_course_at(duel->course[0], t), pb = ds_course_at(duel->course[1], t);
  ds_narrow(m, a, pose_mul(pa, a->pose), b, pose_mul(pb, b->pose), 0, per_face);
  add_deepest(m, a, pose_mul(pa, a->pose), b, pose_mul(pb, b->pose));
  for (int32_t i = 0; i < m->count; i++) {
    ds_vec3 x = v3_add(back_to_start(sa, pa, m->point[i]), back_to_start(sb, pb, m->point[i]));
    m->point[i] = v3_scale(0.5, x);
    ds_vec3 u = v3_sub(ds_velocity_at(sa, m->point[i]), ds_velocity_at(sb, m->point[i]));
    m->gap[i] += before - t * d->step * v3_dot(m->normal[i], u);
  }
}

/* The direction from b to a in which the shapes overlap least at a time of the step. */
static ds_vec3 way_out(const ds_duel *duel, double t) {
  ds_vec3 n;
  const ds_shape *a = duel->shape[0], *b = duel->shape[1];
  ds_shape_apart(&n, a, pose_mul(ds_course_at(duel->course[0], t), a->pose), b,
                 pose_mul(ds_course_at(duel->course[1], t), b->pose));
  return n;
}

/* Contacts of convex shapes that overlap too deeply on their path. They are looked for where the overlap is still so
 * shallow that it is plain which way is out: a thin body that has been passed by half pushes to the wrong side. */
static void overlaps_ahead(ds_manifold *m, const ds_detection *d, ds_box_pair pair, const ds_duel *duel,
                           int32_t per_face) {
  double before = ds_interfaces_overlap(d->scene, pair.a, pair.b);
  double first = ds_shapes_meet(duel, DS_OVERLAP_MOST * duel->thin + before), t = first;
  m->count = 0;
  if (!(first < 1)) return;
  ds_vec3 n = way_out(duel, first);
  for (double share = plain_share; share > DS_OVERLAP_MOST; share *= 0.25) {
    t = ds_shapes_meet(duel, share * duel->thin + before);
    if (v3_dot(way_out(duel, t), n) > along) break;
  }
  contacts_at(m, d, pair, duel, t, before, per_face);
}

/* Of a manifold, what gets deeper within the step. */
static void keep_deeper(ds_manifold *m, const ds_detection *d, ds_box_pair pair, double tolerance) {
  const ds_body_state *sa = &d->state->bodies[pair.a], *sb = &d->state->bodies[pair.b];
  int32_t kept = 0;
  for (int32_t i = 0; i < m->count; i++) {
    ds_vec3 u = v3_sub(ds_velocity_at(sa, m->point[i]), ds_velocity_at(sb, m->point[i]));
    double after = m->gap[i] + d->step * v3_dot(m->normal[i], u);
    if (!(after < fmin(m->gap[i], 0) - 0.5 * tolerance)) continue;
    m->point[kept] = m->point[i], m->normal[kept] = m->normal[i], m->gap[kept] = m->gap[i];
    m->on_a[kept] = m->on_a[i], m->on_b[kept] = m->on_b[i];
    m->feature[kept++] = m->feature[i];
  }
  m->count = kept;
}

static ds_course course_of(const ds_body *body, const ds_body_state *s, double h) {
  double moves = body->ops->fixed ? 0 : h;
  return ds_course_of(s, v3_scale(moves, s->v), v3_scale(moves, s->w));
}

/* Whether an impact sends the points of a body elsewhere by a good part of its thickness. */
static bool has_changed(const ds_detection *d, int32_t i) {
  const ds_body *body = &d->scene->bodies[i];
  const ds_body_state *s = &d->state->bodies[i], *old = &d->before->bodies[i];
  double r = body->bounding_radius, change = d->step * (v3_dist(s->v, old->v) + v3_dist(s->w, old->w) * r);
  return body->ops->dynamic && change > changed_share * fmin(body->thickness, r);
}

static bool collide_again(ds_arena *arena, ds_point_list *list, const ds_detection *d, ds_manifold *m, ds_box_pair pair,
                          int32_t per_face) {
  const ds_body *a = &d->scene->bodies[pair.a], *b = &d->scene->bodies[pair.b];
  const ds_body_state *sa = &d->state->bodies[pair.a], *sb = &d->state->bodies[pair.b];
  double tolerance = DS_DEEPER * fmin(a->bounding_radius, b->bounding_radius), h = d->step;
  int32_t first = list->count;
  ds_course ca = course_of(a, sa, h), cb = course_of(b, sb, h);
  if (!ds_course_matters(a, &ca, b, &cb)) return true;
  const ds_vec3 *hint = ds_deepest_normal(d->found, pair);
  bool changed = has_changed(d, pair.a) || has_changed(d, pair.b);
  ds_solid_query query = {.slack = tolerance, .per_face = per_face, .after = true};
  query.twist = ds_relative_twist(d, pair.a, pair.b, d->step);
  for (int32_t i = 0; i < a->shape_count && i < 0x8000; i++)
    for (int32_t j = 0; j < b->shape_count; j++) {
      const ds_placed_shape *pa = &d->shapes[d->first_shape[pair.a] + i], *pb = &d->shapes[d->first_shape[pair.b] + j];
      if (a->shapes[i].kind == DS_SHAPE_SOLID || b->shapes[j].kind == DS_SHAPE_SOLID) {
        if (!changed || !ds_can_collide(&a->shapes[i]) || !ds_can_collide(&b->shapes[j])) continue;
        if (!ds_narrow_solid(arena, m, &query, &a->shapes[i], pa->pose, &b->shapes[j], pb->pose)) return false;
        keep_deeper(m, d, pair, tolerance);
        for (int32_t k = 0; k < m->count; k++) m->gap[k] = fmax(m->gap[k], 0); /* it is one that they have: closed */
      } else {
        ds_duel duel = {.shape = {&a->shapes[i], &b->shapes[j]}, .course = {&ca, &cb}, .has_hint = hint != NULL};
        duel.thin = fmin(a->thickness, b->thickness);
        if (hint) duel.hint = *hint;
        overlaps_ahead(m, d, pair, &duel, per_face);
      }
      uint64_t shapes = ((uint64_t)i & 0x7fff) << 16 | ((uint64_t)j & 0xffff) | DS_FEATURE_AGAIN >> 32;
      if (!ds_append_points(arena, list, pair.a, pair.b, m, shapes)) return false;
    }
  ds_order_points(list, first);
  return true;
}

/* Boxes of whole paths, and which bodies go so far that their contacts may have missed something. */
static bool mark_moving(ds_detection *d) {
  double thinnest = INFINITY;
  bool any = false;
  for (int32_t i = 0; i < d->scene->body_count; i++) thinnest = fmin(thinnest, d->scene->bodies[i].thickness);
  for (int32_t i = 0; i < d->scene->body_count; i++) {
    const ds_body *body = &d->scene->bodies[i];
    ds_course c = course_of(body, &d->state->bodies[i], d->step);
    d->moving[i] = body->ops->dynamic && !body->skin && ds_course_is_long(body, &c, thinnest);
    any |= d->moving[i];
    bool left_out = body->skin || ds_body_is_held(body, d->state->time);
    d->boxes[i] = left_out ? (ds_box){{1, 1, 1}, {0, 0, 0}} : ds_course_box(body, &c);
  }
  return any;
}

static bool comes_before(const ds_contact_point *x, const ds_contact_point *y) {
  if (x->a != y->a) return x->a < y->a;
  if (x->b != y->b) return x->b < y->b;
  return x->feature < y->feature;
}

void ds_relax_ahead(ds_contact_list *contacts) {
  for (int32_t i = 0; i < contacts->count; i++)
    if (ds_feature_is_ahead(contacts->points[i].feature)) contacts->points[i].gap = fmax(0, contacts->points[i].gap);
}

ds_status ds_detect_again(ds_arena *arena, ds_contact_list *contacts, int32_t *added, const ds_scene *scene,
                          const ds_state *state, const ds_body_state *solved, const ds_detect_options *options) {
  ds_state moved = *state;
  moved.bodies = (ds_body_state *)(uintptr_t)solved;
  ds_detection d = {.scene = scene, .state = &moved, .step = options->step, .found = contacts, .before = state};
  ds_contact_list found;
  ds_box_pair *pairs;
  int32_t pair_count;
  *added = 0;
  if (!ds_place_shapes(arena, &d, NULL)) return DS_ERROR_MEMORY;
  if (!mark_moving(&d)) return DS_OK;
  if (!ds_body_pairs(arena, &pairs, &pair_count, d.boxes, d.moving, scene)) return DS_ERROR_MEMORY;
  ds_status status = ds_detect_pairs(arena, &found, &d, collide_again, pairs, pair_count, 0, options);
  if (status != DS_OK || found.count == 0) return status;
  ds_contact_point *all = DS_NEW(arena, ds_contact_point, contacts->count + found.count);
  if (!all) return DS_ERROR_MEMORY;
  int32_t count = 0, i = 0, j = 0;
  while (i < contacts->count || j < found.count) {
    bool old = j == found.count || (i < contacts->count && !comes_before(&found.points[j], &contacts->points[i]));
    if (old && j < found.count && !comes_before(&contacts->points[i], &found.points[j])) { /* as it is now */
      all[count++] = found.points[j++];
      i++;
    } else {
      all[count++] = old ? contacts->points[i++] : found.points[j++];
    }
  }
  *added = found.count;
  *contacts = (ds_contact_list){all, count};
  return DS_OK;
}
