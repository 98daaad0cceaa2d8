/* What a body is: a table of operations per kind.
 *
 * A body of any kind has a frame, ds_body_state: the centre of mass x, a rotation q and their velocities v and w; and r
 * coordinates besides with their rates, in `reduced` and `reduced_rate` of the state, r = 0 of a rigid one. The solver
 * sees 6 + r velocities of a dynamic body, in coordinates in which its metric is the identity, and three rows of as
 * many numbers for every contact.
 *
 * A kind is one file in src/kind/ and one line in kinds.c. Operations are listed by the stage that calls them; what a
 * stage knows of a body is in its own header (ds_step_body: assemble/assemble.h, ds_move: integrate/integrate.h), which
 * the file of a kind may include and this one may not. Operations marked "or NULL" may be left out. Nothing may
 * allocate, but from the arena [CONTRIBUTING.md, "Add a body kind"]. */
#ifndef DS_BODY_KIND_H
#define DS_BODY_KIND_H

#include "base/arena.h"
#include "body/scene.h"

struct ds_step_body;
struct ds_contact_frame;
struct ds_move;

/* A material point of a body that deforms: corner0 + s (corner1 - corner0) + t (corner2 - corner0) of a triangle of its
 * skin. */
typedef struct ds_anchor {
  int32_t triangle; /* -1: a point of the frame, as are all of a rigid body */
  double s, t;
} ds_anchor;

typedef struct ds_body_ops {
  const char *name;
  bool dynamic; /* contact and forces move it: it has a mass */
  bool fixed;   /* nothing moves it, ever */
  bool deforms; /* its surface moves against its frame: it has a skin, and the operations marked so below */
  bool chords;  /* the midpoint rule may move it: by its inertia, as a rigid body; else `predict` and `move` do */
  /* Whether a body with the shapes that it has so far is of this kind. The first of the table is taken. */
  bool (*takes)(const ds_body *body);

  /* ---- scene and state ---- */
  /* Mass, inertia, user frame, bounds, thickness, and the poses of its shapes; of one that deforms r and skin too. */
  ds_status (*finish)(ds_body *body, ds_error *error);
  /* The pose of the user frame at a time, where time alone decides; or NULL. */
  ds_pose (*script)(const ds_body *body, double time);
  /* Its coordinates and rates at the start, zero before; or NULL. */
  void (*start)(double *q, double *rate, const ds_body *body);

  /* ---- the rest is of dynamic bodies, except `begin` and `move` ---- */
  /* Angular momentum about the centre of mass, and w, in the body's frame. */
  ds_vec3 (*momentum)(const ds_body *body, const double *q, ds_vec3 w, const double *rate);
  /* Adds kinetic and elastic energy. */
  void (*energy)(ds_energy *energy, const ds_body *body, const ds_body_state *s, const ds_state *state);

  /* ---- stage 2, assemble ---- */
  /* What a step needs of the body, before any other operation of the step: memory, `size`, `own`, `rate`; scripted
   * velocities. False if memory ran out. Or NULL. */
  bool (*begin)(ds_arena *arena, struct ds_step_body *step, const ds_state *state, const ds_options *options);
  /* Numbers that take their time, by any thread; or NULL. Of kinds with coordinates only. */
  void (*fill)(struct ds_step_body *step, const ds_options *options);
  /* The metric L Lᵀ of rotation and coordinates: Lᵀ (w, q') and back, w in the body's frame, 3 + r numbers. `rate` may
   * be NULL where it is not wanted back. */
  void (*scale)(double *out, const struct ds_step_body *step, ds_vec3 w, const double *rate);
  ds_vec3 (*unscale)(double *rate, const struct ds_step_body *step, const double *in);
  /* Scaled rows (3 x size) of a contact, with the sign of its side: (d/sqrt(m), L⁻¹ (Rᵀ (arm x d), Uᵀ Rᵀ d)) of the
   * three directions d of its frame. `arm` leads from the centre of mass to the contact; `at` is the point of the skin,
   * `itself` the other one where a body touches itself, else NULL. */
  void (*rows)(double *g, const struct ds_step_body *step, ds_vec3 arm, ds_anchor at, const ds_anchor *itself,
               const struct ds_contact_frame *frame, double sign);
  /* The same for one force at a point, given with its torque about the centre of mass. */
  void (*row)(double *row, const struct ds_step_body *step, ds_vec3 force, ds_vec3 torque, ds_anchor at);
  /* Velocity, in the world, of a point of the skin against the frame: R U q'. Of those that deform. */
  ds_vec3 (*stir)(const struct ds_step_body *step, ds_anchor at, const double *rate);
  /* By how much the angular momentum changes with w, by dw, and with the rates, from `before`; in the body's frame. */
  ds_vec3 (*kick)(const struct ds_step_body *step, ds_vec3 dw, const double *rate, const double *before);

  /* ---- stage 3, predict ---- */
  /* The velocity without contact: returns w in the body's frame, writes step->rate. The momentum is `before` at the
   * start, and `momentum` with what torques and damping do in this step. */
  ds_vec3 (*predict)(struct ds_step_body *step, ds_vec3 before, ds_vec3 momentum, const ds_options *options);
  /* After the solve: by how much the elastic energy at the end is above that of the model that was solved, J, and
   * *energy, elastic and of the rates (predict/judge.c); or NULL, if the model is exact. */
  double (*surprise)(double *energy, const struct ds_step_body *step, const double *rate, double h);

  /* ---- stage 5, integrate ---- */
  /* Moves the body with index `body` of the state by one step; or NULL. */
  void (*move)(ds_state *state, int32_t body, const struct ds_step_body *step, const struct ds_move *move, double h);
} ds_body_ops;

/* All kinds, in the order in which they are asked (kinds.c). */
extern const ds_body_ops *const ds_body_kinds[];
extern const int32_t ds_body_kind_count;
/* The kind of a body with the shapes that it has; NULL if no kind takes it. */
const ds_body_ops *ds_body_choose_kind(const ds_body *body);

#endif
