/* Predicted velocities: explicit in gravity and external forces, implicit in damping; rotation and deformation by the
 * kind of body (body/kind.h); what hands do by ds_hold_predict. */
#include "predict/predict.h"

#include "assemble/hold.h"

/* The body-frame angular momentum with what torque and damping do in the step. */
static ds_vec3 driven(ds_vec3 momentum, const ds_step_body *out, const ds_body_def *def, ds_vec3 torque, double h) {
  momentum = v3_mad(momentum, h, mat3_tmul_v3(&out->rotation, v3_add(torque, def->torque)));
  return v3_scale(1 / (1 + h * def->angular_damping), momentum);
}

/* The first half of a step by the midpoint rule; the free spin's rate is where the rest starts from. */
static void predict_midpoint(ds_step_body *out, const ds_body *body, const ds_body_state *s, ds_vec3 force,
                             ds_vec3 torque, ds_vec3 gravity, double h) {
  const ds_body_def *def = &body->def;
  ds_vec3 push = v3_scale(0.5 * h / body->mass.mass, v3_add(force, def->force));
  out->half_push = v3_mad(push, 0.5 * h, gravity);
  out->v = v3_scale(1 / (1 + 0.5 * h * def->linear_damping), v3_add(s->v, out->half_push));
  ds_vec3 momentum = v3_mul(body->inertia, mat3_tmul_v3(&out->rotation, s->w));
  momentum = v3_scale(1 / (1 + 0.5 * h * def->angular_damping), momentum);
  out->half_torque = v3_scale(0.5 * h, mat3_tmul_v3(&out->rotation, v3_add(torque, def->torque)));
  ds_vec3 w = ds_free_spin(body->inertia, v3_add(momentum, out->half_torque), h);
  if (v3_norm2(out->half_torque) > 0) w = ds_midpoint_spin(body->inertia, momentum, out->half_torque, w, h);
  out->spin = mat3_mul_v3(&out->rotation, momentum);
  out->w = mat3_mul_v3(&out->rotation, w);
}

static void predict_body(ds_step_body *out, const ds_body *body, const ds_body_state *s, ds_vec3 force, ds_vec3 torque,
                         ds_vec3 gravity, const ds_options *options) {
  const ds_body_def *def = &body->def;
  double h = options->step;
  if (out->hold) gravity = v3_scale(1 - out->hold->carry, gravity);
  const ds_step_deformable *d = ds_step_reduced(out);
  if (d) /* v is the mean of a step, as the rates are: from the middle of the one before to that of this */
    gravity = v3_scale((h + d->newmark_before.h) / (2 * h), gravity);
  ds_vec3 push = v3_scale(h / body->mass.mass, v3_add(force, def->force));
  out->v = v3_scale(1 / (1 + h * def->linear_damping), v3_add(v3_mad(s->v, h, gravity), push));
  ds_vec3 w = mat3_tmul_v3(&out->rotation, s->w);
  ds_vec3 before = body->ops->momentum(body, out->q, w, out->rate_before);
  ds_vec3 momentum = driven(before, out, def, torque, h);
  w = body->ops->predict(out, before, momentum, options);
  out->spin = mat3_mul_v3(&out->rotation, momentum);
  out->w = mat3_mul_v3(&out->rotation, w);
  if (out->hold) ds_hold_predict(out);
}

typedef struct prediction {
  ds_assembly *assembly;
  const ds_scene *scene;
  const ds_state *state;
  const ds_options *options;
} prediction;

static void predict_one(void *context, int32_t i, int32_t worker) {
  const prediction *p = context;
  ds_step_body *s = &p->assembly->bodies[i];
  (void)worker;
  if (!s->moves) return;
  const ds_body *body = &p->scene->bodies[i];
  const ds_body_state *before = &p->state->bodies[i];
  ds_vec3 force = p->state->force[i], torque = p->state->torque[i], gravity = p->scene->def.gravity;
  if (p->assembly->level == DS_LEVEL_NODE)
    s->v = before->v, s->w = before->w;
  else if (s->midpoint)
    predict_midpoint(s, body, before, force, torque, gravity, p->options->step);
  else
    predict_body(s, body, before, force, torque, gravity, p->options);
  if (s->island < 0) return;
  ds_island *island = &p->assembly->islands[s->island];
  ds_scale_velocity(island->predicted + island->problem.first[s->local], s, s->v, s->w, s->rate);
}

void ds_predict(ds_assembly *assembly, const ds_scene *scene, const ds_state *state, const ds_options *options,
                ds_pool *pool) {
  prediction p = {assembly, scene, state, options};
  ds_share_out(scene->reduced_count > 0 ? pool : NULL, scene->body_count, predict_one, &p);
}
