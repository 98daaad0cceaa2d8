/* The linear systems of the tools against dense ones: I + W C where a problem has W alone, I + G C Gᵀ where it has
 * bodies; solutions, the sign of the determinant, and factors that are kept. */
#include "project/system.h"
#include "project/twofold_system.h"

#include "check.h"
#include "own_error.h"
#include "random_problem.h"

enum { CONTACTS_MAX = 6, N_MAX = 3 * CONTACTS_MAX + 6 * CONTACTS_MAX };

/* Sign of det A by elimination with partial pivoting; a is lost. */
static int sign_of(double *a, int32_t n) {
  int sign = 1;
  for (int32_t k = 0; k < n; k++) {
    int32_t pivot = k;
    for (int32_t i = k + 1; i < n; i++)
      if (fabs(a[i * n + k]) > fabs(a[pivot * n + k])) pivot = i;
    if (a[pivot * n + k] < 0) sign = -sign;
    if (pivot != k) sign = -sign;
    for (int32_t j = 0; j < n; j++) {
      double t = a[k * n + j];
      a[k * n + j] = a[pivot * n + j], a[pivot * n + j] = t;
    }
    for (int32_t i = k + 1; i < n; i++) {
      double f = a[i * n + k] / a[k * n + k];
      for (int32_t j = k; j < n; j++) a[i * n + j] -= f * a[k * n + j];
    }
  }
  return sign;
}

/* C of every contact, of rank 0 to 3; symmetric positive semidefinite, or anything. */
static void random_matrices(double *c, uint64_t *s, int32_t contacts, bool symmetric) {
  for (int32_t k = 0; k < contacts; k++) {
    double l[9] = {0}, r[9] = {0};
    int32_t rank = random_int(s, 4);
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < rank; j++) {
        l[3 * i + j] = random_in(s, -1, 1);
        r[3 * i + j] = symmetric ? l[3 * i + j] : random_in(s, -3, 3);
      }
    for (int i = 0; i < 9; i++) {
      c[9 * k + i] = 0;
      for (int j = 0; j < 3; j++) c[9 * k + i] += l[3 * (i / 3) + j] * r[3 * (i % 3) + j];
    }
  }
}

/* H = 1 + L C R: L (n x m), R (m x n), C block diagonal with m = 3 contacts */
static void dense_system(double *h, const double *l, const double *r, const double *c, int32_t n, int32_t m) {
  for (int32_t i = 0; i < n; i++)
    for (int32_t j = 0; j < n; j++) {
      double sum = i == j;
      for (int32_t a = 0; a < m; a++)
        for (int32_t b = a / 3 * 3; b < a / 3 * 3 + 3; b++)
          sum += l[i * m + a] * c[9 * (a / 3) + 3 * (a % 3) + b % 3] * r[b * n + j];
      h[i * n + j] = sum;
    }
}

/* The same in twice the digits: x + G C Gᵀ x is y to twice the digits, and the sign is the same. */
static void check_twofold(ds_system *system, ds_arena *arena, uint64_t *s, const double *c) {
  static ds_twofold wide[9 * CONTACTS_MAX], x[N_MAX], y[N_MAX], v[N_MAX], slip[3 * CONTACTS_MAX], r[3 * CONTACTS_MAX];
  const ds_subproblem *p = system->problem;
  ds_twofold_system *two = ds_twofold_system_create(arena, system);
  CHECK((two == NULL) == (system->local != NULL)); /* without bodies there is none */
  if (!two) return;
  for (int32_t i = 0; i < 9 * p->contact_count; i++) wide[i] = ds_twofold_sum(c[i], 1e-17 * random_in(s, -1, 1));
  if (!ds_twofold_system_factor(two, wide)) return;
  for (int32_t i = 0; i < p->dof; i++) x[i] = y[i] = ds_twofold_sum(random_in(s, -1, 1), 1e-17 * random_in(s, -1, 1));
  ds_twofold_system_solve(x, two);
  ds_twofold_slip(slip, p, x);
  double size = 0, off = 0;
  for (int32_t i = 0; i < 3 * p->contact_count; i++) {
    r[i] = ds_twofold_of(0);
    for (int j = 0; j < 3; j++) r[i] = ds_twofold_add(r[i], ds_twofold_times(wide[3 * i + j], slip[i / 3 * 3 + j]));
    size = fmax(size, fabs(r[i].hi));
  }
  ds_twofold_push(v, p, r);
  for (int32_t i = 0; i < p->dof; i++) {
    ds_twofold left = ds_twofold_add(ds_twofold_add(v[i], x[i]), ds_twofold_minus(y[i]));
    size = fmax(size, fabs(x[i].hi));
    off = fmax(off, fabs(left.hi));
  }
  CHECK_LE(off, 1e-25 * size);
  CHECK(ds_twofold_system_sign(two) == ds_system_sign(system));
}

static void check_system(const ds_subproblem *p, ds_arena *arena, uint64_t *s, const double *l, const double *r,
                         int32_t n, int counts[2]) {
  static double c[9 * CONTACTS_MAX], h[N_MAX * N_MAX], x[N_MAX], y[N_MAX];
  ds_system *system = ds_system_create(arena, p, NULL, NULL);
  CHECK(system != NULL);
  for (int trial = 0; system && trial < 6; trial++) {
    bool symmetric = trial % 2;
    random_matrices(c, s, p->contact_count, symmetric);
    dense_system(h, l, r, c, n, 3 * p->contact_count);
    if (!ds_system_factor(system, c, symmetric)) continue;
    int32_t factorizations = system->factorizations;
    for (int32_t i = 0; i < n; i++) x[i] = y[i] = random_in(s, -1, 1);
    ds_system_solve(x, system);
    double off = 0, size = 0;
    for (int32_t i = 0; i < n; i++) {
      double sum = -y[i];
      for (int32_t j = 0; j < n; j++) sum += h[i * n + j] * x[j], size = fmax(size, fabs(h[i * n + j] * x[j]));
      off = fmax(off, fabs(sum));
    }
    CHECK_LE(off, 1e-9 * size);
    int sign = sign_of(h, n);
    CHECK(ds_system_sign(system) == sign);
    counts[sign > 0]++;
    check_twofold(system, arena, s, c);
    factorizations = system->factorizations;
    CHECK(ds_system_factor(system, c, symmetric) && system->factorizations == factorizations); /* kept */
    c[0] += 0.1;
    if (ds_system_factor(system, c, symmetric)) CHECK(system->factorizations == factorizations + 1);
  }
}

static void with_bodies(void) {
  static double g[3 * CONTACTS_MAX * N_MAX], gt[3 * CONTACTS_MAX * N_MAX];
  uint64_t s = 71;
  ds_arena arena = {0};
  int counts[2] = {0, 0};
  for (int i = 0; i < 150; i++) {
    ds_arena_reset(&arena);
    int32_t bodies = 1 + random_int(&s, 4), patches = 1 + random_int(&s, 3);
    ds_subproblem p = random_problem(&arena, &s, bodies, patches, 1 + random_int(&s, 2));
    int32_t n = p.dof, m = 3 * p.contact_count;
    memset(g, 0, sizeof g);
    for (int32_t side = 0; side < 2 * p.contact_count; side++)
      for (int32_t a = 0; a < 18 && p.body[side] >= 0; a++)
        g[(6 * p.body[side] + a % 6) * m + 3 * (side / 2) + a / 6] += p.g[p.jacobian[side] + a];
    for (int32_t a = 0; a < n; a++)
      for (int32_t b = 0; b < m; b++) gt[b * n + a] = g[a * m + b];
    check_system(&p, &arena, &s, g, gt, n, counts);
  }
  printf("     %d negative determinants, %d positive\n", counts[0], counts[1]);
  CHECK(counts[0] > 20 && counts[1] > 100);
  ds_arena_free(&arena);
}

/* W of a few contacts, some of which do not see each other; v stands for W r, so that H = 1 + W C. */
static void without_bodies(void) {
  static double w[9 * CONTACTS_MAX * CONTACTS_MAX], one[9 * CONTACTS_MAX * CONTACTS_MAX],
      f[9 * CONTACTS_MAX * CONTACTS_MAX], value[9 * CONTACTS_MAX * CONTACTS_MAX], zero[3 * CONTACTS_MAX],
      mu[CONTACTS_MAX];
  uint64_t s = 72;
  ds_arena arena = {0};
  int counts[2] = {0, 0};
  for (int i = 0; i < 150; i++) {
    int32_t contacts = 1 + random_int(&s, CONTACTS_MAX), n = 3 * contacts, start[CONTACTS_MAX + 1] = {0},
            column[CONTACTS_MAX * CONTACTS_MAX], blocks = 0;
    bool apart = contacts > 2 && i % 2; /* the first and the last */
    ds_arena_reset(&arena);
    for (int32_t k = 0; k < n * n; k++) one[k] = k / n == k % n, f[k] = random_in(&s, -1, 1);
    for (int32_t a = 0; a < 3 && apart; a++) /* rows of the first see half of the columns, of the last the others */
      for (int32_t b = 0; b < n; b++) f[(b < n / 2 ? n - 3 + a : a) * n + b] = 0;
    for (int32_t a = 0; a < n; a++)
      for (int32_t b = 0; b < n; b++) {
        w[a * n + b] = 0;
        for (int32_t k = 0; k < n; k++) w[a * n + b] += f[a * n + k] * f[b * n + k];
      }
    for (int32_t a = 0; a < contacts; a++) {
      for (int32_t b = 0; b < contacts; b++) {
        if (apart && abs(a - b) == contacts - 1) continue;
        for (int k = 0; k < 9; k++) value[9 * blocks + k] = w[(3 * a + k / 3) * n + 3 * b + k % 3];
        column[blocks++] = b;
      }
      start[a + 1] = blocks;
    }
    ds_delassus delassus = {start, column, value};
    ds_subproblem p = {
        .contact_count = contacts, .dof = n, .predicted = zero, .b = zero, .mu = mu, .delassus = &delassus};
    CHECK(ds_subproblem_prepare(&arena, &p));
    check_system(&p, &arena, &s, w, one, n, counts);
  }
  printf("     %d negative determinants, %d positive\n", counts[0], counts[1]);
  CHECK(counts[0] > 20 && counts[1] > 100);
  ds_arena_free(&arena);
}

int main(void) {
  RUN(with_bodies);
  RUN(without_bodies);
  return test_summary();
}
