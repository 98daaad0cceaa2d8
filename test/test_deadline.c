/* Deadlines: with hardly any time for a step, contacts hold all the same and no energy comes from nowhere; with enough
 * of it, and without one, nothing changes. */
#include "scene_helper.h"

static const char *const scenes[] = {"pile:count=20", "card-house:levels=3", "arch", "soft-incline:slope=0.5,mu=0.6"};
enum { SCENES = (int)(sizeof scenes / sizeof *scenes) };

/* Scripted bodies may do work: none of these has one. */
static void test_no_time(void) {
  const double deadlines[] = {1e-9, 2e-4};
  for (int i = 0; i < SCENES; i++)
    for (int j = 0; j < 2; j++) {
      sim s;
      if (sim_generate(&s, scenes[i])) {
        double approach = 0, gain = 0;
        s.options.deadline = deadlines[j];
        int32_t steps = (int32_t)(test_time(1, 0.5) / s.options.step);
        for (int32_t k = 0; k < steps && sim_step(&s); k++) {
          approach = fmax(approach, s.report.worst.approach_velocity);
          /* what separating overlaps lifts is energy too */
          gain = fmax(gain, s.report.separation > 0 ? 0 : s.report.energy_after - s.report.energy_before);
        }
        double scale = fabs(s.report.energy_after) + 1;
        printf("     %s, %g s: %d of %d steps unconverged, approach %.3g m/s, energy gained %.3g J of %.3g J\n",
               scenes[i], deadlines[j], (int)s.unconverged, (int)s.steps, approach, gain, scale);
        CHECK_LE(approach, 1e-6);
        /* elastic energy is that in the middle of a step: a soft body's own comes and goes by so much without deadlines
         */
        CHECK_LE(gain, (strncmp(scenes[i], "soft", 4) == 0 ? 1e-3 : 1e-9) * scale);
        CHECK(s.failed == 0);
        if (j == 0) CHECK(s.unconverged > 0);
      }
      sim_free(&s);
    }
}

/* The report of a step that was cut short says so, and what is left open. */
static void test_report(void) {
  sim s;
  if (sim_generate(&s, "card-house:levels=3")) {
    s.options.deadline = 1e-9;
    sim_step(&s);
    CHECK(!s.report.worst.converged && s.report.unconverged_islands > 0);
    CHECK_LE(ds_options_tolerance(&s.options), s.report.worst.natural_error);
    s.options.deadline = 0;
    sim_run(&s, 0.1);
    CHECK(s.report.worst.converged);
  }
  sim_free(&s);
}

/* A deadline that is never met: every step converges, as without one. */
static void test_far_away(void) {
  sim s;
  if (sim_generate(&s, "pile:count=10")) {
    s.options.deadline = 1e6;
    sim_run(&s, 0.5);
    CHECK_LE(s.natural_error, ds_options_tolerance(&s.options));
  }
  sim_close(&s);
}

static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* A large scene with little time: contacts are cut short, and a step takes the deadline, or as long as it takes to find
 * the contacts, and what one contact projection takes. The median of the steps counts: the machine has other things to
 * do as well. */
static void test_in_time(void) {
  enum { STEPS = 21 };
  const double deadline = 1e-3;
  sim s;
  if (sim_generate(&s, "pile:count=100")) {
    double solving[2][STEPS], late[STEPS];
    int32_t work[2] = {0, 0}, unconverged[2];
    sim_run(&s, 0.3);
    ds_state *start = ds_state_copy(s.state);
    CHECK(start != NULL);
    for (int with = 0; with < 2 && start; with++) {
      CHECK(ds_state_assign(s.state, start) == DS_OK);
      s.options.deadline = with ? deadline : 0;
      s.unconverged = 0;
      for (int i = 0; i < STEPS; i++) {
        sim_step(&s);
        double before = s.report.seconds[DS_STAGE_DETECT] + s.report.seconds[DS_STAGE_ASSEMBLE];
        solving[with][i] = s.report.seconds[DS_STAGE_PROJECT];
        late[i] = before + s.report.seconds[DS_STAGE_PROJECT] - fmax(before, deadline);
        work[with] += s.report.worst.projection_iterations;
      }
      unconverged[with] = s.unconverged;
      qsort(solving[with], STEPS, sizeof(double), by_size);
      qsort(late, STEPS, sizeof(double), by_size);
    }
    printf(
        "     %d contacts: solved in %.2f ms and %d iterations; with a deadline of 1 ms in %.2f ms and %d, %.2f ms "
        "after it; %d of %d steps cut short\n",
        (int)s.report.contacts, 1e3 * solving[0][STEPS / 2], (int)work[0], 1e3 * solving[1][STEPS / 2], (int)work[1],
        1e3 * late[STEPS / 2], (int)unconverged[1], STEPS);
    CHECK_NEAR(unconverged[0], 0, 0);
    CHECK(unconverged[1] > 0);
    CHECK_LE(late[STEPS / 2], 0.2); /* s; 0.02 when written: one contact projection */
    CHECK_LE(work[1], 200 * STEPS); /* 102 a step when written, sweeps and second looks included */
    CHECK_LE(work[1], 0.5 * work[0]);
    ds_state_destroy(start);
  }
  sim_free(&s);
}

static void test_refused(void) {
  ds_options options = ds_default_options();
  ds_error error = {""};
  options.deadline = -1;
  CHECK(ds_options_check(&options, &error) == DS_ERROR_INPUT && strstr(error.message, "deadline"));
  options.deadline = NAN;
  CHECK(ds_options_check(&options, &error) == DS_ERROR_INPUT);
}

int main(void) {
  RUN(test_no_time);
  RUN(test_report);
  RUN(test_far_away);
  RUN(test_in_time);
  RUN(test_refused);
  return test_summary();
}
