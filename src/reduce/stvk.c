/* Reduced St. Venant-Kirchhoff forces, exactly [Barbič and James 2005, section 4].
 *
 * In a linear tetrahedron the displacement gradient is constant and linear in q, G = sum_i q_i G_i. Green's strain is
 *
 *   E = (G + Gᵀ + Gᵀ G) / 2 = sum_i q_i e_i + sum_ij q_i q_j h_ij,  e_i = sym G_i,  h_ij = sym(G_iᵀ G_j) / 2,
 *
 * and the energy V (lambda/2 (tr E)² + mu E : E) a square, 1/2 |y|², of the six numbers
 *
 *   y = sqrt(2 mu V) (E_xx + s tr E, E_yy + s tr E, E_zz + s tr E, sqrt2 E_xy, sqrt2 E_xz, sqrt2 E_yz),
 *   3 s² + 2 s = lambda / (2 mu),
 *
 * which are linear in E. So the whole polynomial follows from the products <.,.>, summed over all tetrahedra, of the r
 * vectors e_i and the r (r + 1) / 2 vectors h_ij among each other:
 *
 *   W = 1/2 |sum_i q_i e_i + sum_ij q_i q_j h_ij|²,  f_k = dW/dq_k
 *     = sum_a <e_k, e_a> q_a + sum_ab (<e_k, h_ab> + 2 <e_a, h_kb>) q_a q_b + 2 sum_abc <h_ab, h_kc> q_a q_b q_c,
 *
 * sums over all orders of the indices. The products are one large symmetric matrix, made by tetrahedra in bunches:
 * threads share out its columns, and every entry is summed in the order of the tetrahedra. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "la/panel.h"
#include "reduce/fem.h"

enum { BUNCH = 64, ROWS = 6 * BUNCH, STRIP = 24 };

typedef struct products {
  const ds_reduced *reduced;
  const ds_fem *fem;
  int32_t r, size; /* size = r + r (r + 1) / 2: the e_i, then the h_ij, i <= j */
  int32_t ld;
  double *y;                    /* a bunch: ROWS x ld */
  double *gradient;             /* a bunch: BUNCH x r x 9 */
  double *gram;                 /* ld x ld, column-major, its lower triangle, times -1 */
  int32_t first;                /* tetrahedron of the bunch */
  double side, diagonal, trace; /* factors of y */
} products;

static int32_t pair_index(int32_t r, int32_t a, int32_t b) {
  if (a > b) return pair_index(r, b, a);
  return r + a * r - a * (a - 1) / 2 + b - a;
}

/* G_i of one tetrahedron, all i. */
static void gradients_of(double *g, const products *p, int64_t t) {
  const int32_t *tet = p->fem->tets->tets + 4 * t;
  const ds_element *e = &p->fem->elements[t];
  memset(g, 0, 9 * (size_t)p->r * sizeof *g);
  for (int a = 0; a < 4; a++) {
    double n[3] = {e->gradient[a].x, e->gradient[a].y, e->gradient[a].z};
    const double *u = p->reduced->node_basis + 3 * (int64_t)tet[a] * p->r;
    for (int32_t i = 0; i < p->r; i++)
      for (int x = 0; x < 3; x++)
        for (int y = 0; y < 3; y++) g[9 * i + 3 * x + y] += u[x * p->r + i] * n[y];
  }
}

/* The six numbers of a symmetric strain xx yy zz xy xz yz, a column of y; weight: sqrt(V). */
static void put(double *column, const products *p, double weight, const double strain[6]) {
  double trace = p->trace * (strain[0] + strain[1] + strain[2]);
  for (int i = 0; i < 3; i++) column[(int64_t)i * p->ld] = weight * p->diagonal * (strain[i] + trace);
  for (int i = 3; i < 6; i++) column[(int64_t)i * p->ld] = weight * p->side * strain[i];
}

/* h = sym(aᵀ b) / 2 */
static void half_product(double h[6], const double *a, const double *b) {
  static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
  for (int k = 0; k < 6; k++) {
    double s = 0;
    for (int x = 0; x < 3; x++)
      s += a[3 * x + row[k]] * b[3 * x + column[k]] + a[3 * x + column[k]] * b[3 * x + row[k]];
    h[k] = s / 4;
  }
}

/* All columns of y for one tetrahedron of the bunch. */
static void strains_of(void *context, int32_t item, int32_t worker) {
  products *p = context;
  int64_t t = p->first + item;
  double *g = p->gradient + 9 * (int64_t)item * p->r, *y = p->y + 6 * (int64_t)item * p->ld;
  (void)worker;
  if (t >= p->fem->tets->tet_count) {
    memset(y, 0, 6 * (size_t)p->ld * sizeof *y);
    return;
  }
  double weight = sqrt(p->fem->elements[t].volume);
  gradients_of(g, p, t);
  for (int32_t i = 0; i < p->r; i++) {
    const double *a = g + 9 * i;
    double e[6] = {a[0], a[4], a[8], (a[1] + a[3]) / 2, (a[2] + a[6]) / 2, (a[5] + a[7]) / 2};
    put(y + i, p, weight, e);
  }
  for (int32_t i = 0, at = p->r; i < p->r; i++)
    for (int32_t j = i; j < p->r; j++, at++) {
      double h[6];
      half_product(h, g + 9 * i, g + 9 * j);
      put(y + at, p, weight, h);
    }
}

/* gram -= yᵀ y for a strip of columns, from their diagonal down. */
static void add_strip(void *context, int32_t item, int32_t worker) {
  products *p = context;
  int32_t first = item * STRIP, columns = p->size - first < STRIP ? p->size - first : STRIP;
  ds_panel_run run = {first, first, p->size - first};
  (void)worker;
  ds_panel_update(p->gram + (int64_t)first * p->ld, p->y, p->y + first, &run, 1, columns, ROWS, p->ld, p->ld, DS_WHOLE);
}

static void sum_products(products *p, ds_pool *pool, const ds_reduce_meter *meter) {
  int32_t tets = p->fem->tets->tet_count, strips = (p->size + STRIP - 1) / STRIP;
  for (p->first = 0; p->first < tets; p->first += BUNCH) {
    ds_reduce_share(pool, BUNCH, strains_of, p);
    ds_reduce_share(pool, strips, add_strip, p);
    ds_reduce_tell(meter, (double)p->first / tets);
  }
}

static double product(const products *p, int32_t i, int32_t j) {
  return -p->gram[(int64_t)(i < j ? i : j) * p->ld + (i < j ? j : i)];
}

/* <h_ab, h_kc> */
static double product4(const products *p, int32_t a, int32_t b, int32_t k, int32_t c) {
  return product(p, pair_index(p->r, a, b), pair_index(p->r, k, c));
}

/* <e_k, h_ab> */
static double product3(const products *p, int32_t k, int32_t a, int32_t b) {
  return product(p, k, pair_index(p->r, a, b));
}

/* The coefficient of q_a q_b, a <= b: all orders of the indices. */
static double quadratic_of(const products *p, int32_t k, int32_t a, int32_t b) {
  double s = product3(p, k, a, b) + 2 * product3(p, a, k, b);
  return a == b ? s : s + product3(p, k, b, a) + 2 * product3(p, b, k, a);
}

/* The coefficient of q_a q_b q_c, a <= b <= c: the index beside k can be any of the different ones; the other two come
 * in two orders where they differ. */
static double cubic_of(const products *p, int32_t k, int32_t a, int32_t b, int32_t c) {
  double s = (a == b ? 2 : 4) * product4(p, a, b, k, c);
  if (b != c) s += (a == c ? 2 : 4) * product4(p, a, c, k, b);
  if (a != b) s += (b == c ? 2 : 4) * product4(p, b, c, k, a);
  return s;
}

static void coefficients(ds_reduced *x, const products *p) {
  int32_t r = x->r;
  double *quadratic = x->quadratic, *cubic = x->cubic;
  for (int32_t k = 0; k < r; k++) {
    for (int32_t a = 0; a < r; a++) {
      x->stiffness[k * r + a] = product(p, k, a);
      for (int32_t b = a; b < r; b++) {
        *quadratic++ = quadratic_of(p, k, a, b);
        for (int32_t c = b; c < r; c++) *cubic++ = cubic_of(p, k, a, b, c);
      }
    }
  }
}

ds_status ds_stvk_polynomials(ds_reduced *x, const ds_fem *fem, ds_pool *pool, const ds_reduce_meter *meter,
                              ds_error *error) {
  int32_t r = x->r, size = r + r * (r + 1) / 2;
  products p = {.reduced = x, .fem = fem, .r = r, .size = size, .ld = (size + 7) / 8 * 8};
  p.diagonal = sqrt(2 * fem->shear);
  p.side = 2 * sqrt(fem->shear);
  p.trace = (sqrt(1 + 1.5 * fem->lame / fem->shear) - 1) / 3;
  size_t ld = (size_t)p.ld;
  p.y = calloc(ROWS * ld, sizeof(double));
  p.gradient = malloc(9 * BUNCH * (size_t)r * sizeof(double));
  p.gram = calloc(ld * ld, sizeof(double));
  ds_status status = DS_OK;
  if (p.y && p.gradient && p.gram) {
    sum_products(&p, pool, meter);
    coefficients(x, &p);
  } else {
    status = ds_fail(error, DS_ERROR_MEMORY, "memory ran out for the polynomials of %d reduced coordinates", r);
  }
  free(p.y);
  free(p.gradient);
  free(p.gram);
  return status;
}
