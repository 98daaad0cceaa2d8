/* What stands keeps its place to the last bit.
 *
 * An island of rigid bodies that all would move less than the solver can tell from rest is not moved, and has no
 * velocity. Otherwise its rounding would be integrated, and come back in the next step as other contact points: corners
 * of faces that lie on each other, with sides that are nearly parallel, move a thousand times as far as the bodies.
 *
 * Deformable bodies and joined ones have velocities at rest. What a step predicts for them is not linear, and what
 * contact and joints take back is: a few 1e-5 rad/s are left over, in every step the same. Without them the next step
 * would be another problem. Their islands rest where a step changes neither places nor velocities, and then keep both:
 * the next step is the same problem to the last bit, and the impulses of this one solve it. */
#include <math.h>
#include <string.h>

#include "body/deformable.h"
#include "integrate/integrate.h"

/* Of the way h² |g| that gravity takes a body in a step from rest: what moves less rests. The forces on it balance to
 * this share of its weight, a tenth of the error up to which an island at rest counts as solved. Rounding alone moves
 * the 366 blocks of a standing vault by up to 2e-10 of that way per step. */
static const double rest_share = 1e-9, rest_of_tolerance = 0.1;

/* The displacement, m, below which bodies of the island rest; negative where it cannot be at rest. */
static double rest_limit(const ds_island *island, const ds_scene *scene, const ds_assembly *assembly, double h) {
  const ds_certificate *c = &island->certificate;
  if (!c->converged) return -1;
  for (int32_t k = 0; k < island->problem.body_count; k++)
    if (assembly->bodies[island->bodies[k]].hold) return -1; /* the hand's spring moves it */
  return fmin(rest_share, rest_of_tolerance * c->tolerance) * h * h * v3_norm(scene->def.gravity);
}

/* Whether the bodies of an island rest with velocities. */
static bool keeps_velocities(const ds_island *island, const ds_assembly *assembly) {
  bool keeps = island->articulation != NULL;
  for (int32_t k = 0; k < island->problem.body_count && !keeps; k++)
    keeps = assembly->bodies[island->bodies[k]].ops->deforms;
  return keeps;
}

static bool moves_less(const ds_move *m, const ds_body *body, double limit, double h) {
  ds_vec3 move = v3_mad(m->dx, h, m->v), turn = v3_mad(m->turn, h, m->w);
  return m->share == 1 && v3_norm(move) + v3_norm(turn) * body->bounding_radius <= limit;
}

void ds_find_rest(ds_move *moves, const ds_scene *scene, const ds_assembly *assembly, double h) {
  for (int32_t i = 0; i < assembly->island_count; i++) {
    const ds_island *island = &assembly->islands[i];
    double limit = rest_limit(island, scene, assembly, h);
    bool rests = limit >= 0 && !keeps_velocities(island, assembly);
    for (int32_t k = 0; k < island->problem.body_count && rests; k++)
      rests = moves_less(&moves[island->bodies[k]], &scene->bodies[island->bodies[k]], limit, h);
    for (int32_t k = 0; k < island->problem.body_count; k++) moves[island->bodies[k]].rests = rests;
  }
}

/* ---- with velocities ---- */

static void *copy_of(ds_arena *arena, const void *data, size_t bytes) {
  void *copy = DS_NEW(arena, char, bytes + 1);
  if (copy && bytes > 0) memcpy(copy, data, bytes);
  return copy;
}

bool ds_keep_rest(ds_arena *arena, ds_state *kept, const ds_state *state, const ds_assembly *assembly) {
  size_t reduced = (size_t)state->scene->reduced_count * sizeof(double);
  bool any = false;
  *kept = *state;
  for (int32_t i = 0; i < assembly->island_count && !any; i++) any = keeps_velocities(&assembly->islands[i], assembly);
  if (!any) return true;
  kept->bodies = copy_of(arena, state->bodies, (size_t)state->body_count * sizeof *state->bodies);
  kept->reduced = copy_of(arena, state->reduced, reduced);
  kept->reduced_rate = copy_of(arena, state->reduced_rate, reduced);
  return !ds_arena_failed(arena);
}

/* |x - y| of coordinates, whose squares are twice energies. */
static double distance(const double *x, const double *y, int32_t count) {
  double sum = 0;
  for (int32_t i = 0; i < count; i++) sum += (x[i] - y[i]) * (x[i] - y[i]);
  return sqrt(sum);
}

/* Whether a body's points have hardly moved, and hardly other velocities than before. */
static bool is_unchanged(const ds_state *state, const ds_state *before, int32_t index, double limit, double h) {
  const ds_body *body = &state->scene->bodies[index];
  const ds_body_state *s = &state->bodies[index], *old = &before->bodies[index];
  double radius = body->bounding_radius, mass = sqrt(body->mass.mass);
  ds_quat dq = {s->q.x - old->q.x, s->q.y - old->q.y, s->q.z - old->q.z, s->q.w - old->q.w};
  double turn = 2 * sqrt(dq.x * dq.x + dq.y * dq.y + dq.z * dq.z + dq.w * dq.w);
  double moved = v3_dist(s->x, old->x) + turn * radius, other = v3_dist(s->v, old->v) + v3_dist(s->w, old->w) * radius;
  int32_t first = body->first_reduced;
  if (body->r > 0) {
    moved += distance(state->reduced + first, before->reduced + first, body->r) / mass;
    other += distance(state->reduced_rate + first, before->reduced_rate + first, body->r) / mass;
  }
  return moved <= limit && h * other <= limit;
}

static void put_back(ds_state *state, const ds_state *kept, int32_t index) {
  const ds_body *body = &state->scene->bodies[index];
  size_t first = (size_t)body->first_reduced, bytes = (size_t)body->r * sizeof(double);
  state->bodies[index] = kept->bodies[index];
  if (bytes == 0) return;
  memcpy(state->reduced + first, kept->reduced + first, bytes);
  memcpy(state->reduced_rate + first, kept->reduced_rate + first, bytes);
}

void ds_restore_rest(ds_state *state, const ds_state *kept, const ds_assembly *assembly, double h) {
  for (int32_t i = 0; i < assembly->island_count; i++) {
    const ds_island *island = &assembly->islands[i];
    double limit = rest_limit(island, state->scene, assembly, h);
    bool rests = limit >= 0 && keeps_velocities(island, assembly);
    for (int32_t k = 0; k < island->problem.body_count && rests; k++)
      rests = is_unchanged(state, kept, island->bodies[k], limit, h);
    for (int32_t k = 0; k < island->problem.body_count && rests; k++) put_back(state, kept, island->bodies[k]);
  }
}
