#include "la/panel.h"

#include <math.h>
#include <stddef.h>

#include "la/simd.h"

/* c (m x n) -= a (m x k) tᵀ with m = 4 fours + 2 twos + ones: m n sums in registers. */
DS_INLINE void update_tile(double *c, const double *a, const double *t, int32_t k, int32_t ldc, int32_t lda,
                           const int fours, const int twos, const int ones, const int n) {
  ds_v4 s4[DS_TILE][2];
  ds_v2 s2[DS_TILE];
  double s1[DS_TILE];
  const int at2 = 4 * fours, at1 = at2 + 2 * twos;
  for (int j = 0; j < n; j++) {
    const double *column = c + (ptrdiff_t)j * ldc;
    for (int i = 0; i < fours; i++) s4[j][i] = ds_v4_load(column + 4 * i);
    if (twos) s2[j] = ds_v2_load(column + at2);
    if (ones) s1[j] = column[at1];
  }
  for (int32_t l = 0; l < k; l++) {
    ds_v4 a4[2];
    ds_v2 a2;
    double a1;
    for (int i = 0; i < fours; i++) a4[i] = ds_v4_load(a + 4 * i);
    if (twos) a2 = ds_v2_load(a + at2);
    if (ones) a1 = a[at1];
    for (int j = 0; j < n; j++) {
      double f = t[j];
      for (int i = 0; i < fours; i++) s4[j][i] = ds_v4_sub(s4[j][i], ds_v4_mul(ds_v4_all(f), a4[i]));
      if (twos) s2[j] = ds_v2_sub(s2[j], ds_v2_mul(ds_v2_all(f), a2));
      if (ones) s1[j] -= f * a1;
    }
    a += lda;
    t += lda;
  }
  for (int j = 0; j < n; j++) {
    double *column = c + (ptrdiff_t)j * ldc;
    for (int i = 0; i < fours; i++) ds_v4_store(column + 4 * i, s4[j][i]);
    if (twos) ds_v2_store(column + at2, s2[j]);
    if (ones) column[at1] = s1[j];
  }
}

/* All n columns of one group of rows: a's part is small and stays near while t passes by. */
DS_INLINE void update_rows(double *c, const double *a, const double *t, int32_t n, int32_t k, int32_t ldc, int32_t lda,
                           const int fours, const int twos, const int ones) {
  for (; n >= DS_TILE; n -= DS_TILE, t += DS_TILE, c += (ptrdiff_t)DS_TILE * ldc)
    update_tile(c, a, t, k, ldc, lda, fours, twos, ones, DS_TILE);
  for (; n >= 3; n -= 3, t += 3, c += 3 * (ptrdiff_t)ldc) update_tile(c, a, t, k, ldc, lda, fours, twos, ones, 3);
  for (; n >= 1; n--, t++, c += ldc) update_tile(c, a, t, k, ldc, lda, fours, twos, ones, 1);
}

DS_INLINE void ds_panel_update_body(double *c, const double *a, const double *t, const ds_panel_run *runs,
                                    int32_t run_count, int32_t columns, int32_t k, int32_t ldc, int32_t lda,
                                    int32_t above) {
  for (int32_t r = 0; r < run_count; r++) {
    double *to = c + runs[r].target;
    const double *from = a + runs[r].source;
    int32_t rows = runs[r].rows, end = runs[r].target - above, n = columns;
    for (; rows >= 8; rows -= 8, to += 8, from += 8) {
      end += 8;
      n = end < columns ? (end + DS_TILE - 1) / DS_TILE * DS_TILE : columns;
      update_rows(to, from, t, n < columns ? n : columns, k, ldc, lda, 2, 0, 0);
    }
    end += rows;
    n = end < columns ? (end + DS_TILE - 1) / DS_TILE * DS_TILE : columns;
    if (n > columns) n = columns;
    switch (rows) {
      case 7:
        update_rows(to, from, t, n, k, ldc, lda, 1, 1, 1);
        break;
      case 6:
        update_rows(to, from, t, n, k, ldc, lda, 1, 1, 0);
        break;
      case 5:
        update_rows(to, from, t, n, k, ldc, lda, 1, 0, 1);
        break;
      case 4:
        update_rows(to, from, t, n, k, ldc, lda, 1, 0, 0);
        break;
      case 3:
        update_rows(to, from, t, n, k, ldc, lda, 0, 1, 1);
        break;
      case 2:
        update_rows(to, from, t, n, k, ldc, lda, 0, 1, 0);
        break;
      case 1:
        update_rows(to, from, t, n, k, ldc, lda, 0, 0, 1);
        break;
      default:
        break;
    }
  }
}
DS_KERNEL(ds_panel_update,
          (double *c, const double *a, const double *t, const ds_panel_run *runs, int32_t run_count, int32_t n,
           int32_t k, int32_t ldc, int32_t lda, int32_t above),
          (c, a, t, runs, run_count, n, k, ldc, lda, above))

/* 4 fours, two or one rows of x at a time. x_j = (b_j - sum_{k<j} x_k f_kj) / f_jj */
DS_INLINE void divide_rows(double *x, const ds_tile *tile, int32_t ld, const int fours, const int twos, const int n) {
  ds_v4 x4[DS_TILE][2];
  ds_v2 x2[DS_TILE];
  double x1[DS_TILE];
  const bool one = fours + twos == 0;
  for (int j = 0; j < n; j++) {
    const double *column = x + (ptrdiff_t)j * ld;
    for (int i = 0; i < fours; i++) x4[j][i] = ds_v4_load(column + 4 * i);
    if (twos) x2[j] = ds_v2_load(column);
    if (one) x1[j] = column[0];
  }
  for (int k = 0; k < n; k++) {
    double inverse = tile->inverse[k];
    for (int i = 0; i < fours; i++) x4[k][i] = ds_v4_mul(x4[k][i], ds_v4_all(inverse));
    if (twos) x2[k] = ds_v2_mul(x2[k], ds_v2_all(inverse));
    if (one) x1[k] *= inverse;
    for (int j = k + 1; j < n; j++) {
      double f = tile->f[DS_TILE * k + j];
      for (int i = 0; i < fours; i++) x4[j][i] = ds_v4_sub(x4[j][i], ds_v4_mul(ds_v4_all(f), x4[k][i]));
      if (twos) x2[j] = ds_v2_sub(x2[j], ds_v2_mul(ds_v2_all(f), x2[k]));
      if (one) x1[j] -= f * x1[k];
    }
  }
  for (int j = 0; j < n; j++) {
    double *column = x + (ptrdiff_t)j * ld;
    for (int i = 0; i < fours; i++) ds_v4_store(column + 4 * i, x4[j][i]);
    if (twos) ds_v2_store(column, x2[j]);
    if (one) column[0] = x1[j];
  }
}

DS_INLINE void divide(double *x, const ds_tile *tile, int32_t rows, int32_t ld, const int n) {
  for (; rows >= 8; rows -= 8, x += 8) divide_rows(x, tile, ld, 2, 0, n);
  for (; rows >= 4; rows -= 4, x += 4) divide_rows(x, tile, ld, 1, 0, n);
  for (; rows >= 2; rows -= 2, x += 2) divide_rows(x, tile, ld, 0, 1, n);
  if (rows > 0) divide_rows(x, tile, ld, 0, 0, n);
}

DS_INLINE void ds_panel_divide_body(double *x, const ds_tile *tile, int32_t rows, int32_t n, int32_t ld) {
  switch (n) {
    case 6:
      divide(x, tile, rows, ld, 6);
      break;
    case 5:
      divide(x, tile, rows, ld, 5);
      break;
    case 4:
      divide(x, tile, rows, ld, 4);
      break;
    case 3:
      divide(x, tile, rows, ld, 3);
      break;
    case 2:
      divide(x, tile, rows, ld, 2);
      break;
    default:
      divide(x, tile, rows, ld, 1);
      break;
  }
}
DS_KERNEL(ds_panel_divide, (double *x, const ds_tile *tile, int32_t rows, int32_t n, int32_t ld),
          (x, tile, rows, n, ld))

/* On the way from one pivot to the next there is a division but no root: the columns are kept times the root of their
 * pivot, as in a = l d lᵀ, and scaled at the end. */
static inline bool cholesky(double *a, ds_tile *tile, const int32_t n, int32_t ld) {
  double d[DS_TILE * DS_TILE], root[DS_TILE];
  for (int32_t j = 0; j < n; j++)
    for (int32_t i = j; i < n; i++) d[DS_TILE * j + i] = a[(ptrdiff_t)j * ld + i];
  bool good = true;
  for (int32_t k = 0; k < n; k++) {
    double pivot = d[DS_TILE * k + k], inverse = 1 / pivot;
    good = good && pivot > 0 && isfinite(pivot);
    root[k] = inverse * sqrt(pivot);
    for (int32_t j = k + 1; j < n; j++) {
      double f = d[DS_TILE * k + j] * inverse;
      for (int32_t i = j; i < n; i++) d[DS_TILE * j + i] -= f * d[DS_TILE * k + i];
    }
  }
  for (int32_t j = 0; j < n; j++) {
    tile->inverse[j] = root[j];
    for (int32_t i = j + 1; i < n; i++)
      tile->f[DS_TILE * j + i] = a[(ptrdiff_t)j * ld + i] = d[DS_TILE * j + i] * root[j];
  }
  return good;
}

bool ds_tile_cholesky(double *a, ds_tile *tile, int32_t n, int32_t ld) {
  return n == DS_TILE ? cholesky(a, tile, DS_TILE, ld) : cholesky(a, tile, n, ld);
}

bool ds_tile_lu(double *a, int32_t *pivots, ds_tile *right, ds_tile *left, int32_t n, int32_t ld) {
  double d[DS_TILE * DS_TILE]; /* row-major: whole rows change places */
  for (int32_t j = 0; j < n; j++)
    for (int32_t i = 0; i < n; i++) d[DS_TILE * i + j] = a[(ptrdiff_t)j * ld + i];
  for (int32_t k = 0; k < n; k++) {
    int32_t pivot = k;
    for (int32_t i = k + 1; i < n; i++)
      if (fabs(d[DS_TILE * i + k]) > fabs(d[DS_TILE * pivot + k])) pivot = i;
    pivots[k] = pivot;
    for (int32_t j = 0; j < n && pivot != k; j++) {
      double t = d[DS_TILE * k + j];
      d[DS_TILE * k + j] = d[DS_TILE * pivot + j];
      d[DS_TILE * pivot + j] = t;
    }
    double p = d[DS_TILE * k + k];
    if (!(fabs(p) > 1e-300) || !isfinite(p)) return false;
    double inverse = right->inverse[k] = 1 / p;
    left->inverse[k] = 1;
    for (int32_t i = k + 1; i < n; i++) {
      double f = d[DS_TILE * i + k] *= inverse;
      for (int32_t j = k + 1; j < n; j++) d[DS_TILE * i + j] -= f * d[DS_TILE * k + j];
    }
  }
  for (int32_t j = 0; j < n; j++)
    for (int32_t i = 0; i < n; i++) {
      double x = a[(ptrdiff_t)j * ld + i] = d[DS_TILE * i + j];
      if (i < j) right->f[DS_TILE * i + j] = x;
      if (i > j) left->f[DS_TILE * j + i] = x;
    }
  return true;
}

void ds_panel_interchange(double *x, const int32_t *pivots, int32_t rows, int32_t n, int32_t ld) {
  for (int32_t k = 0; k < n; k++) {
    if (pivots[k] == k) continue;
    double *a = x + (ptrdiff_t)k * ld, *b = x + (ptrdiff_t)pivots[k] * ld;
    for (int32_t i = 0; i < rows; i++) {
      double t = a[i];
      a[i] = b[i];
      b[i] = t;
    }
  }
}

DS_INLINE void ds_panel_times_body(double *restrict y, const double *a, const double *x, int32_t rows, int32_t n,
                                   int32_t ld) {
  int32_t i = 0;
  for (; i + 8 <= rows; i += 8) {
    ds_v4 s = ds_v4_all(0), t = ds_v4_all(0);
    for (int32_t j = 0; j < n; j++) {
      const double *column = a + (ptrdiff_t)j * ld + i;
      s = ds_v4_add(s, ds_v4_mul(ds_v4_load(column), ds_v4_all(x[j])));
      t = ds_v4_add(t, ds_v4_mul(ds_v4_load(column + 4), ds_v4_all(x[j])));
    }
    ds_v4_store(y + i, s);
    ds_v4_store(y + i + 4, t);
  }
  for (; i + 2 <= rows; i += 2) {
    ds_v2 s = ds_v2_all(0);
    for (int32_t j = 0; j < n; j++) s = ds_v2_add(s, ds_v2_mul(ds_v2_load(a + (ptrdiff_t)j * ld + i), ds_v2_all(x[j])));
    ds_v2_store(y + i, s);
  }
  for (; i < rows; i++) {
    double s = 0;
    for (int32_t j = 0; j < n; j++) s += a[(ptrdiff_t)j * ld + i] * x[j];
    y[i] = s;
  }
}
DS_KERNEL(ds_panel_times, (double *y, const double *a, const double *x, int32_t rows, int32_t n, int32_t ld),
          (y, a, x, rows, n, ld))

/* m dots of columns with x at once, four rows at a time: the lanes are added as (0 + 2) + (1 + 3). */
DS_INLINE void dots(double *y, const double *a, const double *x, int32_t rows, int32_t ld, const int m) {
  ds_v4 sum[DS_TILE];
  for (int j = 0; j < m; j++) sum[j] = ds_v4_all(0);
  int32_t i = 0;
  for (; i + 4 <= rows; i += 4) {
    ds_v4 xi = ds_v4_load(x + i);
    for (int j = 0; j < m; j++) sum[j] = ds_v4_add(sum[j], ds_v4_mul(ds_v4_load(a + (ptrdiff_t)j * ld + i), xi));
  }
  for (int j = 0; j < m; j++) {
    double lane[4];
    ds_v4_store(lane, sum[j]);
    double s = (lane[0] + lane[2]) + (lane[1] + lane[3]);
    for (int32_t r = i; r < rows; r++) s += a[(ptrdiff_t)j * ld + r] * x[r];
    y[j] -= s;
  }
}

DS_INLINE void ds_panel_subtract_dots_body(double *y, const double *a, const double *x, int32_t rows, int32_t n,
                                           int32_t ld) {
  int32_t j = 0;
  for (; n - j >= DS_TILE; j += DS_TILE) dots(y + j, a + (ptrdiff_t)j * ld, x, rows, ld, DS_TILE);
  for (; n - j >= 3; j += 3) dots(y + j, a + (ptrdiff_t)j * ld, x, rows, ld, 3);
  for (; j < n; j++) dots(y + j, a + (ptrdiff_t)j * ld, x, rows, ld, 1);
}
DS_KERNEL(ds_panel_subtract_dots, (double *y, const double *a, const double *x, int32_t rows, int32_t n, int32_t ld),
          (y, a, x, rows, n, ld))
