/* The solvers of Siconos 4.4 as shipped: default options, save for the number of iterations, which is raised so that
 * only the time limit stops a solver. W is handed over in the storage in which each is fastest. */
#include "siconos.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <FrictionContactProblem.h>
#include <Friction_cst.h>
#include <GlobalFrictionContactProblem.h>
#include <NonSmoothDrivers.h>
#include <NumericsMatrix.h>
#include <NumericsSparseMatrix.h>
#include <NumericsVerbose.h>
#include <SolverOptions.h>
#include <SparseBlockMatrix.h>

const bench_siconos BENCH_SICONOS[] = {
    {"NSGS-AC", 3, SICONOS_FRICTION_3D_NSGS, 0, BENCH_BLOCKS, false},
    {"NSGS-projection", 3, SICONOS_FRICTION_3D_NSGS, SICONOS_FRICTION_3D_ONECONTACT_ProjectionOnConeWithLocalIteration,
     BENCH_BLOCKS, false},
    {"NSGS-one-projection", 3, SICONOS_FRICTION_3D_NSGS, SICONOS_FRICTION_3D_ONECONTACT_ProjectionOnCone, BENCH_BLOCKS,
     false},
    {"NSGS-quartic", 3, SICONOS_FRICTION_3D_NSGS, SICONOS_FRICTION_3D_ONECONTACT_QUARTIC, BENCH_BLOCKS, false},
    {"NSN_AC", 3, SICONOS_FRICTION_3D_NSN_AC, 0, BENCH_SPARSE, true},
    {"NSN_FB", 3, SICONOS_FRICTION_3D_NSN_FB, 0, BENCH_SPARSE, true},
    {"ADMM", 3, SICONOS_FRICTION_3D_ADMM, 0, BENCH_BLOCKS, true},
    {"PROX", 3, SICONOS_FRICTION_3D_PROX, 0, BENCH_BLOCKS, true},
    {"VI_EG", 3, SICONOS_FRICTION_3D_VI_EG, 0, BENCH_BLOCKS, true},
    {"VI_FPP", 3, SICONOS_FRICTION_3D_VI_FPP, 0, BENCH_BLOCKS, true},
    {"ACLM", 3, SICONOS_FRICTION_3D_ACLMFP, 0, BENCH_BLOCKS, false},
    {"Panagiotopoulos", 3, SICONOS_FRICTION_3D_PFP, 0, BENCH_BLOCKS, false},
    {"Tresca", 3, SICONOS_FRICTION_3D_TFP, 0, BENCH_BLOCKS, false},
    {"NSGS-2D", 2, SICONOS_FRICTION_2D_NSGS, 0, BENCH_DENSE, false},
};
const int32_t BENCH_SICONOS_COUNT = (int32_t)(sizeof BENCH_SICONOS / sizeof *BENCH_SICONOS);

enum { ITERATIONS = 100000000 };

struct bench_siconos_run {
  FrictionContactProblem *problem;
  SolverOptions *options;
  double *u;
};

/* W times unit as a NumericsMatrix. */
static NumericsMatrix *matrix_of(const bench_local *local, double unit, bench_storage storage) {
  int n = local->size;
  if (storage == BENCH_DENSE) {
    NumericsMatrix *dense = NM_create(NM_DENSE, n, n);
    memset(dense->matrix0, 0, (size_t)n * (size_t)n * sizeof *dense->matrix0);
    for (int j = 0; j < n; j++)
      for (int32_t k = local->start[j]; k < local->start[j + 1]; k++)
        dense->matrix0[(size_t)j * (size_t)n + (size_t)local->row[k]] = unit * local->value[k];
    return dense;
  }
  NumericsMatrix *sparse = NM_create(NM_SPARSE, n, n);
  NM_triplet_alloc(sparse, local->start[n]);
  sparse->matrix2->origin = NSM_TRIPLET;
  for (int j = 0; j < n; j++)
    for (int32_t k = local->start[j]; k < local->start[j + 1]; k++)
      NM_entry(sparse, local->row[k], j, unit * local->value[k]);
  NM_csc(sparse); /* made here so that no solver's time contains it */
  if (storage == BENCH_SPARSE) return sparse;
  NumericsMatrix *blocks = NM_create(NM_SPARSE_BLOCK, n, n);
  SBM_from_csparse(local->dimension, NM_csc(sparse), blocks->matrix1);
  return blocks;
}

bench_siconos_run *bench_siconos_prepare(const bench_siconos *solver, const bench_local *local, bench_storage storage,
                                         double unit, double tolerance) {
  bench_siconos_run *run = calloc(1, sizeof *run);
  double *q = calloc((size_t)local->size + 1, sizeof *q), *mu = calloc((size_t)local->contacts + 1, sizeof *mu);
  double *u = calloc((size_t)local->size + 1, sizeof *u);
  if (!run || !q || !mu || !u) return NULL;
  run->u = u;
  for (int32_t i = 0; i < local->size; i++) q[i] = unit * local->q[i];
  memcpy(mu, local->mu, (size_t)local->contacts * sizeof *mu);
  numerics_set_verbose(0);
  run->problem =
      frictionContactProblem_new_with_data(local->dimension, local->contacts, matrix_of(local, unit, storage), q, mu);
  NM_setSparseSolver(run->problem->M, NSM_CSPARSE);
  run->options = solver_options_create(solver->solver);
  if (solver->inner) solver_options_update_internal(run->options, 0, solver->inner);
  run->options->iparam[SICONOS_IPARAM_MAX_ITER] = ITERATIONS;
  run->options->dparam[SICONOS_DPARAM_TOL] = tolerance;
  return run;
}

int bench_siconos_solve(bench_siconos_run *run, double *r) {
  return run->problem->dimension == 3 ? fc3d_driver(run->problem, r, run->u, run->options)
                                      : fc2d_driver(run->problem, r, run->u, run->options);
}

int32_t bench_siconos_iterations(const bench_siconos_run *run) {
  return run->options->iparam[SICONOS_IPARAM_ITER_DONE];
}
