/* Convex hulls in the plane against their definition: no point is outside, corners turn, each is one of the points. */
#include "base/plane_hull.h"

#include <math.h>

#include "check.h"
#include "random.h"

enum { MOST = 60 };

static void check_corners(const ds_plane_point *p, int32_t count, double flat, const int32_t *wanted, int32_t number) {
  int32_t corners[3 * MOST], found = ds_plane_hull(corners, p, count, flat);
  CHECK_NEAR(found, number, 0);
  for (int32_t i = 0; i < found && i < number; i++) { /* of equal points either */
    CHECK_NEAR(p[corners[i]].x, p[wanted[i]].x, 0);
    CHECK_NEAR(p[corners[i]].y, p[wanted[i]].y, 0);
  }
}

/* A square with points on its sides, inside, and twice; the first corner is that of the lowest x, then y. */
static void test_square(void) {
  static const ds_plane_point p[] = {{2, 2}, {1, 0}, {2, 0}, {0, 1}, {0, 2}, {1, 1}, {0, 0}, {2, 0}, {2, 1}, {1, 2}};
  check_corners(p, 10, 0, (int32_t[]){6, 2, 0, 4}, 4);
  static const ds_plane_point bent[] = {{0, 0}, {1, -1e-3}, {2, 0}, {2, 2}, {0, 2}};
  check_corners(bent, 5, 0, (int32_t[]){0, 1, 2, 3, 4}, 5);
  check_corners(bent, 5, 3e-3, (int32_t[]){0, 2, 3, 4}, 4); /* it turns by 2e-3 */
  check_corners(bent, 5, 1e-3, (int32_t[]){0, 1, 2, 3, 4}, 5);
}

/* What has no area: a segment has two corners, a point one. */
static void test_flat(void) {
  static const ds_plane_point p[] = {{1, 1}, {3, 3}, {0, 0}, {2, 2}, {3, 3}}, up[] = {{1, 2}, {1, 0}, {1, 1}};
  check_corners(p, 5, 0, (int32_t[]){2, 1}, 2);
  check_corners(up, 3, 0, (int32_t[]){1, 0}, 2);
  check_corners(p, 2, 0, (int32_t[]){0, 1}, 2);
  check_corners(p, 1, 0, (int32_t[]){0}, 1);
  check_corners(p, 0, 0, NULL, 0);
}

/* Points of a grid, so that many are equal or in line. */
static void test_random(void) {
  uint64_t s = 5;
  for (int trial = 0; trial < 2000; trial++) {
    ds_plane_point p[MOST];
    int32_t count = 3 + random_int(&s, MOST - 3), corners[3 * MOST], side = 2 + random_int(&s, 20);
    for (int32_t i = 0; i < count; i++) {
      int32_t x = random_int(&s, side), y = random_int(&s, side);
      p[i] = (ds_plane_point){x, y};
    }
    int32_t n = ds_plane_hull(corners, p, count, 0), outside = 0, straight = 0;
    for (int32_t i = 0; i < n && n > 2; i++) {
      ds_plane_point a = p[corners[i]], b = p[corners[(i + 1) % n]], c = p[corners[(i + 2) % n]];
      straight += !(ds_plane_turn(a, b, c) > 0);
      for (int32_t k = 0; k < count; k++) outside += ds_plane_turn(a, b, p[k]) < 0;
    }
    CHECK(n >= 1 && n <= count);
    CHECK_NEAR(outside, 0, 0);
    CHECK_NEAR(straight, 0, 0);
  }
}

int main(void) {
  RUN(test_square);
  RUN(test_flat);
  RUN(test_random);
  return test_summary();
}
