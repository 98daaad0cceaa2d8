/* Tetrahedra by hand for the tests of reduced bodies: boxes of cubes, each cut into six along a diagonal. */
#ifndef DS_TEST_FEM_HELPER_H
#define DS_TEST_FEM_HELPER_H

#include <stdlib.h>

#include "check.h"
#include "reduce/fem.h"

static inline void *need(size_t count, size_t size) {
  void *block = calloc(count + 1, size);
  if (!block) abort();
  return block;
}

/* A box about the origin, with that many cubes along the axes. */
static inline ds_tets tets_box(ds_vec3 size, int32_t nx, int32_t ny, int32_t nz) {
  static const int way[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {1, 0, 2}, {2, 1, 0}};
  ds_tets t = {.node_count = (nx + 1) * (ny + 1) * (nz + 1), .tet_count = 6 * nx * ny * nz};
  t.nodes = need((size_t)t.node_count, sizeof *t.nodes);
  t.tets = need(4 * (size_t)t.tet_count, sizeof *t.tets);
  int32_t step[3] = {1, nx + 1, (nx + 1) * (ny + 1)}, *out = t.tets;
  for (int32_t k = 0; k <= nz; k++)
    for (int32_t j = 0; j <= ny; j++)
      for (int32_t i = 0; i <= nx; i++)
        t.nodes[i + j * step[1] + k * step[2]] =
            v3(size.x * ((double)i / nx - 0.5), size.y * ((double)j / ny - 0.5), size.z * ((double)k / nz - 0.5));
  for (int32_t k = 0; k < nz; k++)
    for (int32_t j = 0; j < ny; j++)
      for (int32_t i = 0; i < nx; i++)
        for (int w = 0; w < 6; w++, out += 4) {
          out[0] = i + j * step[1] + k * step[2];
          for (int a = 0; a < 3; a++) out[a + 1] = out[a] + step[way[w][a]];
          if (w < 3) continue; /* an odd permutation: the other orientation */
          int32_t swap = out[1];
          out[1] = out[2];
          out[2] = swap;
        }
  return t;
}

static inline void tets_drop(ds_tets *t) {
  free(t->nodes);
  free(t->tets);
  *t = (ds_tets){0};
}

/* Moves inner and outer nodes about, by a share of `cell`, without turning tetrahedra over. */
static inline void tets_shake(ds_tets *t, double cell, double share) {
  uint64_t seed = 7;
  for (int32_t i = 0; i < t->node_count; i++) {
    double d[3];
    for (int k = 0; k < 3; k++) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      d[k] = share * cell * ((double)(seed >> 11) * 0x1p-52 - 1);
    }
    t->nodes[i] = v3_add(t->nodes[i], v3(d[0], d[1], d[2]));
  }
}

/* ---- St. Venant-Kirchhoff by elements, straight from F, E = (FᵀF - 1)/2, S = lambda tr(E) 1 + 2 mu E, P = F S, with
 * resistance to compression, phi(J) = kappa (J0 - J)³/J below J0 (body/compression.c): P += phi' cof F ---- */

static inline ds_mat3 cofactor(ds_mat3 a) {
  ds_mat3 c;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      int p = (i + 1) % 3, q = (i + 2) % 3, u = (j + 1) % 3, v = (j + 2) % 3;
      c.m[3 * i + j] = a.m[3 * p + u] * a.m[3 * q + v] - a.m[3 * p + v] * a.m[3 * q + u];
    }
  return c;
}

static inline double determinant(ds_mat3 a) {
  ds_mat3 c = cofactor(a);
  return a.m[0] * c.m[0] + a.m[1] * c.m[1] + a.m[2] * c.m[2];
}

/* phi, phi' and phi''; below 0.1 the parabola that continues them */
static inline void compression(double phi[3], const ds_fem *fem, double j) {
  double kappa = (fem->lame + 2 * fem->shear) / 6, j0 = 1 / sqrt(3), at = j > 0.1 ? j : 0.1, d = j - at;
  phi[0] = phi[1] = phi[2] = 0;
  if (j >= j0) return;
  double value = pow(j0 - at, 3) / at, slope = -3 * pow(j0 - at, 2) / at - pow(j0 - at, 3) / (at * at);
  double bend = 6 * (j0 - at) / at + 6 * pow(j0 - at, 2) / (at * at) + 2 * pow(j0 - at, 3) / pow(at, 3);
  phi[0] = kappa * (value + slope * d + bend * d * d / 2);
  phi[1] = kappa * (slope + bend * d);
  phi[2] = kappa * bend;
}

static inline ds_mat3 mat_mul(ds_mat3 a, ds_mat3 b, bool transpose_a) {
  ds_mat3 c = {{0}};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      for (int k = 0; k < 3; k++) c.m[3 * i + j] += a.m[transpose_a ? 3 * k + i : 3 * i + k] * b.m[3 * k + j];
  return c;
}

static inline ds_mat3 stress(const ds_fem *fem, ds_mat3 e) {
  double trace = e.m[0] + e.m[4] + e.m[8];
  for (int k = 0; k < 9; k++) e.m[k] = 2 * fem->shear * e.m[k] + (k % 4 == 0 ? fem->lame * trace : 0);
  return e;
}

/* Returns the energy; f (may be NULL): forces, to be subtracted. */
static inline double stvk_direct(double *f, const ds_fem *fem, const double *u) {
  double energy = 0;
  for (int32_t i = 0; f && i < ds_fem_dimension(fem); i++) f[i] = 0;
  for (int64_t t = 0; t < fem->tets->tet_count; t++) {
    const int32_t *tet = fem->tets->tets + 4 * t;
    const ds_element *el = &fem->elements[t];
    ds_mat3 d = ds_element_gradient(el, tet, u), e;
    for (int k = 0; k < 9; k += 4) d.m[k] += 1;
    e = mat_mul(d, d, true);
    for (int k = 0; k < 9; k++) e.m[k] = 0.5 * (e.m[k] - (k % 4 == 0));
    ds_mat3 s = stress(fem, e), p = mat_mul(d, s, false), c = cofactor(d);
    double phi[3];
    compression(phi, fem, determinant(d));
    energy += el->volume * phi[0];
    for (int k = 0; k < 9; k++) energy += 0.5 * el->volume * s.m[k] * e.m[k], p.m[k] += phi[1] * c.m[k];
    for (int a = 0; f && a < 4; a++) {
      ds_vec3 g = mat3_mul_v3(&p, el->gradient[a]);
      double *to = f + 3 * (int64_t)tet[a];
      to[0] += el->volume * g.x, to[1] += el->volume * g.y, to[2] += el->volume * g.z;
    }
  }
  return energy;
}

/* The tangent dF S + F dS of stvk_direct at u, in the places of fem->stiffness. */
static inline void stvk_tangent(double *k, const ds_fem *fem, const double *u) {
  for (int64_t i = 0; i < 9 * (int64_t)fem->start[fem->tets->node_count]; i++) k[i] = 0;
  for (int64_t t = 0; t < fem->tets->tet_count; t++) {
    const int32_t *tet = fem->tets->tets + 4 * t;
    const ds_element *el = &fem->elements[t];
    ds_mat3 d = ds_element_gradient(el, tet, u), e;
    for (int i = 0; i < 9; i += 4) d.m[i] += 1;
    e = mat_mul(d, d, true);
    for (int i = 0; i < 9; i++) e.m[i] = 0.5 * (e.m[i] - (i % 4 == 0));
    ds_mat3 s = stress(fem, e), c = cofactor(d);
    double phi[3];
    compression(phi, fem, determinant(d));
    for (int b = 0; b < 4; b++)
      for (int j = 0; j < 3; j++) { /* corner b moves along axis j */
        double g[3] = {el->gradient[b].x, el->gradient[b].y, el->gradient[b].z};
        ds_mat3 dd = {{0}};
        for (int i = 0; i < 3; i++) dd.m[3 * j + i] = g[i];
        ds_mat3 x = mat_mul(d, dd, true), de;
        for (int i = 0; i < 9; i++) de.m[i] = 0.5 * (x.m[i] + x.m[i % 3 * 3 + i / 3]);
        ds_mat3 p = mat_mul(dd, s, false), q = mat_mul(d, stress(fem, de), false);
        ds_mat3 sum = d, own = cofactor(dd);
        double dj = 0;
        for (int i = 0; i < 9; i++) dj += c.m[i] * dd.m[i], sum.m[i] += dd.m[i];
        sum = cofactor(sum); /* quadratic: its derivative is what remains without the squares */
        for (int i = 0; i < 9; i++) p.m[i] += q.m[i] + phi[2] * dj * c.m[i] + phi[1] * (sum.m[i] - c.m[i] - own.m[i]);
        for (int a = 0; a < 4; a++) {
          ds_vec3 force = mat3_mul_v3(&p, el->gradient[a]);
          int32_t at = fem->start[tet[a]];
          while (fem->column[at] != tet[b]) at++;
          double *to = k + 9 * (int64_t)at + j;
          to[0] += el->volume * force.x, to[3] += el->volume * force.y, to[6] += el->volume * force.z;
        }
      }
  }
}

/* x := k⁻¹ x with k in the places of fem->stiffness; nodes that are `fixed` do not move. */
static inline bool solve_fixed(double *x, const ds_fem *fem, const double *k, const bool *fixed) {
  int32_t n = fem->tets->node_count, count = 0;
  ds_arena arena = {0};
  int32_t *size = DS_NEW(&arena, int32_t, n), *pairs = DS_NEW(&arena, int32_t, fem->start[n] + 1);
  for (int32_t i = 0; i < n; i++) {
    size[i] = 3;
    for (int32_t e = fem->start[i]; e < fem->start[i + 1]; e++)
      if (fem->column[e] < i) pairs[2 * count] = i, pairs[2 * count++ + 1] = fem->column[e];
  }
  ds_block_pattern *p = ds_block_analyse(&arena, size, pairs, count, n);
  ds_block_matrix *m = ds_block_create(&arena, p);
  ds_block_identity(m, true);
  for (int32_t i = 0; i < n; i++)
    for (int32_t e = fem->start[i]; e < fem->start[i + 1]; e++) {
      int32_t j = fem->column[e];
      bool swapped = false;
      if (j > i || fixed[i] || fixed[j]) continue;
      double *to =
          i == j ? m->diagonal + p->diagonal[p->position[i]] : m->lower + p->offset[ds_block_slot(&swapped, p, i, j)];
      for (int a = 0; a < 9; a++) to[swapped ? a % 3 * 3 + a / 3 : a] = k[9 * (int64_t)e + a];
    }
  bool ok = ds_block_cholesky(m);
  for (int32_t i = 0; i < 3 * n; i++)
    if (fixed[i / 3]) x[i] = 0;
  if (ok) ds_block_cholesky_solve(x, m, DS_NEW(&arena, double, 3 * n + 1));
  ds_arena_free(&arena);
  return ok;
}

/* DRYSTONE_TEST_QUICK=1 asks for short tests, as sanitizers need. */
static inline bool quick(void) {
  const char *text = getenv("DRYSTONE_TEST_QUICK");
  return text && text[0] && text[0] != '0';
}

#endif
