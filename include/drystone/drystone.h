/* Drystone: rigid and deformable bodies with exact Coulomb friction, certified in every step.
 *
 * Four lifetimes, four types:
 *   ds_scene    bodies, shapes, materials. Constant after ds_scene_finish; may be shared by many states.
 *   ds_state    positions, velocities, impulses: everything needed to continue bit for bit.
 *   ds_stepper  threads and memory of a step; holds no results.
 *   ds_step_report  statistics and certificate of one step.
 *
 * Calls never print, never exit, and use no globals. docs/api.md has a tour; examples/hello.c a complete program. */
#ifndef DRYSTONE_H
#define DRYSTONE_H

#include <stddef.h>

#include "drystone/types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define DS_VERSION_MAJOR 0
#define DS_VERSION_MINOR 1
#define DS_VERSION_PATCH 0
#define DS_VERSION_STRING "0.1.0"
const char *ds_version(void); /* of the linked library, "0.1.0" */

typedef struct ds_scene ds_scene;
typedef struct ds_state ds_state;
typedef struct ds_stepper ds_stepper;

/* ---- Scene ---- */
ds_scene_def ds_default_scene(void);
ds_material_def ds_default_material(void); /* mu 0.5, restitution 0 */
ds_body_def ds_default_body(void);         /* dynamic, at the origin, at rest */
ds_shape_def ds_default_shape(void);       /* unit box, 1000 kg/m³ */

/* NULL if memory ran out or the definition is invalid; the error, which may be NULL, says why. If a call that adds
 * something fails, it returns a zero id or a status other than DS_OK, and the scene is unchanged. */
ds_scene *ds_scene_create(const ds_scene_def *def, ds_error *error);
void ds_scene_destroy(ds_scene *scene);
ds_material_id ds_scene_add_material(ds_scene *scene, const ds_material_def *def, ds_error *error);
ds_status ds_scene_set_pair(ds_scene *scene, ds_material_id a, ds_material_id b, double mu, double restitution,
                            ds_error *error);
ds_status ds_scene_name_material(ds_scene *scene, ds_material_id material, const char *name, ds_error *error);
ds_body_id ds_scene_add_body(ds_scene *scene, const ds_body_def *def, ds_error *error);
ds_status ds_scene_add_shape(ds_scene *scene, ds_body_id body, const ds_shape_def *def, ds_error *error);
const char *ds_joint_kind_name(ds_joint_kind kind); /* as in scene files; NULL if there is no such kind */
bool ds_joint_kind_has_axis(ds_joint_kind kind);    /* whether it uses `axis` */
ds_joint_def ds_default_joint(void);                /* a ball at the origin; set the bodies */
/* Both bodies must exist. */
ds_joint_id ds_scene_add_joint(ds_scene *scene, const ds_joint_def *def, ds_error *error);
ds_interface_def ds_default_interface(void); /* mu of the materials; set the rest */
/* Both bodies must exist. */
ds_status ds_scene_add_interface(ds_scene *scene, const ds_interface_def *def, ds_error *error);
/* Computes masses and inertias and checks that every dynamic body has them. Nothing can be added afterwards. */
ds_status ds_scene_finish(ds_scene *scene, ds_error *error);

/* What may change in a finished scene, between steps. It applies to all states of the scene. Pairs that were set keep
 * their values. */
ds_status ds_scene_change_material(ds_scene *scene, ds_material_id material, const ds_material_def *def,
                                   ds_error *error);
/* A pair that was set. */
ds_status ds_scene_change_pair(ds_scene *scene, int32_t index, double mu, double restitution, ds_error *error);
ds_status ds_scene_change_gravity(ds_scene *scene, ds_vec3 gravity, ds_error *error);

/* Materials are {0}, the default one, to {count - 1}. */
int32_t ds_scene_material_count(const ds_scene *scene);
const char *ds_material_name(const ds_scene *scene, ds_material_id material); /* "" = none */
ds_material_def ds_scene_material(const ds_scene *scene, ds_material_id material);
/* Pairs of ds_scene_set_pair. */
int32_t ds_scene_pair_count(const ds_scene *scene);
ds_pair_def ds_scene_get_pair(const ds_scene *scene, int32_t index);
int32_t ds_scene_body_count(const ds_scene *scene);
ds_body_id ds_scene_body(const ds_scene *scene, int32_t index);
ds_body_id ds_scene_find_body(const ds_scene *scene, const char *name); /* the first of that name; 0 = none */
const char *ds_body_name(const ds_scene *scene, ds_body_id body);       /* "" = none */
ds_body_kind ds_body_get_kind(const ds_scene *scene, ds_body_id body);
ds_vec3 ds_body_color(const ds_scene *scene, ds_body_id body);
ds_material_id ds_body_material(const ds_scene *scene, ds_body_id body);
ds_body_def ds_body_get_def(const ds_scene *scene, ds_body_id body); /* as given; name and keyframes are the scene's */
ds_mass ds_body_mass(const ds_scene *scene, ds_body_id body);
ds_vec3 ds_body_inertia(const ds_scene *scene, ds_body_id body); /* principal moments, kg m² */
double ds_body_radius(const ds_scene *scene, ds_body_id body); /* m: of a ball about its centre of mass that holds it */
int32_t ds_body_shape_count(const ds_scene *scene, ds_body_id body);
/* The pose is in the body's frame; points belong to the scene. */
ds_shape_def ds_body_shape(const ds_scene *scene, ds_body_id body, int32_t shape);
/* The faces of a box or hull; none of other shapes. */
ds_polyhedron ds_body_polyhedron(const ds_scene *scene, ds_body_id body, int32_t shape);
/* The box around a shape where the body's frame is at a pose, deformable bodies undeformed; infinite for half-spaces.
 */
void ds_body_bounds(ds_vec3 *low, ds_vec3 *high, const ds_scene *scene, ds_body_id body, int32_t shape, ds_pose pose);
/* Reduced coordinates of all deformable bodies together, in the order of the bodies, as recordings keep them; and where
 * those of a body begin among them. */
int32_t ds_scene_reduced_count(const ds_scene *scene);
int32_t ds_body_first_reduced(const ds_scene *scene, ds_body_id body);
ds_vec3 ds_scene_gravity(const ds_scene *scene);
int32_t ds_scene_joint_count(const ds_scene *scene);
ds_joint_id ds_scene_joint(const ds_scene *scene, int32_t index);
ds_joint_def ds_joint_get_def(const ds_scene *scene, ds_joint_id joint); /* the name belongs to the scene */

/* Interfaces, in a finished scene in the order of their bodies; points belong to the scene. */
int32_t ds_scene_interface_count(const ds_scene *scene);
ds_interface_def ds_scene_get_interface(const ds_scene *scene, int32_t index);

/* ---- State ---- */
ds_state *ds_state_create(const ds_scene *scene); /* at the scene's start; NULL if memory ran out */
ds_state *ds_state_copy(const ds_state *state);   /* evolves bit for bit like the original */
/* Copies `from` into `state`; both are states of the same scene. */
ds_status ds_state_assign(ds_state *state, const ds_state *from);
void ds_state_destroy(ds_state *state);
double ds_state_time(const ds_state *state);
ds_pose ds_state_pose(const ds_scene *scene, const ds_state *state, ds_body_id body);
ds_vec3 ds_state_center(const ds_state *state, ds_body_id body);   /* of mass, world */
ds_vec3 ds_state_velocity(const ds_state *state, ds_body_id body); /* of the centre of mass */
ds_vec3 ds_state_angular_velocity(const ds_state *state, ds_body_id body);
void ds_state_set_pose(const ds_scene *scene, ds_state *state, ds_body_id body, ds_pose pose);
/* Of a dynamic body. For a static or kinematic body the call is misuse: the next step would ignore the velocity. */
void ds_state_set_velocity(ds_state *state, ds_body_id body, ds_vec3 velocity, ds_vec3 angular_velocity);
/* Reduced coordinates of a deformable body, r of them, and their rates, after the last step. NULL and r = 0 for a
 * rigid body; valid until the next step. Setting takes r numbers each; NULL keeps the current values. */
const double *ds_state_reduced(const ds_state *state, ds_body_id body, int32_t *r);
const double *ds_state_reduced_rate(const ds_state *state, ds_body_id body, int32_t *r);
void ds_state_set_reduced(ds_state *state, ds_body_id body, const double *q, const double *rate);
/* Those of all deformable bodies, ds_scene_reduced_count numbers. */
const double *ds_state_all_reduced(const ds_state *state);
/* The rates were means over a step of h; 0 = they are the rates of this moment. Energies differ by it. */
void ds_state_set_reduced_step(ds_state *state, double h);
/* For a state put together from what was kept of another: its time, which scripts and releases go by, and the contacts
 * whose impulses the next step starts from. DS_ERROR_INPUT where they are not in the order of ds_state_contacts. */
void ds_state_set_time(ds_state *state, double time);
ds_status ds_state_set_contacts(ds_state *state, const ds_contact *contacts, int32_t count);
/* Serializes a state: everything needed to continue bit for bit, with version, length and checksum. Free the result
 * with free(); NULL if memory ran out. */
unsigned char *ds_state_save(const ds_state *state, size_t *size);
/* Restores a saved state of a scene with the same bodies. DS_ERROR_INPUT with a message if the bytes are damaged, of
 * another scene or of a later version; the state is then unchanged. Bytes beyond the saved length are ignored. */
ds_status ds_state_load(ds_state *state, const void *bytes, size_t size, ds_error *error);
/* Acts during the next step only, N and N m, world frame; the force at a world point. A deformable body is not deformed
 * by it. */
void ds_state_apply_force(ds_state *state, ds_body_id body, ds_vec3 force, ds_vec3 point);
void ds_state_apply_torque(ds_state *state, ds_body_id body, ds_vec3 torque);

ds_energy ds_state_energy(const ds_scene *scene, const ds_state *state);
ds_momentum ds_state_momentum(const ds_scene *scene, const ds_state *state);
/* Contacts of the last step, in the order of their bodies and features. */
const ds_contact *ds_state_contacts(const ds_state *state, int32_t *count);
/* The joint whose limit or drive a contact is; {0} if it is a contact of two bodies. */
ds_joint_id ds_contact_joint(const ds_contact *contact);
/* Position of a joint for given poses of its bodies (frames as in ds_state_pose), and in a state. */
ds_joint_place ds_joint_at(const ds_scene *scene, ds_joint_id joint, ds_pose a, ds_pose b);
ds_joint_place ds_state_joint(const ds_scene *scene, const ds_state *state, ds_joint_id joint);
/* First surface hit from origin along direction (need not be unit) within max_distance. */
ds_ray_hit ds_state_ray_cast(const ds_scene *scene, const ds_state *state, ds_vec3 origin, ds_vec3 direction,
                             double max_distance);
/* 64-bit hash of time, poses, velocities, reduced coordinates, impulses and hands: equal hashes mean bit-equal states.
 */
uint64_t ds_state_hash(const ds_state *state);
/* The deepest overlap in the state, m, and its bodies (a and b may be NULL); 0 = none. DS_ERROR_MEMORY is the only
 * failure. */
ds_status ds_state_deepest_overlap(double *depth, ds_body_id *a, ds_body_id *b, const ds_scene *scene,
                                   const ds_state *state);

/* ---- Solvers ---- */
ds_method ds_method_named(const char *name);  /* -1 where there is none of this name */
const char *ds_method_name(ds_method method); /* NULL beyond the last: so all can be listed */
const char *ds_method_summary(ds_method method);
bool ds_method_is_rigid(ds_method method); /* it is for rigid bodies without joints only; scene files say so */
typedef struct ds_method_list {
  char text[512]; /* all names as "a|b|c", in order */
} ds_method_list;
ds_method_list ds_method_choices(void);
/* The method, with what its authors use with it: `max_iterations`, and the integrator where they have semi-implicit
 * Euler. Scene files and --method do the same where these options are not given. */
void ds_options_choose(ds_options *options, ds_method method);

/* ---- Laws of restitution ---- */
ds_restitution_law ds_restitution_named(const char *name); /* -1 where there is none of this name */
const char *ds_restitution_name(ds_restitution_law law);   /* NULL beyond the last: so all can be listed */
ds_method_list ds_restitution_choices(void);
bool ds_restitution_is_bounded(ds_restitution_law law); /* whether no impact by it adds energy */

/* ---- Step ---- */
ds_options ds_default_options(void);
/* The tolerance where nothing slides: the given one, or 1e-8. */
double ds_options_tolerance(const ds_options *options);
/* Checks ranges; the message names the field. */
ds_status ds_options_check(const ds_options *options, ds_error *error);
ds_stepper *ds_stepper_create(int32_t threads); /* 0 = all cores; NULL if memory or threads ran out */
void ds_stepper_destroy(ds_stepper *stepper);
/* Cancels the current step, or the next one: it returns DS_STOPPED soon, and the state is unchanged. May be called from
 * any thread or from a signal handler. */
void ds_stepper_stop(ds_stepper *stepper);
/* Factorizations of the current step so far, for progress displays. From any thread. */
int64_t ds_stepper_work(const ds_stepper *stepper);
/* One step: detect, assemble, predict, project, integrate. A step that does not converge is not a failure of the call:
 * the report says so. If the status is not DS_OK, the state is unchanged. */
ds_status ds_step(ds_stepper *stepper, ds_state *state, ds_step_report *report, const ds_scene *scene,
                  const ds_options *options);
/* Certificates of the last step's islands, in the order of their lowest body: each of all problems that the island has
 * solved in the step. */
const ds_certificate *ds_stepper_islands(const ds_stepper *stepper, int32_t *count);

/* The problem of one island for the whole step as it was solved, for observers. By the midpoint rule there are more:
 * for the velocities at the end, and of parts of the step up to an impact. Valid during the call. ds_problem_solve with
 * as_step, the same options and start gives the same impulses, bit for bit. */
typedef struct ds_observation {
  int64_t step;                      /* as in the report of the step */
  int32_t island;                    /* as in ds_stepper_islands */
  const struct ds_problem *problem;  /* drystone/problem.h: global form, velocities scaled so that M = I */
  const double *start;               /* 3 x contacts: initial impulses */
  const double *r;                   /* 3 x contacts: impulses found */
  const double *v;                   /* dof: scaled velocities found */
  const ds_certificate *certificate; /* of the solve */
  double seconds;                    /* wall time of the solve */
} ds_observation;
typedef void ds_observer(void *user, const ds_observation *observation);
/* Calls the observer for every island of all following steps, in order, from the thread that calls ds_step, before the
 * state changes; but not for those of few bodies in which something lands, which take the step in parts. NULL removes
 * it. */
void ds_stepper_observe(ds_stepper *stepper, ds_observer *observer, void *user);

/* ---- Misuse by a programmer ---- */
/* Called on a broken precondition with file, line and the condition; the default prints it and aborts. */
typedef void ds_check_handler(const char *file, int line, const char *condition);
void ds_set_check_handler(ds_check_handler *handler); /* NULL = default */

#ifdef __cplusplus
}
#endif

#endif
