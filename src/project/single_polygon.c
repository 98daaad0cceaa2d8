/* As single_contact.c, with a regular polygon of k corners d_j, the neighbours of each 2 pi/k away, in place of the
 * disk. Where the contact slides u_N = 0, and r_T lies at a corner or on an edge of the polygon of radius mu r_N:
 *
 *   corner j:  r_T = mu r_N d_j,                r_N = -q_N/(W_NN + mu w·d_j),
 *   edge j:    r_T = mu r_N g + s e,  u_T·e = 0, two equations for r_N and s, g = (d_j + d_j+1)/2, e along d_j+1 - d_j,
 *
 * and it dissipates most there: -u_T leads to neither neighbour of a corner, outwards of an edge. k corners and k edges
 * are few: all are tried. Of those that do not hold, for rounding, the one that misses least is taken. */
#include "project/single_polygon.h"

#include <math.h>

/* u_T of impulses r, with W as in ds_single_contact. */
static void slip(double u[2], const double w[6], const double q[3], const double r[3]) {
  u[0] = q[1] + w[1] * r[0] + w[3] * r[1] + w[4] * r[2];
  u[1] = q[2] + w[2] * r[0] + w[4] * r[1] + w[5] * r[2];
}

/* By how much r misses, in m/s: `inside` is how far it is outside of its edge, in impulses. */
static double miss(const double w[6], const double q[3], const double r[3], const double *d, int32_t samples, int32_t j,
                   double inside) {
  double u[2], most = fmax(0, inside) * (w[3] + w[5]);
  slip(u, w, q, r);
  double here = u[0] * d[2 * j] + u[1] * d[2 * j + 1];
  for (int32_t i = 0; i < 2; i++) { /* the neighbours must not dissipate more */
    int32_t other = i == 0 ? (j + 1) % samples : (j + samples - 1) % samples;
    most = fmax(most, here - (u[0] * d[2 * other] + u[1] * d[2 * other + 1]));
  }
  return r[0] > 0 ? most : INFINITY;
}

static double at_corner(double r[3], const double w[6], const double q[3], double mu, const double *d, int32_t samples,
                        int32_t j) {
  const double *c = d + 2 * j;
  r[0] = -q[0] / (w[0] + mu * (w[1] * c[0] + w[2] * c[1]));
  r[1] = mu * r[0] * c[0], r[2] = mu * r[0] * c[1];
  return miss(w, q, r, d, samples, j, 0);
}

static double on_edge(double r[3], const double w[6], const double q[3], double mu, const double *d, int32_t samples,
                      int32_t j) {
  const double *a = d + 2 * j, *b = d + 2 * ((j + 1) % samples);
  double e[2] = {b[0] - a[0], b[1] - a[1]}, length = sqrt(e[0] * e[0] + e[1] * e[1]);
  double g[2] = {0.5 * mu * (a[0] + b[0]), 0.5 * mu * (a[1] + b[1])};
  e[0] /= length, e[1] /= length;
  double we[2] = {w[3] * e[0] + w[4] * e[1], w[4] * e[0] + w[5] * e[1]};
  double nn = w[0] + w[1] * g[0] + w[2] * g[1], ne = w[1] * e[0] + w[2] * e[1];
  double en = ne + we[0] * g[0] + we[1] * g[1], ee = we[0] * e[0] + we[1] * e[1];
  double det = nn * ee - ne * en, qe = q[1] * e[0] + q[2] * e[1];
  r[0] = (ne * qe - ee * q[0]) / det;
  double s = (en * q[0] - nn * qe) / det, outside = fabs(s) - 0.5 * mu * length * r[0];
  r[1] = r[0] * g[0] + s * e[0], r[2] = r[0] * g[1] + s * e[1];
  return isfinite(r[0]) && isfinite(s) ? miss(w, q, r, d, samples, j, outside) : INFINITY;
}

bool ds_polygon_holds(const double t[2], double radius, const double *d, int32_t samples) {
  double apothem = radius * 0.5 * sqrt((d[0] + d[2]) * (d[0] + d[2]) + (d[1] + d[3]) * (d[1] + d[3]));
  for (int32_t j = 0; j < samples; j++) {
    const double *a = d + 2 * j, *b = d + 2 * ((j + 1) % samples);
    double n[2] = {a[0] + b[0], a[1] + b[1]}, length = sqrt(n[0] * n[0] + n[1] * n[1]);
    if (n[0] * t[0] + n[1] * t[1] > apothem * length) return false;
  }
  return true;
}

void ds_single_polygon_slide(double r[3], const double w[6], const double q[3], double mu, const double *corner,
                             int32_t samples) {
  double least = INFINITY, z[3];
  for (int32_t j = 0; j < samples && least > 0; j++)
    for (int i = 0; i < 2 && least > 0; i++) {
      double missed = (i == 0 ? at_corner : on_edge)(z, w, q, mu, corner, samples, j);
      if (!(missed < least)) continue;
      least = missed;
      r[0] = z[0], r[1] = z[1], r[2] = z[2];
    }
}
