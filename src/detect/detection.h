/* One detection of a whole state: what its files share. reach.c places shapes and finds how far ahead to search,
 * surfaces.c has the current surfaces of deformables, collide.c one pair of bodies, share.c all pairs, again.c the
 * second detection. */
#ifndef DS_DETECT_DETECTION_H
#define DS_DETECT_DETECTION_H

#include "detect/body_pairs.h"
#include "detect/deformable.h"
#include "detect/detect.h"
#include "detect/solid.h"

#define DS_STRAY 0.1   /* share of its displacement by which a point of a solid may stray from it */
#define DS_DEEPER 2e-3 /* of the smaller radius: what gets deeper by more was overlooked */

/* How far a body can come within the step. */
typedef struct ds_motion_ahead {
  ds_vec3 move;  /* h v */
  double spin;   /* how far its points can come by turning, min(h |w|, 2) R, and deforming; 0 if it has no bounds */
  double turn;   /* min(h |w|, 2), for bodies without bounds */
  double stir;   /* how far its points come by deforming at most */
  double fall;   /* h² |g| of a dynamic body */
  double struck; /* how far it may be thrown by what strikes it within the step */
  double margin; /* infinite for bodies without bounds */
} ds_motion_ahead;

typedef struct ds_placed_shape {
  ds_pose pose;
  ds_box box;
  double radius; /* about the pose: of a deformable's as it is now */
} ds_placed_shape;

typedef struct ds_detection {
  const ds_scene *scene;
  const ds_state *state;
  ds_motion_ahead *motions;
  ds_box *boxes;
  bool *moving;
  ds_placed_shape *shapes;
  int32_t *first_shape;
  double step; /* 0 where nothing moves */
  bool solids; /* some shape is one: its pairs cost much more than others */
  bool deformables;
  bool again;                     /* the last step had contacts that only its second look found */
  const ds_contact_list *found;   /* in a second look: what the first one found, */
  const ds_state *before;         /* and the velocities that it had */
  const struct ds_recall *recall; /* what is known of pairs at rest (recall.h), or NULL */
  ds_deformed **deformed; /* one per body: its surface, where it is in a pair; NULL where there are no deformables */
} ds_detection;

/* Points found so far, in an arena. */
typedef struct ds_point_list {
  ds_contact_point *points;
  int32_t count, capacity;
} ds_point_list;

/* The coordinates of a body besides its frame, and their rates; NULL where it has none. */
static inline const double *ds_body_coordinates(const ds_state *state, const ds_body *body) {
  return body->r > 0 ? state->reduced + body->first_reduced : NULL;
}
static inline const double *ds_body_rates(const ds_state *state, const ds_body *body) {
  return body->r > 0 ? state->reduced_rate + body->first_reduced : NULL;
}

/* ---- reach.c ---- */
/* Places all shapes, and bounds all bodies; grown by their motion where options are given. False where memory ran out.
 */
bool ds_place_shapes(ds_arena *arena, ds_detection *d, const ds_detect_options *options);
/* How far ahead contacts of a pair are searched. */
double ds_pair_reach(const ds_detection *d, int32_t a, int32_t b);
/* Grows the boxes of bodies that may be struck; whether any did. */
bool ds_pass_on_motion(ds_detection *d, const ds_box_pair *pairs, int32_t pair_count);
/* Motion of body a against body b within the step. */
ds_twist ds_relative_twist(const ds_detection *d, int32_t a, int32_t b, double h);

/* ---- surfaces.c; false where memory ran out ---- */
/* Adds bodies that may touch themselves to the pairs, each before its pairs with others. */
bool ds_add_selves(ds_arena *arena, const ds_detection *d, ds_box_pair **pairs, int32_t *pair_count);
/* The surfaces of deformables that are in some pair, where they may touch. The pool may be NULL. */
bool ds_deform(ds_arena *arena, ds_detection *d, const ds_box_pair *pairs, int32_t pair_count, ds_pool *pool);

/* ---- collide.c ---- */
/* All contacts of a pair of bodies nearer than reach, in order of their features. False where memory ran out. */
bool ds_collide(ds_arena *arena, ds_point_list *list, const ds_detection *d, ds_manifold *m, ds_box_pair pair,
                double reach, int32_t per_face);
/* The same from shapes alone, whatever interfaces say. */
bool ds_collide_shapes(ds_arena *arena, ds_point_list *list, const ds_detection *d, ds_manifold *m, ds_box_pair pair,
                       double reach, int32_t per_face);
/* A solid made only to be drawn has no distance field. */
bool ds_can_collide(const ds_shape *shape);
/* The parameters for solids of the pair: `reach` applies whatever moves. */
ds_solid_query ds_pair_query(const ds_detection *d, ds_box_pair pair, double reach, int32_t per_face);
/* The contacts of a pair in the last step, and their deepest overlap. */
const ds_contact *ds_contacts_before(int32_t *count, const ds_state *state, ds_box_pair pair);
double ds_deepest_before(const ds_state *state, ds_box_pair pair);
/* Room for more points at the end of a list; then one, or a manifold: `shapes` is the upper half of their features.
 * False where memory ran out. */
bool ds_make_room(ds_arena *arena, ds_point_list *list, int32_t more);
bool ds_append_point(ds_arena *arena, ds_point_list *list, const ds_contact_point *c);
bool ds_append_points(ds_arena *arena, ds_point_list *list, int32_t a, int32_t b, const ds_manifold *m,
                      uint64_t shapes);
/* Orders the points from `first` on by feature; of equal features the deeper stays. */
void ds_order_points(ds_point_list *list, int32_t first);

/* ---- interfaces.c ---- */
/* Adds pairs of bodies with interfaces that the boxes do not show: shapes need not touch where interfaces do. False
 * where memory ran out. */
bool ds_add_interfaces(ds_arena *arena, const ds_detection *d, ds_box_pair **pairs, int32_t *pair_count);
/* Whether the bodies lie as their interfaces say. */
bool ds_interfaces_hold(const ds_scene_interface *f, int32_t count, const ds_state *state);
/* The contacts nearer than reach of interfaces of one pair. False where memory ran out. */
bool ds_interface_points(ds_arena *arena, ds_point_list *list, const ds_scene *scene, const ds_scene_interface *f,
                         int32_t count, const ds_state *state, double reach);

/* ---- share.c ---- */
typedef bool ds_collide_function(ds_arena *arena, ds_point_list *list, const ds_detection *d, ds_manifold *m,
                                 ds_box_pair pair, int32_t per_face);
/* Tests all pairs; about `expected` contacts will be found. */
ds_status ds_detect_pairs(ds_arena *arena, ds_contact_list *contacts, const ds_detection *d,
                          ds_collide_function *collide, const ds_box_pair *pairs, int32_t pair_count, int32_t expected,
                          const ds_detect_options *options);

/* ---- again.c ---- */
/* A contact that only the second detection of the last step found, and that carries load, is kept while both surfaces
 * are near it and no other contact of the pair, from `first` on, represents it. False where memory ran out. */
bool ds_keep_loaded(ds_arena *arena, ds_point_list *list, const ds_detection *d, ds_box_pair pair, double reach,
                    int32_t first);

#endif
