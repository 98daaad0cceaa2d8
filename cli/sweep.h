/* Many runs of one scene: what a sweep file says, and the parts of `drystone sweep`. docs/sweep.md.
 *
 * A run is known by its key, a hash of everything that determines its result. Results are lines of journals in the
 * sweep's folder; a run with a line is finished and never repeated. */
#ifndef DS_CLI_SWEEP_H
#define DS_CLI_SWEEP_H

#include <stdio.h>

#include "base/json.h"

enum {
  SWEEP_PARAMETERS_MAX = 16,
  SWEEP_METRICS_MAX = 64,
  SWEEP_MAPS_MAX = 16,
  SWEEP_ARGUMENTS_MAX = 32,
  SWEEP_RUNS_MAX = 1000000,
  SWEEP_TEXT = 128, /* bytes of a value */
};

typedef enum sweep_command { SWEEP_RUN, SWEEP_STAND } sweep_command;
typedef enum sweep_design { SWEEP_GRID, SWEEP_LIST, SWEEP_HYPERCUBE } sweep_design;
typedef enum sweep_target { SWEEP_GENERATOR, SWEEP_SET, SWEEP_OPTION } sweep_target;

/* A value of a parameter, or of a metric: text, and the number that it is, or NaN. */
typedef struct sweep_value {
  char text[SWEEP_TEXT];
  double number;
  bool is_text;
} sweep_value;

typedef struct sweep_parameter {
  const char *name;
  sweep_target target;
  const char *path;      /* key of the generator, path of --set, or option of the command */
  const ds_json *values; /* or NULL: */
  const ds_json **items; /* the values again, by index */
  double from, to;
  int32_t count; /* of values */
  int32_t log;
} sweep_parameter;

typedef enum sweep_quantity { SWEEP_X, SWEEP_Y, SWEEP_Z, SWEEP_DISTANCE, SWEEP_ANGLE, SWEEP_SPEED } sweep_quantity;

/* A field of the report; or, with a body, where it is at the end; or whether everything stands. */
typedef struct sweep_metric {
  const char *name, *field, *body;
  int32_t quantity;
  bool stands;
  const ds_json *at; /* in the file, for messages */
} sweep_metric;

typedef struct sweep_map {
  const char *x, *y, *value, *file, *title, *size;
  bool log;
  double low, high;                         /* of the colours; infinite = by the values */
  int32_t x_parameter, y_parameter, metric; /* their indices */
} sweep_map;

typedef enum sweep_end { SWEEP_OPEN, SWEEP_DONE, SWEEP_FAILED } sweep_end;

typedef struct sweep_run {
  uint64_t key[2];
  sweep_end end;
  char *message;       /* of a failure, or NULL */
  sweep_value *values; /* one per metric, NULL before the end */
} sweep_run;

typedef struct sweep {
  const char *file; /* as given */
  char *text;
  ds_json_doc doc;
  const char *name;
  const char *scene;     /* as in the file ... */
  const ds_json *at;     /* ... and where */
  char *source;          /* the path of a file, or a generator with its parameters */
  bool is_generator;     /* of the scene */
  uint64_t content[2];   /* hash of a scene file */
  sweep_command command; /* what each run is */
  const char *arguments[SWEEP_ARGUMENTS_MAX];
  int32_t argument_count;
  sweep_design design;
  int32_t samples, seed;
  double limit; /* s of wall time per run; 0 = none */
  sweep_parameter parameters[SWEEP_PARAMETERS_MAX];
  int32_t parameter_count;
  sweep_metric metrics[SWEEP_METRICS_MAX];
  int32_t metric_count;
  sweep_map maps[SWEEP_MAPS_MAX];
  int32_t map_count;
  sweep_run *runs;
  int32_t run_count;
  int32_t *order;  /* runs by key */
  int32_t *strata; /* of a Latin hypercube: a permutation of the samples per parameter */
} sweep;

/* ---- sweep_file.c: the file ---- */
/* False with a message that names the line. `s` is zero before, and is freed in any case. */
bool sweep_read(sweep *s, const char *path, ds_error *error);
void sweep_free(sweep *s);

/* ---- sweep_design.c: the runs ---- */
/* Lists the runs and their keys. */
bool sweep_plan(sweep *s, ds_error *error);
void sweep_parameter_value(sweep_value *value, const sweep *s, int32_t run, int32_t parameter);
/* Levels of a grid parameter, from 0; -1 where it has none. */
int32_t sweep_level(const sweep *s, int32_t run, int32_t parameter);

/* The words of a run's command, allocated as one. */
typedef struct sweep_words {
  char **word;
  int32_t count;
} sweep_words;
/* False if memory ran out; freed with sweep_words_free. */
bool sweep_words_make(sweep_words *words, const sweep *s, int32_t run);
bool sweep_words_add(sweep_words *words, const char *text);
void sweep_words_free(sweep_words *words);

/* ---- sweep_store.c: journals and locks ---- */
typedef struct sweep_store sweep_store;
/* Opens or makes the folder. */
sweep_store *sweep_store_open(const char *folder, ds_error *error);
void sweep_store_close(sweep_store *store);
/* For a worker that was forked: locks belong to a process. What was read stays read. */
bool sweep_store_reopen(sweep_store *store, ds_error *error);
/* Reads what was added to the journals, into the runs. */
bool sweep_store_update(sweep_store *store, sweep *s, ds_error *error);
/* Takes a journal to write to; *number is unique among the workers that live. */
bool sweep_store_join(sweep_store *store, int32_t *number, ds_error *error);
/* Takes a run; false where another process has it. It is given back at the latest when this process ends. */
bool sweep_store_claim(sweep_store *store, const sweep_run *run);
void sweep_store_release(sweep_store *store, const sweep_run *run);
/* Appends the result; returns when it is on the disk. */
bool sweep_store_append(sweep_store *store, const sweep *s, const sweep_run *run, ds_error *error);
/* For a child: it must not keep files of its parent open. */
void sweep_store_forget(sweep_store *store);

/* ---- sweep_work.c: one run after another ---- */
/* Runs what is left until nothing is; ends early where *stop is set. */
bool sweep_work(sweep *s, sweep_store *store, const char *folder, ds_error *error);
/* Tries the first run, without steps: whether scene, paths, options and metrics exist. */
bool sweep_try(sweep *s, ds_error *error);
extern volatile int sweep_stopped; /* number of the signal that asked to stop, or 0 */
void sweep_catch_signals(void);

/* ---- sweep_metrics.c: what a run left ---- */
/* Reads the metrics from the report's text and, where `record` is not NULL, from the recording. */
bool sweep_measure(sweep_run *run, const sweep *s, const char *report, const char *record, ds_error *error);
/* Whether a metric needs the recording. */
bool sweep_needs_record(const sweep *s);

/* ---- sweep_table.c, sweep_picture.c: results ---- */
bool sweep_write_tables(const sweep *s, const char *folder, ds_error *error);
bool sweep_draw_maps(const sweep *s, const char *folder, ds_error *error);

#endif
