/* The progress line of a run: see progress.h. */
#include "progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/thread.h"

#define INTERVAL 0.1 /* s between two updates */

void progress_begin(progress *p, bool quiet, double end) {
  const char *term = getenv("TERM");
  bool dumb = term != NULL && strcmp(term, "dumb") == 0;
  *p = (progress){.shown = !quiet && !dumb && isatty(STDERR_FILENO) == 1, .end = end};
  p->started = p->last = ds_clock();
}

void progress_update(progress *p, const ds_step_report *report) {
  if (!p->shown) return;
  double now = ds_clock();
  if (now - p->last < INTERVAL) return;
  p->last = now;
  double share = p->end > 0 ? report->time / p->end : 1;
  fprintf(stderr, "\r%.2f of %g s  %3.0f %%  %.3g x real time  %d contacts  error %.1e\033[K", report->time, p->end,
          100 * (share < 1 ? share : 1), report->time / (now - p->started), report->contacts,
          report->worst.natural_error);
  fflush(stderr);
}

void progress_build(progress *p, const char *what, const char *name, double share) {
  if (!p->shown) return;
  double now = ds_clock();
  if (now - p->last < INTERVAL) return;
  p->last = now;
  fprintf(stderr, "\r%.40s %.60s  %3.0f %%\033[K", what, name, 100 * (share < 1 ? share : 1));
  fflush(stderr);
}

void progress_end(progress *p) {
  if (!p->shown) return;
  fputs("\r\033[K", stderr);
  fflush(stderr);
  p->shown = false;
}
