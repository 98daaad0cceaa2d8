/* The basis of a large-deformation body [Barbič and James 2005, section 5]: from k linear modes and their derivatives
 * the r directions that matter most, by principal components in the mass.
 *
 * Columns of the analysis: lambda_1 / lambda_i phi_i and a lambda_1² / (lambda_i lambda_j) d_ij, low frequencies being
 * where large deformation happens. A derivative is a displacement for two unit amplitudes; the amplitude a makes the
 * weights the same for all sizes and masses of a body: that at which the first mode moves some point by a quarter of
 * the body's extent.
 *
 * Components: columns = Q R with Q orthonormal in the mass, R = W S Zᵀ by one-sided Jacobi, basis = the first r of Q W.
 * It is then turned within its space so that the linear stiffness is diagonal.
 *
 * k is the least number for which there are at least 2 r columns, k (k + 3) / 2 >= 2 r: half of them, the less
 * important ones, are left out. r = 12 takes 6 linear modes, r = 30 takes 10. Where columns depend on each other, as
 * in a mesh of few nodes, and fewer than r are left, there are more linear modes: of r modes r are left. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "la/eigen.h"
#include "reduce/fem.h"

int32_t ds_stvk_linear_modes(int32_t r, int32_t possible) {
  int32_t k = 1;
  while (k * (k + 3) < 4 * r) k++;
  if (k > r) k = r;
  return k < possible ? k : possible;
}

static double extent_of(const ds_tets *t) {
  ds_vec3 low = t->nodes[0], high = low;
  for (int32_t i = 0; i < t->node_count; i++) {
    low = v3_min(low, t->nodes[i]);
    high = v3_max(high, t->nodes[i]);
  }
  return v3_dist(low, high);
}

static double amplitude_of(const ds_fem *fem, const double *phi) {
  double largest = 0;
  for (int32_t i = 0; i < fem->tets->node_count; i++)
    largest = fmax(largest, v3_norm(v3(phi[3 * i], phi[3 * i + 1], phi[3 * i + 2])));
  return extent_of(fem->tets) / (4 * largest);
}

/* x: linear modes, then derivatives, by their weights */
static void weigh(double *x, const ds_fem *fem, const ds_modes *modes) {
  int32_t n = ds_fem_dimension(fem), k = modes->count;
  const double *l = modes->lambda;
  double amplitude = amplitude_of(fem, modes->phi), *d = x + (int64_t)k * n;
  for (int32_t i = 0; i < k; i++)
    for (int32_t a = 0; a < n; a++) x[(int64_t)i * n + a] = l[0] / l[i] * modes->phi[(int64_t)i * n + a];
  for (int32_t i = 0; i < k; i++)
    for (int32_t j = i; j < k; j++, d += n) {
      double weight = amplitude * (l[0] / l[i]) * (l[0] / l[j]);
      for (int32_t a = 0; a < n; a++) d[a] *= weight;
    }
}

/* The first r principal components of `count` columns x, in their place; how many there are, r at most. */
static int32_t components(double *x, double *w, ds_vectors *rigid, int32_t count, int32_t r) {
  int32_t n = ds_fem_dimension(rigid->fem), kept = 0;
  double *b = w, *norm = w + (int64_t)count * count;
  for (int32_t i = 0; i < count; i++) ds_vectors_subtract(x + (int64_t)i * n, NULL, rigid, 1, DS_RIGID);
  ds_vectors_orthonormalize(x, b, rigid, count, 0);
  for (int32_t i = 0; i < count; i++) /* rows of R = rows of bᵀ after transposing in place: columns = Q R */
    for (int32_t j = 0; j < i; j++) {
      double t = b[i * count + j];
      b[i * count + j] = b[j * count + i];
      b[j * count + i] = t;
    }
  ds_orthogonal_rows(b, norm, count, count);
  while (kept < r && kept < count && norm[kept] > 1e-10 * norm[0]) kept++;
  for (int32_t i = 0; i < kept; i++)
    for (int32_t j = 0; j < count; j++) b[i * count + j] /= norm[i];
  ds_vectors_combine(x, b, kept, count, n, rigid->pool);
  return kept;
}

static ds_status finish(double *u, double *k, double *x, double *w, ds_vectors *rigid, int32_t r, ds_error *error) {
  int32_t n = ds_fem_dimension(rigid->fem);
  for (int32_t i = 0; i < r; i++) ds_vectors_subtract(x + (int64_t)i * n, NULL, rigid, 1, DS_RIGID);
  if (ds_vectors_orthonormalize(x, NULL, rigid, r, 0) < r ||
      !ds_vectors_diagonalize(x, k, w, rigid->image, rigid->fem, r, rigid->pool))
    return ds_fail(error, DS_ERROR_INPUT, "no basis of %d vectors was found; is the mesh sound?", r);
  memcpy(u, x, (size_t)r * (size_t)n * sizeof *u);
  for (int32_t i = 0; i < r; i++) ds_vectors_set_sign(u + (int64_t)i * n, n);
  return DS_OK;
}

ds_status ds_stvk_basis(double *u, double *k, int32_t *found, const ds_fem *fem, const ds_modes *modes, int32_t r,
                        ds_pool *pool, const ds_reduce_meter *meter, ds_error *error) {
  int32_t n = ds_fem_dimension(fem), m = modes->count, count = m + m * (m + 1) / 2;
  ds_vectors rigid = {.count = 0};
  double *x = malloc((size_t)count * (size_t)n * sizeof(double));
  double *w = malloc(((size_t)count + 1) * (size_t)count * sizeof(double));
  ds_status status = DS_OK;
  if (!x || !w) status = ds_fail(error, DS_ERROR_MEMORY, "memory ran out for %d columns of a basis", count);
  if (status == DS_OK) status = ds_modal_derivatives(x + (int64_t)m * n, fem, modes, pool, meter, error);
  if (status == DS_OK) status = ds_vectors_create(&rigid, fem, pool, 0, 1, error);
  if (status == DS_OK) {
    weigh(x, fem, modes);
    *found = components(x, w, &rigid, count, r);
    if (*found == r) status = finish(u, k, x, w, &rigid, r, error);
  }
  ds_vectors_free(&rigid);
  free(x);
  free(w);
  return status;
}
