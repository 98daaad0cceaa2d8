/* Stage 3, predict: the velocity without contact [SP08 eq. 12]. */
#ifndef DS_PREDICT_PREDICT_H
#define DS_PREDICT_PREDICT_H

#include "assemble/assemble.h"
#include "la/anderson.h"

/* Fills v, w, spin and rates of the assembly's moving bodies and the predicted velocities of the islands. The pool may
 * be NULL. */
void ds_predict(ds_assembly *assembly, const ds_scene *scene, const ds_state *state, const ds_options *options,
                ds_pool *pool);

/* The angular velocity, constant over a step of h, that turns a free body of principal moments `inertia` and body-frame
 * momentum `momentum` so that energy and momentum are conserved (rigid.c). */
ds_vec3 ds_free_spin(ds_vec3 inertia, ds_vec3 momentum, double h);

/* The mean angular velocity of a step by the midpoint rule without contact, linearized about w; all in the body frame
 * (midpoint.c). */
ds_vec3 ds_midpoint_spin(ds_vec3 inertia, ds_vec3 momentum, ds_vec3 half_torque, ds_vec3 w, double h);

/* Rounds between turns and solution as a fixed-point iteration: its secant method, for islands with joints. Plain
 * rounds gain about half the angle by which a link turns in a step. */
typedef struct ds_refinement {
  ds_anderson secant;
  double *x, *image; /* velocities that rows are about, and those found; 6 per body */
} ds_refinement;

/* Sets the refinement of an island. False where memory ran out. */
bool ds_refine_new(ds_arena *arena, ds_island *island);

/* Mean velocities of a body that an earlier solve of the same step has found. */
typedef struct ds_found_velocity {
  ds_vec3 v, w;
  bool known;
} ds_found_velocity;

/* Fills a midpoint island for turns that were found before, one per body of the scene, where those of all of its bodies
 * are known. */
void ds_refine_about(ds_island *island, const ds_assembly *assembly, const ds_contact_list *contacts,
                     const ds_scene *scene, const ds_state *state, const ds_options *options,
                     const ds_found_velocity *found);

/* Fills rows, right-hand sides and predictions of a midpoint island again, for the velocities found, where these change
 * them by more than `tolerance` of its speed; false where they do not, and nothing is done (refine.c). Changes below
 * `fair` of its speed that hardly shrink any more are what the solver leaves. */
bool ds_refine_island(ds_island *island, const ds_assembly *assembly, const ds_contact_list *contacts,
                      const ds_scene *scene, const ds_state *state, const ds_options *options, double tolerance,
                      double fair);

/* The angular velocity, in the body frame, and the rates (into d->rate) of a free deformable body over one step: it has
 * angular momentum `before`, and `momentum` with what torques and damping do in this step (deformable.c). */
ds_vec3 ds_deformable_predict(ds_step_deformable *d, ds_vec3 before, ds_vec3 momentum, const ds_options *options);

/* The elastic energy that a body has at the end of a step with these rates, minus that of its linearized forces, J.
 * `energy` is the elastic energy there and the kinetic one of the rates (judge.c). */
double ds_deformable_surprise(double *energy, const ds_step_deformable *d, const double *rate, double h);
/* After the solve: the number of deformable bodies with more elastic energy than their model, and in `stiffer`, one
 * matrix per body of the scene, their missing stiffness (judge.c). False if memory ran out. */
bool ds_find_misjudged(ds_arena *arena, double **stiffer, int32_t *count, const ds_assembly *assembly, int32_t bodies,
                       double h);

#endif
