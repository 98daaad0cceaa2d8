/* Waiting for a child by its processor time; see await.h. */
#include "await.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>

/* Processor time of a process, s; -1 where it cannot be told. */
static double time_of(pid_t pid) {
  clockid_t clock;
  struct timespec t;
  if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &t) != 0) return -1;
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static const char *say(int status) {
  static char text[64];
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF) return "time limit";
  if (WIFSIGNALED(status))
    snprintf(text, sizeof text, "crashed (signal %d)", WTERMSIG(status));
  else
    snprintf(text, sizeof text, "ended the process (%d)", WEXITSTATUS(status));
  return text;
}

const char *await(pid_t pid, double limit, double stall, const volatile int32_t *runs) {
  struct timespec nap = {0, 1000000};
  double waited = 0, last = 0, idle = 0;
  int status = 0;
  for (;;) {
    pid_t done = waitpid(pid, &status, WNOHANG);
    if (done == pid) break;
    if (done < 0 && errno != EINTR) return "lost";
    double used = time_of(pid), pause = 1e-9 * (double)nap.tv_nsec;
    idle = used > last ? 0 : idle + pause;
    last = used > last ? used : last;
    if (used > 2 * limit + 1 || idle > stall) {
      kill(pid, SIGKILL);
      waitpid(pid, &status, 0);
      return *runs > 0 ? NULL : used > 2 * limit + 1 ? "time limit" : "no answer";
    }
    nanosleep(&nap, NULL);
    waited += pause;
    if (waited > 0.1) nap.tv_nsec = 10000000;
  }
  return *runs > 0 ? NULL : say(status);
}
