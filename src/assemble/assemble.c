/* Contact rows and right-hand sides in mass-scaled coordinates.
 *
 * Rows come from the kind of a body (body/kind.h), with the opposite sign for body b. b_N carries what is not the plain
 * constraint [DESIGN 2]: an open gap, -g/h; restitution, -e min(0, u_N(v_t)) [SP08 note 4]; the motion of scripted
 * bodies. */
#include "assemble/assemble.h"

#include <math.h>
#include <string.h>

#include "assemble/hold.h"

static const double LANDS = 0.25; /* of what gravity does in a step: slower approaches do not count */

static int32_t body_of(const ds_contact_point *c, int side) { return side == 0 ? c->a : c->b; }

void ds_scale_velocity(double *out, const ds_step_body *body, ds_vec3 v, ds_vec3 w, const double *rate) {
  ds_vec3 local = mat3_tmul_v3(&body->rotation, w);
  out[0] = v.x / body->inverse_root_mass;
  out[1] = v.y / body->inverse_root_mass;
  out[2] = v.z / body->inverse_root_mass;
  body->ops->scale(out + 3, body, local, rate);
  if (body->hold) ds_hold_scale(out, body->hold);
}

void ds_unscale_velocity(ds_vec3 *v, ds_vec3 *w, double *rate, const ds_step_body *body, const double *in) {
  if (body->hold) {
    memcpy(body->hold->copy, in, (size_t)body->size * sizeof(double));
    ds_hold_unscale(body->hold->copy, body->hold);
    in = body->hold->copy;
  }
  *v = v3_scale(body->inverse_root_mass, v3(in[0], in[1], in[2]));
  *w = mat3_mul_v3(&body->rotation, body->ops->unscale(rate, body, in + 3));
}

void ds_body_velocity(ds_vec3 *v, ds_vec3 *w, double *rate, const ds_assembly *assembly, int32_t body) {
  const ds_step_body *step = &assembly->bodies[body];
  *v = step->v, *w = step->w;
  if (step->rate && rate) memcpy(rate, step->rate, (size_t)(step->size - 6) * sizeof(double));
  if (step->island < 0) return;
  const ds_island *island = &assembly->islands[step->island];
  ds_unscale_velocity(v, w, rate, step, island->v + island->problem.first[step->local]);
}

void ds_set_turn(ds_step_body *body, ds_vec3 v, ds_vec3 w, double h) {
  body->displacement = v3_scale(h, v);
  body->turn = v3_scale(h, w);
  double half = fmin(0.5 * v3_norm(body->turn), DS_HALF_TURN); /* as in predict/rigid.c */
  body->stretch = half > 0 ? tan(half) / half : 1;
}

/* Whether something lands in the island within the step, faster than gravity alone would bring it. */
static bool something_lands(const ds_island *island, const ds_assembly *assembly, const ds_contact_list *contacts,
                            const ds_scene *scene, const ds_state *state, double h) {
  for (int32_t k = 0; k < island->problem.contact_count; k++) {
    const ds_contact_point *c = &contacts->points[island->contacts[k]];
    if (!ds_contact_is_open(c, scene)) continue;
    ds_vec3 v[2];
    for (int side = 0; side < 2; side++) {
      const ds_step_body *body = &assembly->bodies[body_of(c, side)];
      ds_body_state s = state->bodies[body_of(c, side)];
      if (!body->moves) s.v = body->v, s.w = body->w;
      v[side] = ds_velocity_at(&s, c->point);
    }
    double approach = v3_dot(c->normal, v3_sub(v[1], v[0]));
    if (approach > LANDS * assembly->slow && c->gap < h * (approach + assembly->slow)) return true;
  }
  return false;
}

/* Whether an island touches something. Links of a chain in flight only pass each other. */
static bool touches(const ds_island *island, const ds_contact_list *contacts, const ds_scene *scene) {
  bool any = false;
  for (int32_t k = 0; k < island->problem.contact_count && !any; k++) {
    const ds_contact_point *c = &contacts->points[island->contacts[k]];
    any = !ds_feature_is_limit(c->feature) && !ds_feature_is_drive(c->feature) && !ds_contact_is_open(c, scene);
  }
  return any;
}

/* Whether turns of an island were not found by the midpoint rule in this step. */
static bool is_adrift(const ds_island *island, const ds_assembly *assembly) {
  bool adrift = false;
  for (int32_t k = 0; assembly->adrift && k < island->problem.body_count; k++)
    adrift |= assembly->adrift[island->bodies[k]];
  return adrift;
}

/* Which islands move by the midpoint rule: those of rigid bodies that no hand holds. Other kinds and hands have
 * implicit integrators of their own, whose velocities are those at the end of the step. Steps with a deadline solve one
 * problem, which can be cut short, and move by it. By default islands of many bodies in which something lands, or whose
 * turns were not found, are left out too: in parts they would cost several times as much, for a motion that is chaotic.
 */
static void choose_rules(const ds_assembly *assembly, const ds_contact_list *contacts, const ds_scene *scene,
                         const ds_state *state, const ds_options *options) {
  bool by_size = options->integrator == DS_INTEGRATOR_AUTO && assembly->level == DS_LEVEL_CHORD &&
                 options->restitution_law == 0 && options->impacts == DS_IMPACTS_SIMULTANEOUS;
  const bool wanted = ds_moves_by_midpoint(options);
  double h = options->step;
  for (int32_t i = 0; i < assembly->island_count; i++) {
    ds_island *island = &assembly->islands[i];
    island->midpoint = wanted;
    for (int32_t k = 0; k < island->problem.body_count; k++) {
      const ds_step_body *body = &assembly->bodies[island->bodies[k]];
      island->midpoint &= body->ops->chords && !body->hold;
    }
    if (!island->midpoint || !by_size || island->problem.body_count <= DS_FEW_BODIES) continue;
    bool lands = island->joint_count == 0 && something_lands(island, assembly, contacts, scene, state, h);
    island->midpoint = !lands && !(is_adrift(island, assembly) && touches(island, contacts, scene));
  }
  for (int32_t i = 0; i < scene->body_count; i++) {
    ds_step_body *body = &assembly->bodies[i];
    body->stretch = 1;
    if (assembly->level == DS_LEVEL_NODE) continue;
    if (body->moves)
      body->midpoint =
          body->island < 0 ? wanted && body->ops->chords && !body->hold : assembly->islands[body->island].midpoint;
    else
      body->midpoint = wanted;
    if (body->moves && body->midpoint)
      ds_set_turn(body, state->bodies[i].v, state->bodies[i].w, h);
    else if (!body->moves)
      ds_set_turn(body, body->v, body->w, h);
  }
}

static bool prepare_bodies(ds_arena *arena, const ds_assembly *assembly, const ds_scene *scene, const ds_state *state,
                           const ds_options *options) {
  for (int32_t i = 0; i < scene->body_count; i++) {
    const ds_body *body = &scene->bodies[i];
    ds_step_body *s = &assembly->bodies[i];
    memset(s, 0, sizeof *s);
    s->size = 6;
    s->rotation = mat3_from_quat(state->bodies[i].q);
    s->body = body, s->ops = body->ops;
    s->q = state->reduced + body->first_reduced, s->rate_before = state->reduced_rate + body->first_reduced;
    if (assembly->stiffer) s->stiffer = assembly->stiffer[i];
    s->moves = body->ops->dynamic && !ds_body_is_held(body, state->time) && (!assembly->active || assembly->active[i]);
    if (body->ops->dynamic) {
      s->inverse_root_mass = 1 / sqrt(body->mass.mass);
      s->inverse_root_inertia = v3(1 / sqrt(body->inertia.x), 1 / sqrt(body->inertia.y), 1 / sqrt(body->inertia.z));
    }
    bool takes_part = s->moves || !body->ops->dynamic;
    if (takes_part && body->ops->begin && !body->ops->begin(arena, s, state, options)) return false;
    if (assembly->level == DS_LEVEL_NODE && !s->moves) s->v = state->bodies[i].v, s->w = state->bodies[i].w;
  }
  return true;
}

bool ds_contact_is_open(const ds_contact_point *c, const ds_scene *scene) {
  return c->gap > DS_TOUCHING * ds_smaller_radius(scene, c->a, c->b);
}

/* The lever arm of a contact on side 0 or 1 by what that body does alone: of its point, or of where it is in the middle
 * of the step; `grip` away from it. */
static ds_vec3 own_arm(const ds_step_body *body, ds_vec3 x, const ds_contact_point *c, int side, ds_vec3 grip) {
  return c->in_middle[side] ? v3_add(c->middle[side], grip) : ds_mean_arm(body, v3_add(v3_sub(c->point, x), grip));
}

/* The lever arm of a contact on side 0 or 1, from the centre of mass at the start. What moves over both of two bodies
 * that move, or over one of them, is at one place in space, that of the other or the mean of both; and so is what lands
 * in the step. Its impulses change no angular momentum then. */
static ds_vec3 arm_of(const ds_assembly *assembly, const ds_state *state, const ds_contact_point *c, int side,
                      bool midpoint, ds_vec3 grip) {
  int32_t i = body_of(c, side), k = body_of(c, 1 - side);
  const ds_step_body *body = &assembly->bodies[i], *other = &assembly->bodies[k];
  ds_vec3 x = state->bodies[i].x, y = state->bodies[k].x;
  if (!midpoint) return v3_add(v3_sub(c->point, x), grip);
  bool lands = !ds_feature_is_limit(c->feature) && ds_contact_is_open(c, state->scene);
  if ((!c->in_middle[side] && !lands) || !body->moves || !other->moves) return own_arm(body, x, c, side, grip);
  ds_vec3 centre = v3_mad(x, 0.5, body->displacement), from = v3_mad(y, 0.5, other->displacement);
  ds_vec3 there = v3_sub(v3_add(from, own_arm(other, y, c, 1 - side, v3(0, 0, 0))), centre);
  if (c->in_middle[1 - side] || lands) there = v3_scale(0.5, v3_add(there, own_arm(body, x, c, side, v3(0, 0, 0))));
  return v3_add(there, grip);
}

/* From a contact to where its friction acts, as arm_of needs it: at the start of the step; or in its middle on a body
 * that the corner of the other one moves over. */
static ds_vec3 grip_of(const ds_assembly *assembly, const ds_contact_point *c, const ds_contact_frame *f, int side,
                       bool midpoint) {
  if (!midpoint || !c->in_middle[side]) return f->grip;
  return quat_rotate(quat_exp(v3_scale(0.5, assembly->bodies[body_of(c, 1 - side)].turn)), f->grip);
}

/* Correcting velocities are no larger than this, m/s [NFS10 2]. */
static const double CORRECTION_MAX = 2;

/* The correcting velocity c_n of a contact with distance d that leaves with u_collision [NFS10 eq. 5-9]; it is added to
 * the bound on the normal velocity. Contacts that are still open approach by as much as they may: by their distance, or
 * down to the middle of the envelope. */
static double normal_correction(const ds_options *o, double d, double u_collision, bool open) {
  double h = o->step, wanted = (0.5 * o->envelope - d) / h, c;
  if (o->stabilization == DS_STABILIZE_BAUMGARTE) {
    if (open) return -d / h;
    c = d < 0 ? -o->stabilization_gain * d / h : 0;
  } else {
    if (u_collision > (o->envelope - d) / h) return 0;
    if (d >= o->envelope) return wanted;
    c = wanted >= 0 ? fmax(0, wanted - u_collision) : wanted;
  }
  return fmax(-CORRECTION_MAX, fmin(CORRECTION_MAX, c));
}

/* Right-hand side of one contact: Nᵀ v >= b_N, and b_T. A chord of the midpoint rule ends on the surface; impacts are
 * of the node. Else a rebound slower than one step of gravity would not leave the surface, and a gap not reached in
 * this step does not act. `share` is what of b_N is restitution. */
static void right_hand_side(double b[3], const ds_contact_point *c, const ds_contact_frame *f,
                            const ds_assembly *assembly, const ds_state *state, const ds_scene *scene,
                            const ds_options *options, bool midpoint, double *share) {
  double h = options->step;
  ds_vec3 before = v3(0, 0, 0), scripted = v3(0, 0, 0), sliding = v3(0, 0, 0);
  for (int side = 0; side < 2; side++) {
    int32_t i = body_of(c, side);
    const ds_body_state *s = &state->bodies[i];
    const ds_step_body *body = &assembly->bodies[i];
    double sign = side == 0 ? 1 : -1;
    if (body->moves) {
      before = v3_mad(before, sign, ds_velocity_at(s, c->point));
      ds_anchor anchor = side == 0 ? c->on_a : c->on_b;
      if (body->ops->stir) before = v3_mad(before, sign, body->ops->stir(body, anchor, body->rate_before));
    } else {
      ds_vec3 arm = arm_of(assembly, state, c, side, midpoint, v3(0, 0, 0));
      ds_vec3 grip = arm_of(assembly, state, c, side, midpoint, grip_of(assembly, c, f, side, midpoint));
      ds_vec3 v = v3_add(body->v, v3_cross(body->w, arm));
      before = v3_mad(before, sign, v);
      scripted = v3_mad(scripted, sign, v);
      sliding = v3_mad(sliding, sign, v3_add(body->v, v3_cross(body->w, grip)));
    }
  }
  bool chord = midpoint && assembly->level == DS_LEVEL_CHORD;
  double approach = v3_dot(f->normal, before);
  /* overlaps are not pushed apart by velocities; but the gap of a second look is where the points have to start from */
  bool from_gap = ds_contact_is_open(c, scene) || ds_feature_is_ahead(c->feature);
  double bound = assembly->level == DS_LEVEL_CHORD && from_gap ? -c->gap / h : 0;
  double rebound = f->restitution * fmax(0, -approach);
  bool reached = assembly->level == DS_LEVEL_NODE || c->gap + h * approach <= 0;
  bool rebounds = !chord && reached && rebound > assembly->slow;
  if (rebounds) bound = rebound;
  *share = rebounds ? rebound : 0;
  if (options->stabilization >= DS_STABILIZE_BAUMGARTE && !ds_feature_is_ahead(c->feature))
    bound = (rebounds ? rebound : 0) + normal_correction(options, c->gap, rebounds ? rebound : 0, from_gap);
  b[0] = bound - v3_dot(f->normal, scripted);
  b[1] = v3_dot(f->t1, v3_sub(c->aim, sliding));
  b[2] = v3_dot(f->t2, v3_sub(c->aim, sliding));
}

void ds_force_rows(double *g, const ds_step_body *body, const ds_vec3 force[3], const ds_vec3 torque[3]) {
  for (int i = 0; i < 3; i++) body->ops->row(g + body->size * i, body, force[i], torque[i], (ds_anchor){-1, 0, 0});
  if (body->hold) ds_hold_rows(g, body->hold);
}

/* Rows of contact c on side a (sign 1) or b (-1). */
static void fill_rows(double *g, const ds_assembly *assembly, const ds_state *state, const ds_contact_point *c,
                      const ds_contact_frame *f, double sign) {
  int side = sign > 0 ? 0 : 1;
  const ds_step_body *body = &assembly->bodies[body_of(c, side)];
  ds_vec3 arm = arm_of(assembly, state, c, side, body->midpoint, v3(0, 0, 0));
  body->ops->rows(g, body, arm, side == 0 ? c->on_a : c->on_b, c->a == c->b ? &c->on_b : NULL, f, sign);
  if (v3_norm2(f->grip) > 0) { /* of a body that does not deform */
    double normal[6];
    memcpy(normal, g, sizeof normal);
    ds_vec3 grip = grip_of(assembly, c, f, side, body->midpoint);
    body->ops->rows(g, body, arm_of(assembly, state, c, side, body->midpoint, grip), c->on_a, NULL, f, sign);
    memcpy(g, normal, sizeof normal);
  }
  if (body->hold) ds_hold_rows(g, body->hold);
}

/* Places of a contact's bodies in the island, -1 where they do not move, and of their rows in g. */
static void place_contacts(int32_t *body, int32_t *jacobian, size_t *length, const ds_island *island,
                           const ds_assembly *assembly, const ds_contact_list *contacts) {
  *length = 0;
  for (int32_t k = 0; k < island->problem.contact_count; k++) {
    const ds_contact_point *c = &contacts->points[island->contacts[k]];
    /* one that moves comes first: then the columns of G alone tell a contact's bodies and their order */
    bool swapped = !assembly->bodies[c->a].moves;
    for (int side = 0; side < 2; side++) {
      const ds_step_body *s = &assembly->bodies[(side == 0) != swapped ? c->a : c->b];
      bool takes_part = s->moves && !(side == 1 && c->a == c->b);
      body[2 * k + side] = takes_part ? s->local : -1;
      jacobian[2 * k + side] = (int32_t)*length;
      if (takes_part) *length += 3 * (size_t)s->size;
    }
  }
}

/* Rows, right-hand sides and coefficients of an island's contacts, shared out in runs. */
typedef struct filling {
  const ds_assembly *assembly;
  const ds_contact_list *contacts;
  const ds_state *state;
  const ds_options *options;
  const ds_island *island;
} filling;
enum { RUN = 64 };

static void fill_run(void *context, int32_t item, int32_t worker) {
  const filling *fill = context;
  const ds_subproblem *p = &fill->island->problem;
  (void)worker;
  for (int32_t k = RUN * item; k < RUN * (item + 1) && k < p->contact_count; k++) {
    int32_t index = fill->island->contacts[k];
    const ds_contact_point *c = &fill->contacts->points[index];
    const ds_contact_frame *f = &fill->assembly->frames[index];
    bool swapped = !fill->assembly->bodies[c->a].moves;
    for (int side = 0; side < 2; side++) {
      bool is_a = (side == 0) != swapped;
      if (p->body[2 * k + side] < 0) continue;
      double *g = fill->island->g + p->jacobian[2 * k + side];
      fill_rows(g, fill->assembly, fill->state, c, f, is_a ? 1 : -1);
    }
    ds_contact_law *law = &fill->island->law[k];
    *law = (ds_contact_law){.restitution = f->restitution, .flat = {f->flat[0], f->flat[1]}};
    right_hand_side(fill->island->b + 3 * k, c, f, fill->assembly, fill->state, fill->state->scene, fill->options,
                    fill->island->midpoint, &law->rebound);
    for (int i = 0; i < 2 && fill->island->bias; i++) fill->island->b[3 * k + 1 + i] += fill->island->bias[2 * k + i];
  }
}

void ds_fill_island(const ds_island *island, const ds_assembly *assembly, const ds_contact_list *contacts,
                    const ds_state *state, const ds_options *options, ds_pool *pool) {
  filling fill = {assembly, contacts, state, options, island};
  const ds_subproblem *p = &island->problem;
  ds_pool *helpers = p->dof > 6 * p->body_count ? pool : NULL; /* rigid rows cost less than to wake a thread */
  ds_share_out(helpers, (p->contact_count + RUN - 1) / RUN, fill_run, &fill);
}

/* Of mu r_N: friction nearer to its limit is that of a contact that slides, with rounding. */
static const double STICKING = 1 - 1e-6;

/* Contacts that should have stuck in the last step, |r_T| < mu r_N, and slipped all the same, by e = h u_T: a share of
 * that is taken back in this step, b_T = -k_t e/h [NFS10 eq. 10-15]. Contacts are followed by the names of their
 * features. False where memory ran out. */
static bool find_bias(ds_arena *arena, ds_island *island, const ds_options *options) {
  const ds_subproblem *p = &island->problem;
  if (!(options->friction_stabilization > 0)) return true;
  island->bias = DS_NEW0(arena, double, 2 * (size_t)p->contact_count + 1);
  for (int32_t k = 0; island->bias && k < p->contact_count; k++) {
    const double *r = island->r + 3 * k;
    if (!(r[0] > 0) || !(sqrt(r[1] * r[1] + r[2] * r[2]) < STICKING * p->mu[k] * r[0])) continue;
    for (int i = 0; i < 2; i++) island->bias[2 * k + i] = -options->friction_stabilization * p->u_before[3 * k + 1 + i];
  }
  return island->bias != NULL;
}

/* How fast the bodies of a contact turned against each other after the last step, at the edge of the smaller one. What
 * tips or rolls need not slide anywhere. */
static double turning(const ds_contact_point *c, const ds_state *state) {
  return ds_smaller_radius(state->scene, c->a, c->b) * v3_dist(state->bodies[c->a].w, state->bodies[c->b].w);
}

/* The arrays of one island's problem. */
static bool build_island(ds_arena *arena, ds_island *island, const ds_assembly *assembly,
                         const ds_contact_list *contacts, const ds_state *state, const double *warm, const double *u,
                         const ds_options *options, ds_pool *pool) {
  ds_subproblem *p = &island->problem;
  int32_t nb = p->body_count, nc = p->contact_count, dof = 0;
  size_t length = 0;
  int32_t *size = DS_NEW(arena, int32_t, nb + 1), *first = DS_NEW(arena, int32_t, nb + 1);
  int32_t *body = DS_NEW(arena, int32_t, 2 * nc + 1), *jacobian = DS_NEW(arena, int32_t, 2 * nc + 1);
  if (ds_arena_failed(arena)) return false;
  for (int32_t i = 0; i < nb; i++) {
    size[i] = assembly->bodies[island->bodies[i]].size;
    first[i] = dof;
    dof += size[i];
  }
  place_contacts(body, jacobian, &length, island, assembly, contacts);
  if (length > INT32_MAX) return false;
  double *g = DS_NEW(arena, double, length + 1), *b = DS_NEW(arena, double, 3 * (size_t)nc + 1);
  double *mu = DS_NEW(arena, double, nc + 1), *u_before = DS_NEW0(arena, double, 3 * (size_t)nc + 1);
  ds_contact_law *law = DS_NEW(arena, ds_contact_law, nc + 1);
  island->predicted = DS_NEW(arena, double, dof + 1);
  island->r = DS_NEW(arena, double, 3 * (size_t)nc + 1);
  island->v = DS_NEW(arena, double, dof + 1);
  if (ds_arena_failed(arena)) return false;
  p->dof = dof;
  p->size = size, p->first = first, p->body = body, p->jacobian = jacobian;
  p->g = g, p->b = b, p->mu = mu, p->predicted = island->predicted;
  p->u_before = u_before, p->law = law;
  island->g = g, island->b = b, island->law = law;
  for (int32_t k = 0; k < nc; k++) mu[k] = assembly->frames[island->contacts[k]].mu;
  double share = 1; /* impulses of the last step are of all of it, and it may have been longer */
  if (island->midpoint) share = state->reduced_step > 0 ? 0.5 * options->step / state->reduced_step : 0.5;
  for (int32_t k = 0; k < nc; k++)
    for (int c = 0; c < 3; c++) island->r[3 * k + c] = share * warm[3 * island->contacts[k] + c];
  double squares = 0;
  for (int32_t i = 0; i < 3 * nc; i++) squares += island->r[i] * island->r[i];
  for (int32_t k = 0; k < nc; k++)
    if (island->r[3 * k] > DS_LOOSEST * sqrt(squares)) {
      memcpy(u_before + 3 * k, u + 3 * island->contacts[k], 3 * sizeof(double));
      u_before[3 * k] = turning(&contacts->points[island->contacts[k]], state);
    }
  if (!find_bias(arena, island, options)) return false;
  ds_fill_island(island, assembly, contacts, state, options, pool);
  return true;
}

/* The numbers of one body. */
typedef struct preparation {
  ds_step_body *bodies;
  const ds_options *options;
} preparation;

static void prepare_one(void *context, int32_t item, int32_t worker) {
  const preparation *p = context;
  (void)worker;
  ds_step_body *body = &p->bodies[item];
  if (body->moves && body->ops->fill) body->ops->fill(body, p->options);
}

bool ds_assemble(ds_arena *arena, ds_assembly *assembly, const ds_scene *scene, const ds_state *state,
                 const ds_contact_list *contacts, const ds_options *options, ds_pool *pool) {
  assembly->stabilized = options->stabilization != DS_STABILIZE_POSITIONS;
  assembly->bodies = DS_NEW(arena, ds_step_body, scene->body_count + 1);
  assembly->frames = DS_NEW(arena, ds_contact_frame, contacts->count + 1);
  double *warm = DS_NEW0(arena, double, 3 * (size_t)contacts->count + 1);
  double *u = DS_NEW0(arena, double, 3 * (size_t)contacts->count + 1);
  if (ds_arena_failed(arena)) return false;
  if (!prepare_bodies(arena, assembly, scene, state, options)) return false;
  preparation prepare = {assembly->bodies, options};
  if (scene->reduced_count > 0) ds_share_out(pool, scene->body_count, prepare_one, &prepare);
  if (!ds_hold_bodies(arena, assembly, state, options)) return false;
  for (int32_t k = 0; k < contacts->count; k++)
    ds_contact_cone(&assembly->frames[k], &contacts->points[k], scene, state);
  if (options->face_pressure == DS_PRESSURE_EVEN) ds_spread_friction(assembly->frames, contacts, state);
  if (options->warm_start || assembly->level == DS_LEVEL_NODE) /* a node goes on from the first half */
    ds_match_warm_start(warm, u, assembly, contacts, state);
  if (!ds_find_islands(arena, assembly, contacts, scene)) return false;
  choose_rules(assembly, contacts, scene, state, options);
  for (int32_t i = 0; i < assembly->island_count; i++) {
    ds_island *island = &assembly->islands[i];
    if (!build_island(arena, island, assembly, contacts, state, warm, u, options, pool)) return false;
  }
  return true;
}
