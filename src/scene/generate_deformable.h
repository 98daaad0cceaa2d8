/* What the generators of scenes with deformable bodies share.
 *
 * The two calls that write them are in generate.h: ds_generation_deformable (a definition, by name: shape, material,
 * modes; what several bodies name is built once) and ds_generation_soft (a body of it). Here: that body with a number,
 * and what deformable bodies lie on, hang on and fall against. */
#ifndef DS_SCENE_GENERATE_DEFORMABLE_H
#define DS_SCENE_GENERATE_DEFORMABLE_H

#include "scene/generate_solids.h"

/* A deformable body that starts undeformed; it is called nameN, or name where number is 0. */
typedef struct ds_soft_body {
  const char *name;
  int32_t number;
  ds_pose pose; /* of the frame of its mesh */
  ds_vec3 velocity, angular_velocity;
  double release_time;
  ds_vec3 color;
} ds_soft_body;
void ds_generation_soft_body(ds_generation *g, const char *material, const char *deformable, const ds_soft_body *body);

/* Static: a capsule whose axis runs from a to b, and a box of full size `size`. */
void ds_generation_rod(ds_generation *g, const char *material, const char *name, int32_t number, ds_vec3 a, ds_vec3 b,
                       double radius, ds_vec3 color);
void ds_generation_slab(ds_generation *g, const char *material, const char *name, ds_pose pose, ds_vec3 size,
                        ds_vec3 color);
/* Kinematic: a half-space, the points below its local z = 0, that turns about the origin of its pose between two
 * times, from rest to rest: by turn (1 - cos(pi s))/2, s from 0 to 1. */
typedef struct ds_turning {
  ds_pose pose; /* at the start */
  ds_vec3 turn; /* rad: axis times angle, not 0 */
  double start_time, end_time;
  ds_vec3 color;
} ds_turning;
void ds_generation_turning_floor(ds_generation *g, const char *material, const char *name, const ds_turning *turning);

#endif
