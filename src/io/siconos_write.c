/* Writes the text files of Siconos: see docs/problems.md. Every number has 17 digits, so that it is read back as the
 * same number.
 *
 * A local problem has its W as d x d blocks, the storage that Siconos' own solvers take for it; entries of the same
 * place are added in their order. A global problem has M and H as triplets, in their order. */
#include <stdlib.h>

#include "io/parts.h"

typedef struct block_entry {
  int32_t row, column; /* of the block */
  int32_t entry;       /* of the matrix */
} block_entry;

static int compare(const void *a, const void *b) {
  const block_entry *x = a, *y = b;
  if (x->row != y->row) return x->row < y->row ? -1 : 1;
  if (x->column != y->column) return x->column < y->column ? -1 : 1;
  return x->entry < y->entry ? -1 : x->entry > y->entry;
}

static bool same_block(const block_entry *x, const block_entry *y) {
  return x->row == y->row && x->column == y->column;
}

static void write_values(FILE *out, const ds_matrix *w, const block_entry *first, int32_t count, int32_t d) {
  double values[9] = {0};
  for (int32_t k = 0; k < count; k++) {
    int32_t e = first[k].entry;
    values[w->row[e] % d + d * (w->column[e] % d)] += w->value[e];
  }
  for (int32_t k = 0; k < d * d; k++) fprintf(out, "%.17g\n", values[k]);
}

static void write_sums(FILE *out, int32_t count, int32_t size) {
  for (int32_t i = 1; i <= count; i++) fprintf(out, "%d\t", (int)(i * size));
  fputc('\n', out);
}

/* The entries have been sorted by block; `blocks` of them start one. */
static void write_blocks(FILE *out, const ds_matrix *w, const block_entry *sorted, int32_t blocks, int32_t nc,
                         int32_t d) {
  fprintf(out, "1\n%d\n%d\n%d\n%d\n%d\n", (int)w->rows, (int)w->columns, (int)blocks, (int)nc, (int)nc);
  write_sums(out, nc, d);
  write_sums(out, nc, d);
  fprintf(out, "%d\n%d\n", (int)(nc + 1), (int)blocks);
  for (int32_t i = 0, k = 0, before = 0; i <= nc; i++) { /* before = blocks in rows < i */
    fprintf(out, "%d\t", (int)before);
    for (; k < w->entries && sorted[k].row == i; k++) before += k == 0 || !same_block(&sorted[k], &sorted[k - 1]);
  }
  fputc('\n', out);
  for (int32_t k = 0; k < w->entries; k++)
    if (k == 0 || !same_block(&sorted[k], &sorted[k - 1])) fprintf(out, "%d\t", (int)sorted[k].column);
  fputc('\n', out);
  for (int32_t k = 0, end, number = 0; k < w->entries; k = end) {
    for (end = k + 1; end < w->entries && same_block(&sorted[k], &sorted[end]);) end++;
    fprintf(out, "%d\n", (int)number++);
    write_values(out, w, &sorted[k], end - k, d);
  }
}

static bool write_block_matrix(FILE *out, const ds_matrix *w, int32_t nc, int32_t d) {
  block_entry *sorted = malloc(sizeof *sorted * (w->entries > 0 ? (size_t)w->entries : 1));
  if (sorted == NULL) return false;
  for (int32_t k = 0; k < w->entries; k++) sorted[k] = (block_entry){w->row[k] / d, w->column[k] / d, k};
  qsort(sorted, (size_t)w->entries, sizeof *sorted, compare);
  int32_t blocks = 0;
  for (int32_t k = 0; k < w->entries; k++) blocks += k == 0 || !same_block(&sorted[k], &sorted[k - 1]);
  ds_matrix whole = *w;
  whole.rows = whole.columns = d * nc;
  write_blocks(out, &whole, sorted, blocks, nc, d);
  free(sorted);
  return true;
}

/* As CSparse prints triplets; Siconos expects one line of comment before the header. */
static void write_triplets(FILE *out, const ds_matrix *m, int32_t rows, int32_t columns) {
  fprintf(out, "2\n%d\n%d\n1\ntriplets as CSparse prints them, by Drystone\n", (int)rows, (int)columns);
  fprintf(out, "triplet: %d-by-%d, nzmax: %d nnz: %d\n", (int)rows, (int)columns, (int)m->entries, (int)m->entries);
  for (int32_t k = 0; k < m->entries; k++)
    fprintf(out, "    %d %d : %.17g\n", (int)m->row[k], (int)m->column[k], m->value[k]);
}

/* With a decimal point or an exponent, so that a vector never reads like the header of a matrix. */
static void write_vector(FILE *out, const double *x, int32_t count) {
  for (int32_t i = 0; i < count; i++) fprintf(out, "%.16e ", x[i]);
  fputc('\n', out);
}

bool ds_siconos_write(FILE *out, const ds_problem *p) {
  int32_t rows = p->dimension * p->contacts;
  fprintf(out, "%d\n%d\n", (int)p->dimension, (int)p->contacts);
  if (p->form == DS_PROBLEM_LOCAL) {
    if (!write_block_matrix(out, &p->W, p->contacts, p->dimension)) return false;
    write_vector(out, p->q, rows);
  } else {
    write_triplets(out, &p->M, p->dof, p->dof);
    write_triplets(out, &p->H, p->dof, rows);
    write_vector(out, p->f, p->dof);
    write_vector(out, p->w, rows);
  }
  write_vector(out, p->mu, p->contacts);
  return true;
}
