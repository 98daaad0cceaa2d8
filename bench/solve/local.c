/* Condenses a problem to u = W r + q. Global form and equality rows are one elimination, with
 *
 *   global   K = [M -G; Gᵀ 0],   A = [H; 0],   g = [f; -b]     W =     Aᵀ K⁻¹ A,   q = w + Aᵀ K⁻¹ g
 *   local    K = R,              A = Vᵀ,       g = s           W = W - Aᵀ K⁻¹ A,   q = q - Aᵀ K⁻¹ g
 *
 * column by column with UMFPACK's factors of K. Entries that come out as exact zeros (bodies that do not touch) are
 * left out, and W is replaced by its symmetric part, as the error measure does. No solver's time contains this. */
#include "local.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <umfpack.h>

typedef struct triplets {
  int32_t count, capacity;
  int32_t *row, *column;
  double *value;
  bool failed;
} triplets;

static void put(triplets *t, int32_t row, int32_t column, double value) {
  if (value == 0 || t->failed) return;
  if (t->count == t->capacity) {
    int32_t capacity = t->capacity < 512 ? 1024 : t->capacity > INT32_MAX / 2 ? INT32_MAX : 2 * t->capacity;
    int32_t *rows = realloc(t->row, (size_t)capacity * sizeof *rows);
    if (rows) t->row = rows;
    int32_t *columns = realloc(t->column, (size_t)capacity * sizeof *columns);
    if (columns) t->column = columns;
    double *values = realloc(t->value, (size_t)capacity * sizeof *values);
    if (values) t->value = values;
    t->failed = !rows || !columns || !values || capacity == t->capacity;
    if (t->failed) return;
    t->capacity = capacity;
  }
  t->row[t->count] = row, t->column[t->count] = column, t->value[t->count++] = value;
}

static void put_symmetric(triplets *t, const ds_matrix *m) {
  for (int32_t k = 0; k < m->entries; k++) {
    put(t, m->row[k], m->column[k], 0.5 * m->value[k]);
    put(t, m->column[k], m->row[k], 0.5 * m->value[k]);
  }
}

static void triplets_free(triplets *t) { free(t->row), free(t->column), free(t->value); }

typedef struct columns {
  int32_t *start, *row;
  double *value;
} columns;

static void columns_free(columns *c) { free(c->start), free(c->row), free(c->value); }

/* Sorts by columns and adds up what is in the same place. */
static bool compress(columns *c, const triplets *t, int32_t rows, int32_t count) {
  c->start = calloc((size_t)count + 1, sizeof *c->start);
  c->row = calloc((size_t)t->count + 1, sizeof *c->row);
  c->value = calloc((size_t)t->count + 1, sizeof *c->value);
  if (t->failed || !c->start || !c->row || !c->value) return false;
  return umfpack_di_triplet_to_col(rows, count, t->count, t->row, t->column, t->value, c->start, c->row, c->value,
                                   NULL) == UMFPACK_OK;
}

/* The elimination's K, A and g; A by columns. */
typedef struct elimination {
  int32_t size;
  columns k, a;
  double *g;
  double sign;
} elimination;

static bool elimination_build(elimination *e, const ds_problem *p) {
  bool global = p->form == DS_PROBLEM_GLOBAL;
  int32_t n = p->dimension * p->contacts, ne = p->equalities;
  triplets k = {0}, a = {0};
  e->size = global ? p->dof + ne : ne;
  e->sign = global ? 1 : -1;
  e->g = calloc((size_t)e->size + 1, sizeof *e->g);
  if (global) {
    put_symmetric(&k, &p->M);
    for (int32_t i = 0; i < p->G.entries; i++) {
      put(&k, p->G.row[i], p->dof + p->G.column[i], -p->G.value[i]);
      put(&k, p->dof + p->G.column[i], p->G.row[i], p->G.value[i]);
    }
    for (int32_t i = 0; i < p->H.entries; i++) put(&a, p->H.row[i], p->H.column[i], p->H.value[i]);
    for (int32_t i = 0; e->g && i < p->dof; i++) e->g[i] = p->f[i];
    for (int32_t i = 0; e->g && p->b && i < ne; i++) e->g[p->dof + i] = -p->b[i];
  } else {
    put_symmetric(&k, &p->R);
    for (int32_t i = 0; i < p->V.entries; i++) put(&a, p->V.column[i], p->V.row[i], p->V.value[i]);
    for (int32_t i = 0; e->g && p->s && i < ne; i++) e->g[i] = p->s[i];
  }
  bool good = e->g && compress(&e->k, &k, e->size, e->size) && compress(&e->a, &a, e->size, n);
  triplets_free(&k), triplets_free(&a);
  return good;
}

static double column_dot(const columns *a, int32_t j, const double *x) {
  double sum = 0;
  for (int32_t k = a->start[j]; k < a->start[j + 1]; k++) sum += a->value[k] * x[a->row[k]];
  return sum;
}

/* Adds sign Aᵀ K⁻¹ A to w and sign Aᵀ K⁻¹ g to q. */
static bool eliminate(triplets *w, double *q, const elimination *e, int32_t n) {
  void *symbolic = NULL, *numeric = NULL;
  double *x = calloc((size_t)e->size + 1, sizeof *x), *b = calloc((size_t)e->size + 1, sizeof *b);
  const columns *k = &e->k;
  bool good = x && b &&
              umfpack_di_symbolic(e->size, e->size, k->start, k->row, k->value, &symbolic, NULL, NULL) == UMFPACK_OK &&
              umfpack_di_numeric(k->start, k->row, k->value, symbolic, &numeric, NULL, NULL) == UMFPACK_OK;
  if (good) {
    umfpack_di_solve(UMFPACK_A, k->start, k->row, k->value, x, e->g, numeric, NULL, NULL);
    for (int32_t i = 0; i < n; i++) q[i] += e->sign * column_dot(&e->a, i, x);
  }
  for (int32_t j = 0; good && j < n; j++) {
    memset(b, 0, (size_t)e->size * sizeof *b);
    for (int32_t i = e->a.start[j]; i < e->a.start[j + 1]; i++) b[e->a.row[i]] = e->a.value[i];
    umfpack_di_solve(UMFPACK_A, k->start, k->row, k->value, x, b, numeric, NULL, NULL);
    for (int32_t i = 0; i < n; i++) {
      double value = 0.5 * e->sign * column_dot(&e->a, i, x);
      put(w, i, j, value), put(w, j, i, value);
    }
  }
  umfpack_di_free_symbolic(&symbolic), umfpack_di_free_numeric(&numeric);
  free(x), free(b);
  return good;
}

static bool condense(bench_local *local, const ds_problem *p) {
  bool global = p->form == DS_PROBLEM_GLOBAL;
  int32_t n = local->size;
  triplets w = {0};
  columns c = {0};
  const double *q = global ? p->w : p->q;
  for (int32_t i = 0; q && i < n; i++) local->q[i] = q[i];
  memcpy(local->mu, p->mu, (size_t)local->contacts * sizeof *local->mu);
  if (!global) put_symmetric(&w, &p->W);
  bool good = true;
  if (global || p->equalities > 0) {
    elimination e = {0};
    good = elimination_build(&e, p) && eliminate(&w, local->q, &e, n);
    columns_free(&e.k), columns_free(&e.a), free(e.g);
  }
  good = good && compress(&c, &w, n, n);
  local->start = c.start, local->row = c.row, local->value = c.value;
  triplets_free(&w);
  return good;
}

bench_local *bench_local_new(const ds_problem *problem, ds_error *error) {
  bench_local *local = calloc(1, sizeof *local);
  if (!local) return NULL;
  if (problem->contacts == 0) {
    snprintf(error->message, sizeof error->message, "there are no contacts: nothing to compare");
    free(local);
    return NULL;
  }
  local->dimension = problem->dimension, local->contacts = problem->contacts;
  local->size = problem->dimension * problem->contacts;
  local->q = calloc((size_t)local->size + 1, sizeof *local->q);
  local->mu = calloc((size_t)local->contacts + 1, sizeof *local->mu);
  if (!local->q || !local->mu || !condense(local, problem)) {
    snprintf(error->message, sizeof error->message, "cannot be condensed: M or R is singular, or memory is short");
    bench_local_free(local);
    return NULL;
  }
  int32_t entries = local->start[local->size];
  local->column = calloc((size_t)entries + 1, sizeof *local->column);
  if (!local->column) {
    bench_local_free(local);
    return NULL;
  }
  double trace = 0;
  for (int32_t j = 0; j < local->size; j++)
    for (int32_t k = local->start[j]; k < local->start[j + 1]; k++) {
      local->column[k] = j;
      if (local->row[k] == j) trace += local->value[k];
    }
  local->rho = trace > 0 ? 3 * local->contacts / trace : 1;
  local->problem = (ds_problem){.form = DS_PROBLEM_LOCAL,
                                .dimension = local->dimension,
                                .contacts = local->contacts,
                                .W = {local->size, local->size, entries, local->row, local->column, local->value},
                                .q = local->q,
                                .mu = local->mu};
  return local;
}

void bench_local_free(bench_local *local) {
  if (!local) return;
  free(local->start), free(local->row), free(local->column), free(local->value);
  free(local->q), free(local->mu), free(local);
}
