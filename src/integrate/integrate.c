/* x += h v, R <- exp(h w) R with the velocities in which the contact constraints hold. Contact changes the angular
 * momentum by R I Rᵀ (w - w_p); the angular velocity kept is the one of that momentum in the new orientation, so that
 * momentum is conserved to rounding and free spinning keeps its energy (predict/rigid.c). Overlaps are taken away by
 * displacements besides (separate.c), what would pass through something is stopped on its way (sweep.c), and what
 * stands keeps its place to the last bit (rest.c).
 *
 * Deformable bodies besides: q += h q'. Contact changes their momentum
 * by R (J (w - w_p) + C (q' - q'_p)), and the angular velocity kept is that of the momentum with the new q. */
#include "integrate/integrate.h"

#include <math.h>
#include <string.h>

#include "body/deformable.h"

/* v+ = 2 v - v0 and P+ = 2 I W - P of the midpoint rule. Where damping would turn them about within the step, its
 * second half is implicit. */
static void move_midpoint(ds_body_state *s, const ds_body *body, const ds_step_body *step, const ds_move *m,
                          double taken, double h) {
  double linear = 0.5 * h * body->def.linear_damping, angular = 0.5 * h * body->def.angular_damping;
  ds_vec3 spin = v3_mul(body->inertia, mat3_tmul_v3(&step->rotation, m->w));
  ds_vec3 start = v3_mul(body->inertia, mat3_tmul_v3(&step->rotation, s->w));
  ds_vec3 damped = mat3_tmul_v3(&step->rotation, step->spin);
  ds_vec3 momentum =
      angular < 1 ? v3_sub(v3_scale(2, spin), start) : v3_scale(1 / (1 + angular), v3_sub(v3_scale(2, spin), damped));
  ds_vec3 push = v3_add(v3_scale(1 / (1 + linear), v3_add(m->v, step->half_push)), v3_sub(m->v, step->v));
  ds_vec3 v = linear < 1 ? v3_sub(v3_scale(2, m->v), s->v) : push;
  s->x = v3_add(v3_mad(s->x, taken, m->v), m->dx);
  s->q = quat_unit(quat_mul(quat_exp(v3_mad(m->turn, taken, m->w)), s->q));
  s->v = v3_scale(m->keep, v3_sub(v, m->lost));
  momentum = v3_scale(m->keep, momentum);
  s->w =
      quat_rotate(s->q, v3(momentum.x / body->inertia.x, momentum.y / body->inertia.y, momentum.z / body->inertia.z));
}

void ds_move_rigid(ds_state *state, int32_t index, const ds_step_body *step, const ds_move *m, double h) {
  const ds_body *body = step->body;
  ds_body_state *s = &state->bodies[index];
  if (m->rests) {
    s->v = s->w = v3(0, 0, 0);
    return;
  }
  double taken = m->share * h;
  if (step->midpoint) {
    move_midpoint(s, body, step, m, taken, h);
    return;
  }
  ds_vec3 kick = v3_mul(body->inertia, mat3_tmul_v3(&step->rotation, v3_sub(m->w, step->w)));
  ds_vec3 spin = v3_add(step->spin, mat3_mul_v3(&step->rotation, kick));
  s->x = v3_add(v3_mad(s->x, taken, m->v), m->dx);
  s->q = quat_unit(quat_mul(quat_exp(v3_mad(m->turn, taken, m->w)), s->q));
  s->v = v3_scale(m->keep, v3_sub(m->v, m->lost));
  ds_vec3 local = quat_unrotate(s->q, v3_scale(m->keep, spin));
  s->w = quat_rotate(s->q, v3(local.x / body->inertia.x, local.y / body->inertia.y, local.z / body->inertia.z));
}

void ds_move_deformable(ds_state *state, int32_t index, const ds_step_body *step, const ds_move *m, double h) {
  const ds_reduced *reduced = step->body->reduced;
  ds_body_state *s = &state->bodies[index];
  double *q = state->reduced + step->body->first_reduced, *rate = state->reduced_rate + step->body->first_reduced;
  ds_vec3 dw = mat3_tmul_v3(&step->rotation, v3_sub(m->w, step->w));
  ds_vec3 change = step->ops->kick(step, dw, m->rate, step->rate);
  ds_vec3 spin = v3_add(step->spin, mat3_mul_v3(&step->rotation, change));
  s->x = v3_add(v3_mad(s->x, h, m->v), m->dx);
  s->q = quat_unit(quat_mul(quat_exp(v3_mad(m->turn, h, m->w)), s->q));
  s->v = m->v;
  for (int32_t a = 0; a < reduced->r; a++) {
    q[a] += h * m->rate[a];
    rate[a] = m->rate[a];
  }
  s->w = quat_rotate(s->q, ds_deformable_spin(reduced, q, rate, quat_unrotate(s->q, spin), 0));
}

static void move_bodies(ds_state *state, const ds_scene *scene, const ds_assembly *assembly, const ds_move *moves,
                        const bool *wait, double h) {
  for (int32_t i = 0; i < scene->body_count; i++) {
    const ds_step_body *step = &assembly->bodies[i];
    bool takes_part = step->moves || !step->ops->dynamic, waits = wait && step->island >= 0 && wait[step->island];
    if (takes_part && !waits && step->ops->move) step->ops->move(state, i, step, &moves[i], h);
  }
}

static ds_move *plan_moves(ds_arena *arena, const ds_scene *scene, const ds_assembly *assembly) {
  ds_move *moves = DS_NEW0(arena, ds_move, scene->body_count + 1);
  for (int32_t i = 0; moves && i < scene->body_count; i++) {
    int32_t r = assembly->bodies[i].size - 6;
    if (r > 0 && !(moves[i].rate = DS_NEW(arena, double, r))) return NULL;
    ds_body_velocity(&moves[i].v, &moves[i].w, moves[i].rate, assembly, i);
    moves[i].share = moves[i].keep = 1;
  }
  return moves;
}

/* Relative velocity of the contact's bodies at its point, from the velocities of the solution. */
static void store_contact(ds_contact *out, const ds_contact_point *c, const ds_contact_frame *f, const double *r,
                          const double *u) {
  double sliding = sqrt(u[1] * u[1] + u[2] * u[2]), friction = sqrt(r[1] * r[1] + r[2] * r[2]);
  *out = (ds_contact){.a = ds_id(c->a),
                      .b = ds_id(c->b),
                      .point = c->point,
                      .normal = c->normal,
                      .gap = c->gap,
                      .mu = f->mu,
                      .restitution = f->restitution,
                      .feature = c->feature};
  out->impulse = v3_add(v3_scale(r[0], f->normal), v3_add(v3_scale(r[1], f->t1), v3_scale(r[2], f->t2)));
  double u1 = u[1] / (f->flat[0] * f->flat[0]), u2 = u[2] / (f->flat[1] * f->flat[1]);
  out->velocity = v3_add(v3_scale(u[0], f->normal), v3_add(v3_scale(u1, f->t1), v3_scale(u2, f->t2)));
  if (!(r[0] > 0))
    out->mode = DS_CONTACT_OPEN;
  else /* on the cone's side to rounding, and moving */
    out->mode = sliding > 0 && friction >= (1 - 1e-9) * f->mu * r[0] ? DS_CONTACT_SLIDE : DS_CONTACT_STICK;
}

void ds_store_contacts(ds_contact *out, const ds_assembly *assembly, const ds_contact_list *contacts) {
  for (int32_t i = 0; i < assembly->island_count; i++) {
    const ds_island *island = &assembly->islands[i];
    const ds_subproblem *p = &island->problem;
    for (int32_t k = 0; k < p->contact_count; k++) {
      int32_t index = island->contacts[k];
      double u[3] = {0, 0, 0}; /* a - b, scripted motion included: Gᵀ v less the scripted part of b */
      for (int side = 0; side < 2; side++) {
        int32_t body = p->body[2 * k + side];
        if (body < 0) continue;
        const double *g = p->g + p->jacobian[2 * k + side], *v = island->v + p->first[body];
        for (int32_t j = 0; j < p->size[body]; j++)
          for (int c = 0; c < 3; c++) u[c] += g[c * p->size[body] + j] * v[j];
      }
      u[1] -= p->b[3 * k + 1];
      u[2] -= p->b[3 * k + 2];
      for (int c = 0; c < 2 && island->bias; c++) u[1 + c] += island->bias[2 * k + c];
      double halves = island->midpoint ? 2 : 1, r[3];
      for (int c = 0; c < 3; c++) r[c] = halves * island->r[3 * k + c];
      store_contact(&out[index], &contacts->points[index], &assembly->frames[index], r, u);
    }
  }
}

bool ds_integrate(ds_arena *arena, ds_state *state, ds_integration *integration, const ds_scene *scene,
                  const ds_assembly *assembly, const ds_contact_list *contacts, const bool *wait, double h) {
  ds_move *moves = plan_moves(arena, scene, assembly);
  double *held = ds_held_overlaps(arena, contacts, state);
  integration->contacts = DS_NEW(arena, ds_contact, contacts->count + 1);
  if (!moves || !held || !integration->contacts) return false;
  double *energy = ds_limit_begin(arena, integration, state, assembly, contacts, moves, h);
  ds_state kept;
  if (!energy || !ds_keep_rest(arena, &kept, state, assembly)) return false;
  if ((!assembly->stabilized &&
       !ds_separate(arena, moves, &integration->separation, state, assembly, contacts, held, h)) ||
      !ds_sweep(arena, moves, &integration->stopped, scene, state, assembly, contacts, h))
    return false;
  ds_find_rest(moves, scene, assembly, h);
  ds_store_contacts(integration->contacts, assembly, contacts);
  for (int32_t k = 0; k < contacts->count; k++) integration->contacts[k].held = held[k];
  move_bodies(state, scene, assembly, moves, wait, h);
  state->reduced_step = h;
  ds_limit_end(state, assembly, energy, h);
  ds_restore_rest(state, &kept, assembly, h);
  return true;
}

void ds_state_advance(ds_state *state, double time, double rest, double h) {
  double wanted = h + rest; /* Kahan's summation */
  state->time = time + wanted;
  state->time_rest = wanted - (state->time - time);
  state->step++;
}
