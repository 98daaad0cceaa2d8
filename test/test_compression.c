/* Resistance to compression: bodies of St. Venant and Kirchhoff that are turned inside out come back, and the range of
 * reduced bodies is told. That forces and stiffness are those of the elements is in test_stvk. */
#include <string.h>

#include "body/compression.h"
#include "fem_helper.h"
#include "random_pose.h"

static ds_reduced *make(ds_tets *tets, int32_t r, double poisson, bool stvk) {
  ds_error error = {""};
  ds_reduced_def def = ds_default_reduced();
  def.modes = r;
  def.stvk = stvk;
  def.poisson = poisson;
  def.threads = 1;
  ds_reduced *x = ds_reduced_create(tets, &def, &error);
  if (!x) printf("%s\n", error.message);
  CHECK(x != NULL);
  if (!x) abort();
  return x;
}

/* One tetrahedron: six coordinates are all of its deformations. */
static ds_tets one_tet(void) {
  ds_tets t = {.node_count = 4, .tet_count = 1, .nodes = need(4, sizeof *t.nodes), .tets = need(4, sizeof *t.tets)};
  for (int32_t i = 0; i < 4; i++) t.tets[i] = i, t.nodes[i] = v3(i == 1, i == 2, i == 3);
  return t;
}

/* Slides down the energy until it does not get less; what is left of it. */
static double slide(const ds_reduced *x, double *q) {
  double f[DS_REDUCED_MAX], next[DS_REDUCED_MAX] = {0}, energy = ds_reduced_energy(x, q), step = 1e-9;
  for (int k = 0; k < 20000 && step > 1e-18; k++) {
    ds_reduced_force(f, x, q);
    for (int32_t a = 0; a < x->r; a++) next[a] = q[a] - step * f[a];
    double found = ds_reduced_energy(x, next);
    if (found < energy) {
      memcpy(q, next, (size_t)x->r * sizeof *q);
      energy = found;
      step *= 1.5;
    } else {
      step /= 2;
    }
  }
  return energy;
}

/* From anywhere, inside out too, there is no way down that does not end in the undeformed tetrahedron. Without the
 * resistance about half of these stay inverted. */
static void test_nothing_stays_inverted(void) {
  static const double poisson[] = {-0.3, 0, 0.3, 0.45};
  ds_tets t = one_tet();
  for (size_t i = 0; i < sizeof poisson / sizeof *poisson; i++) {
    ds_reduced *x = make(&t, 6, poisson[i], true);
    double worst = 0, scale = x->info.young / 6;
    int32_t inverted = 0;
    for (int k = 0; k < 60; k++) {
      double q[6];
      for (int a = 0; a < 6; a++) q[a] = uniform(-1.5, 1.5) * sqrt(x->mass);
      inverted += ds_reduced_is_inverted(x, q);
      double left = slide(x, q);
      worst = fmax(worst, left);
      CHECK(!ds_reduced_is_inverted(x, q));
    }
    CHECK_LE(10, inverted);
    CHECK_LE(worst, 1e-6 * scale);
    ds_reduced_release(x);
  }
  tets_drop(&t);
}

/* A turn by the angle a, linearized, leaves a²/2 out: of a beam bent so, the largest angle of its ends. */
static void test_extent(void) {
  ds_tets t = tets_box(v3(0.4, 0.02, 0.03), 16, 2, 2);
  ds_reduced *x = make(&t, 6, 0.3, false);
  double q[6] = {0};
  CHECK_NEAR(ds_reduced_extent(x, q, 0).nonlinear, 0, 0);
  for (int k = 0; k < 6; k++) { /* quadratic in q, and by elements */
    ds_fem fem;
    ds_error error;
    q[k] = 0.3 * sqrt(x->mass) * 0.1;
    double want = 0, found = ds_reduced_extent(x, q, 0).nonlinear;
    if (ds_fem_create(&fem, &x->tets, 1, 0.3, 1, &error) != DS_OK) abort();
    for (int64_t e = 0; e < x->tets.tet_count; e++) {
      double u[12];
      int32_t own[4] = {0, 1, 2, 3};
      for (int c = 0; c < 12; c++)
        u[c] = x->node_basis[(3 * (int64_t)x->tets.tets[4 * e + c / 3] + c % 3) * 6 + k] * q[k];
      ds_mat3 g = ds_element_gradient(&fem.elements[e], own, u), m = mat_mul(g, g, true);
      ds_vec3 v = v3(1, 0.7, 0.4);
      for (int i = 0; i < 5000; i++) v = v3_unit(mat3_mul_v3(&m, v)); /* by powers */
      want = fmax(want, v3_dot(v, mat3_mul_v3(&m, v)) / 2);
    }
    CHECK_NEAR(found, want, 1e-6 * want);
    CHECK_NEAR(ds_reduced_extent(x, q, 1.01 * want).nonlinear > 1.01 * want, 0, 0);
    q[k] = 0;
    ds_fem_free(&fem);
  }
  ds_reduced_release(x);
  tets_drop(&t);
}

int main(void) {
  RUN(test_nothing_stays_inverted);
  RUN(test_extent);
  return test_summary();
}
