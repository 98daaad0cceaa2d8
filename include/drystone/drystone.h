/* Drystone: rigid bodies held together by exact Coulomb friction, certified every step.
 *
 * Four lifetimes, four types:
 *   ds_scene    what there is: bodies, shapes, materials. Constant after ds_scene_finish; may be shared by many states.
 *   ds_state    where everything is: all that is needed to go on bit-exactly.
 *   ds_stepper  threads and memory of a step; holds no result.
 *   ds_step_report  what one step says of itself.
 *
 * Calls never print, never exit, keep no globals. docs/api.md has a tour; examples/hello.c a complete program. */
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
const char *ds_version(void); /* of the library linked, "0.1.0" */

typedef struct ds_scene ds_scene;
typedef struct ds_state ds_state;
typedef struct ds_stepper ds_stepper;

/* ---- Scene ---- */
ds_scene_def ds_default_scene(void);
ds_material_def ds_default_material(void); /* mu 0.5, restitution 0 */
ds_body_def ds_default_body(void);         /* dynamic, at the origin, at rest */
ds_shape_def ds_default_shape(void);       /* unit box, 1000 kg/m³ */

/* NULL where memory ran out or the definition is not usable; the error, which may be NULL, says why. The adding calls
 * return a zero id or other than DS_OK and leave the scene as it was. */
ds_scene *ds_scene_create(const ds_scene_def *def, ds_error *error);
void ds_scene_destroy(ds_scene *scene);
ds_material_id ds_scene_add_material(ds_scene *scene, const ds_material_def *def, ds_error *error);
ds_status ds_scene_set_pair(ds_scene *scene, ds_material_id a, ds_material_id b, double mu, double restitution,
                            ds_error *error);
ds_status ds_scene_name_material(ds_scene *scene, ds_material_id material, const char *name, ds_error *error);
ds_body_id ds_scene_add_body(ds_scene *scene, const ds_body_def *def, ds_error *error);
ds_status ds_scene_add_shape(ds_scene *scene, ds_body_id body, const ds_shape_def *def, ds_error *error);
const char *ds_joint_kind_name(ds_joint_kind kind); /* as in scene files; NULL where there is no such kind */
ds_joint_def ds_default_joint(void);                /* a ball at the origin between bodies to be named */
/* Both bodies must be there already. */
ds_joint_id ds_scene_add_joint(ds_scene *scene, const ds_joint_def *def, ds_error *error);
/* Computes masses and inertias and checks that every dynamic body has them. Nothing can be added afterwards. */
ds_status ds_scene_finish(ds_scene *scene, ds_error *error);

/* The two things of a finished scene that may change, between steps: then all its states go on with them. Pairs that
 * were set stay as they are. */
ds_status ds_scene_change_material(ds_scene *scene, ds_material_id material, const ds_material_def *def,
                                   ds_error *error);
ds_status ds_scene_change_gravity(ds_scene *scene, ds_vec3 gravity, ds_error *error);

/* Materials are {0}, the default one, to {count - 1}. */
int32_t ds_scene_material_count(const ds_scene *scene);
const char *ds_material_name(const ds_scene *scene, ds_material_id material); /* "" where it has none */
ds_material_def ds_scene_material(const ds_scene *scene, ds_material_id material);
int32_t ds_scene_body_count(const ds_scene *scene);
ds_body_id ds_scene_body(const ds_scene *scene, int32_t index);
ds_body_id ds_scene_find_body(const ds_scene *scene, const char *name); /* the first of that name; 0 = none */
const char *ds_body_name(const ds_scene *scene, ds_body_id body);       /* "" where it has none */
ds_body_kind ds_body_get_kind(const ds_scene *scene, ds_body_id body);
ds_vec3 ds_body_color(const ds_scene *scene, ds_body_id body);
ds_material_id ds_body_material(const ds_scene *scene, ds_body_id body);
ds_mass ds_body_mass(const ds_scene *scene, ds_body_id body);
int32_t ds_body_shape_count(const ds_scene *scene, ds_body_id body);
/* The pose is in the body's frame; points belong to the scene. */
ds_shape_def ds_body_shape(const ds_scene *scene, ds_body_id body, int32_t shape);
ds_vec3 ds_scene_gravity(const ds_scene *scene);
int32_t ds_scene_joint_count(const ds_scene *scene);
ds_joint_id ds_scene_joint(const ds_scene *scene, int32_t index);
ds_joint_def ds_joint_get_def(const ds_scene *scene, ds_joint_id joint); /* the name belongs to the scene */

/* ---- State ---- */
ds_state *ds_state_create(const ds_scene *scene); /* at the scene's start; NULL where memory ran out */
ds_state *ds_state_copy(const ds_state *state);   /* goes on bit for bit as the original does */
/* One state becomes what another of the same scene is. */
ds_status ds_state_assign(ds_state *state, const ds_state *from);
void ds_state_destroy(ds_state *state);
double ds_state_time(const ds_state *state);
ds_pose ds_state_pose(const ds_scene *scene, const ds_state *state, ds_body_id body);
ds_vec3 ds_state_center(const ds_state *state, ds_body_id body);   /* of mass, world */
ds_vec3 ds_state_velocity(const ds_state *state, ds_body_id body); /* of the centre of mass */
ds_vec3 ds_state_angular_velocity(const ds_state *state, ds_body_id body);
void ds_state_set_pose(const ds_scene *scene, ds_state *state, ds_body_id body, ds_pose pose);
/* Of a dynamic body. A kinematic one moves as its ds_body_def.motion says and a static one not at all: to set their
 * velocity is misuse, for the next step would not look at it. */
void ds_state_set_velocity(ds_state *state, ds_body_id body, ds_vec3 velocity, ds_vec3 angular_velocity);
/* Reduced coordinates of a deformable body, r of them, and their rates: of the step just done. NULL and r = 0 for a
 * rigid body; valid until the next step. Setting takes r numbers each; NULL leaves what is there. */
const double *ds_state_reduced(const ds_state *state, ds_body_id body, int32_t *r);
const double *ds_state_reduced_rate(const ds_state *state, ds_body_id body, int32_t *r);
void ds_state_set_reduced(ds_state *state, ds_body_id body, const double *q, const double *rate);
/* For a state put together from what was kept of another: its time, which scripts and releases go by, and the contacts
 * whose impulses the next step starts from. DS_ERROR_INPUT where they are not in the order of ds_state_contacts. */
void ds_state_set_time(ds_state *state, double time);
ds_status ds_state_set_contacts(ds_state *state, const ds_contact *contacts, int32_t count);
/* A state as bytes, for files: everything needed to go on bit for bit, with version, length and checksum. New memory,
 * to be freed by free(); NULL where it ran out. */
unsigned char *ds_state_save(const ds_state *state, size_t *size);
/* The state becomes the one that was saved, of a scene with the same bodies. DS_ERROR_INPUT with a message where the
 * bytes are damaged, of another scene or of a later version: then the state is as it was. Bytes beyond the length that
 * was saved are not looked at. */
ds_status ds_state_load(ds_state *state, const void *bytes, size_t size, ds_error *error);
/* Acts during the next step only, N and N m, world frame; the force at a world point. On a deformable body it acts as
 * on a rigid one: it does not deform. */
void ds_state_apply_force(ds_state *state, ds_body_id body, ds_vec3 force, ds_vec3 point);
void ds_state_apply_torque(ds_state *state, ds_body_id body, ds_vec3 torque);

ds_energy ds_state_energy(const ds_scene *scene, const ds_state *state);
ds_momentum ds_state_momentum(const ds_scene *scene, const ds_state *state);
/* Contacts of the last step, in the order of their bodies and features. */
const ds_contact *ds_state_contacts(const ds_state *state, int32_t *count);
/* The joint whose limit or drive a contact is; {0} where bodies touch. */
ds_joint_id ds_contact_joint(const ds_contact *contact);
/* Where a joint is in a state, and with the frames of its bodies, as ds_state_pose gives them, at any poses. */
ds_joint_place ds_joint_at(const ds_scene *scene, ds_joint_id joint, ds_pose a, ds_pose b);
ds_joint_place ds_state_joint(const ds_scene *scene, const ds_state *state, ds_joint_id joint);
/* First surface met from origin along direction (need not be unit) within max_distance. */
ds_ray_hit ds_state_ray_cast(const ds_scene *scene, const ds_state *state, ds_vec3 origin, ds_vec3 direction,
                             double max_distance);
/* 64-bit hash of time, poses, velocities, reduced coordinates, impulses and hands: equal hashes mean bit-equal states.
 */
uint64_t ds_state_hash(const ds_state *state);
/* Overlaps of the state as it stands: the deepest pair, or a depth of 0. */
double ds_state_deepest_overlap(const ds_scene *scene, const ds_state *state, ds_body_id *a, ds_body_id *b);

/* ---- Step ---- */
ds_options ds_default_options(void);
/* The tolerance where nothing slides: the one given, or 1e-8. */
double ds_options_tolerance(const ds_options *options);
/* Checks ranges; the message names the field. */
ds_status ds_options_check(const ds_options *options, ds_error *error);
ds_stepper *ds_stepper_create(int32_t threads); /* 0 = all cores; NULL where memory or threads ran out */
void ds_stepper_destroy(ds_stepper *stepper);
/* Makes a step that is being taken, or the next one, give up soon and return DS_STOPPED, the state as it was. From any
 * thread, or from a signal handler. */
void ds_stepper_stop(ds_stepper *stepper);
/* Factorizations of the step that is being taken, so far, for progress displays. From any thread. */
int64_t ds_stepper_work(const ds_stepper *stepper);
/* One step: detect, assemble, predict, project, integrate. Not converging is no failure of the call: the report says
 * so. On other than DS_OK the state is as it was. */
ds_status ds_step(ds_stepper *stepper, ds_state *state, ds_step_report *report, const ds_scene *scene,
                  const ds_options *options);
/* Certificates of the last step's islands, in the order of their lowest body. */
const ds_certificate *ds_stepper_islands(const ds_stepper *stepper, int32_t *count);

/* What an observer sees: the problem of one island as it was solved. Valid during the call. ds_problem_solve with
 * as_step, the same options and start gives the same impulses, bit for bit. */
typedef struct ds_observation {
  int64_t step;                      /* as in the report of the step */
  int32_t island;                    /* as in ds_stepper_islands */
  const struct ds_problem *problem;  /* drystone/problem.h: global form, velocities scaled so that M = I */
  const double *start;               /* 3 x contacts: the impulses it was started from */
  const double *r;                   /* 3 x contacts: impulses found */
  const double *v;                   /* dof: scaled velocities found */
  const ds_certificate *certificate; /* of the solve */
  double seconds;                    /* wall time of the solve */
} ds_observation;
typedef void ds_observer(void *user, const ds_observation *observation);
/* Calls the observer for every island of the steps to come, in their order, from the thread that calls ds_step, before
 * the state changes. NULL ends it. */
void ds_stepper_observe(ds_stepper *stepper, ds_observer *observer, void *user);

/* ---- Misuse by a programmer ---- */
/* Called on a broken precondition with file, line and the condition; the default prints it and aborts. */
typedef void ds_check_handler(const char *file, int line, const char *condition);
void ds_set_check_handler(ds_check_handler *handler); /* NULL = default */

#ifdef __cplusplus
}
#endif

#endif
