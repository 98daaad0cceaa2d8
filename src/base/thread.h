/* A pool of threads for the items of a loop; and single threads, locks and clocks. Threads are used in thread.c only.
 *
 * Items must be independent: which thread runs which item is not defined, so nothing may depend on it. */
#ifndef DS_BASE_THREAD_H
#define DS_BASE_THREAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct ds_pool ds_pool;

/* One item; `worker` in 0 .. count-1 selects per-thread memory. */
typedef void ds_pool_item(void *context, int32_t item, int32_t worker);

ds_pool *ds_pool_create(int32_t threads); /* 0 = all cores; the calling thread is one of them; NULL on failure */
void ds_pool_destroy(ds_pool *pool);
int32_t ds_pool_size(const ds_pool *pool);
/* Runs items 0 .. count-1, returns when all are done. Items are handed out in ascending order. */
void ds_pool_run(ds_pool *pool, int32_t count, ds_pool_item *item, void *context);

/* An item may wait for items with lower numbers: those have been started, by this thread or another, and will end. What
 * was written before a flag was raised is visible to those who waited for it. */
typedef atomic_int ds_flag;
void ds_flag_raise(ds_flag *flag);
void ds_flag_wait(ds_flag *flag);

double ds_clock(void);        /* monotonic seconds, for reports and deadlines only */
double ds_thread_clock(void); /* seconds of processor time that the calling thread has used */

/* One thread of its own; NULL if there are no more. Joining waits for its end. */
typedef struct ds_thread ds_thread;
ds_thread *ds_thread_start(void (*run)(void *context), void *context);
void ds_thread_join(ds_thread *thread);
void ds_sleep_until(double clock); /* of ds_clock */
/* The same, but busy-waits for the last `spin` seconds: a sleeping core wakes up late and with cold caches. */
void ds_wait_until(double clock, double spin);
/* Asks for real-time priority for the calling thread; false if the system does not allow it. */
bool ds_thread_realtime(void);

typedef struct ds_lock ds_lock;
ds_lock *ds_lock_create(void); /* NULL if memory ran out */
void ds_lock_destroy(ds_lock *lock);
void ds_lock_take(ds_lock *lock);
void ds_lock_give(ds_lock *lock);

#endif
