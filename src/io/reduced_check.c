/* Whether the numbers of a reduced body that was read belong together:
 *
 *   tetrahedra have positive volumes, their sum times the density is the mass
 *   J = tr(E0) I - E0 is diagonal, with the principal moments
 *   C_a[b] = -C_b[a], and no entry is above 1 kg (Cauchy and Schwarz, with the basis orthonormal in the mass)
 *   K is symmetric with a positive diagonal
 *   elastic forces have an energy: their coefficients, each over the number of orders of its factors, are symmetric in
 *   all indices
 *
 * Tolerances are far above rounding and far below the effect of a damaged number. Whether the basis fits the material
 * and the mesh is not checked: that would mean building it again. */
#include "io/reduced_check.h"

#include <math.h>

#include "base/error.h"

#define TOLERANCE 1e-9
#define MASS_TOLERANCE 1e-6 /* a file may be written by others, from a lumped sum */

static ds_status wrong(ds_error *error, const char *what) { return ds_fail(error, DS_ERROR_INPUT, "%s", what); }

/* ---- volume ---- */

static ds_status check_volume(const ds_reduced *b, ds_error *error) {
  double volume = 0;
  for (int32_t t = 0; t < b->tets.tet_count; t++) {
    const int32_t *k = b->tets.tets + 4 * (size_t)t;
    const ds_vec3 *x = b->tets.nodes;
    ds_vec3 e1 = v3_sub(x[k[1]], x[k[0]]), e2 = v3_sub(x[k[2]], x[k[0]]), e3 = v3_sub(x[k[3]], x[k[0]]);
    double six = v3_dot(v3_cross(e1, e2), e3);
    if (!(six > 0)) return ds_fail(error, DS_ERROR_INPUT, "tetrahedron %d is flat or inverted", (int)t);
    volume += six / 6;
  }
  double mass = volume * b->info.density;
  if (fabs(mass - b->mass) <= MASS_TOLERANCE * b->mass) return DS_OK;
  return ds_fail(error, DS_ERROR_INPUT, "its mass is %.9g kg, its volume times its density %.9g kg", b->mass, mass);
}

/* ---- inertia ---- */

static ds_status check_inertia(const ds_reduced *b, ds_error *error) {
  const double *e = b->second0;
  double trace = e[0] + e[1] + e[2], off = fmax(fabs(e[3]), fmax(fabs(e[4]), fabs(e[5])));
  double moments[3] = {b->inertia.x, b->inertia.y, b->inertia.z};
  for (int i = 0; i < 3; i++)
    if (!(e[i] > 0) || !(fabs(trace - e[i] - moments[i]) <= MASS_TOLERANCE * trace) || !(off <= MASS_TOLERANCE * trace))
      return wrong(error, "its inertia and second0 do not belong together");
  for (int32_t i = 0; i < b->r; i++)
    for (int32_t k = 0; k <= i; k++)
      for (int32_t c = 0; c < 3; c++) {
        double x = b->coupling[3 * (i * b->r + k) + c], y = b->coupling[3 * (k * b->r + i) + c];
        if (!(fabs(x + y) <= TOLERANCE) || !(fabs(x) <= 1 + TOLERANCE))
          return wrong(error, "its coupling is not an integral of rho U_a x U_b");
      }
  return DS_OK;
}

/* ---- elasticity ---- */

static ds_status check_stiffness(const ds_reduced *b, ds_error *error) {
  double largest = 0;
  for (int32_t i = 0; i < b->r * b->r; i++) largest = fmax(largest, fabs(b->stiffness[i]));
  for (int32_t i = 0; i < b->r; i++)
    for (int32_t k = 0; k <= i; k++)
      if (!(fabs(b->stiffness[i * b->r + k] - b->stiffness[k * b->r + i]) <= TOLERANCE * largest) ||
          !(b->stiffness[i * b->r + i] > 0))
        return wrong(error, "its stiffness is not symmetric with a positive diagonal");
  for (int32_t i = 0; i < b->info.linear_modes; i++)
    if (!(b->frequency[i] >= 0) || (i > 0 && b->frequency[i] < b->frequency[i - 1]))
      return wrong(error, "its frequencies do not ascend");
  return DS_OK;
}

static int64_t pair_terms(int64_t r) { return r * (r + 1) / 2; }
static int64_t triple_terms(int64_t r) { return r * (r + 1) * (r + 2) / 6; }

/* The index of the term of a <= b, and of a <= b <= c: all terms less those that begin with a or later. */
static int64_t pair_at(int32_t r, int32_t a, int32_t b) { return pair_terms(r) - pair_terms(r - a) + b - a; }
static int64_t triple_at(int32_t r, int32_t a, int32_t b, int32_t c) {
  return triple_terms(r) - triple_terms(r - a) + pair_at(r - a, b - a, c - a);
}

/* T of three or four indices, the first that of the force: symmetric where there is an energy. */
static double tensor3(const ds_reduced *x, int32_t k, int32_t a, int32_t b) {
  return x->quadratic[k * pair_terms(x->r) + pair_at(x->r, a, b)] / (a == b ? 1 : 2);
}

static double tensor4(const ds_reduced *x, int32_t k, int32_t a, int32_t b, int32_t c) {
  double orders = a == b && b == c ? 1 : a == b || b == c ? 3 : 6;
  return x->cubic[k * triple_terms(x->r) + triple_at(x->r, a, b, c)] / orders;
}

/* Against the same with the lowest index first: for k > a that is a, and k takes its place among the others. */
static ds_status check_energy(const ds_reduced *x, ds_error *error) {
  int32_t r = x->r;
  double largest3 = 0, largest4 = 0;
  for (int64_t i = 0; i < r * pair_terms(r); i++) largest3 = fmax(largest3, fabs(x->quadratic[i]));
  for (int64_t i = 0; i < r * triple_terms(r); i++) largest4 = fmax(largest4, fabs(x->cubic[i]));
  bool ok = true;
  for (int32_t k = 0; k < r; k++)
    for (int32_t a = 0; a < k; a++)
      for (int32_t b = a; ok && b < r; b++) {
        int32_t p = k < b ? k : b, q = k < b ? b : k;
        ok = fabs(tensor3(x, k, a, b) - tensor3(x, a, p, q)) <= TOLERANCE * largest3;
        for (int32_t c = b; ok && c < r; c++) {
          int32_t u = k < b ? k : b, v = k < b ? b : k < c ? k : c, w = k < c ? c : k;
          ok = fabs(tensor4(x, k, a, b, c) - tensor4(x, a, u, v, w)) <= TOLERANCE * largest4;
        }
      }
  return ok ? DS_OK : wrong(error, "its elastic forces have no energy");
}

ds_status ds_reduced_check(const ds_reduced *b, ds_error *error) {
  ds_status status = check_volume(b, error);
  if (status == DS_OK) status = check_inertia(b, error);
  if (status == DS_OK) status = check_stiffness(b, error);
  if (status == DS_OK && b->quadratic != NULL) status = check_energy(b, error);
  return status;
}
