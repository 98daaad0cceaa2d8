#include "problem/delassus.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"

typedef struct pattern {
  int32_t *start, *column;
} pattern;

static int compare_columns(const void *a, const void *b) {
  int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

/* Blocks of W + Wᵀ that are not zero, and every diagonal block. */
static bool find_pattern(ds_arena *arena, pattern *p, const ds_matrix *w, int32_t n, int32_t dimension) {
  int32_t *all_start = DS_NEW0(arena, int32_t, n + 2), *fill = DS_NEW0(arena, int32_t, n + 1);
  int32_t *all = DS_NEW(arena, int32_t, 2 * (size_t)w->entries + (size_t)n + 1);
  int32_t *seen = DS_NEW(arena, int32_t, n + 1);
  p->start = DS_NEW0(arena, int32_t, n + 2);
  if (ds_arena_failed(arena)) return false;
  for (int32_t t = 0; t < w->entries; t++) {
    if (w->value[t] == 0) continue;
    all_start[w->row[t] / dimension + 1]++;
    all_start[w->column[t] / dimension + 1]++;
  }
  for (int32_t k = 0; k < n; k++) all_start[k + 1] += all_start[k], seen[k] = -1;
  for (int32_t t = 0; t < w->entries; t++) {
    int32_t i = w->row[t] / dimension, j = w->column[t] / dimension;
    if (w->value[t] == 0) continue;
    all[all_start[i] + fill[i]++] = j;
    all[all_start[j] + fill[j]++] = i;
  }
  for (int32_t k = 0; k < n; k++) { /* count the different ones */
    seen[k] = k;
    p->start[k + 1] = p->start[k] + 1;
    for (int32_t t = all_start[k]; t < all_start[k + 1]; t++)
      if (seen[all[t]] != k) seen[all[t]] = k, p->start[k + 1]++;
  }
  p->column = DS_NEW(arena, int32_t, p->start[n] + 1);
  if (!p->column) return false;
  for (int32_t k = 0; k < n; k++) seen[k] = -1;
  for (int32_t k = 0; k < n; k++) {
    int32_t end = p->start[k];
    seen[k] = k;
    p->column[end++] = k;
    for (int32_t t = all_start[k]; t < all_start[k + 1]; t++)
      if (seen[all[t]] != k) seen[all[t]] = k, p->column[end++] = all[t];
    qsort(p->column + p->start[k], (size_t)(end - p->start[k]), sizeof(int32_t), compare_columns);
  }
  return true;
}

static int32_t find_block(const pattern *p, int32_t i, int32_t j) {
  return ds_array_find(p->column, p->start[i], p->start[i + 1], j);
}

bool ds_delassus_build(ds_arena *arena, ds_delassus *symmetric, ds_delassus *skew, double *asymmetry,
                       const ds_matrix *w, int32_t n, int32_t d) {
  pattern p;
  if (!find_pattern(arena, &p, w, n, d)) return false;
  size_t values = 9 * (size_t)p.start[n] + 1;
  double *even = DS_NEW0(arena, double, values), *odd = DS_NEW0(arena, double, values), all = 0, difference = 0;
  if (ds_arena_failed(arena)) return false;
  for (int32_t t = 0; t < w->entries; t++) {
    int32_t i = w->row[t] / d, a = w->row[t] % d, j = w->column[t] / d, b = w->column[t] % d;
    if (w->value[t] == 0) continue;
    int32_t ij = find_block(&p, i, j), ji = find_block(&p, j, i);
    double half = 0.5 * w->value[t];
    even[9 * ij + 3 * a + b] += half;
    even[9 * ji + 3 * b + a] += half;
    odd[9 * ij + 3 * a + b] += half;
    odd[9 * ji + 3 * b + a] -= half;
  }
  for (size_t i = 0; i < values; i++) all += even[i] * even[i] + odd[i] * odd[i], difference += 4 * odd[i] * odd[i];
  *asymmetry = difference > 0 ? sqrt(difference / all) : 0;
  *symmetric = (ds_delassus){p.start, p.column, even};
  *skew = (ds_delassus){p.start, p.column, difference > 0 ? odd : NULL};
  return true;
}
