/* Free-free modes: against dense algebra, against theory of beams and plates, and what every set of modes must be. */
#include <string.h>

#include "fem_helper.h"
#include "la/eigen.h"
#include "la/small.h"

static ds_fem make_fem(const ds_tets *tets, double young, double poisson, double density) {
  ds_fem fem;
  ds_error error = {""};
  if (ds_fem_create(&fem, tets, young, poisson, density, &error) != DS_OK) abort();
  return fem;
}

static ds_modes find(const ds_fem *fem, int32_t count, int32_t threads) {
  ds_modes modes;
  ds_error error = {""};
  ds_pool *pool = ds_pool_create(threads);
  if (!pool) abort();
  if (ds_modes_find(&modes, fem, count, pool, NULL, &error) != DS_OK) {
    printf("%s\n", error.message);
    abort();
  }
  ds_pool_destroy(pool);
  return modes;
}

/* Orthonormal in the mass, K diagonal, no rigid part, small residual, ascending. */
static void check_modes(const ds_modes *modes, const ds_fem *fem) {
  int32_t n = ds_fem_dimension(fem), m = modes->count;
  double *mass = need((size_t)n, sizeof *mass), *k = need((size_t)n, sizeof *k);
  double orthonormal = 0, diagonal = 0, rigid = 0;
  ds_vectors set;
  ds_error error;
  if (ds_vectors_create(&set, fem, NULL, 0, 1, &error) != DS_OK) abort();
  for (int32_t i = 0; i < m; i++) {
    ds_fem_times_mass(mass, fem, modes->phi + (int64_t)i * n);
    ds_fem_times_stiffness(k, fem, modes->phi + (int64_t)i * n);
    for (int32_t j = 0; j < m; j++) {
      const double *phi = modes->phi + (int64_t)j * n;
      orthonormal = fmax(orthonormal, fabs(ds_vectors_dot(phi, mass, n) - (i == j)));
      diagonal = fmax(diagonal, fabs(ds_vectors_dot(phi, k, n) - (i == j ? modes->lambda[i] : 0)));
    }
    for (int32_t j = 0; j < DS_RIGID; j++) rigid = fmax(rigid, fabs(ds_vectors_dot(ds_vectors_at(&set, j), mass, n)));
    if (i > 0) CHECK(modes->lambda[i] >= modes->lambda[i - 1]);
  }
  CHECK(modes->lambda[0] > 0);
  CHECK_LE(orthonormal, 1e-11);
  CHECK_LE(diagonal, 1e-10 * modes->lambda[m - 1]);
  CHECK_LE(rigid, 1e-11);
  CHECK_LE(modes->residual, 1e-6);
  ds_vectors_free(&set);
  free(mass), free(k);
}

/* All eigenvalues of K x = lambda M x by dense algebra: M = L Lᵀ, L⁻¹ K L⁻ᵀ. */
static double *dense_lambda(const ds_fem *fem) {
  int32_t n = ds_fem_dimension(fem);
  double *m = need((size_t)n * (size_t)n, sizeof *m), *a = need((size_t)n * (size_t)n, sizeof *a);
  double *lambda = need((size_t)n, sizeof *lambda), *unit = need((size_t)n, sizeof *unit);
  for (int32_t i = 0; i < n; i++) { /* rows of symmetric matrices */
    unit[i] = 1;
    ds_fem_times_mass(m + (int64_t)i * n, fem, unit);
    ds_fem_times_stiffness(a + (int64_t)i * n, fem, unit);
    unit[i] = 0;
  }
  if (!ds_small_cholesky(m, n)) abort();
  for (int side = 0; side < 2; side++) {
    for (int32_t i = 0; i < n; i++) ds_small_solve_l(a + (int64_t)i * n, m, n);
    for (int32_t i = 0; i < n; i++)
      for (int32_t j = 0; j < i; j++) {
        double t = a[(int64_t)i * n + j];
        a[(int64_t)i * n + j] = a[(int64_t)j * n + i];
        a[(int64_t)j * n + i] = t;
      }
  }
  CHECK(ds_symmetric_eigen(a, lambda, unit, n));
  free(m), free(a), free(unit);
  return lambda;
}

static void check_against_dense(ds_tets tets, int32_t count) {
  ds_fem fem = make_fem(&tets, 1e6, 0.3, 1000);
  ds_modes modes = find(&fem, count, 1);
  double *lambda = dense_lambda(&fem), worst = 0;
  check_modes(&modes, &fem);
  for (int32_t i = 0; i < DS_RIGID; i++) CHECK_LE(fabs(lambda[i]), 1e-9 * lambda[DS_RIGID]);
  for (int32_t i = 0; i < count; i++) worst = fmax(worst, fabs(modes.lambda[i] / lambda[DS_RIGID + i] - 1));
  CHECK_LE(worst, 1e-9);
  free(lambda);
  ds_modes_free(&modes);
  ds_fem_free(&fem);
  tets_drop(&tets);
}

/* A cube cut into cubes of five tetrahedra, each the mirror image of its neighbours: it has the symmetry of a
 * tetrahedron, and its modes come in twos and threes. */
static ds_tets symmetric_cube(int32_t n) {
  static const int corner[2][5][4] = {{{0, 1, 2, 4}, {3, 2, 1, 7}, {5, 1, 4, 7}, {6, 4, 2, 7}, {1, 2, 4, 7}},
                                      {{1, 3, 0, 5}, {2, 0, 3, 6}, {4, 0, 5, 6}, {7, 3, 6, 5}, {0, 3, 5, 6}}};
  ds_tets box = tets_box(v3(1, 1, 1), n, n, n), t = {.nodes = box.nodes, .node_count = box.node_count};
  t.tet_count = 5 * n * n * n;
  t.tets = need(4 * (size_t)t.tet_count, sizeof *t.tets);
  int32_t step[3] = {1, n + 1, (n + 1) * (n + 1)}, *out = t.tets;
  for (int32_t i = 0; i < n * n * n; i++) {
    int32_t x = i % n, y = i / n % n, z = i / n / n, at = x + y * step[1] + z * step[2];
    for (int k = 0; k < 5; k++, out += 4) {
      for (int a = 0; a < 4; a++) {
        int c = corner[(x + y + z) % 2][k][a];
        out[a] = at + (c & 1) * step[0] + (c >> 1 & 1) * step[1] + (c >> 2) * step[2];
      }
      if (ds_element_of(t.nodes, out).volume > 0) continue;
      int32_t swap = out[0];
      out[0] = out[1];
      out[1] = swap;
    }
  }
  free(box.tets);
  return t;
}

static void dense(void) {
  ds_tets one = tets_box(v3(1, 0.8, 0.6), 1, 1, 1);
  one.tet_count = 1; /* a single tetrahedron of a cube: its four nodes first */
  for (int a = 0; a < 4; a++)
    one.nodes[a] = (ds_vec3[]){{0, 0, 0}, {1, 0.1, 0}, {0, 0.8, 0}, {0.1, 0, 0.7}}[a], one.tets[a] = a;
  ds_vec3 middle = {0.275, 0.225, 0.175};
  for (int a = 0; a < 4; a++) one.nodes[a] = v3_sub(one.nodes[a], middle);
  one.node_count = 4;
  check_against_dense(one, 6); /* all there are */
  check_against_dense(tets_box(v3(1, 0.8, 0.6), 1, 1, 1), 18);
  check_against_dense(tets_box(v3(1, 0.8, 0.6), 2, 2, 2), 40);
  check_against_dense(tets_box(v3(1, 0.8, 0.6), 5, 3, 2), 12);
  check_against_dense(symmetric_cube(2), 20);
  if (quick()) return;
  check_against_dense(symmetric_cube(4), 30);
  check_against_dense(tets_box(v3(4, 0.3, 0.3), 16, 2, 2), 24);
}

/* Modes of a symmetric cube: every eigenvalue but a few is double or triple. */
static void multiple(void) {
  ds_tets tets = symmetric_cube(quick() ? 4 : 8);
  ds_fem fem = make_fem(&tets, 1e6, 0.3, 1000);
  ds_modes modes = find(&fem, 40, 2);
  int32_t equal = 0;
  check_modes(&modes, &fem);
  for (int32_t i = 1; i < modes.count; i++) equal += modes.lambda[i] < (1 + 1e-9) * modes.lambda[i - 1];
  CHECK(equal >= 20 && equal <= 27);
  ds_modes_free(&modes);
  ds_fem_free(&fem);
  tets_drop(&tets);
}

/* ---- beams ---- */

/* Timoshenko's free-free beam of length 1 with a square section of side t, nu = 0: along it w' = psi + V / (kappa G A),
 * psi' = M / (E I), M' = -V - rho I w² psi, V' = -rho A w² w. Of the two solutions that start at a free end, M = V = 0,
 * the determinant of (M, V) at the other end vanishes at an eigenfrequency. */
static double free_end(double omega2, double t, double young, double density) {
  enum { STEPS = 800 };
  double inertia = t * t * t * t / 12, area = t * t, h = 1.0 / STEPS, end[2][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}};
  double shear = 5.0 / 6 * young / 2 * area;
  for (int s = 0; s < 2; s++)
    for (int i = 0; i < STEPS; i++) { /* Runge-Kutta of fourth order */
      double *y = end[s], k[4][4], x[4];
      for (int stage = 0; stage < 4; stage++) {
        double c = stage == 0 ? 0 : stage == 3 ? h : h / 2;
        for (int a = 0; a < 4; a++) x[a] = y[a] + (stage == 0 ? 0 : c * k[stage - 1][a]);
        k[stage][0] = x[1] + x[3] / shear;
        k[stage][1] = x[2] / (young * inertia);
        k[stage][2] = -x[3] - density * inertia * omega2 * x[1];
        k[stage][3] = -density * area * omega2 * x[0];
      }
      for (int a = 0; a < 4; a++) y[a] += h / 6 * (k[0][a] + 2 * k[1][a] + 2 * k[2][a] + k[3][a]);
    }
  return end[0][2] * end[1][3] - end[0][3] * end[1][2];
}

/* The first bending frequency, Hz; Euler and Bernoulli's is 4.7300² / (2 pi) sqrt(E I / (rho A)) / L². */
static double timoshenko(double t, double young, double density) {
  double bernoulli = 4.730041 * 4.730041 / (2 * DS_PI) * sqrt(young * t * t / 12 / density);
  double low = 0.5 * bernoulli, high = 1.05 * bernoulli, at_low = free_end(pow(2 * DS_PI * low, 2), t, young, density);
  for (int i = 0; i < 50; i++) {
    double middle = (low + high) / 2;
    if (free_end(pow(2 * DS_PI * middle, 2), t, young, density) * at_low > 0)
      low = middle;
    else
      high = middle;
  }
  return low;
}

static void beam_theory(void) { /* a thin beam is Euler and Bernoulli's */
  double thin = timoshenko(0.01, 1e6, 1000), bernoulli = 22.373285 / (2 * DS_PI) * sqrt(1e6 * 1e-4 / 12 / 1000);
  CHECK_NEAR(thin / bernoulli, 1, 1e-3);
  CHECK(thin < bernoulli);
  CHECK_NEAR(timoshenko(0.1, 1e6, 1000) / bernoulli / 10, 0.97, 0.01);
}

/* Frequency of the first mode whose motion is mostly along an axis, Hz. */
static double first_along(const ds_modes *modes, const ds_fem *fem, int axis) {
  int32_t n = ds_fem_dimension(fem);
  for (int32_t i = 0; i < modes->count; i++) {
    double sum[3] = {0};
    for (int32_t k = 0; k < n; k++) sum[k % 3] += pow(modes->phi[(int64_t)i * n + k], 2);
    if (sum[axis] > 0.8 * (sum[0] + sum[1] + sum[2])) return sqrt(modes->lambda[i]) / (2 * DS_PI);
  }
  return NAN;
}

/* A beam of length 1 and thickness 0.1 with n cells across, cubes in the plane of bending, one across its width:
 * bending within 2 % of Timoshenko's at n = 12 (120 x 12 x 1 cubes, 8,640 tetrahedra: 0.9 %), from above, the excess
 * falling by four where the cells are halved; stretching at sqrt(E / rho) / 2. */
static void beam(void) {
  double t = 0.1, young = 1e6, density = 1000, want = timoshenko(t, young, density), excess[3];
  int32_t cells[3] = {3, 6, 12}, last = quick() ? 2 : 3;
  for (int32_t i = 0; i < last; i++) {
    int32_t n = cells[i];
    ds_tets tets = tets_box(v3(1, t, t), 10 * n, n, 1);
    ds_fem fem = make_fem(&tets, young, 0, density);
    ds_modes modes = find(&fem, 9, 2);
    double bending = first_along(&modes, &fem, 1), stretching = first_along(&modes, &fem, 0);
    excess[i] = pow(bending / want, 2) - 1; /* of the stiffness */
    printf("  beam, %d cells across, %d tetrahedra: bending %.4f Hz (%.4f), stretching %.4f (%.4f)\n", n,
           tets.tet_count, bending, want, stretching, sqrt(young / density) / 2);
    check_modes(&modes, &fem);
    CHECK(bending > want);
    CHECK_NEAR(stretching, sqrt(young / density) / 2, 0.002 * stretching);
    if (i > 0) CHECK_NEAR(excess[i - 1] / excess[i], 4, 0.4);
    if (n == 12) CHECK_NEAR(bending, want, 0.02 * want);
    ds_modes_free(&modes);
    ds_fem_free(&fem);
    tets_drop(&tets);
  }
  CHECK_LE(fabs(excess[last - 1] - (excess[last - 2] - excess[last - 1]) / 3), 0.01);
}

/* ---- plates ---- */

/* Legendre's P_n and its derivative. */
static double legendre(double *slope, int n, double x) {
  double p = 1, q = 0, dp = 0, dq = 0; /* P_k, P_{k-1} and their slopes */
  for (int k = 0; k < n; k++) {
    double next = ((2 * k + 1) * x * p - k * q) / (k + 1), next_slope = dq + (2 * k + 1) * p;
    q = p, dq = dp;
    p = next, dp = next_slope;
  }
  *slope = dp;
  return p;
}

/* The first mode of a free square Mindlin plate of side 1 by Ritz's method, as omega sqrt(rho h / D): it twists, w odd
 * in x and y. w, psi_x, psi_y in products of Legendre polynomials;
 *
 *   2 U = ∫ D (a² + b² + 2 nu a b + (1 - nu)/2 c²) + kappa G h ((w_x - psi_x)² + (w_y - psi_y)²),  2 T = rho ∫ h w² +
 * h³/12 psi²
 *
 * with a = psi_x,x, b = psi_y,y, c = psi_x,y + psi_y,x. */
static double mindlin_plate(double h, double nu) {
  enum { N = 4, SIZE = 3 * N * N, POINTS = 12 };
  double k[SIZE * SIZE] = {0}, m[SIZE * SIZE] = {0}, lambda[SIZE], work[SIZE];
  double node[POINTS], weight[POINTS], shear = 5.0 / 6 * 6 * (1 - nu) / (h * h); /* kappa G h / D */
  for (int i = 0; i < POINTS; i++) {                                             /* Gauss's rule by Newton */
    double x = cos(DS_PI * (i + 0.75) / (POINTS + 0.5)), slope;
    for (int j = 0; j < 20; j++) {
      double p = legendre(&slope, POINTS, x);
      x -= p / slope;
    }
    legendre(&slope, POINTS, x);
    node[i] = x / 2;
    weight[i] = 1 / ((1 - x * x) * slope * slope);
  }
  for (int p = 0; p < POINTS * POINTS; p++) {
    double x = node[p / POINTS], y = node[p % POINTS], area = weight[p / POINTS] * weight[p % POINTS];
    double row[8][SIZE] = {{0}}; /* a, b, c, w_x - psi_x, w_y - psi_y, w, psi_x, psi_y */
    for (int i = 0; i < N * N; i++) {
      double dx[2], dy[2], fx[2], fy[2]; /* even and odd */
      for (int odd = 0; odd < 2; odd++) {
        fx[odd] = legendre(&dx[odd], 2 * (i / N) + odd, 2 * x), dx[odd] *= 2;
        fy[odd] = legendre(&dy[odd], 2 * (i % N) + odd, 2 * y), dy[odd] *= 2;
      }
      int w = i, u = N * N + i, v = 2 * N * N + i;
      row[5][w] = fx[1] * fy[1], row[3][w] = dx[1] * fy[1], row[4][w] = fx[1] * dy[1];
      row[6][u] = fx[0] * fy[1], row[3][u] = -row[6][u], row[0][u] = dx[0] * fy[1], row[2][u] = fx[0] * dy[1];
      row[7][v] = fx[1] * fy[0], row[4][v] = -row[7][v], row[1][v] = fx[1] * dy[0], row[2][v] = dx[1] * fy[0];
    }
    for (int i = 0; i < SIZE; i++)
      for (int j = 0; j < SIZE; j++) {
        k[i * SIZE + j] +=
            area *
            (row[0][i] * row[0][j] + row[1][i] * row[1][j] + nu * (row[0][i] * row[1][j] + row[1][i] * row[0][j]) +
             (1 - nu) / 2 * row[2][i] * row[2][j] + shear * (row[3][i] * row[3][j] + row[4][i] * row[4][j]));
        m[i * SIZE + j] +=
            area * (row[5][i] * row[5][j] + h * h / 12 * (row[6][i] * row[6][j] + row[7][i] * row[7][j]));
      }
  }
  if (!ds_small_cholesky(m, SIZE)) abort();
  for (int side = 0; side < 2; side++) {
    for (int i = 0; i < SIZE; i++) ds_small_solve_l(k + i * SIZE, m, SIZE);
    for (int i = 0; i < SIZE; i++)
      for (int j = 0; j < i; j++) {
        double t = k[i * SIZE + j];
        k[i * SIZE + j] = k[j * SIZE + i];
        k[j * SIZE + i] = t;
      }
  }
  if (!ds_symmetric_eigen(k, lambda, work, SIZE)) abort();
  return sqrt(lambda[0]);
}

static void plate_theory(void) { CHECK_NEAR(mindlin_plate(0.01, 0.3), 13.468, 0.05); /* [Leissa 1973]: thin */ }

/* A completely free square plate, side 1, thickness 0.1, nu = 0.3, n cells across and cubes along it. From above, with
 * an excess that falls by four where the cells are halved: extrapolated from n = 2 and 4 (38,400 tetrahedra) within
 * 2 % of Mindlin's, which is 13.47 for a thin plate. */
static void plate(void) {
  double h = 0.1, nu = 0.3, young = 1e6, density = 1000, want = mindlin_plate(h, nu), found[2];
  for (int i = 0; i < 2; i++) {
    int32_t n = (quick() ? 1 : 2) << i;
    ds_tets tets = tets_box(v3(1, 1, h), 10 * n, 10 * n, n);
    ds_fem fem = make_fem(&tets, young, nu, density);
    ds_modes modes = find(&fem, 3, 2);
    double rigidity = young * h * h * h / (12 * (1 - nu * nu));
    found[i] = sqrt(modes.lambda[0] * density * h / rigidity);
    printf("  plate, %d cells across, %d tetrahedra: %.3f (Mindlin %.3f, thin 13.468)\n", n, tets.tet_count, found[i],
           want);
    check_modes(&modes, &fem);
    CHECK(found[i] > want && found[i] < found[0] + 1e-9);
    ds_modes_free(&modes);
    ds_fem_free(&fem);
    tets_drop(&tets);
  }
  double limit = sqrt((4 * found[1] * found[1] - found[0] * found[0]) / 3);
  printf("  plate, extrapolated: %.3f\n", limit);
  CHECK_NEAR(limit, want, (quick() ? 0.05 : 0.02) * want);
}

/* ---- threads ---- */

static void threads(void) {
  ds_tets tets = tets_box(v3(1, 0.7, 0.5), 8, 6, 5);
  ds_fem fem = make_fem(&tets, 1e6, 0.3, 1000);
  ds_modes one = find(&fem, 20, 1);
  for (int32_t count = 2; count <= 5; count += 3) {
    ds_modes many = find(&fem, 20, count);
    CHECK(memcmp(one.lambda, many.lambda, 20 * sizeof(double)) == 0);
    CHECK(memcmp(one.phi, many.phi, 20 * (size_t)ds_fem_dimension(&fem) * sizeof(double)) == 0);
    ds_modes_free(&many);
  }
  ds_modes_free(&one);
  ds_fem_free(&fem);
  tets_drop(&tets);
}

int main(void) {
  RUN(dense);
  RUN(multiple);
  RUN(beam_theory);
  RUN(beam);
  RUN(plate_theory);
  RUN(plate);
  RUN_THREADS(threads);
  return test_summary();
}
