/* Left-looking block factorization. Column j of the factor is column j of the matrix less the products of the columns k
 * to its left that have a block in row j:
 *
 *   A_ij -= L_ik U_kj,   with U_kj = L_jkᵀ in the symmetric case.
 *
 * The one kernel is C -= A T for small dense blocks; 6 x 6, the rigid body, has its own. */
#include "la/block.h"

#include <math.h>
#include <string.h>

#include "la/order.h"
#include "la/small.h"

ds_block_pattern *ds_block_analyse(ds_arena *arena, const int32_t *size, const int32_t *pairs, int32_t pair_count,
                                   int32_t n) {
  ds_elimination e;
  ds_block_pattern *p = DS_NEW0(arena, ds_block_pattern, 1);
  if (!p || !ds_minimum_degree(arena, &e, pairs, pair_count, n)) return NULL;
  int32_t slots = e.start[n];
  p->n = n;
  p->order = e.order;
  p->position = DS_NEW(arena, int32_t, n + 1);
  p->size = DS_NEW(arena, int32_t, n + 1);
  p->first_row = DS_NEW(arena, int32_t, n + 1);
  p->start = DS_NEW(arena, int32_t, n + 1);
  p->diagonal = DS_NEW(arena, int32_t, n + 1);
  p->column_start = DS_NEW0(arena, int32_t, n + 1);
  p->row = DS_NEW(arena, int32_t, slots + 1);
  p->offset = DS_NEW(arena, int32_t, slots + 1);
  p->row_start = DS_NEW0(arena, int32_t, n + 1);
  p->row_column = DS_NEW(arena, int32_t, slots + 1);
  p->row_slot = DS_NEW(arena, int32_t, slots + 1);
  int32_t *fill = DS_NEW0(arena, int32_t, n + 1);
  if (ds_arena_failed(arena)) return NULL;

  for (int32_t i = 0, row = 0; i < n; row += size[i], i++) p->first_row[i] = row, p->dimension += size[i];
  for (int32_t k = 0; k < n; k++) {
    p->position[p->order[k]] = k;
    p->size[k] = size[p->order[k]];
    p->start[k] = k > 0 ? p->start[k - 1] + p->size[k - 1] : 0;
    p->diagonal[k] = p->diagonal_values;
    p->diagonal_values += p->size[k] * p->size[k];
    if (p->size[k] > p->largest) p->largest = p->size[k];
  }
  /* Rows first: going through the columns in order lists every row's columns in order; then back. */
  for (int32_t s = 0; s < slots; s++) p->row_start[p->position[e.column[s]] + 1]++;
  for (int32_t k = 0; k < n; k++) p->row_start[k + 1] += p->row_start[k];
  for (int32_t k = 0; k < n; k++)
    for (int32_t s = e.start[k]; s < e.start[k + 1]; s++) {
      int32_t i = p->position[e.column[s]];
      p->row_column[p->row_start[i] + fill[i]++] = k;
      p->column_start[k + 1]++;
    }
  for (int32_t k = 0; k < n; k++) p->column_start[k + 1] += p->column_start[k], fill[k] = 0;
  for (int32_t i = 0; i < n; i++)
    for (int32_t t = p->row_start[i]; t < p->row_start[i + 1]; t++) {
      int32_t k = p->row_column[t], slot = p->column_start[k] + fill[k]++;
      p->row[slot] = i;
      p->row_slot[t] = slot;
    }
  for (int32_t k = 0; k < n; k++)
    for (int32_t s = p->column_start[k]; s < p->column_start[k + 1]; s++) {
      p->offset[s] = p->values;
      p->values += p->size[p->row[s]] * p->size[k];
    }
  return p;
}

int32_t ds_block_slot(bool *swapped, const ds_block_pattern *p, int32_t i, int32_t j) {
  int32_t r = p->position[i], c = p->position[j];
  *swapped = r < c;
  if (*swapped) {
    int32_t t = r;
    r = c;
    c = t;
  }
  int32_t low = p->column_start[c], high = p->column_start[c + 1] - 1;
  while (low < high) {
    int32_t middle = low + (high - low) / 2;
    if (p->row[middle] < r)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

ds_block_matrix *ds_block_create(ds_arena *arena, const ds_block_pattern *p) {
  ds_block_matrix *m = DS_NEW0(arena, ds_block_matrix, 1);
  if (!m) return NULL;
  m->pattern = p;
  m->diagonal = DS_NEW(arena, double, p->diagonal_values + 1);
  m->lower = DS_NEW(arena, double, p->values + 1);
  m->upper = DS_NEW(arena, double, p->values + 1);
  m->pivots = DS_NEW(arena, int32_t, p->dimension + 1);
  m->where = DS_NEW(arena, int32_t, p->n + 1);
  m->transposed = DS_NEW(arena, double, p->largest * p->largest + 1);
  return ds_arena_failed(arena) ? NULL : m;
}

void ds_block_identity(ds_block_matrix *m, bool symmetric) {
  const ds_block_pattern *p = m->pattern;
  memset(m->diagonal, 0, (size_t)p->diagonal_values * sizeof(double));
  memset(m->lower, 0, (size_t)p->values * sizeof(double));
  if (!symmetric) memset(m->upper, 0, (size_t)p->values * sizeof(double));
  for (int32_t k = 0; k < p->n; k++)
    for (int32_t i = 0; i < p->size[k]; i++) m->diagonal[p->diagonal[k] + i * p->size[k] + i] = 1;
}

/* target column j -= source column k below row j, times the transpose of its block in row j.
 * `first` is the slot of block (j, k); rows from there down are updated: the diagonal block and those below. */
static void update_column(ds_block_matrix *m, double *diagonal, double *target, const double *source,
                          const double *source_j, int32_t j, int32_t k, int32_t first) {
  const ds_block_pattern *p = m->pattern;
  int32_t sj = p->size[j], sk = p->size[k];
  ds_small_transpose(m->transposed, source_j + p->offset[first], sj, sk);
  if (diagonal) ds_small_subtract_product(diagonal, source + p->offset[first], m->transposed, sj, sj, sk);
  for (int32_t s = first + 1; s < p->column_start[k + 1]; s++) {
    int32_t i = p->row[s];
    ds_small_subtract_product(target + p->offset[m->where[i]], source + p->offset[s], m->transposed, p->size[i], sj,
                              sk);
  }
}

static void mark_column(ds_block_matrix *m, int32_t j) {
  const ds_block_pattern *p = m->pattern;
  for (int32_t s = p->column_start[j]; s < p->column_start[j + 1]; s++) m->where[p->row[s]] = s;
}

bool ds_block_cholesky(ds_block_matrix *m) {
  const ds_block_pattern *p = m->pattern;
  for (int32_t j = 0; j < p->n; j++) {
    double *d = m->diagonal + p->diagonal[j];
    mark_column(m, j);
    for (int32_t t = p->row_start[j]; t < p->row_start[j + 1]; t++)
      update_column(m, d, m->lower, m->lower, m->lower, j, p->row_column[t], p->row_slot[t]);
    if (!ds_small_cholesky(d, p->size[j])) return false;
    for (int32_t s = p->column_start[j]; s < p->column_start[j + 1]; s++)
      ds_small_right_solve_lt(m->lower + p->offset[s], d, p->size[p->row[s]], p->size[j]);
  }
  return true;
}

bool ds_block_lu(ds_block_matrix *m) {
  const ds_block_pattern *p = m->pattern;
  for (int32_t j = 0; j < p->n; j++) {
    double *d = m->diagonal + p->diagonal[j];
    int32_t *pivots = m->pivots + p->first_row[p->order[j]];
    mark_column(m, j);
    for (int32_t t = p->row_start[j]; t < p->row_start[j + 1]; t++) {
      int32_t k = p->row_column[t], slot = p->row_slot[t];
      update_column(m, d, m->lower, m->lower, m->upper, j, k, slot);    /* A_ij -= L_ik U_kj, i >= j */
      update_column(m, NULL, m->upper, m->upper, m->lower, j, k, slot); /* U_ji -= L_jk U_ki, i > j, transposed */
    }
    if (!ds_small_lu(d, pivots, p->size[j])) return false;
    for (int32_t s = p->column_start[j]; s < p->column_start[j + 1]; s++)
      ds_small_right_solve_lu(m->lower + p->offset[s], d, pivots, p->size[p->row[s]], p->size[j]);
  }
  return true;
}

static void gather(double *work, const double *x, const ds_block_pattern *p) {
  for (int32_t k = 0; k < p->n; k++)
    memcpy(work + p->start[k], x + p->first_row[p->order[k]], (size_t)p->size[k] * sizeof(double));
}

static void scatter(double *x, const double *work, const ds_block_pattern *p) {
  for (int32_t k = 0; k < p->n; k++)
    memcpy(x + p->first_row[p->order[k]], work + p->start[k], (size_t)p->size[k] * sizeof(double));
}

void ds_block_cholesky_solve(double *x, const ds_block_matrix *m, double *work) {
  const ds_block_pattern *p = m->pattern;
  gather(work, x, p);
  for (int32_t j = 0; j < p->n; j++) {
    double *y = work + p->start[j];
    ds_small_solve_l(y, m->diagonal + p->diagonal[j], p->size[j]);
    for (int32_t s = p->column_start[j]; s < p->column_start[j + 1]; s++)
      ds_small_subtract_apply(work + p->start[p->row[s]], m->lower + p->offset[s], y, p->size[p->row[s]], p->size[j]);
  }
  for (int32_t j = p->n - 1; j >= 0; j--) {
    double *y = work + p->start[j];
    for (int32_t s = p->column_start[j]; s < p->column_start[j + 1]; s++)
      ds_small_subtract_apply_t(y, m->lower + p->offset[s], work + p->start[p->row[s]], p->size[p->row[s]], p->size[j]);
    ds_small_solve_lt(y, m->diagonal + p->diagonal[j], p->size[j]);
  }
  scatter(x, work, p);
}

void ds_block_lu_solve(double *x, const ds_block_matrix *m, double *work) {
  const ds_block_pattern *p = m->pattern;
  gather(work, x, p);
  for (int32_t j = 0; j < p->n; j++) /* L has identity blocks on its diagonal */
    for (int32_t s = p->column_start[j]; s < p->column_start[j + 1]; s++)
      ds_small_subtract_apply(work + p->start[p->row[s]], m->lower + p->offset[s], work + p->start[j],
                              p->size[p->row[s]], p->size[j]);
  for (int32_t j = p->n - 1; j >= 0; j--) {
    double *y = work + p->start[j];
    for (int32_t s = p->column_start[j]; s < p->column_start[j + 1]; s++)
      ds_small_subtract_apply_t(y, m->upper + p->offset[s], work + p->start[p->row[s]], p->size[p->row[s]], p->size[j]);
    ds_small_lu_solve(y, m->diagonal + p->diagonal[j], m->pivots + p->first_row[p->order[j]], p->size[j]);
  }
  scatter(x, work, p);
}
