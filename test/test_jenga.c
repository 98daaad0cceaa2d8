/* A tower of crossed layers of three blocks, 75 x 25 x 15 mm, from which one block is pulled out at 5 cm/s, by a script
 * or through a joint: the tower stands or falls, every step is certified, and no energy comes from nowhere. */
#include "joint_helper.h"

enum { ACROSS = 3 };
typedef struct pull {
  int32_t layers, layer, place; /* of the tower; of the block */
  bool jointed;                 /* a scripted ball 0.2 m ahead leads it */
} pull;

static const double begin = 0.1; /* s: the tower stands until then */

static ds_vec3 along(int32_t layer) { return layer % 2 ? v3(1, 0, 0) : v3(0, 1, 0); }

static ds_body_def block_at(int32_t layer, int32_t place) {
  double aside = 0.025 * (place - 1), height = 0.0075 + 0.015 * layer;
  return layer % 2 ? body_at(0, aside, height) : body_at(aside, 0, height);
}

static void lead(ds_body_def *body, ds_vec3 direction) {
  body->kind = DS_BODY_KINEMATIC;
  body->motion.kind = DS_MOTION_VELOCITY;
  body->motion.velocity = v3_scale(0.05, direction);
  body->motion.start_time = begin;
}

static ds_scene *make_tower(const pull *p) {
  ds_scene *scene = scene_new(v3(0, 0, -9.81), 0.4, 0);
  scene_add_floor(scene);
  for (int32_t i = 0; i < p->layers; i++)
    for (int32_t k = 0; k < ACROSS; k++) {
      bool pulled = i == p->layer && k == p->place;
      ds_body_def body = block_at(i, k);
      ds_shape_def shape = i % 2 ? shape_box(0.075, 0.025, 0.015) : shape_box(0.025, 0.075, 0.015);
      shape.density = 600;
      if (pulled && !p->jointed) lead(&body, along(i));
      ds_body_id block = scene_add(scene, &body, shape);
      if (!pulled || !p->jointed) continue;
      ds_vec3 at = v3_mad(body.pose.p, 0.2, along(i));
      ds_body_def hand = body_at(at.x, at.y, at.z);
      lead(&hand, along(i));
      scene_join(scene, DS_JOINT_BALL, scene_add(scene, &hand, shape_sphere(0.005)), block, at, v3(0, 0, 1));
    }
  return scene;
}

/* Pulls for so long; counts steps, and those whose solution or motion missed. */
static void pull_out(const pull *p, double seconds, int32_t *steps, int32_t *missed, double *gain) {
  sim s;
  if (sim_finish(&s, "tower", make_tower(p))) {
    s.options.integrator = DS_INTEGRATOR_AUTO;
    int32_t before = *missed;
    double most = 0;
    for (int32_t i = 0; i < (int32_t)(seconds / s.options.step + 0.5) && sim_step(&s); i++) {
      *missed += !s.report.worst.converged || !s.report.motion.passed || s.report.motion.limited > 0;
      most = fmax(most, s.report.motion.gain_share);
      ++*steps;
    }
    *gain = fmax(*gain, most);
    printf("     %d layers, block %d of layer %d%s: %d missed, gain %.1g of its energy, moved %.3g m\n", (int)p->layers,
           (int)p->place, (int)p->layer, p->jointed ? " by a joint" : "", (int)(*missed - before), most,
           sim_displacement(&s, s.start));
  }
  sim_close(&s);
}

/* Velocities at the end of a step were not found in two of these, as the block begins to move; in halves they are. */
static void test_start(void) {
  int32_t steps = 0, missed = 0;
  double gain = 0;
  pull_out(&(pull){18, 15, 2, false}, 0.25, &steps, &missed, &gain);
  pull_out(&(pull){18, 16, 0, false}, 0.25, &steps, &missed, &gain);
  CHECK_NEAR(missed, 0, 0);
}

static void test_tower(void) {
  static const pull some[] = {{5, 2, 0, false}, {4, 1, 1, true}};
  int32_t steps = 0, missed = 0;
  double gain = 0;
  if (test_long())
    for (int32_t i = 0; i < 54; i++) pull_out(&(pull){18, i / ACROSS, i % ACROSS, false}, 1.9, &steps, &missed, &gain);
  else
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
      pull_out(&some[i], test_quick() ? 0.3 : 1.8, &steps, &missed, &gain);
  printf("     %d steps, %d missed\n", (int)steps, (int)missed);
  CHECK_NEAR(missed, 0, 0);
  CHECK_LE(gain, 1e-3);
}

int main(void) {
  RUN(test_start);
  RUN(test_tower);
  return test_summary();
}
