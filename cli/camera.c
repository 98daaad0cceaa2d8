/* Framing: the direction is chosen from the spread of the points, the distance so that all of them fit.
 *
 * A structure that is wide in one horizontal direction is seen across it and a little from the side, a compact one
 * from a corner; the flatter it is, the higher the camera stands. */
#include "camera.h"

#define FOCAL 2.5          /* focal length in picture heights: a calm perspective of 23 degrees */
#define FILL_X 0.80        /* part of the picture's width that the points may take */
#define FILL_Y 0.74        /* and of its height */
#define WIDE 1.5           /* spread along over spread across from which a structure counts as wide */
#define SIDE_ANGLE 27.0    /* degrees: how far from the side a wide structure is seen */
#define CORNER_AZIMUTH -58 /* degrees: from where a compact one is seen */
#define SUN_ELEVATION 50.0
#define SUN_LEFT 46.0
#define RADIANS (DS_PI / 180)

/* Azimuth and elevation in degrees from the shape of the cloud of points. */
static void choose_direction(double *azimuth, double *elevation, const ds_framing *framing) {
  double n = framing->count, mx = 0, my = 0, xx = 0, xy = 0, yy = 0, low = INFINITY, high = -INFINITY;
  for (int32_t i = 0; i < framing->count; i++) {
    ds_vec3 p = framing->points[i];
    mx += p.x / n, my += p.y / n;
    low = fmin(low, p.z), high = fmax(high, p.z);
  }
  for (int32_t i = 0; i < framing->count; i++) {
    double x = framing->points[i].x - mx, y = framing->points[i].y - my;
    xx += x * x / n, xy += x * y / n, yy += y * y / n;
  }
  double mean = 0.5 * (xx + yy), swing = hypot(0.5 * (xx - yy), xy);
  double along = sqrt(fmax(0, mean + swing)), across = sqrt(fmax(0, mean - swing));
  *azimuth = CORNER_AZIMUTH;
  if (along > WIDE * across && along > 0) {
    double axis = 0.5 * atan2(2 * xy, xx - yy) / RADIANS; /* of the long direction, -90..90 */
    *azimuth = axis - 90 + SIDE_ANGLE;
  }
  double flatness = fmin(1, fmax(0, 1 - 0.35 * (high - low) / fmax(along, 1e-12)));
  *elevation = 12 + 13 * flatness;
}

static void turn(ds_camera *camera, double azimuth, double elevation) {
  double a = azimuth * RADIANS, e = elevation * RADIANS;
  camera->forward = v3(-cos(e) * cos(a), -cos(e) * sin(a), -sin(e));
  camera->right = v3(-sin(a), cos(a), 0);
  camera->up = v3_cross(camera->right, camera->forward);
}

/* Distance from the target at which every point falls within the given half widths (tangents). */
static double fitting_distance(const ds_camera *camera, ds_vec3 target, const ds_framing *framing, double tan_x,
                               double tan_y) {
  double distance = 0;
  for (int32_t i = 0; i < framing->count; i++) {
    ds_vec3 d = v3_sub(framing->points[i], target);
    double x = fabs(v3_dot(d, camera->right)), y = fabs(v3_dot(d, camera->up)), z = v3_dot(d, camera->forward);
    distance = fmax(distance, fmax(x / tan_x, y / tan_y) - z);
  }
  return distance;
}

/* Moves the target so that the points' extremes on the screen lie evenly about it. */
static ds_vec3 recenter(const ds_camera *camera, ds_vec3 target, double distance, const ds_framing *framing) {
  double x0 = INFINITY, x1 = -INFINITY, y0 = INFINITY, y1 = -INFINITY;
  for (int32_t i = 0; i < framing->count; i++) {
    ds_vec3 d = v3_sub(framing->points[i], target);
    double depth = fmax(distance + v3_dot(d, camera->forward), 1e-3 * distance);
    double x = v3_dot(d, camera->right) / depth, y = v3_dot(d, camera->up) / depth;
    x0 = fmin(x0, x), x1 = fmax(x1, x);
    y0 = fmin(y0, y), y1 = fmax(y1, y);
  }
  target = v3_mad(target, 0.5 * (x0 + x1) * distance, camera->right);
  return v3_mad(target, 0.5 * (y0 + y1) * distance, camera->up);
}

void ds_camera_frame(ds_camera *camera, ds_vec3 *sun, const ds_framing *framing, int32_t width, int32_t height) {
  double azimuth = framing->azimuth, elevation = framing->elevation;
  if (!framing->view_given) choose_direction(&azimuth, &elevation, framing);
  turn(camera, azimuth, elevation);
  double side = width < height ? width : height;
  camera->focal = FOCAL * side;
  camera->center_x = 0.5 * width;
  camera->center_y = (framing->look_given ? 0.5 : 0.515) * height;
  double tan_x = 0.5 * FILL_X * framing->fill * width / camera->focal;
  double tan_y = 0.5 * FILL_Y * framing->fill * height / camera->focal;
  ds_vec3 low = framing->points[0], high = low;
  for (int32_t i = 1; i < framing->count; i++) {
    low = v3_min(low, framing->points[i]);
    high = v3_max(high, framing->points[i]);
  }
  double least = 1e-6 + 1e-3 * v3_dist(low, high);
  ds_vec3 target = framing->look_given ? framing->look : v3_scale(0.5, v3_add(low, high));
  double distance = fmax(least, fitting_distance(camera, target, framing, tan_x, tan_y));
  for (int i = 0; i < 8 && !framing->look_given; i++) {
    target = recenter(camera, target, distance, framing);
    distance = fmax(least, fitting_distance(camera, target, framing, tan_x, tan_y));
  }
  /* nearer by a longer lens, so that the camera never stands inside a body; farther by distance */
  if (framing->zoom > 1) camera->focal *= framing->zoom;
  if (framing->zoom < 1) distance /= framing->zoom;
  camera->eye = v3_mad(target, -distance, camera->forward);
  double a = (azimuth - SUN_LEFT) * RADIANS, e = SUN_ELEVATION * RADIANS;
  *sun = v3(cos(e) * cos(a), cos(e) * sin(a), sin(e));
}
