/* Shadow maps.
 *
 * The map is an orthographic depth picture of the model along the light. A receiver is moved along its normal by two
 * texels before the test: for a plane at angle theta to the light that gains 2 / cos(theta) texels of depth, more than
 * the 2 tan(theta) by which the plane differs within the four texels compared, so that no surface shadows itself. */
#include "shadow.h"

#include <stdlib.h>

#define OFFSET_TEXELS 2.0f

static float dot(const float a[3], const float b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static void store(float out[3], ds_vec3 a) { out[0] = (float)a.x, out[1] = (float)a.y, out[2] = (float)a.z; }

/* The rectangle that holds the light's view of all vertices, each first drawn into the box. */
static bool fit(ds_shadow_map *map, const ds_model *model, int32_t size, const float low[3], const float high[3]) {
  float u0 = INFINITY, u1 = -INFINITY, v0 = INFINITY, v1 = -INFINITY;
  for (int32_t i = 0; i < model->vertex_count; i++) {
    float p[3];
    for (int k = 0; k < 3; k++) p[k] = fminf(high[k], fmaxf(low[k], model->vertices[i].position[k]));
    float u = dot(map->u, p), v = dot(map->v, p);
    u0 = fminf(u0, u), u1 = fmaxf(u1, u);
    v0 = fminf(v0, v), v1 = fmaxf(v1, v);
  }
  float wide = fmaxf(u1 - u0, 1e-6f), tall = fmaxf(v1 - v0, 1e-6f);
  wide = fmaxf(wide, 0.25f * tall), tall = fmaxf(tall, 0.25f * wide);
  map->scale = (float)size / sqrtf(wide * tall);
  map->width = (int32_t)(wide * map->scale) + 5;
  map->height = (int32_t)(tall * map->scale) + 5;
  map->u0 = u0 - 2 / map->scale;
  map->v0 = v0 - 2 / map->scale;
  map->offset = OFFSET_TEXELS / map->scale;
  return isfinite(map->scale) && model->vertex_count > 0;
}

static float min3f(float a, float b, float c) { return fminf(a, fminf(b, c)); }
static float max3f(float a, float b, float c) { return fmaxf(a, fmaxf(b, c)); }

/* Keeps the larger depth at each texel centre inside the triangle of corners (u, v, depth), in texels. */
static void fill(ds_shadow_map *map, const float a[3], const float b[3], const float c[3]) {
  float area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
  if (!(area > 1e-12f)) return; /* only faces toward the light: bodies are closed */
  float left = ceilf(min3f(a[0], b[0], c[0]) - 0.5f), right = floorf(max3f(a[0], b[0], c[0]) - 0.5f);
  float top = ceilf(min3f(a[1], b[1], c[1]) - 0.5f), bottom = floorf(max3f(a[1], b[1], c[1]) - 0.5f);
  int32_t x0 = left < 0 ? 0 : left > (float)map->width ? map->width : (int32_t)left;
  int32_t y0 = top < 0 ? 0 : top > (float)map->height ? map->height : (int32_t)top;
  int32_t x1 = right > (float)(map->width - 1) ? map->width - 1 : (int32_t)right;
  int32_t y1 = bottom > (float)(map->height - 1) ? map->height - 1 : (int32_t)bottom;
  float inverse = 1 / area;
  /* weights of b and c, and depth, as linear functions of the texel centre */
  float bx = (c[1] - a[1]) * inverse, by = -(c[0] - a[0]) * inverse;
  float cx = -(b[1] - a[1]) * inverse, cy = (b[0] - a[0]) * inverse;
  float zx = bx * (b[2] - a[2]) + cx * (c[2] - a[2]), zy = by * (b[2] - a[2]) + cy * (c[2] - a[2]);
  for (int32_t y = y0; y <= y1; y++) {
    float dy = (float)y + 0.5f - a[1];
    float *row = map->depth + (size_t)y * (size_t)map->width;
    for (int32_t x = x0; x <= x1; x++) {
      float dx = (float)x + 0.5f - a[0], wb = bx * dx + by * dy, wc = cx * dx + cy * dy;
      if (wb < 0 || wc < 0 || wb + wc > 1) continue;
      float z = a[2] + zx * dx + zy * dy;
      if (z > row[x]) row[x] = z;
    }
  }
}

bool ds_shadow_map_build(ds_shadow_map *map, const ds_model *model, ds_vec3 toward, int32_t size, const float low[3],
                         const float high[3]) {
  ds_vec3 u, v, d = v3_unit(toward);
  v3_tangents(&u, &v, d);
  *map = (ds_shadow_map){.width = 1, .height = 1, .scale = 1};
  store(map->u, u), store(map->v, v), store(map->toward, d);
  bool casts = fit(map, model, size, low, high);
  if (!casts) map->width = map->height = 1, map->scale = 1;
  size_t count = (size_t)map->width * (size_t)map->height;
  map->depth = malloc(count * sizeof *map->depth);
  float *seen = malloc((size_t)(model->vertex_count > 0 ? model->vertex_count : 1) * 3 * sizeof *seen);
  if (!map->depth || !seen) {
    free(seen);
    ds_shadow_map_free(map);
    return false;
  }
  for (size_t i = 0; i < count; i++) map->depth[i] = -INFINITY;
  for (int32_t i = 0; casts && i < model->vertex_count; i++) {
    const float *p = model->vertices[i].position;
    seen[3 * i] = (dot(map->u, p) - map->u0) * map->scale;
    seen[3 * i + 1] = (dot(map->v, p) - map->v0) * map->scale;
    seen[3 * i + 2] = dot(map->toward, p);
  }
  for (int32_t i = 0; casts && i < model->triangle_count; i++) {
    const int32_t *corner = model->triangles[i].corner;
    fill(map, seen + 3 * corner[0], seen + 3 * corner[1], seen + 3 * corner[2]);
  }
  free(seen);
  return true;
}

void ds_shadow_map_free(ds_shadow_map *map) {
  free(map->depth);
  *map = (ds_shadow_map){0};
}

float ds_shadow_map_visible(const ds_shadow_map *map, const float point[3], const float normal[3]) {
  float p[3] = {point[0] + map->offset * normal[0], point[1] + map->offset * normal[1],
                point[2] + map->offset * normal[2]};
  float x = (dot(map->u, p) - map->u0) * map->scale - 0.5f, y = (dot(map->v, p) - map->v0) * map->scale - 0.5f;
  if (!(x >= 0 && y >= 0 && x < (float)(map->width - 1) && y < (float)(map->height - 1))) return 1;
  int32_t ix = (int32_t)x, iy = (int32_t)y;
  float fx = x - (float)ix, fy = y - (float)iy, depth = dot(map->toward, p);
  const float *t = map->depth + (size_t)iy * (size_t)map->width + (size_t)ix;
  float upper = (t[0] > depth ? 0 : 1 - fx) + (t[1] > depth ? 0 : fx);
  t += map->width;
  float lower = (t[0] > depth ? 0 : 1 - fx) + (t[1] > depth ? 0 : fx);
  return upper + fy * (lower - upper);
}
