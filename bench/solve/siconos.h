/* The solvers of Siconos' numerics behind one call. */
#ifndef BENCH_SOLVE_SICONOS_H
#define BENCH_SOLVE_SICONOS_H

#include "local.h"

typedef enum bench_storage { BENCH_BLOCKS, BENCH_SPARSE, BENCH_DENSE, BENCH_STORAGES } bench_storage;

typedef struct bench_siconos {
  const char *name;
  int32_t dimension;     /* of the problems it takes */
  int solver;            /* Siconos' number */
  int inner;             /* its one-contact solver, 0: as shipped */
  bench_storage storage; /* of W, the one it is fastest with on large problems */
  bool dense;            /* may be faster with a dense W on small ones, and is tried with both */
} bench_siconos;

extern const bench_siconos BENCH_SICONOS[];
extern const int32_t BENCH_SICONOS_COUNT;

/* One solve in Siconos' own data structures. `unit` multiplies W and q, and so the velocities: the impulses do not
 * change. Nothing is freed: a run lives in a process of its own, and what Siconos frees depends on how it ended. */
typedef struct bench_siconos_run bench_siconos_run;
bench_siconos_run *bench_siconos_prepare(const bench_siconos *solver, const bench_local *local, bench_storage storage,
                                         double unit, double tolerance);
/* The call that is timed. r: zeros in, impulses out. Returns Siconos' own verdict, 0 for solved. */
int bench_siconos_solve(bench_siconos_run *run, double *r);
int32_t bench_siconos_iterations(const bench_siconos_run *run);

/* Opens a .dat with Siconos' own reader, compares with `problem`, and prints the largest differences. */
bool bench_siconos_opens(const char *path, const ds_problem *problem);

#endif
