/* Warm starts by hand: which contact of the last step a new one takes its impulse from, and how that is turned into the
 * new frame. */
#include "assemble/assemble.h"
#include "scene_helper.h"

enum { BODIES = 3, OLD = 4, NEW = 6 };

static ds_contact old_contact(int32_t a, int32_t b, uint64_t feature, ds_vec3 impulse, ds_vec3 velocity) {
  return (ds_contact){
      .a = {a + 1}, .b = {b + 1}, .normal = {0, 0, 1}, .feature = feature, .impulse = impulse, .velocity = velocity};
}

static void matched_by_hand(void) {
  ds_scene *scene = scene_new(v3(0, 0, -9.81), 0.5, 0);
  for (int i = 0; i < BODIES; i++) {
    ds_body_def def = body_at(i, 0, 0);
    scene_add(scene, &def, shape_sphere(0.1));
  }
  sim s;
  if (!sim_finish(&s, "warm", scene)) return;
  /* sorted by bodies and feature; the last is from a second look */
  const ds_contact old[OLD] = {old_contact(0, 1, 7, v3(1, 2, 3), v3(4, 5, 6)),
                               old_contact(0, 2, 5, v3(-1, 0, 2), v3(0, 1, 0)),
                               old_contact(0, 2, 7, v3(10, 20, 30), v3(40, 50, 60)),
                               old_contact(1, 2, 9 | DS_FEATURE_AGAIN, v3(7, 8, 9), v3(-7, -8, -9))};
  CHECK(ds_state_set_contacts(s.state, old, OLD) == DS_OK);
  const int32_t from[NEW] = {0, 1, -1, 2, -1, 3};
  ds_contact_point points[NEW] = {{.a = 0, .b = 1, .feature = 7}, {.a = 0, .b = 2, .feature = 5},
                                  {.a = 0, .b = 2, .feature = 6}, {.a = 0, .b = 2, .feature = 7},
                                  {.a = 1, .b = 2, .feature = 7}, {.a = 1, .b = 2, .feature = 9}};
  ds_contact_frame frames[NEW];
  for (int k = 0; k < NEW; k++) { /* another frame for each, right-handed */
    ds_quat q = quat_axis_angle(v3(1, 2, 3), 0.4 * k);
    frames[k] =
        (ds_contact_frame){.normal = quat_rotate(q, v3(0, 0, 1)), .flat = {1 - 0.5 * (k % 2), 1 - 0.2 * (k % 3)}};
    frames[k].t1 = quat_rotate(q, v3(frames[k].flat[0], 0, 0));
    frames[k].t2 = quat_rotate(q, v3(0, frames[k].flat[1], 0));
  }
  ds_assembly assembly = {.frames = frames};
  ds_contact_list list = {points, NEW};
  double r[3 * NEW], u[3 * NEW] = {0};
  ds_match_warm_start(r, u, &assembly, &list, s.state);
  for (int k = 0; k < NEW; k++) {
    ds_vec3 impulse = from[k] < 0 ? v3(0, 0, 0) : old[from[k]].impulse;
    ds_vec3 velocity = from[k] < 0 ? v3(0, 0, 0) : old[from[k]].velocity;
    const ds_vec3 axes[3] = {frames[k].normal, frames[k].t1, frames[k].t2};
    for (int c = 0; c < 3; c++) {
      CHECK_NEAR(r[3 * k + c], v3_dot(axes[c], impulse) / v3_norm2(axes[c]), 1e-13);
      CHECK_NEAR(u[3 * k + c], v3_dot(axes[c], velocity), 1e-13);
    }
  }
  sim_free(&s);
}

/* What stands is not solved again: the impulses of the last step are those of this one. Without a warm start every step
 * is solved. */
static void standing_costs_nothing(void) {
  for (int warm = 0; warm < 2; warm++) {
    sim s;
    int32_t work = 0;
    if (sim_generate(&s, "stack:count=4")) {
      s.options.warm_start = warm;
      sim_run(&s, 0.1);
      for (int i = 0; i < 20 && sim_step(&s); i++) work += s.report.worst.projection_iterations;
      CHECK(warm ? work <= 20 : work >= 20);
      if (warm) CHECK_NEAR(s.report.worst.factorizations, 0, 0);
    }
    sim_close(&s);
  }
}

int main(void) {
  RUN(matched_by_hand);
  RUN(standing_costs_nothing);
  return test_summary();
}
