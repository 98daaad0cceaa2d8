/* The linear complementarity problem of [Stewart and Trinkle 1996], dense, for solvers that need it written out.
 *
 * The friction disk is a polygon of k corners d_j. With the unknowns z = (alpha, beta, lambda), 2 + k numbers a
 * contact,
 *
 *       ( NᵀN  NᵀD  0 )       ( Nᵀv_p - b_N       )
 *   M = ( DᵀN  DᵀD  E ),  q = ( D ᵀv_p - d_jᵀ b_T ),   0 <= z  orthogonal to  w = M z + q >= 0:
 *       ( mu  -Eᵀ   0 )       ( 0                 )
 *
 * alpha are normal impulses, beta friction impulses along the corners, lambda the sliding speeds. Impulses are in units
 * of rho, so that the entries of M are near 1. */
#ifndef DS_METHODS_STEWART_TRINKLE_H
#define DS_METHODS_STEWART_TRINKLE_H

#include "project/solve.h"

/* Corners of the friction polygon where none are given, as in [SP08]; and contacts at most: with 8 corners M then has
 * 9 million numbers, 72 MB. */
enum { DS_LCP_CORNERS = 8, DS_LCP_CONTACTS = 300 };

typedef struct ds_lcp {
  int32_t n, contacts, corners;
  double *m; /* n x n, row-major */
  double *q;
  double unit; /* of impulses */
} ds_lcp;

/* False where there are too many contacts, or memory ran out. */
bool ds_lcp_build(ds_arena *arena, ds_lcp *lcp, const ds_subproblem *problem, int32_t corners);

/* Impulses of z. */
void ds_lcp_impulses(double *r, const ds_lcp *lcp, const double *z);

#endif
