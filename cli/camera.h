/* The camera, framed on a set of points. */
#ifndef DS_CLI_CAMERA_H
#define DS_CLI_CAMERA_H

#include "render.h"

typedef struct ds_framing {
  const ds_vec3 *points; /* to be seen; at least one */
  int32_t count;
  bool view_given;
  double azimuth,
      elevation; /* degrees: where the camera stands as seen from what it looks at; azimuth from +x toward +y */
  bool look_given;
  ds_vec3 look; /* point in the middle of the picture */
  double fill;  /* fraction of the usual space for the points: 1, or less to show more around a single body */
  double zoom;  /* 1 = as given by fill */
} ds_framing;

/* Also gives the direction toward a light over the camera's left shoulder. */
void ds_camera_frame(ds_camera *camera, ds_vec3 *sun, const ds_framing *framing, int32_t width, int32_t height);

#endif
