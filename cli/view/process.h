/* Other programs: found in PATH, started in a group of their own, and ended with all that they started. */
#ifndef DS_CLI_VIEW_PROCESS_H
#define DS_CLI_VIEW_PROCESS_H

#include <stddef.h>
#include <sys/types.h>

#include "drystone/types.h"

bool process_find(char *path, size_t size, const char *name); /* an executable in PATH */
/* Starts it. `input`, unless NULL, receives the writing end of a pipe to its standard input; else that is empty. Its
 * output is discarded, its messages too unless `heard`. 0 where it cannot be started. */
pid_t process_start(const char *path, const char *const *arguments, int *input, bool heard);
bool process_ended(pid_t process, int *status); /* and has been waited for */
int process_wait(pid_t process);                /* its exit status, 128 + signal, or -1 */
void process_kill(pid_t process);               /* its whole group, and waits for it */
void remove_folder(const char *path);           /* with all that is in it */

#endif
