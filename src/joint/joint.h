/* What a joint is: two bodies, and points of both that its kind (kind.h) holds against each other. */
#ifndef DS_JOINT_JOINT_H
#define DS_JOINT_JOINT_H

#include "body/scene.h"

/* Places the points of all joints on their bodies, whose masses are known. */
void ds_joints_place(ds_scene *scene);

#endif
