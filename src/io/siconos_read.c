/* Reads the text files of Siconos: white-space separated tokens, see docs/problems.md.
 *
 *   local:   d nc W q mu          global:   d nc M H f w mu
 *
 * The text does not say which of the two it is. After the first matrix, a local problem continues with q and a global
 * one with the header of H: storage, dof, d nc. It is global where the first matrix is not d nc x d nc, or where these
 * three tokens follow, each written as a whole number; a q that reads like that has to be written with decimal points.
 *
 * Sizes in a header are checked against the remaining bytes before memory is allocated: a number takes two. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "io/parts.h"

enum {
  STORAGE_DENSE,
  STORAGE_BLOCKS,
  STORAGE_CSPARSE,
  ORIGIN_TRIPLET = 1, /* of a CSparse print-out */
  ORIGIN_COLUMNS,
  ORIGIN_ROWS,
  NUMBER_LENGTH_MAX = 500,
  HEADER_LENGTH_MAX = 255,
};

typedef struct scanner {
  const char *at, *end;
  int64_t line; /* from 1 */
  const char *name;
  ds_error *error;
  ds_problem_file *file;
} scanner;

typedef struct token {
  const char *start;
  size_t length; /* 0 at the end of the text */
  int64_t line;
} token;

/* ---- Tokens ---- */

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static ds_status
fail_at(const scanner *s, int64_t line, const char *format, ...) {
  char text[384];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return ds_fail(s->error, DS_ERROR_INPUT, "%.100s:%lld: %s", s->name, (long long)line, text);
}

static ds_status no_memory(const scanner *s) {
  return ds_fail(s->error, DS_ERROR_MEMORY, "%.300s: out of memory", s->name);
}

static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static token next(scanner *s) {
  while (s->at < s->end && is_space(*s->at)) s->line += *s->at++ == '\n';
  token t = {s->at, 0, s->line};
  while (s->at < s->end && !is_space(*s->at)) s->at++;
  t.length = (size_t)(s->at - t.start);
  return t;
}

/* "expected WHAT, found 'x1'": the token shortened, its unprintable bytes as '?'. */
static ds_status unexpected(const scanner *s, const token *t, const char *what) {
  if (t->length == 0) return fail_at(s, t->line, "expected %s, found the end of the file", what);
  char found[28] = {0};
  size_t shown = t->length < 24 ? t->length : 24;
  for (size_t i = 0; i < shown; i++) found[i] = t->start[i] >= ' ' && t->start[i] <= '~' ? t->start[i] : '?';
  return fail_at(s, t->line, "expected %s, found '%s%s'", what, found, shown < t->length ? "..." : "");
}

/* A whole number of at most 18 digits. */
static bool token_integer(int64_t *value, const token *t) {
  size_t i = t->length > 0 && (t->start[0] == '-' || t->start[0] == '+');
  if (i == t->length || t->length - i > 18) return false;
  int64_t x = 0;
  for (; i < t->length; i++) {
    if (t->start[i] < '0' || t->start[i] > '9') return false;
    x = 10 * x + (t->start[i] - '0');
  }
  *value = t->start[0] == '-' ? -x : x;
  return true;
}

static bool token_real(double *value, const token *t) {
  char text[NUMBER_LENGTH_MAX + 1];
  if (t->length == 0 || t->length > NUMBER_LENGTH_MAX) return false;
  memcpy(text, t->start, t->length);
  text[t->length] = '\0';
  if (strspn(text, "0123456789+-.eE") != t->length) return false; /* no nan, inf, 0x10 */
  char *end;
  *value = strtod(text, &end);
  return end == text + t->length;
}

static ds_status read_integer(scanner *s, int32_t *value, int64_t low, int64_t high, const char *what) {
  token t = next(s);
  int64_t x;
  if (token_integer(&x, &t) && x >= low && x <= high) {
    *value = (int32_t)x;
    return DS_OK;
  }
  char expected[192];
  if (low == high)
    snprintf(expected, sizeof expected, "%s, %lld", what, (long long)low);
  else
    snprintf(expected, sizeof expected, "%s, a whole number from %lld to %lld", what, (long long)low, (long long)high);
  return unexpected(s, &t, expected);
}

static ds_status read_real(scanner *s, double *value, const char *what) {
  token t = next(s);
  if (token_real(value, &t) && isfinite(*value)) return DS_OK;
  char expected[192];
  snprintf(expected, sizeof expected, "%s, a finite number", what);
  return unexpected(s, &t, expected);
}

/* Whether `count` tokens can be in what is left: a character and a space each. */
static ds_status check_room(const scanner *s, int64_t count, const char *what) {
  int64_t left = (int64_t)(s->end - s->at);
  if (count <= (left + 1) / 2 && count <= INT32_MAX) return DS_OK;
  return fail_at(s, s->line, "%s: %lld numbers are announced, and %lld bytes are left in the file", what,
                 (long long)count, (long long)left);
}

static ds_status read_vector(scanner *s, double **x, int32_t count, const char *what) {
  ds_status status = check_room(s, count, what);
  if (status != DS_OK) return status;
  *x = ds_problem_file_array(s->file, count, sizeof **x);
  if (*x == NULL) return no_memory(s);
  for (int32_t i = 0; i < count && status == DS_OK; i++) {
    char name[64];
    snprintf(name, sizeof name, "%s[%d]", what, (int)i);
    status = read_real(s, &(*x)[i], name);
  }
  return status;
}

/* ---- Matrices ---- */

typedef struct matrix_reader {
  scanner *s;
  const char *name; /* "W" */
  int32_t rows, columns, entries;
  ds_file_triplets triplets;
} matrix_reader;

static void add_entry(matrix_reader *m, int32_t row, int32_t column, double value) {
  m->triplets.row[m->entries] = row;
  m->triplets.column[m->entries] = column;
  m->triplets.value[m->entries++] = value;
}

/* m n again, then all values column by column; zeros are left out. */
static ds_status read_dense(matrix_reader *m) {
  scanner *s = m->s;
  int32_t again;
  ds_status status = read_integer(s, &again, m->rows, m->rows, "the number of rows again");
  if (status == DS_OK) status = read_integer(s, &again, m->columns, m->columns, "the number of columns again");
  if (status == DS_OK) status = check_room(s, (int64_t)m->rows * m->columns, m->name);
  if (status != DS_OK) return status;
  if (!ds_problem_file_triplets(&m->triplets, s->file, (int64_t)m->rows * m->columns)) return no_memory(s);
  for (int32_t j = 0; j < m->columns; j++) {
    for (int32_t i = 0; i < m->rows; i++) {
      double value = 0;
      status = read_real(s, &value, "a value of a dense matrix");
      if (status != DS_OK) return status;
      if (value != 0) add_entry(m, i, j, value);
    }
  }
  return DS_OK;
}

/* The blocks of a sparse block matrix: block k has rows[i-1] .. rows[i] and columns[j-1] .. columns[j], where pointer
 * says which k are in block row i, and column[k] = j. */
typedef struct block_layout {
  int32_t blocks, block_rows, block_columns, pointers;
  int32_t *rows, *columns, *pointer, *column;
} block_layout;

static ds_status read_integers(scanner *s, int32_t **x, int32_t count, int64_t low, int64_t high, const char *what) {
  ds_status status = check_room(s, count, what);
  if (status != DS_OK) return status;
  *x = ds_problem_file_array(s->file, count, sizeof **x);
  if (*x == NULL) return no_memory(s);
  for (int32_t i = 0; i < count && status == DS_OK; i++) status = read_integer(s, &(*x)[i], low, high, what);
  return status;
}

/* Sums of sizes: ascending, the last one the whole. */
static ds_status read_sums(scanner *s, int32_t **x, int32_t count, int32_t whole, const char *what) {
  ds_status status = read_integers(s, x, count, 0, whole, what);
  if (status != DS_OK) return status;
  for (int32_t i = 0; i < count; i++)
    if ((*x)[i] < (i > 0 ? (*x)[i - 1] : 0)) return fail_at(s, s->line, "%s do not ascend", what);
  if ((count > 0 ? (*x)[count - 1] : 0) != whole)
    return fail_at(s, s->line, "%s end at %d; expected %d", what, count > 0 ? (int)(*x)[count - 1] : 0, (int)whole);
  return DS_OK;
}

static ds_status read_block_layout(matrix_reader *m, block_layout *b) {
  scanner *s = m->s;
  int32_t again;
  ds_status status = read_integer(s, &b->blocks, 0, INT32_MAX, "the number of blocks");
  if (status == DS_OK) status = read_integer(s, &b->block_rows, 0, m->rows, "the number of block rows");
  if (status == DS_OK) status = read_integer(s, &b->block_columns, 0, m->columns, "the number of block columns");
  if (status == DS_OK) status = read_sums(s, &b->rows, b->block_rows, m->rows, "sums of the blocks' rows");
  if (status == DS_OK) status = read_sums(s, &b->columns, b->block_columns, m->columns, "sums of the blocks' columns");
  if (status == DS_OK)
    status = read_integer(s, &b->pointers, b->blocks > 0, (int64_t)b->block_rows + 1, "the number of row pointers");
  if (status == DS_OK) status = read_integer(s, &again, b->blocks, b->blocks, "the number of blocks again");
  if (status == DS_OK)
    status = b->blocks > 0 ? read_sums(s, &b->pointer, b->pointers, b->blocks, "row pointers")
                           : read_integers(s, &b->pointer, b->pointers, 0, 0, "row pointers");
  if (status == DS_OK && b->pointers > 0 && b->pointer[0] != 0)
    status = fail_at(s, s->line, "row pointers start at %d; expected 0", (int)b->pointer[0]);
  if (status == DS_OK)
    status = read_integers(s, &b->column, b->blocks, 0, (int64_t)b->block_columns - 1, "a block's column");
  return status;
}

static ds_status read_block(matrix_reader *m, const block_layout *b, int32_t i, int32_t k) {
  scanner *s = m->s;
  int32_t j = b->column[k], number;
  int32_t row = i > 0 ? b->rows[i - 1] : 0, column = j > 0 ? b->columns[j - 1] : 0;
  ds_status status = read_integer(s, &number, k, k, "the number of the next block");
  for (int32_t c = column; status == DS_OK && c < b->columns[j]; c++) {
    for (int32_t r = row; status == DS_OK && r < b->rows[i]; r++) {
      double value = 0;
      status = read_real(s, &value, "a value of a block");
      if (status == DS_OK && value != 0) add_entry(m, r, c, value);
    }
  }
  return status;
}

static ds_status read_blocks(matrix_reader *m) {
  scanner *s = m->s;
  block_layout b = {0};
  ds_status status = read_block_layout(m, &b);
  if (status != DS_OK) return status;
  int64_t values = 0; /* at most 2^31 blocks of 2^62 values: stop adding once it is too much anyway */
  for (int32_t i = 0; i + 1 < b.pointers; i++) {
    for (int32_t k = b.pointer[i]; k < b.pointer[i + 1] && values <= INT32_MAX; k++) {
      int32_t j = b.column[k];
      values += (int64_t)(b.rows[i] - (i > 0 ? b.rows[i - 1] : 0)) * (b.columns[j] - (j > 0 ? b.columns[j - 1] : 0));
    }
  }
  status = check_room(s, values, m->name);
  if (status != DS_OK) return status;
  if (!ds_problem_file_triplets(&m->triplets, s->file, values)) return no_memory(s);
  for (int32_t i = 0; i + 1 < b.pointers; i++) {
    for (int32_t k = b.pointer[i]; k < b.pointer[i + 1]; k++) {
      status = read_block(m, &b, i, k);
      if (status != DS_OK) return status;
    }
  }
  return DS_OK;
}

/* ---- CSparse print-outs ---- */

/* The rest of the line, without its end; cut at HEADER_LENGTH_MAX. False at the end of the text. */
static bool next_line(scanner *s, char *line) {
  if (s->at >= s->end) return false;
  const char *end = memchr(s->at, '\n', (size_t)(s->end - s->at));
  size_t length = (size_t)((end != NULL ? end : s->end) - s->at);
  size_t kept = length < HEADER_LENGTH_MAX ? length : HEADER_LENGTH_MAX;
  memcpy(line, s->at, kept);
  line[kept] = '\0';
  s->at += length + (end != NULL);
  s->line += end != NULL;
  return true;
}

/* The number after a word of the header: "nnz: 12". */
static bool number_after(int64_t *value, const char *line, const char *word) {
  const char *at = word != NULL ? strstr(line, word) : line;
  if (at == NULL) return false;
  at += word != NULL ? strlen(word) : 0;
  at += strspn(at, " \t");
  token t = {at, strspn(at, "0123456789"), 0};
  return t.length > 0 && token_integer(value, &t);
}

/* "triplet: 3-by-3, nzmax: 9 nnz: 9" or "3-by-3, nzmax: 9 nnz: 9, 1-norm: 6.3", after comment lines. */
static ds_status read_csparse_header(matrix_reader *m, int32_t *origin, int32_t *entries) {
  scanner *s = m->s;
  char line[HEADER_LENGTH_MAX + 1];
  ds_status status = read_integer(s, origin, ORIGIN_TRIPLET, ORIGIN_ROWS, "the origin of a CSparse matrix");
  if (status != DS_OK) return status;
  bool found = false;
  while (!found && next_line(s, line)) found = strstr(line, "-by-") != NULL;
  int64_t at = s->line > 1 ? s->line - 1 : 1, rows, columns, count;
  if (!found) return fail_at(s, s->line, "expected a line 'm-by-n, nzmax: k nnz: k', found the end of the file");
  const char *triplet = strstr(line, "triplet:");
  const char *start = triplet != NULL ? triplet + strlen("triplet:") : line;
  if (!number_after(&rows, start, NULL) || !number_after(&columns, start, "-by-") ||
      !number_after(&count, start, "nnz:"))
    return fail_at(s, at, "expected a line 'm-by-n, nzmax: k nnz: k' of a CSparse matrix");
  if (rows != m->rows || columns != m->columns)
    return fail_at(s, at, "%s is %lld-by-%lld here and %d x %d before", m->name, (long long)rows, (long long)columns,
                   (int)m->rows, (int)m->columns);
  if ((triplet != NULL) != (*origin == ORIGIN_TRIPLET))
    return fail_at(s, at, "%s: origin %d does not go with %s", m->name, (int)*origin,
                   triplet != NULL ? "triplets" : "columns; expected 'triplet:'");
  if (*origin == ORIGIN_ROWS && rows != columns)
    return fail_at(s, at, "%s: compressed rows are printed whole only where the matrix is square", m->name);
  status = check_room(s, count, m->name);
  *entries = (int32_t)(status == DS_OK ? count : 0);
  return status;
}

static ds_status read_word(scanner *s, const char *word) {
  token t = next(s);
  if (t.length == strlen(word) && memcmp(t.start, word, t.length) == 0) return DS_OK;
  char expected[40];
  snprintf(expected, sizeof expected, "'%s'", word);
  return unexpected(s, &t, expected);
}

static ds_status read_print_triplets(matrix_reader *m, int32_t entries) {
  scanner *s = m->s;
  ds_status status = DS_OK;
  for (int32_t k = 0; k < entries && status == DS_OK; k++) {
    int32_t row = 0, column = 0;
    double value = 0;
    status = read_integer(s, &row, 0, (int64_t)m->rows - 1, "a row");
    if (status == DS_OK) status = read_integer(s, &column, 0, (int64_t)m->columns - 1, "a column");
    if (status == DS_OK) status = read_word(s, ":");
    if (status == DS_OK) status = read_real(s, &value, "a value");
    if (status == DS_OK) add_entry(m, row, column, value);
  }
  return status;
}

/* "col 3 : locations 7 to 9", then "row : value" three times; an empty column has "locations 7 to 6". */
static ds_status read_print_columns(matrix_reader *m, int32_t entries, bool transposed) {
  scanner *s = m->s;
  ds_status status = DS_OK;
  for (int32_t j = 0; j < m->columns && status == DS_OK; j++) {
    int32_t number, from = m->entries, to = 0;
    status = read_word(s, "col");
    if (status == DS_OK) status = read_integer(s, &number, j, j, "the number of the next column");
    if (status == DS_OK) status = read_word(s, ":");
    if (status == DS_OK) status = read_word(s, "locations");
    if (status == DS_OK) status = read_integer(s, &number, from, from, "the location after the last one");
    if (status == DS_OK) status = read_word(s, "to");
    if (status == DS_OK) status = read_integer(s, &to, (int64_t)from - 1, (int64_t)entries - 1, "a location");
    for (int32_t k = from; k <= to && status == DS_OK; k++) {
      int32_t row = 0;
      double value = 0;
      status = read_integer(s, &row, 0, (int64_t)m->rows - 1, "a row");
      if (status == DS_OK) status = read_word(s, ":");
      if (status == DS_OK) status = read_real(s, &value, "a value");
      if (status == DS_OK) add_entry(m, transposed ? j : row, transposed ? row : j, value);
    }
  }
  if (status == DS_OK && m->entries != entries)
    status = fail_at(s, s->line, "%s has %d entries in its columns; expected the announced %d", m->name,
                     (int)m->entries, (int)entries);
  return status;
}

static ds_status read_csparse(matrix_reader *m) {
  int32_t origin = 0, entries = 0;
  ds_status status = read_csparse_header(m, &origin, &entries);
  if (status != DS_OK) return status;
  if (!ds_problem_file_triplets(&m->triplets, m->s->file, entries)) return no_memory(m->s);
  if (origin == ORIGIN_TRIPLET) return read_print_triplets(m, entries);
  return read_print_columns(m, entries, origin == ORIGIN_ROWS);
}

static ds_status read_matrix(scanner *s, ds_matrix *matrix, const char *name) {
  int32_t storage;
  char what[128];
  matrix_reader m = {.s = s, .name = name};
  snprintf(what, sizeof what, "the storage of %s (0 dense, 1 blocks, 2 CSparse)", name);
  ds_status status = read_integer(s, &storage, STORAGE_DENSE, STORAGE_CSPARSE, what);
  snprintf(what, sizeof what, "the number of rows of %s", name);
  if (status == DS_OK) status = read_integer(s, &m.rows, 0, INT32_MAX, what);
  snprintf(what, sizeof what, "the number of columns of %s", name);
  if (status == DS_OK) status = read_integer(s, &m.columns, 0, INT32_MAX, what);
  if (status != DS_OK) return status;
  switch (storage) {
    case STORAGE_DENSE:
      status = read_dense(&m);
      break;
    case STORAGE_BLOCKS:
      status = read_blocks(&m);
      break;
    default:
      status = read_csparse(&m);
  }
  *matrix = ds_file_triplets_matrix(&m.triplets, m.rows, m.columns, m.entries);
  return status;
}

/* ---- Problems ---- */

/* Whether the next tokens are the header of a matrix of this size. */
static bool header_follows(scanner s, int64_t rows, int64_t columns) {
  int64_t found[3];
  for (int i = 0; i < 3; i++) {
    token t = next(&s);
    if (!token_integer(&found[i], &t)) return false;
  }
  return found[0] >= STORAGE_DENSE && found[0] <= STORAGE_CSPARSE && found[1] == rows && found[2] == columns;
}

static ds_status read_local(scanner *s, ds_problem *p, int32_t rows) {
  double *q = NULL;
  ds_status status = read_vector(s, &q, rows, "q");
  if (status == DS_OK) p->q = q;
  return status;
}

static ds_status read_global(scanner *s, ds_problem *p, int32_t rows) {
  double *f = NULL, *w = NULL;
  p->M = p->W;
  p->W = (ds_matrix){0};
  p->form = DS_PROBLEM_GLOBAL;
  p->dof = p->M.rows;
  int64_t line = s->line;
  ds_status status = read_matrix(s, &p->H, "H");
  if (status == DS_OK && (p->H.rows != p->dof || p->H.columns != rows))
    status =
        fail_at(s, line, "H is %d x %d; expected %d x %d", (int)p->H.rows, (int)p->H.columns, (int)p->dof, (int)rows);
  if (status == DS_OK) status = read_vector(s, &f, p->dof, "f");
  if (status == DS_OK) p->f = f, status = read_vector(s, &w, rows, "w");
  if (status == DS_OK) p->w = w;
  return status;
}

static ds_status read_friction(scanner *s, ds_problem *p) {
  double *mu = NULL;
  ds_status status = read_vector(s, &mu, p->contacts, "mu");
  if (status != DS_OK) return status;
  p->mu = mu;
  for (int32_t i = 0; i < p->contacts; i++)
    if (mu[i] < 0) return fail_at(s, s->line, "mu[%d] is %g; expected 0 or more", (int)i, mu[i]);
  return DS_OK;
}

/* Some versions of Siconos write one more number, without a meaning here. */
static ds_status read_end(scanner *s) {
  next(s);
  token t = next(s);
  return t.length == 0 ? DS_OK : unexpected(s, &t, "the end of the file after mu and one more number");
}

ds_status ds_siconos_read(ds_problem_file *file, const char *text, size_t length, const char *name, ds_error *error) {
  scanner s = {text, text + length, 1, name, error, file};
  ds_problem *p = &file->problem;
  p->form = DS_PROBLEM_LOCAL;
  ds_status status = read_integer(&s, &p->dimension, 2, 3, "the dimension of a Siconos problem");
  if (status == DS_OK) status = read_integer(&s, &p->contacts, 0, INT32_MAX / 3, "the number of contacts");
  if (status != DS_OK) return status;
  int32_t rows = p->dimension * p->contacts;
  status = read_matrix(&s, &p->W, "the first matrix");
  if (status != DS_OK) return status;
  if (p->W.rows != p->W.columns)
    return fail_at(&s, s.line, "the first matrix is %d x %d; expected a square one", (int)p->W.rows, (int)p->W.columns);
  bool local = p->W.rows == rows && !header_follows(s, rows, rows);
  status = local ? read_local(&s, p, rows) : read_global(&s, p, rows);
  if (status == DS_OK) status = read_friction(&s, p);
  return status == DS_OK ? read_end(&s) : status;
}
