/* Three cases. Open: q_N >= 0, r = 0. Stick: W r = -q lies in the cone. Slide: u_N = 0, u_T = -lambda r_T with
 * lambda > 0, |r_T| = mu r_N. With r_N = -(q_N + w·r_T)/W_NN, w = W_TN, both are
 *
 *   (A + lambda I) r_T = -b,   A = W_TT - w wᵀ/W_NN,   b = q_T - w q_N/W_NN,
 *
 * with lambda = 0 where it sticks and else the root of |r_T(lambda)| - mu r_N(lambda): positive at 0, because it does
 * not stick, and negative for large lambda, where r_T vanishes and r_N = -q_N/W_NN > 0. In the eigenvectors of A r_T is
 * two quotients. 1/|r_T| - 1/(mu r_N) has the same root and is nearly straight (and straight where A = a I and w = 0),
 * so that Newton needs few steps; a bracket catches it where it goes astray. */
#include "project/single_contact.h"

#include <math.h>
#include <stdbool.h>

#include "project/single_polygon.h"

/* Where W has rank 1 or 2, as of a linkage with few free coordinates, A is singular but for rounding, and a quotient of
 * two roundings is any number: impulses of 1e100 N s came out. */
static const double ROUNDING = 1e-13; /* of the terms whose sum is A, or b: what is left there is nothing */

void ds_single_contact_prepare(ds_single_contact *k, const double w[9]) {
  double wn = w[0], w1 = w[3], w2 = w[6], inverse = wn > 0 ? 1 / wn : 0;
  double a11 = w[4] - w1 * w1 * inverse, a12 = w[5] - w1 * w2 * inverse, a22 = w[8] - w2 * w2 * inverse;
  double half = 0.5 * (a11 - a22), mean = 0.5 * (a11 + a22), radius = sqrt(half * half + a12 * a12);
  double rounding = ROUNDING * (w[4] + w[8]);
  double e1 = half >= 0 ? half + radius : a12, e2 = half >= 0 ? a12 : radius - half, length = sqrt(e1 * e1 + e2 * e2);
  if (length > 0)
    e1 /= length, e2 /= length;
  else
    e1 = 1, e2 = 0;
  *k = (ds_single_contact){{wn, w1, w2, w[4], w[5], w[8]},
                           inverse,
                           {e1, e2},
                           {mean + radius > rounding ? mean + radius : 0, mean - radius > rounding ? mean - radius : 0},
                           {(e1 * w1 + e2 * w2) * inverse, (e1 * w2 - e2 * w1) * inverse}};
}

/* r_T and r_N for a lambda, with r_T in the eigenvectors, and their derivatives. */
typedef struct slip {
  double t[2], size, normal, dsize, dnormal;
} slip;

static slip slip_at(const ds_single_contact *k, const double b[2], double normal, double lambda) {
  slip s;
  double f0 = 1 / (k->a[0] + lambda), f1 = 1 / (k->a[1] + lambda);
  s.t[0] = b[0] == 0 ? 0 : -b[0] * f0;
  s.t[1] = b[1] == 0 ? 0 : -b[1] * f1;
  s.size = sqrt(s.t[0] * s.t[0] + s.t[1] * s.t[1]);
  s.normal = normal - k->c[0] * s.t[0] - k->c[1] * s.t[1];
  s.dsize = -(s.t[0] * s.t[0] * f0 + s.t[1] * s.t[1] * f1) / s.size;
  s.dnormal = k->c[0] * s.t[0] * f0 + k->c[1] * s.t[1] * f1;
  return s;
}

/* `normal` is r_N where r_T = 0. */
static slip slide(const ds_single_contact *k, const double b[2], double normal, double mu) {
  double low = 0, high = INFINITY;
  double lambda = sqrt(b[0] * b[0] + b[1] * b[1]) / (mu * normal) - 0.5 * (k->a[0] + k->a[1]);
  if (!(lambda > 0)) lambda = 0.1 * (k->a[0] + k->a[1]);
  slip s = {{0, 0}, 0, normal, 0, 0};
  for (;;) { /* the bracket gets narrower, or lambda larger, until one of the ends below is reached */
    s = slip_at(k, b, normal, lambda);
    double limit = mu * s.normal, excess = s.size - limit;
    if (fabs(excess) <= 4e-16 * limit) break;
    if (excess < 0)
      high = lambda;
    else
      low = lambda;
    double next = -1;
    if (limit > 0) {
      double slope = mu * s.dnormal / (limit * limit) - s.dsize / (s.size * s.size);
      next = lambda + (1 / limit - 1 / s.size) / slope;
      if (fabs(next - lambda) <= 2e-16 * lambda) break;
    }
    if (!(next > low && next < high)) next = high < INFINITY ? 0.5 * (low + high) : 8 * lambda;
    if (next == low || next == high || !(next < 1e60)) break;
    lambda = next;
  }
  return s;
}

void ds_single_contact_solve(double r[3], const ds_single_contact *k, const double q[3], double mu,
                             const double *corner, int32_t samples) {
  if (q[0] >= 0) {
    r[0] = r[1] = r[2] = 0;
    return;
  }
  if (!(k->inverse > 0)) return;
  double normal = -q[0] * k->inverse, b1 = q[1] + k->w[1] * normal, b2 = q[2] + k->w[2] * normal;
  double b[2] = {k->e[0] * b1 + k->e[1] * b2, k->e[0] * b2 - k->e[1] * b1};
  slip s = {{0, 0}, 0, normal, 0, 0};
  if (!(k->a[1] > 0)) { /* the smaller one */
    double terms = fabs(q[1]) + fabs(q[2]) + (fabs(k->w[1]) + fabs(k->w[2])) * normal;
    for (int i = 0; i < 2; i++)
      if (!(k->a[i] > 0) && fabs(b[i]) <= ROUNDING * terms) b[i] = 0;
  }
  if (mu > 0 && (b[0] != 0 || b[1] != 0)) {
    s = slip_at(k, b, normal, 0);
    bool sticks = s.size <= mu * s.normal && s.normal < INFINITY;
    if (corner && sticks) {
      const double t[2] = {k->e[0] * s.t[0] - k->e[1] * s.t[1], k->e[1] * s.t[0] + k->e[0] * s.t[1]};
      sticks = ds_polygon_holds(t, mu * s.normal, corner, samples);
    }
    if (corner && !sticks) {
      ds_single_polygon_slide(r, k->w, q, mu, corner, samples);
      return;
    }
    if (!sticks) s = slide(k, b, normal, mu);
  }
  r[0] = s.normal;
  r[1] = k->e[0] * s.t[0] - k->e[1] * s.t[1];
  r[2] = k->e[1] * s.t[0] + k->e[0] * s.t[1];
}
