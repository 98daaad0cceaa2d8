/* An observer sees every island of a step as a problem of its own, and solving that alone gives the impulses of the
 * step, bit for bit. Observing changes nothing. */
#include "drystone/problem.h"
#include "own_error.h"
#include "scene_helper.h"

typedef struct witness {
  const ds_options *options;
  int64_t step;            /* that is expected */
  int32_t islands;         /* seen in this step */
  ds_certificate last[64]; /* of this step */
  int64_t problems, solved_again, different, contacts;
  int64_t every; /* solve those of every Nth step again */
} witness;

/* The same problem from the same start, through the public call. */
static void solve_again(witness *w, const ds_observation *o) {
  const ds_problem *p = o->problem;
  size_t components = 3 * (size_t)p->contacts, bytes = components * sizeof(double);
  double *r = malloc(bytes), *u = malloc(bytes), *v = malloc((size_t)p->dof * sizeof(double));
  ds_solve_options options = ds_default_solve_options();
  ds_solution solution;
  ds_error error = {""};
  CHECK(r && u && v);
  options.as_step = true;
  options.tolerance = w->options->tolerance;
  options.method = w->options->method;
  options.max_iterations = w->options->max_iterations;
  options.threads = 1;
  memcpy(r, o->start, bytes);
  bool done = ds_problem_solve(p, &options, r, u, v, &solution, &error) == DS_OK;
  if (!done) printf("%s\n", error.message);
  CHECK(done);
  bool same = done && memcmp(r, o->r, bytes) == 0 && memcmp(v, o->v, (size_t)p->dof * sizeof(double)) == 0 &&
              solution.certificate.natural_error == o->certificate->natural_error;
  if (!same && w->different == 0) {
    double most = 0;
    for (size_t i = 0; i < components; i++) most = fmax(most, fabs(r[i] - o->r[i]));
    printf("step %lld island %d: impulses differ by %g; %s\n", (long long)o->step, (int)o->island, most,
           done ? solution.path : "");
  }
  w->solved_again++;
  w->different += !same;
  free(r);
  free(u);
  free(v);
}

/* What the certificate says, by the tests' own arithmetic: the error, and that Coulomb's law holds where it converged.
 */
static void check_certificate(const ds_observation *o) {
  enum { SMALL = 60 }; /* contacts: dense matrices take their time */
  const ds_certificate *c = o->certificate;
  if (o->problem->contacts > SMALL) return;
  own_problem own = own_of_problem(o->problem);
  double natural = own_natural_error(&own, o->r), law = own_coulomb_error(&own, o->r);
  CHECK_LE(fabs(natural - c->natural_error), 1e-2 * fmax(natural, 1e-11));
  if (c->converged) CHECK_LE(law, own_allowed(&own, c->tolerance));
  own_free(&own);
}

static void watch(void *user, const ds_observation *o) {
  witness *w = user;
  check_certificate(o);
  CHECK_NEAR((double)o->step, (double)w->step, 0);
  CHECK(o->island >= w->islands); /* those that take the step in parts are not among them */
  CHECK_NEAR(o->problem->contacts, o->certificate->contacts, 0);
  CHECK_NEAR(o->problem->body_count, o->certificate->bodies, 0);
  CHECK(o->seconds >= 0);
  if (o->island < 64) w->last[o->island] = *o->certificate;
  w->islands = o->island + 1;
  w->problems++;
  w->contacts += o->problem->contacts;
  if (o->step % w->every == 0) solve_again(w, o);
}

/* The certificate of an island is of all problems that it has solved in the step; the one observed is among them. */
static void check_island(const ds_certificate *island, const ds_certificate *seen, const ds_options *options) {
  CHECK(island->bodies == seen->bodies && island->contacts == seen->contacts);
  CHECK(island->factorizations >= seen->factorizations);
  CHECK(island->projection_iterations >= seen->projection_iterations);
  if (options->integrator == DS_INTEGRATOR_EULER) CHECK(memcmp(island, seen, sizeof *island) == 0);
}

static uint64_t run_watched(witness *w, const char *spec, const char *const *settings, int32_t setting_count,
                            int32_t threads, int32_t steps) {
  ds_run_settings run = {.options = ds_default_options()};
  ds_scene *scene = scene_generate(&run, spec, settings, setting_count);
  sim s = {.options = run.options};
  uint64_t hash = 0;
  if (sim_start(&s, spec, scene, threads)) {
    if (w) {
      w->options = &s.options;
      ds_stepper_observe(s.stepper, watch, w);
    }
    for (int32_t i = 0; i < steps; i++) {
      if (w) w->step = i + 1, w->islands = 0, memset(w->last, 0, sizeof w->last);
      sim_step(&s);
      if (!w) continue;
      int32_t count;
      const ds_certificate *islands = ds_stepper_islands(s.stepper, &count);
      CHECK(w->islands <= count);
      CHECK_NEAR((double)s.report.step, (double)w->step, 0);
      for (int32_t k = 0; k < count && k < 64; k++)
        if (w->last[k].contacts > 0) check_island(&islands[k], &w->last[k], &s.options);
    }
    hash = ds_state_hash(s.state);
  }
  sim_free(&s);
  return hash;
}

static void check_scene(const char *spec, const char *setting, int32_t threads, int32_t steps, int32_t every) {
  witness w = {.every = every};
  uint64_t watched = run_watched(&w, spec, &setting, setting != NULL, threads, steps);
  uint64_t alone = run_watched(NULL, spec, &setting, setting != NULL, threads, steps);
  printf("     %s: %lld problems, %lld contacts, %lld solved again, %lld different\n", spec, (long long)w.problems,
         (long long)w.contacts, (long long)w.solved_again, (long long)w.different);
  CHECK(watched == alone);
  CHECK(w.solved_again > 0);
  CHECK_NEAR((double)w.different, 0, 0);
}

static void test_standing(void) {
  check_scene("stack:count=5", NULL, 1, 20, 1);
  check_scene("card-house:levels=3", NULL, 1, 30, 3);
  check_scene("arch:stones=25", NULL, 2, 20, 5);
}

static void test_moving(void) {
  check_scene("pile:count=30", NULL, 2, test_quick() ? 60 : 120, 7);
  check_scene("wall:rows=3,bricks=4,shake=0.05", NULL, 2, test_quick() ? 110 : 160, 9);
  check_scene("dominoes:count=6", NULL, 2, 60, 3);
  check_scene("dominoes:count=6", "options.integrator=midpoint", 2, 60, 3);
  check_scene("pile:count=10", "options.integrator=midpoint", 2, 60, 7);
}

/* Frictionless, scripted, bouncing, and by the other methods. */
static void test_variants(void) {
  check_scene("stack:count=4,mu=0", NULL, 1, 20, 1);
  check_scene("billiard:rows=3", NULL, 1, 60, 2);
  check_scene("card-house:levels=2", "options.method=gauss-seidel", 1, 5, 1);
  check_scene("card-pair", "options.tolerance=1e-5", 1, 10, 1);
}

/* Fixed bodies on both sides of the moving ones in the scene's order: floor, blocks, wall. */
static void test_corner(void) {
  ds_scene *scene = scene_new(v3(-1, 0, -9.81), 0.3, 0);
  sim s;
  witness w = {.every = 1, .options = &s.options};
  scene_add_floor(scene);
  ds_body_def blocks[2] = {body_at(0.1, 0, 0.1), body_at(0.1, 0.03, 0.3)}, wall = body_at(-0.1, 0, 0.2);
  scene_add(scene, &blocks[0], shape_box(0.2, 0.2, 0.2));
  scene_add(scene, &blocks[1], shape_box(0.2, 0.3, 0.2));
  wall.kind = DS_BODY_STATIC;
  scene_add(scene, &wall, shape_box(0.2, 0.6, 0.8));
  if (sim_finish(&s, "corner", scene)) {
    ds_stepper_observe(s.stepper, watch, &w);
    for (w.step = 1; w.step <= 10; w.step++, w.islands = 0) sim_step(&s);
    CHECK(w.contacts > 100);
    CHECK_NEAR((double)w.solved_again, 10, 0);
    CHECK_NEAR((double)w.different, 0, 0);
  }
  sim_close(&s);
}

static void count_calls(void *user, const ds_observation *o) {
  (void)o;
  ++*(int32_t *)user;
}

static void test_observing_ends(void) {
  sim s;
  int32_t calls = 0;
  if (sim_generate(&s, "slide")) {
    ds_stepper_observe(s.stepper, count_calls, &calls);
    sim_step(&s);
    ds_stepper_observe(s.stepper, NULL, NULL);
    sim_step(&s);
  }
  CHECK_NEAR(calls, 1, 0);
  sim_close(&s);
}

int main(void) {
  RUN(test_standing);
  RUN_THREADS(test_moving);
  RUN(test_variants);
  RUN(test_corner);
  RUN(test_observing_ends);
  return test_summary();
}
