/* Growing list of matrix entries in an arena. */
#ifndef DS_PROBLEM_TRIPLETS_H
#define DS_PROBLEM_TRIPLETS_H

#include <string.h>

#include "base/arena.h"
#include "drystone/problem.h"

typedef struct ds_triplets {
  ds_arena *arena;
  int32_t *row, *column;
  double *value;
  int32_t count, capacity;
} ds_triplets;

static inline void ds_triplets_grow(ds_triplets *t) {
  if (t->capacity > INT32_MAX / 4) {
    t->arena->failed = true;
    return;
  }
  int32_t capacity = t->capacity > 0 ? 2 * t->capacity : 1024;
  int32_t *row = DS_NEW(t->arena, int32_t, capacity), *column = DS_NEW(t->arena, int32_t, capacity);
  double *value = DS_NEW(t->arena, double, capacity);
  if (ds_arena_failed(t->arena)) return;
  if (t->count > 0) {
    memcpy(row, t->row, (size_t)t->count * sizeof *row);
    memcpy(column, t->column, (size_t)t->count * sizeof *column);
    memcpy(value, t->value, (size_t)t->count * sizeof *value);
  }
  t->row = row, t->column = column, t->value = value, t->capacity = capacity;
}

/* Where memory runs out entries are dropped and the arena's flag is up. */
static inline void ds_triplets_add(ds_triplets *t, int32_t row, int32_t column, double value) {
  if (t->count == t->capacity) ds_triplets_grow(t);
  if (t->count == t->capacity) return;
  t->row[t->count] = row, t->column[t->count] = column, t->value[t->count] = value;
  t->count++;
}

static inline ds_matrix ds_triplets_matrix(const ds_triplets *t, int32_t rows, int32_t columns) {
  return (ds_matrix){rows, columns, t->count, t->row, t->column, t->value};
}

#endif
