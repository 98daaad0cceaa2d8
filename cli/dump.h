/* Islands of a run as problem files: drystone run ... --dump-problems DIR --dump-when WHICH. */
#ifndef DS_CLI_DUMP_H
#define DS_CLI_DUMP_H

#include "drystone/scene_file.h"

typedef struct problem_dump problem_dump;

/* The folder is created if it is missing, its parent is not. `when` is "unconverged", "every=N" or "slowest=K"; NULL =
 * unconverged. NULL with a message. */
problem_dump *dump_create(const char *folder, const char *when, const ds_run_settings *run, ds_error *error);
void dump_destroy(problem_dump *dump); /* may be NULL */

/* The observer of a stepper; `user` is the problem_dump. */
void dump_observe(void *user, const ds_observation *observation);
/* False with a message where a file could not be written since dump_create. */
bool dump_ok(const problem_dump *dump, ds_error *error);
/* Number of files written. */
int32_t dump_count(const problem_dump *dump);

#endif
