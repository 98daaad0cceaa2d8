/* Numbers of twice the digits with a bound of their error: signs that are certain. */
#ifndef DS_STAND_BOUNDED_H
#define DS_STAND_BOUNDED_H

#include <math.h>
#include <stdbool.h>

#include "base/twofold.h"

/* A number and the sum of the absolute values of its terms. */
typedef struct bounded {
  ds_twofold value;
  double terms;
} bounded;

/* An operation on twofold numbers errs by some 2⁻¹⁰⁴ of its terms, and every one adds its terms. */
static const double bounded_share = 0x1p-98;

static inline bounded of(double a) { return (bounded){ds_twofold_of(a), 0}; } /* exact */

static inline bounded plus(bounded a, bounded b) {
  ds_twofold s = ds_twofold_add(a.value, b.value);
  /* a sum with an exact zero, or of opposites, is exact */
  bool exact = a.value.hi == 0 || b.value.hi == 0 || (s.hi == 0 && s.lo == 0);
  return (bounded){s, a.terms + b.terms + (exact ? 0 : fabs(a.value.hi) + fabs(b.value.hi))};
}

static inline bounded minus(bounded a, bounded b) {
  b.value = ds_twofold_minus(b.value);
  return plus(a, b);
}

static inline bounded times(bounded a, bounded b) {
  double x = fabs(a.value.hi), y = fabs(b.value.hi);
  double terms = x * y + x * b.terms + y * a.terms + bounded_share * a.terms * b.terms;
  if ((x == 0 && a.terms == 0) || (y == 0 && b.terms == 0)) return of(0);
  return (bounded){ds_twofold_times(a.value, b.value), terms};
}

static inline bool is_surely_not_negative(bounded a) { return a.value.hi >= 2 * bounded_share * a.terms; }
static inline bool is_surely_positive(bounded a) { return a.value.hi > 2 * bounded_share * a.terms; }

#endif
