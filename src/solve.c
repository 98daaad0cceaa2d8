/* One frictional contact problem without a simulator: condense, split into independent parts, solve each, certify the
 * whole. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/thread.h"
#include "drystone/drystone.h"
#include "drystone/problem.h"
#include "problem/condense.h"
#include "problem/effort.h"
#include "project/gauss_seidel.h"
#include "project/project.h"
#include "project/solvers.h"

enum { ROUNDS_MAX = 3, CORRECTIONS_MAX = 30, OWN_NUMBERS = 8192 };
static const double ONE_BODY_DENSITY = 0.5;

ds_solve_options ds_default_solve_options(void) {
  return (ds_solve_options){.tolerance = 1e-8, .max_iterations = 200, .budget = 20000, .threads = 1};
}

static ds_status no_memory(ds_error *error) { return ds_fail(error, DS_ERROR_MEMORY, "out of memory"); }

static ds_status check_options(const ds_solve_options *o, ds_error *error) {
  if (!(o->tolerance > 0 || (o->as_step && o->tolerance == 0)) || !isfinite(o->tolerance))
    return ds_fail(error, DS_ERROR_INPUT, "tolerance is %g; expected more than 0, usually 1e-4 to 1e-10", o->tolerance);
  if (!ds_method_name(o->method)) return ds_fail(error, DS_ERROR_INPUT, "method = %d is unknown", o->method);
  if (o->max_iterations < 1)
    return ds_fail(error, DS_ERROR_INPUT, "max_iterations is %d; expected 1 or more", o->max_iterations);
  if (!(o->budget >= 0) || !isfinite(o->budget))
    return ds_fail(error, DS_ERROR_INPUT, "budget is %g; expected factorizations, or 0 for no limit", o->budget);
  if (o->threads < 0 || o->threads > 1024)
    return ds_fail(error, DS_ERROR_INPUT, "threads is %d; expected 0 (all processors) to 1024", o->threads);
  return DS_OK;
}

typedef struct job {
  const ds_parts *parts;
  const ds_options *options;
  ds_purpose purpose;
  double *r; /* 3 nc, in the order of the whole */
  ds_certificate *certificates;
  ds_effort *efforts;
  bool *done;
  ds_arena *own;    /* memory of the calling thread ... */
  ds_arena *others; /* ... and of those that help it */
} job;

/* Of a part that has W alone: how much of it is there. */
static double density(const ds_subproblem *p) {
  return (double)p->delassus->start[p->contact_count] / ((double)p->contact_count * p->contact_count);
}

/* A sparse W is solved on the graph of contacts first, a dense one, or one that resists, as that of one body. */
static bool solve_in_best_form(const ds_solve *solve, double *r, ds_certificate *certificate, ds_subproblem *p) {
  ds_arena *arena = solve->arena;
  bool one_body = ds_subproblem_can_have_body(p);
  ds_certificate first = {0};
  double *v = DS_NEW(arena, double, p->dof + 1);
  if (!v) return false;
  if (one_body && density(p) > ONE_BODY_DENSITY) {
    if (!ds_subproblem_give_body(arena, p)) return false;
    one_body = false;
  }
  if (!ds_project_island(solve, r, v, certificate, p)) return false;
  if (!one_body || certificate->converged) return true;
  first = *certificate;
  if (!ds_subproblem_give_body(arena, p) || !ds_project_island(solve, r, v, certificate, p)) return false;
  ds_certificate_add_work(certificate, &first);
  return true;
}

static void solve_part(void *context, int32_t item, int32_t worker) {
  job *j = context;
  ds_arena *arena = worker == 0 ? j->own : &j->others[worker - 1];
  ds_arena_mark mark = ds_arena_get_mark(arena);
  ds_subproblem p = j->parts->part[item];
  ds_solve solve = {.arena = arena, .effort = &j->efforts[item], .options = j->options, .purpose = j->purpose};
  const int32_t *contact = j->parts->contact + j->parts->start[item];
  double *r = DS_NEW(arena, double, 3 * (size_t)p.contact_count + 1);
  j->done[item] = false;
  if (!ds_arena_failed(arena)) {
    for (int32_t k = 0; k < p.contact_count; k++) memcpy(r + 3 * k, j->r + 3 * contact[k], 3 * sizeof(double));
    j->done[item] = solve_in_best_form(&solve, r, &j->certificates[item], &p);
    for (int32_t k = 0; k < p.contact_count; k++) memcpy(j->r + 3 * contact[k], r + 3 * k, 3 * sizeof(double));
  }
  ds_arena_release(arena, mark);
}

static double norm(const double *x, int32_t n) {
  double sum = 0;
  for (int32_t i = 0; i < n; i++) sum += x[i] * x[i];
  return sqrt(sum);
}

/* y += skew part of W times r */
static void add_skew(double *y, const ds_whole *whole, const double *r) {
  const ds_delassus *w = &whole->skew;
  for (int32_t k = 0; k < whole->p.contact_count; k++)
    for (int32_t t = w->start[k]; t < w->start[k + 1]; t++)
      for (int i = 0; i < 3; i++) {
        const double *m = w->value + 9 * (size_t)t + 3 * i, *x = r + 3 * w->column[t];
        y[3 * k + i] += m[0] * x[0] + m[1] * x[1] + m[2] * x[2];
      }
}

/* Errors of r on the problem as it was given. v and u are those of r. */
static ds_status judge(ds_arena *arena, ds_solution *s, const ds_whole *whole, const double *r, double *v, double *u,
                       double tolerance, bool asymmetric, ds_error *error) {
  const ds_subproblem *p = &whole->p;
  int32_t n = 3 * p->contact_count;
  double *given = DS_NEW(arena, double, n + 1);
  if (!given) return no_memory(error);
  ds_subproblem_velocity(v, p, r);
  ds_subproblem_certify(&s->certificate, p, r, v, u, tolerance);
  memcpy(given, u, (size_t)n * sizeof(double));
  if (whole->skew.value) add_skew(given, whole, r);
  double scale = fmax(norm(r, n), p->rho * p->target), residual = ds_subproblem_natural_map(p, r, given, p->rho);
  s->asymmetry = whole->asymmetry;
  s->asymmetric_error = residual == 0 ? 0 : isfinite(residual) && isfinite(scale) ? residual / scale : INFINITY;
  if (asymmetric) {
    memcpy(u, given, (size_t)n * sizeof(double));
    s->certificate.natural_error = ds_subproblem_error(p, r, u);
    s->certificate.converged = s->certificate.natural_error <= tolerance;
  }
  double size = fmax(p->target, fmax(norm(r, n), norm(u, n))), siconos = ds_subproblem_natural_map(p, r, u, 1);
  s->siconos_error = siconos > 0 ? siconos / size : 0;
  s->complementarity = 0;
  for (int32_t k = 0; k < p->contact_count; k++) {
    const double *rk = r + 3 * k, *uk = u + 3 * k;
    double slip = p->mu[k] * sqrt(uk[1] * uk[1] + uk[2] * uk[2]);
    s->complementarity = fmax(s->complementarity, fabs(rk[0] * (uk[0] + slip) + rk[1] * uk[1] + rk[2] * uk[2]));
  }
  s->outcome = s->certificate.converged      ? DS_SOLVED
               : s->certificate.conflict > 0 ? DS_NO_SOLUTION
               : s->certificate.unbounded    ? DS_JAM
                                             : DS_UNSOLVED;
  s->conflict = s->certificate.converged ? 0 : s->certificate.conflict;
  return DS_OK;
}

static void write_path(ds_solution *s) {
  static const char *const name[DS_TOOL_COUNT] = {"newton", "homotopy", "gauss-seidel", "staggered"};
  size_t used = 0;
  s->path[0] = 0;
  for (int32_t i = 0; i < DS_TOOL_COUNT; i++)
    if (s->certificate.tool[i] > 0 && used < sizeof s->path)
      used += (size_t)snprintf(s->path + used, sizeof s->path - used, "%s%s %d", used > 0 ? ", " : "", name[i],
                               s->certificate.tool[i]);
  if (used == 0) snprintf(s->path, sizeof s->path, "start");
}

struct ds_prepared {
  const ds_problem *problem;
  ds_arena arena;   /* what stays from solve to solve */
  ds_arena scratch; /* of one solve */
  ds_whole whole;
  int32_t islands;
  ds_parts parts; /* found when first needed */
  ds_certificate *certificates;
  ds_effort *efforts; /* of one solve, a part each */
  bool *done;
  ds_arena own;      /* of the calling thread's parts, there beforehand, as far as small problems need it */
  double *r, *v, *u; /* of the whole, 3D */
};

static ds_status prepare(ds_prepared *s, const ds_problem *p, ds_error *error) {
  s->problem = p;
  DS_NEW0(&s->own, double, OWN_NUMBERS); /* first: what follows is what a solve needs soonest, and stays in the cache */
  ds_status status = ds_problem_validate(p, error);
  if (status == DS_OK) status = ds_problem_condense(&s->arena, &s->whole, p, error);
  if (status != DS_OK) return status;
  int32_t n = s->whole.p.contact_count;
  s->r = DS_NEW0(&s->arena, double, 3 * (size_t)n + 1);
  s->u = DS_NEW0(&s->arena, double, 3 * (size_t)n + 1);
  s->v = DS_NEW0(&s->arena, double, s->whole.p.dof + 1);
  if (!ds_parts_count(&s->arena, &s->islands, &s->whole.p)) return no_memory(error);
  DS_NEW0(&s->scratch, double, 64 * (size_t)n + (size_t)s->whole.p.dof); /* what sweeps need is there beforehand */
  bool failed = ds_arena_failed(&s->arena) || ds_arena_failed(&s->scratch) || ds_arena_failed(&s->own);
  return failed ? no_memory(error) : DS_OK;
}

ds_prepared *ds_problem_prepare(const ds_problem *problem, ds_error *error) {
  ds_prepared *s = calloc(1, sizeof *s);
  if (s && prepare(s, problem, error) == DS_OK) return s;
  if (!s) no_memory(error);
  ds_prepared_free(s);
  return NULL;
}

static void free_memory(ds_prepared *s) {
  ds_arena_free(&s->own);
  ds_arena_free(&s->scratch);
  ds_arena_free(&s->arena);
}

void ds_prepared_free(ds_prepared *s) {
  if (!s) return;
  free_memory(s);
  free(s);
}

/* All parts once, in parallel where there are more than one, and the verdict on the whole. */
static ds_status round_of_parts(ds_prepared *s, ds_solution *solution, const ds_options *options,
                                const ds_solve_options *o, bool asymmetric, ds_error *error) {
  bool alone = o->threads == 1 || s->parts.count <= 1;
  ds_pool *pool = alone ? NULL : ds_pool_create(o->threads);
  int32_t helpers = pool ? ds_pool_size(pool) - 1 : 0;
  ds_arena *others = helpers > 0 ? calloc((size_t)helpers, sizeof *others) : NULL;
  bool all = (alone || pool) && (helpers == 0 || others);
  job j = {&s->parts, options, o->as_step ? DS_FOR_STEP : DS_FOR_PROBLEM, s->r, s->certificates, s->efforts, s->done,
           &s->own,   others};
  if (all && pool) ds_pool_run(pool, s->parts.count, solve_part, &j);
  for (int32_t i = 0; all && !pool && i < s->parts.count; i++) solve_part(&j, i, 0);
  solution->certificate.conflict = 0;
  solution->certificate.unbounded = false;
  for (int32_t i = 0; all && i < s->parts.count; i++) {
    all &= s->done[i];
    ds_certificate_add_work(&solution->certificate, &s->certificates[i]);
  }
  for (int32_t i = 0; others && i < helpers; i++) ds_arena_free(&others[i]);
  free(others);
  if (pool) ds_pool_destroy(pool);
  if (!all) return no_memory(error);
  double tolerance = o->tolerance;
  for (int32_t i = 0; i < s->parts.count && o->tolerance == 0; i++) /* chosen, part by part */
    tolerance = fmax(tolerance, s->certificates[i].tolerance);
  return judge(&s->scratch, solution, &s->whole, s->r, s->v, s->u, tolerance, asymmetric, error);
}

/* W r + q = W_s r + (q + W_a r): the skew part goes to the right-hand side, where it is small, and the problem is
 * solved again from where it stands. */
static ds_status correct_asymmetry(ds_prepared *s, ds_solution *solution, const ds_options *options,
                                   const ds_solve_options *o, ds_error *error) {
  int32_t n = s->whole.p.contact_count;
  double *shift = DS_NEW(&s->scratch, double, 3 * (size_t)n + 1);
  double *best = DS_NEW(&s->scratch, double, 3 * (size_t)n + 1);
  const double **own = DS_NEW(&s->scratch, const double *, s->parts.count + 1);
  if (ds_arena_failed(&s->scratch)) return no_memory(error);
  for (int32_t part = 0; part < s->parts.count; part++) own[part] = s->parts.part[part].b;
  memcpy(best, s->r, 3 * (size_t)n * sizeof(double));
  ds_status status = judge(&s->scratch, solution, &s->whole, s->r, s->v, s->u, o->tolerance, true, error);
  double least = INFINITY;
  for (int32_t i = 0; status == DS_OK && i < CORRECTIONS_MAX && solution->asymmetric_error < least; i++) {
    least = solution->asymmetric_error;
    memcpy(best, s->r, 3 * (size_t)n * sizeof(double));
    if (solution->certificate.converged) break;
    memset(shift, 0, 3 * (size_t)n * sizeof(double));
    add_skew(shift, &s->whole, s->r);
    for (int32_t part = 0; part < s->parts.count; part++) {
      const int32_t *contact = s->parts.contact + s->parts.start[part];
      ds_subproblem *p = &s->parts.part[part];
      double *b = DS_NEW(&s->scratch, double, 3 * (size_t)p->contact_count + 1);
      if (!b) {
        status = no_memory(error);
        break;
      }
      for (int32_t k = 0; k < p->contact_count; k++)
        for (int c = 0; c < 3; c++) b[3 * k + c] = s->whole.p.b[3 * contact[k] + c] - shift[3 * contact[k] + c];
      p->b = b;
    }
    if (status == DS_OK) status = round_of_parts(s, solution, options, o, true, error);
  }
  for (int32_t part = 0; part < s->parts.count; part++) s->parts.part[part].b = own[part];
  if (status != DS_OK) return status;
  memcpy(s->r, best, 3 * (size_t)n * sizeof(double));
  return judge(&s->scratch, solution, &s->whole, s->r, s->v, s->u, o->tolerance, true, error);
}

/* Where contacts hardly see each other a few sweeps over all of them are the whole work. */
static bool quick_sweeps(ds_prepared *s, ds_solution *solution, double tolerance) {
  ds_arena_mark mark = ds_arena_get_mark(&s->scratch);
  ds_iterate trial = ds_iterate_new(&s->scratch, &s->whole.p), x = {s->r, s->v, s->u, 0};
  ds_solve sweeps = {.arena = &s->scratch};
  bool solved = false;
  const ds_single_contact *blocks = ds_gauss_seidel_blocks(&s->scratch, &s->whole.p);
  if (!ds_arena_failed(&s->scratch)) {
    ds_iterate_update(&x, &s->whole.p);
    solved = ds_gauss_seidel_quick(&sweeps, &x, &trial, &s->whole.p, blocks, tolerance) &&
             ds_subproblem_error(&s->whole.p, x.r, x.u) <= tolerance;
    solution->certificate.tool[DS_TOOL_GAUSS_SEIDEL] += sweeps.work.projections;
    solution->certificate.projection_iterations += sweeps.work.projections;
  }
  ds_arena_release(&s->scratch, mark);
  return solved;
}

static bool find_parts(ds_prepared *s) {
  if (s->parts.count > 0) return true;
  if (!ds_parts_find(&s->arena, &s->parts, &s->whole.p)) return false;
  s->certificates = DS_NEW0(&s->arena, ds_certificate, s->parts.count + 1);
  s->efforts = DS_NEW0(&s->arena, ds_effort, s->parts.count + 1);
  s->done = DS_NEW0(&s->arena, bool, s->parts.count + 1);
  return !ds_arena_failed(&s->arena);
}

static bool is_spent(const ds_prepared *s, int32_t part) {
  return s->efforts[part].budget > 0 && s->efforts[part].spent >= s->efforts[part].budget;
}

/* Parts that are not solved yet, and have effort left, get back their start. */
static void restart_parts(ds_prepared *s, const double *start) {
  for (int32_t i = 0; i < s->parts.count; i++)
    for (int32_t k = s->parts.start[i]; k < s->parts.start[i + 1] && !s->certificates[i].converged && !is_spent(s, i);
         k++)
      memcpy(s->r + 3 * s->parts.contact[k], start + 3 * s->parts.contact[k], 3 * sizeof(double));
}

/* Whether no part that is not solved yet could be tried again. */
static bool is_budget_spent(const ds_prepared *s) {
  for (int32_t i = 0; i < s->parts.count; i++)
    if (!s->certificates[i].converged && !is_spent(s, i)) return false;
  return true;
}

/* s->r: start in, impulses out. */
static ds_status solve(ds_prepared *s, ds_solution *solution, const ds_solve_options *o, ds_error *error) {
  ds_options options = ds_default_options();
  options.tolerance = o->tolerance, options.method = o->method;
  options.max_iterations = o->max_iterations;
  double *start = DS_NEW(&s->scratch, double, 3 * (size_t)s->whole.p.contact_count + 1);
  if (!start) return no_memory(error);
  memcpy(start, s->r, 3 * (size_t)s->whole.p.contact_count * sizeof(double));
  bool thorough = ds_solver_of(&options)->thorough;
  if (thorough && !o->as_step && quick_sweeps(s, solution, o->tolerance) && !(o->asymmetric && s->whole.skew.value))
    return judge(&s->scratch, solution, &s->whole, s->r, s->v, s->u, o->tolerance, false, error);
  if (!find_parts(s)) return no_memory(error);
  for (int32_t i = 0; i < s->parts.count; i++)
    s->efforts[i] = (ds_effort){.budget = o->budget, .contacts = s->parts.part[i].contact_count};
  ds_status status = DS_OK;
  bool retried = o->as_step || !thorough;
  /* Parts aim well below the tolerance, each in its own scale; in the scale of the whole that may not be enough. */
  for (int32_t round = 0; status == DS_OK && round < ROUNDS_MAX; round++) {
    status = round_of_parts(s, solution, &options, o, false, error);
    bool each = true;
    for (int32_t i = 0; i < s->parts.count; i++) each &= s->certificates[i].converged;
    if (solution->certificate.converged || (!each && retried) || round + 1 == ROUNDS_MAX || o->tolerance == 0) break;
    if (each) {
      options.tolerance *= 1e-2;
    } else { /* where sweeps led astray the start as it was given may be the better one */
      if (is_budget_spent(s)) break;
      retried = true;
      restart_parts(s, start);
    }
  }
  options.tolerance = o->tolerance;
  if (status == DS_OK && o->asymmetric && s->whole.skew.value)
    status = correct_asymmetry(s, solution, &options, o, error);
  return status;
}

ds_status ds_prepared_solve(ds_prepared *s, const ds_solve_options *options, double *r, double *u, double *v,
                            ds_solution *solution, ds_error *error) {
  const ds_problem *problem = s->problem;
  int32_t d = problem->dimension;
  memset(solution, 0, sizeof *solution);
  ds_arena_reset(&s->scratch);
  ds_arena_reset(&s->own);
  ds_status status = check_options(options, error);
  for (int32_t i = 0; status == DS_OK && i < d * problem->contacts; i++) {
    if (!isfinite(r[i])) status = ds_fail(error, DS_ERROR_INPUT, "r[%d] of the start is not a finite number", i);
    s->r[3 * (i / d) + i % d] = r[i];
  }
  if (status == DS_OK) status = solve(s, solution, options, error);
  if (status != DS_OK) return status;
  for (int32_t i = 0; i < d * problem->contacts; i++) {
    r[i] = s->r[3 * (i / d) + i % d];
    u[i] = s->u[3 * (i / d) + i % d];
  }
  if (v && problem->form == DS_PROBLEM_GLOBAL) ds_whole_velocity(&s->scratch, v, &s->whole, s->r);
  solution->islands = s->islands;
  write_path(solution);
  return DS_OK;
}

ds_status ds_problem_solve(const ds_problem *problem, const ds_solve_options *options, double *r, double *u, double *v,
                           ds_solution *solution, ds_error *error) {
  ds_prepared s = {0};
  memset(solution, 0, sizeof *solution);
  ds_status status = prepare(&s, problem, error);
  if (status == DS_OK) status = ds_prepared_solve(&s, options, r, u, v, solution, error);
  free_memory(&s);
  return status;
}

ds_status ds_problem_check(const ds_problem *problem, const double *r, ds_solution *solution, ds_error *error) {
  ds_prepared s = {0};
  memset(solution, 0, sizeof *solution);
  ds_status status = prepare(&s, problem, error);
  for (int32_t i = 0; status == DS_OK && i < problem->dimension * problem->contacts; i++)
    s.r[3 * (i / problem->dimension) + i % problem->dimension] = r[i];
  if (status == DS_OK) status = judge(&s.scratch, solution, &s.whole, s.r, s.v, s.u, 0, false, error);
  free_memory(&s);
  return status;
}
