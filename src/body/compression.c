/* Resistance to compression of St. Venant-Kirchhoff bodies, and the range of both kinds of reduced bodies.
 *
 * The material of St. Venant and Kirchhoff gets weaker from a stretch of 1/sqrt3 = 0.577 on, and at a stretch of -1,
 * inside out, it has no energy and stays so. Tetrahedra whose volume is less than J0 of what it was therefore get the
 * energy
 *
 *   V phi(J),   phi = kappa (J0 - J)³/J,   J = det F,   J0 = 1/sqrt3,   kappa = (lambda + 2 mu)/6,
 *
 * after the idea of Kikuuwe, Tabuchi and Yamamoto (2009), with phi'' = 2 kappa ((J0/J)³ - 1). These are the largest J0
 * and the least kappa for which the energy of a stretch s in one direction is convex below s = 1: its second derivative
 * without it, (lambda + 2 mu) (3 s² - 1)/2, has the tangent (lambda + 2 mu) sqrt3 (s - J0) where it changes sign, and
 * lies above it; phi'' has the slope -6 kappa/J0 there, and lies above its tangent too. Below J = LEAST phi goes on as
 * its parabola, so that a step which has gone too far finds its way back. It is twice continuously differentiable, and
 * nothing where every J > J0. From any deformation of a tetrahedron the way down ends in the undeformed one
 * (test_compression).
 *
 * J is the volume over the undeformed one, (e1 x e2) . e3 / 6V with edges e from the first corner: with E_k = U_k - U_0
 * (3 x r) the derivatives are
 *
 *   dJ/dq  = (E1ᵀ (e2 x e3) + E2ᵀ (e3 x e1) + E3ᵀ (e1 x e2)) / 6V
 *   d²J/dq² = (A + Aᵀ) / 6V,   A = -E1ᵀ [e3] E2 + E1ᵀ [e2] E3 - E2ᵀ [e1] E3,   [e] x = e x x.
 *
 * Tetrahedra are looked at in clusters of neighbours, whose nodes are placed together. The gradients G_a of the
 * displacement along the coordinates bound what q does to a cluster: no singular value of its F = 1 + G is farther from
 * 1 than b = sum_a |q_a| max |G_a|, and where (1 - b)³ > J0 it is passed over. What turns and bends has a large b and
 * keeps its volume: there, with the mean A of F and d = sum_a |q_a| max |G_a - mean G_a|,
 *
 *   J = det A + cof A : D + A : cof D + det D >= det A - |cof A| d - |A| d² - d³   for F = A + D, |D| <= d. */
#include "body/compression.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "la/runs.h"

enum { CLUSTER = 48, CORNERS = 4 * CLUSTER }; /* tetrahedra and nodes of a cluster, at most */

static const double J0 = 0.57735026918962576451; /* 1/sqrt3 */
static const double LEAST = 0.1; /* a resistance of 3 (lambda + 2 mu): a cube of rho g L = 2 E rests above it */
static const double J0_REACH = 0.16731964420154788; /* 1 - J0^(1/3) */

/* ---- building ---- */

typedef struct sorting {
  int32_t *order;
  ds_vec3 *center;
  int axis;
} sorting;

static double coordinate(ds_vec3 p, int axis) { return axis == 0 ? p.x : axis == 1 ? p.y : p.z; }

/* By the centre's coordinate, then by number: the same order for any sort. */
static bool is_before(const sorting *s, int32_t a, int32_t b) {
  double x = coordinate(s->center[a], s->axis), y = coordinate(s->center[b], s->axis);
  return x < y || (!(y < x) && a < b);
}

/* Puts the `middle` first of [low, high) before the others. */
static void select_first(const sorting *s, int32_t low, int32_t high, int32_t middle) {
  int32_t *o = s->order;
  for (high--; low < high;) {
    int32_t pivot = o[low + (high - low) / 2], i = low, j = high;
    while (i <= j) {
      while (is_before(s, o[i], pivot)) i++;
      while (is_before(s, pivot, o[j])) j--;
      if (i > j) break;
      int32_t t = o[i];
      o[i++] = o[j], o[j--] = t;
    }
    if (middle <= j)
      high = j;
    else if (middle >= i)
      low = i;
    else
      return;
  }
}

static int longest_axis(const sorting *s, int32_t first, int32_t count) {
  ds_vec3 low = s->center[s->order[first]], high = low;
  for (int32_t i = first; i < first + count; i++) {
    low = v3_min(low, s->center[s->order[i]]);
    high = v3_max(high, s->center[s->order[i]]);
  }
  ds_vec3 d = v3_sub(high, low);
  return d.x >= d.y && d.x >= d.z ? 0 : d.y >= d.z ? 1 : 2;
}

/* Halves until a cluster is small enough. Returns the number of clusters so far. */
static int32_t divide(ds_clusters *c, sorting *s, int32_t first, int32_t count, int32_t clusters) {
  if (count <= CLUSTER) {
    c->list[clusters] = (ds_cluster){.first = first, .count = count};
    return clusters + 1;
  }
  s->axis = longest_axis(s, first, count);
  int32_t half = count / 2;
  select_first(s, first, first + count, first + half);
  clusters = divide(c, s, first, half, clusters);
  return divide(c, s, first + half, count - half, clusters);
}

/* The nodes of a cluster, each once, and the places of its corners among them. */
static void list_nodes(ds_clusters *c, ds_cluster *cluster, const ds_reduced *x, const int32_t *order, int32_t *place) {
  int32_t *list = c->node + cluster->first_node;
  for (int32_t t = cluster->first; t < cluster->first + cluster->count; t++)
    for (int k = 0; k < 4; k++) {
      int32_t node = x->tets.tets[4 * (int64_t)order[t] + k];
      if (place[node] < 0) list[cluster->node_count] = node, place[node] = cluster->node_count++;
      c->corner[4 * (int64_t)t + k] = (uint8_t)place[node];
    }
  for (int32_t i = 0; i < cluster->node_count; i++) place[list[i]] = -1;
}

/* The gradients of the shape functions of three corners times 6V, and 6V. */
static double corner_normals(ds_vec3 n[3], const ds_vec3 *nodes, const int32_t *tet) {
  ds_vec3 e[3];
  for (int k = 0; k < 3; k++) e[k] = v3_sub(nodes[tet[k + 1]], nodes[tet[0]]);
  for (int k = 0; k < 3; k++) n[k] = v3_cross(e[(k + 1) % 3], e[(k + 2) % 3]);
  return v3_dot(e[0], n[0]);
}

/* g (9 x r) := G_a of a tetrahedron for every coordinate a */
static void gradients_of(double *g, const ds_reduced *x, const int32_t *tet, const ds_vec3 normal[3]) {
  int32_t r = x->r;
  const double *u0 = x->node_basis + 3 * (int64_t)tet[0] * r;
  for (int32_t a = 0; a < r; a++)
    for (int i = 0; i < 3; i++) {
      ds_vec3 row = v3(0, 0, 0);
      for (int k = 0; k < 3; k++) {
        const double *u = x->node_basis + 3 * (int64_t)tet[k + 1] * r;
        row = v3_mad(row, u[i * r + a] - u0[i * r + a], normal[k]);
      }
      g[3 * i * r + a] = row.x, g[(3 * i + 1) * r + a] = row.y, g[(3 * i + 2) * r + a] = row.z;
    }
}

/* far[a] := the larger of it and of |G_a - M_a|, by Frobenius; M may be NULL, zero */
static void add_distance(double *far, const double *g, const double *mean, int32_t r) {
  for (int32_t a = 0; a < r; a++) {
    double square = 0;
    for (int k = 0; k < 9; k++) {
      double d = g[k * r + a] - (mean ? mean[k * r + a] : 0);
      square += d * d;
    }
    far[a] = fmax(far[a], sqrt(square));
  }
}

/* The bounds of one cluster. */
static void fill_bounds(ds_clusters *c, int32_t index, const ds_reduced *x, const int32_t *order) {
  const ds_cluster *cluster = &c->list[index];
  int32_t r = x->r, count = 0;
  double g[9 * DS_REDUCED_MAX], *mean = c->mean + 9 * (int64_t)index * r;
  for (int pass = 0; pass < 2; pass++) {
    for (int32_t t = cluster->first; t < cluster->first + cluster->count; t++) {
      if (!(c->inverse[t] > 0)) continue;
      gradients_of(g, x, x->tets.tets + 4 * (int64_t)order[t], c->normal + 3 * (int64_t)t);
      if (pass == 1)
        add_distance(c->spread + (int64_t)index * r, g, mean, r);
      else {
        add_distance(c->growth + (int64_t)index * r, g, NULL, r);
        ds_run_add(mean, g, 1, 9 * r);
        count++;
      }
    }
    for (int32_t k = 0; pass == 0 && k < 9 * r && count > 0; k++) mean[k] /= count;
  }
}

static void fill_clusters(ds_clusters *c, const ds_reduced *x, const int32_t *order, int32_t *place) {
  int32_t nodes = 0;
  for (int32_t i = 0; i < c->count; i++) {
    ds_cluster *cluster = &c->list[i];
    cluster->first_node = nodes;
    list_nodes(c, cluster, x, order, place);
    nodes += cluster->node_count;
    for (int32_t t = cluster->first; t < cluster->first + cluster->count; t++) {
      ds_vec3 n[3];
      double volume = corner_normals(n, x->tets.nodes, x->tets.tets + 4 * (int64_t)order[t]);
      c->inverse[t] = volume > DBL_MIN ? 1 / volume : 0; /* by hand, with no volume: it does not count */
      for (int k = 0; k < 3; k++) c->normal[3 * (int64_t)t + k] = v3_scale(c->inverse[t], n[k]);
    }
    fill_bounds(c, i, x, order);
  }
}

bool ds_clusters_build(ds_reduced *x) {
  ds_clusters *c = &x->clusters;
  size_t tets = (size_t)x->tets.tet_count, nodes = (size_t)x->tets.node_count, most = 2 * tets / CLUSTER + 2;
  sorting s = {malloc(tets * sizeof *s.order), malloc(tets * sizeof *s.center), 0};
  int32_t *place = malloc(nodes * sizeof *place);
  c->list = calloc(most, sizeof *c->list);
  c->node = malloc(4 * tets * sizeof *c->node);
  c->corner = malloc(4 * tets);
  c->inverse = malloc(tets * sizeof *c->inverse);
  c->normal = malloc(3 * tets * sizeof *c->normal);
  c->growth = calloc(most * (size_t)x->r, sizeof *c->growth);
  c->mean = calloc(9 * most * (size_t)x->r, sizeof *c->mean);
  c->spread = calloc(most * (size_t)x->r, sizeof *c->spread);
  bool ok = s.order && s.center && place && c->list && c->node && c->corner && c->inverse && c->normal && c->growth &&
            c->mean && c->spread;
  for (size_t t = 0; ok && t < tets; t++) {
    const int32_t *tet = x->tets.tets + 4 * t;
    s.order[t] = (int32_t)t;
    s.center[t] = v3(0, 0, 0);
    for (int k = 0; k < 4; k++) s.center[t] = v3_mad(s.center[t], 0.25, x->tets.nodes[tet[k]]);
  }
  if (ok) {
    for (size_t i = 0; i < nodes; i++) place[i] = -1;
    c->count = divide(c, &s, 0, (int32_t)tets, 0);
    fill_clusters(c, x, s.order, place);
  }
  free(s.order);
  free(s.center);
  free(place);
  return ok;
}

void ds_clusters_free(ds_clusters *c) {
  void *blocks[] = {c->list, c->node, c->corner, c->inverse, c->normal, c->growth, c->mean, c->spread};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) free(blocks[i]);
  *c = (ds_clusters){0};
}

/* ---- looking at tetrahedra ---- */

/* The farthest that a singular value of F can be from 1. */
static double reach_of(const ds_reduced *x, const double *q, int32_t cluster) {
  double reach = 0;
  const double *growth = x->clusters.growth + (int64_t)cluster * x->r;
  for (int32_t a = 0; a < x->r; a++) reach += fabs(q[a]) * growth[a];
  return reach;
}

/* What J of a tetrahedron of a cluster is at least. */
static double least_volume(const ds_reduced *x, const double *q, int32_t cluster) {
  int32_t r = x->r;
  const double *mean = x->clusters.mean + 9 * (int64_t)cluster * r, *spread = x->clusters.spread + (int64_t)cluster * r;
  double f[9], d = 0;
  for (int k = 0; k < 9; k++) f[k] = (k % 4 == 0) + ds_run_dot(mean + k * r, q, r);
  for (int32_t a = 0; a < r; a++) d += fabs(q[a]) * spread[a];
  ds_vec3 r0 = v3(f[0], f[1], f[2]), r1 = v3(f[3], f[4], f[5]), r2 = v3(f[6], f[7], f[8]);
  ds_vec3 c0 = v3_cross(r1, r2), c1 = v3_cross(r2, r0), c2 = v3_cross(r0, r1);
  double cofactors = sqrt(v3_norm2(c0) + v3_norm2(c1) + v3_norm2(c2));
  double size = sqrt(v3_norm2(r0) + v3_norm2(r1) + v3_norm2(r2));
  return v3_dot(r0, c0) - (cofactors + (size + d) * d) * d;
}

static void place_nodes(ds_vec3 *y, const ds_reduced *x, const double *q, const ds_cluster *cluster);
DS_INLINE void place_nodes_body(ds_vec3 *y, const ds_reduced *x, const double *q, const ds_cluster *cluster) {
  int32_t r = x->r;
  for (int32_t i = 0; i < cluster->node_count; i++) {
    int32_t node = x->clusters.node[cluster->first_node + i];
    const double *u = x->node_basis + 3 * (int64_t)node * r;
    ds_vec3 d = v3(ds_run_dot(u, q, r), ds_run_dot(u + r, q, r), ds_run_dot(u + 2 * r, q, r));
    y[i] = v3_add(x->tets.nodes[node], d);
  }
}
DS_KERNEL(place_nodes, (ds_vec3 * y, const ds_reduced *x, const double *q, const ds_cluster *cluster),
          (y, x, q, cluster))

/* The edges from the first corner; J. */
static double edges_of(ds_vec3 e[3], const ds_clusters *c, const ds_vec3 *y, int32_t t) {
  const uint8_t *corner = c->corner + 4 * (int64_t)t;
  for (int k = 0; k < 3; k++) e[k] = v3_sub(y[corner[k + 1]], y[corner[0]]);
  return c->inverse[t] * v3_dot(e[0], v3_cross(e[1], e[2]));
}

/* kappa V of a tetrahedron */
static double weight_of(const ds_reduced *x, int32_t t) {
  double nu = x->info.poisson, p = x->info.young * (1 - nu) / ((1 + nu) * (1 - 2 * nu)); /* lambda + 2 mu */
  return p / 6 / (6 * x->clusters.inverse[t]);
}

/* phi, or its first or second derivative, over kappa. */
static double barrier(double j, int derivative) {
  double at = fmax(j, LEAST), d = J0 - at, below = j - at, s = J0 / at;
  double bend = 2 * (s * s * s - 1), slope = -d * d * (2 * at + J0) / (at * at);
  if (derivative == 2) return bend;
  if (derivative == 1) return slope + bend * below;
  return d * d * d / at + (slope + 0.5 * bend * below) * below;
}

/* What is done with every tetrahedron that is pressed below J0. */
typedef void pressed(double *out, const ds_reduced *x, const ds_cluster *cluster, int32_t t, const ds_vec3 e[3],
                     double j);

static void for_pressed(double *out, const ds_reduced *x, const double *q, pressed *visit) {
  const ds_clusters *c = &x->clusters;
  ds_vec3 y[CORNERS], e[3];
  for (int32_t i = 0; i < c->count; i++) {
    const ds_cluster *cluster = &c->list[i];
    if (reach_of(x, q, i) < J0_REACH || least_volume(x, q, i) > J0) continue;
    place_nodes(y, x, q, cluster);
    for (int32_t t = cluster->first; t < cluster->first + cluster->count; t++) {
      double j = edges_of(e, c, y, t);
      if (j < J0 && c->inverse[t] > 0) visit(out, x, cluster, t, e, j);
    }
  }
}

static void add_energy(double *out, const ds_reduced *x, const ds_cluster *cluster, int32_t t, const ds_vec3 e[3],
                       double j) {
  (void)cluster, (void)e;
  *out += weight_of(x, t) * barrier(j, 0);
}

double ds_compression_energy(const ds_reduced *x, const double *q) {
  double energy = 0;
  for_pressed(&energy, x, q, add_energy);
  return energy;
}

/* E_1, E_2, E_3 (3 x r each) of a tetrahedron, one after the other */
static void edge_bases(double *basis, const ds_reduced *x, const ds_cluster *cluster, int32_t t) {
  int32_t length = 3 * x->r;
  const int32_t *node = x->clusters.node + cluster->first_node;
  const uint8_t *corner = x->clusters.corner + 4 * (int64_t)t;
  const double *u0 = x->node_basis + (int64_t)node[corner[0]] * length;
  for (int k = 0; k < 3; k++) {
    const double *u = x->node_basis + (int64_t)node[corner[k + 1]] * length;
    for (int32_t i = 0; i < length; i++) basis[k * length + i] = u[i] - u0[i];
  }
}

/* g (r) := dJ/dq */
static void volume_gradient(double *g, const double *basis, const ds_vec3 e[3], double inverse, int32_t r);
DS_INLINE void volume_gradient_body(double *g, const double *basis, const ds_vec3 e[3], double inverse, int32_t r) {
  memset(g, 0, (size_t)r * sizeof *g);
  for (int k = 0; k < 3; k++) {
    ds_vec3 n = v3_scale(inverse, v3_cross(e[(k + 1) % 3], e[(k + 2) % 3]));
    const double *b = basis + 3 * k * r;
    ds_run_add(g, b, n.x, r);
    ds_run_add(g, b + r, n.y, r);
    ds_run_add(g, b + 2 * r, n.z, r);
  }
}
DS_KERNEL(volume_gradient, (double *g, const double *basis, const ds_vec3 e[3], double inverse, int32_t r),
          (g, basis, e, inverse, r))

static void add_force(double *out, const ds_reduced *x, const ds_cluster *cluster, int32_t t, const ds_vec3 e[3],
                      double j) {
  double basis[9 * DS_REDUCED_MAX], g[DS_REDUCED_MAX];
  double slope = weight_of(x, t) * barrier(j, 1);
  edge_bases(basis, x, cluster, t);
  volume_gradient(g, basis, e, x->clusters.inverse[t], x->r);
  for (int32_t a = 0; a < x->r; a++) out[a] += slope * g[a];
}

void ds_compression_force(double *f, const ds_reduced *x, const double *q) { for_pressed(f, x, q, add_force); }

/* y := s [e] b, columns of 3 x r */
DS_INLINE void cross_columns(double *y, const double *b, ds_vec3 e, double s, int32_t r) {
  memset(y, 0, 3 * (size_t)r * sizeof *y);
  ds_run_add(y, b + 2 * r, s * e.y, r);
  ds_run_add(y, b + r, -s * e.z, r);
  ds_run_add(y + r, b, s * e.z, r);
  ds_run_add(y + r, b + 2 * r, -s * e.x, r);
  ds_run_add(y + 2 * r, b + r, s * e.x, r);
  ds_run_add(y + 2 * r, b, -s * e.y, r);
}

/* k += bend g gᵀ + slope d²J/dq², on and below the diagonal. A + Aᵀ is E1ᵀ Y1 + E2ᵀ Y2 + E3ᵀ Y3 with Y1 = [e2] E3 -
 * [e3] E2 and so on in turn: the derivative of the normal e2 x e3 and of the others. */
static void add_curvature(double *k, const double *basis, const double *g, const ds_vec3 e[3], double bend,
                          double slope, int32_t r);
DS_INLINE void add_curvature_body(double *k, const double *basis, const double *g, const ds_vec3 e[3], double bend,
                                  double slope, int32_t r) {
  double turned[3 * DS_REDUCED_MAX], other[3 * DS_REDUCED_MAX];
  for (int32_t i = 0; i < r; i++) ds_run_add(k + i * r, g, bend * g[i], i + 1);
  for (int m = 0; m < 3; m++) {
    int n = (m + 1) % 3, o = (m + 2) % 3;
    const double *b = basis + 3 * m * r;
    cross_columns(turned, basis + 3 * o * r, e[n], slope, r);
    cross_columns(other, basis + 3 * n * r, e[o], -slope, r);
    ds_run_add(turned, other, 1, 3 * r);
    for (int32_t i = 0; i < r; i++)
      for (int32_t a = 0; a < 3; a++) ds_run_add(k + i * r, turned + a * r, b[a * r + i], i + 1);
  }
}
DS_KERNEL(add_curvature,
          (double *k, const double *basis, const double *g, const ds_vec3 e[3], double bend, double slope, int32_t r),
          (k, basis, g, e, bend, slope, r))

static void add_stiffness(double *out, const ds_reduced *x, const ds_cluster *cluster, int32_t t, const ds_vec3 e[3],
                          double j) {
  double basis[9 * DS_REDUCED_MAX], g[DS_REDUCED_MAX];
  double weight = weight_of(x, t), inverse = x->clusters.inverse[t];
  edge_bases(basis, x, cluster, t);
  volume_gradient(g, basis, e, inverse, x->r);
  add_curvature(out, basis, g, e, weight * barrier(j, 2), weight * barrier(j, 1) * inverse, x->r);
}

void ds_compression_stiffness(double *k, const ds_reduced *x, const double *q) { for_pressed(k, x, q, add_stiffness); }

/* ---- range ---- */

/* The largest eigenvalue of the symmetric matrix GᵀG (Smith 1961), G from edges: sum of (e_k - e_k at rest) normal_kᵀ.
 */
static double largest_stretch(const ds_vec3 row[3]) {
  double a00 = 0, a11 = 0, a22 = 0, a01 = 0, a02 = 0, a12 = 0;
  for (int i = 0; i < 3; i++) {
    a00 += row[i].x * row[i].x, a11 += row[i].y * row[i].y, a22 += row[i].z * row[i].z;
    a01 += row[i].x * row[i].y, a02 += row[i].x * row[i].z, a12 += row[i].y * row[i].z;
  }
  double mean = (a00 + a11 + a22) / 3, side = a01 * a01 + a02 * a02 + a12 * a12;
  double b0 = a00 - mean, b1 = a11 - mean, b2 = a22 - mean;
  double p = sqrt((b0 * b0 + b1 * b1 + b2 * b2 + 2 * side) / 6);
  if (!(p > 0)) return mean;
  double det = b0 * (b1 * b2 - a12 * a12) - a01 * (a01 * b2 - a12 * a02) + a02 * (a01 * a12 - b1 * a02);
  double c = fmin(fmax(det / (2 * p * p * p), -1), 1);
  return mean + 2 * p * cos(acos(c) / 3);
}

/* |GᵀG|/2 of one tetrahedron. */
static double nonlinear_of(const ds_reduced *x, const ds_cluster *cluster, int32_t t, const ds_vec3 e[3]) {
  const ds_clusters *c = &x->clusters;
  const int32_t *node = c->node + cluster->first_node;
  const uint8_t *corner = c->corner + 4 * (int64_t)t;
  ds_vec3 row[3] = {v3(0, 0, 0), v3(0, 0, 0), v3(0, 0, 0)};
  for (int k = 0; k < 3; k++) {
    ds_vec3 rest = v3_sub(x->tets.nodes[node[corner[k + 1]]], x->tets.nodes[node[corner[0]]]);
    ds_vec3 d = v3_sub(e[k], rest), n = c->normal[3 * (int64_t)t + k];
    row[0] = v3_mad(row[0], d.x, n);
    row[1] = v3_mad(row[1], d.y, n);
    row[2] = v3_mad(row[2], d.z, n);
  }
  return largest_stretch(row) / 2;
}

ds_extent ds_reduced_extent(const ds_reduced *x, const double *q, double least) {
  const ds_clusters *c = &x->clusters;
  ds_extent extent = {0, 0};
  ds_vec3 y[CORNERS], e[3];
  for (int32_t i = 0; i < c->count; i++) {
    const ds_cluster *cluster = &c->list[i];
    double reach = reach_of(x, q, i);
    if (reach < 1 && reach * reach / 2 <= least) continue;
    if (!isfinite(least) && least_volume(x, q, i) > 0) continue;
    place_nodes(y, x, q, cluster);
    for (int32_t t = cluster->first; t < cluster->first + cluster->count; t++) {
      double j = edges_of(e, c, y, t);
      if (!(c->inverse[t] > 0)) continue;
      extent.inverted += !(j > 0);
      if (isfinite(least)) extent.nonlinear = fmax(extent.nonlinear, nonlinear_of(x, cluster, t, e));
    }
  }
  return extent;
}

bool ds_reduced_is_inverted(const ds_reduced *x, const double *q) {
  const ds_clusters *c = &x->clusters;
  ds_vec3 y[CORNERS], e[3];
  for (int32_t i = 0; i < c->count; i++) {
    const ds_cluster *cluster = &c->list[i];
    if (reach_of(x, q, i) < 1 || least_volume(x, q, i) > 0) continue;
    place_nodes(y, x, q, cluster);
    for (int32_t t = cluster->first; t < cluster->first + cluster->count; t++)
      if (!(edges_of(e, c, y, t) > 0) && c->inverse[t] > 0) return true;
  }
  return false;
}
