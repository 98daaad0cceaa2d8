/* Stops what would overlap something by more than is allowed, or pass through it, within the step.
 *
 * Contacts hold to first order in the velocities, at the points where they were looked for. What turns, and what an
 * impact sends elsewhere, can still end inside another body, or beyond it where that is thin. So every pair that can
 * come nearer within the step by more than half of what an overlap may be is followed along its path (detect/meet.c):
 * x + dx + t h v and exp(t h w) exp(turn) q, from where it has been taken out of overlaps (separate.c) on. Where the
 * overlap would be more than a hundredth of the thinner body's thickness, both bodies stop before for the rest of the
 * step and keep their velocities: the next step finds the contact and lets them bounce, stick or slide by its impulses.
 * What rests is not followed.
 *
 * A body that stops may be in the way of others that expected it to go on: their pairs are looked at again until
 * nothing changes; from the ninth time on the two of a pair stop together, which is always safe.
 *
 * Gravity goes on pulling while a body waits for the rest of the step. That would be energy from nowhere: what falls
 * becomes slower by as much.
 *
 * Scripted bodies go on whatever happens: a body does not wait for one that moves farther than itself, and would run it
 * over. Deformable bodies are not stopped, and nothing is stopped by them: their contacts alone hold. */
#include <math.h>
#include <string.h>

#include "body/kind.h"
#include "detect/body_pairs.h"
#include "detect/meet.h"
#include "integrate/integrate.h"
#include "joint/articulate.h"

enum { PASSES = 8 };

typedef struct sweep {
  const ds_scene *scene;
  const ds_contact_list *contacts;
  ds_course *courses;
  bool *free;           /* it can be stopped */
  bool *changed, *next; /* it was stopped in the last pass, in this one */
} sweep;

static ds_course course_of(const ds_body *body, const ds_body_state *s, const ds_step_body *step, const ds_move *move,
                           double h) {
  ds_vec3 none = v3(0, 0, 0);
  if (body->ops->fixed) return ds_course_of(s, none, none);
  if (!step->moves) return ds_course_of(s, v3_scale(h, step->v), v3_scale(h, step->w));
  ds_course c = ds_course_of(s, v3_scale(h, move->v), v3_scale(h, move->w));
  c.pose = (ds_pose){v3_add(s->x, move->dx), quat_unit(quat_mul(quat_exp(move->turn), s->q))};
  return c;
}

/* When the two of a pair have to stop; 1: they need not. */
static double meeting(const sweep *s, ds_box_pair pair) {
  const ds_body *a = &s->scene->bodies[pair.a], *b = &s->scene->bodies[pair.b];
  const ds_course *ca = &s->courses[pair.a], *cb = &s->courses[pair.b];
  if (!ds_course_matters(a, ca, b, cb)) return 1;
  if (!s->free[pair.a] && v3_norm(ca->move) > v3_norm(cb->move)) return 1;
  if (!s->free[pair.b] && v3_norm(cb->move) > v3_norm(ca->move)) return 1;
  double most = DS_OVERLAP_MOST * fmin(a->thickness, b->thickness) + ds_interfaces_overlap(s->scene, pair.a, pair.b);
  return ds_bodies_meet(a, ca, b, cb, most, ds_deepest_normal(s->contacts, pair));
}

static bool cut(sweep *s, int32_t body, double share) {
  if (!s->free[body] || !(share < s->courses[body].share)) return false;
  s->courses[body].share = share;
  return s->next[body] = true;
}

/* One look at the pairs of which a body was stopped since the last; whether any was stopped now. */
static bool pass(sweep *s, const ds_box_pair *pairs, int32_t pair_count, int number) {
  bool any = false;
  for (int32_t k = 0; k < pair_count; k++) {
    int32_t a = pairs[k].a, b = pairs[k].b;
    if (!s->changed[a] && !s->changed[b]) continue;
    double t = number < PASSES ? meeting(s, pairs[k]) : fmin(s->courses[a].share, s->courses[b].share);
    any |= cut(s, a, t);
    any |= cut(s, b, t);
  }
  bool *last = s->changed;
  s->changed = s->next, s->next = last;
  for (int32_t i = 0; i < s->scene->body_count; i++) s->next[i] = false;
  return any;
}

/* Joined bodies stop together. */
static bool stop_linkages(sweep *s, const ds_assembly *assembly) {
  bool any = false;
  for (int32_t n = 0; n < assembly->island_count; n++) {
    const ds_island *island = &assembly->islands[n];
    const ds_articulation *a = island->articulation;
    for (int32_t i = 0; a && i < a->linkage_count; i++) {
      const ds_linkage *l = &a->linkages[i];
      double share = 1;
      for (int32_t k = 0; k < l->body_count; k++) share = fmin(share, s->courses[island->bodies[l->bodies[k]]].share);
      for (int32_t k = 0; k < l->body_count; k++) any |= cut(s, island->bodies[l->bodies[k]], share);
    }
  }
  for (int32_t i = 0; i < s->scene->body_count; i++) s->changed[i] |= s->next[i], s->next[i] = false;
  return any;
}

/* Joints are closed at the end of the step, not on the way there: a linkage that stops moves with the velocities that
 * close its joints where it stops. False where memory ran out. */
static bool close_stopped(ds_arena *arena, ds_move *moves, const sweep *s, const ds_island *island,
                          const ds_assembly *assembly, const ds_state *state, double h) {
  ds_articulation *a = island->articulation;
  double *w = DS_NEW(arena, double, a->problem.dof + 1), *y = DS_NEW(arena, double, a->y_count + 1);
  double *whole = DS_NEW(arena, double, island->problem.dof + 1);
  if (!w || !y || !whole) return false;
  memcpy(w, a->w, (size_t)a->problem.dof * sizeof(double));
  memcpy(y, a->y, (size_t)a->y_count * sizeof(double));
  bool pulled, done = true;
  for (int32_t i = 0; i < a->linkage_count && done; i++) {
    const ds_linkage *l = &a->linkages[i];
    double share = s->courses[island->bodies[l->bodies[0]]].share;
    if (!(share < 1) || !(share > 0) || l->joint_count == 0) continue;
    done = ds_articulation_close(arena, &pulled, island, assembly, state, share * h);
    ds_articulation_leave(whole, island, a->w, true, true);
    for (int32_t k = 0; k < l->body_count && done; k++) {
      int32_t index = island->bodies[l->bodies[k]];
      ds_vec3 v, turn;
      ds_unscale_velocity(&v, &turn, NULL, &assembly->bodies[index], whole + island->problem.first[l->bodies[k]]);
      moves[index].dx = v3_scale(share * h, v3_sub(v, moves[index].v));
      moves[index].turn = v3_scale(share * h, v3_sub(turn, moves[index].w));
    }
    memcpy(a->w, w, (size_t)a->problem.dof * sizeof(double));
    memcpy(a->y, y, (size_t)a->y_count * sizeof(double));
  }
  return done;
}

/* Takes away what gravity does while a body waits: of a body that touches nothing the velocity, else as much energy as
 * it would have done work on the rest of its path. */
static void wait(ds_move *move, const ds_body *body, const ds_step_body *step, ds_vec3 gravity, double share,
                 double h) {
  ds_vec3 w = mat3_tmul_v3(&step->rotation, move->w);
  double fall = v3_dot(move->v, gravity), left = (1 - share) * h;
  move->share = share;
  if (!(fall > 0)) return;
  if (step->island < 0) {
    move->lost = v3_scale(fmin(left, fall / v3_norm2(gravity)), gravity);
    return;
  }
  double motion = 0.5 * (body->mass.mass * v3_norm2(move->v) + v3_dot(w, v3_mul(body->inertia, w)));
  move->keep *= sqrt(fmax(0, 1 - left * body->mass.mass * fall / motion));
}

/* Boxes of what can meet within the step, and whether anything goes so far that it has to be followed. */
static bool open_sweep(sweep *s, ds_box *boxes, bool *fast, const ds_move *moves, const ds_state *state,
                       const ds_assembly *assembly, double h) {
  const ds_scene *scene = s->scene;
  double thinnest = INFINITY;
  bool any = false;
  for (int32_t i = 0; i < scene->body_count; i++) thinnest = fmin(thinnest, scene->bodies[i].thickness);
  for (int32_t i = 0; i < scene->body_count; i++) {
    const ds_body *body = &scene->bodies[i];
    s->courses[i] = course_of(body, &state->bodies[i], &assembly->bodies[i], &moves[i], h);
    s->free[i] = assembly->bodies[i].moves && !body->skin;
    s->changed[i] = true;
    fast[i] = !body->skin && ds_course_is_long(body, &s->courses[i], thinnest);
    any |= fast[i];
  }
  for (int32_t i = 0; any && i < scene->body_count; i++) {
    bool left_out = scene->bodies[i].skin || ds_body_is_held(&scene->bodies[i], state->time);
    boxes[i] = left_out ? (ds_box){{1, 1, 1}, {0, 0, 0}} : ds_course_box(&scene->bodies[i], &s->courses[i]);
  }
  return any;
}

bool ds_sweep(ds_arena *arena, ds_move *moves, int32_t *stopped, const ds_scene *scene, const ds_state *state,
              const ds_assembly *assembly, const ds_contact_list *contacts, double h) {
  int32_t n = scene->body_count, pair_count;
  *stopped = 0;
  sweep s = {.scene = scene, .contacts = contacts};
  s.courses = DS_NEW(arena, ds_course, n + 1);
  s.free = DS_NEW0(arena, bool, n + 1);
  s.changed = DS_NEW0(arena, bool, n + 1);
  s.next = DS_NEW0(arena, bool, n + 1);
  ds_box *boxes = DS_NEW(arena, ds_box, n + 1);
  bool *fast = DS_NEW(arena, bool, n + 1);
  ds_box_pair *pairs;
  if (ds_arena_failed(arena)) return false;
  if (!open_sweep(&s, boxes, fast, moves, state, assembly, h)) return true;
  if (!ds_body_pairs(arena, &pairs, &pair_count, boxes, fast, scene)) return false;
  for (int number = 0; pass(&s, pairs, pair_count, number) || stop_linkages(&s, assembly);) number++;
  for (int32_t i = 0; i < assembly->island_count; i++) {
    const ds_island *island = &assembly->islands[i];
    if (island->articulation && !close_stopped(arena, moves, &s, island, assembly, state, h)) return false;
  }
  for (int32_t i = 0; i < n; i++) {
    if (!(s.courses[i].share < 1)) continue;
    wait(&moves[i], &scene->bodies[i], &assembly->bodies[i], scene->def.gravity, s.courses[i].share, h);
    ++*stopped;
  }
  return true;
}
