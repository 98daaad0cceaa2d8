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

/* 1, 2 or 5 times a power of ten, at most the value. */
static double round_number(double value) {
  double power = pow(10, floor(log10(value))), ratio = value / power;
  return power * (ratio >= 5 ? 5 : ratio >= 2 ? 2 : 1);
}

/* Arrows of contacts, and the arrow that tells their scale. */
static ds_status draw_contacts(ds_image *image, ds_svg *svg, const float *depth, const ds_view *view,
                               const ds_tableau *tableau, const ds_picture *picture, ds_error *error) {
  double largest = 0, step = picture->step;
  for (int32_t i = 0; i < picture->contact_count; i++)
    largest = fmax(largest, v3_norm(picture->contacts[i].impulse) / step);
  double scale = picture->force_scale > 0 ? picture->force_scale
                 : largest > 0            ? 0.25 * fmax(tableau->radius, 1e-6) / largest
                                          : 0;
  ds_status status = ds_overlay_contacts(image, svg, depth, &view->camera, picture->contacts, picture->contact_count,
                                         scale / step, error);
  if (status != DS_OK || !(largest > 0)) return status;
  double distance = v3_dot(v3_sub(view->focus, view->camera.eye), view->camera.forward);
  double pixels = scale * view->camera.focal / fmax(distance, 1e-9); /* per N, at the middle of the scene */
  double force = round_number(fmin(largest, 0.3 * image->width / pixels));
  char text[48];
  bool kilo = force >= 1e4;
  snprintf(text, sizeof text, "%g %s", kilo ? 1e-3 * force : force, kilo ? "kN" : "N");
  return ds_overlay_scale(image, svg, force * pixels, text, picture->dark, error);
}

static ds_status render(ds_image *image, ds_svg *svg, float *depth, const ds_tableau *tableau,
                        const ds_picture *picture, ds_error *error) {
  ds_view view = choose_view(tableau, picture);
  char scale[48];
  ds_status status = ds_render(image, depth, &view, error);
  if (status == DS_OK && svg) ds_svg_image(svg, image);
  if (status == DS_OK && picture->show_contacts)
    status = draw_contacts(image, svg, depth, &view, tableau, picture, error);
  if (status == DS_OK && picture->joints)
    status = ds_overlay_joints(image, svg, depth, &view.camera, picture->joints, picture->joint_count,
                               0.06 * fmax(tableau->radius, 1e-6), error);
  if (status == DS_OK && picture->lines)
    status = ds_overlay_lines(image, picture->svg, depth, &view.camera, picture->lines, picture->line_count, error);
  snprintf(scale, sizeof scale, "grid %g m", view.grid);
  if (status == DS_OK)
    status = ds_overlay_labels(image, svg, picture->label, view.has_ground ? scale : NULL, picture->dark, error);
  return status;
}

ds_status ds_picture_draw(ds_image *image, const ds_vector *vector, const ds_tableau *tableau,
                          const ds_picture *picture, ds_error *error) {
  ds_svg svg;
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
  if (status == DS_OK) {
    if (vector) ds_svg_begin(&svg, vector, picture->width, picture->height, (ds_color){1, 1, 1});
    status = render(image, vector ? &svg : NULL, depth, tableau, picture, error);
    if (vector && !ds_svg_end(&svg) && status == DS_OK) {
      snprintf(error->message, sizeof error->message, "out of memory");
      status = DS_ERROR_MEMORY;
    }
  }
  free(depth);
  return status;
}
