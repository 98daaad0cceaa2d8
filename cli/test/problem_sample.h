/* Small problems made up for the tests of problem files, and texts of them in every storage that Siconos has. */
#ifndef DS_CLI_TEST_PROBLEM_SAMPLE_H
#define DS_CLI_TEST_PROBLEM_SAMPLE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drystone/problem.h"
#include "random.h"

enum { SAMPLE_ROWS = 24, SAMPLE_DOF = 18, SAMPLE_EQUALITIES = 2, SAMPLE_ENTRIES = 2 * SAMPLE_ROWS * SAMPLE_ROWS };

typedef struct sample_matrix {
  int32_t row[SAMPLE_ENTRIES], column[SAMPLE_ENTRIES];
  double value[SAMPLE_ENTRIES];
} sample_matrix;

/* A problem and its arrays; not to be copied. */
typedef struct sample {
  ds_problem problem;
  sample_matrix first, second, third; /* W V R or M H G */
  double vector[3][SAMPLE_ROWS], mu[SAMPLE_ROWS], guess[SAMPLE_ROWS];
  int32_t body_size[SAMPLE_DOF];
} sample;

static inline double sample_number(uint64_t *seed) { return 2 * random_unit(seed) - 1; }

static inline void sample_fill(double *x, int32_t count, uint64_t *seed) {
  for (int32_t i = 0; i < count; i++) x[i] = sample_number(seed);
}

static inline void sample_add(ds_matrix *m, sample_matrix *store, int32_t row, int32_t column, double value) {
  store->row[m->entries] = row;
  store->column[m->entries] = column;
  store->value[m->entries++] = value;
}

/* Symmetric and diagonally dominant, with blocks of `block` rows coupled to the next block where asked; entries in no
 * particular order, one place in two parts. */
static inline ds_matrix sample_square(sample_matrix *store, int32_t rows, int32_t block, bool coupled, uint64_t *seed) {
  ds_matrix m = {rows, rows, 0, store->row, store->column, store->value};
  for (int32_t i = rows - 1; i >= 0; i--) {
    for (int32_t j = 0; j < i; j++) {
      if (i / block > j / block + (coupled ? 1 : 0)) continue;
      double value = 0.1 * sample_number(seed);
      sample_add(&m, store, i, j, value);
      sample_add(&m, store, j, i, value);
    }
    sample_add(&m, store, i, i, 4 + sample_number(seed));
  }
  if (rows > 0) sample_add(&m, store, rows / 2, rows / 2, 0.3);
  return m;
}

static inline ds_matrix sample_rectangle(sample_matrix *store, int32_t rows, int32_t columns, uint64_t *seed) {
  ds_matrix m = {rows, columns, 0, store->row, store->column, store->value};
  for (int32_t j = 0; j < columns; j++)
    for (int32_t i = 0; i < rows; i++)
      if (random_unit(seed) < 0.4) sample_add(&m, store, i, j, sample_number(seed));
  return m;
}

/* nc contacts of d components; `global` has 6 degrees of freedom per body, three bodies; `equal` equality rows. */
static inline void sample_make(sample *s, bool global, int32_t d, int32_t nc, int32_t equal, uint64_t seed) {
  int32_t rows = d * nc;
  memset(s, 0, sizeof *s);
  ds_problem *p = &s->problem;
  *p = (ds_problem){.form = global ? DS_PROBLEM_GLOBAL : DS_PROBLEM_LOCAL, .dimension = d, .contacts = nc};
  p->equalities = equal;
  p->dof = global ? SAMPLE_DOF : 0;
  for (int i = 0; i < 3; i++) sample_fill(s->vector[i], SAMPLE_ROWS, &seed);
  sample_fill(s->guess, SAMPLE_ROWS, &seed);
  for (int32_t k = 0; k < nc; k++) s->mu[k] = random_unit(&seed);
  p->mu = s->mu;
  if (global) {
    p->M = sample_square(&s->first, p->dof, 6, false, &seed);
    p->H = sample_rectangle(&s->second, p->dof, rows, &seed);
    if (equal > 0) p->G = sample_rectangle(&s->third, p->dof, equal, &seed);
    p->f = s->vector[0], p->w = s->vector[1], p->b = equal > 0 ? s->vector[2] : NULL;
    p->body_count = 3;
    for (int i = 0; i < 3; i++) s->body_size[i] = 6;
    p->body_size = s->body_size;
  } else {
    p->W = sample_square(&s->first, rows, d, true, &seed);
    if (equal > 0) {
      p->V = sample_rectangle(&s->second, rows, equal, &seed);
      p->R = sample_square(&s->third, equal, 1, true, &seed);
    }
    p->q = s->vector[0], p->s = equal > 0 ? s->vector[2] : NULL;
  }
}

/* ---- Texts ---- */

typedef enum sample_storage {
  SAMPLE_DENSE,
  SAMPLE_BLOCKS,
  SAMPLE_TRIPLETS,
  SAMPLE_COLUMNS,
  SAMPLE_COMPRESSED_ROWS, /* square matrices only */
  SAMPLE_STORAGES,
} sample_storage;

/* The matrix as a whole, column by column; freed by the caller. */
static inline double *sample_dense(const ds_matrix *m) {
  double *x = calloc((size_t)m->rows * (size_t)m->columns + 1, sizeof *x);
  for (int32_t k = 0; x != NULL && k < m->entries; k++) x[m->row[k] + m->rows * m->column[k]] += m->value[k];
  return x;
}

/* All blocks are written, also those of zeros. */
static inline void sample_print_blocks(FILE *out, const double *x, int32_t rows, int32_t columns, int32_t br,
                                       int32_t bc) {
  int32_t nr = rows / br, nc = columns / bc;
  fprintf(out, "1\n%d\n%d\n%d\n%d\n%d\n", rows, columns, nr * nc, nr, nc);
  for (int32_t i = 1; i <= nr; i++) fprintf(out, "%d\t", i * br);
  fprintf(out, "\n");
  for (int32_t j = 1; j <= nc; j++) fprintf(out, "%d\t", j * bc);
  fprintf(out, "\n%d\n%d\n", nr + 1, nr * nc);
  for (int32_t i = 0; i <= nr; i++) fprintf(out, "%d\t", i * nc);
  fprintf(out, "\n");
  for (int32_t i = 0; i < nr; i++)
    for (int32_t j = 0; j < nc; j++) fprintf(out, "%d\t", j);
  fprintf(out, "\n");
  for (int32_t k = 0; k < nr * nc; k++) {
    fprintf(out, "%d\n", k);
    for (int32_t j = 0; j < bc; j++)
      for (int32_t i = 0; i < br; i++) fprintf(out, "%32.24e\n", x[k / nc * br + i + rows * (k % nc * bc + j)]);
  }
}

static inline void sample_print_columns(FILE *out, const double *x, int32_t rows, int32_t columns, bool transposed) {
  int32_t count = 0, at = 0;
  for (int32_t k = 0; k < rows * columns; k++) count += x[k] != 0;
  fprintf(out, "2\n%d\n%d\n%d\na comment: 1 2 3\n", rows, columns, transposed ? 3 : 2);
  fprintf(out, "%d-by-%d, nzmax: %d nnz: %d, 1-norm: 1\n", rows, columns, count + 7, count);
  for (int32_t j = 0; j < columns; j++) {
    int32_t here = 0;
    for (int32_t i = 0; i < rows; i++) here += x[transposed ? j + rows * i : i + rows * j] != 0;
    fprintf(out, "    col %d : locations %d to %d\n", j, at, at + here - 1);
    at += here;
    for (int32_t i = 0; i < rows; i++) {
      double value = x[transposed ? j + rows * i : i + rows * j];
      if (value != 0) fprintf(out, "      %d : %.17g\n", i, value);
    }
  }
}

static inline void sample_print_matrix(FILE *out, const ds_matrix *m, sample_storage storage, int32_t block_rows,
                                       int32_t block_columns) {
  double *x = sample_dense(m);
  if (x == NULL) return;
  switch (storage) {
    case SAMPLE_DENSE:
      fprintf(out, "0\n%d\n%d\n%d\t%d\n", m->rows, m->columns, m->rows, m->columns);
      for (int32_t k = 0; k < m->rows * m->columns; k++)
        fprintf(out, " %.24e%s", x[k], (k + 1) % m->rows == 0 ? " \n" : " ");
      break;
    case SAMPLE_BLOCKS:
      sample_print_blocks(out, x, m->rows, m->columns, block_rows, block_columns);
      break;
    case SAMPLE_TRIPLETS:
      fprintf(out, "2\n%d\n%d\n1\nCSparse Version 9\ntriplet: %d-by-%d, nzmax: %d nnz: %d\n", m->rows, m->columns,
              m->rows, m->columns, m->entries + 3, m->entries);
      for (int32_t k = 0; k < m->entries; k++)
        fprintf(out, "    %d %d : %.17g\n", m->row[k], m->column[k], m->value[k]);
      break;
    default:
      sample_print_columns(out, x, m->rows, m->columns, storage == SAMPLE_COMPRESSED_ROWS && m->rows == m->columns);
  }
  free(x);
}

static inline void sample_print_vector(FILE *out, const double *x, int32_t count) {
  for (int32_t i = 0; i < count; i++) fprintf(out, " %.24e ", x[i]);
  fprintf(out, "\n");
}

/* The whole problem in one storage; NULL if memory ran out. Freed by the caller. */
static inline char *sample_text(size_t *length, const ds_problem *p, sample_storage storage) {
  char *text = NULL;
  FILE *out = open_memstream(&text, length);
  if (out == NULL) return NULL;
  int32_t rows = p->dimension * p->contacts;
  fprintf(out, "%d\n%d\n", p->dimension, p->contacts);
  if (p->form == DS_PROBLEM_LOCAL) {
    sample_print_matrix(out, &p->W, storage, p->dimension, p->dimension);
    sample_print_vector(out, p->q, rows);
  } else {
    sample_print_matrix(out, &p->M, storage, 6, 6);
    sample_print_matrix(out, &p->H, storage, 6, p->dimension);
    sample_print_vector(out, p->f, p->dof);
    sample_print_vector(out, p->w, rows);
  }
  sample_print_vector(out, p->mu, p->contacts);
  return fclose(out) == 0 ? text : NULL;
}

#endif
