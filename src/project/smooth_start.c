/* s = x - z of given impulses, contact by contact, and the smoothed parts of it: see smooth_start.h. */
#include "project/smooth_start.h"

#include <math.h>

#include "la/lorentz.h"

/* s = x/a - a z of contact k, with the natural scale a = W_k^-½ of impulses over velocities. Returns a. */
static double difference(double s[3], const ds_iterate *at, const ds_subproblem *p, int32_t k) {
  double mu = ds_cone_mu(p->mu[k]), a = 1 / sqrt(p->scale[k]);
  const double *r = at->r + 3 * k, *u = at->u + 3 * k;
  double tangential = ds_is_frictionless(p->mu[k]) ? 0 : 1, slip = tangential * sqrt(u[1] * u[1] + u[2] * u[2]);
  s[0] = mu * r[0] / a - a * (u[0] / mu + slip);
  for (int i = 1; i < 3; i++) s[i] = tangential * (r[i] / a - a * u[i]);
  return a;
}

/* f(s) = (s + (s² + 4 gap)^½)/2 on the spectrum of s. */
static void positive_part(double x[3], const double s[3], double gap) {
  double t = sqrt(s[1] * s[1] + s[2] * s[2]), value[2];
  for (int i = 0; i < 2; i++) {
    double l = i == 0 ? s[0] + t : s[0] - t, root = sqrt(l * l + 4 * gap);
    value[i] = l > 0 ? 0.5 * (l + root) : gap > 0 ? 2 * gap / (root - l) : 0; /* without cancellation */
  }
  double half = t > 0 ? 0.5 * (value[0] - value[1]) / t : 0;
  x[0] = 0.5 * (value[0] + value[1]), x[1] = half * s[1], x[2] = half * s[2];
}

double ds_smooth_start_gap(const ds_iterate *at, const ds_subproblem *p) {
  double sum = 0;
  for (int32_t k = 0; k < p->contact_count; k++) {
    double s[3], x[3], off = 0, size = 0, mu = ds_cone_mu(p->mu[k]);
    double a = difference(s, at, p, k), tangential = ds_is_frictionless(p->mu[k]) ? 0 : 1;
    positive_part(x, s, 0);
    for (int i = 0; i < 3; i++) {
      double d = x[i] - (i == 0 ? mu : tangential) * at->r[3 * k + i] / a;
      off += d * d, size += s[i] * s[i];
    }
    sum += sqrt(off * size);
  }
  return sum / p->contact_count;
}

void ds_smooth_start_find(double *x, double *z, const ds_iterate *at, const ds_subproblem *p, double gap) {
  for (int32_t k = 0; k < p->contact_count; k++) {
    double s[3], minus[3], a = difference(s, at, p, k);
    for (int i = 0; i < 3; i++) minus[i] = -s[i];
    positive_part(x + 3 * k, s, gap);
    positive_part(z + 3 * k, minus, gap);
    for (int i = 0; i < 3; i++) x[3 * k + i] *= a, z[3 * k + i] /= a;
  }
}
