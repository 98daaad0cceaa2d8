/* Convex hulls of points in a plane. */
#ifndef DS_BASE_PLANE_HULL_H
#define DS_BASE_PLANE_HULL_H

#include <stdint.h>

typedef struct ds_plane_point {
  double x, y;
} ds_plane_point;

/* Twice the area of the triangle a, b, c: positive where it turns counter-clockwise. */
static inline double ds_plane_turn(ds_plane_point a, ds_plane_point b, ds_plane_point c) {
  return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

/* The corners of the hull, counter-clockwise from the lowest x and y, and their number. Corners that turn by no more
 * than `flat` are left out. `corners` has room for 3 count numbers. */
int32_t ds_plane_hull(int32_t *corners, const ds_plane_point *p, int32_t count, double flat);

#endif
