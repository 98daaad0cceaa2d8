/* The projections and solvers on random problems, redundant ones included: optimality conditions, equivalences. */
#include "project/projections.h"

#include <stdlib.h>

#include "bare_solve.h"
#include "check.h"
#include "drystone/drystone.h"
#include "own_error.h"
#include "problem/effort.h"
#include "project/deadline.h"
#include "project/gauss_seidel.h"
#include "project/newton.h"
#include "project/polish.h"
#include "project/project.h"
#include "project/staggered.h"
#include "random_problem.h"

/* sizes of the i-th random problem */
static ds_subproblem pick(ds_arena *arena, uint64_t *s, int i) {
  int32_t bodies = 1 + random_int(s, 1 + i % 12), patches = 1 + random_int(s, 2 * bodies);
  return random_problem(arena, s, bodies, patches, 1 + random_int(s, i % 3 == 0 ? 1 : 9));
}

/* KKT of the contact projection: v = v_hat + N alpha, alpha >= 0, s = Nᵀv - b >= 0, alpha s = 0. */
static void contact_projection_kkt(void) {
  uint64_t s = 11;
  ds_arena arena = {0};
  double worst = 0;
  int failed = 0;
  for (int i = 0; i < 2000; i++) {
    ds_arena_reset(&arena);
    ds_subproblem p = pick(&arena, &s, i);
    ds_solve solve = bare_solve(&arena, &p);
    ds_iterate x = ds_iterate_new(&arena, &p);
    double error = ds_project_contact(&solve, x.r, x.v, &p, p.predicted, 1e-9);
    ds_subproblem_slip(x.u, &p, x.v);
    double scale = p.target, impulse = scale * p.rho;
    for (int32_t k = 0; k < p.contact_count; k++) {
      double a = x.r[3 * k], u = x.u[3 * k];
      if (a < 0 || u < -1e-6 * scale || a * fmax(u, 0) > 1e-6 * scale * impulse) failed++;
    }
    worst = fmax(worst, error);
  }
  CHECK_NEAR(failed, 0, 0);
  CHECK_LE(worst, 1e-8);
  ds_arena_free(&arena);
}

/* KKT of the friction projection for given alpha: |beta| <= mu alpha, and beta opposes the slip wherever there is one.
 */
static void friction_projection_kkt(void) {
  uint64_t s = 12;
  ds_arena arena = {0};
  double worst = 0;
  int failed = 0;
  for (int i = 0; i < 2000; i++) {
    ds_arena_reset(&arena);
    ds_subproblem p = pick(&arena, &s, i);
    double *b = DS_NEW0(&arena, double, 3 * (size_t)p.contact_count + 1);
    for (int32_t k = 0; k < 3 * p.contact_count; k++) /* supports that move along */
      b[k] = k % 3 == 0 || i % 2 ? p.b[k] : random_in(&s, -0.1, 0.1);
    p.b = b;
    CHECK(ds_subproblem_prepare(&arena, &p));
    ds_solve solve = bare_solve(&arena, &p);
    ds_iterate x = ds_iterate_new(&arena, &p);
    for (int32_t k = 0; k < p.contact_count; k++) x.r[3 * k] = random_unit(&s) < 0.2 ? 0 : random_in(&s, 0, 0.2);
    double error = ds_project_friction(&solve, x.r, x.v, &p, p.predicted, 1e-9, 0);
    ds_subproblem_slip(x.u, &p, x.v);
    double scale = p.target;
    for (int32_t k = 0; k < p.contact_count; k++) {
      double radius = p.mu[k] * x.r[3 * k], *b = x.r + 3 * k + 1, *u = x.u + 3 * k + 1;
      double beta = hypot(b[0], b[1]), slip = hypot(u[0], u[1]);
      if (beta > radius + 1e-7 * scale * p.rho ||
          fabs(b[0] * u[0] + b[1] * u[1] + radius * slip) > 1e-6 * scale * fmax(radius, 1e-3))
        failed++;
    }
    worst = fmax(worst, error);
  }
  CHECK_NEAR(failed, 0, 0);
  CHECK_LE(worst, 1e-8);
  ds_arena_free(&arena);
}

/* The polygon's velocity tends to the disk's as 1/k: its corners pull the direction of sliding by up to pi/k. */
static void polygon_tends_to_disk(void) {
  uint64_t s = 13;
  ds_arena arena = {0};
  double difference[3] = {0, 0, 0};
  const int32_t samples[3] = {8, 16, 64};
  for (int i = 0; i < 100; i++) {
    ds_arena_reset(&arena);
    ds_subproblem p = pick(&arena, &s, i);
    ds_solve solve = bare_solve(&arena, &p);
    ds_iterate disk = ds_iterate_new(&arena, &p), polygon = ds_iterate_new(&arena, &p);
    for (int32_t k = 0; k < p.contact_count; k++) disk.r[3 * k] = polygon.r[3 * k] = random_in(&s, 0, 0.2);
    CHECK_LE(ds_project_friction(&solve, disk.r, disk.v, &p, p.predicted, 1e-10, 0), 1e-9);
    for (int j = 0; j < 3; j++) {
      CHECK_LE(ds_project_friction(&solve, polygon.r, polygon.v, &p, p.predicted, 1e-10, samples[j]), 1e-9);
      double sum = 0, size = 0;
      for (int32_t d = 0; d < p.dof; d++) sum += pow(polygon.v[d] - disk.v[d], 2), size += pow(p.predicted[d], 2);
      difference[j] = fmax(difference[j], sqrt(sum / size));
    }
  }
  CHECK_LE(difference[0], 0.2);
  CHECK_LE(difference[1], 0.6 * difference[0]);
  CHECK_LE(difference[2], 0.3 * difference[1]);
  ds_arena_free(&arena);
}

/* A projection whose answer was shaken is taken back to it in a few Newton steps: each is quadratic. */
static void polish_is_quick(void) {
  enum { CASES = 400 };
  uint64_t s = 15;
  ds_arena arena = {0};
  const int32_t samples[3] = {0, 0, 12};
  for (int kind = 0; kind < 3; kind++) { /* contact, disk, polygon */
    int steps = 0, failed = 0;
    for (int i = 0; i < CASES; i++) {
      ds_arena_reset(&arena);
      ds_subproblem p = pick(&arena, &s, i);
      ds_solve solve = bare_solve(&arena, &p);
      ds_iterate x = ds_iterate_new(&arena, &p);
      double *radius = DS_NEW0(&arena, double, p.contact_count + 1), size = p.target * p.rho;
      for (int32_t k = 0; k < p.contact_count; k++) x.r[3 * k] = random_in(&s, 0, 0.5) * size;
      for (int32_t k = 0; k < p.contact_count; k++) radius[k] = p.mu[k] * x.r[3 * k];
      if (kind == 0)
        ds_project_contact(&solve, x.r, x.v, &p, p.predicted, 1e-11);
      else
        ds_project_friction(&solve, x.r, x.v, &p, p.predicted, 1e-11, samples[kind]);
      for (int32_t k = 0; k < p.contact_count; k++)
        for (int c = kind > 0; c < (kind > 0 ? 3 : 1); c++)
          if (fabs(x.r[3 * k + c]) > 1e-3 * size) x.r[3 * k + c] += 1e-4 * size * random_in(&s, -1, 1);
      solve.work = (ds_work){0};
      double error =
          ds_projection_polish(&solve, x.r, x.v, &p, p.predicted, kind > 0 ? radius : NULL, 1e-10, samples[kind]);
      failed += !(error <= 1e-10);
      steps += solve.work.projections;
    }
    printf("     kind %d: %.2f steps each, %d of %d not there\n", kind, (double)steps / CASES, failed, CASES);
    CHECK_LE(failed, (kind == 2 ? 0.08 : 0.01) * CASES); /* corners of the polygon */
    CHECK_LE(steps, 2.8 * CASES);
  }
  ds_arena_free(&arena);
}

/* The default path certifies every random problem. */
static void default_path_converges(void) {
  uint64_t s = 14;
  ds_arena arena = {0};
  ds_options options = ds_default_options();
  int unconverged = 0, factorizations = 0, staggered = 0, wrong = 0;
  int32_t most = 0;
  for (int i = 0; i < 3000; i++) {
    ds_arena_reset(&arena);
    ds_subproblem p = pick(&arena, &s, i);
    ds_iterate x = ds_iterate_new(&arena, &p);
    ds_certificate c;
    CHECK(ds_project_island(&(ds_solve){.arena = &arena, .options = &options, .part = true}, x.r, x.v, &c, &p));
    own_problem own = own_of_subproblem(&p);
    double error = own_natural_error(&own, x.r);
    if (!(own_coulomb_error(&own, x.r) <= own_allowed(&own, c.tolerance)) ||
        !(fabs(error - c.natural_error) <= 1e-3 * fmax(error, c.tolerance))) {
      printf("problem %d: law off by %.2e; error %.2e, certified %.2e\n", i, own_coulomb_error(&own, x.r), error,
             c.natural_error);
      wrong++;
    }
    own_free(&own);
    if (!c.converged) {
      unconverged++;
      printf("problem %d: %d bodies, %d contacts: error %.2e after %d factorizations\n", i, p.body_count,
             p.contact_count, c.natural_error, c.factorizations);
    }
    int32_t tools = 0;
    for (int k = 0; k < DS_TOOL_COUNT; k++) tools += c.tool[k];
    wrong += tools != c.projection_iterations;
    factorizations += c.factorizations;
    staggered += c.staggered_iterations > 0;
    if (c.factorizations > most) most = c.factorizations;
  }
  printf("     %d factorizations in all, at most %d, staggered loop needed in %d\n", factorizations, most, staggered);
  CHECK_NEAR(unconverged, 0, 0);
  CHECK_NEAR(wrong, 0, 0);
  CHECK_LE(factorizations, 28500); /* 25,956 when written, 30,500 without sweeps and Newton in turn ... */
  CHECK_LE(most, 190);             /* ... 171, and 120 */
  CHECK_LE(staggered, 3);
  ds_arena_free(&arena);
}

/* A start that is far from any solution is worth nothing: problems take no more from there than from none. */
static void bogus_starts_are_dropped(void) {
  uint64_t s = 16;
  ds_arena arena = {0};
  ds_options options = ds_default_options();
  int work[2] = {0, 0}, wrong = 0;
  for (int i = 0; i < 600; i++) {
    ds_arena_reset(&arena);
    ds_subproblem p = pick(&arena, &s, i);
    for (int bogus = 0; bogus < 2; bogus++) {
      ds_iterate x = ds_iterate_new(&arena, &p);
      ds_certificate c;
      for (int32_t k = 0; k < 3 * p.contact_count && bogus; k++)
        x.r[k] = 1e4 * p.rho * p.target * random_in(&s, k % 3 == 0 ? 0 : -1, 1);
      ds_solve solve = {.arena = &arena, .options = &options, .purpose = DS_FOR_STEP, .part = true};
      CHECK(ds_project_island(&solve, x.r, x.v, &c, &p));
      work[bogus] += c.factorizations;
      wrong += !c.converged || c.unbounded || c.limited || c.conflict != 0;
    }
  }
  printf("     %d factorizations from none, %d from bogus starts\n", work[0], work[1]);
  CHECK_NEAR(wrong, 0, 0);
  CHECK_LE(work[1], 1.02 * work[0]);
  ds_arena_free(&arena);
}

/* Sweeps by themselves: never worse than they were, true where they got there, no more of them than the effort allows;
 * and the last word of a step that ran out of time: friction within its cone, no energy added. */
static void sweeps_and_last_word(void) {
  uint64_t s = 17;
  ds_arena arena = {0};
  int there = 0, worse = 0, gained = 0, outside = 0, sweeps = 0;
  for (int i = 0; i < 600; i++) {
    ds_arena_reset(&arena);
    ds_subproblem p = pick(&arena, &s, i);
    ds_iterate x = ds_iterate_new(&arena, &p), trial = ds_iterate_new(&arena, &p);
    const ds_single_contact *blocks = ds_gauss_seidel_blocks(&arena, &p);
    ds_solve solve = bare_solve(&arena, &p);
    for (int32_t k = 0; k < 3 * p.contact_count; k++)
      x.r[k] = 0.3 * p.rho * p.target * random_in(&s, k % 3 == 0 ? 0 : -1, 1);
    ds_iterate_update(&x, &p);
    double before = x.error;
    bool solved = ds_gauss_seidel_quick(&solve, &x, &trial, &p, blocks, 1e-9);
    worse += x.error > before, there += solved;
    CHECK(solved == (ds_subproblem_progress(&p, x.r, x.u) <= 1e-9));
    ds_effort effort = {.budget = 10 / ds_system_in_sweeps(solve.system), .contacts = p.contact_count};
    solve.effort = &effort, solve.work = (ds_work){0};
    ds_gauss_seidel_solve(&solve, &x, &p, blocks, 0, 100);
    sweeps = solve.work.projections > sweeps ? solve.work.projections : sweeps;
    solve.effort = NULL;
    for (int32_t k = 0; k < 3 * p.contact_count; k++) /* friction far outside its cone */
      x.r[k] = p.rho * p.target * (k % 3 == 0 ? random_in(&s, 0, 0.1) : random_in(&s, -0.2, 0.2));
    ds_iterate_update(&x, &p);
    ds_iterate_copy(&trial, &x, &p);
    ds_end_on_contact(&solve, &x, &p, 1e-12);
    gained += ds_impulses_add_energy(&x, &p);
    for (int32_t k = 0; k < p.contact_count; k++) outside += x.u[3 * k] < -1e-6 * p.target;
  }
  printf("     %d there, %d sweeps at most with a budget of ten\n", there, sweeps);
  CHECK(there > 20 && sweeps >= 10);
  CHECK_NEAR(worse, 0, 0);
  CHECK_LE(sweeps, 11);
  CHECK_NEAR(gained, 0, 0);
  CHECK_NEAR(outside, 0, 0);
  ds_arena_free(&arena);
}

/* Algorithm 1 as published ends where friction stands still, on a contact projection: nothing approaches. */
static void published_loop_ends(void) {
  uint64_t s = 18;
  ds_arena arena = {0};
  ds_options options = ds_default_options();
  int iterations = 0, wrong = 0, approaching = 0;
  options.method = ds_method_named("staggered");
  for (int i = 0; i < 300; i++) {
    ds_arena_reset(&arena);
    ds_subproblem p = pick(&arena, &s, i);
    ds_iterate x = ds_iterate_new(&arena, &p);
    ds_certificate c;
    ds_solve solve = {.arena = &arena, .options = &options, .purpose = DS_FOR_STEP};
    CHECK(ds_project_island(&solve, x.r, x.v, &c, &p));
    wrong += c.staggered_iterations < 1 || c.tool[DS_TOOL_STAGGERED] != c.staggered_iterations ||
             !(c.rel_err <= options.rel_err || c.staggered_iterations == options.max_iterations);
    approaching += !(c.approach_velocity <= 1e-6 * p.target);
    iterations += c.staggered_iterations;
  }
  printf("     %.2f iterations each\n", iterations / 300.0);
  CHECK_NEAR(wrong, 0, 0);
  CHECK_NEAR(approaching, 0, 0);
  CHECK_LE(iterations, 10 * 300); /* 9.1 when written */
  ds_arena_free(&arena);
}

/* Solved by parts, an island's answer is one of the whole: contacts that were guessed to be open and are run into
 * count, and bodies that touch nothing go on as they would. */
static void parts_solve_the_whole(void) {
  uint64_t s = 19;
  ds_arena arena = {0};
  ds_options options = ds_default_options();
  int wrong = 0, cases = 0, work = 0;
  for (int i = 0; i < 300; i++) {
    ds_arena_reset(&arena);
    int32_t bodies = 6 + random_int(&s, 8);
    ds_subproblem p = random_problem(&arena, &s, bodies, 8 + random_int(&s, 6), 3 + random_int(&s, 2));
    ds_iterate x = ds_iterate_new(&arena, &p), whole = ds_iterate_new(&arena, &p);
    ds_certificate c;
    ds_solve solve = {.arena = &arena, .options = &options, .purpose = DS_FOR_STEP};
    CHECK(p.contact_count >= 24 && ds_project_island(&solve, x.r, x.v, &c, &p));
    own_problem own = own_of_subproblem(&p);
    double law = own_coulomb_error(&own, x.r), off = 0, size = 0;
    ds_subproblem_velocity(whole.v, &p, x.r);
    for (int32_t k = 0; k < p.dof; k++) off = fmax(off, fabs(whole.v[k] - x.v[k])), size = fmax(size, fabs(x.v[k]));
    wrong += !c.converged || !(law <= own_allowed(&own, c.tolerance)) || !(off <= 1e-9 * size);
    own_free(&own);
    cases++, work += c.factorizations;
  }
  printf("     %d islands, %.1f factorizations each\n", cases, (double)work / cases);
  CHECK_NEAR(wrong, 0, 0);
  CHECK_LE(work, 27.5 * cases); /* 24.9 when written */
  ds_arena_free(&arena);
}

/* A body between two walls, one of which it just touches. It moves towards that one at 1 m/s; an impulse of 1 stops it.
 * Impulses that press it from both sides do nothing and may be as large as one likes: relative to them, the natural map
 * of an answer that throws it back at half the speed is as small as one likes. The error must not be. */
static void cancelling_impulses_hide_nothing(void) {
  ds_arena arena = {0};
  const int32_t size[1] = {6}, first[1] = {0}, body[4] = {0, -1, 0, -1}, jacobian[4] = {0, 0, 18, 0};
  double g[36] = {0}, predicted[6] = {-1, 0, 0, 0, 0, 0}, b[6] = {0, 0, 0, -1, 0, 0};
  const double mu[2] = {0.5, 0.5};
  g[0] = 1, g[7] = 1, g[14] = 1, g[18] = -1, g[25] = 1, g[32] = 1;
  ds_subproblem p = {.body_count = 1, .contact_count = 2, .dof = 6, .size = size, .first = first, .body = body};
  p.jacobian = jacobian, p.g = g, p.predicted = predicted, p.b = b, p.mu = mu;
  CHECK(ds_subproblem_prepare(&arena, &p));
  ds_iterate x = ds_iterate_new(&arena, &p);
  for (double press = 0; press <= 1e9; press = press > 0 ? 1e3 * press : 1) {
    x.r[0] = 1 + press, x.r[3] = press;
    ds_iterate_update(&x, &p);
    if (press == 0) CHECK_LE(ds_subproblem_error(&p, x.r, x.u), 1e-15);
    x.r[0] = 1.5 + press;
    ds_iterate_update(&x, &p);
    double map = ds_subproblem_natural_map(&p, x.r, x.u, p.rho) / hypot(x.r[0], x.r[3]);
    double error = ds_subproblem_error(&p, x.r, x.u);
    printf("     pressed by %g: natural map %.2g, error %.2g\n", press, map, error);
    CHECK_LE(0.01, error);
  }
  ds_arena_free(&arena);
}

/* Points on a floor, the first of which slides without friction behind the second, which is faster but is stopped by
 * friction: a contact between them that parts at first, and is run into once the parts are solved. They are joined
 * then, and the island is solved by parts all the same; with the velocities that it has as one. */
static void parts_join_where_they_meet(void) {
  enum { POINTS = 26, CONTACTS = POINTS + 1 };
  static double g[9 * (CONTACTS + 1)], b[3 * CONTACTS], mu[CONTACTS], predicted[3 * POINTS];
  static int32_t size[POINTS], first[POINTS], body[2 * CONTACTS], jacobian[2 * CONTACTS];
  ds_arena arena = {0};
  for (int32_t i = 0; i < POINTS; i++) { /* the normal is z, the tangents are x and y */
    size[i] = 3, first[i] = 3 * i, predicted[3 * i + 2] = -10, mu[i] = i == 0 ? 0 : 10;
    body[2 * i] = i, body[2 * i + 1] = -1, jacobian[2 * i] = jacobian[2 * i + 1] = 9 * i;
    g[9 * i + 2] = g[9 * i + 3] = g[9 * i + 7] = 1;
  }
  predicted[0] = 1, predicted[3] = 20;
  body[2 * POINTS] = 1, body[2 * POINTS + 1] = 0; /* the normal is x, from the first to the second */
  for (int side = 0; side < 2; side++) {
    int32_t at = jacobian[2 * POINTS + side] = 9 * (POINTS + side);
    g[at] = g[at + 4] = g[at + 8] = side ? -1 : 1;
  }
  ds_subproblem p = {.body_count = POINTS, .contact_count = CONTACTS, .dof = 3 * POINTS, .size = size, .first = first};
  p.body = body, p.jacobian = jacobian, p.g = g, p.b = b, p.mu = mu, p.predicted = predicted;
  CHECK(ds_subproblem_prepare(&arena, &p));
  ds_iterate parts = ds_iterate_new(&arena, &p), whole = ds_iterate_new(&arena, &p);
  ds_certificate certificate = {0}, of_whole = {0};
  ds_options options = ds_default_options();
  ds_solve solve = {.arena = &arena, .options = &options, .purpose = DS_FOR_STEP};
  CHECK(ds_project_parts(&solve, parts.r, parts.v, &certificate, &p));
  CHECK(certificate.converged);
  solve.part = true; /* not split again */
  CHECK(ds_project_island(&solve, whole.r, whole.v, &of_whole, &p));
  CHECK(of_whole.converged);
  for (int32_t i = 0; i < p.dof; i++) CHECK_NEAR(parts.v[i], whole.v[i], 1e-6);
  CHECK_NEAR(parts.v[0], parts.v[3], 1e-6); /* one pushes the other */
  CHECK_LE(1e-3, parts.r[3 * POINTS]);
  ds_arena_free(&arena);
}

int main(void) {
  RUN(parts_join_where_they_meet);
  RUN(contact_projection_kkt);
  RUN(friction_projection_kkt);
  RUN(polygon_tends_to_disk);
  RUN(polish_is_quick);
  RUN(default_path_converges);
  RUN(bogus_starts_are_dropped);
  RUN(sweeps_and_last_word);
  RUN(published_loop_ends);
  RUN(parts_solve_the_whole);
  RUN(cancelling_impulses_hide_nothing);
  return test_summary();
}
