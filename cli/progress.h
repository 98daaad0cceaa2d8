/* The progress line of a run, or of building what it needs: on stderr, only where that is a terminal, at most ten times
 * a second. */
#ifndef DS_CLI_PROGRESS_H
#define DS_CLI_PROGRESS_H

#include "drystone/types.h"

typedef struct progress {
  bool shown;
  double started, last; /* clock */
  double end;           /* simulated time at the end, s */
} progress;

void progress_begin(progress *p, bool quiet, double end);
void progress_update(progress *p, const ds_step_report *report);
void progress_build(progress *p, const char *what, const char *name, double share); /* "building", name, 0..1 */
void progress_end(progress *p);                                                     /* clears the line */

#endif
