/* The order of tools for one island [DESIGN 3]: certify the warm start; a few Newton steps; the coupled predictor and
 * Newton from there; Gauss-Seidel and Newton in turn; the staggered loop. Every path ends in the same certificate, the
 * best iterate is kept, and no clock decides. docs/solver.md has the measurements behind the order. */
#include "project/project.h"

#include <math.h>

#include "project/cone.h"
#include "project/gauss_seidel.h"
#include "project/newton.h"
#include "project/staggered.h"
#include "project/system.h"

/* An error of the tolerance, repeated step after step with the same impulses, would add up to a drift of the whole
 * structure. A solve therefore aims lower, which Newton gives nearly free, and a warm start is taken without a solve
 * only where its error is well below the tolerance. */
static const double TARGET = 1e-5, ACCEPT_WARM = 1e-4;

static void newton(ds_arena *arena, ds_system *system, ds_iterate *x, ds_work *work, double tolerance, double proximal,
                   int32_t steps) {
  ds_newton_options o = {.tolerance = tolerance, .target = TARGET * tolerance, .proximal = proximal, .steps = steps};
  ds_newton_solve(arena, system, x, work, &o);
}

/* The best of two is kept; the tool goes on from its own point, because the best one so far may sit in a trap. */
static bool keep(ds_iterate *x, const ds_iterate *y, const ds_subproblem *p, double tolerance) {
  if (y->error < x->error) ds_iterate_copy(x, y, p);
  return x->error <= tolerance;
}

static void coupled_path(ds_arena *arena, ds_system *system, ds_iterate *x, ds_work *work, const ds_options *options) {
  const ds_subproblem *p = system->problem;
  double tolerance = options->tolerance;
  newton(arena, system, x, work, tolerance, x->error < 1e-2 ? 1e-3 : 1e-2, 40);
  if (x->error <= tolerance) return;

  ds_iterate y = ds_iterate_new(arena, p), z = ds_iterate_new(arena, p);
  if (ds_arena_failed(arena)) return;
  /* The convex program decides where nothing slides. The others are the same path from other starts: each solves
   * problems on which the next one is stuck. */
  const ds_cone_options cone[] = {
      {.tolerance = 1e-7, .iterations = 40, .convex = true, .centring = 0, .start = 1.5},
      {.tolerance = TARGET * tolerance, .iterations = 100, .centring = 0.5, .start = 1.5},
      {.tolerance = TARGET * tolerance, .iterations = 100, .centring = 0.5, .start = 150},
      {.tolerance = TARGET * tolerance, .iterations = 100, .centring = 0.3, .start = 15},
      {.tolerance = TARGET * tolerance, .iterations = 150, .centring = 0.7, .start = 15},
  };
  for (size_t i = 0; i < sizeof cone / sizeof *cone; i++) {
    y.error = INFINITY;
    ds_cone_solve(arena, system, &y, work, &cone[i]);
    newton(arena, system, &y, work, tolerance, fmin(1e-2, fmax(1e-10, y.error)), i == 0 ? 20 : 60);
    if (keep(x, &y, p, tolerance)) return;
  }
  /* Gauss-Seidel sweeps move the set of sliding contacts towards the solution; now and then Newton tries its basin. */
  const double proximal[3] = {1e-2, 1e-3, 1e-1};
  memset(y.r, 0, 3 * (size_t)p->contact_count * sizeof(double));
  for (int32_t round = 0; round < 9; round++) {
    ds_gauss_seidel_solve(&y, p, work, TARGET * tolerance, 200 * (round + 1));
    ds_iterate_copy(&z, &y, p);
    newton(arena, system, &z, work, tolerance, proximal[round % 3], 60);
    if (keep(x, &z, p, tolerance)) return;
  }
  /* a last resort that costs some forty factorizations an iteration */
  int32_t iterations = options->max_iterations < 10 ? options->max_iterations : 10;
  ds_staggered_options staggered = {.tolerance = tolerance, .iterations = iterations};
  ds_staggered_solve(arena, system, x, work, &staggered);
  newton(arena, system, x, work, tolerance, 1e-4, 60);
}

/* Impulses outside the cone by rounding are put on it, so that it holds exactly: a frictionless contact carries no
 * friction at all. Those that are nothing but an interior point's distance from its boundary become zero. Taken where
 * the error does not suffer. */
static void clip_to_cone(ds_arena *arena, ds_iterate *x, const ds_subproblem *p, double tolerance) {
  ds_iterate y = ds_iterate_new(arena, p);
  if (ds_arena_failed(arena)) return;
  bool changed = false;
  double largest = 0;
  for (int32_t k = 0; k < p->contact_count; k++) largest = fmax(largest, x->r[3 * k]);
  double nothing = fmin(x->error, 1e-9) * largest;
  for (int32_t k = 0; k < p->contact_count; k++) {
    const double *from = x->r + 3 * k;
    double *to = y.r + 3 * k, friction = sqrt(from[1] * from[1] + from[2] * from[2]);
    double normal = from[0] > nothing ? from[0] : 0, limit = p->mu[k] * normal,
           f = friction > limit ? limit / friction : 1;
    to[0] = normal, to[1] = f * from[1], to[2] = f * from[2];
    changed |= to[0] != from[0] || to[1] != from[1] || to[2] != from[2];
  }
  if (!changed) return;
  ds_iterate_update(&y, p);
  if (y.error <= fmax(x->error, 0.1 * tolerance)) ds_iterate_copy(x, &y, p);
}

bool ds_project_island(ds_arena *arena, double *r, double *v, ds_certificate *certificate, ds_subproblem *p,
                       const ds_options *options) {
  ds_work work = {0, 0, 0, 0};
  int32_t samples = options->friction_samples;
  if (!ds_subproblem_prepare(arena, p)) return false;
  ds_iterate x = ds_iterate_new(arena, p);
  if (ds_arena_failed(arena)) return false;
  memcpy(x.r, r, 3 * (size_t)p->contact_count * sizeof(double));
  ds_iterate_update(&x, p);
  if (samples) x.error = ds_subproblem_error(p, x.r, x.u, samples);

  bool published = options->predictor == DS_PREDICTOR_NONE && options->method == DS_METHOD_STAGGERED;
  if (options->method == DS_METHOD_GAUSS_SEIDEL) {
    ds_gauss_seidel_solve(&x, p, &work, options->tolerance, options->max_iterations);
  } else if (published || !(x.error <= ACCEPT_WARM * options->tolerance)) {
    ds_system *system = ds_system_create(arena, p);
    if (!system) return false;
    if (published || samples) {
      ds_staggered_options o = {.published = published,
                                .rel_err = options->rel_err,
                                .tolerance = options->tolerance,
                                .iterations = options->max_iterations,
                                .samples = samples};
      ds_staggered_solve(arena, system, &x, &work, &o);
    } else {
      coupled_path(arena, system, &x, &work, options);
    }
    work.factorizations = system->factorizations;
  }
  if (!samples && !published) clip_to_cone(arena, &x, p, options->tolerance);
  if (ds_arena_failed(arena)) return false;
  memcpy(r, x.r, 3 * (size_t)p->contact_count * sizeof(double));
  memcpy(v, x.v, (size_t)p->dof * sizeof(double));
  *certificate = (ds_certificate){.staggered_iterations = work.staggered,
                                  .projection_iterations = work.projections,
                                  .factorizations = work.factorizations,
                                  .rel_err = work.rel_err};
  ds_subproblem_certify(certificate, p, r, v, x.u, options->tolerance, samples);
  return true;
}
