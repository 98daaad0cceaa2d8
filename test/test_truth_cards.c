/* Two cards that lean on each other stand if and only if tan theta <= 2 mu: each foot carries the weight m g of its
 * card and the thrust m g tan(theta)/2 of the other. The generator allows for the thickness (docs/generators.md), so
 * that its `ratio` is friction needed over friction there is. */
#include "scene_helper.h"

static const double mus[3] = {0.2, 0.3, 0.5};

/* Fallen: the centres are more than 2 cm from where they were, on the floor. */
static void stand_or_fall(const char *apex, double ratio, bool stands) {
  char spec[96];
  for (int32_t i = 0; i < 3; i++) {
    snprintf(spec, sizeof spec, "card-pair:mu=%.17g,ratio=%.17g,apex=%s", mus[i], ratio, apex);
    check_stands_or_falls(spec, stands, test_time(5, stands ? 0.5 : 1), 1e-8, test_quick() ? 1e-4 : 0.02);
  }
}

static void test_stand_bevel(void) { stand_or_fall("bevel", 0.99, true); }
static void test_fall_bevel(void) { stand_or_fall("bevel", 1.01, false); }
static void test_stand_edge(void) { stand_or_fall("edge", 0.99, true); }
static void test_fall_edge(void) { stand_or_fall("edge", 1.01, false); }

/* The forces at rest: each foot carries half of the weight, and pushes outwards by what the other card needs. */
static void test_forces(void) {
  sim s;
  if (sim_generate(&s, "card-pair:mu=0.3,ratio=0.9")) {
    sim_run(&s, 0.5);
    int32_t count;
    const ds_contact *contacts = ds_state_contacts(s.state, &count);
    double weight = 0, thrust[2] = {0, 0};
    ds_body_id floor = ds_scene_body(s.scene, 0), left = sim_body(&s, "card1");
    for (int32_t i = 0; i < count; i++) {
      bool up = contacts[i].b.index1 == floor.index1, down = contacts[i].a.index1 == floor.index1;
      if (!up && !down) continue;
      ds_vec3 on_card = v3_scale((up ? 1 : -1) / s.options.step, contacts[i].impulse);
      ds_body_id card = up ? contacts[i].a : contacts[i].b;
      weight += on_card.z;
      thrust[card.index1 == left.index1 ? 0 : 1] += on_card.x;
    }
    double mass = ds_body_mass(s.scene, left).mass;
    CHECK_NEAR(weight / (2 * mass * 9.81), 1, 1e-6);
    /* ratio mu is what is needed: the feet push inwards with 0.9 mu m g at least, and with mu m g at most */
    CHECK_NEAR(thrust[0] + thrust[1], 0, 1e-6 * mass * 9.81);
    CHECK_LE(0.9 * 0.3 * mass * 9.81 * (1 - 1e-6), thrust[0]);
    CHECK_LE(thrust[0], 0.3 * mass * 9.81 * (1 + 1e-6));
  }
  sim_close(&s);
}

int main(void) {
  RUN(test_stand_bevel);
  RUN(test_fall_bevel);
  RUN(test_stand_edge);
  RUN(test_fall_edge);
  RUN(test_forces);
  return test_summary();
}
