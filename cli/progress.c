/* The progress line of a run: see progress.h. */
#include "progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/thread.h"

#define INTERVAL 0.1  /* s between two updates */
#define LONG_STEP 1.0 /* s without one, from which on a step is long */

void progress_begin(progress *p, bool quiet, double end) {
  const char *term = getenv("TERM");
  bool dumb = term != NULL && strcmp(term, "dumb") == 0;
  *p = (progress){.shown = !quiet && !dumb && isatty(STDERR_FILENO) == 1, .end = end};
  p->started = p->last = ds_clock();
}

static void watch(void *context) {
  progress *p = context;
  double next = ds_clock();
  for (bool over = false; !over;) {
    next += INTERVAL;
    ds_sleep_until(next);
    double now = ds_clock();
    ds_lock_take(p->lock);
    over = p->over;
    if (!over && now - p->last > LONG_STEP) {
      fprintf(stderr, "\r%.2f of %g s  this step: %.0f s, %lld factorizations\033[K", p->time, p->end, now - p->last,
              (long long)ds_stepper_work(p->stepper));
      fflush(stderr);
    }
    ds_lock_give(p->lock);
  }
}

void progress_watch(progress *p, ds_stepper *stepper) {
  if (!p->shown) return;
  p->stepper = stepper;
  p->lock = ds_lock_create();
  if (p->lock != NULL) p->watcher = ds_thread_start(watch, p);
}

void progress_update(progress *p, const ds_step_report *report) {
  if (!p->shown) return;
  double now = ds_clock();
  if (now - p->last < INTERVAL) return;
  if (p->lock != NULL) ds_lock_take(p->lock);
  p->last = now;
  p->time = report->time;
  double share = p->end > 0 ? report->time / p->end : 1;
  fprintf(stderr, "\r%.2f of %g s  %3.0f %%  %.3g x real time  %d contacts  error %.1e\033[K", report->time, p->end,
          100 * (share < 1 ? share : 1), report->time / (now - p->started), report->contacts,
          report->worst.natural_error);
  fflush(stderr);
  if (p->lock != NULL) ds_lock_give(p->lock);
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
  if (p->watcher != NULL) {
    ds_lock_take(p->lock);
    p->over = true;
    ds_lock_give(p->lock);
    ds_thread_join(p->watcher);
  }
  if (p->lock != NULL) ds_lock_destroy(p->lock);
  p->watcher = NULL;
  p->lock = NULL;
  fputs("\r\033[K", stderr);
  fflush(stderr);
  p->shown = false;
}
