/* Deterministic random numbers for tests (splitmix64). */
#ifndef DS_TEST_RANDOM_H
#define DS_TEST_RANDOM_H

#include <stdint.h>

#include "base/vec3.h"

static inline uint64_t random_next(uint64_t *state) {
  uint64_t z = (*state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
static inline double random_unit(uint64_t *state) { return (double)(random_next(state) >> 11) * 0x1p-53; } /* [0, 1) */
static inline double random_in(uint64_t *state, double low, double high) {
  return low + (high - low) * random_unit(state);
}
static inline int32_t random_int(uint64_t *state, int32_t below) {
  return (int32_t)(random_next(state) % (uint64_t)below);
}
/* One draw after the other: the order in which arguments are evaluated differs from compiler to compiler. */
static inline ds_vec3 random_vec3(uint64_t *state, ds_vec3 low, ds_vec3 high) {
  double x = random_in(state, low.x, high.x), y = random_in(state, low.y, high.y);
  return v3(x, y, random_in(state, low.z, high.z));
}

#endif
