/* Reduced deformable bodies: memory, owners, and the polynomials of reduced.h evaluated.
 *
 * The elastic force is the gradient of an energy of degree four, so that its Jacobian is symmetric and
 *
 *   E(q) = ∫ f(s q) . q ds, s = 0 .. 1  =  1/2 f1 . q + 1/3 f2 . q + 1/4 f3 . q
 *
 * with the parts of f of degree one, two and three. */
#include "body/reduced.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/error.h"
#include "body/compression.h"
#include "la/runs.h"

/* ---- memory ---- */

static int64_t pair_terms(int64_t r) { return r * (r + 1) / 2; }
static int64_t triple_terms(int64_t r) { return r * (r + 1) * (r + 2) / 6; }

static void *zeroed(bool *ok, int64_t count, size_t size) {
  void *block = calloc((size_t)count + 1, size);
  if (!block) *ok = false;
  return block;
}

ds_reduced *ds_reduced_alloc(int32_t r, int32_t nodes, int32_t tets, int32_t vertices, int32_t triangles, bool stvk) {
  if (r < 1 || r > DS_REDUCED_MAX || nodes < 0 || tets < 0 || vertices < 0 || triangles < 0) return NULL;
  ds_reduced *x = calloc(1, sizeof *x);
  if (!x) return NULL;
  bool ok = true;
  atomic_init(&x->owners, 1);
  x->r = r;
  x->frame = pose_identity();
  x->frequency = zeroed(&ok, r, sizeof(double));
  x->tets.nodes = zeroed(&ok, nodes, sizeof(ds_vec3));
  x->tets.tets = zeroed(&ok, 4 * (int64_t)tets, sizeof(int32_t));
  x->node_basis = zeroed(&ok, 3 * (int64_t)nodes * r, sizeof(double));
  x->surface.vertices = zeroed(&ok, vertices, sizeof(ds_vec3));
  x->surface.triangles = zeroed(&ok, 3 * (int64_t)triangles, sizeof(int32_t));
  x->surface_node = zeroed(&ok, vertices, sizeof(int32_t));
  x->basis = zeroed(&ok, 3 * (int64_t)vertices * r, sizeof(double));
  x->second1 = zeroed(&ok, 6 * r, sizeof(double));
  x->second2 = zeroed(&ok, 6 * pair_terms(r), sizeof(double));
  x->coupling = zeroed(&ok, 3 * r * r, sizeof(double));
  x->stiffness = zeroed(&ok, r * r, sizeof(double));
  if (stvk) x->quadratic = zeroed(&ok, r * pair_terms(r), sizeof(double));
  if (stvk) x->cubic = zeroed(&ok, r * triple_terms(r), sizeof(double));
  x->tets.node_count = nodes, x->tets.tet_count = tets;
  x->surface.vertex_count = vertices, x->surface.triangle_count = triangles;
  x->info = (ds_reduced_info){.stvk = stvk, .modes = r, .linear_modes = r, .frequency = x->frequency};
  if (ok) return x;
  ds_reduced_release(x);
  return NULL;
}

ds_reduced *ds_reduced_retain(ds_reduced *x) {
  if (x) atomic_fetch_add_explicit(&x->owners, 1, memory_order_relaxed);
  return x;
}

void ds_reduced_release(ds_reduced *x) {
  if (!x || atomic_fetch_sub_explicit(&x->owners, 1, memory_order_acq_rel) > 1) return;
  ds_bd_tree_free(&x->tree);
  ds_clusters_free(&x->clusters);
  void *blocks[] = {x->name,
                    x->frequency,
                    x->tets.nodes,
                    x->tets.tets,
                    x->node_basis,
                    x->surface.vertices,
                    x->surface.triangles,
                    x->surface_node,
                    x->basis,
                    x->second1,
                    x->second2,
                    x->coupling,
                    x->stiffness,
                    x->quadratic,
                    x->cubic};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) free(blocks[i]);
  free(x);
}

/* ---- finishing: arrays are looked at, the tree and the summary are made ---- */

static bool all_finite(const double *x, int64_t count) {
  double sum = 0; /* of x - x: 0 for numbers, NaN for others */
  for (int64_t i = 0; i < count; i++) sum += x[i] - x[i];
  return sum == 0;
}

static bool all_within(const int32_t *x, int64_t count, int32_t end) {
  for (int64_t i = 0; i < count; i++)
    if (x[i] < 0 || x[i] >= end) return false;
  return true;
}

static bool numbers_are_sound(const ds_reduced *x) {
  int64_t r = x->r, nodes = x->tets.node_count, vertices = x->surface.vertex_count;
  bool ok = all_finite(x->frequency, x->info.linear_modes) && all_finite((const double *)x->tets.nodes, 3 * nodes) &&
            all_finite(x->node_basis, 3 * nodes * r) && all_finite((const double *)x->surface.vertices, 3 * vertices) &&
            all_finite(x->basis, 3 * vertices * r) && all_finite(x->second0, 6) && all_finite(x->second1, 6 * r) &&
            all_finite(x->second2, 6 * pair_terms(r)) && all_finite(x->coupling, 3 * r * r) &&
            all_finite(x->stiffness, r * r);
  if (ok && x->quadratic) ok = all_finite(x->quadratic, r * pair_terms(r)) && all_finite(x->cubic, r * triple_terms(r));
  return ok;
}

static ds_status check_arrays(const ds_reduced *x, ds_error *error) {
  const char *name = ds_reduced_name(x);
  if (x->info.linear_modes < 1 || x->info.linear_modes > x->r)
    return ds_fail(error, DS_ERROR_INPUT, "reduced body '%.60s': %d linear modes, expected 1 to %d", name,
                   x->info.linear_modes, x->r);
  if (x->tets.node_count < 4 || x->tets.tet_count < 1 || x->surface.vertex_count < 4 || x->surface.triangle_count < 4)
    return ds_fail(error, DS_ERROR_INPUT, "reduced body '%.60s': no tetrahedra or no surface", name);
  if (!numbers_are_sound(x))
    return ds_fail(error, DS_ERROR_INPUT, "reduced body '%.60s': an array has entries that are not finite", name);
  if (!all_within(x->tets.tets, 4 * (int64_t)x->tets.tet_count, x->tets.node_count))
    return ds_fail(error, DS_ERROR_INPUT, "reduced body '%.60s': a tetrahedron has a node that does not exist", name);
  if (!all_within(x->surface.triangles, 3 * (int64_t)x->surface.triangle_count, x->surface.vertex_count))
    return ds_fail(error, DS_ERROR_INPUT, "reduced body '%.60s': a triangle has a vertex that does not exist", name);
  if (!all_within(x->surface_node, x->surface.vertex_count, x->tets.node_count))
    return ds_fail(error, DS_ERROR_INPUT, "reduced body '%.60s': a vertex has a node that does not exist", name);
  return DS_OK;
}

static bool above_zero(double x) { return x > 0 && isfinite(x); }

static ds_status check_constants(const ds_reduced *x, ds_error *error) {
  const char *name = ds_reduced_name(x);
  const ds_reduced_info *i = &x->info;
  if (!above_zero(x->mass) || !above_zero(x->inertia.x) || !above_zero(x->inertia.y) || !above_zero(x->inertia.z))
    return ds_fail(error, DS_ERROR_INPUT, "reduced body '%.60s': mass and inertia must be above 0", name);
  if (!above_zero(i->young) || !above_zero(i->density) || !(i->poisson > -1 && i->poisson < 0.5))
    return ds_fail(error, DS_ERROR_INPUT,
                   "reduced body '%.60s': young and density must be above 0, poisson between -1 and 0.5", name);
  if (!(i->damping_mass >= 0) || !(i->damping_stiffness >= 0) || !isfinite(i->damping_mass + i->damping_stiffness))
    return ds_fail(error, DS_ERROR_INPUT, "reduced body '%.60s': damping must not be negative", name);
  if (!v3_finite(x->frame.p) || !(fabs(quat_norm(x->frame.q) - 1) < 1e-9))
    return ds_fail(error, DS_ERROR_INPUT, "reduced body '%.60s': its frame is not a rotation and translation", name);
  return DS_OK;
}

static int64_t bytes_of(const ds_reduced *x) {
  int64_t r = x->r, nodes = x->tets.node_count, vertices = x->surface.vertex_count, spheres = x->tree.sphere_count;
  int64_t numbers = (3 + 3 * r) * (nodes + vertices) + 6 * r + 6 * pair_terms(r) + 4 * r * r + 4 * r * spheres;
  if (x->quadratic) numbers += r * pair_terms(r) + r * triple_terms(r);
  int64_t indices = 4 * (int64_t)x->tets.tet_count + 8 * (int64_t)x->surface.triangle_count + 2 * vertices;
  return (int64_t)sizeof *x + 8 * numbers + 4 * indices + spheres * (int64_t)sizeof *x->tree.spheres;
}

static void fill_info(ds_reduced *x) {
  ds_reduced_info *i = &x->info;
  i->stvk = x->quadratic != NULL;
  i->modes = x->r;
  i->frequency = x->frequency;
  i->mass = x->mass;
  i->nodes = x->tets.node_count;
  i->tets = x->tets.tet_count;
  i->vertices = x->surface.vertex_count;
  i->triangles = x->surface.triangle_count;
  i->spheres = x->tree.sphere_count;
  i->low = i->high = pose_unpoint(x->frame, x->tets.nodes[0]);
  for (int32_t n = 0; n < i->nodes; n++) {
    ds_vec3 p = pose_unpoint(x->frame, x->tets.nodes[n]);
    i->low = v3_min(i->low, p);
    i->high = v3_max(i->high, p);
  }
  i->bytes = bytes_of(x);
}

static ds_vec3 skin_vertex(const void *of, const double *q, int32_t vertex) { return ds_reduced_vertex(of, q, vertex); }

static void skin_place(ds_vec3 *y, const void *of, const double *q, const int32_t *list, int32_t count) {
  ds_reduced_place(y, of, q, list, count);
}

static double skin_sphere(ds_vec3 *center, const void *of, const double *q, int32_t sphere) {
  return ds_bd_sphere_at(center, of, q, sphere);
}

ds_status ds_reduced_finish(ds_reduced *x, ds_error *error) {
  ds_status status = check_arrays(x, error);
  if (status == DS_OK) status = check_constants(x, error);
  if (status == DS_OK) status = ds_bd_tree_build(x, error);
  if (status == DS_OK && !ds_clusters_build(x))
    status = ds_fail(error, DS_ERROR_MEMORY, "no memory for a deformable body");
  if (status != DS_OK) return status;
  fill_info(x);
  x->skin = (ds_skin){&x->surface, &x->tree, x->r, x, skin_vertex, skin_place, skin_sphere};
  return DS_OK;
}

/* ---- what users ask ---- */

ds_reduced_info ds_reduced_get_info(const ds_reduced *x) { return x->info; }

const char *ds_reduced_name(const ds_reduced *x) { return x->name ? x->name : ""; }

const int32_t *ds_reduced_triangles(const ds_reduced *x) { return x->surface.triangles; }

void ds_reduced_shape(ds_vec3 *vertices, const ds_reduced *x, const double *q) {
  for (int32_t i = 0; i < x->surface.vertex_count; i++)
    vertices[i] = pose_unpoint(x->frame, ds_reduced_vertex(x, q, i));
}

void ds_reduced_mode(ds_vec3 *displacements, const ds_reduced *x, int32_t mode) {
  DS_CHECK(mode >= 0 && mode < x->r);
  for (int32_t i = 0; i < x->surface.vertex_count; i++) {
    const double *u = x->basis + 3 * (int64_t)i * x->r + mode;
    displacements[i] = quat_unrotate(x->frame.q, v3(u[0], u[x->r], u[2 * x->r]));
  }
}

DS_INLINE ds_vec3 displacement(const ds_reduced *x, const double *q, int32_t vertex) {
  int32_t r = x->r;
  const double *u = x->basis + 3 * (int64_t)vertex * r;
  return v3(ds_run_dot(u, q, r), ds_run_dot(u + r, q, r), ds_run_dot(u + 2 * r, q, r));
}

ds_vec3 ds_reduced_vertex(const ds_reduced *x, const double *q, int32_t vertex) {
  ds_vec3 y = x->surface.vertices[vertex];
  return q ? v3_add(y, displacement(x, q, vertex)) : y;
}

DS_INLINE void ds_reduced_place_body(ds_vec3 *y, const ds_reduced *x, const double *q, const int32_t *list,
                                     int32_t count) {
  for (int32_t i = 0; i < count; i++) {
    ds_vec3 rest = x->surface.vertices[list[i]];
    y[list[i]] = q ? v3_add(rest, displacement(x, q, list[i])) : rest;
  }
}
DS_KERNEL(ds_reduced_place, (ds_vec3 * y, const ds_reduced *x, const double *q, const int32_t *list, int32_t count),
          (y, x, q, list, count))

/* ---- elasticity ----
 * With the products m_bc = q_b q_c, b <= c, in the order of the pairs, those from b = a on are the end of the list, and
 *
 *   f_k = K_k . q + P_k . m + sum_a q_a (Q_k,a.. . m_a..):
 *
 * dot products of runs of some hundred numbers. */

enum { PAIRS_MAX = DS_REDUCED_MAX * (DS_REDUCED_MAX + 1) / 2 };

static void pair_products(double *m, const double *q, int32_t r) {
  for (int32_t b = 0; b < r; b++)
    for (int32_t c = b; c < r; c++) *m++ = q[b] * q[c];
}

/* s1, s2, s3 times the parts of degree one, two and three of f_k */
DS_INLINE double force_of(const ds_reduced *x, const double *q, const double *m, int32_t k, double s1, double s2,
                          double s3) {
  int32_t r = x->r, pairs = (int32_t)pair_terms(r);
  double f = s1 * ds_run_dot(x->stiffness + k * r, q, r), cubic = 0;
  if (!x->quadratic) return f;
  const double *w = x->cubic + k * triple_terms(r);
  for (int32_t a = 0; a < r; a++) {
    int32_t run = (int32_t)pair_terms(r - a);
    cubic += q[a] * ds_run_dot(w, m + pairs - run, run);
    w += run;
  }
  return f + s2 * ds_run_dot(x->quadratic + k * (int64_t)pairs, m, pairs) + s3 * cubic;
}

static void polynomial_force(double *f, const ds_reduced *x, const double *q);
DS_INLINE void polynomial_force_body(double *f, const ds_reduced *x, const double *q) {
  double m[PAIRS_MAX];
  if (x->quadratic) pair_products(m, q, x->r);
  for (int32_t k = 0; k < x->r; k++) f[k] = force_of(x, q, m, k, 1, 1, 1);
}
DS_KERNEL(polynomial_force, (double *f, const ds_reduced *x, const double *q), (f, x, q))

void ds_reduced_force(double *f, const ds_reduced *x, const double *q) {
  polynomial_force(f, x, q);
  if (x->quadratic) ds_compression_force(f, x, q);
}

double ds_reduced_energy(const ds_reduced *x, const double *q) {
  double m[PAIRS_MAX], energy = 0;
  if (x->quadratic) pair_products(m, q, x->r);
  for (int32_t k = 0; k < x->r; k++) energy += q[k] * force_of(x, q, m, k, 1.0 / 2, 1.0 / 3, 1.0 / 4);
  return x->quadratic ? energy + ds_compression_energy(x, q) : energy;
}

/* Row k of df/dq from the diagonal on. With s_bc = P_k,bc + sum_a q_a Q_k,abc, what depends on q_b and q_c is s . m,
 * and on q_a the product of force_of. */
DS_INLINE void stiffness_row(double *d, double *s, const ds_reduced *x, const double *q, const double *m, int32_t k) {
  int32_t r = x->r, pairs = (int32_t)pair_terms(r);
  const double *w = x->cubic + k * triple_terms(r);
  memcpy(s, x->quadratic + k * (int64_t)pairs, (size_t)pairs * sizeof *s);
  for (int32_t a = 0; a < r; a++) {
    int32_t run = (int32_t)pair_terms(r - a);
    ds_run_add(s + pairs - run, w, q[a], run);
    if (a >= k) d[a] += ds_run_dot(w, m + pairs - run, run);
    w += run;
  }
  for (int32_t b = 0; b < r; s += r - b, b++) {
    int32_t from = b > k ? b : k;
    ds_run_add(d + from, s + from - b, q[b], r - from);
    if (b >= k) d[b] += ds_run_dot(s, q + b, r - b);
  }
}

static void polynomial_stiffness(double *k, const ds_reduced *x, const double *q);
DS_INLINE void polynomial_stiffness_body(double *k, const ds_reduced *x, const double *q) {
  double m[PAIRS_MAX], s[PAIRS_MAX];
  pair_products(m, q, x->r);
  for (int32_t i = 0; i < x->r; i++) stiffness_row(k + i * x->r, s, x, q, m, i);
}
DS_KERNEL(polynomial_stiffness, (double *k, const ds_reduced *x, const double *q), (k, x, q))

void ds_reduced_stiffness(double *k, const ds_reduced *x, const double *q) {
  int32_t r = x->r;
  memcpy(k, x->stiffness, (size_t)(r * r) * sizeof(double));
  if (!x->quadratic) return;
  polynomial_stiffness(k, x, q); /* from the diagonal on */
  for (int32_t i = 0; i < r; i++)
    for (int32_t j = i + 1; j < r; j++) k[j * r + i] = k[i * r + j];
  ds_compression_stiffness(k, x, q); /* up to the diagonal */
  for (int32_t i = 0; i < r; i++)
    for (int32_t j = i + 1; j < r; j++) k[i * r + j] = k[j * r + i];
}

/* ---- inertia ---- */

void ds_reduced_inertia(ds_mat3 *j, const ds_reduced *x, const double *q) {
  double e[6];
  memcpy(e, x->second0, sizeof e);
  const double *second = x->second2;
  for (int32_t a = 0; a < x->r; a++) {
    double slope[6]; /* of the terms with q_a and q_b, b >= a */
    memcpy(slope, x->second1 + 6 * a, sizeof slope);
    for (int32_t b = a; b < x->r; b++, second += 6)
      for (int i = 0; i < 6; i++) slope[i] += q[b] * second[i];
    for (int i = 0; i < 6; i++) e[i] += q[a] * slope[i];
  }
  double trace = e[0] + e[1] + e[2];
  *j = (ds_mat3){{trace - e[0], -e[3], -e[4], -e[3], trace - e[1], -e[5], -e[4], -e[5], trace - e[2]}};
}

/* wᵀ J w = |w|² tr E - wᵀ E w = v . E with E as xx yy zz xy xz yz. */
void ds_reduced_inertia_gradient(double *g, const ds_reduced *x, const double *q, ds_vec3 w) {
  double w2 = v3_norm2(w);
  double v[6] = {w2 - w.x * w.x, w2 - w.y * w.y, w2 - w.z * w.z, -2 * w.x * w.y, -2 * w.x * w.z, -2 * w.y * w.z};
  const double *second = x->second2;
  for (int32_t a = 0; a < x->r; a++) g[a] = ds_run_dot(v, x->second1 + 6 * a, 6) / 2;
  for (int32_t a = 0; a < x->r; a++)
    for (int32_t b = a; b < x->r; b++, second += 6) {
      double s = ds_run_dot(v, second, 6) / 2;
      g[a] += s * q[b];
      g[b] += s * q[a];
    }
}

DS_INLINE void ds_reduced_coupling_body(double *c, const ds_reduced *x, const double *q) {
  double columns[3 * DS_REDUCED_MAX];
  int32_t r = x->r;
  memset(columns, 0, (size_t)(3 * r) * sizeof(double));
  for (int32_t a = 0; a < r; a++) ds_run_add(columns, x->coupling + 3 * (int64_t)a * r, q[a], 3 * r);
  for (int32_t b = 0; b < r; b++)
    for (int32_t i = 0; i < 3; i++) c[i * r + b] = columns[3 * b + i];
}
DS_KERNEL(ds_reduced_coupling, (double *c, const ds_reduced *x, const double *q), (c, x, q))
