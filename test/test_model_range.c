/* The report on deformable bodies outside the range of their model (step/range.c): linear modes turn by up to 4
 * degrees, a strain of a²/2 = 0.0025 that they leave out; what is inverted is counted over all bodies. */
#include "body/compression.h"
#include "scene_helper.h"
#include "step/step.h"

/* What a body leaves out with the first mode at x, and how many tetrahedra are inverted. */
static ds_extent extent_at(sim *s, int32_t body, double x) {
  const ds_body *b = &s->scene->bodies[body];
  s->state->reduced[b->first_reduced] = x;
  return ds_reduced_extent(b->reduced, s->state->reduced + b->first_reduced, 0);
}

/* Strains grow with the square of the coordinate. */
static void set_strain(sim *s, int32_t body, double strain) {
  double x = 1e-3, found = extent_at(s, body, x).nonlinear;
  CHECK_NEAR(extent_at(s, body, x * sqrt(strain / found)).nonlinear, strain, 1e-9 * strain);
}

int main(void) {
  sim s;
  ds_step_report report = {0};
  if (!sim_generate(&s, "soft-stack:count=3")) return test_summary();
  int32_t soft[3], count = 0;
  for (int32_t i = 0; i < s.scene->body_count && count < 3; i++)
    if (s.scene->bodies[i].reduced && !s.scene->bodies[i].reduced->quadratic) soft[count++] = i;
  CHECK_NEAR(count, 3, 0);
  static const double strains[6][3] = {
      {0, 0, 0}, {0.00249, 0.0024, 0.001}, {0.001, 0.00251, 0.002}, {0.002, 0.005, 0.003}, {0.001, 0.003, 0.005},
      {0, 0, 0}};
  for (int k = 0; k < 6 && count == 3; k++) {
    double largest = 0;
    int32_t outside = 0, first = 0;
    for (int i = 0; i < 3; i++) {
      bool out = strains[k][i] > 0.0025;
      set_strain(&s, soft[i], strains[k][i]);
      if (out && outside++ == 0) first = soft[i] + 1;
      if (out) largest = fmax(largest, strains[k][i]);
    }
    ds_step_range(&report, s.state);
    CHECK_NEAR(report.outside_bodies, outside, 0);
    CHECK_NEAR(report.outside_body.index1, first, 0);
    CHECK_NEAR(report.linear_strain, largest, 1e-9 * largest);
    CHECK_NEAR(report.inverted_tets, 0, 0);
  }
  int32_t inverted = 0; /* far beyond, in all of them */
  for (int i = 0; i < count; i++) {
    double x = 1;
    while (extent_at(&s, soft[i], x).inverted == 0 && x < 1e9) x *= 2;
    inverted += extent_at(&s, soft[i], x).inverted;
  }
  ds_step_range(&report, s.state);
  printf("%d inverted tetrahedra in three bodies\n", (int)inverted);
  CHECK(inverted > 2);
  CHECK_NEAR(report.inverted_tets, inverted, 0);
  CHECK_NEAR(report.outside_bodies, 3, 0);
  sim_close(&s);
  return test_summary();
}
