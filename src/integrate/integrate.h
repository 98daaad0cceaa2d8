/* Stage 5, integrate: the new configuration from the new velocity. */
#ifndef DS_INTEGRATE_INTEGRATE_H
#define DS_INTEGRATE_INTEGRATE_H

#include "assemble/assemble.h"

/* How one body moves in this step. */
typedef struct ds_move {
  ds_vec3 v, w;     /* velocities in which the contact constraints hold */
  ds_vec3 dx, turn; /* besides: what takes it out of overlaps (separate.c) */
  double *rate;     /* of a deformable body */
  double share;     /* of the step that it moves: 1, or less where it would pass through something (sweep.c) */
} ds_move;

/* What the stage did besides moving. */
typedef struct ds_integration {
  double separation; /* m: farthest that any body was moved out of overlaps */
  int32_t stopped;   /* bodies stopped on their way */
} ds_integration;

/* Moves all bodies and stores the contacts with their impulses (room for them is reserved by the caller). False if
 * memory ran out; the state is then as it was. */
bool ds_integrate(ds_arena *arena, ds_state *state, ds_integration *integration, const ds_scene *scene,
                  const ds_assembly *assembly, const ds_contact_list *contacts, double h);

/* Velocities of a body in the solution: of its contacts, of its script, or of its own flight; and the rates of a
 * deformable one, where they are wanted. */
void ds_body_velocity(ds_vec3 *v, ds_vec3 *w, double *rate, const ds_assembly *assembly, int32_t body);
/* The contacts with their impulses and velocities. */
void ds_store_contacts(ds_contact *out, const ds_assembly *assembly, const ds_contact_list *contacts);

/* separate.c: for every contact the overlap of its pair that is held, 0 if there is none. NULL if memory ran out.
 */
double *ds_held_overlaps(ds_arena *arena, const ds_contact_list *contacts, const ds_state *state);
/* separate.c: fills dx and turn of bodies that overlap; returns the farthest of them, negative if memory ran out. */
double ds_separate(ds_arena *arena, ds_move *moves, const ds_state *state, const ds_assembly *assembly,
                   const ds_contact_list *contacts, const double *held, double h);
/* sweep.c: cuts the share of bodies that would pass through others; returns how many, negative if memory ran out. */
int32_t ds_sweep(ds_arena *arena, ds_move *moves, const ds_scene *scene, const ds_state *state,
                 const ds_assembly *assembly, double h);

#endif
