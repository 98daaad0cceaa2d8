/* A picture of a tableau: see picture.h. */
#include "picture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "overlay.h"

/* 1, 2 or 5 times a power of ten: about a tenth of the subject's size. */
static double grid_spacing(double radius) {
  double wish = 0.2 * radius, power = pow(10, floor(log10(wish))), ratio = wish / power;
  return power * (ratio < 1.5 ? 1 : ratio < 3.5 ? 2 : ratio < 7.5 ? 5 : 10);
}

static double fill(const ds_tableau *tableau, bool is_mesh) {
  return is_mesh                      ? 0.85
         : tableau->has_surroundings  ? 1
         : tableau->framed_count <= 1 ? 0.4
         : tableau->framed_count <= 4 ? 0.65
                                      : 1;
}

static ds_view choose_view(const ds_tableau *tableau, const ds_picture *picture) {
  double radius = fmax(tableau->radius, 1e-6);
  ds_vec3 margin = v3(0.3 * radius, 0.3 * radius, 0.3 * radius), low = tableau->low, high = tableau->high;
  for (int32_t i = 0; i < tableau->point_count; i++) {
    low = v3_min(low, tableau->points[i]);
    high = v3_max(high, tableau->points[i]);
  }
  ds_view view = {.model = &tableau->model,
                  .casters = tableau->casters.triangle_count > 0 ? &tableau->casters : NULL,
                  .low = v3_sub(low, margin),
                  .high = v3_add(high, margin),
                  .focus = v3_scale(0.5, v3_add(tableau->low, tableau->high)),
                  .fade = (tableau->framed_count <= 4 ? 8 : 4.5) * radius,
                  .has_ground = tableau->has_ground,
                  .ground = tableau->ground,
                  .grid = grid_spacing(radius),
                  .dark = picture->dark};
  ds_framing framing = picture->framing;
  framing.points = tableau->points;
  framing.count = tableau->point_count;
  framing.fill = fill(tableau, picture->is_mesh);
  ds_camera_frame(&view.camera, &view.sun, &framing, picture->width, picture->height);
  return view;
}

static ds_status render(ds_image *image, float *depth, const ds_tableau *tableau, const ds_picture *picture,
                        ds_error *error) {
  ds_view view = choose_view(tableau, picture);
  char scale[48];
  ds_status status = ds_render(image, depth, &view, error);
  if (status == DS_OK && picture->show_contacts)
    status = ds_overlay_contacts(image, depth, &view.camera, picture->contacts, picture->contact_count,
                                 0.25 * fmax(tableau->radius, 1e-6), error);
  if (status == DS_OK && picture->joints)
    status = ds_overlay_joints(image, depth, &view.camera, picture->joints, picture->joint_count,
                               0.06 * fmax(tableau->radius, 1e-6), error);
  if (status == DS_OK && picture->lines)
    status = ds_overlay_lines(image, picture->svg, depth, &view.camera, picture->lines, picture->line_count, error);
  snprintf(scale, sizeof scale, "grid %g m", view.grid);
  if (status == DS_OK)
    status = ds_overlay_labels(image, picture->label, view.has_ground ? scale : NULL, picture->dark, error);
  return status;
}

ds_status ds_picture_draw(ds_image *image, const ds_tableau *tableau, const ds_picture *picture, ds_error *error) {
  float *depth = NULL;
  ds_status status = ds_image_create(image, picture->width, picture->height, error);
  if (status == DS_OK && (picture->show_contacts || picture->joints || picture->lines)) {
    depth = malloc((size_t)picture->width * (size_t)picture->height * sizeof *depth);
    if (!depth) {
      snprintf(error->message, sizeof error->message, "no memory for a picture of %d x %d", picture->width,
               picture->height);
      status = DS_ERROR_MEMORY;
    }
  }
  if (status == DS_OK) status = render(image, depth, tableau, picture, error);
  free(depth);
  return status;
}
