/* Energy that deformable bodies gain in a step (integrate/limit.c): what is taken away, and what is left because it is
 * a vibration, or damped. By hand: a body in flight whose rates are scaled after the step. */
#include "assemble/assemble.h"
#include "assemble/hold.h"
#include "body/deformable.h"
#include "hand_body.h"
#include "integrate/integrate.h"
#include "scene_helper.h"

static const double h = 0.01;

typedef struct world {
  ds_scene *scene;
  ds_state *state;
  ds_arena arena;
  ds_assembly assembly;
  ds_integration integration;
  ds_move moves[2];
  double rates[DS_REDUCED_MAX];
} world;

/* A body that flies, bent a little and vibrating. */
static bool world_open(world *x, double damping) {
  hand_def soft = hand_default();
  ds_body_def body = ds_default_body();
  ds_shape_def shape = ds_default_shape();
  ds_options options = ds_default_options();
  ds_contact_list none = {0};
  ds_error error = {""};
  *x = (world){.scene = scene_new(v3(0, 0, 0), 0.5, 0)};
  soft.damping_mass = damping;
  shape.kind = DS_SHAPE_REDUCED, shape.reduced = hand_body(&soft);
  scene_add(x->scene, &body, shape);
  ds_reduced_release(shape.reduced);
  CHECK(ds_scene_finish(x->scene, &error) == DS_OK);
  x->state = ds_state_create(x->scene);
  if (!x->state) return false;
  for (int32_t i = 0; i < x->scene->reduced_count; i++)
    x->state->reduced[i] = 0.002 * (i + 1), x->state->reduced_rate[i] = i % 2 ? -1 : 1;
  x->state->reduced_step = h, options.step = h;
  CHECK(ds_assemble(&x->arena, &x->assembly, x->scene, x->state, &none, &options, NULL));
  const ds_body_state *s = &x->state->bodies[0];
  x->moves[0] = (ds_move){.v = s->v, .w = s->w, .rate = x->rates, .share = 1, .keep = 1};
  memcpy(x->rates, x->state->reduced_rate, (size_t)x->scene->reduced_count * sizeof *x->rates);
  return true;
}

static void world_close(world *x) {
  ds_arena_free(&x->arena);
  ds_state_destroy(x->state);
  ds_scene_destroy(x->scene);
}

static double *begin(world *x) {
  ds_contact_list none = {0};
  double *before = ds_limit_begin(&x->arena, &x->integration, x->state, &x->assembly, &none, x->moves, h);
  CHECK(before != NULL);
  return before;
}

/* All energy, and that which a vibration has. */
static double energy(double *scale, const world *x) {
  ds_energy e = ds_state_energy(x->scene, x->state);
  *scale = e.kinetic + e.elastic;
  return e.kinetic + e.potential + e.elastic;
}

/* The gain of energy after the rates were made larger so that it was `gain` of the energy, over it. */
static double left_of(double gain, double damping) {
  world x;
  double left = NAN, scale;
  if (!world_open(&x, damping)) return left;
  const double *before = begin(&x);
  double start = energy(&scale, &x), low = 1, high = 2, factor = 1;
  for (int k = 0; k < 60; k++) { /* the factor of the rates, by halving */
    double next = 0.5 * (low + high);
    for (int32_t i = 0; i < x.scene->reduced_count; i++) x.state->reduced_rate[i] *= next / factor;
    factor = next;
    if (energy(&scale, &x) - start > gain * scale)
      high = next;
    else
      low = next;
  }
  CHECK_NEAR(energy(&scale, &x) - start, gain * scale, 1e-9 * scale);
  if (before) ds_limit_end(x.state, &x.assembly, before, h);
  left = (energy(&scale, &x) - start) / scale;
  world_close(&x);
  return left;
}

/* In flight 0.2 % may come and go; more is taken away, to the last digit and no further. Damping of the material takes
 * 2 x damping x h of the rates' energy in a step: where that is more than 0.2 %, no rise is left. */
static void test_gains(void) {
  CHECK_NEAR(left_of(1e-3, 0), 1e-3, 1e-9);
  CHECK_NEAR(left_of(0.01, 0), 0, 1e-9);
  CHECK_LE(left_of(0.01, 0), 0);
  CHECK_NEAR(left_of(1e-3, 0.01), 1e-3, 1e-9);
  CHECK_NEAR(left_of(1e-3, 10), 0, 1e-9);
}

/* After a longer step, energy is compared as if that step had been one of h, too: the velocities of its middle are
 * moved on by (k - h)/(k + h) of the change to those of this step. */
static void test_longer_step(void) {
  world x;
  double scale, wanted;
  if (!world_open(&x, 0)) return;
  const double k = 3 * h, share = (k - h) / (k + h);
  const ds_reduced *r = x.scene->bodies[0].reduced;
  ds_body_state *s = &x.state->bodies[0], kept = *s;
  double rates[DS_REDUCED_MAX];
  ds_vec3 spin = ds_deformable_momentum(r, x.state->reduced, quat_unrotate(s->q, s->w), x.state->reduced_rate);
  x.state->reduced_step = k;
  for (int32_t i = 0; i < r->r; i++) rates[i] = x.state->reduced_rate[i], x.rates[i] = 1.5 * rates[i];
  double now = energy(&scale, &x);
  /* by hand, in a state that is put back */
  x.state->reduced_step = h;
  for (int32_t i = 0; i < r->r; i++) x.state->reduced_rate[i] += share * (x.rates[i] - rates[i]);
  s->w = quat_rotate(s->q, ds_deformable_spin(r, x.state->reduced, x.state->reduced_rate, spin, 0));
  wanted = fmax(now, energy(&scale, &x));
  *s = kept, x.state->reduced_step = k;
  memcpy(x.state->reduced_rate, rates, (size_t)r->r * sizeof *rates);
  CHECK(wanted > 1.01 * now);
  if (begin(&x)) CHECK_NEAR(x.integration.energy, wanted, 1e-12 * wanted);
  world_close(&x);
}

/* An island is limited where nothing but gravity and contacts acts: no rebound, script, joint, force, torque or hand.
 */
static void test_sources(void) {
  for (int source = 0; source < 9; source++) {
    world x;
    ds_hold hold = {0};
    int32_t body = 0, contact = 0;
    ds_contact_point point = {.a = 0, .b = 0};
    ds_contact_frame frame = {.mu = 0.5, .restitution = source == 1 ? 0.1 : 0};
    ds_contact_list list = {&point, 1};
    if (!world_open(&x, 0)) return;
    ds_island island = {.bodies = &body, .contacts = &contact, .joint_count = source == 3};
    island.problem.body_count = island.problem.contact_count = 1;
    x.assembly.islands = &island, x.assembly.island_count = 1, x.assembly.frames = &frame;
    if (source == 2) x.scene->bodies[0].kind = DS_BODY_KINEMATIC;
    if (source == 4) x.state->force[0].y = 1e-9;
    if (source == 5) x.state->torque[0].z = 1e-9;
    if (source == 6) x.scene->bodies[0].def.force.x = 1e-9;
    if (source == 7) x.scene->bodies[0].def.torque.x = 1e-9;
    if (source == 8) x.assembly.bodies[0].hold = &hold;
    const double *before = ds_limit_begin(&x.arena, &x.integration, x.state, &x.assembly, &list, x.moves, h);
    CHECK(before && isfinite(before[0]) == (source == 0));
    x.assembly.bodies[0].hold = NULL;
    world_close(&x);
  }
}

int main(void) {
  RUN(test_gains);
  RUN(test_sources);
  RUN(test_longer_step);
  return test_summary();
}
