/* A pool of threads that share out the items of a loop. thread.c alone knows about threads.
 *
 * Items must be independent: which thread runs which item is not defined, so nothing may depend on it. */
#ifndef DS_BASE_THREAD_H
#define DS_BASE_THREAD_H

#include <stdatomic.h>
#include <stdint.h>

typedef struct ds_pool ds_pool;

/* One item; `worker` in 0 .. count-1 selects per-thread memory. */
typedef void ds_pool_item(void *context, int32_t item, int32_t worker);

ds_pool *ds_pool_create(int32_t threads); /* 0 = all cores; the calling thread is one of them; NULL on failure */
void ds_pool_destroy(ds_pool *pool);
int32_t ds_pool_size(const ds_pool *pool);
/* Runs items 0 .. count-1, returns when all are done. Items are handed out in ascending order. */
void ds_pool_run(ds_pool *pool, int32_t count, ds_pool_item *item, void *context);

/* An item may wait for items with lower numbers: those have been taken, by this thread or another, and go on. What was
 * written before a flag was raised is seen by who has waited for it. */
typedef atomic_int ds_flag;
void ds_flag_raise(ds_flag *flag);
void ds_flag_wait(ds_flag *flag);

double ds_clock(void); /* monotonic seconds, for reports only */

#endif
