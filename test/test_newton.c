/* Newton's matrix against differences of the map itself. The file under test is part of this one, so that a single step
 * can be looked at: dr must be the direction in which Phi falls to zero, Phi(r + t dr) = (1 - t) Phi(r) + O(t²). The
 * map is written here once more, from its definition. */
#include "project/newton.c" /* NOLINT: its static functions are what is tested */

#include "bare_solve.h"
#include "check.h"
#include "random_problem.h"

enum { OPEN, STICK, SLIDE, MODES };

/* The nearest point of a polygon of k corners, from its definition: of all points of all sides. Which side, or corner.
 */
static int nearest_of_polygon(double p[2], const double z[2], double radius, int k) {
  double least = INFINITY, outside = -INFINITY, width = 2 * DS_PI / k;
  int which = 0;
  for (int j = 0; j < k; j++) {
    double a[2] = {radius * cos(j * width), radius * sin(j * width)};
    double e[2] = {radius * cos((j + 1) * width) - a[0], radius * sin((j + 1) * width) - a[1]};
    double s = ((z[0] - a[0]) * e[0] + (z[1] - a[1]) * e[1]) / (e[0] * e[0] + e[1] * e[1]);
    double share = fmax(0, fmin(1, s)), q[2] = {a[0] + share * e[0], a[1] + share * e[1]};
    double away = hypot(z[0] - q[0], z[1] - q[1]);
    outside = fmax(outside, (z[0] - a[0]) * e[1] - (z[1] - a[1]) * e[0]);
    if (away >= least) continue;
    least = away, p[0] = q[0], p[1] = q[1];
    which = 2 * (s >= 1 ? (j + 1) % k : j) + (s > 0 && s < 1);
  }
  if (outside > 0) return SLIDE + which;
  p[0] = z[0], p[1] = z[1];
  return STICK;
}

/* Phi = r - P(z), z = r - (u + alpha W (r - c))/W, of one contact; its mode. */
static int map_of(double phi[3], const double *r, const double *u, const double *c, double mu, double w, double alpha,
                  int samples) {
  double z[3];
  for (int i = 0; i < 3; i++) z[i] = r[i] - (u[i] + alpha * w * (r[i] - c[i])) / w;
  double radius = mu * fmax(0, z[0]), length = hypot(z[1], z[2]), share = length > radius ? radius / length : 1;
  phi[0] = r[0] - fmax(0, z[0]);
  if (samples > 0 && radius > 0) {
    double p[2];
    int mode = nearest_of_polygon(p, z + 1, radius, samples);
    for (int i = 0; i < 2; i++) phi[1 + i] = r[1 + i] - p[i];
    return mode;
  }
  for (int i = 1; i < 3; i++) phi[i] = r[i] - share * z[i];
  return z[0] <= 0 ? OPEN : length <= radius ? STICK : SLIDE;
}

/* Phi at r + t dr, and whether all modes are those given. */
static bool map_at(double *phi, int *mode, ds_iterate *x, const newton *n, const double *r, const double *dr, double t,
                   double alpha) {
  const ds_subproblem *p = n->p;
  bool same = true;
  for (int32_t i = 0; i < 3 * p->contact_count; i++) x->r[i] = r[i] + t * dr[i];
  ds_iterate_update(x, p);
  for (int32_t k = 0; k < p->contact_count; k++) {
    int now =
        map_of(phi + 3 * k, x->r + 3 * k, x->u + 3 * k, n->center + 3 * k, p->mu[k], p->weight[k], alpha, p->samples);
    same &= t == 0 || now == mode[k];
    mode[k] = now;
  }
  return same;
}

static bool setup(newton *n, ds_arena *arena, const ds_subproblem *p, ds_solve *solve) {
  *n = (newton){.p = p, .solve = solve};
  n->c = DS_NEW(arena, double, 9 * (size_t)p->contact_count + 1);
  n->phi = DS_NEW(arena, double, 3 * (size_t)p->contact_count + 1);
  n->dv = DS_NEW(arena, double, p->dof + 1);
  n->gdv = DS_NEW(arena, double, 3 * (size_t)p->contact_count + 1);
  n->center = DS_NEW(arena, double, 3 * (size_t)p->contact_count + 1);
  return !ds_arena_failed(arena);
}

static void step_is_newtons_of(int32_t samples) {
  enum { CASES = 400 };
  uint64_t s = 21;
  ds_arena arena = {0};
  int compared = 0, seen[MODES] = {0};
  double worst = 0;
  for (int i = 0; i < CASES; i++) {
    ds_arena_reset(&arena);
    int32_t bodies = 1 + random_int(&s, 4);
    ds_subproblem p = random_problem(&arena, &s, bodies, 1 + random_int(&s, 2 * bodies), 1 + random_int(&s, 3));
    p.samples = samples;
    ds_solve solve = bare_solve(&arena, &p);
    ds_iterate x = ds_iterate_new(&arena, &p);
    newton n = {0};
    size_t size = 3 * (size_t)p.contact_count + 1;
    double alpha = i % 3 == 0 ? 1 : i % 3 == 1 ? 0.1 : 1e-3, *start = DS_NEW0(&arena, double, size);
    double *dr = DS_NEW0(&arena, double, size), *phi[3];
    int *mode = DS_NEW0(&arena, int, p.contact_count + 1);
    for (int j = 0; j < 3; j++) phi[j] = DS_NEW0(&arena, double, size);
    bool ready = solve.system && setup(&n, &arena, &p, &solve) && !ds_arena_failed(&arena);
    CHECK(ready);
    if (!ready) continue;
    for (int32_t j = 0; j < 3 * p.contact_count; j++) {
      double typical = p.target * p.rho;
      start[j] = typical * (j % 3 == 0 ? random_in(&s, -0.5, 2) : random_in(&s, -0.7, 0.7));
      n.center[j] = start[j] + typical * random_in(&s, -0.3, 0.3);
    }
    map_at(phi[0], mode, &x, &n, start, dr, 0, alpha);
    for (int32_t k = 0; k < p.contact_count; k++) seen[mode[k] < SLIDE ? mode[k] : SLIDE]++;
    double sum = 0, norm = 0;
    for (int32_t j = 0; j < 3 * p.contact_count; j++) sum += phi[0][j] * phi[0][j], norm += start[j] * start[j];
    n.trial = x, n.alpha = alpha;
    double length = build(&n);
    CHECK_NEAR(length, sqrt(sum) / fmax(sqrt(norm), p.rho * p.target), 1e-12);
    for (int32_t k = 0; k < p.contact_count; k++) CHECK(!(n.symmetric && mode[k] >= SLIDE && p.mu[k] > 0));
    if (!ds_system_factor(solve.system, n.c, n.symmetric)) continue;
    newton_step(&n);
    double step = 0;
    for (int32_t j = 0; j < 3 * p.contact_count; j++) dr[j] = x.r[j] - start[j], step += dr[j] * dr[j];
    double t = 1e-6 * fmax(sqrt(norm), p.rho * p.target) / sqrt(step);
    bool smooth = map_at(phi[1], mode, &x, &n, start, dr, t, alpha);
    smooth &= map_at(phi[2], mode, &x, &n, start, dr, -t, alpha);
    if (!smooth) continue;
    double off = 0;
    for (int32_t j = 0; j < 3 * p.contact_count; j++)
      off = fmax(off, fabs((phi[1][j] - phi[2][j]) / (2 * t) + phi[0][j]));
    worst = fmax(worst, off / sqrt(sum));
    compared++;
  }
  printf("     %d corners: %d of %d steps compared, %d open, %d stick, %d slide: off by %.1e at most\n", (int)samples,
         compared, CASES, seen[OPEN], seen[STICK], seen[SLIDE], worst);
  CHECK(compared > CASES / 2 && seen[OPEN] > 100 && seen[STICK] > 100 && seen[SLIDE] > 100);
  CHECK_LE(worst, 1e-5);
  ds_arena_free(&arena);
}

static void step_is_newtons(void) {
  step_is_newtons_of(0);
  step_is_newtons_of(4);
  step_is_newtons_of(7);
}

/* Near a solution Newton's method is quadratic: from an error of 1e-4 it takes a handful of steps, whatever slides. */
static void few_steps_from_near(void) {
  uint64_t s = 22;
  ds_arena arena = {0};
  int steps = 0, most = 0, cases = 0, solved = 0;
  for (int i = 0; i < 300; i++) {
    ds_arena_reset(&arena);
    int32_t bodies = 1 + random_int(&s, 5);
    ds_subproblem p = random_problem(&arena, &s, bodies, 1 + random_int(&s, 2 * bodies), 1 + random_int(&s, 4));
    p.samples = i % 3 == 2 ? 8 : 0;
    ds_solve solve = bare_solve(&arena, &p);
    ds_iterate x = ds_iterate_new(&arena, &p);
    ds_goal goal = {.tolerance = 1e-10, .moving = 1e-10, .target = 1e-12};
    if (!ds_newton_solve(&solve, &x, &p, &goal, 1e-2, 100)) continue;
    double size = p.rho * p.target;
    for (int32_t k = 0; k < p.contact_count; k++) /* what is open stays open */
      for (int j = 0; j < 3 && x.r[3 * k] > 1e-3 * size; j++) x.r[3 * k + j] += 1e-5 * size * random_in(&s, -1, 1);
    ds_iterate_update(&x, &p);
    solve.work = (ds_work){0};
    goal.tolerance = goal.moving = goal.target = 1e-9;
    solved += ds_newton_solve(&solve, &x, &p, &goal, 1e-4, 100);
    steps += solve.work.projections;
    most = solve.work.projections > most ? solve.work.projections : most;
    cases++;
  }
  printf("     %d steps for %d problems, %d at most\n", steps, cases, most);
  CHECK(cases > 200);
  CHECK_NEAR(solved, cases, 2);
  CHECK_LE(steps, 2 * cases);
  ds_arena_free(&arena);
}

int main(void) {
  RUN(step_is_newtons);
  RUN(few_steps_from_near);
  return test_summary();
}
