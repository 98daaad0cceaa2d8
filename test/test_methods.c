/* The published methods of src/methods/ against answers that can be written down, and against the default solver. */
#include <math.h>

#include "drystone/problem.h"
#include "methods/pgs.h"
#include "project/project.h"
#include "random_problem.h"
#include "scene_helper.h"

typedef struct answer {
  double r[3], u[3];
  ds_solution solution;
} answer;

/* One contact with W = diag(2, 3, 3). */
static answer solve(const char *method, const double q[3], double mu, int32_t iterations) {
  const int32_t row[] = {0, 1, 2};
  const double value[] = {2, 3, 3};
  ds_problem p = {.form = DS_PROBLEM_LOCAL, .dimension = 3, .contacts = 1, .q = q, .mu = &mu};
  p.W = (ds_matrix){3, 3, 3, row, row, value};
  ds_solve_options options = ds_default_solve_options();
  options.method = ds_method_named(method);
  options.max_iterations = iterations;
  answer a = {0};
  ds_error error;
  CHECK(ds_problem_solve(&p, &options, a.r, a.u, NULL, &a.solution, &error) == DS_OK);
  return a;
}

static const char *const ALL[] = {"pgs", "pgs-disk", "nncg",          "nncg-disk",  "shock",
                                  "lcp", "convex",   "anitescu-hart", "mass-split", "sqp"};
enum { COUNT = sizeof ALL / sizeof *ALL };

/* alpha = 1/2, and friction that stops what it can, along a tangent: every method has it, but convex where it slides.
 */
static void one_contact(void) {
  const double stick[3] = {-1, 0.3, 0}, slide[3] = {-1, -1.5, 0}, leave[3] = {0.5, 1, 0};
  for (int i = 0; i < COUNT; i++) {
    answer a = solve(ALL[i], stick, 0.5, 200), b = solve(ALL[i], leave, 0.5, 200);
    CHECK_NEAR(a.r[0], 0.5, 1e-7);
    CHECK_NEAR(a.r[1], -0.1, 1e-7);
    CHECK_NEAR(a.r[2], 0, 1e-7);
    for (int c = 0; c < 3; c++) CHECK_NEAR(b.r[c], 0, 1e-7);
    if (strcmp(ALL[i], "convex") == 0) continue;
    answer s = solve(ALL[i], slide, 0.5, 200);
    CHECK_NEAR(s.r[0], 0.5, 1e-7);
    CHECK_NEAR(s.r[1], 0.25, 1e-7);
    CHECK_NEAR(s.u[1], -1.5 + 3 * 0.25, 1e-7);
  }
}

/* Without De Saxcé's term a contact that slides lifts off with u_N = mu |u_T|: a = (1 + mu t)/(2 + 3 mu²). */
static void convex_lifts(void) {
  const double mu = 0.5, t = 1.5, q[3] = {-1, t, 0};
  double a = (1 + mu * t) / (2 + 3 * mu * mu);
  answer x = solve("convex", q, mu, 200);
  CHECK_NEAR(x.r[0], a, 1e-9);
  CHECK_NEAR(x.r[1], -mu * a, 1e-9);
  CHECK_NEAR(x.u[0], mu * fabs(x.u[1]), 1e-9);
  CHECK(!x.solution.certificate.converged);
}

/* Slip along the diagonal of the tangents: a box has sqrt(2) times the friction of the disk; the polygon of 8 corners
 * has one there. */
static void box_and_disk(void) {
  const double q[3] = {-1, -3, 3}, f = 0.25;
  answer box = solve("pgs", q, 0.5, 200), disk = solve("pgs-disk", q, 0.5, 200), polygon = solve("lcp", q, 0.5, 1000);
  for (int c = 1; c < 3; c++) {
    double sign = c == 1 ? 1 : -1;
    CHECK_NEAR(box.r[c], sign * f, 1e-9);
    CHECK_NEAR(disk.r[c], sign * f / sqrt(2), 1e-9);
    CHECK_NEAR(polygon.r[c], sign * f / sqrt(2), 1e-9);
    CHECK_NEAR(solve("nncg", q, 0.5, 200).r[c], sign * f, 1e-9);
    CHECK_NEAR(solve("nncg-disk", q, 0.5, 200).r[c], sign * f / sqrt(2), 1e-9);
  }
  CHECK(!box.solution.certificate.converged && disk.solution.certificate.converged);
}

/* Random problems of several bodies: errors of the answers that methods which go on until they are there reach. The
 * polygon's error is zero at its own solutions. */
static void random_bodies(void) {
  const struct {
    const char *name;
    int32_t iterations, samples, least; /* of 20 problems solved to 1e-8 */
  } expected[] = {{"lcp", 5000, 8, 19},       {"anitescu-hart", 200, 0, 17}, {"pgs-disk", 20000, 0, 18},
                  {"nncg-disk", 5000, 0, 18}, {"mass-split", 50000, 0, 16},  {"sqp", 30, 8, 12}};
  for (size_t m = 0; m < sizeof expected / sizeof *expected; m++) {
    ds_arena arena = {0};
    ds_options options = ds_default_options();
    options.method = ds_method_named(expected[m].name);
    options.max_iterations = expected[m].iterations, options.friction_samples = expected[m].samples;
    options.rel_err = 1e-5;
    uint64_t seed = 7;
    int32_t solved = 0, count = test_quick() ? 5 : 20;
    for (int32_t i = 0; i < count; i++) {
      ds_subproblem p = random_problem(&arena, &seed, 4, 4, 3);
      double *r = DS_NEW0(&arena, double, 3 * p.contact_count), *v = DS_NEW(&arena, double, p.dof);
      ds_certificate c;
      ds_solve s = {.arena = &arena, .options = &options, .purpose = DS_FOR_PROBLEM};
      CHECK(ds_project_island(&s, r, v, &c, &p));
      solved += c.natural_error <= 1e-8;
      ds_arena_reset(&arena);
    }
    printf("     %s: %d of %d to 1e-8\n", expected[m].name, (int)solved, (int)count);
    if (count == 20) CHECK(solved >= expected[m].least);
    ds_arena_free(&arena);
  }
}

/* Iteration i of nonlinear conjugate gradients as its paper writes it, from r, the gradient and the direction before.
 * Whether it restarts. */
static bool conjugate(ds_solve *s, const ds_pgs *pgs, ds_iterate *x, const ds_subproblem *p, double *gradient,
                      double *direction, int32_t i) {
  int32_t rows = 3 * p->contact_count;
  double square[2] = {0, 0};
  for (int32_t j = 0; j < rows; j++) square[0] += gradient[j] * gradient[j], gradient[j] = x->r[j];
  ds_pgs_sweep(s, pgs, x);
  for (int32_t j = 0; j < rows; j++) gradient[j] -= x->r[j], square[1] += gradient[j] * gradient[j];
  double beta = i > 0 ? square[1] / square[0] : 0;
  for (int32_t j = 0; j < rows; j++) {
    if (beta <= 1) x->r[j] += beta * direction[j];
    direction[j] = beta <= 1 ? beta * direction[j] - gradient[j] : 0;
  }
  ds_subproblem_velocity(x->v, p, x->r);
  return beta > 1;
}

/* The impulses of random problems after a few iterations, some of which restart, are those of the formulas. */
static void nncg_as_published(void) {
  ds_arena arena = {0};
  ds_options options = ds_default_options();
  options.method = ds_method_named("nncg-disk"), options.max_iterations = 12;
  uint64_t seed = 11;
  int32_t restarts = 0, restarted = 0;
  double worst = 0;
  for (int32_t i = 0; i < 20; i++) {
    ds_subproblem p = random_problem(&arena, &seed, 4, 4, 3);
    int32_t rows = 3 * p.contact_count;
    double *r = DS_NEW0(&arena, double, rows), *v = DS_NEW(&arena, double, p.dof);
    double *gradient = DS_NEW0(&arena, double, rows), *direction = DS_NEW0(&arena, double, rows);
    ds_certificate c;
    ds_solve s = {.arena = &arena, .options = &options, .purpose = DS_FOR_PROBLEM};
    CHECK(ds_project_island(&s, r, v, &c, &p));
    ds_pgs pgs;
    ds_iterate x = ds_iterate_new(&arena, &p);
    CHECK(ds_pgs_prepare(&arena, &pgs, &p, DS_FRICTION_DISK));
    ds_iterate_clear(&x, &p);
    int32_t before = restarts;
    for (int32_t k = 0; k + 1 < options.max_iterations; k++)
      restarts += conjugate(&s, &pgs, &x, &p, gradient, direction, k);
    ds_pgs_sweep(&s, &pgs, &x);
    restarted += restarts > before;
    double size = 0, off = 0;
    for (int32_t j = 0; j < rows; j++) size = fmax(size, fabs(x.r[j])), off = fmax(off, fabs(x.r[j] - r[j]));
    if (size > 0) worst = fmax(worst, off / size);
    ds_arena_reset(&arena);
  }
  printf("     %d restarts in %d of 20 problems, impulses differ by %.2g\n", (int)restarts, (int)restarted, worst);
  CHECK_LE(5, restarted);
  CHECK_LE(worst, 1e-10);
  ds_arena_free(&arena);
}

/* Largest distance between the bodies of a scene after a run with each of two methods; both with the polygon. */
static double difference(const char *spec, const char *a, const char *b, double time) {
  sim s[2];
  for (int i = 0; i < 2; i++) {
    if (!sim_generate(&s[i], spec)) return INFINITY;
    ds_options_choose(&s[i].options, ds_method_named(i == 0 ? a : b));
    s[i].options.integrator = DS_INTEGRATOR_EULER, s[i].options.friction_samples = 8;
    sim_run(&s[i], time);
  }
  double moved = sim_displacement(&s[0], s[1].state);
  sim_close(&s[0]);
  sim_close(&s[1]);
  return moved;
}

/* Where Lemke's method ends its answers are ours: cubes that slide and spin to a stop, a stack, leaning cards. */
static void lcp_is_ours(void) {
  CHECK_LE(difference("incline:mu=0.3,yaw=20", "coupled", "lcp", 0.3), 1e-8);
  CHECK_LE(difference("stack:count=5", "coupled", "lcp", 0.05), 1e-8);
  CHECK_LE(difference("card-house:levels=2", "coupled", "lcp", 0.05), 1e-8);
}

/* A cube that slides with velocity v floats h mu v above the floor with convex, and 0 with the others. */
static void convex_floats(void) {
  for (int i = 0; i < 2; i++) {
    sim s;
    if (!sim_generate(&s, "slide:velocity=2,mu=0.3")) return;
    ds_options_choose(&s.options, ds_method_named(i == 0 ? "convex" : "anitescu-hart"));
    sim_run(&s, 0.2);
    ds_body_id cube = sim_body(&s, "cube");
    double height = ds_state_center(s.state, cube).z - ds_state_center(s.start, cube).z;
    double v = ds_state_velocity(s.state, cube).x;
    printf("     %s: %.3g mm above the floor at %.3g m/s\n", i == 0 ? "convex" : "anitescu-hart", 1e3 * height, v);
    CHECK_NEAR(height, i == 0 ? s.options.step * 0.3 * v : 0, i == 0 ? 0.05 * s.options.step * 0.3 * v : 1e-8);
    sim_free(&s);
  }
}

/* What a stack of ten cubes, from no impulses, is left with: conjugate gradients are ahead of plain sweeps, shock
 * propagation leaves hardly any velocity but breaks Newton's law, and its certificate says so. */
static void stacks(void) {
  const char *methods[] = {"pgs-disk", "nncg-disk", "shock"};
  double error[3], momentum[3], moved[3];
  for (int i = 0; i < 3; i++) {
    sim s;
    if (!sim_generate(&s, "stack:count=10")) return;
    ds_options_choose(&s.options, ds_method_named(methods[i]));
    if (i < 2) s.options.max_iterations = 75;
    sim_step(&s);
    error[i] = s.report.worst.natural_error, momentum[i] = s.report.motion.momentum_share;
    sim_run(&s, 0.2);
    moved[i] = sim_displacement(&s, s.start);
    CHECK(s.unconverged > 0 || i == 1);
    sim_free(&s);
  }
  printf("     error of the first step %.2g, %.2g, %.2g; moved by %.2g, %.2g, %.2g m\n", error[0], error[1], error[2],
         moved[0], moved[1], moved[2]);
  CHECK(error[1] < 0.3 * error[0]);
  CHECK(error[2] > 0.1 && momentum[2] > 0.1);
  CHECK(moved[2] < 0.1 * moved[0]);
  CHECK(momentum[0] < 1e-10 && momentum[1] < 1e-10);
}

/* What goes with a method, unless the scene has its own. */
static void defaults(void) {
  ds_options o = ds_default_options();
  o.integrator = DS_INTEGRATOR_MIDPOINT;
  ds_options_choose(&o, ds_method_named("nncg"));
  CHECK(o.max_iterations == 75 && o.integrator == DS_INTEGRATOR_EULER);
  const char *own[] = {"options.method=pgs", "options.max_iterations=12", "options.integrator=midpoint"};
  ds_run_settings run = {.options = ds_default_options()};
  ds_scene *scene = scene_generate(&run, "stack:count=2", own, 3);
  CHECK(run.options.max_iterations == 12 && run.options.integrator == DS_INTEGRATOR_MIDPOINT);
  ds_scene_destroy(scene);
  scene = scene_generate(&run, "stack:count=2", own, 1);
  CHECK(run.options.max_iterations == 100 && run.options.integrator == DS_INTEGRATOR_EULER);
  ds_scene_destroy(scene);
}

/* A scene of two steps with a method: done, with numbers that are numbers and a verdict. */
static void take_two_steps(ds_scene *scene, const ds_run_settings *run, const char *spec, const char *method) {
  sim s;
  s.options = run->options;
  if (!sim_start(&s, spec, scene, 1)) return;
  bool finite = true;
  for (int i = 0; i < 2 && sim_step(&s); i++) finite &= s.report.contacts > 0 && !isnan(s.report.worst.natural_error);
  for (int32_t i = 0; i < ds_scene_body_count(s.scene); i++) {
    ds_vec3 at = ds_state_center(s.state, ds_scene_body(s.scene, i));
    finite &= isfinite(at.x + at.y + at.z);
  }
  if (s.failed > 0 || !finite) printf("     %s with %s: %d steps failed\n", spec, method, (int)s.failed);
  CHECK(s.failed == 0 && finite);
  sim_free(&s);
}

/* Every method takes every scene that it can express, and refuses the others with a reason. Scenes that touch from the
 * beginning, of all kinds of contacts and joints. */
static void every_scene(void) {
  static const char *const specs[] = {
      "arch:stones=5",    "ball-loop", "bridge:planks=2", "card-house:levels=1",       "card-pair",
      "dominoes:count=3", "incline",   "linkage",         "mechanism:count=1",         "overhang",
      "pyramid:rows=2",   "roll",      "slide",           "stack:count=3,top_mass=10", "wall:rows=2,bricks=2",
      "soft-incline"};
  int32_t taken = 0, refused = 0;
  for (size_t i = 0; i < sizeof specs / sizeof *specs; i++)
    for (ds_method method = 0; ds_method_name(method); method++) {
      ds_run_settings run = {.options = ds_default_options()};
      ds_error error = {""};
      char setting[64], *text = ds_generate(specs[i], &error), *changed = NULL;
      const char *settings[] = {setting, "options.max_iterations=2"}; /* sqp: 10 s a step for a soft block */
      snprintf(setting, sizeof setting, "options.method=%s", ds_method_name(method));
      if (text)
        changed = ds_scene_set(text, strlen(text), specs[i], settings, 1 + (strcmp(ds_method_name(method), "sqp") == 0),
                               &error);
      ds_scene_read_options reading = ds_default_scene_read();
      ds_scene *scene =
          changed ? ds_scene_read_text_with(changed, strlen(changed), specs[i], &reading, &run, &error) : NULL;
      free(text), free(changed);
      if (!scene) CHECK(ds_method_is_rigid(method) && strstr(error.message, "rigid bodies without joints"));
      refused += !scene, taken += scene != NULL;
      if (scene) take_two_steps(scene, &run, specs[i], ds_method_name(method));
    }
  printf("     %d taken, %d refused\n", (int)taken, (int)refused);
  CHECK(taken > 250 && refused == 3 * 6); /* variants of ffd: two scenes with joints, a deformable one */
}

int main(void) {
  RUN(one_contact);
  RUN(convex_lifts);
  RUN(box_and_disk);
  RUN(random_bodies);
  RUN(nncg_as_published);
  RUN(lcp_is_ours);
  RUN(convex_floats);
  RUN(stacks);
  RUN(defaults);
  RUN(every_scene);
  return test_summary();
}
