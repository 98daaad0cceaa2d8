/* The value types of the public API: vectors, ids, definitions, reports. Everything is in SI units; angles are in
 * radians.
 *
 * Fill a def struct with its ds_default_... function before you change fields, so that programs stay valid when fields
 * are added. An id is passed by value; zero means "none". */
#ifndef DRYSTONE_TYPES_H
#define DRYSTONE_TYPES_H

#include <stdbool.h>
#include <stdint.h>

typedef struct ds_vec3 {
  double x, y, z;
} ds_vec3;

/* A unit quaternion w + xi + yj + zk that rotates body coordinates to world coordinates. */
typedef struct ds_quat {
  double w, x, y, z;
} ds_quat;

/* A frame: position p of its origin and rotation q. A point s in the frame has the position p + q s q* outside. */
typedef struct ds_pose {
  ds_vec3 p;
  ds_quat q;
} ds_pose;

typedef struct ds_body_id {
  int32_t index1; /* 1 + index of the body in the scene, in order of creation; 0 = none */
} ds_body_id;

typedef struct ds_material_id {
  int32_t index1; /* 0 = the scene's default material */
} ds_material_id;

typedef struct ds_joint_id {
  int32_t index1; /* 1 + index of the joint in the scene, in order of creation; 0 = none */
} ds_joint_id;

typedef enum ds_status {
  DS_OK = 0,
  DS_ERROR_INPUT,      /* invalid input; the message says what was expected */
  DS_ERROR_MEMORY,     /* an allocation failed; nothing was changed */
  DS_ERROR_NOT_FINITE, /* a step led to infinite or undefined positions, velocities or energies; nothing was changed */
  DS_STOPPED,          /* cancelled by ds_stepper_stop; nothing was changed */
} ds_status;

/* Filled if a call does not return DS_OK: one sentence that says what is wrong and what to do. */
typedef struct ds_error {
  char message[512];
} ds_error;

/* ---- Scene: constant once finished --------------------------------------------------------------------------------
 */

/* How the coefficients of two materials are combined, unless a pair entry overrides it. */
typedef enum ds_mix_rule {
  DS_MIX_GEOMETRIC, /* sqrt(a b) */
  DS_MIX_MIN,
  DS_MIX_MAX,
  DS_MIX_AVERAGE,
  DS_MIX_PRODUCT,
} ds_mix_rule;

typedef struct ds_scene_def {
  ds_vec3 gravity;              /* m/s², default (0, 0, -9.81) */
  ds_mix_rule friction_rule;    /* default DS_MIX_GEOMETRIC */
  ds_mix_rule restitution_rule; /* default DS_MIX_MAX */
  double default_mu;            /* default 0.5 */
  double default_restitution;   /* default 0 */
} ds_scene_def;

/* Where friction differs by direction, impulses lie in an ellipse: `mu_along` along the axis, `mu` across it
 * [docs/scenes.md]. */
typedef struct ds_material_def {
  double mu;          /* Coulomb coefficient, >= 0 */
  double restitution; /* Newton's e in [0, 1] */
  double mu_along;    /* coefficient along the axis, >= 0; 0 where there is no axis */
  ds_vec3 axis;       /* in the frame of the body; (0, 0, 0), the default: friction is the same in all directions */
} ds_material_def;

typedef enum ds_body_kind {
  DS_BODY_DYNAMIC,   /* 6 degrees of freedom, moved by forces and contact */
  DS_BODY_STATIC,    /* never moves */
  DS_BODY_KINEMATIC, /* moved by its script; pushes others, is not affected by contacts */
} ds_body_kind;

typedef enum ds_motion_kind {
  DS_MOTION_NONE,
  DS_MOTION_VELOCITY,  /* constant velocity and angular velocity from the start pose */
  DS_MOTION_HARMONIC,  /* start pose + amplitude sin(2 pi frequency t + phase), with its own start and end time */
  DS_MOTION_KEYFRAMES, /* poses at given times, linear between them, constant before the first and after the last */
} ds_motion_kind;

typedef struct ds_keyframe {
  double time; /* s, ascending */
  ds_pose pose;
} ds_keyframe;

/* The script of a kinematic body. The angular part of HARMONIC rotates about the axis angular_amplitude, by at most
 * |angular_amplitude| rad. */
typedef struct ds_motion_def {
  ds_motion_kind kind;
  ds_vec3 velocity, angular_velocity;   /* VELOCITY: m/s, rad/s */
  ds_vec3 amplitude, angular_amplitude; /* HARMONIC: m, rad */
  double frequency, phase;              /* HARMONIC: Hz, rad */
  double start_time, end_time;          /* VELOCITY, HARMONIC: acts within, s; default 0 and infinity */
  const ds_keyframe *keyframes;         /* KEYFRAMES: copied */
  int32_t keyframe_count;
} ds_motion_def;

typedef struct ds_body_def {
  const char *name; /* copied; may be NULL */
  ds_body_kind kind;
  ds_pose pose;             /* of the frame in which the shapes are given */
  ds_vec3 velocity;         /* of that frame's origin, m/s */
  ds_vec3 angular_velocity; /* rad/s, world frame */
  ds_material_id material;  /* 0 = the scene's default material */
  double mass;              /* kg; 0 = from the density of the shapes, else the densities are scaled to this mass;
                               0 for deformable bodies: their mass is in their ds_reduced */
  double linear_damping;    /* 1/s, default 0: dv/dt = -c v */
  double angular_damping;   /* 1/s */
  ds_vec3 force, torque;    /* constant, N and N m, world frame, at the centre of mass */
  double release_time;      /* s; before it the body is fixed and has no contacts */
  ds_motion_def motion;     /* of a kinematic body */
  ds_vec3 color;            /* 0..1, for pictures only; negative = automatic */
} ds_body_def;

typedef enum ds_shape_kind {
  DS_SHAPE_SPHERE,     /* radius */
  DS_SHAPE_BOX,        /* half extents */
  DS_SHAPE_CAPSULE,    /* radius, half_length of the inner segment along local z */
  DS_SHAPE_CYLINDER,   /* radius, half_length along local z */
  DS_SHAPE_HULL,       /* convex hull of points */
  DS_SHAPE_HALF_SPACE, /* all points with local z <= 0; static and kinematic bodies only */
  DS_SHAPE_SOLID,      /* any closed surface: drystone/solid.h */
  DS_SHAPE_REDUCED,    /* a deformable body, the only shape of its body: drystone/reduce.h */
  DS_SHAPE_ELLIPSOID,  /* half = semi-axes along local x, y, z */
  DS_SHAPE_CONE,       /* radius of the base at local z = -half_length; the tip is at z = half_length */
} ds_shape_kind;

typedef struct ds_shape_def {
  ds_shape_kind kind;
  ds_pose pose;            /* in the body's frame */
  double density;          /* kg/m³, default 1000 */
  ds_material_id material; /* 0 = that of the body */
  double radius, half_length;
  ds_vec3 half;
  const ds_vec3 *points; /* HULL: copied */
  int32_t point_count;
  struct ds_solid *solid;           /* SOLID: the scene retains it */
  struct ds_reduced *reduced;       /* REDUCED: the scene retains it; the pose is the identity */
  const double *start, *start_rate; /* REDUCED: reduced coordinates and their rates at the start, copied; NULL = 0 */
} ds_shape_def;

/* Friction and restitution of two materials, where they do not follow the scene's rules. */
typedef struct ds_pair_def {
  ds_material_id a, b;
  double mu, restitution;
} ds_pair_def;

/* Faces of a box or hull. The arrays belong to the scene. */
typedef struct ds_polyhedron {
  const ds_vec3 *vertices; /* in the frame of the shape, m */
  int32_t vertex_count;
  const int32_t *face_start;  /* face_count + 1: where a face's loop starts in face_vertex */
  const int32_t *face_vertex; /* loop after loop, each counter-clockwise seen from outside */
  int32_t face_count;
} ds_polyhedron;

typedef enum ds_joint_kind {
  DS_JOINT_BALL,   /* the bodies share one point: three rotations are free */
  DS_JOINT_HINGE,  /* they share the points of an axis: one rotation is free */
  DS_JOINT_WELD,   /* they move as one */
  DS_JOINT_SLIDER, /* one moves along an axis of the other: one translation is free */
  DS_JOINT_PLANAR, /* one moves in a plane of the other, across its axis: two translations and the turn are free */
} ds_joint_kind;

/* A joint without friction between two rigid bodies [docs/joints.md]. One of the two may be static or kinematic. */
typedef struct ds_joint_def {
  const char *name; /* copied; may be NULL */
  ds_joint_kind kind;
  ds_body_id a, b;
  ds_vec3 point;    /* world, at the start */
  ds_vec3 axis;     /* HINGE, SLIDER, PLANAR: world, at the start; need not be unit. Default (0, 0, 1) */
  bool limited;     /* HINGE, SLIDER: the position (rad, m) stays in [lower, upper]; default false */
  double lower;     /* lower <= 0 <= upper: the position is 0 at the start. Limits of a HINGE are less than a turn */
  double upper;     /* apart. A limit acts as a contact without friction [ds_contact_joint]. Default: infinite */
  double max_force; /* HINGE, SLIDER, PLANAR: a drive moves b against a with at most this torque (N m) or force (N); */
  double speed;     /* HINGE, SLIDER: its target speed, rad/s or m/s. 0: dry friction, a brake. Both 0: no drive */
  ds_vec3 velocity; /* PLANAR: the target velocity of b against a at the joint's point, m/s, across the axis; world, at
                       the start, and from then on moving with a. 0: dry friction of max_force in all directions */
  bool collide;     /* default false: joined bodies do not touch each other */
} ds_joint_def;

/* A place where two rigid bodies touch at the start: a plane polygon, a line or a point [docs/scenes.md, Interfaces].
 * As long as two bodies with interfaces lie as they did, their contacts are the corners of these; shapes count
 * otherwise. */
typedef struct ds_interface_def {
  ds_body_id a, b;
  ds_vec3 normal;        /* world, at the start, from a to b; need not be unit */
  const ds_vec3 *points; /* corners, world, at the start; copied */
  int32_t point_count;   /* 1 to DS_INTERFACE_POINTS_MAX */
  double mu;             /* default -1: that of the bodies' materials */
} ds_interface_def;
#define DS_INTERFACE_POINTS_MAX 65536

/* The position of a joint. */
typedef struct ds_joint_place {
  ds_vec3 on_a, on_b; /* its point as a point of either body, world */
  ds_vec3 axis;       /* HINGE, SLIDER, PLANAR: unit, moving with body a */
  double gap;         /* m: largest distance of points that should coincide */
  double position;    /* of b seen from a, 0 at the start. HINGE: angle about the axis, rad; SLIDER: distance along the
                         axis, m */
} ds_joint_place;

/* ---- Options of a step --------------------------------------------------------------------------------------------
 */

/* A solver: its number in the table of solvers, 0 the default. ds_method_named("staggered") finds others by name. */
typedef int32_t ds_method;

/* The metric in which contact impulses act on deformable bodies [docs/deformables.md]. */
typedef enum ds_metric {
  DS_METRIC_EFFECTIVE, /* M + gamma h C + beta h² K, of the implicit integrator: equilibrium at rest is exact; default
                        */
  DS_METRIC_MASS,      /* M [SP08] */
} ds_metric;

/* How rigid bodies move in a step [docs/motion.md]. */
typedef enum ds_integrator {
  DS_INTEGRATOR_EULER,    /* x += h v with the velocity v at the end of the step: first order, dissipative */
  DS_INTEGRATOR_MIDPOINT, /* the midpoint rule with impacts at their time: second order, conserves energy. Islands with
                             deformable bodies or hands move as with EULER */
  DS_INTEGRATOR_AUTO,     /* MIDPOINT, but EULER for islands of many bodies while something lands in them; default */
} ds_integrator;

/* A law of restitution: its number in the table of laws, 0 the default, Newton's. ds_restitution_named("poisson") finds
 * others by name. */
typedef int32_t ds_restitution_law;

/* In which order contacts collide that touch at the same time [docs/motion.md]. */
typedef enum ds_impact_order {
  DS_IMPACTS_SIMULTANEOUS, /* all at once; default */
  DS_IMPACTS_SEQUENTIAL,   /* pair after pair of bodies, the fastest first */
} ds_impact_order;

/* Where friction acts between faces that lie on each other [docs/motion.md]. */
typedef enum ds_face_pressure {
  DS_PRESSURE_CORNERS, /* in the corners, as normal forces do; default */
  DS_PRESSURE_EVEN,    /* as under even pressure: torques of friction are those of the face */
} ds_face_pressure;

/* What happens to overlaps, and to the distance between bodies in contact [docs/methods/stabilization.md]. */
typedef enum ds_stabilization {
  DS_STABILIZE_POSITIONS, /* bodies are moved apart, velocities are left alone; default */
  DS_STABILIZE_NONE,      /* nothing: overlaps stay */
  DS_STABILIZE_BAUMGARTE, /* a share of the overlap over the step is added to velocities [NFS10 eq. 9] */
  DS_STABILIZE_ENVELOPE,  /* contacts are led to half the width of an envelope [NFS10 eq. 2, 5-8] */
} ds_stabilization;

typedef struct ds_options {
  double step;              /* h, s; default 0.01 */
  double tolerance;         /* natural-map error at which an island counts as converged; 0 (default): 1e-8 where
                               nothing slides, 1e-8 to 1e-4 depending on the motion where contacts slide
                               [docs/solver.md] */
  ds_method method;         /* default 0: coupled [docs/solver.md] */
  int32_t friction_samples; /* 0 = exact disk (default); k >= 3 = regular polygon of k tangent samples */
  int32_t max_iterations; /* limit of staggered iterations (or Gauss-Seidel sweeps), default 200; Algorithm 1 ends there
                             on a contact projection [SP08 7]. The tools of "coupled" have their own limits, published
                             methods their own defaults: ds_options_choose */
  double rel_err;         /* SP08 eq. 28: threshold of Algorithm 1, default 1e-4; used by "staggered" */
  bool warm_start;        /* default true */
  bool sub_islands;       /* islands are split at contacts without load [SP08 8.2]; default true */
  int32_t contacts_per_face;          /* points on a face-face contact, default 8; more = dense sampling */
  double margin;                      /* m: extra distance at which contacts are found; default 0 = automatic */
  ds_integrator integrator;           /* of rigid bodies, default DS_INTEGRATOR_AUTO */
  ds_restitution_law restitution_law; /* of rigid bodies that collide, default 0: newton [docs/motion.md] */
  ds_impact_order impacts;            /* default DS_IMPACTS_SIMULTANEOUS */
  ds_face_pressure face_pressure;     /* default DS_PRESSURE_CORNERS */
  ds_stabilization stabilization;     /* default DS_STABILIZE_POSITIONS; others need DS_INTEGRATOR_EULER */
  double stabilization_gain;          /* k_n of BAUMGARTE: share of an overlap that a step takes away, default 0.5 */
  double envelope;                    /* m: eta of ENVELOPE, default 0.0625 */
  double friction_stabilization;      /* k_t: share of the last step's slip of contacts that should have stuck that is
                                         taken back [NFS10 eq. 10-15]; 0 = none (default), published 0.8 */
  ds_metric metric;                   /* of deformable bodies, default DS_METRIC_EFFECTIVE */
  int32_t newton;         /* limit of Newton steps in the prediction of a deformable body; default 1, semi-implicit */
  double newmark_damping; /* 0 to 1: damping of vibrations that are too fast for the step; default 1. 0 = Newmark's
                             average acceleration; contact can then excite vibrations without bound */
  double step_budget;     /* limit of factorizations per solve of an island; Gauss-Seidel sweeps count by their cost.
                             Default 2000; 0 = no limit. At the limit the best result is used, and the report says
                             whether it converged */
  double error_control;   /* m/s: bound on the error of positions that a step adds per second, met by taking steps in up
                             to 64 equal parts; 0 = none (default) [docs/motion.md] */
  double deadline;        /* s of wall time from the start of a step until its contacts are solved; 0 = none (default).
                             When it runs out, a contact projection ends the step [SP08 7]: contacts do not
                             penetrate, friction is approximate, and the report says so. Results then depend on the
                             clock and are not reproducible */
} ds_options;

/* ---- Report of a step ----------------------------------------------------------------------------------------------
 */

typedef enum ds_stage {
  DS_STAGE_DETECT,
  DS_STAGE_ASSEMBLE,
  DS_STAGE_PREDICT,
  DS_STAGE_PROJECT,
  DS_STAGE_INTEGRATE,
  DS_STAGE_COUNT,
} ds_stage;

/* The tools of "coupled" [docs/solver.md]. */
typedef enum ds_tool {
  DS_TOOL_NEWTON,       /* proximal Newton on the natural map */
  DS_TOOL_HOMOTOPY,     /* continuation from the central path of a convex program, through folds */
  DS_TOOL_GAUSS_SEIDEL, /* sweeps */
  DS_TOOL_STAGGERED,    /* the two projections alternately */
  DS_TOOL_COUNT,
} ds_tool;

/* The certificate [DESIGN: 4. docs/report.md]: how well one island's impulses solve the contact problem. */
typedef struct ds_certificate {
  int32_t bodies, contacts;
  int32_t staggered_iterations;  /* outer iterations of the staggered loop */
  int32_t projection_iterations; /* iterations inside the projections, Newton and interior-point iterations included */
  int32_t factorizations;
  int32_t tool[DS_TOOL_COUNT]; /* iterations of each method */
  double rel_err;              /* SP08 eq. 28 of the last staggered iteration; 0 if none was needed */
  double residual;             /* SP08 eq. 29, J */
  double natural_error;        /* scale-free natural-map error, see docs/report.md */
  double approach_velocity;    /* worst (b - n'v)+ over contacts, m/s */
  double cone_violation;       /* worst (|r_T| - mu r_N)+ and (-r_N)+ over contacts, relative to the largest impulse */
  double dissipation_error;    /* worst |r_T'u_T + mu r_N |u_T|| over contacts, J */
  double joint_gap;            /* largest joint gap after the step, m; part of natural_error [docs/report.md] */
  double conflict;             /* smallest |(b - N'v)+| of any velocity, over |q|; > 0: the problem is infeasible */
  bool unbounded;              /* impulses grow without bound on every path to a solution: a jam; probably infeasible */
  bool limited;                /* no solution was found, and impulses that would have added energy were replaced */
  double tolerance;            /* the one that applied: options.tolerance, or if that is 0 the automatic one */
  bool converged;              /* natural_error <= tolerance; never inferred from iteration counts */
} ds_certificate;

/* A step against mechanics, from the states before and after it and its impulses [docs/motion.md]. Over all islands,
 * and over all parts of a step: maxima, and sums where it says so. */
typedef struct ds_motion {
  double gain;           /* J: energy gained that no force, drive or scripted body accounts for */
  double gain_share;     /* the same of the island's kinetic energy, or of what a step of free fall gives it */
  double momentum_share; /* of m (|v| + h g): change of momentum that no force or impulse accounts for */
  double time_error;     /* m/s: with error_control, the difference that half as many parts make, per second; else 0 */
  double slip;           /* m: of contacts that stick in this step and the one before */
  int32_t unjudged;      /* sum: islands whose energy cannot be judged [docs/motion.md] */
  int32_t limited;       /* sum: islands that were slowed down because they gained energy in the shortest parts too */
  bool passed;           /* gain_share is at most 0.01, and nothing was limited */
} ds_motion;

typedef struct ds_step_report {
  int64_t step;
  double time; /* after the step, s */
  int32_t contacts, active_contacts, islands, unconverged_islands;
  int32_t moving_islands; /* islands with a tolerance above that at rest because they slide [ds_options.tolerance] */
  ds_certificate worst;   /* over all islands: staggered_iterations and errors are maxima, other counts are sums,
                             converged = all */
  double energy_before, energy_after; /* kinetic + gravitational + elastic, J */
  double penetration;                 /* deepest overlap found at the start of the step, m */
  double separation;                  /* largest distance that a body was moved to reduce an overlap, m */
  double joint_drift;                 /* largest joint gap after the step, m */
  ds_motion motion;
  int32_t stopped_bodies; /* stopped within the step because they would have passed through others */
  int32_t parts; /* equal parts in which the step was taken, for the sake of deformable bodies or because its motion did
                    not pass as a whole; 1 = as a whole */
  int32_t outside_bodies;  /* deformable bodies outside the range of their model after the step: with inverted
                              tetrahedra, or with linear modes and a linear_strain above 0.0025 */
  ds_body_id outside_body; /* the first of them; 0 = none */
  int32_t inverted_tets;   /* tetrahedra of deformable bodies with a volume of zero or less after the step */
  double linear_strain;    /* largest strain that linear modes leave out, half the square of the displacement gradient;
                              0 = below 0.0025 */
  double seconds[DS_STAGE_COUNT]; /* wall time per stage; does not affect results */
} ds_step_report;

typedef enum ds_contact_mode {
  DS_CONTACT_OPEN,  /* no impulse */
  DS_CONTACT_STICK, /* impulse inside the cone */
  DS_CONTACT_SLIDE, /* impulse on the surface of the cone, the contact slides */
} ds_contact_mode;

/* One contact of the last step. The impulse acts on body a and its opposite on body b. */
typedef struct ds_contact {
  ds_body_id a, b;
  ds_vec3 point;          /* world, between the two surfaces, at the start of the step */
  ds_vec3 normal;         /* unit, from b to a */
  double gap;             /* m, negative = overlap, at the start of the step */
  double mu, restitution; /* mu: the largest where it differs by direction */
  ds_vec3 impulse;        /* N s on a */
  ds_vec3 velocity;       /* of a relative to b at the point, after the step, m/s */
  ds_contact_mode mode;
  uint64_t feature; /* identifies the touching features; constant while they touch */
  double held;      /* m: initial overlap of the two bodies that is not pushed apart; 0 = none */
} ds_contact;

typedef struct ds_mass {
  double mass;       /* kg; 0 for static and kinematic bodies */
  ds_vec3 center;    /* centre of mass in the body's frame */
  double inertia[9]; /* about the centre of mass, in the body's frame, row-major, kg m² */
} ds_mass;

typedef struct ds_energy {
  double kinetic, potential; /* J; potential = -sum m g'x */
  double elastic;            /* J, of deformable bodies */
} ds_energy;

typedef struct ds_momentum {
  ds_vec3 linear, angular; /* N s; N m s about the world's origin */
} ds_momentum;

typedef struct ds_ray_hit {
  ds_body_id body; /* 0 = nothing hit */
  double distance; /* m along the unit direction */
  ds_vec3 point, normal;
} ds_ray_hit;

#endif
