/* Hands in a step: held bodies have another metric and another prediction (hold.c). */
#ifndef DS_ASSEMBLE_HOLD_H
#define DS_ASSEMBLE_HOLD_H

#include "assemble/assemble.h"

/* What hands do to one body in this step. Vectors are in its own scaled coordinates, of n = size numbers. */
typedef struct ds_hold {
  int32_t size;
  double *factor;          /* n x n: Cholesky factor T of 1 + sum s g gᵀ; diagonals are reciprocal */
  double *pull;            /* n: impulses of the springs as they stand */
  double carry;            /* share of its weight that hands bear */
  double *copy, *y, *rate; /* n each, to work in: of ds_unscale_velocity, and of hold.c */
} ds_hold;

/* One hand in this step: what its force is made of. */
typedef struct ds_grasp {
  ds_vec3 arm;           /* centre to grip, world */
  ds_vec3 stretch, bend; /* grip to target at the start, m and rad, cut where the spring pulls hardest */
  double stiffness, damping, turn_stiffness, turn_damping;
} ds_grasp;

/* Prepares the hands of a state and the bodies they hold; those of deformable bodies must be filled. False if memory
 * ran out. */
bool ds_hold_bodies(ds_arena *arena, ds_assembly *assembly, const ds_state *state, const ds_options *options);

/* z = Tᵀ y and back, in place; and rows (3 x n) of contacts, g := T⁻¹ g. */
void ds_hold_scale(double *y, const ds_hold *hold);
void ds_hold_unscale(double *z, const ds_hold *hold);
void ds_hold_rows(double *rows, const ds_hold *hold);

/* From the velocity without hands and contact to that without contact. */
void ds_hold_predict(ds_step_body *body);

/* Forces of the hands for the velocities found. Does not look at where bodies are. */
void ds_hold_feel(ds_state *state, const ds_assembly *assembly, double h);

#endif
