/* SVG 1.1: one path for all strokes of a width and colour that follow one another, one path per polygon, and a nested
 * svg element for what is clipped. Numbers have two decimals of a pixel. */
#include "svg.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base64.h"
#include "pdf.h"

static void put_color(FILE *file, const char *name, ds_color c, double alpha) {
  const float part[3] = {c.r, c.g, c.b};
  fprintf(file, " %s=\"#", name);
  for (int i = 0; i < 3; i++)
    fprintf(file, "%02x", (unsigned)(255 * (part[i] < 0 ? 0 : part[i] > 1 ? 1 : part[i]) + 0.5f));
  fputc('"', file);
  if (alpha < 1) fprintf(file, " %s-opacity=\"%.3g\"", name, alpha);
}

void ds_svg_begin(ds_svg *svg, const ds_vector *vector, int32_t width, int32_t height, ds_color back) {
  FILE *file = vector->file;
  *svg = (ds_svg){.file = file, .width = width, .height = height};
  if (vector->format == DS_VECTOR_PDF) {
    svg->pdf = ds_pdf_begin(width, height, back);
    svg->failed = svg->pdf == NULL;
    return;
  }
  fprintf(file,
          "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
          "height=\"%d\" viewBox=\"0 0 %d %d\">\n<rect width=\"%d\" height=\"%d\"",
          (int)width, (int)height, (int)width, (int)height, (int)width, (int)height);
  put_color(file, "fill", back, 1);
  fprintf(file, "/>\n<g fill=\"none\" stroke-linecap=\"round\" stroke-linejoin=\"round\">\n");
}

void ds_svg_image(ds_svg *svg, const ds_image *image) {
  if (svg->pdf != NULL) {
    if (!ds_pdf_image(svg->pdf, image)) svg->failed = true;
    return;
  }
  size_t size;
  uint8_t *png = svg->failed ? NULL : ds_image_png(image, &size);
  if (png == NULL) {
    svg->failed = true;
    return;
  }
  fprintf(svg->file, "<image width=\"%d\" height=\"%d\" href=\"data:image/png;base64,", (int)svg->width,
          (int)svg->height);
  base64_write(svg->file, png, size);
  fprintf(svg->file, "\"/>\n");
  free(png);
}

static void add_mark(ds_svg *svg, const double *points, int32_t count, double width) {
  for (int32_t i = 0; i < 2 * count; i++)
    if (!isfinite(points[i])) return;
  if (!ds_array_reserve(&svg->points, &svg->point_capacity, 2 * (svg->point_count + count), sizeof *svg->points) ||
      !ds_array_reserve(&svg->marks, &svg->mark_capacity, svg->mark_count + 1, sizeof *svg->marks)) {
    svg->failed = true;
    return;
  }
  svg->marks[svg->mark_count++] = (ds_svg_mark){svg->point_count, count, width};
  for (int32_t i = 0; i < 2 * count; i++) svg->points[2 * svg->point_count + i] = points[i];
  svg->point_count += count;
}

void ds_svg_segment(ds_svg *svg, double x0, double y0, double x1, double y1, double width) {
  add_mark(svg, (double[]){x0, y0, x1, y1}, 2, width);
}

void ds_svg_polygon(ds_svg *svg, const double *points, int32_t count) { add_mark(svg, points, count, 0); }

static void put_points(const ds_svg *svg, const ds_svg_mark *m, int32_t from) {
  for (int32_t i = from; i < m->count; i++) {
    const double *p = svg->points + 2 * (size_t)(m->first + i);
    fprintf(svg->file, "%c%.2f %.2f", i == 0 ? 'M' : 'L', p[0], p[1]);
  }
}

/* Whether a stroke begins where another ends. */
static bool goes_on(const ds_svg *svg, const ds_svg_mark *before, const ds_svg_mark *m) {
  const double *a = svg->points + 2 * (size_t)(before->first + before->count - 1),
               *b = svg->points + 2 * (size_t)m->first;
  return a[0] == b[0] && a[1] == b[1];
}

void ds_svg_paint(ds_svg *svg, ds_color color, double alpha) {
  if (svg->pdf != NULL || svg->failed) {
    if (svg->pdf != NULL) ds_pdf_paint(svg->pdf, svg, color, alpha);
    svg->point_count = svg->mark_count = 0;
    return;
  }
  for (int32_t i = 0; i < svg->mark_count;) {
    const ds_svg_mark *m = &svg->marks[i];
    fprintf(svg->file, "<path d=\"");
    put_points(svg, m, 0);
    if (m->width > 0) {
      for (i++; i < svg->mark_count && svg->marks[i].width == m->width; i++)
        put_points(svg, &svg->marks[i], goes_on(svg, &svg->marks[i - 1], &svg->marks[i]) ? 1 : 0);
      fprintf(svg->file, "\" stroke-width=\"%.2f\"", m->width);
      put_color(svg->file, "stroke", color, alpha);
    } else {
      i++;
      fprintf(svg->file, "Z\"");
      put_color(svg->file, "fill", color, alpha);
    }
    fprintf(svg->file, "/>\n");
  }
  svg->point_count = svg->mark_count = 0;
}

void ds_svg_clip(ds_svg *svg, double x0, double y0, double x1, double y1) {
  ds_svg_unclip(svg);
  svg->clipped = true;
  if (svg->pdf != NULL) ds_pdf_clip(svg->pdf, x0, y0, x1, y1);
  if (svg->pdf != NULL || svg->failed) return;
  fprintf(svg->file, "<svg x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" viewBox=\"%.2f %.2f %.2f %.2f\">\n", x0,
          y0, x1 - x0, y1 - y0, x0, y0, x1 - x0, y1 - y0);
}

void ds_svg_unclip(ds_svg *svg) {
  if (svg->clipped && svg->pdf != NULL) ds_pdf_unclip(svg->pdf);
  if (svg->clipped && svg->pdf == NULL && !svg->failed) fprintf(svg->file, "</svg>\n");
  svg->clipped = false;
}

bool ds_svg_end(ds_svg *svg) {
  ds_svg_unclip(svg);
  if (svg->pdf != NULL) {
    if (!ds_pdf_end(svg->pdf, svg->file)) svg->failed = true;
    svg->pdf = NULL;
  } else if (!svg->failed) {
    fprintf(svg->file, "</g>\n</svg>\n");
  }
  free(svg->points);
  free(svg->marks);
  svg->points = NULL, svg->marks = NULL;
  return !svg->failed;
}
