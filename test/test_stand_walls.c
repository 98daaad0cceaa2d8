/* Walls of dry blocks in running bond, pushed in their plane: Ferris and Tin-Loi, Limit analysis of frictional block
 * assemblies as a mathematical program with complementarity constraints, International Journal of Mechanical Sciences
 * 43 (2001) 209-224. Blocks of 0.4 m x 0.175 m, mu = 0.65, and a horizontal force on every block in proportion to its
 * weight. Their linear program gives the largest load with an equilibrium; as sliding is not associated with that
 * limit, such a wall may move under less. */
#include "drystone/stand.h"

#include "scene_helper.h"

/* Courses from below, each from left to right: a block, a half, an opening as long as a block. */
typedef struct wall {
  const char *name;
  double limit; /* of the linear program */
  int32_t courses;
  const char *course[19];
} wall;

static const wall walls[] = {
    {"1: 6 courses", 0.64286, 6, {"hbbbbh", "bbbbb", "hbbbbh", "bbbbb", "hbbbbh", "bbbbb"}},
    {"2: 10 courses",
     0.58000,
     10,
     {"hbbbbh", "bbbbb", "hbbbbh", "bbbbb", "hbbbbh", "bbbbb", "hbbbbh", "bbbbb", "hbbbbh", "bbbbb"}},
    {"3: a window",
     0.40369,
     11,
     {"bbbb", "hbbbh", "bbbb", "hb.bh", "bh.hb", "hb.bh", "bh.hb", "hb.bh", "bbbb", "hbbbh", "bbbb"}},
    {"4: two windows",
     0.33195,
     11,
     {"hbbbbh", "bbbbb", "hbbbbh", "b.b.b", "hh.hh.hh", "b.b.b", "hh.hh.hh", "b.b.b", "hbbbbh", "bbbbb", "hbbbbh"}},
    {"5: two floors",
     0.23964,
     19,
     {"hbbh", "bbb", "hbbh", "b.b", "hh.hh", "b.b", "hh.hh", "b.b", "hbbh", "bbb", "hbbh", "b.b", "hh.hh", "b.b",
      "hh.hh", "b.b", "hbbh", "bbb", "hbbh"}},
};

static ds_scene *build(const wall *w, double push) {
  static const double block = 0.4, height = 0.175, depth = 1;
  ds_scene *scene = scene_new(v3(9.81 * push, 0, -9.81), 0.65, 0);
  scene_add_floor(scene);
  for (int32_t r = 0; r < w->courses; r++) {
    double x = 0;
    for (const char *c = w->course[r]; *c; c++) {
      double length = *c == 'h' ? 0.5 * block : block;
      ds_body_def body = body_at(x + 0.5 * length, 0, (r + 0.5) * height);
      if (*c != '.') scene_add(scene, &body, shape_box(length, depth, height));
      x += length;
    }
  }
  return scene;
}

/* The limit, to all digits that are published, and both sides of it proven. */
static void test_limits(void) {
  for (size_t i = 0; i < sizeof walls / sizeof *walls; i++) {
    ds_error error = {""};
    ds_scene *scene = build(&walls[i], 0);
    CHECK(ds_scene_finish(scene, &error) == DS_OK);
    ds_state *state = ds_state_create(scene);
    ds_assembly *a = ds_assembly_of_scene(scene, state, NULL, &error);
    ds_multiplier m = {0};
    CHECK(a && ds_stand_push(&m, a, v3(1, 0, 0), &error) == DS_OK);
    printf("     wall %s: %d blocks, [%.8f, %.8f], published %.5f\n", walls[i].name, a ? (int)a->block_count - 1 : 0,
           m.equilibrium, m.falls, walls[i].limit);
    CHECK_NEAR(m.equilibrium, walls[i].limit, 6e-6);
    CHECK_NEAR(m.falls, walls[i].limit, 6e-6);
    ds_multiplier_free(&m);
    ds_assembly_free(a);
    ds_state_destroy(state);
    ds_scene_destroy(scene);
  }
}

/* How far the wall moves within half a second. */
static double moves(const wall *w, double push) {
  sim s = {.options = ds_default_options()};
  sim_finish(&s, w->name, build(w, push));
  sim_run(&s, 0.5);
  double moved = sim_displacement(&s, s.start);
  sim_close(&s);
  return moved;
}

/* In motion: all fall above the limit. Below it some stand, and some move although an equilibrium exists. */
static void test_motion(void) {
  for (size_t i = 0; i < sizeof walls / sizeof *walls; i++) {
    CHECK_LE(1e-3, moves(&walls[i], 1.02 * walls[i].limit));
    CHECK_LE(moves(&walls[i], 0.8 * walls[i].limit), 1e-12);
    if (test_quick()) break;
  }
  CHECK_LE(moves(&walls[2], 0.35), 1e-12);
  CHECK_LE(1e-3, moves(&walls[2], 0.38));
}

int main(void) {
  RUN(test_limits);
  RUN(test_motion);
  return test_summary();
}
