/* Waiting for a child that measures itself. Time is that which the child has had of a processor: on a busy machine it
 * takes longer by the clock on the wall, and that is no failure of what it runs. */
#ifndef BENCH_SOLVE_AWAIT_H
#define BENCH_SOLVE_AWAIT_H

#include <stdint.h>
#include <sys/types.h>

/* Waits for a child that is to end itself by SIGPROF after `limit` seconds of processor time. One that does not is
 * ended after twice that and a second, and one that gets none for `stall` seconds by the clock, as it waits for
 * something. `runs` is what the child has counted in shared memory. Returns what happened, NULL if all is well. */
const char *await(pid_t pid, double limit, double stall, const volatile int32_t *runs);

#endif
