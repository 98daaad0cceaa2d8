/* Large deformations end in stable piles [SP08 section 8.1]: dinosaurs that are thrown together lose their energy, none
 * is lost and all come to rest; red bunnies (mu = 0.4) stick and slip down a ramp and leave the arch before them
 * standing, blue ones (mu = 0.1) slide and bring theirs down. Every step converges to the default tolerance, 1e-8.
 * `make test` has three dinosaurs of fewer coordinates, `make soak` all nine (DRYSTONE_TEST_LONG=1). */
#include "scene_helper.h"

static double total(const sim *s) {
  ds_energy e = ds_state_energy(s->scene, s->state);
  return e.kinetic + e.potential + e.elastic;
}

static bool called(const sim *s, ds_body_id id, const char *name) {
  return strncmp(ds_body_name(s->scene, id), name, strlen(name)) == 0;
}

/* Largest speed of a body whose name starts so. */
static double fastest(const sim *s, const char *name) {
  double most = 0;
  for (int32_t i = 0; i < ds_scene_body_count(s->scene); i++) {
    ds_body_id id = ds_scene_body(s->scene, i);
    if (!called(s, id, name)) continue;
    double v = v3_norm(ds_state_velocity(s->state, id));
    most = v <= most ? most : v; /* a NaN stays */
  }
  return most;
}

/* ---- dinosaurs ---- */

static void test_dinosaurs(void) {
  sim s;
  if (test_quick()) return;
  if (sim_generate(&s, test_long() ? "dinosaurs" : "dinosaurs:count=3,modes=12")) {
    double energy = total(&s), gain = 0, most = 0, last = energy, farthest = 0, lowest = INFINITY;
    for (int32_t i = 0; i < (test_long() ? 500 : 150) && sim_step(&s); i++) {
      double now = total(&s);
      gain = fmax(gain, now - last);
      most = fmax(most, now);
      last = now;
    }
    for (int32_t i = 1; i < ds_scene_body_count(s.scene); i++) {
      ds_vec3 x = ds_state_center(s.state, ds_scene_body(s.scene, i));
      farthest = fmax(farthest, hypot(x.x, x.y));
      lowest = fmin(lowest, x.z);
    }
    printf(
        "     %s: energy %.3g J, gain in a step %.2g J, at the end %.3g J; within %.2f m, lowest centre %.3f m, "
        "fastest %.2g m/s, overlap %.1e m\n",
        s.name, energy, gain, last, farthest, lowest, fastest(&s, "dinosaur"), s.report.penetration);
    CHECK_LE(most, energy * (1 + 1e-9));
    CHECK_LE(gain, 0.01 * energy);
    CHECK_LE(last, 0.2 * energy);
    CHECK_LE(farthest, 1.5);
    CHECK_LE(0.02, lowest);
    CHECK_LE(fastest(&s, "dinosaur"), 0.05);
    CHECK_LE(s.report.penetration, 1e-3);
  }
  sim_close(&s);
}

/* ---- bunnies and arches ---- */

/* Mean y of the bunnies of a colour: the ramp falls towards -y. */
static double mean_y(const sim *s, const char *color) {
  double sum = 0, count = 0;
  for (int32_t i = 0; i < ds_scene_body_count(s->scene); i++) {
    ds_body_id id = ds_scene_body(s->scene, i);
    if (called(s, id, color)) sum += ds_state_center(s->state, id).y, count++;
  }
  return sum / count;
}

/* Farthest that a block of an arch is from its start. */
static double arch_moved(const sim *s, const char *arch) {
  double most = 0;
  for (int32_t i = 0; i < ds_scene_body_count(s->scene); i++) {
    ds_body_id id = ds_scene_body(s->scene, i);
    if (called(s, id, arch)) most = fmax(most, v3_dist(ds_state_center(s->state, id), ds_state_center(s->start, id)));
  }
  return most;
}

/* Arches stand until they are hit; blue bunnies come first. */
static void check_first_blow(sim *s) {
  double red = mean_y(s, "red"), blue = mean_y(s, "blue");
  CHECK_NEAR(red, blue, 1e-9);
  sim_run(s, 0.5);
  CHECK_LE(fmax(arch_moved(s, "left"), arch_moved(s, "right")), 1e-6);
  sim_run(s, 0.5);
  red -= mean_y(s, "red"), blue -= mean_y(s, "blue");
  printf("     after 1 s red bunnies have slid %.3f m, blue ones %.3f m; blocks have moved %.1e m and %.1e m\n", red,
         blue, arch_moved(s, "left"), arch_moved(s, "right"));
  CHECK_LE(2 * red, blue);
  CHECK_LE(arch_moved(s, "left"), 1e-6);
  CHECK_LE(0.01, arch_moved(s, "right"));
}

static void check_end(const sim *s) {
  double all = fmax(fmax(fastest(s, "red"), fastest(s, "blue")), fmax(fastest(s, "left"), fastest(s, "right")));
  printf(
      "     at the end bunnies are at y = %.3f m and %.3f m, blocks have moved %.2e m and %.2e m, fastest %.1e m/s\n",
      mean_y(s, "red"), mean_y(s, "blue"), arch_moved(s, "left"), arch_moved(s, "right"), all);
  CHECK_LE(mean_y(s, "blue"), mean_y(s, "red") - 0.1);
  CHECK_LE(arch_moved(s, "left"), 0.01);
  CHECK_LE(0.1, arch_moved(s, "right"));
  CHECK_LE(all, 1e-2);
  CHECK_LE(sim_displacement(s, s->start), 3); /* none lost */
}

static void test_hybrid(void) {
  sim s;
  if (test_quick()) return;
  if (sim_generate(&s, "hybrid")) {
    double energy = total(&s);
    check_first_blow(&s);
    sim_run(&s, test_long() ? 5 : 3);
    check_end(&s);
    printf("     energy %.3g J at the start, %.3g J at the end, gain in a step %.2g J\n", energy, total(&s),
           s.energy_gain);
    CHECK_LE(s.energy_gain, 0.01 * energy);
    CHECK_LE(total(&s), energy);
  }
  sim_close(&s);
}

int main(void) {
  RUN(test_dinosaurs);
  RUN(test_hybrid);
  return test_summary();
}
