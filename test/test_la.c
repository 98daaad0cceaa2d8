/* The linear algebra: sparse block factorizations against dense ones, the elimination order against its definition. */
#include "la/block.h"

#include <stdlib.h>
#include <string.h>
#include "check.h"
#include "la/dissect.h"
#include "la/lorentz.h"
#include "la/order.h"
#include "la/panel.h"
#include "la/small.h"
#include "project/system.h"
#include "random.h"

enum { BLOCKS = 40 };

/* Random sparse block matrix, dense copy beside it. Diagonally dominant enough to be definite. */
static void fill(ds_block_matrix *m, double *dense, const int32_t *pairs, int32_t pair_count, bool symmetric,
                 uint64_t *s) {
  const ds_block_pattern *p = m->pattern;
  int32_t n = p->dimension;
  memset(dense, 0, (size_t)n * (size_t)n * sizeof *dense);
  ds_block_identity(m, symmetric);
  for (int32_t i = 0; i < n; i++) dense[i * n + i] = 1;
  for (int32_t b = 0; b < p->n; b++) {
    int32_t k = p->position[b], size = p->size[k], row = p->first_row[b];
    for (int32_t i = 0; i < size; i++)
      for (int32_t j = 0; j < size; j++) {
        double x = i == j ? 400 : symmetric && j < i ? m->diagonal[p->diagonal[k] + j * size + i] : random_in(s, -1, 1);
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
  check_solve(true, 20, 70, 1);
  check_solve(false, 20, 70, 1);
}

/* A cube of blocks, each joined to its neighbours: enough work to be shared out. */
static void threads_give_the_same_bits(void) {
  enum { SIDE = 7, N = SIDE * SIDE * SIDE };
  static int32_t pairs[6 * N], sizes[N];
  ds_arena arena = {0};
  uint64_t s = 5;
  int32_t count = 0, n = 6 * N;
  for (int32_t i = 0; i < N; i++) {
    sizes[i] = 6;
    int32_t x = i % SIDE, y = i / SIDE % SIDE, z = i / SIDE / SIDE;
    if (x > 0) pairs[2 * count] = i, pairs[2 * count++ + 1] = i - 1;
    if (y > 0) pairs[2 * count] = i, pairs[2 * count++ + 1] = i - SIDE;
    if (z > 0) pairs[2 * count] = i, pairs[2 * count++ + 1] = i - SIDE * SIDE;
  }
  ds_block_pattern *p = ds_block_analyse(&arena, sizes, pairs, count, N);
  double *dense = malloc((size_t)n * (size_t)n * sizeof *dense), *work = malloc((size_t)n * sizeof *work);
  double *x = malloc((size_t)n * sizeof *x), *first = malloc((size_t)n * sizeof *first);
  for (int symmetric = 0; symmetric < 2; symmetric++) {
    ds_block_matrix *alone = ds_block_create(&arena, p);
    uint64_t seed = s;
    fill(alone, dense, pairs, count, symmetric, &seed);
    CHECK(symmetric ? ds_block_cholesky(alone) : ds_block_lu(alone));
    for (int32_t threads = 2; threads <= 5; threads++) {
      ds_pool *pool = ds_pool_create(threads);
      ds_block_matrix *m = ds_block_create(&arena, p);
      CHECK(pool && ds_block_share(&arena, m, pool) && m->pool);
      seed = s;
      fill(m, dense, pairs, count, symmetric, &seed);
      for (int32_t again = 0; again < 3; again++) {
        CHECK(symmetric ? ds_block_cholesky(m) : ds_block_lu(m));
        for (int32_t i = 0; i < n; i++) x[i] = first[i] = i % 7;
        if (symmetric)
          ds_block_cholesky_solve(x, m, work), ds_block_cholesky_solve(first, alone, work);
        else
          ds_block_lu_solve(x, m, work), ds_block_lu_solve(first, alone, work);
        CHECK(memcmp(x, first, (size_t)n * sizeof *x) == 0);
      }
      m->diagonal[p->diagonal[N / 2]] = NAN; /* a failure ends the work of all */
      CHECK(!(symmetric ? ds_block_cholesky(m) : ds_block_lu(m)));
      ds_pool_destroy(pool);
    }
  }
  free(dense), free(work), free(x), free(first);
  ds_arena_free(&arena);
}

static void indefinite_is_refused(void) {
  double a[4] = {1, 2, 2, 1}, nan[1] = {NAN}, infinite[1] = {INFINITY}, zero[1] = {0};
  int32_t pivots[2];
  ds_tile right, left;
  CHECK(!ds_small_cholesky((double[4]){1, 2, 2, 1}, 2));
  CHECK(!ds_small_cholesky((double[1]){NAN}, 1));
  CHECK(!ds_tile_cholesky(a, &right, 2, 2));
  CHECK(!ds_tile_cholesky(nan, &right, 1, 1));
  CHECK(!ds_tile_cholesky(infinite, &right, 1, 1));
  CHECK(!ds_tile_lu(zero, pivots, &right, &left, 1, 1));
  CHECK(!ds_tile_lu(nan, pivots, &right, &left, 1, 1));
}

/* Sign of the determinant by elimination with pivoting. */
static int32_t dense_sign(double *a, int32_t n) {
  int32_t sign = 1;
  for (int32_t k = 0; k < n; k++) {
    int32_t pivot = k;
    for (int32_t i = k + 1; i < n; i++)
      if (fabs(a[i * n + k]) > fabs(a[pivot * n + k])) pivot = i;
    for (int32_t j = 0; j < n && pivot != k; j++) {
      double t = a[k * n + j];
      a[k * n + j] = a[pivot * n + j];
      a[pivot * n + j] = t;
    }
    if ((pivot != k) != (a[k * n + k] < 0)) sign = -sign;
    for (int32_t i = k + 1; i < n; i++)
      for (int32_t j = n - 1; j >= k; j--) a[i * n + j] -= a[i * n + k] / a[k * n + k] * a[k * n + j];
  }
  return sign;
}

static void sign_of_the_determinant(void) {
  enum { N = 6 };
  int32_t seen[3] = {0, 0, 0};
  for (uint64_t seed = 1; seed <= 200; seed++) {
    ds_arena arena = {0};
    uint64_t s = seed;
    int32_t sizes[N], pairs[4 * N], n = 0;
    for (int32_t i = 0; i < N; i++) n += sizes[i] = 1 + random_int(&s, 8);
    for (int32_t i = 0; i < 4 * N; i++) pairs[i] = random_int(&s, N);
    ds_block_pattern *p = ds_block_analyse(&arena, sizes, pairs, 2 * N, N);
    ds_block_matrix *m = ds_block_create(&arena, p);
    double *dense = malloc((size_t)(n * n) * sizeof *dense);
    fill(m, dense, pairs, 2 * N, false, &s);
    for (int32_t b = 0; b < N; b++) /* take the dominance away */
      for (int32_t i = 0; i < sizes[b]; i++) {
        double x = random_in(&s, -1, 1);
        m->diagonal[p->diagonal[p->position[b]] + i * sizes[b] + i] = x;
        dense[(p->first_row[b] + i) * n + p->first_row[b] + i] = x;
      }
    CHECK(ds_block_lu(m));
    int32_t sign = ds_block_lu_sign(m);
    CHECK_NEAR(sign, dense_sign(dense, n), 0);
    seen[1 + sign]++;
    free(dense);
    ds_arena_free(&arena);
  }
  CHECK(seen[0] > 50 && seen[2] > 50);
}

/* (I + G C Gᵀ) x = b with bodies of any size, against the products with G: the paths of rigid bodies, of others, of the
 * world, and of contacts that act in the normal or the tangents alone. */
static void system_of_any_sizes(void) {
  enum { BODIES = 7, RUNS = 12, CONTACTS = 5 * RUNS };
  static const int32_t size[BODIES] = {6, 6, 3, 20, 6, 150, 6};
  for (uint64_t seed = 1; seed <= 20; seed++) {
    ds_arena arena = {0};
    uint64_t s = seed;
    int32_t first[BODIES], body[2 * CONTACTS], jacobian[2 * CONTACTS], dof = 0, values = 0;
    for (int32_t i = 0; i < BODIES; i++) first[i] = dof, dof += size[i];
    for (int32_t k = 0; k < CONTACTS; k++) {
      int32_t a = random_int(&s, BODIES), b = (a + 1 + random_int(&s, BODIES)) % (BODIES + 1) - 1;
      for (int32_t side = 0; side < 2; side++) {
        body[2 * k + side] = k % 5 > 0 ? body[2 * k + side - 2] : side == 0 ? a : a == b ? -1 : b;
        jacobian[2 * k + side] = values;
        values += body[2 * k + side] >= 0 ? 3 * size[body[2 * k + side]] : 0;
      }
    }
    double *g = DS_NEW(&arena, double, values), *zero = DS_NEW0(&arena, double, dof + 3 * CONTACTS);
    double c[9 * CONTACTS] = {0}, mu[CONTACTS] = {0}, y[3 * CONTACTS], r[3 * CONTACTS], x[256], b[256], sum[256];
    for (int32_t i = 0; i < values; i++) g[i] = random_in(&s, -1, 1);
    ds_subproblem p = {.body_count = BODIES, .contact_count = CONTACTS, .dof = dof, .size = size, .first = first};
    p.body = body, p.jacobian = jacobian, p.g = g, p.predicted = zero, p.b = zero, p.mu = mu;
    for (int symmetric = 0; symmetric < 2; symmetric++) {
      for (int32_t k = 0; k < CONTACTS; k++) {
        int32_t mode = random_int(&s, 4);
        double *ck = c + 9 * k;
        memset(ck, 0, 9 * sizeof *ck);
        if (mode & 1) ck[0] = random_in(&s, 0.1, 2);
        if (mode & 2) ck[4] = random_in(&s, 0.1, 2), ck[8] = random_in(&s, 0.1, 2), ck[5] = ck[7] = 0.05;
        if (mode == 3 && !symmetric) ck[3] = 0.3, ck[6] = -0.2;
      }
      ds_system *system = ds_system_create(&arena, &p, NULL, NULL);
      CHECK(system && ds_system_factor(system, c, symmetric));
      for (int32_t i = 0; i < dof; i++) x[i] = b[i] = random_in(&s, -1, 1);
      ds_system_solve(x, system);
      ds_subproblem_apply_transposed(y, &p, x);
      for (int32_t k = 0; k < CONTACTS; k++)
        for (int i = 0; i < 3; i++)
          r[3 * k + i] =
              c[9 * k + 3 * i] * y[3 * k] + c[9 * k + 3 * i + 1] * y[3 * k + 1] + c[9 * k + 3 * i + 2] * y[3 * k + 2];
      memcpy(sum, x, sizeof sum);
      ds_subproblem_add_impulse(sum, &p, r);
      double worst = 0;
      for (int32_t i = 0; i < dof; i++) worst = fmax(worst, fabs(sum[i] - b[i]));
      CHECK_LE(worst, 1e-10);
    }
    ds_arena_free(&arena);
  }
}

/* A tree is eliminated without fill; a grid with far less than its natural order. */
static void order_reduces_fill(void) {
  ds_arena arena = {0};
  enum { SIDE = 30, N = SIDE * SIDE };
  static int32_t pairs[4 * N];
  int32_t count = 0;
  for (int32_t i = 1; i < N; i++) pairs[2 * count] = i, pairs[2 * count++ + 1] = (i - 1) / 3;
  ds_elimination e;
  CHECK(ds_minimum_degree(&arena, &e, pairs, count, N, NULL, 1));
  CHECK_NEAR(e.start[N], N - 1, 0);
  count = 0;
  for (int32_t y = 0; y < SIDE; y++)
    for (int32_t x = 0; x < SIDE; x++) {
      if (x > 0) pairs[2 * count] = y * SIDE + x, pairs[2 * count++ + 1] = y * SIDE + x - 1;
      if (y > 0) pairs[2 * count] = y * SIDE + x, pairs[2 * count++ + 1] = y * SIDE - SIDE + x;
    }
  CHECK(ds_minimum_degree(&arena, &e, pairs, count, N, NULL, 1));
  CHECK_LE(e.start[N], 0.45 * N * SIDE); /* the natural order fills about N * SIDE */
  bool seen[N] = {false};
  for (int32_t k = 0; k < N; k++) {
    CHECK(!seen[e.order[k]]);
    seen[e.order[k]] = true;
  }
  ds_arena_free(&arena);
}

/* A separator's class is higher than those of both sides, and no edge joins the sides; on a cube it saves work. */
static void dissection_separates(void) {
  enum { SIDE = 16, N = SIDE * SIDE * SIDE };
  static int32_t pairs[6 * N], class_of[N];
  ds_arena arena = {0};
  int32_t count = 0;
  for (int32_t i = 0; i < N; i++) {
    int32_t x = i % SIDE, y = i / SIDE % SIDE, z = i / SIDE / SIDE;
    if (x > 0) pairs[2 * count] = i, pairs[2 * count++ + 1] = i - 1;
    if (y > 0) pairs[2 * count] = i, pairs[2 * count++ + 1] = i - SIDE;
    if (z > 0) pairs[2 * count] = i, pairs[2 * count++ + 1] = i - SIDE * SIDE;
  }
  int32_t classes = 0, top = 0;
  CHECK(ds_dissect(&arena, class_of, &classes, pairs, count, N));
  CHECK(classes > 30);
  for (int32_t i = 0; i < N; i++) top += class_of[i] == classes - 1;
  CHECK_LE(top, 1.3 * SIDE * SIDE); /* a plane across is the best there is */
  /* without the top separator the graph falls into parts that have no class in common */
  static int32_t part[N], part_of_class[N];
  for (int32_t i = 0; i < N; i++) part[i] = i, part_of_class[i] = -1;
  for (bool changed = true; changed;) {
    changed = false;
    for (int32_t q = 0; q < count; q++) {
      int32_t a = pairs[2 * q], b = pairs[2 * q + 1];
      if (class_of[a] == classes - 1 || class_of[b] == classes - 1 || part[a] == part[b]) continue;
      part[a] = part[b] = part[a] < part[b] ? part[a] : part[b];
      changed = true;
    }
  }
  int32_t parts = 0;
  for (int32_t i = 0; i < N; i++) {
    if (class_of[i] == classes - 1) continue;
    parts += part[i] == i;
    if (part_of_class[class_of[i]] < 0) part_of_class[class_of[i]] = part[i];
    CHECK_NEAR(part_of_class[class_of[i]], part[i], 0);
  }
  CHECK(parts >= 2);
  ds_elimination plain, best;
  CHECK(ds_minimum_degree(&arena, &plain, pairs, count, N, NULL, 1) && ds_eliminate(&arena, &best, pairs, count, N));
  double work[2] = {0, 0};
  for (int32_t k = 0; k < N; k++) {
    work[0] += pow(plain.start[k + 1] - plain.start[k], 2);
    work[1] += pow(best.start[k + 1] - best.start[k], 2);
  }
  printf("     %g of the work of minimum degree\n", work[1] / work[0]);
  CHECK_LE(work[1], 0.9 * work[0]);
  bool seen[N] = {false};
  for (int32_t k = 0; k < N; k++) {
    CHECK(!seen[best.order[k]]);
    seen[best.order[k]] = true;
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
  RUN_THREADS(threads_give_the_same_bits);
  RUN(indefinite_is_refused);
  RUN(sign_of_the_determinant);
  RUN(system_of_any_sizes);
  RUN(order_reduces_fill);
  RUN(dissection_separates);
  RUN(lorentz_scaling);
  return test_summary();
}
