/* How the benchmark of solvers waits for its children: by their processor time, so that one that is held up is no
 * failure, and one that runs away or waits forever is ended. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "../bench/solve/await.c"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include "check.h"

typedef void work(volatile int32_t *runs);

static void burn(double seconds) {
  clock_t end = clock() + (clock_t)(seconds * CLOCKS_PER_SEC);
  while (clock() < end) continue;
}

/* Held up for far longer than its limit, as on a busy machine, then done. */
static void held_up(volatile int32_t *runs) {
  nanosleep(&(struct timespec){0, 400000000}, NULL);
  burn(0.005);
  *runs = 1;
}
static void runs_away(volatile int32_t *runs) { /* and does not listen to its own limit */
  signal(SIGPROF, SIG_IGN);
  (void)runs;
  burn(60);
}
static void waits(volatile int32_t *runs) {
  (void)runs;
  sleep(60);
}
static void limited(volatile int32_t *runs) {
  struct itimerval limit = {.it_value = {0, 20000}};
  (void)runs;
  setitimer(ITIMER_PROF, &limit, NULL);
  burn(60);
}
static void crashes(volatile int32_t *runs) {
  (void)runs;
  raise(SIGKILL);
}

static const char *outcome(work *what, double limit, double stall) {
  int32_t *runs = mmap(NULL, sizeof *runs, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  fflush(stdout);
  pid_t pid = fork();
  if (pid == 0) {
    what(runs);
    _exit(0);
  }
  const char *failure = await(pid, limit, stall, runs);
  munmap(runs, sizeof *runs);
  return failure ? failure : "fine";
}

static void test_await(void) {
  const struct {
    work *what;
    double limit, stall;
    const char *outcome;
  } cases[] = {{held_up, 0.02, 30, "fine"},
               {runs_away, 0.02, 30, "time limit"},
               {waits, 0.02, 0.3, "no answer"},
               {limited, 0.02, 30, "time limit"},
               {crashes, 0.02, 30, "crashed (signal 9)"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *got = outcome(cases[i].what, cases[i].limit, cases[i].stall);
    if (strcmp(got, cases[i].outcome) != 0) printf("case %zu: \"%s\", wanted \"%s\"\n", i, got, cases[i].outcome);
    CHECK(strcmp(got, cases[i].outcome) == 0);
  }
}

int main(void) {
  RUN(test_await);
  return test_summary();
}
