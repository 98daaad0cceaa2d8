/* Dense kernels on small row-major blocks. 6 x 6 is a rigid body and has its own unrolled loops; other sizes are the
 * general ones. The order of every sum is fixed, so that vectorized and plain builds agree to the last bit. */
#ifndef DS_LA_SMALL_H
#define DS_LA_SMALL_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* t (n x m) = aᵀ, a (m x n) */
static inline void ds_small_transpose(double *restrict t, const double *restrict a, int32_t m, int32_t n) {
  for (int32_t i = 0; i < m; i++)
    for (int32_t j = 0; j < n; j++) t[j * m + i] = a[i * n + j];
}

/* c (m x n) -= a (m x k) t (k x n) */
static inline void ds_small_subtract_product_any(double *restrict c, const double *restrict a, const double *restrict t,
                                                 int32_t m, int32_t n, int32_t k) {
  for (int32_t i = 0; i < m; i++)
    for (int32_t l = 0; l < k; l++) {
      double s = a[i * k + l];
      for (int32_t j = 0; j < n; j++) c[i * n + j] -= s * t[l * n + j];
    }
}

void ds_small_subtract_product_6(double *restrict c, const double *restrict a, const double *restrict t);

static inline void ds_small_subtract_product(double *restrict c, const double *restrict a, const double *restrict t,
                                             int32_t m, int32_t n, int32_t k) {
  if (m == 6 && n == 6 && k == 6)
    ds_small_subtract_product_6(c, a, t);
  else
    ds_small_subtract_product_any(c, a, t, m, n, k);
}

/* y (m) -= a (m x n) x (n) */
static inline void ds_small_subtract_apply(double *restrict y, const double *restrict a, const double *restrict x,
                                           int32_t m, int32_t n) {
  for (int32_t i = 0; i < m; i++) {
    double sum = 0;
    for (int32_t j = 0; j < n; j++) sum += a[i * n + j] * x[j];
    y[i] -= sum;
  }
}

/* y (n) -= aᵀ x, a (m x n) */
static inline void ds_small_subtract_apply_t(double *restrict y, const double *restrict a, const double *restrict x,
                                             int32_t m, int32_t n) {
  for (int32_t i = 0; i < m; i++)
    for (int32_t j = 0; j < n; j++) y[j] -= a[i * n + j] * x[i];
}

/* a = l lᵀ, l in the lower triangle; false where a is not positive definite or not finite */
bool ds_small_cholesky(double *a, int32_t n);
void ds_small_solve_l(double *x, const double *l, int32_t n);  /* x := l⁻¹ x */
void ds_small_solve_lt(double *x, const double *l, int32_t n); /* x := l⁻ᵀ x */
/* b (m x n) := b l⁻ᵀ */
void ds_small_right_solve_lt(double *b, const double *l, int32_t m, int32_t n);

/* Row-pivoted p a = l u in place; false where a is singular or not finite */
bool ds_small_lu(double *a, int32_t *pivots, int32_t n);
void ds_small_lu_solve(double *x, const double *lu, const int32_t *pivots, int32_t n); /* x := a⁻¹ x */
/* b (m x n) := b a⁻¹ */
void ds_small_right_solve_lu(double *b, const double *lu, const int32_t *pivots, int32_t m, int32_t n);

#endif
