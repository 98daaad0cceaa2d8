/* How long two bodies can follow their courses before they overlap: for integrate/sweep.c. */
#ifndef DS_DETECT_MEET_H
#define DS_DETECT_MEET_H

#include "body/scene.h"
#include "detect/broad.h"
#include "detect/detect.h"

/* The path of a body within a step: x + t move, exp(t turn) q for t from 0 to `share`, where it stays. */
typedef struct ds_course {
  ds_pose pose; /* principal frame at the start */
  ds_vec3 move, turn;
  double share;
} ds_course;

ds_pose ds_course_at(const ds_course *course, double t);

/* Of the thinner body's thickness: the deepest overlap that motion may end in. */
#define DS_OVERLAP_MOST 5e-3

/* The path of a body without contact from where it is, with these velocities. */
static inline ds_course ds_course_of(const ds_body_state *s, ds_vec3 move, ds_vec3 turn) {
  return (ds_course){ds_principal_pose(s), move, turn, 1};
}
/* Whether points of a body go so far that it matters to bodies of this thickness; whether two bodies can come so near
 * to each other, by more than half of what an overlap may be, that their courses have to be followed. */
bool ds_course_is_long(const ds_body *body, const ds_course *course, double thin);
bool ds_course_matters(const ds_body *a, const ds_course *ca, const ds_body *b, const ds_course *cb);
/* The box of all places of a body on its path. */
ds_box ds_course_box(const ds_body *body, const ds_course *course);

/* The normal of the deepest contact of a pair, or NULL. */
const ds_vec3 *ds_deepest_normal(const ds_contact_list *contacts, ds_box_pair pair);

/* Two shapes on their courses. */
typedef struct ds_duel {
  const ds_shape *shape[2];   /* of a, of b */
  const ds_course *course[2]; /* of their bodies */
  double thin;                /* m: the thinner body's thickness */
  bool has_hint;              /* n may separate them at the start */
  ds_vec3 hint;               /* from b to a */
} ds_duel;

/* A share of the step, 1 at most, up to which the shapes do not overlap by more than `most` (or, where they do so at
 * the start, by more than that and a quarter of `most`). Deformable shapes never meet. */
double ds_shapes_meet(const ds_duel *duel, double most);
/* The same for all shapes of two bodies. */
double ds_bodies_meet(const ds_body *a, const ds_course *ca, const ds_body *b, const ds_course *cb, double most,
                      const ds_vec3 *hint);

#endif
