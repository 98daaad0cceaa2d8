/* Reduces overlaps by moving bodies. Velocities and momentum do not change.
 *
 * Contact constraints hold for velocities, so that rotating bodies and contacts found too late leave small overlaps. An
 * overlap deeper than 0.05 % of the thinner body's thickness is halved per step: by the smallest displacement d in the
 * metric of mass with
 *     n_k.d_k >= c_k      c_k = (depth - slack)/2 where deeper, else at most as far as slack and gap allow,
 * by projected Gauss-Seidel on the normals alone. An answer that is not quite one is a correction all the same: the
 * rest is left for the next step. (With a fifth per step dominoes at rest were still being lifted, by 2e-8 of their
 * energy; with all at once 1 of 500 plates was pushed deeper than it may be.) Bodies that touch in samples have a slack
 * of four thousandths of the smaller radius. Overlaps of solids with curved surfaces become no deeper at all: only some
 * of the points of such a pair are contacts, and a ring that was lifted at one end and sank at the other, at points not
 * seen, would rock forever.
 *
 * Bodies that overlap when a run starts, or when one of them is released, are held as they are: blocks modelled as
 * convex hulls, or measured ones, overlap though they only touch. Such a pair's slack is that overlap. It is part of
 * the state (ds_contact.held), and shrinks with the overlap.
 *
 * An ear forced between two ears overlaps both: its normals oppose each other, and moving it either way helps nothing.
 * Bodies whose limbs are caught like this draw back from there, each towards its own centre; their single contacts have
 * no say. (A ring tight on a peg is caught around its centre, and left to them.)
 *
 * Deformable bodies are moved and turned as they are: to deform them would store energy out of nothing, step after
 * step. What overlaps itself, and the limbs of deformable bodies, are left to elasticity.
 *
 * Joined bodies are moved in the coordinates that their joints leave free (joint/articulate.h).
 *
 * Moved bodies may rise. The energy that takes is taken from the motion of their island as long as it has as much. What
 * touches nothing fixed is left alone: it is not pressed together, and its angular momentum is its own. */
#include <math.h>
#include <string.h>

#include "integrate/integrate.h"
#include "joint/articulate.h"
#include "mesh/solid.h"

enum { SWEEPS = 50 };
static const double slack_share = 5e-4;   /* of the thinner body's thickness: deeper overlaps are taken away */
static const double sampled_share = 4e-3; /* the same of bodies that touch in samples, of the smaller one's radius */
static const double at_rest = 0.01;       /* of that: so much more is left, or a fifth of ever less would never end */
static const double rate = 0.5;           /* of the rest, per step */
static const double farthest = 0.01;      /* of the smaller body's radius, per step */
static const double limb = 0.3;           /* of a body's radius: what is caught nearer to its centre is no limb of it */
static const double caught = 0.5;         /* |sum depth n| over sum depth, below which normals oppose each other */

typedef struct row {
  const double *g[2]; /* of the normal, or NULL */
  double *d[2];
  int32_t size[2]; /* of both: 6, or the free coordinates of a linkage */
  double want, weight, lambda;
} row;

static double smaller_radius(const ds_scene *scene, const ds_contact_point *c) {
  return fmin(scene->bodies[c->a].bounding_radius, scene->bodies[c->b].bounding_radius);
}

/* Whether only some of the points in which the body touches others are contacts. */
static bool is_sampled(const ds_body *body) {
  for (int32_t i = 0; i < body->shape_count; i++)
    if (body->shapes[i].solid && !body->shapes[i].solid->faces.complete) return true;
  return false;
}

/* How deep two bodies may overlap. */
static double slack_of(const ds_scene *scene, const ds_contact_point *c) {
  const ds_body *a = &scene->bodies[c->a], *b = &scene->bodies[c->b];
  if (a->skin || b->skin || is_sampled(a) || is_sampled(b)) return sampled_share * smaller_radius(scene, c);
  return slack_share * fmin(a->thickness, b->thickness);
}

/* Whether a body was held, and touched nothing, until this step. */
static bool is_new(const ds_state *state, int32_t body) {
  return state->step == 0 || ds_body_is_held(&state->scene->bodies[body], state->time - state->reduced_step);
}

static bool same_pair(const ds_contact_point *x, const ds_contact_point *y) { return x->a == y->a && x->b == y->b; }

/* Both lists are sorted by pairs. */
double *ds_held_overlaps(ds_arena *arena, const ds_contact_list *contacts, const ds_state *state) {
  double *held = DS_NEW(arena, double, contacts->count + 1);
  const ds_contact *old = state->contacts, *end = old + state->contact_count;
  for (int32_t k = 0, next; held && k < contacts->count; k = next) {
    const ds_contact_point *c = &contacts->points[k];
    int32_t a = c->a, b = c->b;
    double deepest = 0, slack = slack_of(state->scene, c);
    for (next = k; next < contacts->count && same_pair(c, &contacts->points[next]); next++)
      if (!ds_feature_is_ahead(contacts->points[next].feature)) deepest = fmax(deepest, -contacts->points[next].gap);
    while (old < end && (ds_index(old->a) < a || (ds_index(old->a) == a && ds_index(old->b) < b))) old++;
    bool known = old < end && ds_index(old->a) == a && ds_index(old->b) == b;
    double before = 0; /* contacts that a step found at its end alone do not have it */
    for (const ds_contact *c = old; c < end && ds_index(c->a) == a && ds_index(c->b) == b; c++)
      before = fmax(before, c->held);
    double overlap = known ? fmin(before, deepest + slack) : is_new(state, a) || is_new(state, b) ? deepest : 0;
    for (int32_t i = k; i < next; i++) held[i] = overlap > slack ? overlap : 0;
  }
  return held;
}

static double along(const row *r) {
  double sum = 0;
  for (int side = 0; side < 2; side++)
    for (int32_t j = 0; r->g[side] && j < r->size[side]; j++) sum += r->g[side][j] * r->d[side][j];
  return sum;
}

/* Along the normal, how fast deformation opens the contact. */
static double opening(const ds_contact_point *c, const ds_move *moves, const ds_assembly *assembly) {
  const ds_step_body *a = &assembly->bodies[c->a], *b = &assembly->bodies[c->b];
  double speed = 0;
  if (a->moves && a->ops->stir) speed += v3_dot(c->normal, a->ops->stir(a, c->on_a, moves[c->a].rate));
  if (b->moves && b->ops->stir) speed -= v3_dot(c->normal, b->ops->stir(b, c->on_b, moves[c->b].rate));
  return speed;
}

/* How far the contact is open after the step, by the points that it was solved for: what rolls is where it is in the
 * middle of the step. */
static double gap_after(const ds_contact_point *c, const ds_move *moves, const ds_state *state,
                        const ds_assembly *assembly, double h) {
  const ds_move *a = &moves[c->a], *b = &moves[c->b];
  ds_vec3 arm_a = c->in_middle[0] ? c->middle[0] : v3_sub(c->point, state->bodies[c->a].x);
  ds_vec3 arm_b = c->in_middle[1] ? c->middle[1] : v3_sub(c->point, state->bodies[c->b].x);
  ds_vec3 va = v3_add(a->v, v3_cross(a->w, arm_a)), vb = v3_add(b->v, v3_cross(b->w, arm_b));
  return c->gap + h * (v3_dot(c->normal, v3_sub(va, vb)) + opening(c, moves, assembly));
}

/* The contacts of one pair of bodies in an island: from `first` to before `end`. */
typedef struct run {
  const ds_island *island;
  const ds_contact_list *contacts;
  int32_t first, end;
} run;

static const ds_contact_point *point_of(const run *r, int32_t k) {
  return &r->contacts->points[r->island->contacts[k]];
}

/* Whether deep contacts of a pair oppose each other, and where: the mean of their points. */
static bool is_caught(ds_vec3 *where, double *deepest, const run *r, double slack) {
  double all = 0;
  ds_vec3 sum = v3(0, 0, 0);
  *where = v3(0, 0, 0);
  *deepest = 0;
  for (int32_t k = r->first; k < r->end; k++) {
    const ds_contact_point *c = point_of(r, k);
    double depth = ds_feature_is_ahead(c->feature) ? 0 : fmax(0, -c->gap);
    sum = v3_mad(sum, depth, c->normal);
    *where = v3_mad(*where, depth, c->point);
    all += depth;
    *deepest = fmax(*deepest, depth);
  }
  *where = v3_scale(1 / fmax(all, 1e-300), *where);
  return *deepest > 2 * slack && v3_norm(sum) < caught * all;
}

/* One row in place of the others: bodies draw back from where they are caught, each towards its own centre. */
static bool free_caught(ds_arena *arena, row *rows, const run *r, const ds_state *state, const ds_assembly *assembly,
                        double held) {
  const ds_contact_point *c = point_of(r, r->first);
  bool swapped = !assembly->bodies[c->a].moves; /* rows have one that moves first */
  const int32_t index[2] = {swapped ? c->b : c->a, swapped ? c->a : c->b};
  double size = smaller_radius(state->scene, c), slack = fmax(slack_of(state->scene, c), held), deepest;
  ds_vec3 where, out = v3(0, 0, 0);
  if (assembly->bodies[c->a].ops->deforms || assembly->bodies[c->b].ops->deforms) return true;
  if (!is_caught(&where, &deepest, r, slack)) return true;
  double *g = DS_NEW0(arena, double, 12);
  if (!g) return false;
  for (int side = 0; side < 2; side++) {
    ds_vec3 back = v3_sub(state->bodies[index[side]].x, where);
    double length = v3_norm(back);
    if (!rows[r->first].g[side] || !(length > limb * state->scene->bodies[index[side]].bounding_radius)) continue;
    out = v3_mad(out, (side == 0 ? 1 : -1) / length, back);
  }
  if (!(v3_norm(out) > 0)) return true;
  out = v3_unit(out);
  row one = {.want = fmin(rate * (deepest - slack), farthest * size)};
  for (int side = 0; side < 2; side++) {
    if (!rows[r->first].g[side]) continue;
    double *to = g + 6 * side, root = assembly->bodies[index[side]].inverse_root_mass * (side == 0 ? 1 : -1);
    to[0] = root * out.x, to[1] = root * out.y, to[2] = root * out.z;
    one.g[side] = to;
    one.d[side] = rows[r->first].d[side];
    one.size[side] = 6;
    one.weight += root * root;
  }
  for (int32_t k = r->first; k < r->end; k++) rows[k].weight = 0;
  rows[r->first] = one;
  return true;
}

static bool free_all_caught(ds_arena *arena, row *rows, const ds_island *island, const ds_state *state,
                            const ds_assembly *assembly, const ds_contact_list *contacts, const double *held) {
  const ds_subproblem *p = &island->problem;
  for (int32_t k = 0, end; k < p->contact_count; k = end) {
    end = ds_subproblem_end_of_pair(p, k);
    run r = {island, contacts, k, end};
    if (end - k > 1 && !free_caught(arena, rows, &r, state, assembly, held[island->contacts[k]])) return false;
  }
  return true;
}

/* The normal's row for a deformable body that keeps its shape, or a held one that is not pulled. NULL if memory ran
 * out. */
static const double *rigid_row(ds_arena *arena, const ds_step_body *body, ds_vec3 x, const ds_contact_point *c,
                               double sign) {
  double *g = DS_NEW(arena, double, 6), m = body->inverse_root_mass;
  if (!g) return NULL;
  ds_vec3 d = v3_scale(sign, c->normal);
  ds_vec3 lever = mat3_tmul_v3(&body->rotation, v3_cross(v3_sub(c->point, x), d));
  lever = v3_mul(body->inverse_root_inertia, lever);
  g[0] = m * d.x, g[1] = m * d.y, g[2] = m * d.z;
  g[3] = lever.x, g[4] = lever.y, g[5] = lever.z;
  return g;
}

/* The rows of one contact. */
static bool fill_row(ds_arena *arena, row *r, double *d, const ds_subproblem *p, int32_t k, const ds_contact_point *c,
                     const ds_state *state, const ds_assembly *assembly) {
  bool swapped = !assembly->bodies[c->a].moves; /* rows have one that moves first */
  for (int side = 0; side < 2; side++) {
    int32_t body = p->body[2 * k + side], index = (side == 0) != swapped ? c->a : c->b;
    if (body < 0 || c->a == c->b) continue;
    const ds_step_body *step = &assembly->bodies[index];
    r->g[side] = p->g + p->jacobian[2 * k + side];
    if (step->ops->deforms || step->hold)
      r->g[side] = rigid_row(arena, step, state->bodies[index].x, c, index == c->a ? 1 : -1);
    if (!r->g[side]) return false;
    r->d[side] = d + 6 * body;
    r->size[side] = 6;
    for (int j = 0; j < 6; j++) r->weight += r->g[side][j] * r->g[side][j];
  }
  return true;
}

/* Whether a joint connects the island with something that does not move. */
static bool is_tied(const ds_articulation *a) {
  for (int32_t i = 0; a && i < a->linkage_count; i++)
    for (int32_t k = 0; k < a->linkages[i].joint_count; k++)
      if (a->linkages[i].joints[k].at[0] < 0 || a->linkages[i].joints[k].at[1] < 0) return true;
  return false;
}

/* Whether the island has a significant overlap, and is held by something that does not move; no memory needs to be
 * asked for if it has none. */
static bool is_deep(row *rows, const ds_island *island, const ds_move *moves, const ds_state *state,
                    const ds_assembly *assembly, const ds_contact_list *contacts, const double *held, double h) {
  const ds_subproblem *p = &island->problem;
  bool deep = false, tied = is_tied(island->articulation);
  for (int32_t k = 0; k < p->contact_count; k++) {
    const ds_contact_point *c = &contacts->points[island->contacts[k]];
    double size = smaller_radius(state->scene, c), least = slack_of(state->scene, c);
    double slack = fmax(least, held[island->contacts[k]]);
    double gap = gap_after(c, moves, state, assembly, h), over = gap + slack;
    double leeway = is_sampled(&state->scene->bodies[c->a]) || is_sampled(&state->scene->bodies[c->b]) ? 0 : slack;
    rows[k] = (row){.want = over < 0 ? fmin(-rate * over, farthest * size) : -fmax(gap + leeway, 0)};
    if (c->a == c->b || ds_feature_is_ahead(c->feature)) continue;
    deep |= over < -at_rest * least && c->gap < 0;
    tied |= p->body[2 * k] < 0 || p->body[2 * k + 1] < 0;
  }
  return deep && tied;
}

static bool fill_rows(ds_arena *arena, row *rows, double *d, const ds_island *island, const ds_state *state,
                      const ds_assembly *assembly, const ds_contact_list *contacts) {
  const ds_subproblem *p = &island->problem;
  for (int32_t k = 0; k < p->contact_count; k++) {
    const ds_contact_point *c = &contacts->points[island->contacts[k]];
    if (!ds_feature_is_ahead(c->feature) && !fill_row(arena, &rows[k], d, p, k, c, state, assembly)) return false;
  }
  return true;
}

static void relax(row *rows, int32_t count) {
  for (int sweep = 0; sweep < SWEEPS; sweep++)
    for (int32_t k = 0; k < count; k++) {
      row *r = &rows[k];
      if (!(r->weight > 0)) continue;
      double next = fmax(0, r->lambda + (r->want - along(r)) / r->weight), change = next - r->lambda;
      if (change == 0) continue;
      r->lambda = next;
      for (int side = 0; side < 2; side++)
        for (int32_t j = 0; r->g[side] && j < r->size[side]; j++) r->d[side][j] += change * r->g[side][j];
    }
}

static bool deforms(const ds_linkage *l) { return l->size != 6 * l->body_count; }

/* Rows in free coordinates. Contacts of deformable bodies in the same island are left alone. */
static void fill_joined(row *rows, double *d, const ds_island *island, const ds_contact_list *contacts) {
  const ds_articulation *a = island->articulation;
  const ds_subproblem *p = &a->problem;
  for (int32_t k = 0; k < p->contact_count; k++) {
    row *r = &rows[a->contact[k]];
    int32_t one = p->body[2 * k], other = p->body[2 * k + 1];
    if (other >= 0 && a->moving[other] < 0) continue; /* a drive */
    if (ds_feature_is_ahead(contacts->points[island->contacts[a->contact[k]]].feature)) continue;
    if (deforms(&a->linkages[a->moving[one]]) || (other >= 0 && deforms(&a->linkages[a->moving[other]]))) continue;
    for (int side = 0; side < 2; side++) {
      int32_t body = p->body[2 * k + side];
      if (body < 0) continue;
      r->g[side] = p->g + p->jacobian[2 * k + side];
      r->d[side] = d + p->first[body];
      r->size[side] = p->size[body];
      for (int32_t j = 0; j < r->size[side]; j++) r->weight += r->g[side][j] * r->g[side][j];
    }
  }
}

/* A body caught between others is not thrown out: no displacement is farther than a share of its own size. */
static double allowed_share(double *far, const ds_body *body, ds_vec3 dx, ds_vec3 turn) {
  double most = 2 * farthest * body->bounding_radius;
  *far = v3_norm(dx) + v3_norm(turn) * body->bounding_radius;
  if (!isfinite(*far)) return 0;
  return *far > most ? most / *far : 1;
}

static double take(ds_move *move, const ds_body *body, const ds_step_body *step, const double *d) {
  ds_vec3 dx = v3_scale(step->inverse_root_mass, v3(d[0], d[1], d[2]));
  ds_vec3 turn = mat3_mul_v3(&step->rotation, v3_mul(step->inverse_root_inertia, v3(d[3], d[4], d[5])));
  double far, share = allowed_share(&far, body, dx, turn);
  move->dx = v3_scale(share, dx);
  move->turn = v3_scale(share, turn);
  return share > 0 ? share * far : 0;
}

/* The least share that any of a linkage's bodies allows of the displacement `whole`. */
static double share_of_linkage(const ds_linkage *l, const ds_island *island, const double *whole, const ds_scene *scene,
                               const ds_assembly *assembly) {
  double share = 1, far;
  for (int32_t k = 0; k < l->body_count; k++) {
    int32_t index = island->bodies[l->bodies[k]];
    ds_vec3 dx, turn;
    ds_unscale_velocity(&dx, &turn, NULL, &assembly->bodies[index], whole + island->problem.first[l->bodies[k]]);
    share = fmin(share, allowed_share(&far, &scene->bodies[index], dx, turn));
  }
  return share;
}

/* From free displacements d to those of bodies: a step with the velocities w + d/h and what joints then need of y
 * (joint/close.c) ends there. */
static bool displace_joined(ds_arena *arena, double *whole, const ds_island *island, const double *d,
                            const ds_state *state, const ds_assembly *assembly, double h) {
  ds_articulation *a = island->articulation;
  double *w = DS_NEW(arena, double, a->problem.dof + 1), *y = DS_NEW(arena, double, a->y_count + 1);
  if (!w || !y) return false;
  memcpy(w, a->w, (size_t)a->problem.dof * sizeof(double));
  memcpy(y, a->y, (size_t)a->y_count * sizeof(double));
  for (int32_t i = 0; i < a->problem.dof; i++) a->w[i] += d[i] / h;
  bool pulled, closed = ds_articulation_close(arena, &pulled, island, assembly, state, h);
  for (int32_t i = 0; i < a->y_count; i++) a->y[i] = h * (a->y[i] - y[i]);
  ds_articulation_leave(whole, island, d, true, false);
  memcpy(a->w, w, (size_t)a->problem.dof * sizeof(double));
  memcpy(a->y, y, (size_t)a->y_count * sizeof(double));
  return closed;
}

/* The same of an island with joints, d in free coordinates: a linkage is moved as a whole. False where memory ran out.
 */
static bool take_joined(ds_arena *arena, ds_move *moves, double *farthest, const ds_island *island, double *d,
                        const ds_state *state, const ds_assembly *assembly, double h) {
  const ds_scene *scene = state->scene;
  const ds_articulation *a = island->articulation;
  double far, *whole = DS_NEW(arena, double, island->problem.dof + 1);
  if (!whole) return false;
  ds_articulation_leave(whole, island, d, false, false);
  for (int32_t i = 0; i < a->linkage_count; i++) {
    const ds_linkage *l = &a->linkages[i];
    double share = share_of_linkage(l, island, whole, scene, assembly);
    if (l->body < 0 || share == 1) continue;
    for (int32_t k = 0; k < a->problem.size[l->body]; k++) {
      double *to = d + a->problem.first[l->body] + k;
      *to = share > 0 ? share * *to : 0;
    }
  }
  if (!displace_joined(arena, whole, island, d, state, assembly, h)) return false;
  for (int32_t k = 0; k < island->problem.body_count; k++) {
    int32_t index = island->bodies[k];
    ds_move *m = &moves[index];
    ds_unscale_velocity(&m->dx, &m->turn, NULL, &assembly->bodies[index], whole + island->problem.first[k]);
    allowed_share(&far, &scene->bodies[index], m->dx, m->turn);
    *farthest = fmax(*farthest, far);
  }
  return true;
}

/* Slows an island down by the energy that its bodies gain in height. */
static void pay_for_height(ds_move *moves, const ds_island *island, const ds_scene *scene,
                           const ds_assembly *assembly) {
  double lift = 0, motion = 0;
  for (int32_t k = 0; k < island->problem.body_count; k++) {
    const ds_body *body = &scene->bodies[island->bodies[k]];
    const ds_step_body *step = &assembly->bodies[island->bodies[k]];
    const ds_move *m = &moves[island->bodies[k]];
    ds_vec3 w = mat3_tmul_v3(&step->rotation, m->w);
    if (step->ops->deforms) return;
    lift -= body->mass.mass * v3_dot(scene->def.gravity, m->dx);
    motion += 0.5 * (body->mass.mass * v3_norm2(m->v) + v3_dot(w, v3_mul(body->inertia, w)));
  }
  if (!(lift > 0) || !(motion > 0)) return;
  double keep = sqrt(fmax(0, 1 - lift / motion));
  for (int32_t k = 0; k < island->problem.body_count; k++) moves[island->bodies[k]].keep = keep;
}

bool ds_separate(ds_arena *arena, ds_move *moves, double *farthest, const ds_state *state, const ds_assembly *assembly,
                 const ds_contact_list *contacts, const double *held, double h) {
  const ds_scene *scene = state->scene;
  *farthest = 0;
  for (int32_t i = 0; i < assembly->island_count; i++) {
    const ds_island *island = &assembly->islands[i];
    const ds_subproblem *p = &island->problem;
    ds_arena_mark mark = ds_arena_get_mark(arena);
    row *rows = DS_NEW(arena, row, p->contact_count + 1);
    double *d = DS_NEW0(arena, double, 6 * (size_t)p->body_count + 1);
    if (!rows || !d) return false;
    bool deep = is_deep(rows, island, moves, state, assembly, contacts, held, h);
    if (deep && island->articulation) {
      double *free = DS_NEW0(arena, double, island->articulation->problem.dof + 1);
      if (!free) return false;
      fill_joined(rows, free, island, contacts);
      relax(rows, p->contact_count);
      if (!take_joined(arena, moves, farthest, island, free, state, assembly, h)) return false;
    } else if (deep) {
      if (!fill_rows(arena, rows, d, island, state, assembly, contacts)) return false;
      if (!free_all_caught(arena, rows, island, state, assembly, contacts, held)) return false;
      relax(rows, p->contact_count);
      for (int32_t b = 0; b < p->body_count; b++) {
        int32_t index = island->bodies[b];
        double far = take(&moves[index], &scene->bodies[index], &assembly->bodies[index], d + 6 * b);
        *farthest = fmax(*farthest, far);
      }
    }
    if (deep) pay_for_height(moves, island, scene, assembly);
    ds_arena_release(arena, mark);
  }
  return true;
}
