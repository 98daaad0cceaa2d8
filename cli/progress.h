/* The progress line of a run, or of building solids: on stderr, only if it is a terminal, at most ten times per second.
 * A separate thread updates it during long steps. */
#ifndef DS_CLI_PROGRESS_H
#define DS_CLI_PROGRESS_H

#include "base/thread.h"
#include "drystone/drystone.h"

typedef struct progress {
  bool shown;
  double started, last; /* clock */
  double end;           /* simulated time at the end, s */
  ds_stepper *stepper;  /* whose long steps are shown, or NULL ... */
  ds_thread *watcher;   /* ... by this thread */
  ds_lock *lock;
  double time; /* simulated, s */
  bool over;
} progress;

void progress_begin(progress *p, bool quiet, double end);
/* From now on: during a step that takes more than a second, its time and its factorizations are shown. */
void progress_watch(progress *p, ds_stepper *stepper);
void progress_update(progress *p, const ds_step_report *report);
void progress_build(progress *p, const char *what, const char *name, double share); /* "building", name, 0..1 */
void progress_end(progress *p);                                                     /* clears the line */

#endif
