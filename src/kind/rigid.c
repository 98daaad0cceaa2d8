/* Rigid bodies. The metric is diag(m, m, m, I), with principal moments I; scaled velocities are (sqrt(m) v, sqrt(I) Rᵀ
 * w) and the row of a direction d at the arm is (d/sqrt(m), I^(-1/2) Rᵀ (arm x d)). With the stiffness K of joints
 * (joint/stiffen.c) the factor L of I + K stands for sqrt(I). */
#include "assemble/assemble.h"
#include "body/kind.h"
#include "integrate/integrate.h"
#include "la/small.h"
#include "predict/predict.h"

static bool takes(const ds_body *body) { return body->kind == DS_BODY_DYNAMIC; }

static ds_vec3 momentum(const ds_body *body, const double *q, ds_vec3 w, const double *rate) {
  (void)q, (void)rate;
  return v3_mul(body->inertia, w);
}

static void energy(ds_energy *energy, const ds_body *body, const ds_body_state *s, const ds_state *state) {
  ds_vec3 spin = quat_rotate(s->q, v3_mul(body->inertia, quat_unrotate(s->q, s->w)));
  (void)state;
  energy->kinetic += 0.5 * body->mass.mass * v3_norm2(s->v) + 0.5 * v3_dot(s->w, spin);
}

static void scale(double *out, const ds_step_body *step, ds_vec3 w, const double *rate) {
  (void)rate;
  if (step->stiff) { /* Lᵀ w, the diagonal is reciprocal */
    const double *l = step->root;
    out[0] = w.x / l[0] + l[3] * w.y + l[6] * w.z;
    out[1] = w.y / l[4] + l[7] * w.z;
    out[2] = w.z / l[8];
    return;
  }
  out[0] = w.x / step->inverse_root_inertia.x;
  out[1] = w.y / step->inverse_root_inertia.y;
  out[2] = w.z / step->inverse_root_inertia.z;
}

static ds_vec3 unscale(double *rate, const ds_step_body *step, const double *in) {
  (void)rate;
  if (step->stiff) {
    double x[3] = {in[0], in[1], in[2]};
    ds_small_solve_lt(x, step->root, 3);
    return v3(x[0], x[1], x[2]);
  }
  return v3_mul(step->inverse_root_inertia, v3(in[0], in[1], in[2]));
}

static void row(double *row, const ds_step_body *step, ds_vec3 force, ds_vec3 torque, ds_anchor at) {
  ds_vec3 lever = mat3_tmul_v3(&step->rotation, torque);
  double m = step->inverse_root_mass;
  (void)at;
  row[0] = m * force.x, row[1] = m * force.y, row[2] = m * force.z;
  if (step->stiff) {
    row[3] = lever.x, row[4] = lever.y, row[5] = lever.z;
    ds_small_solve_l(row + 3, step->root, 3);
    return;
  }
  row[3] = step->inverse_root_inertia.x * lever.x;
  row[4] = step->inverse_root_inertia.y * lever.y;
  row[5] = step->inverse_root_inertia.z * lever.z;
}

static void rows(double *g, const ds_step_body *step, ds_vec3 arm, ds_anchor at, const ds_anchor *itself,
                 const ds_contact_frame *f, double sign) {
  const ds_vec3 d[3] = {v3_scale(sign, f->normal), v3_scale(sign, f->t1), v3_scale(sign, f->t2)};
  (void)itself; /* it never touches itself */
  for (int i = 0; i < 3; i++) row(g + 6 * i, step, d[i], v3_cross(arm, d[i]), at);
}

static ds_vec3 kick(const ds_step_body *step, ds_vec3 dw, const double *rate, const double *before) {
  (void)rate, (void)before;
  return v3_mul(step->body->inertia, dw);
}

static ds_vec3 predict(ds_step_body *step, ds_vec3 before, ds_vec3 momentum, const ds_options *options) {
  (void)before;
  return ds_free_spin(step->body->inertia, momentum, options->step);
}

const ds_body_ops ds_body_rigid = {
    .name = "rigid",
    .dynamic = true,
    .chords = true,
    .takes = takes,
    .finish = ds_body_sum_shapes,
    .momentum = momentum,
    .energy = energy,
    .scale = scale,
    .unscale = unscale,
    .rows = rows,
    .row = row,
    .kick = kick,
    .predict = predict,
    .move = ds_move_rigid,
};
