#include "problem/equality.h"

#include <math.h>

#include "base/error.h"
#include "la/pivoted.h"

enum { EQUALITIES_MAX = 5000 };

/* Rows of joints that say the same twice leave zero pivots; what is left of them must not be negative. */
static bool factor(ds_equalities *e, double *diagonal, const double *a) {
  double largest = 0;
  for (int32_t i = 0; i < e->count; i++) largest = fmax(largest, a[(size_t)i * (size_t)e->count + (size_t)i]);
  e->rank = ds_pivoted_cholesky(e->l, e->pivot, diagonal, a, e->count, 1e-12);
  for (int32_t k = 0; k < e->rank; k++) diagonal[e->pivot[k]] = 0;
  for (int32_t i = 0, next = e->rank; i < e->count; i++) { /* the dependent rows after the others */
    if (diagonal[i] < -1e-9 * largest - 1e-300) return false;
    bool independent = false;
    for (int32_t k = 0; k < e->rank; k++) independent |= e->pivot[k] == i;
    if (!independent) e->pivot[next++] = i;
  }
  return true;
}

/* Row of L of the k-th pivot. */
static const double *row_of(const ds_equalities *e, int32_t k) { return e->l + (size_t)e->pivot[k] * (size_t)e->count; }

/* x in pivot order := L⁻¹ x; rows beyond the rank become what is left of them: zero where they say nothing new. Returns
 * the largest of those, relative to the largest of all before. */
static double forward(double *x, const ds_equalities *e) {
  double largest = 0, left = 0;
  for (int32_t i = 0; i < e->count; i++) largest = fmax(largest, fabs(x[i]));
  for (int32_t i = 0; i < e->count; i++) {
    const double *l = row_of(e, i);
    for (int32_t j = 0; j < (i < e->rank ? i : e->rank); j++) x[i] -= l[j] * x[j];
    if (i < e->rank) x[i] /= l[i];
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
  double *a = DS_NEW0(arena, double, square + 1), *diagonal = DS_NEW(arena, double, n + 1);
  if (!e || !a || !diagonal) return ds_fail(error, DS_ERROR_MEMORY, "out of memory");
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
  if (!factor(e, diagonal, a))
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
  /* L⁻¹ (Vᵀ r) + L⁻¹ s, then back through Lᵀ; dependent rows carry nothing. x[k] of the k-th pivot is at l[pivot[k]].
   */
  for (int32_t i = 0; i < e->count; i++) l[i] = 0;
  for (int32_t t = 0; t < e->v.entries; t++) l[e->v.column[t]] += e->v.value[t] * r[e->v.row[t]];
  for (int32_t i = 0; i < e->rank; i++) {
    double sum = l[e->pivot[i]];
    for (int32_t j = 0; j < i; j++) sum -= row_of(e, i)[j] * l[e->pivot[j]];
    l[e->pivot[i]] = sum / row_of(e, i)[i];
  }
  for (int32_t i = 0; i < e->rank; i++) l[e->pivot[i]] += e->s[i];
  for (int32_t i = e->rank; i < e->count; i++) l[e->pivot[i]] = 0;
  for (int32_t i = e->rank - 1; i >= 0; i--) {
    double sum = l[e->pivot[i]];
    for (int32_t j = i + 1; j < e->rank; j++) sum -= row_of(e, j)[i] * l[e->pivot[j]];
    l[e->pivot[i]] = sum / row_of(e, i)[i];
  }
  for (int32_t i = 0; i < e->count; i++) l[i] = -l[i];
}
