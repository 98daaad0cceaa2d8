/* Stage 2, assemble: contact points -> islands, each a frictional contact problem of its own.
 *
 * Islands are bodies joined by contacts; static, kinematic and held bodies do not join. They are numbered in order of
 * their lowest body, their contacts keep the order of detection: nothing depends on threads. */
#ifndef DS_ASSEMBLE_ASSEMBLE_H
#define DS_ASSEMBLE_ASSEMBLE_H

#include "base/arena.h"
#include "detect/detect.h"
#include "problem/subproblem.h"

/* What a step knows of one body besides its state. */
typedef struct ds_step_body {
  bool moves;            /* has degrees of freedom in this step */
  int32_t island, local; /* its island and its place in it; -1 where it does not move or touches nothing */
  ds_mat3 rotation;
  double inverse_root_mass;     /* 1/sqrt(m) */
  ds_vec3 inverse_root_inertia; /* 1/sqrt(I), principal */
  ds_vec3 v, w;                 /* scripted velocity (kinematic), predicted velocity (dynamic, stage 3) */
  ds_vec3 spin;                 /* angular momentum without contact (stage 3) */
} ds_step_body;

/* The frame of one contact. */
typedef struct ds_contact_frame {
  ds_vec3 normal, t1, t2;
  double mu, restitution;
} ds_contact_frame;

typedef struct ds_island {
  ds_subproblem problem;
  int32_t *bodies;   /* scene indices of its bodies */
  int32_t *contacts; /* indices in the contact list */
  double *predicted; /* = problem.predicted, filled by stage 3 */
  double *r, *v;     /* impulses (warm start until stage 4), velocities */
  ds_certificate certificate;
} ds_island;

typedef struct ds_assembly {
  ds_step_body *bodies;     /* a body of the scene each */
  ds_contact_frame *frames; /* a contact each */
  ds_island *islands;
  int32_t island_count;
} ds_assembly;

/* False where memory ran out. */
bool ds_assemble(ds_arena *arena, ds_assembly *assembly, const ds_scene *scene, const ds_state *state,
                 const ds_contact_list *contacts, const ds_options *options);

/* Mass-scaled coordinates of a body's velocity and back: (sqrt(m) v, sqrt(I) Rᵀ w). */
void ds_scale_velocity(double out[6], const ds_step_body *body, ds_vec3 v, ds_vec3 w);
void ds_unscale_velocity(ds_vec3 *v, ds_vec3 *w, const ds_step_body *body, const double in[6]);

/* islands.c: labels bodies by island; counts bodies and contacts of each. */
bool ds_find_islands(ds_arena *arena, ds_assembly *assembly, const ds_contact_list *contacts, int32_t body_count);
/* warm.c: impulses of the last step's contacts for those of the same key, expressed in the new frames; 3 a contact. */
void ds_match_warm_start(double *r, const ds_assembly *assembly, const ds_contact_list *contacts,
                         const ds_state *state);

#endif
