/* Woven composites thrown at a board of pegs stay whole or come apart, by how they hit it and not by how hard [SP08
 * section 8.1]: stiff strands, mu = 0.5, the same speed. One hits edge first and bends between the pegs as a whole; the
 * other, flat, has its strands pushed out. At the paper's tolerance; no step gains energy. `make soak` looks longer. */
#include "scene_helper.h"

enum { STRANDS = 8 };

/* Largest distance of a strand from the middle of all: 30 mm where the patch is whole. */
static double spread_of(const sim *s) {
  ds_vec3 middle = {0, 0, 0}, at[STRANDS];
  double most = 0;
  char name[32];
  for (int32_t i = 0; i < STRANDS; i++) {
    snprintf(name, sizeof name, "patch1-%s%d", i < 4 ? "across" : "upright", (int)(i % 4 + 1));
    at[i] = ds_state_pose(s->scene, s->state, sim_body(s, name)).p;
    middle = v3_mad(middle, 1.0 / STRANDS, at[i]);
    CHECK_LE(at[i].y, 0); /* none behind the board */
  }
  for (int32_t i = 0; i < STRANDS; i++) most = fmax(most, v3_dist(at[i], middle));
  return most;
}

/* It hits the pegs after 13 steps. */
static double throw_one(int32_t seed) {
  char spec[64];
  double spread = NAN;
  sim s = {0};
  snprintf(spec, sizeof spec, "composites-thrown:count=1,speed=8,seed=%d", (int)seed);
  if (sim_generate(&s, spec)) {
    s.options.tolerance = 1e-4;
    for (int32_t i = 0; i < (test_long() ? 80 : 36) && sim_step(&s); i++) continue;
    spread = spread_of(&s);
    printf("  %s: spread %.1f mm, largest gain of energy in a step %.1e J, error %.0e\n", spec, 1e3 * spread,
           s.energy_gain, s.natural_error);
    CHECK_LE(s.energy_gain, 1e-9);
  }
  sim_close(&s);
  return spread;
}

static void test_thrown(void) {
  if (test_quick()) return;
  double apart = throw_one(2), whole = throw_one(1);
  CHECK_LE(test_long() ? 0.06 : 0.041, apart); /* the farthest strand leaves at 0.7 m/s */
  CHECK_LE(whole, 0.043);                      /* bent; 41 mm after 36 steps, 42 mm after 80 */
  CHECK_LE(whole, 0.95 * apart);
}

int main(void) {
  RUN(test_thrown);
  return test_summary();
}
