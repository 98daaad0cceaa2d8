/* The manual page and the completion of shells, from the table of commands. */
#ifndef DS_CLI_MANUAL_H
#define DS_CLI_MANUAL_H

#include <stdbool.h>
#include <stdio.h>

void manual_print(FILE *out);
bool completion_print(FILE *out, const char *shell); /* false: no such shell */

#endif
