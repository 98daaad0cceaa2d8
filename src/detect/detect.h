/* Stage 1, detect: which points touch, or will within the step.
 *
 * A contact point lies between the two surfaces; its normal points from body b to body a, a < b by index, or a = b
 * where a deformable body touches itself. Points are returned in order of (a, b, feature), every key once, so that the
 * result does not depend on how they were found. */
#ifndef DS_DETECT_DETECT_H
#define DS_DETECT_DETECT_H

#include <math.h>

#include "base/arena.h"
#include "base/thread.h"
#include "body/kind.h"

/* Bit in the feature of a contact that only the second detection found, besides the feature that the first would give.
 */
#define DS_FEATURE_AGAIN ((uint64_t)1 << 63)
/* Such a contact says where the bodies are going: its gap is the one from which they get there, not one that they have.
 */
static inline bool ds_feature_is_ahead(uint64_t feature) { return (feature & DS_FEATURE_AGAIN) != 0; }

/* The limit of a joint (joint/limit.c): 2 x the joint's index, and 1 more for an upper limit. No shapes have that name.
 */
#define DS_FEATURE_LIMIT ((uint64_t)0x7fffffff << 32)
#define DS_FEATURE_DRIVE ((uint64_t)0x7ffffffe << 32) /* its drive: 2 x the joint's index, 1 more if it is planar */
static inline bool ds_feature_is_drive(uint64_t feature) { return feature >> 32 == DS_FEATURE_DRIVE >> 32; }
static inline bool ds_feature_is_planar_drive(uint64_t feature) { return ds_feature_is_drive(feature) && feature & 1; }
static inline bool ds_feature_is_limit(uint64_t feature) { return feature >> 32 == DS_FEATURE_LIMIT >> 32; }
/* An interface (detect/interfaces.c): its index and one of its points. No shapes have that name, either. */
#define DS_FEATURE_INTERFACE ((uint64_t)0x7ffd << 48)
static inline bool ds_feature_is_interface(uint64_t feature) { return feature >> 48 == DS_FEATURE_INTERFACE >> 48; }
static inline int32_t ds_feature_interface(uint64_t feature) { return (int32_t)(feature >> 16 & 0xffffffff); }
/* The shapes of a contact between bodies, by their place in a (side 0) and b; that of an interface is of none. */
static inline int32_t ds_feature_shape(uint64_t feature, int side) {
  if (ds_feature_is_interface(feature)) return INT32_MAX;
  return (int32_t)(side == 0 ? feature >> 48 & 0x7fff : feature >> 32 & 0xffff);
}
static inline int32_t ds_feature_joint(uint64_t feature) { return (int32_t)((feature & 0xffffffff) >> 1); }

typedef struct ds_contact_point {
  int32_t a, b;
  ds_vec3 point, normal;
  double gap;           /* along the normal, negative = overlap */
  uint64_t feature;     /* shape of a, shape of b, touching features: unique in the pair, persistent */
  ds_anchor on_a, on_b; /* where a = b, the body touches itself and they differ */
  bool in_middle[2];    /* on a, b: where it is in the middle of the step stands for it (middle.c) ... */
  ds_vec3 middle[2];    /* ... from the centre of mass then */
  ds_vec3 aim;          /* of a drive: the velocity of a against b that it aims at, m/s, ... */
  double strength;      /* ... and its force at most, N: along the normal; across it if it is planar */
} ds_contact_point;

/* Order of names: negative where the first comes before the second. */
/* The materials of the two shapes that touch. */
static inline void ds_contact_materials(int32_t *a, int32_t *b, const ds_scene *scene, const ds_contact_point *c) {
  *a = ds_shape_material(&scene->bodies[c->a], ds_feature_shape(c->feature, 0));
  *b = ds_shape_material(&scene->bodies[c->b], ds_feature_shape(c->feature, 1));
}

static inline int ds_compare_names(int32_t a, int32_t b, uint64_t feature, int32_t a2, int32_t b2, uint64_t feature2) {
  if (a != a2) return a < a2 ? -1 : 1;
  if (b != b2) return b < b2 ? -1 : 1;
  return (feature > feature2) - (feature < feature2);
}
static inline int ds_compare_points(const ds_contact_point *p, const ds_contact_point *q) {
  return ds_compare_names(p->a, p->b, p->feature, q->a, q->b, q->feature);
}

typedef struct ds_contact_list {
  ds_contact_point *points; /* in the arena */
  int32_t count;
} ds_contact_list;

typedef struct ds_detect_options {
  double step;               /* h: speculative reach is 2 h (|v_a - v_b| + rotation) + h² |g| + margin */
  double margin;             /* extra reach, m; 0 = a thousandth of the smaller body's size */
  int32_t contacts_per_face; /* largest number of points for a face-face patch: 8 = well-spread corners; more = also a
                                grid of points inside the patch */
  ds_pool *pool;             /* threads to share the pairs, or NULL */
  ds_arena *workers;         /* memory of each of them */
  struct ds_recall **recall; /* what the last look found of bodies at rest (recall.h), or NULL */
  const bool *active;        /* one per body: dynamic bodies that are not active touch nothing; NULL: all are */
} ds_detect_options;

/* Static and kinematic bodies touch dynamic ones only; held bodies touch nothing. Contacts of the last step that only
 * its second detection found, and that carry load, are kept while they are near. */
ds_status ds_detect(ds_arena *arena, ds_contact_list *contacts, const ds_scene *scene, const ds_state *state,
                    const ds_detect_options *options);

/* Gaps up to this share of the smaller body's radius count as closed. Gaps at rounding level, say 1e-10 m, do not fit
 * one plane; as velocities g/h they would ask sticking contacts for motions that no rigid body has, and leave the
 * solver to choose which of them slides by 1e-7 m/s. */
#define DS_TOUCHING 1e-6
static inline double ds_smaller_radius(const ds_scene *scene, int32_t a, int32_t b) {
  return fmin(scene->bodies[a].bounding_radius, scene->bodies[b].bounding_radius);
}

/* Where closed contacts are in the middle of a step with the velocities of `moving`. */
ds_status ds_detect_middle(ds_arena *arena, ds_contact_list *contacts, const ds_scene *scene, const ds_state *state,
                           const ds_body_state *moving, const ds_detect_options *options);

/* Second detection: adds the contacts that bodies reach with the solved velocities (x and q unchanged, v and w as
 * solved), because an impact has changed them. `added` is their number. Deformable bodies are left out: their first
 * detection covers their whole motion, and measurements showed a cost and no benefit. */
ds_status ds_detect_again(ds_arena *arena, ds_contact_list *contacts, int32_t *added, const ds_scene *scene,
                          const ds_state *state, const ds_body_state *solved, const ds_detect_options *options);

/* Lets contacts of second looks ask for no more than that their points do not approach: what they ask for beyond that
 * may be more than there is room for. */
void ds_relax_ahead(ds_contact_list *contacts);

/* Measures how deep shapes overlap at the start where interfaces say that they touch, and checks that these are on both
 * bodies (interfaces.c). */
ds_status ds_interfaces_measure(ds_scene *scene, ds_error *error);

/* --- one pair of shapes (narrow.c) --- */
#define DS_MANIFOLD_MAX 512
typedef struct ds_manifold {
  int32_t count;
  ds_vec3 point[DS_MANIFOLD_MAX];
  ds_vec3 normal[DS_MANIFOLD_MAX]; /* unit, from shape b to shape a */
  double gap[DS_MANIFOLD_MAX];
  uint32_t feature[DS_MANIFOLD_MAX]; /* below 2^32, unique in the manifold */
  ds_anchor on_a[DS_MANIFOLD_MAX], on_b[DS_MANIFOLD_MAX];
} ds_manifold;

/* All points of shapes a and b nearer than reach. Poses are world poses of the shapes. */
void ds_narrow(ds_manifold *manifold, const ds_shape *a, ds_pose pose_a, const ds_shape *b, ds_pose pose_b,
               double reach, int32_t contacts_per_face);

#endif
