/* A picture of a tableau: camera, light, marks and labels. */
#ifndef DS_CLI_PICTURE_H
#define DS_CLI_PICTURE_H

#include <stdio.h>

#include "camera.h"
#include "svg.h"
#include "tableau.h"

typedef struct ds_picture {
  int32_t width, height;
  ds_framing framing; /* the points, their number and fill are the picture's to choose */
  bool dark;
  bool is_mesh;      /* a thing alone fills the picture */
  const char *label; /* in the lower left corner */
  bool show_contacts;
  double step;        /* s: forces are impulses over it */
  double force_scale; /* m per N of arrows; 0 = automatic */
  const ds_contact *contacts;
  int32_t contact_count;
  const struct ds_joint_mark *joints; /* overlay.h; NULL = none */
  int32_t joint_count;
  const struct ds_line_mark *lines; /* overlay.h; NULL = none */
  int32_t line_count;
  FILE *svg; /* gets the lines alone, on white; NULL = none */
} ds_picture;

/* Freed with ds_image_free. With `vector` it is also written as SVG or PDF: the picture as an image, marks and labels
 * as paths; NULL = not. */
ds_status ds_picture_draw(ds_image *image, const ds_vector *vector, const ds_tableau *tableau,
                          const ds_picture *picture, ds_error *error);

#endif
