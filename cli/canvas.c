/* Coverage by distance: a pixel whose centre lies d inside an edge is covered by clamp(d + 1/2), which is exact for
 * straight axis-parallel edges and within a few per cent for others. */
#include "canvas.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

ds_status ds_canvas_create(ds_canvas *canvas, ds_image *image, ds_error *error) {
  *canvas = (ds_canvas){.image = image};
  canvas->mask = calloc((size_t)image->width * (size_t)image->height, 1);
  if (!canvas->mask) {
    snprintf(error->message, sizeof error->message, "no memory to draw on a picture of %d x %d", image->width,
             image->height);
    return DS_ERROR_MEMORY;
  }
  ds_canvas_unclip(canvas);
  canvas->x0 = image->width;
  canvas->y0 = image->height;
  return DS_OK;
}

void ds_canvas_free(ds_canvas *canvas) {
  free(canvas->mask);
  *canvas = (ds_canvas){0};
}

/* v as a pixel index in [0, limit]; a NaN becomes 0 */
static int32_t clamp_index(double v, int32_t limit) { return !(v > 0) ? 0 : v >= limit ? limit : (int32_t)v; }

static void set_clip(ds_canvas *canvas, double x0, double y0, double x1, double y1) {
  canvas->clip_x0 = clamp_index(floor(x0), canvas->image->width);
  canvas->clip_y0 = clamp_index(floor(y0), canvas->image->height);
  canvas->clip_x1 = clamp_index(ceil(x1), canvas->image->width);
  canvas->clip_y1 = clamp_index(ceil(y1), canvas->image->height);
}

void ds_canvas_clip(ds_canvas *canvas, double x0, double y0, double x1, double y1) {
  if (canvas->svg) ds_svg_clip(canvas->svg, x0, y0, x1, y1);
  set_clip(canvas, x0, y0, x1, y1);
}

void ds_canvas_unclip(ds_canvas *canvas) {
  if (canvas->svg) ds_svg_unclip(canvas->svg);
  set_clip(canvas, 0, 0, canvas->image->width, canvas->image->height);
}

static void mark(ds_canvas *canvas, int32_t x, int32_t y, double coverage) {
  uint8_t c = (uint8_t)(coverage <= 0 ? 0 : coverage >= 1 ? 255 : coverage * 255 + 0.5);
  uint8_t *m = &canvas->mask[(size_t)y * (size_t)canvas->image->width + (size_t)x];
  if (c > *m) *m = c;
}

/* Notes [x0, x1) x [y0, y1) as marked. */
static void touch(ds_canvas *canvas, int32_t x0, int32_t y0, int32_t x1, int32_t y1) {
  if (x0 >= x1 || y0 >= y1) return;
  if (x0 < canvas->x0) canvas->x0 = x0;
  if (y0 < canvas->y0) canvas->y0 = y0;
  if (x1 > canvas->x1) canvas->x1 = x1;
  if (y1 > canvas->y1) canvas->y1 = y1;
}

static int32_t low_index(double v, int32_t low, int32_t high) {
  return !(v > low) ? low : v >= high ? high : (int32_t)v;
}

void ds_canvas_segment(ds_canvas *canvas, double x0, double y0, double x1, double y1, double width) {
  if (!isfinite(x0) || !isfinite(y0) || !isfinite(x1) || !isfinite(y1)) return;
  if (canvas->svg) ds_svg_segment(canvas->svg, x0, y0, x1, y1, width);
  if (y1 < y0) {
    double t = x0;
    x0 = x1, x1 = t;
    t = y0;
    y0 = y1, y1 = t;
  }
  /* a line thinner than a pixel is one pixel wide and fainter */
  double strength = width < 1 ? width : 1, radius = 0.5 * (width < 1 ? 1 : width), reach = radius + 1;
  double dx = x1 - x0, dy = y1 - y0, length2 = dx * dx + dy * dy;
  int32_t top = low_index(floor(y0 - reach), canvas->clip_y0, canvas->clip_y1);
  int32_t bottom = low_index(ceil(y1 + reach), canvas->clip_y0, canvas->clip_y1);
  int32_t left = canvas->clip_x1, right = canvas->clip_x0;
  for (int32_t y = top; y < bottom; y++) {
    /* the part of the segment that can reach this row */
    double cy = y + 0.5, ta = 0, tb = 1;
    if (dy > 0) {
      ta = fmin(1, fmax(0, (cy - reach - y0) / dy));
      tb = fmin(1, fmax(0, (cy + reach - y0) / dy));
    }
    double xa = x0 + ta * dx, xb = x0 + tb * dx;
    int32_t from = low_index(floor(fmin(xa, xb) - reach), canvas->clip_x0, canvas->clip_x1);
    int32_t to = low_index(ceil(fmax(xa, xb) + reach), canvas->clip_x0, canvas->clip_x1);
    for (int32_t x = from; x < to; x++) {
      double px = x + 0.5 - x0, py = cy - y0;
      double t = length2 > 0 ? fmin(1, fmax(0, (px * dx + py * dy) / length2)) : 0;
      double ex = px - t * dx, ey = py - t * dy;
      mark(canvas, x, y, strength * fmin(1, radius + 0.5 - sqrt(ex * ex + ey * ey)));
    }
    if (from < left) left = from;
    if (to > right) right = to;
  }
  touch(canvas, left, top, right, bottom);
}

void ds_canvas_disk(ds_canvas *canvas, double x, double y, double radius) {
  ds_canvas_segment(canvas, x, y, x, y, 2 * radius);
}

void ds_canvas_polygon(ds_canvas *canvas, const double *points, int32_t count) {
  double x0 = INFINITY, y0 = INFINITY, x1 = -INFINITY, y1 = -INFINITY, area = 0;
  for (int32_t i = 0; i < count; i++) {
    const double *a = points + 2 * i, *b = points + 2 * ((i + 1) % count);
    if (!isfinite(a[0]) || !isfinite(a[1])) return;
    x0 = fmin(x0, a[0]), x1 = fmax(x1, a[0]);
    y0 = fmin(y0, a[1]), y1 = fmax(y1, a[1]);
    area += a[0] * b[1] - a[1] * b[0];
  }
  if (canvas->svg) ds_svg_polygon(canvas->svg, points, count);
  double sense = area < 0 ? -1 : 1;
  int32_t left = low_index(floor(x0 - 1), canvas->clip_x0, canvas->clip_x1);
  int32_t right = low_index(ceil(x1 + 1), canvas->clip_x0, canvas->clip_x1);
  int32_t top = low_index(floor(y0 - 1), canvas->clip_y0, canvas->clip_y1);
  int32_t bottom = low_index(ceil(y1 + 1), canvas->clip_y0, canvas->clip_y1);
  for (int32_t y = top; y < bottom; y++) {
    for (int32_t x = left; x < right; x++) {
      double inside = INFINITY;
      for (int32_t i = 0; i < count; i++) {
        const double *a = points + 2 * i, *b = points + 2 * ((i + 1) % count);
        double ex = b[0] - a[0], ey = b[1] - a[1], length = sqrt(ex * ex + ey * ey);
        if (length > 0) inside = fmin(inside, sense * (ex * (y + 0.5 - a[1]) - ey * (x + 0.5 - a[0])) / length);
      }
      mark(canvas, x, y, inside + 0.5);
    }
  }
  touch(canvas, left, top, right, bottom);
}

void ds_canvas_rectangle(ds_canvas *canvas, double x0, double y0, double x1, double y1) {
  ds_canvas_polygon(canvas, (double[]){x0, y0, x1, y0, x1, y1, x0, y1}, 4);
}

void ds_canvas_paint(ds_canvas *canvas, ds_color color, double alpha) {
  if (canvas->svg) ds_svg_paint(canvas->svg, color, alpha);
  float goal[3] = {255 * color.r, 255 * color.g, 255 * color.b}, scale = (float)(alpha / 255);
  for (int32_t y = canvas->y0; y < canvas->y1; y++) {
    uint8_t *m = canvas->mask + (size_t)y * (size_t)canvas->image->width;
    for (int32_t x = canvas->x0; x < canvas->x1; x++) {
      if (!m[x]) continue;
      uint8_t *pixel = ds_image_pixel(canvas->image, x, y);
      float a = scale * (float)m[x];
      for (int k = 0; k < 3; k++) {
        float old = (float)pixel[k], mixed = old + a * (goal[k] - old) + 0.5f;
        pixel[k] = (uint8_t)(mixed < 0 ? 0 : mixed > 255 ? 255 : mixed);
      }
      m[x] = 0;
    }
  }
  canvas->x0 = canvas->image->width, canvas->y0 = canvas->image->height;
  canvas->x1 = canvas->y1 = 0;
}
