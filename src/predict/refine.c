/* The step as a nonlinear problem: the contact problem of an island is linear in its velocities for given turns of its
 * bodies, and the velocities found give better turns. At rest, and where nothing turns, the first ones are right. */
#include <math.h>

#include "la/small.h"
#include "predict/predict.h"

/* (I + K)⁻¹ I w, body frame */
static ds_vec3 eased(const ds_step_body *body, ds_vec3 w) {
  const ds_vec3 inertia = body->body->inertia;
  double x[3] = {inertia.x * w.x, inertia.y * w.y, inertia.z * w.z};
  ds_small_solve_l(x, body->root, 3);
  ds_small_solve_lt(x, body->root, 3);
  return v3(x[0], x[1], x[2]);
}

/* The turn of a body and its velocity without contact, for the velocities found. How much that changes velocities of
 * its points, m/s, comes back; what the stiffness of joints (joint/stiffen.c) tells of the change is known. */
static double refine_body(ds_step_body *body, double *predicted, const double *found, const ds_body *def, double h) {
  ds_vec3 v, w, before = body->w, turned = body->turn;
  ds_unscale_velocity(&v, &w, NULL, body, found);
  ds_vec3 local = mat3_tmul_v3(&body->rotation, w), momentum = mat3_tmul_v3(&body->rotation, body->spin);
  ds_set_turn(body, v, w, h);
  ds_vec3 free = ds_midpoint_spin(def->inertia, momentum, body->half_torque, local, h);
  if (body->stiff) { /* w - (I + K)⁻¹ I (w - free), and before + (I + K)⁻¹ K (w - w_i) */
    ds_vec3 since = mat3_tmul_v3(&body->rotation, v3_mad(w, -1 / h, turned));
    free = v3_sub(local, eased(body, v3_sub(local, free)));
    before = v3_add(before, mat3_mul_v3(&body->rotation, v3_sub(since, eased(body, since))));
  }
  body->w = mat3_mul_v3(&body->rotation, free);
  ds_scale_velocity(predicted, body, body->v, body->w, NULL);
  double swing = v3_dist(body->turn, turned) * v3_norm(w); /* of an arm of 1 m */
  return def->bounding_radius * (v3_dist(body->w, before) + swing);
}

bool ds_refine_island(ds_island *island, const ds_assembly *assembly, const ds_contact_list *contacts,
                      const ds_scene *scene, const ds_state *state, const ds_options *options, double tolerance) {
  const ds_subproblem *p = &island->problem;
  double h = options->step, change = 0, speed = h * v3_norm(scene->def.gravity);
  for (int32_t k = 0; k < p->body_count; k++) {
    int32_t i = island->bodies[k];
    ds_step_body *body = &assembly->bodies[i];
    double *predicted = island->predicted + p->first[k];
    change = fmax(change, refine_body(body, predicted, island->v + p->first[k], &scene->bodies[i], h));
    speed = fmax(speed, (v3_norm(body->v) + v3_norm(body->turn) / h * scene->bodies[i].bounding_radius));
  }
  if (!(change > tolerance * speed)) return false;
  ds_fill_island(island, assembly, contacts, state, options, NULL);
  return true;
}
