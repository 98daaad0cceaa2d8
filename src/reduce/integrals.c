/* The principal frame of a mesh, and the inertia shape integrals of reduced.h.
 *
 * A tetrahedron of volume V with corners x_a has ∫ x = V/4 sum x_a and ∫ x xᵀ = V/20 (sum x_a x_aᵀ + s sᵀ), s = sum
 * x_a.
 *
 * In the mass matrix of linear tetrahedra, M_ab 1, integrals of products of fields over the mesh are sums over nodes:
 *
 *   ∫ rho u vᵀ = sum_a u_a (M v)_aᵀ,
 *
 * exact for the fields as they are interpolated. With X the nodes themselves and U_a the columns of the basis
 *
 *   E0 = ∫ rho X Xᵀ,  E1_a = ∫ rho (X U_aᵀ + U_a Xᵀ),  E2_ab = ∫ rho (U_a U_bᵀ + U_b U_aᵀ), half of it for a = b,
 *   C_a[b] = ∫ rho U_a x U_b. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "la/eigen.h"
#include "reduce/fem.h"

/* ---- principal frame ---- */

static const double diagonal_tolerance = 1e-12; /* of the trace: off-diagonal terms below it are rounding */

static double volume_and_center(ds_vec3 *center, const ds_tets *t) {
  double volume = 0;
  ds_vec3 first = v3(0, 0, 0), from = t->nodes[0];
  for (int64_t i = 0; i < t->tet_count; i++) {
    const int32_t *tet = t->tets + 4 * i;
    double v = ds_element_of(t->nodes, tet).volume;
    volume += v;
    for (int a = 0; a < 4; a++) first = v3_mad(first, v / 4, v3_sub(t->nodes[tet[a]], from));
  }
  *center = v3_mad(from, 1 / volume, first);
  return volume;
}

/* ∫ (x - c)(x - c)ᵀ, row-major */
static ds_mat3 second_moment(const ds_tets *t, ds_vec3 c) {
  ds_mat3 e = {{0}};
  for (int64_t i = 0; i < t->tet_count; i++) {
    const int32_t *tet = t->tets + 4 * i;
    double v = ds_element_of(t->nodes, tet).volume / 20;
    ds_vec3 x[5] = {{0}};
    for (int a = 0; a < 4; a++) {
      x[a] = v3_sub(t->nodes[tet[a]], c);
      x[4] = v3_add(x[4], x[a]);
    }
    for (int a = 0; a < 5; a++) {
      double p[3] = {x[a].x, x[a].y, x[a].z};
      for (int k = 0; k < 9; k++) e.m[k] += v * p[k / 3] * p[k % 3];
    }
  }
  return e;
}

/* The rotation to principal axes: rows of its matrix are eigenvectors. Axes that are principal already are kept; others
 * are in order of their moments, unlike those of rigid bodies, so that a mesh turned by any angle is the same body. */
static ds_quat to_axes(ds_mat3 e) {
  double w[3], work[3], trace = e.m[0] + e.m[4] + e.m[8];
  double off = fmax(fabs(e.m[1]), fmax(fabs(e.m[2]), fabs(e.m[5])));
  if (off <= diagonal_tolerance * trace || !ds_symmetric_eigen(e.m, w, work, 3)) return quat_identity();
  if (w[2] - w[0] <= diagonal_tolerance * trace) return quat_identity();
  for (int k = 0; k < 3; k++) ds_vectors_set_sign(e.m + 3 * k, 3);
  ds_vec3 x = v3(e.m[0], e.m[1], e.m[2]), y = v3(e.m[3], e.m[4], e.m[5]), z = v3_cross(x, y);
  memcpy(e.m + 6, (double[3]){z.x, z.y, z.z}, 3 * sizeof(double));
  return quat_from_mat3(e.m);
}

bool ds_reduced_to_principal(ds_reduced *x, double density) {
  ds_vec3 center;
  double volume = volume_and_center(&center, &x->tets);
  if (!(volume > 0) || !isfinite(volume)) return false;
  x->frame.q = to_axes(second_moment(&x->tets, center));
  x->frame.p = v3_neg(quat_rotate(x->frame.q, center));
  for (int32_t i = 0; i < x->tets.node_count; i++)
    x->tets.nodes[i] = quat_rotate(x->frame.q, v3_sub(x->tets.nodes[i], center));
  ds_mat3 e = second_moment(&x->tets, v3(0, 0, 0));
  x->mass = density * volume;
  x->inertia = v3_scale(density, v3(e.m[4] + e.m[8], e.m[0] + e.m[8], e.m[0] + e.m[4]));
  return x->mass > 0 && x->inertia.x > 0 && x->inertia.y > 0 && x->inertia.z > 0 && v3_finite(x->inertia);
}

/* ---- shape integrals ---- */

/* y = M x for `width` numbers per node */
static void times_mass(double *y, const ds_fem *fem, const double *x, int32_t width) {
  memset(y, 0, (size_t)fem->tets->node_count * (size_t)width * sizeof *y);
  for (int64_t i = 0; i < fem->tets->node_count; i++)
    for (int32_t e = fem->start[i]; e < fem->start[i + 1]; e++) {
      const double *from = x + (int64_t)fem->column[e] * width;
      double *restrict to = y + i * width;
      for (int32_t k = 0; k < width; k++) to[k] += fem->mass[e] * from[k];
    }
}

/* moment (ra x rb x 9) = ∫ rho u_a v_bᵀ from u and M v, each a node: 3 x ra and 3 x rb */
static void moments(double *moment, const double *u, const double *mv, int32_t nodes, int32_t ra, int32_t rb) {
  memset(moment, 0, 9 * (size_t)ra * (size_t)rb * sizeof *moment);
  for (int64_t n = 0; n < nodes; n++, u += 3 * ra, mv += 3 * rb)
    for (int32_t a = 0; a < ra; a++)
      for (int32_t b = 0; b < rb; b++)
        for (int k = 0; k < 9; k++) moment[9 * (a * rb + b) + k] += u[k / 3 * ra + a] * mv[k % 3 * rb + b];
}

/* xx yy zz xy xz yz of s (m + mᵀ) / 2 */
static void symmetric(double e[6], const double m[9], double s) {
  double h = s / 2;
  memcpy(e, (double[6]){s * m[0], s * m[4], s * m[8], h * (m[1] + m[3]), h * (m[2] + m[6]), h * (m[5] + m[7])},
         6 * sizeof *e);
}

static void fill(ds_reduced *x, const double *moment) {
  int32_t r = x->r;
  double *second = x->second2;
  for (int32_t a = 0; a < r; a++)
    for (int32_t b = a; b < r; b++, second += 6) {
      const double *m = moment + 9 * (a * r + b);
      double c[3] = {m[5] - m[7], m[6] - m[2], m[1] - m[3]}; /* u x v of u vᵀ */
      symmetric(second, m, a == b ? 1 : 2);
      for (int i = 0; i < 3; i++) {
        x->coupling[3 * (a * r + b) + i] = a == b ? 0 : c[i];
        x->coupling[3 * (b * r + a) + i] = a == b ? 0 : -c[i];
      }
    }
}

ds_status ds_reduced_integrals(ds_reduced *x, const ds_fem *fem, ds_error *error) {
  int32_t r = x->r, nodes = x->tets.node_count;
  double *mu = malloc(3 * (size_t)nodes * (size_t)r * sizeof(double));
  double *moment = malloc(9 * (size_t)r * (size_t)r * sizeof(double));
  if (!mu || !moment) {
    free(mu);
    free(moment);
    return ds_fail(error, DS_ERROR_MEMORY, "memory ran out for the inertia of %d reduced coordinates", r);
  }
  const double *position = (const double *)x->tets.nodes;
  times_mass(mu, fem, position, 3);
  moments(moment, position, mu, nodes, 1, 1);
  symmetric(x->second0, moment, 1);
  times_mass(mu, fem, x->node_basis, 3 * r);
  moments(moment, position, mu, nodes, 1, r);
  for (int32_t a = 0; a < r; a++) symmetric(x->second1 + 6 * a, moment + 9 * a, 2);
  moments(moment, x->node_basis, mu, nodes, r, r);
  fill(x, moment);
  free(mu);
  free(moment);
  return DS_OK;
}
