#include "la/small.h"

#include <math.h>
#include <stddef.h>

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
