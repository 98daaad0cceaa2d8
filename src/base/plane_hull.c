/* Andrew's monotone chain [Andrew 1979]: the points in order of x give the lower side from left to right, and the upper
 * one back. Points are sorted by insertion: faces have a few dozen. */
#include "base/plane_hull.h"

#include <stdbool.h>

static bool precedes(const ds_plane_point *p, int32_t a, int32_t b) {
  if (p[a].x != p[b].x) return p[a].x < p[b].x;
  return p[a].y != p[b].y ? p[a].y < p[b].y : a < b;
}

static void sort(int32_t *order, const ds_plane_point *p, int32_t count) {
  for (int32_t i = 0; i < count; i++) {
    int32_t at = i;
    for (; at > 0 && precedes(p, i, order[at - 1]); at--) order[at] = order[at - 1];
    order[at] = i;
  }
}

/* Appends a point to `corners`, of which the first `fixed` stay, less those that it makes concave. */
static int32_t append(int32_t *corners, int32_t n, int32_t fixed, const ds_plane_point *p, int32_t next, double flat) {
  while (n > fixed && ds_plane_turn(p[corners[n - 2]], p[corners[n - 1]], p[next]) <= flat) n--;
  corners[n] = next;
  return n + 1;
}

int32_t ds_plane_hull(int32_t *corners, const ds_plane_point *p, int32_t count, double flat) {
  int32_t n = 0, *order = corners + 2 * count;
  sort(order, p, count);
  for (int32_t i = 0; i < count; i++) n = append(corners, n, 1, p, order[i], flat);
  int32_t lower = n;
  for (int32_t i = count - 2; i >= 0; i--) n = append(corners, n, lower, p, order[i], flat);
  return count > 1 ? n - 1 : n;
}
