/* The linear algebra: sparse block factorizations against dense ones, the elimination order against its definition. */
#include "la/block.h"

#include <stdlib.h>
#include <string.h>
#include "check.h"
#include "la/lorentz.h"
#include "la/order.h"
#include "la/small.h"
#include "random.h"

enum { BLOCKS = 40 };

/* Random sparse block matrix, dense copy beside it. Diagonally dominant enough to be definite. */
static void fill(ds_block_matrix *m, double *dense, const int32_t *pairs, int32_t pair_count, bool symmetric,
                 uint64_t *s) {
  const ds_block_pattern *p = m->pattern;
  int32_t n = p->dimension;
  memset(dense, 0, (size_t)(n * n) * sizeof *dense);
  ds_block_identity(m, symmetric);
  for (int32_t i = 0; i < n; i++) dense[i * n + i] = 1;
  for (int32_t b = 0; b < p->n; b++) {
    int32_t k = p->position[b], size = p->size[k], row = p->first_row[b];
    for (int32_t i = 0; i < size; i++)
      for (int32_t j = 0; j < size; j++) {
        double x = i == j ? 40 : symmetric && j < i ? m->diagonal[p->diagonal[k] + j * size + i] : random_in(s, -1, 1);
        m->diagonal[p->diagonal[k] + i * size + j] = x;
        dense[(row + i) * n + row + j] = x;
      }
  }
  for (int32_t q = 0; q < pair_count; q++) {
    int32_t a = pairs[2 * q], b = pairs[2 * q + 1];
    if (a == b) continue;
    bool swapped;
    int32_t slot = ds_block_slot(&swapped, p, a, b);
    int32_t r = swapped ? b : a, c = swapped ? a : b, sr = p->size[p->position[r]], sc = p->size[p->position[c]];
    for (int32_t i = 0; i < sr; i++)
      for (int32_t j = 0; j < sc; j++) {
        double x = random_in(s, -1, 1), y = symmetric ? x : random_in(s, -1, 1);
        m->lower[p->offset[slot] + i * sc + j] = x;
        if (!symmetric) m->upper[p->offset[slot] + i * sc + j] = y;
        dense[(p->first_row[r] + i) * n + p->first_row[c] + j] = x;
        dense[(p->first_row[c] + j) * n + p->first_row[r] + i] = y;
      }
  }
}

static void check_solve(bool symmetric, int32_t size_low, int32_t size_high, uint64_t seed) {
  ds_arena arena = {0};
  uint64_t s = seed;
  int32_t sizes[BLOCKS], pairs[2 * 3 * BLOCKS], n = 0;
  for (int32_t i = 0; i < BLOCKS; i++) n += sizes[i] = size_low + random_int(&s, size_high - size_low + 1);
  for (int32_t i = 0; i < 6 * BLOCKS; i++) pairs[i] = random_int(&s, BLOCKS);
  ds_block_pattern *p = ds_block_analyse(&arena, sizes, pairs, 3 * BLOCKS, BLOCKS);
  ds_block_matrix *m = ds_block_create(&arena, p);
  double *dense = malloc((size_t)(n * n) * sizeof *dense), *x = malloc((size_t)n * sizeof *x);
  double *b = malloc((size_t)n * sizeof *b), *work = malloc((size_t)n * sizeof *work);
  fill(m, dense, pairs, 3 * BLOCKS, symmetric, &s);
  for (int32_t i = 0; i < n; i++) x[i] = b[i] = random_in(&s, -1, 1);
  CHECK(symmetric ? ds_block_cholesky(m) : ds_block_lu(m));
  if (symmetric)
    ds_block_cholesky_solve(x, m, work);
  else
    ds_block_lu_solve(x, m, work);
  double worst = 0;
  for (int32_t i = 0; i < n; i++) {
    double sum = -b[i];
    for (int32_t j = 0; j < n; j++) sum += dense[i * n + j] * x[j];
    worst = fmax(worst, fabs(sum));
  }
  CHECK_LE(worst, 1e-12);
  free(dense), free(x), free(b), free(work);
  ds_arena_free(&arena);
}

static void block_solves_match_dense(void) {
  for (uint64_t seed = 1; seed <= 20; seed++) {
    check_solve(true, 6, 6, seed);
    check_solve(false, 6, 6, seed);
    check_solve(true, 1, 11, seed);
    check_solve(false, 1, 11, seed);
  }
}

static void indefinite_is_refused(void) {
  double a[4] = {1, 2, 2, 1}, nan[1] = {NAN}, zero[1] = {0};
  int32_t pivots[2];
  CHECK(!ds_small_cholesky(a, 2));
  CHECK(!ds_small_cholesky(nan, 1));
  CHECK(!ds_small_lu(zero, pivots, 1));
  CHECK(!ds_small_lu(nan, pivots, 1));
}

/* A tree is eliminated without fill; a grid with far less than its natural order. */
static void order_reduces_fill(void) {
  ds_arena arena = {0};
  enum { SIDE = 30, N = SIDE * SIDE };
  static int32_t pairs[4 * N];
  int32_t count = 0;
  for (int32_t i = 1; i < N; i++) pairs[2 * count] = i, pairs[2 * count++ + 1] = (i - 1) / 3;
  ds_elimination e;
  CHECK(ds_minimum_degree(&arena, &e, pairs, count, N));
  CHECK_NEAR(e.start[N], N - 1, 0);
  count = 0;
  for (int32_t y = 0; y < SIDE; y++)
    for (int32_t x = 0; x < SIDE; x++) {
      if (x > 0) pairs[2 * count] = y * SIDE + x, pairs[2 * count++ + 1] = y * SIDE + x - 1;
      if (y > 0) pairs[2 * count] = y * SIDE + x, pairs[2 * count++ + 1] = y * SIDE - SIDE + x;
    }
  CHECK(ds_minimum_degree(&arena, &e, pairs, count, N));
  CHECK_LE(e.start[N], 0.45 * N * SIDE); /* the natural order fills about N * SIDE */
  bool seen[N] = {false};
  for (int32_t k = 0; k < N; k++) {
    CHECK(!seen[e.order[k]]);
    seen[e.order[k]] = true;
  }
  ds_arena_free(&arena);
}

/* W z = W⁻¹ x, and the step to the boundary is one. */
static void lorentz_scaling(void) {
  uint64_t s = 7;
  for (int i = 0; i < 1000; i++) {
    double x[3], z[3], d[3];
    for (int c = 1; c < 3; c++) x[c] = random_in(&s, -1, 1), z[c] = random_in(&s, -1, 1);
    x[0] = sqrt(x[1] * x[1] + x[2] * x[2]) + pow(10, random_in(&s, -6, 1));
    z[0] = sqrt(z[1] * z[1] + z[2] * z[2]) + pow(10, random_in(&s, -6, 1));
    for (int c = 0; c < 3; c++) d[c] = random_in(&s, -5, 5);
    ds_lorentz nt = {0};
    CHECK(ds_lorentz_scale(&nt, x, z));
    double back[3];
    ds_lorentz_apply(back, &nt, x, true);
    for (int c = 0; c < 3; c++) CHECK_NEAR(back[c], nt.lambda[c], 1e-7 * (1 + fabs(nt.lambda[0])));
    double t = ds_lorentz_step(x, d), y[3];
    for (int c = 0; c < 3; c++) y[c] = x[c] + t * d[c];
    double slack = y[0] - sqrt(y[1] * y[1] + y[2] * y[2]);
    CHECK(slack > -1e-9 * (1 + fabs(x[0])));
    if (t < 1) CHECK_NEAR(slack, 0, 1e-9 * (1 + x[0]));
  }
}

int main(void) {
  RUN(block_solves_match_dense);
  RUN(indefinite_is_refused);
  RUN(order_reduces_fill);
  RUN(lorentz_scaling);
  return test_summary();
}
