/* The linear system of every second-order method: H = I + sum_k G_k C_k G_kᵀ on the body graph, with a 3 x 3 matrix C_k
 * a contact. Analysed once a problem, assembled and factored as often as wanted. */
#ifndef DS_PROJECT_SYSTEM_H
#define DS_PROJECT_SYSTEM_H

#include "la/block.h"
#include "problem/subproblem.h"

typedef struct ds_system {
  const ds_subproblem *problem;
  ds_block_pattern *pattern;
  ds_block_matrix *matrix;
  int32_t *slot;  /* contact_count: off-diagonal block of its two bodies, -1 = it has only one */
  bool *swapped;  /* contact_count: the first body is eliminated before the second */
  double *work;   /* dof */
  bool symmetric; /* of the last factorization */
  bool valid;     /* the factor is the one of `last` */
  double *last;   /* 9 x contact_count: the matrices it was made from */
  int32_t factorizations;
} ds_system;

ds_system *ds_system_create(ds_arena *arena, const ds_subproblem *problem); /* NULL where memory ran out */
/* H from c (9 x contact_count, row-major, all zero where a contact does not act), and its factor, which is kept where c
 * is what it was: while no contact changes its mode the last digits cost no factorization. False where H is singular or
 * not finite. `symmetric` promises that every C_k is symmetric positive semidefinite. */
bool ds_system_factor(ds_system *system, const double *c, bool symmetric);
void ds_system_solve(double *x, const ds_system *system); /* x := H⁻¹ x */

#endif
