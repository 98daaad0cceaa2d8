/* Work and time of the solver on disturbed and resting steps: the table of targets in docs/benchmarks.md.
 *
 *   bench-solver [--quick] OUTPUT      writes OUTPUT.json, a line a scene, and OUTPUT.md, two tables
 *
 * Per scene: our block factorization against CHOLMOD's numeric factorization of the same matrix (F), one contact and
 * one friction projection to 1e-6, and whole steps, disturbed (those whose warm start was not the answer) and at rest;
 * then the parts of the linear algebra one by one. Counts are exact, times are medians of processor time within this
 * run, one thread on both sides. Every tenth step an observer takes the problem of the largest island, for the
 * projections and the linear algebra; the other steps are timed as a whole, detection included. */
#include <cholmod.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "drystone/problem.h"
#include "drystone/scene_file.h"
#include "problem/condense.h"
#include "project/projections.h"
#include "project/system.h"

typedef struct bench_scene {
  const char *name, *generator;
  double from, until; /* the disturbed window, simulated s */
  double step, tolerance;
} bench_scene;

/* Disturbed scenes of growing size. A pile is disturbed while it falls together. */
static const bench_scene SCENES[] = {
    {"small pile (12 bodies)", "pile:count=12", 0.2, 1.2, 0.01, 1e-4},
    {"SP08 arch, blocks on the keystone", "arch-sp08", 1.2, 3.0, 0.01, 1e-4},
    {"SP08 card house, first block", "card-house-sp08", 2.24, 2.5, 0.001, 1e-4},
    {"wall on a shaken floor", "wall:shake=0.02", 1.0, 2.0, 0.01, 1e-4},
    {"pile of 100", "pile:count=100", 0.3, 1.3, 0.01, 1e-4},
    {"pile of 500, falling together", "pile:count=500", 0.25, 0.36, 0.01, 1e-4},
};

/* Processor time of this thread: what else runs on the machine does not count. */
static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

typedef struct samples {
  double *values;
  int32_t count, capacity;
} samples;

static void add(samples *s, double value) {
  if (s->count == s->capacity) {
    s->capacity = s->capacity ? 2 * s->capacity : 256;
    s->values = realloc(s->values, (size_t)s->capacity * sizeof *s->values);
    if (!s->values) exit(1);
  }
  s->values[s->count++] = value;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double quantile(samples *s, double q) {
  if (s->count == 0) return NAN;
  qsort(s->values, (size_t)s->count, sizeof *s->values, ascending);
  return s->values[(int32_t)(q * (s->count - 1) + 0.5)];
}

/* The dense blocks of H = I + c G Gᵀ as CHOLMOD's lower triangle. */
static cholmod_sparse *to_cholmod(const ds_subproblem *p, double c, cholmod_common *common) {
  size_t most = 36 * (size_t)(p->body_count + 3 * p->contact_count);
  cholmod_triplet *t = cholmod_allocate_triplet((size_t)p->dof, (size_t)p->dof, most, -1, CHOLMOD_REAL, common);
  int *row = t->i, *column = t->j;
  double *value = t->x;
  size_t n = 0;
  for (int32_t i = 0; i < p->dof; i++, n++) row[n] = column[n] = i, value[n] = 1;
  for (int32_t k = 0; k < p->contact_count; k++)
    for (int s = 0; s < 2; s++)
      for (int q = 0; q < 2; q++) {
        int32_t a = p->body[2 * k + s], b = p->body[2 * k + q];
        if (a < 0 || b < 0 || p->first[a] < p->first[b]) continue;
        const double *ga = p->g + p->jacobian[2 * k + s], *gb = p->g + p->jacobian[2 * k + q];
        for (int32_t i = 0; i < 6; i++)
          for (int32_t j = 0; j < 6; j++) {
            int32_t r = p->first[a] + i, col = p->first[b] + j;
            if (r < col) continue;
            row[n] = r, column[n] = col;
            value[n++] = c * (ga[i] * gb[j] + ga[6 + i] * gb[6 + j] + ga[12 + i] * gb[12 + j]);
          }
      }
  t->nnz = n;
  cholmod_sparse *matrix = cholmod_triplet_to_sparse(t, 0, common);
  cholmod_free_triplet(&t, common);
  return matrix;
}

/* The linear algebra of one problem: times in seconds. */
typedef struct parts {
  double cholesky, cholmod, lu, solve; /* factorizations without assembly */
  double analyse, normals, all;        /* pattern; H with normals alone, with all rows, and its Cholesky factor */
  double add, times;                   /* v += G r, y = Gᵀ v */
  double values, cholmod_values;       /* of the factor: explicit zeros and squares on the diagonal are ours */
} parts;

/* Median seconds of `code`, repeated until a measurement is long against the clock. */
#define MEDIAN(result, code)                                          \
  do {                                                                \
    samples taken = {0};                                              \
    double start = seconds(), once, spent = 0;                        \
    code;                                                             \
    once = seconds() - start;                                         \
    int loops = once < 2e-5 ? (int)(2e-5 / fmax(once, 1e-7)) + 1 : 1; \
    for (int m = 0; m < 201 && (m < 5 || spent < 0.2); m++) {         \
      start = seconds();                                              \
      for (int l = 0; l < loops; l++) code;                           \
      add(&taken, (seconds() - start) / loops);                       \
      spent += seconds() - start;                                     \
    }                                                                 \
    result = quantile(&taken, 0.5);                                   \
    free(taken.values);                                               \
  } while (0)

static void fill_c(double *c, const ds_subproblem *p, double factor, bool tangents) {
  memset(c, 0, 9 * (size_t)p->contact_count * sizeof *c);
  for (int32_t k = 0; k < p->contact_count; k++) {
    c[9 * k] = factor / p->scale[k];
    if (tangents) c[9 * k + 4] = c[9 * k + 8] = factor / p->scale[k];
  }
}

/* A matrix that is not the last one, so that it is factored anew. */
static void factor_anew(ds_system *system, double *c, bool symmetric) {
  c[0] *= 1.0001;
  ds_system_factor(system, c, symmetric);
}

static void time_cholmod(parts *t, const ds_subproblem *p) {
  cholmod_common common;
  cholmod_start(&common);
  cholmod_sparse *h = to_cholmod(p, 100 / p->scale[0], &common);
  cholmod_factor *factor = cholmod_analyze(h, &common);
  MEDIAN(t->cholmod, cholmod_factorize(h, factor, &common));
  t->cholmod_values = common.lnz;
  cholmod_free_factor(&factor, &common);
  cholmod_free_sparse(&h, &common);
  cholmod_finish(&common);
}

static void time_parts(parts *t, ds_arena *arena, const ds_subproblem *p) {
  ds_arena_mark mark = ds_arena_get_mark(arena);
  ds_system *system = ds_system_create(arena, p, NULL, NULL);
  double *c = DS_NEW(arena, double, 9 * (size_t)p->contact_count + 1), *x = DS_NEW0(arena, double, p->dof + 1);
  double *r = DS_NEW(arena, double, 3 * (size_t)p->contact_count + 1);
  if (ds_arena_failed(arena)) exit(1);
  for (int32_t i = 0; i < 3 * p->contact_count; i++) r[i] = i % 7 - 3;
  ds_arena_mark created = ds_arena_get_mark(arena);
  MEDIAN(t->analyse, (ds_system_create(arena, p, NULL, NULL), ds_arena_release(arena, created)));
  fill_c(c, p, 100, false);
  MEDIAN(t->normals, factor_anew(system, c, true));
  fill_c(c, p, 100, true);
  MEDIAN(t->all, factor_anew(system, c, true));
  MEDIAN(t->cholesky, ds_block_cholesky(system->matrix));
  MEDIAN(t->solve, ds_system_solve(x, system));
  t->values = (double)system->pattern->factor_values;
  factor_anew(system, c, false);
  MEDIAN(t->lu, ds_block_lu(system->matrix));
  MEDIAN(t->add, ds_subproblem_add_impulse(x, p, r));
  MEDIAN(t->times, ds_subproblem_apply_transposed(r, p, x));
  time_cholmod(t, p);
  ds_arena_release(arena, mark);
}

typedef struct tally {
  samples disturbed, rest, factorizations, contact, friction;
  int32_t steps, unconverged;
  double worst;
} tally;

static void time_projections(tally *t, ds_arena *arena, const ds_subproblem *p) {
  ds_options options = ds_default_options();
  ds_solve solve = {.arena = arena, .options = &options, .purpose = DS_FOR_STEP};
  solve.system = ds_system_create(arena, p, NULL, NULL);
  double *r = DS_NEW0(arena, double, 3 * (size_t)p->contact_count + 1), *v = DS_NEW0(arena, double, p->dof + 1);
  double *v_hat = DS_NEW0(arena, double, p->dof + 1);
  if (ds_arena_failed(arena)) exit(1);
  double start = seconds();
  ds_project_contact(&solve, r, v, p, p->predicted, 1e-6);
  add(&t->contact, seconds() - start);
  memcpy(v_hat, v, (size_t)p->dof * sizeof *v_hat);
  start = seconds();
  ds_project_friction(&solve, r, v, p, v_hat, 1e-6, 0);
  add(&t->friction, seconds() - start);
}

/* What an observer looks for: an island about as large as the largest of the step before. */
typedef struct look {
  tally *t;
  parts *linear; /* NULL: projections alone */
  int32_t dof, largest;
} look;

static void look_at(void *user, const ds_observation *o) {
  look *l = user;
  ds_arena arena = {0};
  ds_whole whole;
  ds_error error;
  l->largest = o->problem->dof > l->largest ? o->problem->dof : l->largest;
  if (!l->t || o->problem->dof < l->dof) return;
  l->dof = INT32_MAX; /* one per step */
  if (ds_problem_condense(&arena, &whole, o->problem, &error) != DS_OK || !ds_subproblem_prepare(&arena, &whole.p)) {
    fprintf(stderr, "bench-solver: the problem of a step: %s\n", error.message);
    exit(1);
  }
  time_projections(l->t, &arena, &whole.p);
  if (l->linear) time_parts(l->linear, &arena, &whole.p);
  ds_arena_free(&arena);
}

/* Every tenth step of the window is observed and not timed, the one before it tells how large islands are. */
static void one_step(tally *t, look *size, ds_stepper *stepper, ds_state *state, const ds_scene *scene,
                     const ds_options *options, bool window, parts *linear) {
  ds_step_report report;
  look now = {t, t->steps == 2 ? linear : NULL, size->largest, 0};
  bool observed = window && t->steps % 10 == 2, measured = window && t->steps % 10 == 1;
  *size = measured ? (look){0} : *size;
  ds_stepper_observe(stepper, observed || measured ? look_at : NULL, observed ? &now : size);
  double start = seconds();
  if (ds_step(stepper, state, &report, scene, options) != DS_OK) exit(1);
  double spent = seconds() - start;
  int32_t work = (int32_t)report.worst.factorizations;
  if (window) {
    t->steps++;
    t->unconverged += report.unconverged_islands > 0;
    t->worst = fmax(t->worst, report.worst.natural_error);
    if (work > 0) add(&t->factorizations, work);
  }
  if (observed) return;
  if (window && work > 0) add(&t->disturbed, spent);
  if (work == 0) add(&t->rest, spent);
}

static void write_parts(FILE *table, const char *name, const parts *t) {
  fprintf(table, "| %s | %.3g | %.3g / %.3g | %.3g | %.3g | %.3g | %.3g / %.3g | %.3g | %.2f |\n", name,
          1e6 * t->analyse, 1e6 * t->normals, 1e6 * t->all, 1e6 * t->cholesky, 1e6 * t->lu, 1e6 * t->solve,
          1e6 * t->add, 1e6 * t->times, 1e6 * t->cholmod, t->values / t->cholmod_values);
}

static void run(FILE *json, FILE *table, parts *linear, const bench_scene *b, bool quick) {
  ds_error error;
  ds_run_settings settings;
  char *text = ds_generate(b->generator, &error);
  ds_scene *scene = text ? ds_scene_read_text(text, strlen(text), b->generator, &settings, &error) : NULL;
  if (!scene) {
    fprintf(stderr, "%s: %s\n", b->generator, error.message);
    exit(2);
  }
  ds_state *state = ds_state_create(scene);
  ds_options options = settings.options;
  options.step = b->step;
  options.tolerance = b->tolerance;
  tally t = {0};
  look size = {0};
  ds_stepper *stepper = ds_stepper_create(1);
  double until = quick ? b->from + 0.2 * (b->until - b->from) : b->until;
  int32_t contacts = 0;
  while (ds_state_time(state) < until) {
    one_step(&t, &size, stepper, state, scene, &options, ds_state_time(state) >= b->from, linear);
    int32_t count;
    ds_state_contacts(state, &count);
    if (count > contacts) contacts = count;
  }
  int32_t dof = 0;
  for (int32_t i = 0; i < ds_scene_body_count(scene); i++)
    dof += ds_body_get_kind(scene, ds_scene_body(scene, i)) == DS_BODY_DYNAMIC ? 6 : 0;
  double contact = 1e3 * quantile(&t.contact, 0.5), friction = 1e3 * quantile(&t.friction, 0.5);
  double disturbed = 1e3 * quantile(&t.disturbed, 0.5), p95 = 1e3 * quantile(&t.disturbed, 0.95);
  double rest = 1e3 * quantile(&t.rest, 0.5), work = quantile(&t.factorizations, 0.5);
  fprintf(
      json,
      "{\"scene\": \"%s\", \"generator\": \"%s\", \"dof\": %d, \"contacts\": %d, \"steps\": %d, \"unconverged\": %d, "
      "\"natural_error_max\": %.3g, \"factor_ms\": %.4g, \"cholmod_ms\": %.4g, \"contact_ms\": %.4g, "
      "\"friction_ms\": %.4g, \"disturbed_ms\": %.4g, \"disturbed_p95_ms\": %.4g, \"factorizations_median\": %.0f, "
      "\"rest_ms\": %.4g}\n",
      b->name, b->generator, dof, contacts, t.steps, t.unconverged, t.worst, 1e3 * linear->cholesky,
      1e3 * linear->cholmod, contact, friction, disturbed, p95, work, rest);
  fprintf(table,
          "| %s | %d / %d | %.3g ms = %.2f F | %.2g / %.2g ms | %.0f | %.2g (%.2g) ms | %.2g ms | %d of %d, %.0e |\n",
          b->name, dof, contacts, 1e3 * linear->cholesky, linear->cholesky / linear->cholmod, contact, friction, work,
          disturbed, p95, rest, t.steps - t.unconverged, t.steps, t.worst);
  fprintf(stderr, "%s: %d steps, %.2g ms\n", b->name, t.steps, disturbed);
  samples *all[] = {&t.disturbed, &t.rest, &t.factorizations, &t.contact, &t.friction};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]->values);
  ds_stepper_destroy(stepper);
  ds_state_destroy(state);
  ds_scene_destroy(scene);
  free(text);
}

int main(int argc, char **argv) {
  if (!getenv("OPENBLAS_NUM_THREADS")) { /* read when the library under CHOLMOD is loaded: start once more with it */
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    setenv("OMP_NUM_THREADS", "1", 1);
    execvp(argv[0], argv);
  }
  bool quick = argc == 3 && strcmp(argv[1], "--quick") == 0;
  if (argc != 2 && !quick) {
    fprintf(stderr, "usage: bench-solver [--quick] OUTPUT   writes OUTPUT.json (a line a scene) and OUTPUT.md\n");
    return 2;
  }
  char name[4096];
  snprintf(name, sizeof name, "%s.json", argv[argc - 1]);
  FILE *json = fopen(name, "w");
  snprintf(name, sizeof name, "%s.md", argv[argc - 1]);
  FILE *table = fopen(name, "w");
  if (!json || !table) {
    perror(name);
    return 2;
  }
  fprintf(
      table,
      "# The solver on disturbed steps\n\nWritten by bench-solver: one thread, natural-map error 1e-4, medians of "
      "processor time. F is "
      "the time of "
      "CHOLMOD's numeric factorization of the same matrix. A disturbed step is one whose warm start was not the "
      "answer.\n\n"
      "| scene | dof / contacts | block factorization | contact / friction projection to 1e-6 | factorizations a "
      "disturbed "
      "step | disturbed step (95 %%) | step at rest | converged, worst error |\n|---|---|---|---|---|---|---|---|\n");
  enum { COUNT = sizeof SCENES / sizeof *SCENES };
  parts linear[COUNT] = {{0}};
  for (size_t i = 0; i < COUNT; i++) run(json, table, &linear[i], &SCENES[i], quick);
  fprintf(
      table,
      "\nThe linear algebra of the largest island, in microseconds. H: assembly and Cholesky factor together. Fill: "
      "values of our factor, which stores squares on the diagonal, against CHOLMOD's.\n\n"
      "| scene | analysis | H, normals / all | Cholesky | LU | solve | G r / Gᵀ v | CHOLMOD | fill |\n"
      "|---|---|---|---|---|---|---|---|---|\n");
  for (size_t i = 0; i < COUNT; i++) write_parts(table, SCENES[i].name, &linear[i]);
  return fclose(json) || fclose(table) ? 2 : 0;
}
