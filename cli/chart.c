/* Line charts.
 *
 * Ticks are multiples of 1, 2 or 5 times a power of ten, or decades on a logarithmic axis. A line with many more points
 * than the panel has columns is drawn by the first, lowest, highest and last point of every column, which looks the
 * same. */
#include "chart.h"

#include <math.h>
#include <stdio.h>

#include "canvas.h"
#include "font.h"

#define DECADES_MAX 16 /* what is smaller than the largest value by more is rounding */

typedef struct axis {
  bool log;
  double low, high; /* of the values, or of their logarithms */
  double pixel_low, pixel_high;
} axis;

typedef struct style {
  double unit; /* pixels that are 1 at 1280 x 900 */
  double text, small;
  ds_color back, panel, ink, faint, grid;
} style;

typedef struct box {
  double left, top, right, bottom;
} box;

ds_color ds_chart_color(int32_t n, bool dark) {
  static const ds_color light_ground[] = {{0.13f, 0.40f, 0.68f}, {0.88f, 0.45f, 0.10f}, {0.17f, 0.57f, 0.34f},
                                          {0.78f, 0.20f, 0.24f}, {0.47f, 0.34f, 0.66f}, {0.10f, 0.59f, 0.63f},
                                          {0.55f, 0.42f, 0.24f}, {0.45f, 0.48f, 0.52f}};
  static const ds_color dark_ground[] = {{0.42f, 0.67f, 0.95f}, {0.97f, 0.65f, 0.34f}, {0.45f, 0.80f, 0.56f},
                                         {0.95f, 0.48f, 0.49f}, {0.72f, 0.61f, 0.92f}, {0.40f, 0.82f, 0.85f},
                                         {0.82f, 0.69f, 0.48f}, {0.68f, 0.71f, 0.75f}};
  int32_t i = (n < 0 ? 0 : n) % 8;
  return dark ? dark_ground[i] : light_ground[i];
}

static style choose_style(const ds_image *image, bool dark) {
  double unit = fmax(0.4, sqrt((double)image->width * image->height / (1280.0 * 900.0)));
  style s = {.unit = unit, .text = 17 * unit, .small = 15 * unit};
  if (dark) {
    s.back = (ds_color){0.10f, 0.11f, 0.125f}, s.panel = (ds_color){0.13f, 0.14f, 0.16f};
    s.ink = (ds_color){0.88f, 0.89f, 0.91f}, s.faint = (ds_color){0.62f, 0.65f, 0.69f};
    s.grid = (ds_color){0.22f, 0.235f, 0.26f};
  } else {
    s.back = (ds_color){1, 1, 1}, s.panel = (ds_color){0.975f, 0.978f, 0.982f};
    s.ink = (ds_color){0.13f, 0.15f, 0.18f}, s.faint = (ds_color){0.38f, 0.41f, 0.45f};
    s.grid = (ds_color){0.885f, 0.895f, 0.91f};
  }
  return s;
}

/* ---- axes ---- */

/* The value on the axis' own scale; NaN where it has no place there. */
static double scaled(const axis *a, double value) {
  if (!isfinite(value) || (a->log && !(value > 0))) return NAN;
  return a->log ? log10(value) : value;
}

static double to_pixel(const axis *a, double value) {
  return a->pixel_low + (scaled(a, value) - a->low) / (a->high - a->low) * (a->pixel_high - a->pixel_low);
}

static void include(axis *a, double value) {
  double v = scaled(a, value);
  if (isnan(v)) return;
  a->low = fmin(a->low, v);
  a->high = fmax(a->high, v);
}

/* Turns the range of the data into that of the axis. */
static void finish_axis(axis *a, bool pad, bool from_zero) {
  if (!(a->low <= a->high)) a->low = a->log ? -1 : 0, a->high = a->log ? 0 : 1; /* no data */
  if (a->log && pad) {
    a->high = ceil(a->high + 0.05);
    a->low = fmax(floor(a->low - 0.05), a->high - DECADES_MAX);
    return;
  }
  if (from_zero) a->low = fmin(a->low, 0);
  if (a->low == a->high) {
    double half = a->low == 0 ? 1 : 0.5 * fabs(a->low);
    a->high += half;
    if (!(from_zero && a->low == 0)) a->low -= half;
  }
  if (!pad) return;
  double margin = 0.06 * (a->high - a->low);
  a->high += margin;
  if (!(from_zero && a->low == 0)) a->low -= margin;
}

static double nice_step(double range, double count) {
  double wish = range / fmax(1, count), power = pow(10, floor(log10(wish))), ratio = wish / power;
  return power * (ratio <= 1 ? 1 : ratio <= 2 ? 2 : ratio <= 5 ? 5 : 10);
}

static double tick_step(const axis *a, double spacing) {
  double count = fabs(a->pixel_high - a->pixel_low) / spacing;
  double range = a->high - a->low, decades = ceil(range / fmax(1, count) - 1e-9);
  return a->log && decades <= 5 ? fmax(1, decades) : nice_step(range, count);
}

static void tick_label(char *text, size_t size, double value, double step) {
  int decimals = (int)fmax(0, -floor(log10(step) + 1e-9));
  if (fabs(value) < 1e-9 * step) value = 0;
  if (value == 0)
    snprintf(text, size, "0");
  else if (decimals <= 4 && fabs(value) < 1e6)
    snprintf(text, size, "%.*f", decimals, value);
  else /* enough digits to distinguish neighbours */
    snprintf(text, size, "%.*e", (int)fmin(6, fmax(0, floor(log10(fabs(value))) - floor(log10(step) + 1e-9))), value);
}

/* A tick's label with its anchor on the baseline; decades as powers of ten. */
static void draw_label(ds_canvas *canvas, const style *s, const axis *a, double x, double y, ds_anchor anchor,
                       double value, double step) {
  char text[48];
  if (!a->log) {
    tick_label(text, sizeof text, value, step);
    ds_text_draw(canvas, x, y, anchor, text, s->small, 1, s->faint);
    return;
  }
  snprintf(text, sizeof text, "%.0f", value);
  double small = 0.75 * s->small, gap = 0.15 * s->small;
  double tens = ds_text_width("10", s->small), whole = tens + gap + ds_text_width(text, small);
  double left = anchor == DS_ANCHOR_RIGHT ? x - whole : anchor == DS_ANCHOR_CENTER ? x - 0.5 * whole : x;
  ds_text_draw(canvas, left, y, DS_ANCHOR_LEFT, "10", s->small, 1, s->faint);
  ds_text_draw(canvas, left + tens + gap, y - 0.4 * s->small, DS_ANCHOR_LEFT, text, small, 1.1, s->faint);
}

/* The value of a tick for to_pixel: ticks of a log axis are exponents. */
static double tick_pixel(const axis *a, double tick) {
  return a->pixel_low + (tick - a->low) / (a->high - a->low) * (a->pixel_high - a->pixel_low);
}

static void draw_grid(ds_canvas *canvas, const style *s, const axis *x, const axis *y, const box *b, bool last) {
  double step = tick_step(y, 42 * s->unit), slack = 1e-9 * (y->high - y->low);
  for (double t = ceil((y->low - slack) / step) * step; t <= y->high + slack; t += step) {
    double at = tick_pixel(y, t);
    ds_canvas_segment(canvas, b->left, at, b->right, at, fmax(1, s->unit));
    ds_canvas_paint(canvas, s->grid, 1);
    draw_label(canvas, s, y, b->left - 9 * s->unit, at + 0.35 * s->small, DS_ANCHOR_RIGHT, t, step);
  }
  step = tick_step(x, 105 * s->unit), slack = 1e-9 * (x->high - x->low);
  for (double t = ceil((x->low - slack) / step) * step; t <= x->high + slack; t += step) {
    double at = tick_pixel(x, t);
    ds_canvas_segment(canvas, at, b->top, at, b->bottom, fmax(1, s->unit));
    ds_canvas_paint(canvas, s->grid, 1);
    if (last) draw_label(canvas, s, x, at, b->bottom + 1.25 * s->small, DS_ANCHOR_CENTER, t, step);
  }
}

/* ---- lines ---- */

/* The part of a line within one pixel column. */
typedef struct column {
  int64_t index;
  double x, first, low, high, last;
  bool open;
} column;

static void flush_column(ds_canvas *canvas, column *c, double *px, double *py, bool joined, double width) {
  if (!c->open) return;
  if (joined) ds_canvas_segment(canvas, *px, *py, c->x, c->first, width);
  ds_canvas_segment(canvas, c->x, c->low, c->x, c->high, width);
  *px = c->x;
  *py = c->last;
  c->open = false;
}

static void draw_dense(ds_canvas *canvas, const ds_series *series, const axis *x, const axis *y, double width) {
  column c = {.open = false};
  double px = 0, py = 0;
  bool joined = false;
  for (int32_t i = 0; i <= series->count; i++) {
    double ax = i < series->count ? to_pixel(x, series->x[i]) : NAN;
    double ay = i < series->count ? to_pixel(y, series->y[i]) : NAN;
    bool gap = isnan(ax) || isnan(ay);
    if (c.open && (gap || (int64_t)floor(ax) != c.index)) {
      flush_column(canvas, &c, &px, &py, joined, width);
      joined = true;
    }
    if (gap) {
      joined = false;
      continue;
    }
    if (!c.open) c = (column){(int64_t)floor(ax), ax, ay, ay, ay, ay, true};
    c.low = fmin(c.low, ay), c.high = fmax(c.high, ay), c.last = ay;
  }
}

static void draw_sparse(ds_canvas *canvas, const ds_series *series, const axis *x, const axis *y, double width) {
  double px = NAN, py = NAN;
  for (int32_t i = 0; i < series->count; i++) {
    double ax = to_pixel(x, series->x[i]), ay = to_pixel(y, series->y[i]);
    if (!isnan(ax) && !isnan(ay)) {
      bool joined = !isnan(px) && !isnan(py);
      ds_canvas_segment(canvas, joined ? px : ax, joined ? py : ay, ax, ay, width);
      if (series->markers) ds_canvas_disk(canvas, ax, ay, 2 * width);
    }
    px = ax, py = ay;
  }
}

static void draw_rule(ds_canvas *canvas, const style *s, const ds_panel *panel, const axis *y, const box *b) {
  double at = to_pixel(y, panel->rule), dash = 7 * s->unit;
  if (!panel->has_rule || isnan(at)) return;
  for (double x = b->left; x < b->right; x += 2 * dash)
    ds_canvas_segment(canvas, x, at, fmin(x + dash, b->right), at, 1.3 * s->unit);
  ds_canvas_paint(canvas, s->faint, 0.8);
  if (!panel->rule_name) return;
  ds_text_draw(canvas, b->right - 8 * s->unit, at - 0.4 * s->small, DS_ANCHOR_RIGHT, panel->rule_name, 0.9 * s->small,
               1, s->faint);
}

/* Names to the right above the panel, the first one leftmost. */
static void draw_legend(ds_canvas *canvas, const style *s, const ds_panel *panel, const box *b, double y) {
  double x = b->right;
  for (int32_t i = panel->series_count - 1; i >= 0; i--) {
    const ds_series *series = &panel->series[i];
    if (!series->name) continue;
    double width = ds_text_width(series->name, s->small);
    double needed = ds_text_width(panel->title, s->text) * 1.05 + 60 * s->unit;
    if (x - width < b->left + needed) break; /* no room: the rest stays unnamed */
    ds_text_draw(canvas, x, y, DS_ANCHOR_RIGHT, series->name, s->small, 1, s->faint);
    x -= width + 8 * s->unit;
    ds_canvas_segment(canvas, x - 22 * s->unit, y - 0.3 * s->small, x, y - 0.3 * s->small, 3 * s->unit);
    ds_canvas_paint(canvas, series->color, 1);
    x -= 44 * s->unit;
  }
}

static void draw_panel(ds_canvas *canvas, const style *s, const ds_panel *panel, axis x, box b, bool last) {
  axis y = {.log = panel->log_y, .low = INFINITY, .high = -INFINITY, .pixel_low = b.bottom, .pixel_high = b.top};
  for (int32_t i = 0; i < panel->series_count; i++) {
    for (int32_t j = 0; j < panel->series[i].count; j++) include(&y, panel->series[i].y[j]);
  }
  bool empty = !(y.low <= y.high);
  if (panel->has_rule) include(&y, panel->rule);
  finish_axis(&y, true, panel->from_zero);
  x.pixel_low = b.left, x.pixel_high = b.right;
  ds_canvas_rectangle(canvas, b.left, b.top, b.right, b.bottom);
  ds_canvas_paint(canvas, s->panel, 1);
  draw_grid(canvas, s, &x, &y, &b, last);
  double above = b.top - 9 * s->unit;
  ds_text_draw(canvas, b.left, above, DS_ANCHOR_LEFT, panel->title, s->text, 1.25, s->ink);
  draw_legend(canvas, s, panel, &b, above);
  draw_rule(canvas, s, panel, &y, &b);
  ds_canvas_clip(canvas, b.left, b.top - 2, b.right + 2, b.bottom + 2);
  for (int32_t i = panel->series_count - 1; i >= 0; i--) {
    const ds_series *series = &panel->series[i];
    bool dense = series->count > 3 * (b.right - b.left) && !series->markers;
    if (dense)
      draw_dense(canvas, series, &x, &y, 1.6 * s->unit);
    else
      draw_sparse(canvas, series, &x, &y, 1.9 * s->unit);
    ds_canvas_paint(canvas, series->color, 1);
  }
  ds_canvas_unclip(canvas);
  if (empty)
    ds_text_draw(canvas, 0.5 * (b.left + b.right), 0.5 * (b.top + b.bottom) + 0.3 * s->text, DS_ANCHOR_CENTER,
                 panel->log_y ? "nothing above zero" : "nothing to show", s->text, 1, s->faint);
}

ds_status ds_chart_draw(ds_image *image, const ds_vector *vector, const ds_chart *chart, ds_error *error) {
  ds_canvas canvas;
  ds_svg marks;
  ds_status status = ds_canvas_create(&canvas, image, error);
  if (status != DS_OK) return status;
  style s = choose_style(image, chart->dark);
  ds_image_fill(image, s.back);
  if (vector) {
    ds_svg_begin(&marks, vector, image->width, image->height, s.back);
    canvas.svg = &marks;
  }
  axis x = {.log = chart->log_x, .low = INFINITY, .high = -INFINITY};
  for (int32_t p = 0; p < chart->panel_count; p++) {
    for (int32_t i = 0; i < chart->panels[p].series_count; i++) {
      const ds_series *series = &chart->panels[p].series[i];
      for (int32_t j = 0; j < series->count; j++) include(&x, series->x[j]);
    }
  }
  finish_axis(&x, chart->log_x, false);
  double u = s.unit, left = 84 * u, right = image->width - 34 * u, top = 22 * u, bottom = image->height - 58 * u;
  if (chart->title) {
    ds_text_draw(&canvas, left, top + 20 * u, DS_ANCHOR_LEFT, chart->title, 26 * u, 1.3, s.ink);
    top += 28 * u;
  }
  if (chart->subtitle) {
    ds_text_draw(&canvas, left, top + 18 * u, DS_ANCHOR_LEFT, chart->subtitle, s.small, 1, s.faint);
    top += 24 * u;
  }
  double gap = 44 * u, each = (bottom - top) / fmax(1, chart->panel_count);
  for (int32_t p = 0; p < chart->panel_count && each > gap + 8 * u; p++) {
    box b = {left, top + p * each + gap, right, top + (p + 1) * each};
    draw_panel(&canvas, &s, &chart->panels[p], x, b, p + 1 == chart->panel_count);
  }
  if (chart->x_title)
    ds_text_draw(&canvas, 0.5 * (left + right), image->height - 14 * u, DS_ANCHOR_CENTER, chart->x_title, s.small, 1,
                 s.ink);
  ds_canvas_free(&canvas);
  if (vector && !ds_svg_end(&marks)) {
    snprintf(error->message, sizeof error->message, "out of memory");
    return DS_ERROR_MEMORY;
  }
  return DS_OK;
}
