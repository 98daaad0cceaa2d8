/* Links that turn fast: chains whose ends crack like a whip and pass each other closely, rods that turn by more than
 * half a turn per step. Nothing takes energy away, and every step is certified. */
#include "joint_helper.h"

static const ds_vec3 across = {0, 1, 0};

/* Steps by the midpoint rule; the largest difference of the energy to that of the start, J. */
static double energy_change(sim *s, double seconds) {
  double start = sim_energy(s), change = 0;
  int32_t missed = 0;
  s->options.integrator = DS_INTEGRATOR_AUTO;
  for (int32_t i = 0; i < (int32_t)(seconds / s->options.step + 0.5) && sim_step(s); i++) {
    change = fmax(change, fabs(sim_energy(s) - start));
    missed += !s->report.motion.passed || !s->report.worst.converged;
  }
  CHECK_NEAR(missed, 0, 0);
  return change;
}

/* ---- chains ---- */

/* Links of 5 cm and 50 g that hang level from an anchor, each in a plane of its own: they never touch. */
static ds_scene *make_chain(int32_t links) {
  const double length = 0.05, beside = 0.02;
  ds_scene *scene = scene_new(v3(0, 0, -9.81), 0.5, 0);
  ds_body_id before = scene_add_anchor(scene, -0.02, -0.05, 0);
  for (int32_t i = 0; i < links; i++) {
    ds_body_def def = body_at((i + 0.5) * length, i * beside, 0);
    ds_shape_def shape = shape_box(length, 0.01, 0.01);
    shape.density = 1e4;
    ds_body_id link = scene_add(scene, &def, shape);
    scene_join(scene, DS_JOINT_HINGE, before, link, v3(i * length, (i - 0.5) * beside, 0), across);
    before = link;
  }
  return scene;
}

static void let_go(int32_t links, double seconds) {
  sim s;
  if (sim_finish(&s, "chain", make_chain(links))) {
    double range = links * 0.05 * 9.81 * links * 0.025, change = energy_change(&s, seconds);
    printf("     %d links, %g s: energy within %.1g of %.3g J\n", (int)links, seconds, change / range, range);
    CHECK_LE(change, 1e-6 * range);
  }
  sim_close(&s);
}

static void test_chains(void) {
  let_go(20, test_quick() ? 2 : 10);
  if (!test_quick()) let_go(100, test_long() ? 10 : 3.5); /* its end cracks from 3.1 s on */
}

/* ---- past half a turn per step ---- */

/* A rod of 0.2 m on a hinge at its end, in a skew frame. */
static void test_fast_rods(void) {
  static const double rates[] = {150, 250, 320, 500, 1100};
  for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
    ds_scene *scene = scene_new(v3(1, 3, -9), 0.5, 0);
    ds_body_id anchor = scene_add_anchor(scene, 0, -0.1, 0), rod = scene_add_rod(scene, 0, 0, 0.2, 0, 0.01);
    scene_join(scene, DS_JOINT_HINGE, anchor, rod, v3(0, 0, 0), across);
    sim s;
    if (sim_finish(&s, "rod", scene)) {
      ds_vec3 w = v3_scale(rates[i], across);
      ds_state_set_velocity(s.state, rod, v3_cross(w, v3(0.1, 0, 0)), w);
      double kinetic = ds_state_energy(s.scene, s.state).kinetic, change = energy_change(&s, 0.5);
      printf("     rod at %g rad/s: energy within %.1g\n", rates[i], change / kinetic);
      CHECK_LE(change, 1e-6 * kinetic);
    }
    sim_close(&s);
  }
}

int main(void) {
  RUN(test_fast_rods);
  RUN(test_chains);
  return test_summary();
}
