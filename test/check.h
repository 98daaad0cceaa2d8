/* The test harness: checks print both values, go on after a failure, and main returns how many failed.
 * A test program has static void functions, runs them with RUN, and ends with `return test_summary();`. */
#ifndef DS_TEST_CHECK_H
#define DS_TEST_CHECK_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static int test_checks, test_failures;

#define CHECK(condition)                                             \
  do {                                                               \
    test_checks++;                                                   \
    if (!(condition)) {                                              \
      test_failures++;                                               \
      printf("%s:%d: failed: %s\n", __FILE__, __LINE__, #condition); \
    }                                                                \
  } while (0)

/* |got - want| <= tol; a NaN fails */
#define CHECK_NEAR(got, want, tol)                                                                           \
  do {                                                                                                       \
    double check_got = (got), check_want = (want), check_tol = (tol);                                        \
    test_checks++;                                                                                           \
    if (!(fabs(check_got - check_want) <= check_tol)) {                                                      \
      test_failures++;                                                                                       \
      printf("%s:%d: %s = %.17g, wanted %.17g within %g\n", __FILE__, __LINE__, #got, check_got, check_want, \
             check_tol);                                                                                     \
    }                                                                                                        \
  } while (0)

/* got <= limit; a NaN fails */
#define CHECK_LE(got, limit)                                                                            \
  do {                                                                                                  \
    double check_got = (got), check_limit = (limit);                                                    \
    test_checks++;                                                                                      \
    if (!(check_got <= check_limit)) {                                                                  \
      test_failures++;                                                                                  \
      printf("%s:%d: %s = %.17g, wanted <= %.17g\n", __FILE__, __LINE__, #got, check_got, check_limit); \
    }                                                                                                   \
  } while (0)

/* RUN_THREADS is RUN for what has threads of its own: the thread sanitizer looks at nothing else, and
 * DRYSTONE_TEST_THREADS=1 runs nothing else. */
#define RUN(function) TEST_RUN(function, !getenv("DRYSTONE_TEST_THREADS"))
#define RUN_THREADS(function) TEST_RUN(function, 1)

#define TEST_RUN(function, chosen)                                           \
  do {                                                                       \
    int before = test_failures;                                              \
    if (!(chosen)) break;                                                    \
    function();                                                              \
    printf("%s %s\n", test_failures == before ? "ok  " : "FAIL", #function); \
    fflush(stdout);                                                          \
  } while (0)

/* DRYSTONE_TEST_QUICK=1 asks for shortened times, as sanitizers need. */
static inline bool test_quick(void) {
  const char *quick = getenv("DRYSTONE_TEST_QUICK");
  return quick && quick[0] && quick[0] != '0';
}

static inline int test_summary(void) {
  printf("%d checks, %d failed\n", test_checks, test_failures);
  return test_failures != 0;
}

#endif
