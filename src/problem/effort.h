/* How much work the solve of one problem may take: a budget that counts, a clock where a deadline is set, and a flag by
 * which the caller gives up. Every tool asks before it factors or sweeps; the best iterate so far is the answer.
 *
 * The unit is a factorization of the whole problem. A part of it, such as a sub-island, counts by its share of the
 * contacts, a sweep by its share of the multiplications. Counts do not depend on the machine; the clock alone does. */
#ifndef DS_PROBLEM_EFFORT_H
#define DS_PROBLEM_EFFORT_H

#include "base/thread.h"
#include "problem/subproblem.h"

typedef struct ds_effort {
  double budget, spent;    /* factorizations; budget = 0: no limit */
  double until;            /* ds_clock at which the tools have to stop; 0: never */
  const atomic_bool *stop; /* raised from outside: the caller wants no answer any more; NULL: never */
  atomic_int *count;       /* factorizations of all problems of a step, for displays; NULL: not counted */
  int32_t contacts;        /* of the whole problem */
} ds_effort;

static inline bool ds_effort_is_late(const ds_subproblem *p) {
  return p->effort && p->effort->until != 0 && ds_clock() >= p->effort->until;
}

static inline bool ds_effort_is_stopped(const ds_subproblem *p) {
  return p->effort && p->effort->stop && atomic_load_explicit(p->effort->stop, memory_order_relaxed);
}

/* Whether the tools of a problem have to stop. Without a deadline no clock is looked at. */
static inline bool ds_effort_is_over(const ds_subproblem *p) {
  const ds_effort *e = p->effort;
  return e && ((e->budget > 0 && e->spent >= e->budget) || ds_effort_is_stopped(p) || ds_effort_is_late(p));
}

/* So many factorizations of this problem, or of the part that it is. */
static inline void ds_effort_spend(const ds_subproblem *p, double factorizations) {
  ds_effort *e = p->effort;
  if (!e) return;
  e->spent += e->contacts > 0 ? factorizations * p->contact_count / e->contacts : factorizations;
  if (e->count && factorizations >= 1) atomic_fetch_add_explicit(e->count, 1, memory_order_relaxed);
}

#endif
