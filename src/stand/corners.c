#include "stand/corners.h"

#include <math.h>

#include "base/plane_hull.h"
#include "base/vec3.h"

/* Points that leave the plane of the others by more than this share of the patch's size all count. */
static const double flat = 1e-12;

/* Coordinates in the plane; false where it is none. */
static bool flatten(ds_plane_point *p, const ds_vec3 *points, int32_t count, ds_vec3 normal) {
  ds_vec3 t1, t2;
  double size = 0, off = 0;
  v3_tangents(&t1, &t2, normal);
  for (int32_t i = 0; i < count; i++) {
    ds_vec3 d = v3_sub(points[i], points[0]);
    p[i] = (ds_plane_point){v3_dot(d, t1), v3_dot(d, t2)};
    size = fmax(size, v3_norm(d));
    off = fmax(off, fabs(v3_dot(d, normal)));
  }
  return off <= flat * size;
}

bool ds_corners_find(ds_arena *arena, bool *is_corner, const ds_vec3 *points, int32_t count, ds_vec3 normal) {
  ds_arena_mark mark = ds_arena_get_mark(arena);
  ds_plane_point *p = DS_NEW(arena, ds_plane_point, count + 1);
  int32_t *corners = DS_NEW(arena, int32_t, 3 * count + 1);
  if (ds_arena_failed(arena)) return false;
  bool plane = count > 4 && flatten(p, points, count, normal);
  for (int32_t i = 0; i < count; i++) is_corner[i] = !plane;
  int32_t corner_count = plane ? ds_plane_hull(corners, p, count, 0) : 0;
  for (int32_t i = 0; i < corner_count; i++) is_corner[corners[i]] = true;
  ds_arena_release(arena, mark);
  return true;
}
