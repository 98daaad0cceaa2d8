/* How much work the solve of one problem may take: a budget that counts, a clock where a deadline is set, and a flag by
 * which the caller gives up. Every tool asks before it factors or sweeps; the best iterate so far is the answer.
 *
 * The unit is a factorization of the whole problem. A part of it, such as a sub-island, counts by its share of the
 * contacts, a sweep by its share of the multiplications. Counts do not depend on the machine; the clock alone does. */
#ifndef DS_PROBLEM_EFFORT_H
#define DS_PROBLEM_EFFORT_H

#include "base/thread.h"

typedef struct ds_effort {
  double budget, spent;    /* factorizations; budget = 0: no limit */
  double until;            /* ds_clock at which the tools have to stop; 0: never */
  const atomic_bool *stop; /* raised from outside: the caller wants no answer any more; NULL: never */
  atomic_int *count;       /* factorizations of all problems of a step, for displays; NULL: not counted */
  int32_t contacts;        /* of the whole problem */
  double last_seconds;     /* out: what the contact projection that ended the solve took; 0: there was none */
} ds_effort;

static inline bool ds_effort_is_late(const ds_effort *e) { return e && e->until != 0 && ds_clock() >= e->until; }

static inline bool ds_effort_is_stopped(const ds_effort *e) {
  return e && e->stop && atomic_load_explicit(e->stop, memory_order_relaxed);
}

/* Whether the tools have to stop. Without a deadline no clock is looked at. An effort of NULL has no limit. */
static inline bool ds_effort_is_over(const ds_effort *e) {
  return e && ((e->budget > 0 && e->spent >= e->budget) || ds_effort_is_stopped(e) || ds_effort_is_late(e));
}

/* So many factorizations of the problem, or of the part of it that has these contacts. */
static inline void ds_effort_spend(ds_effort *e, double factorizations, int32_t contacts) {
  if (!e) return;
  e->spent += e->contacts > 0 ? factorizations * contacts / e->contacts : factorizations;
  if (e->count && factorizations >= 1) atomic_fetch_add_explicit(e->count, 1, memory_order_relaxed);
}

#endif
