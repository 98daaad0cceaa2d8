/* Stage 5, integrate: the new configuration from the new velocity. */
#ifndef DS_INTEGRATE_INTEGRATE_H
#define DS_INTEGRATE_INTEGRATE_H

#include "assemble/assemble.h"

/* How one body moves in this step. */
typedef struct ds_move {
  ds_vec3 v, w;     /* velocities in which the contact constraints hold */
  ds_vec3 dx, turn; /* besides: what takes it out of overlaps (separate.c) */
  ds_vec3 lost;     /* of v at the end of the step, where it was stopped (sweep.c) */
  double keep;      /* of its velocities at the end of the step: less than 1 where it was lifted (separate.c) */
  double *rate;     /* of a deformable body */
  double share;     /* of its displacement that it takes: 1, or less where it would pass through something (sweep.c) */
  bool rests;       /* it keeps its place, and has no velocity */
} ds_move;

/* What the stage did besides moving. */
typedef struct ds_integration {
  double separation;    /* m: farthest that any body was moved out of overlaps */
  int32_t stopped;      /* bodies stopped before the end */
  double energy;        /* J: before, to be compared with that after (limit.c) ... */
  double *swing;        /* ... by so much above that of the state: of every island, then of every body in none */
  ds_energy *energies;  /* of every body, before */
  ds_contact *contacts; /* one per contact, with impulses; in the arena */
} ds_integration;

/* Moves all bodies of the assembly that move, save those of islands that `wait` marks (or NULL), and scripted ones to
 * where they are after h. False if memory ran out; the state is then as it was. */
bool ds_integrate(ds_arena *arena, ds_state *state, ds_integration *integration, const ds_scene *scene,
                  const ds_assembly *assembly, const ds_contact_list *contacts, const bool *wait, double h);

/* The clock of a state, one step of h after `time` and what rounding left of it. */
void ds_state_advance(ds_state *state, double time, double rest, double h);

/* Move a body by one step, as ds_body_ops says. */
void ds_move_rigid(ds_state *state, int32_t body, const ds_step_body *step, const ds_move *move, double h);
void ds_move_deformable(ds_state *state, int32_t body, const ds_step_body *step, const ds_move *move, double h);

/* The contacts with their impulses and velocities. */
void ds_store_contacts(ds_contact *out, const ds_assembly *assembly, const ds_contact_list *contacts);

/* separate.c: for every contact the overlap of its pair that is held, 0 if there is none. NULL if memory ran out.
 */
double *ds_held_overlaps(ds_arena *arena, const ds_contact_list *contacts, const ds_state *state);
/* separate.c: fills dx and turn of bodies that overlap; *farthest is the longest of these displacements. False where
 * memory ran out. */
bool ds_separate(ds_arena *arena, ds_move *moves, double *farthest, const ds_state *state, const ds_assembly *assembly,
                 const ds_contact_list *contacts, const double *held, double h);
/* sweep.c: cuts the share of bodies that would overlap others too deeply or pass through them; *stopped is how many.
 * False where memory ran out. */
bool ds_sweep(ds_arena *arena, ds_move *moves, int32_t *stopped, const ds_scene *scene, const ds_state *state,
              const ds_assembly *assembly, const ds_contact_list *contacts, double h);

/* limit.c: before bodies are moved, the energy of every island that has deformable bodies and no source of energy, and
 * infinity for others, then of bodies in no island; and `energy`, `swing` and `energies` of the integration; NULL if
 * memory ran out. Afterwards what these islands have gained is taken from them. */
double *ds_limit_begin(ds_arena *arena, ds_integration *integration, const ds_state *state, const ds_assembly *assembly,
                       const ds_contact_list *contacts, const ds_move *moves, double h);
void ds_limit_end(ds_state *state, const ds_assembly *assembly, const double *before, double h);

/* rest.c: marks the bodies of islands of rigid bodies that rest. */
void ds_find_rest(ds_move *moves, const ds_scene *scene, const ds_assembly *assembly, double h);
/* rest.c: before bodies are moved, a copy of what a step may change of islands that rest with velocities; false where
 * memory ran out. Afterwards those that rest are as they were. */
bool ds_keep_rest(ds_arena *arena, ds_state *kept, const ds_state *state, const ds_assembly *assembly);
void ds_restore_rest(ds_state *state, const ds_state *kept, const ds_assembly *assembly, double h);

#endif
