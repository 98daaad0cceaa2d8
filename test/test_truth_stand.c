/* Things that stand: after the first second nothing moves by 1e-5 m, and penetration does not grow. The soak does the
 * same for ten minutes and larger scenes. */
#include "scene_helper.h"

static void stands(const char *spec, double time) {
  sim s;
  if (sim_generate(&s, spec)) {
    bool quick = test_quick();
    sim_run(&s, quick ? 0.1 : 1);
    ds_state *second = ds_state_copy(s.state);
    double before = s.penetration;
    sim_run(&s, quick ? 0.2 : time - 1);
    double moved = sim_displacement(&s, second), first = sim_displacement(&s, s.start);
    printf("     %s: moved %.3g m after the first second (%.3g m from the start), penetration %.3g m then %.3g m\n",
           spec, moved, first, before, s.penetration);
    CHECK_LE(moved, 1e-5);
    CHECK_LE(first, 1e-4);
    CHECK_LE(s.penetration, before + 1e-8);
    CHECK_LE(s.penetration, 1e-6);
    ds_state_destroy(second);
  }
  sim_close(&s);
}

static void test_stacks(void) {
  stands("stack", 10);
  stands("stack:count=10,top_mass=100", 10);
  stands("stack:count=50", 10);
}
static void test_card_houses(void) {
  stands("card-house:levels=2", 10);
  stands("card-house:levels=3", 10);
  stands("card-house:levels=3,apex=bevel", 10);
  if (!test_quick()) stands("card-house:levels=5", 5);
}
static void test_arch(void) {
  stands("arch", 10);
  if (!test_quick()) stands("arch:stones=101", 5);
}
static void test_wall(void) { stands("wall:rows=5", 10); }
static void test_pyramid(void) { stands("pyramid:rows=5", 10); }

/* A cube on a cube, shifted and tilted by less than the eye can see: the face still carries it on at least three
 * points. A face that fell back to one corner for some of these made arches and walls jump. */
static void test_faces_stay_faces(void) {
  for (int32_t slip = -12; slip <= -3; slip++) {
    for (int32_t tilt = -12; tilt <= -4; tilt++) {
      sim s;
      if (sim_generate(&s, "stack:count=2")) {
        ds_body_id lower = ds_scene_body(s.scene, 1), upper = ds_scene_body(s.scene, 2);
        ds_pose pose = ds_state_pose(s.scene, s.state, upper);
        pose.p = v3_mad(pose.p, pow(10, slip), v3(1, -0.5, 0));
        pose.q = quat_axis_angle(v3(1, 0.7, 0), pow(10, tilt));
        ds_state_set_pose(s.scene, s.state, upper, pose);
        sim_step(&s);
        int32_t count, between = 0;
        const ds_contact *contacts = ds_state_contacts(s.state, &count);
        for (int32_t i = 0; i < count; i++)
          between += contacts[i].a.index1 == lower.index1 && contacts[i].b.index1 == upper.index1;
        if (between < 3) printf("shifted by 1e%d m, tilted by 1e%d: %d contacts\n", (int)slip, (int)tilt, (int)between);
        CHECK(between >= 3);
      }
      sim_close(&s);
    }
  }
}

int main(void) {
  RUN(test_faces_stay_faces);
  RUN(test_stacks);
  RUN(test_card_houses);
  RUN(test_arch);
  RUN(test_wall);
  RUN(test_pyramid);
  return test_summary();
}
