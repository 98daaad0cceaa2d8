#include "la/small.h"

void ds_small_subtract_product_6(double *restrict c, const double *restrict a, const double *restrict t) {
  for (int32_t i = 0; i < 6; i++) {
    double row[6];
    for (int32_t j = 0; j < 6; j++) row[j] = c[6 * i + j];
    for (int32_t l = 0; l < 6; l++) {
      double s = a[6 * i + l];
      for (int32_t j = 0; j < 6; j++) row[j] -= s * t[6 * l + j];
    }
    for (int32_t j = 0; j < 6; j++) c[6 * i + j] = row[j];
  }
}

/* The diagonal of l holds reciprocals, so that solves multiply. */
bool ds_small_cholesky(double *a, int32_t n) {
  for (int32_t j = 0; j < n; j++) {
    double *aj = a + j * n, d = aj[j];
    for (int32_t k = 0; k < j; k++) d -= aj[k] * aj[k];
    if (!(d > 0) || !isfinite(d)) return false;
    double inverse = 1 / sqrt(d);
    for (int32_t i = j + 1; i < n; i++) {
      double *ai = a + i * n, s = ai[j];
      for (int32_t k = 0; k < j; k++) s -= ai[k] * aj[k];
      ai[j] = s * inverse;
    }
    aj[j] = inverse;
  }
  return true;
}

void ds_small_solve_l(double *x, const double *l, int32_t n) {
  for (int32_t i = 0; i < n; i++) {
    double s = x[i];
    for (int32_t k = 0; k < i; k++) s -= l[i * n + k] * x[k];
    x[i] = s * l[i * n + i];
  }
}

void ds_small_solve_lt(double *x, const double *l, int32_t n) {
  for (int32_t i = n - 1; i >= 0; i--) {
    x[i] *= l[i * n + i];
    for (int32_t k = 0; k < i; k++) x[k] -= l[i * n + k] * x[i];
  }
}

/* Row by row: x lᵀ = b is l xᵀ = bᵀ. */
void ds_small_right_solve_lt(double *b, const double *l, int32_t m, int32_t n) {
  for (int32_t r = 0; r < m; r++) ds_small_solve_l(b + r * n, l, n);
}

bool ds_small_lu(double *a, int32_t *pivots, int32_t n) {
  for (int32_t j = 0; j < n; j++) {
    int32_t pivot = j;
    for (int32_t i = j + 1; i < n; i++)
      if (fabs(a[i * n + j]) > fabs(a[pivot * n + j])) pivot = i;
    pivots[j] = pivot;
    if (pivot != j)
      for (int32_t k = 0; k < n; k++) {
        double t = a[j * n + k];
        a[j * n + k] = a[pivot * n + k];
        a[pivot * n + k] = t;
      }
    double d = a[j * n + j];
    if (!(fabs(d) > 1e-300) || !isfinite(d)) return false;
    double inverse = 1 / d;
    for (int32_t i = j + 1; i < n; i++) {
      double f = a[i * n + j] *= inverse;
      for (int32_t k = j + 1; k < n; k++) a[i * n + k] -= f * a[j * n + k];
    }
  }
  return true;
}

void ds_small_lu_solve(double *x, const double *lu, const int32_t *pivots, int32_t n) {
  for (int32_t i = 0; i < n; i++) {
    double t = x[pivots[i]];
    x[pivots[i]] = x[i];
    x[i] = t;
  }
  for (int32_t i = 0; i < n; i++)
    for (int32_t k = 0; k < i; k++) x[i] -= lu[i * n + k] * x[k];
  for (int32_t i = n - 1; i >= 0; i--) {
    for (int32_t k = i + 1; k < n; k++) x[i] -= lu[i * n + k] * x[k];
    x[i] /= lu[i * n + i];
  }
}

/* y a = b with p a = l u: y = w p where (w l) u = b, solved from the right. */
void ds_small_right_solve_lu(double *b, const double *lu, const int32_t *pivots, int32_t m, int32_t n) {
  for (int32_t r = 0; r < m; r++) {
    double *x = b + r * n;
    for (int32_t j = 0; j < n; j++) { /* w u = b */
      for (int32_t k = 0; k < j; k++) x[j] -= x[k] * lu[k * n + j];
      x[j] /= lu[j * n + j];
    }
    for (int32_t j = n - 1; j >= 0; j--) /* w l = w */
      for (int32_t k = j + 1; k < n; k++) x[j] -= x[k] * lu[k * n + j];
    for (int32_t j = n - 1; j >= 0; j--) { /* undo the interchanges, last first */
      double t = x[pivots[j]];
      x[pivots[j]] = x[j];
      x[j] = t;
    }
  }
}
