#include "problem/equality.h"

#include <math.h>

#include "base/error.h"

enum { EQUALITIES_MAX = 5000 };

/* Pivoted Cholesky of the symmetric part; rows of joints that say the same twice leave zero pivots. */
static bool factor(ds_equalities *e, double *a) {
  int32_t n = e->count;
  double first = 0, *l = e->l;
  for (int32_t i = 0; i < n; i++) e->pivot[i] = i;
  for (int32_t k = 0; k < n; k++) {
    int32_t best = k;
    for (int32_t i = k; i < n; i++)
      if (a[e->pivot[i] * n + e->pivot[i]] > a[e->pivot[best] * n + e->pivot[best]]) best = i;
    int32_t t = e->pivot[k];
    e->pivot[k] = e->pivot[best], e->pivot[best] = t;
    for (int32_t j = 0; j < k; j++) {
      double x = l[k * n + j];
      l[k * n + j] = l[best * n + j], l[best * n + j] = x;
    }
    int32_t p = e->pivot[k];
    double d = a[p * n + p];
    if (k == 0) first = fmax(d, 0);
    if (!(d > 1e-12 * first)) {
      for (int32_t i = k; i < n; i++)
        if (a[e->pivot[i] * n + e->pivot[i]] < -1e-9 * first - 1e-300) return false;
      return true;
    }
    double root = sqrt(d);
    l[k * n + k] = root;
    for (int32_t i = k + 1; i < n; i++) l[i * n + k] = a[e->pivot[i] * n + p] / root;
    for (int32_t i = k + 1; i < n; i++)
      for (int32_t j = k + 1; j < n; j++) a[e->pivot[i] * n + e->pivot[j]] -= l[i * n + k] * l[j * n + k];
    e->rank = k + 1;
  }
  return true;
}

/* x in pivot order := L⁻¹ x; rows beyond the rank become what is left of them: zero where they say nothing new. Returns
 * the largest of those, relative to the largest of all before. */
static double forward(double *x, const ds_equalities *e) {
  double largest = 0, left = 0;
  for (int32_t i = 0; i < e->count; i++) largest = fmax(largest, fabs(x[i]));
  for (int32_t i = 0; i < e->count; i++) {
    for (int32_t j = 0; j < (i < e->rank ? i : e->rank); j++) x[i] -= e->l[i * e->count + j] * x[j];
    if (i < e->rank) x[i] /= e->l[i * e->count + i];
  }
  for (int32_t i = e->rank; i < e->count; i++) left = fmax(left, fabs(x[i]));
  return largest > 0 ? left / largest : 0;
}

/* V by rows of contacts: entries of row i are order[start[i] .. start[i + 1]) */
static void sort_rows(int32_t *start, int32_t *order, const ds_matrix *v) {
  for (int32_t t = 0; t < v->entries; t++) start[v->row[t] + 1]++;
  for (int32_t i = 0; i < v->rows; i++) start[i + 1] += start[i];
  for (int32_t t = v->entries - 1; t >= 0; t--) order[--start[v->row[t] + 1]] = t;
  for (int32_t i = 0; i < v->rows; i++) start[i] = start[i + 1];
  start[v->rows] = v->entries;
}

/* Rows of V that are not zero, as L⁻¹ Vᵀ in x (one after the other); updates w and q. */
static bool add_terms(ds_arena *arena, ds_equalities *e, ds_triplets *w, double *q) {
  const ds_matrix *v = &e->v;
  int32_t n = e->count, touched = 0;
  int32_t *start = DS_NEW0(arena, int32_t, v->rows + 2), *order = DS_NEW(arena, int32_t, v->entries + 1);
  int32_t *row = DS_NEW(arena, int32_t, v->rows + 1), *place = DS_NEW(arena, int32_t, n + 1);
  if (ds_arena_failed(arena)) return true;
  sort_rows(start, order, v);
  for (int32_t i = 0; i < v->rows; i++)
    if (start[i + 1] > start[i]) row[touched++] = i;
  double *x = DS_NEW0(arena, double, (size_t)touched *(size_t)n + 1);
  if (!x) return true;
  for (int32_t i = 0; i < n; i++) place[e->pivot[i]] = i;
  for (int32_t t = 0; t < touched; t++) {
    double *xt = x + (size_t)t * (size_t)n;
    for (int32_t k = start[row[t]]; k < start[row[t] + 1]; k++) xt[place[v->column[order[k]]]] += v->value[order[k]];
    if (forward(xt, e) > 1e-6) return false;
    for (int32_t k = 0; k < e->rank; k++) q[row[t]] -= xt[k] * e->s[k];
    for (int32_t s = 0; s <= t; s++) {
      double sum = 0;
      const double *xs = x + (size_t)s * (size_t)n;
      for (int32_t k = 0; k < e->rank; k++) sum += xs[k] * xt[k];
      if (sum == 0) continue;
      ds_triplets_add(w, row[t], row[s], -sum);
      if (s != t) ds_triplets_add(w, row[s], row[t], -sum);
    }
  }
  return true;
}

ds_status ds_equalities_eliminate(ds_arena *arena, ds_equalities **out, ds_triplets *w, double *q, const ds_matrix *v,
                                  const ds_matrix *r, const double *s, ds_error *error) {
  int32_t n = r->rows;
  if (n > EQUALITIES_MAX)
    return ds_fail(error, DS_ERROR_INPUT, "%d equality rows; at most %d can be eliminated", n, EQUALITIES_MAX);
  ds_equalities *e = DS_NEW0(arena, ds_equalities, 1);
  size_t square = (size_t)n * (size_t)n;
  double *a = DS_NEW0(arena, double, square + 1);
  if (!e || !a) return ds_fail(error, DS_ERROR_MEMORY, "out of memory");
  e->count = n;
  e->v = *v;
  e->pivot = DS_NEW(arena, int32_t, n + 1);
  e->l = DS_NEW0(arena, double, square + 1);
  e->s = DS_NEW(arena, double, n + 1);
  if (ds_arena_failed(arena)) return ds_fail(error, DS_ERROR_MEMORY, "out of memory");
  for (int32_t t = 0; t < r->entries; t++) {
    a[r->row[t] * n + r->column[t]] += 0.5 * r->value[t];
    a[r->column[t] * n + r->row[t]] += 0.5 * r->value[t];
  }
  if (!factor(e, a))
    return ds_fail(error, DS_ERROR_INPUT, "R is not positive semidefinite; expected Gᵀ M⁻¹ G of the equality rows");
  for (int32_t i = 0; i < n; i++) e->s[i] = s[e->pivot[i]];
  if (forward(e->s, e) > 1e-6)
    return ds_fail(error, DS_ERROR_INPUT, "the equality rows contradict each other: s is not in the range of R");
  if (!add_terms(arena, e, w, q))
    return ds_fail(error, DS_ERROR_INPUT, "equality rows act on contacts through V but not through R");
  *out = e;
  return ds_arena_failed(arena) ? ds_fail(error, DS_ERROR_MEMORY, "out of memory") : DS_OK;
}

void ds_equalities_multipliers(double *l, const ds_equalities *e, const double *r) {
  int32_t n = e->count;
  /* L⁻¹ (Vᵀ r) + L⁻¹ s, then back through Lᵀ; dependent rows carry nothing */
  for (int32_t i = 0; i < n; i++) l[i] = 0;
  for (int32_t t = 0; t < e->v.entries; t++) l[e->v.column[t]] += e->v.value[t] * r[e->v.row[t]];
  double *x = l; /* in pivot order from here on, by a permutation kept in e->pivot */
  for (int32_t i = 0; i < e->rank; i++) {
    double sum = x[e->pivot[i]];
    for (int32_t j = 0; j < i; j++) sum -= e->l[i * n + j] * x[e->pivot[j]];
    x[e->pivot[i]] = sum / e->l[i * n + i];
  }
  for (int32_t i = 0; i < e->rank; i++) x[e->pivot[i]] += e->s[i];
  for (int32_t i = e->rank; i < n; i++) x[e->pivot[i]] = 0;
  for (int32_t i = e->rank - 1; i >= 0; i--) {
    double sum = x[e->pivot[i]];
    for (int32_t j = i + 1; j < e->rank; j++) sum -= e->l[j * n + i] * x[e->pivot[j]];
    x[e->pivot[i]] = sum / e->l[i * n + i];
  }
  for (int32_t i = 0; i < n; i++) l[i] = -l[i];
}
