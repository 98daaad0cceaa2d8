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
    for (int k = 0; k < 3; k++) {
      float x = model->vertices[i].position[k];
      p[k] = x < low[k] ? low[k] : x > high[k] ? high[k] : x;
    }
    float u = dot(map->u, p), v = dot(map->v, p);
    u0 = u < u0 ? u : u0, u1 = u > u1 ? u : u1;
    v0 = v < v0 ? v : v0, v1 = v > v1 ? v : v1;
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

static float min3f(float a, float b, float c) { return a < b ? a < c ? a : c : b < c ? b : c; }
static float max3f(float a, float b, float c) { return a > b ? a > c ? a : c : b > c ? b : c; }

/* Texels whose centres lie in [low, high], within [0, count): from .. to, none where to < from. */
static void texel_range(int32_t *from, int32_t *to, float low, float high, int32_t count) {
  float a = low - 0.5f, b = high - 0.5f;
  *from = a > 0 ? a < (float)count ? (int32_t)a : count : 0;
  *from += (float)*from < a;
  *to = b < 0 ? -1 : b < (float)count ? (int32_t)b : count - 1;
}

/* Keeps the larger depth at each texel centre inside the triangle of corners (u, v, depth), in texels. Most triangles
 * of a large scene are smaller than a texel, and hold none. */
static void fill(ds_shadow_map *map, const float a[3], const float b[3], const float c[3]) {
  float area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
  if (!(area > 1e-12f)) return; /* only faces toward the light: bodies are closed */
  int32_t x0, x1, y0, y1;
  texel_range(&x0, &x1, min3f(a[0], b[0], c[0]), max3f(a[0], b[0], c[0]), map->width);
  if (x1 < x0) return;
  texel_range(&y0, &y1, min3f(a[1], b[1], c[1]), max3f(a[1], b[1], c[1]), map->height);
  if (y1 < y0) return;
  float inverse = 1 / area;
  /* weights of b and c, and depth, as linear functions of the texel centre */
  float bx = (c[1] - a[1]) * inverse, by = -(c[0] - a[0]) * inverse;
  float cx = -(b[1] - a[1]) * inverse, cy = (b[0] - a[0]) * inverse;
  float zx = bx * (b[2] - a[2]) + cx * (c[2] - a[2]), zy = by * (b[2] - a[2]) + cy * (c[2] - a[2]);
  float ax = a[0], ay = a[1], az = a[2];
  for (int32_t y = y0; y <= y1; y++) {
    float dy = (float)y + 0.5f - ay;
    float *restrict row = map->depth + (size_t)y * (size_t)map->width;
    for (int32_t x = x0; x <= x1; x++) {
      float dx = (float)x + 0.5f - ax, wb = bx * dx + by * dy, wc = cx * dx + cy * dy, z = az + zx * dx + zy * dy;
      bool seen = (wb >= 0) & (wc >= 0) & (wb + wc <= 1) & (z > row[x]);
      row[x] = seen ? z : row[x];
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
  size_t count = (size_t)(map->width * (map->height + 1)) + 2; /* four texels more, in which nothing casts a shadow */
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

/* Without a branch, so that several receivers are done at once; one beside the map reads the empty texels behind it. */
void ds_shadow_map_receive(float *restrict light, const ds_shadow_map *map, const ds_receivers *r,
                           const float facing[3], bool cosine) {
  const float u[3] = {map->u[0], map->u[1], map->u[2]}, v[3] = {map->v[0], map->v[1], map->v[2]};
  const float t[3] = {map->toward[0], map->toward[1], map->toward[2]}, f[3] = {facing[0], facing[1], facing[2]};
  const float *restrict depth = map->depth, *below = depth + map->width;
  const float offset = map->offset, scale = map->scale, u0 = map->u0, v0 = map->v0;
  const float right = (float)(map->width - 1), bottom = (float)(map->height - 1);
  const int32_t width = map->width, none = width * map->height, count = r->count;
  for (int32_t k = 0; k < count; k++) {
    float nx = r->normal[0][k], ny = r->normal[1][k], nz = r->normal[2][k];
    float px = r->point[0][k] + offset * nx, py = r->point[1][k] + offset * ny, pz = r->point[2][k] + offset * nz;
    float x = (u[0] * px + u[1] * py + u[2] * pz - u0) * scale - 0.5f;
    float y = (v[0] * px + v[1] * py + v[2] * pz - v0) * scale - 0.5f;
    float z = t[0] * px + t[1] * py + t[2] * pz, slant = f[0] * nx + f[1] * ny + f[2] * nz;
    int32_t inside = (int32_t)(x >= 0) & (int32_t)(y >= 0) & (int32_t)(x < right) & (int32_t)(y < bottom);
    x = inside ? x : 0;
    y = inside ? y : 0;
    int32_t ix = (int32_t)x, iy = (int32_t)y, at = inside ? iy * width + ix : none;
    float fx = x - (float)ix, fy = y - (float)iy;
    float a = depth[at], b = depth[at + 1], c = below[at], d = below[at + 1];
    float left = 1 - fx;
    float upper = (a > z ? 0 : left) + (b > z ? 0 : fx);
    float lower = (c > z ? 0 : left) + (d > z ? 0 : fx);
    light[k] += (slant > 0 ? cosine ? slant : 1 : 0) * (upper + fy * (lower - upper));
  }
}
