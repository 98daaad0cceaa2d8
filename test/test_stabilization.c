/* Stabilization by velocities [NFS10] against what its equations say of one cube of 1 m, in steps of 0.1 s. */
#include "scene_helper.h"

/* A cube whose lower face is `gap` above the floor, on an incline of the given slope. */
static bool start(sim *s, double gap, ds_stabilization stabilization) {
  ds_scene *scene = scene_new(v3(0, 0, -9.81), 0.5, 0);
  scene_add_floor(scene);
  ds_body_def cube = ds_default_body();
  cube.name = "cube";
  cube.position = v3(0, 0, 0.5 + gap);
  scene_add(scene, &cube, shape_box(1, 1, 1));
  ds_error error = {""};
  CHECK(ds_scene_finish(scene, &error) == DS_OK);
  s->options = ds_default_options();
  s->options.step = 0.1, s->options.integrator = DS_INTEGRATOR_EULER, s->options.stabilization = stabilization;
  return sim_start(s, "cube", scene, 1);
}

static double height(const sim *s) { return ds_state_center(s->state, sim_body(s, "cube")).z - 0.5; }

/* Half of an overlap goes in every step (eq. 9 with k_n = 0.5), at no more than 2 m/s; without it all of it stays. */
static void baumgarte(void) {
  sim s;
  if (start(&s, -0.02, DS_STABILIZE_BAUMGARTE))
    for (int i = 1; i <= 4; i++) {
      sim_step(&s);
      CHECK_NEAR(height(&s), -0.02 * pow(0.5, i), 1e-12);
    }
  sim_close(&s);
  if (start(&s, -0.02, DS_STABILIZE_BAUMGARTE)) {
    s.options.stabilization_gain = 0.8;
    sim_step(&s);
    CHECK_NEAR(height(&s), -0.004, 1e-12);
  }
  sim_close(&s);
  if (start(&s, -0.45, DS_STABILIZE_BAUMGARTE)) { /* 0.5 · 0.45 / 0.1 = 2.25 m/s */
    sim_step(&s);
    CHECK_NEAR(height(&s), -0.45 + 0.1 * 2, 1e-12);
  }
  sim_close(&s);
  if (start(&s, -0.02, DS_STABILIZE_NONE)) {
    sim_run(&s, 1);
    CHECK_NEAR(height(&s), -0.02, 1e-12);
  }
  sim_close(&s);
}

/* From wherever it is in the envelope the cube goes to its middle in one step (eq. 5, 8), and stays there. */
static void envelope(void) {
  const double gaps[] = {0, 0.02, 0.0625 / 2, 0.05, -0.03};
  for (size_t i = 0; i < sizeof gaps / sizeof *gaps; i++) {
    sim s;
    if (start(&s, gaps[i], DS_STABILIZE_ENVELOPE)) {
      sim_step(&s);
      CHECK_NEAR(height(&s), 0.0625 / 2, 1e-12);
      sim_run(&s, 1);
      CHECK_NEAR(height(&s), 0.0625 / 2, 1e-12);
    }
    sim_close(&s);
  }
}

/* Exact impulses leave no slip to take back, and what slides is left to slide. */
static void friction_of_exact_impulses(void) {
  double x[2];
  for (int i = 0; i < 2; i++) {
    sim s;
    if (start(&s, 0, DS_STABILIZE_BAUMGARTE)) {
      s.options.friction_stabilization = i == 0 ? 0 : 0.8;
      ds_state_set_velocity(s.state, sim_body(&s, "cube"), v3(2, 0.5, 0), v3(0, 0, 0));
      sim_run(&s, 2);
      x[i] = ds_state_center(s.state, sim_body(&s, "cube")).x;
    }
    sim_close(&s);
  }
  CHECK_NEAR(x[1], x[0], 1e-9);
  CHECK(x[0] > 0.1);
}

/* A few sweeps let a stack on a slope slide, which it should not; taking slip back holds it better. */
static void friction_of_few_sweeps(void) {
  double moved[2] = {0, 0};
  for (int i = 0; i < 2; i++) {
    sim s;
    const char *settings[] = {"options.method=pgs", "options.max_iterations=12", "gravity=[2, 0, -9.6]",
                              i == 0 ? "options.friction_stabilization=0" : "options.friction_stabilization=0.8"};
    if (!sim_generate_with(&s, "stack:count=5", settings, 4)) return;
    sim_run(&s, 2);
    moved[i] = sim_displacement(&s, s.start);
    sim_free(&s);
  }
  printf("     a stack of 5 on a slope, 12 sweeps: moved by %.3g m, with friction stabilization %.3g m\n", moved[0],
         moved[1]);
  CHECK(moved[1] < 0.5 * moved[0]);
}

static void refused(void) {
  ds_error error;
  ds_options o = ds_default_options();
  o.integrator = DS_INTEGRATOR_MIDPOINT, o.stabilization = DS_STABILIZE_BAUMGARTE;
  CHECK(ds_options_check(&o, &error) == DS_ERROR_INPUT);
  const char *settings[] = {"options.stabilization=envelope", "options.envelope=0.01"};
  ds_run_settings run = {.options = ds_default_options()};
  ds_scene *scene = scene_generate(&run, "stack:count=2", settings, 2);
  CHECK(run.options.integrator == DS_INTEGRATOR_EULER && run.options.stabilization == DS_STABILIZE_ENVELOPE);
  CHECK_NEAR(run.options.envelope, 0.01, 0);
  ds_scene_destroy(scene);
}

int main(void) {
  RUN(baumgarte);
  RUN(envelope);
  RUN(friction_of_exact_impulses);
  RUN(friction_of_few_sweeps);
  RUN(refused);
  return test_summary();
}
