/* Householder's reduction to a tridiagonal matrix, then QL steps with Wilkinson's shift [Golub and Van Loan 2013, 8.3].
 *
 *   a = Q T Qᵀ,  Q = H_{n-1} .. H_1,  H = 1 - u uᵀ / h  with  u = x - (+-|x|) e  zeroing a row left of its neighbour;
 *   T = G diag(w) Gᵀ by plane rotations that chase a bulge up the matrix.
 *
 * Rotations act on rows of the transposed vectors, which lie beside each other in memory. */
#include "la/eigen.h"

#include <math.h>
#include <string.h>

static double dot(const double *a, const double *b, int32_t n) {
  double sum = 0;
  for (int32_t i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

/* Makes a[0 .. i-2] of a row zero: the row (i entries) becomes u; returns h = |u|²/2, 0 where there is nothing to do.
 * *side: what is left beside the diagonal. */
static double householder(double *row, double *side, int32_t i) {
  double scale = 0;
  for (int32_t k = 0; k < i; k++) scale += fabs(row[k]);
  *side = row[i - 1];
  if (i < 2 || scale - fabs(row[i - 1]) == 0) return 0;
  double norm = 0;
  for (int32_t k = 0; k < i; k++) norm += row[k] / scale * (row[k] / scale);
  norm = copysign(scale * sqrt(norm), row[i - 1]);
  *side = -norm;
  double h = norm * norm + norm * row[i - 1];
  row[i - 1] += norm;
  return h;
}

/* a := H a H for the leading i x i part: with p = a u / h and q = p - (uᵀp / 2h) u, a -= u qᵀ + q uᵀ. */
static void reflect_both_sides(double *a, const double *u, double *q, double h, int32_t i, int32_t n) {
  for (int32_t j = 0; j < i; j++) {
    double sum = dot(a + (int64_t)j * n, u, j + 1);
    for (int32_t k = j + 1; k < i; k++) sum += a[(int64_t)k * n + j] * u[k];
    q[j] = sum / h;
  }
  double s = dot(u, q, i) / (2 * h);
  for (int32_t j = 0; j < i; j++) q[j] -= s * u[j];
  for (int32_t j = 0; j < i; j++) {
    double *row = a + (int64_t)j * n;
    for (int32_t k = 0; k <= j; k++) row[k] -= u[j] * q[k] + q[j] * u[k];
  }
}

/* The lower triangle of a to T: its diagonal in w, side[i] beside w[i - 1] and w[i]; then a := Qᵀ. */
static void tridiagonalize(double *a, double *w, double *side, int32_t n) {
  for (int32_t i = n - 1; i > 0; i--) {
    double *u = a + (int64_t)i * n;
    double h = householder(u, &side[i], i);
    if (h > 0) reflect_both_sides(a, u, w, h, i, n);
    w[i] = u[i];
    u[i] = h;
  }
  w[0] = a[0];
  side[0] = 0;
  /* Qᵀ = H_1 .. H_{n-1}, built up from the corner: the leading i x i part times H_i from the right */
  a[0] = 1;
  for (int32_t i = 1; i < n; i++) {
    double *u = a + (int64_t)i * n, h = u[i];
    for (int32_t j = 0; j < i; j++) {
      double *row = a + (int64_t)j * n;
      double s = h > 0 ? dot(row, u, i) / h : 0;
      for (int32_t k = 0; k < i; k++) row[k] -= s * u[k];
      row[i] = 0;
    }
    memset(u, 0, (size_t)i * sizeof *u);
    u[i] = 1;
  }
}

static void rotate_rows(double *x, double *y, double c, double s, int32_t n) {
  for (int32_t k = 0; k < n; k++) {
    double t = y[k];
    y[k] = s * x[k] + c * t;
    x[k] = c * x[k] - s * t;
  }
}

/* One QL step on rows l .. m of T, with the shift that is the eigenvalue of its leading 2 x 2 part nearer to w[l]. */
static void ql_step(double *z, double *w, double *side, int32_t l, int32_t m, int32_t n) {
  double g = (w[l + 1] - w[l]) / (2 * side[l]), r = hypot(g, 1);
  double x = w[m] - w[l] + side[l] / (g + copysign(r, g)), s = 1, c = 1, p = 0;
  for (int32_t i = m - 1; i >= l; i--) {
    double f = s * side[i], b = c * side[i];
    r = hypot(f, x);
    side[i + 1] = r;
    if (r == 0) { /* the matrix has come apart */
      w[i + 1] -= p;
      side[m] = 0;
      return;
    }
    s = f / r;
    c = x / r;
    x = w[i + 1] - p;
    r = (w[i] - x) * s + 2 * c * b;
    p = s * r;
    w[i + 1] = x + p;
    x = c * r - b;
    rotate_rows(z + (int64_t)i * n, z + (int64_t)(i + 1) * n, c, s, n);
  }
  w[l] -= p;
  side[l] = x;
  side[m] = 0;
}

static void swap_rows(double *x, double *y, int32_t n) {
  for (int32_t k = 0; k < n; k++) {
    double t = x[k];
    x[k] = y[k];
    y[k] = t;
  }
}

static void sort_ascending(double *z, double *w, int32_t n) {
  for (int32_t i = 0; i < n; i++) {
    int32_t least = i;
    for (int32_t j = i + 1; j < n; j++)
      if (w[j] < w[least]) least = j;
    if (least == i) continue;
    swap_rows(w + i, w + least, 1);
    swap_rows(z + (int64_t)i * n, z + (int64_t)least * n, n);
  }
}

bool ds_symmetric_eigen(double *a, double *w, double *side, int32_t n) {
  enum { STEPS = 60 }; /* two or three per eigenvalue are usual */
  if (n < 1) return true;
  tridiagonalize(a, w, side, n);
  memmove(side, side + 1, (size_t)(n - 1) * sizeof *side); /* side[i] beside w[i] and w[i + 1] */
  side[n - 1] = 0;
  for (int32_t l = 0; l < n; l++)
    for (int32_t step = 0;; step++) {
      int32_t m = l;
      while (m < n - 1 && !(fabs(side[m]) <= 1.1e-16 * (fabs(w[m]) + fabs(w[m + 1])))) m++;
      if (m == l) break;
      if (step == STEPS) return false;
      ql_step(a, w, side, l, m, n);
    }
  for (int32_t i = 0; i < n; i++)
    if (!isfinite(w[i])) return false;
  sort_ascending(a, w, n);
  return true;
}

/* ---- singular values ---- */

/* Rotates two rows until they are orthogonal; whether they were not. */
static bool orthogonalize_pair(double *x, double *y, int32_t n) {
  double xx = dot(x, x, n), yy = dot(y, y, n), xy = dot(x, y, n);
  if (!(fabs(xy) > 1e-15 * sqrt(xx * yy))) return false;
  double theta = (yy - xx) / (2 * xy), t = copysign(1, theta) / (fabs(theta) + hypot(theta, 1));
  double c = 1 / hypot(t, 1), s = t * c;
  rotate_rows(x, y, c, s, n);
  return true;
}

void ds_orthogonal_rows(double *a, double *norm, int32_t m, int32_t n) {
  enum { SWEEPS = 60 };
  bool turned = true;
  for (int32_t sweep = 0; turned && sweep < SWEEPS; sweep++) {
    turned = false;
    for (int32_t i = 0; i < m; i++)
      for (int32_t j = i + 1; j < m; j++)
        if (orthogonalize_pair(a + (int64_t)i * n, a + (int64_t)j * n, n)) turned = true;
  }
  for (int32_t i = 0; i < m; i++) norm[i] = -sqrt(dot(a + (int64_t)i * n, a + (int64_t)i * n, n));
  for (int32_t i = 0; i < m; i++) { /* largest first */
    int32_t best = i;
    for (int32_t j = i + 1; j < m; j++)
      if (norm[j] < norm[best]) best = j;
    swap_rows(norm + i, norm + best, best == i ? 0 : 1);
    swap_rows(a + (int64_t)i * n, a + (int64_t)best * n, best == i ? 0 : n);
  }
  for (int32_t i = 0; i < m; i++) norm[i] = -norm[i];
}
