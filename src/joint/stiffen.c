/* Geometric stiffness: how the torques of joints change where bodies turn otherwise than was thought.
 *
 * By the midpoint rule a half-impulse rho acts at the mean of the lever arms at start and end. With the arm a of the
 * end, a change dw of the angular velocity changes its torque by
 *
 *   (h/2) (dw x a) x rho = -K dw,   K = (h/2) ((a . rho) 1 - a rhoᵀ),
 *
 * which is of the size of I where waves across a chain have h ω = 2, and 25 times as large at h ω = 10: rounds that
 * know only the torque for the last turn do not converge there. So I + K takes the place of the metric I (the symmetric
 * part of K; the rest is of second order, because the torques of all joints of a body nearly cancel), about the turn
 * w_i of the last round:
 *
 *   (I + K) (w - w_i) = sum a_i x rho - F(w_i),   w_p = w_i - (I + K)⁻¹ F(w_i)   [predict/midpoint.c].
 *
 * The solution is the same: where w = w_i, K does not matter. The impulses come from the rows J of joints, with the
 * impulses r of contacts from the last round or the last step:
 *
 *   J Jᵀ λ = J v_i - g(v_i)/h - J (v_p + G r),
 *
 * on the graph of joints (joint_system.c). Under compression K is negative, and couples of hinges make it indefinite in
 * directions in which the hinges leave no freedom. Where it would take more than half of the inertia away, only its
 * diagonal in the principal frame is used, and as much of that. */
#include <math.h>
#include <string.h>

#include "joint/articulate.h"
#include "joint/joint_system.h"
#include "la/small.h"

static const double LEAST = 0.5; /* of the inertia: what a negative K leaves */

static ds_vec3 from_start(const ds_step_body *body, double h) { return v3_scale(1 / h, body->turn); }

/* Row . x of a linkage */
static double times(const ds_null_row *row, const double *x) {
  double sum = 0;
  for (int side = 0; side < 2; side++)
    for (int32_t i = 0; row->at[side] >= 0 && i < DS_NULL_BLOCK; i++) sum += row->value[side][i] * x[row->at[side] + i];
  return sum;
}

/* gap = λ. False where memory ran out; `found` tells whether there are any. */
static bool find_impulses(ds_arena *arena, bool *found, ds_linkage *l, const ds_articulation *a,
                          const ds_island *island, const ds_assembly *assembly, const ds_state *state, double h) {
  const ds_subproblem *whole = &island->problem;
  ds_joint_system *system = ds_joint_system_create(arena, l, true);
  double *c = DS_NEW(arena, double, l->row_count + 1);
  if (!system || !c) return false;
  for (int32_t k = 0; k < l->body_count; k++) {
    const ds_step_body *body = &assembly->bodies[island->bodies[l->bodies[k]]];
    ds_scale_velocity(l->x + a->place[l->bodies[k]], body, v3_scale(1 / h, body->displacement), from_start(body, h),
                      NULL);
  }
  ds_linkage_gaps(l, assembly, state, h);
  for (int32_t i = 0; i < l->row_count; i++) c[i] = times(&l->rows[i], l->x) - l->gap[i];
  for (int32_t k = 0; k < l->body_count; k++) {
    int32_t body = l->bodies[k];
    memcpy(l->x + a->place[body], island->v + whole->first[body], (size_t)whole->size[body] * sizeof(double));
  }
  for (int32_t i = 0; i < l->row_count; i++) l->gap[i] = c[i] - times(&l->rows[i], l->x);
  *found = ds_joint_system_impulses(l->gap, system, l->rows);
  return true;
}

/* k += f ((a . rho) 1 - (a rhoᵀ + rho aᵀ)/2) */
static void add_stiffness(double k[9], ds_vec3 a, ds_vec3 rho, double f) {
  const double x[3] = {a.x, a.y, a.z}, y[3] = {rho.x, rho.y, rho.z};
  double dot = f * v3_dot(a, rho);
  for (int i = 0; i < 3; i++) {
    k[4 * i] += dot;
    for (int j = 0; j < 3; j++) k[3 * i + j] -= 0.5 * f * (x[i] * y[j] + y[i] * x[j]);
  }
}

/* k: 9 per body of the linkage, in its frame. */
static void sum_stiffness(double *k, const ds_linkage *l, const ds_assembly *assembly, double h) {
  for (int32_t i = 0; i < l->joint_count; i++) {
    const ds_held_joint *held = &l->joints[i];
    for (int side = 0; side < 2 && held->kind->holds_points; side++) {
      const ds_step_body *body = &assembly->bodies[held->body[side]];
      const ds_vec3 *points = side == 0 ? held->joint->on_a : held->joint->on_b;
      if (held->at[side] < 0) continue;
      ds_vec3 turn = mat3_tmul_v3(&body->rotation, body->turn);
      for (int32_t row = 0; row < held->kind->row_count; row += 3) {
        const double *x = l->gap + held->first_row + row;
        ds_vec3 rho = mat3_tmul_v3(&body->rotation, v3(x[0], x[1], x[2]));
        ds_vec3 arm = quat_rotate(quat_exp(turn), points[row / 3]);
        add_stiffness(k + 9 * (held->at[side] / DS_NULL_BLOCK), arm, side == 0 ? rho : v3_neg(rho),
                      0.5 * h * body->stretch);
      }
    }
  }
}

/* (I + K) w, body frame */
static ds_vec3 momentum(const ds_step_body *body, ds_vec3 w) {
  double s[3];
  const double *l = body->root;
  if (!body->stiff) return v3_mul(body->body->inertia, w);
  body->ops->scale(s, body, w, NULL); /* Lᵀ w */
  return v3(s[0] / l[0], l[3] * s[0] + s[1] / l[4], l[6] * s[0] + l[7] * s[1] + s[2] / l[8]);
}

/* (1 - LEAST) I + K is positive definite */
static bool is_enough(const double k[9], const double inertia[3]) {
  double least[9];
  memcpy(least, k, sizeof least);
  for (int i = 0; i < 3; i++) least[4 * i] += (1 - LEAST) * inertia[i];
  return ds_small_cholesky(least, 3);
}

/* The metric I + K, and w_p in it. */
static void set_metric(ds_step_body *body, double k[9], double h) {
  const double inertia[3] = {body->body->inertia.x, body->body->inertia.y, body->body->inertia.z};
  ds_vec3 at = from_start(body, h), off = mat3_tmul_v3(&body->rotation, v3_sub(at, body->w)), f = momentum(body, off);
  if (!is_enough(k, inertia))
    for (int i = 0; i < 9; i++) k[i] = i % 4 == 0 ? fmax(k[i], -LEAST * inertia[i / 4]) : 0;
  memcpy(body->root, k, sizeof body->root);
  for (int i = 0; i < 3; i++) body->root[4 * i] += inertia[i];
  body->stiff = ds_small_cholesky(body->root, 3); /* false where an impulse is not finite */
  double x[3] = {f.x, f.y, f.z};
  if (body->stiff) {
    ds_small_solve_l(x, body->root, 3);
    ds_small_solve_lt(x, body->root, 3);
  } else {
    for (int i = 0; i < 3; i++) x[i] /= inertia[i];
  }
  body->w = v3_sub(at, mat3_mul_v3(&body->rotation, v3(x[0], x[1], x[2])));
}

bool ds_linkage_stiffen(ds_arena *arena, ds_linkage *l, const ds_articulation *a, const ds_island *island,
                        const ds_assembly *assembly, const ds_state *state, double h) {
  bool found;
  ds_arena_mark mark = ds_arena_get_mark(arena);
  double *k = DS_NEW0(arena, double, 9 * (size_t)l->body_count + 1);
  if (!k || !find_impulses(arena, &found, l, a, island, assembly, state, h)) return false;
  if (found) sum_stiffness(k, l, assembly, h);
  for (int32_t i = 0; found && i < l->body_count; i++) {
    ds_step_body *body = &assembly->bodies[island->bodies[l->bodies[i]]];
    set_metric(body, k + 9 * (a->place[l->bodies[i]] / DS_NULL_BLOCK), h);
    ds_scale_velocity(island->predicted + island->problem.first[l->bodies[i]], body, body->v, body->w, NULL);
  }
  ds_arena_release(arena, mark);
  return true;
}
