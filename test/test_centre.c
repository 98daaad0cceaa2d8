/* The interior point that finds where the homotopy starts. Its steps against differences of the equations, which is why
 * centre.c is part of this file; its points against their definition; and how often and how fast it gets there. */
#include "project/centre.c" /* NOLINT: its static functions are what is tested */

#include "bare_solve.h"
#include "check.h"
#include "random_problem.h"

/* y = (u_N/mu, u_T) of r = (x_0/mu, x_T) */
static void velocities(double *y, ds_iterate *work, const ds_subproblem *p, const double *x, const double *mu) {
  for (int32_t i = 0; i < 3 * p->contact_count; i++) work->r[i] = i % 3 == 0 ? x[i] / mu[i / 3] : x[i];
  ds_subproblem_velocity(work->v, p, work->r);
  ds_subproblem_slip(work->u, p, work->v);
  for (int32_t i = 0; i < 3 * p->contact_count; i++) y[i] = i % 3 == 0 ? work->u[i] / mu[i / 3] : work->u[i];
}

/* F = y + kappa e_0 - z at x + h dx, z + h dz; frictionless contacts have no tangents */
static void equation(double *f, ds_iterate *work, const centre *q, const double *mu, double h) {
  int32_t n = 3 * q->p->contact_count;
  double *x = malloc(((size_t)n + 1) * sizeof *x);
  for (int32_t i = 0; i < n; i++) x[i] = q->x[i] + h * q->dx[i];
  velocities(f, work, q->p, x, mu);
  for (int32_t i = 0; i < n; i++)
    f[i] = (i % 3 == 0 ? f[i] + q->kappa : ds_is_frictionless(q->p->mu[i / 3]) ? 0 : f[i]) - q->z[i] - h * q->dz[i];
  free(x);
}

/* lambda o (W⁻¹ dx + W dz) - (aim e - lambda o lambda - second), the largest component over the gap */
static double off_complementarity(const centre *q, const double *second, double aim, double gap) {
  double worst = 0;
  for (int32_t k = 0; k < q->p->contact_count; k++) {
    ds_lorentz nt = {0};
    double a[3], b[3], left[3], own[3];
    CHECK(ds_lorentz_scale(&nt, q->x + 3 * k, q->z + 3 * k));
    ds_lorentz_apply(a, &nt, q->dx + 3 * k, true);
    ds_lorentz_apply(b, &nt, q->dz + 3 * k, false);
    for (int i = 0; i < 3; i++) a[i] += b[i];
    ds_jordan(left, nt.lambda, a);
    ds_jordan(own, nt.lambda, nt.lambda);
    for (int i = 0; i < 3; i++)
      worst = fmax(worst, fabs(left[i] - (i == 0 ? aim : 0) + own[i] + (second ? second[3 * k + i] : 0)));
  }
  return worst / gap;
}

static void steps_solve_the_linearized_equations(void) {
  enum { CASES = 300 };
  uint64_t s = 41;
  ds_arena arena = {0};
  double worst[2] = {0, 0};
  int compared = 0;
  for (int i = 0; i < CASES; i++) {
    ds_arena_reset(&arena);
    int32_t bodies = 1 + random_int(&s, 4);
    ds_subproblem p = random_problem(&arena, &s, bodies, 1 + random_int(&s, 2 * bodies), 1 + random_int(&s, 3));
    centre q = {.p = &p, .system = ds_system_create(&arena, &p, NULL, NULL), .kappa = random_in(&s, 0, 2) * p.target};
    ds_iterate work = ds_iterate_new(&arena, &p);
    int32_t n = 3 * p.contact_count;
    double *f[3], *y = DS_NEW0(&arena, double, n + 1), *second = DS_NEW0(&arena, double, n + 1);
    double *mu = DS_NEW0(&arena, double, n + 1);
    q.x = DS_NEW0(&arena, double, n + 1), q.z = DS_NEW0(&arena, double, n + 1);
    for (int j = 0; j < 3; j++) f[j] = DS_NEW0(&arena, double, n + 1);
    bool ready = q.system && allocate(&arena, &q) && !ds_arena_failed(&arena);
    CHECK(ready);
    if (!ready) continue;
    start(&q);
    for (int32_t k = 0; k < p.contact_count; k++) mu[k] = ds_cone_mu(p.mu[k]);
    for (int32_t k = 0; k < p.contact_count; k++) { /* anywhere inside the cones */
      q.x[3 * k] *= random_in(&s, 0.5, 2), q.z[3 * k] *= random_in(&s, 0.5, 2);
      for (int j = 1; j < 3 && !ds_is_frictionless(p.mu[k]); j++) {
        q.x[3 * k + j] = random_in(&s, -0.6, 0.6) * q.x[3 * k];
        q.z[3 * k + j] = random_in(&s, -0.6, 0.6) * q.z[3 * k];
      }
    }
    velocities(y, &work, &p, q.x, mu);
    double gap = gap_after(&q, 0), sum = 0, scale = p.target;
    for (int32_t j = 0; j < n; j++) scale = fmax(scale, fabs(y[j]));
    for (int32_t j = 0; j < n; j++) sum += q.x[j] * q.z[j];
    CHECK_NEAR(gap, sum / p.contact_count, 1e-12 * gap);
    evaluate(&q);
    if (!factor(&q)) continue;
    for (int corrector = 0; corrector < 2; corrector++) {
      for (int32_t k = 0; k < p.contact_count && corrector; k++) {
        double a[3], b[3];
        ds_lorentz_apply(a, &q.nt[k], q.dx + 3 * k, true);
        ds_lorentz_apply(b, &q.nt[k], q.dz + 3 * k, false);
        ds_jordan(second + 3 * k, a, b);
      }
      direction(&q, 0.3 * gap, corrector);
      double size = 0, h, length = step_length(&q);
      for (int32_t j = 0; j < n; j++) size = fmax(size, fabs(q.dx[j]) / q.x[j / 3 * 3]);
      h = 1e-6 / fmax(1, size);
      for (int j = 0; j < 3; j++) equation(f[j], &work, &q, mu, j == 0 ? 0 : j == 1 ? h : -h);
      for (int32_t j = 0; j < n; j++)
        worst[0] = fmax(worst[0], fabs((f[1][j] - f[2][j]) / (2 * h) + f[0][j]) * h * 1e6 / scale);
      worst[1] = fmax(worst[1], off_complementarity(&q, corrector ? second : NULL, 0.3 * gap, gap));
      /* the step ends on the boundary of a cone, or is whole */
      double least = INFINITY;
      for (int32_t k = 0; k < p.contact_count; k++) {
        double x[3], z[3];
        for (int j = 0; j < 3; j++)
          x[j] = q.x[3 * k + j] + length * q.dx[3 * k + j], z[j] = q.z[3 * k + j] + length * q.dz[3 * k + j];
        least = fmin(least, (x[0] - hypot(x[1], x[2])) / q.x[3 * k]);
        least = fmin(least, (z[0] - hypot(z[1], z[2])) / q.z[3 * k]);
      }
      CHECK_LE(-1e-9 * (1 + size), least);
      if (length < 1) CHECK_LE(least, 1e-6 * (1 + size));
      compared++;
    }
  }
  printf("     %d steps: equations off by %.1e, complementarity by %.1e\n", compared, worst[0], worst[1]);
  CHECK(compared > CASES);
  CHECK_LE(worst[0], 1e-7);
  CHECK_LE(worst[1], 1e-9);
  ds_arena_free(&arena);
}

/* z = y + kappa e_0 and x o z = gap e, in cones, within what centre.h promises. */
static void centres_are_on_the_path(void) {
  enum { CASES = 300 };
  uint64_t s = 43;
  ds_arena arena = {0};
  int found = 0, steps = 0;
  double off = 0, residual = 0;
  for (int i = 0; i < CASES; i++) {
    ds_arena_reset(&arena);
    int32_t bodies = 1 + random_int(&s, 5);
    ds_subproblem p = random_problem(&arena, &s, bodies, 1 + random_int(&s, 2 * bodies), 1 + random_int(&s, 4));
    ds_solve solve = bare_solve(&arena, &p);
    ds_iterate work_space = ds_iterate_new(&arena, &p);
    int32_t n = 3 * p.contact_count;
    double *x = DS_NEW0(&arena, double, n + 1), *z = DS_NEW0(&arena, double, n + 1),
           *y = DS_NEW0(&arena, double, n + 1);
    double *mu = DS_NEW0(&arena, double, n + 1), kappa = 2 * p.target, gap = 0.01 * p.rho * p.target * p.target;
    for (int32_t k = 0; k < p.contact_count; k++) mu[k] = p.mu[k] < 1e-6 ? 1 : p.mu[k];
    if (!solve.system || !ds_centre_find(&solve, x, z, &p, kappa, gap, DS_CENTRED)) continue;
    found++, steps += solve.work.projections;
    velocities(y, &work_space, &p, x, mu);
    double sum = 0;
    for (int32_t k = 0; k < p.contact_count; k++) {
      const double *a = x + 3 * k, *b = z + 3 * k;
      double tangential = p.mu[k] < 1e-6 ? 0 : 1;
      CHECK(a[0] > hypot(a[1], a[2]) && b[0] > hypot(b[1], b[2]));
      double e0 = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] - gap, e1 = a[0] * b[1] + b[0] * a[1];
      off = fmax(off, sqrt(e0 * e0 + e1 * e1 + pow(a[0] * b[2] + b[0] * a[2], 2)) / gap);
      sum += pow(y[3 * k] + kappa - b[0], 2);
      for (int j = 1; j < 3; j++) sum += pow(tangential * y[3 * k + j] - b[j], 2);
    }
    residual = fmax(residual, sqrt(sum) / p.target);
  }
  printf("     %d of %d found in %.1f steps each; off by %.2g of the gap, residual %.1e\n", found, CASES,
         (double)steps / found, off, residual);
  CHECK_LE(0.95 * CASES, found);
  CHECK_LE(steps, 6 * found);
  CHECK_LE(off, 0.1 + 1e-9);
  CHECK_LE(residual, 1.001e-6);
  ds_arena_free(&arena);
}

int main(void) {
  RUN(steps_solve_the_linearized_equations);
  RUN(centres_are_on_the_path);
  return test_summary();
}
