/* The linear system of every second-order method: H = I + sum_k G_k C_k G_kᵀ on the body graph, with a 3 x 3 matrix C_k
 * a contact. Analysed once a problem, assembled and factored as often as wanted. */
#ifndef DS_PROJECT_SYSTEM_H
#define DS_PROJECT_SYSTEM_H

#include "la/block.h"
#include "problem/effort.h"
#include "problem/subproblem.h"
#include "project/local_system.h"

/* Contacts of the same two bodies, one after another. */
typedef struct ds_run {
  int32_t first, count; /* contacts */
  int32_t a, b;         /* bodies, -1 = the fixed world */
  int32_t slot;         /* of the off-diagonal block of the two, -1 = there is only one body */
  bool swapped;         /* a is eliminated before b */
} ds_run;

typedef struct ds_system {
  const ds_subproblem *problem;
  ds_effort *effort;      /* that factorizations take; NULL: no limit */
  ds_local_system *local; /* in place of all that follows but `last`, where the problem has no bodies */
  ds_block_pattern *pattern;
  ds_block_matrix *matrix;
  ds_run *runs;
  int32_t run_count;
  double *rows;   /* workspace: packed rows of a run between bodies that are not both rigid */
  double *work;   /* dof */
  bool symmetric; /* of the last factorization */
  bool valid;     /* the factor is the one of `last` */
  double *last;   /* 9 x contact_count: the matrices it was made from */
  int32_t factorizations;
} ds_system;

/* NULL where memory ran out. Threads of the pool share the factorizations; pool and effort may be NULL. */
ds_system *ds_system_create(ds_arena *arena, const ds_subproblem *problem, ds_pool *pool, ds_effort *effort);
/* H from c (9 x contact_count, row-major, all zero where a contact does not act), and its factor, which is kept where c
 * is what it was: while no contact changes its mode the last digits cost no factorization. False where H is singular or
 * not finite, and where time has run out: then every tool stops. `symmetric` promises that every C_k is symmetric
 * positive semidefinite. */
bool ds_system_factor(ds_system *system, const double *c, bool symmetric);
void ds_system_solve(double *x, const ds_system *system); /* x := H⁻¹ x */

/* What a factorization costs, in Gauss-Seidel sweeps. */
double ds_system_in_sweeps(const ds_system *system);

/* Sign of det H, 1 or -1: positive for symmetric matrices. */
int32_t ds_system_sign(const ds_system *system);

#endif
