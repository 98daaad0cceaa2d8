/* A second look, with the velocities that the first one led to; and contacts that only it found, in the next step. */
#include <math.h>

#include "detect/detection.h"

static const double nearby = 0.1;        /* of the smaller radius: a contact stands for others that are nearer */
static const double changed_share = 0.1; /* of the thickness: what an impact moves its points by, from which on a body
                                            is looked at again */

/* ---- what only the second look of the last step found ---- */

static ds_vec3 velocity_at(const ds_body_state *s, ds_vec3 x) { return v3_add(s->v, v3_cross(s->w, v3_sub(x, s->x))); }

/* How far a shape's surface is from a point. */
static double distance_to(const ds_detection *d, int32_t body, int32_t shape, ds_vec3 x) {
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
bool ds_keep_loaded(ds_arena *arena, ds_point_list *list, const ds_detection *d, ds_box_pair pair, double reach,
                    int32_t first) {
  int32_t count, found = list->count;
  const ds_contact *before = ds_contacts_before(&count, d->state, pair);
  const ds_body *a = &d->scene->bodies[pair.a], *b = &d->scene->bodies[pair.b];
  double size = fmin(a->bounding_radius, b->bounding_radius);
  for (int32_t k = 0; k < count; k++) {
    if (!(before[k].feature & DS_FEATURE_AGAIN) || !(v3_dot(before[k].impulse, before[k].normal) > 0)) continue;
    ds_contact_point c = carry(&before[k], d->state);
    int32_t i = (int32_t)(c.feature >> 48 & 0x7fff), j = (int32_t)(c.feature >> 32 & 0xffff);
    double near = 0.5 * fabs(c.gap) + DS_DEEPER * size;
    if (!(c.gap < reach) || i >= a->shape_count || j >= b->shape_count) continue;
    if (distance_to(d, pair.a, i, c.point) > near || distance_to(d, pair.b, j, c.point) > near) continue;
    bool known = false;
    for (int32_t l = first; l < found && !known; l++) known = v3_dist(list->points[l].point, c.point) < nearby * size;
    if (!known && !ds_append_point(arena, list, &c)) return false;
  }
  return true;
}

/* ---- a second look, with the velocities that the first one led to ---- */

static ds_pose pose_after(const ds_body_state *s, double h) {
  return (ds_pose){v3_mad(s->x, h, s->v), quat_unit(quat_mul(quat_exp(v3_scale(h, s->w)), s->q))};
}

/* Where a point of a body at the end of the step is at its start. */
static ds_vec3 back_to_start(const ds_body_state *s, ds_pose after, ds_vec3 x) {
  return pose_point(ds_principal_pose(s), pose_unpoint(after, x));
}

/* Contacts of convex shapes that overlap after the step, with gaps as seen from its start. */
static void overlaps_after(ds_manifold *m, const ds_detection *d, ds_box_pair pair, const ds_shape *a,
                           const ds_shape *b, int32_t per_face) {
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
static void keep_deeper(ds_manifold *m, const ds_detection *d, ds_box_pair pair, double tolerance) {
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

static bool collide_again(ds_arena *arena, ds_point_list *list, const ds_detection *d, ds_manifold *m, ds_box_pair pair,
                          int32_t per_face) {
  const ds_body *a = &d->scene->bodies[pair.a], *b = &d->scene->bodies[pair.b];
  double tolerance = DS_DEEPER * fmin(a->bounding_radius, b->bounding_radius);
  int32_t first = list->count;
  ds_solid_query query = {.slack = tolerance, .per_face = per_face, .after = true};
  query.twist = ds_relative_twist(d, pair.a, pair.b, d->step);
  for (int32_t i = 0; i < a->shape_count && i < 0x8000; i++)
    for (int32_t j = 0; j < b->shape_count; j++) {
      const ds_placed_shape *pa = &d->shapes[d->first_shape[pair.a] + i], *pb = &d->shapes[d->first_shape[pair.b] + j];
      if (a->shapes[i].kind == DS_SHAPE_SOLID || b->shapes[j].kind == DS_SHAPE_SOLID) {
        if (!ds_can_collide(&a->shapes[i]) || !ds_can_collide(&b->shapes[j])) continue;
        if (!ds_narrow_solid(arena, m, &query, &a->shapes[i], pa->pose, &b->shapes[j], pb->pose)) return false;
      } else {
        overlaps_after(m, d, pair, &a->shapes[i], &b->shapes[j], per_face);
      }
      keep_deeper(m, d, pair, tolerance);
      uint64_t shapes = ((uint64_t)i & 0x7fff) << 16 | ((uint64_t)j & 0xffff) | DS_FEATURE_AGAIN >> 32;
      if (!ds_append_points(arena, list, pair.a, pair.b, m, shapes)) return false;
    }
  ds_order_points(list, first);
  return true;
}

/* Whether the points of a body go elsewhere than they were going by a good part of its thickness. */
static bool has_changed(const ds_detection *d, const ds_state *before, int32_t i) {
  const ds_body *body = &d->scene->bodies[i];
  const ds_body_state *s = &d->state->bodies[i], *old = &before->bodies[i];
  double r = body->bounding_radius;
  double change = d->step * (v3_dist(s->v, old->v) + v3_dist(s->w, old->w) * r);
  return body->ops->dynamic && !body->skin && change > changed_share * fmin(body->thickness, r);
}

/* Boxes of whole ways, and which bodies have changed. */
static void mark_changed(ds_detection *d, const ds_state *before) {
  for (int32_t i = 0; i < d->scene->body_count; i++) {
    const ds_body *body = &d->scene->bodies[i];
    const ds_body_state *s = &d->state->bodies[i];
    double r = body->bounding_radius;
    d->moving[i] = has_changed(d, before, i);
    ds_vec3 size = v3(r, r, r), from = s->x, to = v3_mad(s->x, d->step, s->v);
    d->boxes[i] = (ds_box){v3_sub(v3_min(from, to), size), v3_add(v3_max(from, to), size)};
    if (body->skin || ds_body_is_held(body, d->state->time)) d->boxes[i] = (ds_box){{1, 1, 1}, {0, 0, 0}};
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
  ds_detection d = {.scene = scene, .state = &moved, .step = options->step};
  ds_contact_list found;
  ds_box_pair *pairs;
  int32_t pair_count;
  *added = 0;
  bool any = false;
  for (int32_t i = 0; i < scene->body_count && !any; i++) any = has_changed(&d, state, i);
  if (!any) return DS_OK;
  if (!ds_place_shapes(arena, &d, NULL)) return DS_ERROR_MEMORY;
  mark_changed(&d, state);
  if (!ds_body_pairs(arena, &pairs, &pair_count, d.boxes, d.moving, scene)) return DS_ERROR_MEMORY;
  ds_status status = ds_detect_pairs(arena, &found, &d, collide_again, pairs, pair_count, 0, options);
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
