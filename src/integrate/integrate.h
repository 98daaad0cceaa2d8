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
  bool rests;       /* it keeps its place, and has no velocity */
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

/* Move a body by one step, as ds_body_ops says. */
void ds_move_rigid(ds_state *state, int32_t body, const ds_step_body *step, const ds_move *move, double h);
void ds_move_deformable(ds_state *state, int32_t body, const ds_step_body *step, const ds_move *move, double h);

/* The contacts with their impulses and velocities. */
void ds_store_contacts(ds_contact *out, const ds_assembly *assembly, const ds_contact_list *contacts);

/* separate.c: for every contact the overlap of its pair that is held, 0 if there is none. NULL if memory ran out.
 */
double *ds_held_overlaps(ds_arena *arena, const ds_contact_list *contacts, const ds_state *state);
/* separate.c: fills dx and turn of bodies that overlap; *farthest is the longest of these ways. False where memory ran
 * out. */
bool ds_separate(ds_arena *arena, ds_move *moves, double *farthest, const ds_state *state, const ds_assembly *assembly,
                 const ds_contact_list *contacts, const double *held, double h);
/* sweep.c: cuts the share of bodies that would pass through others; *stopped is how many. False where memory ran out.
 */
bool ds_sweep(ds_arena *arena, ds_move *moves, int32_t *stopped, const ds_scene *scene, const ds_state *state,
              const ds_assembly *assembly, double h);

#endif
