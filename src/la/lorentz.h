/* The Lorentz cone {a_0 >= |a_T|} in three dimensions: its Jordan algebra, the Nesterov-Todd scaling of a pair of
 * interior points, and the way to its boundary. */
#ifndef DS_LA_LORENTZ_H
#define DS_LA_LORENTZ_H

#include <math.h>
#include <stdbool.h>

/* W = eta (boost by w), w on the hyperboloid w_0² - |w_T|² = 1; W z = W⁻¹ x = lambda. */
typedef struct ds_lorentz {
  double w[3], eta;
  double lambda[3];
} ds_lorentz;

static inline double ds_minkowski(const double a[3]) { /* a_0² - |a_T|², without cancellation */
  double t = sqrt(a[1] * a[1] + a[2] * a[2]);
  return (a[0] - t) * (a[0] + t);
}

/* p = W a, or W⁻¹ a */
static inline void ds_lorentz_apply(double p[3], const ds_lorentz *s, const double a[3], bool inverse) {
  double sign = inverse ? -1 : 1, f = inverse ? 1 / s->eta : s->eta;
  double w1 = sign * s->w[1], w2 = sign * s->w[2], dot = w1 * a[1] + w2 * a[2];
  double k = a[0] + dot / (1 + s->w[0]);
  double p0 = f * (s->w[0] * a[0] + dot), p1 = f * (a[1] + k * w1), p2 = f * (a[2] + k * w2);
  p[0] = p0, p[1] = p1, p[2] = p2;
}

static inline void ds_jordan(double p[3], const double a[3], const double b[3]) { /* a o b */
  double p0 = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  double p1 = a[0] * b[1] + b[0] * a[1], p2 = a[0] * b[2] + b[0] * a[2];
  p[0] = p0, p[1] = p1, p[2] = p2;
}

static inline void ds_jordan_divide(double p[3], const double l[3], const double a[3]) { /* p with l o p = a */
  double det = ds_minkowski(l), dot = l[1] * a[1] + l[2] * a[2];
  double p0 = (l[0] * a[0] - dot) / det;
  double p1 = (a[1] - p0 * l[1]) / l[0], p2 = (a[2] - p0 * l[2]) / l[0];
  p[0] = p0, p[1] = p1, p[2] = p2;
}

/* False if a point is not inside, or so near the boundary that its slack underflows. */
static inline bool ds_lorentz_scale(ds_lorentz *s, const double x[3], const double z[3]) {
  double dx = ds_minkowski(x), dz = ds_minkowski(z);
  if (!(dx > 1e-280) || !(dz > 1e-280)) return false;
  double sx = 1 / sqrt(dx), sz = 1 / sqrt(dz);
  double dot = (x[0] * z[0] + x[1] * z[1] + x[2] * z[2]) * sx * sz;
  double gamma = sqrt(0.5 * (1 + dot));
  for (int i = 0; i < 3; i++) s->w[i] = (sx * x[i] + (i == 0 ? sz : -sz) * z[i]) / (2 * gamma);
  s->eta = sqrt(sqrt(dx / dz));
  ds_lorentz_apply(s->lambda, s, z, false);
  return true;
}

/* W² = eta² (2 w wᵀ - diag(1, -1, -1)) */
static inline void ds_lorentz_square(double b[9], const ds_lorentz *s) {
  double e2 = s->eta * s->eta;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) b[3 * i + j] = e2 * (2 * s->w[i] * s->w[j] - (i == j ? (i == 0 ? 1 : -1) : 0));
}

/* Largest t <= 1 with a + t d in the cone. */
static inline double ds_lorentz_step(const double a[3], const double d[3]) {
  double qa = d[0] * d[0] - d[1] * d[1] - d[2] * d[2];
  double qb = a[0] * d[0] - a[1] * d[1] - a[2] * d[2];
  double qc = ds_minkowski(a), t = 1;
  double disc = qb * qb - qa * qc;
  if (qa < 0 || (qb < 0 && disc >= 0)) { /* smallest positive root of qa t² + 2 qb t + qc */
    double root = sqrt(fmax(disc, 0));
    double s = qb <= 0 ? -qb + root : -qb - root; /* stable forms */
    double t1 = qb <= 0 ? qc / s : s / qa;
    if (t1 > 0 && t1 < t) t = t1;
  }
  if (d[0] < 0 && -a[0] / d[0] < t) t = -a[0] / d[0];
  return t;
}

#endif
