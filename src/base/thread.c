#include "base/thread.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

typedef struct worker_start {
  ds_pool *pool;
  int32_t worker;
} worker_start;

struct ds_pool {
  int32_t size; /* the caller and size - 1 threads */
  pthread_t *threads;
  worker_start *starts;
  pthread_mutex_t lock;
  pthread_cond_t work, done;
  int64_t round; /* counts calls of ds_pool_run */
  int32_t busy;  /* threads that have not finished this round */
  bool stop;
  int32_t count;
  atomic_int next;
  ds_pool_item *item;
  void *context;
};

static void take_items(ds_pool *pool, int32_t worker) {
  for (;;) {
    int32_t i = atomic_fetch_add(&pool->next, 1);
    if (i >= pool->count) return;
    pool->item(pool->context, i, worker);
  }
}

static void *work(void *argument) {
  worker_start *start = argument;
  ds_pool *pool = start->pool;
  int64_t seen = 0;
  pthread_mutex_lock(&pool->lock);
  for (;;) {
    while (!pool->stop && pool->round == seen) pthread_cond_wait(&pool->work, &pool->lock);
    if (pool->stop) break;
    seen = pool->round;
    pthread_mutex_unlock(&pool->lock);
    take_items(pool, start->worker);
    pthread_mutex_lock(&pool->lock);
    if (--pool->busy == 0) pthread_cond_signal(&pool->done);
  }
  pthread_mutex_unlock(&pool->lock);
  return NULL;
}

ds_pool *ds_pool_create(int32_t threads) {
  if (threads <= 0) {
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    threads = cores < 1 ? 1 : cores > 256 ? 256 : (int32_t)cores;
  }
  ds_pool *pool = calloc(1, sizeof *pool);
  if (!pool) return NULL;
  pool->threads = calloc((size_t)threads, sizeof *pool->threads);
  pool->starts = calloc((size_t)threads, sizeof *pool->starts);
  pthread_mutex_init(&pool->lock, NULL);
  pthread_cond_init(&pool->work, NULL);
  pthread_cond_init(&pool->done, NULL);
  pool->size = 1;
  if (!pool->threads || !pool->starts) {
    ds_pool_destroy(pool);
    return NULL;
  }
  for (int32_t i = 1; i < threads; i++) {
    pool->starts[i] = (worker_start){pool, i};
    if (pthread_create(&pool->threads[i], NULL, work, &pool->starts[i]) != 0) {
      ds_pool_destroy(pool);
      return NULL;
    }
    pool->size = i + 1;
  }
  return pool;
}

void ds_pool_destroy(ds_pool *pool) {
  if (!pool) return;
  pthread_mutex_lock(&pool->lock);
  pool->stop = true;
  pthread_cond_broadcast(&pool->work);
  pthread_mutex_unlock(&pool->lock);
  for (int32_t i = 1; i < pool->size; i++) pthread_join(pool->threads[i], NULL);
  pthread_cond_destroy(&pool->work);
  pthread_cond_destroy(&pool->done);
  pthread_mutex_destroy(&pool->lock);
  free(pool->threads);
  free(pool->starts);
  free(pool);
}

int32_t ds_pool_size(const ds_pool *pool) { return pool->size; }

void ds_pool_run(ds_pool *pool, int32_t count, ds_pool_item *item, void *context) {
  if (pool->size == 1 || count <= 1) {
    for (int32_t i = 0; i < count; i++) item(context, i, 0);
    return;
  }
  pthread_mutex_lock(&pool->lock);
  pool->count = count;
  pool->item = item;
  pool->context = context;
  atomic_store(&pool->next, 0);
  pool->busy = pool->size - 1;
  pool->round++;
  pthread_cond_broadcast(&pool->work);
  pthread_mutex_unlock(&pool->lock);
  take_items(pool, 0);
  pthread_mutex_lock(&pool->lock);
  while (pool->busy > 0) pthread_cond_wait(&pool->done, &pool->lock);
  pthread_mutex_unlock(&pool->lock);
}

void ds_flag_raise(ds_flag *flag) { atomic_store_explicit(flag, 1, memory_order_release); }

void ds_flag_wait(ds_flag *flag) {
  enum { SPINS = 1000 }; /* some microseconds: waits are short if every thread has a core */
  for (int32_t i = 0; !atomic_load_explicit(flag, memory_order_acquire); i++)
    if (i >= SPINS) sched_yield();
}

double ds_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double ds_thread_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- one thread, one lock ---- */

struct ds_thread {
  pthread_t id;
  void (*run)(void *context);
  void *context;
};

static void *run_thread(void *argument) {
  ds_thread *thread = argument;
  thread->run(thread->context);
  return NULL;
}

ds_thread *ds_thread_start(void (*run)(void *context), void *context) {
  ds_thread *thread = calloc(1, sizeof *thread);
  if (!thread) return NULL;
  thread->run = run, thread->context = context;
  if (pthread_create(&thread->id, NULL, run_thread, thread) == 0) return thread;
  free(thread);
  return NULL;
}

void ds_thread_join(ds_thread *thread) {
  if (!thread) return;
  pthread_join(thread->id, NULL);
  free(thread);
}

void ds_sleep_until(double clock) {
  struct timespec until;
  until.tv_sec = (time_t)clock;
  until.tv_nsec = (long)(1e9 * (clock - (double)until.tv_sec));
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) continue;
}

void ds_wait_until(double clock, double spin) {
  if (ds_clock() < clock - spin) ds_sleep_until(clock - spin);
  while (spin > 0 && ds_clock() < clock) continue;
}

bool ds_thread_realtime(void) {
  struct sched_param how = {.sched_priority = sched_get_priority_min(SCHED_FIFO)};
  return pthread_setschedparam(pthread_self(), SCHED_FIFO, &how) == 0;
}

struct ds_lock {
  pthread_mutex_t mutex;
};

ds_lock *ds_lock_create(void) {
  ds_lock *lock = calloc(1, sizeof *lock);
  if (lock) pthread_mutex_init(&lock->mutex, NULL);
  return lock;
}

void ds_lock_destroy(ds_lock *lock) {
  if (!lock) return;
  pthread_mutex_destroy(&lock->mutex);
  free(lock);
}

void ds_lock_take(ds_lock *lock) { pthread_mutex_lock(&lock->mutex); }
void ds_lock_give(ds_lock *lock) { pthread_mutex_unlock(&lock->mutex); }
