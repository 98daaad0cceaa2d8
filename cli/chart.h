/* Line charts: panels one above the other over one horizontal axis. */
#ifndef DS_CLI_CHART_H
#define DS_CLI_CHART_H

#include <stdio.h>

#include "image.h"
#include "svg.h"

typedef struct ds_series {
  const char *name;    /* in the legend; NULL = not there */
  const double *x, *y; /* x ascending; a y that is not finite, or not positive on a log axis, breaks the line */
  int32_t count;
  ds_color color;
  bool markers; /* a dot at every point */
} ds_series;

typedef struct ds_panel {
  const char *title; /* with the unit: "Energy (J)" */
  bool log_y, from_zero;
  const ds_series *series;
  int32_t series_count;
  bool has_rule; /* a dashed horizontal line at `rule` */
  double rule;
  const char *rule_name;
} ds_panel;

typedef struct ds_chart {
  const char *title, *subtitle; /* may be NULL */
  const char *x_title;
  bool log_x, dark;
  const ds_panel *panels;
  int32_t panel_count;
} ds_chart;

/* The n-th colour for lines, on a light or a dark ground. */
ds_color ds_chart_color(int32_t n, bool dark);
/* Draws it, and writes the same as SVG or PDF where `vector` is not NULL. */
ds_status ds_chart_draw(ds_image *image, const ds_vector *vector, const ds_chart *chart, ds_error *error);

#endif
