/* The value types of the public API: vectors, ids, definitions, reports. Everything is SI; angles are radians.
 *
 * A def struct is filled by its ds_default_... function before fields are changed, so that new fields keep old programs
 * right. An id is passed by value and its zero value means "none". */
#ifndef DRYSTONE_TYPES_H
#define DRYSTONE_TYPES_H

#include <stdbool.h>
#include <stdint.h>

typedef struct ds_vec3 {
  double x, y, z;
} ds_vec3;

/* A unit quaternion w + xi + yj + zk that turns body coordinates into world coordinates. */
typedef struct ds_quat {
  double w, x, y, z;
} ds_quat;

/* A frame: position p of its origin and rotation q. A point s in the frame stands at p + q s q* outside. */
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
  DS_ERROR_INPUT,  /* what the user gave cannot be used; the message says what was expected */
  DS_ERROR_MEMORY, /* an allocation failed; nothing was changed */
  DS_STOPPED,      /* the caller asked to give up [ds_stepper_stop]; nothing was changed */
} ds_status;

/* Filled where a call returns other than DS_OK: one sentence that says what is wrong and what to do. */
typedef struct ds_error {
  char message[512];
} ds_error;

/* ---- Scene: constant once finished --------------------------------------------------------------------------------
 */

/* How a coefficient of a pair comes from the coefficients of its two materials, where no pair entry overrides it. */
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

typedef struct ds_material_def {
  double mu;          /* Coulomb coefficient, >= 0 */
  double restitution; /* Newton's e in [0, 1] */
} ds_material_def;

typedef enum ds_body_kind {
  DS_BODY_DYNAMIC,   /* 6 degrees of freedom, moved by forces and contact */
  DS_BODY_STATIC,    /* never moves */
  DS_BODY_KINEMATIC, /* moved by its script, pushes others, is never pushed */
} ds_body_kind;

typedef enum ds_motion_kind {
  DS_MOTION_NONE,
  DS_MOTION_VELOCITY,  /* constant velocity and angular velocity from the start pose */
  DS_MOTION_HARMONIC,  /* start pose + amplitude sin(2 pi frequency t + phase), with its own start and end time */
  DS_MOTION_KEYFRAMES, /* poses at given times, linear between them, held before the first and after the last */
} ds_motion_kind;

typedef struct ds_keyframe {
  double time; /* s, ascending */
  ds_pose pose;
} ds_keyframe;

/* The script of a kinematic body. The angular part of HARMONIC turns about angular_amplitude by |angular_amplitude|
 * rad. */
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
  double mass;              /* kg; 0 = from the density of the shapes, else the densities are scaled to give it;
                               deformable bodies: 0, theirs is in their ds_reduced */
  double linear_damping;    /* 1/s, default 0: dv/dt = -c v */
  double angular_damping;   /* 1/s */
  ds_vec3 force, torque;    /* constant, N and N m, world frame, at the centre of mass */
  double release_time;      /* s; before it the body is held where it is and touches nothing */
  ds_motion_def motion;     /* of a kinematic body */
  ds_vec3 color;            /* 0..1, for pictures only; negative = chosen for you */
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
  ds_pose pose;   /* in the body's frame */
  double density; /* kg/m³, default 1000 */
  double radius, half_length;
  ds_vec3 half;
  const ds_vec3 *points; /* HULL: copied */
  int32_t point_count;
  struct ds_solid *solid;           /* SOLID: the scene becomes one more owner */
  struct ds_reduced *reduced;       /* REDUCED: the scene becomes one more owner; the pose is the identity */
  const double *start, *start_rate; /* REDUCED: reduced coordinates and their rates at the start, copied; NULL = 0 */
} ds_shape_def;

typedef enum ds_joint_kind {
  DS_JOINT_BALL,  /* the bodies share one point: three rotations are free */
  DS_JOINT_HINGE, /* they share the points of an axis: one rotation is free */
  DS_JOINT_WELD,  /* they move as one */
} ds_joint_kind;

/* Two rigid bodies held together without friction, by whatever impulses that takes [docs/joints.md]. One of the two may
 * be static or kinematic. */
typedef struct ds_joint_def {
  const char *name; /* copied; may be NULL */
  ds_joint_kind kind;
  ds_body_id a, b;
  ds_vec3 point; /* world, where the bodies are at the start */
  ds_vec3 axis;  /* HINGE: world, at the start; need not be unit. Default (0, 0, 1) */
  bool collide;  /* default false: joined bodies do not touch each other */
} ds_joint_def;

/* Where a joint is. */
typedef struct ds_joint_place {
  ds_vec3 on_a, on_b; /* its point as a point of either body, world */
  ds_vec3 axis;       /* HINGE: unit, as it goes with body a */
  double gap;         /* m: the largest distance of points that should be one */
} ds_joint_place;

/* ---- Options of a step --------------------------------------------------------------------------------------------
 */

typedef enum ds_method {
  DS_METHOD_STAGGERED,    /* staggered projections [SP08], default */
  DS_METHOD_GAUSS_SEIDEL, /* nonsmooth Gauss-Seidel over the contacts, for comparison */
} ds_method;

/* What runs before the staggered loop. NONE gives SP08's Algorithm 1 exactly as published. */
typedef enum ds_predictor {
  DS_PREDICTOR_COUPLED, /* warm start certified, Newton, cone interior point: docs/solver.md; default */
  DS_PREDICTOR_NONE,
} ds_predictor;

/* In which metric contact impulses act on deformable bodies [docs/deformables.md]. */
typedef enum ds_metric {
  DS_METRIC_EFFECTIVE, /* M + gamma h C + beta h² K, that of the implicit integrator: what rests is in balance; default
                        */
  DS_METRIC_MASS,      /* M [SP08] */
} ds_metric;

typedef struct ds_options {
  double step;              /* h, s; default 0.01 */
  double tolerance;         /* natural-map error at which an island counts as converged; 0 (default): 1e-8 where
                               nothing slides, and where something does as far as the motion can tell, at most 1e-4
                               [docs/solver.md] */
  ds_method method;         /* default DS_METHOD_STAGGERED */
  ds_predictor predictor;   /* default DS_PREDICTOR_COUPLED */
  int32_t friction_samples; /* 0 = exact disk (default); k >= 3 = regular polygon of k tangent samples */
  int32_t max_iterations;   /* staggered iterations (or Gauss-Seidel sweeps) at most, default 200; with predictor = NONE
                               the loop ends there on a contact projection [SP08 7]. The predictor has its own limits */
  double rel_err;           /* SP08 eq. 28: threshold of Algorithm 1, default 1e-4; used where predictor = NONE */
  bool warm_start;          /* default true */
  bool sub_islands;         /* islands are split at contacts that carry nothing [SP08 8.2]; default true */
  int32_t contacts_per_face; /* points on a face-face contact, default 8; more = dense sampling */
  double margin;             /* m: contacts are found this far ahead besides what motion needs; default 0 = chosen */
  ds_metric metric;          /* of deformable bodies, default DS_METRIC_EFFECTIVE */
  int32_t newton;            /* Newton steps of a deformable body's prediction at most: default 1, semi-implicit */
  double newmark_damping; /* 0 to 1: how far deformations that a step cannot follow are damped; default 1. 0 = Newmark's
                             average accelerations throughout, which contact can excite without bound */
  double step_budget;     /* factorizations that a solve of an island may take, Gauss-Seidel sweeps counted by their
                             cost; default 2000; 0 = no limit. Where they are spent the best answer found is the answer,
                             and the report says whether it converged */
  double deadline;        /* s of wall time from the start of a step until its contacts are solved; 0 = none (default).
                             Where it runs out a contact projection ends the step [SP08 7]: nothing passes through
                             anything, friction may be short, the report says so. Then the clock decides, and two runs
                             are not the same */
} ds_options;

/* ---- What a step says of itself ------------------------------------------------------------------------------------
 */

typedef enum ds_stage {
  DS_STAGE_DETECT,
  DS_STAGE_ASSEMBLE,
  DS_STAGE_PREDICT,
  DS_STAGE_PROJECT,
  DS_STAGE_INTEGRATE,
  DS_STAGE_COUNT,
} ds_stage;

/* The tools of the safeguarded path, in the order in which it turns to them [docs/solver.md]. */
typedef enum ds_tool {
  DS_TOOL_NEWTON,       /* proximal Newton on the natural map */
  DS_TOOL_CONVEX,       /* interior point without De Saxcé's term: decides where nothing slides */
  DS_TOOL_CONE,         /* interior point on the Coulomb cones */
  DS_TOOL_HOMOTOPY,     /* continuation of the same path through its folds */
  DS_TOOL_GAUSS_SEIDEL, /* sweeps */
  DS_TOOL_STAGGERED,    /* the two projections in turn */
  DS_TOOL_COUNT,
} ds_tool;

/* The certificate [DESIGN: 4. docs/report.md]: how well one island's impulses solve the contact problem. */
typedef struct ds_certificate {
  int32_t bodies, contacts;
  int32_t staggered_iterations;  /* outer iterations of the staggered loop */
  int32_t projection_iterations; /* iterations inside the projections, Newton and interior-point iterations included */
  int32_t factorizations;
  int32_t tool[DS_TOOL_COUNT]; /* iterations of each tool */
  double rel_err;              /* SP08 eq. 28 of the last staggered iteration; 0 where none was needed */
  double residual;             /* SP08 eq. 29, J */
  double natural_error;        /* scale-free natural-map error, see docs/report.md */
  double approach_velocity;    /* worst (b - n'v)+ over contacts, m/s */
  double cone_violation;       /* worst (|r_T| - mu r_N)+ and (-r_N)+ over contacts, relative to the largest impulse */
  double dissipation_error;    /* worst |r_T'u_T + mu r_N |u_T|| over contacts, J */
  double joint_gap;            /* largest distance, after the step, of points that joints hold together, m; part of
                                  natural_error [docs/report.md] */
  double conflict;  /* least |(b - N'v)+| of any velocity over |q| where that is not zero: no solution exists */
  bool unbounded;   /* impulses grow without bound on every way to a solution: a jam; likely none exists */
  bool limited;     /* no solution was found and the impulses would have added energy: others that do not were taken */
  double tolerance; /* that applied: options.tolerance, or what ds_options.tolerance = 0 chooses for this motion */
  bool converged;   /* natural_error <= tolerance: never claimed from iteration counts */
} ds_certificate;

typedef struct ds_step_report {
  int64_t step;
  double time; /* after the step, s */
  int32_t contacts, active_contacts, islands, unconverged_islands;
  int32_t moving_islands; /* solved as far as their motion can tell, not to the tolerance of rest [ds_options.tolerance]
                           */
  ds_certificate worst;   /* counts summed over islands, errors the largest, converged = all */
  double energy_before, energy_after; /* kinetic + gravitational + elastic, J */
  double penetration;                 /* deepest overlap found at the start of the step, m */
  double separation;                  /* farthest that a body was moved to take it out of an overlap, m */
  double joint_drift;                 /* largest distance of points that joints hold together, after the step, m */
  int32_t stopped_bodies;             /* stopped on their way because they would have passed through something */
  double seconds[DS_STAGE_COUNT];     /* wall time a stage; never used in a decision */
} ds_step_report;

typedef enum ds_contact_mode {
  DS_CONTACT_OPEN,  /* no impulse */
  DS_CONTACT_STICK, /* impulse inside the cone */
  DS_CONTACT_SLIDE, /* impulse on the cone's side, surfaces slide */
} ds_contact_mode;

/* One contact of the last step. The impulse acts on body a and its opposite on body b. */
typedef struct ds_contact {
  ds_body_id a, b;
  ds_vec3 point;  /* world, between the two surfaces, at the start of the step */
  ds_vec3 normal; /* unit, from b to a */
  double gap;     /* m, negative = overlap, at the start of the step */
  double mu, restitution;
  ds_vec3 impulse;  /* N s on a */
  ds_vec3 velocity; /* of a against b at the point, after the step, m/s */
  ds_contact_mode mode;
  uint64_t feature; /* names the touching features; the same from step to step while they touch */
  double held;      /* m: overlap of the two bodies at the start that is not pushed apart; 0 where there is none */
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
