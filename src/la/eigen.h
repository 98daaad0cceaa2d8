/* Dense symmetric eigenproblems and singular values of middling size: offline, where modes are computed. */
#ifndef DS_LA_EIGEN_H
#define DS_LA_EIGEN_H

#include <stdbool.h>
#include <stdint.h>

/* a (n x n, symmetric, row-major) = sum_i w_i z_i z_iᵀ, w ascending. On return row i of a is the unit vector z_i, its
 * sign as it comes; work holds n numbers. False if no convergence was reached, as with entries that are not finite.
 */
bool ds_symmetric_eigen(double *a, double *w, double *work, int32_t n);

/* The rows of a (m x n, row-major) are rotated among each other until they are orthogonal: a := J a, JᵀJ = 1. Their
 * norms are then the singular values and, divided by them, the rows the singular vectors, all with high relative
 * accuracy [Demmel and Veselić 1992]. Sorted, largest first. One-sided Jacobi. */
void ds_orthogonal_rows(double *a, double *norm, int32_t m, int32_t n);

#endif
