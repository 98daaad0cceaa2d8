/* Light and colour.
 *
 * A point receives sun (a disk of directions, so that shadows have a penumbra that widens with distance), sky
 * (directions spread evenly over the upper half, so that gaps and contacts darken) and a little light from below.
 * Surfaces are Lambertian with a Blinn-Phong highlight. Colours above 0.8 are compressed toward 1 before they are
 * shown. */
#include "shade.h"

#include <stddef.h>

#define SUN_HALF_ANGLE 0.032 /* rad; the real sun's 0.0047 gives hard shadows */
#define GOLDEN_ANGLE 2.39996322972865332
#define SUN_MAP_SIZE 900 /* texels along a side, for pictures of FULL_PIXELS or more; fewer for smaller ones */
#define SKY_MAP_SIZE 320
#define FULL_PIXELS (1280.0 * 720.0)
#define COARSEST 0.15 /* of these sizes */

static float dot(const float a[3], const float b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static ds_look choose_look(bool dark) {
  if (dark) {
    return (ds_look){.horizon = {0.030f, 0.033f, 0.040f},
                     .zenith = {0.0055f, 0.0065f, 0.009f},
                     .ground = {0.036f, 0.038f, 0.043f},
                     .line = {0.085f, 0.09f, 0.10f},
                     .sun = {0.98f, 0.92f, 0.84f},
                     .sky = {0.34f, 0.38f, 0.45f},
                     .bounce = {0.08f, 0.08f, 0.09f}};
  }
  return (ds_look){.horizon = {0.88f, 0.89f, 0.90f},
                   .zenith = {0.50f, 0.60f, 0.72f},
                   .ground = {0.74f, 0.73f, 0.71f},
                   .line = {0.36f, 0.38f, 0.40f},
                   .sun = {1.02f, 0.96f, 0.87f},
                   .sky = {0.52f, 0.55f, 0.60f},
                   .bounce = {0.36f, 0.35f, 0.33f}};
}

typedef struct map_builder {
  ds_lights *lights;
  const ds_model *model;
  const float *low, *high;
  double share; /* of the full sizes of maps */
} map_builder;

/* The maps of the sun first, then those of the sky. */
static void build_map(void *context, int32_t item, int32_t worker) {
  map_builder *b = context;
  ds_lights *lights = b->lights;
  (void)worker;
  if (item < DS_SUN_MAPS) {
    ds_vec3 t1, t2;
    v3_tangents(&t1, &t2, lights->sun_direction);
    double r = tan(SUN_HALF_ANGLE) * sqrt((item + 0.5) / DS_SUN_MAPS), angle = GOLDEN_ANGLE * item;
    ds_vec3 d = v3_mad(v3_mad(lights->sun_direction, r * cos(angle), t1), r * sin(angle), t2);
    ds_shadow_map_build(&lights->sun[item], b->model, d, (int32_t)(b->share * SUN_MAP_SIZE), b->low, b->high);
  } else {
    int32_t i = item - DS_SUN_MAPS;
    double z = (i + 0.5) / DS_SKY_MAPS, r = sqrt(1 - z * z), angle = GOLDEN_ANGLE * i;
    ds_vec3 d = v3(r * cos(angle), r * sin(angle), z);
    ds_shadow_map_build(&lights->sky[i], b->model, d, (int32_t)(b->share * SKY_MAP_SIZE), b->low, b->high);
  }
}

bool ds_lights_build(ds_lights *lights, ds_pool *pool, const ds_model *model, ds_vec3 sun_direction, bool dark,
                     const float low[3], const float high[3], double pixels) {
  *lights = (ds_lights){.look = choose_look(dark), .sun_direction = v3_unit(sun_direction)};
  map_builder b = {lights, model, low, high, fmin(1, fmax(COARSEST, sqrt(pixels / FULL_PIXELS)))};
  ds_pool_run(pool, DS_SUN_MAPS + DS_SKY_MAPS, build_map, &b);
  bool good = true; /* a map that could not be built is empty */
  for (int i = 0; i < DS_SUN_MAPS; i++) good = good && lights->sun[i].depth;
  for (int i = 0; i < DS_SKY_MAPS; i++) good = good && lights->sky[i].depth;
  return good;
}

void ds_lights_free(ds_lights *lights) {
  for (int i = 0; i < DS_SUN_MAPS; i++) ds_shadow_map_free(&lights->sun[i]);
  for (int i = 0; i < DS_SKY_MAPS; i++) ds_shadow_map_free(&lights->sky[i]);
}

void ds_lights_receive(const ds_lights *lights, ds_receivers *r) {
  ds_vec3 d = lights->sun_direction;
  const float toward[3] = {(float)d.x, (float)d.y, (float)d.z};
  for (int32_t k = 0; k < r->count; k++) r->sun[k] = r->sky[k] = 0;
  for (int i = 0; i < DS_SUN_MAPS; i++) ds_shadow_map_receive(r->sun, &lights->sun[i], r, toward, false);
  for (int i = 0; i < DS_SKY_MAPS; i++) ds_shadow_map_receive(r->sky, &lights->sky[i], r, lights->sky[i].toward, true);
  for (int32_t k = 0; k < r->count; k++) {
    r->sun[k] /= DS_SUN_MAPS;
    r->sky[k] = 2 * r->sky[k] / DS_SKY_MAPS;
  }
}

static float compress(float c) {
  const float knee = 0.8f;
  return c <= knee ? c : 1 - (1 - knee) / (1 + (c - knee) / (1 - knee));
}

void ds_shade_surface(float out[3], const ds_lights *lights, const ds_paint *paint, const ds_receivers *receivers,
                      int32_t k, const float ray[3]) {
  const ds_look *look = &lights->look;
  const float normal[3] = {receivers->normal[0][k], receivers->normal[1][k], receivers->normal[2][k]};
  float l[3] = {(float)lights->sun_direction.x, (float)lights->sun_direction.y, (float)lights->sun_direction.z};
  float cosine = dot(l, normal), visible = receivers->sun[k], sky = receivers->sky[k];
  float below = (0.5f - 0.5f * normal[2]) * (0.3f + 0.7f * fminf(1, 2 * sky));
  /* halfway vector between the light and the eye */
  float h[3] = {l[0] - ray[0], l[1] - ray[1], l[2] - ray[2]};
  float length = sqrtf(dot(h, h)), shine = length > 0 ? fmaxf(0, dot(h, normal) / length) : 0;
  float highlight = paint->gloss * visible * powf(shine, 48) * (cosine > 0 ? 1 : 0);
  float direct = fmaxf(0, cosine) * visible;
  for (int c = 0; c < 3; c++) {
    float light = look->sun[c] * direct + look->sky[c] * sky + look->bounce[c] * below;
    out[c] = compress(paint->albedo[c] * light + highlight);
  }
}

void ds_shade_ground_light(float out[3], const ds_lights *lights, const ds_receivers *receivers, int32_t k) {
  const ds_look *look = &lights->look;
  float slant = (float)fmax(0, lights->sun_direction.z);
  float sun = slant * receivers->sun[k], sky = receivers->sky[k];
  for (int c = 0; c < 3; c++)
    out[c] = (look->sun[c] * sun + look->sky[c] * sky) / (look->sun[c] * slant + look->sky[c]);
}

void ds_shade_sky(float out[3], const ds_lights *lights, const float ray[3]) {
  float t = fminf(1, fmaxf(0, (ray[2] + 0.35f) / 0.8f)), s = t * t * (3 - 2 * t);
  for (int k = 0; k < 3; k++) out[k] = lights->look.horizon[k] + s * (lights->look.zenith[k] - lights->look.horizon[k]);
}
