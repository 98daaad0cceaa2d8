/* The renderer: a model on a ground, seen by a camera, as a picture. Independent of scenes. */
#ifndef DS_CLI_RENDER_H
#define DS_CLI_RENDER_H

#include "image.h"
#include "model.h"

typedef struct ds_camera {
  ds_vec3 eye, right, up, forward; /* orthonormal, right x forward = -up */
  double focal; /* pixels: a point at depth d and offset x to the right falls focal x / d right of center */
  double center_x, center_y; /* pixels from the top left corner */
} ds_camera;

typedef struct ds_view {
  const ds_model *model;
  const ds_model *casters; /* casts the shadows, of the same origin; NULL = the model itself */
  ds_camera camera;
  ds_vec3 low, high;   /* box that holds what matters: sharp shadows are cast within */
  ds_vec3 focus;       /* where the ground is clear; it fades into the backdrop */
  double fade;         /* at this distance from the focus, m */
  bool has_ground;     /* the horizontal plane z = ground */
  double ground, grid; /* spacing of its lines, m; 0 = none */
  ds_vec3 sun;         /* direction toward it */
  bool dark;
} ds_view;

/* Fills the picture. `depth`, which may be NULL, gets the distance along the camera's axis of each pixel's nearest
 * surface, infinite if there is none. */
ds_status ds_render(ds_image *image, float *depth, const ds_view *view, ds_error *error);

/* Pixel coordinates and depth of a world point; false behind the camera. */
bool ds_camera_project(double *x, double *y, double *depth, const ds_camera *camera, ds_vec3 point);

#endif
