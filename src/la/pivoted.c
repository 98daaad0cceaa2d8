#include "la/pivoted.h"

#include <math.h>
#include <stddef.h>

int32_t ds_pivoted_cholesky(double *l, int32_t *pivot, double *diagonal, const double *a, int32_t n, double threshold) {
  size_t stride = (size_t)n;
  double largest = 0;
  int32_t rank = 0;
  for (int32_t i = 0; i < n; i++) {
    diagonal[i] = a[(size_t)i * stride + (size_t)i];
    largest = fmax(largest, diagonal[i]);
  }
  for (; rank < n; rank++) {
    int32_t p = 0; /* a row that has been a pivot is at -infinity */
    for (int32_t i = 1; i < n; i++)
      if (diagonal[i] > diagonal[p]) p = i;
    if (!(diagonal[p] > threshold * largest)) break;
    const double *row = l + (size_t)p * stride, *column = a + (size_t)p * stride;
    double root = sqrt(diagonal[p]);
    for (int32_t i = 0; i < n; i++) {
      double *li = l + (size_t)i * stride, sum = column[i];
      if (i == p || isinf(diagonal[i])) continue;
      for (int32_t j = 0; j < rank; j++) sum -= row[j] * li[j];
      li[rank] = sum / root;
      diagonal[i] -= li[rank] * li[rank];
    }
    l[(size_t)p * stride + (size_t)rank] = root;
    diagonal[p] = -INFINITY;
    pivot[rank] = p;
  }
  return rank;
}
