/* Marks on a rendered picture.
 *
 * An arrow shows the impulse on the upper of the two bodies: of the pair of opposite impulses, the one that points up.
 */
#include "overlay.h"

#include "base/vec3.h"
#include "canvas.h"
#include "font.h"

#define HIDDEN_ALPHA 0.45

static ds_color mode_color(ds_contact_mode mode) {
  switch (mode) {
    case DS_CONTACT_STICK:
      return (ds_color){0.07f, 0.60f, 0.30f};
    case DS_CONTACT_SLIDE:
      return (ds_color){0.86f, 0.17f, 0.15f};
    case DS_CONTACT_OPEN:
      break;
  }
  return (ds_color){0.50f, 0.51f, 0.53f};
}

static bool is_hidden(const float *depth, const ds_image *image, double x, double y, double own) {
  if (!(x >= 0 && y >= 0 && x < image->width && y < image->height)) return false;
  return (double)depth[(size_t)y * (size_t)image->width + (size_t)x] < own * (1 - 2e-3);
}

/* A shaft and a head from (x0, y0) to (x1, y1). */
static void mark_arrow(ds_canvas *canvas, double x0, double y0, double x1, double y1, double width) {
  double dx = x1 - x0, dy = y1 - y0, length = hypot(dx, dy);
  if (!(length > 1)) return;
  dx /= length, dy /= length;
  double head = fmin(4.5 * width, 0.5 * length), half = 0.45 * head, bx = x1 - head * dx, by = y1 - head * dy;
  ds_canvas_segment(canvas, x0, y0, bx, by, width);
  ds_canvas_polygon(canvas, (double[]){x1, y1, bx - half * dy, by + half * dx, bx + half * dy, by - half * dx}, 3);
}

static void draw_contact(ds_canvas *canvas, const float *depth, const ds_camera *camera, const ds_contact *contact,
                         double scale, double unit) {
  double x, y, z, tx, ty, tz;
  if (!ds_camera_project(&x, &y, &z, camera, contact->point)) return;
  if (!(fabs(x) < 1e6 && fabs(y) < 1e6)) return;
  double alpha = is_hidden(depth, canvas->image, x, y, z) ? HIDDEN_ALPHA : 1;
  ds_color color = mode_color(contact->mode);
  ds_vec3 impulse = contact->impulse.z < 0 ? v3_neg(contact->impulse) : contact->impulse;
  if (contact->mode != DS_CONTACT_OPEN &&
      ds_camera_project(&tx, &ty, &tz, camera, v3_mad(contact->point, scale, impulse)) && fabs(tx) < 1e6 &&
      fabs(ty) < 1e6)
    mark_arrow(canvas, x, y, tx, ty, 1.7 * unit);
  ds_canvas_disk(canvas, x, y, (contact->mode == DS_CONTACT_OPEN ? 2.0 : 3.0) * unit);
  ds_canvas_paint(canvas, color, alpha);
}

ds_status ds_overlay_contacts(ds_image *image, ds_svg *svg, const float *depth, const ds_camera *camera,
                              const ds_contact *contacts, int32_t count, double scale, ds_error *error) {
  ds_canvas canvas;
  ds_status status = ds_canvas_create(&canvas, image, error);
  if (status != DS_OK) return status;
  canvas.svg = svg;
  double unit = fmax(0.7, sqrt(image->height / 720.0));
  /* open ones first, so that they never cover the others */
  for (int pass = 0; pass < 2; pass++) {
    for (int32_t i = 0; i < count; i++) {
      if ((contacts[i].mode == DS_CONTACT_OPEN) == (pass == 0))
        draw_contact(&canvas, depth, camera, &contacts[i], scale, unit);
    }
  }
  ds_canvas_free(&canvas);
  return DS_OK;
}

/* A bar along the axis, as the camera sees it. */
static void mark_axis(ds_canvas *canvas, const ds_camera *camera, const ds_joint_mark *joint, double length,
                      double width) {
  double x[2], y[2], z;
  for (int i = 0; i < 2; i++) {
    ds_vec3 end = v3_mad(joint->point, (i == 0 ? -0.5 : 0.5) * length, joint->axis);
    if (!ds_camera_project(&x[i], &y[i], &z, camera, end) || !(fabs(x[i]) < 1e6 && fabs(y[i]) < 1e6)) return;
  }
  ds_canvas_segment(canvas, x[0], y[0], x[1], y[1], width);
}

ds_status ds_overlay_joints(ds_image *image, ds_svg *svg, const float *depth, const ds_camera *camera,
                            const ds_joint_mark *joints, int32_t count, double length, ds_error *error) {
  const ds_color blue = {0.10f, 0.33f, 0.80f};
  ds_canvas canvas;
  ds_status status = ds_canvas_create(&canvas, image, error);
  if (status != DS_OK) return status;
  canvas.svg = svg;
  double unit = fmax(0.7, sqrt(image->height / 720.0)), arm = 4 * unit;
  for (int32_t i = 0; i < count; i++) {
    const ds_joint_mark *joint = &joints[i];
    double x, y, z;
    if (!ds_camera_project(&x, &y, &z, camera, joint->point) || !(fabs(x) < 1e6 && fabs(y) < 1e6)) continue;
    if (v3_norm(joint->axis) > 0) mark_axis(&canvas, camera, joint, length, 2 * unit);
    if (joint->kind == DS_JOINT_WELD) {
      ds_canvas_segment(&canvas, x - arm, y - arm, x + arm, y + arm, 2 * unit);
      ds_canvas_segment(&canvas, x - arm, y + arm, x + arm, y - arm, 2 * unit);
    } else if (joint->kind == DS_JOINT_SLIDER) {
      ds_canvas_segment(&canvas, x - 0.5 * arm, y, x + 0.5 * arm, y, arm);
    } else {
      ds_canvas_disk(&canvas, x, y, 3.5 * unit);
    }
    ds_canvas_paint(&canvas, blue, is_hidden(depth, image, x, y, z) ? HIDDEN_ALPHA : 1);
  }
  ds_canvas_free(&canvas);
  return DS_OK;
}

ds_status ds_overlay_lines(ds_image *image, FILE *svg, const float *depth, const ds_camera *camera,
                           const ds_line_mark *lines, int32_t count, ds_error *error) {
  ds_canvas canvas;
  ds_svg marks;
  ds_status status = ds_canvas_create(&canvas, image, error);
  if (status != DS_OK) return status;
  if (svg)
    ds_svg_begin(&marks, &(ds_vector){svg, DS_VECTOR_SVG}, image->width, image->height, (ds_color){1, 1, 1}),
        canvas.svg = &marks;
  double unit = fmax(0.5, image->height / 720.0);
  for (int32_t i = 0; i < count; i++) {
    const ds_line_mark *l = &lines[i];
    double x[2], y[2], z[2];
    if (!ds_camera_project(&x[0], &y[0], &z[0], camera, l->from) ||
        !ds_camera_project(&x[1], &y[1], &z[1], camera, l->to))
      continue;
    if (!(fabs(x[0]) < 1e5 && fabs(y[0]) < 1e5 && fabs(x[1]) < 1e5 && fabs(y[1]) < 1e5)) continue;
    bool hidden = !svg && is_hidden(depth, image, 0.5 * (x[0] + x[1]), 0.5 * (y[0] + y[1]), 0.5 * (z[0] + z[1]));
    if (l->arrow)
      mark_arrow(&canvas, x[0], y[0], x[1], y[1], unit * l->width);
    else
      ds_canvas_segment(&canvas, x[0], y[0], x[1], y[1], unit * l->width);
    ds_canvas_paint(&canvas, l->color, hidden ? 0.7 * l->alpha : l->alpha);
  }
  ds_canvas_free(&canvas);
  if (!svg || ds_svg_end(&marks)) return DS_OK;
  snprintf(error->message, sizeof error->message, "memory ran out");
  return DS_ERROR_MEMORY;
}

ds_status ds_overlay_labels(ds_image *image, ds_svg *svg, const char *left, const char *right, bool dark,
                            ds_error *error) {
  double side = image->width < image->height ? image->width : image->height, size = fmax(9, 0.027 * side);
  if (side < 80) return DS_OK; /* no room for text */
  ds_canvas canvas;
  ds_status status = ds_canvas_create(&canvas, image, error);
  if (status != DS_OK) return status;
  canvas.svg = svg;
  ds_color color = dark ? (ds_color){0.72f, 0.74f, 0.78f} : (ds_color){0.30f, 0.32f, 0.36f};
  double y = image->height - 1.1 * size;
  if (left) ds_text_draw(&canvas, 1.1 * size, y, DS_ANCHOR_LEFT, left, size, 1, color);
  if (right) ds_text_draw(&canvas, image->width - 1.1 * size, y, DS_ANCHOR_RIGHT, right, size, 1, color);
  ds_canvas_free(&canvas);
  return DS_OK;
}

ds_status ds_overlay_scale(ds_image *image, ds_svg *svg, double length, const char *text, bool dark, ds_error *error) {
  double side = image->width < image->height ? image->width : image->height, size = fmax(9, 0.027 * side);
  if (side < 80) return DS_OK;
  ds_canvas canvas;
  ds_status status = ds_canvas_create(&canvas, image, error);
  if (status != DS_OK) return status;
  canvas.svg = svg;
  ds_color color = dark ? (ds_color){0.72f, 0.74f, 0.78f} : (ds_color){0.30f, 0.32f, 0.36f};
  double y = image->height - 2.9 * size, x = 1.1 * size, unit = fmax(0.7, sqrt(image->height / 720.0));
  mark_arrow(&canvas, x, y - 0.35 * size, x + length, y - 0.35 * size, 1.7 * unit);
  ds_canvas_paint(&canvas, color, 1);
  ds_text_draw(&canvas, x + length + 0.6 * size, y, DS_ANCHOR_LEFT, text, size, 1, color);
  ds_canvas_free(&canvas);
  return DS_OK;
}
