/* Stops what would pass through something within the step.
 *
 * Contacts are looked for at most a body's own size ahead (detect.c). A body that moves farther in one step, or turns
 * fast, is followed along its way, x + t h v and exp(t h w) q, against whatever its swept box meets, by conservative
 * advancement (Mirtich 1996): from a distance D nothing can touch before D / (speed of the fastest point). Where it
 * comes nearer than a thousandth of its size it is stopped for the rest of the step and keeps its velocity: the next
 * step finds the contact and lets it bounce, stick or break through by its impulses.
 *
 * Where two touch at the start their contacts hold, but only to first order: what turns fast can still turn through.
 * Such pairs are looked at in small steps of the way, and stopped before an overlap of a quarter of the thinner one.
 *
 * Deformable bodies are not stopped, and nothing is stopped by them: their contacts alone hold. */
#include <math.h>

#include "detect/body_pairs.h"
#include "detect/gap.h"
#include "integrate/integrate.h"
#include "joint/articulate.h"

enum { ADVANCES = 200, LOOKS = 64, BISECTIONS = 12 };
static const double touching = 1e-3; /* of the smaller body's radius */
static const double too_deep = 0.25; /* of the thinner body */

typedef struct course {
  ds_pose pose; /* principal frame at the start */
  ds_vec3 move, turn;
  bool fast;
} course;

static ds_pose pose_at(const course *c, double t) {
  return (ds_pose){v3_mad(c->pose.p, t, c->move), quat_unit(quat_mul(quat_exp(v3_scale(t, c->turn)), c->pose.q))};
}

/* Farther than contacts were looked for (detect.c). */
static bool is_fast(const course *c, const ds_body *body) {
  return v3_norm(c->move) + v3_norm(c->turn) * body->bounding_radius > body->bounding_radius;
}

/* The same of two against each other: what moves along with the other is not stopped by it. */
static double relative_way(const ds_body *a, const course *ca, const ds_body *b, const course *cb) {
  double way = v3_dist(ca->move, cb->move) + v3_norm(ca->turn) * a->bounding_radius;
  return isfinite(b->bounding_radius) ? way + v3_norm(cb->turn) * b->bounding_radius : way;
}

static course course_of(const ds_body *body, const ds_body_state *s, const ds_step_body *step, const ds_move *move,
                        double h) {
  course c = {.pose = ds_principal_pose(s)};
  if (body->kind == DS_BODY_STATIC) return c;
  bool moves = step->moves;
  c.move = v3_scale(h, moves ? move->v : step->v);
  c.turn = v3_scale(h, moves ? move->w : step->w);
  if (moves && !body->reduced) c.fast = is_fast(&c, body);
  return c;
}

/* The box of all places of a body on its way. */
static ds_box swept_box(const ds_body *body, const course *c) {
  double r = body->bounding_radius;
  ds_vec3 a = c->pose.p, b = v3_add(a, c->move), size = v3(r, r, r);
  return (ds_box){v3_sub(v3_min(a, b), size), v3_add(v3_max(a, b), size)};
}

/* The share of the step that two bodies which touch can take without turning through each other. */
static double sliding(const ds_body *a, const course *ca, const ds_body *b, const course *cb, double speed) {
  double thin = fmin(a->thickness, b->thickness), looks = ceil(2 * speed / thin);
  if (!isfinite(thin) || !(looks > 1)) return 1;
  int n = looks < LOOKS ? (int)looks : LOOKS;
  double allowed = fmax(0, ds_body_overlap(a, ca->pose, b, cb->pose)) + too_deep * thin;
  for (int i = 1; i <= n; i++) {
    double safe = (double)(i - 1) / n, t = (double)i / n;
    if (ds_body_overlap(a, pose_at(ca, t), b, pose_at(cb, t)) <= allowed) continue;
    for (int k = 0; k < BISECTIONS; k++) { /* some way is always left, or it would never get on */
      double middle = 0.5 * (safe + t);
      if (ds_body_overlap(a, pose_at(ca, middle), b, pose_at(cb, middle)) <= allowed)
        safe = middle;
      else
        t = middle;
    }
    return safe;
  }
  return 1;
}

/* The share of the step after which two bodies touch, or 1. */
static double meeting(const ds_body *a, const course *ca, const ds_body *b, const course *cb) {
  double ra = a->bounding_radius, rb = b->bounding_radius, size = fmin(ra, rb), near = touching * size;
  double speed = isfinite(ra) ? relative_way(a, ca, b, cb) : relative_way(b, cb, a, ca);
  if (!(speed > size)) return 1;
  double t = 0, d = ds_body_gap(a, ca->pose, b, cb->pose, near + speed);
  if (!(d > near)) return sliding(a, ca, b, cb, speed);
  for (int i = 0; i < ADVANCES; i++) {
    t += (d - 0.5 * near) / speed;
    if (!(t < 1)) return 1;
    d = ds_body_gap(a, pose_at(ca, t), b, pose_at(cb, t), near + speed * (1 - t));
    if (!(d > near)) return t;
  }
  return t; /* it creeps along something: safe so far */
}

/* Joined bodies stop together; what that opens between them the next step closes. */
static void stop_linkages(ds_move *moves, const ds_island *island) {
  const ds_articulation *a = island->articulation;
  for (int32_t i = 0; a && i < a->linkage_count; i++) {
    const ds_linkage *l = &a->linkages[i];
    double share = 1;
    for (int32_t k = 0; k < l->body_count; k++) share = fmin(share, moves[island->bodies[l->bodies[k]]].share);
    for (int32_t k = 0; k < l->body_count; k++) moves[island->bodies[l->bodies[k]]].share = share;
  }
}

bool ds_sweep(ds_arena *arena, ds_move *moves, int32_t *stopped, const ds_scene *scene, const ds_state *state,
              const ds_assembly *assembly, double h) {
  int32_t n = scene->body_count;
  *stopped = 0;
  bool any = false;
  course *courses = DS_NEW(arena, course, n + 1);
  if (!courses) return false;
  for (int32_t i = 0; i < n; i++) {
    courses[i] = course_of(&scene->bodies[i], &state->bodies[i], &assembly->bodies[i], &moves[i], h);
    any |= courses[i].fast;
  }
  if (!any) return true;
  ds_box *boxes = DS_NEW(arena, ds_box, n + 1);
  bool *fast = DS_NEW(arena, bool, n + 1);
  ds_box_pair *pairs;
  int32_t pair_count;
  if (!boxes || !fast) return false;
  for (int32_t i = 0; i < n; i++) {
    bool left_out = scene->bodies[i].reduced || ds_body_is_held(&scene->bodies[i], state->time);
    boxes[i] = left_out ? (ds_box){{1, 1, 1}, {0, 0, 0}} : swept_box(&scene->bodies[i], &courses[i]);
    fast[i] = courses[i].fast;
  }
  if (!ds_body_pairs(arena, &pairs, &pair_count, boxes, fast, scene)) return false;
  for (int32_t k = 0; k < pair_count; k++) {
    int32_t a = pairs[k].a, b = pairs[k].b;
    double t = meeting(&scene->bodies[a], &courses[a], &scene->bodies[b], &courses[b]);
    if (fast[a]) moves[a].share = fmin(moves[a].share, t);
    if (fast[b]) moves[b].share = fmin(moves[b].share, t);
  }
  for (int32_t i = 0; i < n; i++) *stopped += fast[i] && moves[i].share < 1;
  for (int32_t i = 0; i < assembly->island_count; i++) stop_linkages(moves, &assembly->islands[i]);
  return true;
}
