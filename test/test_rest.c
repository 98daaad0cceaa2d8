/* What has come to rest costs next to nothing and does not move: heaps of solids and of many small islands. */
#include "scene_helper.h"

/* Runs to `settled`, then to `end`: bodies are no longer moved out of overlaps, work is little, and so is the drift. */
static void check_rest(const char *spec, double settled, double end) {
  sim s = {0};
  double separation = 0, factorizations = 0;
  if (!sim_generate(&s, spec)) return;
  sim_run(&s, settled);
  int32_t before = s.steps;
  ds_state *from = ds_state_copy(s.state);
  while (ds_state_time(s.state) < end && sim_step(&s)) {
    separation = fmax(separation, s.report.separation);
    factorizations += s.report.worst.factorizations;
  }
  double moved = from ? sim_displacement(&s, from) : INFINITY;
  printf("%s: %.2f factorizations per step at rest, moved %.2g m in %.1f s\n", spec,
         factorizations / (s.steps - before), moved, end - settled);
  CHECK(separation == 0);
  CHECK_LE(factorizations, 2.0 * (s.steps - before));
  CHECK_LE(moved, 1e-11 * (end - settled));
  ds_state_destroy(from);
  sim_close(&s);
}

static void rings_stay_where_they_are(void) { check_rest("rings", 2, test_time(6, 2.5)); }

static void many_islands_cost_little(void) {
  check_rest("chess-drop:count=30", 3, test_time(8, 4));
  check_rest("pile:kind=boxes,count=30", 4, test_time(10, 5));
}

int main(void) {
  RUN(rings_stay_where_they_are);
  RUN(many_islands_cost_little);
  return test_summary();
}
