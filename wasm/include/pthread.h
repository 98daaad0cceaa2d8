/* Threads of a module that has one thread: locks are free, and a new thread cannot be had. WASI's C library has no such
 * header. Code that waits for another thread would wait forever, so it traps. */
#ifndef DS_WASM_PTHREAD_H
#define DS_WASM_PTHREAD_H

#include <errno.h>
#include <time.h>

typedef int pthread_t, pthread_attr_t, pthread_mutex_t, pthread_mutexattr_t, pthread_cond_t, pthread_condattr_t;

/* of <sched.h>, which WASI's C library leaves out */
struct sched_param {
  int sched_priority;
};
#define SCHED_FIFO 1
static inline int sched_get_priority_min(int policy) { return policy; }
static inline pthread_t pthread_self(void) { return 0; }
static inline int pthread_setschedparam(pthread_t thread, int policy, const struct sched_param *how) {
  (void)thread, (void)policy, (void)how;
  return EPERM;
}

static inline int pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*run)(void *), void *with) {
  (void)how, (void)run, (void)with;
  *thread = 0;
  return EAGAIN;
}
static inline int pthread_join(pthread_t thread, void **result) {
  (void)thread, (void)result;
  __builtin_trap();
}
static inline int pthread_mutex_init(pthread_mutex_t *lock, const pthread_mutexattr_t *how) {
  (void)how;
  return *lock = 0;
}
static inline int pthread_mutex_destroy(pthread_mutex_t *lock) { return *lock = 0; }
static inline int pthread_mutex_lock(pthread_mutex_t *lock) { return *lock = 0; }
static inline int pthread_mutex_unlock(pthread_mutex_t *lock) { return *lock = 0; }
static inline int pthread_condattr_init(pthread_condattr_t *how) { return *how = 0; }
static inline int pthread_condattr_destroy(pthread_condattr_t *how) { return *how = 0; }
static inline int pthread_condattr_setclock(pthread_condattr_t *how, clockid_t clock) {
  (void)clock;
  return *how = 0;
}
static inline int pthread_cond_init(pthread_cond_t *condition, const pthread_condattr_t *how) {
  (void)how;
  return *condition = 0;
}
static inline int pthread_cond_destroy(pthread_cond_t *condition) { return *condition = 0; }
static inline int pthread_cond_signal(pthread_cond_t *condition) { return *condition = 0; }
static inline int pthread_cond_broadcast(pthread_cond_t *condition) { return *condition = 0; }
static inline int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *lock) {
  (void)condition, (void)lock;
  __builtin_trap();
}
static inline int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *lock,
                                         const struct timespec *until) {
  (void)condition, (void)lock, (void)until;
  return ETIMEDOUT;
}

#endif
