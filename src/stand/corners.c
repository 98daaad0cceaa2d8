#include "stand/corners.h"

#include <math.h>

#include "base/vec3.h"

/* Points that leave the plane of the others by more than this share of the patch's size all count. */
static const double flat = 1e-12;

typedef struct corner {
  double x, y;
} corner;

static double turn(const corner *p, int32_t a, int32_t b, int32_t c) {
  return (p[b].x - p[a].x) * (p[c].y - p[a].y) - (p[b].y - p[a].y) * (p[c].x - p[a].x);
}

static bool precedes(const corner *p, int32_t a, int32_t b) {
  if (p[a].x != p[b].x) return p[a].x < p[b].x;
  return p[a].y != p[b].y ? p[a].y < p[b].y : a < b;
}

/* Coordinates in the plane; false where it is none. */
static bool flatten(corner *p, const ds_vec3 *points, int32_t count, ds_vec3 normal) {
  ds_vec3 t1, t2;
  double size = 0, off = 0;
  v3_tangents(&t1, &t2, normal);
  for (int32_t i = 0; i < count; i++) {
    ds_vec3 d = v3_sub(points[i], points[0]);
    p[i] = (corner){v3_dot(d, t1), v3_dot(d, t2)};
    size = fmax(size, v3_norm(d));
    off = fmax(off, fabs(v3_dot(d, normal)));
  }
  return off <= flat * size;
}

/* Andrew's monotone chain over order[0 .. count), forth or back: the corners, without the last. */
static int32_t chain(int32_t *out, const corner *p, const int32_t *order, int32_t count, bool back) {
  int32_t m = 0;
  for (int32_t i = 0; i < count; i++) {
    int32_t next = order[back ? count - 1 - i : i];
    while (m >= 2 && turn(p, out[m - 2], out[m - 1], next) <= 0) m--;
    out[m++] = next;
  }
  return m - 1;
}

bool ds_corners_find(ds_arena *arena, bool *is_corner, const ds_vec3 *points, int32_t count, ds_vec3 normal) {
  ds_arena_mark mark = ds_arena_get_mark(arena);
  corner *p = DS_NEW(arena, corner, count + 1);
  int32_t *order = DS_NEW(arena, int32_t, 2 * count + 2), *out = order + count + 1;
  if (ds_arena_failed(arena)) return false;
  bool plane = count > 4 && flatten(p, points, count, normal);
  for (int32_t i = 0; i < count; i++) is_corner[i] = !plane;
  for (int32_t i = 0; i < count && plane; i++) {
    int32_t at = i;
    for (; at > 0 && precedes(p, i, order[at - 1]); at--) order[at] = order[at - 1];
    order[at] = i;
  }
  for (int32_t back = 0; back < 2 && plane; back++) {
    int32_t m = chain(out, p, order, count, back == 1);
    for (int32_t i = 0; i < m; i++) is_corner[out[i]] = true;
  }
  ds_arena_release(arena, mark);
  return true;
}
