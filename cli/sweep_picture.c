/* Maps of a sweep: a metric over two parameters. A grid is drawn as cells, one per pair of values, with the mean over
 * the other parameters; any other design as dots at their places. Texts, such as verdicts, have a colour each. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "canvas.h"
#include "font.h"
#include "output.h"
#include "sweep.h"

enum { CLASSES_MAX = 12 };

static const ds_color ink = {0.13f, 0.15f, 0.18f}, faint = {0.38f, 0.41f, 0.45f}, pale = {0.90f, 0.91f, 0.92f};

typedef struct map_axis {
  bool log;
  double low, high;     /* of what is drawn: values or their logarithms; of cells 0 .. count */
  double begin, finish; /* pixels */
  int32_t count;        /* of cells; 0 = a scale */
} map_axis;

typedef struct mapping {
  const sweep *s;
  const sweep_map *map;
  map_axis x, y;
  double *sum; /* of cells; and how many values there are */
  int32_t *values;
  double low, high; /* of the metric, or of its logarithm */
  char classes[CLASSES_MAX][SWEEP_TEXT];
  int32_t class_count; /* 0 = numbers */
  ds_canvas canvas;
  double unit;
} mapping;

/* ---- colours ---- */

/* From dark blue by green to yellow, even in lightness: viridis, at six places. */
static ds_color ramp(double t) {
  static const ds_color stops[6] = {{0.267f, 0.005f, 0.329f}, {0.254f, 0.265f, 0.530f}, {0.164f, 0.471f, 0.558f},
                                    {0.135f, 0.659f, 0.518f}, {0.478f, 0.821f, 0.318f}, {0.993f, 0.906f, 0.144f}};
  double at = 5 * fmin(fmax(t, 0), 1);
  int i = at < 5 ? (int)at : 4;
  float f = (float)(at - i);
  return (ds_color){stops[i].r + f * (stops[i + 1].r - stops[i].r), stops[i].g + f * (stops[i + 1].g - stops[i].g),
                    stops[i].b + f * (stops[i + 1].b - stops[i].b)};
}

static double share_of(const mapping *m, double value) {
  double v = m->map->log ? log10(value) : value;
  return m->high > m->low ? (v - m->low) / (m->high - m->low) : 0.5;
}

/* ---- values ---- */

/* The number that stands for a run's value: itself, or the index of its text; NaN = none. */
static double value_of(const mapping *m, int32_t run) {
  const sweep_run *r = &m->s->runs[run];
  if (r->end != SWEEP_DONE) return NAN;
  const sweep_value *v = &r->values[m->map->metric];
  if (m->class_count == 0) return m->map->log && !(v->number > 0) ? NAN : v->number;
  for (int32_t i = 0; i < m->class_count; i++)
    if (strcmp(m->classes[i], v->text) == 0) return i;
  return NAN;
}

/* Texts in alphabetical order, so that colours do not depend on which run was first. */
static void add_class(mapping *m, const char *text) {
  int32_t at = 0;
  while (at < m->class_count && strcmp(m->classes[at], text) < 0) at++;
  if ((at < m->class_count && strcmp(m->classes[at], text) == 0) || m->class_count == CLASSES_MAX) return;
  memmove(m->classes[at + 1], m->classes[at], (size_t)(m->class_count - at) * sizeof m->classes[0]);
  snprintf(m->classes[at], sizeof m->classes[at], "%s", text);
  m->class_count++;
}

static void include(double *low, double *high, double value, bool log) {
  double v = log ? log10(value) : value;
  if (!isfinite(v)) return;
  *low = fmin(*low, v);
  *high = fmax(*high, v);
}

static void gather(mapping *m) {
  const sweep *s = m->s;
  for (int32_t i = 0; i < s->run_count; i++) {
    const sweep_run *r = &s->runs[i];
    if (r->end == SWEEP_DONE && r->values[m->map->metric].is_text) add_class(m, r->values[m->map->metric].text);
  }
  m->low = m->x.low = m->y.low = INFINITY;
  m->high = m->x.high = m->y.high = -INFINITY;
  for (int32_t i = 0; i < s->run_count; i++) {
    double value = value_of(m, i);
    sweep_value x, y;
    sweep_parameter_value(&x, s, i, m->map->x_parameter);
    sweep_parameter_value(&y, s, i, m->map->y_parameter);
    include(&m->x.low, &m->x.high, x.number, m->x.log);
    include(&m->y.low, &m->y.high, y.number, m->y.log);
    if (m->x.count == 0) {
      include(&m->low, &m->high, value, m->map->log);
    } else if (isfinite(value)) {
      int32_t cell = sweep_level(s, i, m->map->y_parameter) * m->x.count + sweep_level(s, i, m->map->x_parameter);
      m->sum[cell] += value;
      m->values[cell]++;
    }
  }
  for (int32_t i = 0; i < m->x.count * m->y.count; i++)
    if (m->values[i] > 0) include(&m->low, &m->high, m->sum[i] / m->values[i], m->map->log);
  if (isfinite(m->map->low)) m->low = m->map->log ? log10(m->map->low) : m->map->low;
  if (isfinite(m->map->high)) m->high = m->map->log ? log10(m->map->high) : m->map->high;
  if (m->class_count > 0) m->low = 0, m->high = m->class_count > 1 ? m->class_count - 1 : 1;
  if (!(m->low <= m->high)) m->low = 0, m->high = 1;
}

/* ---- drawing ---- */

static double place(const map_axis *a, double value) {
  double v = a->log && a->count == 0 ? log10(value) : value;
  return a->begin + (v - a->low) / (a->high - a->low) * (a->finish - a->begin);
}

static void draw_cells(mapping *m) {
  for (int32_t i = 0; i < m->x.count * m->y.count; i++) {
    int32_t ix = i % m->x.count, iy = i / m->x.count;
    bool known = m->values[i] > 0;
    double left = round(place(&m->x, ix)), right = round(place(&m->x, ix + 1)); /* whole pixels: no seams */
    ds_canvas_rectangle(&m->canvas, left, round(place(&m->y, iy + 1)), right, round(place(&m->y, iy)));
    ds_canvas_paint(&m->canvas, known ? ramp(share_of(m, m->sum[i] / m->values[i])) : pale, 1);
  }
}

static void draw_dots(mapping *m) {
  double area = fabs((m->x.finish - m->x.begin) * (m->y.finish - m->y.begin));
  double radius = fmin(9 * m->unit, fmax(2 * m->unit, 0.3 * sqrt(area / m->s->run_count)));
  for (int32_t i = 0; i < m->s->run_count; i++) {
    double value = value_of(m, i);
    sweep_value x, y;
    sweep_parameter_value(&x, m->s, i, m->map->x_parameter);
    sweep_parameter_value(&y, m->s, i, m->map->y_parameter);
    ds_canvas_disk(&m->canvas, place(&m->x, x.number), place(&m->y, y.number), radius);
    ds_canvas_paint(&m->canvas, isfinite(value) ? ramp(share_of(m, value)) : pale, 1);
  }
}

static void draw_text(mapping *m, double x, double y, ds_anchor anchor, const char *text, double size) {
  ds_text_draw(&m->canvas, x, y, anchor, text, size * m->unit, size > 20 ? 1.3 : 1, size > 20 ? ink : faint);
}

/* A number, short. */
static void short_number(char *text, size_t size, double value) { snprintf(text, size, "%.4g", value); }

/* The label of cell `at`, or of a place on a scale. */
static void tick_text(char *text, size_t size, const mapping *m, bool horizontal, double at) {
  const map_axis *a = horizontal ? &m->x : &m->y;
  int32_t parameter = horizontal ? m->map->x_parameter : m->map->y_parameter, run = (int32_t)at;
  sweep_value value;
  if (a->count == 0) {
    short_number(text, size, a->log ? pow(10, at) : at);
    return;
  }
  for (int32_t p = m->s->parameter_count - 1; p > parameter; p--) run *= m->s->parameters[p].count;
  sweep_parameter_value(&value, m->s, run, parameter);
  if (value.is_text)
    snprintf(text, size, "%s", value.text);
  else
    short_number(text, size, value.number);
}

static void draw_ticks(mapping *m, bool horizontal) {
  const map_axis *a = horizontal ? &m->x : &m->y;
  char text[SWEEP_TEXT];
  double room = (horizontal ? 70 : 30) * m->unit, length = fabs(a->finish - a->begin);
  int32_t most = (int32_t)fmax(2, length / room), count = a->count > 0 ? a->count : most < 6 ? most : 6;
  int32_t every = a->count > most ? (a->count + most - 1) / most : 1;
  for (int32_t i = 0; i < count; i += every) {
    double at = a->count > 0 ? i : a->low + (a->high - a->low) * i / (count - 1);
    double pixel =
        a->count > 0 ? place(a, i + 0.5) : a->begin + (at - a->low) / (a->high - a->low) * (a->finish - a->begin);
    tick_text(text, sizeof text, m, horizontal, at);
    if (horizontal)
      draw_text(m, pixel, m->y.begin + 22 * m->unit, DS_ANCHOR_CENTER, text, 15);
    else
      draw_text(m, m->x.begin - 10 * m->unit, pixel + 5 * m->unit, DS_ANCHOR_RIGHT, text, 15);
  }
}

/* To the right: the colours with their values, or with their texts. */
static void draw_legend(mapping *m, double left) {
  char text[SWEEP_TEXT];
  double u = m->unit, top = m->y.finish, height = m->y.begin - m->y.finish;
  for (int32_t i = 0; i < m->class_count; i++) {
    double y = top + 30 * u * i;
    ds_canvas_rectangle(&m->canvas, left, y, left + 20 * u, y + 20 * u);
    ds_canvas_paint(&m->canvas, ramp(share_of(m, i)), 1);
    draw_text(m, left + 28 * u, y + 15 * u, DS_ANCHOR_LEFT, m->classes[i], 15);
  }
  if (m->class_count > 0) return;
  enum { BANDS = 128, LABELS = 5 };
  for (int i = 0; i < BANDS; i++) {
    double y0 = round(top + height * i / BANDS), y1 = round(top + height * (i + 1) / BANDS);
    ds_canvas_rectangle(&m->canvas, left, y0, left + 20 * u, y1);
    ds_canvas_paint(&m->canvas, ramp(1 - (i + 0.5) / BANDS), 1);
  }
  for (int i = 0; i < (m->high > m->low ? LABELS : 1); i++) {
    double v = m->low + (m->high - m->low) * i / (LABELS - 1);
    short_number(text, sizeof text, m->map->log ? pow(10, v) : v);
    draw_text(m, left + 28 * u, top + height * (1 - i / (LABELS - 1.0)) + 5 * u, DS_ANCHOR_LEFT, text, 15);
  }
}

static void draw_all(mapping *m, const ds_image *image) {
  char title[400];
  double u = m->unit, right = image->width - 150 * u;
  m->x.begin = 110 * u, m->x.finish = right;
  m->y.begin = image->height - 80 * u, m->y.finish = 90 * u;
  snprintf(title, sizeof title, "%s: %s", m->s->name, m->map->value);
  draw_text(m, m->x.begin, 40 * u, DS_ANCHOR_LEFT, m->map->title != NULL ? m->map->title : title, 24);
  draw_text(m, m->x.begin, 74 * u, DS_ANCHOR_LEFT, m->map->y, 17);
  draw_text(m, 0.5 * (m->x.begin + m->x.finish), image->height - 24 * u, DS_ANCHOR_CENTER, m->map->x, 17);
  draw_text(m, right + 30 * u, 74 * u, DS_ANCHOR_LEFT, m->map->value, 15);
  if (m->x.count > 0)
    draw_cells(m);
  else
    draw_dots(m);
  draw_ticks(m, true);
  draw_ticks(m, false);
  draw_legend(m, right + 30 * u);
}

static bool draw_on(ds_image *image, const ds_vector *vector, mapping *m, ds_error *error) {
  const ds_color white = {1, 1, 1};
  ds_svg marks;
  ds_image_fill(image, white);
  if (ds_canvas_create(&m->canvas, image, error) != DS_OK) return false;
  if (vector != NULL) {
    ds_svg_begin(&marks, vector, image->width, image->height, white);
    m->canvas.svg = &marks;
  }
  draw_all(m, image);
  ds_canvas_free(&m->canvas);
  if (vector == NULL || ds_svg_end(&marks)) return true;
  snprintf(error->message, sizeof error->message, "out of memory");
  return false;
}

static bool write_map(mapping *m, const char *path, ds_error *error) {
  ds_image image = {0};
  int32_t width, height;
  output out = {0};
  bool vector = !args_ends_in(path, ".png");
  if (ds_image_parse_size(&width, &height, m->map->size, error) != DS_OK ||
      ds_image_create(&image, width, height, error) != DS_OK)
    return false;
  m->unit = fmax(0.4, sqrt((double)width * height / (900.0 * 720.0)));
  bool ok = !vector || output_open(&out, path, error);
  ds_vector target = {out.file, args_ends_in(path, ".pdf") ? DS_VECTOR_PDF : DS_VECTOR_SVG};
  ok = ok && draw_on(&image, vector ? &target : NULL, m, error);
  if (ok) ok = vector ? output_commit(&out, error) : ds_image_write_png(&image, path, error) == DS_OK;
  if (!ok && vector && out.file != NULL) output_discard(&out);
  ds_image_free(&image);
  return ok;
}

static bool draw_map(const sweep *s, const sweep_map *map, const char *path, ds_error *error) {
  mapping m = {.s = s, .map = map};
  const sweep_parameter *x = &s->parameters[map->x_parameter], *y = &s->parameters[map->y_parameter];
  bool grid = s->design == SWEEP_GRID;
  m.x.count = grid ? x->count : 0, m.y.count = grid ? y->count : 0;
  m.x.log = x->log && !grid, m.y.log = y->log && !grid;
  size_t cells = (size_t)m.x.count * (size_t)m.y.count + 1;
  m.sum = calloc(cells, sizeof *m.sum);
  m.values = calloc(cells, sizeof *m.values);
  bool ok = m.sum != NULL && m.values != NULL;
  if (ok) {
    gather(&m);
    if (grid) m.x.low = m.y.low = 0, m.x.high = x->count, m.y.high = y->count;
    if (!(m.x.high > m.x.low)) m.x.low -= 0.5, m.x.high = m.x.low + 1;
    if (!(m.y.high > m.y.low)) m.y.low -= 0.5, m.y.high = m.y.low + 1;
    ok = write_map(&m, path, error);
  } else {
    snprintf(error->message, sizeof error->message, "out of memory");
  }
  free(m.sum);
  free(m.values);
  return ok;
}

bool sweep_draw_maps(const sweep *s, const char *folder, ds_error *error) {
  char path[4096];
  for (int32_t i = 0; i < s->map_count; i++) {
    snprintf(path, sizeof path, "%.3700s/%.300s", folder, s->maps[i].file);
    if (!draw_map(s, &s->maps[i], path, error)) return false;
  }
  return true;
}
