/* Stabilization by velocities [NFS10] against what its equations say of one cube of 1 m, in steps of 0.1 s. */
#include "scene_helper.h"

/* A cube whose lower face is `gap` above the floor, on an incline of the given slope. */
static bool start(sim *s, double gap, ds_stabilization stabilization) {
  ds_scene *scene = scene_new(v3(0, 0, -9.81), 0.5, 0);
  scene_add_floor(scene);
  ds_body_def cube = ds_default_body();
  cube.name = "cube";
  cube.pose.p = v3(0, 0, 0.5 + gap);
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

/* Contacts that stuck, as their impulses say, and slipped by 0.01 m in the last step all the same: 0.8 of it is taken
 * back in this one (eq. 15). Where they slid, nothing is. */
static void slip_is_taken_back(void) {
  for (int i = 0; i < 2; i++) {
    sim s;
    if (start(&s, 0, DS_STABILIZE_BAUMGARTE)) {
      s.options.friction_stabilization = 0.8;
      sim_step(&s);
      int32_t count = 0;
      const ds_contact *contacts = ds_state_contacts(s.state, &count);
      ds_contact *slipped = malloc((size_t)count * sizeof *slipped + 1);
      for (int32_t k = 0; k < count; k++) {
        slipped[k] = contacts[k];
        double sign = slipped[k].a.index1 == sim_body(&s, "cube").index1 ? 1 : -1; /* velocities are of a */
        slipped[k].velocity = v3(sign * 0.1, 0, 0);
        if (i == 1) slipped[k].impulse.x = -slipped[k].mu * slipped[k].impulse.z; /* at the limit */
      }
      CHECK(count >= 4 && ds_state_set_contacts(s.state, slipped, count) == DS_OK);
      free(slipped);
      sim_step(&s);
      CHECK_NEAR(ds_state_center(s.state, sim_body(&s, "cube")).x, i == 0 ? -0.1 * 0.8 * 0.1 : 0, 1e-10);
      sim_step(&s); /* the correction is slip, too, and is taken back in its turn */
      CHECK_NEAR(ds_state_velocity(s.state, sim_body(&s, "cube")).x, i == 0 ? 0.8 * 0.8 * 0.1 : 0, 1e-10);
    }
    sim_close(&s);
  }
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
  RUN(slip_is_taken_back);
  RUN(refused);
  return test_summary();
}
