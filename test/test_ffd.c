/* Fast Frictional Dynamics (methods/ffd.c) against answers that can be written down, and against its Fig. 7. */
#include <math.h>

#include "methods/half_spaces.h"
#include "random_problem.h"
#include "scene_helper.h"

/* A number from -1 to 1. */
static double number(uint64_t *seed) {
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return (double)(*seed >> 11) / 4503599627370496.0 - 1;
}

/* Projections onto random half-spaces that have a point in common: KKT conditions of the nearest one; and the surrogate
 * method comes to the intersection, not nearer than the nearest. */
static void projections(void) {
  ds_arena arena = {0};
  uint64_t seed = 3;
  double worst = 0, farther = 0;
  for (int32_t i = 0; i < 300; i++) {
    double a[40 * 6], c[40], inside[6], y0[6], y[6], z[6], lambda[40], work[40];
    ds_half_spaces h = {.n = 1 + i % 6, .count = 1 + i % 40, .a = a, .c = c};
    for (int32_t j = 0; j < h.n; j++) inside[j] = number(&seed), y0[j] = y[j] = z[j] = 3 * number(&seed);
    for (int32_t k = 0; k < h.count; k++) {
      c[k] = i % 3 == 0 ? 0 : -0.1 * fabs(number(&seed)); /* a third of them are cones at `inside` */
      for (int32_t j = 0; j < h.n; j++) {
        a[k * h.n + j] = k % 4 == 3 ? a[(k - 1) * h.n + j] : number(&seed); /* some rows are there twice */
        c[k] += a[k * h.n + j] * inside[j];
      }
    }
    ds_half_spaces_nearest(&arena, y, lambda, &h);
    double push[6] = {0}, slack = 0, distance = 0, longer = 0, largest = 1;
    for (int32_t k = 0; k < h.count; k++) {
      double by = -c[k];
      for (int32_t j = 0; j < h.n; j++) by += a[k * h.n + j] * y[j], push[j] += lambda[k] * a[k * h.n + j];
      CHECK(lambda[k] >= 0);
      largest = fmax(largest, lambda[k]);
      if (lambda[k] > 0) slack = fmax(slack, fabs(by));
    }
    for (int32_t j = 0; j < h.n; j++) slack = fmax(slack, fabs(y0[j] + push[j] - y[j]));
    worst = fmax(worst, fmax(slack, ds_half_spaces_violation(&h, y)) / largest);
    ds_half_spaces_surrogate(z, lambda, work, &h, 1e-6, 20000);
    for (int32_t j = 0; j < h.n; j++)
      distance += (y[j] - y0[j]) * (y[j] - y0[j]), longer += (z[j] - y0[j]) * (z[j] - y0[j]);
    if (i % 3 == 0) continue; /* towards the tip of a cone it takes very long */
    CHECK(ds_half_spaces_violation(&h, z) <= 1e-4);
    CHECK(sqrt(longer) >= sqrt(distance) - 1e-3);
    farther = fmax(farther, sqrt(longer) - sqrt(distance));
  }
  printf("     nearest points: KKT to %.1e; the surrogate method ends up to %.2g farther away\n", worst, farther);
  CHECK(worst <= 1e-9);
  ds_arena_free(&arena);
}

/* y >= 1 and -y >= 1: the least violation is at 0, whatever the start; the surrogate method goes to and fro between
 * both for ever. */
static void nothing_in_common(void) {
  ds_arena arena = {0};
  double a[2] = {1, -1}, c[2] = {1, 1}, y[1] = {0.3}, lambda[2], work[2];
  ds_half_spaces h = {.n = 1, .count = 2, .a = a, .c = c};
  ds_half_spaces_nearest(&arena, y, lambda, &h);
  CHECK_NEAR(y[0], 0, 1e-5);
  y[0] = 0.3;
  ds_half_spaces_surrogate(y, lambda, work, &h, 1e-4, 100);
  CHECK_NEAR(fabs(y[0]), 1, 1e-12);
  CHECK_NEAR(ds_half_spaces_violation(&h, y), 2, 1e-12);
  ds_arena_free(&arena);
}

int main(void) {
  RUN(projections);
  RUN(nothing_in_common);
  return test_summary();
}
