/* Islands with deformable bodies do not gain energy, nor do deformable bodies that touch nothing, beyond a swing.
 *
 * Contact that parts in one step and closes in the next and forces that are linearized can leave an island with more
 * energy than it had. Where nothing accounts for it, no
 * restitution, scripted motion, hand, joint or applied force, the rates of its deformable bodies are scaled down until
 * it has what it had (energy projection: Hughes, Caughey and Liu 1978; Dinev et al. 2018). Positions stay, so that
 * contacts hold, and so do linear and angular momentum.
 *
 * Velocities of deformable bodies are means of the step just done, of length k, and their energy is that in its middle.
 * This is less than that at its ends, by m g² k²/8 in free flight and by a share (k omega)²/4 of a vibration, and would
 * rise where a shorter step follows. The energy before a shorter step of h is therefore that of the same motion with a
 * step of h before it: of velocities v0 + (k - h)/2 a, with the acceleration a = (v1 - v0)/((k + h)/2) between the two
 * middles; or that in the middle, if a contact has made it less.
 *
 * In flight the energy of a nonlinear body swings within bounds that are those of the integrator. Taking away all that
 * it rises would damp it: a beam that vibrates widely (test_deformable_motion) loses 1.6 % with a limit of 1e-3 per
 * step, and nothing with 2e-3. Where the damping of its material takes more than that in a step, it does not rise at
 * all. */
#include <math.h>
#include <string.h>

#include "body/deformable.h"
#include "integrate/integrate.h"

static const double ROUNDING = 1e-8;  /* of an island's kinetic and elastic energy: gains up to this are left */
static const double IN_FLIGHT = 2e-3; /* the same of a body that touches nothing */
static const double LEAST = 0.5;      /* of the rates: what is left of them at least */
enum { HALVINGS = 40 };

/* Bodies whose energy is judged together: those of an island, or one that touches nothing. */
typedef struct group {
  const int32_t *bodies;
  int32_t count;
} group;

static group group_of(const ds_island *island) { return (group){island->bodies, island->problem.body_count}; }

/* Whether it is deformable, and in no island. */
static bool is_free(const ds_assembly *assembly, int32_t body) {
  const ds_step_body *s = &assembly->bodies[body];
  return s->moves && s->island < 0 && ds_step_reduced(s);
}

/* Whether nothing but gravity and contacts acts on bodies of which one is deformable. */
static bool is_left_alone(group g, const ds_scene *scene, const ds_state *state, const ds_assembly *assembly) {
  bool soft = false;
  for (int32_t i = 0; i < g.count; i++) {
    int32_t body = g.bodies[i];
    const ds_body_def *def = &scene->bodies[body].def;
    if (v3_norm2(state->force[body]) + v3_norm2(state->torque[body]) > 0) return false;
    if (v3_norm2(def->force) + v3_norm2(def->torque) > 0 || assembly->bodies[body].hold) return false;
    soft |= ds_step_reduced(&assembly->bodies[body]) != NULL;
  }
  return soft;
}

/* Whether all energy of an island is that of its bodies. */
static bool is_closed(const ds_island *island, const ds_scene *scene, const ds_state *state,
                      const ds_assembly *assembly, const ds_contact_list *contacts) {
  if (island->joint_count > 0 || !is_left_alone(group_of(island), scene, state, assembly)) return false;
  for (int32_t k = 0; k < island->problem.contact_count; k++) {
    const ds_contact_point *c = &contacts->points[island->contacts[k]];
    if (assembly->frames[island->contacts[k]].restitution > 0) return false;
    if (scene->bodies[c->a].kind == DS_BODY_KINEMATIC || scene->bodies[c->b].kind == DS_BODY_KINEMATIC) return false;
  }
  return true;
}

/* `known`: the energies of all bodies of the state, or NULL. */
static double energy_of(double *scale, group g, const ds_state *state, const ds_energy *known) {
  double sum = 0;
  *scale = 0;
  for (int32_t i = 0; i < g.count; i++) {
    ds_energy e = known ? known[g.bodies[i]] : ds_body_energy(state, g.bodies[i]);
    sum += e.kinetic + e.potential + e.elastic;
    *scale += e.kinetic + e.elastic;
  }
  return sum;
}

/* The velocities of a body as if the step before had been one of h. */
static void see_body(ds_state *seen, int32_t i, const ds_move *move, double share) {
  const ds_body *body = &seen->scene->bodies[i];
  ds_body_state *s = &seen->bodies[i];
  double *q = seen->reduced + body->first_reduced, *rate = seen->reduced_rate + body->first_reduced;
  ds_vec3 momentum = ds_deformable_momentum(body->reduced, q, quat_unrotate(s->q, s->w), rate);
  s->v = v3_mad(s->v, share, v3_sub(move->v, s->v));
  for (int32_t a = 0; a < body->r; a++) rate[a] += share * (move->rate[a] - rate[a]);
  s->w = quat_rotate(s->q, ds_deformable_spin(body->reduced, q, rate, momentum, 0));
}

/* The state in a measure that can be compared with that after a step of h; false if memory ran out. */
static bool see_state(ds_arena *arena, ds_state *seen, const ds_state *state, const ds_assembly *assembly,
                      const ds_move *moves, double h) {
  size_t bodies = (size_t)state->body_count, rates = (size_t)state->scene->reduced_count;
  double k = state->reduced_step;
  *seen = *state;
  if (rates == 0 || k <= h) return true;
  seen->reduced_step = h;
  seen->bodies = DS_NEW(arena, ds_body_state, bodies + 1);
  seen->reduced_rate = DS_NEW(arena, double, rates + 1);
  if (ds_arena_failed(arena)) return false;
  memcpy(seen->bodies, state->bodies, bodies * sizeof *seen->bodies);
  memcpy(seen->reduced_rate, state->reduced_rate, rates * sizeof *seen->reduced_rate);
  for (int32_t i = 0; i < state->body_count; i++)
    if (ds_step_reduced(&assembly->bodies[i])) see_body(seen, i, &moves[i], (k - h) / (k + h));
  return true;
}

/* Of all bodies, and in all. The elastic energy of a deformable body takes as long as its forces, and is asked for by
 * everything that compares a step with its start. */
static double energies_of(ds_energy *each, const ds_state *state) {
  ds_energy sum = {0};
  for (int32_t i = 0; i < state->body_count; i++) {
    each[i] = ds_body_energy(state, i);
    sum.kinetic += each[i].kinetic, sum.potential += each[i].potential, sum.elastic += each[i].elastic;
  }
  return sum.kinetic + sum.potential + sum.elastic;
}

/* The energy before the step: the larger of the two; by how much it is above that of the state. */
static double energy_before(double *swing, group g, const ds_state *seen, const ds_state *own, const ds_energy *known) {
  bool same = seen->bodies == own->bodies; /* nothing was to be seen otherwise */
  double scale, now = energy_of(&scale, g, own, known);
  double before = same ? now : fmax(energy_of(&scale, g, seen, NULL), now);
  *swing = before - now;
  return before;
}

double *ds_limit_begin(ds_arena *arena, ds_integration *integration, const ds_state *state, const ds_assembly *assembly,
                       const ds_contact_list *contacts, const ds_move *moves, double h) {
  const ds_scene *scene = state->scene;
  int32_t islands = assembly->island_count, count = islands + scene->body_count;
  double *before = DS_NEW(arena, double, count + 1), *swing = DS_NEW0(arena, double, count + 1);
  ds_energy *own = DS_NEW(arena, ds_energy, scene->body_count + 1);
  ds_state seen;
  if (!before || !swing || !own || !see_state(arena, &seen, state, assembly, moves, h)) return NULL;
  integration->energy = energies_of(own, state);
  for (int32_t i = 0; i < islands; i++) {
    const ds_island *island = &assembly->islands[i];
    before[i] = energy_before(&swing[i], group_of(island), &seen, state, own);
    if (!is_closed(island, scene, state, assembly, contacts)) before[i] = (double)INFINITY;
  }
  for (int32_t i = 0; i < scene->body_count; i++) {
    double *free = &before[islands + i];
    *free = (double)INFINITY;
    if (!is_free(assembly, i)) continue;
    *free = energy_before(&swing[islands + i], (group){&i, 1}, &seen, state, own);
    if (!is_left_alone((group){&i, 1}, scene, state, assembly)) *free = (double)INFINITY;
  }
  integration->swing = swing, integration->energies = own;
  for (int32_t i = 0; i < count; i++) integration->energy += swing[i];
  return before;
}

/* Scales the rates of a body; the angular velocity follows so that its momentum stays. */
static void scale_rates(ds_state *state, int32_t i, double scale) {
  const ds_body *body = &state->scene->bodies[i];
  ds_body_state *s = &state->bodies[i];
  double *q = state->reduced + body->first_reduced, *rate = state->reduced_rate + body->first_reduced;
  ds_vec3 momentum = ds_deformable_momentum(body->reduced, q, quat_unrotate(s->q, s->w), rate);
  for (int32_t a = 0; a < body->r; a++) rate[a] *= scale;
  s->w = quat_rotate(s->q, ds_deformable_spin(body->reduced, q, rate, momentum, 0));
}

static void scale_all(ds_state *state, group g, double scale) {
  for (int32_t i = 0; i < g.count; i++)
    if (state->scene->bodies[g.bodies[i]].reduced) scale_rates(state, g.bodies[i], scale);
}

/* What the damping of its material takes from a body in a step of h, J. */
static double damped(const ds_state *state, int32_t i, double h) {
  const ds_body *body = &state->scene->bodies[i];
  const ds_reduced *x = body->reduced;
  const double *rate = state->reduced_rate + body->first_reduced;
  double sum = 0;
  for (int32_t a = 0; a < x->r; a++) {
    double stress = 0;
    for (int32_t b = 0; b < x->r; b++) stress += x->stiffness[a * x->r + b] * rate[b];
    sum += rate[a] * (x->info.damping_mass * rate[a] + x->info.damping_stiffness * stress);
  }
  return h * sum;
}

/* The largest factor that leaves no gain, by halving between LEAST and 1. Where that is not enough, the gain is not
 * that of a vibration, and rates stay as they are. Gains up to a share of the energy, less `less`, are left. */
static void limit(ds_state *state, group g, double before, double share, double less) {
  double low = LEAST, high = 1, now = LEAST, scale, gain = energy_of(&scale, g, state, NULL) - before;
  if (!(gain > fmax(ROUNDING * scale, share * scale - less))) return;
  scale_all(state, g, now);
  bool enough = energy_of(&scale, g, state, NULL) <= before;
  for (int k = 0; enough && k < HALVINGS; k++) {
    double next = 0.5 * (low + high);
    scale_all(state, g, next / now);
    now = next;
    if (energy_of(&scale, g, state, NULL) > before)
      high = next;
    else
      low = next;
  }
  scale_all(state, g, (enough ? low : 1) / now);
}

void ds_limit_end(ds_state *state, const ds_assembly *assembly, const double *before, double h) {
  for (int32_t i = 0; i < assembly->island_count; i++, before++)
    if (*before < (double)INFINITY) limit(state, group_of(&assembly->islands[i]), *before, ROUNDING, 0);
  for (int32_t i = 0; i < state->scene->body_count; i++, before++)
    if (*before < (double)INFINITY) limit(state, (group){&i, 1}, *before, IN_FLIGHT, damped(state, i, h));
}
