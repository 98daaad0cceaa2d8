/* Predicted velocities: explicit in gravity and external forces, implicit in damping; rotation and deformation by the
 * kind of body (body/kind.h); what hands do by ds_hold_predict. */
#include "predict/predict.h"

#include "assemble/hold.h"

/* The body-frame angular momentum with what torque and damping do in the step. */
static ds_vec3 driven(ds_vec3 momentum, const ds_step_body *out, const ds_body_def *def, ds_vec3 torque, double h) {
  momentum = v3_mad(momentum, h, mat3_tmul_v3(&out->rotation, v3_add(torque, def->torque)));
  return v3_scale(1 / (1 + h * def->angular_damping), momentum);
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
  predict_body(s, &p->scene->bodies[i], &p->state->bodies[i], p->state->force[i], p->state->torque[i],
               p->scene->def.gravity, p->options);
  if (s->island < 0) return;
  ds_island *island = &p->assembly->islands[s->island];
  ds_scale_velocity(island->predicted + island->problem.first[s->local], s, s->v, s->w, s->rate);
}

void ds_predict(ds_assembly *assembly, const ds_scene *scene, const ds_state *state, const ds_options *options,
                ds_pool *pool) {
  prediction p = {assembly, scene, state, options};
  ds_share_out(scene->reduced_count > 0 ? pool : NULL, scene->body_count, predict_one, &p);
}
