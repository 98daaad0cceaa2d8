/* What a kind of joint is: its points, the rows that they ask for, what it leaves free.
 *
 * A kind is one file and one entry of the table in kind.c. The rest of this folder uses rows: a gap in metres that must
 * be zero, and its derivative by the velocities of the two bodies,
 *
 *   gap' = force . (v_a - v_b) + torque_a . w_a + torque_b . w_b,
 *
 * torques about the centres of mass. Rows may depend on each other (la/null_space.h leaves out what is redundant), and
 * forces may be fixed to the world or go with a body. */
#ifndef DS_JOINT_KIND_H
#define DS_JOINT_KIND_H

#include <math.h>

#include "body/scene.h"

/* A joint with its bodies at given poses, in the world. */
typedef struct ds_joint_pose {
  ds_vec3 center[2];               /* of mass, of body a and body b */
  ds_vec3 arm[2][DS_JOINT_POINTS]; /* of its points, from there */
  ds_vec3 across;                  /* on body a, of a kind with an axis: to its left as seen from the third point */
  double stretch[2]; /* of arms, so that v + w x arm is the mean velocity of a point in a step (1: none) */
} ds_joint_pose;

typedef struct ds_joint_row {
  double gap;        /* m */
  ds_vec3 force;     /* on body a, its opposite on body b */
  ds_vec3 torque[2]; /* on either */
  int32_t point;     /* rows of the same point follow one another: their gaps are one distance */
} ds_joint_row;

enum { DS_JOINT_ROWS = 9 };

/* The single free direction of a kind that has one: limits and drives act on it. */
typedef struct ds_joint_freedom {
  double position;          /* of b relative to a: m, or rad in (-pi, pi]; 0 at the start */
  double lever;             /* m of motion per unit of it */
  ds_vec3 point, direction; /* the point and the direction in which b moves relative to a */
} ds_joint_freedom;

/* The plane in which a kind with two free directions moves: drives act in it. */
typedef struct ds_joint_plane {
  ds_vec3 point, normal; /* a point of b, and a unit vector of a */
} ds_joint_plane;

typedef struct ds_joint_ops {
  const char *name;
  bool has_axis;  /* then its first two points are on the axis, the first ahead */
  int32_t points; /* number of points it places ... */
  int32_t middle; /* ... of which this many come first and surround the point of its definition */
  /* Its points in the world at the start, `lever` from the point of its definition; `axis` is a unit vector. */
  void (*place)(ds_vec3 *points, ds_vec3 point, ds_vec3 axis, double lever);
  int32_t row_count;
  void (*rows)(ds_joint_row *rows, const ds_joint_pose *pose);
  bool holds_points;                                      /* all rows are those of ds_joint_hold_point */
  bool turns;                                             /* its position is an angle */
  ds_joint_freedom (*freedom)(const ds_joint_pose *pose); /* NULL: it has none, or more than one, and no limits */
  ds_joint_plane (*plane)(const ds_joint_pose *pose);     /* NULL: it has no such plane */
} ds_joint_ops;

extern const ds_joint_ops ds_joint_ball, ds_joint_hinge, ds_joint_weld, ds_joint_slider, ds_joint_planar;

const ds_joint_ops *ds_joint_ops_of(ds_joint_kind kind);

/* ---- for kinds ---- */

static inline ds_vec3 ds_joint_point(const ds_joint_pose *pose, int side, int32_t point) {
  return v3_add(pose->center[side], pose->arm[side][point]);
}
/* Across the axis and the direction to the third point, from arms of one body. */
static inline ds_vec3 ds_joint_across(const ds_vec3 *arm) {
  ds_vec3 beside = v3_sub(arm[2], v3_scale(0.5, v3_add(arm[0], arm[1])));
  return v3_cross(v3_sub(arm[0], arm[1]), beside);
}
/* Two points on the axis, ahead and behind, and one beside it. */
void ds_joint_place_axis(ds_vec3 *points, ds_vec3 point, ds_vec3 axis, double lever);
/* Three rows that hold a point of one body at the same point of the other, along x, y and z. */
void ds_joint_hold_point(ds_joint_row rows[3], const ds_joint_pose *pose, int32_t point);

/* The axis and two directions across it, to the third point and to its left, fixed to body a. */
void ds_joint_frame(ds_vec3 *axis, ds_vec3 *t1, ds_vec3 *t2, const ds_joint_pose *pose);
/* One row that holds a point of b where it is on a along d, a direction that turns with a. */
ds_joint_row ds_joint_hold_along(const ds_joint_pose *pose, int32_t point, ds_vec3 d);

/* ---- for all others ---- */

/* With the principal frames of its bodies at these poses. */
ds_joint_pose ds_joint_posed(const ds_joint *joint, ds_pose a, ds_pose b);
/* Its position: m or rad. An angle is taken nearest to the middle of its limits, if it has any. */
static inline double ds_joint_position(const ds_joint *joint, const ds_joint_pose *pose) {
  const ds_joint_ops *kind = ds_joint_ops_of(joint->def.kind);
  const double turn = 2 * DS_PI;
  double position = kind->freedom(pose).position;
  if (!kind->turns || !joint->def.limited) return position;
  return position + turn * round((0.5 * (joint->def.lower + joint->def.upper) - position) / turn);
}
/* The largest distance that rows require to be zero, m. */
double ds_joint_gap(const ds_joint_row *rows, int32_t count);

#endif
