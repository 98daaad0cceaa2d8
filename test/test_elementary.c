/* The library's own elementary functions: against those of the C library, at their limits, and bit for bit. */
#include "base/elementary.h"

#include <float.h>
#include <inttypes.h>
#include <string.h>

#include "check.h"
#include "random.h"

typedef double function(double x);

/* In units of the last place of b. */
static double ulps(double a, double b) {
  if (a == b || (isnan(a) && isnan(b))) return 0;
  int e;
  frexp(b, &e);
  return fabs(a - b) / ldexp(1, (e > -1021 ? e : -1021) - 53);
}

typedef struct sample {
  const char *name;
  function *own, *theirs;
  double low, high, most; /* range; units in the last place, the C library's own error included */
} sample;

static const sample samples[] = {
    {"sin", ds_sin, sin, -4, 4, 1.5},      {"sin", ds_sin, sin, -1e6, 1e6, 1.5},    {"cos", ds_cos, cos, -4, 4, 1.5},
    {"cos", ds_cos, cos, -1e6, 1e6, 1.5},  {"tan", ds_tan, tan, -4, 4, 2},          {"atan", ds_atan, atan, -3, 3, 1.5},
    {"atan", ds_atan, atan, -1e9, 1e9, 2}, {"acos", ds_acos, acos, -1, 1, 1.5},     {"exp", ds_exp, exp, -40, 40, 1.5},
    {"exp", ds_exp, exp, -740, 700, 1.5},  {"log", ds_log, log, 0, 3, 1.5},         {"log", ds_log, log, 0, 1e300, 1.5},
    {"log10", ds_log10, log10, 0, 1e6, 3}, {"cbrt", ds_cbrt, cbrt, -1e9, 1e9, 3.5}, {"sinh", ds_sinh, sinh, -5, 5, 4},
    {"cosh", ds_cosh, cosh, -5, 5, 4},     {"asinh", ds_asinh, asinh, -50, 50, 4},
};
enum { SAMPLES = (int)(sizeof samples / sizeof *samples), DRAWS = 20000 };

static void test_accuracy(void) {
  uint64_t seed = 5;
  for (int k = 0; k < SAMPLES; k++) {
    const sample *s = &samples[k];
    double worst = 0;
    for (int i = 0; i < DRAWS; i++) {
      double x = random_in(&seed, s->low, s->high);
      worst = fmax(worst, ulps(s->own(x), s->theirs(x)));
    }
    printf("     %s from %g to %g: %.2f\n", s->name, s->low, s->high, worst);
    CHECK(worst <= s->most);
  }
}

static void test_two_arguments(void) {
  uint64_t seed = 6;
  double angle = 0, length = 0, power = 0;
  for (int i = 0; i < DRAWS; i++) {
    double x = random_in(&seed, -1, 1) * ds_exp(random_in(&seed, -20, 20)), y = random_in(&seed, -2, 2);
    angle = fmax(angle, ulps(ds_atan2(y, x), (atan2)(y, x)));
    length = fmax(length, ulps(ds_hypot(x, y), (hypot)(x, y)));
    power = fmax(power, ulps(ds_pow(fabs(x), 5 * y), (pow)(fabs(x), 5 * y)));
  }
  CHECK(angle <= 1.5 && length <= 1.5 && power <= 2);
  for (int n = -20; n <= 20; n++) { /* exact, or nearest: what rounds a spacing to a decimal counts on it */
    char text[16];
    snprintf(text, sizeof text, "1e%d", n);
    CHECK_NEAR(ds_pow(10, n), strtod(text, NULL), 0);
    CHECK_NEAR(ds_log10(strtod(text, NULL)), n, 0);
  }
}

/* Zeros with their signs, infinities, and what lies outside the domain. */
static void test_limits(void) {
  const double pi = 3.14159265358979323846;
  CHECK(signbit(ds_sin(-0.0)) && signbit(ds_atan(-0.0)) && signbit(ds_tan(-0.0)) && signbit(ds_asinh(-0.0)));
  CHECK(isnan(ds_sin(INFINITY)) && isnan(ds_cos(NAN)) && isnan(ds_tan(-INFINITY)));
  CHECK_NEAR(ds_atan2(0, -1), pi, 0);
  CHECK_NEAR(ds_atan2(-0.0, -1), -pi, 0);
  CHECK_NEAR(ds_atan2(0, 0), 0, 0);
  CHECK_NEAR(ds_atan2(1, 0), pi / 2, 0);
  CHECK_NEAR(ds_atan2(-3, -INFINITY), -pi, 0);
  CHECK_NEAR(ds_atan2(INFINITY, INFINITY), pi / 4, 0);
  CHECK_NEAR(ds_atan2(1e-320, 1), 1e-320, 0);
  CHECK_NEAR(ds_atan2(1e300, 1e-300), pi / 2, 0);
  CHECK(isnan(ds_atan2(NAN, 1)) && isnan(ds_acos(1.0000001)));
  CHECK_NEAR(ds_acos(1), 0, 0);
  CHECK_NEAR(ds_acos(-1), pi, 0);
  CHECK_NEAR(ds_exp(0), 1, 0);
  CHECK(isinf(ds_exp(710)) && ds_exp(-746) == 0 && ds_exp(-INFINITY) == 0 && isnan(ds_exp(NAN)));
  CHECK(ds_log(0) == -INFINITY && ds_log(INFINITY) == INFINITY && isnan(ds_log(-1)) && isnan(ds_log(NAN)));
  CHECK_NEAR(ds_log(1), 0, 0);
  CHECK_NEAR(ds_pow(0, 2), 0, 0);
  CHECK_NEAR(ds_pow(3, 0), 1, 0);
  CHECK(isinf(ds_pow(0, -1)) && isinf(ds_pow(1e200, 3)) && ds_pow(1e-200, 3) == 0 && isnan(ds_pow(-1, 2)));
  CHECK(isinf(ds_hypot(INFINITY, NAN)) && isnan(ds_hypot(1, NAN)) && ds_hypot(0, 0) == 0);
  CHECK_NEAR(ds_hypot(3e-320, 4e-320), 5e-320, 1e-322);
  CHECK_NEAR(ds_hypot(3e300, 4e300), 5e300, 0);
  CHECK_NEAR(ds_cbrt(-27), -3, 0);
  CHECK(isinf(ds_cosh(800)) && ds_sinh(-800) == -INFINITY && isinf(ds_asinh(-INFINITY)));
}

/* One hash over all functions: the same for every compiler, processor and C library. */
static void test_bits(void) {
  uint64_t seed = 7, hash = 1469598103934665603u;
  for (int i = 0; i < DRAWS; i++)
    for (int k = 0; k < SAMPLES; k++) {
      double y = samples[k].own(random_in(&seed, samples[k].low, samples[k].high));
      uint64_t bits;
      memcpy(&bits, &y, sizeof bits);
      hash = (hash ^ bits) * 1099511628211u;
    }
  printf("     %016" PRIx64 "\n", hash);
  CHECK(hash == 0x51aaf5ec8dac2bcbu);
}

int main(void) {
  RUN(test_accuracy);
  RUN(test_two_arguments);
  RUN(test_limits);
  RUN(test_bits);
  return test_summary();
}
