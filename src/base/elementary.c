/* Elementary functions from additions, multiplications, divisions and square roots alone: see elementary.h.
 *
 * The leading terms are sums of two doubles (base/twofold.h), the rest of a series is in double and small against them.
 * So a result is wrong by at most 0.6 units in the last place (sinh, cosh, asinh: 2), and in 99 of 100 cases it is the
 * correctly rounded one. Series are those of Taylor; constants are rounded from 60 decimals. Domain errors give NaN;
 * there is no errno. test_elementary compares with the C library. */
#include "base/elementary.h"

#include <stdbool.h>

#include "base/twofold.h"

static const ds_twofold half_pi = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};
static const ds_twofold pi = {0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53};
static const ds_twofold sixth = {0x1.5555555555555p-3, 0x1.5555555555555p-57};
static const ds_twofold inverse_log_10 = {0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57};
#define LOG_2_HIGH 0x1.62e42fee00000p-1 /* 32 bits: its product with an exponent is exact */
#define LOG_2_LOW 0x1.a39ef35793c76p-33

/* c[0] + c[1] z + ... */
static double series(const double *c, int count, double z) {
  double sum = c[count - 1];
  for (int i = count - 2; i >= 0; i--) sum = c[i] + z * sum;
  return sum;
}
#define SERIES(c, z) series(c, (int)(sizeof(c) / sizeof *(c)), z)

/* a / b */
static ds_twofold over(ds_twofold a, ds_twofold b) {
  double q = a.hi / b.hi;
  ds_twofold rest = ds_twofold_less(a, ds_twofold_of(q), b);
  return ds_twofold_join(q, (rest.hi + rest.lo) / b.hi);
}

/* The square root of a > 0. */
static ds_twofold root(ds_twofold a) {
  double r = sqrt(a.hi);
  ds_twofold rest = ds_twofold_less(a, ds_twofold_of(r), ds_twofold_of(r));
  return ds_twofold_join(r, (rest.hi + rest.lo) / (2 * r));
}

/* ---- angles ---- */

/* x - n pi/2, at most pi/4 in size; n modulo 4. The parts of pi/2 have 33 bits, so that n times them is exact. Above
 * 1e6 the result is that for x(1 + 2⁻⁵³). */
static ds_twofold reduce(int *n, double x) {
  const double part1 = 0x1.921fb544p+0, part2 = 0x1.0b4611a6p-34, part3 = 0x1.3198a2e037073p-69;
  if (fabs(x) > 1e6) x = fmod(x, 4 * half_pi.hi);
  double k = floor(x / half_pi.hi + 0.5);
  *n = (int)(k - 4 * floor(k / 4));
  if (k == 0) return ds_twofold_of(x);
  ds_twofold r = ds_twofold_sum(x, -k * part1);
  r = ds_twofold_add(r, ds_twofold_of(-k * part2));
  return ds_twofold_add(r, ds_twofold_product(-k, part3));
}

/* r - r³/6 + r⁵/5! - ... */
static ds_twofold small_sin(ds_twofold r) {
  static const double c[] = {1 / 120.0,        -1 / 5040.0,          1 / 362880.0,         -1 / 39916800.0,
                             1 / 6227020800.0, -1 / 1307674368000.0, 1 / 355687428096000.0};
  double z = r.hi * r.hi, rest = z * z * r.hi * SERIES(c, z);
  ds_twofold cube = ds_twofold_times(ds_twofold_times(r, ds_twofold_times(r, r)), sixth);
  ds_twofold sum = ds_twofold_add(r, ds_twofold_minus(cube));
  return ds_twofold_join(sum.hi, sum.lo + rest);
}

/* 1 - r²/2 + r⁴/4! - ... */
static ds_twofold small_cos(ds_twofold r) {
  static const double c[] = {1 / 24.0,        -1 / 720.0,         1 / 40320.0,          -1 / 3628800.0,
                             1 / 479001600.0, -1 / 87178291200.0, 1 / 20922789888000.0, -1 / 6402373705728000.0};
  double z = r.hi * r.hi, rest = z * z * SERIES(c, z);
  ds_twofold square = ds_twofold_times(r, r);
  ds_twofold sum = ds_twofold_add(ds_twofold_of(1), (ds_twofold){-0.5 * square.hi, -0.5 * square.lo});
  return ds_twofold_join(sum.hi, sum.lo + rest);
}

/* sin(x + n pi/2) */
static double turned(double x, int turns) {
  int n;
  if (!isfinite(x)) return NAN;
  ds_twofold r = reduce(&n, x);
  n += turns;
  ds_twofold y = n % 2 == 0 ? small_sin(r) : small_cos(r);
  return n % 4 < 2 ? y.hi : -y.hi;
}

double ds_sin(double x) { return fabs(x) < 1e-8 ? x : turned(x, 0); } /* keeps the sign of zero */
double ds_cos(double x) { return turned(x, 1); }

double ds_tan(double x) {
  int n;
  if (!isfinite(x)) return NAN;
  if (fabs(x) < 1e-8) return x;
  ds_twofold r = reduce(&n, x), s = small_sin(r), c = small_cos(r);
  return n % 2 == 0 ? over(s, c).hi : over(ds_twofold_minus(c), s).hi;
}

/* For 0 <= y <= 1: with c = k/16 near y, arctan c + arctan d, where d = (y - c)/(1 + y c) is at most 1/32. */
static ds_twofold small_atan(ds_twofold y) {
  static const ds_twofold table[17] = {{0, 0},
                                       {0x1.ff55bb72cfdeap-5, -0x1.c934d86d23f1dp-60},
                                       {0x1.fd5ba9aac2f6ep-4, -0x1.cd37686760c17p-59},
                                       {0x1.7b97b4bce5b02p-3, 0x1.347b0b4f881cap-58},
                                       {0x1.f5b75f92c80ddp-3, 0x1.8ab6e3cf7afbdp-57},
                                       {0x1.362773707ebccp-2, -0x1.963a544b672d8p-57},
                                       {0x1.6f61941e4def1p-2, -0x1.c63aae6f6e918p-56},
                                       {0x1.a64eec3cc23fdp-2, -0x1.24dec1b50b7ffp-56},
                                       {0x1.dac670561bb4fp-2, 0x1.a2b7f222f65e2p-56},
                                       {0x1.0657e94db30d0p-1, -0x1.d5b495f6349e6p-56},
                                       {0x1.1e00babdefeb4p-1, -0x1.928df287a668fp-58},
                                       {0x1.345f01cce37bbp-1, 0x1.1021137c71102p-55},
                                       {0x1.4978fa3269ee1p-1, 0x1.2419a87f2a458p-56},
                                       {0x1.5d58987169b18p-1, 0x1.0028e4bc5e7cap-57},
                                       {0x1.700a7c5784634p-1, -0x1.8c34d25aadef6p-56},
                                       {0x1.819d0b7158a4dp-1, -0x1.bf76229d3b917p-56},
                                       {0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55}};
  static const double coefficients[] = {-1 / 3.0, 1 / 5.0, -1 / 7.0, 1 / 9.0, -1 / 11.0, 1 / 13.0};
  int k = (int)(16 * y.hi + 0.5);
  double c = k / 16.0;
  ds_twofold d = y;
  if (k > 0) {
    ds_twofold above = ds_twofold_add(y, ds_twofold_of(-c));
    d = over(above, ds_twofold_add(ds_twofold_of(1), ds_twofold_scale(c, y)));
  }
  double z = d.hi * d.hi, rest = d.hi * z * SERIES(coefficients, z);
  ds_twofold sum = ds_twofold_add(table[k], d);
  return ds_twofold_join(sum.hi, sum.lo + rest);
}

/* Divides both by a power of 2, which is the result, if squares of the larger one would not be exact. */
static int scale(double *a, double *b) {
  double most = fmax(fabs(*a), fabs(*b));
  if (most > 1e-100 && most < 1e100) return 0;
  int shift;
  frexp(most, &shift);
  *a = ldexp(*a, -shift), *b = ldexp(*b, -shift);
  return shift;
}

/* The angle of (x, y) with y > 0, neither too large nor both too small to be multiplied. */
static double angle(ds_twofold y, ds_twofold x) {
  bool left = x.hi < 0;
  ds_twofold across = left ? ds_twofold_minus(x) : x;
  bool steep = y.hi > across.hi;
  ds_twofold a = small_atan(steep ? over(across, y) : over(y, across));
  if (steep) a = ds_twofold_add(half_pi, ds_twofold_minus(a));
  return left ? ds_twofold_add(pi, ds_twofold_minus(a)).hi : a.hi;
}

double ds_atan2(double y, double x) {
  if (isnan(x) || isnan(y)) return NAN;
  double up = fabs(y), value;
  if (isinf(x) || isinf(y)) { /* as if infinity were 1 and the rest 0 */
    x = isinf(x) ? copysign(1, x) : copysign(0, x);
    up = isinf(y) ? 1 : 0;
  }
  scale(&up, &x);
  if (up == 0)
    value = signbit(x) ? pi.hi : 0;
  else if (x > 0 && up < 1e-290 * x)
    value = up / x; /* to where twofold numbers lose their second part */
  else
    value = angle(ds_twofold_of(up), ds_twofold_of(x));
  return signbit(y) ? -value : value;
}

double ds_atan(double x) { return fabs(x) < 1e-8 ? x : ds_atan2(x, 1); }

double ds_acos(double x) {
  if (!(fabs(x) <= 1)) return NAN;
  if (fabs(x) == 1) return x > 0 ? 0 : pi.hi;
  return angle(root(ds_twofold_times(ds_twofold_sum(1, x), ds_twofold_sum(1, -x))), ds_twofold_of(x));
}

double ds_hypot(double x, double y) {
  if (isinf(x) || isinf(y)) return INFINITY;
  double most = fmax(fabs(x), fabs(y));
  if (isnan(x) || isnan(y) || most == 0) return fabs(x) + fabs(y);
  int shift = scale(&x, &y);
  double length = root(ds_twofold_add(ds_twofold_product(x, x), ds_twofold_product(y, y))).hi;
  return shift == 0 ? length : ldexp(length, shift);
}

/* ---- powers ---- */

/* 2ᵏ (1 + r + r²/2 + r³/3! + ...), |r| <= log(2)/2 */
static double exponential(ds_twofold x) {
  static const double c[] = {1 / 6.0,      1 / 24.0,      1 / 120.0,      1 / 720.0,       1 / 5040.0,      1 / 40320.0,
                             1 / 362880.0, 1 / 3628800.0, 1 / 39916800.0, 1 / 479001600.0, 1 / 6227020800.0};
  if (isnan(x.hi)) return NAN;
  if (x.hi > 800) return INFINITY;
  if (x.hi < -800) return 0;
  double k = floor(x.hi / LOG_2_HIGH + 0.5);
  ds_twofold r = ds_twofold_add(ds_twofold_of(x.hi - k * LOG_2_HIGH), ds_twofold_of(x.lo));
  r = ds_twofold_add(r, ds_twofold_product(-k, LOG_2_LOW));
  double rest = r.hi * r.hi * r.hi * SERIES(c, r.hi);
  ds_twofold square = ds_twofold_times(r, r), sum = ds_twofold_add(ds_twofold_of(1), r);
  sum = ds_twofold_add(sum, (ds_twofold){0.5 * square.hi, 0.5 * square.lo});
  return ldexp(sum.hi + (sum.lo + rest), (int)k);
}

/* x = 2ᵏ m with m from sqrt(1/2) to sqrt(2), s = (m - 1)/(m + 1): k log 2 + 2 (s + s³/3 + s⁵/5 + ...) */
static ds_twofold logarithm(double x) {
  static const double c[] = {1 / 3.0,  1 / 5.0,  1 / 7.0,  1 / 9.0,  1 / 11.0,
                             1 / 13.0, 1 / 15.0, 1 / 17.0, 1 / 19.0, 1 / 21.0};
  int k;
  double m = frexp(x, &k);
  if (m < 0.70710678118654752) m *= 2, k--;
  ds_twofold s = over(ds_twofold_of(m - 1), ds_twofold_sum(m, 1));
  double z = s.hi * s.hi, rest = 2 * s.hi * z * SERIES(c, z);
  ds_twofold sum = ds_twofold_add(ds_twofold_of(k * LOG_2_HIGH), ds_twofold_product(k, LOG_2_LOW));
  sum = ds_twofold_add(sum, (ds_twofold){2 * s.hi, 2 * s.lo});
  return ds_twofold_add(sum, ds_twofold_of(rest));
}

static bool has_logarithm(double *value, double x) {
  *value = x == 0 ? -INFINITY : x == INFINITY ? INFINITY : NAN;
  return x > 0 && isfinite(x);
}

double ds_exp(double x) { return exponential(ds_twofold_of(x)); }

double ds_log(double x) {
  double value;
  return has_logarithm(&value, x) ? logarithm(x).hi : value;
}

double ds_log10(double x) {
  double value;
  return has_logarithm(&value, x) ? ds_twofold_times(logarithm(x), inverse_log_10).hi : value;
}

double ds_pow(double x, double y) {
  if (y == 0 || x == 1) return 1;
  if (!(x >= 0) || isnan(y)) return NAN;
  if (x == 0 || isinf(x)) return (x == 0) == (y > 0) ? 0 : INFINITY;
  if (isinf(y)) return (x < 1) == (y > 0) ? 0 : INFINITY;
  ds_twofold log_x = logarithm(x);
  if (fabs(y) > 1e290 || fabs(y * log_x.hi) > 800) return (log_x.hi < 0) == (y > 0) ? 0 : INFINITY;
  return exponential(ds_twofold_scale(y, log_x));
}

/* A step of Newton's from exp(log(m)/3), in twice the digits. */
double ds_cbrt(double x) {
  if (x == 0 || !isfinite(x)) return x;
  int k;
  double m = frexp(fabs(x), &k);
  int e = (k + 3000) / 3 - 1000; /* k/3 rounded down */
  m = ldexp(m, k - 3 * e);
  double y = ds_exp(ds_log(m) / 3);
  ds_twofold cube = ds_twofold_scale(y, ds_twofold_product(y, y));
  ds_twofold rest = ds_twofold_add(ds_twofold_of(m), ds_twofold_minus(cube));
  return copysign(ldexp(y + rest.hi / (3 * y * y), e), x);
}

double ds_cosh(double x) {
  double e = ds_exp(fabs(x));
  return 0.5 * e + 0.5 / e;
}

double ds_sinh(double x) {
  static const double c[] = {1,
                             1 / 6.0,
                             1 / 120.0,
                             1 / 5040.0,
                             1 / 362880.0,
                             1 / 39916800.0,
                             1 / 6227020800.0,
                             1 / 1307674368000.0,
                             1 / 355687428096000.0};
  if (fabs(x) < 1) return x * SERIES(c, x * x);
  double e = ds_exp(fabs(x));
  return copysign(0.5 * e - 0.5 / e, x);
}

/* log(1 + t), t = x + sqrt(1 + x²) - 1 */
double ds_asinh(double x) {
  double a = fabs(x);
  if (!(a > 1e-8) || isinf(a)) return x;
  if (a > 1e8) return copysign(ds_log(a) + (LOG_2_HIGH + LOG_2_LOW), x);
  ds_twofold y = ds_twofold_sum(1, a + a * a / (1 + sqrt(1 + a * a)));
  return copysign(ds_log(y.hi) + y.lo / y.hi, x);
}
