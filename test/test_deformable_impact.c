/* Soft bodies hit hard: a step of 10 ms takes them far beyond where their forces are linear, and must not give them
 * energy. Without a second judgement of how stiff they are (predict/judge.c) these gain a tenth of their energy in one
 * step. */
#include "scene_helper.h"

/* The largest gain of energy in a step, over the energy at the start. */
static double largest_gain(const char *spec, double time) {
  sim s;
  if (!sim_generate(&s, spec)) return INFINITY;
  ds_energy at_first = ds_state_energy(s.scene, s.state);
  double start = at_first.kinetic + at_first.potential;
  s.options.tolerance = 1e-4;
  sim_run(&s, time);
  double share = s.energy_gain / start;
  printf("     %s: gain %.2g of %.3g J in a step\n", spec, s.energy_gain, start);
  sim_close(&s);
  return share;
}

static void test_thrown_together(void) {
  CHECK_LE(largest_gain("dinosaurs:count=3,speed=4", test_time(0.6, 0.3)), 0.005);
}

int main(void) {
  RUN(test_thrown_together);
  return test_summary();
}
