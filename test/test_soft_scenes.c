/* Scenes of deformable bodies come out as they should [SP08 section 8.1]: a figure bounces, never higher than it fell;
 * a tower of blocks stands; a tight tube jams with much friction, lets some through with less and all with little.
 * Every step converges to the default tolerance, 1e-8. What falls into piles is in test_soft_piles. */
#include "scene_cache.h"
#include "scene_helper.h"

static double total(const sim *s) {
  ds_energy e = ds_state_energy(s->scene, s->state);
  return e.kinetic + e.potential + e.elastic;
}

/* ---- one figure ---- */

/* Down, up again by a fifth of the fall or more, and never more energy than before. */
static void test_bounce(void) {
  sim s;
  if (sim_generate(&s, test_quick() ? "soft-bounce:figure=ring,height=0.05,modes=20" : "soft-bounce")) {
    ds_body_id figure = ds_scene_body(s.scene, 1);
    double start = ds_state_center(s.state, figure).z, low = start, high = 0, energy = total(&s), gain = 0;
    for (int32_t i = 0; i < (test_quick() ? 200 : 600) && sim_step(&s); i++) {
      double z = ds_state_center(s.state, figure).z;
      low = fmin(low, z);
      if (z > low + 1e-3) high = fmax(high, z); /* on its way up */
      gain = fmax(gain, total(&s) - energy);
    }
    printf("     fell %.3f m, rose %.3f m; energy above that at the start %.2g of %.3g J\n", start - low, high - low,
           gain, energy);
    CHECK_LE(0.2 * (start - low), high - low);
    CHECK_LE(high, start);
    CHECK_LE(gain, 1e-9);
    CHECK_LE(s.penetration, 3e-3);
  }
  sim_close(&s);
}

/* ---- the tower ---- */

/* It sinks by little and stands; 600 s of it are part of `make soak`. */
static void test_stack(void) {
  sim s;
  if (sim_generate(&s, test_quick() ? "soft-stack:count=2" : "soft-stack")) {
    sim_run(&s, test_time(1, 0.5));
    double sunk = sim_displacement(&s, s.start);
    ds_state *settled = ds_state_copy(s.state);
    sim_run(&s, test_time(2, 0.5));
    double moved = settled ? sim_displacement(&s, settled) : NAN;
    printf("     sank by %.3g m, then moved %.3g m\n", sunk, moved);
    CHECK_LE(5e-6, sunk); /* it is soft */
    CHECK_LE(sunk, 1e-3);
    CHECK_LE(moved, 1e-9);
    CHECK_LE(s.penetration, 1e-6);
    ds_state_destroy(settled);
  }
  sim_close(&s);
}

/* ---- the tight tube ---- */

/* What became of the bodies; the tube ends 0.25 m above the floor. */
typedef struct passage {
  int32_t through, count;
  double moved; /* farthest that one in the tube came within the last half second, m */
} passage;

static passage pass(const char *spec) {
  passage p = {0};
  sim s;
  if (sim_generate(&s, spec)) {
    sim_run(&s, 4); /* who slips through, and when, is chaotic: the others have come to rest by then */
    ds_state *before = ds_state_copy(s.state);
    sim_run(&s, 0.5);
    for (int32_t i = 0; before && i < ds_scene_body_count(s.scene); i++) {
      ds_body_id id = ds_scene_body(s.scene, i);
      if (ds_body_get_kind(s.scene, id) != DS_BODY_DYNAMIC) continue;
      ds_vec3 x = ds_state_center(s.state, id);
      CHECK_LE(0.02, x.z); /* none through the floor */
      p.count++;
      p.through += x.z < 0.25;
      if (x.z >= 0.25) p.moved = fmax(p.moved, v3_dist(x, ds_state_center(before, id)));
    }
    printf("     %s: %d of %d through, others moved %.1e m, overlap %.1e m\n", spec, (int)p.through, (int)p.count,
           p.moved, s.penetration);
    CHECK_LE(s.penetration, 0.01);
    ds_state_destroy(before);
  }
  sim_close(&s);
  return p;
}

static void test_jam(void) {
  if (test_quick()) return;
  passage rough = pass("soft-jam:mu=0.5"), middle = pass("soft-jam:mu=0.35"), smooth = pass("soft-jam:mu=0.1");
  CHECK_NEAR(rough.through, 0, 0);
  CHECK_LE(rough.moved, 3e-3); /* still settling, a millimetre in half a second */
  CHECK_LE(1, middle.through);
  CHECK_LE(middle.through, middle.count - 2); /* jammed, with some below */
  CHECK_LE(middle.moved, 1e-4);
  CHECK_NEAR(smooth.through, smooth.count, 0);
}

int main(void) {
  scene_cache_begin();
  RUN(test_bounce);
  RUN(test_stack);
  RUN(test_jam);
  scene_cache_end();
  return test_summary();
}
