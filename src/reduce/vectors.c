/* Sets of vectors over the mesh, orthonormal in the mass, the six rigid motions always among them.
 *
 * In the principal frame the rigid motions are orthonormal as they stand: e_k / sqrt(m) and (e_k x X) / sqrt(J_k).
 * Orthogonality is made by projecting twice, which is enough [Giraud, Langou, Rozložník and van den Eshof 2005].
 *
 * Threads share out vectors or stretches of vectors; every number is computed by one of them in a fixed order. */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/error.h"
#include "la/eigen.h"
#include "reduce/fem.h"

enum { STRETCH = 512 }; /* numbers of a vector taken at once, for cache */

double ds_vectors_dot(const double *x, const double *y, int32_t n) {
  double s[4] = {0, 0, 0, 0};
  int32_t i = 0;
  for (; i + 4 <= n; i += 4)
    for (int k = 0; k < 4; k++) s[k] += x[i + k] * y[i + k];
  for (; i < n; i++) s[0] += x[i] * y[i];
  return (s[0] + s[1]) + (s[2] + s[3]);
}

void ds_vectors_set_sign(double *x, int32_t n) {
  double largest = 0;
  int32_t i = 0;
  for (int32_t k = 0; k < n; k++) largest = fmax(largest, fabs(x[k]));
  while (i < n && fabs(x[i]) < (1 - 1e-6) * largest) i++; /* equal ones differ by rounding */
  if (i < n && x[i] < 0)
    for (int32_t k = 0; k < n; k++) x[k] = -x[k];
}

double *ds_vectors_at(const ds_vectors *set, int32_t i) { return set->x + (int64_t)i * ds_fem_dimension(set->fem); }

/* Translations and rotations; mass and inertia from the mass matrix itself, so that they are of length one in it. */
static void add_rigid(ds_vectors *set) {
  const ds_fem *fem = set->fem;
  int32_t n = ds_fem_dimension(fem);
  for (int k = 0; k < DS_RIGID; k++) {
    double *x = ds_vectors_at(set, k);
    ds_vec3 e = v3(k % 3 == 0, k % 3 == 1, k % 3 == 2);
    for (int32_t i = 0; i < fem->tets->node_count; i++) {
      ds_vec3 u = k < 3 ? e : v3_cross(e, fem->tets->nodes[i]);
      memcpy(x + 3 * (int64_t)i, (double[3]){u.x, u.y, u.z}, 3 * sizeof(double));
    }
    ds_vectors_subtract(x, NULL, set, 1, k);
    ds_fem_times_mass(set->image, fem, x);
    double norm = sqrt(ds_vectors_dot(x, set->image, n));
    for (int32_t i = 0; i < n; i++) x[i] /= norm;
    set->count = k + 1;
  }
}

ds_status ds_vectors_create(ds_vectors *set, const ds_fem *fem, ds_pool *pool, int32_t capacity, int32_t at_once,
                            ds_error *error) {
  *set = (ds_vectors){.fem = fem, .pool = pool, .capacity = DS_RIGID + capacity, .at_once = at_once};
  size_t n = (size_t)ds_fem_dimension(fem), all = (size_t)set->capacity, some = (size_t)at_once;
  set->x = malloc(n * all * sizeof(double));
  set->image = malloc(n * some * sizeof(double));
  set->weight = malloc(all * some * sizeof(double));
  if (!set->x || !set->image || !set->weight) {
    ds_vectors_free(set);
    return ds_fail(error, DS_ERROR_MEMORY, "memory ran out for %d vectors over %d nodes", capacity,
                   fem->tets->node_count);
  }
  add_rigid(set);
  return DS_OK;
}

void ds_vectors_free(ds_vectors *set) {
  free(set->x);
  free(set->image);
  free(set->weight);
  *set = (ds_vectors){0};
}

typedef struct subtract_job {
  ds_vectors *set;
  double *x;
  int32_t n, count;
} subtract_job;

static void image_of(void *context, int32_t item, int32_t worker) {
  subtract_job *job = context;
  int64_t at = (int64_t)item * ds_fem_dimension(job->set->fem);
  (void)worker;
  ds_fem_times_mass(job->set->image + at, job->set->fem, job->x + at);
}

static void weights_of(void *context, int32_t item, int32_t worker) {
  subtract_job *job = context;
  int32_t n = ds_fem_dimension(job->set->fem);
  (void)worker;
  for (int32_t j = 0; j < job->n; j++)
    job->set->weight[(int64_t)item * job->n + j] =
        ds_vectors_dot(ds_vectors_at(job->set, item), job->set->image + (int64_t)j * n, n);
}

static void subtract_stretch(void *context, int32_t item, int32_t worker) {
  subtract_job *job = context;
  int32_t n = ds_fem_dimension(job->set->fem), first = item * STRETCH, end = n - first < STRETCH ? n : first + STRETCH;
  (void)worker;
  for (int32_t i = 0; i < job->count; i++) {
    const double *v = ds_vectors_at(job->set, i), *weight = job->set->weight + (int64_t)i * job->n;
    for (int32_t j = 0; j < job->n; j++) {
      double *restrict x = job->x + (int64_t)j * n, w = weight[j];
      for (int32_t k = first; k < end; k++) x[k] -= w * v[k];
    }
  }
}

void ds_vectors_subtract(double *x, double *c, ds_vectors *set, int32_t n, int32_t count) {
  subtract_job job = {set, x, n, count};
  int32_t stretches = (ds_fem_dimension(set->fem) + STRETCH - 1) / STRETCH;
  for (int pass = 0; pass < 2; pass++) {
    ds_reduce_share(set->pool, n, image_of, &job);
    ds_reduce_share(set->pool, count, weights_of, &job);
    ds_reduce_share(set->pool, stretches, subtract_stretch, &job);
    for (int64_t i = 0; c && i < (int64_t)count * n; i++) c[i] = (pass == 0 ? 0 : c[i]) + set->weight[i];
  }
}

/* x_j -= N_i (N_iᵀ M x_j), i < j, twice; returns |x_j| in the mass. */
static double subtract_before(double *x, double *b, ds_vectors *set, int32_t j, int32_t n) {
  int32_t size = ds_fem_dimension(set->fem);
  double *xj = x + (int64_t)j * size;
  for (int pass = 0; pass < 2; pass++) {
    ds_fem_times_mass(set->image, set->fem, xj);
    for (int32_t i = 0; i < j; i++) {
      const double *v = x + (int64_t)i * size;
      double w = ds_vectors_dot(v, set->image, size);
      for (int32_t k = 0; k < size; k++) xj[k] -= w * v[k];
      if (b) b[i * n + j] += w;
    }
  }
  ds_fem_times_mass(set->image, set->fem, xj);
  return sqrt(ds_vectors_dot(xj, set->image, size));
}

int32_t ds_vectors_orthonormalize(double *x, double *b, ds_vectors *set, int32_t n, double least) {
  int32_t size = ds_fem_dimension(set->fem), kept = 0;
  if (b) memset(b, 0, (size_t)n * (size_t)n * sizeof *b);
  for (int32_t j = 0; j < n; j++) {
    double *xj = x + (int64_t)j * size;
    ds_fem_times_mass(set->image, set->fem, xj);
    double before = sqrt(ds_vectors_dot(xj, set->image, size)), norm = subtract_before(x, b, set, j, n);
    bool dependent = !(norm > least) || !(norm > 1e-10 * before);
    for (int32_t k = 0; k < size; k++) xj[k] = dependent ? 0 : xj[k] / norm;
    if (dependent) continue;
    if (b) b[j * n + j] = norm;
    kept++;
  }
  return kept;
}

typedef struct combine_job {
  double *x;
  const double *s;
  int32_t kept, count, n;
} combine_job;

static void combine_stretch(void *context, int32_t item, int32_t worker) {
  enum { WIDTH = 16 };
  const combine_job *job = context;
  double sum[DS_VECTORS_MAX][WIDTH];
  int64_t n = job->n, first = (int64_t)item * STRETCH, end = n - first < STRETCH ? n : first + STRETCH;
  (void)worker;
  for (int64_t at = first; at < end; at += WIDTH) {
    int32_t width = end - at < WIDTH ? (int32_t)(end - at) : WIDTH;
    memset(sum, 0, (size_t)job->kept * sizeof *sum);
    for (int32_t i = 0; i < job->kept; i++)
      for (int32_t j = 0; j < job->count; j++) {
        const double *x = job->x + j * n + at, s = job->s[(int64_t)i * job->count + j];
        for (int32_t k = 0; k < width; k++) sum[i][k] += s * x[k];
      }
    for (int32_t i = 0; i < job->kept; i++) memcpy(job->x + i * n + at, sum[i], (size_t)width * sizeof(double));
  }
}

void ds_vectors_combine(double *x, const double *s, int32_t kept, int32_t count, int32_t n, ds_pool *pool) {
  combine_job job = {x, s, kept, count, n};
  DS_CHECK(kept <= count && kept <= DS_VECTORS_MAX);
  ds_reduce_share(pool, (n + STRETCH - 1) / STRETCH, combine_stretch, &job);
}

bool ds_vectors_diagonalize(double *x, double *lambda, double *a, double *work, const ds_fem *fem, int32_t m,
                            ds_pool *pool) {
  int32_t n = ds_fem_dimension(fem);
  for (int32_t i = 0; i < m; i++) {
    ds_fem_times_stiffness(work, fem, x + (int64_t)i * n);
    for (int32_t j = 0; j <= i; j++) a[i * m + j] = a[j * m + i] = ds_vectors_dot(x + (int64_t)j * n, work, n);
  }
  if (!ds_symmetric_eigen(a, lambda, work, m)) return false;
  ds_vectors_combine(x, a, m, m, n, pool);
  return true;
}
