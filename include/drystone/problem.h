/* Frictional contact problems on their own, without a simulator: a problem in, impulses, velocities and a certificate
 * out. docs/problems.md has the mathematics and the file formats. */
#ifndef DRYSTONE_PROBLEM_H
#define DRYSTONE_PROBLEM_H

#include "drystone/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A sparse matrix as triplets. Entries of the same place add up; their order is free. */
typedef struct ds_matrix {
  int32_t rows, columns, entries;
  const int32_t *row, *column;
  const double *value;
} ds_matrix;

typedef enum ds_problem_form {
  DS_PROBLEM_LOCAL,  /*       u = W r + V l + q,   0 = Vᵀ r + R l + s */
  DS_PROBLEM_GLOBAL, /* M v = H r + G l + f,   u = Hᵀ v + w,   0 = Gᵀ v + b */
} ds_problem_form;

/* Find r and u with one of the systems above and, for every contact, r in the Coulomb cone |r_T| <= mu r_N,
 * u + (mu |u_T|, 0) in its dual cone, and both orthogonal. Components of a contact: normal, then `dimension` - 1
 * tangents. Members of the other form, and those of equality rows where there are none, stay zero. */
typedef struct ds_problem {
  ds_problem_form form;
  int32_t dimension;  /* 2 or 3 */
  int32_t contacts;   /* nc >= 0 */
  int32_t dof;        /* global form: rows of M */
  int32_t equalities; /* ne >= 0: length of l */

  ds_matrix W;         /* local: (d nc) x (d nc), positive semidefinite; its symmetric part counts */
  ds_matrix V, R;      /* local: (d nc) x ne, ne x ne */
  const double *q, *s; /* local: d nc, ne */

  ds_matrix M;         /* global: dof x dof, positive definite; its symmetric part counts */
  ds_matrix H, G;      /* global: dof x (d nc), dof x ne */
  const double *f;     /* global: dof */
  const double *w, *b; /* global: d nc, ne */

  const double *mu; /* nc, >= 0 */

  /* Optional, global form: M is block diagonal with these blocks, in order. Found from the pattern of M where NULL. */
  const int32_t *body_size; /* body_count */
  int32_t body_count;

  /* Optional, of a step: d nc, relative velocities after the step before at the contacts that carried load, else 0.
   * They decide how exactly a moving island is solved where no tolerance is given [ds_options.tolerance], and whether
   * one at rest is left alone. */
  const double *u_before;
} ds_problem;

typedef enum ds_outcome {
  DS_SOLVED,      /* the certificate holds */
  DS_UNSOLVED,    /* the best iterate's error is above the tolerance */
  DS_NO_SOLUTION, /* proved: no velocity whatever keeps every contact from penetrating (`conflict` > 0) */
  DS_JAM,         /* impulses grow without bound on every way to a solution (`certificate.unbounded`): likely there is
                     none, but that is no proof */
} ds_outcome;

typedef struct ds_solve_options {
  double tolerance;       /* scale-free natural-map error, default 1e-8; with as_step 0 = chosen as a step's is */
  ds_method method;       /* default 0: coupled */
  int32_t max_iterations; /* as in ds_options */
  double budget;          /* factorizations that an independent part may take, sweeps by their cost: default 4000; 0 =
                             no limit */
  bool asymmetric;        /* correct for the skew part of W (local form), too; default false */
  bool as_step;           /* as a step of a simulation is solved: a dumped step gives the same bits; default false */
  int32_t threads;        /* default 1; 0 = all processors; results are the same for any number */
} ds_solve_options;

typedef struct ds_solution {
  ds_outcome outcome;
  ds_certificate certificate;
  int32_t islands;         /* independent parts */
  double siconos_error;    /* natural map with rho = 1 over max(|q|, |r|, |u|): depends on units */
  double asymmetry;        /* |W - Wᵀ| / |W|, Frobenius */
  double asymmetric_error; /* scale-free natural-map error on W as given */
  double complementarity;  /* worst |r_k' u~_k| over contacts, J */
  double conflict;         /* DS_NO_SOLUTION: least possible norm of (b - Nᵀv)+ over |q| */
  char path[96];           /* the tools that were used, in order, with their iterations */
} ds_solution;

ds_solve_options ds_default_solve_options(void);

/* A problem made ready: checked, and condensed where it must be. Refers to the problem's arrays, which must stay as
 * they are until it is freed. */
typedef struct ds_prepared ds_prepared;
ds_prepared *ds_problem_prepare(const ds_problem *problem, ds_error *error); /* NULL with a message */
void ds_prepared_free(ds_prepared *prepared);
ds_status ds_prepared_solve(ds_prepared *prepared, const ds_solve_options *options, double *r, double *u, double *v,
                            ds_solution *solution, ds_error *error);

/* Prepares and solves a problem. r (d nc): start in, impulses out; u (d nc): relative velocities out; v (dof):
 * velocities out in global form, or NULL. DS_ERROR_INPUT with a message where the problem contradicts itself (sizes,
 * indices, NaN). */
ds_status ds_problem_solve(const ds_problem *problem, const ds_solve_options *options, double *r, double *u, double *v,
                           ds_solution *solution, ds_error *error);

/* Numerical rank of W: pivots above 1e-10 of the largest. Costs more than a solve; -1 where it would not fit in memory.
 */
int32_t ds_problem_rank(const ds_problem *problem, ds_error *error);

/* The scale-free natural-map error |r - P_K(r - rho u~)| / max(|r|, rho |q|) of any r, with rho = 3 nc / tr W and
 * u = W r + q. */
ds_status ds_problem_check(const ds_problem *problem, const double *r, ds_solution *solution, ds_error *error);

#ifdef __cplusplus
}
#endif

#endif
