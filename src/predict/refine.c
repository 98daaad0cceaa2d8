/* The step as a nonlinear problem: the contact problem of an island is linear in its velocities for given turns of its
 * bodies, and the velocities found give better turns. At rest, and where nothing turns, the first ones are right. */
#include <math.h>

#include "predict/predict.h"

/* A body with the turn and the velocity without contact that the velocities found would have. How much that changes
 * velocities of its points, m/s, comes back. */
static double refine_body(ds_step_body *refined, const ds_step_body *body, const double *found, const ds_body *def,
                          double h) {
  ds_vec3 v, w;
  *refined = *body;
  ds_unscale_velocity(&v, &w, NULL, body, found);
  ds_vec3 local = mat3_tmul_v3(&body->rotation, w), momentum = mat3_tmul_v3(&body->rotation, body->spin);
  ds_set_turn(refined, v, w, h);
  refined->w = mat3_mul_v3(&body->rotation, ds_midpoint_spin(def->inertia, momentum, body->half_torque, local, h));
  double swing = v3_dist(refined->turn, body->turn) * v3_norm(w); /* of an arm of 1 m */
  return def->bounding_radius * (v3_dist(refined->w, body->w) + swing);
}

bool ds_refine_island(ds_island *island, const ds_assembly *assembly, const ds_contact_list *contacts,
                      const ds_scene *scene, const ds_state *state, const ds_options *options, double tolerance) {
  const ds_subproblem *p = &island->problem;
  double h = options->step, change = 0, speed = h * v3_norm(scene->def.gravity);
  ds_step_body refined;
  for (int32_t k = 0; k < p->body_count; k++) {
    const ds_body *def = &scene->bodies[island->bodies[k]];
    const ds_step_body *body = &assembly->bodies[island->bodies[k]];
    change = fmax(change, refine_body(&refined, body, island->v + p->first[k], def, h));
    speed = fmax(speed, (v3_norm(body->v) + v3_norm(refined.turn) / h * def->bounding_radius));
  }
  if (!(change > tolerance * speed)) return false; /* the problem stays as it was solved */
  for (int32_t k = 0; k < p->body_count; k++) {
    ds_step_body *body = &assembly->bodies[island->bodies[k]];
    refine_body(&refined, body, island->v + p->first[k], &scene->bodies[island->bodies[k]], h);
    *body = refined;
    ds_scale_velocity(island->predicted + p->first[k], body, body->v, body->w, NULL);
  }
  ds_fill_island(island, assembly, contacts, state, options, NULL);
  return true;
}
