/* What rests: it keeps its place to the last bit, has no velocity, costs no factorization, and its contacts are
 * recalled (detect/recall.h). What recalls and what looks again must not differ by a bit; and what is disturbed must
 * wake up. */
#include "body/scene.h"
#include "detect/detect.h"
#include "detect/recall.h"
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

/* Deformable bodies and joined ones keep their velocities as well, and what they were given besides. */
static void test_stands_with_velocities(const char *spec, double settle) {
  sim s;
  if (!sim_generate(&s, spec)) return;
  sim_run(&s, settle);
  ds_state *before = ds_state_copy(s.state);
  int64_t factorizations = 0;
  for (int32_t i = 0; i < 50; i++) {
    sim_step(&s);
    factorizations += s.report.worst.factorizations;
  }
  size_t bodies = (size_t)s.state->body_count * sizeof *s.state->bodies;
  size_t reduced = (size_t)s.scene->reduced_count * sizeof(double);
  printf("%s: after %g s, 50 steps with %d factorizations, fastest %g m/s\n", spec, settle, (int)factorizations,
         fastest(&s));
  CHECK(before && memcmp(s.state->bodies, before->bodies, bodies) == 0);
  CHECK(before && memcmp(s.state->reduced, before->reduced, reduced) == 0);
  CHECK(before && memcmp(s.state->reduced_rate, before->reduced_rate, reduced) == 0);
  CHECK_LE((double)factorizations, 2);                                        /* stored impulses are rounded */
  ds_body_id last = ds_scene_body(s.scene, ds_scene_body_count(s.scene) - 1); /* and it wakes */
  double push = 0.1 * 9.81 * ds_body_mass(s.scene, last).mass, z = ds_state_center(s.state, last).z;
  for (int32_t i = 0; i < 50; i++) {
    ds_state_apply_force(s.state, last, v3(0, 0, -push), ds_state_center(s.state, last));
    sim_step(&s);
  }
  printf("     pushed by a tenth of its weight it sinks by %g m\n", z - ds_state_center(s.state, last).z);
  CHECK(z - ds_state_center(s.state, last).z > 1e-9);
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

/* ---- recalling ---- */

static bool same_points(const ds_contact_list *x, const ds_contact_list *y) {
  if (x->count != y->count) return false;
  for (int32_t i = 0; i < x->count; i++) {
    const ds_contact_point *p = &x->points[i], *q = &y->points[i];
    if (p->a != q->a || p->b != q->b || p->feature != q->feature || p->gap != q->gap ||
        memcmp(&p->point, &q->point, sizeof p->point) != 0 || memcmp(&p->normal, &q->normal, sizeof p->normal) != 0 ||
        p->on_a.triangle != q->on_a.triangle || p->on_b.triangle != q->on_b.triangle)
      return false;
  }
  return true;
}

/* A look that recalls against one that does not; how many pairs are known afterwards. */
static int32_t compare_looks(const sim *s, ds_recall **recall) {
  ds_arena arena = {0};
  ds_contact_list plain, quick;
  ds_detect_options o = {.step = s->options.step, .margin = s->options.margin};
  o.contacts_per_face = s->options.contacts_per_face;
  CHECK(ds_detect(&arena, &plain, s->scene, s->state, &o) == DS_OK);
  o.recall = recall;
  CHECK(ds_detect(&arena, &quick, s->scene, s->state, &o) == DS_OK);
  CHECK(same_points(&plain, &quick));
  ds_arena_free(&arena);
  return *recall ? (*recall)->pair_count : -1;
}

/* Step by step from the start on, while it falls, comes to rest and rests; then one body is put elsewhere. */
static void test_recalls(const char *spec, int32_t steps) {
  sim s;
  ds_recall *recall = NULL;
  int32_t known = 0;
  if (!sim_generate(&s, spec)) return;
  for (int32_t i = 0; i < steps; i++) {
    known = compare_looks(&s, &recall);
    sim_step(&s);
  }
  CHECK(known > 0 && s.state->recall && s.state->recall->pair_count == known);
  ds_body_id last = ds_scene_body(s.scene, ds_scene_body_count(s.scene) - 1);
  ds_pose pose = ds_state_pose(s.scene, s.state, last);
  pose.p.z += 1e-5;
  ds_state_set_pose(s.scene, s.state, last, pose);
  int32_t after = compare_looks(&s, &recall);
  printf("%s: %d pairs known at rest, %d with one body moved\n", spec, (int)known, (int)after);
  CHECK(after > 0);
  free(recall);
  sim_close(&s);
}

/* Two steppings of one scene, one of which forgets before every step. */
static void test_forgets(const char *spec, int32_t steps) {
  sim s, t;
  if (!sim_generate(&s, spec) || !sim_generate(&t, spec)) return;
  for (int32_t i = 0; i < steps; i++) {
    free(t.state->recall);
    t.state->recall = NULL;
    sim_step(&s);
    sim_step(&t);
  }
  CHECK(ds_state_hash(s.state) == ds_state_hash(t.state));
  sim_close(&s);
  sim_close(&t);
}

static void test_standing(void) {
  test_stands("stack:count=10", 1);
  test_stands("wall", 1);
  test_stands("arch", 1);
  test_stands("card-house", 1);
  test_stands_with_velocities("soft-stack:count=3", 1);
}

static void test_recalling(void) {
  test_recalls("wall", 40);
  test_recalls("card-house", 40);
  test_recalls("chess-drop:count=4", 250);
}

static void test_forgetting(void) {
  test_forgets("wall", 40);
  test_forgets("pile:count=30", 60);
}

/* Runs until nothing has moved for a tenth of a second, which `settled` must see, then for `time`: bodies are no longer
 * moved out of overlaps, work is little, and so is the drift. */
static void check_rest(const char *spec, double settled, double time) {
  sim s = {0};
  double separation = 0, factorizations = 0, moves = INFINITY;
  if (!sim_generate(&s, spec)) return;
  while (moves > 1e-12 && ds_state_time(s.state) < settled) {
    ds_state *from = ds_state_copy(s.state);
    sim_run(&s, 0.1);
    moves = from ? sim_displacement(&s, from) : INFINITY;
    ds_state_destroy(from);
  }
  double start = ds_state_time(s.state), end = start + time;
  CHECK_LE(moves, 1e-12);
  int32_t before = s.steps;
  ds_state *from = ds_state_copy(s.state);
  while (ds_state_time(s.state) < end && sim_step(&s)) {
    separation = fmax(separation, s.report.separation);
    factorizations += s.report.worst.factorizations;
  }
  double moved = from ? sim_displacement(&s, from) : INFINITY;
  printf("%s: at rest after %.1f s, then %.2f factorizations per step, moved %.2g m in %.1f s\n", spec, start,
         factorizations / (s.steps - before), moved, time);
  CHECK(separation == 0);
  CHECK_LE(factorizations, 2.0 * (s.steps - before));
  CHECK_LE(moved, 1e-11 * time);
  ds_state_destroy(from);
  sim_close(&s);
}

static void rings_stay_where_they_are(void) {
  if (!test_quick()) check_rest("rings", 4, 4);
}

static void many_islands_cost_little(void) {
  check_rest("chess-drop:count=30", 6, test_time(5, 1));
  check_rest("pile:kind=boxes,count=30", 6, test_time(6, 1));
}

int main(void) {
  RUN(test_standing);
  RUN(test_wakes);
  RUN(test_recalling);
  RUN(test_forgetting);
  RUN(rings_stay_where_they_are);
  RUN(many_islands_cost_little);
  return test_summary();
}
