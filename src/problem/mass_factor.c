#include "problem/mass_factor.h"

#include "base/error.h"
#include "base/sets.h"
#include "la/block.h"
#include "la/small.h"

enum { DENSE_MAX = 48, BLOCK = 3 };

typedef struct ds_mass_component {
  double *dense; /* lower triangle of L, row-major; NULL where sparse */
  ds_block_pattern *pattern;
  ds_block_matrix *matrix;
} ds_mass_component;

/* Components numbered by their lowest member. */
static bool find_components(ds_arena *arena, ds_mass_factor *f, const ds_matrix *m) {
  int32_t n = f->dof, *parent = DS_NEW(arena, int32_t, n + 1);
  f->component = DS_NEW(arena, int32_t, n + 1);
  f->place = DS_NEW(arena, int32_t, n + 1);
  f->start = DS_NEW0(arena, int32_t, n + 2);
  f->member = DS_NEW(arena, int32_t, n + 1);
  if (ds_arena_failed(arena)) return false;
  ds_sets_single(parent, n);
  for (int32_t e = 0; e < m->entries; e++)
    if (m->value[e] != 0) ds_sets_join(parent, m->row[e], m->column[e]);
  for (int32_t i = 0; i < n; i++) {
    int32_t root = ds_sets_root(parent, i);
    f->component[i] = root == i ? f->count++ : f->component[root];
    f->place[i] = f->start[f->component[i] + 1]++;
  }
  for (int32_t c = 0; c < f->count; c++) {
    if (f->start[c + 1] > f->largest) f->largest = f->start[c + 1];
    f->start[c + 1] += f->start[c];
  }
  for (int32_t i = 0; i < n; i++) f->member[f->start[f->component[i]] + f->place[i]] = i;
  return true;
}

/* Entries of M by component: order[first[c] .. first[c + 1]). */
static bool sort_entries(ds_arena *arena, int32_t **order, int32_t **first, const ds_mass_factor *f,
                         const ds_matrix *m) {
  int32_t *start = DS_NEW0(arena, int32_t, f->count + 2), *list = DS_NEW(arena, int32_t, m->entries + 1);
  int32_t *fill = DS_NEW0(arena, int32_t, f->count + 1);
  if (ds_arena_failed(arena)) return false;
  for (int32_t e = 0; e < m->entries; e++)
    if (m->value[e] != 0) start[f->component[m->row[e]] + 1]++;
  for (int32_t c = 0; c < f->count; c++) start[c + 1] += start[c];
  for (int32_t e = 0; e < m->entries; e++) {
    int32_t c = f->component[m->row[e]];
    if (m->value[e] != 0) list[start[c] + fill[c]++] = e;
  }
  *order = list, *first = start;
  return true;
}

static bool factor_dense(ds_arena *arena, ds_mass_component *c, const ds_mass_factor *f, const ds_matrix *m,
                         const int32_t *entries, int32_t entry_count, int32_t n) {
  c->dense = DS_NEW0(arena, double, n *n);
  if (!c->dense) return true; /* the arena knows */
  for (int32_t t = 0; t < entry_count; t++) {
    int32_t i = f->place[m->row[entries[t]]], j = f->place[m->column[entries[t]]];
    c->dense[i * n + j] += 0.5 * m->value[entries[t]];
    c->dense[j * n + i] += 0.5 * m->value[entries[t]];
  }
  return ds_small_cholesky(c->dense, n);
}

static bool factor_sparse(ds_arena *arena, ds_mass_component *c, const ds_mass_factor *f, const ds_matrix *m,
                          const int32_t *entries, int32_t entry_count, int32_t n) {
  int32_t blocks = (n + BLOCK - 1) / BLOCK, pair_count = 0;
  int32_t *size = DS_NEW(arena, int32_t, blocks), *pairs = DS_NEW(arena, int32_t, 2 * (size_t)entry_count + 1);
  if (ds_arena_failed(arena)) return true;
  for (int32_t b = 0; b < blocks; b++) size[b] = b + 1 < blocks ? BLOCK : n - BLOCK * (blocks - 1);
  for (int32_t t = 0; t < entry_count; t++) {
    int32_t i = f->place[m->row[entries[t]]] / BLOCK, j = f->place[m->column[entries[t]]] / BLOCK;
    if (i != j) pairs[2 * pair_count] = i, pairs[2 * pair_count++ + 1] = j;
  }
  c->pattern = ds_block_analyse(arena, size, pairs, pair_count, blocks);
  c->matrix = c->pattern ? ds_block_create(arena, c->pattern) : NULL;
  if (!c->matrix) return true;
  ds_block_identity(c->matrix, true);
  for (int32_t i = 0; i < c->pattern->n; i++) /* the identity is taken off again */
    for (int32_t k = 0; k < c->pattern->size[i]; k++)
      c->matrix->diagonal[c->pattern->diagonal[i] + k * (c->pattern->size[i] + 1)] = 0;
  for (int32_t t = 0; t < entry_count; t++) {
    int32_t i = f->place[m->row[entries[t]]], j = f->place[m->column[entries[t]]];
    int32_t bi = i / BLOCK, bj = j / BLOCK, si = size[bi], sj = size[bj];
    double half = 0.5 * m->value[entries[t]];
    if (bi == bj) {
      double *d = c->matrix->diagonal + c->pattern->diagonal[c->pattern->position[bi]];
      d[(i % BLOCK) * si + j % BLOCK] += half;
      d[(j % BLOCK) * si + i % BLOCK] += half;
    } else {
      bool swapped;
      double *l = c->matrix->lower + c->pattern->offset[ds_block_slot(&swapped, c->pattern, bi, bj)];
      l[swapped ? (j % BLOCK) * si + i % BLOCK : (i % BLOCK) * sj + j % BLOCK] += half;
    }
  }
  return ds_block_cholesky(c->matrix);
}

ds_status ds_mass_factor_create(ds_arena *arena, ds_mass_factor **out, const ds_matrix *m, ds_error *error) {
  ds_mass_factor *f = DS_NEW0(arena, ds_mass_factor, 1);
  int32_t *order, *first;
  if (!f) return ds_fail(error, DS_ERROR_MEMORY, "out of memory");
  *out = f;
  f->dof = m->rows;
  if (!find_components(arena, f, m) || !sort_entries(arena, &order, &first, f, m))
    return ds_fail(error, DS_ERROR_MEMORY, "out of memory");
  f->components = DS_NEW0(arena, ds_mass_component, f->count + 1);
  for (int32_t c = 0; c < f->count && !ds_arena_failed(arena); c++) {
    int32_t n = f->start[c + 1] - f->start[c], count = first[c + 1] - first[c];
    bool definite = n <= DENSE_MAX ? factor_dense(arena, &f->components[c], f, m, order + first[c], count, n)
                                   : factor_sparse(arena, &f->components[c], f, m, order + first[c], count, n);
    if (!definite)
      return ds_fail(error, DS_ERROR_INPUT,
                     "M is not positive definite in the rows joined to row %d; expected a mass matrix",
                     f->member[f->start[c]]);
  }
  return ds_arena_failed(arena) ? ds_fail(error, DS_ERROR_MEMORY, "out of memory") : DS_OK;
}

void ds_mass_factor_solve(double *x, const ds_mass_factor *f, int32_t component, double *work) {
  const ds_mass_component *c = &f->components[component];
  int32_t n = f->start[component + 1] - f->start[component];
  if (c->dense) {
    ds_small_solve_l(x, c->dense, n);
    ds_small_solve_lt(x, c->dense, n);
  } else {
    ds_block_cholesky_solve(x, c->matrix, work);
  }
}
