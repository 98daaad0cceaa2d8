/* Light and colour: what a surface point, the ground and the sky look like. All colours here are linear. */
#ifndef DS_CLI_SHADE_H
#define DS_CLI_SHADE_H

#include "base/thread.h"
#include "shadow.h"

#define DS_SUN_MAPS 36
#define DS_SKY_MAPS 96

typedef struct ds_look {
  float horizon[3], zenith[3], ground[3], line[3]; /* ground: where light falls on it freely */
  float sun[3], sky[3], bounce[3];                 /* irradiances of a white surface facing them */
} ds_look;

typedef struct ds_lights {
  ds_look look;
  ds_vec3 sun_direction; /* toward the sun's centre, unit */
  ds_shadow_map sun[DS_SUN_MAPS], sky[DS_SKY_MAPS];
} ds_lights;

/* Soft light: the sun is a disk of DS_SUN_MAPS directions, the sky DS_SKY_MAPS directions of the upper half. Shadows
 * are cast by what lies in the box [low, high] of model coordinates, as finely as a picture of `pixels` needs. False if
 * memory ran out. */
bool ds_lights_build(ds_lights *lights, ds_pool *pool, const ds_model *model, ds_vec3 sun_direction, bool dark,
                     const float low[3], const float high[3], double pixels);
void ds_lights_free(ds_lights *lights);

/* Sets the light of points that are near each other: map after map, so that each is read where it was just read. */
void ds_lights_receive(const ds_lights *lights, ds_receivers *receivers);
/* A painted surface at receiver k, seen along the unit direction `ray`. */
void ds_shade_surface(float out[3], const ds_lights *lights, const ds_paint *paint, const ds_receivers *receivers,
                      int32_t k, const float ray[3]);
/* Part of the free light, one per channel, that falls on the ground at receiver k. */
void ds_shade_ground_light(float out[3], const ds_lights *lights, const ds_receivers *receivers, int32_t k);
/* The backdrop in a unit direction. */
void ds_shade_sky(float out[3], const ds_lights *lights, const float ray[3]);

#endif
