/* Three cases. Open: q_N >= 0, r = 0. Stick: W r = -q lies in the cone. Slide: u_N = 0, u_T = -lambda r_T with
 * lambda > 0, |r_T| = mu r_N. With r_N = -(q_N + w·r_T)/W_NN, w = W_TN, both are
 *
 *   (A + lambda I) r_T = -b,   A = W_TT - w wᵀ/W_NN,   b = q_T - w q_N/W_NN,
 *
 * with lambda = 0 where it sticks and else the root of |r_T(lambda)| - mu r_N(lambda): positive at 0, because it does
 * not stick, and negative for large lambda, where r_T vanishes and r_N = -q_N/W_NN > 0. In the eigenvectors of A r_T is
 * two quotients; the root is found by regula falsi (Illinois), which never leaves its bracket. */
#include "project/single_contact.h"

#include <math.h>

typedef struct contact {
  double a[2], b[2]; /* eigenvalues of A, at least 0; b in its eigenvectors */
  double w[2];       /* w in them, over W_NN */
  double normal;     /* -q_N/W_NN */
  double mu;
} contact;

/* |r_T| - mu r_N, with r_T in the eigenvectors */
static double excess(double t[2], double *normal, const contact *c, double lambda) {
  for (int i = 0; i < 2; i++) t[i] = c->b[i] == 0 ? 0 : -c->b[i] / (c->a[i] + lambda);
  *normal = c->normal - c->w[0] * t[0] - c->w[1] * t[1];
  double f = sqrt(t[0] * t[0] + t[1] * t[1]) - c->mu * *normal;
  return isfinite(f) ? f : INFINITY;
}

static void slide(double t[2], double *normal, const contact *c) {
  double low = 0, high = c->a[0] + c->a[1], f_low = INFINITY, f_high;
  if (!(high > 0)) high = 1;
  while ((f_high = excess(t, normal, c, high)) > 0 && high < 1e60) low = high, f_low = f_high, high *= 8;
  for (int i = 0, side = 0; i < 80; i++) {
    double middle = isfinite(f_low) ? high - f_high * (high - low) / (f_high - f_low) : 0.5 * (low + high);
    if (!(middle > low && middle < high)) middle = 0.5 * (low + high);
    double f = excess(t, normal, c, middle);
    if (fabs(f) <= 2e-16 * c->mu * *normal || high - low <= 1e-15 * high) return;
    if (f > 0) {
      low = middle, f_low = f;
      if (side == 1) f_high *= 0.5;
      side = 1;
    } else {
      high = middle, f_high = f;
      if (side == -1) f_low *= 0.5;
      side = -1;
    }
  }
}

void ds_single_contact_solve(double r[3], const double w[9], const double q[3], double mu) {
  if (q[0] >= 0) {
    r[0] = r[1] = r[2] = 0;
    return;
  }
  double wn = w[0], w1 = w[3], w2 = w[6];
  if (!(wn > 0)) return;
  double a11 = w[4] - w1 * w1 / wn, a12 = w[5] - w1 * w2 / wn, a22 = w[8] - w2 * w2 / wn;
  double b1 = q[1] - w1 * q[0] / wn, b2 = q[2] - w2 * q[0] / wn;
  double half = 0.5 * (a11 - a22), mean = 0.5 * (a11 + a22), radius = sqrt(half * half + a12 * a12);
  /* eigenvector of the larger eigenvalue */
  double e1 = half >= 0 ? half + radius : a12, e2 = half >= 0 ? a12 : radius - half, length = sqrt(e1 * e1 + e2 * e2);
  if (length > 0)
    e1 /= length, e2 /= length;
  else
    e1 = 1, e2 = 0;
  contact c = {{mean + radius, fmax(0, mean - radius)},
               {e1 * b1 + e2 * b2, e1 * b2 - e2 * b1},
               {(e1 * w1 + e2 * w2) / wn, (e1 * w2 - e2 * w1) / wn},
               -q[0] / wn,
               mu};
  double t[2] = {0, 0}, normal = c.normal;
  if (mu > 0 && excess(t, &normal, &c, 0) > 0) slide(t, &normal, &c);
  if (!(mu > 0)) t[0] = t[1] = 0, normal = c.normal;
  r[0] = normal;
  r[1] = e1 * t[0] - e2 * t[1];
  r[2] = e2 * t[0] + e1 * t[1];
}
