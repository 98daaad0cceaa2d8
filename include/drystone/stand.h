/* Whether an assembly of rigid blocks stands: limit analysis with Coulomb friction and a proof of every verdict.
 * docs/stand.md explains the verdicts. Forces are in N, lengths in m. */
#ifndef DRYSTONE_STAND_H
#define DRYSTONE_STAND_H

#include <stddef.h>
#include <stdio.h>

#include "drystone/drystone.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Assemblies ---- */

typedef struct ds_block {
  char name[64];
  double mass;           /* kg, > 0 unless it is a support */
  ds_vec3 center;        /* of mass, world */
  double inertia[9];     /* about the centre of mass, world axes, row-major, kg m² */
  ds_vec3 force, torque; /* besides its weight: at the centre of mass */
  bool support;          /* fixed */
} ds_block;

/* A plane patch in which two blocks touch. Its points are the corners of a convex polygon, or what is left of one: a
 * line or a point. Forces at the corners give every pressure and every friction that the patch can carry. */
typedef struct ds_interface {
  int32_t a, b;         /* blocks */
  ds_vec3 normal;       /* unit, from a to b: positive normal forces push b along it */
  int32_t first, count; /* its points */
  double mu;            /* Coulomb coefficient, >= 0 */
  double tension;       /* N at every point: cohesion or clutch. Normal forces are -tension or more, and friction is at
                           most mu (normal force + tension) */
  bool partial;         /* found, and parts of the patch lie farther apart than the tolerance */
} ds_interface;

typedef struct ds_assembly {
  ds_block *blocks;
  ds_interface *interfaces;
  ds_vec3 *points;
  int32_t block_count, interface_count, point_count;
  ds_vec3 gravity;  /* m/s² */
  double tolerance; /* m: up to this gap or overlap faces count as touching; 0 if the interfaces were given */
  bool given;       /* interfaces are those of a file, not found between faces */
  double widest_gap, deepest_overlap; /* m: found at the points */
  double *strength; /* N: largest normal force at a point, above which it crushes; 0 = unlimited. NULL: all unlimited */
  /* Surfaces of the blocks, where the file had them: face f of block i has the corners face[f] to face[f + 1], for
   * block_face[i] <= f < block_face[i + 1]. NULL where blocks are bodies of a scene. */
  ds_vec3 *corners;
  int32_t *face, *block_face;
} ds_assembly;

/* How an assembly is made of a file or scene. */
typedef struct ds_assembly_options {
  double tolerance;        /* m, default 0: 1e-4 of the mean size of the blocks */
  double mu;               /* of all interfaces; default -1: what the scene says, 0.84 for files that do not */
  double density;          /* kg/m³, of files that have none; default 2500 */
  const int32_t *supports; /* blocks that are fixed, besides those that the file marks: keys of an assembly, numbers of
                              bodies of a scene, from 0 */
  int32_t support_count;
  double clutch; /* N: what a point of a toy brick's knob holds, default 0.98; there are three or four per knob */
} ds_assembly_options;
ds_assembly_options ds_default_assembly_options(void);

/* The touching faces of a scene in a state: static and kinematic bodies are supports. Rigid bodies without joints only.
 * NULL with a message. */
ds_assembly *ds_assembly_of_scene(const ds_scene *scene, const ds_state *state, const ds_assembly_options *options,
                                  ds_error *error);
/* JSON of compas_assembly or compas_cra, with interfaces or without. `file` is for messages. NULL with a message. */
ds_assembly *ds_assembly_read_compas(const char *text, size_t length, const char *file,
                                     const ds_assembly_options *options, ds_error *error);
/* Whether the text looks like one. */
bool ds_assembly_is_compas(const char *text, size_t length);
/* JSON of StableLego: {"1": {"x", "y", "z", "brick_id", "ori"}, ...}. Bricks stand on a plate with knobs. */
ds_assembly *ds_assembly_read_bricks(const char *text, size_t length, const char *file,
                                     const ds_assembly_options *options, ds_error *error);
bool ds_assembly_is_bricks(const char *text, size_t length);
/* OBJ whose objects or groups are blocks, closed surfaces each. Supports are numbers of groups, from 0. */
ds_assembly *ds_assembly_read_obj(const char *text, size_t length, const char *file, const ds_assembly_options *options,
                                  ds_error *error);
/* A scene file of an assembly that was read from a file, to run it: convex blocks as hulls, others as solids. The
 * caller frees it; NULL with a message. */
char *ds_assembly_scene(const ds_assembly *assembly, const char *name, ds_error *error);
/* Properties of interfaces, cables and loads from a file (JSON): docs/stand.md has the format. */
ds_status ds_assembly_apply(ds_assembly *assembly, const char *text, size_t length, const char *file, ds_error *error);
/* Cohesion and strength of all interfaces that have an area, Pa; 0 = none, unlimited. */
ds_status ds_assembly_set_material(ds_assembly *assembly, double cohesion, double strength, ds_error *error);
/* A copy without one block: what is left when it is pulled out. NULL if memory ran out. */
ds_assembly *ds_assembly_without(const ds_assembly *assembly, int32_t block);
void ds_assembly_free(ds_assembly *assembly);
/* Checks indices, masses, normals and friction; the message names the first fault. */
ds_status ds_assembly_check(const ds_assembly *assembly, ds_error *error);

/* ---- The verdict ---- */

typedef enum ds_verdict {
  DS_STANDS,    /* proven: an equilibrium exists, and every solution of the contact problem is at rest */
  DS_CAN_STAND, /* an equilibrium exists: rest is a solution; whether the only one is not proven */
  DS_FALLS,     /* proven: no forces within the friction cones keep it at rest as drawn */
  DS_UNDECIDED, /* too near the edge for these numbers */
} ds_verdict;
const char *ds_verdict_name(ds_verdict verdict); /* "STANDS", ... */

/* Why a structure with an equilibrium stands, or why that is not proven. */
typedef enum ds_stand_reason {
  DS_REASON_NONE,         /* FALLS, UNDECIDED */
  DS_REASON_FRICTIONLESS, /* STANDS: an equilibrium without friction exists */
  DS_REASON_PLANAR,       /* STANDS, for motions in its plane: friction is bounded from below in every solution */
  DS_REASON_MOVES,        /* CAN STAND: a moving solution was found, too */
  DS_REASON_OPEN,         /* CAN STAND: moving solutions are not excluded */
} ds_stand_reason;

/* The motion of a block: its angular velocity w, and the velocity v of its point at the world's origin. Blocks that
 * move as one have equal twists. */
typedef struct ds_twist {
  ds_vec3 v, w;
} ds_twist;
/* v + w x point */
ds_vec3 ds_twist_at(ds_twist twist, ds_vec3 point);

typedef struct ds_stand {
  ds_verdict verdict;
  ds_stand_reason reason;
  double margin; /* how much normal force every interface could lose before no equilibrium is left (negative: lacks), in
                    mean weights of a block; at most 1; NaN if it was not asked for or not found */
  int32_t factorizations; /* of the verdict, without the margin */
  double residual;        /* largest unbalanced force of the equilibrium, over the weight of its block */
  double *normal;         /* an equilibrium: the force on block b of point k is normal[k] n + friction[k]; NULL: none */
  ds_vec3 *friction;
  double *pressure;               /* an equilibrium without friction, DS_REASON_FRICTIONLESS; else NULL */
  ds_twist *mechanism;            /* one per block, FALLS: a motion that no force in the cones resists; else NULL */
  ds_twist *moving;               /* one per block, DS_REASON_MOVES: accelerations of a second solution; else NULL */
  double moving_share;            /* its size over that of free fall, in the norm of kinetic energy */
  double moving_error;            /* natural-map error of that solution */
  struct ds_planar_proof *planar; /* DS_REASON_PLANAR; else NULL */
} ds_stand;

typedef struct ds_stand_options {
  bool margin; /* also the margin; default true */
  bool planar; /* look for a proof in the plane where there is none without friction; default true */
  bool search; /* look for moving solutions where STANDS is not proven; default true */
} ds_stand_options;
ds_stand_options ds_default_stand_options(void);

/* DS_ERROR_INPUT with a message if the assembly is inconsistent. Free the result. */
ds_status ds_stand_check(ds_stand *stand, const ds_assembly *assembly, const ds_stand_options *options,
                         ds_error *error);
void ds_stand_free(ds_stand *stand);

/* ---- Load cases ---- */

/* Loads w + lambda d, where d is a force and a torque about the centre of mass per block. */
typedef struct ds_multiplier {
  double stands;      /* proven to stand up to here; -1: not even without the load, or not proven */
  double equilibrium; /* an equilibrium was found up to here; -1: not even without the load */
  double falls;       /* proven to fall above; infinity: never */
  int32_t factorizations;
  ds_twist *mechanism; /* with loads above `falls`, one per block; NULL if there is none */
} ds_multiplier;
/* `force` and `torque`: one per block; torque may be NULL. */
ds_status ds_stand_multiplier(ds_multiplier *result, const ds_assembly *assembly, const ds_vec3 *force,
                              const ds_vec3 *torque, ds_error *error);
/* Horizontal loads in a direction, in units of weight: lambda is an acceleration in g, or the tangent of a tilt. */
ds_status ds_stand_push(ds_multiplier *result, const ds_assembly *assembly, ds_vec3 direction, ds_error *error);
void ds_multiplier_free(ds_multiplier *result);

/* A support that gives way a little: among all equilibria the one in which it carries least along the displacement is
 * reached, and hinges open in others. */
typedef struct ds_settlement {
  double low, high;   /* N: that value lies in between; both ends are proven. NaN: there is no equilibrium */
  double before_high; /* N: the most that the support can carry that way in any equilibrium; infinity: no limit */
  double *normal;     /* an equilibrium with `high`, as in ds_stand; NULL if there is none */
  ds_vec3 *friction;
  ds_twist *mechanism; /* how the blocks follow a displacement of unit length; NULL if it is not proven */
  int32_t factorizations;
} ds_settlement;
ds_status ds_stand_settle(ds_settlement *result, const ds_assembly *assembly, int32_t support, ds_vec3 displacement,
                          ds_error *error);
void ds_settlement_free(ds_settlement *result);

/* An order in which blocks can be put in place, so that every stage has an equilibrium: blocks are taken away, highest
 * first, from the whole. order: block_count numbers, supports first. `placed` of them are in an order that was found;
 * the others only stand together. `verdicts`: of the stages, one per block, or NULL. */
ds_status ds_stand_order(int32_t *order, int32_t *placed, ds_verdict *verdicts, const ds_assembly *assembly,
                         ds_error *error);

/* The least friction coefficient, the same at all interfaces, with which an equilibrium exists: none below `falls`, one
 * at `equilibrium`. Infinity: not with any up to 10. */
typedef struct ds_least_mu {
  double falls, equilibrium;
  int32_t factorizations;
} ds_least_mu;
ds_status ds_stand_least_mu(ds_least_mu *result, const ds_assembly *assembly, ds_error *error);

/* Normal and tangential force of an interface over all equilibria, N. */
typedef struct ds_force_range {
  double low, high; /* of the normal force: proven bounds; infinity: none was found */
  double least,
      most; /* of equilibria that were found; infinity: blocks can be wedged without limit; NaN: there is none */
  int32_t factorizations;
} ds_force_range;
ds_status ds_stand_range(ds_force_range *range, const ds_assembly *assembly, int32_t interface, ds_error *error);
/* Of all interfaces, one each; threads: 0 = all cores. The answer is the same for any number. */
ds_status ds_stand_ranges(ds_force_range *ranges, const ds_assembly *assembly, int32_t threads, ds_error *error);

/* ---- What forces do at an interface ---- */

typedef struct ds_thrust {
  ds_vec3 force;   /* resultant on block b */
  double normal;   /* its part along the normal */
  double friction; /* sum of |r_T| over mu r_N of the interface, 0 to 1 */
  ds_vec3 center;  /* of pressure */
  double section;  /* 0: the pressure is in the middle of the polygon, 1: on its edge. Of an interface with tension: the
                      share of it that is used by normal forces that are linear over it; the centre is the middle then */
} ds_thrust;
ds_thrust ds_interface_thrust(const ds_assembly *assembly, const ds_stand *stand, int32_t interface);
/* Force and torque about the centre of mass that a support takes from its neighbours. */
void ds_support_reaction(ds_vec3 *force, ds_vec3 *torque, const ds_assembly *assembly, const ds_stand *stand,
                         int32_t block);

/* ---- Certificates ---- */

/* Writes the verdict as text with every number exact: docs/stand-mathematics.md has the format. False if writing
 * failed. */
bool ds_stand_write_certificate(FILE *file, const ds_stand *stand, const ds_assembly *assembly);
/* What a certificate proves, by numbers of twice the digits with bounds of their errors. */
typedef struct ds_verification {
  bool valid;
  ds_verdict verdict;
  double residual; /* of its forces, over the weight of a block */
  char fault[256]; /* the first thing that does not hold */
} ds_verification;
/* DS_ERROR_INPUT with a message if the text is no certificate. */
ds_status ds_stand_verify(ds_verification *result, const char *text, size_t length, const char *file, ds_error *error);

#ifdef __cplusplus
}
#endif

#endif
