/* How long two bodies can follow their courses before they overlap by more than is allowed.
 *
 * Convex shapes, by separating directions over stretches of time. The separation of two convex shapes along a direction
 * N is s(N) = min over a of N.x - max over b of N.x, and their overlap is at most -s(N)/|N| for whichever N. At the
 * ends t0 and t1 of a stretch let n0 and n1 be the unit directions that separate most, and between them N(t) the chord
 * from n0 to n1. For any two points, one of each shape, with y(t) their difference, f(t) = N.y has |f''| <= 2 |n1 - n0|
 * |y'|/dt + |y''|,  |y'| <= |move_a - move_b| + |turn_a| r_a + |turn_b| r_b, |y''| <= |turn_a|² r_a + |turn_b|² r_b,
 * move and turn being the motion over the step and r how far points of the shapes are from the bodies' centres. A
 * function lies no more than |f''| dt²/8 below its chord, and the least of several no more below the chord of the least
 * ones, so that for all t from t0 to t1
 *     s(N(t)) >= min(s(n0), s(n1)) - |n1 - n0| |y'| dt/4 - |y''| dt²/8:
 * two values tell of all that lies between them, whatever the speed. Where that does not do, the stretch is halved. The
 * first one of length 2^-12 that is not clear ends the search. No thickness, speed or rotation escapes: to get to the
 * other side, a body would have to be on both sides at once.
 *
 * Solids have no such directions. Their samples are held against the other's distance, again and again, as soon as they
 * could touch (conservative advancement, Mirtich 1996), or, near each other, as points have moved by a part of the
 * thickness. */
#include "detect/meet.h"

#include "detect/gap.h"

enum { HALVINGS = 12, NODES = 256, LOOKS = 200 };
static const double moving = 0.5;    /* of what an overlap may be: bodies that come less near are not followed */
static const double per_look = 0.25; /* of the thickness: what points of solids move from one look to the next */
static const double leeway = 0.25;   /* of what is allowed: how much deeper an overlap may get that is there already */

/* Two shapes, a and b. */
typedef struct contest {
  const ds_shape *const *shape;
  const ds_course *const *course;
  double arm[2]; /* how far points of the shape are from the centre of its body at most */
  double allowed;
  int nodes; /* looked at so far */
} contest;

/* A time, the direction from b to a that separates most, and how much. */
typedef struct node {
  double t, s;
  ds_vec3 n;
} node;

ds_pose ds_course_at(const ds_course *c, double t) {
  double s = fmin(t, c->share);
  return (ds_pose){v3_mad(c->pose.p, s, c->move), quat_unit(quat_mul(quat_exp(v3_scale(s, c->turn)), c->pose.q))};
}

static bool is_plane(const ds_shape *s) { return s->kind == DS_SHAPE_HALF_SPACE; }

/* How far a placed shape reaches along n. */
static double height(const ds_shape *s, ds_pose pose, ds_vec3 n) {
  if (is_plane(s)) return v3_dot(n, pose.p);
  return v3_dot(n, pose_point(pose, ds_shape_support(s, quat_unrotate(pose.q, n))));
}

static double separation(const contest *c, ds_vec3 n, double t) {
  ds_pose a = pose_mul(ds_course_at(c->course[0], t), c->shape[0]->pose);
  ds_pose b = pose_mul(ds_course_at(c->course[1], t), c->shape[1]->pose);
  return -height(c->shape[0], a, v3_neg(n)) - height(c->shape[1], b, n);
}

static node node_at(contest *c, double t) {
  ds_pose a = pose_mul(ds_course_at(c->course[0], t), c->shape[0]->pose);
  ds_pose b = pose_mul(ds_course_at(c->course[1], t), c->shape[1]->pose);
  node x = {.t = t, .n = v3(0, 0, 1)};
  c->nodes++;
  x.s = ds_shape_apart(&x.n, c->shape[0], a, c->shape[1], b);
  return x;
}

/* Whether the shapes are as far apart as they have to be between two times of a stretch in which no body stops. */
static bool is_clear(const contest *c, const node *x, const node *y) {
  double dt = y->t - x->t, speed = 0, bend = 0, turned = v3_dist(x->n, y->n);
  ds_vec3 move = v3(0, 0, 0);
  for (int k = 0; k < 2; k++) {
    const ds_course *course = c->course[k];
    if (!(x->t < course->share)) continue;
    double turn = v3_norm(course->turn);
    move = v3_mad(move, k == 0 ? 1 : -1, course->move);
    speed += turn * c->arm[k];
    bend += turn * turn * c->arm[k];
  }
  speed += v3_norm(move);
  double length = sqrt(fmax(0, 1 - 0.25 * turned * turned)); /* of N, at least */
  double least = fmin(x->s, y->s) - 0.25 * turned * speed * dt - 0.125 * bend * dt * dt;
  return turned < 1 && (least >= 0 || least >= -c->allowed * length);
}

/* The same by one direction alone: near corners the best ones of both ends may have little in common. */
static bool is_clear_along(const contest *c, ds_vec3 n, double t0, double t1) {
  node x = {t0, separation(c, n, t0), n}, y = {t1, separation(c, n, t1), n};
  return is_clear(c, &x, &y);
}

/* The time up to which all is clear, from x to y. */
static double advance(contest *c, const node *x, const node *y, int halvings) {
  if (is_clear(c, x, y) || is_clear_along(c, y->n, x->t, y->t) || is_clear_along(c, x->n, x->t, y->t)) return y->t;
  if (halvings == 0 || c->nodes > NODES || x->s < -c->allowed) return x->t;
  node middle = node_at(c, 0.5 * (x->t + y->t));
  double t = advance(c, x, &middle, halvings - 1);
  return t < middle.t ? t : advance(c, &middle, y, halvings - 1);
}

/* The same between two stops; by one direction where that is enough. */
static double advance_from(contest *c, double t0, double t1, const ds_vec3 *hint) {
  if (hint && is_clear_along(c, *hint, t0, t1)) return t1;
  node x = node_at(c, t0), y = node_at(c, t1);
  return advance(c, &x, &y, HALVINGS);
}

/* From one stop of a body to the next. */
static double advance_all(contest *c, const ds_vec3 *hint) {
  double a = fmin(c->course[0]->share, c->course[1]->share), b = fmax(c->course[0]->share, c->course[1]->share);
  double t = a > 0 ? advance_from(c, 0, a, hint) : 0;
  if (t < a || !(b > a)) return t < a ? t : 1;
  t = advance_from(c, a, b, hint);
  return t < b ? t : 1;
}

static double meet_convex(contest *c, const ds_vec3 *hint) {
  double most = c->allowed, t = advance_all(c, hint);
  if (t > 0) return t;
  c->allowed = fmax(most, leeway * most - node_at(c, 0).s); /* too deep at the start, perhaps */
  c->nodes = 0;
  return c->allowed > most ? advance_all(c, hint) : t;
}

/* How far points of two shapes can come towards each other within the step. */
static double relative_travel(const contest *c) {
  const ds_course *a = c->course[0], *b = c->course[1];
  double travel = v3_dist(v3_scale(a->share, a->move), v3_scale(b->share, b->move));
  if (a->share != b->share) travel = fmax(travel, a->share * v3_norm(a->move) + b->share * v3_norm(b->move));
  if (isfinite(c->arm[0])) travel += a->share * v3_norm(a->turn) * c->arm[0];
  if (isfinite(c->arm[1])) travel += b->share * v3_norm(b->turn) * c->arm[1];
  return travel;
}

/* Least distance of shapes of which one is a solid, by their samples; any number above `enough` where it is more. */
static double gap_at(const contest *c, double t, double enough) {
  ds_pose a = ds_course_at(c->course[0], t), b = ds_course_at(c->course[1], t);
  return ds_samples_gap(c->shape[0], pose_mul(a, c->shape[0]->pose), c->shape[1], pose_mul(b, c->shape[1]->pose),
                        enough);
}

static double meet_solid(const contest *c, double thin) {
  double travel = relative_travel(c), t = 0, gap = gap_at(c, 0, travel), allowed = c->allowed;
  if (gap > travel) return 1;
  allowed = fmax(allowed, leeway * allowed - gap);
  for (int i = 0; i < LOOKS; i++) {
    double safe = t;
    if (!(t < 1)) return 1;
    t = fmin(1, t + fmax(gap + allowed, per_look * thin) / travel);
    gap = gap_at(c, t, travel * (1 - t));
    if (gap >= -allowed) continue;
    for (int k = 0; k < HALVINGS; k++) {
      double middle = 0.5 * (safe + t);
      if (gap_at(c, middle, 0) >= -allowed)
        safe = middle;
      else
        t = middle;
    }
    return safe;
  }
  return t < 1 ? t : 1; /* it creeps along something: safe so far */
}

/* Whether boxes around the shapes stay apart. */
static bool is_far(const contest *c) {
  ds_vec3 low[2], high[2];
  double travel = relative_travel(c);
  for (int k = 0; k < 2; k++)
    ds_shape_bounds(&low[k], &high[k], c->shape[k], pose_mul(c->course[k]->pose, c->shape[k]->pose));
  return low[0].x > high[1].x + travel || low[1].x > high[0].x + travel || low[0].y > high[1].y + travel ||
         low[1].y > high[0].y + travel || low[0].z > high[1].z + travel || low[1].z > high[0].z + travel;
}

/* Of a half-space, what can touch the other. */
static double arm_of(const ds_duel *duel, int k) {
  const ds_shape *s = duel->shape[k];
  if (!is_plane(s)) return v3_norm(s->pose.p) + s->bounding_radius;
  const ds_course *a = duel->course[0], *b = duel->course[1];
  return v3_dist(a->pose.p, b->pose.p) + v3_norm(a->move) + v3_norm(b->move) + arm_of(duel, 1 - k);
}

double ds_shapes_meet(const ds_duel *duel, double most) {
  const ds_shape *x = duel->shape[0], *y = duel->shape[1];
  bool convex_x = ds_shape_is_convex(x) || is_plane(x), convex_y = ds_shape_is_convex(y) || is_plane(y);
  if (x->kind == DS_SHAPE_REDUCED || y->kind == DS_SHAPE_REDUCED || (is_plane(x) && is_plane(y))) return 1;
  contest c = {.shape = duel->shape, .course = duel->course, .allowed = most};
  c.arm[0] = arm_of(duel, 0), c.arm[1] = arm_of(duel, 1);
  if (is_far(&c)) return 1;
  if (!convex_x || !convex_y) return meet_solid(&c, duel->thin);
  return meet_convex(&c, duel->has_hint && !is_plane(x) && !is_plane(y) ? &duel->hint : NULL);
}

double ds_bodies_meet(const ds_body *a, const ds_course *ca, const ds_body *b, const ds_course *cb, double most,
                      const ds_vec3 *hint) {
  double first = 1;
  for (int32_t i = 0; i < a->shape_count; i++)
    for (int32_t j = 0; j < b->shape_count; j++) {
      ds_duel d = {.shape = {&a->shapes[i], &b->shapes[j]}, .course = {ca, cb}, .has_hint = hint != NULL};
      d.thin = fmin(a->thickness, b->thickness);
      if (hint) d.hint = *hint;
      first = fmin(first, ds_shapes_meet(&d, most));
    }
  return first;
}

/* How far points of a body go. */
static double travel_of(const ds_body *body, const ds_course *c) {
  double spin = v3_norm(c->turn);
  return v3_norm(c->move) + (spin > 0 ? spin * body->bounding_radius : 0);
}

bool ds_course_matters(const ds_body *a, const ds_course *ca, const ds_body *b, const ds_course *cb) {
  double apart = v3_dist(ca->pose.p, cb->pose.p) + v3_norm(ca->move) + v3_norm(cb->move);
  double ra = fmin(a->bounding_radius, apart + b->bounding_radius), rb = fmin(b->bounding_radius, apart + ra);
  double travel = v3_dist(ca->move, cb->move) + v3_norm(ca->turn) * ra + v3_norm(cb->turn) * rb;
  return travel > moving * DS_OVERLAP_MOST * fmin(a->thickness, b->thickness);
}

bool ds_course_is_long(const ds_body *body, const ds_course *c, double thin) {
  return travel_of(body, c) > 0.5 * moving * DS_OVERLAP_MOST * thin;
}

ds_box ds_course_box(const ds_body *body, const ds_course *c) {
  ds_box box = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
  double travel = travel_of(body, c);
  for (int32_t i = 0; i < body->shape_count; i++) {
    ds_vec3 low, high;
    ds_shape_bounds(&low, &high, &body->shapes[i], pose_mul(c->pose, body->shapes[i].pose));
    box.low = v3_min(box.low, v3_sub(low, v3(travel, travel, travel)));
    box.high = v3_max(box.high, v3_add(high, v3(travel, travel, travel)));
  }
  return box;
}

const ds_vec3 *ds_deepest_normal(const ds_contact_list *contacts, ds_box_pair pair) {
  int32_t low = 0, high = contacts->count;
  while (low < high) {
    int32_t middle = low + (high - low) / 2;
    const ds_contact_point *c = &contacts->points[middle];
    if (c->a < pair.a || (c->a == pair.a && c->b < pair.b))
      low = middle + 1;
    else
      high = middle;
  }
  const ds_contact_point *deepest = NULL, *c = contacts->points + low, *end = contacts->points + contacts->count;
  for (; c < end && c->a == pair.a && c->b == pair.b; c++)
    if (!deepest || c->gap < deepest->gap) deepest = c;
  return deepest ? &deepest->normal : NULL;
}
