/* Marks of a canvas as SVG or PDF: strokes and polygons with the colours in which they are painted. */
#ifndef DS_CLI_SVG_H
#define DS_CLI_SVG_H

#include <stdio.h>

#include "image.h"

typedef struct ds_svg_mark {
  int32_t first, count; /* its points in `points` */
  double width;         /* of a stroke; 0 = a filled polygon */
} ds_svg_mark;

typedef struct ds_svg {
  FILE *file;
  struct ds_pdf *pdf; /* pdf.h; NULL = SVG */
  int32_t width, height;
  double *points; /* x, y pairs of the marks since the last paint */
  int32_t point_count, point_capacity;
  ds_svg_mark *marks;
  int32_t mark_count, mark_capacity;
  bool clipped, failed; /* failed: memory ran out */
} ds_svg;

typedef enum ds_vector_format { DS_VECTOR_SVG, DS_VECTOR_PDF } ds_vector_format;
/* Where a picture goes as a vector drawing. */
typedef struct ds_vector {
  FILE *file;
  ds_vector_format format;
} ds_vector;
void ds_svg_begin(ds_svg *svg, const ds_vector *vector, int32_t width, int32_t height, ds_color back);
void ds_svg_image(ds_svg *svg, const ds_image *image); /* fills the drawing, below the marks that follow */
void ds_svg_segment(ds_svg *svg, double x0, double y0, double x1, double y1, double width);
void ds_svg_polygon(ds_svg *svg, const double *points, int32_t count);
void ds_svg_paint(ds_svg *svg, ds_color color, double alpha);
void ds_svg_clip(ds_svg *svg, double x0, double y0, double x1, double y1);
void ds_svg_unclip(ds_svg *svg);
bool ds_svg_end(ds_svg *svg); /* frees; false if memory ran out */

#endif
