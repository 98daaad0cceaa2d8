/* One frictional contact problem, one solver, one tolerance: how long until the answer is right.
 *
 *   bench-solve [--tolerance T] [--limit SECONDS] [--unit file|scaled] SOLVER FILE
 *   bench-solve --list                  names the solvers, and the dimensions they take
 *   bench-solve --about FILE            what kind of problem that is
 *   bench-solve --opens FILE.dat [FILE] checks that Siconos reads from the first what we read from the second, or from
 *                                       the same
 *
 * The first prints a JSON object on one line. The result of every solver is checked by ds_problem_check on the problem
 * of the file, and by nothing else: a solver that stops by its own criterion with an error above T is run again with a
 * criterion ten times tighter, and the time of the first run whose error is at most T counts, alone. Each run is a
 * process of its own with a limit on its processor time, so that one that hangs, exits or crashes is unsolved and
 * nothing more. The time is the processor time of the solver's call on one thread; runs below 50 ms are repeated and
 * the least counts. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "await.h"
#include "io/problem_file.h"
#include "siconos.h"

#define SHORT_RUN 0.05   /* s: shorter runs are repeated */
#define REPEAT_TIME 0.25 /* s spent on repeating */
enum { REPEATS = 20, DENSE_MOST = 1000 /* rows of W: above, no solver is faster with it dense */ };
#define CLOCK_TICK 0.01 /* s */
#define TIGHTEST 1e-16  /* of a solver's own tolerance */
#define STALL 600       /* s by the clock without any processor time: it waits for something */

typedef struct job {
  const ds_problem_file *file;
  const bench_local *local;
  const bench_siconos *siconos; /* NULL: Drystone */
  bool whole;                   /* Drystone on the file's own form */
  bench_storage storage;
  double unit, tolerance, limit;
} job;

/* What a run leaves behind, in memory shared with its parent; impulses follow. */
typedef struct outcome {
  int32_t runs; /* finished ones */
  int32_t iterations;
  double time; /* least, s */
  double r[];
} outcome;

static double clock_of(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Processor time of the thread that solves. That of the process is known to a tick only, as the limit on it is armed:
 * it shows, beyond that tick, what other threads did. */
typedef struct stopwatch {
  double thread, process;
} stopwatch;

static stopwatch start_watch(void) {
  return (stopwatch){clock_of(CLOCK_THREAD_CPUTIME_ID), clock_of(CLOCK_PROCESS_CPUTIME_ID)};
}

static double stop_watch(stopwatch start) {
  double thread = clock_of(CLOCK_THREAD_CPUTIME_ID) - start.thread;
  return fmax(thread, clock_of(CLOCK_PROCESS_CPUTIME_ID) - start.process - CLOCK_TICK);
}

/* ---- one run, in a child ---------------------------------------------------------------------------------------- */

static double run_drystone(const job *j, double tolerance, double *r, int32_t *iterations) {
  const ds_problem *problem = j->whole ? &j->file->problem : &j->local->problem;
  ds_solve_options options = ds_default_solve_options();
  options.tolerance = tolerance, options.threads = 1;
  double *u = calloc((size_t)j->local->size + 1, sizeof *u);
  ds_solution solution = {0};
  ds_error error = {{0}};
  ds_prepared *prepared = ds_problem_prepare(problem, &error);
  if (!u || !prepared) _exit(1);
  stopwatch start = start_watch();
  ds_status status = ds_prepared_solve(prepared, &options, r, u, NULL, &solution, &error);
  double time = stop_watch(start);
  if (status != DS_OK) _exit(1);
  ds_prepared_free(prepared);
  *iterations = solution.certificate.projection_iterations;
  free(u);
  return time;
}

static double run_siconos(const job *j, double tolerance, double *r, int32_t *iterations) {
  bench_siconos_run *run = bench_siconos_prepare(j->siconos, j->local, j->storage, j->unit, tolerance);
  if (!run) _exit(1);
  stopwatch start = start_watch();
  bench_siconos_solve(run, r);
  double time = stop_watch(start);
  *iterations = bench_siconos_iterations(run);
  return time;
}

/* Solves again and again while that is cheap. A limit on processor time ends it with SIGPROF. */
static void child(outcome *out, const job *j, double tolerance) {
  size_t bytes = (size_t)j->local->size * sizeof(double);
  double *r = malloc(bytes + 1), spent = 0;
  if (!r || !freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr)) _exit(1);
  for (int run = 0; run < REPEATS; run++) {
    memset(r, 0, bytes);
    struct itimerval limit = {.it_value = {(time_t)j->limit, (suseconds_t)(1e6 * fmod(j->limit, 1)) + 1}};
    if (run == 0) setitimer(ITIMER_PROF, &limit, NULL);
    int32_t iterations = 0;
    double time = j->siconos ? run_siconos(j, tolerance, r, &iterations) : run_drystone(j, tolerance, r, &iterations);
    if (run == 0) memcpy(out->r, r, bytes), out->iterations = iterations;
    out->time = run == 0 || time < out->time ? time : out->time;
    out->runs = run + 1;
    spent += time;
    if (time > SHORT_RUN || spent > REPEAT_TIME) break;
  }
  _exit(0);
}

/* ---- the parent -------------------------------------------------------------------------------------------------- */

static double error_of(const ds_problem *problem, const double *r, int32_t size) {
  ds_solution solution = {0};
  ds_error error = {{0}};
  for (int32_t i = 0; i < size; i++)
    if (!isfinite(r[i])) return INFINITY;
  if (ds_problem_check(problem, r, &solution, &error) != DS_OK) return INFINITY;
  return solution.certificate.natural_error;
}

typedef struct result {
  bool solved;
  double time;         /* s, infinite where unsolved */
  double error;        /* of the answer, or the least there was */
  double own;          /* the solver's own tolerance in the run that counts */
  int32_t iterations;  /* of it */
  int32_t runs;        /* all runs, with tighter and tighter tolerances */
  const char *failure; /* of the last one, NULL: solved */
  bench_storage storage;
} result;

/* Tightens the solver's own tolerance until the error is small enough. */
static result tighten(const job *j, outcome *out, size_t bytes) {
  result best = {.time = INFINITY, .error = INFINITY, .storage = j->storage};
  for (best.own = j->tolerance; best.own >= TIGHTEST && !best.solved; best.own *= 0.1) {
    memset(out, 0, bytes);
    fflush(stdout);
    pid_t pid = fork();
    if (pid < 0) exit(1);
    if (pid == 0) child(out, j, best.own);
    best.failure = await(pid, j->limit, STALL, &out->runs);
    best.runs++;
    if (best.failure) break;
    best.error = fmin(best.error, error_of(&j->file->problem, out->r, j->local->size));
    best.iterations = out->iterations, best.time = out->time;
    best.solved = best.error <= j->tolerance;
    if (best.solved) return best;
  }
  if (!best.failure) best.failure = "never that exact";
  best.time = INFINITY;
  return best;
}

/* The better of both storages where a solver has two. The second run needs no more time than the first. */
static result measure(job *j) {
  size_t bytes = sizeof(outcome) + (size_t)j->local->size * sizeof(double);
  outcome *out = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (out == MAP_FAILED) exit(1);
  if (j->siconos) j->storage = j->siconos->storage;
  result best = tighten(j, out, bytes);
  if (j->siconos && j->siconos->dense && j->local->size <= DENSE_MOST) {
    if (best.solved) j->limit = fmin(j->limit, 1.5 * best.time + 2 * CLOCK_TICK);
    j->storage = BENCH_DENSE;
    result other = tighten(j, out, bytes);
    if (other.time < best.time) best = other;
  }
  munmap(out, bytes);
  return best;
}

static void print_number(const char *name, double value) {
  if (isfinite(value))
    printf(", \"%s\": %.6g", name, value);
  else
    printf(", \"%s\": null", name);
}

static void print_result(const job *j, const result *best, const char *solver, const char *path) {
  static const char *const storages[BENCH_STORAGES] = {"blocks", "sparse", "dense"};
  const ds_problem *problem = &j->file->problem;
  const char *base = strrchr(path, '/');
  printf("{\"file\": \"%s\", \"dimension\": %d, \"contacts\": %d, \"dof\": %d, \"form\": \"%s\", \"solver\": \"%s\"",
         base ? base + 1 : path, problem->dimension, problem->contacts, problem->dof,
         problem->form == DS_PROBLEM_GLOBAL ? "global" : "local", solver);
  printf(", \"tolerance\": %g, \"solved\": %s", j->tolerance, best->solved ? "true" : "false");
  print_number("time_s", best->time);
  print_number("natural_error", best->error);
  print_number("own_tolerance", best->solved ? best->own : INFINITY);
  printf(", \"iterations\": %d, \"runs\": %d, \"storage\": \"%s\", \"failure\": ", best->solved ? best->iterations : 0,
         best->runs,
         j->siconos ? storages[best->storage]
         : j->whole ? "as in the file"
                    : "sparse");
  if (best->failure)
    printf("\"%s\"}\n", best->failure);
  else
    puts("null}");
}

/* ---- arguments --------------------------------------------------------------------------------------------------- */

static int usage(void) {
  fputs(
      "usage: bench-solve [--tolerance T] [--limit SECONDS] [--unit file|scaled] "
      "SOLVER "
      "FILE\n"
      "       bench-solve --list | --about FILE | --opens FILE.dat [FILE]\n",
      stderr);
  return 2;
}

static int list(void) {
  puts("drystone 2 3\ndrystone-w 2 3");
  for (int32_t i = 0; i < BENCH_SICONOS_COUNT; i++)
    printf("%s %d\n", BENCH_SICONOS[i].name, BENCH_SICONOS[i].dimension);
  return 0;
}

static int about(const ds_problem *p) {
  bool global = p->form == DS_PROBLEM_GLOBAL;
  printf("{\"dimension\": %d, \"contacts\": %d, \"dof\": %d, \"equalities\": %d, \"form\": \"%s\", \"whole\": %s}\n",
         p->dimension, p->contacts, p->dof, p->equalities, global ? "global" : "local",
         global || p->equalities > 0 ? "true" : "false");
  return 0;
}

/* OpenBLAS, under Siconos, reads this when it is loaded: too late for setenv alone. */
static void one_thread(char **argv) {
  const char *threads = getenv("OPENBLAS_NUM_THREADS");
  if (threads && strcmp(threads, "1") == 0) return;
  setenv("OPENBLAS_NUM_THREADS", "1", 1);
  setenv("OMP_NUM_THREADS", "1", 1);
  execv("/proc/self/exe", argv);
}

static bool positive(const char *text, double *value) {
  char *end;
  *value = strtod(text, &end);
  return end != text && *end == '\0' && *value > 0 && isfinite(*value);
}

typedef struct arguments {
  double tolerance, limit;
  bool scaled;
  const char *solver, *path;
} arguments;

static bool read_arguments(arguments *a, int argc, char **argv) {
  *a = (arguments){.tolerance = 1e-8, .limit = 10};
  int i = 1;
  for (; i + 1 < argc && strncmp(argv[i], "--", 2) == 0; i += 2) {
    const char *value = argv[i + 1];
    bool good = false;
    if (strcmp(argv[i], "--tolerance") == 0) good = positive(value, &a->tolerance);
    if (strcmp(argv[i], "--limit") == 0) good = positive(value, &a->limit) && a->limit < 1e6;
    if (strcmp(argv[i], "--unit") == 0) {
      a->scaled = strcmp(value, "scaled") == 0;
      good = a->scaled || strcmp(value, "file") == 0;
    }
    if (!good) return false;
  }
  if (i + 2 != argc) return false;
  a->solver = argv[i], a->path = argv[i + 1];
  return true;
}

static int measure_file(const arguments *a, const ds_problem_file *file) {
  job j = {.file = file, .tolerance = a->tolerance, .limit = a->limit, .unit = 1};
  j.whole = strcmp(a->solver, "drystone") == 0;
  for (int32_t k = 0; k < BENCH_SICONOS_COUNT; k++)
    if (strcmp(a->solver, BENCH_SICONOS[k].name) == 0) j.siconos = &BENCH_SICONOS[k];
  bool known =
      j.siconos ? j.siconos->dimension == file->problem.dimension : j.whole || strcmp(a->solver, "drystone-w") == 0;
  if (!known) {
    fprintf(stderr, "bench-solve: %s is no solver of this problem; --list names them\n", a->solver);
    return 1;
  }
  ds_error error = {{0}};
  bench_local *local = bench_local_new(&file->problem, &error);
  if (!local) {
    fprintf(stderr, "bench-solve: %s: %s\n", a->path, error.message);
    return 1;
  }
  j.local = local;
  if (a->scaled) j.unit = local->rho;
  result best = measure(&j);
  print_result(&j, &best, a->solver, a->path);
  bench_local_free(local);
  return 0;
}

int main(int argc, char **argv) {
  one_thread(argv);
  if (argc == 2 && strcmp(argv[1], "--list") == 0) return list();
  bool opens = (argc == 3 || argc == 4) && strcmp(argv[1], "--opens") == 0;
  bool asks = argc == 3 && strcmp(argv[1], "--about") == 0;
  arguments a = {.path = argv[argc - 1]};
  if (!opens && !asks && !read_arguments(&a, argc, argv)) return usage();
  ds_error error = {{0}};
  ds_problem_file *file = ds_problem_file_read(a.path, &error);
  if (!file) {
    fprintf(stderr, "bench-solve: %s\n", error.message);
    return 1;
  }
  int result = asks    ? about(&file->problem)
               : opens ? !bench_siconos_opens(argv[2], &file->problem)
                       : measure_file(&a, file);
  ds_problem_file_free(file);
  return result;
}
