/* A hand in a step: a spring and a damper, implicit, between a point of a body and its target.
 *
 * With stretch e (grip to target) and velocity a of the target, the hand gives in a step of h the impulse
 *
 *   h (k (e - h u) + c (a - u)),      u: velocity of the grip at the end of the step,
 *
 * backward Euler's rule, stable for any k, c, mass and step. In the scaled coordinates y of the body (M = 1, or the
 * implicit integrator's matrix of a deformable body), with the row g of each direction, u = gᵀ y, the velocity without
 * contact is the y of
 *
 *   (1 + sum s g gᵀ) y = y_free + sum g h (k e + c a),      s = h c + h² k,
 *
 * and contact impulses act on the body through the same matrix T Tᵀ: it becomes the metric of the contact problem,
 * whose coordinates are z = Tᵀ y and whose rows are T⁻¹ g. So contact, friction and hands are solved as one.
 *
 * Rotation is held in the same way, by the angle bend. Besides, a pull F at the arm r turns the body like a pendulum,
 * with the stiffness (r.F) 1 - r Fᵀ; without it a light body pulled hard would flutter.
 * The positive part of its symmetric part has the eigenvectors r x F, with r.F, and r/|r| - F/|F|, with (|r||F| +
 * r.F)/2.
 *
 * Chosen where not given: critical damping and a natural frequency of 1/(2 h), at most 100/s, for the mass of the body.
 * A step of 10 ms gives 50/s: a sag of 4 mm under its own weight, and a tenth of a second to follow. */
#include "assemble/hold.h"

#include <math.h>
#include <string.h>

#include "la/small.h"

static const double RATE_OF_STEP = 0.5, RATE_MAX = 100; /* natural frequency, rad per step and rad/s */
static const double MOST = 50 * 9.81;                   /* m/s²: pull over mass where no limit is given */

/* ---- what a hand is made of ---- */

static double chosen(double given, double otherwise) { return given > 0 ? given : otherwise; }

static ds_vec3 cut(ds_vec3 x, double longest) {
  double length = v3_norm(x);
  return length > longest ? v3_scale(longest / length, x) : x;
}

/* From one rotation to another, as a rotation vector in the world. */
static ds_vec3 rotation_between(ds_quat from, ds_quat to) {
  ds_quat d = quat_mul(to, quat_conj(from));
  if (d.w < 0) d = quat(-d.w, -d.x, -d.y, -d.z);
  double sine = sqrt(d.x * d.x + d.y * d.y + d.z * d.z);
  return sine > 0 ? v3_scale(2 * atan2(sine, d.w) / sine, v3(d.x, d.y, d.z)) : v3(0, 0, 0);
}

static void fill_grasp(ds_grasp *grasp, const ds_hand_state *hand, const ds_state *state, double h) {
  const ds_hand_def *def = &hand->def;
  const ds_body *body = &state->scene->bodies[ds_index(def->body)];
  const ds_body_state *s = &state->bodies[ds_index(def->body)];
  double mass = body->mass.mass, rate = fmin(RATE_OF_STEP / h, RATE_MAX);
  double inertia = fmax(body->inertia.x, fmax(body->inertia.y, body->inertia.z));
  *grasp = (ds_grasp){.arm = quat_rotate(s->q, ds_hand_grip(hand, state))};
  grasp->stiffness = chosen(def->stiffness, mass * rate * rate);
  grasp->damping = chosen(def->damping, 2 * sqrt(mass * grasp->stiffness));
  grasp->stretch = v3_sub(def->target.p, v3_add(s->x, grasp->arm));
  grasp->stretch = cut(grasp->stretch, chosen(def->max_force, MOST * mass) / grasp->stiffness);
  if (!def->turn) return;
  ds_quat frame = quat_mul(s->q, body->user_frame.q);
  grasp->turn_stiffness = chosen(def->turn_stiffness, inertia * rate * rate);
  grasp->turn_damping = chosen(def->turn_damping, 2 * sqrt(inertia * grasp->turn_stiffness));
  grasp->bend = rotation_between(frame, def->target.q);
  grasp->bend = cut(grasp->bend, chosen(def->max_torque, MOST * mass * body->bounding_radius) / grasp->turn_stiffness);
}

/* ---- rows ---- */

/* In the coordinates without hands. */
static void torque_row(double *row, const ds_step_body *body, ds_vec3 axis) {
  body->ops->row(row, body, v3(0, 0, 0), axis, (ds_anchor){-1, 0, 0});
}

/* A force along d at the grip, which deforms a body that is held at its surface. */
static void force_row(double *row, const ds_step_body *body, const ds_hand_state *hand, ds_vec3 arm, ds_vec3 d) {
  body->ops->row(row, body, d, v3_cross(arm, d), (ds_anchor){hand->triangle, hand->s, hand->t});
}

/* ---- the matrix of a held body ---- */

/* 1 + ... += s g gᵀ, in the lower triangle; pull += p g */
static void add_row(ds_hold *hold, const double *row, double s, double p) {
  for (int32_t i = 0; i < hold->size; i++) {
    hold->pull[i] += p * row[i];
    for (int32_t k = 0; k <= i; k++) hold->factor[i * hold->size + k] += s * row[i] * row[k];
  }
}

/* The pendulum of a pull F at the arm r. */
static void add_pendulum(ds_hold *hold, double *row, const ds_step_body *body, ds_vec3 r, ds_vec3 f, double h) {
  double product = v3_norm(r) * v3_norm(f), dot = v3_dot(r, f);
  if (!(product > 0)) return;
  ds_vec3 along = v3_unit(r), across = v3_sub(along, v3_unit(f)), normal = v3_cross(r, f);
  if (v3_norm(normal) <= 1e-6 * product) v3_tangents(&normal, &across, along); /* they line up */
  if (dot > 0) {
    torque_row(row, body, v3_unit(normal));
    add_row(hold, row, h * h * dot, 0);
  }
  torque_row(row, body, v3_unit(across));
  add_row(hold, row, h * h * 0.5 * fmax(0, product + dot), 0);
}

static void add_hand(ds_hold *hold, double *row, const ds_step_body *body, const ds_hand_state *hand, const ds_grasp *g,
                     double h) {
  const ds_vec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  ds_vec3 pull = v3_mad(v3_scale(h * g->stiffness, g->stretch), h * g->damping, hand->velocity);
  ds_vec3 twist = v3_mad(v3_scale(h * g->turn_stiffness, g->bend), h * g->turn_damping, hand->angular_velocity);
  for (int i = 0; i < 3; i++) {
    force_row(row, body, hand, g->arm, axes[i]);
    add_row(hold, row, h * g->damping + h * h * g->stiffness, v3_dot(axes[i], pull));
    if (!hand->def.turn) continue;
    torque_row(row, body, axes[i]);
    add_row(hold, row, h * g->turn_damping + h * h * g->turn_stiffness, v3_dot(axes[i], twist));
  }
  add_pendulum(hold, row, body, g->arm, v3_scale(g->stiffness, g->stretch), h);
  hold->carry = fmin(1, hold->carry + hand->def.carry);
}

static ds_hold *new_hold(ds_arena *arena, int32_t size) {
  ds_hold *hold = DS_NEW0(arena, ds_hold, 1);
  double *factor = DS_NEW0(arena, double, (size_t)size *(size_t)size), *pull = DS_NEW0(arena, double, size);
  double *copy = DS_NEW(arena, double, size), *y = DS_NEW(arena, double, size), *rate = DS_NEW(arena, double, size);
  if (ds_arena_failed(arena)) return NULL;
  *hold = (ds_hold){.size = size, .factor = factor, .pull = pull, .copy = copy, .y = y, .rate = rate};
  for (int32_t i = 0; i < size; i++) factor[i * size + i] = 1;
  return hold;
}

bool ds_hold_bodies(ds_arena *arena, ds_assembly *assembly, const ds_state *state, const ds_options *options) {
  if (state->hand_count == 0) return true;
  assembly->grasps = DS_NEW0(arena, ds_grasp, state->hand_count);
  if (!assembly->grasps) return false;
  for (int32_t i = 0; i < state->hand_count; i++) {
    const ds_hand_state *hand = &state->hands[i];
    if (!hand->def.body.index1) continue;
    ds_step_body *body = &assembly->bodies[ds_index(hand->def.body)];
    if (!body->moves) continue;
    if (!body->hold && !(body->hold = new_hold(arena, body->size))) return false;
    fill_grasp(&assembly->grasps[i], hand, state, options->step);
    add_hand(body->hold, body->hold->y, body, hand, &assembly->grasps[i], options->step);
  }
  for (int32_t i = 0; i < state->body_count; i++) {
    ds_step_body *body = &assembly->bodies[i];
    if (body->hold && !ds_small_cholesky(body->hold->factor, body->size)) body->hold = NULL; /* beyond all numbers */
  }
  return true;
}

/* ---- its coordinates ---- */

void ds_hold_scale(double *y, const ds_hold *hold) {
  int32_t n = hold->size;
  for (int32_t i = 0; i < n; i++) { /* row i of Tᵀ needs only what is below it; the diagonal is reciprocal */
    double sum = y[i] / hold->factor[i * n + i];
    for (int32_t k = i + 1; k < n; k++) sum += hold->factor[k * n + i] * y[k];
    y[i] = sum;
  }
}

void ds_hold_unscale(double *z, const ds_hold *hold) { ds_small_solve_lt(z, hold->factor, hold->size); }

void ds_hold_rows(double *rows, const ds_hold *hold) {
  for (int i = 0; i < 3; i++) ds_small_solve_l(rows + i * hold->size, hold->factor, hold->size);
}

/* ---- prediction and force ---- */

void ds_hold_predict(ds_step_body *body) {
  ds_hold *hold = body->hold;
  double *y = hold->y, *before = hold->rate;
  ds_vec3 w = body->w;
  if (body->rate) memcpy(before, body->rate, (size_t)(body->size - 6) * sizeof(double));
  body->hold = NULL; /* coordinates without hands */
  ds_scale_velocity(y, body, body->v, body->w, body->rate);
  body->hold = hold;
  for (int32_t i = 0; i < body->size; i++) y[i] += hold->pull[i];
  ds_small_solve_l(y, hold->factor, hold->size);
  ds_unscale_velocity(&body->v, &body->w, body->rate, body, y);
  ds_vec3 dw = mat3_tmul_v3(&body->rotation, v3_sub(body->w, w)), kick = body->ops->kick(body, dw, body->rate, before);
  body->spin = v3_add(body->spin, mat3_mul_v3(&body->rotation, kick));
}

void ds_hold_feel(ds_state *state, const ds_assembly *assembly, double h) {
  for (int32_t i = 0; i < state->hand_count; i++) {
    ds_hand_state *hand = &state->hands[i];
    int32_t index = ds_index(hand->def.body);
    if (index < 0) continue;
    const ds_step_body *body = &assembly->bodies[index];
    const ds_grasp *g = &assembly->grasps[i];
    ds_vec3 v, w;
    hand->force = hand->torque = v3(0, 0, 0);
    if (!body->moves || !body->hold) continue;
    double *rate = body->hold->rate;
    ds_body_velocity(&v, &w, rate, assembly, index);
    ds_vec3 u = v3_add(v, v3_cross(w, g->arm));
    ds_anchor grip = {hand->triangle, hand->s, hand->t};
    if (body->ops->stir) u = v3_add(u, body->ops->stir(body, grip, rate));
    hand->stiffness = g->stiffness;
    hand->force = v3_mad(v3_scale(g->stiffness, v3_mad(g->stretch, -h, u)), g->damping, v3_sub(hand->velocity, u));
    hand->torque =
        v3_mad(v3_scale(g->turn_stiffness, v3_mad(g->bend, -h, w)), g->turn_damping, v3_sub(hand->angular_velocity, w));
  }
}
