/* Marks on a rendered picture: contacts, joints, time and scale. */
#ifndef DS_CLI_OVERLAY_H
#define DS_CLI_OVERLAY_H

#include <stdio.h>

#include "drystone/drystone.h"
#include "render.h"
#include "svg.h"

/* Contacts as dots, green where they stick, red where they slide, grey without load, with arrows along the
 * impulses, `scale` metres per N s. Marks go to `svg` too, unless NULL, here and below. Hidden ones are fainter.
 * `depth` is ds_render's. */
ds_status ds_overlay_contacts(ds_image *image, ds_svg *svg, const float *depth, const ds_camera *camera,
                              const ds_contact *contacts, int32_t count, double scale, ds_error *error);
/* An arrow of `length` pixels and what it stands for, in the lower left corner above the label. */
ds_status ds_overlay_scale(ds_image *image, ds_svg *svg, double length, const char *text, bool dark, ds_error *error);
/* Joints as blue marks: a dot, with a bar along the axis if there is one; a block instead for a slider, a cross for a
 * weld. Hidden ones are fainter. Bars are `length` metres long. */
typedef struct ds_joint_mark {
  ds_joint_kind kind;
  ds_vec3 point, axis;
} ds_joint_mark;
ds_status ds_overlay_joints(ds_image *image, ds_svg *svg, const float *depth, const ds_camera *camera,
                            const ds_joint_mark *joints, int32_t count, double length, ds_error *error);
/* Lines and arrows, widths in pixels of a picture 720 high. Hidden ones are fainter. Where svg is given, all of them
 * are written there as they are, on white. */
typedef struct ds_line_mark {
  ds_vec3 from, to;
  ds_color color;
  double width;
  bool arrow;
  double alpha;
} ds_line_mark;
ds_status ds_overlay_lines(ds_image *image, FILE *svg, const float *depth, const ds_camera *camera,
                           const ds_line_mark *lines, int32_t count, ds_error *error);
/* Text in the lower corners; either may be NULL. */
ds_status ds_overlay_labels(ds_image *image, ds_svg *svg, const char *left, const char *right, bool dark,
                            ds_error *error);

#endif
