/* Joints in a step: an island's bodies in coordinates that joints leave free.
 *
 * Bodies that joints connect form a linkage. Its joints' rows J, with J v = c, are eliminated (la/null_tree.h): with
 * orthonormal Q the velocities are v = Q (y, w), y fixed by the joints, w free. Contact and friction are solved for w,
 * whose metric is the unit matrix again:
 *
 *   w = (Qᵀ v_p)_w + (Qᵀ G)_w r,    u = (Qᵀ G)_wᵀ w - (b - Gᵀ Q (y, 0)):
 *
 * an ordinary frictional contact problem, in which a linkage is one body. If contacts are few, w is rotated so that
 * they involve its first coordinates only, and those are the body. Tools need no knowledge of joints, all of them
 * satisfy joints exactly, and friction acts through joints at once [DESIGN 3]. A linkage without freedom belongs to the
 * fixed world.
 *
 * c is not zero: joints must be closed at the end of the step, at x + h v and exp(h w) R (close.c). */
#ifndef DS_JOINT_ARTICULATE_H
#define DS_JOINT_ARTICULATE_H

#include "assemble/assemble.h"
#include "joint/kind.h"
#include "la/null_tree.h"
#include "project/solve.h"

/* A joint in a step. */
typedef struct ds_held_joint {
  const ds_joint *joint;
  const ds_joint_ops *kind;
  int32_t body[2];   /* in the scene */
  int32_t at[2];     /* first coordinate in the linkage; -1: does not move */
  ds_pose end[2];    /* of a body that does not move: its principal frame after the step */
  int32_t first_row; /* in the linkage */
} ds_held_joint;

/* Bodies that joints connect, or one body alone. */
typedef struct ds_linkage {
  int32_t *bodies, body_count; /* of the island */
  int32_t size;                /* coordinates of its bodies; size - space.rank are free */
  int32_t body;                /* in the articulated problem; -1: no freedom is left */
  ds_held_joint *joints;
  int32_t joint_count;
  int32_t row_count;     /* of all joints */
  ds_null_row *rows;     /* row_count: of the start of the step ... */
  ds_null_row *end_rows; /* ... and of its end: work of close.c */
  ds_null_tree space;
  int32_t free; /* coordinates that joints leave: size - rank */
  int32_t seen; /* those that contacts involve: they are the body of the problem; the others keep their predicted
                   velocity */
  bool wide;    /* has so many free coordinates that rows of contacts come from those of bodies */
  ds_null_space touched; /* where seen < free: which of them that are */
  double *rest;          /* free - seen numbers: the part of w that contacts do not involve */
  double *y;             /* rank numbers, part of the articulation's */
  double *x;             /* size numbers: v, or Qᵀ v = (y, w, rest) */
  double *best, *work;   /* size numbers */
  double *gap;           /* one per row: its gap after the step, over h, m/s */
  double extent;         /* m: size of the coordinates whose differences are gaps, for rounding */
  double without;        /* m: largest gap after the step if joints gave no impulse */
} ds_linkage;

/* A limit among the contacts of the problem. */
typedef struct ds_held_limit {
  int32_t contact; /* of the problem */
  const ds_linkage *linkage;
  const ds_held_joint *held;
  uint64_t feature;
  double stay;   /* m: the least gap allowed: 0, or the gap it has already */
  double left;   /* m: the gap after a step with velocities (y, w), beyond that */
  double b;      /* of the island's problem, with that */
  double travel; /* m: about how far it may move in a step; the scale of its errors */
} ds_held_limit;

/* A contact or limit of the island that no free coordinate moves: joints and scripts alone decide whether it holds. */
typedef struct ds_fixed_contact {
  int32_t contact; /* of the island */
  const ds_linkage *linkage;
  ds_held_limit limit; /* held = NULL: a contact of bodies */
} ds_fixed_contact;

/* A drive among the contacts of the problem. A friction disk of fixed radius is one of Coulomb's with a fixed normal
 * impulse N: the normal row acts only on a slack body, which arrives with the velocity that N stops. */
typedef struct ds_held_drive {
  int32_t contact, body; /* of the problem: its contact and its slack body, of one coordinate (normal), or two (second
                            tangent) where the drive has a single direction */
  double scale;          /* the slack body's rows, as long as that of the drive */
  double impulse;        /* N, N s */
} ds_held_drive;

typedef struct ds_articulation {
  ds_linkage *linkages; /* in order of their lowest body */
  int32_t linkage_count;
  int32_t *linkage, *place; /* of a body of the island: its linkage, its first coordinate there */
  double **wide; /* of a body of the island in a wide linkage: DS_NULL_BLOCK x free, what its coordinates are of w; NULL
                    where contacts do not touch it */
  ds_subproblem problem;
  int32_t *moving;  /* of a body of the problem: its linkage; -1: the slack body of a drive */
  int32_t *contact; /* of the problem: which of the island's it is */
  double *y;        /* of all linkages, one after the other */
  int32_t y_count;
  double *predicted, *b; /* of the problem, filled when it is solved */
  double *r, *w;         /* its impulses and velocities */
  ds_held_limit *limits;
  int32_t limit_count;
  ds_held_drive *drives;
  int32_t drive_count;
  ds_fixed_contact *fixed;
  int32_t fixed_count;
  double *carried, *shift; /* Q (y, 0) of the island's bodies; Gᵀ of that, 3 per contact of the island */
  bool pulled;             /* joints were closed along rows of the end as well (close.c), in the last solve */
} ds_articulation;

/* Fills the articulation of an island with joints. False where memory ran out. */
bool ds_articulate(ds_arena *arena, ds_island *island, const ds_assembly *assembly, const ds_contact_list *contacts,
                   const ds_scene *scene, const ds_state *state, const ds_options *options);
/* Fills the articulation of every island with joints. False where memory ran out. */
bool ds_articulate_islands(ds_arena *arena, const ds_assembly *assembly, const ds_contact_list *contacts,
                           const ds_scene *scene, const ds_state *state, const ds_options *options);

/* A joint's rows in the coordinates of its linkage. */
void ds_held_joint_rows(ds_null_row *out, const ds_held_joint *held, const ds_joint_row *rows,
                        const ds_assembly *assembly);

/* x := Qᵀ x = (y, w, rest) and back, of one linkage. */
void ds_linkage_enter(double *x, const ds_linkage *linkage);
void ds_linkage_leave(double *x, const ds_linkage *linkage);
/* Free coordinates w of the island's velocities v; the rest of them is kept in the linkages. */
void ds_articulation_enter(double *w, const ds_island *island, const double *v);
/* v = Q (y, w, rest); 0 in place of y and rest where they are not wanted, and of w where it is NULL. */
void ds_articulation_leave(double *v, const ds_island *island, const double *w, bool with_y, bool with_rest);

/* stiffen.c */
/* For the chord of the midpoint rule: the metric of the linkage's bodies gets the stiffness of its joints' impulses, as
 * far as these are known from the impulses r of contacts, and their predictions that of the new metric. l->rows are
 * those of the old one. False where memory ran out. */
bool ds_linkage_stiffen(ds_arena *arena, ds_linkage *linkage, const ds_articulation *a, const ds_island *island,
                        const ds_assembly *assembly, const ds_state *state, double h);

/* close.c */
/* gap: those after a step with the velocities x of the linkage, over h; the largest, m, comes back. */
double ds_linkage_gaps(ds_linkage *linkage, const ds_assembly *assembly, const ds_state *state, double h);
/* The gaps for velocities v without joints, the scale of gap errors. */
void ds_articulation_scale(const ds_island *island, const ds_assembly *assembly, const ds_state *state, const double *v,
                           double h);
/* Chooses y of every linkage so that its joints are closed after a step with the free velocities w. If no y does, w and
 * its prediction are corrected along the rows of the end: then `pulled`. False where memory ran out. */
bool ds_articulation_close(ds_arena *arena, bool *pulled, const ds_island *island, const ds_assembly *assembly,
                           const ds_state *state, double h);
/* The remaining gap of each limit after a step with velocities (y, w). */
void ds_articulation_limits(const ds_island *island, const ds_assembly *assembly, const ds_state *state, double h);
/* The largest gap after a step with velocities (y, w), m. `error` is the largest relative to the gap without joints; 0
 * for rounding. */
double ds_articulation_gap(double *error, const ds_island *island, const ds_assembly *assembly, const ds_state *state,
                           double h);
/* How far contacts and limits that no free coordinate moves are passed by the velocities v of the island: the largest
 * over what the step moves there. > 0: the island is infeasible. */
double ds_articulation_conflict(const ds_island *island, const ds_assembly *assembly, const ds_state *state,
                                const double *v, double h);

/* y of a node (project.c): the predicted velocities, less what they have across joints. */
void ds_articulation_keep(const ds_island *island, const ds_assembly *assembly, const ds_state *state);
/* Stage 4 of an island with joints (project.c): r and v of the island and its certificate. `start`, where it is not
 * NULL, becomes the impulses that the last solve was started from. False only where memory ran out. */
bool ds_articulation_project(const ds_solve *solve, ds_island *island, double *start, const ds_assembly *assembly,
                             const ds_state *state);

#endif
