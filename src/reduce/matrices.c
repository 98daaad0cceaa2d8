/* Mass and stiffness of linear tetrahedra, isotropic linear elasticity.
 *
 *   K_ab = V (lambda g_a g_bᵀ + mu g_b g_aᵀ + mu (g_a . g_b) 1)      for the strain energy lambda/2 (tr e)² + mu e : e
 *   M_ab = rho V / 20 (1 + delta_ab) 1                               consistent: ∫ rho N_a N_b
 *
 * with Lamé's constants lambda = E nu / ((1 + nu)(1 - 2 nu)), mu = E / (2 (1 + nu)). Linear fields lie in the space of
 * linear tetrahedra, so that mass, centre and inertia are those of the volume, and rigid motions cost no energy. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "reduce/fem.h"

static int by_value(const void *a, const void *b) {
  int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

/* Sorts and takes repeats away; how many are left. */
static int32_t make_set(int32_t *items, int32_t count) {
  int32_t kept = 0;
  qsort(items, (size_t)count, sizeof *items, by_value);
  for (int32_t i = 0; i < count; i++)
    if (i == 0 || items[i] != items[i - 1]) items[kept++] = items[i];
  return kept;
}

/* The graph of nodes: first every tetrahedron's four nodes for each of them, then repeats are taken away. */
static ds_status find_graph(ds_fem *fem, ds_error *error) {
  const ds_tets *t = fem->tets;
  size_t n = (size_t)t->node_count, entries = 16 * (size_t)t->tet_count;
  fem->start = calloc(n + 1, sizeof *fem->start);
  fem->column = malloc(entries * sizeof *fem->column);
  int32_t *next = malloc((n + 1) * sizeof *next);
  if (!fem->start || !fem->column || !next) {
    free(next);
    return ds_fail(error, DS_ERROR_MEMORY, "memory ran out for the matrices of %d tetrahedra", t->tet_count);
  }
  for (size_t i = 0; i < entries / 4; i++) fem->start[t->tets[i] + 1] += 4;
  for (size_t i = 0; i < n; i++) fem->start[i + 1] += fem->start[i];
  memcpy(next, fem->start, (n + 1) * sizeof *next);
  for (int64_t i = 0; i < t->tet_count; i++)
    for (int a = 0; a < 4; a++)
      for (int b = 0; b < 4; b++) fem->column[next[t->tets[4 * i + a]]++] = t->tets[4 * i + b];
  int32_t kept = 0;
  for (size_t i = 0; i < n; i++) {
    int32_t first = fem->start[i], count = make_set(fem->column + first, fem->start[i + 1] - first);
    memmove(fem->column + kept, fem->column + first, (size_t)count * sizeof *fem->column);
    fem->start[i] = kept;
    kept += count;
  }
  fem->start[n] = kept;
  free(next);
  return DS_OK;
}

/* block += V (lambda a bᵀ + mu b aᵀ + mu (a . b) 1) */
static void add_stiffness(double *block, const ds_fem *fem, double volume, ds_vec3 a, ds_vec3 b) {
  double x[3] = {a.x, a.y, a.z}, y[3] = {b.x, b.y, b.z}, l = volume * fem->lame, s = volume * fem->shear;
  double diagonal = s * v3_dot(a, b);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) block[3 * i + j] += l * x[i] * y[j] + s * y[i] * x[j] + (i == j ? diagonal : 0);
}

static void assemble(ds_fem *fem) {
  for (int64_t t = 0; t < fem->tets->tet_count; t++) {
    const ds_element *e = &fem->elements[t];
    const int32_t *node = fem->tets->tets + 4 * t;
    for (int a = 0; a < 4; a++)
      for (int b = 0; b < 4; b++) {
        int64_t at = ds_array_find(fem->column, fem->start[node[a]], fem->start[node[a] + 1], node[b]);
        add_stiffness(fem->stiffness + 9 * at, fem, e->volume, e->gradient[a], e->gradient[b]);
        fem->mass[at] += fem->density * e->volume / 20 * (a == b ? 2 : 1);
      }
  }
}

ds_status ds_fem_create(ds_fem *fem, const ds_tets *tets, double young, double poisson, double density,
                        ds_error *error) {
  *fem = (ds_fem){.tets = tets, .density = density};
  fem->lame = young * poisson / ((1 + poisson) * (1 - 2 * poisson));
  fem->shear = young / (2 * (1 + poisson));
  ds_status status = find_graph(fem, error);
  if (status == DS_OK) {
    size_t entries = (size_t)fem->start[tets->node_count];
    fem->elements = malloc((size_t)tets->tet_count * sizeof *fem->elements);
    fem->stiffness = calloc(9 * entries, sizeof(double));
    fem->mass = calloc(entries, sizeof(double));
    if (!fem->elements || !fem->stiffness || !fem->mass)
      status = ds_fail(error, DS_ERROR_MEMORY, "memory ran out for the matrices of %d tetrahedra", tets->tet_count);
  }
  if (status != DS_OK) {
    ds_fem_free(fem);
    return status;
  }
  for (int64_t t = 0; t < tets->tet_count; t++) fem->elements[t] = ds_element_of(tets->nodes, tets->tets + 4 * t);
  assemble(fem);
  return DS_OK;
}

void ds_fem_free(ds_fem *fem) {
  free(fem->elements);
  free(fem->start);
  free(fem->column);
  free(fem->stiffness);
  free(fem->mass);
  *fem = (ds_fem){0};
}

void ds_fem_times_stiffness(double *y, const ds_fem *fem, const double *x) {
  for (int32_t i = 0; i < fem->tets->node_count; i++) {
    double s[3] = {0, 0, 0};
    for (int32_t e = fem->start[i]; e < fem->start[i + 1]; e++) {
      const double *k = fem->stiffness + 9 * (int64_t)e, *xj = x + 3 * (int64_t)fem->column[e];
      for (int r = 0; r < 3; r++) s[r] += k[3 * r] * xj[0] + k[3 * r + 1] * xj[1] + k[3 * r + 2] * xj[2];
    }
    memcpy(y + 3 * (int64_t)i, s, sizeof s);
  }
}

void ds_fem_times_mass(double *y, const ds_fem *fem, const double *x) {
  for (int32_t i = 0; i < fem->tets->node_count; i++) {
    double s[3] = {0, 0, 0};
    for (int32_t e = fem->start[i]; e < fem->start[i + 1]; e++)
      for (int r = 0; r < 3; r++) s[r] += fem->mass[e] * x[3 * (int64_t)fem->column[e] + r];
    memcpy(y + 3 * (int64_t)i, s, sizeof s);
  }
}
