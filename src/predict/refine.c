/* The step as a nonlinear problem: the contact problem of an island is linear in its velocities for given turns of its
 * bodies, and the velocities found give better turns. At rest, and where nothing turns, the first ones are right. */
#include <math.h>

#include "la/small.h"
#include "predict/predict.h"

static const double WORSE = 2;  /* a change that grows by this factor: contacts have changed, the secant is of no use */
static const double SLOW = 0.1; /* a change that shrinks by less: what is left is the solver's own error */

/* (I + K)⁻¹ I w, body frame */
static ds_vec3 eased(const ds_step_body *body, ds_vec3 w) {
  const ds_vec3 inertia = body->body->inertia;
  double x[3] = {inertia.x * w.x, inertia.y * w.y, inertia.z * w.z};
  ds_small_solve_l(x, body->root, 3);
  ds_small_solve_lt(x, body->root, 3);
  return v3(x[0], x[1], x[2]);
}

/* How much the velocities found change those of the points of a body, m/s, beyond what its linear problem knows: what
 * the stiffness of joints (joint/stiffen.c) tells of the change is known. */
static double change_of(const ds_step_body *body, ds_vec3 w, const ds_body *def, double h) {
  ds_vec3 local = mat3_tmul_v3(&body->rotation, w), momentum = mat3_tmul_v3(&body->rotation, body->spin);
  ds_vec3 before = body->w, free = ds_midpoint_spin(def->inertia, momentum, body->half_torque, local, h);
  if (body->stiff) { /* w - (I + K)⁻¹ I (w - free), and before + (I + K)⁻¹ K (w - w_i) */
    ds_vec3 since = mat3_tmul_v3(&body->rotation, v3_mad(w, -1 / h, body->turn));
    free = v3_sub(local, eased(body, v3_sub(local, free)));
    before = v3_add(before, mat3_mul_v3(&body->rotation, v3_sub(since, eased(body, since))));
  }
  double swing = v3_dist(v3_scale(h, w), body->turn) * v3_norm(w); /* of an arm of 1 m */
  return def->bounding_radius * (v3_dist(mat3_mul_v3(&body->rotation, free), before) + swing);
}

/* The turn of a body and its velocity without contact, about given velocities. */
static void set_about(ds_step_body *body, double *predicted, ds_vec3 v, ds_vec3 w, const ds_body *def, double h) {
  ds_vec3 local = mat3_tmul_v3(&body->rotation, w), momentum = mat3_tmul_v3(&body->rotation, body->spin);
  ds_vec3 free = ds_midpoint_spin(def->inertia, momentum, body->half_torque, local, h);
  if (body->stiff) free = v3_sub(local, eased(body, v3_sub(local, free)));
  ds_set_turn(body, v, w, h);
  body->w = mat3_mul_v3(&body->rotation, free);
  ds_scale_velocity(predicted, body, body->v, body->w, NULL);
}

/* The velocities of a body as numbers of a secant method, and back. */
static void put(double *x, ds_vec3 v, ds_vec3 w, double radius) {
  w = v3_scale(radius, w);
  x[0] = v.x, x[1] = v.y, x[2] = v.z, x[3] = w.x, x[4] = w.y, x[5] = w.z;
}
static void get(ds_vec3 *v, ds_vec3 *w, const double *x, double radius) {
  *v = v3(x[0], x[1], x[2]), *w = v3_scale(1 / radius, v3(x[3], x[4], x[5]));
}

void ds_refine_about(ds_island *island, const ds_assembly *assembly, const ds_contact_list *contacts,
                     const ds_scene *scene, const ds_state *state, const ds_options *options,
                     const ds_found_velocity *found) {
  const ds_subproblem *p = &island->problem;
  bool known = island->midpoint;
  for (int32_t k = 0; k < p->body_count; k++) known &= found[island->bodies[k]].known;
  if (!known) return;
  for (int32_t k = 0; k < p->body_count; k++) {
    int32_t i = island->bodies[k];
    set_about(&assembly->bodies[i], island->predicted + p->first[k], found[i].v, found[i].w, &scene->bodies[i],
              options->step);
  }
  ds_fill_island(island, assembly, contacts, state, options, NULL);
}

bool ds_refine_new(ds_arena *arena, ds_island *island) {
  int32_t n = 6 * island->problem.body_count;
  ds_refinement *r = island->refinement = DS_NEW(arena, ds_refinement, 1);
  if (!r) return false;
  *r = (ds_refinement){.x = DS_NEW(arena, double, n + 1), .image = DS_NEW(arena, double, n + 1)};
  return ds_anderson_new(arena, &r->secant, n) && !ds_arena_failed(arena);
}

bool ds_refine_island(ds_island *island, const ds_assembly *assembly, const ds_contact_list *contacts,
                      const ds_scene *scene, const ds_state *state, const ds_options *options, double tolerance,
                      double fair) {
  const ds_subproblem *p = &island->problem;
  ds_refinement *r = island->refinement;
  double h = options->step, change = 0, speed = h * v3_norm(scene->def.gravity);
  for (int32_t k = 0; k < p->body_count; k++) {
    const ds_body *def = &scene->bodies[island->bodies[k]];
    const ds_step_body *body = &assembly->bodies[island->bodies[k]];
    ds_vec3 v, w;
    ds_unscale_velocity(&v, &w, NULL, body, island->v + p->first[k]);
    change = fmax(change, change_of(body, w, def, h));
    speed = fmax(speed, v3_norm(body->v) + v3_norm(w) * def->bounding_radius);
    if (!r) continue;
    put(r->x + 6 * k, v3_scale(1 / h, body->displacement), v3_scale(1 / h, body->turn), def->bounding_radius);
    put(r->image + 6 * k, v, w, def->bounding_radius);
  }
  bool slow = change <= fair * speed && change > SLOW * island->change;
  double before = island->change;
  island->change = change;
  if (slow || !(change > tolerance * speed)) return false;
  if (r) {
    if (change > WORSE * before) ds_anderson_forget(&r->secant);
    ds_anderson_next(&r->secant, r->x, r->image);
  }
  for (int32_t k = 0; k < p->body_count; k++) {
    const ds_body *def = &scene->bodies[island->bodies[k]];
    ds_step_body *body = &assembly->bodies[island->bodies[k]];
    ds_vec3 v, w;
    if (r)
      get(&v, &w, r->x + 6 * k, def->bounding_radius);
    else
      ds_unscale_velocity(&v, &w, NULL, body, island->v + p->first[k]);
    set_about(body, island->predicted + p->first[k], v, w, def, h);
  }
  ds_fill_island(island, assembly, contacts, state, options, NULL);
  return true;
}
