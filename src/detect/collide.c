/* The contacts of one pair of bodies: shape by shape, ordered by feature. */
#include <math.h>
#include <string.h>

#include "detect/detection.h"
#include "detect/tread.h"

/* Whether two placed shapes can be nearer than reach. */
static bool can_touch(const ds_shape *a, const ds_placed_shape *pa, const ds_shape *b, const ds_placed_shape *pb,
                      double reach) {
  if (a->kind == DS_SHAPE_HALF_SPACE || b->kind == DS_SHAPE_HALF_SPACE) {
    bool first = a->kind == DS_SHAPE_HALF_SPACE;
    const ds_placed_shape *plane = first ? pa : pb, *body = first ? pb : pa;
    double height = v3_dot(quat_rotate(plane->pose.q, v3(0, 0, 1)), v3_sub(body->pose.p, plane->pose.p));
    return height < reach + body->radius;
  }
  const ds_box *x = &pa->box, *y = &pb->box;
  return x->low.x <= y->high.x + reach && y->low.x <= x->high.x + reach && x->low.y <= y->high.y + reach &&
         y->low.y <= x->high.y + reach && x->low.z <= y->high.z + reach && y->low.z <= x->high.z + reach;
}

bool ds_make_room(ds_arena *arena, ds_point_list *list, int32_t more) {
  if (list->count + more <= list->capacity) return true;
  int32_t capacity = 2 * list->capacity + more;
  ds_contact_point *points = DS_NEW(arena, ds_contact_point, capacity);
  if (!points) return false;
  if (list->count > 0) memcpy(points, list->points, (size_t)list->count * sizeof *points);
  list->points = points;
  list->capacity = capacity;
  return true;
}

bool ds_append_point(ds_arena *arena, ds_point_list *list, const ds_contact_point *c) {
  if (!ds_make_room(arena, list, 1)) return false;
  list->points[list->count++] = *c;
  return true;
}

bool ds_append_points(ds_arena *arena, ds_point_list *list, int32_t a, int32_t b, const ds_manifold *m,
                      uint64_t shapes) {
  if (!ds_make_room(arena, list, m->count)) return false;
  for (int32_t i = 0; i < m->count; i++)
    list->points[list->count++] = (ds_contact_point){.a = a,
                                                     .b = b,
                                                     .point = m->point[i],
                                                     .normal = m->normal[i],
                                                     .gap = m->gap[i],
                                                     .feature = shapes << 32 | m->feature[i],
                                                     .on_a = m->on_a[i],
                                                     .on_b = m->on_b[i]};
  return true;
}

/* Orders the points from `first` on by feature; of equal features the deeper stays. */
void ds_order_points(ds_point_list *list, int32_t first) {
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

/* The parameters for solids of the pair: `reach` applies whatever moves. */
ds_solid_query ds_pair_query(const ds_detection *d, ds_box_pair pair, double reach, int32_t per_face) {
  if (d->step == 0) return (ds_solid_query){.slack = reach, .reach = reach, .per_face = per_face};
  const ds_motion_ahead *ma = &d->motions[pair.a], *mb = &d->motions[pair.b];
  double margin = fmin(ma->margin, mb->margin), struck = fmax(ma->struck, mb->struck);
  return (ds_solid_query){
      .slack = (isfinite(margin) ? margin : 0) + fmax(ma->fall, mb->fall) + 0.5 * DS_STRAY * struck,
      .relax = DS_STRAY,
      .reach = reach,
      .twist = ds_relative_twist(d, pair.a, pair.b, d->step),
      .per_face = per_face,
  };
}

/* A solid made only to be drawn has no distance field. */
bool ds_can_collide(const ds_shape *shape) { return shape->kind != DS_SHAPE_SOLID || shape->solid->samples.count > 0; }

static int compare_pair(const ds_contact *c, ds_box_pair pair) {
  int32_t a = ds_index(c->a), b = ds_index(c->b);
  if (a != pair.a) return a < pair.a ? -1 : 1;
  return b < pair.b ? -1 : b > pair.b;
}

/* The contacts of a pair in the last step; all are sorted. */
const ds_contact *ds_contacts_before(int32_t *count, const ds_state *state, ds_box_pair pair) {
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
double ds_deepest_before(const ds_state *state, ds_box_pair pair) {
  int32_t count;
  const ds_contact *contacts = ds_contacts_before(&count, state, pair);
  return deepest_of(contacts, count);
}

static uint64_t shape_bits(int32_t i, int32_t j) { return ((uint64_t)i & 0xffff) << 16 | ((uint64_t)j & 0xffff); }

static ds_party party_of(const ds_detection *d, int32_t body, int32_t shape) {
  const ds_shape *s = &d->scene->bodies[body].shapes[shape];
  return (ds_party){s, d->shapes[d->first_shape[body] + shape].pose, d->deformed[body]};
}

static bool narrow_deformable(ds_arena *arena, const ds_detection *d, ds_manifold *m, ds_box_pair pair, int32_t i,
                              int32_t j, const ds_solid_query *query) {
  ds_deformable_query q = {.solid = *query, .deepest = INFINITY, .shapes = shape_bits(i, j)};
  if (d->step > 0) {
    q.has_past = d->state->step > 0;
    q.before = ds_contacts_before(&q.before_count, d->state, pair);
    q.deepest = deepest_of(q.before, q.before_count);
  }
  ds_party a = party_of(d, pair.a, i), b = party_of(d, pair.b, j);
  return pair.a == pair.b ? ds_narrow_self(arena, m, &q, &a) : ds_narrow_deformable(arena, m, &q, &a, &b);
}

bool ds_collide_shapes(ds_arena *arena, ds_point_list *list, const ds_detection *d, ds_manifold *m, ds_box_pair pair,
                       double reach, int32_t per_face) {
  const ds_body *a = &d->scene->bodies[pair.a], *b = &d->scene->bodies[pair.b];
  int32_t first = list->count;
  ds_solid_query query = ds_pair_query(d, pair, reach, per_face);
  for (int32_t i = 0; i < a->shape_count; i++)
    for (int32_t j = 0; j < b->shape_count; j++) {
      const ds_placed_shape *pa = &d->shapes[d->first_shape[pair.a] + i], *pb = &d->shapes[d->first_shape[pair.b] + j];
      if (!can_touch(&a->shapes[i], pa, &b->shapes[j], pb, reach)) continue;
      if (a->skin || b->skin) {
        if (!ds_can_collide(&a->shapes[i]) || !ds_can_collide(&b->shapes[j])) continue;
        if (!narrow_deformable(arena, d, m, pair, i, j, &query)) return false;
      } else if (a->shapes[i].kind == DS_SHAPE_SOLID || b->shapes[j].kind == DS_SHAPE_SOLID) {
        if (!ds_can_collide(&a->shapes[i]) || !ds_can_collide(&b->shapes[j])) continue;
        if (!ds_narrow_solid(arena, m, &query, &a->shapes[i], pa->pose, &b->shapes[j], pb->pose)) return false;
      } else {
        ds_narrow(m, &a->shapes[i], pa->pose, &b->shapes[j], pb->pose, reach, per_face);
      }
      if (!ds_append_points(arena, list, pair.a, pair.b, m, shape_bits(i, j))) return false;
    }
  ds_tread_keep_names(list, first, d, pair);
  ds_order_points(list, first);
  return true;
}

/* Counts gaps of shapes from an overlap on, and leaves out what is beyond reach then. */
static void count_from(ds_point_list *list, int32_t first, double overlap, double reach) {
  int32_t kept = first;
  for (int32_t i = first; i < list->count; i++) {
    list->points[i].gap += overlap;
    if (list->points[i].gap < reach) list->points[kept++] = list->points[i];
  }
  list->count = kept;
}

bool ds_collide(ds_arena *arena, ds_point_list *list, const ds_detection *d, ds_manifold *m, ds_box_pair pair,
                double reach, int32_t per_face) {
  int32_t count, first = list->count;
  const ds_scene_interface *f = ds_scene_interfaces(&count, d->scene, pair.a, pair.b);
  if (count > 0 && ds_interfaces_hold(f, count, d->state))
    return ds_interface_points(arena, list, d->scene, f, count, d->state, reach);
  if (!ds_collide_shapes(arena, list, d, m, pair, reach, per_face)) return false;
  if (count > 0 && f->overlap > 0) count_from(list, first, f->overlap, reach);
  return true;
}
