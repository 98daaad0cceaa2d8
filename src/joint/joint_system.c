#include "joint/joint_system.h"

#include <string.h>

static const double RIDGE = 1e-10; /* of the diagonal: above rounding, below what impulses need */

/* Kept rows joint by joint; place: of a joint among those that have any, or -1. */
static bool list_rows(ds_arena *arena, ds_joint_system *s, int32_t *place, bool all) {
  const ds_linkage *l = s->linkage;
  bool *kept = DS_NEW0(arena, bool, l->row_count + 1);
  s->row = DS_NEW(arena, int32_t, s->rank + 1);
  s->start = DS_NEW(arena, int32_t, l->joint_count + 1);
  if (ds_arena_failed(arena)) return false;
  for (int32_t i = 0; i < s->rank; i++) kept[all ? i : l->space.row[i]] = true;
  s->start[0] = 0;
  for (int32_t k = 0, end = 0; k < l->joint_count; k++) {
    const ds_held_joint *held = &l->joints[k];
    for (int32_t i = 0; i < held->kind->row_count; i++)
      if (kept[held->first_row + i]) s->row[end++] = held->first_row + i;
    place[k] = end > s->start[s->count] ? s->count++ : -1;
    s->start[s->count] = end;
  }
  return true;
}

/* Pairs of joints that share a body. */
static bool list_pairs(ds_arena *arena, ds_joint_system *s, const int32_t *place) {
  const ds_linkage *l = s->linkage;
  int32_t blocks = l->size / DS_NULL_BLOCK, total = 0;
  int32_t *start = DS_NEW0(arena, int32_t, blocks + 2), *joint = DS_NEW(arena, int32_t, 2 * l->joint_count + 1);
  if (ds_arena_failed(arena)) return false;
  for (int pass = 0; pass < 2; pass++) { /* joints of every body: count, then fill */
    for (int32_t k = 0; k < l->joint_count; k++)
      for (int side = 0; side < 2 && place[k] >= 0; side++) {
        int32_t at = l->joints[k].at[side];
        if (at < 0) continue;
        if (pass == 0)
          start[at / DS_NULL_BLOCK + 2]++;
        else
          joint[start[at / DS_NULL_BLOCK + 1]++] = place[k];
      }
    for (int32_t b = 0; b < blocks && pass == 0; b++) start[b + 2] += start[b + 1];
  }
  for (int32_t b = 0; b < blocks; b++) total += (start[b + 1] - start[b]) * (start[b + 1] - start[b] - 1) / 2;
  s->pairs = DS_NEW(arena, int32_t, 2 * (size_t)total + 1);
  s->shared = DS_NEW(arena, int32_t, total + 1);
  s->slot = DS_NEW(arena, int32_t, total + 1);
  s->swapped = DS_NEW(arena, bool, total + 1);
  if (ds_arena_failed(arena)) return false;
  for (int32_t b = 0; b < blocks; b++)
    for (int32_t i = start[b]; i < start[b + 1]; i++)
      for (int32_t k = start[b]; k < i; k++) {
        s->pairs[2 * s->pair_count] = joint[i], s->pairs[2 * s->pair_count + 1] = joint[k];
        s->shared[s->pair_count++] = DS_NULL_BLOCK * b;
      }
  return true;
}

ds_joint_system *ds_joint_system_create(ds_arena *arena, const ds_linkage *linkage, bool all) {
  ds_joint_system *s = DS_NEW0(arena, ds_joint_system, 1);
  int32_t *place = DS_NEW(arena, int32_t, linkage->joint_count + 1),
          rank = all ? linkage->row_count : linkage->space.rank;
  if (ds_arena_failed(arena)) return NULL;
  s->linkage = linkage;
  s->rank = rank;
  if (!list_rows(arena, s, place, all) || !list_pairs(arena, s, place)) return NULL;
  int32_t *size = DS_NEW(arena, int32_t, s->count + 1);
  s->x = DS_NEW(arena, double, rank + 1);
  s->work = DS_NEW(arena, double, rank + 1);
  if (ds_arena_failed(arena)) return NULL;
  for (int32_t i = 0; i < s->count; i++) size[i] = s->start[i + 1] - s->start[i];
  s->pattern = ds_block_analyse(arena, size, s->pairs, s->pair_count, s->count);
  s->matrix = s->pattern ? ds_block_create(arena, s->pattern) : NULL;
  if (!s->matrix) return NULL;
  for (int32_t i = 0; i < s->pair_count; i++)
    s->slot[i] = ds_block_slot(&s->swapped[i], s->pattern, s->pairs[2 * i], s->pairs[2 * i + 1]);
  return s;
}

/* The part of a row on the body at this coordinate; NULL: none. */
static const double *part(const ds_null_row *row, int32_t at) {
  return row->at[0] == at ? row->value[0] : row->at[1] == at ? row->value[1] : NULL;
}

/* block (of joint i and joint k, or transposed) += A_i B_kᵀ on one body */
static void add_product(double *block, const ds_joint_system *s, const ds_null_row *a, const ds_null_row *b, int32_t i,
                        int32_t k, int32_t at, bool transposed) {
  int32_t rows = s->start[i + 1] - s->start[i], columns = s->start[k + 1] - s->start[k];
  for (int32_t r = 0; r < rows; r++)
    for (int32_t c = 0; c < columns; c++) {
      const double *x = part(&a[s->row[s->start[i] + r]], at), *y = part(&b[s->row[s->start[k] + c]], at);
      double sum = 0;
      for (int32_t j = 0; j < DS_NULL_BLOCK; j++) sum += x[j] * y[j];
      block[transposed ? c * rows + r : r * columns + c] += sum;
    }
}

static void fill(ds_joint_system *s, const ds_null_row *a, const ds_null_row *b, bool symmetric) {
  const ds_block_pattern *p = s->pattern;
  ds_block_matrix *m = s->matrix;
  memset(m->diagonal, 0, (size_t)p->diagonal_values * sizeof(double));
  memset(m->lower, 0, (size_t)p->values * sizeof(double));
  if (!symmetric) memset(m->upper, 0, (size_t)p->values * sizeof(double));
  for (int32_t i = 0; i < s->count; i++) {
    const ds_null_row *first = &a[s->row[s->start[i]]];
    for (int side = 0; side < 2; side++)
      if (first->at[side] >= 0)
        add_product(m->diagonal + p->diagonal[p->position[i]], s, a, b, i, i, first->at[side], false);
  }
  for (int32_t q = 0; q < s->pair_count; q++) {
    int32_t i = s->pairs[2 * q], k = s->pairs[2 * q + 1];
    if (s->swapped[q]) { /* the lower block is (k, i) */
      int32_t other = i;
      i = k, k = other;
    }
    add_product(m->lower + p->offset[s->slot[q]], s, a, b, i, k, s->shared[q], false);
    if (!symmetric) add_product(m->upper + p->offset[s->slot[q]], s, a, b, k, i, s->shared[q], true);
  }
}

bool ds_joint_system_solve(double *out, ds_joint_system *s, const ds_null_row *a, const ds_null_row *b,
                           const double *c) {
  int32_t rank = s->rank;
  bool symmetric = a == b;
  fill(s, a, b, symmetric);
  for (int32_t i = 0; i < rank; i++) s->x[i] = c[s->row[i]];
  if (!(symmetric ? ds_block_cholesky(s->matrix) : ds_block_lu(s->matrix))) return false;
  if (symmetric)
    ds_block_cholesky_solve(s->x, s->matrix, s->work);
  else
    ds_block_lu_solve(s->x, s->matrix, s->work);
  memset(out, 0, (size_t)s->linkage->size * sizeof(double));
  for (int32_t i = 0; i < rank; i++) {
    const ds_null_row *row = &b[s->row[i]];
    for (int side = 0; side < 2; side++)
      for (int32_t j = 0; row->at[side] >= 0 && j < DS_NULL_BLOCK; j++)
        out[row->at[side] + j] += s->x[i] * row->value[side][j];
  }
  return true;
}

bool ds_joint_system_impulses(double *x, ds_joint_system *s, const ds_null_row *a) {
  const ds_block_pattern *p = s->pattern;
  fill(s, a, a, true);
  for (int32_t i = 0; i < s->count; i++) {
    int32_t n = s->start[i + 1] - s->start[i];
    double *block = s->matrix->diagonal + p->diagonal[p->position[i]];
    for (int32_t k = 0; k < n; k++) block[k * n + k] *= 1 + RIDGE;
  }
  if (!ds_block_cholesky(s->matrix)) return false;
  ds_block_cholesky_solve(x, s->matrix, s->work);
  return true;
}
