/* Predicted velocities: explicit in gravity and external forces, implicit in damping, the gyroscopic term by
 * ds_free_spin. */
#include "predict/predict.h"

static void predict_body(ds_step_body *out, const ds_body *body, const ds_body_state *s, ds_vec3 force, ds_vec3 torque,
                         ds_vec3 gravity, double h) {
  const ds_body_def *def = &body->def;
  ds_vec3 push = v3_scale(h / body->mass.mass, v3_add(force, def->force));
  out->v = v3_scale(1 / (1 + h * def->linear_damping), v3_add(v3_mad(s->v, h, gravity), push));
  ds_vec3 momentum = v3_mul(body->inertia, mat3_tmul_v3(&out->rotation, s->w));
  momentum = v3_mad(momentum, h, mat3_tmul_v3(&out->rotation, v3_add(torque, def->torque)));
  momentum = v3_scale(1 / (1 + h * def->angular_damping), momentum);
  out->spin = mat3_mul_v3(&out->rotation, momentum);
  out->w = mat3_mul_v3(&out->rotation, ds_free_spin(body->inertia, momentum, h));
}

void ds_predict(ds_assembly *assembly, const ds_scene *scene, const ds_state *state, double h) {
  for (int32_t i = 0; i < scene->body_count; i++) {
    ds_step_body *s = &assembly->bodies[i];
    if (!s->moves) continue;
    predict_body(s, &scene->bodies[i], &state->bodies[i], state->force[i], state->torque[i], scene->def.gravity, h);
    if (s->island >= 0) ds_scale_velocity(assembly->islands[s->island].predicted + 6 * s->local, s, s->v, s->w);
  }
}
