/* Planks stacked over a table's edge with the harmonic overhangs L/2, L/4, L/6, ... times a factor: below 1 they stand,
 * above they fall, since the planks above each edge have their centre at factor times the overhang from it. */
#include "scene_helper.h"

/* Fallen: some plank has left the stack, which stands 0.5 m high. */
static void stand_or_fall(int32_t count, double factor, bool stands) {
  char spec[96];
  snprintf(spec, sizeof spec, "overhang:count=%d,factor=%.17g", (int)count, factor);
  check_stands_or_falls(spec, stands, test_time(5, stands ? 0.5 : 1), 1e-8, test_quick() ? 1e-3 : 0.2);
}

static void test_stands(void) {
  stand_or_fall(5, 0.99, true);
  stand_or_fall(10, 0.99, true);
}

static void test_falls(void) {
  stand_or_fall(5, 1.01, false);
  stand_or_fall(10, 1.01, false);
}

/* The edge's own limit is sharp: a thousandth decides. */
static void test_sharp(void) {
  stand_or_fall(3, 0.999, true);
  if (!test_quick()) stand_or_fall(3, 1.001, false);
}

int main(void) {
  RUN(test_stands);
  RUN(test_falls);
  RUN(test_sharp);
  return test_summary();
}
