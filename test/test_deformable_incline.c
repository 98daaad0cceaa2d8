/* A deformable cube on a slope does what the rigid one does: it stays if and only if tan theta <= mu, whatever way it
 * is turned, and slides straight down at g (sin theta - mu cos theta); up to its own deformation. Its weight presses on
 * the slope whatever its shape, and where it slides all points of its foot do, in the same direction.
 *
 * A cube that is set down undeformed bounces, and slips while it is light; one that comes from a rougher slope slips
 * while it gets rid of what friction held. So it is looked at when it has settled. */
#include "drystone/reduce.h"
#include "scene_helper.h"

static const double gravity = 9.81;

typedef struct slope_case {
  double slope, yaw, young;
} slope_case;

static const slope_case cases[] = {{0.5, 0, 1e6}, {0.5, 30, 1e5}, {0.1, 20, 1e5}, {0.8, 45, 1e6}};
enum { CASES = (int)(sizeof cases / sizeof cases[0]) };

static bool generate(sim *s, const slope_case *c, double mu) {
  char spec[128];
  snprintf(spec, sizeof spec, "soft-incline:slope=%.17g,mu=%.17g,yaw=%g,young=%g", c->slope, mu, c->yaw, c->young);
  return sim_generate(s, spec);
}

/* The farthest that a point of the surface is from where it would be undeformed. */
static double deformation(const sim *s) {
  int32_t r;
  ds_body_id cube = sim_body(s, "cube");
  const ds_reduced *reduced = ds_body_shape(s->scene, cube, 0).reduced;
  const double *q = ds_state_reduced(s->state, cube, &r);
  int32_t count = ds_reduced_get_info(reduced).vertices;
  ds_vec3 *shape = malloc(2 * (size_t)count * sizeof *shape);
  double most = 0;
  CHECK(shape && q);
  if (shape && q) {
    ds_reduced_shape(shape, reduced, q);
    ds_reduced_shape(shape + count, reduced, NULL);
    for (int32_t i = 0; i < count; i++) most = fmax(most, v3_dist(shape[i], shape[count + i]));
  }
  free(shape);
  return most;
}

/* 1 % of friction to spare: it comes to rest for good. */
static void test_holds(void) {
  for (int32_t i = 0; i < CASES; i++) {
    const slope_case *c = &cases[i];
    sim s;
    if (generate(&s, c, 1.01 * c->slope)) {
      sim_run(&s, 6);
      double slipped = sim_displacement(&s, s.start);
      ds_state *settled = ds_state_copy(s.state);
      sim_run(&s, test_time(10, 1));
      double moved = settled ? sim_displacement(&s, settled) : NAN;
      printf("     slope %g, E %g Pa: slipped %.3g m at first, deformed by %.3g m; then moved %.3g m\n", c->slope,
             c->young, slipped, deformation(&s), moved);
      CHECK_LE(slipped, 0.1);
      CHECK_LE(moved, 1e-9);
      ds_state_destroy(settled);
    }
    sim_close(&s);
  }
}

/* 2 % of friction missing: from the second on it gains speed as the rigid one does, and turns and rises as little. */
static void test_slides(void) {
  for (int32_t i = 0; i < CASES; i++) {
    const slope_case *c = &cases[i];
    double theta = atan(c->slope), mu = 0.98 * c->slope, want = gravity * (sin(theta) - mu * cos(theta)), time = 2;
    ds_vec3 down = v3(cos(theta), 0, -sin(theta)), up = v3(sin(theta), 0, cos(theta));
    sim s, rigid;
    char spec[96];
    snprintf(spec, sizeof spec, "incline:slope=%.17g,mu=%.17g,yaw=%g", c->slope, mu, c->yaw);
    if (generate(&s, c, mu) && sim_generate(&rigid, spec)) {
      ds_body_id cube = sim_body(&s, "cube"), other = sim_body(&rigid, "cube");
      sim_run(&s, 2);
      ds_vec3 x = ds_state_center(s.state, cube), v = ds_state_velocity(s.state, cube);
      sim_run(&s, time);
      sim_run(&rigid, time);
      ds_vec3 way = v3_sub(ds_state_center(s.state, cube), x);
      double got = v3_dot(v3_sub(ds_state_velocity(s.state, cube), v), down) / time;
      double rigid_got = v3_dot(ds_state_velocity(rigid.state, other), down) / time, own = deformation(&s);
      printf("     slope %g, E %g Pa: acceleration off by %.2g, from the rigid one's by %.2g; off the line by %.2g m\n",
             c->slope, c->young, fabs(got / want - 1), fabs(got / rigid_got - 1), hypot(way.y, v3_dot(way, up)));
      CHECK_NEAR(got / want, 1, 1e-5);
      CHECK_NEAR(got / rigid_got, 1, 1e-5);
      CHECK_LE(fabs(way.y), own);
      CHECK_LE(fabs(v3_dot(way, up)), own);
      sim_close(&rigid);
    }
    sim_close(&s);
  }
}

int main(void) {
  RUN(test_holds);
  RUN(test_slides);
  return test_summary();
}
