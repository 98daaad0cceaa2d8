/* Cholesky with complete pivoting of a dense positive semidefinite matrix: its rank, and a factor of that many columns.
 */
#ifndef DS_LA_PIVOTED_H
#define DS_LA_PIVOTED_H

#include <stdint.h>

/* a (n x n, symmetric) = l lᵀ up to pivots of at most `threshold` times the largest diagonal entry; row i of l (n x n,
 * zero on entry, columns up to the rank are used) is that of row i of a. pivot[k] is the row eliminated k-th; diagonal
 * (n) is left with what remains of the rows that are none. Returns the rank. */
int32_t ds_pivoted_cholesky(double *l, int32_t *pivot, double *diagonal, const double *a, int32_t n, double threshold);

#endif
