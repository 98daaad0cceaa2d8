/* What is at rest (integrate/rest.c), by hand-made islands: each condition by itself, just met and just missed. */
#include "assemble/hold.h"
#include "detect/detect.h"
#include "integrate/integrate.h"
#include "joint/articulate.h"
#include "scene_helper.h"

static const double h = 0.01, gravity = 9.81;

/* An island of one body of a scene. */
typedef struct lone {
  ds_assembly assembly;
  ds_step_body bodies[8];
  ds_island island;
  int32_t body;
  ds_move moves[8];
} lone;

static void isolate(lone *l, const ds_scene *scene, int32_t body) {
  *l = (lone){.body = body};
  for (int32_t i = 0; i < scene->body_count && i < 8; i++)
    l->bodies[i] = (ds_step_body){.body = &scene->bodies[i], .ops = scene->bodies[i].ops, .moves = i == body};
  for (int32_t i = 0; i < 8; i++) l->moves[i] = (ds_move){.share = 1, .keep = 1};
  l->island.bodies = &l->body;
  l->island.problem.body_count = 1;
  l->island.certificate = (ds_certificate){.converged = true, .tolerance = 1e-8};
  l->assembly = (ds_assembly){.bodies = l->bodies, .islands = &l->island, .island_count = 1};
}

static bool rests(lone *l, const ds_scene *scene) {
  ds_find_rest(l->moves, scene, &l->assembly, h);
  return l->moves[l->body].rests;
}

static sim new_block(void) {
  sim s = {0};
  ds_scene *scene = scene_new(v3(0, 0, -gravity), 0.5, 0);
  ds_body_def def = body_at(0, 0, 0.05);
  scene_add_floor(scene);
  scene_add(scene, &def, shape_box(0.4, 0.4, 0.1));
  sim_finish(&s, "a block", scene);
  return s;
}

/* The limit is 1e-9 of the displacement h² g that gravity gives, or a tenth of the tolerance where that is less. */
static void test_limit(void) {
  static const double tolerances[3] = {1e-4, 1e-8, 1e-10}, shares[3] = {1e-9, 1e-9, 1e-11};
  sim s = new_block();
  lone l;
  double radius = ds_body_radius(s.scene, ds_scene_body(s.scene, 1));
  for (int32_t i = 0; i < 3; i++) {
    double limit = shares[i] * h * h * gravity;
    for (int32_t k = 0; k < 4; k++) { /* displacement and rotation, by velocities and besides */
      for (int32_t far = 0; far < 2; far++) {
        double by = (far ? 1.01 : 0.99) * limit;
        isolate(&l, s.scene, 1);
        l.island.certificate.tolerance = tolerances[i];
        ds_move *m = &l.moves[1];
        if (k == 0) m->v = v3(0, by / h, 0);
        if (k == 1) m->dx = v3(by, 0, 0);
        if (k == 2) m->w = v3(0, 0, by / (h * radius));
        if (k == 3) m->turn = v3(0, by / radius, 0);
        CHECK_NEAR(rests(&l, s.scene), !far, 0);
      }
    }
  }
  sim_close(&s);
}

/* Nothing rests whose answer is none, that a hand holds, that was stopped on its path, or that has joints. */
static void test_conditions(void) {
  sim s = new_block();
  ds_hold hold = {0};
  ds_articulation articulation = {0};
  lone l;
  for (int32_t k = 0; k < 5; k++) {
    isolate(&l, s.scene, 1);
    if (k == 1) l.island.certificate.converged = false;
    if (k == 2) l.bodies[1].hold = &hold;
    if (k == 3) l.moves[1].share = 0.5;
    if (k == 4) l.island.articulation = &articulation;
    CHECK_NEAR(rests(&l, s.scene), k == 0, 0);
  }
  sim_close(&s);
}

/* A deformable body rests with its velocities: it gets those and its place back where a step changed neither by more
 * than the limit. Coordinates and rates have the metric of the mass: x' x is twice an energy. */
static void test_deformable(void) {
  sim s;
  if (!sim_generate(&s, "soft-stack:count=1")) return;
  int32_t body = 0;
  while (body < s.scene->body_count && s.scene->bodies[body].r == 0) body++;
  CHECK(body < s.scene->body_count && body < 8);
  const ds_body *b = &s.scene->bodies[body];
  double limit = 1e-9 * h * h * gravity, mass = sqrt(b->mass.mass), radius = b->bounding_radius;
  for (int32_t k = 0; k < 6; k++)
    for (int32_t far = 0; far < 2; far++) {
      double by = (far ? 1.01 : 0.99) * limit, *changed[6];
      lone l;
      ds_arena arena = {0};
      ds_state before;
      isolate(&l, s.scene, body);
      CHECK(ds_keep_rest(&arena, &before, s.state, &l.assembly));
      ds_body_state *now = &s.state->bodies[body];
      changed[0] = &now->x.y, changed[1] = &now->q.x, changed[2] = &now->v.z, changed[3] = &now->w.x;
      changed[4] = &s.state->reduced[b->first_reduced + 1], changed[5] = &s.state->reduced_rate[b->first_reduced + 2];
      const double scale[6] = {1, 1 / (2 * radius), 1 / h, 1 / (h * radius), mass, mass / h};
      double old = *changed[k];
      *changed[k] += by * scale[k];
      double new = *changed[k];
      ds_restore_rest(s.state, &before, &l.assembly, h);
      CHECK_NEAR(*changed[k], far ? new : old, 0);
      *changed[k] = old;
      ds_arena_free(&arena);
    }
  sim_close(&s);
}

int main(void) {
  RUN(test_limit);
  RUN(test_conditions);
  RUN(test_deformable);
  return test_summary();
}
