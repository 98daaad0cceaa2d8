/* The report of a run: collects the reports of steps, writes JSON and a summary. docs/report.md defines every
 * field. */
#ifndef DS_CLI_REPORT_H
#define DS_CLI_REPORT_H

#include <stdio.h>

#include "drystone/scene_file.h"

typedef enum report_ending {
  ENDED_FINISHED,
  ENDED_INTERRUPTED, /* by a signal */
  ENDED_FAILED,      /* memory or disk ran out */
  ENDED_MOVED,       /* a body is as far from its start as was asked for */
} report_ending;

typedef struct run_report run_report;

/* NULL if memory ran out. `source` is the argument of the user; `threads` 0 = all cores. */
run_report *report_create(const ds_scene *scene, const ds_state *state, const ds_run_settings *run, const char *source,
                          int32_t threads, int64_t planned_steps);
void report_destroy(run_report *report);
void report_add_step(run_report *report, const ds_scene *scene, const ds_state *state, const ds_step_report *step);
void report_finish(run_report *report, const ds_scene *scene, const ds_state *state, report_ending ending,
                   double wall_seconds, double cpu_seconds);
/* The largest distance of a body from its start so far, m. */
double report_displacement(const run_report *report);
int64_t report_unconverged_steps(const run_report *report);
double report_first_unconverged_time(const run_report *report);
/* Steps whose motion did not pass; *first is the end of the first of them. */
int64_t report_missed_steps(const run_report *report, double *first);

/* Whether a file can be written at the path, tested with a temporary file; "-" is stdout. */
bool report_check_path(const char *path, ds_error *error);
/* Written under a temporary name and renamed, so that an incomplete report never has that name. */
bool report_write(const run_report *report, const char *path, ds_error *error);
void report_print(const run_report *report, FILE *out);

#endif
