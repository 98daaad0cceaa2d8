#include "la/null_space.h"

#include <math.h>
#include <string.h>

/* Rests of rows over their norms: more than the first is good enough to be taken in order; less than the second is
 * rounding, or geometry that is singular to eight digits, which would take impulses a hundred million times too large.
 */
static const double GOOD = 0.1, DEPENDENT = 1e-8;

bool ds_null_space_new(ds_arena *arena, ds_null_space *s, int32_t n, int32_t rows) {
  int32_t most = rows < n ? rows : n;
  *s = (ds_null_space){.n = n, .most = most, .dependent = DEPENDENT};
  s->reflection = DS_NEW0(arena, double, (size_t)most *(size_t)n + 1);
  s->l = DS_NEW0(arena, double, (size_t)most *(size_t)most + 1);
  s->end = DS_NEW(arena, int32_t, most + 1);
  s->row = DS_NEW(arena, int32_t, most + 1);
  return !ds_arena_failed(arena);
}

/* x := x - 2 u uᵀ x for the i-th reflection */
static void reflect(double *restrict x, const ds_null_space *s, int32_t i) {
  const double *restrict u = s->reflection + (size_t)i * (size_t)s->n;
  int32_t end = s->end[i];
  double sum = 0;
  for (int32_t k = i; k < end; k++) sum += u[k] * x[k];
  if (sum == 0) return;
  sum *= 2;
  for (int32_t k = i; k < end; k++) x[k] -= sum * u[k];
}

void ds_null_space_enter(double *x, const ds_null_space *s) {
  for (int32_t i = 0; i < s->rank; i++) reflect(x, s, i);
}

void ds_null_space_leave(double *x, const ds_null_space *s) {
  for (int32_t i = s->rank - 1; i >= 0; i--) reflect(x, s, i);
}

static double norm(const double *x, int32_t begin, int32_t end) {
  double sum = 0;
  for (int32_t i = begin; i < end; i++) sum += x[i] * x[i];
  return sqrt(sum);
}

/* Keeps a row that has been through all reflections so far; H maps its rest to -sign(first) |rest| e_i. */
static void keep(ds_null_space *s, const double *row, double rest, int32_t index) {
  int32_t i = s->rank, end = s->n;
  double *u = s->reflection + (size_t)i * (size_t)s->n, first = row[i], to = first > 0 ? -rest : rest;
  double length = sqrt(2 * rest * (rest + fabs(first)));
  while (row[end - 1] == 0) end--;
  memcpy(u + i, row + i, (size_t)(end - i) * sizeof(double));
  u[i] -= to;
  for (int32_t k = i; k < end; k++) u[k] /= length;
  memcpy(s->l + (size_t)i * (size_t)s->most, row, (size_t)i * sizeof(double));
  s->l[(size_t)i * (size_t)s->most + (size_t)i] = to;
  s->end[i] = end;
  s->row[i] = index;
  s->rank++;
}

/* Qᵀ of a row that is zero but for a few numbers: reflections that do not reach them are left out. */
static void enter_row(double *x, const ds_null_space *s) {
  int32_t from = 0;
  while (from < s->n && x[from] == 0) from++;
  for (int32_t i = 0; i < s->rank; i++) {
    if (s->end[i] <= from) continue;
    reflect(x, s, i);
    if (i < from) from = i;
  }
}

void ds_null_space_build(ds_null_space *s, double *a, double *work, int32_t rows) {
  const double *whole = work;
  double *rest = work + rows; /* rest < 0: kept, or nothing is left of it */
  size_t n = (size_t)s->n;
  for (int32_t k = 0; k < rows; k++) {
    double *row = a + (size_t)k * n;
    enter_row(row, s);
    rest[k] = norm(row, s->rank, s->n);
    if (s->rank == s->most || !(rest[k] > GOOD * whole[k])) continue;
    keep(s, row, rest[k], k);
    rest[k] = -1;
  }
  /* rows that were put off have seen the reflections of those before them; now of those after, too */
  for (int32_t k = 0; k < rows; k++) {
    int32_t seen = 0;
    while (seen < s->rank && s->row[seen] < k) seen++;
    for (int32_t i = seen; i < s->rank && rest[k] >= 0; i++) reflect(a + (size_t)k * n, s, i);
  }
  for (;;) {
    int32_t best = -1;
    for (int32_t k = 0; k < rows; k++) {
      if (rest[k] < 0) continue;
      rest[k] = norm(a + (size_t)k * n, s->rank, s->n);
      if (!(rest[k] > s->dependent * whole[k])) rest[k] = -1;
      if (rest[k] >= 0 && (best < 0 || rest[k] * whole[best] > rest[best] * whole[k])) best = k;
    }
    if (best < 0 || s->rank == s->most) return;
    keep(s, a + (size_t)best * n, rest[best], best);
    rest[best] = -1;
    for (int32_t k = 0; k < rows; k++)
      if (rest[k] >= 0) reflect(a + (size_t)k * n, s, s->rank - 1);
  }
}

void ds_null_space_solve(double *y, const ds_null_space *s, const double *c) {
  for (int32_t i = 0; i < s->rank; i++) {
    const double *l = s->l + (size_t)i * (size_t)s->most;
    double sum = c[s->row[i]];
    for (int32_t k = 0; k < i; k++) sum -= l[k] * y[k];
    y[i] = sum / l[i];
  }
}
