/* Limits and drives of joints as contacts (limit.c). */
#ifndef DS_JOINT_LIMIT_H
#define DS_JOINT_LIMIT_H

#include "detect/detect.h"

/* Adds drives, and the limits that act in this step, to the contacts: those in reach, or, where the velocities `solved`
 * of a first solution are given, those that it would pass. False where memory ran out. */
bool ds_limits_add(ds_arena *arena, ds_contact_list *contacts, const ds_scene *scene, const ds_state *state,
                   const ds_body_state *solved, double h);

/* What is left to a limit, named as its contact is, with the principal frames of its bodies at these poses,
 * m. */
double ds_limit_gap(const ds_joint *joint, uint64_t feature, ds_pose a, ds_pose b);

#endif
