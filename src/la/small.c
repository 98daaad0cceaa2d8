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

bool ds_small_eliminate(double *x, double *a, int32_t n) {
  for (int32_t k = 0; k < n; k++) {
    int32_t pivot = k;
    for (int32_t i = k + 1; i < n; i++)
      if (fabs(a[(size_t)i * (size_t)n + (size_t)k]) > fabs(a[(size_t)pivot * (size_t)n + (size_t)k])) pivot = i;
    double *top = a + (size_t)k * (size_t)n, *other = a + (size_t)pivot * (size_t)n, swap = x[k];
    x[k] = x[pivot], x[pivot] = swap;
    for (int32_t j = k; j < n && pivot != k; j++) swap = top[j], top[j] = other[j], other[j] = swap;
    if (!(fabs(top[k]) > 0)) return false;
    for (int32_t i = k + 1; i < n; i++) {
      double *row = a + (size_t)i * (size_t)n, f = row[k] / top[k];
      if (f == 0) continue;
      for (int32_t j = k + 1; j < n; j++) row[j] -= f * top[j];
      x[i] -= f * x[k];
    }
  }
  for (int32_t k = n - 1; k >= 0; k--) {
    const double *row = a + (size_t)k * (size_t)n;
    for (int32_t j = k + 1; j < n; j++) x[k] -= row[j] * x[j];
    x[k] /= row[k];
  }
  return true;
}
