/* A hand as the state keeps it. What users do with hands is in touch/hand.c, what hands do in a step in
 * assemble/hold.c. */
#ifndef DS_BODY_HAND_H
#define DS_BODY_HAND_H

#include "drystone/touch.h"

typedef struct ds_hand_state {
  ds_hand_def def;                    /* as given, but for the grip, which is in the principal frame; body 0 = free */
  int32_t triangle;                   /* of a deformable body that is held at its surface: there it is held, else -1 */
  double s, t;                        /* weights of the triangle's second and third corner */
  ds_vec3 velocity, angular_velocity; /* of the target */
  ds_vec3 force, torque;              /* on the body at the end of the last step */
  double stiffness;                   /* of the last step */
} ds_hand_state;

/* The grip as it is now, in the principal frame. */
ds_vec3 ds_hand_grip(const ds_hand_state *hand, const ds_state *state);

#endif
