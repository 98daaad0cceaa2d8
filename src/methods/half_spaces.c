#include "methods/half_spaces.h"

#include <math.h>
#include <string.h>

#include "la/small.h"

static double dot(const double *a, const double *b, int32_t n) {
  double sum = 0;
  for (int32_t i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

static void add(double *y, double s, const double *a, int32_t n) {
  for (int32_t i = 0; i < n; i++) y[i] += s * a[i];
}

double ds_half_spaces_violation(const ds_half_spaces *h, const double *y) {
  double worst = 0;
  for (int32_t k = 0; k < h->count; k++) worst = fmax(worst, h->c[k] - dot(h->a + k * h->n, y, h->n));
  return worst;
}

/* ---- the Surrogate Constraint Method ----
 *
 * Each iteration adds up the violated rows, weighted by how much they are violated, pi_k = (c_k - a_k . y)+, and
 * projects y onto the half-space of the sum, (sum pi_k a_k) . y >= sum pi_k c_k, which contains the intersection. If
 * that is empty, rows that contradict each other leave next to nothing of the sum, and y goes anywhere: so the iterate
 * that is violated least counts, not the last one. */

int32_t ds_half_spaces_surrogate(double *y, double *lambda, double *work, const ds_half_spaces *h, double enough,
                                 int32_t most) {
  int32_t n = h->n, m = h->count, i = 0;
  double *gap = work, *now = work + m, *at = work + 2 * m, least = INFINITY; /* the iterate: at, with its multipliers */
  memset(now, 0, (size_t)m * sizeof *now);
  memcpy(at, y, (size_t)n * sizeof *y);
  for (; i <= most; i++) {
    double worst = 0, square = 0, length = 0;
    for (int32_t k = 0; k < m; k++) {
      gap[k] = fmax(0, h->c[k] - dot(h->a + k * n, at, n));
      worst = fmax(worst, gap[k]);
      square += gap[k] * gap[k];
    }
    if (worst < least) {
      least = worst;
      memcpy(y, at, (size_t)n * sizeof *y);
      memcpy(lambda, now, (size_t)m * sizeof *now);
    }
    if (!(worst > enough)) break;
    for (int32_t j = 0; j < n; j++) {
      double sum = 0;
      for (int32_t k = 0; k < m; k++) sum += gap[k] * h->a[k * n + j];
      length += sum * sum;
    }
    if (!(length > 0)) break;
    for (int32_t k = 0; k < m; k++) {
      double step = gap[k] * square / length;
      now[k] += step;
      add(at, step, h->a + k * n, n);
    }
  }
  return i;
}

/* ---- the nearest point ----
 *
 * Its dual, min ½ |Aᵀ lambda|² - lambda . (c - A y0) over lambda >= 0, with EASE |a_k|² lambda_k²/2 added, by the
 * active-set method of Lawson and Hanson: the row that is violated most joins the set, the set is solved by Cholesky,
 * and rows whose multipliers would be negative leave it. What is added makes the set solvable where rows depend on each
 * other, gives an empty intersection its least violation, and leaves constraints violated by EASE of what they do. */

static const double EASE = 1e-10;
enum { SET_MAX = 96 }; /* rows that are active at once: beyond n of them they are redundant, or contradict each other */

typedef struct active_set {
  int32_t count, row[SET_MAX];
  double *matrix;    /* SET_MAX x SET_MAX */
  double z[SET_MAX]; /* multipliers of the set, if all could be of any sign */
} active_set;

static void solve_set(active_set *s, const ds_half_spaces *h, const double *y0) {
  int32_t m = s->count, n = h->n;
  for (int32_t i = 0; i < m; i++) {
    const double *a = h->a + s->row[i] * n;
    for (int32_t j = 0; j <= i; j++) s->matrix[i * m + j] = dot(a, h->a + s->row[j] * n, n);
    s->matrix[i * m + i] *= 1 + EASE;
    s->z[i] = h->c[s->row[i]] - dot(a, y0, n);
  }
  if (!ds_small_cholesky(s->matrix, m)) {
    s->count--; /* not finite: as if the last row were not there */
    return;
  }
  ds_small_solve_l(s->z, s->matrix, m);
  ds_small_solve_lt(s->z, s->matrix, m);
}

/* Goes from lambda towards z as far as all stay positive; rows that become zero leave. True where z was reached. */
static bool advance(active_set *s, double *lambda) {
  double share = 1;
  for (int32_t i = 0; i < s->count; i++) {
    double now = lambda[s->row[i]];
    if (s->z[i] <= 0) share = fmin(share, now / (now - s->z[i]));
  }
  int32_t kept = 0;
  for (int32_t i = 0; i < s->count; i++) {
    double *l = &lambda[s->row[i]];
    *l += share * (s->z[i] - *l);
    if (share < 1 && s->z[i] <= 0 && !(*l > 1e-14 * fabs(s->z[i]))) {
      *l = 0;
      continue;
    }
    s->row[kept++] = s->row[i];
  }
  bool reached = share >= 1;
  s->count = kept;
  return reached;
}

static int32_t most_violated(const ds_half_spaces *h, const double *lambda, const double *y, double least) {
  int32_t found = -1;
  for (int32_t k = 0; k < h->count; k++) {
    const double *a = h->a + k * h->n;
    double size = sqrt(dot(a, a, h->n)), by = h->c[k] - dot(a, y, h->n);
    if (lambda[k] > 0 || !(size > 0) || !(by > least * size)) continue;
    least = by / size;
    found = k;
  }
  return found;
}

int32_t ds_half_spaces_nearest(ds_arena *arena, double *y, double *lambda, const ds_half_spaces *h) {
  int32_t n = h->n, rounds = 0, limit = 20 + 4 * h->count;
  active_set *s = DS_NEW0(arena, active_set, 1);
  double *y0 = DS_NEW(arena, double, n + 1);
  double *matrix = DS_NEW(arena, double, SET_MAX *SET_MAX);
  memset(lambda, 0, (size_t)h->count * sizeof *lambda);
  if (!s || !y0 || !matrix) return 0;
  s->matrix = matrix;
  memcpy(y0, y, (size_t)n * sizeof *y);
  double largest = sqrt(dot(y, y, n));
  for (int32_t k = 0; k < h->count; k++) {
    double size = sqrt(dot(h->a + k * n, h->a + k * n, n));
    if (size > 0) largest = fmax(largest, fabs(h->c[k]) / size);
  }
  for (; rounds < limit; rounds++) {
    int32_t k = most_violated(h, lambda, y, 1e-12 * largest);
    if (k < 0 || s->count == SET_MAX) break;
    s->row[s->count++] = k;
    do solve_set(s, h, y0);
    while (s->count > 0 && !advance(s, lambda));
    memcpy(y, y0, (size_t)n * sizeof *y);
    for (int32_t i = 0; i < s->count; i++) add(y, lambda[s->row[i]], h->a + s->row[i] * n, n);
  }
  return rounds;
}
