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
        int32_t steps = (int32_t)(test_time(1, 0.2) / s.options.step);
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

/* A large scene with little time: it takes about that, and what one contact projection takes. */
static void test_in_time(void) {
  sim s;
  if (sim_generate(&s, "pile:count=100")) {
    double worst[2] = {0, 0}, sum[2] = {0, 0};
    sim_run(&s, 0.3);
    for (int with = 0; with < 2; with++) {
      s.options.deadline = with ? 1e-3 : 0;
      for (int i = 0; i < 20; i++) {
        sim_step(&s);
        double seconds = 0;
        for (int k = 0; k < DS_STAGE_COUNT; k++) seconds += s.report.seconds[k];
        worst[with] = fmax(worst[with], seconds);
        sum[with] += seconds / 20;
      }
    }
    printf("     %d contacts: %.2f ms a step, %.2f ms at most; with a deadline of 1 ms %.2f ms and %.2f ms\n",
           (int)s.report.contacts, 1e3 * sum[0], 1e3 * worst[0], 1e3 * sum[1], 1e3 * worst[1]);
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
