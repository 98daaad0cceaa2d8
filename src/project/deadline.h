/* A solve that has to end in time [SP08 7]: tools stop, and a contact projection has the last word (deadline.c). */
#ifndef DS_PROJECT_DEADLINE_H
#define DS_PROJECT_DEADLINE_H

#include "base/thread.h"
#include "project/iterate.h"
#include "project/system.h"

/* Whether the tools of a problem have to stop. Without a deadline no clock is looked at. */
static inline bool ds_is_late(const ds_subproblem *p) { return p->until != 0 && ds_clock() >= p->until; }

/* Normal impulses that keep all contacts apart, with the friction of x or, where that would add energy, with none.
 * Takes what time it takes. */
void ds_end_on_contact(ds_arena *arena, ds_system *system, ds_iterate *x, ds_work *work, double tolerance);

#endif
