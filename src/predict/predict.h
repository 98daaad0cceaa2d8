/* Stage 3, predict: the velocity without contact [SP08 eq. 12]. */
#ifndef DS_PREDICT_PREDICT_H
#define DS_PREDICT_PREDICT_H

#include "assemble/assemble.h"

/* Fills v, w and spin of the assembly's moving bodies and the predicted velocities of the islands. */
void ds_predict(ds_assembly *assembly, const ds_scene *scene, const ds_state *state, double h);

/* The angular velocity, constant over a step of h, that turns a free body of principal moments `inertia` and body-frame
 * momentum `momentum` so that energy and momentum are conserved (rigid.c). */
ds_vec3 ds_free_spin(ds_vec3 inertia, ds_vec3 momentum, double h);

#endif
