/* Shadow maps: what a parallel light sees of a model. */
#ifndef DS_CLI_SHADOW_H
#define DS_CLI_SHADOW_H

#include "model.h"

typedef struct ds_shadow_map {
  float u[3], v[3], toward[3]; /* orthonormal; toward the light */
  float u0, v0, scale;         /* texel = (coordinate - start) scale */
  float offset;                /* how far along its normal a receiver is moved before the test, m */
  int32_t width, height;
  float *depth; /* largest coordinate toward the light that was seen; -infinity where none */
} ds_shadow_map;

/* About size x size texels over what lies within the box [low, high] (model coordinates) of the model; false if
 * memory ran out. */
bool ds_shadow_map_build(ds_shadow_map *map, const ds_model *model, ds_vec3 toward, int32_t size, const float low[3],
                         const float high[3]);
void ds_shadow_map_free(ds_shadow_map *map);
/* Points of surfaces, and the light that reaches them. */
#define DS_RECEIVERS 1024
typedef struct ds_receivers {
  float point[3][DS_RECEIVERS], normal[3][DS_RECEIVERS];
  float sun[DS_RECEIVERS]; /* part of the sun's disk, 0..1 */
  float sky[DS_RECEIVERS]; /* irradiance of an even sky: 1 on a free horizontal surface */
  int32_t count;
} ds_receivers;
/* Adds to `light` the part of the map's light that reaches each of them, 0..1: four neighbouring texels, bilinearly
 * weighted; times the cosine between `facing` and the normal if so wished, nothing where that is negative. */
void ds_shadow_map_receive(float *light, const ds_shadow_map *map, const ds_receivers *receivers, const float facing[3],
                           bool cosine);

#endif
