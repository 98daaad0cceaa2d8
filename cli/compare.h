/* `drystone compare`: what is known of one run, and the page that shows all of them. */
#ifndef DS_CLI_COMPARE_H
#define DS_CLI_COMPARE_H

#include <stdio.h>

#include "drystone/drystone.h"

typedef enum compare_end { COMPARE_DONE, COMPARE_LIMIT, COMPARE_FAILED } compare_end;

/* Quantities over time. */
typedef enum compare_curve { CURVE_ERROR, CURVE_MOVED, CURVE_OVERLAP, CURVE_ENERGY, CURVE_COUNT } compare_curve;

typedef struct compare_run {
  char name[128];   /* as given: METHOD[:cold][:key=value]... */
  const char *note; /* why it failed; NULL: it did not */
  compare_end end;
  bool warm, stands;
  int64_t steps;
  /* of the report */
  double time, converged_share, error, moved, creep, overlap, gain, momentum, cpu, iterations, limit_of_iterations;
  int32_t points;
  double *at, *curve[CURVE_COUNT]; /* points each: seconds, and values */
  char *picture;                   /* base64 of a PNG; NULL: none */
  char record[128];                /* its recording, while the page is written */
} compare_run;

/* Writes the page. False with a message. */
bool compare_page(const char *path, const char *source, const compare_run *runs, int32_t count, double time,
                  ds_error *error);

/* A string of a script in the page. */
void compare_put_string(FILE *file, const char *text);

/* The data and the script of the player, after an element with the id `player`. False where memory ran out, or a
 * recording could not be read. */
bool compare_play(FILE *file, const compare_run *runs, int32_t count);

#endif
