/* Numbers of twice the digits: the unevaluated sum of two doubles, |lo| <= ulp(hi)/2, about 32 decimals (Dekker 1971;
 * Hida, Li and Bailey 2001). Plain additions and multiplications, rounded to nearest and not fused: the same bits on
 * every machine. Errors are a few 2⁻¹⁰⁴, relative to the terms of a sum. */
#ifndef DS_BASE_TWOFOLD_H
#define DS_BASE_TWOFOLD_H

#include <math.h>

typedef struct ds_twofold {
  double hi, lo;
} ds_twofold;

static inline ds_twofold ds_twofold_of(double a) { return (ds_twofold){a, 0}; }

/* a + b where |a| >= |b| */
static inline ds_twofold ds_twofold_join(double a, double b) {
  double s = a + b;
  return (ds_twofold){s, b - (s - a)};
}

/* a + b, exactly */
static inline ds_twofold ds_twofold_sum(double a, double b) {
  double s = a + b, t = s - a;
  return (ds_twofold){s, (a - (s - t)) + (b - t)};
}

/* a b, exactly, below 1e300 */
static inline ds_twofold ds_twofold_product(double a, double b) {
  const double split = 134217729; /* 2²⁷ + 1 */
  double p = a * b, ca = split * a, cb = split * b;
  double ah = ca - (ca - a), al = a - ah, bh = cb - (cb - b), bl = b - bh;
  return (ds_twofold){p, ((ah * bh - p) + ah * bl + al * bh) + al * bl};
}

static inline ds_twofold ds_twofold_minus(ds_twofold a) { return (ds_twofold){-a.hi, -a.lo}; }

static inline ds_twofold ds_twofold_add(ds_twofold a, ds_twofold b) {
  ds_twofold s = ds_twofold_sum(a.hi, b.hi);
  return ds_twofold_join(s.hi, s.lo + (a.lo + b.lo));
}

static inline ds_twofold ds_twofold_scale(double a, ds_twofold b) {
  ds_twofold p = ds_twofold_product(a, b.hi);
  return ds_twofold_join(p.hi, p.lo + a * b.lo);
}

static inline ds_twofold ds_twofold_times(ds_twofold a, ds_twofold b) {
  ds_twofold p = ds_twofold_product(a.hi, b.hi);
  return ds_twofold_join(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

/* s + a b; the product need not be joined */
static inline ds_twofold ds_twofold_add_scaled(ds_twofold s, double a, ds_twofold b) {
  ds_twofold p = ds_twofold_product(a, b.hi), t = ds_twofold_sum(s.hi, p.hi);
  return ds_twofold_join(t.hi, t.lo + (s.lo + (p.lo + a * b.lo)));
}

/* s - a b */
static inline ds_twofold ds_twofold_less(ds_twofold s, ds_twofold a, ds_twofold b) {
  ds_twofold p = ds_twofold_product(-a.hi, b.hi), t = ds_twofold_sum(s.hi, p.hi);
  return ds_twofold_join(t.hi, t.lo + (s.lo + (p.lo - (a.hi * b.lo + a.lo * b.hi))));
}

/* 1/a: a step of Newton's from the rounded one */
static inline ds_twofold ds_twofold_inverse(ds_twofold a) {
  double x = 1 / a.hi;
  ds_twofold rest = ds_twofold_add(ds_twofold_of(1), ds_twofold_minus(ds_twofold_scale(x, a)));
  return ds_twofold_add(ds_twofold_of(x), ds_twofold_scale(x, rest));
}

/* The root of a > 0, the same way */
static inline ds_twofold ds_twofold_root(ds_twofold a) {
  double x = sqrt(a.hi);
  ds_twofold rest = ds_twofold_add(a, ds_twofold_minus(ds_twofold_product(x, x)));
  return ds_twofold_add(ds_twofold_of(x), ds_twofold_scale(0.5 / x, rest));
}

#endif
