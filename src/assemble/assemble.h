/* Stage 2, assemble: contact points -> islands, each a frictional contact problem of its own.
 *
 * Islands are bodies joined by contacts and joints; static, kinematic and held bodies do not join. They are numbered in
 * order of their lowest body, their contacts keep the order of detection: nothing depends on threads. */
#ifndef DS_ASSEMBLE_ASSEMBLE_H
#define DS_ASSEMBLE_ASSEMBLE_H

#include "base/arena.h"
#include "detect/detect.h"
#include "problem/subproblem.h"

/* Newmark's constants of every reduced coordinate for a step of h, beta = (1 + delta)²/4 and gamma = (1 + delta)/2, the
 * weight of damping, as square roots so that matrices stay symmetric (predict/deformable.c). r numbers each. */
typedef struct ds_newmark {
  double h;
  double *root_beta, *root_gamma, *root_delta;
} ds_newmark;

/* What a step knows of a deformable body besides. Sizes with n = 3 + r, matrices row-major. */
typedef struct ds_step_deformable {
  const struct ds_reduced *reduced;
  const double *q, *rate_before;          /* of the state */
  const double *stiffer;                  /* r x r: added to the stiffness, for a step that was misjudged; or NULL */
  double *rows;                           /* 3 x n: J(q) C(q), the rotational rows of the mass */
  double *tangent;                        /* r x r: stiffness of the implicit integrator */
  double *implicit;                       /* n x n: Cholesky factor of its matrix */
  double *factor;                         /* n x n: Cholesky factor L of the metric ... */
  double *columns;                        /* ... and Lᵀ; diagonals are reciprocal */
  double *again_tangent, *again_implicit; /* the same as tangent and implicit, of further Newton steps; or NULL */
  double *rate;                           /* predicted (stage 3) */
  ds_newmark newmark, newmark_before;     /* constants of its integrator in this step and in the one before */
} ds_step_deformable;

/* What a step knows of one body besides its state. */
typedef struct ds_step_body {
  bool moves;            /* has degrees of freedom in this step */
  int32_t island, local; /* its island and its place in it; -1 where it does not move or touches nothing */
  ds_mat3 rotation;
  double inverse_root_mass;       /* 1/sqrt(m) */
  ds_vec3 inverse_root_inertia;   /* 1/sqrt(I), principal */
  ds_vec3 v, w;                   /* scripted velocity (kinematic), predicted velocity (dynamic, stage 3) */
  ds_vec3 spin;                   /* angular momentum without contact (stage 3); midpoint: that of the start */
  bool midpoint;                  /* moves by the midpoint rule (predict/midpoint.c), else by the velocity at the end */
  ds_vec3 turn;                   /* rad: in this step, as far as it is known; of scripted bodies too */
  double stretch;                 /* tan(|turn|/2) / (|turn|/2) */
  ds_vec3 displacement;           /* m: of its centre of mass in this step, likewise */
  ds_vec3 half_push, half_torque; /* midpoint: h/2 (g + f/m), world; h/2 of the torque, body frame */
  bool stiff;                    /* its metric of rotations is I + K with the stiffness K of its joints' impulses ... */
  double root[9];                /* ... as a Cholesky factor, body frame (joint/stiffen.c, la/small.h) */
  int32_t size;                  /* degrees of freedom: 6 + r */
  const ds_body *body;           /* of the scene ... */
  const ds_body_ops *ops;        /* ... and what its kind does */
  const double *q, *rate_before; /* its coordinates and their rates, of the state */
  double *rate;                  /* predicted (stage 3); NULL where it has none */
  const double *stiffer;         /* r x r: added to the stiffness, for a step that was misjudged; or NULL */
  void *own;                     /* what its kind needs besides: ds_step_deformable of reduced ones */
  struct ds_hold *hold;          /* hands that hold it (assemble/hold.h); NULL = none */
} ds_step_body;

/* The same of a reduced deformable body that moves in the step; NULL for others. */
static inline const ds_step_deformable *ds_step_reduced(const ds_step_body *step) {
  return step->moves && step->body->reduced ? step->own : NULL;
}

/* Which impulses a constraint block may have (cone.c). */
typedef enum ds_cone {
  DS_CONE_COULOMB,   /* r_N >= 0, friction in a disk or an ellipse: a contact */
  DS_CONE_HALF_LINE, /* r_N >= 0: the limit of a joint */
  DS_CONE_INTERVAL,  /* |r| <= F h along one direction: a drive, dry friction of a joint */
  DS_CONE_DISK,      /* |r| <= F h in a plane: the same of a planar joint */
} ds_cone;

/* The frame of one block. */
typedef struct ds_contact_frame {
  ds_cone cone;
  ds_vec3 normal, t1, t2; /* t1 and t2 are as long as `flat` says */
  double mu, restitution; /* mu: the larger one where there are two */
  double flat[2];         /* semi-axes of the ellipse of friction along t1 and t2, over mu r_N; 1 and 1: a disk */
  ds_vec3 grip;           /* from the point to where its friction acts (pressure.c) */
} ds_contact_frame;

typedef struct ds_island {
  ds_subproblem problem; /* its contacts and bodies, as if there were no joints */
  int32_t *joints;       /* scene indices of its joints */
  int32_t joint_count;
  struct ds_articulation *articulation; /* where it has joints: the problem that is solved (joint/articulate.h) */
  int32_t *bodies;                      /* scene indices of its bodies */
  int32_t *contacts;                    /* indices in the contact list */
  double *predicted;                    /* = problem.predicted, filled by stage 3 */
  double *r, *v;                        /* impulses (warm start until stage 4), velocities */
  double *g, *b;                        /* = problem.g and problem.b */
  ds_contact_law *law;                  /* = problem.law */
  double *bias;                         /* 2 x contacts: what friction stabilization adds to b_T; or NULL */
  const struct ds_impact *impact;       /* of an impact: its laws (project/restitution.h); else NULL */
  struct ds_refinement *refinement;     /* of its turns, where it has joints (predict/refine.c); else NULL */
  double change, first_change;          /* m/s: of velocities, in the last and first round for its turns */
  bool unsettled;                       /* its turns were not found */
  bool glanced;                         /* solved no further than to see that something lands in it */
  bool midpoint;                        /* its bodies move by the midpoint rule, and its impulses are halves */
  ds_certificate certificate;
} ds_island;

/* What is solved for: the mean velocity of a step (its chord), by impulses that are half of the step's; or the velocity
 * at its end (its node), by the other half, where `state` has the velocities that the first half led to. */
typedef enum ds_level { DS_LEVEL_CHORD, DS_LEVEL_NODE } ds_level;

typedef struct ds_assembly {
  ds_step_body *bodies;     /* a body of the scene each */
  ds_contact_frame *frames; /* one per contact */
  struct ds_grasp *grasps;  /* a hand of the state each (assemble/hold.h) */
  ds_island *islands;
  int32_t island_count;
  /* set before: */
  double *const *stiffer; /* one per body, as in ds_step_body; or NULL */
  ds_level level;
  const bool *active; /* one per body: the others are left alone; NULL: all are active */
  const bool *adrift; /* one per body: turns of its island were not found before; or NULL */
  double slow;        /* m/s: approaches that would rebound more slowly do not */
  bool stabilized;    /* overlaps are not a matter of positions: ds_options.stabilization. Set by ds_assemble */
} ds_assembly;

/* Items by the threads of the pool, or one after the other where it is NULL. */
static inline void ds_share_out(ds_pool *pool, int32_t count, ds_pool_item *item, void *context) {
  if (pool)
    ds_pool_run(pool, count, item, context);
  else
    for (int32_t i = 0; i < count; i++) item(context, i, 0);
}

/* Whether rigid bodies that no hand holds move by the midpoint rule, all or most. */
static inline bool ds_moves_by_midpoint(const ds_options *options) {
  return options->integrator != DS_INTEGRATOR_EULER && options->deadline == 0;
}

/* False where memory ran out. The pool may be NULL. */
bool ds_assemble(ds_arena *arena, ds_assembly *assembly, const ds_scene *scene, const ds_state *state,
                 const ds_contact_list *contacts, const ds_options *options, ds_pool *pool);

/* The lever arm for which v + w x arm is the displacement, over the step, of the point of a body that is at `arm` from
 * its centre at the start: with the turn t about w, (R+ - R) p = h (tan(t/2)/(t/2)) w x (R+ p + R p)/2. */
static inline ds_vec3 ds_mean_arm(const ds_step_body *body, ds_vec3 arm) {
  if (v3_norm2(body->turn) == 0) return arm;
  return v3_scale(0.5 * body->stretch, v3_add(arm, quat_rotate(quat_exp(body->turn), arm)));
}
/* Turn, stretch and displacement of a step of h with these mean velocities. */
void ds_set_turn(ds_step_body *body, ds_vec3 v, ds_vec3 w, double h);

/* Rows and right-hand sides of an island's contacts. */
void ds_fill_island(const ds_island *island, const ds_assembly *assembly, const ds_contact_list *contacts,
                    const ds_state *state, const ds_options *options, ds_pool *pool);

/* rad: tan(h w/2), which is infinite at half a turn per step, is cut at this angle (predict/). */
#define DS_HALF_TURN 1.4

/* Whether a contact's gap is more than rounding. */
bool ds_contact_is_open(const ds_contact_point *contact, const ds_scene *scene);

/* Mass-scaled coordinates of a body's velocity and back: (sqrt(m) v, Lᵀ (Rᵀ w, q')) with rates q' and the metric L Lᵀ
 * of its kind; those of a held body by ds_hold_scale besides. `rate` may be NULL where there are none, or they are not
 * wanted back. */
void ds_scale_velocity(double *out, const ds_step_body *body, ds_vec3 v, ds_vec3 w, const double *rate);
void ds_unscale_velocity(ds_vec3 *v, ds_vec3 *w, double *rate, const ds_step_body *body, const double *in);

/* Velocities of a body in the solution: of its contacts, of its script, or of its own flight; and the rates of its
 * coordinates, where they are wanted. */
void ds_body_velocity(ds_vec3 *v, ds_vec3 *w, double *rate, const ds_assembly *assembly, int32_t body);

/* deformable.c */
/* The Cholesky factor (n x n) of the implicit integrator's matrix M(q) + gamma h D + beta h² K; K (r x r) comes as the
 * tangent of the elastic forces and leaves as what was used: its positive part, and `stiffer` unless that is NULL. */
void ds_implicit_factor(double *factor, double *tangent, const double *stiffer, const struct ds_reduced *reduced,
                        const double *q, const ds_newmark *newmark);
/* What a step needs of a deformable body: the memory, then the numbers. */
bool ds_new_deformable(ds_arena *arena, ds_step_body *step, const ds_state *state, const ds_options *options);
void ds_fill_deformable(ds_step_deformable *deformable, const ds_options *options);
/* Lᵀ (w, q') and back, w in the body frame. */
void ds_scale_deformable(double *out, const ds_step_deformable *deformable, ds_vec3 w, const double *rate);
ds_vec3 ds_unscale_deformable(double *rate, const ds_step_deformable *deformable, const double *in);
/* Contact rows, the row of a force and the velocity of a point, as ds_body_ops says. */
void ds_deformable_contact_rows(double *g, const ds_step_body *body, ds_vec3 arm, ds_anchor anchor,
                                const ds_anchor *itself, const ds_contact_frame *frame, double sign);
void ds_deformable_row(double *row, const ds_step_body *body, ds_vec3 force, ds_vec3 torque, ds_anchor anchor);
ds_vec3 ds_deformable_stir(const ds_step_body *body, ds_anchor anchor, const double *rate);

/* Rows (3 x size) of three forces with their torques about the centre of mass, in the metric of hands that hold the
 * body. */
void ds_force_rows(double *g, const ds_step_body *body, const ds_vec3 force[3], const ds_vec3 torque[3]);

/* islands.c: labels bodies by island; lists bodies, contacts and joints of each. */
bool ds_find_islands(ds_arena *arena, ds_assembly *assembly, const ds_contact_list *contacts, const ds_scene *scene);
/* cone.c: the frame of a contact, limit or drive. */
void ds_contact_cone(ds_contact_frame *frame, const ds_contact_point *contact, const ds_scene *scene,
                     const ds_state *state);
/* pressure.c: friction of contacts between faces acts as if pressure under them were even. Their frames get `grip`. */
void ds_spread_friction(ds_contact_frame *frames, const ds_contact_list *contacts, const ds_state *state);
/* warm.c: impulses of the last step's contacts for those of the same key, expressed in the new frames; 3 per contact.
 * u: their relative velocities, likewise; as it was for new ones. */
void ds_match_warm_start(double *r, double *u, const ds_assembly *assembly, const ds_contact_list *contacts,
                         const ds_state *state);

#endif
