/* Frictional contact problems without a simulator. The input is a problem; the output is impulses, velocities and a
 * certificate. docs/problems.md has the mathematics and the file formats. */
#ifndef DRYSTONE_PROBLEM_H
#define DRYSTONE_PROBLEM_H

#include "drystone/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A sparse matrix as triplets, in any order. Entries with the same indices are added. */
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
 * tangents. Members of the other form, and those of equality rows if there are none, stay zero. */
typedef struct ds_problem {
  ds_problem_form form;
  int32_t dimension;  /* 2 or 3 */
  int32_t contacts;   /* nc >= 0 */
  int32_t dof;        /* global form: rows of M */
  int32_t equalities; /* ne >= 0: length of l */

  ds_matrix W;         /* local: (d nc) x (d nc), positive semidefinite; its symmetric part is used */
  ds_matrix V, R;      /* local: (d nc) x ne, ne x ne */
  const double *q, *s; /* local: d nc, ne */

  ds_matrix M;         /* global: dof x dof, positive definite; its symmetric part is used */
  ds_matrix H, G;      /* global: dof x (d nc), dof x ne */
  const double *f;     /* global: dof */
  const double *w, *b; /* global: d nc, ne */

  const double *mu; /* nc, >= 0 */

  /* Optional, global form: M is block diagonal with these blocks, in order. NULL: found from the pattern of M. */
  const int32_t *body_size; /* body_count */
  int32_t body_count;

  /* Optional, of a step: d nc, how loaded contacts moved after the previous step, m/s; 0 at others. First the speed at
   * which the bodies turn against each other, |w_a - w_b| times the radius of the smaller one, then the slip. They
   * determine the tolerance of a moving island if none is given [ds_options.tolerance]. */
  const double *u_before;
} ds_problem;

typedef enum ds_outcome {
  DS_SOLVED,      /* the certificate holds */
  DS_UNSOLVED,    /* the error of the best iterate is above the tolerance */
  DS_NO_SOLUTION, /* infeasible, proved: no velocity prevents penetration at all contacts (`conflict` > 0) */
  DS_JAM,         /* impulses grow without bound on every path to a solution (`certificate.unbounded`): probably
                     infeasible, not proved */
} ds_outcome;

typedef struct ds_solve_options {
  double tolerance;       /* scale-free natural-map error, default 1e-8; with as_step 0 = automatic, as in a step */
  ds_method method;       /* default 0: coupled */
  int32_t max_iterations; /* as in ds_options */
  double budget;          /* limit of factorizations per independent part; sweeps count by their cost. Default
                             20000; 0 = no limit */
  bool asymmetric;        /* also correct for the skew part of W (local form); default false */
  bool as_step;           /* solve like a step of a simulation: a dumped step gives the same bits; default false */
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
  double conflict;         /* DS_NO_SOLUTION: smallest possible norm of (b - Nᵀv)+, over |q| */
  char path[96];           /* the methods that were used, in order, with their iterations */
} ds_solution;

ds_solve_options ds_default_solve_options(void);

/* A prepared problem: checked, and condensed if necessary. Refers to the problem's arrays, which must stay unchanged
 * until it is freed. */
typedef struct ds_prepared ds_prepared;
ds_prepared *ds_problem_prepare(const ds_problem *problem, ds_error *error); /* NULL with a message */
void ds_prepared_free(ds_prepared *prepared);
ds_status ds_prepared_solve(ds_prepared *prepared, const ds_solve_options *options, double *r, double *u, double *v,
                            ds_solution *solution, ds_error *error);

/* Prepares and solves a problem. r (d nc): start on input, impulses on output; u (d nc): relative velocities out; v
 * (dof): velocities out in global form, or NULL. DS_ERROR_INPUT with a message if the problem is inconsistent (sizes,
 * indices, NaN). */
ds_status ds_problem_solve(const ds_problem *problem, const ds_solve_options *options, double *r, double *u, double *v,
                           ds_solution *solution, ds_error *error);

/* Numerical rank of W: pivots above 1e-10 of the largest. Costs more than a solve. DS_ERROR_MEMORY also for an
 * independent part of more than 6000 rows. */
ds_status ds_problem_rank(int32_t *rank, const ds_problem *problem, ds_error *error);

/* The scale-free natural-map error |r - P_K(r - rho u~)| / max(|r|, rho |q|) of any r, with rho = 3 nc / tr W and
 * u = W r + q. */
ds_status ds_problem_check(const ds_problem *problem, const double *r, ds_solution *solution, ds_error *error);

#ifdef __cplusplus
}
#endif

#endif
