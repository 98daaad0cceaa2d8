/* Treads of caps. A cap with the point p, the normal n and the radii r1, r2 along t1, t2 has the normal m in
 *
 *     x(m) = p + r1 (m.t1) t1 + r2 (m.t2) t2 - (r1 (m.t1)² + r2 (m.t2)²)/(1 + m.n) n,
 *
 * exactly so for balls. It touches where m is opposite to the other shape's normal at x(m).
 *
 * Where neighbouring caps touch differs by little. It is one tread, in their mean by weights that go to zero with the
 * distance from the sample: so it moves without jumps as the body rolls. It keeps its name while the samples nearby
 * change: without that a ball has 0.89 of its speed, because what stands for a contact in the middle of the step, and
 * what its impulse was in the last one, are looked for by name. */
#include "detect/tread.h"

#include "detect/faces.h"

#include <math.h>
#include <string.h>

static const double settled = 1e-9; /* of the spread: how far a tread moves in its last round */
static const double alike = 0.9;    /* cosine of normals of one tread, of what it stands for, and from step to step */
static const double astray = 1.5;   /* of the spread: what has gone farther from its sample is no tread of it */
static const double slow = 0.3;     /* of the first step, after PATIENCE rounds: it does not settle */
enum { ROUNDS = 10, PATIENCE = 2 };

ds_vec3 ds_cap_point(const ds_cap *cap, ds_vec3 m) {
  ds_vec3 t2 = v3_cross(cap->n, cap->t1);
  double u = v3_dot(m, cap->t1), w = v3_dot(m, t2), c = v3_dot(m, cap->n), r1 = 1 / cap->k1, r2 = 1 / cap->k2;
  return v3_add(v3_mad(v3_mad(cap->p, r1 * u, cap->t1), r2 * w, t2),
                v3_scale(-(r1 * u * u + r2 * w * w) / (1 + c), cap->n));
}

/* The distance of x from the quadric of a cap, and its normal: exact for balls. */
static double cap_distance(ds_vec3 *normal, const ds_cap *cap, ds_vec3 x) {
  ds_vec3 t2 = v3_cross(cap->n, cap->t1), d = v3_sub(x, cap->p);
  double u = v3_dot(d, cap->t1), w = v3_dot(d, t2), z = v3_dot(d, cap->n), flat = u * u + w * w;
  double k = flat > 0 ? (cap->k1 * u * u + cap->k2 * w * w) / flat : 0.5 * (cap->k1 + cap->k2); /* of this section */
  double twice = 2 * z + k * (flat + z * z);
  ds_vec3 g = v3_mad(v3_mad(v3_scale(1 + k * z, cap->n), cap->k1 * u, cap->t1), cap->k2 * w, t2);
  *normal = v3_unit(g);
  return twice / (1 + sqrt(fmax(0, 1 + k * twice)));
}

typedef struct blend {
  ds_vec3 x, sum; /* about where; of normals, or points */
  double gap, weight;
} blend;

static double weight_of(const ds_samples *s, int32_t i, ds_vec3 x) {
  double off2 = v3_norm2(v3_sub(s->points[i], x)) / (s->spread * s->spread);
  return off2 < 1 ? (1 - off2) * (1 - off2) : 0;
}

static void add_caps(blend *b, const ds_samples *s, int32_t index) {
  const ds_ball *ball = &s->balls[index];
  double far = ball->radius + s->spread;
  if (v3_norm2(v3_sub(ball->center, b->x)) > far * far) return;
  for (int32_t i = 0; i < ball->child_count; i++) add_caps(b, s, ball->child + i);
  if (ball->child_count > 0) return;
  for (int32_t i = ball->first; i < ball->first + ball->count; i++) {
    double weight = weight_of(s, i, b->x);
    if (!(weight > 0) || !s->caps[i].smooth) continue;
    ds_vec3 n;
    double gap = cap_distance(&n, &s->caps[i], b->x);
    b->sum = v3_mad(b->sum, weight, n);
    b->gap += weight * gap;
    b->weight += weight;
  }
}

double ds_smooth_distance(ds_vec3 *normal, const ds_shape *shape, ds_vec3 x) {
  const ds_samples *s = shape->kind == DS_SHAPE_SOLID ? &shape->solid->samples : NULL;
  blend b = {.x = x};
  if (s && s->caps) add_caps(&b, s, 0);
  if (!(b.weight > 0) || v3_norm(b.sum) < alike * b.weight) return ds_shape_distance(normal, shape, x);
  *normal = v3_unit(b.sum);
  return b.gap / b.weight;
}

/* The mean of where the caps about x (in `to`) have the normal m. */
static void add_points(blend *to, const ds_samples *s, int32_t index, ds_vec3 m) {
  const ds_ball *ball = &s->balls[index];
  double far = ball->radius + s->spread;
  if (v3_norm2(v3_sub(ball->center, to->x)) > far * far) return;
  for (int32_t i = 0; i < ball->child_count; i++) add_points(to, s, ball->child + i, m);
  if (ball->child_count > 0) return;
  for (int32_t i = ball->first; i < ball->first + ball->count; i++) {
    double weight = weight_of(s, i, to->x);
    if (!(weight > 0) || !s->caps[i].bulges || !(v3_dot(m, s->caps[i].n) > 0)) continue;
    to->sum = v3_mad(to->sum, weight, ds_cap_point(&s->caps[i], m));
    to->weight += weight;
  }
}

/* By fixed points with the factor of Aitken: neighbouring shapes as round as the cap make plain steps swing. */
bool ds_tread_find(ds_vec3 *x, ds_vec3 *normal, double *gap, const ds_samples *samples, const ds_shape *other,
                   const ds_mat3 *r, ds_vec3 p) {
  ds_vec3 last = {0, 0, 0}, start = *x;
  double factor = 1, first = 0;
  for (int k = 0; k < ROUNDS; k++) {
    *gap = ds_smooth_distance(normal, other, *x);
    blend b = {.x = mat3_tmul_v3(r, v3_sub(*x, p))};
    add_points(&b, samples, 0, v3_neg(mat3_tmul_v3(r, *normal)));
    if (!(b.weight > 0)) return false;
    ds_vec3 step = v3_sub(v3_add(p, mat3_mul_v3(r, v3_scale(1 / b.weight, b.sum))), *x), change = v3_sub(step, last);
    double length = v3_norm(step);
    if (length < settled * samples->spread) return true;
    if (k == 0) first = length;
    if (k >= PATIENCE && length > slow * first) return false;
    if (k > 0 && v3_norm2(change) > 0) factor = fmax(0.1, fmin(2, -factor * v3_dot(last, change) / v3_norm2(change)));
    *x = v3_mad(*x, factor, step);
    if (v3_dist(*x, start) > astray * samples->spread) return true;
    last = step;
  }
  return false;
}

void ds_tread_add(ds_arena *arena, ds_tread_list *list, const ds_candidate *c, double spread) {
  if (list->count == list->capacity) {
    int32_t capacity = 2 * list->capacity + 8;
    ds_tread *tread = DS_NEW(arena, ds_tread, capacity);
    list->failed |= !tread;
    if (!tread) return;
    if (list->count > 0) memcpy(tread, list->tread, (size_t)list->count * sizeof *tread);
    list->tread = tread, list->capacity = capacity;
  }
  list->tread[list->count++] = (ds_tread){*c, spread};
}

static bool stands_for(const ds_tread *t, const ds_candidate *c) {
  return v3_dist(c->point, t->at.point) < t->spread && v3_dot(c->normal, t->at.normal) > alike;
}

bool ds_tread_is_near(const ds_tread_list *list, const ds_candidate *c) {
  for (int32_t k = 0; k < list->count; k++)
    if (stands_for(&list->tread[k], c)) return true;
  return false;
}

int32_t ds_tread_hold(const ds_tread_list *list, ds_candidate *candidates, int32_t count, double error) {
  int32_t kept = 0;
  for (int32_t i = 0; i < count; i++) {
    bool held = false;
    for (int32_t k = 0; k < list->count && !held; k++)
      held = stands_for(&list->tread[k], &candidates[i]) && candidates[i].gap > list->tread[k].at.gap - error;
    if (!held) candidates[kept++] = candidates[i];
  }
  return kept;
}

/* ---- names ---- */

enum { MOST = 64 }; /* contacts of a pair; of more the treads have the names of their samples */

bool ds_feature_is_tread(uint64_t feature, int side) {
  uint32_t name = (uint32_t)(feature & 0xffffffffu);
  return name >> 30 == (uint32_t)side && (name & DS_FEATURE_TREAD) && !(name & (DS_FEATURE_CORNER | DS_FEATURE_LONE));
}

static bool is_tread(uint64_t feature) { return ds_feature_is_tread(feature, 0) || ds_feature_is_tread(feature, 1); }

/* All but the sample: the shapes, and which of them has the tread. */
static uint64_t family(uint64_t feature) { return feature & ~(uint64_t)0x3fffffffu & ~DS_FEATURE_AGAIN; }

/* Of all contacts of a pair and those of before, the nearest two that are treads of the same shapes, with like normals,
 * and are not taken; false if there are none. */
static bool find_nearest(int32_t *now, int32_t *then, const ds_contact_point *points, int32_t count,
                         const ds_contact *before, int32_t old_count, const bool *named, const bool *used,
                         double within) {
  bool any = false;
  for (int32_t i = 0; i < count; i++)
    for (int32_t k = 0; k < old_count && is_tread(points[i].feature) && !named[i]; k++) {
      if (used[k] || !is_tread(before[k].feature) || family(points[i].feature) != family(before[k].feature)) continue;
      double distance = v3_dist(points[i].point, before[k].point);
      if (!(distance < within) || v3_dot(points[i].normal, before[k].normal) < alike) continue;
      within = distance, *now = i, *then = k, any = true;
    }
  return any;
}

static bool is_taken(const ds_contact_point *points, const bool *named, int32_t count, uint64_t name) {
  for (int32_t i = 0; i < count; i++)
    if (named[i] && points[i].feature == name) return true;
  return false;
}

void ds_tread_keep_names(ds_point_list *list, int32_t first, const ds_detection *d, ds_box_pair pair) {
  bool any = false, named[MOST] = {false}, used[MOST] = {false};
  ds_contact_point *points = list->points + first;
  int32_t count = list->count - first, old_count, now, then;
  if (d->scene->bodies[pair.a].skin || d->scene->bodies[pair.b].skin) return;
  for (int32_t i = 0; i < count && !any; i++) any = is_tread(points[i].feature);
  if (!any) return;
  const ds_contact *before = ds_contacts_before(&old_count, d->state, pair);
  if (count > MOST || old_count > MOST) return;
  double within = ds_smaller_radius(d->scene, pair.a, pair.b);
  while (find_nearest(&now, &then, points, count, before, old_count, named, used, within)) {
    points[now].feature = before[then].feature & ~DS_FEATURE_AGAIN;
    named[now] = used[then] = true;
  }
  for (int32_t i = 0; i < count; i++) { /* a new one takes the next number that is free */
    if (named[i] || !is_tread(points[i].feature)) continue;
    while (is_taken(points, named, count, points[i].feature))
      points[i].feature = family(points[i].feature) | DS_FEATURE_TREAD | ((points[i].feature + 1) & 0x3ffffff);
    named[i] = true;
  }
}
