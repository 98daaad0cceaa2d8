/* Where the vertex of a loop goes: the point nearest, in the least squares, to the tangent planes at the crossings of
 * its cell [Ju et al. 2002].
 *
 * Directions that the planes hardly determine (less than 5 % of the largest eigenvalue, a bend of less than 25 degrees)
 * are left at the mean of the crossings. The vertex stays in its cell; but an edge or corner that reaches just out of
 * it, is followed there. A cell asks its neighbours' planes for an edge or corner that it does not know of: one is
 * taken where f vanishes there, in the cell or an empty one beside it, once. */
#include <string.h>

#include "base/array.h"
#include "mesh/lattice.h"

enum { PLANES_MAX = 27 * 12 };

typedef struct planes {
  const ds_lattice_crossing *of[PLANES_MAX];
  int count;
} planes;

typedef struct fit {
  double a[3][3], b[3]; /* least squares: a d = b, d from the mean */
  double d[3];
  int rank;
} fit;

/* Eigenvalues w and vectors (columns of v) of a symmetric matrix, by Jacobi's rotations. */
static void eigen(double w[3], double v[3][3], double a[3][3]) {
  memset(v, 0, 9 * sizeof(double));
  for (int i = 0; i < 3; i++) v[i][i] = 1;
  for (int sweep = 0; sweep < 12; sweep++)
    for (int p = 0; p < 2; p++)
      for (int q = p + 1; q < 3; q++) {
        if (fabs(a[p][q]) < 1e-18 * (fabs(a[p][p]) + fabs(a[q][q]))) continue;
        double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
        double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1)), c = 1 / sqrt(t * t + 1), s = t * c;
        for (int k = 0; k < 3; k++) {
          double x = a[k][p], y = a[k][q];
          a[k][p] = c * x - s * y, a[k][q] = s * x + c * y;
        }
        for (int k = 0; k < 3; k++) {
          double x = a[p][k], y = a[q][k];
          a[p][k] = c * x - s * y, a[q][k] = s * x + c * y;
          x = v[k][p], y = v[k][q];
          v[k][p] = c * x - s * y, v[k][q] = s * x + c * y;
        }
      }
  for (int i = 0; i < 3; i++) w[i] = a[i][i];
}

/* min 1/2 dᵀAd - bᵀd within low <= d <= high, by coordinates in turn; A is 3x3, made definite by a little of I. */
static void minimize_within(double d[3], double a[3][3], const double b[3], const double low[3], const double high[3]) {
  double little = 1e-3 * (a[0][0] + a[1][1] + a[2][2]) + 1e-30;
  for (int k = 0; k < 3; k++) d[k] = fmin(fmax(d[k], low[k]), high[k]);
  for (int sweep = 0; sweep < 40; sweep++)
    for (int k = 0; k < 3; k++) {
      double g = b[k];
      for (int j = 0; j < 3; j++)
        if (j != k) g -= a[k][j] * d[j];
      d[k] = fmin(fmax(g / (a[k][k] + little), low[k]), high[k]);
    }
}

static fit solve(const planes *p, ds_vec3 mean, double least) {
  fit f = {.rank = 0};
  double a[3][3], w[3], v[3][3], largest = 0;
  for (int i = 0; i < p->count; i++) {
    const double n[3] = {p->of[i]->normal.x, p->of[i]->normal.y, p->of[i]->normal.z};
    double r = v3_dot(p->of[i]->normal, v3_sub(p->of[i]->x, mean));
    for (int j = 0; j < 3; j++) {
      f.b[j] += n[j] * r;
      for (int k = 0; k < 3; k++) f.a[j][k] += n[j] * n[k];
    }
  }
  memcpy(a, f.a, sizeof a);
  eigen(w, v, a);
  for (int i = 0; i < 3; i++) largest = fmax(largest, w[i]);
  for (int i = 0; i < 3; i++) {
    if (!(w[i] > least * largest)) continue;
    f.rank++;
    double c = (v[0][i] * f.b[0] + v[1][i] * f.b[1] + v[2][i] * f.b[2]) / w[i];
    for (int k = 0; k < 3; k++) f.d[k] += c * v[k][i];
  }
  return f;
}

/* How far x is out of the cell, in cells; 0 within. */
static double outside(const ds_lattice *l, ds_vec3 corner, ds_vec3 x) {
  ds_vec3 d = v3_scale(1 / l->h, v3_sub(x, corner));
  double margin = 1e-4, far = fmax(fmax(fabs(d.x - 0.5), fabs(d.y - 0.5)), fabs(d.z - 0.5)) - 0.5;
  return far > -margin ? far + margin : 0;
}

/* Whether a corner may be put there: no vertex is there, and no other cell's corner. */
static bool claim(ds_lattice *l, ds_vec3 x) {
  enum { CLAIMS_MAX = 4096 };
  for (int32_t i = 0; i < l->claim_count; i++)
    if (v3_dist(l->claims[i], x) < 0.5 * l->h) return false;
  if (ds_lattice_find(l, x) >= 0 || l->claim_count >= CLAIMS_MAX) return false;
  if (!ds_array_reserve(&l->claims, &l->claim_capacity, l->claim_count + 1, sizeof *l->claims)) {
    l->failed = true;
    return false;
  }
  l->claims[l->claim_count++] = x;
  return true;
}

/* The corner, or the edge where none was known, that the planes of this cell and its neighbours make. */
static bool find_more(ds_vec3 *x, ds_lattice *l, const ds_lattice_cell *cell, ds_vec3 mean, ds_vec3 corner, int rank) {
  planes p = {.count = 0};
  const int32_t *at = l->points[cell->corner[0]].at;
  for (int k = 0; k < 27; k++) {
    double i = at[0] + k % 3 - 0.5, j = at[1] + k / 3 % 3 - 0.5, m = at[2] + k / 9 - 0.5;
    int32_t other = ds_lattice_find(l, v3_add(l->origin, v3_scale(l->h, v3(i, j, m))));
    for (int32_t e = 0; other >= 0 && e < 12; e++)
      if (l->cells[other].loop[e] >= 0) p.of[p.count++] = &l->crossings[ds_lattice_edge(l, &l->cells[other], e)];
  }
  fit f = solve(&p, mean, rank == 2 ? 0.002 : 0.05);
  if (f.rank <= rank) return false;
  *x = v3_add(mean, v3(f.d[0], f.d[1], f.d[2]));
  double far = outside(l, corner, *x);
  if (far > 0.9 || (far > 0 && rank < 2) || fabs(l->f(l->context, *x)) > 0.02 * l->h) return false;
  return far == 0 || claim(l, *x);
}

ds_vec3 ds_lattice_fit(ds_vec3 *mean, int8_t *bold, ds_lattice *l, const ds_lattice_cell *cell, int32_t loop) {
  planes p = {.count = 0};
  const int32_t *at = l->points[cell->corner[0]].at;
  ds_vec3 corner = v3_add(l->origin, v3_scale(l->h, v3(at[0], at[1], at[2]))), sum = {0, 0, 0}, x;
  for (int32_t e = 0; e < 12; e++) {
    if (cell->loop[e] != loop) continue;
    p.of[p.count] = &l->crossings[ds_lattice_edge(l, cell, e)];
    sum = v3_add(sum, p.of[p.count++]->x);
  }
  *mean = v3_scale(1.0 / p.count, sum);
  fit f = solve(&p, *mean, 0.05);
  *bold = 0;
  if (f.rank < 3 && cell->loops == 1 && find_more(&x, l, cell, *mean, corner, f.rank)) {
    if (f.rank == 2) *bold = 2;
    return x;
  }
  x = v3_add(*mean, v3(f.d[0], f.d[1], f.d[2]));
  double far = outside(l, corner, x);
  if (far == 0) return x;
  bool edge = f.rank == 2 && (far < 0.5 || (far < 0.9 && ds_lattice_find(l, x) < 0));
  if (edge || (f.rank == 3 && far < 0.9 && claim(l, x))) {
    *bold = edge ? 1 : 2;
    return x;
  }
  double margin = 1e-4 * l->h;
  ds_vec3 low = v3_sub(v3_add(corner, v3(margin, margin, margin)), *mean);
  ds_vec3 high = v3_sub(v3_add(corner, v3(l->h - margin, l->h - margin, l->h - margin)), *mean);
  minimize_within(f.d, f.a, f.b, (const double[3]){low.x, low.y, low.z}, (const double[3]){high.x, high.y, high.z});
  return v3_add(*mean, v3(f.d[0], f.d[1], f.d[2]));
}
