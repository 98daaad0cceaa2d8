/* Pairs of bodies that have not moved since their last detection: their contacts are known.
 *
 * The contacts of a pair follow from the poses and velocities of its two bodies and from how far ahead they are
 * searched. Bodies at rest keep their places to the last bit (integrate/integrate.c), so all of that is often the same
 * as in the last step, and so are the contacts, bit for bit: whether they are recalled or looked for again can not be
 * told from the result. It is therefore no part of what a state has to save. */
#ifndef DS_DETECT_RECALL_H
#define DS_DETECT_RECALL_H

#include "detect/detect.h"

/* A pair at rest, and everything on which its contacts depend. */
typedef struct ds_known_pair {
  int32_t a, b;
  ds_pose pose_a, pose_b; /* of the bodies */
  double step, reach, slack;
  int32_t per_face;
  int32_t first, count; /* its contacts */
} ds_known_pair;

/* One block of memory, so that its owner can free it without knowing its content. */
typedef struct ds_recall {
  int32_t pair_count, pair_capacity, point_count, point_capacity;
  ds_known_pair *pairs; /* sorted */
  ds_contact_point *points;
} ds_recall;

/* Forgets all, and makes room. Without memory for it *recall is NULL: nothing will be known. */
void ds_recall_begin(ds_recall **recall, int32_t pairs, int32_t points);
/* Adds a pair, later than those before in the order of (a, b). */
void ds_recall_add(ds_recall *recall, const ds_known_pair *pair, const ds_contact_point *points, int32_t count);
/* The contacts of a pair whose first members, up to per_face, are those given; NULL where that is not known. */
const ds_contact_point *ds_recall_find(int32_t *count, const ds_recall *recall, const ds_known_pair *pair);

#endif
