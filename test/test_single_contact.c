/* The local solver of Gauss-Seidel against Coulomb's law itself, over many scales. */
#include "project/single_contact.h"

#include "check.h"
#include "own_error.h"
#include "random_pose.h"

/* W = scale B Bᵀ, of full rank or of rank 1 or 2. */
static void random_block(double w[9], int rank, double scale) {
  double b[9] = {0};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < rank; j++) b[3 * i + j] = uniform(-1, 1);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      w[3 * i + j] = 0;
      for (int k = 0; k < 3; k++) w[3 * i + j] += scale * b[3 * i + k] * b[3 * j + k];
    }
}

/* By the tests' own measure, as a problem of one contact. */
static double error_of(const double r[3], const double w[9], const double q[3], double mu) {
  double matrix[9], velocity[3];
  memcpy(matrix, w, sizeof matrix);
  memcpy(velocity, q, sizeof velocity);
  own_problem o = {.n = 3, .d = 3, .contacts = 1, .w = matrix, .q = velocity, .mu = &mu, .mu_max = mu};
  o.rho = 3 / (w[0] + w[4] + w[8]);
  return fmax(own_natural_error(&o, r), own_coulomb_error(&o, r) / (1 + mu));
}

static void obeys_coulomb(void) {
  int count[3] = {0};
  double worst = 0;
  for (int trial = 0; trial < 100000; trial++) {
    double w[9], q[3], r[3] = {0}, mu = trial % 7 == 0 ? 0 : pow(10, uniform(-3, 1));
    random_block(w, 3, pow(10, uniform(-8, 8)));
    double scale = pow(10, uniform(-8, 8));
    for (int i = 0; i < 3; i++) q[i] = scale * uniform(-1, 1);
    ds_single_contact k;
    ds_single_contact_prepare(&k, w);
    ds_single_contact_solve(r, &k, q, mu, NULL, 0);
    worst = fmax(worst, error_of(r, w, q, mu));
    double friction = hypot(r[1], r[2]);
    count[r[0] == 0 ? 0 : friction < (1 - 1e-9) * mu * r[0] ? 1 : 2]++;
    CHECK(friction <= mu * r[0] * (1 + 1e-12));
  }
  printf("     worst error %.1e; %d open, %d stick, %d slide\n", worst, count[0], count[1], count[2]);
  CHECK_LE(worst, 1e-9); /* blocks of condition 1e10 are among them */
  for (int i = 0; i < 3; i++) CHECK(count[i] > 1000);
}

/* A normal that moves, with nothing across, or along one line only. */
static void rank_deficient(void) {
  for (int trial = 0; trial < 20000; trial++) {
    double w[9], q[3], r[3] = {0}, mu = pow(10, uniform(-2, 0.5));
    random_block(w, 1 + trial % 2, 1);
    if (!(w[0] > 1e-3)) continue;
    /* in the range of W, so that the contact can be stopped */
    double x[3];
    for (int i = 0; i < 3; i++) x[i] = uniform(-1, 1);
    for (int i = 0; i < 3; i++) q[i] = w[3 * i] * x[0] + w[3 * i + 1] * x[1] + w[3 * i + 2] * x[2];
    ds_single_contact k;
    ds_single_contact_prepare(&k, w);
    ds_single_contact_solve(r, &k, q, mu, NULL, 0);
    CHECK(isfinite(r[0]) && isfinite(r[1]) && isfinite(r[2]));
    CHECK_LE(error_of(r, w, q, mu), 1e-6);
  }
  /* one that cannot move keeps its impulse where it is pressed, and loses it where it parts */
  double none[9] = {0}, down[3] = {-1, 0, 0}, up[3] = {1, 0, 0}, r[3] = {2, 1, 0};
  ds_single_contact k;
  ds_single_contact_prepare(&k, none);
  ds_single_contact_solve(r, &k, down, 1, NULL, 0);
  CHECK(r[0] == 2 && r[1] == 1);
  ds_single_contact_solve(r, &k, up, 1, NULL, 0);
  CHECK(r[0] == 0 && r[1] == 0);
}

/* Coulomb's law with a polygon, by what one contact misses of it: in m/s, of the slip's scale. */
static double polygon_error(const double r[3], const double w[9], const double q[3], double mu, const double *d,
                            int k) {
  double u[3], most = 0, least = 0, size = 0;
  for (int i = 0; i < 3; i++) {
    u[i] = q[i] + w[3 * i] * r[0] + w[3 * i + 1] * r[1] + w[3 * i + 2] * r[2];
    size = fmax(size, fabs(q[i]));
  }
  for (int j = 0; j < k; j++) { /* max over the polygon of -u_T . beta, and by how much r_T is outside */
    double n[2] = {d[2 * j] + d[2 * ((j + 1) % k)], d[2 * j + 1] + d[2 * ((j + 1) % k) + 1]};
    double out = (n[0] * r[1] + n[1] * r[2] - 0.5 * (n[0] * n[0] + n[1] * n[1]) * mu * r[0]) / hypot(n[0], n[1]);
    most = fmax(most, -(u[1] * d[2 * j] + u[2] * d[2 * j + 1]));
    least = fmax(least, out * (w[0] + w[4] + w[8]) / size);
  }
  double force = fmax(r[0], 1e-300);
  double idle = fabs(u[1] * r[1] + u[2] * r[2] + mu * r[0] * most) / (mu * force); /* not the most dissipated */
  return fmax(fmax(least, -u[0] / size), fmax(r[0] > 0 ? fabs(u[0]) / size : 0, r[0] > 0 ? idle / size : 0));
}

static void obeys_polygons(void) {
  static const int corners[] = {3, 4, 5, 8, 64};
  double worst = 0;
  int count[3] = {0};
  for (int trial = 0; trial < 20000; trial++) {
    int samples = corners[trial % 5];
    double w[9], q[3], r[3] = {0}, d[128], mu = pow(10, uniform(-2, 1));
    for (int j = 0; j < samples; j++)
      d[2 * j] = cos(2 * DS_PI * j / samples), d[2 * j + 1] = sin(2 * DS_PI * j / samples);
    random_block(w, 3, 1);
    for (int i = 0; i < 3; i++) w[4 * i] += 0.01; /* of condition 1e3 at most */
    for (int i = 0; i < 3; i++) q[i] = uniform(-1, 1);
    ds_single_contact k;
    ds_single_contact_prepare(&k, w);
    ds_single_contact_solve(r, &k, q, mu, d, samples);
    worst = fmax(worst, polygon_error(r, w, q, mu, d, samples));
    count[r[0] == 0 ? 0 : hypot(r[1], r[2]) < 0.49 * mu * r[0] ? 1 : 2]++;
  }
  printf("     worst error %.1e; %d open, %d inside, %d near the edge\n", worst, count[0], count[1], count[2]);
  CHECK_LE(worst, 1e-9);
  for (int i = 0; i < 3; i++) CHECK(count[i] > 1000);
}

int main(void) {
  RUN(obeys_coulomb);
  RUN(rank_deficient);
  RUN(obeys_polygons);
  return test_summary();
}
