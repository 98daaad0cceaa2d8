/* Modal derivatives [Barbič and James 2005, section 5]: how a mode must bend when another one is large.
 *
 * Static solutions under the forces that hold modes p, K phi p = f, go on to second order in p as
 *
 *   u = sum_i phi_i p_i + 1/2 sum_ij d_ij p_i p_j,    K d_ij = -(H : phi_i) phi_j,
 *
 * with the second derivative H of the elastic forces at rest. With G_u the gradient of u, e_u = (G_u + G_uᵀ) / 2 and
 * C e = lambda tr(e) 1 + 2 mu e, St. Venant-Kirchhoff's forces have at every corner of a tetrahedron
 *
 *   (H : u) v = V (C (G_uᵀ G_v + G_vᵀ G_u) / 2 + G_u C e_v + G_v C e_u) g.
 *
 * K is singular on rigid motions. A free body answers a force with its rigid part by moving, not by bending: that part
 * is taken out of the right side in the metric of the mass, b - M R Rᵀ b, and out of the solution.
 *
 * K x = b is solved with the factor of K + sigma M, x += (K + sigma M)⁻¹ (b - K x): every round gains the factor
 * sigma / (lambda_1 + sigma) on what rounding leaves. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "reduce/fem.h"

/* C e for the symmetric part of a. */
static ds_mat3 stress_of(const ds_fem *fem, const ds_mat3 *a) {
  double trace = fem->lame * (a->m[0] + a->m[4] + a->m[8]);
  ds_mat3 s;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      s.m[3 * i + j] = fem->shear * (a->m[3 * i + j] + a->m[3 * j + i]) + (i == j ? trace : 0);
  return s;
}

/* y += a b, or aᵀ b */
static void add_product(ds_mat3 *y, const ds_mat3 *a, const ds_mat3 *b, bool transposed) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      for (int k = 0; k < 3; k++) y->m[3 * i + j] += a->m[transposed ? 3 * k + i : 3 * i + k] * b->m[3 * k + j];
}

void ds_stvk_second(double *y, const ds_fem *fem, const double *u, const double *v) {
  memset(y, 0, (size_t)ds_fem_dimension(fem) * sizeof *y);
  for (int64_t t = 0; t < fem->tets->tet_count; t++) {
    const int32_t *tet = fem->tets->tets + 4 * t;
    const ds_element *e = &fem->elements[t];
    ds_mat3 gu = ds_element_gradient(e, tet, u), gv = ds_element_gradient(e, tet, v), h = {{0}};
    ds_mat3 su = stress_of(fem, &gu), sv = stress_of(fem, &gv);
    add_product(&h, &gu, &gv, true);
    ds_mat3 s = stress_of(fem, &h); /* of its symmetric part: (G_uᵀ G_v + G_vᵀ G_u) / 2 */
    add_product(&s, &gu, &sv, false);
    add_product(&s, &gv, &su, false);
    for (int a = 0; a < 4; a++) {
      ds_vec3 f = v3_scale(e->volume, ds_element_force(e, &s, a));
      double *at = y + 3 * (int64_t)tet[a];
      at[0] += f.x, at[1] += f.y, at[2] += f.z;
    }
  }
}

typedef struct derivatives {
  double *d;
  const ds_fem *fem;
  const ds_modes *modes;
  ds_vectors *rigid;
  int32_t first; /* of the pairs taken at once */
  int32_t (*pairs)[2];
} derivatives;

static void right_side(void *context, int32_t item, int32_t worker) {
  derivatives *job = context;
  int32_t n = ds_fem_dimension(job->fem), i = job->pairs[job->first + item][0], j = job->pairs[job->first + item][1];
  double *d = job->d + (int64_t)(job->first + item) * n;
  (void)worker;
  ds_stvk_second(d, job->fem, job->modes->phi + (int64_t)i * n, job->modes->phi + (int64_t)j * n);
  for (int32_t k = 0; k < n; k++) d[k] = -d[k];
}

/* b -= M R Rᵀ b; work: a vector */
static void balance(double *b, const ds_vectors *rigid, double *work) {
  int32_t n = ds_fem_dimension(rigid->fem);
  for (int k = 0; k < DS_RIGID; k++) {
    const double *r = ds_vectors_at(rigid, k);
    double s = ds_vectors_dot(r, b, n);
    ds_fem_times_mass(work, rigid->fem, r);
    for (int32_t i = 0; i < n; i++) b[i] -= s * work[i];
  }
}

static double largest_of(const double *x, int64_t n) {
  double largest = 0;
  for (int64_t i = 0; i < n; i++) largest = fmax(largest, fabs(x[i]));
  return largest;
}

/* x := K⁻¹ x for `count` vectors without rigid parts; b and step hold as many. */
static void solve_unshifted(double *x, double *b, double *step, const ds_shifted *shifted, ds_vectors *rigid,
                            int32_t count) {
  enum { ROUNDS = 30 };
  int32_t n = ds_fem_dimension(rigid->fem);
  double last = INFINITY;
  int64_t all = (int64_t)n * count;
  memcpy(b, x, (size_t)all * sizeof *b);
  memset(x, 0, (size_t)all * sizeof *x);
  for (int32_t round = 0; round < ROUNDS; round++) {
    for (int32_t j = 0; j < count; j++) {
      double *s = step + (int64_t)j * n;
      ds_fem_times_stiffness(s, rigid->fem, x + (int64_t)j * n);
      for (int32_t i = 0; i < n; i++) s[i] = b[(int64_t)j * n + i] - s[i];
    }
    ds_shifted_solve(step, shifted, count);
    for (int32_t j = 0; j < count; j++) ds_vectors_subtract(step + (int64_t)j * n, NULL, rigid, 1, DS_RIGID);
    for (int64_t i = 0; i < all; i++) x[i] += step[i];
    double size = largest_of(step, all);
    if (!(size > 1e-14 * largest_of(x, all)) || !(size < last / 4)) return; /* good enough, or rounding */
    last = size;
  }
}

/* Pairs in bunches: the factor is read once a bunch by every thread, and memory stays small. */
static ds_status solve_all(derivatives *job, const ds_shifted *shifted, ds_pool *pool, int32_t count,
                           const ds_reduce_meter *meter, ds_error *error) {
  enum { BUNCH = 16 };
  int32_t n = ds_fem_dimension(job->fem);
  double *work = malloc(2 * (size_t)BUNCH * (size_t)n * sizeof(double));
  if (!work) return ds_fail(error, DS_ERROR_MEMORY, "memory ran out for modal derivatives");
  for (job->first = 0; job->first < count; job->first += BUNCH) {
    int32_t some = count - job->first < BUNCH ? count - job->first : BUNCH;
    double *x = job->d + (int64_t)job->first * n;
    ds_reduce_share(pool, some, right_side, job);
    for (int32_t i = 0; i < some; i++) balance(x + (int64_t)i * n, job->rigid, work);
    solve_unshifted(x, work, work + (int64_t)BUNCH * n, shifted, job->rigid, some);
    ds_reduce_tell(meter, (double)(job->first + some) / count);
  }
  free(work);
  return DS_OK;
}

ds_status ds_modal_derivatives(double *d, const ds_fem *fem, const ds_modes *modes, ds_pool *pool,
                               const ds_reduce_meter *meter, ds_error *error) {
  int32_t k = modes->count, count = 0;
  ds_shifted shifted = {.sigma = 0};
  ds_vectors rigid = {.count = 0};
  int32_t(*pairs)[2] = malloc((size_t)(k * (k + 1) / 2) * sizeof *pairs);
  if (!pairs) return ds_fail(error, DS_ERROR_MEMORY, "memory ran out for modal derivatives");
  for (int32_t i = 0; i < k; i++)
    for (int32_t j = i; j < k; j++) pairs[count][0] = i, pairs[count++][1] = j;
  derivatives job = {.d = d, .fem = fem, .modes = modes, .rigid = &rigid, .pairs = pairs};
  ds_status status = ds_shifted_create(&shifted, fem, 1e-3 * modes->lambda[0], pool, error);
  if (status == DS_OK) status = ds_vectors_create(&rigid, fem, pool, 0, 1, error);
  if (status == DS_OK) status = solve_all(&job, &shifted, pool, count, meter, error);
  ds_vectors_free(&rigid);
  ds_shifted_free(&shifted);
  free(pairs);
  return status;
}
