/* Free-free modes K phi = lambda M phi, the lowest that are no rigid motion, by block Lanczos with a shift.
 *
 * With A = (K + sigma M)⁻¹ M, self-adjoint in the mass, A phi = theta phi, theta = 1 / (lambda + sigma): the lowest
 * lambda are the outermost eigenvalues, which Lanczos finds first [Ericsson and Ruhe 1980]. A block of p vectors finds
 * eigenvalues that coincide up to p times [Grimes, Lewis and Simon 1994]; the symmetry of a body makes up to three
 * coincide, that of an icosahedron five, and p is six. All vectors are kept orthonormal in the mass, to each other and
 * to the six rigid motions, which are known: these never come back.
 *
 *   A V = V T + N b Eᵀ,   N: the next block, b: p x p, E: the last block of V.
 *
 * Pairs (s, theta) of T give phi = V s with the error |b s_E| in A phi = theta phi. Where V is full it shrinks to the
 * best of these phi, T to their theta, and goes on with the same N [Wu and Simon 2000].
 *
 * At the end one more A takes rounding out of the high frequencies, and K is made diagonal on what was found. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "la/eigen.h"
#include "reduce/fem.h"

enum { BLOCK = 6, ROUNDS_MAX = 1000 };
static const double tolerance = 1e-9; /* of theta; the error of lambda is its square */

typedef struct lanczos {
  const ds_fem *fem;
  ds_shifted shifted;
  ds_vectors set;
  int32_t n, wanted, room; /* vectors in V at most */
  int32_t width;           /* of the blocks */
  double *t;               /* room x room */
  double *c, *b;           /* of the last block */
  double *s, *theta, *work;
  uint64_t seed;
} lanczos;

static int32_t size_of_v(const lanczos *l) { return l->set.count - DS_RIGID; }

/* Numbers in -1 .. 1, the same every time [SplitMix64: Steele, Lea and Flood 2014]. */
static double random_number(uint64_t *seed) {
  uint64_t z = *seed += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return (double)(z >> 11) * 0x1p-52 - 1;
}

/* Replaces the zero vectors of a block by random ones that are orthogonal to everything before and beside them. */
static void fill_up(lanczos *l, double *x) {
  for (int32_t j = 0; j < l->width; j++) {
    double *xj = x + (int64_t)j * l->n;
    bool zero = true;
    for (int32_t k = 0; zero && k < l->n; k++) zero = xj[k] == 0;
    if (!zero) continue;
    for (int32_t k = 0; k < l->n; k++) xj[k] = random_number(&l->seed);
    ds_vectors_subtract(xj, NULL, &l->set, 1, l->set.count);
    ds_vectors_orthonormalize(x, NULL, &l->set, l->width, 0);
  }
}

static double *next_block(const lanczos *l) { return ds_vectors_at(&l->set, l->set.count); }

static void times_mass(double *y, const lanczos *l, const double *x, int32_t count) {
  for (int32_t j = 0; j < count; j++) ds_fem_times_mass(y + (int64_t)j * l->n, l->fem, x + (int64_t)j * l->n);
}

/* The block N joins V; the next one is what A N has beyond V. */
static void extend(lanczos *l) {
  int32_t p = l->width, old = size_of_v(l);
  double *block = next_block(l), *next = block + (int64_t)p * l->n;
  l->set.count += p;
  times_mass(next, l, block, p);
  ds_shifted_solve(next, &l->shifted, p);
  ds_vectors_subtract(next, l->c, &l->set, p, l->set.count);
  for (int32_t i = 0; i < old + p; i++)
    for (int32_t j = 0; j < p; j++) {
      double x = l->c[(DS_RIGID + i) * p + j];
      if (i >= old) x = 0.5 * (x + l->c[(DS_RIGID + old + j) * p + i - old]);
      l->t[(int64_t)i * l->room + old + j] = l->t[(int64_t)(old + j) * l->room + i] = x;
    }
  ds_vectors_orthonormalize(next, l->b, &l->set, p, 1e-13 * l->t[0]);
  fill_up(l, next);
}

/* Pairs of T, largest theta last; how many of the wanted ones, from the largest on, are good enough. */
static int32_t find_pairs(lanczos *l) {
  int32_t m = size_of_v(l), p = l->width, good = 0;
  for (int32_t i = 0; i < m; i++)
    memcpy(l->s + (int64_t)i * m, l->t + (int64_t)i * l->room, (size_t)m * sizeof(double));
  if (!ds_symmetric_eigen(l->s, l->theta, l->work, m)) return -1;
  for (; good < l->wanted && good < m; good++) {
    const double *end = l->s + (int64_t)(m - good) * m - p; /* the last entries of row m - 1 - good */
    double error2 = 0;
    for (int32_t i = 0; i < p; i++) {
      double e = 0;
      for (int32_t j = i; j < p; j++) e += l->b[i * p + j] * end[j];
      error2 += e * e;
    }
    if (!(sqrt(error2) <= tolerance * l->theta[m - 1 - good])) break;
  }
  return good;
}

/* V := the `kept` best phi, best first. */
static void shrink(lanczos *l, int32_t kept) {
  int32_t m = size_of_v(l);
  for (int32_t i = 0; 2 * i < m - 1; i++) { /* best first */
    double t = l->theta[i], *a = l->s + (int64_t)i * m, *b = l->s + (int64_t)(m - 1 - i) * m;
    l->theta[i] = l->theta[m - 1 - i];
    l->theta[m - 1 - i] = t;
    for (int32_t k = 0; k < m; k++) t = a[k], a[k] = b[k], b[k] = t;
  }
  const double *block = next_block(l);
  ds_vectors_combine(ds_vectors_at(&l->set, DS_RIGID), l->s, kept, m, l->n, l->set.pool);
  l->set.count = DS_RIGID + kept;
  memmove(next_block(l), block, (size_t)l->width * (size_t)l->n * sizeof(double));
  memset(l->t, 0, (size_t)l->room * (size_t)l->room * sizeof(double));
  for (int32_t i = 0; i < kept; i++) l->t[(int64_t)i * l->room + i] = l->theta[i];
}

static ds_status iterate(lanczos *l, const ds_reduce_meter *meter, ds_error *error) {
  memset(next_block(l), 0, (size_t)l->width * (size_t)l->n * sizeof(double));
  fill_up(l, next_block(l));
  for (int32_t round = 0; round < ROUNDS_MAX; round++) {
    extend(l);
    int32_t m = size_of_v(l);
    bool full = m + l->width > l->room;
    if (m < l->wanted || (!full && (l->width == 1 || round % 3 > 0))) continue; /* not every round */
    int32_t good = find_pairs(l);
    if (good < 0) break;
    ds_reduce_tell(meter, (double)good / l->wanted);
    bool all = m == l->n - DS_RIGID; /* V is the whole space: nothing is left to be found */
    if (all || (good == l->wanted && l->width == BLOCK)) {
      shrink(l, l->wanted);
      return DS_OK;
    }
    if (full) shrink(l, l->wanted + (m - l->wanted) / 3);
  }
  return ds_fail(
      error, DS_ERROR_INPUT,
      "the modes of the body could not be found: some tetrahedra are too flat or too small beside the others");
}

static ds_status begin(lanczos *l, const ds_fem *fem, int32_t count, double sigma, ds_pool *pool, ds_error *error) {
  int32_t n = ds_fem_dimension(fem), all = n - DS_RIGID;
  *l = (lanczos){.fem = fem, .n = n, .wanted = count, .room = 3 * count + 12 * BLOCK, .width = BLOCK, .seed = 1};
  if (l->room > all) l->room = all, l->width = 1; /* few nodes: all of the space, one vector after the other */
  ds_status status = ds_shifted_create(&l->shifted, fem, sigma, pool, error);
  if (status == DS_OK) status = ds_vectors_create(&l->set, fem, pool, l->room + l->width, l->width, error);
  if (status != DS_OK) return status;
  size_t m = (size_t)l->room, p = (size_t)l->width;
  l->t = calloc(m * m, sizeof(double));
  l->s = malloc(m * m * sizeof(double));
  l->c = malloc((DS_RIGID + m + p) * p * sizeof(double));
  l->b = malloc(p * p * sizeof(double));
  l->theta = malloc(m * sizeof(double));
  l->work = malloc(m * sizeof(double));
  if (l->t && l->s && l->c && l->b && l->theta && l->work) return DS_OK;
  return ds_fail(error, DS_ERROR_MEMORY, "memory ran out for the modes of %d nodes", fem->tets->node_count);
}

static void end(lanczos *l) {
  ds_shifted_free(&l->shifted);
  ds_vectors_free(&l->set);
  free(l->t);
  free(l->s);
  free(l->c);
  free(l->b);
  free(l->theta);
  free(l->work);
}

/* The first vectors of V are the modes but for rounding: A once more, then K diagonal on them. */
static bool polish(lanczos *l) {
  int32_t m = l->wanted, n = l->n;
  double *x = ds_vectors_at(&l->set, DS_RIGID), *y = l->set.image; /* holds a vector */
  for (int32_t i = 0; i < m; i++) {
    ds_fem_times_mass(y, l->fem, x + (int64_t)i * n);
    memcpy(x + (int64_t)i * n, y, (size_t)n * sizeof(double));
  }
  ds_shifted_solve(x, &l->shifted, m);
  for (int32_t i = 0; i < m; i++) ds_vectors_subtract(x + (int64_t)i * n, NULL, &l->set, 1, DS_RIGID);
  if (ds_vectors_orthonormalize(x, NULL, &l->set, m, 0) < m) return false;
  return ds_vectors_diagonalize(x, l->theta, l->s, y, l->fem, m, l->set.pool);
}

/* Largest entry of K over that of M, about the largest lambda: what lies 1e-13 below is rounding. */
static double largest_lambda(const ds_fem *fem) {
  double largest = 0;
  for (int32_t i = 0; i < fem->tets->node_count; i++)
    for (int32_t e = fem->start[i]; e < fem->start[i + 1]; e++)
      for (int k = 0; fem->column[e] == i && k < 3; k++)
        largest = fmax(largest, fem->stiffness[9 * (int64_t)e + 4 * k] / fem->mass[e]);
  return largest;
}

static double worst_residual(const ds_modes *modes, const ds_fem *fem, double *work) {
  int32_t n = ds_fem_dimension(fem);
  double worst = 0;
  for (int32_t i = 0; i < modes->count; i++) {
    double *k = work, *m = work + n, r2 = 0, m2 = 0;
    ds_fem_times_stiffness(k, fem, modes->phi + (int64_t)i * n);
    ds_fem_times_mass(m, fem, modes->phi + (int64_t)i * n);
    for (int32_t j = 0; j < n; j++) {
      double r = k[j] - modes->lambda[i] * m[j];
      r2 += r * r;
      m2 += m[j] * m[j];
    }
    worst = fmax(worst, sqrt(r2 / m2) / modes->lambda[i]);
  }
  return worst;
}

static ds_status hand_over(ds_modes *modes, lanczos *l, ds_error *error) {
  size_t n = (size_t)l->n, m = (size_t)l->wanted;
  double *work = malloc(2 * n * sizeof(double));
  modes->count = l->wanted;
  modes->sigma = l->shifted.sigma;
  modes->lambda = malloc(m * sizeof(double));
  modes->phi = malloc(m * n * sizeof(double));
  if (!work || !modes->lambda || !modes->phi) {
    free(work);
    return ds_fail(error, DS_ERROR_MEMORY, "memory ran out for %d modes", l->wanted);
  }
  memcpy(modes->lambda, l->theta, m * sizeof(double));
  memcpy(modes->phi, ds_vectors_at(&l->set, DS_RIGID), m * n * sizeof(double));
  for (size_t i = 0; i < m; i++) ds_vectors_set_sign(modes->phi + i * n, l->n);
  modes->residual = worst_residual(modes, l->fem, work);
  free(work);
  if (!(modes->lambda[0] > 1e-13 * largest_lambda(l->fem)))
    return ds_fail(error, DS_ERROR_INPUT,
                   "the body has a motion besides the six rigid ones that deforms nothing: two parts of the mesh hang "
                   "together by an edge or a node only");
  return DS_OK;
}

/* Well below the first lambda of all but very slender bodies, which is about E / rho times (thickness / length²)²; far
 * enough above rounding. */
static double choose_shift(const ds_fem *fem) {
  ds_vec3 low = fem->tets->nodes[0], high = low;
  for (int32_t i = 0; i < fem->tets->node_count; i++) {
    low = v3_min(low, fem->tets->nodes[i]);
    high = v3_max(high, fem->tets->nodes[i]);
  }
  return 1e-3 * fem->shear / (fem->density * v3_norm2(v3_sub(high, low)));
}

ds_status ds_modes_find(ds_modes *modes, const ds_fem *fem, int32_t count, ds_pool *pool, const ds_reduce_meter *meter,
                        ds_error *error) {
  lanczos l;
  *modes = (ds_modes){0};
  ds_reduce_tell(meter, 0);
  ds_status status = begin(&l, fem, count, choose_shift(fem), pool, error);
  if (status == DS_OK) status = iterate(&l, meter, error);
  if (status == DS_OK && !polish(&l))
    status = ds_fail(error, DS_ERROR_INPUT, "the modes of the body depend on each other; is the mesh sound?");
  if (status == DS_OK) status = hand_over(modes, &l, error);
  end(&l);
  if (status != DS_OK) ds_modes_free(modes);
  return status;
}

void ds_modes_free(ds_modes *modes) {
  free(modes->lambda);
  free(modes->phi);
  *modes = (ds_modes){0};
}
