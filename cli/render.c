/* The renderer: rasterization to a visibility buffer, then shading.
 *
 * Every pixel has 4 x 4 samples. A sample keeps the triangle nearest to it and its inverse depth, which is linear on
 * the screen. A pixel is then shaded once for each surface that its samples show, at the sample nearest to the pixel's
 * middle, and the colours are mixed by the number of samples: edges get 16 levels at the cost of one shading inside
 * surfaces. The ground is a plane found by formula, so that it reaches the horizon; its lines and the creases of faces
 * are anti-aliased by their distance. Light is looked up for a tile of pixels at once (shade.h). Work goes in bands of
 * rows, so that memory does not grow with the picture, shared out to all threads; a band's pixels depend on nothing
 * else.
 *
 * Triangles are clipped at the near plane only. */
#include "render.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/thread.h"
#include "shade.h"

#define GRID 4 /* samples per pixel side */
#define SAMPLES (GRID * GRID)
#define BAND 16 /* rows of pixels in a band */
#define TILE 32 /* columns whose light is looked up together: whole rows would be spread over all of a shadow map */
#define SHOWS_SKY -1
#define SHOWS_GROUND -2
#define SLOPE_MAX \
  8 /* a steeper step in depth within a pixel is a surface in front of another: solids can hide themselves */
#define LINE_STRENGTH 0.5f
#define LINE_HALF_WIDTH 0.55f /* pixels at a height of 720 */

typedef struct renderer {
  const ds_view *view;
  const ds_model *model;
  ds_lights lights;
  int32_t width, height;
  float near;
  float eye[3], right[3], up[3], forward[3], focal, cx, cy; /* the camera in model coordinates */
  float ground;                                             /* model coordinates */
  float *projected;                                         /* x, y (pixels), inverse depth of each vertex */
  int32_t band_count;
  size_t *first;          /* of a band in: */
  int32_t *sorted;        /* triangles, band by band */
  uint8_t order[SAMPLES]; /* samples by distance from the middle */
  float encode[4097];     /* linear 0..1 to 0..255 */
  float line_half_width;
} renderer;

/* A surface that samples of a pixel show. */
typedef struct spot {
  int32_t pixel;      /* of the band */
  int32_t shown;      /* triangle, or SHOWS_GROUND, SHOWS_SKY */
  float weight, line; /* parts of the pixel: that it fills, that is a crease or a line of the ground */
  float clear;        /* of the ground: how little it fades into the sky; 0 = it has no light of its own */
  float ray[3];       /* unit */
  int32_t receiver;   /* its light, -1 = none */
} spot;

/* Some rows of the picture, and what its samples show; memory of one thread. */
typedef struct band {
  int32_t top, rows;
  int32_t *shown;
  float *inverse;
  float *colors; /* linear, three per pixel */
  int32_t spot_count;
  spot spots[DS_RECEIVERS]; /* whose light is not known yet */
  ds_receivers receivers;
} band;

static float dot(const float a[3], const float b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
static void store(float out[3], ds_vec3 a) { out[0] = (float)a.x, out[1] = (float)a.y, out[2] = (float)a.z; }

bool ds_camera_project(double *x, double *y, double *depth, const ds_camera *camera, ds_vec3 point) {
  ds_vec3 d = v3_sub(point, camera->eye);
  *depth = v3_dot(d, camera->forward);
  if (!(*depth > 0)) return false;
  *x = camera->center_x + camera->focal * v3_dot(d, camera->right) / *depth;
  *y = camera->center_y - camera->focal * v3_dot(d, camera->up) / *depth;
  return isfinite(*x) && isfinite(*y);
}

static float sample_offset(int i) { return ((float)i + 0.5f) / GRID; }

/* ---- set up ---- */

static void order_samples(renderer *r) {
  float distance[SAMPLES];
  for (int i = 0; i < SAMPLES; i++) {
    /* a slight lean breaks ties the same way everywhere */
    float x = sample_offset(i % GRID) - 0.51f, y = sample_offset(i / GRID) - 0.52f;
    distance[i] = x * x + y * y;
    int at = i;
    for (; at > 0 && distance[r->order[at - 1]] > distance[i]; at--) r->order[at] = r->order[at - 1];
    r->order[at] = (uint8_t)i;
  }
}

static void fill_encoding(renderer *r) {
  for (int i = 0; i <= 4096; i++) {
    double c = i / 4096.0, s = c <= 0.0031308 ? 12.92 * c : 1.055 * pow(c, 1 / 2.4) - 0.055;
    r->encode[i] = (float)(255 * s);
  }
}

static bool set_up(renderer *r, ds_pool *pool, const ds_image *image, const ds_view *view) {
  const ds_camera *camera = &view->camera;
  *r = (renderer){.view = view, .model = view->model, .width = image->width, .height = image->height};
  ds_vec3 origin = view->model->origin, eye = v3_sub(camera->eye, origin);
  store(r->eye, eye), store(r->right, camera->right), store(r->up, camera->up), store(r->forward, camera->forward);
  r->focal = (float)camera->focal, r->cx = (float)camera->center_x, r->cy = (float)camera->center_y;
  r->ground = (float)(view->ground - origin.z);
  r->near = 1e-3f * (float)fmax(v3_dist(camera->eye, view->focus), 1e-9);
  r->line_half_width = LINE_HALF_WIDTH * fmaxf(0.6f, sqrtf((float)image->height / 720));
  order_samples(r);
  fill_encoding(r);
  float low[3], high[3];
  store(low, v3_sub(view->low, origin)), store(high, v3_sub(view->high, origin));
  int32_t vertices = r->model->vertex_count;
  r->projected = malloc((size_t)(vertices > 0 ? vertices : 1) * 3 * sizeof *r->projected);
  return r->projected && ds_lights_build(&r->lights, pool, view->casters ? view->casters : r->model, view->sun,
                                         view->dark, low, high, (double)image->width * image->height);
}

static void tear_down(renderer *r) {
  ds_lights_free(&r->lights);
  free(r->projected);
  free(r->first);
  free(r->sorted);
}

/* Screen position and inverse depth of a point; the latter is 0 or less behind the near plane. */
static void project(float out[3], const renderer *r, const float p[3]) {
  float d[3] = {p[0] - r->eye[0], p[1] - r->eye[1], p[2] - r->eye[2]};
  float depth = dot(d, r->forward);
  if (depth < r->near) {
    out[0] = out[1] = 0;
    out[2] = -1;
    return;
  }
  float inverse = 1 / depth;
  out[0] = r->cx + r->focal * dot(d, r->right) * inverse;
  out[1] = r->cy - r->focal * dot(d, r->up) * inverse;
  out[2] = inverse;
}

/* ---- visibility ---- */

/* Ground or sky behind everything. */
static void clear_band(const renderer *r, band *b) {
  float height = r->eye[2] - r->ground;
  bool ground = r->view->has_ground && height > 0;
  for (int32_t y = 0; y < b->rows * GRID; y++) {
    size_t row = (size_t)y * (size_t)r->width * GRID;
    float sy = (float)b->top + ((float)y + 0.5f) / GRID, v = (r->cy - sy) / r->focal;
    for (int32_t x = 0; x < r->width * GRID; x++) {
      float sx = ((float)x + 0.5f) / GRID, u = (sx - r->cx) / r->focal;
      float fall = -(r->forward[2] + u * r->right[2] + v * r->up[2]); /* of the ray a unit of depth */
      bool hit = ground && fall > 0;
      b->shown[row + (size_t)x] = hit ? SHOWS_GROUND : SHOWS_SKY;
      b->inverse[row + (size_t)x] = hit ? fall / height : 0;
    }
  }
}

static float min3f(float a, float b, float c) { return a < b ? a < c ? a : c : b < c ? b : c; }
static float max3f(float a, float b, float c) { return a > b ? a > c ? a : c : b > c ? b : c; }

/* Sample columns or rows whose centres lie in [low, high], within [0, count). */
static void sample_range(int32_t *from, int32_t *to, float low, float high, float start, int32_t count) {
  float a = ceilf((low - start) * GRID - 0.5f), b = floorf((high - start) * GRID - 0.5f) + 1;
  *from = a < 0 ? 0 : a > (float)count ? count : (int32_t)a;
  *to = b < 0 ? 0 : b > (float)count ? count : (int32_t)b;
}

/* A front-facing triangle given by screen corners into the band's samples. */
static void fill(const renderer *r, band *to, const float a[3], const float b[3], const float c[3], int32_t index) {
  float area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
  if (!(area < -1e-9f)) return; /* rows go down: counter-clockwise is negative */
  int32_t x0, x1, y0, y1;
  sample_range(&x0, &x1, min3f(a[0], b[0], c[0]), max3f(a[0], b[0], c[0]), 0, r->width * GRID);
  sample_range(&y0, &y1, min3f(a[1], b[1], c[1]), max3f(a[1], b[1], c[1]), (float)to->top, to->rows * GRID);
  float inverse = 1 / area;
  float bx = (c[1] - a[1]) * inverse, by = -(c[0] - a[0]) * inverse;
  float cx = -(b[1] - a[1]) * inverse, cy = (b[0] - a[0]) * inverse;
  float zx = bx * (b[2] - a[2]) + cx * (c[2] - a[2]), zy = by * (b[2] - a[2]) + cy * (c[2] - a[2]);
  for (int32_t y = y0; y < y1; y++) {
    float dy = (float)to->top + ((float)y + 0.5f) / GRID - a[1];
    size_t row = (size_t)y * (size_t)r->width * GRID;
    for (int32_t x = x0; x < x1; x++) {
      float dx = ((float)x + 0.5f) / GRID - a[0], wb = bx * dx + by * dy, wc = cx * dx + cy * dy;
      if (wb < 0 || wc < 0 || wb + wc > 1) continue;
      float z = a[2] + zx * dx + zy * dy;
      if (z <= to->inverse[row + (size_t)x]) continue;
      to->inverse[row + (size_t)x] = z;
      to->shown[row + (size_t)x] = index;
    }
  }
}

/* Cuts a triangle at the near plane and fills what is in front of it: 0, 1 or 2 triangles. */
static void fill_clipped(const renderer *r, band *to, int32_t index) {
  const int32_t *corner = r->model->triangles[index].corner;
  float cut[4][3];
  int count = 0;
  for (int i = 0; i < 3; i++) {
    const float *p = r->model->vertices[corner[i]].position, *q = r->model->vertices[corner[(i + 1) % 3]].position;
    float limit = dot(r->eye, r->forward) + 1.001f * r->near;
    float dp = dot(p, r->forward) - limit, dq = dot(q, r->forward) - limit;
    if (dp >= 0) project(cut[count++], r, p);
    if ((dp >= 0) != (dq >= 0)) {
      float t = dp / (dp - dq), m[3];
      for (int k = 0; k < 3; k++) m[k] = p[k] + t * (q[k] - p[k]);
      project(cut[count++], r, m);
    }
  }
  for (int i = 1; i + 1 < count; i++) {
    if (cut[0][2] > 0 && cut[i][2] > 0 && cut[i + 1][2] > 0) fill(r, to, cut[0], cut[i], cut[i + 1], index);
  }
}

/* The bands that a triangle may be seen in: from .. to, none where to < from. */
static void bands_of(int32_t *from, int32_t *to, const renderer *r, int32_t triangle) {
  const int32_t *corner = r->model->triangles[triangle].corner;
  const float *a = r->projected + 3 * (size_t)corner[0], *b = r->projected + 3 * (size_t)corner[1],
              *c = r->projected + 3 * (size_t)corner[2];
  int in_front = (a[2] > 0) + (b[2] > 0) + (c[2] > 0);
  float low = 0, high = (float)r->height;
  if (in_front == 3) low = fmaxf(low, min3f(a[1], b[1], c[1])), high = fminf(high, max3f(a[1], b[1], c[1]));
  bool seen = in_front > 0 && low <= high;
  *from = seen && low >= BAND ? (int32_t)(low / BAND) - 1 : 0;
  *to = seen ? (int32_t)(high / BAND) : -1;
  if (*to >= r->band_count) *to = r->band_count - 1;
}

/* Lists the triangles of every band, in their order. False if memory ran out. */
static bool sort_triangles(renderer *r) {
  int32_t from, to;
  size_t count = 0;
  r->band_count = (r->height + BAND - 1) / BAND;
  r->first = calloc((size_t)r->band_count + 2, sizeof *r->first);
  if (!r->first) return false;
  for (int32_t i = 0; i < r->model->triangle_count; i++) {
    bands_of(&from, &to, r, i);
    for (int32_t k = from; k <= to; k++) r->first[k + 2]++, count++;
  }
  for (int32_t k = 0; k < r->band_count; k++) r->first[k + 2] += r->first[k + 1];
  r->sorted = malloc((count + 1) * sizeof *r->sorted);
  for (int32_t i = 0; r->sorted && i < r->model->triangle_count; i++) {
    bands_of(&from, &to, r, i);
    for (int32_t k = from; k <= to; k++) r->sorted[r->first[k + 1]++] = i;
  }
  return r->sorted != NULL;
}

static void rasterize_band(const renderer *r, band *to) {
  int32_t number = to->top / BAND;
  for (size_t k = r->first[number]; k < r->first[number + 1]; k++) {
    int32_t i = r->sorted[k];
    const int32_t *corner = r->model->triangles[i].corner;
    const float *a = r->projected + 3 * (size_t)corner[0], *b = r->projected + 3 * (size_t)corner[1],
                *c = r->projected + 3 * (size_t)corner[2];
    if (a[2] > 0 && b[2] > 0 && c[2] > 0)
      fill(r, to, a, b, c, i);
    else
      fill_clipped(r, to, i);
  }
}

/* ---- shading ---- */

/* Ray through a screen position, one unit of depth long. */
static void screen_ray(float out[3], const renderer *r, float x, float y) {
  float u = (x - r->cx) / r->focal, v = (r->cy - y) / r->focal;
  for (int k = 0; k < 3; k++) out[k] = r->forward[k] + u * r->right[k] + v * r->up[k];
}

static void unit(float out[3], const float a[3]) {
  float length = sqrtf(dot(a, a)), s = length > 0 ? 1 / length : 0;
  for (int k = 0; k < 3; k++) out[k] = s * a[k];
}

/* Creases of small faces are fainter, so that distant bodies do not turn black. */
static float crease_strength(const renderer *r, const ds_triangle *triangle) {
  const float *a = r->projected + 3 * (size_t)triangle->corner[0], *b = r->projected + 3 * (size_t)triangle->corner[1],
              *c = r->projected + 3 * (size_t)triangle->corner[2];
  float area = fabsf((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]));
  float size = sqrtf(area) / r->line_half_width;
  return fminf(1, fmaxf(0.2f, (size - 5) / 40));
}

/* How much of the pixel about (x, y) is a crease of the triangle, 0..1. */
static float crease(const renderer *r, const ds_triangle *triangle, float x, float y) {
  float nearest = 1e9f;
  for (int i = 0; i < 3; i++) {
    if (!(triangle->edges >> i & 1)) continue;
    const float *a = r->projected + 3 * (size_t)triangle->corner[i];
    const float *b = r->projected + 3 * (size_t)triangle->corner[(i + 1) % 3];
    if (a[2] <= 0 || b[2] <= 0) continue;
    float ex = b[0] - a[0], ey = b[1] - a[1], length2 = ex * ex + ey * ey;
    float t = length2 > 0 ? ((x - a[0]) * ex + (y - a[1]) * ey) / length2 : 0;
    t = fminf(1, fmaxf(0, t));
    float dx = x - a[0] - t * ex, dy = y - a[1] - t * ey;
    nearest = fminf(nearest, sqrtf(dx * dx + dy * dy));
  }
  return fminf(1, fmaxf(0, r->line_half_width + 0.5f - nearest)) * crease_strength(r, triangle);
}

/* The point of a triangle that is seen at a screen position. */
static void find_triangle(spot *s, float at[3], float n[3], const renderer *r, float x, float y, float inverse) {
  const ds_triangle *triangle = &r->model->triangles[s->shown];
  const ds_vertex *v[3];
  for (int i = 0; i < 3; i++) v[i] = &r->model->vertices[triangle->corner[i]];
  float ray[3], p[3], e1[3], e2[3], d[3];
  screen_ray(ray, r, x, y);
  for (int k = 0; k < 3; k++) {
    p[k] = r->eye[k] + ray[k] / inverse;
    e1[k] = v[1]->position[k] - v[0]->position[k];
    e2[k] = v[2]->position[k] - v[0]->position[k];
    d[k] = p[k] - v[0]->position[k];
  }
  /* barycentric weights of the point nearest to p in the triangle's plane */
  float a11 = dot(e1, e1), a12 = dot(e1, e2), a22 = dot(e2, e2), b1 = dot(e1, d), b2 = dot(e2, d);
  float det = a11 * a22 - a12 * a12;
  float along = det > 0 ? (b1 * a22 - b2 * a12) / det : 0, t = det > 0 ? (b2 * a11 - b1 * a12) / det : 0;
  along = fminf(1, fmaxf(0, along)), t = fminf(1 - along, fmaxf(0, t));
  for (int k = 0; k < 3; k++) {
    n[k] = (1 - along - t) * v[0]->normal[k] + along * v[1]->normal[k] + t * v[2]->normal[k];
    at[k] = v[0]->position[k] + along * e1[k] + t * e2[k];
  }
  unit(n, n);
  unit(s->ray, ray);
  s->line = LINE_STRENGTH * (triangle->edges ? crease(r, triangle, x, y) : 0);
}

/* Part of a pixel of size `pixel` covered by lines of half width `half` at multiples of `spacing`. */
static float line_cover(float x, float spacing, float half, float pixel) {
  float from_line = fabsf(x - spacing * roundf(x / spacing));
  float cover = fminf(1, fmaxf(0, (half + 0.5f * pixel - from_line) / pixel));
  cover = fminf(cover, 2 * half / pixel);
  return cover * fmaxf(0, 1 - 2.5f * pixel / spacing); /* fades where lines come close to each other */
}

/* World coordinates of the ground under a screen position; false above the horizon. */
static bool ground_point(float out[3], const renderer *r, float x, float y) {
  float ray[3];
  screen_ray(ray, r, x, y);
  if (!(ray[2] < 0)) return false;
  float depth = (r->ground - r->eye[2]) / ray[2];
  for (int k = 0; k < 3; k++) out[k] = r->eye[k] + depth * ray[k];
  return true;
}

static float grid_cover(const renderer *r, const float p[3], float x, float y) {
  float px[3], py[3], grid = (float)r->view->grid, cover = 0;
  if (!(grid > 0) || !ground_point(px, r, x + 1, y) || !ground_point(py, r, x, y + 1)) return 0;
  ds_vec3 origin = r->model->origin;
  double world[2] = {p[0] + origin.x, p[1] + origin.y};
  for (int k = 0; k < 2; k++) {
    float pixel = fabsf(px[k] - p[k]) + fabsf(py[k] - p[k]);
    float at = (float)fmod(world[k], 1000.0 * r->view->grid), half = fmaxf(0.006f * grid, 0.45f * pixel);
    cover = fmaxf(cover, 0.45f * line_cover(at, grid, half, pixel));
    cover = fmaxf(cover, 0.85f * line_cover(at, 5 * grid, half, pixel));
  }
  return cover;
}

/* The point of the ground that is seen at a screen position; false where it has faded away. */
static bool find_ground(spot *s, float p[3], const renderer *r, float x, float y) {
  if (!ground_point(p, r, x, y)) return false;
  ds_vec3 focus = v3_sub(r->view->focus, r->model->origin);
  float dx = p[0] - (float)focus.x, dy = p[1] - (float)focus.y, fade = (float)r->view->fade;
  float away = (dx * dx + dy * dy) / (fade * fade);
  s->clear = expf(-away);
  if (s->clear < 1e-3f) return false;
  s->line = 0.5f * grid_cover(r, p, x, y);
  return true;
}

static void shade_spot(float out[3], const renderer *r, const spot *s, const ds_receivers *receivers) {
  const ds_look *look = &r->lights.look;
  if (s->shown >= 0) {
    ds_shade_surface(out, &r->lights, &r->model->paints[r->model->triangles[s->shown].paint], receivers, s->receiver,
                     s->ray);
    for (int k = 0; k < 3; k++) out[k] *= 1 - s->line;
    return;
  }
  ds_shade_sky(out, &r->lights, s->ray);
  if (s->receiver < 0) return;
  float light[3];
  ds_shade_ground_light(light, &r->lights, receivers, s->receiver);
  for (int k = 0; k < 3; k++) {
    float c = look->ground[k] + s->line * (look->line[k] - look->ground[k]);
    out[k] += s->clear * (c * light[k] - out[k]);
  }
}

/* Adds the colours of the spots to their pixels. */
static void shade_spots(const renderer *r, band *b) {
  ds_lights_receive(&r->lights, &b->receivers);
  for (const spot *s = b->spots; s < b->spots + b->spot_count; s++) {
    float color[3];
    shade_spot(color, r, s, &b->receivers);
    for (int k = 0; k < 3; k++) b->colors[3 * (size_t)s->pixel + (size_t)k] += color[k] * s->weight / SAMPLES;
  }
  b->spot_count = b->receivers.count = 0;
}

static void add_spot(const renderer *r, band *b, int32_t pixel, int32_t shown, float x, float y, float inverse,
                     int weight) {
  if (b->spot_count == DS_RECEIVERS) shade_spots(r, b);
  spot *s = &b->spots[b->spot_count++];
  float p[3], n[3] = {0, 0, 1};
  *s = (spot){.pixel = pixel, .shown = shown, .weight = (float)weight, .receiver = -1};
  if (shown >= 0) {
    find_triangle(s, p, n, r, x, y, inverse);
  } else {
    float ray[3];
    screen_ray(ray, r, x, y);
    unit(s->ray, ray);
    if (shown != SHOWS_GROUND || !find_ground(s, p, r, x, y)) return;
  }
  ds_receivers *to = &b->receivers;
  for (int k = 0; k < 3; k++) to->point[k][to->count] = p[k], to->normal[k][to->count] = n[k];
  s->receiver = to->count++;
}

/* The spots of a pixel; returns its largest inverse depth. */
static float resolve(const renderer *r, band *b, int32_t x, int32_t band_row) {
  int32_t shown[SAMPLES], key[SAMPLES], stride = r->width * GRID;
  float inverse[SAMPLES], nearest = 0, step = SLOPE_MAX / r->focal;
  bool done[SAMPLES] = {false};
  for (int i = 0; i < SAMPLES; i++) {
    int s = r->order[i];
    size_t at = (size_t)(band_row * GRID + s / GRID) * (size_t)stride + (size_t)(x * GRID + s % GRID);
    shown[i] = b->shown[at];
    inverse[i] = b->inverse[at];
    key[i] = shown[i] >= 0 ? r->model->triangles[shown[i]].surface : shown[i];
    nearest = fmaxf(nearest, inverse[i]);
  }
  for (int i = 0; i < SAMPLES; i++) {
    if (done[i]) continue;
    int weight = 0;
    for (int j = i; j < SAMPLES; j++) {
      if (done[j] || key[j] != key[i]) continue;
      if (key[i] >= 0 && fabsf(inverse[j] - inverse[i]) > step * inverse[i]) continue;
      done[j] = true;
      weight++;
    }
    float sx = 0.5f, sy = 0.5f;
    if (weight < SAMPLES) sx = sample_offset(r->order[i] % GRID), sy = sample_offset(r->order[i] / GRID);
    add_spot(r, b, band_row * r->width + x, shown[i], (float)x + sx, (float)(b->top + band_row) + sy, inverse[i],
             weight);
  }
  return nearest;
}

/* A linear colour as a byte. Rounding varies over 4 x 4 pixels, so that slow gradients show no steps. */
static uint8_t to_byte(const renderer *r, float color, int32_t x, int32_t y) {
  static const uint8_t order[4][4] = {{0, 8, 2, 10}, {12, 4, 14, 6}, {3, 11, 1, 9}, {15, 7, 13, 5}};
  float at = 4096 * fminf(1, fmaxf(0, color));
  int i = (int)at < 4095 ? (int)at : 4095;
  float value = r->encode[i] + (at - (float)i) * (r->encode[i + 1] - r->encode[i]);
  return (uint8_t)fminf(255, value + ((float)order[y & 3][x & 3] + 0.5f) / 16);
}

static void shade_band(ds_image *image, float *depth, const renderer *r, band *b) {
  memset(b->colors, 0, 3 * (size_t)b->rows * (size_t)r->width * sizeof *b->colors);
  for (int32_t left = 0; left < r->width; left += TILE)
    for (int32_t row = 0; row < b->rows; row++)
      for (int32_t x = left; x < r->width && x < left + TILE; x++) {
        float nearest = resolve(r, b, x, row);
        if (depth) depth[(size_t)(b->top + row) * (size_t)r->width + (size_t)x] = nearest > 0 ? 1 / nearest : INFINITY;
      }
  shade_spots(r, b);
  const float *color = b->colors;
  for (int32_t row = 0; row < b->rows; row++)
    for (int32_t x = 0; x < r->width; x++, color += 3) {
      uint8_t *pixel = ds_image_pixel(image, x, b->top + row);
      for (int k = 0; k < 3; k++) pixel[k] = to_byte(r, color[k], x, row);
    }
}

/* ---- all together ---- */

typedef struct picture {
  renderer r;
  ds_image *image;
  float *depth;
  band *bands; /* one per thread */
} picture;

static void draw_band(void *context, int32_t item, int32_t worker) {
  picture *p = context;
  band *b = &p->bands[worker];
  b->top = item * BAND;
  b->rows = p->r.height - b->top < BAND ? p->r.height - b->top : BAND;
  clear_band(&p->r, b);
  rasterize_band(&p->r, b);
  shade_band(p->image, p->depth, &p->r, b);
}

static bool create_bands(picture *p, int32_t threads) {
  size_t samples = (size_t)p->image->width * BAND * SAMPLES;
  p->bands = calloc((size_t)threads, sizeof *p->bands);
  bool good = p->bands != NULL;
  for (int32_t i = 0; good && i < threads; i++) {
    p->bands[i].shown = malloc(samples * sizeof *p->bands[i].shown);
    p->bands[i].inverse = malloc(samples * sizeof *p->bands[i].inverse);
    p->bands[i].colors = malloc(3 * (size_t)p->image->width * BAND * sizeof *p->bands[i].colors);
    good = p->bands[i].shown && p->bands[i].inverse && p->bands[i].colors;
  }
  return good;
}

static void free_bands(picture *p, int32_t threads) {
  for (int32_t i = 0; p->bands && i < threads; i++) {
    free(p->bands[i].shown);
    free(p->bands[i].inverse);
    free(p->bands[i].colors);
  }
  free(p->bands);
}

ds_status ds_render(ds_image *image, float *depth, const ds_view *view, ds_error *error) {
  picture p = {.image = image, .depth = depth};
  ds_pool *pool = ds_pool_create(0);
  int32_t threads = pool ? ds_pool_size(pool) : 0;
  bool good = pool && create_bands(&p, threads) && set_up(&p.r, pool, image, view);
  for (int32_t i = 0; good && i < p.r.model->vertex_count; i++)
    project(p.r.projected + 3 * (size_t)i, &p.r, p.r.model->vertices[i].position);
  good = good && sort_triangles(&p.r);
  if (good) ds_pool_run(pool, p.r.band_count, draw_band, &p);
  tear_down(&p.r);
  free_bands(&p, threads);
  ds_pool_destroy(pool);
  if (good) return DS_OK;
  snprintf(error->message, sizeof error->message, "no memory to draw %d triangles on %d x %d pixels",
           view->model->triangle_count, image->width, image->height);
  return DS_ERROR_MEMORY;
}
