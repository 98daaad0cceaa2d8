/* The path of the homotopy against differences of its equations, which are written here once more. The file under test
 * is part of this one. Tangent, correction and curvature are checked at points inside the cones, on the path and off
 * it, with De Saxcé's term off, half in and nearly all in. */
#include "project/homotopy.c" /* NOLINT: its static functions are what is tested */

#include "bare_solve.h"
#include "check.h"
#include "random_ds_problem.h"
#include "random_problem.h"

/* F1 = y + ((1 - t) n + t kappa) e_0 + t offset - z, F2 = t m e - x o z at a point; 3 a contact each. */
static void equations(double *f1, double *f2, const path *q, const point *at, ds_iterate *work) {
  const ds_subproblem *p = q->p;
  double t = exp(at->s);
  for (int32_t i = 0; i < 3 * q->n; i++) {
    bool smooth_contact = p->mu[i / 3] < 1e-6;
    work->r[i] = i % 3 == 0 && !smooth_contact ? at->x[i] / p->mu[i / 3] : at->x[i];
  }
  ds_subproblem_velocity(work->v, p, work->r);
  ds_subproblem_slip(work->u, p, work->v);
  for (int32_t k = 0; k < q->n; k++) {
    const double *x = at->x + 3 * k, *z = at->z + 3 * k, *u = work->u + 3 * k;
    bool without = p->mu[k] < 1e-6;
    double y[3] = {without ? u[0] : u[0] / p->mu[k], without ? 0 : u[1], without ? 0 : u[2]};
    double n = sqrt(y[1] * y[1] + y[2] * y[2] + t * t * q->sigma * q->sigma);
    f1[3 * k] = y[0] + (1 - t) * n + t * q->kappa - z[0];
    f2[3 * k] = t * q->m - (x[0] * z[0] + x[1] * z[1] + x[2] * z[2]);
    for (int i = 1; i < 3; i++) f1[3 * k + i] = y[i] - z[i], f2[3 * k + i] = -(x[0] * z[i] + z[0] * x[i]);
    for (int i = 0; q->offset && i < 3; i++) f1[3 * k + i] += t * q->offset[3 * k + i];
  }
}

typedef struct bench {
  path q;
  point at;
  ds_iterate work;
  double *f[6]; /* of three points, F1 and F2 */
} bench;

static bool open_bench(bench *b, ds_arena *arena, const ds_subproblem *p, ds_solve *solve) {
  size_t n = 3 * (size_t)p->contact_count + 1;
  b->q = (path){.p = p, .solve = solve, .system = solve->system, .n = p->contact_count};
  b->at = (point){.x = DS_NEW0(arena, double, n), .z = DS_NEW0(arena, double, n)};
  b->work = ds_iterate_new(arena, p);
  for (int i = 0; i < 6; i++) b->f[i] = DS_NEW0(arena, double, n);
  return !ds_arena_failed(arena) && allocate(arena, &b->q) && start(&b->q, 1, NULL);
}

/* Of a random problem; false where its path does not begin. */
static bool random_bench(bench *b, ds_arena *arena, uint64_t *s) {
  ds_subproblem *p = DS_NEW(arena, ds_subproblem, 1);
  ds_solve *solve = DS_NEW(arena, ds_solve, 1);
  CHECK(p && solve);
  int32_t bodies = 1 + random_int(s, 4), contacts = 1 + random_int(s, 2 * bodies);
  *p = random_problem(arena, s, bodies, contacts, 1 + random_int(s, 3));
  *solve = bare_solve(arena, p);
  *b = (bench){0};
  return solve->system && open_bench(b, arena, p, solve);
}

/* F at now + h d + h²/2 c */
static void shifted(bench *b, double **f, const point *d, const point *c, double h) {
  copy_point(&b->at, &b->q.now, &b->q);
  add(&b->at, d, h, &b->q);
  if (c) add(&b->at, c, 0.5 * h * h, &b->q);
  equations(f[0], f[1], &b->q, &b->at, &b->work);
}

/* Largest |F'(d) - want| relative to sizes of the parts, by central differences; want is -F times `share`. */
static double off_by(bench *b, const point *d, double share) {
  const path *q = &b->q;
  double h = 1e-6 / sqrt(dot(q, d, d)), worst = 0, t = exp(q->now.s);
  shifted(b, b->f, d, NULL, 0);
  shifted(b, b->f + 2, d, NULL, h);
  shifted(b, b->f + 4, d, NULL, -h);
  for (int32_t i = 0; i < 3 * q->n; i++) {
    double d1 = (b->f[2][i] - b->f[4][i]) / (2 * h) + share * b->f[0][i];
    double d2 = (b->f[3][i] - b->f[5][i]) / (2 * h) + share * b->f[1][i];
    worst = fmax(worst, fmax(fabs(d1) / (q->now.z[i / 3 * 3] + q->kappa), fabs(d2) / (t * q->m)));
  }
  return worst * h * 1e6; /* of a direction of length 1 */
}

static void directions_solve_the_linearized_equations(void) {
  enum { CASES = 150 };
  uint64_t s = 31;
  ds_arena arena = {0};
  double worst[3] = {0, 0, 0};
  int compared = 0, refused = 0;
  for (int i = 0; i < CASES; i++) {
    ds_arena_reset(&arena);
    int32_t bodies = 1 + random_int(&s, 4);
    ds_subproblem p = random_problem(&arena, &s, bodies, 1 + random_int(&s, 2 * bodies), 1 + random_int(&s, 3));
    ds_solve solve = bare_solve(&arena, &p);
    bench b = {0};
    if (!solve.system || !open_bench(&b, &arena, &p, &solve)) {
      refused++;
      continue;
    }
    path *q = &b.q;
    q->now.s = log(i % 3 == 0 ? 1 : i % 3 == 1 ? 0.5 : 0.05); /* off the path, but inside the cones */
    double away = evaluate(q, &q->now), most = 0, t = exp(q->now.s);
    equations(b.f[0], b.f[1], q, &q->now, &b.work);
    for (int32_t j = 0; j < 3 * q->n; j++) {
      CHECK_NEAR(q->e1[j], b.f[0][j], 1e-12 * p.target);
      CHECK_NEAR(q->e2[j], b.f[1][j], 1e-12 * q->m);
    }
    for (int32_t k = 0; k < q->n; k++)
      most = fmax(most, sqrt(pow(b.f[1][3 * k], 2) + pow(b.f[1][3 * k + 1], 2) + pow(b.f[1][3 * k + 2], 2)));
    CHECK_NEAR(away, most / (t * q->m), 1e-9 * away);
    if (!factor(q)) continue;
    direction(q, &q->tangent, NULL, NULL, 1); /* F' d = 0 along it */
    worst[0] = fmax(worst[0], off_by(&b, &q->tangent, 0));
    direction(q, &q->correction, q->e1, q->e2, 0); /* F' d = -F */
    worst[1] = fmax(worst[1], off_by(&b, &q->correction, 1));
    /* with the curvature F stays what it is to the third order: halving the step leaves an eighth */
    directions(q);
    find_curvature(q);
    CHECK_NEAR(dot(q, &q->tangent, &q->tangent), 1, 1e-9);
    CHECK_NEAR(dot(q, &q->tangent, &q->correction), 0, 1e-6 * (1 + sqrt(dot(q, &q->correction, &q->correction))));
    shifted(&b, b.f, &q->tangent, &q->curvature, 0);
    shifted(&b, b.f + 2, &q->tangent, &q->curvature, 2e-3);
    shifted(&b, b.f + 4, &q->tangent, &q->curvature, 1e-3);
    double change[2] = {0, 0};
    for (int32_t j = 0; j < 3 * q->n; j++)
      for (int c = 0; c < 2; c++) {
        double d1 = (b.f[2 + 2 * c][j] - b.f[0][j]) / q->kappa, d2 = (b.f[3 + 2 * c][j] - b.f[1][j]) / (t * q->m);
        change[c] = hypot(change[c], hypot(d1, d2));
      }
    if (change[0] > 1e-9) worst[2] = fmax(worst[2], change[1] / change[0]);
    compared++;
  }
  printf("     %d points: tangent off by %.1e, correction by %.1e, half a step leaves %.3f, an eighth is right\n",
         compared, worst[0], worst[1], worst[2]);
  CHECK(compared > CASES / 2);
  CHECK_LE(refused, CASES / 4);
  CHECK_LE(worst[0], 1e-6);
  CHECK_LE(worst[1], 1e-6);
  CHECK_LE(worst[2], 0.13);
  ds_arena_free(&arena);
}

/* Impulses that others have found are the start of a path of their own: inside the cones, on the path, its directions
 * those of its equations. */
static void a_path_starts_near_given_impulses(void) {
  enum { CASES = 150 };
  uint64_t s = 37;
  ds_arena arena = {0};
  double lacks = 0, worst[2] = {0, 0};
  int compared = 0;
  for (int i = 0; i < CASES; i++) {
    ds_arena_reset(&arena);
    bench b;
    if (!random_bench(&b, &arena, &s)) continue;
    path *q = &b.q;
    ds_iterate from = ds_iterate_new(&arena, q->p);
    q->offset = DS_NEW0(&arena, double, 3 * (size_t)q->n + 1);
    CHECK(!ds_arena_failed(&arena));
    for (int32_t k = 0; k < q->n; k++) {
      double pushes = random_unit(&s) < 0.3 ? 0 : 1;
      for (int c = 0; c < 3; c++) from.r[3 * k + c] = pushes * q->sigma / q->p->scale[k] * random_normal(&s);
      ds_cone_project(from.r + 3 * k, from.r + 3 * k, q->p->mu[k]);
    }
    ds_iterate_update(&from, q->p);
    q->m = 0;
    if (!start(q, 1, &from)) continue; /* they happen to be a solution */
    double t = exp(q->now.s);
    if (t < 1e-6 || t > 10) continue; /* one but for rounding; or so far away that differences have no digits */
    equations(b.f[0], b.f[1], q, &q->now, &b.work);
    for (int32_t k = 0; k < q->n; k++) CHECK(is_inside(q->now.x + 3 * k) && is_inside(q->now.z + 3 * k));
    for (int32_t j = 0; j < 3 * q->n; j++) {
      double z = q->now.z[j / 3 * 3];
      lacks = fmax(lacks, fmax(fabs(b.f[0][j]) / (z + q->p->target), fabs(b.f[1][j]) / (t * q->m)));
    }
    evaluate(q, &q->now);
    if (!factor(q)) continue;
    direction(q, &q->tangent, NULL, NULL, 1);
    worst[0] = fmax(worst[0], off_by(&b, &q->tangent, 0));
    directions(q);
    CHECK(q->tangent.s < 0); /* it is left towards the problem, whatever the sign of det J */
    find_curvature(q);
    double change[2] = {0, 0};
    shifted(&b, b.f + 2, &q->tangent, &q->curvature, 2e-3);
    shifted(&b, b.f + 4, &q->tangent, &q->curvature, 1e-3);
    for (int32_t j = 0; j < 3 * q->n; j++)
      for (int c = 0; c < 2; c++)
        change[c] = hypot(change[c], hypot(b.f[2 + 2 * c][j] / q->kappa, b.f[3 + 2 * c][j] / (t * q->m)));
    if (change[0] > 1e-9) worst[1] = fmax(worst[1], change[1] / change[0]);
    compared++;
  }
  printf("     %d starts: lack %.1e, tangent off by %.1e, half a step leaves %.3f\n", compared, lacks, worst[0],
         worst[1]);
  CHECK(compared > CASES / 2);
  CHECK_LE(lacks, 1e-9);
  CHECK_LE(worst[0], 1e-6);
  CHECK_LE(worst[1], 0.13);
  ds_arena_free(&arena);
}

/* Where double has digits enough, twice as many give the same directions. */
static void twofold_directions_are_the_same(void) {
  uint64_t s = 35;
  ds_arena arena = {0};
  double worst = 0;
  int compared = 0;
  for (int i = 0; i < 100; i++) {
    ds_arena_reset(&arena);
    bench b;
    if (!random_bench(&b, &arena, &s)) continue;
    path *q = &b.q;
    q->now.s = log(i % 2 == 0 ? 0.5 : 0.05);
    evaluate(q, &q->now);
    if (!factor(q)) continue;
    directions(q);
    const point *both[2] = {&q->tangent, &q->correction};
    for (int k = 0; k < 2; k++) {
      double length = sqrt(dot(q, both[k], both[k]));
      copy_point(k == 0 ? &q->last : &q->before, both[k], q);
      CHECK(length > 0);
    }
    CHECK(!q->rounded && widen(q));
    double away = evaluate(q, &q->now);
    CHECK(isfinite(away));
    CHECK(factor_twofold(q));
    directions(q);
    for (int k = 0; k < 2; k++) {
      point *old = k == 0 ? &q->last : &q->before;
      double length = sqrt(dot(q, both[k], both[k]));
      add(old, both[k], -1, q);
      worst = fmax(worst, sqrt(dot(q, old, old)) / length);
    }
    compared++;
  }
  printf("     %d points: off by %.1e\n", compared, worst);
  CHECK(compared > 50);
  CHECK_LE(worst, 1e-8);
  ds_arena_free(&arena);
}

/* Corrections alone take a point to its equations: in twice the digits far below the rounding of x and z, as contacts
 * need of which z_0² - |z_T|² is. The equations are those of double. */
static void twofold_points_have_twice_the_digits(void) {
  uint64_t s = 36;
  ds_arena arena = {0};
  double apart = 0, left = 0;
  int compared = 0;
  for (int i = 0; i < 100; i++) {
    ds_arena_reset(&arena);
    bench b;
    if (!random_bench(&b, &arena, &s)) continue;
    path *q = &b.q;
    if (i % 3 == 0) q->offset = DS_NEW0(&arena, double, 3 * (size_t)q->n + 1);
    for (int32_t j = 0; q->offset && j < 3 * q->n; j++) q->offset[j] = q->kappa * random_unit(&s);
    CHECK(widen(q));
    q->now.s = log(i % 2 == 0 ? 0.5 : 0.05);
    double away = evaluate(q, &q->now), t = exp(q->now.s);
    equations(b.f[0], b.f[1], q, &q->now, &b.work);
    for (int32_t j = 0; j < 3 * q->n; j++) {
      apart = fmax(apart, fabs(q->e1[j] - b.f[0][j]) / q->p->target);
      apart = fmax(apart, fabs(q->e2[j] - b.f[1][j]) / (q->m + t * q->m * away));
    }
    double most = INFINITY;
    for (int step = 0; step < 40 && most > 1e-25; step++) {
      double a = 1;
      if (!factor_twofold(q)) break;
      direction(q, &q->correction, q->e1, q->e2, 0); /* for the same t */
      while (!move(q, 0, a)) a *= SHORTER;
      swap_points(q);
      evaluate(q, &q->now);
      most = 0;
      for (int32_t j = 0; j < 3 * q->n; j++)
        most = fmax(most, fmax(fabs(q->e1[j]) / q->p->target, fabs(q->e2[j]) / (t * q->m)));
    }
    if (!(most < 1e-3)) continue; /* they start too far away for corrections alone */
    left = fmax(left, most);
    compared++;
  }
  for (int sign = -1; sign <= 1; sign += 2) { /* beside the cone by less than a double can tell */
    double x[3] = {5, 3, 4}, rest[3] = {sign * 1e-18, 0, 0};
    CHECK(is_inside_twofold(&(point){.x = x, .z = x, .x_rest = rest, .z_rest = rest}, 0) == (sign > 0));
  }
  printf("     %d points: equations apart by %.1e, %.1e left of them\n", compared, apart, left);
  CHECK(compared > 50);
  CHECK_LE(apart, 1e-12);
  CHECK_LE(left, 1e-24);
  ds_arena_free(&arena);
}

/* B is as large as x/z and multiplies the rounding of dv: what is left of dz = T D⁻¹ Gᵀ dv + e1, dv = G D⁻¹ dx, is
 * rounding of the terms all the same, however large that is. */
static void directions_are_refined(void) {
  uint64_t s = 33;
  ds_arena arena = {0};
  double worst = 0;
  int compared = 0;
  for (int i = 0; i < 100; i++) {
    ds_arena_reset(&arena);
    bench b;
    if (!random_bench(&b, &arena, &s)) continue;
    path *q = &b.q;
    q->now.s = log(0.01);
    for (int32_t j = 0; j < 3 * q->n; j++) q->now.x[j] *= 1e4, q->now.z[j] *= 1e-4;
    evaluate(q, &q->now);
    if (!factor(q)) continue;
    direction(q, &q->correction, q->e1, q->e2, 0);
    double size = 0, left = 0;
    for (int32_t j = 0; j < 3 * q->n; j++) size = fmax(size, fabs(q->correction.z[j]) + fabs(q->e1[j]));
    push(q, q->correction.x);
    slip_of(q);
    for (int32_t j = 0; j < 3 * q->n; j++) left = fmax(left, fabs(q->e1[j] + q->gdv[j] - q->correction.z[j]));
    worst = fmax(worst, left / size);
    compared++;
  }
  printf("     %d directions: %.1e left\n", compared, worst);
  CHECK(compared > 50);
  CHECK_LE(worst, 1e-11);
  ds_arena_free(&arena);
}

/* Forward is against the sign of det J: at the start of the path, where J is positive definite, t falls. */
static void path_starts_downwards(void) {
  uint64_t s = 32;
  ds_arena arena = {0};
  int cases = 0, solved = 0, lost = 0;
  double steps = 0;
  for (int i = 0; i < 200; i++) {
    ds_arena_reset(&arena);
    int32_t bodies = 1 + random_int(&s, 5);
    ds_subproblem p = random_problem(&arena, &s, bodies, 1 + random_int(&s, 2 * bodies), 1 + random_int(&s, 4));
    ds_solve solve = bare_solve(&arena, &p);
    bench b = {0};
    if (!solve.system || !open_bench(&b, &arena, &p, &solve)) continue;
    evaluate(&b.q, &b.q.now);
    if (!factor(&b.q)) continue;
    directions(&b.q);
    CHECK(b.q.tangent.s < 0);
    cases++;
    /* and it ends in a solution, from no start at all */
    solve.goal = (ds_goal){.tolerance = 1e-8, .moving = 1e-8, .target = 1e-9};
    ds_homotopy_options o = {.relaxation = 1, .iterations = 400};
    ds_iterate best = ds_iterate_new(&arena, &p);
    solve.work = (ds_work){0};
    best.error = INFINITY;
    ds_homotopy_end end = ds_homotopy_solve(&solve, &best, &p, &o);
    solved += end == DS_HOMOTOPY_SOLVED, lost += end == DS_HOMOTOPY_LOST;
    if (end == DS_HOMOTOPY_SOLVED) CHECK_LE(ds_subproblem_error(&p, best.r, best.u), 1e-8);
    steps += solve.work.projections;
  }
  printf("     %d of %d paths end in a solution, %d are lost; %.1f steps each\n", solved, cases, lost, steps / cases);
  CHECK(cases > 150);
  CHECK_LE(lost, 0.03 * cases);
  CHECK_LE(steps, 25 * cases);
  ds_arena_free(&arena);
}

int main(void) {
  RUN(directions_solve_the_linearized_equations);
  RUN(twofold_directions_are_the_same);
  RUN(twofold_points_have_twice_the_digits);
  RUN(directions_are_refined);
  RUN(path_starts_downwards);
  RUN(a_path_starts_near_given_impulses);
  return test_summary();
}
