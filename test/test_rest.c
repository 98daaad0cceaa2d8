/* What rests: it keeps its place to the last bit, has no velocity, costs no factorization, and its contacts are
 * recalled (detect/recall.h). What recalls and what looks again must not differ by a bit; and what is disturbed must
 * wake up. */
#include "body/scene.h"
#include "scene_helper.h"

/* ---- standing still ---- */

static double fastest(const sim *s) {
  double most = 0;
  for (int32_t i = 0; i < ds_scene_body_count(s->scene); i++) {
    ds_body_id id = ds_scene_body(s->scene, i);
    most = fmax(most, v3_norm(ds_state_velocity(s->state, id)) + v3_norm(ds_state_angular_velocity(s->state, id)));
  }
  return most;
}

static bool same_places(const ds_state *x, const ds_state *y) {
  for (int32_t i = 0; i < x->body_count; i++)
    if (memcmp(&x->bodies[i].x, &y->bodies[i].x, sizeof(ds_vec3)) != 0 ||
        memcmp(&x->bodies[i].q, &y->bodies[i].q, sizeof(ds_quat)) != 0)
      return false;
  return true;
}

static void test_stands(const char *spec, double settle) {
  sim s;
  if (!sim_generate(&s, spec)) return;
  sim_run(&s, settle);
  ds_state *before = ds_state_copy(s.state);
  int64_t factorizations = 0;
  for (int32_t i = 0; i < 100; i++) {
    sim_step(&s);
    factorizations += s.report.worst.factorizations;
  }
  printf("%s: after %g s, 100 steps with %d factorizations, fastest %g m/s\n", spec, settle, (int)factorizations,
         fastest(&s));
  CHECK(before && same_places(s.state, before));
  CHECK_NEAR(fastest(&s), 0, 0);
  CHECK_NEAR((double)factorizations, 0, 0);
  ds_state_destroy(before);
  sim_close(&s);
}

/* A force of a millionth of the weight, beyond friction: the block slides as it would from any other start. */
static void test_wakes(void) {
  double g = 9.81, mu = 0.5, mass = 1, more = 1e-6;
  ds_scene *scene = scene_new(v3(0, 0, -g), mu, 0);
  ds_body_def def = body_at(0, 0, 0.05);
  def.mass = mass;
  scene_add_floor(scene);
  ds_body_id block = scene_add(scene, &def, shape_box(0.4, 0.4, 0.1));
  sim s;
  if (!sim_finish(&s, "a block pushed", scene)) return;
  sim_run(&s, 1);
  CHECK_NEAR(fastest(&s), 0, 0);
  for (int32_t i = 0; i < 100; i++) {
    ds_state_apply_force(s.state, block, v3((mu + more) * mass * g, 0, 0), ds_state_center(s.state, block));
    sim_step(&s);
  }
  double v = ds_state_velocity(s.state, block).x, expected = more * g * 1;
  printf("pushed by %g of its weight beyond friction for 1 s: %g m/s, expected %g\n", more, v, expected);
  CHECK_NEAR(v, expected, 1e-2 * expected);
  sim_close(&s);
}

static void test_standing(void) {
  test_stands("stack:count=10", 1);
  test_stands("wall", 1);
  test_stands("arch", 1);
  test_stands("card-house", 1);
}

int main(void) {
  RUN(test_standing);
  RUN(test_wakes);
  return test_summary();
}
