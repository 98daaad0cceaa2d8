/* What a scene and a state are inside. Public calls see only opaque handles.
 *
 * A body's *principal frame* has its origin at the centre of mass and its axes along the principal axes of inertia: the
 * state keeps that frame's position x and rotation q. The *user frame* is the one of ds_body_def.pose. */
#ifndef DS_BODY_SCENE_H
#define DS_BODY_SCENE_H

#include "body/hand.h"
#include "body/skin.h"
#include "drystone/drystone.h"
#include "la/vec3.h"
#include "shape/shape.h"

typedef struct ds_body {
  char *name;
  ds_keyframe *keyframes; /* of a motion by keyframes */
  ds_body_kind kind;
  const struct ds_body_ops *ops; /* what bodies of its kind do (body/kind.h); of the shapes that it has so far */
  ds_body_def def;               /* as given, with the name and keyframes above */
  int32_t material;              /* index */
  ds_shape *shapes;
  int32_t shape_count, shape_capacity;
  ds_mass mass;               /* user frame */
  ds_pose user_frame;         /* the user frame, given in the principal frame */
  ds_vec3 inertia;            /* principal moments, kg m² */
  double bounding_radius;     /* about the centre of mass */
  double thickness;           /* m: the smallest width of its thinnest shape; infinite for half-spaces */
  struct ds_reduced *reduced; /* of its one shape, where it is deformable; NULL = rigid */
  const ds_skin *skin;        /* of a body that deforms; NULL: its shapes are its surface */
  int32_t r, first_reduced;   /* reduced coordinates [first_reduced, first_reduced + r) of the state */
} ds_body;

typedef struct ds_material_pair {
  int32_t a, b;
  double mu, restitution;
} ds_material_pair;

/* A joint: points of two bodies, which its kind holds against each other (joint/kind.h). */
enum { DS_JOINT_POINTS = 3 };
typedef struct ds_joint {
  char *name;
  ds_joint_def def;                                     /* as given, with the name owned by the scene */
  int32_t a, b;                                         /* indices of its bodies */
  int32_t point_count;                                  /* of those below */
  ds_vec3 on_a[DS_JOINT_POINTS], on_b[DS_JOINT_POINTS]; /* in the principal frames, from ds_scene_finish on */
  ds_vec3 velocity;                                     /* as def.velocity, in the principal frame of a */
} ds_joint;

/* Two bodies that do not touch each other, a < b. */
typedef struct ds_apart {
  int32_t a, b;
} ds_apart;

/* A place where two bodies touch at the start: a face of the larger and corners of the smaller (detect/interfaces.c).
 */
typedef struct ds_scene_interface {
  ds_interface_def def;       /* as given, a < b */
  int32_t a, b;               /* indices of its bodies */
  ds_vec3 *points;            /* those of def, then the same in the principal frames of a and of b */
  const ds_vec3 *on_a, *on_b; /* from ds_scene_finish on, as all below */
  ds_vec3 normal_a, normal_b; /* unit, from b to a, in the principal frames */
  bool corners_of_a;          /* a is the smaller */
  double near;                /* m: what is farther from where it was has parted */
  double overlap;             /* m: how deep the shapes of the two bodies overlap at the start */
} ds_scene_interface;

struct ds_scene {
  ds_scene_def def;
  bool finished;
  ds_body *bodies;
  int32_t body_count, body_capacity;
  ds_material_def *materials; /* [0] is the default material */
  int32_t material_count, material_capacity;
  char **material_names; /* a material each, NULL = none; or NULL */
  int32_t material_name_count, material_name_capacity;
  ds_material_pair *pairs;
  int32_t pair_count, pair_capacity;
  ds_joint *joints;
  int32_t joint_count, joint_capacity;
  ds_apart *apart; /* sorted, each once; from ds_scene_finish on */
  int32_t apart_count;
  ds_scene_interface *interfaces; /* in the order of their bodies from ds_scene_finish on */
  int32_t interface_count, interface_capacity;
  int32_t reduced_count; /* reduced coordinates of all bodies together */
};

/* The principal frame of one body, and its motion. */
typedef struct ds_body_state {
  ds_vec3 x; /* centre of mass */
  ds_quat q;
  ds_vec3 v; /* of the centre of mass */
  ds_vec3 w; /* angular velocity, world frame */
} ds_body_state;

struct ds_state {
  const ds_scene *scene;
  double time, time_rest; /* a compensated sum: ten thousand steps of 0.01 s end at 100 s */
  int64_t step;
  int32_t body_count;
  ds_body_state *bodies;
  double *reduced, *reduced_rate; /* q and dq/dt of all deformable bodies, one after the other */
  double reduced_step;            /* s: the step just done, whose mean the rates are; 0 where none is */
  ds_vec3 *force, *torque;        /* applied for the next step only */
  ds_contact *contacts;           /* of the last step: the warm start and the answer to queries */
  int32_t contact_count, contact_capacity;
  struct ds_recall *recall; /* saves work only (detect/recall.h): neither copied nor saved */
  int32_t hand_count;       /* places in use, some of which may be free again */
  ds_hand_state hands[DS_HANDS_MAX];
};

static inline ds_pose ds_principal_pose(const ds_body_state *s) { return (ds_pose){s->x, s->q}; }
static inline int32_t ds_index(ds_body_id id) { return id.index1 - 1; }
static inline ds_body_id ds_id(int32_t index) { return (ds_body_id){index + 1}; }
double ds_mix(ds_mix_rule rule, double a, double b);
/* mu and e of two materials, by table or rule; mu across the axes that they may have (assemble/cone.c). */
void ds_scene_pair(double *mu, double *restitution, const ds_scene *scene, int32_t a, int32_t b);
/* The material of one shape of a body: its own, or that of the body. */
static inline int32_t ds_shape_material(const ds_body *body, int32_t shape) {
  int32_t own = shape < body->shape_count ? body->shapes[shape].material : 0;
  return own > 0 ? own : body->material;
}
/* Contacts in the order that detection gives them, each once (body/resume.c). */
bool ds_contacts_in_order(const ds_contact *contacts, int32_t count);
/* The principal frame of a body at the start (body/state.c). */
ds_pose ds_start_pose(const ds_body *body);
/* Masses, samples and `apart`: all that ds_scene_finish finds of bodies (body/scene.c). */
ds_status ds_bodies_finish(ds_scene *scene, ds_error *error);
/* Fills `apart` from the joints. The place of a pair in it; NULL: the bodies may touch (body/apart.c). */
ds_status ds_scene_find_apart(ds_scene *scene, ds_error *error);
const ds_apart *ds_scene_apart(const ds_scene *scene, int32_t a, int32_t b);
/* Sorts interfaces, and places them on their bodies (body/interface.c). */
ds_status ds_interfaces_place(ds_scene *scene, ds_error *error);
/* Those of two bodies, a < b; NULL and 0: there are none. */
const ds_scene_interface *ds_scene_interfaces(int32_t *count, const ds_scene *scene, int32_t a, int32_t b);
/* How deep the shapes of two bodies may overlap because they do so at the start: 0 without an interface. */
double ds_interfaces_overlap(const ds_scene *scene, int32_t a, int32_t b);
/* Before its release time a body is held and touches nothing. */
static inline bool ds_body_is_held(const ds_body *body, double time) { return body->def.release_time > time; }

/* Mass, centre and inertia of a body from its shapes and densities, in the user frame (body/mass.c). */
void ds_shape_mass(ds_mass *mass, const ds_shape *shape);
ds_status ds_body_sum_shapes(ds_body *body, ds_error *error);
/* Those of a deformable body are its own. */
ds_status ds_body_take_reduced(ds_body *body, ds_error *error);
/* Of one without mass: places and bounds its shapes only. */
ds_status ds_body_place_shapes(ds_body *body, ds_error *error);

/* Samples of a convex shape (its corners, edges, rims, axis), so that it can be held against a solid's distance field:
 * built once, by ds_scene_finish (shape_samples.c). */
ds_status ds_shape_sample(ds_shape *shape, double spacing);
void ds_shape_samples_free(ds_shape *shape);

/* The pose of a kinematic body's user frame at a time (body/motion.c). */
ds_pose ds_motion_pose(const ds_body *body, double time);
/* Its velocity there, and angular velocity; where it changes suddenly, that before. */
void ds_motion_velocity(ds_vec3 *v, ds_vec3 *w, const ds_body *body, double time);

/* The constant velocities that lead from one pose to another. */
void ds_velocity_between(ds_vec3 *v, ds_vec3 *w, ds_pose a, ds_pose b, double seconds);

/* Of the point of a body that is there now; without what deformation adds. */
static inline ds_vec3 ds_velocity_at(const ds_body_state *s, ds_vec3 point) {
  return v3_add(s->v, v3_cross(s->w, v3_sub(point, s->x)));
}

/* Kinetic, potential and elastic energy of one body (state.c). */
ds_energy ds_body_energy(const ds_state *state, int32_t body);

#endif
