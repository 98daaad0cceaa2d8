/* A Bᵀ on the graph of a linkage's joints, for rows A and B of the same joints; of both only rows that the elimination
 * keeps (la/null_tree.h), or all. Joints are coupled where they share a body that moves: that of a chain is block
 * tridiagonal.
 */
#ifndef DS_JOINT_JOINT_SYSTEM_H
#define DS_JOINT_JOINT_SYSTEM_H

#include "joint/articulate.h"
#include "la/block.h"

typedef struct ds_joint_system {
  const ds_linkage *linkage;
  int32_t rank;       /* rows that are kept */
  int32_t count;      /* joints that have any */
  int32_t *start;     /* count + 1: of their kept rows in `row` */
  int32_t *row;       /* kept rows, joint by joint */
  int32_t pair_count; /* of joints that share a body, once for each that they share */
  int32_t *pairs;     /* 2 each: places of joints */
  int32_t *slot;      /* of a pair's block in the matrix ... */
  bool *swapped;      /* ... which is that of the second and the first */
  int32_t *shared;    /* of a pair: first coordinate of the body */
  double *x, *work;   /* one per kept row */
  ds_block_pattern *pattern;
  ds_block_matrix *matrix;
} ds_joint_system;

/* With all rows, or those that the elimination keeps. NULL where memory ran out. */
ds_joint_system *ds_joint_system_create(ds_arena *arena, const ds_linkage *linkage, bool all);
/* out = Bᵀ (A Bᵀ)⁻¹ c: of all x with A x = c the one that is a combination of rows of B. c: a number for every row of
 * the linkage; out: its coordinates. Where a = b the matrix is symmetric. False where it is singular. */
bool ds_joint_system_solve(double *out, ds_joint_system *system, const ds_null_row *a, const ds_null_row *b,
                           const double *c);
/* x := (A Aᵀ)⁻¹ x for a system of all rows, which may depend on each other: a ridge of 1e-10 of the diagonal makes the
 * impulses of those unique. False where it is singular all the same. */
bool ds_joint_system_impulses(double *x, ds_joint_system *system, const ds_null_row *a);

#endif
