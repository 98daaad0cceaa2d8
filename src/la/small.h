/* Small row-major matrices, plainly; the factorizations of contact systems are in block.h. The diagonal of a Cholesky
 * factor l holds reciprocals, so that solves multiply. */
#ifndef DS_LA_SMALL_H
#define DS_LA_SMALL_H

#include <stdbool.h>
#include <stdint.h>

/* a = l lᵀ, l in the lower triangle; false if a is not positive definite or not finite */
bool ds_small_cholesky(double *a, int32_t n);
void ds_small_solve_l(double *x, const double *l, int32_t n);  /* x := l⁻¹ x */
void ds_small_solve_lt(double *x, const double *l, int32_t n); /* x := l⁻ᵀ x */

#endif
