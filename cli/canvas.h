/* Anti-aliased strokes, disks and polygons on a picture. Marks are gathered in a coverage mask, the largest coverage
 * counting, and painted at once: joints of strokes show no seams and half-transparent figures no overlaps. */
#ifndef DS_CLI_CANVAS_H
#define DS_CLI_CANVAS_H

#include "image.h"
#include "svg.h"

typedef struct ds_canvas {
  ds_image *image;
  ds_svg *svg;                                /* gets the same marks; NULL = none */
  uint8_t *mask;                              /* coverage, a byte per pixel */
  int32_t clip_x0, clip_y0, clip_x1, clip_y1; /* marks fall within [x0, x1) x [y0, y1) */
  int32_t x0, y0, x1, y1;                     /* what is marked since the last paint */
} ds_canvas;

/* Coordinates are pixels from the top left corner; the first pixel's centre is (0.5, 0.5). */
ds_status ds_canvas_create(ds_canvas *canvas, ds_image *image, ds_error *error);
void ds_canvas_free(ds_canvas *canvas);
void ds_canvas_clip(ds_canvas *canvas, double x0, double y0, double x1, double y1);
void ds_canvas_unclip(ds_canvas *canvas);

void ds_canvas_segment(ds_canvas *canvas, double x0, double y0, double x1, double y1, double width); /* round ends */
void ds_canvas_disk(ds_canvas *canvas, double x, double y, double radius);
void ds_canvas_rectangle(ds_canvas *canvas, double x0, double y0, double x1, double y1);
/* x, y pairs of a convex polygon of either sense */
void ds_canvas_polygon(ds_canvas *canvas, const double *points, int32_t count);
/* Blends the marks over the picture and clears them. */
void ds_canvas_paint(ds_canvas *canvas, ds_color color, double alpha);

#endif
